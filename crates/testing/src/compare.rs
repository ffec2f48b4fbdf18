//! Compares a store's answers with those of the model.

use std::collections::BTreeSet;
use std::fmt::Debug;

use simkeep::query::StalePages;
use simkeep::{
    Changes, Matches, OperationResult, Outcome, Query, Reader, Result, Snapshot, Stats, Store,
    Versions,
};

use super::changes::check_sums;
use super::due::{check_due, some_time};
use super::expected::{self, ExpectedNear, ExpectedPage};
use super::fold::with_verdicts;
use super::model::Model;
use super::pages::{PREFIXES, SurtPosition, URLS};
use crate::ms;

/// All contents of a view, as a model.
pub fn dump(view: &Snapshot) -> Result<Model> {
    let mut model = Model::default();
    for page in view.scan(None) {
        let page = page?;
        for entry in view.history(&page.url)? {
            model.insert(&page.url, entry.entry());
        }
    }
    Ok(model)
}

/// Checks that a truncated list is the beginning of the whole list. Returns whether it is the whole
/// list.
fn check_cut<'f, F, T>(found: &'f [F], all: &[T], limit: usize) -> bool
where
    T: PartialEq + Debug + From<&'f F>,
{
    let found: Vec<T> = found.iter().map(T::from).collect();
    assert_eq!(found, &all[..all.len().min(limit)], "of {all:#?}");
    all.len() <= limit
}

/// Checks the matches of a search. If the list is exactly as long as the limit, the store may
/// report that there are more.
pub fn check_matches(found: &Matches, all: &[ExpectedNear], limit: usize) {
    let whole = check_cut(&found.near, all, limit);
    if !whole || all.len() < limit {
        assert_eq!(found.complete, whole, "{found:#?} of {all:#?}");
    }
}

/// Checks a search that may have ended early because there was too much to examine. It must report
/// that, and must have chosen among the pages at the last distance.
fn check_ended(found: &Matches, all: &[ExpectedNear], limit: usize) {
    let last = found.near.last().map_or(0, |near| near.distance);
    let nearer = all.partition_point(|near| near.distance < last);
    let within = all.partition_point(|near| near.distance <= last);
    assert!(found.near.len() <= limit);
    let (found, chosen) = found.near.split_at(nearer);
    check_cut(found, &all[..nearer], nearer);
    let chosen: BTreeSet<_> = chosen.iter().map(|near| (&near.url, near.fingerprint)).collect();
    let there: BTreeSet<_> =
        all[nearer..within].iter().map(|near| (&near.url, near.fingerprint)).collect();
    assert!(chosen.is_subset(&there), "at {last}");
}

/// Checks that no page is missing within the distance that a result claims.
fn check_within(found: &Matches, all: &[ExpectedNear], k: u32) {
    let within = all.partition_point(|near| Some(near.distance) <= found.within);
    let named: Vec<ExpectedNear> = found.near.iter().take(within).map(ExpectedNear::from).collect();
    assert_eq!(named, all[..within], "{found:#?}");
    assert!(found.within <= Some(k.min(64)));
    assert!(!found.complete || found.within == Some(k.min(64)), "{found:#?}");
}

pub fn check_search(view: &Snapshot, model: &Model, query: &Query) {
    /// The number of pages that a search may examine in addition to twice its limit.
    const EFFORT: usize = 256;
    let (found, all) = (view.search(query).unwrap(), model.search(query));
    check_within(&found, &all, query.k);
    if !found.complete && model.entries_within(query) > EFFORT + 2 * query.limit {
        check_ended(&found, &all, query.limit);
    } else {
        check_matches(&found, &all, query.limit);
    }
}

pub fn check_answer(found: &OperationResult, expected: &expected::ExpectedResult, limit: usize) {
    match (found, expected) {
        (OperationResult::Observed(found), expected::ExpectedResult::Observed(expected)) => {
            check_outcome(found, expected, limit);
        }
        (OperationResult::Restated(found), expected::ExpectedResult::Restated(expected)) => {
            assert_eq!(found, expected);
        }
        (OperationResult::PropertySet(found), expected::ExpectedResult::PropertySet(expected)) => {
            assert_eq!(found, expected);
        }
        _ => panic!("{found:?} is no answer of the kind of {expected:?}"),
    }
}

pub fn check_outcome(found: &Outcome, expected: &expected::ExpectedOutcome, limit: usize) {
    assert_eq!((found.verdict, found.also), (expected.verdict, expected.also));
    let worth = (found.novel, found.priority);
    assert_eq!(worth, (expected.novel, expected.priority), "{:?}", found.verdict);
    let all_copies = check_cut(&found.copies, &expected.copies, limit);
    let all_near = check_cut(&found.near, &expected.near, limit);
    check_original(found, expected);
    check_capture(found, expected);
    if expected.copies.len() + expected.near.len() < limit || !all_copies || !all_near {
        assert_eq!(found.complete, all_copies && all_near, "{found:#?} of {expected:#?}");
    }
}

/// Checks the first capture: it is a capture, and no later than the capture that must be found.
/// Pages with a digest under several fingerprints may have earlier captures, which depend on the
/// components that have these pages.
fn check_capture(found: &Outcome, expected: &expected::ExpectedOutcome) {
    let capture = found.refers_to.as_ref().map(|of| (of.time.as_ms(), SurtPosition::of(&of.url)));
    if let Some(capture) = &capture {
        assert!(expected.captures.contains(capture), "{found:#?} of {expected:#?}");
    }
    if let Some(required) = &expected.refers_to {
        assert!(capture.is_some_and(|found| found <= *required), "{found:#?} of {expected:#?}");
    }
}

/// Checks the original: the named page that was first seen with its content, if that was before the
/// page itself; of pages seen at one time, the first in SURT order.
fn check_original(found: &Outcome, expected: &expected::ExpectedOutcome) {
    let copies = found.copies.iter().map(|copy| (copy.first, &copy.url, 0));
    let near = found.near.iter().map(|near| (near.first, &near.url, near.distance));
    let first = copies.chain(near).min_by_key(|(first, url, _)| (*first, SurtPosition::of(url)));
    let original = found.original.as_ref();
    match first {
        Some((first, ..)) if first > ms(expected.since) => assert_eq!(original, None),
        Some((first, url, distance)) if first < ms(expected.since) => {
            let original = original.map(|of| (&of.url, of.distance));
            assert_eq!(original, Some((url, distance)), "{found:#?}");
        }
        // SURT order decides between it and the page, whose URL is not known here.
        Some((_, url, _)) => assert!(original.is_none_or(|of| of.url == *url), "{found:#?}"),
        None => assert_eq!(original, None),
    }
}

pub fn check_page(view: &Snapshot, model: &Model, url: &str) {
    assert_eq!(with_verdicts(&view.history(url).unwrap()), model.history(url), "history of {url}");
    let latest = view.latest(url).unwrap().map(ExpectedPage::from);
    assert_eq!(latest, model.latest(url), "{url} as it stands");
    let entries = model.entries_of(url);
    if let Some(page) = view.latest(url).unwrap() {
        assert_eq!(page.changes, Changes::of(&entries, view.epochs()), "how {url} changes");
        check_sums(&page.changes, &model.comparisons(url));
    }
    let times: BTreeSet<i64> = entries
        .iter()
        .map(|entry| entry.time().as_ms())
        .flat_map(|time| [time - 1, time, time + 1])
        .collect();
    for time in times {
        assert_eq!(
            view.as_of(url, ms(time)).unwrap(),
            model.as_of(url, time),
            "{url} as of {time}"
        );
    }
}

pub fn check_scan(view: &Snapshot, model: &Model, prefix: Option<usize>) {
    let under = prefix.map(|p| &PREFIXES[p]);
    let pages = view.scan(under.map(|u| u.prefix()).as_ref());
    let pages = pages.inspect(|page| {
        let Ok(page) = page else { return };
        let changes = Changes::of(&model.entries_of(&page.url), view.epochs());
        assert_eq!(page.changes, changes, "how {} changes", page.url);
    });
    let pages: Result<Vec<_>> = pages.map(|page| page.map(ExpectedPage::from)).collect();
    let expected = model.scan(|url| under.is_none_or(|u| u.covers(url)));
    assert_eq!(pages.unwrap(), expected, "under {:?}", under.map(|u| u.text));
}

/// Checks every page, every prefix, and a search around some of the fingerprints.
pub fn check_view(view: &Snapshot, model: &Model) {
    for url in URLS {
        check_page(view, model, url);
    }
    check_scan(view, model, None);
    for prefix in 0..PREFIXES.len() {
        check_scan(view, model, Some(prefix));
    }
    check_stale(view, model);
    let lot = usize::try_from(view.sequence()).unwrap();
    check_due(view, model, some_time(lot), lot);
    for epoch in view.epochs().iter().map(|info| info.epoch) {
        let known = model.fingerprints(epoch);
        let step = (known.len() / 4).max(1);
        for fingerprint in known.into_iter().step_by(step).chain([0]) {
            for k in [0, 3, 9, 64] {
                let query = Query::new(fingerprint, k).epoch(epoch).limit(1000);
                check_search(view, model, &query);
                check_search(view, model, &query.clone().versions(Versions::Ever));
            }
        }
    }
}

/// Checks the pages whose content in force has no fingerprint of an epoch in use: all, and those
/// after a given page.
fn check_stale(view: &Snapshot, model: &Model) {
    let epochs = BTreeSet::from([view.change_epoch(), view.near_epoch()]);
    for (epoch, after) in epochs
        .into_iter()
        .flat_map(|epoch| [None].into_iter().chain(URLS.map(Some)).map(move |after| (epoch, after)))
    {
        let found =
            StalePages::of(view, epoch, after).map(|page| page.map(|p| (p.url, p.time, p.content)));
        let found = found.collect::<Result<Vec<_>>>().unwrap();
        let expected = model.stale(epoch, after);
        let expected: Vec<_> =
            expected.into_iter().map(|(url, time, content)| (url, ms(time), content)).collect();
        assert_eq!(found, expected, "in {epoch:?} after {after:?}");
    }
}

pub fn check_counts(store: &Store, model: &Model) {
    check_stats(&store.stats().unwrap(), model);
}

fn check_stats(stats: &Stats, model: &Model) {
    assert_eq!((stats.pages, stats.visits), (model.page_count(), model.visit_count()), "{stats:?}");
}

/// Checks all answers of a store.
pub fn check_store(store: &Store, model: &Model) {
    check_counts(store, model);
    check_view(&store.snapshot(), model);
}

/// Checks all answers of a reader.
pub fn check_reader(reader: &Reader, model: &Model) {
    check_stats(&reader.stats().unwrap(), model);
    check_view(&reader.snapshot(), model);
}
