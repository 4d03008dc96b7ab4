//! Handing out: what is ready first, and ended leases that are looked for beside.
//!
//! Leases that ended are looked for by a question of their own, but not at each claim: while
//! there is as much to do as is asked for, once in a while is enough.

use crate::error::Result;
use crate::id::Id;
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
    let (mut jobs, mut turns) = (Vec::new(), 0);
    while jobs.len() < most {
        turns += 1;
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
    if turns > 1 {
        keep_last(&mut jobs);
    }
    // No statement that changes rows tells them in an order.
    jobs.sort_by_key(|job: &Job| (Reverse(job.priority), job.run_at, job.sequence));
    Ok(jobs.into_iter().map(|job| Lease { job, token: handing.token.to_owned() }).collect())
}

/// A lease may end while its claim still looks for more: then another one frees the job, and this
/// claim may take it again. One token stands for both, so only the last attempt is told.
fn keep_last(jobs: &mut Vec<Job>) {
    let last: HashMap<Id, u32> = jobs.iter().map(|job| (job.id, job.attempts)).collect();
    jobs.retain(|job| last[&job.id] == job.attempts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::State;

    /// Hands out what it has been given, a list for each turn.
    struct Turns {
        looks: Looks,
        turns: Vec<(Vec<Job>, bool)>,
    }

    impl HandsOut for Turns {
        fn looks(&mut self) -> &mut Looks {
            &mut self.looks
        }

        fn hand_out_ready(&mut self, _: &Handing<'_>, most: usize, jobs: &mut Vec<Job>) -> Result<bool> {
            let (some, is_more) = if self.turns.is_empty() { (Vec::new(), false) } else { self.turns.remove(0) };
            assert!(some.len() <= most, "{} of {most}", some.len());
            jobs.extend(some);
            Ok(is_more)
        }

        fn free_ended_leases(&mut self, handing: &Handing<'_>) -> Result<u64> {
            self.looks.looked(handing.queue);
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
    fn a_job_that_a_claim_takes_twice_is_told_once() {
        let (first, second, third) = (Id::new(), Id::new(), Id::new());
        let mut backend = Turns { looks: Looks::default(), turns: Vec::new() };
        backend.looks.looked("q");
        // The lease of the first one ended before the second turn.
        backend.turns.push((vec![job(first, 1, 1), job(second, 2, 4)], false));
        backend.turns.push((vec![job(first, 1, 2), job(third, 3, 1)], false));
        let handing = Handing { queue: "q", worker: "w", lease: Duration::from_millis(1), token: "t" };
        let leases = hand_out(&mut backend, &handing, 8).expect("handed out");
        let told: Vec<(Id, u32)> = leases.iter().map(|lease| (lease.job.id, lease.job.attempts)).collect();
        assert_eq!(told, [(first, 2), (second, 4), (third, 1)]);
    }
}
