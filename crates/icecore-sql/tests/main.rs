//! All integration tests of this crate in one program: linking one is much faster than linking many.

mod charsets;
mod common;
mod dialects;
mod escaping;
mod limits;
mod programs;
mod random;
mod rows;
mod windows;
