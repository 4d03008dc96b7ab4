//! The store on SQL databases, with the same statements for all of them.
//!
//! Differences between databases are in a [`Dialect`]. It has a fragment of SQL for each `{name}` in the statements.

mod claims;
mod jobs;
mod limits;
mod objects;
mod pushes;
mod puts;
mod queues;
mod schedules;
mod schema;

use crate::backend::{Backend, Flow, QueueSchema, Queues};
use crate::claim_request::ExpiryChecks;
use crate::dialect::{Dialect, RowBatching, fill_placeholders, repeat_each_part};
use crate::driver::{ResultRow, Session, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::job::{NewJob, Pushed};
use crate::rules::required;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of tries of a transaction that fails because of another transaction.
const MAX_TRIES: u32 = 8;
/// A call that has taken longer than this is not tried again. Its error is returned.
const RETRY_PERIOD: Duration = Duration::from_secs(2);
/// Maximum number of rows in a statement, for databases that accept any number.
const MAX_ROWS: usize = 2048;
/// Maximum number of bytes in a statement that has more than one row.
const MAX_STATEMENT_BYTES: usize = 4 << 20;

/// Returns how many rows go into one statement, at most `max_rows`, given the size of each in bytes.
fn count_fitting(sizes: impl Iterator<Item = usize>, max_rows: usize) -> usize {
    let mut bytes = 0;
    let fits = |size: &usize| {
        bytes += size;
        bytes <= MAX_STATEMENT_BYTES
    };
    // A single row that is too large is sent alone.
    sizes.take(max_rows).take_while(fits).count().max(1)
}

/// A store that uses one connection.
pub(crate) struct SqlBackend<S: Session + ?Sized = dyn Session + Send> {
    session: Box<S>,
    /// Statements of this database, by their text and number of rows.
    statements: HashMap<(&'static str, usize), Arc<str>>,
    is_in_transaction: bool,
    /// Maximum number of tries of a call that fails because of another transaction.
    max_tries: u32,
    expiry_checks: ExpiryChecks,
    /// Queues that had limits when they were last checked.
    limited_queues: HashSet<String>,
}

impl SqlBackend {
    /// Takes a connection, and updates the tables to the schema version of this program.
    pub(crate) fn open(session: Box<dyn Session + Send>) -> Result<SqlBackend> {
        let mut backend = SqlBackend::from_session(session, MAX_TRIES);
        backend.migrate()?;
        Ok(backend)
    }
}

impl<S: Session + ?Sized> SqlBackend<S> {
    /// Takes a session within the caller's open transaction. Calls that fail because of another transaction are not
    /// repeated, because the failure may have ended the caller's transaction.
    pub(crate) fn within_transaction(session: Box<S>) -> Result<SqlBackend<S>> {
        let mut backend = SqlBackend::from_session(session, 1);
        backend.check_version()?;
        Ok(backend)
    }

    fn from_session(session: Box<S>, max_tries: u32) -> SqlBackend<S> {
        SqlBackend {
            session,
            statements: HashMap::new(),
            is_in_transaction: false,
            max_tries,
            expiry_checks: ExpiryChecks::default(),
            limited_queues: HashSet::new(),
        }
    }

    /// Returns true if this store begins its own transactions. Otherwise it is within the caller's transaction, where
    /// a failing statement could undo the caller's work. Such a store has only one try, see `within_transaction`.
    fn owns_connection(&self) -> bool {
        self.max_tries > 1
    }

    /// Returns the text of a statement for this database and this number of rows.
    fn statement_text(&mut self, sql: &'static str, rows: usize) -> Arc<str> {
        let dialect = self.session.dialect();
        let make = || repeat_each_part(&fill_placeholders(sql, dialect), rows).into();
        Arc::clone(self.statements.entry((sql, rows)).or_insert_with(make))
    }

    fn run_statement(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64> {
        self.run_for_rows(sql, 1, values)
    }

    /// Runs a statement for this number of rows. `{each …}` is repeated once for each row.
    fn run_for_rows(&mut self, sql: &'static str, rows: usize, values: &[Value<'_>]) -> Result<u64> {
        let sql = self.statement_text(sql, rows);
        // A failing statement ends the transaction, so the whole transaction is repeated, and not the statement.
        if self.is_in_transaction {
            return self.session.run_statement(&sql, values);
        }
        repeat_while_busy(self.max_tries, || self.session.run_statement(&sql, values))
    }

    /// Returns how many rows go into the next statement. `fitting` returns how many fit, given a maximum.
    fn rows_per_statement(&self, fitting: impl Fn(usize) -> usize) -> usize {
        match self.session.dialect().many {
            RowBatching::Lists => fitting(MAX_ROWS),
            // The largest allowed number that is not more than the number of fitting rows. `counts` begins with the
            // largest one.
            RowBatching::Rows(counts) => {
                let max_rows = counts.first().map_or(1, |count| fitting(*count));
                counts.iter().copied().find(|count| *count <= max_rows).unwrap_or(1)
            }
        }
    }

    fn query_each(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn ResultRow) -> Result<Flow>,
    ) -> Result<()> {
        let sql = self.statement_text(sql, 1);
        self.session.query_each(&sql, values, each)
    }

    /// Returns all rows of an answer.
    fn query_all<T>(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        make: impl FnMut(&dyn ResultRow) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.query_all_repeated(sql, 1, values, make)
    }

    /// Returns all rows of a query whose `{each …}` is repeated `count` times.
    fn query_all_repeated<T>(
        &mut self,
        sql: &'static str,
        count: usize,
        values: &[Value<'_>],
        mut make: impl FnMut(&dyn ResultRow) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        let sql = self.statement_text(sql, count);
        self.session.query_each(&sql, values, &mut |row| {
            rows.push(make(row)?);
            Ok(Flow::Continue)
        })?;
        Ok(rows)
    }

    /// Returns the first row of an answer.
    fn query_first<T>(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        make: impl FnMut(&dyn ResultRow) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.query_all(sql, values, make)?.into_iter().next())
    }

    /// Runs `body` in a transaction, and again if it fails because of another transaction.
    fn run_in_transaction<T>(&mut self, mut body: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        repeat_while_busy(self.max_tries, || {
            self.session.begin()?;
            self.is_in_transaction = true;
            let result = body(self).and_then(|value| self.session.commit().map(|()| value));
            self.is_in_transaction = false;
            if result.is_err() {
                self.session.rollback();
            }
            result
        })
    }

    /// Returns the time of the database.
    fn read_time(&mut self) -> Result<i64> {
        required(self.query_first("SELECT {now}", &[], |row| required(row.read_int(0)?))?)
    }

    /// Adds an audit entry.
    fn add_audit_entry(&mut self, actor: &str, action: &str, subject: &str, count: u64) -> Result<()> {
        self.run_statement(
            "INSERT INTO icecore_audit (at, who, what, subject, affected) VALUES ({now}, ?, ?, ?, ?)",
            &[Value::Text(actor), Value::Text(action), Value::Text(subject), Value::Int(count as i64)],
        )?;
        Ok(())
    }
}

/// Runs `body`, and repeats it while the error kind is `Busy`. If two transactions wait for each other, the database
/// ends one of them with this error, and the program has to repeat it. The pause doubles with each try.
fn repeat_while_busy<T>(max_tries: u32, mut body: impl FnMut() -> Result<T>) -> Result<T> {
    let start = Instant::now();
    let mut tries = 1;
    loop {
        match body() {
            Err(error) if error.kind() == ErrorKind::Busy && tries < max_tries && start.elapsed() < RETRY_PERIOD => {
                std::thread::sleep(Duration::from_millis(1 << tries));
                tries += 1;
            }
            result => return result,
        }
    }
}

/// Adds the sequence of the invalid row to an error. The sequence is the second column of the row.
fn error_in_row(row: &dyn ResultRow, error: &Error) -> Error {
    let sequence = row.read_int(1).ok().flatten().map_or("?".to_owned(), |sequence| sequence.to_string());
    Error::new(error.kind(), format!("the row with the sequence {sequence}: {error}"))
}

impl Backend for SqlBackend {
    fn now(&mut self) -> Result<i64> {
        self.read_time()
    }

    fn push_checked(&mut self, jobs: &[NewJob], schemas: &[QueueSchema<'_>]) -> Result<Option<Vec<Pushed>>> {
        match self.push_at_once(jobs, schemas) {
            None if self.has_schemas(schemas)? => self.push_jobs(jobs).map(Some),
            pushed => Ok(pushed),
        }
    }
}
