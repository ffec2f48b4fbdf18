//! See `crates/testing/src/fuzz/targets/operations.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simkeep_fuzz::targets::operations::run(data));
