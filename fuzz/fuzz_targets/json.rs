//! See `crates/testing/src/fuzz/targets/json.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simkeep_fuzz::targets::json::run(data));
