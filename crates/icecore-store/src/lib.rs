//! Stores frozen objects and jobs in a database.
//!
//! ```
//! use icecore_store::{Address, describe, open};
//! # let folder = tempfile::tempdir().expect("a folder");
//! # let address: Address = format!("sqlite:{}", folder.path().join("a.db").display()).parse()?;
//! // let address: Address = "sqlite:icecore.db".parse()?;
//! let mut store = open(&address)?;
//! let object = describe::describe_object(b"\x04\x08[\x06i\x06".to_vec(), None);
//! let ids = store.put(&[object])?;
//! let found = store.object(ids[0])?.expect("it was stored");
//! assert_eq!((found.format.as_deref(), found.json.as_deref()), (Some("marshal"), Some("[1]")));
//! # Ok::<(), icecore_store::Error>(())
//! ```
#![forbid(unsafe_code)]

mod address;
mod backend;
mod claim_request;
mod command;
mod connect;
pub mod describe;
mod dialect;
mod driver;
mod error;
mod id;
mod identity;
mod job;
mod keys;
mod limits;
#[cfg(feature = "mongodb")]
mod mongo;
mod object;
mod page_query;
mod query;
mod rules;
mod runner;
mod schedule;
mod sql;
pub mod table;
pub mod time;
mod timing;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
pub mod within;
mod work;
mod worker_pool;

/// Helpers that the test suites share, for tests next to the code.
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
#[cfg(test)]
extern crate self as icecore_store;

pub use address::{Address, Scheme};
pub use backend::{
    Backend, Each, EachLent, Flow, Jobs, ObjectStats, Objects, QueueSchema, QueueSettings, Queues, Schedules,
};
pub use command::{Command, Stdin};
pub use connect::{Reopener, open, read_documents};
pub use driver::query;
pub use error::{Error, ErrorKind, Result};
pub use id::{Id, InvalidId};
pub use job::{Ack, Job, JobFilter, Lease, NewJob, Pushed, QueueStatus, State};
pub use keys::{KeyFilter, list_keys, parse_key, read_value, spell_key, stage_of_program};
pub use limits::Rate;
pub use object::{BlobDescription, LentObject, NewObject, Object, ObjectFilter};
pub use query::{ColumnValue, EachLine, Line};
pub use runner::{Outcome, Runner, Stop};
pub use schedule::{Fired, NewSchedule, Schedule};
pub use timing::Timing;
pub use work::{Event, StoreOpener, Tally, Worker};
