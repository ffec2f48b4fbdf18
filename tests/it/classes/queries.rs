//! Compares searches among pages of some classes with stores that have no other pages.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::Duration;

use simkeep::disk::SimDisk;
use simkeep::query::{Explanation, FingerprintPairs, PairQuery};
use simkeep::{
    Classes, Epoch, Matches, Observation, Operation, Prefix, Progress, PropertyUpdate, Query,
    Scope, Snapshot, Store, Versions,
};
use simkeep_testing::depth::deep;
use simkeep_testing::{choice, create, digest, ms, rerun_hint, small};

const FIRST: Epoch = Epoch::from_number(0);

/// The classes of pages.
const ALL: [Option<u32>; 5] = [None, Some(0), Some(1), Some(7), Some(u32::MAX)];

/// An event in the life of a page.
#[derive(Clone)]
enum PageEvent {
    Operation(Operation<'static>),
    Forget,
}

/// A store with all pages, and the events in this order.
struct ClassesWorld {
    whole: Store,
    events: Vec<(usize, PageEvent)>,
    urls: Vec<&'static str>,
    class_of: BTreeMap<&'static str, Option<u32>>,
    centres: Vec<u64>,
}

/// A random number as an index.
fn at(drawn: u64) -> usize {
    usize::try_from(drawn).unwrap()
}

fn url(page: u64) -> &'static str {
    format!("http://h{}.example/{page:03}", page % 5).leak()
}

/// A random set of classes, which may be empty.
fn some_classes(draw: &mut impl FnMut(u64) -> u64) -> (Classes, Vec<Option<u32>>) {
    let bits = draw(1 << ALL.len());
    let all = (0..).zip(ALL).filter(|(bit, _)| bits >> bit & 1 == 1);
    let all: Vec<_> = all.map(|(_, class)| class).collect();
    let classes = Classes::of(all.iter().copied().flatten());
    (if all.contains(&None) { classes.and_unclassed() } else { classes }, all)
}

/// Replays the events of some pages, with seals and merges at random points.
fn lived(
    events: &[(usize, PageEvent)],
    urls: &[&'static str],
    is_there: impl Fn(&str) -> bool,
    draw: &mut impl FnMut(u64) -> u64,
) -> Store {
    let store = create(&SimDisk::new(), small().near_limit(0).refers_to(false).background(false));
    let sealed_each = [3, 40, 1_000][at(draw(3))];
    let mut batch = Vec::new();
    for (page, event) in events.iter().filter(|(page, _)| is_there(urls[*page])) {
        match event {
            PageEvent::Operation(request) => batch.push(request.clone()),
            PageEvent::Forget => {
                store.write_batch(&std::mem::take(&mut batch)).unwrap();
                store.forget(Scope::Url(urls[*page])).unwrap();
            }
        }
        if draw(sealed_each * 8) == 0 {
            store.write_batch(&std::mem::take(&mut batch)).unwrap();
            store.seal().unwrap();
            if draw(4) == 0 {
                store.merge(&Progress::default()).unwrap();
            }
        }
    }
    store.write_batch(&batch).unwrap();
    store
}

impl ClassesWorld {
    fn new(draw: &mut impl FnMut(u64) -> u64) -> ClassesWorld {
        let pages = 20 + draw(300);
        let urls: Vec<_> = (0..pages).map(url).collect();
        let centres: Vec<u64> = (0..1 + draw(12)).map(|_| draw(u64::MAX)).collect();
        let events = (0..pages * (1 + draw(4))).map(|_| {
            let page = at(draw(pages));
            let (url, time) = (urls[page], draw(50).cast_signed());
            let bits = [0, 0, 1, 2, 4][at(draw(5))];
            let moved = (0..bits).fold(0, |moved, _| moved | 1 << draw(64));
            let fingerprint = centres[at(draw(centres.len() as u64))] ^ moved;
            let class = ALL[at(draw(5))];
            let observation = match draw(20) {
                0 => Observation::gone(url, ms(time)),
                1 => Observation::failed(url, ms(time)),
                2 => Observation::not_modified(url, ms(time)),
                3 => return (page, PageEvent::Forget),
                4..8 if class.is_some() => {
                    let classed = PropertyUpdate::class(url, ms(time), class.unwrap());
                    return (page, PageEvent::Operation(classed.into()));
                }
                _ => Observation::content(url, ms(time), fingerprint, FIRST)
                    .digest(digest(u8::try_from(draw(3)).unwrap())),
            };
            let observation = match class.filter(|_| draw(3) == 0) {
                Some(class) => observation.class(class),
                None => observation,
            };
            (page, PageEvent::Operation(observation.into()))
        });
        let events: Vec<_> = events.collect();
        let whole = lived(&events, &urls, |_| true, draw);
        let view = whole.snapshot();
        let class_of = view.scan(None).map(|page| page.unwrap());
        let class_of = class_of.map(|page| {
            let url = urls.iter().find(|url| **url == page.url).unwrap();
            (*url, page.class)
        });
        let class_of = class_of.collect();
        ClassesWorld { whole, events, urls, class_of, centres }
    }

    /// A query without classes.
    fn question(&self, draw: &mut impl FnMut(u64) -> u64) -> Query {
        let bits = [0, 0, 1, 3][at(draw(4))];
        let moved = (0..bits).fold(0, |moved, _| moved | 1 << draw(64));
        let fingerprint = self.centres[at(draw(self.centres.len() as u64))] ^ moved;
        let k = if draw(50) == 0 { 64 } else { [0, 1, 2, 3, 5, 8, 12][at(draw(7))] };
        let limit = [1, 2, 5, 16, 100, usize::MAX][at(draw(6))];
        let mut query = match draw(12) {
            0 => Query::nearest(fingerprint, 1 + at(draw(12))),
            _ => Query::new(fingerprint, k).limit(limit),
        };
        query.versions = match draw(8) {
            0 => Versions::Ever,
            1 => Versions::At(ms(draw(50).cast_signed())),
            2 => Versions::Seen(ms(draw(25).cast_signed()), ms(25 + draw(25).cast_signed())),
            _ => Versions::InForce,
        };
        if draw(6) == 0 {
            let host = format!("h{}.example", draw(5));
            query.under = Some(Prefix::parse(&host).unwrap());
        }
        query.exclude = (draw(6) == 0).then(|| self.urls[at(draw(self.urls.len() as u64))].into());
        query.epoch = Some(FIRST);
        query.budget = (draw(40) == 0).then_some(Duration::from_secs(60));
        query
    }
}

/// All pairs of pages, and all pairs of fingerprints.
fn pairs(snapshot: &Snapshot, classes: Option<&Classes>) -> BTreeSet<(String, String)> {
    let all = Mutex::new(BTreeSet::new());
    let asked = PairQuery::within(3).equal(true).pages_per_fingerprint(usize::MAX).epoch(FIRST);
    let asked = asked.classes(classes.cloned());
    let sink = |pairs: &[simkeep::query::PagePair]| {
        let urls = pairs.iter().map(|p| (p.left.url.to_string(), p.right.url.to_string()));
        all.lock().unwrap().extend(urls);
        ControlFlow::Continue(())
    };
    asked.run(snapshot, &Progress::default(), sink).unwrap();
    let like = Query::new(0, 3).epoch(FIRST).classes(classes.cloned());
    let sink = |pairs: &[simkeep::query::NearPair]| {
        let all_of = pairs.iter().map(|p| (format!("{:x}", p.left), format!("{:x}", p.right)));
        all.lock().unwrap().extend(all_of);
        ControlFlow::Continue(())
    };
    FingerprintPairs::selected_by(&like).run(snapshot, &Progress::default(), sink).unwrap();
    all.into_inner().unwrap()
}

/// The answers to queries that differ only in the fingerprint, one by one or batched.
fn answers(view: &Snapshot, fingerprints: &[u64], like: &Query, together: bool) -> Vec<Matches> {
    if together {
        return like.run_batch(view, fingerprints).unwrap();
    }
    let one = |fingerprint: &u64| view.search(&like.clone().fingerprint(*fingerprint)).unwrap();
    fingerprints.iter().map(one).collect()
}

#[test]
fn class_search_equals_a_store_of_those_classes() {
    /// The number of queries per store with all pages.
    const EACH: u64 = 2_500;
    let _again = rerun_hint();
    let (mut asked, mut compared, mut named) = (0, 0, 0);
    for round in 0..deep(1_000_000).div_ceil(EACH) {
        let mut draw = choice(round);
        let world = ClassesWorld::new(&mut draw);
        let view = world.whole.snapshot();
        for _ in 0..5 {
            let (classes, all) = some_classes(&mut draw);
            let is_there = |url: &str| match world.class_of.get(url) {
                Some(class) => all.contains(class),
                // The page was forgotten.
                None => true,
            };
            let alone = lived(&world.events, &world.urls, is_there, &mut draw);
            let alone = alone.snapshot();
            let hidden: Vec<&str> =
                world.urls.iter().copied().filter(|url| !is_there(url)).collect();
            if draw(4) == 0 {
                assert_eq!(pairs(&view, Some(&classes)), pairs(&alone, None), "round {round}");
            }
            for turn in 0..EACH / 5 / 4 {
                let like = world.question(&mut draw);
                let fingerprints: Vec<u64> =
                    (0..4).map(|_| world.question(&mut draw).fingerprint).collect();
                let together = turn % 2 == 0;
                let of_some = like.clone().classes(classes.clone());
                let found = answers(&view, &fingerprints, &of_some, together);
                let expected = answers(&alone, &fingerprints, &like, !together);
                for (found, expected) in found.iter().zip(&expected) {
                    let is_shown = |near: &simkeep::NearMatch| is_there(&near.url);
                    assert!(found.near.iter().all(is_shown), "round {round}: {of_some:?}");
                    asked += 1;
                    named += found.near.len();
                    if found.complete && expected.complete {
                        compared += 1;
                        assert_eq!(found, expected, "round {round}: {of_some:?}");
                    }
                }
                if turn % 25 == 0 {
                    let explained = Explanation::of(&view, &of_some).unwrap();
                    let text = format!("{explained:?}");
                    assert!(hidden.iter().all(|url| !text.contains(url)), "round {round}: {text}");
                    let hits: usize = explained.components.iter().map(|part| part.hits).sum();
                    let of_alone = Explanation::of(&alone, &like).unwrap();
                    if explained.matches.complete && of_alone.matches.complete {
                        assert_eq!(explained.matches, of_alone.matches);
                    }
                    if all.is_empty() {
                        assert_eq!(hits, 0, "{text}");
                    }
                }
            }
        }
    }
    assert!(asked >= deep(1_000_000), "{asked}");
    assert!(compared > asked / 2 && named > 0, "{compared} of {asked}");
}

#[test]
fn outcome_names_copies_and_near_pages_of_all_classes() {
    let store = create(&SimDisk::new(), small());
    let seen = |url, fingerprint| Observation::content(url, ms(5), fingerprint, FIRST);
    store.observe(seen("http://a/", 1).digest(digest(1)).class(1)).unwrap();
    store.observe(seen("http://b/", 3).class(2)).unwrap();
    let outcome = store.observe(seen("http://c/", 1).digest(digest(1)).class(3)).unwrap();
    assert_eq!((outcome.copies.len(), outcome.near.len()), (1, 1));
}

#[test]
fn current_class_applies_to_earlier_versions() {
    let store = create(&SimDisk::new(), small());
    let seen = |fingerprint, time| Observation::content("http://a/", ms(time), fingerprint, FIRST);
    store.observe(seen(1, 5).class(1)).unwrap();
    store.observe(seen(2, 15)).unwrap();
    store.seal().unwrap();
    let found = |class: u32| {
        [Versions::At(ms(7)), Versions::Seen(ms(0), ms(9)), Versions::Ever].map(|versions| {
            let query =
                Query::new(1, 0).epoch(FIRST).versions(versions).classes(Classes::of([class]));
            store.snapshot().search(&query).unwrap().near.len()
        })
    };
    assert_eq!((found(1), found(2)), ([1; 3], [0; 3]));
    store.set_property(PropertyUpdate::class("http://a/", ms(20), 2)).unwrap();
    assert_eq!((found(1), found(2)), ([0; 3], [1; 3]));
    store.seal().unwrap();
    assert_eq!((found(1), found(2)), ([0; 3], [1; 3]));
    // A late class is not in force.
    store.set_property(PropertyUpdate::class("http://a/", ms(19), 1)).unwrap();
    assert_eq!((found(1), found(2)), ([0; 3], [1; 3]));
}

#[test]
fn pairs_in_one_segment_are_filtered_by_class() {
    let store = create(&SimDisk::new(), small());
    for (page, class) in [1, 1, 2].into_iter().enumerate() {
        let fingerprint = 1 << page;
        store
            .observe(Observation::content(url(page as u64), ms(5), fingerprint, FIRST).class(class))
            .unwrap();
    }
    store.seal().unwrap();
    let snapshot = store.snapshot();
    let number = |classes: Option<Classes>| pairs(&snapshot, classes.as_ref()).len();
    // Each pair of pages is also a pair of fingerprints.
    let found = [None, Some(Classes::of([1])), Some(Classes::of([2]))].map(number);
    assert_eq!(found, [6, 2, 0]);
}

#[test]
fn pages_hidden_by_other_classes_are_found_or_reported_incomplete() {
    let store = create(&SimDisk::new(), small().near_limit(0).refers_to(false));
    let urls: Vec<String> = (0..3_000).map(|page| format!("http://a.example/{page:04}")).collect();
    let all = urls.iter().enumerate().map(|(page, url)| {
        Observation::content(url, ms(5), 1, FIRST).class(u32::from(page == 2_000))
    });
    store.observe_batch(&all.collect::<Vec<_>>()).unwrap();
    for place in ["memory", "segment"] {
        let of_one = Query::new(1, 0).epoch(FIRST).classes(Classes::of([1]));
        let few = store.snapshot().search(&of_one).unwrap();
        assert_eq!((few.near.len(), few.complete), (0, false), "{place}");
        let more = store.snapshot().search(&of_one.clone().limit(2_000)).unwrap();
        let near: Vec<&str> = more.near.iter().map(|near| near.url.as_str()).collect();
        assert_eq!((near, more.complete), (vec![urls[2_000].as_str()], true), "{place}");
        store.seal().unwrap();
    }
}
