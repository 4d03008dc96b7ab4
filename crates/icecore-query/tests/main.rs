//! All integration tests of this crate in one program: linking one is much faster than linking many.

mod beside_jaq;
mod common;
mod formats;
mod hostile;
mod language;
mod random;
