//! The kept corpus of each fuzz target, and neighbours of its inputs, which are the same on every
//! run.

#![cfg(test)]
#![cfg(not(shuttle))]

use std::cell::RefCell;
use std::fs;
use std::panic::{catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Once;

use simkeep_testing::choice;
use simkeep_testing::depth::up_to;
use simkeep_testing::fuzz::allocator::BoundedAllocator;
use simkeep_testing::fuzz::targets;
use simkeep_testing::in_repository;

#[global_allocator]
static ALLOCATOR: BoundedAllocator = BoundedAllocator;

macro_rules! targets {
    ($($target:ident: $neighbours:literal,)*) => {
        const TARGETS: &[&str] = &[$(stringify!($target)),*];
        $(
            #[test]
            fn $target() {
                replay(stringify!($target), targets::$target::run, $neighbours);
            }
        )*
    };
}

// How many neighbours of each input are run: fewer for targets with large or slow inputs.
targets! {
    catalog: 12,
    df: 60,
    directory: 12,
    hints: 60,
    json: 40,
    operations: 20,
    prefix_and_url: 30,
    segment: 12,
    snapshot: 60,
    text: 60,
    warc: 20,
}

#[test]
fn every_target_is_replayed() {
    let folder = |name: &str| in_repository("fuzz").join(name);
    assert_eq!(names(&folder("corpus")), TARGETS);
    assert_eq!(
        names(&folder("fuzz_targets")),
        TARGETS.iter().map(|t| format!("{t}.rs")).collect::<Vec<_>>()
    );
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

thread_local! {
    /// A panic of this thread that only a bug explains, even if something caught it.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Records panics. The store catches those of redb, so they are not shown.
fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let shown = take_hook();
        set_hook(Box::new(move |info| {
            if !targets::catalog::is_of_redb(info) {
                PANIC.set(Some(info.to_string()));
                shown(info);
            }
        }));
    });
}

fn replay(target: &str, run: fn(&[u8]), neighbours: usize) {
    note_panics();
    let folder = in_repository("fuzz/corpus").join(target);
    // Inputs that a fuzzer added on this machine are named by a hash.
    let kept = names(&folder).into_iter().filter(|name| name.len() < 40);
    let inputs: Vec<(PathBuf, Vec<u8>)> = kept
        .map(|name| folder.join(name))
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    assert!(!inputs.is_empty(), "{target} has no corpus");
    for (i, (path, input)) in inputs.iter().enumerate() {
        check(run, input, &path.display().to_string());
        let other = &inputs[(i + 1) % inputs.len()].1;
        let mut choice = choice(i as u64);
        for n in 0..up_to(neighbours).max(4) {
            let what = neighbour(input, other, n, &mut choice);
            check(run, &what, &format!("neighbour {n} of {}", path.display()));
        }
    }
}

/// An input that is truncated, with flipped bits, or with a part of another input in it.
fn neighbour(input: &[u8], other: &[u8], n: usize, choice: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
    let mut below = |n: usize| usize::try_from(choice(n as u64 + 1)).unwrap();
    let mut out = input.to_vec();
    match n % 4 {
        0 => out.truncate(below(input.len())),
        1 => {
            let from = below(other.len());
            let part = &other[from..other.len().min(from + below(32))];
            let at = below(input.len());
            let end = input.len().min(at + below(32));
            out.splice(at..end, part.iter().copied());
        }
        _ if out.is_empty() => {}
        _ => {
            for _ in 0..=below(3) {
                let at = below(input.len() - 1);
                out[at] ^= 1 << below(7);
            }
        }
    }
    out
}

/// Runs an input, and names it in a failure.
fn check(run: fn(&[u8]), input: &[u8], name: &str) {
    PANIC.set(None);
    let done = catch_unwind(|| run(input));
    let panic = PANIC.take();
    assert!(done.is_ok() && panic.is_none(), "{name}: {panic:?}\n\"{}\"", input.escape_ascii());
}
