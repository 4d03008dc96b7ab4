//! Jobs: claiming, finishing and listing them.
//!
//! A job can be finished, returned or extended only with the token of its lease, and only before the lease ends.

use super::{SqlBackend, error_in_row};
use crate::backend::{Each, Jobs};
use crate::claim_request::{ClaimRequest, hand_out};
use crate::describe;
use crate::dialect::RowBatching;
use crate::driver::{ResultRow, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::job::{Ack, Job, JobFilter, Lease, NewJob, Pushed, State};
use crate::rules::{
    backoff_after, check_actor_name, check_name, first_backoff, lease_error, new_token, parse_id, payload_from_columns,
    queue_limited_error, queue_paused_error, required, to_millis, waiting_job_error,
};
use std::collections::HashSet;
use std::time::Duration;

/// Maximum number of tries of a redrive that conflicts with other programs.
const MAX_REDRIVE_TRIES: usize = 8;

/// Columns of a job.
macro_rules! job_columns {
    () => {
        "id, seq, queue, state, priority, queued_at, run_at, attempts, max_attempts, unique_key, \
         lease_until, worker, finished_at, error, replay_of, format, checksum, bytes, base64, json, problem, \
         result, after_id"
    };
}
pub(super) use job_columns;

/// Number of columns of a job. If a query selects further columns, the first of them has this index.
pub(super) const COLUMN_COUNT: usize = 23;

macro_rules! select_jobs {
    ($conditions:literal) => {
        concat!("SELECT ", job_columns!(), " FROM icecore_jobs ", $conditions)
    };
}

/// Condition that a lease has not ended. The statements find the job by its id. Without `COALESCE`, PostgreSQL might
/// use the index of all leases instead, and read many rows.
macro_rules! lease_is_valid {
    () => {
        "COALESCE(state, '') = 'leased' AND COALESCE(lease_until, 0) >= {now}"
    };
}

/// Statement that marks a job as done, if the token is right and the lease has not ended.
macro_rules! ack_statement {
    () => {
        concat!(
            "UPDATE icecore_jobs SET state = 'done', token = NULL, live_key = NULL, lease_until = NULL, \
             finished_at = {now}, error = NULL, result = ? WHERE id = ? AND token = ? AND ",
            lease_is_valid!()
        )
    };
}
/// The same as `ack_statement!`, but only for a job that no other job waits for.
const ACK_ALONE: &str = concat!(ack_statement!(), " AND followed IS NULL");
/// The same as `ACK_ALONE`, but for many jobs. It returns the positions of the changed jobs in the lists, counted
/// from 1.
const ACK_MANY: &str = concat!(
    "UPDATE icecore_jobs SET state = 'done', token = NULL, live_key = NULL, lease_until = NULL, \
     finished_at = {now}, error = NULL, result = acked.result \
     FROM unnest(CAST(? AS TEXT[]), CAST(? AS TEXT[]), CAST(? AS BYTEA[])) WITH ORDINALITY \
     AS acked (id, token, result, place) WHERE icecore_jobs.id = acked.id COLLATE \"C\" \
     AND icecore_jobs.token = acked.token COLLATE \"C\" AND ",
    lease_is_valid!(),
    " AND followed IS NULL RETURNING place"
);
/// Maximum number of bytes of results in one statement.
const MAX_RESULT_BYTES: usize = 16 << 20;

/// Returns the job in a row of `job_columns!`. The numbers below are indexes of these columns.
pub(super) fn job_from_row(row: &dyn ResultRow) -> Result<Job> {
    let count = |column| -> Result<u32> { Ok(u32::try_from(required(row.read_int(column)?)?).unwrap_or(u32::MAX)) };
    let state = required(row.read_text(3)?)?;
    let mut job = Job {
        id: parse_id(row.read_text(0)?)?,
        sequence: required(row.read_int(1)?)?,
        queue: required(row.read_text(2)?)?,
        state: State::from_name(&state)
            .ok_or_else(|| Error::new(ErrorKind::Database, format!("{state:?} is not a state of a job")))?,
        priority: required(row.read_int(4)?)?.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
        queued_at: required(row.read_int(5)?)?,
        run_at: required(row.read_int(6)?)?,
        attempts: count(7)?,
        max_attempts: count(8)?,
        unique_key: row.read_text(9)?,
        lease_until: row.read_int(10)?,
        worker: row.read_text(11)?,
        finished_at: row.read_int(12)?,
        error: row.read_text(13)?,
        replay_of: row.read_text(14)?.map(|text| parse_id(Some(text))).transpose()?,
        after: row.read_text(22)?.map(|text| parse_id(Some(text))).transpose()?,
        format: row.read_text(15)?,
        checksum: String::new(),
        bytes: payload_from_columns(row.read_bytes(17)?, row.read_text(18)?)?,
        json: row.read_text(19)?,
        problem: row.read_text(20)?,
        result: row.read_bytes(21)?,
    };
    // A job that a program inserted by SQL has no checksum, format and JSON yet, so they are computed here.
    match row.read_text(16)? {
        Some(checksum) => job.checksum = checksum,
        None => {
            let description = describe::describe(&job.bytes, job.format.as_deref());
            (job.checksum, job.format, job.json, job.problem) =
                (description.checksum, description.format, description.json, description.problem);
        }
    }
    Ok(job)
}

impl Jobs for SqlBackend {
    fn push(&mut self, jobs: &[NewJob]) -> Result<Vec<Pushed>> {
        self.push_jobs(jobs)
    }

    fn claim(&mut self, queue: &str, worker: &str, lease: Duration, max_jobs: usize) -> Result<Vec<Lease>> {
        hand_out(self, &ClaimRequest { queue, worker, lease, token: &new_token() }, max_jobs)
    }

    fn push_and_claim(&mut self, job: &NewJob, worker: &str, lease: Duration) -> Result<Option<Lease>> {
        check_name("worker", worker)?;
        if job.after.is_some() {
            return Err(waiting_job_error());
        }
        let token = new_token();
        let request = ClaimRequest { queue: &job.queue, worker, lease, token: &token };
        let job = self.run_in_transaction(|backend| {
            let limits = backend.lock_limits(&job.queue)?;
            if limits.is_paused {
                return Err(queue_paused_error(&job.queue));
            }
            if backend.find_free_places(&job.queue, &limits, 1)? == 0 {
                return Err(queue_limited_error(&job.queue));
            }
            let pushed = backend.push_jobs(std::slice::from_ref(job))?;
            if !pushed.iter().all(|pushed| pushed.is_new) {
                return Ok(None);
            }
            backend.hand_out_new(job.id, &request)?;
            let job = required(backend.job(job.id)?)?;
            backend.record_usage(&job.queue, limits, &request, job.lease_until, 1)?;
            Ok(Some(job))
        })?;
        Ok(job.map(|job| Lease { job, token }))
    }

    fn ack(&mut self, id: Id, token: &str, result: Option<&[u8]>) -> Result<()> {
        // Most jobs have no followers, so one statement is enough for them. If it changes no row, the job has
        // followers or the lease is not valid. `ack_followed` handles both.
        let is_done = self.ack_alone(id, token, result)?
            || self.run_in_transaction(|backend| backend.ack_followed(id, token, result))?;
        if is_done { Ok(()) } else { Err(self.find_lease_error(id)?) }
    }

    fn ack_many(&mut self, acks: &[Ack]) -> Result<Vec<Result<()>>> {
        let are_done = self.run_in_transaction(|backend| {
            let mut are_done = match backend.session.dialect().many {
                RowBatching::Lists => backend.ack_lists(acks)?,
                RowBatching::Rows(_) => acks
                    .iter()
                    .map(|ack| backend.ack_alone(ack.id, &ack.token, ack.result.as_deref()))
                    .collect::<Result<Vec<bool>>>()?,
            };
            // The jobs that were not changed have followers, or their lease is not valid.
            for (ack, is_done) in acks.iter().zip(&mut are_done).filter(|(_, is_done)| !**is_done) {
                *is_done = backend.ack_followed(ack.id, &ack.token, ack.result.as_deref())?;
            }
            Ok(are_done)
        })?;
        let to_result = |(ack, is_done): (&Ack, bool)| match is_done {
            true => Ok(Ok(())),
            false => self.find_lease_error(ack.id).map(Err),
        };
        acks.iter().zip(are_done).map(to_result).collect()
    }

    fn nack(&mut self, id: Id, token: &str, error: &str, delay: Option<Duration>) -> Result<State> {
        let (text, error) = (id.to_string(), describe::without_nul(error));
        let state = self.run_in_transaction(|backend| {
            let found = backend.query_first(
                concat!(
                    "SELECT queue, attempts, max_attempts FROM icecore_jobs WHERE id = ? AND token = ? AND ",
                    lease_is_valid!()
                ),
                &[Value::Text(&text), Value::Text(token)],
                |row| Ok((required(row.read_text(0)?)?, required(row.read_int(1)?)?, required(row.read_int(2)?)?)),
            )?;
            let Some((queue, attempts, max_attempts)) = found else { return Ok(None) };
            let state = if attempts >= max_attempts { State::Dead } else { State::Ready };
            let delay = match delay {
                Some(delay) => delay,
                None => backoff_after(backend.first_backoff(&queue)?, attempts),
            };
            let token = Value::Text(token);
            let changed = match state {
                State::Dead => backend.run_statement(
                    "UPDATE icecore_jobs SET state = 'dead', token = NULL, live_key = NULL, lease_until = NULL, \
                     finished_at = {now}, error = ? WHERE id = ? AND token = ?",
                    &[Value::Text(&error), Value::Text(&text), token],
                ),
                _ => backend.run_statement(
                    "UPDATE icecore_jobs SET state = 'ready', token = NULL, lease_until = NULL, \
                     run_at = {now} + ?, error = ? WHERE id = ? AND token = ?",
                    &[Value::Int(to_millis(delay)), Value::Text(&error), Value::Text(&text), token],
                ),
            }?;
            Ok((changed == 1).then_some(state))
        })?;
        match state {
            Some(state) => Ok(state),
            None => Err(self.find_lease_error(id)?),
        }
    }

    fn extend(&mut self, id: Id, token: &str, lease: Duration) -> Result<i64> {
        let text = id.to_string();
        // Both statements are in one transaction. Otherwise this lease could end between them and another worker's
        // lease could begin, and the second statement would return the end of the other lease.
        let until = self.run_in_transaction(|backend| {
            let changed = backend.run_statement(
                concat!(
                    "UPDATE icecore_jobs SET lease_until = {now} + ? WHERE id = ? AND token = ? AND ",
                    lease_is_valid!()
                ),
                &[Value::Int(to_millis(lease)), Value::Text(&text), Value::Text(token)],
            )?;
            if changed != 1 {
                return Ok(None);
            }
            let sql = "SELECT lease_until FROM icecore_jobs WHERE id = ?";
            backend.query_first(sql, &[Value::Text(&text)], |row| required(row.read_int(0)?))
        })?;
        match until {
            Some(until) => Ok(until),
            None => Err(self.find_lease_error(id)?),
        }
    }

    fn job(&mut self, id: Id) -> Result<Option<Job>> {
        self.query_first(select_jobs!("WHERE id = ?"), &[Value::Text(&id.to_string())], job_from_row)
    }

    fn jobs(&mut self, filter: &JobFilter, max_jobs: usize, each: Each<'_, Job>) -> Result<()> {
        if filter.queue.as_deref().is_some_and(|queue| check_name("queue", queue).is_err()) {
            return Ok(());
        }
        let queue = Value::text_or_null(filter.queue.as_deref());
        let state = Value::text_or_null(filter.state.map(State::name));
        let limit = Value::Int(i64::try_from(max_jobs).unwrap_or(i64::MAX));
        let mut pass_row = |row: &dyn ResultRow| each(job_from_row(row).map_err(|error| error_in_row(row, &error))?);
        match filter.before {
            None => self.query_each(
                select_jobs!(
                    "WHERE seq > ? AND (CAST(? AS {string}) IS NULL OR queue = ?) AND (CAST(? AS {string}) IS NULL OR state = ?) \
                     ORDER BY seq LIMIT ?"
                ),
                &[Value::Int(filter.after), queue, queue, state, state, limit],
                &mut pass_row,
            ),
            Some(before) => self.query_each(
                select_jobs!(
                    "WHERE seq > ? AND seq < ? AND (CAST(? AS {string}) IS NULL OR queue = ?) \
                     AND (CAST(? AS {string}) IS NULL OR state = ?) ORDER BY seq DESC LIMIT ?"
                ),
                &[Value::Int(filter.after), Value::Int(before), queue, queue, state, state, limit],
                &mut pass_row,
            ),
        }
    }

    fn redrive(&mut self, queue: &str, ids: Option<&[Id]>, actor: &str) -> Result<u64> {
        check_name("queue", queue)?;
        check_actor_name(actor)?;
        for _ in 0..MAX_REDRIVE_TRIES {
            match self.run_in_transaction(|backend| backend.redrive_now(queue, ids, actor)) {
                // Another program pushed a job with the same key between the check and the change. The next try sees
                // it.
                Err(error) if error.kind() == ErrorKind::Taken => {}
                result => return result,
            }
        }
        Err(Error::new(ErrorKind::Busy, "other clients are pushing jobs with the same keys as the redriven ones"))
    }

    fn replay(&mut self, id: Id, actor: &str) -> Result<Id> {
        check_actor_name(actor)?;
        let job = self.job(id)?.ok_or_else(|| Error::new(ErrorKind::Missing, format!("there is no job {id}")))?;
        let replayed = NewJob {
            id: Id::new(),
            description: describe::describe(&job.bytes, job.format.as_deref()),
            queue: job.queue,
            bytes: job.bytes,
            priority: job.priority,
            delay: Duration::ZERO,
            unique_key: None,
            max_attempts: Some(job.max_attempts),
            replay_of: Some(id),
            after: None,
        };
        self.run_in_transaction(|backend| {
            backend.push_jobs(std::slice::from_ref(&replayed))?;
            backend.add_audit_entry(actor, "replay", &id.to_string(), 1)
        })?;
        Ok(replayed.id)
    }

    fn remove_ended_jobs(&mut self, before: i64) -> Result<u64> {
        self.run_in_transaction(|backend| {
            let count = backend.run_statement(
                "DELETE FROM icecore_jobs WHERE finished_at < ? AND (state = 'done' OR state = 'dead')",
                &[Value::Int(before)],
            )?;
            if count > 0 {
                backend.bury_orphans()?;
            }
            Ok(count)
        })
    }
}

impl SqlBackend {
    /// Marks a job as done if no other job waits for it. Returns true if the job was changed.
    fn ack_alone(&mut self, id: Id, token: &str, result: Option<&[u8]>) -> Result<bool> {
        let id = id.to_string();
        Ok(self.run_statement(ACK_ALONE, &[Value::bytes_or_null(result), Value::Text(&id), Value::Text(token)])? == 1)
    }

    /// Marks any job as done, and makes the jobs that waited for it ready. Returns true if the lease was valid.
    fn ack_followed(&mut self, id: Id, token: &str, result: Option<&[u8]>) -> Result<bool> {
        let id = id.to_string();
        if token.contains('\0')
            || self.run_statement(
                ack_statement!(),
                &[Value::bytes_or_null(result), Value::Text(&id), Value::Text(token)],
            )? != 1
        {
            return Ok(false);
        }
        self.run_statement(
            "UPDATE icecore_jobs SET state = 'ready', run_at = CASE WHEN run_at > {now} THEN run_at ELSE {now} END \
             WHERE after_id = ? AND state = 'waiting'",
            &[Value::Text(&id)],
        )?;
        Ok(true)
    }

    /// Marks the jobs that no other job waits for as done. Returns for each job whether it was marked.
    fn ack_lists(&mut self, acks: &[Ack]) -> Result<Vec<bool>> {
        let mut leases = HashSet::new();
        // If one lease has two acks, only the first one counts. An ack whose token contains U+0000 is not sent,
        // because the database can't store such a text, so no lease has this token.
        let mut sent: Vec<(usize, &Ack)> = acks.iter().enumerate().collect();
        sent.retain(|(_, ack)| !ack.token.contains('\0') && leases.insert((ack.id, &ack.token)));
        let mut are_done = vec![false; acks.len()];
        // Each group is as large as the limit for results allows. A single larger result is sent alone.
        let mut rest = &sent[..];
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |(_, ack): &&(usize, &Ack)| {
                bytes += ack.result.as_ref().map_or(0, Vec::len);
                bytes <= MAX_RESULT_BYTES
            };
            let (group, others) = rest.split_at(rest.iter().take_while(fits).count().max(1));
            for index in self.ack_list(group)? {
                are_done[index] = true;
            }
            rest = others;
        }
        Ok(are_done)
    }

    /// Marks jobs as done with one statement. Each ack has its index in the caller's list. Returns the indexes of the
    /// jobs that the statement changed.
    fn ack_list(&mut self, acks: &[(usize, &Ack)]) -> Result<Vec<usize>> {
        let ids: Vec<String> = acks.iter().map(|(_, ack)| ack.id.to_string()).collect();
        let ids: Vec<Value<'_>> = ids.iter().map(|id| Value::Text(id)).collect();
        let tokens: Vec<Value<'_>> = acks.iter().map(|(_, ack)| Value::Text(&ack.token)).collect();
        let results: Vec<Value<'_>> = acks.iter().map(|(_, ack)| Value::bytes_or_null(ack.result.as_deref())).collect();
        let values = [Value::List(&ids), Value::List(&tokens), Value::List(&results)];
        let positions = self.query_all(ACK_MANY, &values, |row| required(row.read_int(0)?))?;
        // `WITH ORDINALITY` counts from 1.
        let index = |position: i64| acks.get(usize::try_from(position - 1).ok()?).map(|(index, _)| *index);
        Ok(positions.into_iter().filter_map(index).collect())
    }

    /// Hands out a job that was pushed in the same transaction.
    fn hand_out_new(&mut self, id: Id, request: &ClaimRequest<'_>) -> Result<()> {
        self.run_statement(
            "UPDATE icecore_jobs SET state = 'leased', attempts = attempts + 1, token = ?, worker = ?, \
             lease_until = {now} + ? WHERE id = ?",
            &[
                Value::Text(request.token),
                Value::Text(request.worker),
                Value::Int(to_millis(request.lease)),
                Value::Text(&id.to_string()),
            ],
        )
        .map(drop)
    }

    /// Returns the error that explains why this job can't be changed with the caller's token.
    fn find_lease_error(&mut self, id: Id) -> Result<Error> {
        let sql = "SELECT state FROM icecore_jobs WHERE id = ?";
        let state = self.query_first(sql, &[Value::Text(&id.to_string())], |row| required(row.read_text(0)?))?;
        Ok(lease_error(id, state.as_deref()))
    }

    /// Makes jobs ready, in a transaction.
    fn redrive_now(&mut self, queue: &str, ids: Option<&[Id]>, actor: &str) -> Result<u64> {
        let name = Value::Text(queue);
        let mut dead = Vec::new();
        let id_and_key = |row: &dyn ResultRow| Ok((required(row.read_text(0)?)?, row.read_text(1)?));
        match ids {
            Some(ids) => {
                for id in ids {
                    let sql = "SELECT id, unique_key FROM icecore_jobs WHERE id = ? AND queue = ? AND state = 'dead'";
                    dead.extend(self.query_first(sql, &[Value::Text(&id.to_string()), name], id_and_key)?);
                }
            }
            None => {
                dead = self.query_all(
                    "SELECT id, unique_key FROM icecore_jobs WHERE queue = ? AND state = 'dead' ORDER BY seq {skip_locked}",
                    &[name],
                    id_and_key,
                )?;
            }
        }
        let mut count = 0;
        for id in ids.unwrap_or_default() {
            count += self.run_statement(
                "UPDATE icecore_jobs SET run_at = {now} WHERE id = ? AND queue = ? AND state = 'ready' AND run_at > {now}",
                &[Value::Text(&id.to_string()), name],
            )?;
        }
        for (id, mut key) in dead {
            if let Some(text) = &key {
                // If another job has the key now, this one continues without it.
                let sql = "SELECT id FROM icecore_jobs WHERE queue = ? AND live_key = ?";
                if self.query_first(sql, &[name, Value::Text(text)], |row| row.read_text(0))?.is_some() {
                    key = None;
                }
            }
            count += self.run_statement(
                "UPDATE icecore_jobs SET state = 'ready', attempts = 0, live_key = ?, run_at = {now}, \
                 lease_until = NULL, finished_at = NULL WHERE id = ? AND queue = ? AND state = 'dead'",
                &[Value::text_or_null(key.as_deref()), Value::Text(&id), name],
            )?;
        }
        self.add_audit_entry(actor, "redrive", queue, count)?;
        Ok(count)
    }

    /// Returns how long jobs of a queue wait after their first failure.
    fn first_backoff(&mut self, queue: &str) -> Result<Duration> {
        let sql = "SELECT backoff FROM icecore_queues WHERE name = ?";
        let backoff = self.query_first(sql, &[Value::Text(queue)], |row| row.read_int(0))?.flatten();
        Ok(first_backoff(backoff))
    }
}
