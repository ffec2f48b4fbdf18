//! Files that are truncated or removed while a reader has them open.

use std::fs;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

use simkeep::{Epoch, Error, Observation, Options, Result, Store};
use simkeep_testing::{choice, ms, sound};

use super::child::{ChildProcess, ParentSocket};
use super::scene::{TestScene, say};

const PAGES: u64 = 5000;

/// The signal for touching a mapped page beyond the end of its file.
const SIGBUS: i32 = 7;

/// Opens a store, and reads all of it at each signal of the parent.
pub(crate) fn read(parent: &ParentSocket, path: &Path) {
    let store = Store::open(path, Options::default()).unwrap();
    parent.say("opened");
    while parent.await_word() {
        match read_all(&store) {
            Ok(pages) => parent.say(format!("read {pages}")),
            Err(e) => parent.say(format!("error {e}")),
        }
    }
}

/// Reads every page, its history, and what is near it. Returns how many pages are as expected.
fn read_all(store: &Store) -> Result<u64> {
    let mut pages = 0;
    for page in store.snapshot().scan(None) {
        let page = page?;
        let history = store.history(&page.url)?;
        let near = store.snapshot().near(page.content.unwrap().fingerprint.unwrap(), 3)?.near;
        let found = near.iter().any(|near| near.url == page.url && near.distance == 0);
        pages += u64::from(found && history.len() == 1);
    }
    Ok(pages)
}

/// Makes a store with one segment. Returns its path, and that of the segment.
fn make(scene: &TestScene) -> (PathBuf, PathBuf) {
    let path = scene.path("crawl.simkeep");
    let store = Store::create(&path, Options::default()).unwrap();
    let mut choice = choice(scene.seed);
    let urls: Vec<String> = (0..PAGES).map(|n| format!("https://example.com/{n}")).collect();
    let of = |url| Observation::content(url, ms(0), choice(u64::MAX), Epoch::from_number(0));
    let observations: Vec<_> = urls.iter().map(String::as_str).map(of).collect();
    store.observe_batch(&observations).unwrap();
    store.seal().unwrap();
    store.close().unwrap();
    let segments: Vec<_> = fs::read_dir(path.join("segments")).unwrap().collect();
    let [Ok(segment)] = &segments[..] else { panic!("{segments:?}") };
    let segment = segment.path();
    (path, segment)
}

/// Checks that opening fails with an error that names the file.
fn open_names(path: &Path, segment: &Path) {
    let file = format!("segments/{}", segment.file_name().unwrap().to_str().unwrap());
    match Store::open(path, Options::default()) {
        Err(e @ (Error::Corrupt(_) | Error::Io { .. })) => {
            assert!(e.to_string().contains(&file), "{e}");
        }
        Err(e) => panic!("another error: {e}"),
        Ok(_) => panic!("a damaged store was opened"),
    }
}

fn is_whole(path: &Path) {
    let store = Store::open(path, Options::default()).unwrap();
    sound(&store).unwrap();
    assert_eq!(read_all(&store).unwrap(), PAGES);
    store.close().unwrap();
}

#[test]
fn segment_truncated_under_a_reader_is_named_on_open() {
    let scene = TestScene::new("truncated");
    let (path, segment) = make(&scene);
    let bytes = fs::read(&segment).unwrap();
    let len = bytes.len() as u64;
    assert!(len > 20 * 4096, "{len}");
    let mut choice = choice(scene.seed);
    let mut lengths = vec![0, 1, 4096, len / 2, len - 4096, len - 1];
    lengths.extend((0..6).map(|_| choice(len)));
    let (mut signals, mut errors) = (0, 0);
    for cut in lengths {
        let mut child = ChildProcess::start("read", &[&path.display()]);
        child.expect("opened");
        if choice(2) == 0 {
            child.go_on();
            child.expect(&format!("read {PAGES}"));
        }
        let file = fs::File::options().write(true).open(&segment).unwrap();
        file.set_len(cut).unwrap();
        child.go_on();
        match child.receive() {
            Some(said) if said.starts_with("error ") => {
                assert!(said.contains("segments/"), "{said}");
                errors += 1;
                child.kill();
            }
            // A map extends to the end of a memory page, and is zero there.
            Some(said) => {
                assert!(len - cut < 2 * 4096, "cut to {cut} of {len}, and {said}");
                child.kill();
            }
            None => {
                assert_eq!(child.end().signal(), Some(SIGBUS), "cut to {cut} of {len}");
                signals += 1;
            }
        }
        open_names(&path, &segment);
        file.write_all_at(&bytes, 0).unwrap();
        is_whole(&path);
    }
    say(format!(
        "12 segments cut off under a reader: {signals} ended by a signal, {errors} errors"
    ));
    assert!(signals > 0);
}

#[test]
fn segment_removed_under_a_reader_is_named_on_open() {
    let scene = TestScene::new("truncated");
    let (path, segment) = make(&scene);
    let bytes = fs::read(&segment).unwrap();
    let mut child = ChildProcess::start("read", &[&path.display()]);
    child.expect("opened");
    fs::remove_file(&segment).unwrap();
    child.go_on();
    child.expect(&format!("read {PAGES}"));
    child.kill();
    open_names(&path, &segment);
    fs::write(&segment, &bytes).unwrap();
    is_whole(&path);
}
