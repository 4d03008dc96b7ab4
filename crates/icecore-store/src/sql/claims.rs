//! Claims: handing out ready jobs, and freeing jobs whose lease ended.
//!
//! A job is handed out by one statement, or one transaction, that writes a new token into its row.

use super::jobs::{COLUMN_COUNT, job_columns, job_from_row};
use super::{SqlBackend, repeat_while_busy};
use crate::claim_request::{ClaimOperations, ClaimRequest, ExpiryChecks};
use crate::describe;
use crate::driver::{ResultRow, Value};
use crate::error::{Error, Result};
use crate::job::{Job, State};
use crate::rules::{ORPHANED, required, to_millis};

/// Maximum number of ended leases handled in one call.
const MAX_ENDED_LEASES: i64 = 512;
/// Numbers of sequences that one statement can list. A shorter list is filled up to the next of these numbers, so
/// that there are only four different statements to prepare.
const SEQUENCE_COUNTS: [usize; 4] = [1, 8, 64, 512];

/// Condition that a queue is not paused.
macro_rules! is_not_paused {
    () => {
        "NOT EXISTS (SELECT 1 FROM icecore_queues WHERE name = ? AND paused_at IS NOT NULL)"
    };
}

/// Condition that a queue is neither paused nor limited.
macro_rules! has_no_limits {
    () => {
        "NOT EXISTS (SELECT 1 FROM icecore_queues WHERE name = ? \
         AND (paused_at IS NOT NULL OR concurrency IS NOT NULL OR rate_count IS NOT NULL))"
    };
}

/// Query for the next jobs of a queue, under a condition on the queue.
macro_rules! select_ready_jobs {
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

/// Statement that hands out the next jobs. `MATERIALIZED` makes PostgreSQL run the inner query once. Otherwise
/// PostgreSQL could run the query again for each row, and hand out more jobs than the limit.
macro_rules! claim_statement {
    ($condition:expr) => {
        concat!(
            "WITH next AS MATERIALIZED (",
            select_ready_jobs!("seq", $condition),
            ") UPDATE icecore_jobs SET state = 'leased', attempts = attempts + 1, token = ?, worker = ?, \
             lease_until = {clock} + ? WHERE seq {any}(SELECT seq FROM next){any_end} RETURNING ",
            job_columns!()
        )
    };
}

/// Query for the next jobs, and the time at which their lease would end, for databases without `RETURNING`.
macro_rules! select_for_claim {
    ($condition:expr) => {
        select_ready_jobs!(concat!(job_columns!(), ", {clock} + ?"), $condition)
    };
}

/// A row that was handed out: its sequence, and its job or the error of an invalid row.
type ClaimedRow = (i64, Result<Job>);

impl ClaimOperations for SqlBackend {
    fn expiry_checks(&mut self) -> &mut ExpiryChecks {
        &mut self.expiry_checks
    }

    fn hand_out_ready(&mut self, request: &ClaimRequest<'_>, max_jobs: usize, jobs: &mut Vec<Job>) -> Result<bool> {
        let (claimed, is_full) = self.take_jobs(request, max_jobs)?;
        // One invalid row must not keep the other jobs from their workers.
        let mut invalid = Vec::new();
        for (sequence, job) in claimed {
            match job {
                Ok(job) => jobs.push(job),
                Err(error) => invalid.push((sequence, error)),
            }
        }
        invalid.iter().try_for_each(|(sequence, error)| self.bury_invalid_job(*sequence, request.token, error))?;
        Ok(is_full)
    }

    fn release_ended_leases(&mut self, request: &ClaimRequest<'_>) -> Result<u64> {
        let (queue, token) = (Value::Text(request.queue), Value::Text(request.token));
        let ended = self.query_all(
            // Each half of the UNION reads one range of the index. An OR of the two conditions could make the
            // database read the leases that have not ended too.
            concat!(
                "SELECT seq FROM icecore_jobs WHERE state = 'leased' AND lease_until < {now} AND queue = ? \
                 AND COALESCE(token, '') <> ? AND ",
                is_not_paused!(),
                " UNION ALL SELECT seq FROM icecore_jobs WHERE state = 'leased' AND lease_until IS NULL AND queue = ? AND ",
                is_not_paused!(),
                " LIMIT ?"
            ),
            &[queue, token, queue, queue, queue, Value::Int(MAX_ENDED_LEASES)],
            |row| required(row.read_int(0)?),
        )?;
        self.expiry_checks.record_check(request.queue);
        // All programs change rows in the order of their sequences, so that there are no deadlocks. The UPDATE checks
        // the conditions again, because a lease may have been extended since the query found it.
        let ended = sort_sequences(ended);
        self.run_for_sequences(
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
    /// Hands out jobs. Returns them, and whether there may be more. A queue with limits needs another statement; the
    /// names of such queues are remembered from earlier calls.
    fn take_jobs(&mut self, request: &ClaimRequest<'_>, max_jobs: usize) -> Result<(Vec<ClaimedRow>, bool)> {
        if !self.limited_queues.contains(request.queue) {
            let claimed = match self.session.dialect().has_returning {
                true => repeat_while_busy(self.max_tries, || {
                    self.take_at_once(claim_statement!(has_no_limits!()), request, max_jobs)
                }),
                false => self.run_in_transaction(|backend| {
                    backend.take_in_steps(select_for_claim!(has_no_limits!()), request, max_jobs)
                }),
            }?;
            // The statement hands out nothing if there are no ready jobs, if the queue is paused, or if it has
            // limits. Only a queue with limits needs the other statement.
            if !claimed.is_empty() || !self.has_limits(request.queue)? {
                let is_full = claimed.len() == max_jobs;
                return Ok((claimed, is_full));
            }
            self.remember_limited(request.queue);
        }
        self.run_in_transaction(|backend| backend.take_limited(request, max_jobs))
    }

    /// Hands out jobs like `take_jobs`, but within the limits of the queue. The queue's row is locked until the jobs
    /// that are handed out are recorded.
    fn take_limited(&mut self, request: &ClaimRequest<'_>, max_jobs: usize) -> Result<(Vec<ClaimedRow>, bool)> {
        let limits = self.lock_limits(request.queue)?;
        if !limits.are_set() {
            self.limited_queues.remove(request.queue);
        }
        let available = self.find_free_places(request.queue, &limits, max_jobs)?;
        if available == 0 {
            return Ok((Vec::new(), false));
        }
        let claimed = match self.session.dialect().has_returning {
            true => self.take_at_once(claim_statement!(is_not_paused!()), request, available),
            false => self.take_in_steps(select_for_claim!(is_not_paused!()), request, available),
        }?;
        // The places of the queue are in use until the last of these leases ends.
        let lease_ends = claimed.iter().filter_map(|(_, job)| job.as_ref().ok()?.lease_until);
        self.record_usage(request.queue, limits, request, lease_ends.max(), claimed.len())?;
        // Fewer jobs than requested were handed out if no others are ready or if the limits allow no others. In both
        // cases another call would get nothing.
        let is_full = claimed.len() == max_jobs;
        Ok((claimed, is_full))
    }

    /// Hands out jobs with one statement that returns them.
    fn take_at_once(
        &mut self,
        sql: &'static str,
        request: &ClaimRequest<'_>,
        max_jobs: usize,
    ) -> Result<Vec<ClaimedRow>> {
        let values = [
            Value::Text(request.queue),
            Value::Text(request.queue),
            Value::Int(i64::try_from(max_jobs).unwrap_or(i64::MAX)),
            Value::Text(request.token),
            Value::Text(request.worker),
            Value::Int(to_millis(request.lease)),
        ];
        self.query_all(sql, &values, read_claimed_row)
    }

    /// Hands out jobs like `take_at_once`, but for a database that can't return the rows that it changed.
    fn take_in_steps(
        &mut self,
        sql: &'static str,
        request: &ClaimRequest<'_>,
        max_jobs: usize,
    ) -> Result<Vec<ClaimedRow>> {
        let values = [
            Value::Int(to_millis(request.lease)),
            Value::Text(request.queue),
            Value::Text(request.queue),
            Value::Int(i64::try_from(max_jobs).unwrap_or(i64::MAX)),
        ];
        // The query returns the end of the lease for each row. The UPDATE needs one value for all rows: the latest.
        let mut until = 0;
        let mut claimed = self.query_all(sql, &values, |row| {
            until = until.max(required(row.read_int(COLUMN_COUNT)?)?);
            read_claimed_row(row)
        })?;
        let sequences: Vec<i64> = claimed.iter().map(|(sequence, _)| *sequence).collect();
        self.run_for_sequences(
            "UPDATE icecore_jobs SET state = 'leased', attempts = attempts + 1, token = ?, worker = ?, \
             lease_until = ? WHERE seq IN ({each ?})",
            &[Value::Text(request.token), Value::Text(request.worker), Value::Int(until)],
            &sequences,
        )?;
        // The query read the jobs before the UPDATE, so the same changes are made to them here.
        for job in claimed.iter_mut().filter_map(|(_, job)| job.as_mut().ok()) {
            (job.state, job.attempts) = (State::Leased, job.attempts.saturating_add(1));
            (job.worker, job.lease_until) = (Some(request.worker.to_owned()), Some(until));
        }
        Ok(claimed)
    }

    /// Marks a job as dead, and records the error. The row of this job is invalid, because another program wrote it.
    fn bury_invalid_job(&mut self, sequence: i64, token: &str, error: &Error) -> Result<()> {
        self.run_statement(
            "UPDATE icecore_jobs SET state = 'dead', token = NULL, live_key = NULL, lease_until = NULL, \
             finished_at = {now}, error = ? WHERE seq = ? AND token = ?",
            &[Value::Text(&describe::without_nul(&error.to_string())), Value::Int(sequence), Value::Text(token)],
        )
        .map(drop)
    }

    /// Marks the jobs that wait for a removed job as dead, and records the reason.
    pub(super) fn bury_orphans(&mut self) -> Result<()> {
        let orphans = self.query_all(
            "SELECT seq FROM icecore_jobs AS behind WHERE state = 'waiting' AND after_id IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM icecore_jobs AS before_it WHERE before_it.id = behind.after_id) ORDER BY seq",
            &[],
            |row| required(row.read_int(0)?),
        )?;
        self.run_for_sequences(
            "UPDATE icecore_jobs SET state = 'dead', live_key = NULL, finished_at = {now}, error = ? \
             WHERE state = 'waiting' AND seq IN ({each ?})",
            &[Value::Text(ORPHANED)],
            &orphans,
        )
        .map(drop)
    }

    /// Runs a statement that ends with a list of sequences. Returns how many rows it changed.
    fn run_for_sequences(&mut self, sql: &'static str, values: &[Value<'_>], sequences: &[i64]) -> Result<u64> {
        let mut changed = 0;
        for chunk in sequences.chunks(SEQUENCE_COUNTS[SEQUENCE_COUNTS.len() - 1]) {
            let count = SEQUENCE_COUNTS.into_iter().find(|count| *count >= chunk.len()).unwrap_or(chunk.len());
            let mut values = values.to_vec();
            values.extend(chunk.iter().map(|sequence| Value::Int(*sequence)));
            // The last sequence is repeated until the list is full. This is harmless, because a row that is listed
            // twice is changed once.
            let last = chunk.last().map(|sequence| Value::Int(*sequence));
            values.extend(last.into_iter().cycle().take(count - chunk.len()));
            changed += self.run_for_rows(sql, count, &values)?;
        }
        Ok(changed)
    }
}

fn read_claimed_row(row: &dyn ResultRow) -> Result<ClaimedRow> {
    Ok((required(row.read_int(1)?)?, job_from_row(row)))
}

fn sort_sequences(mut sequences: Vec<i64>) -> Vec<i64> {
    sequences.sort_unstable();
    sequences
}
