//! An overview of a store, without reading all its pages.

use std::ops::RangeInclusive;

use super::segment::{SegmentView, frame_bytes};
use super::space::{Space, SpaceSums, SpaceUsage};
use crate::bug::OrBug;
use crate::engine::component::Component;
use crate::engine::snapshot::Snapshot;
use crate::engine::totals::StoreTotals;
use crate::error::{Corruption, Error, Result};
use crate::inspect::Operations;
use crate::order::sort_few_by;
use crate::page::{EpochInfo, Role, in_use, surt};
use crate::search::Shape;
use crate::time::Time;

/// The number of pages sampled to find large hosts.
const SAMPLED: u64 = 64;

/// The minimum share of a listed host.
const SHARE_MIN: f64 = 0.02;

/// An overview of a store.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::Overview;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// store.observe(Observation::gone("https://example.com/", Time::now()))?;
/// let overview = Overview::of(&store.snapshot())?;
/// assert_eq!((overview.pages, overview.gone, overview.segments.len()), (1, 1, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Overview {
    /// The number of the last operation.
    pub sequence: u64,
    /// Known pages.
    pub pages: u64,
    /// Pages with current content.
    pub in_force: u64,
    /// Pages that are gone.
    pub gone: u64,
    /// Pages whose content was never seen.
    pub never: u64,
    /// Visits to all pages.
    pub visits: u64,
    /// A lower bound of the times of all visits; `None` without visits. The bound is the time of
    /// the earliest visit, unless a merge dropped this visit because it was forgotten.
    pub first: Option<Time>,
    /// An upper bound of the times of all visits; `None` without visits.
    pub last: Option<Time>,
    /// Pages with data in the journal that no segment has yet.
    pub unsealed_pages: u64,
    /// The numbers of the first and the last operation in the journal; `None` if the journal is
    /// empty.
    pub unsealed: Option<(u64, u64)>,
    /// Distinct fingerprints, counted once for each epoch in each segment or memtable. Exact for
    /// one segment and an empty journal.
    pub fingerprints: u64,
    /// The largest number of pages that have or had one fingerprint in one segment.
    pub commonest_pages: u64,
    /// All epochs, by number.
    pub epochs: Vec<EpochOverview>,
    /// The live segments, the oldest first.
    pub segments: Vec<SegmentOverview>,
    /// Bytes of the segments by purpose, in descending order.
    pub space: Vec<SpaceUsage>,
    /// The hosts with more than about 2 % of the pages, in descending order of their shares. The
    /// shares are estimated from 64 pages at equal distances in SURT order, without the journal.
    pub hosts: Vec<HostShare>,
    /// The damage among the 64 sampled pages, if any. With damage, `hosts` is empty.
    pub flaw: Option<Corruption>,
}

impl Overview {
    /// Summarizes a store, at a cost that does not grow with the size of the store. Reads 64 pages
    /// to find the large hosts; all other numbers are in memory already.
    ///
    /// ```
    /// use simkeep::inspect::Overview;
    /// # fn main() -> simkeep::Result<()> {
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// store.observe(Observation::gone("https://example.com/", Time::now()))?;
    /// store.seal()?;
    /// let overview = Overview::of(&store.snapshot())?;
    /// assert_eq!((overview.pages, overview.segments.len()), (1, 1));
    /// assert_eq!(overview.hosts[0].host, "example.com");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if a file cannot be read. Damaged pages are not an error;
    /// the overview reports them.
    pub fn of(snapshot: &Snapshot) -> Result<Overview> {
        let view = snapshot.view();
        view.check()?;
        let StoreTotals { pages, visits, in_force, gone } = StoreTotals::of(snapshot)?;
        let (mut sums, mut segments, mut unsealed_pages) = (SpaceSums::default(), Vec::new(), 0);
        let (mut times, mut commonest_pages, mut unsealed_new) = (None, 0, 0);
        for component in view.components().rev() {
            let live = match component {
                Component::Segment(_, live) => live,
                Component::Memtable(_, memtable) => {
                    let inner = memtable.read();
                    cover(&mut times, inner.times_at(snapshot.sequence()));
                    let delta = inner.delta_at(snapshot.sequence())?.pages;
                    // More pages may be forgotten than added; a negative delta counts as no new
                    // pages.
                    unsealed_new += u64::try_from(delta).unwrap_or(0);
                    let here = inner.pages().filter(|page| page.is_here(snapshot.sequence()));
                    unsealed_pages += here.count() as u64;
                    continue;
                }
            };
            let segment = SegmentView::of(snapshot, live.segment.id())?;
            let segment = segment.or_bug("each segment number of a snapshot has a segment")?;
            segment.sections.iter().for_each(|section| sums.add(section.space, section.bytes));
            sums.add(Space::Frames, frame_bytes(&segment));
            cover(&mut times, segment.times);
            commonest_pages = commonest_pages.max(segment.longest_list);
            segments.push(SegmentOverview::of(&segment));
        }
        let deltas = view.segments.iter().map(|live| live.segment.numbers().delta.pages);
        supersede(&mut segments, &deltas.collect::<Vec<_>>());
        discount_forgotten(&mut segments, pages.saturating_sub(unsealed_new));
        let used = Role::USES.map(|role| in_use(snapshot.epochs(), role).map(|info| info.epoch));
        let epochs = snapshot.epochs().iter().map(|info| EpochOverview {
            info: info.clone(),
            fingerprints: snapshot.fingerprints(info.epoch),
            is_in_use: used.contains(&Some(info.epoch)),
        });
        let epochs: Vec<EpochOverview> = epochs.collect();
        let (hosts, flaw) = match largest_hosts(snapshot) {
            Ok(hosts) => (hosts, None),
            Err(Error::Corrupt(flaw)) => (Vec::new(), Some(flaw)),
            Err(e) => return Err(e),
        };
        Ok(Overview {
            sequence: snapshot.sequence(),
            pages,
            in_force,
            gone,
            never: pages - in_force - gone,
            visits,
            first: times.map(|(first, _)| first),
            last: times.map(|(_, last)| last),
            unsealed_pages,
            unsealed: Operations::after(snapshot, u64::MAX)
                .available()
                .map(RangeInclusive::into_inner),
            fingerprints: epochs.iter().map(|epoch| epoch.fingerprints).sum(),
            commonest_pages,
            epochs,
            segments,
            space: sums.largest_first(),
            hosts,
            flaw,
        })
    }
}

/// An epoch, with its counts.
///
/// ```
/// # use simkeep::{Observation, Options, Role, Store, Time};
/// use simkeep::inspect::Overview;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, old) = ("https://example.com/", store.change_epoch());
/// store.observe(Observation::content(url, Time::now(), 7, old))?;
/// store.register_epoch("my own hashes", Role::Both)?;
/// let epochs = Overview::of(&store.snapshot())?.epochs;
/// assert_eq!((epochs[0].fingerprints, epochs[0].is_in_use), (1, false));
/// assert_eq!((epochs[1].info.name.as_str(), epochs[1].is_in_use), ("my own hashes", true));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EpochOverview {
    /// The epoch.
    pub info: EpochInfo,
    /// Distinct fingerprints, counted once for each segment or memtable that has fingerprints of
    /// the epoch.
    pub fingerprints: u64,
    /// Whether verdicts or searches use the epoch.
    pub is_in_use: bool,
}

/// The numbers of a segment.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::Overview;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let time = Time::from_ms(1_700_000_000_000)?;
/// store.observe(Observation::gone("https://example.com/", time))?;
/// store.seal()?;
/// let segment = &Overview::of(&store.snapshot())?.segments[0];
/// assert_eq!((segment.pages, segment.visits, segment.superseded), (1, 1, 0.0));
/// assert_eq!((segment.level, segment.times), (0, Some((time, time))));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SegmentOverview {
    /// The number of the segment.
    pub id: u64,
    /// The depth of merges: 0 for a sealed segment.
    pub level: u64,
    /// The first operation in the segment.
    pub first_operation: u64,
    /// The last operation in the segment.
    pub last_operation: u64,
    /// The number of page records.
    pub pages: u64,
    /// The number of visits in the page records.
    pub visits: u64,
    /// The earliest and latest possible time of the segment's visits; `None` without visits.
    pub times: Option<(Time, Time)>,
    /// The time at which the segment was written.
    pub written: Time,
    /// Bytes of the file.
    pub bytes: u64,
    /// The search structure of the epoch with the most fingerprints: column, rotations or cells;
    /// `None` without fingerprints.
    pub shape: Option<Shape>,
    /// The approximate share of superseded records in the segment, from 0 to 1. A record is
    /// superseded if a newer segment has a record of its page, or if the page was forgotten. A
    /// merge combines or drops superseded records.
    pub superseded: f64,
}

/// The share of a host in a store.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// use simkeep::inspect::Overview;
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// for url in ["https://example.com/a", "https://example.com/b", "https://example.org/"] {
///     store.observe(Observation::gone(url, Time::now()))?;
/// }
/// store.seal()?;
/// let hosts = Overview::of(&store.snapshot())?.hosts;
/// assert_eq!(hosts[0].host, "example.com");
/// assert!(hosts[0].share > hosts[1].share);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HostShare {
    /// The name of the host; for URLs without a host, the scheme and a colon.
    pub host: String,
    /// The approximate share of the host in the store's pages, from 0 to 1.
    pub share: f64,
}

impl SegmentOverview {
    /// Describes a segment by the numbers in its file. `superseded` depends on newer segments and
    /// is not set yet.
    fn of(segment: &SegmentView) -> SegmentOverview {
        let most = segment.tables.iter().filter(|tables| tables.epoch.is_some());
        let most = most.max_by_key(|tables| tables.fingerprints);
        SegmentOverview {
            id: segment.id,
            level: segment.level,
            first_operation: segment.first_operation,
            last_operation: segment.last_operation,
            pages: segment.pages,
            visits: segment.visits,
            times: segment.times,
            written: segment.written,
            bytes: segment.bytes,
            shape: most.map(|tables| tables.shape),
            superseded: 0.0,
        }
    }
}

/// Extends a range of times to include another range.
fn cover(times: &mut Option<(Time, Time)>, others: Option<(Time, Time)>) {
    if let Some((first, last)) = others {
        let (from, to) = times.unwrap_or((first, last));
        *times = Some((from.min(first), to.max(last)));
    }
}

/// Estimates the superseded share of each segment. Newer segments add `deltas` to the pages of the
/// store. If a segment has more records than added pages, the additional records continue older
/// records. The function assumes that the continued records are evenly distributed.
fn supersede(segments: &mut [SegmentOverview], deltas: &[i64]) {
    for newer in (1..segments.len()).rev() {
        let Some((older, rest)) = segments.split_at_mut_checked(newer) else { continue };
        let (Some(own), Some(delta)) = (rest.first(), deltas.get(newer)) else { continue };
        let all: u64 = older.iter().map(|segment| segment.pages).sum();
        let new = u64::try_from(*delta).unwrap_or(0);
        let again = own.pages.saturating_sub(new) as f64 / all.max(1) as f64;
        for segment in older {
            // Only records that were not superseded before become superseded.
            segment.superseded += (1.0 - segment.superseded) * again.min(1.0);
        }
    }
}

/// Increases the superseded shares until the segments have at most `known` current records. Records
/// in excess of `known` belong to forgotten pages, in any segment.
fn discount_forgotten(segments: &mut [SegmentOverview], known: u64) {
    let left = segments.iter().map(|of| (1.0 - of.superseded) * of.pages as f64).sum::<f64>();
    let share = (known as f64 / left.max(1.0)).min(1.0);
    for segment in segments {
        segment.superseded = 1.0 - (1.0 - segment.superseded) * share;
    }
}

/// Returns the hosts of pages at equal distances.
fn largest_hosts(snapshot: &Snapshot) -> Result<Vec<HostShare>> {
    let segments = &snapshot.view().segments;
    let pages = |segments: &[_]| -> u64 {
        let numbers = segments.iter().map(
            |live: &std::sync::Arc<crate::engine::live_segment::LiveSegment>| {
                live.segment.numbers().pages
            },
        );
        numbers.sum()
    };
    let (all, mut hosts, mut looked_at) = (pages(segments), Vec::<HostShare>::new(), 0_u32);
    let step = (all / SAMPLED).max(1);
    let (mut key, mut url, mut before) = (Vec::new(), Vec::new(), 0);
    for live in segments.iter() {
        let own = live.segment.numbers().pages;
        // The first sampled page of this segment. Sampled pages are at odd multiples of half a
        // step.
        let first = (step / 2 + step - before % step) % step;
        for page in (first..own).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
            #[expect(clippy::cast_possible_truncation, reason = "a segment has fewer than 2^30")]
            live.segment.page(page as u32, &mut url)?;
            key.clear();
            surt::key(live.segment.text(&url)?, &mut key);
            let name = surt::host_name(&key);
            match hosts.iter_mut().find(|host| host.host == name) {
                Some(host) => host.share += 1.0,
                None => hosts.push(HostShare { host: name, share: 1.0 }),
            }
            looked_at += 1;
        }
        before += own;
    }
    hosts.iter_mut().for_each(|host| host.share /= f64::from(looked_at));
    // One sampled page of a host is no evidence about the host.
    let least = if step == 1 { 0.0 } else { 1.5 / f64::from(looked_at) };
    hosts.retain(|host| host.share >= SHARE_MIN.max(least));
    sort_few_by(&mut hosts, |a, b| b.share.total_cmp(&a.share).then_with(|| a.host.cmp(&b.host)));
    Ok(hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(pages: u64) -> SegmentOverview {
        SegmentOverview {
            id: 0,
            level: 0,
            first_operation: 0,
            last_operation: 0,
            pages,
            visits: 0,
            times: None,
            written: Time::from_ms_unchecked(0),
            bytes: 0,
            shape: None,
            superseded: 0.0,
        }
    }

    #[test]
    fn superseded_pages_are_spread_over_older_segments() {
        let mut segments = [segment(100), segment(100), segment(50)];
        // The second segment has 60 pages that the first one has, too; the third segment has 20
        // pages of the first or the second one.
        supersede(&mut segments, &[100, 40, 30]);
        let shares = segments.map(|segment| segment.superseded);
        assert!((shares[0] - (0.1 + 0.9 * 0.6)).abs() < 1e-9, "{shares:?}");
        assert!((shares[1] - 0.1).abs() < 1e-9 && shares[2] == 0.0, "{shares:?}");
    }

    #[test]
    fn forgotten_pages_are_removed_evenly_from_segments() {
        let mut segments = [segment(100), SegmentOverview { superseded: 0.5, ..segment(100) }];
        discount_forgotten(&mut segments, 150);
        assert!(segments[0].superseded == 0.0 && segments[1].superseded == 0.5, "{segments:?}");
        discount_forgotten(&mut segments, 75);
        assert!(segments[0].superseded == 0.5 && segments[1].superseded == 0.75, "{segments:?}");
        discount_forgotten(&mut segments, 0);
        assert!(segments.iter().all(|segment| segment.superseded == 1.0), "{segments:?}");
    }
}
