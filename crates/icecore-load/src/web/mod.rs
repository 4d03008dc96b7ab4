//! Scenarios over the web: a page of PHP loads a frozen value and answers, as a cache is used.
//!
//! The lab starts php-fpm and nginx itself, with files of their own in the run's folder, and
//! ends them. opcache belongs to the master of a pool of processes, so there are three: without
//! it, with it as it is by default, and with large limits. Before anything is timed each page
//! shows that it loads the right value.

mod audition;
mod config;
mod load;
mod measure;
mod pages;
mod scenario;
mod server;
mod tools;

pub use measure::{Plan, Watch, run};
pub use scenario::{measure, scenario};
pub use tools::{Missing, ready};
