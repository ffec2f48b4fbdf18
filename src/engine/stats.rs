//! Sizes of a store.

use crate::bug::OrBug;
use crate::engine::files::has_table;
use crate::engine::memtable::MemtablePage;
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::StoreTotals;
use crate::error::Result;
use crate::page::{DIGESTS, Entry, EpochInfo, Role, in_use};

/// A counter of [`Stats`]: a number by name, for programs that report all counters.
///
/// ```
/// use simkeep::Stats;
/// for counter in Stats::COUNTERS {
///     println!("{}: {}", counter.name, counter.what);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StatsCounter {
    /// The name of the counter's field.
    pub name: &'static str,
    /// The description of the field, which says what the counter counts.
    pub what: &'static str,
    /// Returns the value of the counter.
    pub value: fn(&Stats) -> u64,
}

/// Declares a structure, and lists its fields of type `u64` as [`StatsCounter`]s.
macro_rules! counted {
    ($(#[$about:meta])* pub struct $Name:ident { $($fields:tt)* }) => {
        $(#[$about])*
        pub struct $Name { $($fields)* }

        impl $Name {
            /// All counters, each with its name.
            ///
            /// ```
            /// # use simkeep::{Options, Stats, Store};
            /// # let dir = tempfile::tempdir()?;
            /// # let store = Store::create(&dir.path().join("pages.simkeep"), Options::default())?;
            /// let stats = store.stats()?;
            /// for counter in Stats::COUNTERS {
            ///     println!("simkeep_{} {}", counter.name, (counter.value)(&stats));
            /// }
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            pub const COUNTERS: &'static [StatsCounter] = counted!(@list $Name [] $($fields)*);
        }
    };
    (
        @list $Name:ident [$($found:expr,)*]
        $(#[doc = $what:literal])+ pub $field:ident: u64, $($rest:tt)*
    ) => {
        counted!(@list $Name [
            $($found,)*
            StatsCounter {
                name: stringify!($field),
                what: concat!($($what),+).trim_ascii_start(),
                value: |of: &$Name| of.$field,
            },
        ] $($rest)*)
    };
    (
        @list $Name:ident $found:tt
        $(#[$about:meta])+ pub $field:ident: $Type:ty, $($rest:tt)*
    ) => {
        counted!(@list $Name $found $($rest)*)
    };
    (@list $Name:ident [$($found:expr,)*]) => { &[$($found),*] };
}

counted! {
    /// Sizes of a store.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// let stats = store.stats()?;
    /// assert_eq!((stats.pages, stats.visits, stats.unsealed_visits), (1, 1, 1));
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Stats {
        /// The number of known pages.
        pub pages: u64,
        /// The number of known visits.
        pub visits: u64,
        /// The number of visits that are in no segment yet.
        pub unsealed_visits: u64,
        /// The live segments, the oldest first.
        pub segments: Vec<SegmentStats>,
        /// The epochs, by number.
        pub epochs: Vec<EpochInfo>,
        /// The number of visits since the newest epoch in use began.
        pub epoch_visits: u64,
        /// Whether a new epoch is advised: an epoch in use weighs words by a table of document
        /// frequencies, and [`Options::epoch_visits`](crate::Options::epoch_visits) visits have
        /// come since it began.
        pub epoch_due: bool,
        /// Bytes of the live segments.
        pub segment_bytes: u64,
        /// Bytes of the catalog and its journal.
        pub catalog_bytes: u64,
        /// The number of the last acknowledged operation.
        pub sequence: u64,
        /// The error of the last background merge, if the merge failed because the disk was full or
        /// a segment is damaged. The store tries again.
        pub merge_error: Option<String>,
    }
}

/// Sizes of one segment.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// store.seal()?;
/// let segment = &store.stats()?.segments[0];
/// assert_eq!((segment.pages, segment.visits), (1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentStats {
    /// The number of the segment.
    pub id: u64,
    /// The number of page records.
    pub pages: u64,
    /// The number of visits.
    pub visits: u64,
    /// The number of distinct fingerprints, counted once for each epoch.
    pub fingerprints: u64,
    /// The number of distinct digests of content without a fingerprint.
    pub digests: u64,
    /// The size of the file in bytes.
    pub bytes: u64,
}

impl Stats {
    /// Sizes of a snapshot's state, without the catalog's file.
    pub(crate) fn of(snapshot: &Snapshot, epoch_visits: u64) -> Result<Stats> {
        let mut stats = Stats {
            epochs: snapshot.epochs().to_vec(),
            sequence: snapshot.sequence,
            ..Stats::default()
        };
        for live in snapshot.view.segments.iter() {
            let numbers = live.segment.numbers();
            let digests = live.tables(DIGESTS).map_or(0, |tables| u64::from(tables.tables.len()));
            stats.segment_bytes += live.segment.file_bytes();
            stats.segments.push(SegmentStats {
                id: live.segment.id(),
                pages: numbers.pages,
                visits: numbers.visits,
                fingerprints: numbers.fingerprints.saturating_sub(digests),
                digests,
                bytes: live.segment.file_bytes(),
            });
        }
        for memtable in &snapshot.view.memtables {
            let inner = memtable.read();
            let visits = |page: MemtablePage<'_>| {
                page.entries_at(snapshot.sequence).filter(Entry::is_visit).count() as u64
            };
            let unsealed = inner.pages().map(visits);
            stats.unsealed_visits += unsealed.sum::<u64>();
        }
        let StoreTotals { pages, visits, .. } = StoreTotals::of(snapshot)?;
        (stats.pages, stats.visits) = (pages, visits);
        // There may be fewer visits than when the epoch began, because some were forgotten.
        let since = |info: &EpochInfo| stats.visits.saturating_sub(info.begun);
        let in_use =
            || Role::USES.into_iter().filter_map(|is_for| in_use(snapshot.epochs(), is_for));
        stats.epoch_visits = in_use().map(since).min().or_bug("every store has an epoch in use")?;
        let is_due = |info: &EpochInfo| has_table(info) && since(info) >= epoch_visits;
        stats.epoch_due = in_use().any(is_due);
        Ok(stats)
    }
}
