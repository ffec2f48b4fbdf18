//! The power fails, or the disk fails, at every operation that changes the disk of a backup.

use super::*;
use simkeep_testing::depth::every;
use simkeep_testing::rerun_hint;

pub(crate) fn power_failure(nth: u64) -> DiskFault {
    DiskFault { target: FaultTarget::Changes, nth, kind: ErrorKind::Other, lasting: true }
}

/// The states that a crash may leave.
pub(crate) fn crashes(disk: &SimDisk, seed: u64) -> Vec<SimDisk> {
    let mut disks = vec![disk.crash_all_kept(), disk.crash_synced_only()];
    disks.extend((0..6).map(|n| disk.crash(&mut choice(seed * 10 + n))));
    disks
}

/// The number of changes of a run on a copy of a disk.
fn changes(from: &SimDisk, to: &SimDisk, options: &BackupOptions) -> u64 {
    let to = to.crash_all_kept();
    let before = to.changes();
    backup(on(from), on(&to), options.clone()).unwrap();
    to.changes() - before
}

/// The changes at which the power fails: as many as the depth asks for, and each of the last ones, whose
/// order matters most.
fn moments(changes: u64) -> impl Iterator<Item = u64> {
    const LAST: u64 = 12;
    let earlier = changes.saturating_sub(LAST);
    (1..=earlier).step_by(every()).chain(earlier + 1..=changes)
}

#[test]
fn crash_of_a_first_backup_leaves_none_or_all() {
    let _again = rerun_hint();
    let (from, _store) = source();
    let whole = held(&from);
    for options in [options(), options().copy(true)] {
        let (mut none, mut there) = (0, 0);
        let changes = changes(&from, &SimDisk::new(), &options);
        for stop in moments(changes) {
            let to = SimDisk::new();
            to.fail(power_failure(stop));
            let done = backup(on(&from), on(&to), options.clone());
            assert!(done.is_err(), "change {stop} did not fail");
            for (nth, left) in crashes(&to, stop).into_iter().enumerate() {
                let what = format!("change {stop}, state {nth}");
                match Reader::open(on(&left)) {
                    Err(Error::NotAStore { .. } | Error::Unfinished { .. }) => none += 1,
                    Err(e) => panic!("{what}: {e}"),
                    Ok(_) => {
                        assert!(held(&left) == whole, "{what}: another state");
                        let checked = verify(on(&left), VerifyOptions::default()).unwrap();
                        checked.sound().unwrap_or_else(|e| panic!("{what}: {e}"));
                        there += 1;
                    }
                }
                let again = backup(on(&from), on(&left), options.clone());
                again.unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(held(&left) == whole, "{what}: another state");
                check_files(&left);
            }
        }
        assert!(none > 0 && there > 0, "{none} {there}");
    }
}

#[test]
fn crash_of_a_later_backup_leaves_old_or_new() {
    let _again = rerun_hint();
    let (from, store) = source();
    let to = SimDisk::new();
    back_up(&from, &to).unwrap();
    let before = held(&to);
    go_on(&store);
    let after = held(&from);
    for options in [options(), options().copy(true)] {
        let (mut earlier, mut newer) = (0, 0);
        let changes = changes(&from, &to, &options);
        for stop in moments(changes) {
            let to = to.crash_all_kept();
            to.fail(power_failure(stop));
            assert!(backup(on(&from), on(&to), options.clone()).is_err(), "change {stop}");
            for (nth, left) in crashes(&to, stop).into_iter().enumerate() {
                let what = format!("change {stop}, state {nth}");
                let checked = verify(on(&left), VerifyOptions::default());
                checked.and_then(|v| v.sound()).unwrap_or_else(|e| panic!("{what}: {e}"));
                let found = held(&left).0;
                if found == before.0 {
                    earlier += 1
                } else {
                    newer += 1
                }
                assert!(found == before.0 || found == after.0, "{what}: another state");
                let copy = left.crash_all_kept();
                let own = open(&copy, small());
                assert!(dump(&own.snapshot()).unwrap() == found, "{what}");
                let again = backup(on(&from), on(&left), options.clone());
                again.unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(held(&left) == after, "{what}: another state");
                check_files(&left);
            }
        }
        assert!(earlier > 0 && newer > 0, "{earlier} {newer}");
    }
}

#[test]
fn failed_call_or_full_disk_leaves_no_partial_backup() {
    let _again = rerun_hint();
    let (from, store) = source();
    let first = SimDisk::new();
    let earlier = SimDisk::new();
    back_up(&from, &earlier).unwrap();
    let before = held(&earlier);
    go_on(&store);
    let after = held(&from);
    let names = |disk: &SimDisk| -> Vec<FileName> {
        disk.contents().into_iter().map(|(name, _)| name).collect()
    };
    for (to, is_first) in [(first, true), (earlier, false)] {
        for options in [options(), options().copy(true)] {
            for (strikes, kind) in
                [(FaultTarget::Space, ErrorKind::StorageFull), (FaultTarget::Any, ErrorKind::Other)]
            {
                let mut failed = 0;
                for nth in (1..).step_by(if strikes == FaultTarget::Any { 2 * every() } else { 1 })
                {
                    let to = to.crash_all_kept();
                    to.fail(DiskFault { target: strikes, nth, kind, lasting: false });
                    let Err(error) = backup(on(&from), on(&to), options.clone()) else {
                        // After a fault without effect, later ones have an effect.
                        to.heal();
                        if held(&to).0 == after.0 && failed > 0 {
                            break;
                        }
                        continue;
                    };
                    failed += 1;
                    to.heal();
                    let what = format!("{strikes:?} {nth}: {error}");
                    if kind == ErrorKind::StorageFull {
                        let full = std::io::Error::from(kind).to_string();
                        assert!(error.to_string().contains(&full), "{what}");
                    }
                    match Reader::open(on(&to)) {
                        Err(_) => {
                            assert!(is_first, "{what}: the earlier backup is gone");
                            // A lock file that was created but not locked is empty.
                            let left = names(&to);
                            assert!(
                                left.iter().all(|name| *name == FileName::Lock),
                                "{what}: {left:?}"
                            );
                        }
                        Ok(_) => {
                            let found = held(&to).0;
                            let is_one = found == after.0 || !is_first && found == before.0;
                            assert!(is_one, "{what}: another state");
                        }
                    }
                    let again = backup(on(&from), on(&to), options.clone());
                    again.unwrap_or_else(|e| panic!("{what}: again: {e}"));
                    assert!(held(&to) == after, "{what}: again");
                    check_files(&to);
                }
            }
        }
    }
}
