//! The options for opening a store.

use std::time::Duration;

use super::origin::Origin;
use super::search::query::FINGERPRINTS;
use super::settings::settings;
use crate::catalog::LOCK_WAIT;
use crate::fingerprint::Bands;
use crate::page::Ranking;

/// The time when an observation becomes durable.
///
/// ```
/// use std::time::Duration;
/// use simkeep::{Durability, Options};
/// let grouped = Durability::Grouped(Duration::from_millis(5));
/// assert_eq!(Options::default().durability(grouped).durability, grouped);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Observations are durable when the call returns; concurrent calls share a commit.
    Each,
    /// Observations are durable when the call returns; a commit waits for this duration, so that
    /// other calls join it.
    Grouped(Duration),
    /// Observations are durable after the next [`Store::flush`](crate::Store::flush), or when the
    /// memtable is sealed.
    OnFlush,
}

settings! {
    /// Options of a [`Store`](crate::Store).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use simkeep::{Durability, Options};
    ///
    /// let options = Options::default()
    ///     .durability(Durability::Grouped(Duration::from_millis(5)))
    ///     .near_distance(Some(6));
    /// assert_eq!(options.near_limit, 16);
    /// ```
    pub struct Options {
        /// The time when an observation becomes durable. Default: [`Durability::Each`].
        pub durability: Durability = Durability::Each,
        /// The number of observations at which the memtable is sealed. Default: 262,144. Opening
        /// after a crash replays up to twice as many observations.
        pub memtable_observations: usize = 262_144,
        /// The number of bytes at which the memtable is sealed. Default: 80 MiB, which 262,144
        /// observations rarely reach; at least 64 KiB. Spare capacity is not counted: it can take
        /// as many bytes again.
        pub memtable_bytes: usize = 80 << 20,
        /// The age of the oldest observation at which the memtable is sealed. If nothing arrives
        /// for as long again, all segments are merged into one, provided that the merge saves much
        /// space. Default: 5 minutes.
        pub seal_after: Duration = Duration::from_secs(300),
        /// The number of neighbouring segments of similar size that are merged into one. Default:
        /// 8; at least 2.
        pub merge_fanout: usize = 8,
        /// Whether to seal and merge in the background. Default: yes. If not, the call that fills
        /// the memtable seals it, and merges wait for [`Store::merge`](crate::Store::merge).
        pub background: bool = true,
        /// The name of the first epoch of a new store. Default: the name of [`Origin::default`],
        /// `html/3 words2-sqrt/2`, with any features of this crate. The command-line tool and the
        /// packages for other languages use the same name. If you extract text from pages in
        /// another way than [`EXTRACTOR`](crate::fingerprint::EXTRACTOR), name your extractor by
        /// [`Origin::extractor`].
        pub epoch: String = Origin::default().name(),
        /// The distances of minor and of moderate changes in the first epoch. Default: the
        /// [calibration](crate::fingerprint::Recipe::bands) of its recipe.
        pub epoch_bands: Option<Bands> = None,
        /// Permissions of the files of a new store, as in chmod(1); everyone who may read the files
        /// may also enter their directory. Default: `0o600`, so that other users cannot read which
        /// pages were crawled. `0o640` lets the group use a [`Reader`](crate::Reader). An existing
        /// store keeps the permissions of its `catalog.redb`, also for new files. The permissions
        /// apply only to a store in a directory.
        pub file_mode: u32 = 0o600,
        /// The number of visits in an epoch after which a new epoch is
        /// [advised](crate::Stats::epoch_due). Default: 1,000,000.
        pub epoch_visits: u64 = 1_000_000,
        /// The distance of near-duplicates in an [`Outcome`](crate::Outcome), and of a page to the
        /// page that [leads](field@crate::due::Decision::near) it. The tables of new segments are
        /// laid out for this distance; other distances can be searched as well. The distance is not
        /// stored, so a [`Reader`](crate::Reader) uses the default. Default: for each epoch the
        /// [advice](crate::fingerprint::Recipe::near_distance) of its recipe.
        pub near_distance: Option<u32> = None,
        /// The maximum duration by which a visit may be later than the clock of this machine. A
        /// later visit is rejected with [`Error::InTheFuture`](crate::Error::InTheFuture), because
        /// it would be the last visit of its page until its time comes. If the store has such a
        /// visit already, the clock is assumed to be behind, and no visit is rejected. Default:
        /// none, so that a visit may have any time.
        pub clock_tolerance: Option<Duration> = None,
        /// The maximum number of bytes of a segment's tables for each fingerprint, including the
        /// fingerprint and its page. Default: 48. With 16, there are only popcount shards, which
        /// searches scan.
        pub fingerprint_bytes: u32 = 48,
        /// The maximum number of near-duplicates, and of copies, in an [`Outcome`](crate::Outcome).
        /// Default: 16.
        pub near_limit: usize = 16,
        /// The ranking of pages with nearly the same content. The page that ranks first is the
        /// [original](field@crate::Outcome::original). Default: the page that was first seen with
        /// its content ranks first. The rule
        /// [`Canonical`](crate::cluster::RankingRule::Canonical) is refused.
        pub rule: Ranking = Ranking::default(),
        /// Whether to keep entity tags. Default: yes. An entity tag is chosen by the server, and can
        /// identify a person or a browser. If not, [`Page::etag`](crate::Page::etag) is `None` for
        /// pages seen from now on; entity tags that are stored already stay until new content
        /// replaces them. Times of [modification](crate::Observation::modified) are kept anyway,
        /// because revisits are planned with them.
        pub validators: bool = true,
        /// Whether outcomes name the [first capture](crate::Outcome::refers_to) of their content,
        /// which archives refer to instead of storing the content again. Default: false, because
        /// the answer costs reading the histories of the page and of pages that had the content.
        pub refers_to: bool = false,
        /// The maximum number of pages that [`Store::lease_due`](crate::Store::lease_due) may lease
        /// at a time. Each leased page takes about 100 bytes and its URL. Default: 1,000,000.
        pub leases_max: usize = 1_000_000,
        /// The maximum number of fingerprints to compare in a search for near-duplicates, in each
        /// segment and in memory, if a dense bucket has more fingerprints than the tables can
        /// distinguish; see [`Query::fingerprints`](crate::Query::fingerprints). Default: 4,096.
        pub near_fingerprints: u32 = FINGERPRINTS,
        /// Memory for sealing and merging together, in bytes, besides the memtables, however many
        /// pages there are. Default: 256 MiB. More than half of this memory is for sorting. Buffers
        /// of files and of the catalog always take about 60 MiB, and checksums two thousandths of
        /// the largest segment, even if this option is lower.
        pub background_memory_bytes: usize = 256 << 20,
        /// The duration for which the files that a merge has replaced are kept for readers in other
        /// processes that are about to open them. A reader that comes too late reads the list of
        /// files again. Default: 10 seconds. Without [background](Self::background) work, the next
        /// seal, merge or close removes the files.
        pub reader_grace: Duration = Duration::from_secs(10),
        /// The maximum duration for which opening waits while another process has the store open
        /// for writing. Then opening fails with [`Error::Locked`](crate::Error::Locked). Default: 5
        /// seconds, so that a process that is shutting down can finish. A reader that is opening
        /// the store holds its lock for a moment, so with a wait of zero, opening may fail without
        /// a writer.
        pub lock_wait: Duration = LOCK_WAIT,
    }
}
