//! All integration tests of this crate in one program: linking one is much faster than linking many.

mod backends;
mod backup;
mod behaviour;
mod common;
mod concurrency;
mod hostile;
mod kill;
mod killing;
mod languages;
mod model;
mod mongo;
mod moved;
mod orders;
mod pending;
mod promises;
mod query;
mod timings;
mod within;
mod work;
