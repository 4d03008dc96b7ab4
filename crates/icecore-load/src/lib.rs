//! Measurements that need servers: the [`store`] under load, and [PHP pages](web) of a web server.
//!
//! This crate measures programs: Icecore's daemons, workers and pages, and other programs that do the same work.
//! Before anything is timed, the results of each program are checked. Statistics and reports use [`icecore_lab`]. The
//! program is `icecore-load`; `scripts/load.sh` and `scripts/bench.sh` build and start what it needs.

mod concurrent_clients;
mod http;
pub mod page;
mod server;
pub mod store;
pub mod web;
