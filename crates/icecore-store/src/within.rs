//! Storing objects and queueing jobs within a transaction of the caller's own: what else that
//! transaction did and these are committed together, or none of it.
//!
//! ```
//! use icecore_store::within::{self, rusqlite};
//! use icecore_store::{Address, Jobs, describe, open};
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("a.db");
//! # let address: Address = format!("sqlite:{}", file.display()).parse()?;
//! // Once, when the program begins: it makes the tables.
//! let mut store = open(&address)?;
//!
//! let mut connection = rusqlite::Connection::open(&file)?;
//! connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER)", [])?;
//! let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
//! transaction.execute("INSERT INTO orders VALUES (7, 250)", [])?;
//! let job = describe::job("mail", br#"{"order": 7}"#.to_vec(), None);
//! let pushed = within::sqlite(&transaction)?.push(&[job])?;
//! assert!(store.job(pushed[0].id)?.is_none(), "nobody else sees it yet");
//! transaction.commit()?;
//! assert!(store.job(pushed[0].id)?.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The tables must be there, in the version of this program: [`open`](crate::open) sees to
//! that. Durable is what is stored here when the caller's commit is.
//!
//! An error takes back its own call only: the transaction goes on with what it did before. Of
//! the kinds `Busy` and `Away` it does not: the database may have ended it (MySQL and MariaDB
//! do, where two wait for each other), so it is to be rolled back and done again as a whole.
//! The same holds for SQLite's transactions that began by reading; one that is `Immediate`
//! waits for its turn at its start.
//!
//! Jobs that a daemon or worker waits for are found by it when it looks the next time.

use crate::backend::Objects;
use crate::driver::{Savepoints, Session};
use crate::error::Result;
use crate::id::Id;
use crate::job::{NewJob, Pushed};
use crate::object::NewObject;
use crate::sql::SqlBackend;

#[cfg(feature = "mysql")]
pub use ::mysql;
#[cfg(feature = "postgres")]
pub use ::postgres;
#[cfg(feature = "sqlite")]
pub use rusqlite;

/// A store within a transaction.
pub struct Within<'t>(SqlBackend<dyn Session + 't>);

/// Within a transaction of SQLite's.
///
/// # Errors
/// Of kind `Schema`, if the tables are not there in this program's version.
#[cfg(feature = "sqlite")]
pub fn sqlite<'t>(transaction: &'t rusqlite::Transaction<'_>) -> Result<Within<'t>> {
    let connection: &rusqlite::Connection = transaction;
    SqlBackend::within(Box::new(Savepoints(connection)) as Box<dyn Session + 't>).map(Within)
}

/// Within a transaction of PostgreSQL's.
///
/// # Errors
/// Of kind `Schema`, if the tables are not there in this program's version.
#[cfg(feature = "postgres")]
pub fn postgres<'t>(transaction: &'t mut ::postgres::Transaction<'_>) -> Result<Within<'t>> {
    let session = Savepoints(crate::driver::within_postgres(transaction));
    SqlBackend::within(Box::new(session) as Box<dyn Session + 't>).map(Within)
}

/// Within a transaction of MariaDB's or MySQL's.
///
/// # Errors
/// Of kind `Schema`, if the tables are not there in this program's version; of kind `Input`,
/// if the connection is not strict.
#[cfg(feature = "mysql")]
pub fn mysql<'t>(transaction: &'t mut ::mysql::Transaction<'_>) -> Result<Within<'t>> {
    let session = Savepoints(crate::driver::within_mysql(transaction)?);
    SqlBackend::within(Box::new(session) as Box<dyn Session + 't>).map(Within)
}

impl Within<'_> {
    /// Stores objects, as [`Objects::put`] does.
    ///
    /// # Errors
    /// Of kind `Taken`, if another object has a key.
    pub fn put(&mut self, objects: &[NewObject]) -> Result<Vec<Id>> {
        self.0.put(objects)
    }

    /// Queues jobs, as [`Jobs::push`](crate::Jobs::push) does.
    ///
    /// # Errors
    /// Of kind `Input`, if a name makes no sense.
    pub fn push(&mut self, jobs: &[NewJob]) -> Result<Vec<Pushed>> {
        self.0.push_jobs(jobs)
    }
}
