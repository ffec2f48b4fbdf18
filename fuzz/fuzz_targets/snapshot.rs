//! See `crates/testing/src/fuzz/targets/snapshot.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simkeep_fuzz::targets::snapshot::run(data));
