//! Shared code of the tests, benchmarks and fuzz targets of simkeep: a naive model of a store, test
//! pages, comparisons of stores with the model, disks that misbehave, files made by hand, and the
//! bodies of the fuzz targets.

pub mod allocator;
pub mod bench;
pub mod changes;
pub mod clusters;
pub mod compare;
pub mod depth;
pub mod disks;
pub mod due;
pub mod expected;
pub mod files;
pub mod fold;
pub mod forge;
pub mod fuzz;
pub mod histories;
pub mod leaders;
pub mod mirrors;
pub mod model;
pub mod pages;
pub mod recorder;
pub mod sample;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use simkeep::disk::{Disk, SimDisk};
use simkeep::verify::{Verified, VerifyOptions};
use simkeep::{
    Content, Digest, Epoch, EpochInfo, Observation, Operation, Options, PropertyUpdate,
    Restatement, Result, Role, Seen, Store, Time, Visit, Weight,
};

/// The earliest time of a visit, in milliseconds since 1970.
pub const TIME_MIN: i64 = Time::MIN.as_ms();
/// The latest time of a visit, in milliseconds since 1970.
pub const TIME_MAX: i64 = Time::MAX.as_ms();

/// Returns a time from its milliseconds since 1970, whatever they are.
pub const fn ms(ms: i64) -> Time {
    Time::from_ms_unchecked(ms)
}

/// The first epoch of test stores, and the epoch that is registered next.
pub const EPOCHS: [&str; 2] = ["one", "two"];

/// Options of a store that seals after 16 observations, and merges two segments at a time on
/// request.
pub fn small() -> Options {
    Options::default()
        .memtable_observations(16)
        .merge_fanout(2)
        .background(false)
        .epoch(EPOCHS[0].to_owned())
        .near_limit(1000)
        .refers_to(true)
        // Removes files as soon as no reader in this process uses them.
        .reader_grace(Duration::ZERO)
}

/// The path of a file or folder in this repository.
pub fn in_repository(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// The path of real data next to this repository, for a long test. Returns `None` and prints the
/// reason if the data are missing or the depth is below half of the usual depth.
pub fn real_data_path(path: &str) -> Option<PathBuf> {
    let path = in_repository("../shared/data").join(path);
    let is_shallow = depth::up_to(100) < 50;
    if is_shallow || !path.exists() {
        let why = if is_shallow { "SIMKEEP_DEPTH is low" } else { "it is not there" };
        println!("skipped: {}: {why}", path.display());
        return None;
    }
    Some(path)
}

/// A simulated disk, as the store takes it.
pub fn on(disk: &SimDisk) -> Arc<dyn Disk> {
    Arc::new(disk.clone())
}

/// Creates a store with both epochs.
pub fn create(disk: &SimDisk, options: Options) -> Store {
    let store = Store::create(on(disk), options).unwrap();
    assert_eq!(store.register_epoch(EPOCHS[1], Role::Both).unwrap().number(), 1);
    store
}

/// The names of epochs.
pub fn names(epochs: &[EpochInfo]) -> Vec<&str> {
    epochs.iter().map(|info| info.name.as_str()).collect()
}

pub fn open(disk: &SimDisk, options: Options) -> Store {
    Store::open(on(disk), options).unwrap()
}

/// Checks a whole store.
///
/// # Errors
///
/// The first flaw.
pub fn sound(store: &Store) -> Result<Verified> {
    store.verify(VerifyOptions::default())?.sound()
}

/// The command that runs some tests of this program again.
pub fn command(tests: &str) -> String {
    let optimised = if cfg!(debug_assertions) { "" } else { "--release " };
    // Cargo appends a hash to the name.
    let program = std::env::current_exe().unwrap();
    let program = program.file_stem().unwrap().to_string_lossy();
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    format!("cargo test {optimised}--test {program} {tests}")
}

/// Prints the command to reproduce a failure, if it is dropped during a panic.
pub struct RerunHint(pub String);

/// Creates the guard for the current test, with the variables that select its cases.
pub fn rerun_hint() -> RerunHint {
    // The harness names its threads after their tests, if there is more than one thread.
    let thread = std::thread::current();
    let test = thread.name().filter(|name| *name != "main").unwrap_or_default();
    let variables = std::env::vars().filter(|(variable, _)| variable.starts_with("SIMKEEP_"));
    let variables: String = variables.map(|(name, value)| format!("{name}={value} ")).collect();
    RerunHint(variables + &command(test))
}

impl Drop for RerunHint {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("to see it again: {}", self.0);
        }
    }
}

/// Returns a generator of numbers from a seed, each below the argument.
pub fn choice(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |n| {
        // splitmix64, by Sebastiano Vigna.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

pub fn digest(n: u8) -> Digest {
    Digest([n; 16])
}

/// A visit to one of the first `pages` test pages, not far from `time`. Its content is one of a
/// few, which recur and are near each other.
pub fn observation(
    choice: &mut impl FnMut(u64) -> u64,
    pages: u64,
    time: i64,
) -> Observation<'static> {
    loop {
        if let Operation::Observe(observation) = request(choice, pages, time) {
            return observation;
        }
    }
}

/// Entity tags: one that is stored, one that is not text, and one that is too long.
pub(crate) const ETAGS: [&[u8]; 3] = [b"\"v1\"", b"\"\xff\"", &[b'a'; 129]];
/// References to other pages, to the page itself, and to nothing.
pub(crate) const TARGETS: [&str; 4] = ["/", "http://a/x?y=z", "https://", "//b/"];

fn to_usize(number: u64) -> usize {
    number.try_into().unwrap()
}

/// A visit, a restatement or a property of one of the first `pages` test pages, not far from
/// `time`. Its content is one of a few, which recur and are near each other.
pub fn request(choice: &mut impl FnMut(u64) -> u64, pages: u64, time: i64) -> Operation<'static> {
    let what = choice(12);
    let mut fingerprint = || 0x0123_4567_89ab_cdef ^ (1 << choice(4)) ^ (choice(2) << 60);
    let (first, second) = (fingerprint(), fingerprint());
    // More than a second before the visit, less than that, or after the visit; often at the time of
    // another one.
    let modified = (choice(3) == 0).then(|| time + 3 - choice(12).cast_signed() * 250);
    let weight = (choice(6) == 0).then(|| [0.3, 1.0, 2.0][usize::try_from(choice(3)).unwrap()]);
    let (mut restated, mut also) = (None, None);
    let seen = match what {
        0 => Seen::Gone,
        1 => Seen::Failed,
        2 if choice(2) == 0 => Seen::NotModified { digest: None },
        2 => {
            let target = ["/one", "/two"][usize::try_from(choice(2)).unwrap()];
            Seen::Content(Content::redirect(Digest::redirect("http://a/", target)))
        }
        what => {
            let digest = (choice(3) > 0).then(|| digest(choice(4).try_into().unwrap()));
            let epoch = Epoch::from_number(u32::from(choice(5) == 0));
            let bare = what <= 5 && choice(3) == 0;
            let either = |fingerprint| if bare { None } else { Some(fingerprint) };
            let content = Content {
                fingerprint: if what == 4 { Some(first) } else { either(first) },
                digest,
                epoch,
            };
            restated = (what == 3).then_some(content);
            let other = Epoch::from_number(1 - epoch.number());
            also = (what == 4).then_some((either(second), other));
            Seen::Content(content)
        }
    };
    let late = if choice(4) == 0 { choice(10).cast_signed() } else { 0 };
    let (url, time) = (pages::URLS[usize::try_from(choice(pages)).unwrap()], time - late);
    if let Some(weight) = weight.filter(|_| choice(2) == 0) {
        return PropertyUpdate::weight(url, ms(time), weight).into();
    }
    let class = (choice(6) == 0).then(|| [0, 1, u32::MAX][usize::try_from(choice(3)).unwrap()]);
    if let Some(class) = class.filter(|_| choice(2) == 0) {
        return PropertyUpdate::class(url, ms(time), class).into();
    }
    match restated {
        Some(Content { fingerprint, digest, epoch }) => {
            let restatement = Restatement::new(url, ms(time), fingerprint, epoch);
            Operation::Restate(match digest {
                Some(digest) => restatement.digest(digest),
                None => restatement,
            })
        }
        None => {
            let bytes = (choice(4) == 0).then(|| choice(3) * 1_000);
            let conditional = choice(8) == 0;
            let (time, modified) = (ms(time), modified.map(ms));
            let visit = Visit { time, seen, status: None, modified, bytes, conditional };
            let mut observation = Observation::of(url, visit);
            observation.etag = (choice(4) == 0).then(|| ETAGS[to_usize(choice(3))]);
            observation.target = (choice(4) == 0).then(|| TARGETS[to_usize(choice(4))]);
            observation.weight = weight.map(Weight::from);
            observation.class = class;
            Operation::Observe(match also {
                Some((fingerprint, epoch)) => observation.also(fingerprint, epoch),
                None => observation,
            })
        }
    }
}
