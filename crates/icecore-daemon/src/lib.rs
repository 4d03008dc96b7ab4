//! The store over HTTP: objects, a job queue, and workers in any language.
//!
//! ```
//! use icecore_daemon::{Server, Settings};
//! # let folder = tempfile::tempdir().expect("a folder");
//! # let address = format!("sqlite:{}", folder.path().join("a.db").display());
//! // let address = "sqlite:icecore.db";
//! let mut settings = Settings::new(address.parse()?);
//! settings.listen = "127.0.0.1:0".to_owned();
//! settings.quiet = true;
//! let server = Server::start(settings)?;
//! println!("http://{}/healthz", server.address());
//! server.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The path of a request: `server` accepts the connection, `routes` finds the handler, `limits` and `auth` check the
//! client, and `body` reads the body within limits. Payloads are decoded on separate threads (`threads`), except for
//! short JSON. New jobs and objects go to threads that store everything that waits in one transaction (`committer`).
//! Finished jobs go to another group of such threads, and everything else to the threads of `database`. No tokio thread
//! ever waits for a database.
#![forbid(unsafe_code)]

mod answer;
mod app;
mod auth;
mod body;
mod call;
mod committer;
mod connections;
mod counts;
mod database;
mod failure;
mod group_queue;
mod host;
mod journal;
mod limits;
mod metrics;
mod page;
mod payload;
mod query;
mod routes;
mod schema;
mod server;
mod settings;
mod shutdown;
mod threads;
mod wakeups;
mod write_timeout;

pub use server::{Server, serve};
pub use settings::{InvalidNetwork, Network, Opener, Rate, Settings, StartError};

#[cfg(test)]
#[path = "../tests/double/mod.rs"]
mod double;
