//! Limits of queues. They are checked and updated while the row of the queue is locked, so each claim sees what the
//! previous claim recorded.

use super::{Session, SqlBackend};
use crate::claim_request::ClaimRequest;
use crate::driver::Value;
use crate::error::Result;
use crate::limits::{Rate, RateUsage};
use crate::rules::{required, to_millis};

/// Maximum number of queues that are remembered as having limits.
const MAX_REMEMBERED_QUEUES: usize = 1024;

/// Limits of a queue.
#[derive(Default)]
pub(super) struct QueueLimits {
    pub(super) is_paused: bool,
    concurrency: Option<i64>,
    rate: Option<(Rate, RateUsage)>,
}

impl QueueLimits {
    pub(super) fn are_set(&self) -> bool {
        self.concurrency.is_some() || self.rate.is_some()
    }
}

impl<S: Session + ?Sized> SqlBackend<S> {
    /// Returns whether a queue has limits.
    pub(super) fn has_limits(&mut self, queue: &str) -> Result<bool> {
        let sql = "SELECT COUNT(*) FROM icecore_queues \
                   WHERE name = ? AND (concurrency IS NOT NULL OR rate_count IS NOT NULL)";
        Ok(self.query_first(sql, &[Value::Text(queue)], |row| row.read_int(0))?.flatten() == Some(1))
    }

    /// Remembers that a queue has limits. If too many queues are remembered, forgets the others: the next claim of
    /// each then finds its limits again.
    pub(super) fn remember_limited(&mut self, queue: &str) {
        if self.limited_queues.len() >= MAX_REMEMBERED_QUEUES {
            self.limited_queues.clear();
        }
        self.limited_queues.insert(queue.to_owned());
    }

    /// Returns the limits of a queue, and locks its row. A queue without a row does not have limits.
    pub(super) fn lock_limits(&mut self, queue: &str) -> Result<QueueLimits> {
        let sql = "SELECT paused_at, concurrency, rate_count, rate_per, rate_spent \
                   FROM icecore_queues WHERE name = ? {hold}";
        let limits = self.query_first(sql, &[Value::Text(queue)], |row| {
            let rate = Rate::from_columns(row.read_int(2)?, row.read_int(3)?);
            let usage = row.read_text(4)?.map_or_else(RateUsage::default, |text| RateUsage::parse(&text));
            Ok(QueueLimits {
                is_paused: row.read_int(0)?.is_some(),
                concurrency: row.read_int(1)?,
                rate: rate.map(|rate| (rate, usage)),
            })
        })?;
        Ok(limits.unwrap_or_default())
    }

    /// Returns how many jobs may be handed out, at most `max_jobs`.
    ///
    /// A lease counts until `release_ended_leases` ends it, even if its time has passed, because its worker may have
    /// extended it at the last moment.
    pub(super) fn find_free_places(&mut self, queue: &str, limits: &QueueLimits, max_jobs: usize) -> Result<usize> {
        if limits.is_paused {
            return Ok(0);
        }
        let mut available = i64::try_from(max_jobs).unwrap_or(i64::MAX);
        if let Some(concurrency) = limits.concurrency {
            let sql = "SELECT COUNT(*) FROM icecore_jobs WHERE queue = ? AND state = 'leased'";
            let leased = required(self.query_first(sql, &[Value::Text(queue)], |row| required(row.read_int(0)?))?)?;
            available = available.min(concurrency.saturating_sub(leased));
        }
        if let Some((rate, usage)) = &limits.rate {
            let now = self.read_time()?;
            available = available.min(i64::from(usage.count_remaining(*rate, now)));
        }
        // The number is negative if the limit was lowered below the number of leased jobs.
        Ok(usize::try_from(available).unwrap_or(0))
    }

    /// Adds jobs that were handed out to the usage of the rate. `until` is the latest end of their leases.
    pub(super) fn record_usage(
        &mut self,
        queue: &str,
        limits: QueueLimits,
        request: &ClaimRequest<'_>,
        until: Option<i64>,
        count: usize,
    ) -> Result<()> {
        let Some((rate, mut usage)) = limits.rate.filter(|_| count > 0) else { return Ok(()) };
        // The usage needs the time at which the database handed out the jobs. A lease began at that time, so its end
        // minus its length is that time.
        let now = match until {
            Some(until) => until.saturating_sub(to_millis(request.lease)),
            None => self.read_time()?,
        };
        usage.add_jobs(rate, now, count);
        let sql = "UPDATE icecore_queues SET rate_spent = ? WHERE name = ?";
        self.run_statement(sql, &[Value::Text(&usage.to_string()), Value::Text(queue)]).map(drop)
    }
}
