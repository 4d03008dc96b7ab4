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
//! A request goes this way: `server` accepts the connection, `routes` finds who answers,
//! `limits` and `auth` look at who asks, `body` reads within bounds. Payloads are decoded on
//! threads of their own (`threads`), but for short ones of JSON. What is pushed or put goes to one thread that stores
//! what waits in one transaction (`committer`), what is done to another such one; the rest to
//! a few others (`database`). None
//! of tokio's threads ever waits for a database.
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
mod gathering;
mod host;
mod journal;
mod limits;
mod metrics;
mod page;
mod patience;
mod payload;
mod query;
mod routes;
mod schema;
mod server;
mod settings;
mod shutdown;
mod threads;
mod wakeups;

pub use server::{Server, serve};
pub use settings::{Network, NoNetwork, Opener, Rate, Settings, Unfit};

#[cfg(test)]
#[path = "../tests/double/mod.rs"]
mod double;
