//! Driver for SQLite.

use super::open_transaction::OpenTransaction;
use super::sqlite_file::{OpenFiles, PinnedFile};
use super::{EachRow, ResultRow, Session, Value};
use crate::address::Address;
use crate::backend::Flow;
use crate::dialect::{Dialect, SQLITE};
use crate::error::{Error, ErrorKind, Result};
use crate::query::{ColumnValue, EachLine, Line};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a writer waits for another writer.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// SQLite's smallest page size in bytes. A database that is not empty has at least one page.
const MIN_DATABASE_LEN: u64 = 512;
/// Number of statements that stay prepared.
const MAX_PREPARED_STATEMENTS: usize = 64;

pub(super) struct Sqlite {
    connection: Connection,
    /// The open files. `None` for a database that is not a file, such as one in memory.
    files: Option<Arc<OpenFiles>>,
}

/// Opens the store's own database. `pinned` is shared by all connections of a program, which must open the same file.
pub(super) fn connect(address: &Address, pinned: &PinnedFile) -> Result<Sqlite> {
    let file = address.file_path();
    check_file(&file)?;
    let (connection, files) = open_file(&file, OpenFlags::default(), pinned)?;
    // WAL allows readers at the same time as one writer. With `synchronous = full`, a commit that returned is on the
    // disk.
    for (name, value) in [("journal_mode", "wal"), ("synchronous", "full"), ("foreign_keys", "on")] {
        retry_while_busy(|| connection.pragma_update(None, name, value).map_err(|error| store_error(&error)))?;
    }
    let files = match files {
        Some(files) if reads_from_log(&connection)? => Some(files.with_logs(&connection, pinned)?),
        files => files.map(Arc::new),
    };
    Ok(Sqlite { connection, files })
}

/// Opens a file of another program, which must exist. Its journal mode stays unchanged.
pub(super) fn connect_unmanaged(address: &Address) -> Result<Sqlite> {
    let file = address.file_path();
    check_file(&file)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // The log is not compared, because another program may change the journal mode between two transactions.
    let (connection, files) = open_file(&file, flags, &PinnedFile::default())?;
    Ok(Sqlite { connection, files: files.map(Arc::new) })
}

/// Opens a file, and checks that it is the file that the path names.
fn open_file(file: &Path, mut flags: OpenFlags, pinned: &PinnedFile) -> Result<(Connection, Option<OpenFiles>)> {
    pinned.check_path(file)?;
    if pinned.is_known() {
        flags.remove(OpenFlags::SQLITE_OPEN_CREATE);
    }
    let connection = Connection::open_with_flags(file, flags).map_err(|error| store_error(&error))?;
    let files = OpenFiles::find(&connection, file, pinned)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(|error| store_error(&error))?;
    connection.set_prepared_statement_cache_capacity(MAX_PREPARED_STATEMENTS);
    Ok((connection, files))
}

/// Returns whether the database is in WAL mode. If it is, the log and its index are open after this call.
fn reads_from_log(connection: &Connection) -> Result<bool> {
    // A new connection opens the log at its first read.
    let read = || connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()));
    retry_while_busy(|| read().map_err(|error| store_error(&error)))?;
    let read_mode = || connection.query_row("PRAGMA journal_mode", [], |row| row.get(0));
    let mode: String = retry_while_busy(|| read_mode().map_err(|error| store_error(&error)))?;
    Ok(mode.eq_ignore_ascii_case("wal"))
}

/// Refuses a file that is too small for a database. SQLite treats a file of one byte as an empty database and
/// overwrites it.
///
/// The file is not opened here, because closing it would release all locks of this process on the file (POSIX locks
/// belong to the process). Another program could then remove the log of connections that are still open.
fn check_file(file: &Path) -> Result<()> {
    let Ok(metadata) = std::fs::metadata(file) else { return Ok(()) };
    if metadata.is_file() && (1..MIN_DATABASE_LEN).contains(&metadata.len()) {
        return Err(Error::new(ErrorKind::Database, format!("{} is not a database of SQLite", file.display())));
    }
    Ok(())
}

/// Repeats a call that fails because the database is busy, for as long as a writer would wait. SQLite itself does not
/// wait if several connections switch a new database to WAL mode at once.
fn retry_while_busy<T>(mut call: impl FnMut() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Busy && start.elapsed() < BUSY_TIMEOUT => {
                std::thread::sleep(Duration::from_millis(5));
            }
            result => return result,
        }
    }
}

/// Runs a read-only query, on a read-only connection.
pub(super) fn query_read_only(address: &Address, sql: &str, each: EachLine<'_>) -> Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(address.file_path(), flags).map_err(|error| store_error(&error))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(|error| store_error(&error))?;
    let mut statement = connection.prepare(sql).map_err(|error| store_error(&error))?;
    if !statement.readonly() {
        return Err(Error::new(ErrorKind::Input, "the query would write; only queries that read are allowed"));
    }
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    // SQLite stores booleans as 0 and 1. Only the declaration of the column says that they are booleans.
    let is_boolean: Vec<bool> = statement.columns().map(|column| is_declared_boolean(column.decl_type())).collect();
    if each(Line::Names(&names))? == Flow::Stop {
        return Ok(());
    }
    let mut rows = statement.query([]).map_err(|error| store_error(&error))?;
    while let Some(row) = rows.next().map_err(|error| store_error(&error))? {
        let value = |column: usize| -> Result<ColumnValue<'_>> {
            Ok(match row.get_ref(column).map_err(|error| store_error(&error))? {
                ValueRef::Null => ColumnValue::Null,
                ValueRef::Integer(number @ (0 | 1)) if is_boolean[column] => ColumnValue::Boolean(number == 1),
                ValueRef::Integer(number) => ColumnValue::from_integer(number),
                ValueRef::Real(number) => ColumnValue::from_float(number),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => ColumnValue::Bytes(bytes.into()),
            })
        };
        let values = (0..names.len()).map(value).collect::<Result<Vec<_>>>()?;
        if each(Line::Values(&values))? == Flow::Stop {
            break;
        }
    }
    Ok(())
}

fn is_declared_boolean(declared: Option<&str>) -> bool {
    declared.is_some_and(|name| name.eq_ignore_ascii_case("boolean") || name.eq_ignore_ascii_case("bool"))
}

fn store_error(error: &rusqlite::Error) -> Error {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Busy,
        Some(ErrorCode::DiskFull) => ErrorKind::Full,
        Some(ErrorCode::CannotOpen) => ErrorKind::Away,
        Some(ErrorCode::ConstraintViolation) => ErrorKind::Taken,
        _ => ErrorKind::Database,
    };
    Error::new(kind, format!("SQLite: {error}"))
}

struct SqliteParameter<'v>(Value<'v>);

impl ToSql for SqliteParameter<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
            Value::List(_) => return Err(rusqlite::Error::ToSqlConversionFailure("SQLite has no lists".into())),
        }))
    }
}

struct SqliteRow<'r, 's>(&'r rusqlite::Row<'s>);

impl SqliteRow<'_, '_> {
    fn get_value(&self, column: usize) -> Result<ValueRef<'_>> {
        self.0.get_ref(column).map_err(|error| store_error(&error))
    }
}

fn unexpected_type_error(column: usize) -> Error {
    Error::new(ErrorKind::Database, format!("SQLite: column {column} has a value of another type"))
}

impl ResultRow for SqliteRow<'_, '_> {
    fn read_int(&self, column: usize) -> Result<Option<i64>> {
        match self.get_value(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(number) => Ok(Some(number)),
            _ => Err(unexpected_type_error(column)),
        }
    }

    fn borrow_text(&self, column: usize) -> Result<Option<Cow<'_, str>>> {
        match self.get_value(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => Ok(Some(String::from_utf8_lossy(text))),
            _ => Err(unexpected_type_error(column)),
        }
    }

    fn borrow_bytes(&self, column: usize) -> Result<Option<Cow<'_, [u8]>>> {
        match self.get_value(column)? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(bytes) | ValueRef::Text(bytes) => Ok(Some(bytes.into())),
            _ => Err(unexpected_type_error(column)),
        }
    }
}

fn run_statement(connection: &Connection, sql: &str, values: &[Value<'_>]) -> Result<u64> {
    let mut statement = connection.prepare_cached(sql).map_err(|error| store_error(&error))?;
    let values = values.iter().map(|value| SqliteParameter(*value));
    let changed = statement.execute(rusqlite::params_from_iter(values)).map_err(|error| store_error(&error))?;
    Ok(changed as u64)
}

fn query_each(connection: &Connection, sql: &str, values: &[Value<'_>], each: EachRow<'_>) -> Result<()> {
    let mut statement = connection.prepare_cached(sql).map_err(|error| store_error(&error))?;
    let values = values.iter().map(|value| SqliteParameter(*value));
    let mut rows = statement.query(rusqlite::params_from_iter(values)).map_err(|error| store_error(&error))?;
    while let Some(row) = rows.next().map_err(|error| store_error(&error))? {
        if each(&SqliteRow(row))? == Flow::Stop {
            break;
        }
    }
    Ok(())
}

impl OpenTransaction for &Connection {
    fn dialect(&self) -> &'static Dialect {
        &SQLITE
    }

    fn run_statement(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        run_statement(self, sql, values)
    }

    fn query_each(&mut self, sql: &str, values: &[Value<'_>], each: EachRow<'_>) -> Result<()> {
        query_each(self, sql, values, each)
    }

    fn run_script(&mut self, sql: &str) -> Result<()> {
        self.execute_batch(sql).map_err(|error| store_error(&error))
    }
}

impl Sqlite {
    /// Checks that the open file is still the one that the path names. Checks nothing inside of a transaction.
    fn check_files(&self) -> Result<()> {
        let Some(files) = self.files.as_deref().filter(|_| self.connection.is_autocommit()) else { return Ok(()) };
        files.check_paths().inspect_err(|_| files.save_moved_log(&self.connection))
    }

    /// Checks the files after a change. The error says that the change may be lost.
    fn check_changed(&self) -> Result<()> {
        let unknown =
            |error: Error| Error::new(error.kind(), format!("{error}; the data may or may not have been stored"));
        self.check_files().map_err(unknown)
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        if let Some(files) = &self.files {
            files.prepare_close(&self.connection);
        }
    }
}

impl Session for Sqlite {
    fn dialect(&self) -> &'static Dialect {
        &SQLITE
    }

    fn run_statement(&mut self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        self.check_files()?;
        let changed = run_statement(&self.connection, sql, values)?;
        self.check_changed()?;
        Ok(changed)
    }

    fn query_each(&mut self, sql: &str, values: &[Value<'_>], each: EachRow<'_>) -> Result<()> {
        self.check_files()?;
        let before = self.connection.total_changes();
        query_each(&self.connection, sql, values, each)?;
        if self.connection.total_changes() == before { Ok(()) } else { self.check_changed() }
    }

    fn run_script(&mut self, sql: &str) -> Result<()> {
        self.check_files()?;
        self.connection.execute_batch(sql).map_err(|error| store_error(&error))?;
        self.check_changed()
    }

    fn begin(&mut self) -> Result<()> {
        // A transaction that starts to write later could fail in the middle.
        self.run_statement("BEGIN IMMEDIATE", &[]).map(drop)
    }

    fn commit(&mut self) -> Result<()> {
        self.run_statement("COMMIT", &[]).map(drop)
    }

    fn rollback(&mut self) {
        if !self.connection.is_autocommit() {
            let _ = run_statement(&self.connection, "ROLLBACK", &[]);
        }
    }
}
