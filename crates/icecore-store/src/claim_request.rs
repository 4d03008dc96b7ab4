//! Hands out jobs. Ready jobs are first, and then jobs whose lease has ended.
//!
//! A separate query finds ended leases. It does not run at every claim. While the queue has as many jobs as are
//! claimed, the query runs once per `EXPIRY_CHECK_INTERVAL`.

use crate::error::Result;
use crate::id::Id;
use crate::job::{Job, Lease};
use crate::rules::check_name;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How often to look for ended leases while ready jobs are handed out.
const EXPIRY_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of queues whose last check is remembered.
const MAX_CHECKED_QUEUES: usize = 1024;

/// Time of the last check for ended leases, for each queue. A queue that had fewer jobs than were claimed does not
/// have an entry, so that the next claim checks it.
#[derive(Default)]
pub(crate) struct ExpiryChecks(HashMap<String, Instant>);

impl ExpiryChecks {
    fn is_due(&self, queue: &str) -> bool {
        self.0.get(queue).is_none_or(|checked_at| checked_at.elapsed() >= EXPIRY_CHECK_INTERVAL)
    }

    pub(crate) fn record_check(&mut self, queue: &str) {
        if self.0.len() >= MAX_CHECKED_QUEUES {
            self.0.clear();
        }
        self.0.insert(queue.to_owned(), Instant::now());
    }

    /// Records that the queue had fewer jobs than were claimed. The next claim then checks for ended leases.
    fn record_empty_queue(&mut self, queue: &str) {
        self.0.remove(queue);
    }
}

/// Values that are written into the rows of jobs that are handed out.
pub(crate) struct ClaimRequest<'h> {
    pub(crate) queue: &'h str,
    pub(crate) worker: &'h str,
    pub(crate) lease: Duration,
    pub(crate) token: &'h str,
}

/// Operations of a database that [`hand_out`] needs.
pub(crate) trait ClaimOperations {
    fn expiry_checks(&mut self) -> &mut ExpiryChecks;
    /// Hands out up to `max_jobs` ready jobs. Returns whether there may be more.
    fn hand_out_ready(&mut self, request: &ClaimRequest<'_>, max_jobs: usize, jobs: &mut Vec<Job>) -> Result<bool>;
    /// Makes jobs with an ended lease ready again, or dead. Returns how many there were. Leased jobs without an end
    /// time count too (only another program writes such rows). Jobs that this claim handed out do not count.
    fn release_ended_leases(&mut self, request: &ClaimRequest<'_>) -> Result<u64>;
}

/// Hands out jobs. If a check for ended leases is due, it runs first. Otherwise it runs only if there are too few
/// ready jobs.
pub(crate) fn hand_out(
    backend: &mut impl ClaimOperations,
    request: &ClaimRequest<'_>,
    max_jobs: usize,
) -> Result<Vec<Lease>> {
    let queue = request.queue;
    check_name("queue", queue)?;
    check_name("worker", request.worker)?;
    if max_jobs == 0 {
        return Ok(Vec::new());
    }
    let mut has_checked = backend.expiry_checks().is_due(queue);
    if has_checked {
        backend.release_ended_leases(request)?;
    }
    let (mut jobs, mut batch_count) = (Vec::new(), 0);
    while jobs.len() < max_jobs {
        batch_count += 1;
        match backend.hand_out_ready(request, max_jobs - jobs.len(), &mut jobs) {
            Ok(true) => {}
            Ok(false) if has_checked => break,
            Ok(false) => {
                has_checked = true;
                if !matches!(backend.release_ended_leases(request), Ok(freed) if freed > 0) {
                    break;
                }
            }
            // Some jobs are already handed out to this worker, so it must get them in spite of the error.
            Err(_) if !jobs.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    if jobs.len() < max_jobs {
        backend.expiry_checks().record_empty_queue(queue);
    }
    // A job can occur twice only if several calls handed out jobs.
    if batch_count > 1 {
        keep_last_attempts(&mut jobs);
    }
    // A statement that changes rows returns them in any order.
    jobs.sort_by_key(|job: &Job| (Reverse(job.priority), job.run_at, job.sequence));
    Ok(jobs.into_iter().map(|job| Lease { job, token: request.token.to_owned() }).collect())
}

/// Keeps only the last attempt at each job. A lease may end while its claim still looks for more jobs. Then another
/// claim frees the job, and this claim may take it again under the same token.
fn keep_last_attempts(jobs: &mut Vec<Job>) {
    let last: HashMap<Id, u32> = jobs.iter().map(|job| (job.id, job.attempts)).collect();
    jobs.retain(|job| last[&job.id] == job.attempts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::State;

    /// A fake database. Each call of `hand_out_ready` hands out the next batch.
    struct FakeDatabase {
        expiry_checks: ExpiryChecks,
        batches: Vec<(Vec<Job>, bool)>,
    }

    impl ClaimOperations for FakeDatabase {
        fn expiry_checks(&mut self) -> &mut ExpiryChecks {
            &mut self.expiry_checks
        }

        fn hand_out_ready(&mut self, _: &ClaimRequest<'_>, max_jobs: usize, jobs: &mut Vec<Job>) -> Result<bool> {
            let (batch, has_more) = if self.batches.is_empty() { (Vec::new(), false) } else { self.batches.remove(0) };
            assert!(batch.len() <= max_jobs, "{} of {max_jobs}", batch.len());
            jobs.extend(batch);
            Ok(has_more)
        }

        fn release_ended_leases(&mut self, request: &ClaimRequest<'_>) -> Result<u64> {
            self.expiry_checks.record_check(request.queue);
            Ok(1)
        }
    }

    fn job(id: Id, sequence: i64, attempts: u32) -> Job {
        Job {
            id,
            sequence,
            queue: "q".to_owned(),
            state: State::Leased,
            priority: 0,
            queued_at: 0,
            run_at: 0,
            attempts,
            max_attempts: 20,
            unique_key: None,
            lease_until: None,
            worker: None,
            finished_at: None,
            error: None,
            replay_of: None,
            after: None,
            format: None,
            checksum: String::new(),
            bytes: Vec::new(),
            json: None,
            problem: None,
            result: None,
        }
    }

    #[test]
    fn a_job_that_one_claim_takes_twice_is_returned_once() {
        let (first, second, third) = (Id::new(), Id::new(), Id::new());
        let mut backend = FakeDatabase { expiry_checks: ExpiryChecks::default(), batches: Vec::new() };
        backend.expiry_checks.record_check("q");
        // The lease of the first attempt ended before the second batch.
        backend.batches.push((vec![job(first, 1, 1), job(second, 2, 4)], false));
        backend.batches.push((vec![job(first, 1, 2), job(third, 3, 1)], false));
        let request = ClaimRequest { queue: "q", worker: "w", lease: Duration::from_millis(1), token: "t" };
        let leases = hand_out(&mut backend, &request, 8).expect("handed out");
        let handed_out: Vec<(Id, u32)> = leases.iter().map(|lease| (lease.job.id, lease.job.attempts)).collect();
        assert_eq!(handed_out, [(first, 2), (second, 4), (third, 1)]);
    }
}
