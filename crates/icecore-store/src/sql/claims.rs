//! Claims: which jobs are next, and those whose worker said nothing in time.
//!
//! A job is handed out by one statement, or one transaction, that writes a new token into its
//! row.

use super::jobs::{COLUMNS, columns, job_of};
use super::{SqlBackend, again};
use crate::describe;
use crate::driver::{Row, Value};
use crate::error::{Error, Result};
use crate::handing::{Handing, HandsOut, Looks};
use crate::job::{Job, State};
use crate::rules::{ORPHANED, millis, there};

/// How many ended leases are looked at in one go.
const ENDED: i64 = 512;
/// How many rows are changed by one statement that names them: the next larger one of these
/// numbers, so that there are few statements.
const NAMED: [usize; 4] = [1, 8, 64, 512];

/// Whether a queue is not paused.
macro_rules! is_on {
    () => {
        "NOT EXISTS (SELECT 1 FROM icecore_queues WHERE name = ? AND paused_at IS NOT NULL)"
    };
}

/// Whether a queue is neither paused nor limited.
macro_rules! is_free {
    () => {
        "NOT EXISTS (SELECT 1 FROM icecore_queues WHERE name = ? \
         AND (paused_at IS NOT NULL OR concurrency IS NOT NULL OR rate_count IS NOT NULL))"
    };
}

/// The jobs of a queue that are next, if it is as it has to be.
macro_rules! next {
    ($columns:expr, $condition:expr) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM icecore_jobs WHERE queue = ? AND state = 'ready' AND run_at <= {now} AND ",
            $condition,
            " ORDER BY priority DESC, run_at, seq LIMIT ? {skip_locked}"
        )
    };
}

/// Hands out those that are next by one statement.
macro_rules! take {
    ($condition:expr) => {
        concat!(
            "WITH next AS MATERIALIZED (",
            next!("seq", $condition),
            ") UPDATE icecore_jobs SET state = 'leased', attempts = attempts + 1, token = ?, worker = ?, \
             lease_until = {clock} + ? WHERE seq {any}(SELECT seq FROM next){any_end} RETURNING ",
            columns!()
        )
    };
}

/// Looks for those that are next, and asks until when their lease would last.
macro_rules! look {
    ($condition:expr) => {
        next!(concat!(columns!(), ", {clock} + ?"), $condition)
    };
}

/// A row that was handed out: its sequence, and the job, if it makes sense.
type Handed = (i64, Result<Job>);

impl HandsOut for SqlBackend {
    fn looks(&mut self) -> &mut Looks {
        &mut self.looks
    }

    fn hand_out_ready(&mut self, handing: &Handing<'_>, most: usize, jobs: &mut Vec<Job>) -> Result<bool> {
        let (handed, is_full) = self.take(handing, most)?;
        // What is wrong with one row must not keep the others from their workers.
        let mut senseless = Vec::new();
        for (sequence, job) in handed {
            match job {
                Ok(job) => jobs.push(job),
                Err(error) => senseless.push((sequence, error)),
            }
        }
        senseless.iter().try_for_each(|(sequence, error)| self.put_aside(*sequence, handing.token, error))?;
        Ok(is_full)
    }

    fn free_ended_leases(&mut self, handing: &Handing<'_>) -> Result<u64> {
        let (queue, token) = (Value::Text(handing.queue), Value::Text(handing.token));
        let ended = self.rows(
            // Two pieces of the index, so that leases that last are not read.
            concat!(
                "SELECT seq FROM icecore_jobs WHERE state = 'leased' AND lease_until < {now} AND queue = ? \
                 AND COALESCE(token, '') <> ? AND ",
                is_on!(),
                " UNION ALL SELECT seq FROM icecore_jobs WHERE state = 'leased' AND lease_until IS NULL AND queue = ? AND ",
                is_on!(),
                " LIMIT ?"
            ),
            &[queue, token, queue, queue, queue, Value::Int(ENDED)],
            |row| there(row.int(0)?),
        )?;
        self.looks.looked(handing.queue);
        // Rows are changed in one order by all, so that none waits for another one in a circle.
        let ended = sorted(ended);
        self.run_named(
            "UPDATE icecore_jobs SET state = CASE WHEN attempts >= max_attempts THEN 'dead' ELSE 'ready' END, \
             live_key = CASE WHEN attempts >= max_attempts THEN NULL ELSE live_key END, \
             finished_at = CASE WHEN attempts >= max_attempts THEN {now} ELSE NULL END, \
             token = NULL, lease_until = NULL, error = 'the lease ended' \
             WHERE COALESCE(state, '') = 'leased' AND COALESCE(lease_until, 0) < {now} \
             AND COALESCE(token, '') <> ? AND seq IN ({each ?})",
            &[token],
            &ended,
        )
    }
}

impl SqlBackend {
    /// Hands out jobs, and whether there may be more. A queue with limits is asked in another way;
    /// which ones these are is known from the last time.
    fn take(&mut self, handing: &Handing<'_>, most: usize) -> Result<(Vec<Handed>, bool)> {
        if !self.limited.contains(handing.queue) {
            let handed = match self.session.dialect().has_returning {
                true => again(self.tries, || self.take_at_once(take!(is_free!()), handing, most)),
                false => self.transaction(|backend| backend.take_in_steps(look!(is_free!()), handing, most)),
            }?;
            if !handed.is_empty() || !self.has_limits(handing.queue)? {
                let is_full = handed.len() == most;
                return Ok((handed, is_full));
            }
            self.remember_limited(handing.queue);
        }
        self.transaction(|backend| backend.take_limited(handing, most))
    }

    /// The same within the limits of the queue. Its row is held until what is handed out is
    /// recorded.
    fn take_limited(&mut self, handing: &Handing<'_>, most: usize) -> Result<(Vec<Handed>, bool)> {
        let limits = self.held_limits(handing.queue)?;
        if !limits.are_set() {
            self.limited.remove(handing.queue);
        }
        let room = self.room(handing.queue, &limits, most)?;
        if room == 0 {
            return Ok((Vec::new(), false));
        }
        let handed = match self.session.dialect().has_returning {
            true => self.take_at_once(take!(is_on!()), handing, room),
            false => self.take_in_steps(look!(is_on!()), handing, room),
        }?;
        let untils = handed.iter().filter_map(|(_, job)| job.as_ref().ok()?.lease_until);
        self.spend(handing.queue, limits, handing, untils.max(), handed.len())?;
        let is_full = handed.len() == most;
        Ok((handed, is_full))
    }

    fn take_at_once(&mut self, sql: &'static str, handing: &Handing<'_>, most: usize) -> Result<Vec<Handed>> {
        let values = [
            Value::Text(handing.queue),
            Value::Text(handing.queue),
            Value::Int(i64::try_from(most).unwrap_or(i64::MAX)),
            Value::Text(handing.token),
            Value::Text(handing.worker),
            Value::Int(millis(handing.lease)),
        ];
        self.rows(sql, &values, handed)
    }

    /// The same for a database that can't tell which rows it changed.
    fn take_in_steps(&mut self, sql: &'static str, handing: &Handing<'_>, most: usize) -> Result<Vec<Handed>> {
        let values = [
            Value::Int(millis(handing.lease)),
            Value::Text(handing.queue),
            Value::Text(handing.queue),
            Value::Int(i64::try_from(most).unwrap_or(i64::MAX)),
        ];
        let mut until = 0;
        let mut taken = self.rows(sql, &values, |row| {
            until = until.max(there(row.int(COLUMNS)?)?);
            handed(row)
        })?;
        let sequences: Vec<i64> = taken.iter().map(|(sequence, _)| *sequence).collect();
        self.run_named(
            "UPDATE icecore_jobs SET state = 'leased', attempts = attempts + 1, token = ?, worker = ?, \
             lease_until = ? WHERE seq IN ({each ?})",
            &[Value::Text(handing.token), Value::Text(handing.worker), Value::Int(until)],
            &sequences,
        )?;
        for job in taken.iter_mut().filter_map(|(_, job)| job.as_mut().ok()) {
            (job.state, job.attempts) = (State::Leased, job.attempts.saturating_add(1));
            (job.worker, job.lease_until) = (Some(handing.worker.to_owned()), Some(until));
        }
        Ok(taken)
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

    /// Jobs that wait for one that was taken away are dead, and say why.
    pub(super) fn bury_orphans(&mut self) -> Result<()> {
        let orphans = self.rows(
            "SELECT seq FROM icecore_jobs AS behind WHERE state = 'waiting' AND after_id IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM icecore_jobs AS before_it WHERE before_it.id = behind.after_id) ORDER BY seq",
            &[],
            |row| there(row.int(0)?),
        )?;
        self.run_named(
            "UPDATE icecore_jobs SET state = 'dead', live_key = NULL, finished_at = {now}, error = ? \
             WHERE state = 'waiting' AND seq IN ({each ?})",
            &[Value::Text(ORPHANED)],
            &orphans,
        )
        .map(drop)
    }

    /// Runs a statement that names rows at its end; how many it changed.
    fn run_named(&mut self, sql: &'static str, values: &[Value<'_>], sequences: &[i64]) -> Result<u64> {
        let mut changed = 0;
        for some in sequences.chunks(NAMED[NAMED.len() - 1]) {
            let count = NAMED.into_iter().find(|count| *count >= some.len()).unwrap_or(some.len());
            let mut values = values.to_vec();
            values.extend(some.iter().map(|sequence| Value::Int(*sequence)));
            // To name one again changes nothing.
            let last = some.last().map(|sequence| Value::Int(*sequence));
            values.extend(last.into_iter().cycle().take(count - some.len()));
            changed += self.run_many(sql, count, &values)?;
        }
        Ok(changed)
    }
}

fn handed(row: &dyn Row) -> Result<Handed> {
    Ok((there(row.int(1)?)?, job_of(row)))
}

fn sorted(mut sequences: Vec<i64>) -> Vec<i64> {
    sequences.sort_unstable();
    sequences
}
