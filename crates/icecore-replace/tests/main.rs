//! All integration tests of this crate in one program: linking one is much faster than linking many.

mod charset;
mod hint;
mod rules;
mod trials;
