//! Jobs: from the queue to a worker, and what becomes of them.
//!
//! A job is handed out by one transaction that writes a new token into its row. Only with
//! that token, and while the lease lasts, is it done, given back or kept longer.

use super::{SqlBackend, check_name, check_who, id_of, in_row, millis, payload, there};
use crate::backend::Each;
use crate::describe;
use crate::driver::{Row, Value};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::job::{Job, JobFilter, Lease, NewJob, Pushed, State};
use std::time::Duration;

/// How often a job is tried, unless its queue says something else.
const MAX_ATTEMPTS: u32 = 20;
/// How long it waits behind its first failure.
const BACKOFF: Duration = Duration::from_secs(5);
/// The longest that it waits.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60 * 60 * 24);
/// How often a redrive is tried that comes into the way of others.
const REDRIVES: usize = 8;

macro_rules! jobs {
    ($conditions:literal) => {
        concat!(
            "SELECT id, seq, queue, state, priority, queued_at, run_at, attempts, max_attempts, unique_key, \
             lease_until, worker, finished_at, error, replay_of, format, checksum, bytes, base64, json, problem, \
             result FROM icecore_jobs ",
            $conditions
        )
    };
}

fn job_of(row: &dyn Row) -> Result<Job> {
    let count = |column| -> Result<u32> { Ok(u32::try_from(there(row.int(column)?)?).unwrap_or(u32::MAX)) };
    let state = there(row.text(3)?)?;
    let mut job = Job {
        id: id_of(row.text(0)?)?,
        sequence: there(row.int(1)?)?,
        queue: there(row.text(2)?)?,
        state: State::named(&state)
            .ok_or_else(|| Error::new(ErrorKind::Database, format!("{state:?} is no state of a job")))?,
        priority: there(row.int(4)?)?.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
        queued_at: there(row.int(5)?)?,
        run_at: there(row.int(6)?)?,
        attempts: count(7)?,
        max_attempts: count(8)?,
        unique_key: row.text(9)?,
        lease_until: row.int(10)?,
        worker: row.text(11)?,
        finished_at: row.int(12)?,
        error: row.text(13)?,
        replay_of: row.text(14)?.map(|text| id_of(Some(text))).transpose()?,
        format: row.text(15)?,
        checksum: String::new(),
        bytes: payload(row.bytes(17)?, row.text(18)?)?,
        json: row.text(19)?,
        problem: row.text(20)?,
        result: row.bytes(21)?,
    };
    // What a program put there by SQL has no description yet.
    match row.text(16)? {
        Some(checksum) => job.checksum = checksum,
        None => {
            let said = describe::describe(&job.bytes, job.format.as_deref());
            (job.checksum, job.format, job.json, job.problem) = (said.checksum, said.format, said.json, said.problem);
        }
    }
    Ok(job)
}

/// The lease of a job that is handed out with it.
struct Handed<'h> {
    token: &'h str,
    worker: &'h str,
    lease: Duration,
}

impl<S: super::Session + ?Sized> SqlBackend<S> {
    /// Queues a job within a transaction, and hands it out at once if that is wanted.
    pub(super) fn push_job(&mut self, job: &NewJob, handed: Option<(&str, &str, Duration)>) -> Result<Pushed> {
        let handed = handed.map(|(token, worker, lease)| Handed { token, worker, lease });
        check_name("queue", &job.queue)?;
        if let Some(key) = &job.unique_key {
            check_name("unique key", key)?;
            let sql = "SELECT id FROM icecore_jobs WHERE queue = ? AND live_key = ?";
            if let Some(id) =
                self.first(sql, &[Value::Text(&job.queue), Value::Text(key)], |row| id_of(row.text(0)?))?
            {
                return Ok(Pushed { id, is_new: false });
            }
        }
        let most = match job.max_attempts {
            Some(most) => most.max(1),
            None => self.queue_limits(&job.queue)?.0,
        };
        let (id, replay_of) = (job.id.to_string(), job.replay_of.map(|id| id.to_string()));
        let (said, key) = (&job.said, Value::text(job.unique_key.as_deref()));
        let json = said.json.as_deref().map(describe::without_nul);
        let problem = said.problem.as_deref().map(describe::without_nul);
        let lease = Value::int(handed.as_ref().map(|handed| millis(handed.lease)));
        let inserted = self.run(
            "INSERT INTO icecore_jobs (id, queue, state, priority, queued_at, run_at, attempts, max_attempts, \
             unique_key, live_key, token, lease_until, worker, replay_of, format, checksum, bytes, json, problem) \
             VALUES (?, ?, ?, ?, {now}, {now} + ?, ?, ?, ?, ?, ?, {now} + ?, ?, ?, ?, ?, ?, ?, ?) {or_nothing}",
            &[
                Value::Text(&id),
                Value::Text(&job.queue),
                Value::Text(if handed.is_some() { State::Leased.name() } else { State::Ready.name() }),
                Value::Int(i64::from(job.priority)),
                Value::Int(millis(job.delay)),
                Value::Int(i64::from(handed.is_some())),
                Value::Int(i64::from(most)),
                key,
                key,
                Value::text(handed.as_ref().map(|handed| handed.token)),
                lease,
                Value::text(handed.as_ref().map(|handed| handed.worker)),
                Value::text(replay_of.as_deref()),
                Value::text(said.format.as_deref()),
                Value::Text(&said.checksum),
                Value::Bytes(&job.bytes),
                Value::text(json.as_deref()),
                Value::text(problem.as_deref()),
            ],
        )?;
        if inserted == 1 {
            return Ok(Pushed { id: job.id, is_new: true });
        }
        // The same one came before, or another one with the same key in between.
        let same =
            self.first("SELECT id FROM icecore_jobs WHERE id = ?", &[Value::Text(&id)], |row| id_of(row.text(0)?))?;
        if let Some(id) = same {
            return Ok(Pushed { id, is_new: false });
        }
        let sql = "SELECT id FROM icecore_jobs WHERE queue = ? AND live_key = ?";
        let found = self.first(sql, &[Value::Text(&job.queue), key], |row| id_of(row.text(0)?))?;
        let id = found.ok_or_else(|| Error::new(ErrorKind::Busy, "a job with the same key comes and goes"))?;
        Ok(Pushed { id, is_new: false })
    }

    pub(super) fn push_claimed(&mut self, job: &NewJob, worker: &str, lease: Duration) -> Result<Option<Lease>> {
        check_name("worker", worker)?;
        let token = Id::new().to_string();
        let pushed = self.transaction(|backend| backend.push_job(job, Some((&token, worker, lease))))?;
        if !pushed.is_new {
            return Ok(None);
        }
        let job = there(self.job_by_id(pushed.id)?)?;
        Ok(Some(Lease { job, token }))
    }

    pub(super) fn claim_jobs(&mut self, queue: &str, worker: &str, lease: Duration, most: usize) -> Result<Vec<Lease>> {
        check_name("queue", queue)?;
        check_name("worker", worker)?;
        if most == 0 || self.is_paused(queue)? {
            return Ok(Vec::new());
        }
        loop {
            let token = Id::new().to_string();
            let sequences = self.take_next(queue, worker, lease, most, &token)?;
            let is_none = sequences.is_empty();
            let mut leases = Vec::with_capacity(sequences.len());
            for sequence in sequences {
                let values = [Value::Int(sequence), Value::Text(&token)];
                // What is wrong with one row must not keep the others from their workers.
                match self.first(jobs!("WHERE seq = ? AND token = ?"), &values, |row| Ok(job_of(row)))? {
                    Some(Ok(job)) => leases.push(Lease { job, token: token.clone() }),
                    Some(Err(error)) => self.put_aside(sequence, &token, &error)?,
                    None => {}
                }
            }
            if is_none || !leases.is_empty() {
                return Ok(leases);
            }
        }
    }

    /// Hands out the next jobs of a queue; their sequences.
    fn take_next(&mut self, queue: &str, worker: &str, lease: Duration, most: usize, token: &str) -> Result<Vec<i64>> {
        let most = Value::Int(i64::try_from(most).unwrap_or(i64::MAX));
        let (queue, worker) = (Value::Text(queue), Value::Text(worker));
        self.transaction(|backend| {
            backend.free_ended_leases(queue)?;
            let next = backend.rows(
                "SELECT seq FROM icecore_jobs WHERE queue = ? AND state = 'ready' AND run_at <= {now} \
                 ORDER BY priority DESC, run_at, seq LIMIT ? {skip_locked}",
                &[queue, most],
                |row| there(row.int(0)?),
            )?;
            for sequence in &next {
                backend.run(
                    "UPDATE icecore_jobs SET state = 'leased', attempts = attempts + 1, token = ?, worker = ?, \
                     lease_until = {now} + ? WHERE seq = ?",
                    &[Value::Text(token), worker, Value::Int(millis(lease)), Value::Int(*sequence)],
                )?;
            }
            Ok(next)
        })
    }

    /// A job whose row makes no sense, as another program wrote it, is dead and says why.
    fn put_aside(&mut self, sequence: i64, token: &str, error: &Error) -> Result<()> {
        self.run(
            "UPDATE icecore_jobs SET state = 'dead', token = NULL, live_key = NULL, lease_until = NULL, \
             finished_at = {now}, error = ? WHERE seq = ? AND token = ?",
            &[Value::Text(&describe::without_nul(&error.to_string())), Value::Int(sequence), Value::Text(token)],
        )
        .map(drop)
    }

    /// Jobs whose worker said nothing in time are ready again, or dead.
    fn free_ended_leases(&mut self, queue: Value<'_>) -> Result<()> {
        let ended = self.rows(
            "SELECT seq FROM icecore_jobs WHERE state = 'leased' AND lease_until < {now} AND queue = ? \
             ORDER BY seq LIMIT 100 {skip_locked}",
            &[queue],
            |row| there(row.int(0)?),
        )?;
        for sequence in ended {
            let sequence = [Value::Int(sequence)];
            self.run(
                "UPDATE icecore_jobs SET state = 'dead', token = NULL, live_key = NULL, lease_until = NULL, \
                 finished_at = {now}, error = 'the lease ended' WHERE seq = ? AND attempts >= max_attempts",
                &sequence,
            )?;
            self.run(
                "UPDATE icecore_jobs SET state = 'ready', token = NULL, lease_until = NULL, error = 'the lease ended' \
                 WHERE seq = ? AND attempts < max_attempts",
                &sequence,
            )?;
        }
        Ok(())
    }

    /// Why a job can't be changed by who has this token.
    fn no_lease(&mut self, id: Id) -> Result<Error> {
        Ok(match self.job_by_id(id)? {
            None => Error::new(ErrorKind::Missing, format!("there is no job {id}")),
            Some(job) => Error::new(
                ErrorKind::Lease,
                format!(
                    "job {id} is {}, and not by this token: its lease ended, or was never this one",
                    job.state.name()
                ),
            ),
        })
    }

    pub(super) fn ack_job(&mut self, id: Id, token: &str, result: Option<&[u8]>) -> Result<()> {
        let changed = self.run(
            "UPDATE icecore_jobs SET state = 'done', token = NULL, live_key = NULL, lease_until = NULL, \
             finished_at = {now}, error = NULL, result = ? \
             WHERE id = ? AND token = ? AND state = 'leased' AND lease_until >= {now}",
            &[Value::bytes(result), Value::Text(&id.to_string()), Value::Text(token)],
        )?;
        if changed == 1 { Ok(()) } else { Err(self.no_lease(id)?) }
    }

    pub(super) fn nack_job(&mut self, id: Id, token: &str, error: &str, delay: Option<Duration>) -> Result<State> {
        let (text, error) = (id.to_string(), describe::without_nul(error));
        let state = self.transaction(|backend| {
            let found = backend.first(
                "SELECT queue, attempts, max_attempts FROM icecore_jobs WHERE id = ? AND token = ? \
                 AND state = 'leased' AND lease_until >= {now}",
                &[Value::Text(&text), Value::Text(token)],
                |row| Ok((there(row.text(0)?)?, there(row.int(1)?)?, there(row.int(2)?)?)),
            )?;
            let Some((queue, attempts, most)) = found else { return Ok(None) };
            let state = if attempts >= most { State::Dead } else { State::Ready };
            let delay = match delay {
                Some(delay) => delay,
                None => backoff(backend.queue_limits(&queue)?.1, attempts),
            };
            let token = Value::Text(token);
            let changed = match state {
                State::Dead => backend.run(
                    "UPDATE icecore_jobs SET state = 'dead', token = NULL, live_key = NULL, lease_until = NULL, \
                     finished_at = {now}, error = ? WHERE id = ? AND token = ?",
                    &[Value::Text(&error), Value::Text(&text), token],
                ),
                _ => backend.run(
                    "UPDATE icecore_jobs SET state = 'ready', token = NULL, lease_until = NULL, \
                     run_at = {now} + ?, error = ? WHERE id = ? AND token = ?",
                    &[Value::Int(millis(delay)), Value::Text(&error), Value::Text(&text), token],
                ),
            }?;
            Ok((changed == 1).then_some(state))
        })?;
        match state {
            Some(state) => Ok(state),
            None => Err(self.no_lease(id)?),
        }
    }

    pub(super) fn extend_lease(&mut self, id: Id, token: &str, lease: Duration) -> Result<i64> {
        let text = id.to_string();
        let changed = self.run(
            "UPDATE icecore_jobs SET lease_until = {now} + ? \
             WHERE id = ? AND token = ? AND state = 'leased' AND lease_until >= {now}",
            &[Value::Int(millis(lease)), Value::Text(&text), Value::Text(token)],
        )?;
        if changed != 1 {
            return Err(self.no_lease(id)?);
        }
        let sql = "SELECT lease_until FROM icecore_jobs WHERE id = ?";
        there(self.first(sql, &[Value::Text(&text)], |row| there(row.int(0)?))?)
    }

    pub(super) fn job_by_id(&mut self, id: Id) -> Result<Option<Job>> {
        self.first(jobs!("WHERE id = ?"), &[Value::Text(&id.to_string())], job_of)
    }

    pub(super) fn each_job(&mut self, filter: &JobFilter, most: usize, each: Each<'_, Job>) -> Result<()> {
        if filter.queue.as_deref().is_some_and(|queue| check_name("queue", queue).is_err()) {
            return Ok(());
        }
        let queue = Value::text(filter.queue.as_deref());
        let state = Value::text(filter.state.map(State::name));
        let most = Value::Int(i64::try_from(most).unwrap_or(i64::MAX));
        self.ask(
            jobs!(
                "WHERE seq > ? AND (CAST(? AS {string}) IS NULL OR queue = ?) AND (CAST(? AS {string}) IS NULL OR state = ?) \
                 ORDER BY seq LIMIT ?"
            ),
            &[Value::Int(filter.after), queue, queue, state, state, most],
            &mut |row| each(job_of(row).map_err(|error| in_row(row, &error))?),
        )
    }

    pub(super) fn redrive_jobs(&mut self, queue: &str, ids: Option<&[Id]>, by: &str) -> Result<u64> {
        check_name("queue", queue)?;
        check_who(by)?;
        for _ in 0..REDRIVES {
            match self.transaction(|backend| backend.redrive_now(queue, ids, by)) {
                // Another program took a key between the look at it and the change.
                Err(error) if error.kind() == ErrorKind::Taken => {}
                answer => return answer,
            }
        }
        Err(Error::new(ErrorKind::Busy, "others push jobs with the keys of those that are to be redriven"))
    }

    fn redrive_now(&mut self, queue: &str, ids: Option<&[Id]>, by: &str) -> Result<u64> {
        let name = Value::Text(queue);
        let mut dead = Vec::new();
        let make = |row: &dyn Row| Ok((there(row.text(0)?)?, row.text(1)?));
        match ids {
            Some(ids) => {
                for id in ids {
                    let sql = "SELECT id, unique_key FROM icecore_jobs WHERE id = ? AND queue = ? AND state = 'dead'";
                    dead.extend(self.first(sql, &[Value::Text(&id.to_string()), name], make)?);
                }
            }
            None => {
                dead = self.rows(
                    "SELECT id, unique_key FROM icecore_jobs WHERE queue = ? AND state = 'dead' ORDER BY seq {skip_locked}",
                    &[name],
                    make,
                )?;
            }
        }
        let mut count = 0;
        for (id, mut key) in dead {
            if let Some(text) = &key {
                // The key may be another job's by now: this one goes on without.
                let sql = "SELECT id FROM icecore_jobs WHERE queue = ? AND live_key = ?";
                if self.first(sql, &[name, Value::Text(text)], |row| row.text(0))?.is_some() {
                    key = None;
                }
            }
            count += self.run(
                "UPDATE icecore_jobs SET state = 'ready', attempts = 0, live_key = ?, run_at = {now}, \
                 lease_until = NULL, finished_at = NULL WHERE id = ? AND queue = ? AND state = 'dead'",
                &[Value::text(key.as_deref()), Value::Text(&id), name],
            )?;
        }
        self.note(by, "redrive", queue, count)?;
        Ok(count)
    }

    pub(super) fn replay_job(&mut self, id: Id, by: &str) -> Result<Id> {
        check_who(by)?;
        let job = self.job_by_id(id)?.ok_or_else(|| Error::new(ErrorKind::Missing, format!("there is no job {id}")))?;
        let again = NewJob {
            id: Id::new(),
            said: describe::describe(&job.bytes, job.format.as_deref()),
            queue: job.queue,
            bytes: job.bytes,
            priority: job.priority,
            delay: Duration::ZERO,
            unique_key: None,
            max_attempts: Some(job.max_attempts),
            replay_of: Some(id),
        };
        self.transaction(|backend| {
            backend.push_job(&again, None)?;
            backend.note(by, "replay", &id.to_string(), 1)
        })?;
        Ok(again.id)
    }

    pub(super) fn forget_jobs(&mut self, before: i64) -> Result<u64> {
        self.run(
            "DELETE FROM icecore_jobs WHERE finished_at < ? AND (state = 'done' OR state = 'dead')",
            &[Value::Int(before)],
        )
    }

    /// How often jobs of a queue are tried, and how long they wait behind the first failure.
    fn queue_limits(&mut self, queue: &str) -> Result<(u32, Duration)> {
        let sql = "SELECT max_attempts, backoff FROM icecore_queues WHERE name = ?";
        let found = self.first(sql, &[Value::Text(queue)], |row| Ok((row.int(0)?, row.int(1)?)))?;
        let (most, backoff) = found.unwrap_or((None, None));
        let most = most.and_then(|most| u32::try_from(most).ok()).unwrap_or(MAX_ATTEMPTS);
        let backoff = backoff.and_then(|millis| u64::try_from(millis).ok()).map_or(BACKOFF, Duration::from_millis);
        Ok((most.max(1), backoff))
    }
}

/// How long a job waits that failed so often: each time twice as long.
fn backoff(first: Duration, attempts: i64) -> Duration {
    let doubled = u32::try_from(attempts - 1).unwrap_or(0).min(20);
    first.saturating_mul(1 << doubled).min(LONGEST_BACKOFF)
}
