//! All integration tests of this crate in one program: linking one is much faster than linking many.

mod client;
mod daemon;
mod double;
mod in_browser;
