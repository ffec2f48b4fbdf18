//! If the system refuses new threads, the tool works with its only one.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::*;

/// A user without other processes.
const NOBODY: &str = "64321";

#[test]
fn pairs_are_found_without_additional_threads() {
    let place = TestFolder::new();
    let line = |i: u64| {
        let fingerprint = (i / 2).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (i % 2);
        format!("{{\"url\":\"http://a/{i}\",\"t\":1,\"fingerprint\":\"{fingerprint:016x}\"}}\n")
    };
    place.ingest(&(0..20_000).map(line).collect::<String>());
    // This user cannot read files of others.
    let chown = Command::new("chown").args(["-R", NOBODY]).arg(place.dir.path()).status();
    let tool = place.path("simkeep");
    std::fs::copy(env!("CARGO_BIN_EXE_simkeep"), &tool).unwrap();
    std::fs::set_permissions(&tool, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "--"]);
    command.args(["bash", "-c", "ulimit -u 1 && exec \"$0\" pairs -k 1"]).arg(&tool);
    command.env("SIMKEEP_STORE", place.store()).current_dir(place.dir.path());
    let Ok(ran) = command.output() else { return };
    if !chown.is_ok_and(|chown| chown.success()) {
        // Only root can become another user.
        return;
    }
    let err = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{err}");
    assert_eq!(String::from_utf8_lossy(&ran.stdout).lines().count(), 10_000, "{err}");
}
