//! Memory does not grow with the number of pages of a store.

use std::sync::Arc;

use simkeep::disk::{Disk, FileName, OpKind, RealDisk};
use simkeep::load::LoadOptions;
use simkeep::{Digest, Epoch, Observation, Progress, Result, Store};

use simkeep_testing::allocator::{allocated_bytes, lock_measurement, peak_allocated_bytes};
use simkeep_testing::disks::Gate;
use simkeep_testing::{choice, ms, small};

/// Pages from number `from` on, each with two visits. The store is on a real disk, so that files do not
/// count as memory.
fn visits(from: u64, pages: u64) -> impl Iterator<Item = (String, i64, u64)> {
    (from..from + pages).flat_map(|page| {
        let url = format!("https://host{}.example/some/path/of/page/{page}", page % 97);
        [0, 1].map(|time: i64| {
            let print = choice(page << 1 | time.cast_unsigned())(u64::MAX);
            (url.clone(), time, print)
        })
    })
}

fn observation((url, time, print): &(String, i64, u64)) -> Observation<'_> {
    let digest = Digest(u128::from(*print).to_le_bytes());
    Observation::content(url, ms(*time), *print, Epoch::from_number(0)).digest(digest)
}

fn observe(store: &Store, from: u64, pages: u64) {
    let visits: Vec<_> = visits(from, pages).collect();
    let observations: Vec<_> = visits.iter().map(observation).collect();
    observations.chunks(1000).for_each(|some| drop(store.observe_batch(some).unwrap()));
}

#[test]
fn sealing_during_a_merge_frees_the_memtable() {
    const PAGES: u64 = 10_000;
    let _alone = lock_measurement();
    let dir = tempfile::tempdir().unwrap();
    let gate = Gate::default();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk::new(dir.path()));
    let options = small().memtable_observations(2 * 10_000).near_limit(0).refers_to(false);
    let store = Store::create(Arc::new(gate.before(disk)), options).unwrap();
    observe(&store, 0, PAGES);
    store.seal().unwrap();
    observe(&store, PAGES, PAGES);
    store.seal().unwrap();
    let empty = allocated_bytes();
    observe(&store, 2 * PAGES, PAGES - 1);
    let full = allocated_bytes() - empty;
    assert!(full > 2 << 20, "{full}");
    gate.close(|kind, name| kind == OpKind::Sync && name == Some(FileName::SegmentNew(3)));
    std::thread::scope(|scope| {
        let merge = scope.spawn(|| store.merge(&Progress::default()).unwrap());
        gate.await_arrival();
        let before = allocated_bytes();
        observe(&store, 3 * PAGES, 2);
        store.seal().unwrap();
        let after = allocated_bytes();
        gate.open();
        assert_eq!(merge.join().unwrap().inputs, 2);
        assert!(after + full / 2 < before, "{before} bytes, then {after}, of {full}");
    });
}

/// Returns the peak memory of a merge of `pages` pages.
fn merge(pages: u64) -> usize {
    const SEGMENTS: u64 = 4;
    let dir = tempfile::tempdir().unwrap();
    let options = small().background_memory_bytes(MEMORY_BYTES);
    let store = Store::create(dir.path(), options).unwrap();
    for part in 0..SEGMENTS {
        let visits: Vec<_> = visits(part * pages / SEGMENTS, pages / SEGMENTS).collect();
        let observations = visits.iter().map(|visit| Result::Ok(observation(visit)));
        store.load(observations, LoadOptions::default()).unwrap();
    }
    let (merged, most) = peak_allocated_bytes(|| store.merge(&Progress::default()).unwrap());
    assert_eq!((merged.inputs as u64, store.stats().unwrap().pages), (SEGMENTS, pages));
    most
}

/// The allowed memory of a merge, and the memory of file buffers even with the smallest limit.
const MEMORY_BYTES: usize = 8 << 20;
const BUFFERS_BYTES: usize = 24 << 20;

#[test]
fn merging_four_times_the_pages_takes_little_more_memory() {
    let _alone = lock_measurement();
    let [few, many] = [100_000, 400_000].map(merge);
    println!("{few} bytes, and {many} for four times the pages");
    assert!(many < MEMORY_BYTES + BUFFERS_BYTES, "{many} bytes");
    // More buffers of files are full at the same time, especially if many threads have to wait.
    assert!(many * 10 < few * 25, "{few} bytes, then {many}");
}
