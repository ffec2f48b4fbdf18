//! See `crates/testing/src/fuzz/targets/segment.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simkeep_fuzz::targets::segment::run(data));
