//! Purged pages are in no file any more; forgotten pages are removed by merges.

use std::path::Path;
use std::sync::Arc;
use std::{fs, thread};

use simkeep::disk::{FileName, OpKind, SimDisk};
use simkeep::{Epoch, Forgotten, Observation, Prefix, Progress, Role, Scope, Store, Verdict};
use simkeep_testing::compare::check_store;
use simkeep_testing::disks::Gate;
use simkeep_testing::model::Model;
use simkeep_testing::pages::URLS;
use simkeep_testing::{choice, create, ms, on, open, small};

use super::{MARK, check_purged, contains, files_with, marked, marked_store, see};

#[test]
fn purged_url_is_in_no_file() {
    for spread in 0..4 {
        let disk = SimDisk::new();
        let mut model = Model::default();
        let store = marked_store(&disk, &mut model, spread);
        let (gone, stays) = (marked(1), marked(2));
        assert!(!files_with(&disk, MARK).is_empty());
        let expected = model.forget(|url| url == gone);
        assert_eq!(store.purge(Scope::Url(&gone), &Progress::default()).unwrap(), expected);
        assert_eq!(expected.visits, spread + 1);
        assert_eq!(files_with(&disk, &gone), []);
        assert!(store.snapshot().latest(&stays).unwrap().is_some());
        let expected = model.forget(|url| url == stays);
        assert_eq!(store.purge(Scope::Url(&stays), &Progress::default()).unwrap(), expected);
        check_purged(store, &disk, &model, MARK);
    }
}

#[test]
fn purged_prefix_is_in_no_file() {
    for spread in 0..4 {
        for prefix in [format!("{MARK}.example"), format!("{MARK}.example/{MARK}")] {
            let disk = SimDisk::new();
            let mut model = Model::default();
            let store = marked_store(&disk, &mut model, spread);
            let expected = model.forget(|url| url.contains(MARK));
            assert_eq!(expected.pages, 2);
            let prefix = Prefix::parse(&prefix).unwrap();
            assert_eq!(store.purge(Scope::Prefix(prefix), &Progress::default()).unwrap(), expected);
            check_purged(store, &disk, &model, MARK);
        }
    }
}

#[test]
fn completed_purge_survives_power_loss() {
    let disk = SimDisk::new();
    let mut model = Model::default();
    let store = marked_store(&disk, &mut model, 2);
    let prefix = || Scope::Prefix(Prefix::parse(&format!("{MARK}.example")).unwrap());
    let check = |disk: &SimDisk| {
        for seed in 0..20 {
            assert_eq!(files_with(&disk.crash(&mut choice(seed)), MARK), [], "seed {seed}");
        }
        assert_eq!(files_with(&disk.crash_synced_only(), MARK), []);
    };
    store.purge(prefix(), &Progress::default()).unwrap();
    check(&disk);
    // A long journal, whose bytes are all over the catalog file.
    let disk = SimDisk::new();
    let store = create(&disk, small().memtable_observations(1000));
    for n in 0..300 {
        store.observe(Observation::gone(&marked(n), ms(1))).unwrap();
    }
    store.purge(prefix(), &Progress::default()).unwrap();
    check(&disk);
}

/// It was hidden, but its bytes were still there.
#[test]
fn forgotten_page_can_be_purged_later() {
    for sealed in [false, true] {
        for by_prefix in [false, true] {
            let disk = SimDisk::new();
            let mut model = Model::default();
            let store = marked_store(&disk, &mut model, 2);
            let prefix = || Scope::Prefix(Prefix::parse(&format!("{MARK}.example")).unwrap());
            let urls = [marked(1), marked(2)];
            if by_prefix {
                store.forget(prefix()).unwrap();
            } else {
                urls.iter()
                    .for_each(|url| assert_eq!(store.forget(Scope::Url(url)).unwrap().pages, 1));
            }
            model.forget(|url| url.contains(MARK));
            if sealed {
                store.seal().unwrap();
            }
            assert!(!files_with(&disk, MARK).is_empty());
            if by_prefix {
                assert_eq!(
                    store.purge(prefix(), &Progress::default()).unwrap(),
                    Forgotten::default()
                );
            } else {
                for url in &urls {
                    assert_eq!(
                        store.purge(Scope::Url(url), &Progress::default()).unwrap(),
                        Forgotten::default()
                    );
                }
            }
            check_purged(store, &disk, &model, MARK);
        }
    }
}

/// A page that was forgotten with its site, and whose URL is in the tombstone.
#[test]
fn url_forgotten_by_prefix_can_be_purged() {
    let disk = SimDisk::new();
    let mut model = Model::default();
    let store = marked_store(&disk, &mut model, 1);
    let url = marked(1);
    store.forget(Scope::Prefix(Prefix::parse(&url).unwrap())).unwrap();
    model.forget(|u| u == url);
    store.purge(Scope::Url(&url), &Progress::default()).unwrap();
    check_purged(store, &disk, &model, &url);
}

/// Parts of a site that were forgotten one by one before the whole site is purged.
#[test]
fn purge_removes_names_of_nested_forgotten_prefixes() {
    for sealed in [false, true] {
        let disk = SimDisk::new();
        let mut model = Model::default();
        let store = marked_store(&disk, &mut model, 1);
        for page in [1, 2] {
            store.forget(Scope::Prefix(Prefix::parse(&marked(page)).unwrap())).unwrap();
            if sealed {
                store.seal().unwrap();
            }
        }
        model.forget(|url| url.contains(MARK));
        assert!(!files_with(&disk, MARK).is_empty());
        let all = Prefix::parse(&format!("{MARK}.example")).unwrap();
        assert_eq!(
            store.purge(Scope::Prefix(all), &Progress::default()).unwrap(),
            Forgotten::default()
        );
        check_purged(store, &disk, &model, MARK);
    }
}

#[test]
fn page_observed_after_a_purge_starts_anew() {
    let disk = SimDisk::new();
    let mut model = Model::default();
    let store = marked_store(&disk, &mut model, 2);
    let url = marked(1);
    store.purge(Scope::Url(&url), &Progress::default()).unwrap();
    model.forget(|u| u == url);
    let again = Observation::content(&url, ms(1), 5, Epoch::from_number(0));
    assert_eq!(see(&store, &mut model, again), Verdict::New);
    check_store(&store, &model);
    store.seal().unwrap();
    assert_eq!(
        store.purge(Scope::Url(URLS[0]), &Progress::default()).unwrap(),
        model.forget(|u| u == URLS[0])
    );
    check_store(&store, &model);
    assert_eq!(store.history(&url).unwrap().len(), 1);
    drop(store);
    check_store(&open(&disk, small()), &model);
}

#[test]
fn purge_waits_for_a_running_merge() {
    let disk = SimDisk::new();
    let gate = Gate::default();
    let gated = Arc::new(gate.before(on(&disk)));
    let store = Store::create(gated, small().memtable_observations(1000)).unwrap();
    store.register_epoch("two", Role::Both).unwrap();
    let mut model = Model::default();
    for time in 0..2 {
        for url in [URLS[0], &marked(1)] {
            see(&store, &mut model, Observation::content(url, ms(time), 5, Epoch::from_number(0)));
        }
        store.seal().unwrap();
    }
    gate.close(|kind, name| kind == OpKind::Sync && name == Some(FileName::SegmentNew(3)));
    thread::scope(|scope| {
        let merge = scope.spawn(|| store.merge(&Progress::default()).unwrap());
        gate.await_arrival();
        let purge =
            scope.spawn(|| store.purge(Scope::Url(&marked(1)), &Progress::default()).unwrap());
        // It is hidden at once, although its bytes are still there.
        while store.snapshot().latest(&marked(1)).unwrap().is_some() {
            thread::yield_now();
        }
        gate.open();
        merge.join().unwrap();
        let forgotten = purge.join().unwrap();
        assert_eq!((forgotten.pages, forgotten.visits), (1, 2));
    });
    model.forget(|url| url.contains(MARK));
    check_purged(store, &disk, &model, MARK);
}

#[test]
fn merges_reclaim_forgotten_pages() {
    let disk = SimDisk::new();
    let mut model = Model::default();
    let store = marked_store(&disk, &mut model, 2);
    store.forget(Scope::Prefix(Prefix::parse(&format!("{MARK}.example")).unwrap())).unwrap();
    model.forget(|url| url.contains(MARK));
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    let with = files_with(&disk, MARK);
    assert!(with.iter().all(|name| !matches!(name, FileName::Segment(_))), "{with:?}");
    check_store(&store, &model);
}

#[test]
fn purged_page_is_in_no_file_on_disk() {
    fn files_with(dir: &Path, text: &str) -> usize {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let with = |path: std::path::PathBuf| match path.is_dir() {
            true => files_with(&path, text),
            false => usize::from(contains(&fs::read(&path).unwrap(), text)),
        };
        entries.map(with).sum()
    }
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path(), small()).unwrap();
    let pages: Vec<String> = (0..30).map(marked).collect();
    for page in &pages {
        store.observe(Observation::content(page, ms(0), 5, Epoch::from_number(0))).unwrap();
        store.observe(Observation::content(URLS[0], ms(0), 5, Epoch::from_number(0))).unwrap();
    }
    assert!(files_with(dir.path(), MARK) > 1);
    let prefix = Prefix::parse(&format!("{MARK}.example")).unwrap();
    let forgotten = store.purge(Scope::Prefix(prefix), &Progress::default()).unwrap();
    assert_eq!((forgotten.pages, forgotten.visits), (30, 30));
    assert_eq!(files_with(dir.path(), MARK), 0);
    store.close().unwrap();
    assert_eq!(files_with(dir.path(), MARK), 0);
    assert_eq!(Store::open(dir.path(), small()).unwrap().stats().unwrap().pages, 1);
}
