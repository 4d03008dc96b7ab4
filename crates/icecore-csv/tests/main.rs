//! All integration tests of this crate in one program.

mod chance;
mod dialects;
mod programs;
