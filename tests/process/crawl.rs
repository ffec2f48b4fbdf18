//! The crawler that is killed: one thread that does the operations of a known sequence, and reports when
//! each is acknowledged.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use simkeep::disk::{Access, FileName, OpKind, RealDisk};
use simkeep::{Epoch, Observation, Options, Progress, Role, Scope, Store};

use super::child::ParentSocket;
use simkeep_testing::compare::{check_counts, dump};
use simkeep_testing::disks::HookDisk;
use simkeep_testing::model::Model;
use simkeep_testing::pages::{PREFIXES, URLS};
use simkeep_testing::{EPOCHS, choice, ms, observation, small};

/// One operation.
#[derive(Debug)]
enum CrawlStep {
    Observe(Observation<'static>),
    Forget(&'static str),
    ForgetUnder(usize),
    Purge(&'static str),
}

/// Returns operation number `n`, the same in every process.
fn step(seed: u64, n: u64) -> CrawlStep {
    let mut choice = choice(choice(seed)(u64::MAX) ^ n);
    let below =
        |choice: &mut dyn FnMut(u64) -> u64, n: usize| usize::try_from(choice(n as u64)).unwrap();
    match choice(240) {
        0..4 => CrawlStep::Forget(URLS[below(&mut choice, URLS.len())]),
        4..8 => CrawlStep::ForgetUnder(below(&mut choice, PREFIXES.len())),
        8 => CrawlStep::Purge(URLS[below(&mut choice, URLS.len())]),
        _ => CrawlStep::Observe(observation(&mut choice, URLS.len() as u64, n.cast_signed())),
    }
}

fn take(store: &Store, step: &CrawlStep) {
    match step {
        CrawlStep::Observe(observation) => drop(store.observe(*observation).unwrap()),
        CrawlStep::Forget(url) => drop(store.forget(Scope::Url(url)).unwrap()),
        CrawlStep::ForgetUnder(n) => {
            store.forget(Scope::Prefix(PREFIXES[*n].prefix())).unwrap();
        }
        CrawlStep::Purge(url) => drop(store.purge(Scope::Url(url), &Progress::default()).unwrap()),
    }
}

/// The crawler's options: it seals every 16 observations, and merges two segments at a time.
pub(crate) fn options() -> Options {
    small().background(true)
}

/// Makes a new store for the crawler.
pub(crate) fn create(path: &Path) {
    let store = Store::create(path, options()).unwrap();
    store.register_epoch(EPOCHS[1], Role::Both).unwrap();
    store.close().unwrap();
}

/// Does operations from number `from` on until it is killed.
///
/// Reports `recovering` before each change of the disk while the store is opened, then `opened`; `begin
/// ID` before segment ID is begun, `write ID` before each change of it and `rename ID` before it gets
/// its name; and `ack N` when N operations are acknowledged.
pub(crate) fn crawl(parent: &ParentSocket, path: &Path, seed: u64, from: u64) {
    let opening = Arc::new(AtomicBool::new(true));
    let disk = {
        let (parent, opening) = (parent.clone(), Arc::clone(&opening));
        HookDisk::new(Arc::new(RealDisk::new(path)), move |kind, name| {
            if opening.load(Ordering::Relaxed) {
                parent.say("recovering");
            }
            if let Some(FileName::SegmentNew(id)) = name {
                match kind {
                    OpKind::Open(Access::Create) => parent.say(format!("begin {id}")),
                    OpKind::Rename(_) => parent.say(format!("rename {id}")),
                    _ => parent.say(format!("write {id}")),
                }
            }
        })
    };
    let store = Store::open(Arc::new(disk), options()).unwrap();
    opening.store(false, Ordering::Relaxed);
    parent.say("opened");
    for n in from.. {
        take(&store, &step(seed, n));
        parent.say(format!("ack {}", n + 1));
    }
}

/// The expected state of a crawler's store: the one after some operation.
#[derive(Clone)]
pub(crate) struct CrawlState {
    seed: u64,
    /// The number of operations that led to the state.
    pub(crate) at: u64,
    pub(crate) model: Model,
}

impl CrawlState {
    pub(crate) fn new(seed: u64) -> CrawlState {
        CrawlState { seed, at: 0, model: Model::default() }
    }

    /// Advances to the state after `at` operations.
    pub(crate) fn go_to(&mut self, at: u64) {
        while self.at < at {
            match step(self.seed, self.at) {
                CrawlStep::Observe(observation) => drop(self.model.observe(&observation, 3)),
                CrawlStep::Forget(url) | CrawlStep::Purge(url) => {
                    self.model.forget(|u| u == url);
                }
                CrawlStep::ForgetUnder(n) => drop(self.model.forget(|u| PREFIXES[n].covers(u))),
            }
            self.at += 1;
        }
    }

    /// Advances to the state of a store: after `acknowledged` operations or, if there may be `another`,
    /// after one more.
    pub(crate) fn recognise(&mut self, store: &Store, acknowledged: u64, another: bool) {
        self.go_to(acknowledged);
        let found = dump(&store.snapshot()).unwrap();
        if found != self.model && another {
            let before = self.model.clone();
            self.go_to(acknowledged + 1);
            if found != self.model {
                eprintln!("neither the state after {acknowledged} operations nor the next");
                assert_eq!(found, before);
            }
        }
        assert_eq!(found, self.model, "after {} operations", self.at);
        check_counts(store, &self.model);
    }
}

/// Returns how many operations had been acknowledged, by the crawler's reports.
pub(crate) fn acknowledged(said: &[String]) -> Option<u64> {
    said.iter().rev().find_map(|line| line.strip_prefix("ack ")).map(|n| n.parse().unwrap())
}

/// The number of pages of [`crawl_much`]: fewer without optimisation.
pub(crate) const MUCH: u64 = if cfg!(debug_assertions) { 100_000 } else { 520_000 };

/// Nearly fills both memtables of a store with default options, while the seal of one never ends, and
/// waits.
pub(crate) fn crawl_much(parent: &ParentSocket, path: &Path) {
    let (store, _) = never_sealing(path);
    let urls: Vec<String> = (0..MUCH).map(|n| format!("https://example.com/page/{n}")).collect();
    let mut choice = choice(1);
    for (urls, time) in urls.chunks(5000).zip(0..) {
        let of = |url| Observation::content(url, ms(time), choice(u64::MAX), Epoch::from_number(0));
        let batch: Vec<_> = urls.iter().map(String::as_str).map(of).collect();
        store.observe_batch(&batch).unwrap();
    }
    parent.say("done");
    parent.await_word();
}

/// Crawls until memory is full by bytes, with URLs of this length; reports the number of pages when it
/// is done.
pub(crate) fn crawl_long(parent: &ParentSocket, path: &Path, url_bytes: u64) {
    let (store, is_sealing) = never_sealing(path);
    let filler = "x".repeat(usize::try_from(url_bytes).unwrap() - 30);
    let mut choice = choice(1);
    // Fills the second memtable as far as is sure to fit.
    let (mut pages, mut most) = (0, u64::MAX);
    while pages < most {
        let batch = 1 + 100_000 / url_bytes;
        let urls = (pages..pages + batch).map(|n| format!("https://example.com/{n:09}/{filler}"));
        let urls: Vec<String> = urls.collect();
        let of = |url| Observation::content(url, ms(1), choice(u64::MAX), Epoch::from_number(0));
        store.observe_batch(&urls.iter().map(String::as_str).map(of).collect::<Vec<_>>()).unwrap();
        pages += batch;
        if most == u64::MAX && is_sealing.load(Ordering::Relaxed) {
            most = pages / 100 * 195;
        }
    }
    parent.say(pages);
    parent.await_word();
}

/// Makes a new store with default options whose first seal never ends. The flag says whether that seal
/// has begun.
fn never_sealing(path: &Path) -> (Store, Arc<AtomicBool>) {
    let is_sealing = Arc::new(AtomicBool::new(false));
    let begun = Arc::clone(&is_sealing);
    let disk = HookDisk::new(Arc::new(RealDisk::new(path)), move |_, name| {
        while let Some(FileName::SegmentNew(_)) = name {
            begun.store(true, Ordering::Relaxed);
            std::thread::park();
        }
    });
    (Store::create(Arc::new(disk), Options::default()).unwrap(), is_sealing)
}
