//! All integration tests of this crate in one program: linking one is much faster than linking many.

mod common;
mod pages;
mod perl;
mod php;
mod python;
mod ruby;
mod runs;
