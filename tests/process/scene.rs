//! The folder of a test, and how to repeat it.

use std::fmt::Display;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder for a test, and its seed. If the test fails, the folder stays, and the command that repeats
/// it is printed: it repeats the workload, but not the moments of the machine.
pub(crate) struct TestScene {
    test: &'static str,
    dir: TempDir,
    pub(crate) seed: u64,
}

impl TestScene {
    pub(crate) fn new(test: &'static str) -> TestScene {
        let seed = match std::env::var("SIMKEEP_SEED") {
            Ok(seed) => seed.parse().expect("SIMKEEP_SEED is a number"),
            Err(_) => RandomState::new().build_hasher().finish() >> 32,
        };
        TestScene { test, dir: tempfile::tempdir().unwrap(), seed }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        // The path as the system spells it, without links.
        self.dir.path().canonicalize().unwrap().join(name)
    }
}

impl Drop for TestScene {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.dir.disable_cleanup(true);
            say(format!(
                "its files are in {}; again: SIMKEEP_SEED={} cargo test --release --test process {}",
                self.dir.path().display(),
                self.seed,
                self.test,
            ));
        }
    }
}

/// Prints a line to the terminal, even if the output of passing tests is hidden.
pub(crate) fn say(line: impl Display) {
    // The output may be closed.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Returns whether a program runs and succeeds.
pub(crate) fn succeeds(line: &[&str]) -> bool {
    let mut command = Command::new(line[0]);
    command.args(&line[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Runs a program, and panics if it fails.
pub(crate) fn run(line: &[&str]) {
    let status = Command::new(line[0]).args(&line[1..]).stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "{line:?}: {status}");
}

/// Returns a path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
