//! See `crates/testing/src/fuzz/targets/prefix_and_url.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simkeep_fuzz::targets::prefix_and_url::run(data));
