//! The store over a database that speaks SQL: one text of each statement for all of them.
//!
//! What differs between them is in a [`Dialect`]: words, put into the statements where
//! `{name}` stands.

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
use crate::dialect::{Dialect, Many, repeated, translate};
use crate::driver::{Row, Session, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::handing::Looks;
use crate::job::{NewJob, Pushed};
use crate::rules::there;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a transaction is made again that gave way to another one.
const TRIES: u32 = 8;
/// What waited longer than this did not give way at once: its caller is told.
const AT_ONCE: Duration = Duration::from_secs(2);
/// How many rows a statement has at most, where it takes any number.
const MOST_ROWS: usize = 2048;
/// How many bytes it has at most, if it has more than one row.
const HEAVIEST: usize = 4 << 20;

/// How many rows go into one statement, at most so many, by what each weighs in bytes.
fn fitting(weights: impl Iterator<Item = usize>, most: usize) -> usize {
    let mut bytes = 0;
    let fits = |weight: &usize| {
        bytes += weight;
        bytes <= HEAVIEST
    };
    weights.take(most).take_while(fits).count().max(1)
}

/// A store over one connection.
pub(crate) struct SqlBackend<S: Session + ?Sized = dyn Session + Send> {
    session: Box<S>,
    /// Statements in this database's words, by their text and how many rows they are for.
    statements: HashMap<(&'static str, usize), Arc<str>>,
    is_within: bool,
    /// How often what gave way is tried.
    tries: u32,
    looks: Looks,
    /// Queues that had limits when they were asked last.
    limited: HashSet<String>,
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
        SqlBackend {
            session,
            statements: HashMap::new(),
            is_within: false,
            tries,
            looks: Looks::default(),
            limited: HashSet::new(),
        }
    }

    /// Whether no transaction of somebody else's is open: a statement that fails then takes
    /// nothing else with it.
    fn owns_connection(&self) -> bool {
        self.tries > 1
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
        again(self.tries, || self.session.run(&sql, values))
    }

    /// How many rows go into the next statement, if so many fit into one of at most so many.
    fn at_once(&self, fitting: impl Fn(usize) -> usize) -> usize {
        match self.session.dialect().many {
            Many::Lists => fitting(MOST_ROWS),
            Many::Rows(counts) => {
                let most = counts.first().map_or(1, |most| fitting(*most));
                counts.iter().copied().find(|count| *count <= most).unwrap_or(1)
            }
        }
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
        make: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.rows_of(sql, 1, values, make)
    }

    /// The same of a question where `{each …}` stands so often.
    fn rows_of<T>(
        &mut self,
        sql: &'static str,
        count: usize,
        values: &[Value<'_>],
        mut make: impl FnMut(&dyn Row) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        let sql = self.words(sql, count);
        self.session.ask(&sql, values, &mut |row| {
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

    /// The time, by the database's clock.
    fn time(&mut self) -> Result<i64> {
        there(self.first("SELECT {now}", &[], |row| there(row.int(0)?))?)
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

/// Says in which row something is wrong; its sequence is in the second column.
fn in_row(row: &dyn Row, error: &Error) -> Error {
    let sequence = row.int(1).ok().flatten().map_or("?".to_owned(), |sequence| sequence.to_string());
    Error::new(error.kind(), format!("the row with the sequence {sequence}: {error}"))
}

impl Backend for SqlBackend {
    fn now(&mut self) -> Result<i64> {
        self.time()
    }

    fn push_checked(&mut self, jobs: &[NewJob], schemas: &[QueueSchema<'_>]) -> Result<Option<Vec<Pushed>>> {
        match self.push_at_once(jobs, schemas) {
            None if self.has_schemas(schemas)? => self.push_jobs(jobs).map(Some),
            pushed => Ok(pushed),
        }
    }
}
