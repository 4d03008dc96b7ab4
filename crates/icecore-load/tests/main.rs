//! All integration tests of this crate in one program: linking one is much faster than linking many.

#[path = "../../icecore-lab/tests/common/mod.rs"]
mod common;
mod over_fpm;
mod program;
mod published;
