//! Snapshots that are read while many threads observe.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use simkeep::disk::SimDisk;
use simkeep::{Entry, Epoch, HistoryEntry, Observation, Query};

use super::{THREADS, busy, url};
use simkeep_testing::fold::{history, with_verdicts};
use simkeep_testing::{choice, create, digest, ms, sound};

/// Each result of a search can be read, and reads equal twice.
#[test]
#[expect(clippy::too_many_lines, reason = "threads that share what stands above them")]
fn snapshot_is_consistent_during_concurrent_writes() {
    const FINGERPRINT: u64 = 0xffff_0000_1234_5678;
    let store = create(&SimDisk::new(), busy());
    // Always near all observed pages, so in every answer.
    let anchors: Vec<String> = (0..5).map(|page| url(1000, page)).collect();
    for anchor in &anchors {
        let seen = Observation::content(anchor, ms(0), FINGERPRINT, Epoch::from_number(0));
        store.observe(seen).unwrap();
    }
    let acknowledged = Mutex::new(Vec::<String>::new());
    let done = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..THREADS as u64)
            .map(|thread| {
                let (store, anchors, acknowledged) = (&store, &anchors, &acknowledged);
                scope.spawn(move || {
                    let mut choice = choice(thread);
                    for time in 0..60 {
                        let url = url(choice(8), choice(10));
                        let fingerprint = FINGERPRINT ^ (1 << choice(20));
                        let digest = digest(u8::try_from(choice(4)).unwrap());
                        let seen = Observation::content(
                            &url,
                            ms(time),
                            fingerprint,
                            Epoch::from_number(0),
                        );
                        let outcome = store.observe(seen.digest(digest)).unwrap();
                        for anchor in anchors {
                            let near = outcome.near.iter().find(|n| n.url == *anchor);
                            assert_eq!(near.map(|n| n.distance), Some(1), "{anchor} is missing");
                        }
                        assert!(outcome.near.iter().all(|n| n.url != url));
                        assert!(outcome.near.is_sorted_by_key(|n| n.distance));
                        let urls = outcome.near.iter().map(|n| &n.url);
                        let urls: BTreeSet<_> =
                            urls.chain(outcome.copies.iter().map(|c| &c.url)).collect();
                        assert_eq!(urls.len(), outcome.near.len() + outcome.copies.len());
                        acknowledged.lock().unwrap().push(url);
                    }
                })
            })
            .collect();
        for reader in 0..3 {
            let (store, acknowledged, done, reads) = (&store, &acknowledged, &done, &reads);
            scope.spawn(move || {
                let mut choice = choice(100 + reader);
                let mut last = 0;
                while !done.load(Ordering::Acquire) {
                    let known: Vec<String> = acknowledged.lock().unwrap().clone();
                    let snapshot = store.snapshot();
                    assert!(snapshot.sequence() >= last);
                    last = snapshot.sequence();
                    if !known.is_empty() {
                        let url = &known[usize::try_from(choice(known.len() as u64)).unwrap()];
                        assert!(snapshot.latest(url).unwrap().is_some(), "{url} was acknowledged");
                    }
                    let query = Query::new(FINGERPRINT, 2).epoch(Epoch::from_number(0)).limit(1000);
                    let found = snapshot.search(&query).unwrap();
                    let mut pages = 0;
                    for page in snapshot.scan(None) {
                        let page = page.unwrap();
                        let entries = snapshot.history(&page.url).unwrap();
                        assert_eq!(entries.len() as u64, page.visits, "{}", page.url);
                        let known: Vec<Entry> = entries.iter().map(HistoryEntry::entry).collect();
                        assert_eq!(with_verdicts(&entries), history(&known));
                        let content = page.content.unwrap();
                        let near = found.near.iter().find(|n| n.url == page.url);
                        assert_eq!(near.map(|n| n.fingerprint), content.fingerprint);
                        pages += 1;
                    }
                    assert_eq!(found.near.len(), pages);
                    assert_eq!(snapshot.search(&query).unwrap(), found);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Release);
    });
    assert!(reads.load(Ordering::Relaxed) > 3);
    store.wait_idle().unwrap();
    sound(&store).unwrap();
}
