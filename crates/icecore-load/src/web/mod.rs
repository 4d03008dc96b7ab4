//! Web scenarios: a PHP page loads a frozen value and answers, as with a cache.
//!
//! This crate starts and ends php-fpm and nginx itself, with their files in the folder of the run. The opcache
//! belongs to the main process of a pool, so there are three pools: without opcache, with its defaults, and with
//! large limits. Before anything is timed, each page is checked to load the right value.

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
