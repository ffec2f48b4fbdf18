//! The change statistics of a page, computed from its visits.

use super::compare::VisitChange;
use crate::recrawl::{
    Change, Comparison, ComparisonSummary, HALVED_AT, RecentComparisons, mean_step,
};
use crate::time::Time;

/// The number of classes of interval lengths, which are powers of four: up to 70 minutes, up to 4.7
/// hours and so on; the last class begins at 199 days.
pub(crate) const LENGTHS: usize = 8;
/// An interval has at least 2^20 units of its length class, except in the shortest class.
const UNITS_LOG2: u32 = 20;
/// The maximum interval between two visits, in milliseconds.
const INTERVAL_MAX: u64 = Time::MAX.as_ms().abs_diff(Time::MIN.as_ms());
/// The stored distance of a last change whose distance is unknown, and of a change that never
/// happened.
const UNKNOWN: u8 = u8::MAX - 1;
const NEVER: u8 = u8::MAX;
/// A modification time that is at most this many milliseconds before the visit is ignored: it is
/// the current time of the server's clock, and not the time of a change.
const CLOCK_MS: i64 = 2_000;

const MS_PER_DAY: f64 = 86_400_000.0;

/// The change statistics of a page, from comparisons of each visit with the previous visit.
///
/// [`of`](Self::of) computes the statistics from a history, and defines changes and returns to an
/// earlier version.
///
/// The statistics are sums of less than 100 bytes. The statistics include the total time of
/// unchanged intervals. For intervals with a change, the statistics include the count by length
/// (powers of four) and the mean length, which is exact if all lengths are equal. At 128
/// comparisons all sums are halved, so the last 64 to 127 comparisons count, and a page that begins
/// to behave differently is recognized.
///
/// All sums are integers, so equal histories have equal sums in any order of arrival. The intervals
/// with a change add up to at most 2,229 years.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// let visits = [(1, 0x00), (2, 0x00), (3, 0xff), (4, 0x00)];
/// for (day, fingerprint) in visits {
///     let time = Time::from_ms(day * 86_400_000)?;
///     store.observe(Observation::content(url, time, fingerprint, epoch))?;
/// }
/// let changes = store.snapshot().latest(url)?.unwrap().changes;
/// // Unchanged, changed, and back at the first version.
/// assert_eq!((changes.comparisons(), changes.changes(), changes.returns()), (3, 1, 1));
/// assert_eq!(changes.unchanged_ms(), 86_400_000);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changes {
    pub(crate) unchanged_ms: u64,
    /// For changes of known time, the sum of the times from the change to the visit that found it.
    /// `dated_ms` is the sum of the intervals between the two visits.
    pub(crate) quiet_ms: u64,
    pub(crate) dated_ms: u64,
    /// Whether each of the last 64 comparisons found a change or a return; the last comparison is
    /// the lowest bit.
    pub(crate) bits: u64,
    pub(crate) last_time: Time,
    /// For each length class, the sum of the intervals with a change of unknown time or a return,
    /// in units that grow with the length.
    pub(crate) sums: [u32; LENGTHS],
    pub(crate) changed: [u8; LENGTHS],
    pub(crate) returned: [u8; LENGTHS],
    pub(crate) unchanged: u8,
    pub(crate) dated: u8,
    pub(crate) last_bits: u8,
}

const _: () = assert!(size_of::<Changes>() < 100, "a head is cloned for each observation");

/// The last change of a page, or its last return to an earlier version.
///
/// ```
/// # use simkeep::{Observation, Options, Store, Time};
/// # fn main() -> simkeep::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::create(dir.path().join("store"), Options::default())?;
/// let (url, epoch) = ("https://example.com/", store.change_epoch());
/// for (ms, fingerprint) in [(1_000, 0x00), (2_000, 0xff)] {
///     store.observe(Observation::content(url, Time::from_ms(ms)?, fingerprint, epoch))?;
/// }
/// let change = store.snapshot().latest(url)?.and_then(|page| page.changes.last_change()).unwrap();
/// assert_eq!((change.time, change.distance), (Time::from_ms(2_000)?, Some(8)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastChange {
    /// The time of the change if known, or else of the visit that found the change, in milliseconds
    /// since 1970.
    pub time: Time,
    /// The Hamming distance to the version before, if known.
    pub distance: Option<u32>,
}

/// A comparison of two visits.
#[derive(Clone, Copy, Debug)]
pub(super) struct VisitComparison {
    /// The times of the two visits, in order.
    pub(super) times: (i64, i64),
    pub(super) found: VisitChange,
    /// The time when the page was last modified, as the later visit reported.
    pub(super) modified: Option<i64>,
}

impl Default for Changes {
    fn default() -> Self {
        Changes {
            unchanged_ms: 0,
            quiet_ms: 0,
            dated_ms: 0,
            bits: 0,
            last_time: Time::from_ms_unchecked(0),
            sums: [0; LENGTHS],
            changed: [0; LENGTHS],
            returned: [0; LENGTHS],
            unchanged: 0,
            dated: 0,
            last_bits: NEVER,
        }
    }
}

impl Changes {
    /// The weight of a return relative to a change. A page that flips between versions is stale
    /// after each change until the next visit, but has no new content.
    pub const RETURN_SHARE: f64 = 0.5;

    /// The number of comparisons that count: comparisons without a change, with a change, or with a
    /// return; at most 127.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let url = "https://example.com/";
    /// for ms in [1_000, 2_000, 3_000] {
    ///     store.observe(Observation::content(url, Time::from_ms(ms)?, 7, store.change_epoch()))?;
    /// }
    /// let changes = store.snapshot().latest(url)?.unwrap().changes;
    /// assert_eq!((changes.comparisons(), changes.changes()), (2, 0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn comparisons(&self) -> u32 {
        u32::from(self.unchanged) + self.changes() + self.returns()
    }

    /// The number of comparisons that found a change to a new version.
    pub fn changes(&self) -> u32 {
        sum(&self.changed) + self.dated()
    }

    /// The number of comparisons that found the page back at one of its last versions.
    pub fn returns(&self) -> u32 {
        sum(&self.returned)
    }

    /// The number of changes of known time: changes for which the server reported a modification
    /// time.
    ///
    /// ```
    /// # use simkeep::{Observation, Options, Store, Time};
    /// # fn main() -> simkeep::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let store = Store::create(dir.path().join("store"), Options::default())?;
    /// let (url, epoch) = ("https://example.com/", store.change_epoch());
    /// let day = |n: i64| Time::from_ms(n * 86_400_000);
    /// store.observe(Observation::content(url, day(1)?, 0x00, epoch))?;
    /// // The server reports that the page changed on day 3.
    /// store.observe(Observation::content(url, day(7)?, 0xff, epoch).modified(day(3)?))?;
    /// let changes = store.snapshot().latest(url)?.unwrap().changes;
    /// assert_eq!((changes.changes(), changes.dated()), (1, 1));
    /// assert_eq!(changes.last_change().unwrap().time, day(3)?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn dated(&self) -> u32 {
        u32::from(self.dated)
    }

    /// The total length of the intervals without a change, in milliseconds.
    pub fn unchanged_ms(&self) -> u64 {
        self.unchanged_ms
    }

    /// The last change or return; `None` without changes and returns.
    pub fn last_change(&self) -> Option<LastChange> {
        let distance = (self.last_bits < UNKNOWN).then_some(u32::from(self.last_bits));
        (self.last_bits != NEVER).then_some(LastChange { time: self.last_time, distance })
    }

    /// The most recent comparisons in order of time, for policies that depend on the order. `first`
    /// and `last` are the first and last visit of the page. A return counts as a change.
    ///
    /// ```
    /// use simkeep::Time;
    /// use std::time::Duration;
    /// let first = Time::from_ms(1_700_000_000_000)?;
    /// let recent = simkeep::Changes::default().recent(first, first + Duration::from_secs(86_400));
    /// assert_eq!(recent.quiet_days(), 1.0);
    /// # Ok::<(), simkeep::Error>(())
    /// ```
    pub fn recent(&self, first: Time, last: Time) -> RecentComparisons {
        let since = self.last_change().map_or(first, |change| change.time);
        let quiet = last.as_ms().saturating_sub(since.as_ms()).max(0) as f64 / MS_PER_DAY;
        RecentComparisons::of(self.bits, self.comparisons().min(u64::BITS), quiet)
    }

    /// Whether each of the last 64 comparisons found a change or a return; the last comparison is
    /// the lowest bit.
    pub(crate) fn recent_bits(&self) -> u64 {
        self.bits
    }

    /// The comparisons as evidence about the rate of changes. Each comparison has a weight.
    ///
    /// Several intervals appear as one interval of their mean length, and its weight is their
    /// number. A return has `return_share` of the weight of a change; see
    /// [`RETURN_SHARE`](Self::RETURN_SHARE).
    ///
    /// ```
    /// use simkeep::Changes;
    /// use simkeep::recrawl::{Belief, Likelihood, Prior};
    /// # fn main() -> simkeep::Result<()> {
    /// let mut likelihood = Likelihood::flat();
    /// for (comparison, times) in Changes::default().counted(Changes::RETURN_SHARE) {
    ///     likelihood.add(comparison, times)?;
    /// }
    /// let belief = Belief::new(&Prior::default(), &likelihood);
    /// # Ok(())
    /// # }
    /// ```
    pub fn counted(&self, return_share: f64) -> impl Iterator<Item = (Comparison, f64)> + use<> {
        let counts = *self;
        let unchanged = u32::from(self.unchanged);
        let unchanged = mean(self.unchanged_ms, unchanged, Change::None, f64::from(unchanged));
        let ago = days(self.quiet_ms, self.dated());
        let dated = mean(self.dated_ms, self.dated(), Change::DaysAgo(ago), f64::from(self.dated));
        let undated = (0..LENGTHS).filter_map(move |length| {
            let ((changed, returned), sum) = (counts.undated(length), counts.undated_ms(length));
            let times = f64::from(changed) + return_share * f64::from(returned);
            mean(sum, changed + returned, Change::Undated, times)
        });
        unchanged.into_iter().chain(dated).chain(undated)
    }

    /// The sums of the statistics, as input of a policy.
    pub(crate) fn summary(&self) -> ComparisonSummary {
        let of_length = |length| {
            let (changed, returned) = self.undated(length);
            (u64::from(changed + returned), self.undated_ms(length))
        };
        ComparisonSummary {
            changes: u64::from(self.changes() + self.returns()),
            dated: self.dated.into(),
            returned: self.returns().into(),
            mean_step: mean_step((0..LENGTHS).map(of_length)),
            quiet_ms: self.unchanged_ms.saturating_add(self.quiet_ms),
        }
    }

    /// The number of changes of unknown time, and of returns, among intervals of one length class.
    #[expect(clippy::indexing_slicing, reason = "each length is below the number of lengths")]
    pub(crate) fn undated(&self, length: usize) -> (u32, u32) {
        (self.changed[length].into(), self.returned[length].into())
    }

    /// The sum of the intervals with a change of unknown time or a return, in one length class, in
    /// milliseconds.
    #[expect(clippy::indexing_slicing, reason = "each length is below the number of lengths")]
    fn undated_ms(&self, length: usize) -> u64 {
        u64::from(self.sums[length]) << unit_log2(length)
    }

    /// Whether a history can have these statistics. Stored bytes may be damaged.
    pub(crate) fn is_possible(&self) -> bool {
        let counts =
            [self.unchanged, self.dated].into_iter().chain(self.changed).chain(self.returned);
        let comparisons: u32 = counts.map(u32::from).sum();
        let fits = |sum: u64, count: u32, from: u64, to: u64| {
            let count = u64::from(count);
            (count * from..=count.saturating_mul(to)).contains(&sum)
        };
        let each = (0..LENGTHS).all(|length| {
            let (changed, returned) = self.undated(length);
            let (from, to) = bounds(length);
            fits(self.undated_ms(length), changed + returned, from, to)
        });
        let found = self.changes() + self.returns();
        (1..HALVED_AT).contains(&comparisons)
            && each
            && fits(self.unchanged_ms, self.unchanged.into(), 1, INTERVAL_MAX)
            && fits(self.dated_ms, self.dated(), 1, INTERVAL_MAX)
            && self.quiet_ms <= self.dated_ms
            && (comparisons >= u64::BITS || self.bits >> comparisons == 0)
            && (self.last_bits != NEVER || (found, self.bits) == (0, 0))
            && (self.last_bits >= UNKNOWN || u32::from(self.last_bits) <= u64::BITS)
    }

    /// Adds a comparison of two visits at different times.
    pub(super) fn push(&mut self, comparing: VisitComparison) {
        let interval = comparing.interval();
        self.bits = self.bits << 1 | u64::from(comparing.found != VisitChange::Unchanged);
        match (comparing.found, comparing.dated()) {
            (VisitChange::Unchanged, _) => {
                self.unchanged += 1;
                self.unchanged_ms += interval;
            }
            (VisitChange::Changed(distance), Some(then)) => {
                self.dated += 1;
                self.dated_ms += interval;
                self.quiet_ms += comparing.times.1.abs_diff(then).min(interval);
                self.note(Time::from_ms_unchecked(then), distance);
            }
            (VisitChange::Changed(distance), None) => {
                *self.add(interval, |changes| &mut changes.changed) += 1;
                self.note(Time::from_ms_unchecked(comparing.times.1), distance);
            }
            (VisitChange::Returned(distance), _) => {
                *self.add(interval, |changes| &mut changes.returned) += 1;
                self.note(Time::from_ms_unchecked(comparing.times.1), distance);
            }
        }
        if self.comparisons() == HALVED_AT {
            self.halve();
        }
    }

    /// Adds an interval to its length class. Returns the count that `of` selects in this class.
    #[expect(clippy::indexing_slicing, reason = "each length is below the number of lengths")]
    fn add(&mut self, interval: u64, of: fn(&mut Changes) -> &mut [u8; LENGTHS]) -> &mut u8 {
        let length = length_of(interval);
        let units = u32::try_from(interval >> unit_log2(length)).unwrap_or(u32::MAX);
        self.sums[length] = self.sums[length].saturating_add(units);
        &mut of(self)[length]
    }

    /// Sets the time and the distance of the last change.
    pub(crate) fn note(&mut self, time: Time, distance: Option<u32>) {
        self.last_time = time;
        self.last_bits = distance.and_then(|bits| u8::try_from(bits).ok()).unwrap_or(UNKNOWN);
    }

    /// Halves all counts, and halves the sums so that the means stay. The remainder of an odd count
    /// is carried to the next count, and at the end to the count of unchanged intervals. So exactly
    /// half of the comparisons remain, and a single change is forgotten.
    fn halve(&mut self) {
        let mut over = 0;
        let mut half = |count: &mut u8| {
            let all = *count + over;
            over = all % 2;
            let before = std::mem::replace(count, all / 2);
            (u64::from(before), u64::from(*count))
        };
        let part = |sum: u64, (before, after): (u64, u64)| (sum * after).checked_div(before);
        let lengths = self.sums.iter_mut().zip(&mut self.changed).zip(&mut self.returned);
        for ((sum, changed), returned) in lengths {
            let (changed, returned) = (half(changed), half(returned));
            let both = (changed.0 + returned.0, changed.1 + returned.1);
            *sum = u32::try_from(part((*sum).into(), both).unwrap_or(0)).unwrap_or(u32::MAX);
        }
        let dated = half(&mut self.dated);
        self.dated_ms = part(self.dated_ms, dated).unwrap_or(0);
        self.quiet_ms = part(self.quiet_ms, dated).unwrap_or(0);
        let unchanged = half(&mut self.unchanged);
        self.unchanged_ms = part(self.unchanged_ms, unchanged).unwrap_or(0);
    }
}

impl VisitComparison {
    /// The time between the visits, in milliseconds.
    fn interval(&self) -> u64 {
        self.times.0.abs_diff(self.times.1).min(INTERVAL_MAX)
    }

    /// The time of the change, if known; it lies between the visits. Ignores a modification time
    /// two seconds (`CLOCK_MS`) or less before the later visit: servers report the current time for
    /// pages generated on each request.
    fn dated(&self) -> Option<i64> {
        let (before, now) = self.times;
        self.modified.filter(|then| before < *then && *then < now.saturating_sub(CLOCK_MS))
    }
}

/// The length class of an interval.
fn length_of(interval: u64) -> usize {
    let octaves = interval.checked_ilog2().unwrap_or(0).saturating_sub(UNITS_LOG2);
    (octaves as usize / 2).min(LENGTHS - 1)
}

/// The unit of intervals of a length class, in milliseconds, as a power of two. The unit is fine
/// enough that the sum of 128 intervals is exact to a millionth, and coarse enough that the sum
/// fits.
fn unit_log2(length: usize) -> usize {
    2 * length
}

/// The range of intervals of a length class, in milliseconds.
fn bounds(length: usize) -> (u64, u64) {
    let from = if length == 0 { 1 } else { 1 << (unit_log2(length) + UNITS_LOG2 as usize) };
    let to = if length == LENGTHS - 1 {
        INTERVAL_MAX
    } else {
        4 << (unit_log2(length) + UNITS_LOG2 as usize)
    };
    (from, to)
}

fn sum(counts: &[u8]) -> u32 {
    counts.iter().copied().map(u32::from).sum()
}

fn days(sum_ms: u64, count: u32) -> f64 {
    sum_ms as f64 / f64::from(count) / MS_PER_DAY
}

/// One comparison for the mean of `count` intervals, with its weight; `None` without intervals.
#[expect(clippy::expect_used, reason = "a mean of intervals is at least the shortest of them")]
fn mean(sum_ms: u64, count: u32, change: Change, times: f64) -> Option<(Comparison, f64)> {
    if count == 0 {
        return None;
    }
    let comparison = Comparison::new(days(sum_ms, count), change);
    Some((comparison.expect("visits are compared that are a millisecond apart or more"), times))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn dated(times: (i64, i64), modified: i64) -> Changes {
        let mut changes = Changes::default();
        changes.push(VisitComparison {
            times,
            found: VisitChange::Changed(Some(5)),
            modified: Some(modified),
        });
        changes
    }

    #[test]
    fn change_is_dated_only_between_its_visits() {
        let day = 86_400_000;
        for (modified, is_dated) in [
            (0, false),
            (10 * day, false),
            (10 * day + 1, true),
            (18 * day, true),
            (20 * day - 2_001, true),
            (20 * day - 2_000, false),
            (20 * day, false),
            (30 * day, false),
            (i64::MIN, false),
        ] {
            let changes = dated((10 * day, 20 * day), modified);
            assert_eq!((changes.changes(), changes.dated()), (1, u32::from(is_dated)));
            let time = if is_dated { modified } else { 20 * day };
            assert_eq!(
                changes.last_change(),
                Some(LastChange { time: Time::from_ms_unchecked(time), distance: Some(5) })
            );
        }
        let changes = dated((10 * day, 20 * day), 18 * day);
        let expected = Comparison::new(10.0, Change::DaysAgo(2.0)).unwrap();
        assert!(changes.counted(1.0).eq([(expected, 1.0)]));
        assert_eq!(
            changes
                .recent(Time::from_ms_unchecked(0), Time::from_ms_unchecked(21 * day))
                .quiet_days(),
            3.0
        );
    }

    #[test]
    fn recent_behaviour_outweighs_old() {
        let mut changes = Changes::default();
        let mut push = |found, times: usize| {
            let times = std::iter::repeat_n((0, 1000), times);
            times.for_each(|times| changes.push(VisitComparison { times, found, modified: None }));
            changes.changes()
        };
        assert_eq!(push(VisitChange::Changed(None), 127), 127);
        assert_eq!(push(VisitChange::Changed(None), 1), 64);
        assert_eq!(push(VisitChange::Unchanged, 64 * 7), 0);
    }

    fn found() -> impl Strategy<Value = VisitChange> {
        prop_oneof![
            3 => Just(VisitChange::Unchanged),
            2 => (0..65u32).prop_map(|bits| VisitChange::Changed(Some(bits))),
            1 => Just(VisitChange::Changed(None)),
            2 => Just(VisitChange::Returned(None)),
        ]
    }

    fn time() -> impl Strategy<Value = i64> {
        prop_oneof![
            1 => Just(Time::MIN.as_ms()), 1 => Just(Time::MAX.as_ms()), 9 => 0..100i64, 9 => 0..1i64 << 36
        ]
    }

    proptest! {
        #[test]
        fn halving_keeps_half_and_means_in_bounds(
            all in prop::collection::vec((time(), time(), found(), prop::option::of(time())), 0..700),
        ) {
            let (mut changes, mut expected) = (Changes::default(), 0);
            for (a, b, found, modified) in all.into_iter().filter(|(a, b, ..)| a != b) {
                changes.push(VisitComparison { times: (a.min(b), a.max(b)), found, modified });
                expected = if expected == 127 { 64 } else { expected + 1 };
                prop_assert_eq!(changes.comparisons(), expected);
                let counted: f64 = changes.counted(1.0).map(|(_, times)| times).sum();
                prop_assert_eq!(counted, f64::from(expected));
                prop_assert_eq!(changes.recent(Time::from_ms_unchecked(a), Time::from_ms_unchecked(b)).changes().count(), expected.min(64) as usize);
            }
        }
    }
}
