//! System calls that are done in part: interrupted by a signal, or writing fewer bytes than they were
//! given.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;

use simkeep::{Options, Store};

use super::child::ChildProcess;
use super::crawl::{self, CrawlState};
use super::full_disk;
use super::scene::{TestScene, say, text};
use super::strace::may_trace;
use simkeep_testing::{choice, sound};

/// Once the program is loaded, each second one of these calls is interrupted before it does anything. A
/// system may interrupt any call that takes long, most of all on a network file system.
const INTERRUPTED: [&str; 5] = ["pread64", "pwrite64", "fsync", "fdatasync", "ftruncate"];

#[test]
fn interrupted_calls_are_repeated() {
    if !may_trace() {
        return;
    }
    let scene = TestScene::new("interrupted_calls_are_repeated");
    let (store, out) = (scene.path("crawl.simkeep"), scene.path("trace"));
    crawl::create(&store);
    let calls = INTERRUPTED.join(",");
    let inject = format!("--inject={calls}:error=EINTR:when=9+2");
    let trace = format!("--trace={calls}");
    // The tracer is not the parent, so the kill hits the child.
    let tracer = ["strace", "-D", "-f", &trace, &inject, "-o", text(&out)];
    let mut child =
        ChildProcess::start_under(&tracer, "crawl", &[&store.display(), &scene.seed, &0]);
    let mut said = Vec::new();
    while crawl::acknowledged(&said).is_none_or(|acknowledged| acknowledged < 300) {
        said.push(child.receive().expect("it ended"));
    }
    said.extend(child.kill());

    let lines = fs::read(out).unwrap();
    let lines = String::from_utf8_lossy(&lines);
    let mut interrupted = BTreeMap::new();
    for line in lines.lines().filter(|line| line.contains("(INJECTED)")) {
        let call = INTERRUPTED.into_iter().find(|call| line.contains(call));
        *interrupted.entry(call.unwrap()).or_insert(0) += 1;
    }
    say(format!("interrupted, and made again: {interrupted:?}"));
    assert!(interrupted["pwrite64"] > 100 && interrupted["fdatasync"] > 100, "{interrupted:?}");
    let store = Store::open(&store, crawl::options()).unwrap();
    let acknowledged = crawl::acknowledged(&said).unwrap();
    CrawlState::new(scene.seed).recognise(&store, acknowledged, true);
    sound(&store).unwrap();
}

#[test]
fn partial_write_that_cannot_continue_loses_nothing() {
    let scene = TestScene::new("partial_write_that_cannot_continue_loses_nothing");
    let mut choice = choice(scene.seed);
    let mut ends = Vec::new();
    for round in 0..3 {
        let path = scene.path(&format!("{round}.simkeep"));
        // No file may grow beyond this size: of a write across it, only the part below is done. The
        // signal that would end the process is ignored.
        let blocks = 2400 + choice(2000);
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        let under = ["sh", "-c", &limited, "sh"];
        let mut child =
            ChildProcess::start_under(&under, "fill", &[&path.display(), &choice(u64::MAX)]);
        let (acknowledged, end) = full_disk::fills(&mut child);
        assert_eq!(end, format!("full {:?}", ErrorKind::FileTooLarge));
        child.go_on();
        child.expect("read");
        child.kill();
        let store = Store::open(&path, Options::default()).unwrap();
        ends.push(full_disk::check(&store, acknowledged));
        sound(&store).unwrap();
        store.close().unwrap();
    }
    say(format!("a write was cut short {} times, with {ends:?} pages; none lost", ends.len()));
}
