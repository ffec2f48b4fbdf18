//! Stress: many segments, many copies, and partly sealed data after a crash.

use std::sync::Arc;
use std::time::Duration;

use simkeep::disk::{Access, Dir, Disk, FileName, OpKind, RealDisk, SimDisk};
use simkeep::{Digest, Durability, Epoch, Error, Observation, Options, Progress, Scope, Store};
use simkeep_testing::disks::{Gate, HookDisk};
use simkeep_testing::{ms, sound};

const F: u64 = 0x0123_4567_89ab_cdef;

fn on(disk: &SimDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

fn options(memtable: usize, background: bool) -> Options {
    Options::default().memtable_observations(memtable).merge_fanout(2).background(background)
}

fn content(url: &str, time: i64, fingerprint: u64, digest: u8) -> Observation<'_> {
    Observation::content(url, ms(time), fingerprint, Epoch::from_number(0))
        .digest(Digest([digest; 16]))
}

/// Runs an operation that must not wait for ever.
fn in_time(what: impl FnOnce() + Send + 'static) {
    let (done, wait) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        what();
        done.send(()).unwrap();
    });
    wait.recv_timeout(Duration::from_secs(60)).expect("it waits for ever");
    thread.join().unwrap();
}

#[test]
fn writers_do_not_wait_for_merges_not_yet_due() {
    in_time(|| {
        let store = Store::create(on(&SimDisk::new()), options(1, true)).unwrap();
        for i in 0..600 {
            store.observe(Observation::gone(&format!("http://a.example/{i}"), ms(i))).unwrap();
        }
        store.wait_idle().unwrap();
        assert_eq!(store.stats().unwrap().pages, 600);
    });
}

/// Many segments are due for a merge, and the disk is too full for it.
#[test]
fn writers_do_not_wait_for_merges_without_room() {
    in_time(|| {
        let disk = SimDisk::new();
        let page = |i: i64| format!("http://a.example/{i}");
        let store = Store::create(on(&disk), options(50, false)).unwrap();
        for i in 0..2000 {
            store.observe(content(&page(i), i, F.wrapping_mul(i as u64), 1)).unwrap();
        }
        let segments = store.stats().unwrap().segment_bytes;
        store.close().unwrap();
        let used: usize = disk.contents().iter().map(|(_, bytes)| bytes.len()).sum();
        disk.set_capacity_bytes(Some(used as u64 + segments - 1));
        let store = Store::open(on(&disk), options(50, true)).unwrap();
        for i in 2000..2400 {
            store.observe(content(&page(i), i, F.wrapping_mul(i as u64), 1)).unwrap();
        }
        let hindered = store.stats().unwrap().merge_error.expect("a merge that did not go");
        assert!(hindered.contains("free some disk space"), "{hindered}");
        assert_eq!(store.stats().unwrap().pages, 2400);
    });
}

#[test]
fn many_segments_merge_into_one() {
    let store = Store::create(on(&SimDisk::new()), options(1, false)).unwrap();
    for i in 0..300 {
        store.observe(Observation::gone(&format!("http://a.example/{}", i % 70), ms(i))).unwrap();
    }
    store.seal().unwrap();
    let segments = store.stats().unwrap().segments.len();
    assert_eq!(segments, 300);
    // First by 128, then their outputs.
    assert_eq!(store.merge(&Progress::default()).unwrap().inputs, 300 + 3);
    let stats = store.stats().unwrap();
    assert_eq!((stats.segments.len(), stats.pages, stats.visits), (1, 70, 300));
    sound(&store).unwrap();
}

#[test]
fn memtables_left_by_a_crash_are_sealed_in_foreground() {
    in_time(|| {
        // A crash at any state: with some seeds a full memtable had not been sealed yet.
        let disk = SimDisk::new();
        let store = Store::create(on(&disk), options(4, true)).unwrap();
        for i in 0..40 {
            store.observe(Observation::gone(&format!("http://a.example/{i}"), ms(i))).unwrap();
            let left = disk.crash_all_kept();
            let store = Store::open(on(&left), options(4, false)).unwrap();
            for j in 100..120 {
                store.observe(Observation::gone(&format!("http://a.example/{j}"), ms(j))).unwrap();
            }
            assert_eq!(store.stats().unwrap().pages, i as u64 + 21);
        }
    });
}

#[test]
fn many_copies_hide_no_equally_near_page() {
    for sealed in [false, true] {
        let store = Store::create(on(&SimDisk::new()), options(10_000, false)).unwrap();
        for i in 0..40 {
            // Later in order, but seen earlier: the original is the last in SURT order.
            let url = format!("http://a.example/{i:02}");
            store.observe(content(&url, 1000 - i, F, 1)).unwrap();
        }
        for i in 0..5 {
            store.observe(content(&format!("http://b.example/{i}"), 5000, F, 2)).unwrap();
        }
        store.observe(content("http://c.example/", 5000, F ^ 1, 3)).unwrap();
        if sealed {
            store.seal().unwrap();
        }
        let outcome = store.observe(content("http://z.example/", 9000, F, 1)).unwrap();
        assert_eq!(outcome.near.len(), 6, "{outcome:?}");
        assert_eq!(outcome.near[5].url, "http://c.example/");
        assert_eq!(outcome.copies.len(), 16);
        assert_eq!(outcome.copies[0].url, "http://a.example/39", "the first capture");
        assert!(!outcome.complete);
    }
}

#[test]
fn directory_with_other_files_is_left_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("letter.txt"), "dear").unwrap();
    let made = Store::create(dir.path(), Options::default());
    assert!(matches!(made, Err(Error::NotAStore { .. })), "{made:?}");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn no_catalog_is_created_over_orphaned_segments() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let store = Store::create(&path, Options::default()).unwrap();
    store.observe(content("http://a.example/", 1, F, 1)).unwrap();
    store.seal().unwrap();
    store.close().unwrap();
    RealDisk::new(&path).remove(FileName::Catalog).unwrap();
    let made = Store::open_or_create(&path, Options::default());
    assert!(matches!(made, Err(Error::NotAStore { .. })), "{made:?}");
    assert!(path.join("segments/0000000001.seg").exists());
}

#[test]
fn closing_during_a_manual_seal_keeps_the_store_whole() {
    for _ in 0..20 {
        let disk = SimDisk::new();
        let store = Store::create(on(&disk), options(10_000, true)).unwrap();
        for i in 0..300 {
            store.observe(Observation::gone(&format!("http://a.example/{i}"), ms(i))).unwrap();
        }
        let other = store.clone();
        let thread = std::thread::spawn(move || {
            // The call succeeds, or fails because the store is closed.
            let _ = other.seal();
        });
        store.close().unwrap();
        let again = Store::open(on(&disk), options(10_000, true)).unwrap();
        assert_eq!(again.stats().unwrap().pages, 300);
        again.seal().unwrap();
        thread.join().unwrap();
        sound(&again).unwrap();
        again.close().unwrap();
        let again = Store::open(on(&disk), options(10_000, true)).unwrap();
        assert_eq!(again.stats().unwrap().pages, 300);
    }
}

#[test]
fn constantly_visited_page_costs_no_more_than_others() {
    in_time(|| {
        let disk = SimDisk::new();
        let store = Store::create(on(&disk), options(262_144, false)).unwrap();
        let url = "http://a.example/";
        for first in (0..100_000).step_by(10_000) {
            let visits: Vec<_> =
                (first..first + 10_000).map(|t| content(url, t, F ^ t as u64, 0)).collect();
            store.observe_batch(&visits).unwrap();
        }
        let before = store.snapshot().latest(url).unwrap();
        drop(store);
        // The results are the same after the journal is replayed.
        let store = Store::open(on(&disk.crash_synced_only()), options(262_144, false)).unwrap();
        assert_eq!(store.snapshot().latest(url).unwrap(), before);
        assert_eq!(before.unwrap().visits, 100_000);
        store.seal().unwrap();
        assert_eq!(store.history(url).unwrap().len(), 100_000);
    });
}

/// A merge of a whole idle store takes long for a large store.
#[test]
fn idle_merge_yields_to_due_merges() {
    in_time(|| {
        let gate = Gate::default();
        let rest = Duration::from_millis(50);
        let options = options(2000, true).merge_fanout(4).seal_after(rest);
        let store = Store::create(Arc::new(gate.before(on(&SimDisk::new()))), options).unwrap();
        gate.close(|kind, name| {
            let begins = matches!(name, Some(FileName::SegmentNew(_)))
                && kind == OpKind::Open(Access::Create);
            begins && std::thread::current().name() == Some("simkeep-merge")
        });
        // Three segments with the same pages: a merge is not due, but would save space.
        let visit = |round: i64, pages: i64| {
            let urls: Vec<String> = (0..pages).map(|i| format!("http://a.example/{i}")).collect();
            let batch: Vec<_> = urls.iter().map(|url| Observation::gone(url, ms(round))).collect();
            store.observe_batch(&batch).unwrap();
            store.seal().unwrap();
        };
        (0..3).for_each(|round| visit(round, 1999));
        gate.await_arrival();
        // New writes arrive, and one more segment makes a merge due.
        visit(3, 10);
        gate.open();
        store.wait_idle().unwrap();
        // All four were merged at once; otherwise there would be its output and the fourth segment.
        let stats = store.stats().unwrap();
        assert_eq!((stats.segments.len(), stats.merge_error), (1, None));
    });
}

#[test]
fn memtable_filled_during_a_catalog_swap_is_sealed_later() {
    in_time(|| {
        let (renamed, wait) = std::sync::mpsc::channel();
        let last = std::sync::Mutex::new(None);
        let disk = HookDisk::new(on(&SimDisk::new()), move |kind, name| {
            let before = last.lock().unwrap().replace((kind, name));
            let is_named =
                before == Some((OpKind::Rename(FileName::Catalog), Some(FileName::CatalogNew)));
            if is_named && kind == OpKind::SyncDir(Dir::Root) {
                // The new catalog has its final name, but the purge has not switched to it yet.
                renamed.send(()).unwrap();
                std::thread::sleep(Duration::from_millis(300));
            }
        });
        let options = options(10, true).durability(Durability::OnFlush);
        let store = Store::create(Arc::new(disk), options).unwrap();
        wait.recv().unwrap();
        let observe = |time| store.observe(Observation::gone("http://a/", ms(time))).map(drop);
        std::thread::scope(|scope| {
            let purge = scope.spawn(|| store.purge(Scope::Url("http://b/"), &Progress::default()));
            wait.recv().unwrap();
            (0..12).try_for_each(observe).unwrap();
            purge.join().unwrap().unwrap();
        });
        store.wait_idle().unwrap();
        (12..24).try_for_each(observe).unwrap();
        assert_eq!(store.history("http://a/").unwrap().len(), 24);
        store.close().unwrap();
    });
}
