//! Tests the store against a model that fits on a page: after each step, the answers and the stored
//! data are the same.
//!
//! `ICECORE_MODEL_CASES=N` sets the number of step sequences; `make test-all` tries 200.

mod objects;
mod queue;
mod schedules;

use proptest::test_runner::{Config, TestRunner};

/// Returns a runner that writes no files.
fn runner() -> TestRunner {
    let cases = std::env::var("ICECORE_MODEL_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}
