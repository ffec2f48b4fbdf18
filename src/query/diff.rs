//! The differences between the pages of two stores, or of one store at two times.
//!
//! Both sides are read in SURT order, and merged as they are read. The verdict on a page is the
//! verdict that the earlier side would return for an observation of the later version.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::scan::Scan;
use crate::bug::OrBug;
use crate::engine::snapshot::Snapshot;
use crate::error::Result;
use crate::page::{
    Content, Entry, Epoch, EpochInfo, PageHistory, Prefix, Verdict, in_force_on, surt, version_of,
    visit_verdict,
};
use crate::time::Time;

/// A page whose current version differs between two sides, from a [`Diff`].
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time, Verdict};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::from_ms(1_000)?, 0x00, epoch))?;
/// let before = store.snapshot();
/// store.observe(Observation::content(url, Time::from_ms(2_000)?, 0xff, epoch))?;
/// let page = store.snapshot().diff(&before, None)?.next().unwrap()?;
/// assert_eq!(page.verdict.distance().unwrap().bits, 8);
/// assert_eq!((page.before.unwrap().fingerprint, page.seen), (Some(0x00), Some(Time::from_ms(2_000)?)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The URL of the page.
    pub url: String,
    /// The change: [`Verdict::New`], [`Verdict::Changed`], [`Verdict::Reverted`], or
    /// [`Verdict::Gone`]. A page is gone if it no longer has a current version, or is not in the
    /// later store.
    pub verdict: Verdict,
    /// The value of processing the current version further: the
    /// [priority](crate::Outcome::priority) of an observation of this version.
    pub priority: f64,
    /// The earlier version, with its fingerprint in the newest epoch.
    pub before: Option<Content>,
    /// The later version.
    pub after: Option<Content>,
    /// The time when the later version was last seen, in milliseconds since 1970.
    pub seen: Option<Time>,
}

/// Entries of a page that only one side has, from an [`ExactDiff`].
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::query::ExactDiff;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let url = "https://example.com/";
/// let other = Store::create(dir.path().join("other"), Options::default())?;
/// store.observe(Observation::failed(url, Time::from_ms(1_000)?))?;
/// other.observe(Observation::gone(url, Time::from_ms(1_000)?))?;
/// let page = ExactDiff::of(&store.snapshot(), &other.snapshot(), None)?.next().unwrap()?;
/// // Each store has a visit that the other store lacks.
/// assert_eq!((page.url.as_str(), page.before.len(), page.after.len()), (url, 1, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExactDifference {
    /// The URL of the page.
    pub url: String,
    /// The entries that only the earlier side has.
    pub before: Vec<Entry>,
    /// The entries that only the later side has.
    pub after: Vec<Entry>,
}

/// An iterator over the pages whose current version differs, in SURT order, from
/// [`Snapshot::diff`] and [`Diff::between`]. The iterator ends after an error.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let before = store.snapshot();
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::now(), 7, epoch))?;
/// for page in store.snapshot().diff(&before, None)? {
///     let page = page?;
///     println!("{}: {}", page.url, page.verdict);
/// }
/// assert_eq!(store.snapshot().diff(&before, None)?.count(), 1);
/// # Ok(())
/// # }
/// ```
pub struct Diff {
    sides: DiffSides,
    epochs: Arc<[EpochInfo]>,
}

/// An iterator over the pages whose entries are not all equal, in SURT order, from
/// [`ExactDiff::of`]. The iterator ends after an error.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::query::ExactDiff;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let before = store.snapshot();
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// for page in ExactDiff::of(&before, &store.snapshot(), None)? {
///     let page = page?;
///     assert_eq!((page.before.len(), page.after.len()), (0, 1));
/// }
/// # Ok(())
/// # }
/// ```
pub struct ExactDiff {
    sides: DiffSides,
    epochs: Arc<[EpochInfo]>,
}

impl fmt::Debug for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Diff").finish_non_exhaustive()
    }
}

impl fmt::Debug for ExactDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExactDiff").finish_non_exhaustive()
    }
}

/// The two sides of a comparison.
enum DiffSides {
    /// The pages of one store at two times.
    Times { scan: Box<Scan>, since: Time, until: Time },
    /// The pages of two stores, the earlier store first.
    Stores(Box<[StoreSide; 2]>),
}

/// The pages of a store. The next page is read ahead.
struct StoreSide {
    scan: Scan,
    next: Option<PageEntries>,
    begun: bool,
    /// The numbers of this side's epochs in the numbering for both sides.
    numbers: Vec<Epoch>,
}

/// A page with its entries.
struct PageEntries {
    key: Vec<u8>,
    url: String,
    entries: Vec<Entry>,
}

/// A page with its entries on both sides.
struct ComparedPage {
    url: String,
    before: Vec<Entry>,
    after: Vec<Entry>,
}

impl StoreSide {
    fn new(snapshot: &Snapshot, under: Option<&Prefix>, numbers: Vec<Epoch>) -> StoreSide {
        StoreSide { scan: snapshot.scan(under), next: None, begun: false, numbers }
    }

    /// Returns the page that was read ahead, and reads the next page.
    fn advance(&mut self) -> Result<Option<PageEntries>> {
        let next = match self.scan.next_entries().transpose()? {
            None => None,
            Some((url, mut entries)) => {
                for entry in &mut entries {
                    if let Some(epoch) = entry.epoch_mut() {
                        let number = self.numbers.get(epoch.count() as usize);
                        *epoch =
                            *number.or_bug("the epoch of each entry is in the list of epochs")?;
                    }
                }
                // The order of epochs may differ in the common numbering.
                entries.sort_unstable();
                Some(PageEntries { key: surt::key_of(&url), url, entries })
            }
        };
        Ok(std::mem::replace(&mut self.next, next))
    }
}

impl DiffSides {
    /// Creates the sides of two stores, and lists the epochs of both. The earlier store's epochs
    /// come first and keep their numbers. Epochs that only the later store has follow.
    fn stores(
        before: &Snapshot,
        after: &Snapshot,
        under: Option<&Prefix>,
    ) -> Result<(DiffSides, Arc<[EpochInfo]>)> {
        let mut epochs = before.epochs().to_vec();
        let own = epochs.iter().map(|info| info.epoch).collect();
        let mut numbers = Vec::new();
        for info in after.epochs() {
            let same = |other: &&EpochInfo| {
                other.name == info.name && other.epoch.mask() == info.epoch.mask()
            };
            if let Some(known) = epochs.iter().find(same) {
                numbers.push(known.epoch);
                continue;
            }
            let epoch = Epoch::new(epochs.len(), info.epoch.mask().leading_zeros());
            let epoch = epoch.or_bug("the epochs of two stores fit in 32 bits")?;
            numbers.push(epoch);
            epochs.push(EpochInfo { epoch, ..info.clone() });
        }
        let sides = [StoreSide::new(before, under, own), StoreSide::new(after, under, numbers)];
        Ok((DiffSides::Stores(Box::new(sides)), epochs.into()))
    }

    fn next(&mut self) -> Result<Option<ComparedPage>> {
        match self {
            DiffSides::Times { scan, since, until } => {
                let Some((url, mut after)) = scan.next_entries().transpose()? else {
                    return Ok(None);
                };
                after.retain(|entry| entry.time() <= *until);
                let upto = after.partition_point(|entry| entry.time() <= *since);
                let before = after.get(..upto).unwrap_or_default().to_vec();
                Ok(Some(ComparedPage { url, before, after }))
            }
            DiffSides::Stores(sides) => {
                for side in &mut **sides {
                    if !std::mem::replace(&mut side.begun, true) {
                        side.advance()?;
                    }
                }
                let [before, after] = &mut **sides;
                let order = match (&before.next, &after.next) {
                    (None, None) => return Ok(None),
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                    (Some(a), Some(b)) => (&a.key, &a.url).cmp(&(&b.key, &b.url)),
                };
                let before = if order.is_le() { before.advance()? } else { None };
                let after = if order.is_ge() { after.advance()? } else { None };
                let url = before.as_ref().or(after.as_ref()).map(|page| page.url.clone());
                let url = url.or_bug("the next page is in at least one of the stores")?;
                let entries =
                    |page: Option<PageEntries>| page.map(|page| page.entries).unwrap_or_default();
                Ok(Some(ComparedPage { url, before: entries(before), after: entries(after) }))
            }
        }
    }
}

impl Diff {
    /// Compares two stores.
    pub(super) fn new(before: &Snapshot, after: &Snapshot, under: Option<&Prefix>) -> Result<Diff> {
        let (sides, epochs) = DiffSides::stores(before, after, under)?;
        Ok(Diff { sides, epochs })
    }

    /// Returns an iterator over pages that changed from one time to another (both included): the
    /// pages under a prefix, or all pages. The comparison works like [`diff`](Snapshot::diff), with
    /// the visits up to each time.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time, Verdict};
    /// use simkeep::query::Diff;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let epoch = store.change_epoch();
    /// for (ms, fingerprint) in [(1_000, 0x00), (3_000, 0xff)] {
    ///     let time = Time::from_ms(ms)?;
    ///     store.observe(Observation::content("https://example.com/", time, fingerprint, epoch))?;
    /// }
    /// let (since, until) = (Time::from_ms(2_000)?, Time::from_ms(4_000)?);
    /// for page in Diff::between(&store.snapshot(), since, until, None) {
    ///     assert!(matches!(page?.verdict, Verdict::Changed { .. }));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn between(
        snapshot: &Snapshot,
        since: impl Into<Time>,
        until: impl Into<Time>,
        under: Option<&Prefix>,
    ) -> Diff {
        let sides = DiffSides::Times {
            scan: Box::new(snapshot.scan(under)),
            since: since.into(),
            until: until.into(),
        };
        Diff { sides, epochs: snapshot.epochs().into() }
    }

    /// The epochs of the contents and distances. The earlier side's epochs come first and keep
    /// their numbers. Epochs that only the later side has follow.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Role, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let other = Store::create(dir.path().join("other"), Options::default())?;
    /// other.register_epoch("my own hashes", Role::Both)?;
    /// let diff = other.snapshot().diff(&store.snapshot(), None)?;
    /// assert_eq!(diff.epochs()[1].name, "my own hashes"); // only the later store has it
    /// # Ok(())
    /// # }
    /// ```
    pub fn epochs(&self) -> &[EpochInfo] {
        &self.epochs
    }
}

impl ExactDiff {
    /// Returns an iterator over the pages that have entries in only one of two stores: the pages
    /// under a prefix, or all pages. Reads both stores once.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// use simkeep::backup::BackupOptions;
    /// use simkeep::query::ExactDiff;
    /// use simkeep::Reader;
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// store.backup(dir.path().join("backup"), BackupOptions::default())?;
    /// let backup = Reader::open(dir.path().join("backup"))?;
    /// // The backup has all visits.
    /// assert_eq!(ExactDiff::of(&store.snapshot(), &backup.snapshot(), None)?.count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`diff`](Snapshot::diff).
    pub fn of(before: &Snapshot, after: &Snapshot, under: Option<&Prefix>) -> Result<ExactDiff> {
        let (sides, epochs) = DiffSides::stores(before, after, under)?;
        Ok(ExactDiff { sides, epochs })
    }

    /// The epochs of the entries, as in [`Diff::epochs`].
    pub fn epochs(&self) -> &[EpochInfo] {
        &self.epochs
    }
}

/// The difference of a page; `None` if the page's current version is equal on both sides.
fn difference(pair: ComparedPage, epochs: &[EpochInfo]) -> Option<Difference> {
    let ComparedPage { url, before, after } = pair;
    let head = PageHistory::of(&before, epochs).head;
    let had = in_force_on(head.as_ref()).first().copied();
    let Some(visit) = version_of(&after) else {
        let (verdict, priority, seen) = (Verdict::Gone, 0.0, None);
        return had.map(|_| Difference { url, verdict, priority, before: had, after: None, seen });
    };
    // A content without digest and fingerprint is identified only by its visit.
    if version_of(&before) == Some(visit) {
        return None;
    }
    let of = |entry: &&Entry| (entry.time(), entry.digest()) == (visit.time, visit.seen.digest());
    let restated = after.iter().filter(|entry| entry.is_restated()).filter(of);
    let also: Vec<Content> = restated.filter_map(Entry::content).collect();
    let decided = visit_verdict(head.as_ref(), &visit, &also, epochs);
    if matches!(decided.verdict, Verdict::Same(_)) {
        return None;
    }
    let weight = after.iter().filter_map(Entry::weight).next_back().unwrap_or_default();
    let newest = visit.seen.content().into_iter().chain(&also).max_by_key(|c| c.epoch.count());
    Some(Difference {
        url,
        verdict: decided.verdict,
        priority: decided.priority(weight),
        before: had,
        after: newest.copied(),
        seen: Some(visit.time),
    })
}

impl Iterator for Diff {
    type Item = Result<Difference>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let pair = match self.sides.next().transpose()? {
                Ok(pair) => pair,
                Err(e) => return Some(Err(e)),
            };
            if let Some(found) = difference(pair, &self.epochs) {
                return Some(Ok(found));
            }
        }
    }
}

impl Iterator for ExactDiff {
    type Item = Result<ExactDifference>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let ComparedPage { url, mut before, mut after } = match self.sides.next().transpose()? {
                Ok(pair) => pair,
                Err(e) => return Some(Err(e)),
            };
            let all = before.clone();
            before.retain(|entry| after.binary_search(entry).is_err());
            after.retain(|entry| all.binary_search(entry).is_err());
            if !(before.is_empty() && after.is_empty()) {
                return Some(Ok(ExactDifference { url, before, after }));
            }
        }
    }
}
