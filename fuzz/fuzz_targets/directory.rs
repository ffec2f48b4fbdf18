//! See `crates/testing/src/fuzz/targets/directory.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simkeep_fuzz::targets::directory::run(data));
