//! Published generations: they are states of the store, never change, and some of them are kept.

mod coming;
mod crash;
mod damage;
mod kept;
mod refused;

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use simkeep::disk::{Access, Dir, Disk, DiskFault, FaultTarget, FileName, Meter, OpKind, SimDisk};
use simkeep::publish::{
    Publication, PublishOptions, check, check_file, files, fingerprints, generations,
    generations_with, is_published, publish,
};
use simkeep::{EpochInfo, Error, Observation, Origin, Progress, Reader, Result, Scope, Store};
use simkeep_testing::compare::dump;
use simkeep_testing::disks::HookDisk;
use simkeep_testing::model::Model;
use simkeep_testing::pages::URLS;
use simkeep_testing::{create, ms, on, small};

use crate::backup::{crawl, go_on, segments, source};

fn options() -> PublishOptions {
    PublishOptions::default()
}

/// Unneeded generations are removed at once.
fn strict(keep: usize) -> PublishOptions {
    options().keep(keep).grace(Duration::ZERO)
}

/// The contents of a snapshot: its visits, its epochs, its last operation.
type SnapshotContents = (Model, Vec<EpochInfo>, u64);

fn held(reader: &Reader) -> SnapshotContents {
    let snapshot = reader.snapshot();
    (dump(&snapshot).unwrap(), snapshot.epochs().to_vec(), snapshot.sequence())
}

fn generation(disk: &SimDisk, number: u64) -> SnapshotContents {
    check(on(disk), number, &Progress::default()).unwrap();
    held(&Reader::published(on(disk), number).unwrap())
}

fn sealed(store: &Store) -> SnapshotContents {
    store.seal().unwrap();
    let snapshot = store.snapshot();
    (dump(&snapshot).unwrap(), snapshot.epochs().to_vec(), snapshot.sequence())
}

fn numbers(disk: &SimDisk) -> Vec<u64> {
    generations(on(disk)).unwrap().iter().map(|of| of.number).collect()
}

/// Whether an error reports a missing file.
fn is_missing(error: &Error, name: &str) -> bool {
    matches!(error, Error::Io { file, source, .. } if file == name && source.kind() == ErrorKind::NotFound)
}

fn names(disk: &SimDisk, dir: Dir) -> Vec<FileName> {
    let names = disk.contents().into_iter().map(|(name, _)| name);
    names.filter(|name| name.dir() == dir).collect()
}

#[test]
fn generation_is_the_sealed_state_and_never_changes() {
    let (from, store) = source();
    let to = SimDisk::new();
    let first = store.publish(on(&to), options()).unwrap();
    let before = sealed(&store);
    assert_eq!(
        (first.generation, first.is_new, first.sequence, first.unsealed),
        (1, true, before.2, 0)
    );
    assert!(generation(&to, 1) == before);
    let files = segments(&from).len() as u64 + 1;
    assert_eq!((first.linked.files, first.copied.files, first.kept.files), (files, 0, 0));
    go_on(&store);
    let second = store.publish(on(&to), options()).unwrap();
    let after = sealed(&store);
    assert!(after != before);
    assert_eq!((second.generation, &second.older[..]), (2, &[1][..]));
    assert!(second.kept.files > 0 && second.linked.files > 0, "{second:?}");
    assert!(generation(&to, 1) == before && generation(&to, 2) == after);
    // No file of the store is needed.
    drop(store);
    from.contents().into_iter().for_each(|(name, _)| from.remove(name).unwrap());
    assert!(generation(&to, 1) == before && generation(&to, 2) == after);
    let all = generations(on(&to)).unwrap();
    assert_eq!(all.iter().map(|of| of.sequence).collect::<Vec<_>>(), [before.2, after.2]);
    assert!(all.iter().all(|of| of.store == all[0].store));
    let count = second.kept.files + second.linked.files;
    assert_eq!((all[0].files.files, all[1].files.files), (files, count));
}

#[test]
fn publish_during_writing_reports_the_unsealed_operations() {
    let (from, store) = source();
    let to = SimDisk::new();
    let stats = store.stats().unwrap();
    let made = publish(on(&from), on(&to), options()).unwrap();
    assert!(made.unsealed > 0 && made.unsealed >= stats.unsealed_visits, "{made:?} {stats:?}");
    assert_eq!(made.sequence + made.unsealed, store.snapshot().sequence());
    assert_eq!(generation(&to, 1).2, made.sequence);
    store.seal().unwrap();
    let made = publish(on(&from), on(&to), options()).unwrap();
    assert_eq!((made.generation, made.unsealed), (2, 0));
    assert!(generation(&to, 2) == sealed(&store));
    store.close().unwrap();
    let again = publish(on(&from), on(&to), options()).unwrap();
    assert_eq!((again.generation, again.is_new, again.linked.files), (2, false, 0));
}

#[test]
fn old_generations_are_removed_after_count_and_grace() {
    let (_from, store) = source();
    let to = SimDisk::new();
    for at in 0..4 {
        store.observe(Observation::gone(URLS[0], ms(2_000 + at))).unwrap();
        store.publish(on(&to), options().keep(2)).unwrap();
    }
    // No generation is a day old.
    assert_eq!(numbers(&to), [1, 2, 3, 4]);
    let made = store.publish(on(&to), strict(3)).unwrap();
    assert_eq!((made.is_new, &made.removed[..], &made.older[..]), (false, &[1][..], &[2, 3][..]));
    store.merge(&Progress::default()).unwrap();
    let made = store.publish(on(&to), strict(1)).unwrap();
    assert_eq!((made.generation, &made.removed[..], &made.older[..]), (5, &[2, 3, 4][..], &[][..]));
    assert_eq!((numbers(&to), made.kept.files), (vec![5], 1));
    // One segment and a table.
    assert_eq!(names(&to, Dir::Files).len(), 2);
    assert!(made.removed_files > 0);
    assert!(generation(&to, 5) == sealed(&store));
}

#[test]
fn generations_that_have_a_purged_page_are_named() {
    const NAME: &str = "a-name-of-its-own";
    let (_from, store) = source();
    let to = SimDisk::new();
    let url = format!("https://purged.example/{NAME}");
    let page = Scope::Url(&url);
    store.observe(Observation::gone(&url, ms(2_000))).unwrap();
    store.publish(on(&to), options()).unwrap();
    store.observe(Observation::gone(URLS[3], ms(2_001))).unwrap();
    store.publish(on(&to), options()).unwrap();
    store.purge(page.clone(), &Progress::default()).unwrap();
    store.publish(on(&to), options()).unwrap();
    assert_eq!(generations_with(on(&to), &page).unwrap(), [1, 2]);
    assert!(generations_with(on(&to), &Scope::Url("https://nowhere.example/")).unwrap().is_empty());
    let bytes = |disk: &SimDisk| {
        let mut found = false;
        disk.read_each(|_, bytes| {
            found |= bytes.windows(NAME.len()).any(|at| at == NAME.as_bytes())
        });
        found
    };
    assert!(bytes(&to));
    store.publish(on(&to), strict(1)).unwrap();
    assert!(generations_with(on(&to), &page).unwrap().is_empty());
    assert!(!bytes(&to));
}

#[test]
fn reader_follows_the_newest_generation_or_stays_pinned() {
    let (_from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options()).unwrap();
    let mut newest = Reader::published(on(&to), None).unwrap();
    let mut pinned = Reader::published(on(&to), 1).unwrap();
    assert!(newest.written().is_some() && !newest.fell_back());
    assert!(!newest.refresh().unwrap() && !pinned.refresh().unwrap());
    let before = held(&pinned);
    go_on(&store);
    store.publish(on(&to), strict(1)).unwrap();
    assert_eq!(newest.behind(), pinned.behind());
    assert!(newest.behind() > 0);
    assert!(newest.refresh().unwrap() && !pinned.refresh().unwrap());
    assert_eq!((newest.generation(), pinned.generation(), newest.behind()), (Some(2), Some(1), 0));
    // Its files are removed, but it has them open.
    assert!(held(&newest) == sealed(&store) && held(&pinned) == before);
    assert_eq!(newest.stats().unwrap().catalog_bytes, 0);
    assert!(
        Reader::published(on(&to), 1).unwrap_err().to_string().contains("generations/0000000001")
    );
}

#[test]
fn published_files_have_stable_names_and_are_written_once() {
    let (_from, store) = source();
    let to = SimDisk::new();
    let meter = Meter::counting(on(&to));
    let disk = || Arc::new(meter.clone()) as Arc<dyn Disk>;
    store.publish(disk(), options()).unwrap();
    let mut before = to.contents();
    // The record of file checks is not one of them.
    before.retain(|(name, _)| *name != FileName::Checked);
    go_on(&store);
    store.publish(disk(), options()).unwrap();
    let written = meter.counts().bytes_written;
    assert!(written < 10_000, "{written}");
    let after = to.contents();
    assert!(before.iter().all(|file| after.contains(file)));
    for name in names(&to, Dir::Files) {
        assert!(matches!(name, FileName::PublishedSegment(_) | FileName::PublishedDf(_)), "{name}");
    }
}

#[test]
fn tables_are_published_with_their_epochs() {
    let (_from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options()).unwrap();
    let (here, there) = (store.snapshot(), Reader::published(on(&to), 1).unwrap().snapshot());
    let epoch = here.epochs().iter().find(|info| here.table_file(info.epoch).is_some());
    let epoch = epoch.unwrap().epoch;
    let origin = |snapshot: &simkeep::Snapshot| Origin::of(snapshot, epoch).unwrap().unwrap();
    assert_eq!(origin(&here).name(), origin(&there).name());
    let file = there.table_file(epoch).unwrap();
    assert!(file.starts_with("files/") && file.ends_with(".df"), "{file}");
    // The table is removed with its epoch, but the older generation keeps it.
    go_on(&store);
    store.publish(on(&to), options()).unwrap();
    assert_eq!(
        origin(&there).name(),
        origin(&Reader::published(on(&to), 1).unwrap().snapshot()).name()
    );
    assert_eq!(Reader::published(on(&to), 2).unwrap().snapshot().table_file(epoch), None);
}

#[test]
fn file_removed_while_publishing_is_copied_while_open() {
    let (from, store) = source();
    store.seal().unwrap();
    let whole = sealed(&store);
    let (to, gone) = (SimDisk::new(), from.clone());
    let disk = HookDisk::new(on(&to), move |kind, _| {
        if kind == OpKind::Link {
            segments(&gone).into_iter().for_each(|name| gone.remove(name).unwrap());
        }
    });
    let made = store.publish(Arc::new(disk) as Arc<dyn Disk>, options()).unwrap();
    assert!(made.copied.files > 0 && made.not_linked.is_none(), "{made:?}");
    assert!(generation(&to, 1) == whole);
}

#[test]
fn cancelled_publish_is_completed_by_the_next_run() {
    let (from, store) = source();
    let to = SimDisk::new();
    let progress = Progress::default();
    let (stop, seen) = (progress.clone(), std::sync::atomic::AtomicU32::new(0));
    let disk = HookDisk::new(on(&to), move |did, _| {
        if did == OpKind::Write && seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 2 {
            stop.cancel();
        }
    });
    let stopped = publish(
        on(&from),
        Arc::new(disk) as Arc<dyn Disk>,
        options().copy(true).progress(progress),
    );
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    assert!(matches!(generations(on(&to)), Err(Error::NotAStore { .. })));
    let made = store.publish(on(&to), options().copy(true)).unwrap();
    assert!(made.kept.files > 0, "{made:?}");
    assert!(generation(&to, 1) == sealed(&store));
}

#[test]
fn store_loaded_from_a_generation_has_its_tables() {
    let (_from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options()).unwrap();
    let there = Reader::published(on(&to), 1).unwrap().snapshot();
    let own = SimDisk::new();
    let other = create(&own, small());
    other.copy_from(&there, simkeep::load::LoadOptions::default()).unwrap();
    let snapshot = other.snapshot();
    let named = |info: &&EpochInfo| there.table_file(info.epoch).is_some();
    let name = &there.epochs().iter().find(named).unwrap().name;
    let here = snapshot.epochs().iter().find(|info| info.name == *name).unwrap();
    assert!(Origin::of(&snapshot, here.epoch).unwrap().is_some());
    let pages = Reader::published(on(&to), 1).unwrap().stats().unwrap().pages;
    assert_eq!(other.stats().unwrap().pages, pages);
}

#[test]
fn generation_that_arrives_before_its_files_is_skipped() {
    let (_from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options()).unwrap();
    let before: Vec<FileName> = names(&to, Dir::Files);
    go_on(&store);
    store.publish(on(&to), options()).unwrap();
    let mirror = SimDisk::of(to.contents());
    let newer: Vec<FileName> =
        names(&to, Dir::Files).into_iter().filter(|name| !before.contains(name)).collect();
    newer.iter().for_each(|name| mirror.remove(*name).unwrap());
    let mut reader = Reader::published(on(&mirror), None).unwrap();
    assert_eq!((reader.generation(), reader.refresh().unwrap()), (Some(1), false));
    let error = Reader::published(on(&mirror), 2).unwrap_err();
    assert!(error.to_string().contains("files/"), "{error}");
    // The files arrive.
    let arrived = SimDisk::of(to.contents());
    assert_eq!(Reader::published(on(&arrived), None).unwrap().generation(), Some(2));
    // Without any generation, the newest one reports the missing file.
    names(&mirror, Dir::Files).into_iter().for_each(|name| mirror.remove(name).unwrap());
    let error = Reader::published(on(&mirror), None).unwrap_err();
    assert!(error.to_string().contains("files/"), "{error}");
}

#[test]
fn generation_lists_its_files_before_they_arrive() {
    let (_from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options().copy(true)).unwrap();
    go_on(&store);
    store.publish(on(&to), options().copy(true)).unwrap();
    let alone = to.crash_all_kept();
    for name in names(&to, Dir::Files) {
        alone.remove(name).unwrap();
    }
    let mut named = Vec::new();
    for info in generations(on(&alone)).unwrap() {
        let listed = files(on(&alone), info.number).unwrap();
        assert_eq!(listed, files(on(&to), info.number).unwrap());
        assert_eq!(listed.len() as u64, info.files.files);
        assert_eq!(listed.iter().map(|file| file.bytes).sum::<u64>(), info.files.bytes);
        named.extend(listed);
        let snapshot = Reader::published(on(&to), info.number).unwrap().snapshot();
        assert_eq!(info.epochs, snapshot.epochs());
        assert_eq!(info.near_epoch, snapshot.near_epoch());
    }
    for name in names(&to, Dir::Files) {
        let bytes = to.open(name, Access::Read).unwrap().size().unwrap();
        let file = named.iter().find(|file| file.name == name.to_string()).unwrap();
        assert_eq!(file.bytes, bytes);
    }
    let error = files(on(&alone), 3).unwrap_err();
    assert!(is_missing(&error, "generations/0000000003"), "{error}");
    assert!(matches!(files(on(&SimDisk::new()), 1), Err(Error::NotAStore { .. })));
}

#[test]
fn fingerprints_are_counted_from_segment_ends_alone() {
    let (_from, store) = source();
    let to = SimDisk::new();
    store.publish(on(&to), options().copy(true)).unwrap();
    go_on(&store);
    let made = store.publish(on(&to), options().copy(true)).unwrap();
    let snapshot = Reader::published(on(&to), made.generation).unwrap().snapshot();
    // Only the ends have arrived.
    let ends = to.crash_all_kept();
    for name in names(&to, Dir::Files) {
        if matches!(name, FileName::PublishedDf(_)) {
            ends.remove(name).unwrap();
            continue;
        }
        let file = ends.open(name, Access::Write).unwrap();
        let bytes = file.size().unwrap();
        // The trailer has the position of the table.
        let mut table = [0; 8];
        file.read_at(bytes - 48, &mut table).unwrap();
        let middle = usize::try_from(u64::from_le_bytes(table) - 64).unwrap();
        file.write_at(64, &vec![0; middle]).unwrap();
    }
    let mut some = 0;
    for info in snapshot.epochs() {
        let count = fingerprints(on(&ends), made.generation, info.epoch).unwrap();
        assert_eq!(count, snapshot.fingerprints(info.epoch), "{}", info.name);
        some += count;
    }
    assert!(some > 0);
    let segment = *names(&ends, Dir::Files).last().unwrap();
    let other = ends.crash_all_kept();
    let file = other.open(segment, Access::Write).unwrap();
    file.write_at(file.size().unwrap() - 1, &[0x5a]).unwrap();
    let error = fingerprints(on(&other), made.generation, snapshot.near_epoch()).unwrap_err();
    assert!(matches!(&error, Error::Corrupt(flaw) if flaw.file == segment.to_string()), "{error}");
    ends.remove(segment).unwrap();
    let error = fingerprints(on(&ends), made.generation, snapshot.near_epoch()).unwrap_err();
    assert!(is_missing(&error, &segment.to_string()), "{error}");
}

/// A writer at full speed publishes one generation after another, and old ones are removed.
/// Meanwhile readers of some generations query them repeatedly.
#[test]
fn readers_answer_consistently_while_generations_change() {
    let rounds = simkeep_testing::depth::deep(50).max(5);
    let to = SimDisk::new();
    let store = create(&SimDisk::new(), small());
    store.observe(Observation::gone(URLS[0], ms(1))).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            // Enough data for repeated reading in between.
            for seed in 100..100 + 30 * rounds {
                if done.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                crawl(&store, seed, 20);
            }
        });
        let mut pinned: Vec<(Reader, SnapshotContents)> = Vec::new();
        for round in 1..=rounds {
            // There is something new, also after the writer has ended.
            store.observe(Observation::gone(URLS[0], ms(1_000_000 + round.cast_signed()))).unwrap();
            let made = store.publish(on(&to), strict(3)).unwrap();
            let reader = Reader::published(on(&to), made.generation).unwrap();
            let now = held(&reader);
            assert_eq!(now.2, made.sequence);
            pinned.push((reader, now));
            for (reader, then) in pinned.iter().rev().take(4) {
                assert!(held(reader) == *then, "{round}");
            }
            assert_eq!(Reader::published(on(&to), None).unwrap().generation(), Some(round));
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        writer.join().unwrap();
        for (reader, then) in &pinned {
            assert!(held(reader) == *then);
        }
    });
    assert_eq!(numbers(&to), [rounds - 2, rounds - 1, rounds]);
}

#[test]
fn published_files_are_shared_and_keep_store_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let (path, to) = (dir.path().join("a"), dir.path().join("deep/er/b"));
    let store = Store::create(&path, simkeep::Options::default().file_mode(0o640)).unwrap();
    store.observe(Observation::gone(URLS[0], ms(1))).unwrap();
    let made = store.publish(&to, options()).unwrap();
    assert_eq!((made.linked.files, made.copied.files), (1, 0));
    let mode = |name: &str| to.join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(["", "files", "generations"].map(mode), [0o750; 3]);
    assert_eq!(mode("generations/0000000001"), 0o640);
    // A copy of the directory by another tool is read alike, also without the lock file.
    let copy = dir.path().join("copy");
    assert!(
        std::process::Command::new("cp").arg("-r").args([&to, &copy]).status().unwrap().success()
    );
    std::fs::remove_file(copy.join("LOCK")).unwrap();
    for at in [&to, &copy] {
        let location = simkeep::Location::from(at).plain_reads();
        assert_eq!(Reader::published(location, None).unwrap().stats().unwrap().pages, 1);
    }
    assert!(is_published(&to).unwrap() && is_published(&copy).unwrap());
}
