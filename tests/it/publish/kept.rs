//! Files of earlier generations: when they are read again, and how damaged ones are replaced.

use super::damage::damage;
use super::*;

const DAY: i64 = 24 * 60 * 60 * 1000;
const BEGIN: i64 = 1_700_000_000_000;

/// A directory with copies of the files of a store, published at [`BEGIN`].
fn copied() -> (SimDisk, Store, SimDisk) {
    let (from, store) = source();
    let to = SimDisk::new();
    to.set_clock(BEGIN);
    let made = store.publish(on(&to), options().copy(true)).unwrap();
    let all = names(&to, Dir::Files).len() as u64;
    assert_eq!((made.checked.files, made.unchecked.files, made.replaced.files), (all, 0, 0));
    (from, store, to)
}

fn published_at(store: &Store, to: &SimDisk, ms: i64) -> Publication {
    to.set_clock(ms);
    store.publish(on(to), options().copy(true)).unwrap()
}

#[test]
fn damaged_kept_file_is_replaced_from_the_store() {
    let (_from, store, to) = copied();
    let before = generation(&to, 1);
    store.observe(Observation::gone(URLS[0], ms(5_000))).unwrap();
    for name in names(&to, Dir::Files) {
        damage(&to, name);
        let made = published_at(&store, &to, BEGIN + 1);
        assert_eq!(
            made.replaced.files,
            u64::from(matches!(name, FileName::PublishedDf(_))),
            "{name}"
        );
        let made = store.publish(on(&to), options().check_kept(true)).unwrap();
        let all = names(&to, Dir::Files).len() as u64;
        assert_eq!((made.checked.files, made.unchecked.files), (all, 0), "{name}");
        assert_eq!(
            made.replaced.files,
            u64::from(matches!(name, FileName::PublishedSegment(_))),
            "{name}"
        );
        assert!(made.copied.files >= made.replaced.files);
        assert!(generation(&to, 1) == before && generation(&to, 2) == sealed(&store), "{name}");
    }
}

#[test]
fn each_kept_file_is_read_once_in_thirty_days() {
    let (_from, store, to) = copied();
    let all = names(&to, Dir::Files).len() as u64;
    let segment = *names(&to, Dir::Files)
        .iter()
        .find(|n| matches!(n, FileName::PublishedSegment(_)))
        .unwrap();
    damage(&to, segment);
    let (mut read, mut replaced) = (0, 0);
    for day in 1..=30 {
        let made = published_at(&store, &to, BEGIN + day * DAY);
        assert!(!made.is_new);
        assert_eq!(made.checked.files + made.unchecked.files, all, "{day}");
        read += made.checked.files;
        replaced += made.replaced.files;
    }
    assert_eq!((read, replaced), (all, 1));
    check(on(&to), 1, &Progress::default()).unwrap();
    // Nothing is published for a while, so all files are overdue.
    let made = published_at(&store, &to, BEGIN + 75 * DAY);
    assert_eq!((made.checked.files, made.unchecked.files), (all, 0));
    let made = published_at(&store, &to, BEGIN + 75 * DAY + 1);
    assert_eq!((made.checked.files, made.unchecked.files), (0, all));
    // The clock was set back.
    let made = published_at(&store, &to, BEGIN);
    assert_eq!(made.unchecked.files, 0);
}

#[test]
fn files_without_check_records_are_read() {
    let (_from, store, to) = copied();
    let all = names(&to, Dir::Files).len() as u64;
    let read = |to: &SimDisk| published_at(&store, to, BEGIN + 1).checked.files;
    assert_eq!(read(&to), 0);
    let without = to.crash_all_kept();
    without.remove(FileName::Checked).unwrap();
    assert_eq!((read(&without), read(&without)), (all, 0));
    let damaged = to.crash_all_kept();
    damage(&damaged, FileName::Checked);
    assert_eq!((read(&damaged), read(&damaged)), (all, 0));
    // Readers do not need it.
    without.remove(FileName::Checked).unwrap();
    assert_eq!(Reader::published(on(&without), None).unwrap().generation(), Some(1));
}

#[test]
fn link_to_a_damaged_store_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let (path, to) = (dir.path().join("a"), dir.path().join("b"));
    let store = Store::create(&path, small()).unwrap();
    store.observe(Observation::gone(URLS[0], ms(1))).unwrap();
    assert_eq!(store.publish(&to, options()).unwrap().linked.files, 1);
    store.close().unwrap();
    let segment = std::fs::read_dir(path.join("segments")).unwrap().next().unwrap().unwrap();
    let mut bytes = std::fs::read(segment.path()).unwrap();
    bytes[70] ^= 4;
    let open = std::fs::OpenOptions::new().write(true).open(segment.path()).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&open, &bytes, 0).unwrap();
    for _ in 0..2 {
        let error = publish(&path, &to, options().check_kept(true)).unwrap_err();
        let name = format!("segments/{}", segment.file_name().display());
        assert!(matches!(&error, Error::Corrupt(flaw) if flaw.file == name), "{error}");
        assert_eq!(generations(&to).unwrap().len(), 1);
        assert_eq!(std::fs::read_dir(to.join("files")).unwrap().count(), 1);
    }
}

#[test]
fn damaged_leftover_of_a_stopped_run_is_replaced() {
    let (_from, store) = source();
    let to = SimDisk::new();
    to.fail(DiskFault {
        target: FaultTarget::Only(OpKind::SyncDir(Dir::Generations)),
        nth: 1,
        kind: ErrorKind::Other,
        lasting: false,
    });
    store.publish(on(&to), options().copy(true)).unwrap_err();
    to.heal();
    to.remove(FileName::Generation(1)).unwrap_or_default();
    let segment = *names(&to, Dir::Files)
        .iter()
        .find(|n| matches!(n, FileName::PublishedSegment(_)))
        .unwrap();
    damage(&to, segment);
    let made = store.publish(on(&to), options().copy(true)).unwrap();
    assert_eq!(made.replaced.files, 1);
    assert!(generation(&to, made.generation) == sealed(&store));
}

#[test]
fn publish_reports_whether_older_generations_have_forgotten_pages() {
    let to = SimDisk::new();
    let store = create(&SimDisk::new(), small());
    let visit = |n: i64| {
        let url = format!("https://forgotten.example/{n}");
        store.observe(Observation::gone(&url, ms(1_000 + n))).unwrap();
    };
    let forgotten = || store.publish(on(&to), options()).unwrap().forgotten;
    (0..20).for_each(visit);
    assert_eq!(forgotten(), Some(false));
    (20..30).for_each(visit);
    assert_eq!(forgotten(), Some(false));
    // All operations are visits, so none of them is a forget operation.
    store.merge(&Progress::default()).unwrap();
    assert_eq!(forgotten(), Some(false));
    store.publish(on(&to), strict(1)).unwrap();
    store.forget(Scope::Url("https://forgotten.example/3")).unwrap();
    visit(40);
    assert_eq!(forgotten(), Some(true));
    store.publish(on(&to), strict(1)).unwrap();
    let prefix = "forgotten.example/1".parse().unwrap();
    store.forget(Scope::Prefix(prefix)).unwrap();
    assert_eq!(forgotten(), Some(true));
    // Without its record, the lower number of visits shows it.
    store.merge(&Progress::default()).unwrap();
    assert_eq!(forgotten(), Some(true));
    let made = store.publish(on(&to), strict(1)).unwrap();
    assert_eq!((made.older.len(), made.forgotten), (0, Some(false)));
    // One page is forgotten and one is added, merged into one segment.
    store.forget(Scope::Url("https://forgotten.example/5")).unwrap();
    visit(50);
    store.seal().unwrap();
    store.merge(&Progress::default()).unwrap();
    assert_eq!(forgotten(), None);
}
