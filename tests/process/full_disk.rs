//! A store on a real disk that is full still reads, opens and closes, and has all acknowledged
//! operations.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;

use simkeep::{Epoch, Error, Observation, Options, Result, Store};
use simkeep_testing::{choice, ms, sound};

use super::child::{ChildProcess, ParentSocket};
use super::scene::{TestScene, run, say, succeeds, text};

/// Starts a program that may mount file systems that only it and its children see, and that are
/// unmounted when it ends.
const APART: [&str; 2] = ["unshare", "-Urm"];

const DISK_BYTES: u64 = 7 << 20;

const ROUNDS: u64 = 5;

/// Returns the URL of a page: long, and unlike all others.
fn url(n: u64) -> String {
    let mut choice = choice(n);
    let path: String = (0..10).map(|_| format!("/{:x}", choice(u64::MAX))).collect();
    format!("https://example.com/{n}{path}")
}

fn options(choice: &mut impl FnMut(u64) -> u64) -> Options {
    Options::default()
        .memtable_observations(usize::try_from(200 + choice(3000)).unwrap())
        .merge_fanout(2)
}

/// Observes pages from number `from` to `to`, in batches.
fn observe(store: &Store, (from, to): (u64, u64), mut acknowledged: impl FnMut(u64)) -> Result<()> {
    let mut at = from;
    while at < to {
        let end = to.min(at + 1 + at % 60);
        let urls: Vec<String> = (at..end).map(url).collect();
        let batch: Vec<_> = urls
            .iter()
            .zip(at..)
            .map(|(url, n)| {
                Observation::content(url, ms(0), choice(n)(u64::MAX), Epoch::from_number(0))
            })
            .collect();
        store.observe_batch(&batch)?;
        acknowledged(end);
        at = end;
    }
    Ok(())
}

/// Returns the system's error of a failed call.
fn kind(error: &Error) -> Option<ErrorKind> {
    match error {
        Error::Io { source, .. } => Some(source.kind()),
        Error::Poisoned(cause) => kind(cause),
        _ => None,
    }
}

/// Whether an error means that the disk is full.
fn is_full(error: &Error) -> bool {
    kind(error) == Some(ErrorKind::StorageFull)
}

/// Checks that every acknowledged page is there, and no others except those that follow in order.
pub(crate) fn check(store: &Store, acknowledged: u64) -> u64 {
    let pages = store.stats().unwrap().pages;
    assert!(pages >= acknowledged, "{pages} pages of {acknowledged} acknowledged");
    let known: BTreeSet<String> =
        store.snapshot().scan(None).map(|page| page.unwrap().url).collect();
    assert_eq!(known, (0..pages).map(url).collect());
    for n in (0..pages).step_by(17) {
        assert_eq!(store.history(&url(n)).unwrap().len(), 1, "page {n} of {pages}");
    }
    let fingerprint = choice(pages / 2)(u64::MAX);
    assert!(
        store
            .snapshot()
            .near(fingerprint, 3)
            .unwrap()
            .near
            .iter()
            .any(|near| near.url == url(pages / 2))
    );
    pages
}

/// Observes until nothing more can be written, reports the system's error, reads, and waits.
pub(crate) fn fill(parent: &ParentSocket, path: &Path, seed: u64) {
    let store = Store::create(path, options(&mut choice(seed))).unwrap();
    let mut last = 0;
    let full = observe(&store, (0, u64::MAX), |acknowledged| {
        last = acknowledged;
        parent.say(format!("ack {acknowledged}"));
    });
    let error = full.unwrap_err();
    // The failed operation may have been stored.
    check(&store, last);
    assert!(matches!(store.observe(Observation::gone("urn:a", ms(0))), Err(Error::Poisoned(_))));
    parent.say(format!("full {:?}", kind(&error).unwrap_or_else(|| panic!("{error}"))));
    parent.await_word();
    check(&store, last);
    parent.say("read");
    parent.await_word();
    // Closing may report that not all is durable; it must only end.
    let _ = store.close();
    parent.say("closed");
    parent.await_word();
}

/// Listens to a child that [`fill`]s a store. Returns how much was acknowledged, and the child's last
/// line.
pub(crate) fn fills(child: &mut ChildProcess) -> (u64, String) {
    let mut acknowledged = 0;
    loop {
        let said = child.receive().expect("it failed while there was room");
        match said.strip_prefix("ack ") {
            Some(n) => acknowledged = n.parse().unwrap(),
            None => return (acknowledged, said),
        }
    }
}

/// Fills all space that is left.
fn take_the_rest(path: &Path) {
    let mut file = File::create(path).unwrap();
    let mut size = 1 << 20;
    while size > 0 {
        if file.write(&vec![1; size]).is_err() {
            size /= 2;
        }
    }
}

/// Mounts a small disk on a folder, and fills it in several ways.
pub(crate) fn stage(parent: &ParentSocket, dir: &Path, seed: u64) {
    run(&["mount", "-t", "tmpfs", "-o", &format!("size={DISK_BYTES}"), "tmpfs", text(dir)]);
    let mut choice = choice(seed);
    for round in 0..ROUNDS {
        let store_dir = dir.join("crawl.simkeep");
        let (ballast, rest) = (dir.join("ballast"), dir.join("rest"));
        fs::write(&ballast, vec![1; usize::try_from((2 << 20) + choice(1 << 20)).unwrap()])
            .unwrap();
        let mut child = ChildProcess::start("fill", &[&store_dir.display(), &choice(u64::MAX)]);
        let (mut acknowledged, end) = fills(&mut child);
        assert_eq!(end, format!("full {:?}", ErrorKind::StorageFull));
        take_the_rest(&rest);
        child.go_on();
        child.expect("read");
        if round % 2 == 0 {
            child.go_on();
            child.expect("closed");
        }
        child.kill();

        // Opening, reading and closing need no space, twice.
        let mut pages = 0;
        for _ in 0..2 {
            let store = Store::open(&store_dir, options(&mut choice)).unwrap();
            pages = check(&store, acknowledged);
            sound(&store).unwrap();
            store.close().unwrap();
        }
        // Writing fails, and loses nothing.
        let store = Store::open(&store_dir, options(&mut choice)).unwrap();
        let more = observe(&store, (pages, pages + 100_000), |n| acknowledged = n);
        assert!(is_full(&more.unwrap_err()));
        drop(store);

        fs::remove_file(&rest).unwrap();
        fs::remove_file(&ballast).unwrap();
        // There is space for new operations, but perhaps not for a merge of the segments.
        let store = Store::open(&store_dir, options(&mut choice).merge_fanout(1 << 10)).unwrap();
        let pages = check(&store, acknowledged);
        observe(&store, (pages, pages + 500), |n| acknowledged = n).unwrap();
        store.wait_idle().unwrap();
        sound(&store).unwrap();
        store.close().unwrap();
        // A merge that finds no space returns an error, and nothing waits for it.
        let store = Store::open(&store_dir, options(&mut choice)).unwrap();
        assert_eq!(check(&store, acknowledged), acknowledged);
        assert!(store.wait_idle().err().is_none_or(|e| is_full(&e)));
        sound(&store).unwrap();
        store.close().unwrap();
        let store = Store::open(&store_dir, Options::default()).unwrap();
        assert_eq!(check(&store, acknowledged), acknowledged);
        store.close().unwrap();
        parent.say(acknowledged);
        fs::remove_dir_all(&store_dir).unwrap();
    }
}

#[test]
fn c6_full_disk_never_prevents_reading_opening_and_closing() {
    let scene = TestScene::new("full_disk");
    let dir = scene.path("disk");
    fs::create_dir(&dir).unwrap();
    let mut mount = APART.to_vec();
    mount.extend(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", text(&dir)]);
    if !succeeds(&mount) {
        say("skipped: a full disk (mounting one is not allowed here)");
        return;
    }
    let mut stage = ChildProcess::start_under(&APART, "full disk", &[&dir.display(), &scene.seed]);
    let pages: Vec<u64> =
        std::iter::from_fn(|| stage.receive()).map(|n| n.parse().unwrap()).collect();
    assert!(stage.end().success(), "the stage failed");
    say(format!("a disk filled up {} times, with {pages:?} pages; none lost", pages.len()));
    assert_eq!(pages.len() as u64, ROUNDS);
}
