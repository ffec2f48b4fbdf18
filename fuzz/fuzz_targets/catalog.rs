//! See `crates/testing/src/fuzz/targets/catalog.rs`.

#![no_main]

use std::panic::catch_unwind;
use std::sync::Mutex;

use libfuzzer_sys::fuzz_target;
use simkeep_fuzz::targets::catalog::{is_of_redb, run};

/// What redb said when it last panicked.
static REDB: Mutex<String> = Mutex::new(String::new());

/// A panic of redb ends the process only if it comes through to here; all others do at once.
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
