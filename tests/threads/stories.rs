//! Readers while a thread writes: each sees exactly one state of the sequence of changes, and a right
//! one.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use shuttle::rand::Rng;
use shuttle::thread;
use simkeep::{Epoch, Observation, Query, Scope, Store, Versions};

use super::{busy, explore, some_durability, start};
use simkeep_testing::compare::{check_outcome, check_search, dump};
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{choice, observation, open, small};

/// One thread's changes of the store, and the state after each.
struct Story {
    changes: Vec<StoryChange>,
    /// By sequence number.
    states: Vec<Model>,
}

enum StoryChange {
    Observe(Observation<'static>),
    Forget(Scope<'static>),
}

impl Story {
    fn new(seed: u64, length: usize) -> Story {
        let mut choice = choice(seed);
        let mut story = Story { changes: Vec::new(), states: vec![Model::default()] };
        for time in 0..length {
            let mut model = story.states.last().unwrap().clone();
            let change = match choice(8) {
                0 => {
                    let url = URLS[usize::try_from(choice(4)).unwrap()];
                    model.forget(|other| other == url);
                    StoryChange::Forget(Scope::Url(url))
                }
                1 => {
                    let under = &PREFIXES[usize::try_from(choice(4)).unwrap()];
                    model.forget(|url| under.covers(url));
                    StoryChange::Forget(Scope::Prefix(under.prefix()))
                }
                _ => {
                    let mut seen = observation(&mut choice, 4, i64::try_from(time).unwrap());
                    // Each change is one operation, so that the number of an operation tells the state.
                    (seen.also, seen.weight, seen.class) = (None, None, None);
                    (seen.etag, seen.target) = (None, None);
                    model.observe(&seen, 0);
                    StoryChange::Observe(seen)
                }
            };
            if model != *story.states.last().unwrap() {
                story.changes.push(change);
                story.states.push(model);
            }
        }
        story
    }
}

/// How many changes are acknowledged, and how many have begun.
#[derive(Default)]
struct StoryProgress {
    acknowledged: AtomicU64,
    begun: AtomicU64,
}

/// Makes the changes. Each answer must equal that of the model.
fn write(store: &Store, story: &Story, progress: &StoryProgress) {
    for (change, before) in story.changes.iter().zip(&story.states) {
        let mut model = before.clone();
        progress.begun.fetch_add(1, SeqCst);
        match change {
            StoryChange::Observe(seen) => {
                let outcome = store.observe(*seen).unwrap();
                check_outcome(&outcome, &model.observe(seen, 3), small().near_limit);
            }
            StoryChange::Forget(scope) => {
                let forgotten = store.forget(scope.clone()).unwrap();
                let covers = |url: &str| match scope {
                    Scope::Url(forgotten) => url == *forgotten,
                    Scope::Prefix(prefix) => {
                        PREFIXES.iter().any(|under| under.prefix() == *prefix && under.covers(url))
                    }
                    other => panic!("{other:?}"),
                };
                assert_eq!(forgotten, model.forget(covers));
            }
        }
        progress.acknowledged.fetch_add(1, SeqCst);
    }
}

/// A reader sees one state: none earlier than what was acknowledged before it came, and none later than
/// what had begun when it took its snapshot. A snapshot does not change.
fn read(store: &Store, story: &Story, progress: &StoryProgress) {
    let mut kept = None;
    for _ in 0..4 {
        let acknowledged = progress.acknowledged.load(SeqCst);
        let snapshot = store.snapshot();
        let begun = progress.begun.load(SeqCst);
        let at = snapshot.sequence();
        assert!((acknowledged..=begun).contains(&at), "{at} of {acknowledged} to {begun}");
        for (snapshot, state) in kept.iter().chain([&(snapshot.clone(), at)]) {
            let state = &story.states[usize::try_from(*state).unwrap()];
            for versions in [Versions::InForce, Versions::Ever] {
                let query =
                    Query::new(0x0123_4567_89ab_cdef, 3).epoch(Epoch::from_number(0)).limit(1000);
                check_search(snapshot, state, &query.versions(versions));
            }
            assert!(dump(snapshot).unwrap() == *state);
        }
        let stats = store.stats().unwrap();
        let state = &story.states[usize::try_from(stats.sequence).unwrap()];
        assert_eq!((stats.pages, stats.visits), (state.page_count(), state.visit_count()));
        kept.get_or_insert((snapshot, at));
    }
}

#[test]
fn readers_see_acknowledged_operations_while_segments_are_swapped() {
    explore(|disk| {
        let seed = shuttle::rand::thread_rng().gen_range(0..1000);
        let (story, progress) = (Story::new(seed, 14), StoryProgress::default());
        let store = start(&disk, busy().durability(some_durability()));
        thread::scope(|scope| {
            scope.spawn(|| write(&store, &story, &progress));
            scope.spawn(|| read(&store, &story, &progress));
            scope.spawn(|| read(&store, &story, &progress));
        });
        store.wait_idle().unwrap();
        let last = story.states.last().unwrap();
        assert!(dump(&store.snapshot()).unwrap() == *last);
        store.close().unwrap();
        assert!(dump(&open(&disk, small()).snapshot()).unwrap() == *last);
    });
}
