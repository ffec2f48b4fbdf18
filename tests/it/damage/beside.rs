//! Damage to a store during writing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use simkeep::Store;
use simkeep::disk::{Access, Disk, FileName, OpKind, SimDisk};
use simkeep::verify::{VerifyOptions, verify};

use simkeep_testing::disks::HookDisk;
use simkeep_testing::model::Model;
use simkeep_testing::sample::fill;
use simkeep_testing::{create, on, small};

/// A new store with some segments, and the names of these segments.
fn segments(disk: &SimDisk) -> (Store, Vec<FileName>) {
    let store = create(disk, small());
    for seed in 1..5 {
        fill(&store, &mut Model::default(), seed, 10);
        store.seal().unwrap();
    }
    let segments = store.stats().unwrap().segments;
    (store, segments.iter().map(|segment| FileName::Segment(segment.id)).collect())
}

#[test]
fn verify_during_writing_names_every_flaw() {
    let disk = SimDisk::new();
    let (_store, segments) = segments(&disk);
    assert!(segments.len() > 3, "{segments:?}");
    assert!(verify(on(&disk), VerifyOptions::default()).unwrap().is_sound());
    let flip = |name: FileName, offset: fn(u64) -> u64| {
        let file = disk.open(name, Access::Write).unwrap();
        let at = offset(file.size().unwrap());
        let mut byte = [0];
        file.read_at(at, &mut byte).unwrap();
        file.write_at(at, &[!byte[0]]).unwrap();
    };
    // The trailer of one segment, and the first block of another.
    flip(segments[0], |len| len - 1);
    flip(segments[2], |_| 64);
    disk.remove(segments[3]).unwrap();
    let verified = verify(on(&disk), VerifyOptions::default()).unwrap();
    let mut named: Vec<&str> = verified.flaws.iter().map(|flaw| flaw.file.as_str()).collect();
    named.sort_unstable();
    let expected = [segments[0], segments[2], segments[3]].map(|name| name.to_string());
    assert_eq!(named, expected);
    assert_eq!(verified.files, segments.len() + 1);
}

/// A disk that removes these files before the `nth` read of a segment after each of them was opened
/// twice.
fn removing(disk: &SimDisk, segments: &[FileName], nth: usize) -> HookDisk {
    let (opens, reads) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (inner, segments) = (disk.clone(), segments.to_vec());
    HookDisk::with_reads(on(disk), move |kind, name| match (kind, name) {
        (OpKind::Open(_), Some(FileName::Segment(_))) => {
            opens.fetch_add(1, Ordering::Relaxed);
        }
        (OpKind::Read, Some(FileName::Segment(_)))
            if opens.load(Ordering::Relaxed) >= 2 * segments.len()
                && reads.fetch_add(1, Ordering::Relaxed) + 1 == nth =>
        {
            segments.iter().for_each(|name| inner.remove(*name).unwrap());
        }
        _ => {}
    })
}

#[test]
fn verify_reads_segments_that_a_merge_removes() {
    let disk = SimDisk::new();
    let (store, segments) = segments(&disk);
    store.close().unwrap();
    for nth in 1.. {
        let disk = SimDisk::of(disk.contents());
        let hooked: Arc<dyn Disk> = Arc::new(removing(&disk, &segments, nth));
        let verified = verify(hooked, VerifyOptions::default()).unwrap();
        assert!(verified.is_sound(), "{nth}: {:?}", verified.flaws);
        if disk.contents().iter().any(|(name, _)| segments.contains(name)) {
            assert!(nth > segments.len(), "{nth}");
            return;
        }
    }
}
