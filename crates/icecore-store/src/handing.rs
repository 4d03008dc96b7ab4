//! Handing out: what is ready first, and ended leases that are looked for beside.
//!
//! Leases that ended are looked for by a question of their own, but not at each claim: while
//! there is as much to do as is asked for, once in a while is enough.

use crate::error::Result;
use crate::job::{Job, Lease};
use crate::rules::check_name;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How often ended leases are looked for while others are handed out.
const LOOK: Duration = Duration::from_millis(500);
/// Of how many queues it is known when that was.
const MOST_LOOKS: usize = 1024;

/// When ended leases of a queue were looked for, while it has as much to do as is asked for.
#[derive(Default)]
pub(crate) struct Looks(HashMap<String, Instant>);

impl Looks {
    fn is_due(&self, queue: &str) -> bool {
        self.0.get(queue).is_none_or(|at| at.elapsed() >= LOOK)
    }

    pub(crate) fn looked(&mut self, queue: &str) {
        if self.0.len() >= MOST_LOOKS {
            self.0.clear();
        }
        self.0.insert(queue.to_owned(), Instant::now());
    }

    /// The queue had less than was asked for: the next claim looks again.
    fn was_empty(&mut self, queue: &str) {
        self.0.remove(queue);
    }
}

/// What is written into the rows of jobs that are handed out.
pub(crate) struct Handing<'h> {
    pub(crate) queue: &'h str,
    pub(crate) worker: &'h str,
    pub(crate) lease: Duration,
    pub(crate) token: &'h str,
}

/// What a database does for it.
pub(crate) trait HandsOut {
    fn looks(&mut self) -> &mut Looks;
    /// Hands out at most so many that are ready; whether there may be more.
    fn hand_out_ready(&mut self, handing: &Handing<'_>, most: usize, jobs: &mut Vec<Job>) -> Result<bool>;
    /// Jobs whose worker said nothing in time are ready again, or dead; how many there were.
    /// Those that another program leased for no time, too; but not what this claim handed out.
    fn free_ended_leases(&mut self, handing: &Handing<'_>) -> Result<u64>;
}

/// Hands out jobs, and looks before and behind for those whose leases ended.
pub(crate) fn hand_out(backend: &mut impl HandsOut, handing: &Handing<'_>, most: usize) -> Result<Vec<Lease>> {
    let queue = handing.queue;
    check_name("queue", queue)?;
    check_name("worker", handing.worker)?;
    if most == 0 {
        return Ok(Vec::new());
    }
    let mut has_looked = backend.looks().is_due(queue);
    if has_looked {
        backend.free_ended_leases(handing)?;
    }
    let mut jobs = Vec::new();
    while jobs.len() < most {
        match backend.hand_out_ready(handing, most - jobs.len(), &mut jobs) {
            Ok(true) => {}
            Ok(false) if has_looked => break,
            Ok(false) => {
                has_looked = true;
                if !matches!(backend.free_ended_leases(handing), Ok(freed) if freed > 0) {
                    break;
                }
            }
            // What was handed out before must come to its worker.
            Err(_) if !jobs.is_empty() => break,
            Err(error) => return Err(error),
        }
    }
    if jobs.len() < most {
        backend.looks().was_empty(queue);
    }
    // No statement that changes rows tells them in an order.
    jobs.sort_by_key(|job: &Job| (Reverse(job.priority), job.run_at, job.sequence));
    Ok(jobs.into_iter().map(|job| Lease { job, token: handing.token.to_owned() }).collect())
}
