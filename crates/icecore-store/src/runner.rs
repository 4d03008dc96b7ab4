//! What does jobs, how they went, and how it is told to end.

use crate::job::Job;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// How a job went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is done; what it returned.
    Done(Option<Vec<u8>>),
    /// It was not done.
    Failed {
        /// Why, in words for people.
        error: String,
        /// When it is tried again; `None`: as its queue says.
        delay: Option<Duration>,
    },
}

impl Outcome {
    /// It was not done, and is tried again as its queue says.
    pub fn failed(error: impl Into<String>) -> Outcome {
        Outcome::Failed { error: error.into(), delay: None }
    }
}

/// Does jobs; several at once, in threads of the worker.
pub trait Runner: Send + Sync {
    /// Does this one, and says how it went. What takes too long is ended here.
    fn run(&self, job: &Job) -> Outcome;
}

impl<F: Fn(&Job) -> Outcome + Send + Sync> Runner for F {
    fn run(&self, job: &Job) -> Outcome {
        self(job)
    }
}

/// Tells workers and commands to end. Clones tell the same ones.
///
/// ```
/// let stop = icecore_store::Stop::new();
/// let seen = stop.clone();
/// stop.drain();
/// assert!(seen.is_draining() && !seen.is_aborting());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// Nothing has to end yet.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// What runs is finished, and nothing new is begun.
    pub fn drain(&self) {
        self.0.fetch_max(1, Ordering::SeqCst);
    }

    /// What runs is ended as well, and its jobs are given back.
    pub fn abort(&self) {
        self.0.fetch_max(2, Ordering::SeqCst);
    }

    /// Whether nothing new is to be begun.
    pub fn is_draining(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= 1
    }

    /// Whether what runs is to end.
    pub fn is_aborting(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= 2
    }
}
