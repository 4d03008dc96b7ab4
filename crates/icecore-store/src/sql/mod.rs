//! The store over a database that speaks SQL: one text of each statement for all of them.
//!
//! What differs between them is in a [`Dialect`]: words, put into the statements where
//! `{name}` stands.

mod dialect;
mod jobs;
mod objects;
mod queues;
mod schema;

use crate::backend::{Backend, Each, Flow, QueueSettings};
use crate::driver::{Row, Session, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::job::{Job, JobFilter, Lease, NewJob, Pushed, QueueStatus, State};
use std::collections::HashMap;
use std::time::{Duration, Instant};

pub(crate) use dialect::Dialect;
#[cfg(feature = "postgres")]
pub(crate) use dialect::POSTGRES;
#[cfg(feature = "sqlite")]
pub(crate) use dialect::SQLITE;
use dialect::translate;
#[cfg(feature = "mysql")]
pub(crate) use dialect::{MARIADB, MYSQL, OR_NOTHING};

/// Names of queues, workers and keys have at most so many bytes.
const LONGEST_NAME: usize = 255;
/// How often a transaction is made again that gave way to another one.
const TRIES: u32 = 8;
/// What waited longer than this did not give way at once: its caller is told.
const AT_ONCE: Duration = Duration::from_secs(2);

/// A store over one connection.
pub(crate) struct SqlBackend<S: Session + ?Sized = dyn Session + Send> {
    session: Box<S>,
    /// Statements in this database's words, by their text.
    statements: HashMap<&'static str, String>,
    is_within: bool,
    /// How often what gave way is tried.
    tries: u32,
}

impl SqlBackend {
    /// Takes a connection, and brings the tables to this version.
    pub(crate) fn open(session: Box<dyn Session + Send>) -> Result<SqlBackend> {
        let mut backend = SqlBackend::over(session, TRIES);
        backend.migrate()?;
        Ok(backend)
    }
}

impl<S: Session + ?Sized> SqlBackend<S> {
    /// Takes a session in which a transaction of somebody else's is open. What gives way is
    /// not tried again: that transaction may be over.
    pub(crate) fn within(session: Box<S>) -> Result<SqlBackend<S>> {
        let mut backend = SqlBackend::over(session, 1);
        backend.check_version()?;
        Ok(backend)
    }

    fn over(session: Box<S>, tries: u32) -> SqlBackend<S> {
        SqlBackend { session, statements: HashMap::new(), is_within: false, tries }
    }

    /// A statement in the words of this database.
    fn words(&mut self, sql: &'static str) -> String {
        let dialect = self.session.dialect();
        self.statements.entry(sql).or_insert_with(|| translate(sql, dialect)).clone()
    }

    fn run(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64> {
        let sql = self.words(sql);
        if self.is_within {
            return self.session.run(&sql, values);
        }
        again(self.tries, || self.session.run(&sql, values))
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

    /// Does all of this, or nothing. It is done again when it gave way to another one.
    fn transaction<T>(&mut self, mut body: impl FnMut(&mut Self) -> Result<T>) -> Result<T> {
        again(self.tries, || {
            self.session.begin()?;
            self.is_within = true;
            let done = body(self).and_then(|value| self.session.commit().map(|()| value));
            self.is_within = false;
            if done.is_err() {
                self.session.rollback();
            }
            done
        })
    }

    pub(crate) fn push_all(&mut self, jobs: &[NewJob]) -> Result<Vec<Pushed>> {
        self.transaction(|backend| jobs.iter().map(|job| backend.push_job(job, None)).collect())
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

/// Two transactions may wait for each other; a database then ends one of them, and what that
/// did is done again.
fn again<T>(most: u32, mut body: impl FnMut() -> Result<T>) -> Result<T> {
    let begun = Instant::now();
    let mut tries = 1;
    loop {
        match body() {
            Err(error) if error.kind() == ErrorKind::Busy && tries < most && begun.elapsed() < AT_ONCE => {
                std::thread::sleep(Duration::from_millis(1 << tries));
                tries += 1;
            }
            done => return done,
        }
    }
}

/// Milliseconds, as databases count them.
fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}

/// A column that is never empty.
fn there<T>(value: Option<T>) -> Result<T> {
    value.ok_or_else(|| Error::new(ErrorKind::Database, "a column is empty that never is: the tables were changed"))
}

/// Names have at most 255 bytes and no control characters.
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
fn id_of<T: AsRef<str>>(text: Option<T>) -> Result<Id> {
    let text = there(text)?;
    let text = text.as_ref();
    match text.parse::<Id>() {
        Ok(id) if id.is_written(text) => Ok(id),
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
    match bytes {
        Some(bytes) => Ok(bytes),
        None => from_base64(&there(base64)?),
    }
}

fn from_base64(text: &str) -> Result<Vec<u8>> {
    icecore::text::from_base64(text.as_bytes())
        .map_err(|at| Error::new(ErrorKind::Database, format!("what was stored is no Base64 at offset {at}")))
}

impl Backend for SqlBackend {
    fn now(&mut self) -> Result<i64> {
        there(self.first("SELECT {now}", &[], |row| there(row.int(0)?))?)
    }

    fn push(&mut self, jobs: &[NewJob]) -> Result<Vec<Pushed>> {
        self.push_all(jobs)
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
