//! If LOCK is removed by hand while a crawler runs, the next crawler takes over, the first one stops,
//! and no acknowledged operation of either is lost.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use simkeep::{Epoch, Error, Observation, Options, Store};
use simkeep_testing::depth::deep;
use simkeep_testing::{choice, ms, sound};

use super::child::{ChildProcess, ParentSocket};
use super::scene::{TestScene, say};

fn options() -> Options {
    Options::default().memtable_observations(300).merge_fanout(3)
}

fn url(number: u64) -> String {
    format!("http://h{}.example/{number}", number % 37)
}

/// Observes pages numbered from `from` on until it is stopped, and reports which are acknowledged.
pub(crate) fn write(parent: &ParentSocket, path: &Path, from: u64) {
    let store = loop {
        match Store::open(path, options()) {
            Ok(store) => break store,
            Err(Error::Locked { .. }) => sleep(Duration::from_millis(1)),
            Err(e) => panic!("{e}"),
        }
    };
    for number in from.. {
        let fingerprint = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let url = url(number);
        let observation = Observation::content(&url, ms(1), fingerprint, Epoch::from_number(0));
        match store.observe(observation) {
            Ok(_) => parent.say(number),
            Err(Error::Replaced { .. } | Error::Poisoned(_)) => return parent.say("stopped"),
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn next_writer_takes_over_when_lock_was_removed() {
    let scene = TestScene::new("lock_removed");
    let mut choice = choice(scene.seed);
    let kills = deep(12);
    let path = scene.path("crawl.simkeep");
    let (mut acknowledged, mut took_over, mut stopped) = (HashSet::new(), 0, 0);
    Store::create(&path, options()).unwrap().close().unwrap();
    for kill in 0..kills {
        let start = |half: u64| {
            let from = (2 * kill + half) << 32;
            ChildProcess::start("write", &[&path.display(), &from])
        };
        let mut first = start(0);
        for _ in 0..1 + choice(1500) {
            let said = first.receive().expect("the first writer failed");
            acknowledged.insert(said.parse::<u64>().unwrap());
        }
        fs::remove_file(path.join("LOCK")).unwrap();
        let mut second = start(1);
        let mut said = second.receive();
        took_over += u64::from(said.is_some());
        for _ in 0..choice(600) {
            acknowledged.insert(said.expect("the second writer failed").parse().unwrap());
            said = second.receive();
        }
        acknowledged.extend(said.map(|number| number.parse::<u64>().unwrap()));
        acknowledged.extend(second.kill().iter().map(|number| number.parse::<u64>().unwrap()));
        for line in first.kill() {
            match line.parse() {
                Ok(number) => _ = acknowledged.insert(number),
                Err(_) => stopped += u64::from(line == "stopped"),
            }
        }
    }
    let store = Store::open(&path, Options::default()).unwrap();
    sound(&store).unwrap();
    let lost = acknowledged
        .iter()
        .filter(|n| store.snapshot().latest(&url(**n)).unwrap().is_none())
        .count();
    assert_eq!((lost, took_over, stopped), (0, kills, kills), "lost, took over, stopped");
    let kept = acknowledged.len();
    say(format!("LOCK removed {kills} times: the next writer took over, {kept} pages, none lost"));
}
