//! See `crates/testing/src/fuzz/targets/catalog.rs`.

#![no_main]

use std::panic::catch_unwind;
use std::sync::Mutex;

use libfuzzer_sys::fuzz_target;
use simkeep_fuzz::targets::catalog::{is_of_redb, run};

/// The message of the last panic of redb.
static REDB: Mutex<String> = Mutex::new(String::new());

/// Ends the process at once for a panic that is not redb's. A panic of redb ends it only if no code
/// catches it.
fn let_redb_panic() {
    std::panic::set_hook(Box::new(|info| {
        if is_of_redb(info) {
            *REDB.lock().unwrap() = info.to_string();
        } else {
            eprintln!("{info}");
            std::process::abort();
        }
    }));
}

fuzz_target!(init: let_redb_panic(), |data: &[u8]| {
    if catch_unwind(|| run(data)).is_err() {
        eprintln!("a panic of redb: {}", REDB.lock().unwrap());
        std::process::abort();
    }
});
