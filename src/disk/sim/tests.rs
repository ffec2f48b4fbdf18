use super::*;
use crate::disk::LockGuard;
use crate::splitmix::{STEP, mix};
use std::collections::BTreeSet;

const SEEDS: u64 = 400;
const A: FileName = FileName::SegmentNew(1);
const B: FileName = FileName::Segment(1);

/// Returns a source of numbers from a seed.
pub(super) fn choice(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |n| {
        state = state.wrapping_add(STEP);
        mix(state) % n
    }
}

fn locked(disk: &SimDisk, kind: LockMode) -> Option<Box<dyn LockGuard>> {
    match disk.lock(FileName::Lock, kind).unwrap() {
        LockOutcome::Held(guard) => Some(guard),
        LockOutcome::Refused(_) => None,
    }
}

fn crashes(disk: &SimDisk) -> impl Iterator<Item = SimDisk> {
    (0..SEEDS).map(|seed| disk.crash(&mut choice(seed)))
}

fn file(disk: &SimDisk, name: FileName) -> Option<Vec<u8>> {
    disk.contents().into_iter().find(|(other, _)| *other == name).map(|(_, content)| content)
}

/// The contents of a file after crashes, each possible state once.
fn states(disk: &SimDisk, name: FileName) -> BTreeSet<Option<Vec<u8>>> {
    crashes(disk).map(|crashed| file(&crashed, name)).collect()
}

/// A disk with one durable file.
fn with_file(content: &[u8]) -> SimDisk {
    SimDisk::of([(A, content.to_vec())])
}

fn write(disk: &SimDisk, name: FileName, offset: u64, data: &[u8]) -> Box<dyn DiskFile> {
    let file = disk.open(name, Access::Write).unwrap();
    file.write_at(offset, data).unwrap();
    file
}

#[test]
fn synced_data_survives_every_crash() {
    let disk = SimDisk::new();
    let handle = disk.open(A, Access::Create).unwrap();
    handle.write_at(0, &[1; 2000]).unwrap();
    handle.set_len(1500).unwrap();
    handle.sync().unwrap();
    disk.sync_dir(Dir::Segments).unwrap();
    assert_eq!(states(&disk, A), BTreeSet::from([Some(vec![1; 1500])]));
    assert_eq!(file(&disk.crash_synced_only(), A), Some(vec![1; 1500]));
}

#[test]
fn sectors_of_an_unsynced_write_persist_independently() {
    let disk = with_file(&[0; 2048]);
    write(&disk, A, 0, &[1; 2048]);
    let sectors: BTreeSet<Vec<u8>> = states(&disk, A)
        .into_iter()
        .map(|content| {
            let content = content.unwrap();
            assert!(content.chunks(512).all(|sector| sector.iter().all(|b| *b == sector[0])));
            content.chunks(512).map(|sector| sector[0]).collect()
        })
        .collect();
    assert_eq!(sectors.len(), 16);
    assert_eq!(file(&disk.crash_synced_only(), A), Some(vec![0; 2048]));
}

#[test]
fn sectors_are_aligned_to_the_file() {
    let disk = with_file(&[0; 1024]);
    write(&disk, A, 500, &[1; 24]);
    let of = |head: u8, tail: u8| {
        let mut content = vec![0; 1024];
        content[500..512].fill(head);
        content[512..524].fill(tail);
        Some(content)
    };
    assert_eq!(states(&disk, A), BTreeSet::from([of(0, 0), of(0, 1), of(1, 0), of(1, 1)]));
}

#[test]
fn a_later_write_may_persist_without_an_earlier_one() {
    let disk = with_file(b"....");
    write(&disk, A, 0, b"a").write_at(1, b"b").unwrap();
    let expected = ["....", "a...", ".b..", "ab.."].map(|s| Some(s.as_bytes().to_vec()));
    assert_eq!(states(&disk, A), BTreeSet::from(expected));
}

#[test]
fn change_of_length_persists_or_not() {
    let disk = with_file(b"0123456789");
    disk.open(A, Access::Write).unwrap().set_len(4).unwrap();
    let expected = [&b"0123456789"[..], b"0123"].map(|s| Some(s.to_vec()));
    assert_eq!(states(&disk, A), BTreeSet::from(expected));
}

#[test]
fn file_may_grow_before_its_data_arrives() {
    let disk = SimDisk::of([(A, vec![]), (B, vec![9; 600])]);
    write(&disk, A, 0, &[1; 600]);
    let states = states(&disk, A);
    let has = |content: &[u8]| states.contains(&Some(content.to_vec()));
    assert!(has(&[]));
    assert!(has(&[1; 600]));
    assert!(has(&[1; 512]), "data without the rest");
    assert!(has(&[0; 600]), "length without data");
    assert!(has(&[9; 600]), "what another file left on the medium");
    assert!(states.len() > 50, "and noise");
}

#[test]
fn hole_is_always_zero() {
    let disk = SimDisk::of([(A, vec![]), (B, vec![9; 2000])]);
    write(&disk, A, 1000, &[1; 10]);
    for content in states(&disk, A) {
        assert!(content.unwrap().iter().take(1000).all(|byte| *byte == 0));
    }
}

#[test]
fn new_file_may_be_absent_until_its_directory_is_synced() {
    let disk = SimDisk::new();
    let handle = disk.open(A, Access::Create).unwrap();
    handle.write_at(0, b"data").unwrap();
    handle.sync().unwrap();
    assert_eq!(states(&disk, A), BTreeSet::from([None, Some(b"data".to_vec())]));
    assert_eq!(disk.crash_synced_only().contents(), []);
    disk.sync_dir(Dir::Root).unwrap();
    assert_eq!(disk.crash_synced_only().contents(), [], "another directory's sync");
    disk.sync_dir(Dir::Segments).unwrap();
    assert_eq!(states(&disk, A), BTreeSet::from([Some(b"data".to_vec())]));
}

#[test]
fn rename_is_undecided_until_the_directory_is_synced() {
    let disk = SimDisk::of([(A, b"new".to_vec()), (B, b"old".to_vec())]);
    disk.rename(A, B).unwrap();
    assert_eq!(disk.contents(), [(B, b"new".to_vec())]);
    let outcomes: BTreeSet<_> = crashes(&disk).map(|crashed| crashed.contents()).collect();
    let lost = vec![(B, b"old".to_vec()), (A, b"new".to_vec())];
    assert_eq!(outcomes, BTreeSet::from([lost, vec![(B, b"new".to_vec())]]));
    disk.sync_dir(Dir::Segments).unwrap();
    assert_eq!(disk.crash_synced_only().contents(), [(B, b"new".to_vec())]);
}

#[test]
fn file_never_has_two_names_after_a_crash() {
    let c = FileName::Segment(2);
    let disk = SimDisk::of([(A, b"data".to_vec())]);
    disk.rename(A, B).unwrap();
    disk.rename(B, c).unwrap();
    for crashed in crashes(&disk) {
        assert_eq!(crashed.contents().len(), 1);
    }
}

#[test]
fn removal_may_be_undone_until_the_directory_is_synced() {
    let disk = with_file(b"data");
    disk.remove(A).unwrap();
    assert_eq!(disk.open(A, Access::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(states(&disk, A), BTreeSet::from([None, Some(b"data".to_vec())]));
    disk.sync_dir(Dir::Segments).unwrap();
    assert_eq!(states(&disk, A), BTreeSet::from([None]));
}

#[test]
fn files_and_directories_persist_in_any_order() {
    let disk = SimDisk::of([(A, vec![0]), (FileName::Catalog, vec![0])]);
    write(&disk, A, 0, &[1]);
    write(&disk, FileName::Catalog, 0, &[1]);
    let outcomes: BTreeSet<_> = crashes(&disk)
        .map(|crashed| (file(&crashed, A).unwrap(), file(&crashed, FileName::Catalog).unwrap()))
        .collect();
    assert_eq!(outcomes.len(), 4);
}

#[test]
fn failed_sync_loses_its_pages_for_good() {
    let disk = with_file(&[0; 1024]);
    let handle = write(&disk, A, 0, &[1; 512]);
    disk.fail_after(1, io::ErrorKind::Other);
    handle.sync().unwrap_err();
    let mut seen = [0; 512];
    handle.read_at(0, &mut seen).unwrap();
    assert_eq!(seen, [1; 512], "readable until the crash");
    handle.sync().unwrap();
    assert_eq!(file(&disk.crash_synced_only(), A), Some(vec![0; 1024]));
    handle.write_at(512, &[2; 512]).unwrap();
    handle.sync().unwrap();
    let durable = [[0; 512], [2; 512]].concat();
    assert_eq!(file(&disk.crash_synced_only(), A), Some(durable.clone()));
    let written_before_the_failure = [[1; 512], [2; 512]].concat();
    let expected = BTreeSet::from([Some(durable), Some(written_before_the_failure)]);
    assert_eq!(states(&disk, A), expected);
    handle.write_at(0, &[3]).unwrap();
    handle.sync().unwrap();
    assert_eq!(states(&disk, A).len(), 1, "a page written again is written whole");
}

#[test]
fn failed_directory_sync_leaves_changes_to_the_next_sync() {
    let disk = with_file(b"data");
    disk.rename(A, B).unwrap();
    disk.fail_after(1, io::ErrorKind::Other);
    disk.sync_dir(Dir::Segments).unwrap_err();
    assert_eq!(states(&disk, B).len(), 2);
    disk.sync_dir(Dir::Segments).unwrap();
    assert_eq!(states(&disk, B), BTreeSet::from([Some(b"data".to_vec())]));
}

#[test]
fn killed_process_loses_nothing_and_syncs_nothing() {
    let disk = with_file(b"old");
    write(&disk, A, 0, b"new").sync().unwrap();
    disk.rename(A, B).unwrap();
    write(&disk, B, 0, b"NEW");
    let killed = disk.crash_all_kept();
    assert_eq!(killed.contents(), [(B, b"NEW".to_vec())]);
    assert_eq!(killed.crash_synced_only().contents(), [(A, b"new".to_vec())]);
}

#[test]
fn crashed_disk_is_independent_and_unlocked() {
    let disk = with_file(b"data");
    let _lock = locked(&disk, LockMode::Exclusive).unwrap();
    disk.fail_from(1, io::ErrorKind::Other);
    let crashed = disk.crash(&mut choice(1));
    assert!(locked(&crashed, LockMode::Exclusive).is_some());
    write(&crashed, A, 0, b"DATA").sync().unwrap();
    assert_eq!(file(&disk, A), Some(b"data".to_vec()));
    assert_eq!(states(&crashed, A), BTreeSet::from([Some(b"DATA".to_vec())]));
}

#[test]
fn equal_seeds_give_equal_crash_states() {
    let disk = with_file(&[0; 4096]);
    write(&disk, A, 100, &[1; 9000]);
    disk.rename(A, B).unwrap();
    for seed in 0..20 {
        let twice = [disk.crash(&mut choice(seed)), disk.crash(&mut choice(seed))];
        assert!(twice[0].contents() == twice[1].contents());
    }
}

#[test]
fn open_files_and_maps_outlive_their_name() {
    let disk = with_file(b"data");
    let handle = disk.open(A, Access::Write).unwrap();
    let map = disk.map(A).unwrap();
    disk.rename(A, B).unwrap();
    handle.write_at(0, b"DATA").unwrap();
    assert_eq!((file(&disk, B), &*map), (Some(b"DATA".to_vec()), &b"data"[..]));
    disk.remove(B).unwrap();
    disk.sync_dir(Dir::Segments).unwrap();
    assert_eq!(handle.size().unwrap(), 4);
    assert_eq!(disk.contents(), []);
}

#[test]
fn lock_excludes_as_on_a_real_disk() {
    let disk = SimDisk::new();
    let writer = locked(&disk, LockMode::Exclusive).unwrap();
    assert!(locked(&disk, LockMode::Exclusive).is_none());
    assert!(locked(&disk, LockMode::Shared).is_none());
    drop(writer);
    let readers = [locked(&disk, LockMode::Shared), locked(&disk, LockMode::Shared)];
    assert!(locked(&disk, LockMode::Exclusive).is_none());
    drop(readers);
    assert!(locked(&disk, LockMode::Exclusive).is_some());
    assert_eq!(file(&disk, FileName::Lock), Some(vec![]));
}

#[test]
fn nth_operation_fails_once_or_permanently() {
    let disk = with_file(b"....");
    let handle = disk.open(A, Access::Write).unwrap();
    disk.fail_after(2, io::ErrorKind::StorageFull);
    handle.write_at(0, b"a").unwrap();
    assert_eq!(handle.write_at(1, b"bb").unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(file(&disk, A), Some(b"ab..".to_vec()), "half of a failed write is written");
    handle.write_at(1, b"c").unwrap();
    disk.fail(DiskFault {
        target: FaultTarget::Changes,
        nth: 1,
        kind: io::ErrorKind::Other,
        lasting: true,
    });
    assert_eq!(handle.size().unwrap(), 4);
    handle.sync().unwrap_err();
    disk.rename(A, B).unwrap_err();
    disk.heal();
    disk.rename(A, B).unwrap();
}

#[test]
fn full_disk_refuses_only_growth() {
    let disk = with_file(&[0; 900]);
    assert_eq!(disk.free_bytes().unwrap(), None);
    disk.set_capacity_bytes(Some(1000));
    assert_eq!(disk.free_bytes().unwrap(), Some(100));
    let handle = write(&disk, A, 0, &[1; 1000]);
    assert_eq!(handle.write_at(999, b"ab").unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(handle.set_len(1001).unwrap_err().kind(), io::ErrorKind::StorageFull);
    handle.write_at(0, &[2; 1000]).unwrap();
    disk.remove(A).unwrap();
    assert_eq!(disk.free_bytes().unwrap(), Some(0), "still open");
    drop(handle);
    assert_eq!(disk.free_bytes().unwrap(), Some(1000));
}

#[test]
fn log_is_recorded_on_request_and_operations_always_counted() {
    let disk = with_file(b"data");
    let handle = disk.open(A, Access::Write).unwrap();
    assert_eq!((disk.operations(), disk.changes(), disk.take_log()), (1, 0, vec![]));
    disk.record();
    handle.write_at(2, b"xyz").unwrap();
    disk.fail_after(1, io::ErrorKind::Other);
    disk.rename(A, B).unwrap_err();
    let write = DiskOp { kind: OpKind::Write, name: Some(A), offset: 2, len: 3, failed: false };
    let rename = DiskOp { kind: OpKind::Rename(B), name: Some(A), offset: 0, len: 0, failed: true };
    assert_eq!(disk.take_log(), [write, rename]);
    assert_eq!((disk.operations(), disk.changes(), disk.take_log()), (3, 2, vec![]));
}

#[test]
fn invalid_calls_are_refused_as_on_a_real_disk() {
    let disk = with_file(b"data");
    let handle = disk.open(A, Access::Read).unwrap();
    handle.write_at(0, b"x").unwrap_err();
    handle.set_len(0).unwrap_err();
    let past_the_end = handle.read_at(2, &mut [0; 3]).unwrap_err();
    assert_eq!(past_the_end.kind(), io::ErrorKind::UnexpectedEof);
    handle.read_at(u64::MAX, &mut [0; 1]).unwrap_err();
    let writer = disk.open(A, Access::Write).unwrap();
    writer.write_at(u64::MAX, b"x").unwrap_err();
    writer.set_len(u64::MAX).unwrap_err();
    disk.rename(A, FileName::Catalog).unwrap_err();
    disk.rename(B, A).unwrap_err();
    disk.map(B).unwrap_err();
}

#[test]
fn small_changes_of_a_large_file_do_not_copy_it() {
    let disk = with_file(&[0; 1 << 20]);
    let handle = write(&disk, A, 0, b"x");
    let address = || disk.map(A).unwrap().as_ptr();
    let before = address();
    for i in 0..100 {
        handle.write_at(i * 4096, b"y").unwrap();
        handle.sync().unwrap();
    }
    assert_eq!(before, address());
    assert_eq!(disk.crash_synced_only().map(A).unwrap().as_ptr(), before, "nothing to undo");
}

#[test]
fn listing_order_varies_but_is_reproducible() {
    let orders = || -> Vec<_> {
        let disk = SimDisk::of((0..5).map(|id| (FileName::Segment(id), Vec::new())));
        let crashed = disk.crash_all_kept();
        let disks = [disk, crashed].into_iter();
        disks.flat_map(|disk| (0..10).map(move |_| disk.list(Dir::Segments).unwrap())).collect()
    };
    let listed = orders();
    assert_eq!(listed, orders());
    assert!(listed.iter().collect::<BTreeSet<_>>().len() > 10);
    let sorted = listed.into_iter().map(|names| names.into_iter().collect::<BTreeSet<_>>());
    assert_eq!(sorted.collect::<BTreeSet<_>>().len(), 1);
}

#[test]
fn random_numbers_are_reproducible_and_continue_after_a_crash() {
    let numbers = |disk: &SimDisk| [0; 4].map(|_| disk.random());
    let seeded = |seed| {
        let disk = SimDisk::new();
        disk.set_seed(seed);
        disk
    };
    let disk = seeded(1);
    let first = numbers(&disk);
    let then = numbers(&disk.crash_all_kept());
    assert_eq!(then, numbers(&disk.crash_synced_only()));
    assert_eq!((first, then), (numbers(&seeded(1)), numbers(&disk)));
    let others = [first, then, numbers(&seeded(2)), numbers(&SimDisk::new())].concat();
    assert_eq!(others.iter().collect::<BTreeSet<_>>().len(), others.len());
}

#[test]
fn link_is_durable_once_its_directory_is_synced() {
    let (from, to) = (with_file(b"abc"), SimDisk::new());
    let linked = from.linkable(A).unwrap();
    to.link(&linked, B).unwrap();
    let again = to.link(&linked, B).unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
    from.remove(A).unwrap();
    assert_eq!(file(&to, B).unwrap(), b"abc");
    assert_eq!(states(&to, B), BTreeSet::from([None, Some(b"abc".to_vec())]));
    to.sync_dir(Dir::Segments).unwrap();
    assert_eq!(states(&to, B), BTreeSet::from([Some(b"abc".to_vec())]));
    assert_eq!(from.linkable(A).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn crash_may_undo_unsynced_writes_of_a_linked_file() {
    let (from, to) = (with_file(b"abc"), SimDisk::new());
    write(&from, A, 0, b"xyz");
    to.link(&from.linkable(A).unwrap(), B).unwrap();
    to.sync_dir(Dir::Segments).unwrap();
    let expected = [b"abc", b"xyz"].map(|content| Some(content.to_vec()));
    assert_eq!(states(&to, B), BTreeSet::from(expected));
}
