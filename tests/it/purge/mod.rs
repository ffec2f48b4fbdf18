//! Forgetting hides at once and for good, whatever is sealed or merged; purging leaves no byte.

mod bytes;
mod forgotten;
mod snapshots;

use simkeep::disk::{FileName, SimDisk};
use simkeep::{Epoch, Observation, Progress, Store, Verdict};

use simkeep_testing::compare::{check_answer, check_outcome, check_store};
use simkeep_testing::model::Model;
use simkeep_testing::pages::URLS;
use simkeep_testing::{choice, create, ms, open, request, small, sound};

/// The mark of the pages to be purged; the keys of their neighbours have another beginning.
const MARK: &str = "zq7unheard";

fn marked(page: u64) -> String {
    format!("https://{MARK}.example/{MARK}/{page}")
}

/// Observes a visit in the store and in the model.
fn see(store: &Store, model: &mut Model, observation: Observation<'_>) -> Verdict {
    let expected = model.observe(&observation, 3);
    let found = store.observe(observation).unwrap();
    check_outcome(&found, &expected, small().near_limit);
    found.verdict
}

fn see_some(store: &Store, model: &mut Model, seed: u64, n: i64) {
    let mut choice = choice(seed);
    for time in 0..n {
        let request = request(&mut choice, URLS.len() as u64, 100 + time);
        let expected = model.request(&request, 3);
        let found = store.write_batch(&[request]).unwrap();
        check_answer(&found[0], &expected, small().near_limit);
    }
}

/// The files that contain a text, forwards as in a URL.
fn files_with(disk: &SimDisk, text: &str) -> Vec<FileName> {
    let contents = disk.contents().into_iter();
    let with = contents.filter(|(_, content)| contains(content, text));
    with.map(|(name, _)| name).collect()
}

fn contains(content: &[u8], text: &str) -> bool {
    content.windows(text.len()).any(|window| window == text.as_bytes())
}

/// A store before a purge, with marked pages in several files.
fn marked_store(disk: &SimDisk, model: &mut Model, spread: u64) -> Store {
    let store = create(disk, small());
    see_some(&store, model, 3, 8);
    let pages = [marked(1), marked(2)];
    for round in 0..=spread {
        for (page, time) in pages.iter().zip([3, 5]) {
            let time = time + 10 * i64::try_from(round).unwrap();
            let content = Observation::content(page, ms(time), 5, Epoch::from_number(0)).visit;
            see(&store, model, Observation::of(page, content));
        }
        see_some(&store, model, 20 + round, 5);
        if round < spread {
            store.seal().unwrap();
        }
    }
    store
}

/// Asserts that every trace of the purged pages is gone, now and after a crash.
fn check_purged(store: Store, disk: &SimDisk, model: &Model, text: &str) {
    assert_eq!(files_with(disk, text), [], "{text:?}");
    check_store(&store, model);
    sound(&store).unwrap();
    let crashed = disk.crash_synced_only();
    drop(store);
    assert_eq!(files_with(disk, text), [], "{text:?} after the store was closed");
    for disk in [disk, &crashed] {
        let store = open(disk, small());
        check_store(&store, model);
        assert_eq!(files_with(disk, text), [], "{text:?} after it was opened again");
        store.seal().unwrap();
        store.merge(&Progress::default()).unwrap();
        check_store(&store, model);
        assert_eq!(files_with(disk, text), [], "{text:?} after a merge");
    }
}
