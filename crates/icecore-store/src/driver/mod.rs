//! Connections: the interface that all database drivers implement.

#[cfg(feature = "mysql")]
mod mysql;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
mod open_transaction;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "sqlite")]
mod sqlite_file;
#[cfg(any(feature = "postgres", feature = "mysql", feature = "redis"))]
pub(crate) mod tls;

use crate::address::{Address, Scheme};
use crate::backend::Flow;
use crate::dialect::Dialect;
use crate::error::{Error, ErrorKind, Result};
use crate::query::EachLine;
use std::borrow::Cow;

#[cfg(feature = "mysql")]
pub(crate) use mysql::within_transaction as within_mysql;
#[cfg(any(feature = "sqlite", feature = "postgres", feature = "mysql"))]
pub(crate) use open_transaction::Savepoints;
#[cfg(feature = "postgres")]
pub(crate) use postgres::within_transaction as within_postgres;
#[cfg(feature = "sqlite")]
pub(crate) use sqlite_file::PinnedFile;

/// A value for a placeholder of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'v> {
    Null,
    Int(i64),
    Text(&'v str),
    Bytes(&'v [u8]),
    /// The values of one column for many rows. Only dialects with lists accept it.
    List(&'v [Value<'v>]),
}

impl<'v> Value<'v> {
    pub(crate) fn text_or_null(text: Option<&'v str>) -> Value<'v> {
        text.map_or(Value::Null, Value::Text)
    }

    pub(crate) fn int_or_null(number: Option<i64>) -> Value<'v> {
        number.map_or(Value::Null, Value::Int)
    }

    pub(crate) fn bytes_or_null(bytes: Option<&'v [u8]>) -> Value<'v> {
        bytes.map_or(Value::Null, Value::Bytes)
    }
}

/// A row of an answer. Columns are counted from 0.
pub(crate) trait ResultRow {
    fn read_int(&self, column: usize) -> Result<Option<i64>>;
    /// Returns a text, borrowed from the row.
    fn borrow_text(&self, column: usize) -> Result<Option<Cow<'_, str>>>;
    /// Returns bytes, borrowed from the row.
    fn borrow_bytes(&self, column: usize) -> Result<Option<Cow<'_, [u8]>>>;

    fn read_text(&self, column: usize) -> Result<Option<String>> {
        Ok(self.borrow_text(column)?.map(Cow::into_owned))
    }

    fn read_bytes(&self, column: usize) -> Result<Option<Vec<u8>>> {
        Ok(self.borrow_bytes(column)?.map(Cow::into_owned))
    }
}

/// Callback that receives rows one by one.
pub(crate) type EachRow<'f> = &'f mut dyn FnMut(&dyn ResultRow) -> Result<Flow>;

/// A connection that runs statements. Placeholders for values are `?` in all statements; a driver whose database uses
/// another syntax translates them. Drivers keep statements prepared.
pub(crate) trait Session {
    fn dialect(&self) -> &'static Dialect;
    /// Runs a statement. Returns how many rows it changed.
    fn run_statement(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64>;
    /// Runs a statement that returns rows.
    fn query_each(&mut self, sql: &str, values: &[Value<'_>], each: EachRow<'_>) -> Result<()>;
    /// Runs statements that create or change tables.
    fn run_script(&mut self, sql: &str) -> Result<()>;
    /// Blocks other programs that want to set up the tables too. Called within a transaction.
    fn lock_migrations(&mut self) -> Result<()> {
        Ok(())
    }
    /// Unblocks the programs that [`Session::lock_migrations`] blocked. Called after the transaction.
    fn unlock_migrations(&mut self) {}
    /// Begins a transaction that will write. If the connection was lost, this call reconnects. A statement outside of
    /// a transaction reconnects too.
    fn begin(&mut self) -> Result<()>;
    /// Commits the transaction. Its changes are durable when this method returns.
    fn commit(&mut self) -> Result<()>;
    /// Rolls back the transaction. Called after any error.
    fn rollback(&mut self);
}

/// Runs the caller's own read-only query, and passes its rows to `each` one by one, so that memory does not grow with
/// their number.
///
/// # Errors
/// As for [`open`](crate::open); of kind `Input` if the query would write.
pub fn query(address: &Address, sql: &str, each: EachLine<'_>) -> Result<()> {
    match address.scheme() {
        #[cfg(feature = "sqlite")]
        Scheme::Sqlite => sqlite::query_read_only(address, sql, each),
        #[cfg(feature = "postgres")]
        Scheme::Postgres => postgres::query_read_only(address, sql, each),
        #[cfg(feature = "mysql")]
        Scheme::Mysql => mysql::query_read_only(address, sql, each),
        Scheme::Mongodb => {
            Err(Error::new(ErrorKind::Input, "MongoDB does not understand SQL: select its documents with --collection"))
        }
        Scheme::Redis | Scheme::Memcached => Err(Error::new(
            ErrorKind::Input,
            format!("{address} does not understand SQL: values are read by their keys, without --query"),
        )),
        #[allow(unreachable_patterns, reason = "all drivers may be enabled")]
        scheme => Err(missing_driver_error(scheme)),
    }
}

pub(crate) fn missing_driver_error(scheme: Scheme) -> Error {
    let text = format!("this build has no driver for {scheme:?}; `make install` builds one that has it");
    Error::new(ErrorKind::Address, text)
}

/// Returns the error for a statement within a transaction whose connection was lost.
#[cfg(any(feature = "postgres", feature = "mysql"))]
fn connection_lost_error(database: &str) -> Error {
    Error::new(ErrorKind::Away, format!("{database}: the connection was lost, and with it the transaction"))
}

/// Returns the error for a text that a database can't store.
#[cfg(feature = "postgres")]
fn nul_character_error(database: &str) -> Error {
    Error::new(ErrorKind::Input, format!("{database} can't store text with a NUL character"))
}

/// Opens a connection for tables that are not the store's own. It does not change settings of the database.
pub(crate) fn connect_unmanaged(address: &Address) -> Result<Box<dyn Session + Send>> {
    match address.scheme() {
        #[cfg(feature = "sqlite")]
        Scheme::Sqlite => Ok(Box::new(sqlite::connect_unmanaged(address)?)),
        #[cfg(feature = "postgres")]
        Scheme::Postgres => Ok(Box::new(postgres::connect_unmanaged(address)?)),
        _ => connect(address),
    }
}

/// Opens a connection to SQLite. Returns an error if the path no longer names the file that the first connection with
/// this `file` opened.
#[cfg(feature = "sqlite")]
pub(crate) fn connect_pinned(address: &Address, file: &PinnedFile) -> Result<Box<dyn Session + Send>> {
    Ok(Box::new(sqlite::connect(address, file)?))
}

pub(crate) fn connect(address: &Address) -> Result<Box<dyn Session + Send>> {
    match address.scheme() {
        #[cfg(feature = "sqlite")]
        Scheme::Sqlite => Ok(Box::new(sqlite::connect(address, &sqlite_file::PinnedFile::default())?)),
        #[cfg(feature = "postgres")]
        Scheme::Postgres => Ok(Box::new(postgres::connect(address)?)),
        #[cfg(feature = "mysql")]
        Scheme::Mysql => Ok(Box::new(mysql::connect(address)?)),
        Scheme::Redis | Scheme::Memcached => Err(Error::new(
            ErrorKind::Address,
            format!("{address} is not a store: `icecore rows` shows its keys and values"),
        )),
        #[allow(unreachable_patterns, reason = "all drivers may be enabled")]
        scheme => Err(missing_driver_error(scheme)),
    }
}
