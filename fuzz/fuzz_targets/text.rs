//! See `crates/testing/src/fuzz/targets/text.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simkeep_fuzz::targets::text::run(data));
