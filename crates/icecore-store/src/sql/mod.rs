//! The store over a database that speaks SQL: one text of each statement for all of them.
//!
//! What differs between them is in a [`Dialect`]: words, put into the statements where
//! `{name}` stands.

mod claims;
mod dialect;
mod jobs;
mod objects;
mod pushes;
mod queues;
mod schema;

use crate::backend::{Backend, Each, Flow, ObjectStats};
use crate::driver::{Row, Session, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::object::{NewObject, Object, ObjectFilter};
use claims::Looks;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use dialect::Dialect;
#[cfg(feature = "postgres")]
pub(crate) use dialect::POSTGRES;
#[cfg(feature = "sqlite")]
pub(crate) use dialect::SQLITE;
#[cfg(feature = "mysql")]
pub(crate) use dialect::{MARIADB, MYSQL, OR_NOTHING};
use dialect::{repeated, translate};

/// Names of queues, workers and keys have at most so many bytes.
const LONGEST_NAME: usize = 255;
/// How often a transaction is made again that gave way to another one.
const TRIES: u32 = 8;
/// What waited longer than this did not give way at once: its caller is told.
const AT_ONCE: Duration = Duration::from_secs(2);

/// A store over one connection.
pub(crate) struct SqlBackend {
    session: Box<dyn Session>,
    /// Statements in this database's words, by their text and how many rows they are for.
    statements: HashMap<(&'static str, usize), Arc<str>>,
    is_within: bool,
    looks: Looks,
}

impl SqlBackend {
    /// Takes a connection, and brings the tables to this version.
    pub(crate) fn open(session: Box<dyn Session>) -> Result<SqlBackend> {
        let mut backend = SqlBackend { session, statements: HashMap::new(), is_within: false, looks: Looks::default() };
        backend.migrate()?;
        Ok(backend)
    }

    /// A statement in the words of this database, for so many rows.
    fn words(&mut self, sql: &'static str, rows: usize) -> Arc<str> {
        let dialect = self.session.dialect();
        let make = || repeated(&translate(sql, dialect), rows).into();
        Arc::clone(self.statements.entry((sql, rows)).or_insert_with(make))
    }

    fn run(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64> {
        self.run_many(sql, 1, values)
    }

    /// Runs a statement for so many rows: `{each …}` stands there so often.
    fn run_many(&mut self, sql: &'static str, rows: usize, values: &[Value<'_>]) -> Result<u64> {
        let sql = self.words(sql, rows);
        if self.is_within {
            return self.session.run(&sql, values);
        }
        again(|| self.session.run(&sql, values))
    }

    fn ask(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> Result<Flow>,
    ) -> Result<()> {
        let sql = self.words(sql, 1);
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
        again(|| {
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
fn again<T>(mut body: impl FnMut() -> Result<T>) -> Result<T> {
    let begun = Instant::now();
    let mut tries = 1;
    loop {
        match body() {
            Err(error) if error.kind() == ErrorKind::Busy && tries < TRIES && begun.elapsed() < AT_ONCE => {
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
}
