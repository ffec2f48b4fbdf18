//! The changes of a page, computed from the list of all comparisons of its visits.

use crate::ms;
use std::collections::BTreeMap;

use simkeep::recrawl::Change;
use simkeep::{Changes, Content, Entry, Epoch, Seen, Time, Visit};

use super::fold::{
    DatedContent, EpochRoles, distance, gone, last_version, returnable_contents, same_digest,
};

const DAY: f64 = 86_400_000.0;

/// The result of comparing a visit with the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NaiveChange {
    Unchanged,
    Changed(Option<u32>),
    Returned(Option<u32>),
}

/// A visit and the one before it, with the result of their comparison.
#[derive(Clone, Copy, Debug)]
pub struct NaiveComparison {
    pub before: i64,
    pub now: i64,
    pub found: NaiveChange,
    /// The time when the page was last modified, according to the later visit; `None` if unknown.
    pub modified: Option<i64>,
}

impl NaiveComparison {
    /// The time of the change, if known: after the earlier visit, and well before the later one.
    fn dated(&self) -> Option<i64> {
        let modified = self.modified.filter(|_| matches!(self.found, NaiveChange::Changed(_)))?;
        (modified > self.before && self.now - modified > 2_000).then_some(modified)
    }
}

/// All comparisons that are evidence, in order.
pub(super) fn comparisons(entries: &[Entry], roles: &EpochRoles) -> Vec<NaiveComparison> {
    let worked = |entry: &Entry| entry.visit().copied().filter(|v| v.seen != Seen::Failed);
    let mut all = Vec::new();
    for (at, visit) in entries.iter().enumerate().filter_map(|(at, e)| Some((at, worked(e)?))) {
        let before = &entries[..at];
        let Some(last) = before.iter().rev().find_map(worked) else { continue };
        let of = (visit.time, visit.seen.digest());
        let behind = entries[at..].iter().filter(|e| e.is_restated());
        let also = behind.filter(|e| (e.time(), e.digest()) == of).filter_map(Entry::content);
        let found = (last.time < visit.time)
            .then(|| compare(before, &visit, also.collect(), roles))
            .flatten();
        let (before, now, modified) = (last.time, visit.time, visit.modified);
        let compared = |found| NaiveComparison {
            before: before.as_ms(),
            now: now.as_ms(),
            found,
            modified: modified.map(Time::as_ms),
        };
        all.extend(found.map(compared));
    }
    all
}

/// Compares a visit with the entries before it: a row of the table in the documentation.
fn compare(
    before: &[Entry],
    visit: &Visit,
    also: Vec<Content>,
    roles: &EpochRoles,
) -> Option<NaiveChange> {
    use NaiveChange::{Changed, Returned, Unchanged};
    let known = returnable_contents(before);
    let last = last_version(&known, before);
    match (gone(before), visit.seen) {
        (_, Seen::Failed) => None,
        (true, Seen::Gone) | (false, Seen::NotModified { .. }) => Some(Unchanged),
        (false, Seen::Gone) => Some(Changed(None)),
        (true, Seen::NotModified { .. }) => Some(Returned(None)),
        (true, Seen::Content(content)) => {
            let now = by_epoch(content, also, roles);
            let by = distances(&last, &now).last_key_value().map(|(_, by)| *by);
            let back = known.iter().any(|k| is_like(k, &content, &now, roles));
            Some(if back { Returned(by) } else { Changed(by) })
        }
        (false, Seen::Content(content)) => {
            let now = by_epoch(content, also, roles);
            if last.iter().any(|k| same_digest(&k.content, &content)) {
                return Some(Unchanged);
            }
            // A redirect differs from anything else.
            let redirects = last.iter().any(|k| k.content.is_redirect() || content.is_redirect());
            let by = distances(&last, &now).pop_last();
            let bare = |k: &DatedContent| {
                let now = now.get(&k.content.epoch);
                k.content.fingerprint.is_none() && now.is_some_and(|c| c.fingerprint.is_none())
            };
            match by {
                Some((epoch, by)) if by <= roles.minor(epoch) => return Some(Unchanged),
                None if redirects => {}
                None if !last.iter().any(bare) => return None,
                // The digests decide, if both exist.
                None if content.digest.is_none() => return None,
                None if last.iter().all(|k| k.content.digest.is_none()) => return None,
                _ => {}
            }
            let earlier = known.iter().filter(|k| !last.iter().any(|last| last.is_with(k)));
            let back = earlier.into_iter().any(|k| is_like(k, &content, &now, roles));
            let by = by.map(|(_, by)| by);
            Some(if back { Returned(by) } else { Changed(by) })
        }
    }
}

/// Whether a visit after these entries sees content that is far from all known versions.
pub(super) fn is_novel(
    before: &[Entry],
    visit: &Visit,
    also: &[Content],
    roles: &EpochRoles,
) -> bool {
    let Seen::Content(content) = visit.seen else { return false };
    let now = by_epoch(content, also.to_vec(), roles);
    let known = returnable_contents(before);
    let mut version = last_version(&known, before);
    version.retain(|_| !gone(before));
    // The distance to the content in force is that of the newest epoch.
    let by = distances(&version, &now).pop_last();
    let is_minor = by.is_some_and(|(epoch, by)| by <= roles.minor(epoch));
    let earlier = known.iter().filter(|k| !version.iter().any(|last| last.is_with(k)));
    let is_back = earlier.into_iter().any(|k| is_like(k, &content, &now, roles));
    let is_same = version.iter().any(|k| same_digest(&k.content, &content));
    !(is_minor || is_back || is_same)
}

/// The contents of a visit that detect changes, by epoch. A restated content replaces the one that
/// the visit saw.
fn by_epoch(
    content: Content,
    mut also: Vec<Content>,
    roles: &EpochRoles,
) -> BTreeMap<Epoch, Content> {
    also.sort_by_key(|c| c.fingerprint);
    let all = std::iter::once(content).chain(also);
    all.filter(|c| roles.of(c.epoch).detects_changes()).map(|c| (c.epoch, c)).collect()
}

fn distances(version: &[DatedContent], now: &BTreeMap<Epoch, Content>) -> BTreeMap<Epoch, u32> {
    let of = |k: &DatedContent| {
        let now = now.get(&k.content.epoch)?;
        Some((k.content.epoch, distance(&k.content, now)?))
    };
    version.iter().filter_map(of).collect()
}

/// Whether a remembered content equals the seen content, or differs by a minor change.
fn is_like(
    known: &DatedContent,
    content: &Content,
    now: &BTreeMap<Epoch, Content>,
    roles: &EpochRoles,
) -> bool {
    let epoch = known.content.epoch;
    let by = now.get(&epoch).and_then(|now| distance(&known.content, now));
    same_digest(&known.content, content) || by.is_some_and(|by| by <= roles.minor(epoch))
}

/// A comparison to count: the kind of change with the days since a dated change, and the interval
/// in days.
type CountedComparison = (Change, f64);

/// Checks sums against the comparisons that they summarize. From 128 comparisons on, half of them
/// are dropped now and then, so only values that are not sums are checked.
pub fn check_sums(changes: &Changes, all: &[NaiveComparison]) {
    let last = all.iter().rev().find(|c| c.found != NaiveChange::Unchanged);
    let last = last.map(|c| match c.found {
        NaiveChange::Changed(by) | NaiveChange::Returned(by) => (c.dated().unwrap_or(c.now), by),
        NaiveChange::Unchanged => unreachable!("it was left out"),
    });
    assert_eq!(changes.last_change().map(|last| (last.time.as_ms(), last.distance)), last);
    let bits = all.iter().map(|c| c.found != NaiveChange::Unchanged);
    let found = changes.recent(ms(0), ms(0)).changes();
    if all.len() >= 128 {
        let counted = 64 + (all.len() - 64) % 64;
        assert_eq!(changes.comparisons() as usize, counted);
        assert!(found.eq(bits.skip(all.len() - 64)));
        return;
    }
    assert!(found.eq(bits.skip(all.len().saturating_sub(64))));
    let count = |is: fn(NaiveChange) -> bool| all.iter().filter(|c| is(c.found)).count() as u32;
    assert_eq!(changes.comparisons() as usize, all.len());
    assert_eq!(changes.changes(), count(|f| matches!(f, NaiveChange::Changed(_))));
    assert_eq!(changes.returns(), count(|f| matches!(f, NaiveChange::Returned(_))));
    assert_eq!(changes.dated() as usize, all.iter().filter(|c| c.dated().is_some()).count());
    let unchanged = all.iter().filter(|c| c.found == NaiveChange::Unchanged);
    let unchanged: i64 = unchanged.map(|c| c.now - c.before).sum();
    assert_eq!(changes.unchanged_ms(), unchanged.unsigned_abs());
    let expected = counted(all);
    let found: Vec<_> = changes.counted(0.25).collect();
    assert_eq!(found.len(), expected.len(), "{found:?} for {expected:?}");
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-5;
    for ((found, times), ((change, days), expected)) in found.into_iter().zip(expected) {
        let alike = match (found.change(), change) {
            (Change::DaysAgo(found), Change::DaysAgo(expected)) => near(found, expected),
            (found, expected) => found == expected,
        };
        assert!(alike && times == expected, "{found:?}, {times} times for {change:?}, {expected}");
        assert!(near(found.days(), days), "{} days for {days}", found.days());
    }
}

/// Comparisons of mean length, each with the number of comparisons that it counts for: one for
/// unchanged intervals, and others by length.
fn counted(all: &[NaiveComparison]) -> Vec<(CountedComparison, f64)> {
    /// The upper bounds of the intervals of each length, in milliseconds.
    const BELOW: [i64; 8] =
        [1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30, 1 << 32, 1 << 34, i64::MAX];
    /// The upper bound of the sum of intervals of one length, in days: 2,229 years.
    const SUM_MAX: f64 = (1_u64 << 46) as f64 / DAY;
    /// For each comparison: its days, the days since a dated change, and the number that it counts
    /// for.
    type Each = Vec<(f64, f64, f64)>;
    let mut groups: BTreeMap<usize, Each> = BTreeMap::new();
    for c in all {
        let interval = c.now - c.before;
        let length = || 2 + BELOW.iter().position(|below| interval < *below).unwrap();
        let (group, times) = match c.found {
            NaiveChange::Unchanged => (0, 1.0),
            NaiveChange::Changed(_) if c.dated().is_some() => (1, 1.0),
            NaiveChange::Changed(_) => (length(), 1.0),
            NaiveChange::Returned(_) => (length(), 0.25),
        };
        let ago = c.dated().map_or(0.0, |then| (c.now - then) as f64 / DAY);
        groups.entry(group).or_default().push((interval as f64 / DAY, ago, times));
    }
    let mean = |(group, each): (usize, Each)| {
        let sum = |of: fn(&(f64, f64, f64)) -> f64| each.iter().map(of).sum::<f64>();
        let (days, ago, count) = (sum(|of| of.0), sum(|of| of.1), each.len() as f64);
        let (change, days) = match group {
            0 => (Change::None, days),
            1 => (Change::DaysAgo(ago / count), days),
            _ => (Change::Undated, days.min(SUM_MAX)),
        };
        ((change, days / count), sum(|of| of.2))
    };
    groups.into_iter().map(mean).collect()
}
