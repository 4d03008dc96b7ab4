//! Storing objects and queueing jobs within the caller's own transaction. They are committed together with everything
//! else in that transaction, or not at all.
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
//! let job = describe::describe_job("mail", br#"{"order": 7}"#.to_vec(), None);
//! let pushed = within::sqlite(&transaction)?.push(&[job])?;
//! assert!(store.job(pushed[0].id)?.is_none(), "nobody else sees it yet");
//! transaction.commit()?;
//! assert!(store.job(pushed[0].id)?.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The tables must exist in the version of this program: [`open`](crate::open) creates them. Objects and jobs become
//! durable with the caller's commit.
//!
//! An error undoes only its own call. The transaction continues with everything that was done before. The exceptions
//! are errors of the kinds `Busy` and `Away`. After them, the database may have ended the transaction (MySQL and
//! MariaDB do so in a deadlock), so the caller must roll it back and repeat it as a whole. This is also necessary for
//! SQLite transactions that began with a read. An `Immediate` transaction waits for its lock at the start instead.
//!
//! A waiting daemon or worker finds these jobs when it next checks the queue.

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

/// A store within a transaction of the caller.
pub struct TransactionStore<'t>(SqlBackend<dyn Session + 't>);

/// Opens a store within an SQLite transaction.
///
/// # Errors
/// Of kind `Schema`, if the tables do not exist in this program's version.
#[cfg(feature = "sqlite")]
pub fn sqlite<'t>(transaction: &'t rusqlite::Transaction<'_>) -> Result<TransactionStore<'t>> {
    let connection: &rusqlite::Connection = transaction;
    SqlBackend::within_transaction(Box::new(Savepoints(connection)) as Box<dyn Session + 't>).map(TransactionStore)
}

/// Opens a store within a PostgreSQL transaction.
///
/// # Errors
/// Of kind `Schema`, if the tables do not exist in this program's version.
#[cfg(feature = "postgres")]
pub fn postgres<'t>(transaction: &'t mut ::postgres::Transaction<'_>) -> Result<TransactionStore<'t>> {
    let session = Savepoints(crate::driver::within_postgres(transaction));
    SqlBackend::within_transaction(Box::new(session) as Box<dyn Session + 't>).map(TransactionStore)
}

/// Opens a store within a MariaDB or MySQL transaction.
///
/// # Errors
/// Of kind `Schema`, if the tables do not exist in this program's version; of kind `Input`, if the connection is not in
/// strict mode.
#[cfg(feature = "mysql")]
pub fn mysql<'t>(transaction: &'t mut ::mysql::Transaction<'_>) -> Result<TransactionStore<'t>> {
    let session = Savepoints(crate::driver::within_mysql(transaction)?);
    SqlBackend::within_transaction(Box::new(session) as Box<dyn Session + 't>).map(TransactionStore)
}

impl TransactionStore<'_> {
    /// Stores objects, as [`Objects::put`] does.
    ///
    /// # Errors
    /// Of kind `Taken`, if another object has the same key.
    pub fn put(&mut self, objects: &[NewObject]) -> Result<Vec<Id>> {
        self.0.put(objects)
    }

    /// Queues jobs, as [`Jobs::push`](crate::Jobs::push) does.
    ///
    /// # Errors
    /// Of kind `Input`, if a name is invalid.
    pub fn push(&mut self, jobs: &[NewJob]) -> Result<Vec<Pushed>> {
        self.0.push_jobs(jobs)
    }
}
