//! The due pages, computed in the slowest way: all pages are scored and sorted.

use std::collections::BTreeMap;

use simkeep::due::{Decision, Due, LearnedPriors, Plan, Reason};
use simkeep::recrawl::{self, Belief, Change, Likelihood, Policy, Prior, PriorityIndex};
use simkeep::{Changes, Entry, Page, Query, Result, Seen, Snapshot};

use super::leaders::NaiveLeaders;
use super::model::Model;
use super::pages::{PREFIXES, SurtPosition};
use crate::{TIME_MIN, ms};

const DAY: i64 = 86_400_000;

/// The largest interval, in seconds: 365 days.
const LARGEST: u64 = 365 * 86_400;

/// The policies, each with the index of the value of a visit if it uses one.
const POLICIES: [(&str, Option<PriorityIndex>); 8] = [
    ("value", Some(PriorityIndex::Value)),
    ("crawl-value", Some(PriorityIndex::CrawlValue)),
    ("harmonic", Some(PriorityIndex::Harmonic)),
    ("uniform", None),
    ("fixed:7d", None),
    ("thesis", None),
    ("nutch", None),
    ("stormcrawler", None),
];

/// The input of a page's score.
#[derive(Debug)]
struct ScoringInput {
    /// The seconds since the last visit; `None` while the page is left alone after failures.
    seconds: Option<u64>,
    gone: bool,
    weight: f64,
}

/// A weight, rounded to 16 bits.
fn rounded(weight: f32) -> f64 {
    let bits = (weight.to_bits() + (1 << 14)) >> 15;
    f32::from_bits(bits.clamp(1, f32::MAX.to_bits() >> 15) << 15).into()
}

/// Rounds seconds to steps of 1/1024 octave.
fn in_steps(seconds: u64) -> u64 {
    let Some(shift) = seconds.checked_ilog2().and_then(|top| top.checked_sub(10)) else {
        return seconds;
    };
    let step = 1u64 << shift;
    (seconds + step / 2) / step * step
}

impl ScoringInput {
    fn of<'e>(entries: impl Iterator<Item = &'e Entry>, now: i64) -> Option<ScoringInput> {
        let entries: Vec<&Entry> = entries.collect();
        let weighed = entries.iter().filter_map(|entry| Some((entry.time(), entry.weight()?)));
        let weight = weighed.max().map_or(1.0, |(_, weight)| rounded(weight.get()));
        let mut visits: Vec<_> = entries.iter().filter_map(|entry| entry.visit()).collect();
        visits.sort();
        let (first, last) = (visits.first()?, visits.last()?);
        let settled = visits.iter().rev().find(|visit| visit.seen != Seen::Failed);
        let whole = |time: i64| u64::try_from(time - TIME_MIN).unwrap_or(0) / 1000;
        let since = whole(now).saturating_sub(whole(last.time.as_ms()));
        let seconds = if last.seen == Seen::Failed {
            let before = settled.map_or(first.time, |settled| settled.time);
            let failing = in_steps(last.time.as_ms().abs_diff(before.as_ms()) / 1000);
            (since >= (failing / 2).clamp(3600, LARGEST)).then_some(since + failing)
        } else {
            Some(since)
        };
        let gone = settled.is_some_and(|visit| visit.seen == Seen::Gone);
        Some(ScoringInput { seconds, gone, weight })
    }

    /// Checks the score of the policy, as far as it can be computed exactly.
    fn check_value(
        &self,
        page: &Decision,
        policy: &str,
        index: Option<PriorityIndex>,
        unlearned: bool,
    ) {
        let days = self.seconds.unwrap_or(0) as f64 / 86_400.0;
        let of_led = if page.near.is_some() { 0.25 } else { 1.0 };
        let weight = self.weight * of_led * if self.gone { 0.125 } else { 1.0 };
        assert_eq!(page.weight, self.weight);
        match index {
            Some(index) => {
                let mut likelihood = Likelihood::flat();
                for (comparison, times) in page.page.changes.counted(Changes::RETURN_SHARE) {
                    likelihood.add(comparison, times).unwrap();
                }
                let belief = Belief::new(&Prior::default(), &likelihood);
                let exact = belief.worth(index, weight, days).unwrap();
                // The store encodes beliefs in steps of an eighth of an octave, with one geometric
                // mean for all intervals with a change.
                let counted = page.page.changes.counted(Changes::RETURN_SHARE);
                let undated = counted.filter(|(one, _)| one.change() == Change::Undated).count();
                let off = if unlearned && undated < 2 { exact / 6.0 } else { f64::INFINITY };
                assert!((page.value - exact).abs() <= off, "{page:?}: {exact}");
            }
            None => {
                let recent = &page.page.changes.recent(page.page.first, page.page.last.time);
                let belief = &Belief::new(&Prior::default(), &Likelihood::flat());
                let input = recrawl::PolicyInput { belief, recent, weight: 1.0, days };
                let score = policy.parse::<Policy>().unwrap().score(&input).unwrap();
                assert_eq!(page.value, if self.seconds.is_some() { score } else { 0.0 });
            }
        }
    }
}

/// Checks the due pages by several policies, prefixes and budgets. `lot` selects some of them.
pub fn check_due(view: &Snapshot, model: &Model, now: i64, mut lot: usize) {
    let places: BTreeMap<&str, (&SurtPosition, ScoringInput)> = model
        .pages()
        .filter_map(|(place, entries)| {
            Some((place.url.as_str(), (place, ScoringInput::of(entries.iter(), now)?)))
        })
        .collect();
    let leaders = NaiveLeaders::of(view);
    // Nothing is learned from fewer pages.
    let unlearned = LearnedPriors::of(view).unwrap().pages() < 20;
    let other = POLICIES[1 + lot / 7 % (POLICIES.len() - 1)];
    for (policy, index) in [POLICIES[0], other] {
        let like = Due::new(ms(now), usize::MAX).policy(policy.parse::<Policy>().unwrap());
        let all: Result<Vec<Decision>> = view.due(&like).collect();
        let all = all.unwrap();
        let mut expected: Vec<_> = places.iter().map(|(url, of)| (*url, of)).collect();
        let values: BTreeMap<&str, f64> =
            all.iter().map(|page| (page.page.url.as_str(), page.value)).collect();
        expected.sort_by(|(a, (place_a, of_a)), (b, (place_b, of_b))| {
            let overdue = |of: &ScoringInput| of.seconds.filter(|seconds| *seconds >= LARGEST);
            let value = |url: &str| values.get(url).copied().unwrap_or(-1.0);
            let by_value = match overdue(of_a).or(overdue(of_b)) {
                None => value(b).total_cmp(&value(a)),
                Some(_) => std::cmp::Ordering::Equal,
            };
            overdue(of_b).cmp(&overdue(of_a)).then(by_value).then(place_a.cmp(place_b))
        });
        let expected: Vec<&str> = expected.into_iter().map(|(url, _)| url).collect();
        assert_eq!(urls(&all), expected, "due by {policy} at {now}");
        for page in &all {
            let (_, of) = &places[page.page.url.as_str()];
            of.check_value(page, policy, index, unlearned);
            let leader = index.and_then(|_| leaders.leader(&page.page.url));
            // If many pages once had the content, a search may give up and miss a leader.
            if page.near.as_deref() != leader {
                assert!(gives_up(view, &page.page), "of {page:?}, {leader:?}");
            }
            assert_eq!(view.latest(&page.page.url).unwrap().as_ref(), Some(&page.page));
        }
        if lot.is_multiple_of(2) {
            check_plan(view, &like, &all, lot / 2);
        }
        for _ in 0..3 {
            lot = lot.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            check_some(view, &like, &expected, &places, lot >> 33);
        }
    }
}

/// Whether a search for pages near a page gives up for a reason other than its limit.
fn gives_up(view: &Snapshot, page: &Page) -> bool {
    page.contents.iter().any(|content| {
        let Some(fingerprint) = content.fingerprint else { return false };
        let query = Query::new(fingerprint, view.near_distance(content.epoch)).epoch(content.epoch);
        let found = view.search(&query.limit(17)).unwrap();
        !found.complete && found.near.len() < 17
    })
}

fn urls(pages: &[Decision]) -> Vec<&str> {
    pages.iter().map(|page| page.page.url.as_str()).collect()
}

/// Checks a query with limits, given the URLs of all pages in their order.
fn check_some(
    view: &Snapshot,
    like: &Due,
    all: &[&str],
    places: &BTreeMap<&str, (&SurtPosition, ScoringInput)>,
    lot: usize,
) {
    let budget = [0, 1, 2, 5, usize::MAX][lot % 5];
    let per_host = [1, 2, usize::MAX][lot / 5 % 3];
    let memory = [0, 1 << 10, 1 << 20][lot / 15 % 3];
    let under = (lot / 45).is_multiple_of(2).then(|| &PREFIXES[lot / 90 % PREFIXES.len()]);
    let mut due = like.clone().budget(budget).per_host(per_host).memory_bytes(memory);
    if let Some(under) = under {
        due = due.under(under.prefix());
    }
    let mut hosts: BTreeMap<_, usize> = BTreeMap::new();
    let mut expected: Vec<&str> = Vec::new();
    for url in all.iter().filter(|url| under.is_none_or(|under| under.covers(url))) {
        let of_host = hosts.entry(places[url].0.host()).or_default();
        if expected.len() < budget && *of_host < per_host {
            *of_host += 1;
            expected.push(url);
        }
    }
    let found: Result<Vec<Decision>> = view.due(&due).collect();
    assert_eq!(urls(&found.unwrap()), expected, "{due:?}");
}

/// A time at an offset of some days, or at the end of all time.
pub fn some_time(lot: usize) -> i64 {
    [-DAY, 0, DAY / 24, 3 * DAY, 40 * DAY, 365 * DAY, 1000 * DAY, crate::TIME_MAX][lot % 8]
}

/// Checks that the dates of a plan agree with its threshold, and that it needs the number of visits
/// that it claims. For some pages, selected by `lot`, checks their value on these dates.
fn check_plan(view: &Snapshot, due: &Due, all: &[Decision], lot: usize) {
    let per_day = (lot % 1000 + 1) as f64 / 500.0;
    let plan = Plan::of(view, due, per_day).unwrap();
    assert_eq!((plan.pages(), plan.per_day()), (all.len() as f64, per_day));
    let planned: Vec<Decision> =
        view.due(&due.clone().plan(&plan)).map(|page| page.unwrap()).collect();
    let mut visits = 0.0;
    for (nth, (one, plain)) in planned.iter().zip(all).enumerate() {
        let url = &one.page.url;
        assert_eq!(plan.decide(view, url).unwrap().as_ref(), Some(one));
        assert_eq!((url, one.value, one.reason), (&plain.page.url, plain.value, plain.reason));
        let every = one.every.unwrap();
        visits += 1.0 / every.days();
        assert!(every.seconds() <= LARGEST);
        // On its date, a page has the value of the threshold, and a second before it has not.
        let is_drawn = nth % 16 == lot / 1000 % 16 && one.page.last.seen != Seen::Failed;
        let Some(date) = one.due.filter(|date| is_drawn && *date > ms(0)) else { continue };
        let at = |now: i64| {
            let found = view.due(&due.clone().now(ms(now))).map(|page| page.unwrap());
            found.into_iter().find(|page| page.page.url == *url).unwrap()
        };
        let is_overdue = |of: &Decision| matches!(of.reason, Reason::Overdue { .. });
        let (then, before) = (at(date.as_ms()), at(date.as_ms() - 1000));
        let (least, most) = (plan.threshold() * (1.0 - 1e-9), plan.threshold() * (1.0 + 1e-9));
        assert!(then.value >= least || is_overdue(&then), "{one:?} {then:?}");
        assert!(before.value <= most && !is_overdue(&before), "{one:?} {before:?}");
    }
    // A plan ignores that other pages lead some pages, which are then visited less often.
    let is_led = planned.iter().any(|page| page.near.is_some());
    assert!(visits <= plan.visits_per_day() * (1.0 + 1e-9));
    assert!(is_led || plan.visits_per_day() <= visits * (1.0 + 1e-9));
    assert!(visits <= per_day * (1.0 + 1e-9) || plan.threshold().is_infinite());
    assert_eq!(planned.len(), all.len());
}
