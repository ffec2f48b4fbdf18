//! See `crates/testing/src/fuzz/targets/warc.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simkeep_fuzz::targets::warc::run(data));
