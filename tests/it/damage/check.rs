//! The requirements for a damaged store.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use simkeep::disk::{FileName, SimDisk};
use simkeep::verify::{VerifyOptions, verify};
use simkeep::{Error, Reader, Store};

use super::stores::{SoundStore, answers};
use simkeep_testing::{on, small};

/// The results of damage.
#[derive(Debug, Default)]
pub(crate) struct DamageCounts {
    pub(crate) tried: AtomicUsize,
    /// Detected by opening and reading.
    pub(crate) by_reading: AtomicUsize,
    /// Detected by `verify`.
    pub(crate) by_verify: AtomicUsize,
    /// The number of damages without any effect.
    pub(crate) harmless: AtomicUsize,
}

impl DamageCounts {
    /// Prints the results in one line.
    pub(crate) fn say(&self, what: &str) {
        let number = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        println!(
            "{} {what}: {} found by reading, {} by verify, {} without effect",
            number(&self.tried),
            number(&self.by_reading),
            number(&self.by_verify),
            number(&self.harmless),
        );
    }
}

/// How a damaged store is opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum OpenModes {
    ToWrite,
    ToRead,
    Both,
}

impl OpenModes {
    /// Alternates between the ways.
    pub(crate) fn nth(n: usize) -> OpenModes {
        if n.is_multiple_of(2) { OpenModes::ToWrite } else { OpenModes::ToRead }
    }
}

/// Asserts that the error names the file and, for damage, the place in it.
pub(crate) fn names(error: &Error, name: FileName) {
    let text = error.to_string();
    let file = name.to_string();
    let named = match error {
        Error::Corrupt(corruption) => corruption.file == file,
        Error::Version { file: of, .. } => *of == file,
        _ => text.contains(&file),
    };
    assert!(named, "{file} is damaged, and the error is: {text}");
}

/// Opens, reads and verifies a store with one damaged file. Each step must name the file in an error or
/// give the same answers. Returns whether `verify` found the damage.
pub(crate) fn check(
    disk: &SimDisk,
    name: FileName,
    sound: &SoundStore,
    opens: OpenModes,
    counts: &DamageCounts,
) -> bool {
    let mut found = false;
    // `verify` runs first, since opening for writing may repair what it should find.
    let verified = verify(on(disk), VerifyOptions::default());
    let is_found = match &verified {
        Ok(verified) => {
            for flaw in &verified.flaws {
                assert_eq!(flaw.file, name.to_string(), "{flaw}");
            }
            !verified.is_sound()
        }
        Err(e) => {
            names(e, name);
            true
        }
    };
    let mut opened = Vec::new();
    if opens != OpenModes::ToWrite {
        opened.push(Reader::open(on(disk)).map(|reader| reader.snapshot()));
    }
    if opens != OpenModes::ToRead {
        opened.push(Store::open(on(disk), small()).map(|store| store.snapshot()));
    }
    for view in opened {
        match view.and_then(|view| answers(&view)) {
            Err(e) => {
                names(&e, name);
                found = true;
            }
            Ok(read) => assert!(read == sound.answers, "damage of {name} changed an answer"),
        }
    }
    assert!(is_found || !found, "{name}: reading found what verify did not");
    counts.tried.fetch_add(1, Ordering::Relaxed);
    counts.by_reading.fetch_add(usize::from(found), Ordering::Relaxed);
    counts.by_verify.fetch_add(usize::from(is_found), Ordering::Relaxed);
    counts.harmless.fetch_add(usize::from(!is_found), Ordering::Relaxed);
    is_found
}

/// Calls `run` with 0 to `count - 1` on all cores. A panic is reported with the `what` of its number.
pub(crate) fn each(
    count: usize,
    what: impl Fn(usize) -> String + Sync,
    run: impl Fn(usize) + Sync,
) {
    let_redb_panic();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        return;
                    }
                    let done = catch_unwind(AssertUnwindSafe(|| run(n)));
                    assert!(done.is_ok(), "{}", what(n));
                }
            });
        }
    });
}

/// redb panics on damaged files, and the store turns the panics into errors; they are not shown.
fn let_redb_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let file = info.location().map_or("", |at| at.file());
            if !file.contains("/redb-") && !file.contains("/library/") {
                usual(info);
            }
        }));
    });
}
