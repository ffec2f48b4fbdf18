//! Several processes open one store: one writes at a time, and the others get an error that explains
//! why.

use simkeep_testing::depth::up_to;
use simkeep_testing::{ms, sound};
use std::fs;
use std::path::Path;

use simkeep::{Epoch, Error, Observation, Options, Store};

use super::child::{ChildProcess, ParentSocket};
use super::scene::{TestScene, say};

/// Opens a store at the parent's signal, reports the result, and keeps the store open until the next
/// signal.
pub(crate) fn hold(parent: &ParentSocket, path: &Path) {
    parent.say("ready");
    parent.await_word();
    meet(parent, Store::open(path, Options::default()));
}

/// Makes the store at the parent's signal.
pub(crate) fn create(parent: &ParentSocket, path: &Path) {
    parent.say("ready");
    parent.await_word();
    meet(parent, Store::create(path, Options::default()));
}

fn meet(parent: &ParentSocket, opened: simkeep::Result<Store>) {
    match opened {
        Ok(store) => {
            parent.say("won");
            parent.await_word();
            store.close().unwrap();
        }
        Err(Error::Locked { .. }) => parent.say("locked"),
        Err(Error::StoreExists { .. }) => parent.say("exists"),
        Err(e) => parent.say(e),
    }
}

/// Opens or creates the same store repeatedly, with one observation each time. While the store is open
/// it holds a file beside it, which no other process may have created.
pub(crate) fn take_turns(parent: &ParentSocket, path: &Path, mine: u64) {
    const TURNS: i64 = 12;
    let beside = path.with_extension("held");
    parent.say("ready");
    parent.await_word();
    let (mut turn, mut refused) = (0, 0);
    while turn < TURNS {
        let store = match Store::open_or_create(path, Options::default()) {
            Ok(store) => store,
            Err(Error::Locked { .. }) => {
                refused += 1;
                continue;
            }
            Err(e) => panic!("{e}"),
        };
        fs::File::create_new(&beside).expect("there is one writer");
        let url = format!("https://example.com/{mine}");
        store.observe(Observation::content(&url, ms(turn), mine, Epoch::from_number(0))).unwrap();
        fs::remove_file(&beside).unwrap();
        store.close().unwrap();
        turn += 1;
    }
    parent.say(format!("done {refused}"));
    parent.await_word();
}

/// Starts processes that begin at the same moment.
fn start(role: &str, arguments: &[&dyn std::fmt::Display], processes: usize) -> Vec<ChildProcess> {
    let mut children: Vec<ChildProcess> =
        (0..processes).map(|_| ChildProcess::start(role, arguments)).collect();
    children.iter_mut().for_each(|child| child.expect("ready"));
    children.iter_mut().for_each(ChildProcess::go_on);
    children
}

#[test]
fn c7_one_of_racing_processes_opens_the_store() {
    let scene = TestScene::new("race");
    let path = scene.path("crawl.simkeep");
    Store::create(&path, Options::default()).unwrap().close().unwrap();
    let mut refused = 0;
    let races = up_to(4).max(2);
    for processes in [2, 8, 2, 8].into_iter().take(races) {
        let mut children = start("hold", &[&path.display()], processes);
        let mut said: Vec<_> = children.iter_mut().map(|child| child.receive().unwrap()).collect();
        let won = said.iter().position(|said| said == "won").expect("nobody won");
        children[won].go_on();
        assert!(children[won].end().success());
        said.remove(won);
        assert!(said.iter().all(|said| said == "locked"), "{said:?}");
        refused += said.len();
    }
    say(format!("{races} races to open a store: each won once, {refused} times refused"));
}

#[test]
fn one_of_racing_processes_creates_the_store() {
    let scene = TestScene::new("race");
    let races = up_to(12).max(4);
    let (mut exists, mut locked) = (0, 0);
    for race in 0..races {
        let path = scene.path(&format!("{race}/crawl.simkeep"));
        let mut children = start("create", &[&path.display()], 2 + 6 * (race % 2));
        let said: Vec<_> = children.iter_mut().map(|child| child.receive().unwrap()).collect();
        let count = |what: &str| said.iter().filter(|said| *said == what).count();
        assert_eq!(count("won"), 1, "{said:?}");
        assert_eq!(count("exists") + count("locked"), said.len() - 1, "{said:?}");
        exists += count("exists");
        locked += count("locked");
        for (child, said) in children.iter_mut().zip(&said) {
            if said == "won" {
                child.go_on();
            }
            assert!(child.end().success());
        }
        sound(&Store::open(&path, Options::default()).unwrap()).unwrap();
    }
    say(format!("{races} races to make a store: each won once; {exists} exists, {locked} locked"));
}

#[test]
fn processes_taking_turns_never_hold_a_store_together() {
    let scene = TestScene::new("race");
    let path = scene.path("crawl.simkeep");
    let mut children: Vec<ChildProcess> =
        (0..6).map(|mine| ChildProcess::start("take turns", &[&path.display(), &mine])).collect();
    children.iter_mut().for_each(|child| child.expect("ready"));
    children.iter_mut().for_each(ChildProcess::go_on);
    let mut refused = 0;
    for child in &mut children {
        let said = child.receive().expect("a child failed");
        refused += said.strip_prefix("done ").unwrap().parse::<u64>().unwrap();
        child.go_on();
        assert!(child.end().success());
    }
    let store = Store::open(&path, Options::default()).unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.pages, stats.visits), (6, 6 * 12));
    say(format!("6 processes, 12 turns each, {refused} times refused: one writer at any time"));
}
