//! Pushes: many jobs with few statements.

use super::{MAX_ROWS, SqlBackend, count_fitting, repeat_while_busy};
use crate::backend::QueueSchema;
use crate::describe;
use crate::dialect::RowBatching;
use crate::driver::{Session, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::job::{NewJob, Pushed, State};
use crate::rules::{check_name, no_predecessor_error, parse_id, required, to_millis};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Statement that inserts jobs, with more columns if given.
macro_rules! insert_jobs_sql {
    ($rows:literal) => {
        insert_jobs_sql!("", $rows)
    };
    ($more_columns:literal, $rows:literal) => {
        concat!(
            "INSERT INTO icecore_jobs (id, queue, priority, queued_at, run_at, max_attempts, unique_key, live_key, \
             replay_of, format, checksum, bytes, json, problem",
            $more_columns,
            ") ",
            $rows
        )
    };
}

/// A job with the texts of its row.
struct JobRow<'j> {
    job: &'j NewJob,
    id: String,
    replay_of: Option<String>,
    json: Option<Cow<'j, str>>,
    problem: Option<Cow<'j, str>>,
}

impl JobRow<'_> {
    fn from_job(job: &NewJob) -> JobRow<'_> {
        JobRow {
            job,
            id: job.id.to_string(),
            replay_of: job.replay_of.map(|id| id.to_string()),
            json: job.description.json.as_deref().map(describe::without_nul),
            problem: job.description.problem.as_deref().map(describe::without_nul),
        }
    }

    /// Returns the values of the row. Each value occurs once, although some statements need a value twice.
    fn to_values(&self) -> [Value<'_>; 12] {
        let (job, description) = (self.job, &self.job.description);
        [
            Value::Text(&self.id),
            Value::Text(&job.queue),
            Value::Int(i64::from(job.priority)),
            Value::Int(to_millis(job.delay)),
            Value::int_or_null(job.max_attempts.map(|attempts| i64::from(attempts.max(1)))),
            Value::text_or_null(job.unique_key.as_deref()),
            Value::text_or_null(self.replay_of.as_deref()),
            Value::text_or_null(description.format.as_deref()),
            Value::Text(&description.checksum),
            Value::Bytes(&job.bytes),
            Value::text_or_null(self.json.as_deref()),
            Value::text_or_null(self.problem.as_deref()),
        ]
    }
}

fn count_bytes(job: &NewJob) -> usize {
    job.bytes.len() + job.description.json.as_ref().map_or(0, String::len)
}

/// Returns how many of the first jobs go into one statement. Jobs from the first one with a predecessor on do not
/// count.
fn count_for_statement(jobs: &[NewJob], max_rows: usize) -> usize {
    count_fitting(jobs.iter().take_while(|job| job.after.is_none()).map(count_bytes), max_rows)
}

fn check_names(jobs: &[NewJob]) -> Result<()> {
    for job in jobs {
        check_name("queue", &job.queue)?;
        if let Some(key) = &job.unique_key {
            check_name("unique key", key)?;
        }
    }
    Ok(())
}

impl<S: Session + ?Sized> SqlBackend<S> {
    /// Stores all jobs or none. Returns which ones are new.
    pub(crate) fn push_jobs(&mut self, jobs: &[NewJob]) -> Result<Vec<Pushed>> {
        check_names(jobs)?;
        if !self.is_in_transaction && self.owns_connection() && self.is_one_statement(jobs) {
            match repeat_while_busy(self.max_tries, || self.push_all(jobs)) {
                // The connection may have been lost while it was idle, so the jobs are pushed again. If the first
                // push has stored them, they are found by their ids, and are not stored twice.
                Err(error) if error.kind() == ErrorKind::Away => {}
                pushed => return pushed,
            }
        }
        if self.is_in_transaction {
            return self.push_all(jobs);
        }
        self.run_in_transaction(|backend| backend.push_all(jobs))
    }

    /// Stores jobs with one statement that also checks that the queues have these schemas, if the database supports
    /// that. `None` means that nothing was stored, for any reason.
    pub(super) fn push_at_once(&mut self, jobs: &[NewJob], schemas: &[QueueSchema<'_>]) -> Option<Vec<Pushed>> {
        let has_lists = matches!(self.session.dialect().many, RowBatching::Lists);
        let is_possible = has_lists && !self.is_in_transaction && self.owns_connection() && self.is_one_statement(jobs);
        if !is_possible || check_names(jobs).is_err() {
            return None;
        }
        let rows: Vec<JobRow<'_>> = jobs.iter().map(JobRow::from_job).collect();
        // If no row was inserted, a schema differs or all jobs exist already. The caller finds out which.
        let are_new = self.insert_lists(&rows, schemas).ok().filter(|are_new| are_new.contains(&true))?;
        Some(jobs.iter().zip(are_new).map(|(job, is_new)| Pushed { id: job.id, is_new }).collect())
    }

    /// Returns whether one statement stores these jobs, so that no transaction is needed.
    fn is_one_statement(&self, jobs: &[NewJob]) -> bool {
        let has_lists = matches!(self.session.dialect().many, RowBatching::Lists);
        let is_plain = || jobs.iter().all(|job| job.unique_key.is_none());
        let is_one = jobs.len() == 1 || (has_lists && count_for_statement(jobs, MAX_ROWS) == jobs.len() && is_plain());
        is_one && jobs.iter().all(|job| job.after.is_none())
    }

    /// Stores all jobs, in as few statements as possible.
    fn push_all(&mut self, jobs: &[NewJob]) -> Result<Vec<Pushed>> {
        let mut pushed = Vec::with_capacity(jobs.len());
        // Existing jobs that replace one of these because of its key.
        let mut replacements: HashMap<Id, Id> = HashMap::new();
        let mut rest = jobs;
        while let Some(first) = rest.first() {
            let predecessor = first.after.map(|id| replacements.get(&id).copied().unwrap_or(id));
            let count = if predecessor.is_some() {
                1
            } else {
                self.rows_per_statement(|max_rows| count_for_statement(rest, max_rows))
            };
            let (group, others) = rest.split_at(count);
            let are_new = match predecessor {
                Some(id) => vec![self.insert_follower(first, id)?],
                None => self.insert_jobs(group)?,
            };
            for (job, is_new) in group.iter().zip(are_new) {
                let id = if is_new { job.id } else { self.find_same_job(job)? };
                if id != job.id {
                    replacements.insert(job.id, id);
                }
                pushed.push(Pushed { id, is_new });
            }
            rest = others;
        }
        Ok(pushed)
    }

    /// Inserts a job that waits for its predecessor. The row of the predecessor is changed first. This change locks
    /// the row, and `ACK_ALONE` no longer applies to it. So from then on the predecessor can't be marked as done
    /// without a search for its followers.
    fn insert_follower(&mut self, job: &NewJob, after: Id) -> Result<bool> {
        let text = after.to_string();
        let sql = "UPDATE icecore_jobs SET followed = COALESCE(followed, 0) + 1 WHERE id = ?";
        if self.run_statement(sql, &[Value::Text(&text)])? != 1 {
            // If this job is pushed a second time, its predecessor may have been removed in the meantime.
            let sql = "SELECT id FROM icecore_jobs WHERE id = ?";
            let existing = self.query_first(sql, &[Value::Text(&job.id.to_string())], |row| row.read_text(0))?;
            return if existing.is_some() { Ok(false) } else { Err(no_predecessor_error(after)) };
        }
        let sql = "SELECT state FROM icecore_jobs WHERE id = ?";
        let state = self.query_first(sql, &[Value::Text(&text)], |row| required(row.read_text(0)?))?;
        let is_done = state.as_deref() == Some(State::Done.name());
        let row = JobRow::from_job(job);
        let [id, queue, priority, delay, max_attempts, key, replay_of, format, checksum, bytes, json, problem] =
            row.to_values();
        // The queue occurs again for the subquery, and the key is both the unique key and the live key.
        let values = [
            id,
            queue,
            priority,
            delay,
            max_attempts,
            queue,
            key,
            key,
            replay_of,
            format,
            checksum,
            bytes,
            json,
            problem,
            Value::Text(&text),
            Value::Text(if is_done { State::Ready.name() } else { State::Waiting.name() }),
        ];
        let sql = insert_jobs_sql!(
            ", after_id, state",
            "VALUES (?, ?, ?, {now}, {now} + ?, \
             COALESCE(?, (SELECT max_attempts FROM icecore_queues WHERE name = ? AND max_attempts > 0), 20), \
             ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) {or_nothing}"
        );
        Ok(self.run_statement(sql, &values)? == 1)
    }

    /// Inserts jobs with one statement. Returns which ones are new.
    fn insert_jobs(&mut self, jobs: &[NewJob]) -> Result<Vec<bool>> {
        let rows: Vec<JobRow<'_>> = jobs.iter().map(JobRow::from_job).collect();
        if jobs.len() > 1 && matches!(self.session.dialect().many, RowBatching::Lists) {
            return self.insert_lists(&rows, &[]);
        }
        let inserted = self.insert_rows(&rows)?;
        if inserted == jobs.len() as u64 {
            return Ok(vec![true; jobs.len()]);
        }
        // A statement for several rows stores all of them or none, so none of them is stored now. They are inserted
        // one by one, to find out which ones are new.
        match rows.len() {
            1 => Ok(vec![false]),
            _ => rows.chunks(1).map(|one| Ok(self.insert_rows(one)? == 1)).collect(),
        }
    }

    /// Inserts jobs that are new. Returns how many were inserted.
    fn insert_rows(&mut self, jobs: &[JobRow<'_>]) -> Result<u64> {
        let row = |job| {
            let [id, queue, priority, delay, max_attempts, key, replay_of, format, checksum, bytes, json, problem] =
                JobRow::to_values(job);
            [
                id,
                queue,
                priority,
                delay,
                max_attempts,
                queue,
                key,
                key,
                replay_of,
                format,
                checksum,
                bytes,
                json,
                problem,
            ]
        };
        let values: Vec<Value<'_>> = jobs.iter().flat_map(row).collect();
        let sql = insert_jobs_sql!(
            "VALUES {each (?, ?, ?, {now}, {now} + ?, \
             COALESCE(?, (SELECT max_attempts FROM icecore_queues WHERE name = ? AND max_attempts > 0), 20), \
             ?, ?, ?, ?, ?, ?, ?, ?)} {or_nothing}"
        );
        self.run_for_rows(sql, jobs.len(), &values)
    }

    /// Inserts jobs as lists. Returns which ones are new. If a queue has another schema than given, none of them is
    /// new, because the statement then inserts nothing.
    fn insert_lists(&mut self, jobs: &[JobRow<'_>], schemas: &[QueueSchema<'_>]) -> Result<Vec<bool>> {
        let rows: Vec<[Value<'_>; 12]> = jobs.iter().map(JobRow::to_values).collect();
        let lists: [Vec<Value<'_>>; 12] = std::array::from_fn(|column| rows.iter().map(|row| row[column]).collect());
        let queues: Vec<Value<'_>> = schemas.iter().map(|(queue, _)| Value::Text(queue)).collect();
        let texts: Vec<Value<'_>> = schemas.iter().map(|(_, text)| Value::text_or_null(*text)).collect();
        let mut values: Vec<Value<'_>> = lists.iter().map(|list| Value::List(list)).collect();
        values.extend([Value::List(&queues), Value::List(&texts)]);
        let sql = insert_jobs_sql!(
            "SELECT id, queue, priority, {now}, {now} + delay, \
             COALESCE(most, (SELECT max_attempts FROM icecore_queues WHERE name = fresh.queue COLLATE \"C\" AND max_attempts > 0), 20), \
             unique_key, unique_key, replay_of, format, checksum, bytes, json, problem \
             FROM unnest(CAST(? AS TEXT[]), CAST(? AS TEXT[]), CAST(? AS BIGINT[]), CAST(? AS BIGINT[]), \
             CAST(? AS BIGINT[]), CAST(? AS TEXT[]), CAST(? AS TEXT[]), CAST(? AS TEXT[]), CAST(? AS TEXT[]), \
             CAST(? AS BYTEA[]), CAST(? AS TEXT[]), CAST(? AS TEXT[])) \
             AS fresh (id, queue, priority, delay, most, unique_key, replay_of, format, checksum, bytes, json, problem) \
             WHERE NOT EXISTS (SELECT 1 FROM unnest(CAST(? AS TEXT[]), CAST(? AS TEXT[])) AS checked (queue, payload_schema) \
             LEFT JOIN icecore_queues AS known ON known.name = checked.queue COLLATE \"C\" \
             WHERE known.payload_schema IS DISTINCT FROM checked.payload_schema) \
             {or_nothing} RETURNING id"
        );
        let inserted = self.query_all(sql, &values, |row| required(row.read_text(0)?))?;
        let mut inserted: HashSet<String> = inserted.into_iter().collect();
        // If a job occurs twice, only its first occurrence is new. So its id is removed from the set.
        Ok(jobs.iter().map(|job| inserted.remove(&job.id)).collect())
    }

    /// Returns the existing job with the same key, or with the same id.
    fn find_same_job(&mut self, job: &NewJob) -> Result<Id> {
        let Some(key) = &job.unique_key else { return Ok(job.id) };
        let sql = "SELECT id FROM icecore_jobs WHERE queue = ? AND live_key = ?";
        let holder =
            self.query_first(sql, &[Value::Text(&job.queue), Value::Text(key)], |row| parse_id(row.read_text(0)?))?;
        if let Some(id) = holder {
            return Ok(id);
        }
        let sql = "SELECT id FROM icecore_jobs WHERE id = ?";
        let existing = self.query_first(sql, &[Value::Text(&job.id.to_string())], |row| parse_id(row.read_text(0)?))?;
        existing.ok_or_else(|| Error::new(ErrorKind::Busy, "a job with the same key is added and removed all the time"))
    }
}
