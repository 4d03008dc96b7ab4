//! Measures which serializer suits which data, with the real runtimes of the languages. This crate is called the lab.
//!
//! A [scenario] is a file that describes which data is serialized, which operations are timed, and what an article
//! once published about it. A competitor is a small script in its language, a *runner*, that speaks a line protocol
//! (`runners/README.md`). A [run] first checks the output of each competitor, then times them in turns, in random
//! order, in several processes. It makes a [`Report`](model::Report) with the raw samples and their statistics.

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
pub use replay::replay_report;
pub use secrets::{hide_secrets_from, is_secret};
