//! Runners that do jobs, outcomes of jobs, and the signal to stop.

use crate::job::Job;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// Outcome of an attempt at a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The job is done, with this result.
    Done(Option<Vec<u8>>),
    /// The attempt failed.
    Failed {
        /// The reason, as a message for people.
        error: String,
        /// When the job is tried again. `None` means the wait that the queue sets.
        delay: Option<Duration>,
    },
}

impl Outcome {
    /// Creates a failed outcome. The job is tried again after the wait that its queue sets.
    pub fn failed(error: impl Into<String>) -> Outcome {
        Outcome::Failed { error: error.into(), delay: None }
    }
}

/// Does jobs. Threads of the worker run several at the same time.
pub trait Runner: Send + Sync {
    /// Runs a job and returns its outcome. The runner itself ends a job that takes too long.
    fn run(&self, job: &Job) -> Outcome;
}

impl<F: Fn(&Job) -> Outcome + Send + Sync> Runner for F {
    fn run(&self, job: &Job) -> Outcome {
        self(job)
    }
}

/// Signal for workers and commands to stop. All clones share one state.
///
/// ```
/// let stop = icecore_store::Stop::new();
/// let seen = stop.clone();
/// stop.drain();
/// assert!(seen.is_draining() && !seen.is_aborting());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU8>);

/// Value of a signal after `drain`.
const DRAINING: u8 = 1;
/// Value of a signal after `abort`. It is larger than `DRAINING`, and a signal never decreases.
const ABORTING: u8 = 2;

impl Stop {
    /// Creates a signal that is not set.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Lets running jobs finish, and starts no new ones.
    pub fn drain(&self) {
        self.0.fetch_max(DRAINING, Ordering::SeqCst);
    }

    /// Ends running jobs too, and returns them to the queue.
    pub fn abort(&self) {
        self.0.fetch_max(ABORTING, Ordering::SeqCst);
    }

    /// Returns whether no new job is to be started.
    pub fn is_draining(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= DRAINING
    }

    /// Returns whether running jobs are to be ended.
    pub fn is_aborting(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= ABORTING
    }
}
