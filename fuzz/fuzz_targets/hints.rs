//! See `crates/testing/src/fuzz/targets/hints.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simkeep_fuzz::targets::hints::run(data));
