//! Measurements that need servers: the [`store`] under load, and [pages of PHP](web) of a web server.
//!
//! It measures programs: daemons, workers and pages, and those of others that do the same work. Before
//! anything is timed, each of them shows that its results are right. Statistics and the form of reports are those of
//! [`icecore_lab`]. The program is `icecore-load`; `scripts/load.sh` and `scripts/bench.sh` build and start what it needs.

mod http;
pub mod page;
mod server;
pub mod store;
mod together;
pub mod web;
