//! The lab: which serializer suits which data, measured with the real runtimes.
//!
//! A [scenario] is one file of data: what is frozen, which operations
//! are timed, and what an article once published about it. A competitor is one
//! small script of its language, a *runner*, that speaks a line protocol
//! (`runners/README.md`). A [run] checks each competitor's answer first,
//! then times them in turns, in random order, over several processes, and makes
//! a [`Report`](model::Report): the raw samples, and what statistics say of them.

pub mod articles;
pub mod claims;
pub mod compare;
mod error;
pub mod fidelity;
pub mod model;
pub mod page;
pub mod rank;
mod replay;
pub mod run;
pub mod runner;
pub mod scenario;
mod secrets;
pub mod stats;

pub use error::Error;
pub use replay::replay;
pub use secrets::{hide_from as hide_secrets_from, is_secret};
