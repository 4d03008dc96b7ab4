//! All integration tests of this crate in one program: linking one is much faster than linking many.

mod header;
mod interface;
mod policy;
mod random_tapes;
mod replace;
