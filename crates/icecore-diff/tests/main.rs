//! All integration tests of this crate in one program: linking one is much faster than linking many.

#[path = "../../icecore/tests/common/mod.rs"]
mod common;
mod hostile;
mod properties;
mod regressions;
