#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| icecore_fuzz_targets::wrapped(data));
