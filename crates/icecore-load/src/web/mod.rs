//! Web scenarios: a PHP page loads a frozen value and answers, as with a cache.
//!
//! This crate starts and ends php-fpm and nginx itself, with their files in the folder of the run. The settings of
//! opcache are fixed when the main process of a pool starts. So there are three pools: without opcache, with its
//! default settings, and with large limits. Before anything is timed, a check shows that each page loads the right
//! value.

mod config;
mod load;
mod measure;
mod page_check;
mod pages;
mod scenario;
mod server;
mod tools;

pub use measure::{Plan, Watch, measure_pages};
pub use scenario::{measure_scenario, parse_web_scenario};
pub use tools::{MissingTools, check_tools};
