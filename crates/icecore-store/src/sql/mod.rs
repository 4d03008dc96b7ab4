//! The store over a database that speaks SQL: one text of each statement for all of them.
//!
//! What differs between them is in a [`Dialect`]: words, put into the statements where
//! `{name}` stands.

mod jobs;
mod objects;
mod queues;
mod schema;

use crate::backend::{Backend, Each, Flow, ObjectStats, QueueSettings};
use crate::driver::{Row, Session, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::job::{Job, JobFilter, Lease, NewJob, Pushed, QueueStatus, State};
use crate::object::{NewObject, Object, ObjectFilter};
use std::collections::HashMap;
use std::time::Duration;

/// Words in which databases differ.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// The type of a number that counts by itself, as the primary key.
    pub(crate) serial: &'static str,
    /// The type of short texts that are compared byte by byte, of up to 255 bytes.
    pub(crate) name: &'static str,
    /// The type of long texts.
    pub(crate) text: &'static str,
    /// The type of bytes.
    pub(crate) bytes: &'static str,
    /// What sums are cast to.
    pub(crate) integer: &'static str,
    /// Milliseconds since 1970.
    pub(crate) now: &'static str,
    /// Behind a choice of rows that are to be changed: others' are passed over.
    pub(crate) skip_locked: &'static str,
    /// Behind `INSERT` and its values: nothing happens, if there is such a row.
    pub(crate) or_nothing: &'static str,
    /// What stands behind a definition of a table.
    pub(crate) table_end: &'static str,
}

pub(crate) static SQLITE: Dialect = Dialect {
    serial: "INTEGER PRIMARY KEY AUTOINCREMENT",
    name: "TEXT",
    text: "TEXT",
    bytes: "BLOB",
    integer: "INTEGER",
    now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    skip_locked: "",
    or_nothing: "ON CONFLICT DO NOTHING",
    table_end: "",
};

/// A store over one connection.
pub(crate) struct SqlBackend {
    session: Box<dyn Session>,
    /// Statements in this database's words, by their text.
    statements: HashMap<&'static str, String>,
}

impl SqlBackend {
    /// Takes a connection, and brings the tables to this version.
    pub(crate) fn open(session: Box<dyn Session>) -> Result<SqlBackend> {
        let mut backend = SqlBackend { session, statements: HashMap::new() };
        backend.migrate()?;
        Ok(backend)
    }

    /// A statement in the words of this database.
    fn words(&mut self, sql: &'static str) -> String {
        let dialect = self.session.dialect();
        self.statements.entry(sql).or_insert_with(|| translate(sql, dialect)).clone()
    }

    fn run(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64> {
        let sql = self.words(sql);
        self.session.run(&sql, values)
    }

    fn ask(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<Flow>,
    ) -> Result<()> {
        let sql = self.words(sql);
        self.session.ask(&sql, values, each)
    }

    /// All rows of an answer.
    fn rows<T>(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        mut make: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.ask(sql, values, &mut |row| {
            found.push(make(row)?);
            Ok(Flow::On)
        })?;
        Ok(found)
    }

    /// The first row of an answer.
    fn first<T>(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        make: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.rows(sql, values, make)?.into_iter().next())
    }

    /// Does all of this, or nothing.
    fn transaction<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.session.begin()?;
        match body(self).and_then(|value| self.session.commit().map(|()| value)) {
            Ok(value) => Ok(value),
            Err(error) => {
                self.session.rollback();
                Err(error)
            }
        }
    }

    /// Notes who did what.
    fn note(&mut self, by: &str, what: &str, subject: &str, count: u64) -> Result<()> {
        self.run(
            "INSERT INTO icecore_audit (at, who, what, subject, affected) VALUES ({now}, ?, ?, ?, ?)",
            &[Value::Text(by), Value::Text(what), Value::Text(subject), Value::Int(count as i64)],
        )?;
        Ok(())
    }
}

/// Puts a dialect's words into a statement.
fn translate(sql: &str, dialect: &Dialect) -> String {
    let words = [
        ("{serial}", dialect.serial),
        ("{name}", dialect.name),
        ("{text}", dialect.text),
        ("{bytes}", dialect.bytes),
        ("{integer}", dialect.integer),
        ("{now}", dialect.now),
        ("{skip_locked}", dialect.skip_locked),
        ("{or_nothing}", dialect.or_nothing),
        ("{end}", dialect.table_end),
    ];
    words.iter().fold(sql.to_owned(), |sql, (place, word)| sql.replace(place, word))
}

/// Milliseconds, as databases count them.
fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}

/// A column that is never empty.
fn there<T>(value: Option<T>) -> Result<T> {
    value.ok_or_else(|| Error::new(ErrorKind::Database, "a column is empty that never is: the tables were changed"))
}

/// Names of queues, workers and keys have at most so many bytes.
const LONGEST_NAME: usize = 255;

fn check_name(what: &str, name: &str) -> Result<()> {
    if (1..=LONGEST_NAME).contains(&name.len()) && !name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Input, format!("a {what} has 1 to {LONGEST_NAME} bytes and no control characters")))
}

/// Who does something may have no name.
fn check_who(by: &str) -> Result<()> {
    if by.is_empty() { Ok(()) } else { check_name("name of who does this", by) }
}

/// An id as this crate writes it: by another spelling the row would not be found again.
fn id_of(text: Option<String>) -> Result<Id> {
    let text = there(text)?;
    match text.parse::<Id>() {
        Ok(id) if id.to_string() == text => Ok(id),
        Ok(id) => Err(Error::new(ErrorKind::Database, format!("{text:?} is no id: it is written as {id}"))),
        Err(error) => Err(Error::new(ErrorKind::Database, format!("{text:?} is no id: {error}"))),
    }
}

/// Says in which row something is wrong; its sequence is in the second column.
fn in_row(row: &dyn Row, error: &Error) -> Error {
    let sequence = row.int(1).ok().flatten().map_or("?".to_owned(), |sequence| sequence.to_string());
    Error::new(error.kind(), format!("the row with the sequence {sequence}: {error}"))
}

/// Bytes of two columns: as they are, or as Base64 where the column is one of text.
fn payload(bytes: Option<Vec<u8>>, base64: Option<String>) -> Result<Vec<u8>> {
    if let Some(bytes) = bytes {
        return Ok(bytes);
    }
    let text = there(base64)?;
    icecore::text::from_base64(text.as_bytes())
        .map_err(|at| Error::new(ErrorKind::Database, format!("what was stored is no Base64 at offset {at}")))
}

impl Backend for SqlBackend {
    fn now(&mut self) -> Result<i64> {
        there(self.first("SELECT {now}", &[], |row| there(row.int(0)?))?)
    }

    fn put(&mut self, objects: &[NewObject]) -> Result<Vec<Id>> {
        self.put_objects(objects)
    }

    fn object(&mut self, id: Id) -> Result<Option<Object>> {
        self.object_by("id", &id.to_string())
    }

    fn object_named(&mut self, key: &str) -> Result<Option<Object>> {
        self.object_by("object_key", key)
    }

    fn objects(&mut self, after: i64, most: usize, filter: &ObjectFilter, each: Each<'_, Object>) -> Result<()> {
        self.each_object(after, most, filter, each)
    }

    fn remove(&mut self, ids: &[Id], by: &str) -> Result<u64> {
        self.remove_objects(ids, by)
    }

    fn expire(&mut self) -> Result<u64> {
        self.expire_objects()
    }

    fn quarantine(&mut self, id: Id, problem: &str) -> Result<()> {
        self.quarantine_object(id, problem)
    }

    fn index(&mut self, path: &str) -> Result<()> {
        self.add_index(path)
    }

    fn indexes(&mut self) -> Result<Vec<String>> {
        self.all_indexes()
    }

    fn object_stats(&mut self) -> Result<ObjectStats> {
        self.stats()
    }

    fn push(&mut self, jobs: &[NewJob]) -> Result<Vec<Pushed>> {
        self.transaction(|backend| jobs.iter().map(|job| backend.push_job(job, None)).collect())
    }

    fn claim(&mut self, queue: &str, worker: &str, lease: Duration, most: usize) -> Result<Vec<Lease>> {
        self.claim_jobs(queue, worker, lease, most)
    }

    fn push_and_claim(&mut self, job: &NewJob, worker: &str, lease: Duration) -> Result<Option<Lease>> {
        self.push_claimed(job, worker, lease)
    }

    fn ack(&mut self, id: Id, token: &str, result: Option<&[u8]>) -> Result<()> {
        self.ack_job(id, token, result)
    }

    fn nack(&mut self, id: Id, token: &str, error: &str, delay: Option<Duration>) -> Result<State> {
        self.nack_job(id, token, error, delay)
    }

    fn extend(&mut self, id: Id, token: &str, lease: Duration) -> Result<i64> {
        self.extend_lease(id, token, lease)
    }

    fn job(&mut self, id: Id) -> Result<Option<Job>> {
        self.job_by_id(id)
    }

    fn jobs(&mut self, filter: &JobFilter, most: usize, each: Each<'_, Job>) -> Result<()> {
        self.each_job(filter, most, each)
    }

    fn redrive(&mut self, queue: &str, ids: Option<&[Id]>, by: &str) -> Result<u64> {
        self.redrive_jobs(queue, ids, by)
    }

    fn replay(&mut self, id: Id, by: &str) -> Result<Id> {
        self.replay_job(id, by)
    }

    fn forget(&mut self, before: i64) -> Result<u64> {
        self.forget_jobs(before)
    }

    fn pause(&mut self, queue: &str, is_paused: bool, by: &str) -> Result<()> {
        self.pause_queue(queue, is_paused, by)
    }

    fn configure(&mut self, queue: &str, settings: &QueueSettings) -> Result<()> {
        self.configure_queue(queue, settings)
    }

    fn queues(&mut self) -> Result<Vec<QueueStatus>> {
        self.all_queues()
    }

    fn schema(&mut self, queue: &str) -> Result<Option<String>> {
        self.queue_schema(queue)
    }
}
