//! All integration tests of this crate in one program: linking one is much faster than linking many.

mod common;
mod load;
mod over_fpm;
mod pages;
mod perl;
mod php;
mod published;
mod python;
mod ruby;
mod runs;
