//! See `crates/testing/src/fuzz/targets/df.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simkeep_fuzz::targets::df::run(data));
