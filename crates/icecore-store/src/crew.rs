//! The threads of a worker: as many as jobs run at once, begun when they are needed.

use crate::id::Id;
use crate::job::Job;
use crate::work::{Outcome, Runner};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// A job, and which attempt at it: a worker that lost a lease may get the same job again while
/// its first attempt still runs.
pub(crate) type Attempt = (Id, u32);

/// An attempt that ended, and how.
pub(crate) type Ended = (Attempt, Outcome);

/// The threads. They end when this is dropped, and what they do then.
pub(crate) struct Crew {
    runner: Arc<dyn Runner>,
    jobs: Sender<Job>,
    next: Arc<Mutex<Receiver<Job>>>,
    ended: Sender<Ended>,
    threads: usize,
    busy: usize,
}

impl Crew {
    /// Nobody yet. What ends is told to the receiver.
    pub(crate) fn new(runner: Arc<dyn Runner>) -> (Crew, Receiver<Ended>) {
        let ((jobs, next), (ended, told)) = (channel(), channel());
        (Crew { runner, jobs, next: Arc::new(Mutex::new(next)), ended, threads: 0, busy: 0 }, told)
    }

    /// Has a job done.
    ///
    /// # Errors
    /// If there is no thread that could.
    pub(crate) fn take(&mut self, job: Job) -> std::io::Result<()> {
        if self.busy >= self.threads {
            match self.begin() {
                Ok(()) => self.threads += 1,
                Err(error) if self.threads == 0 => return Err(error),
                // The job waits for one of those that are there.
                Err(_) => {}
            }
        }
        self.busy += 1;
        self.jobs.send(job).map_err(|_| std::io::Error::other("the threads have ended"))
    }

    /// A job ended.
    pub(crate) fn is_free(&mut self) {
        self.busy -= 1;
    }

    fn begin(&self) -> std::io::Result<()> {
        let (runner, next, ended) = (Arc::clone(&self.runner), Arc::clone(&self.next), self.ended.clone());
        let work = move || {
            // One waits for the next job, the others for it.
            while let Ok(job) = { next.lock().unwrap_or_else(PoisonError::into_inner).recv() } {
                let outcome = run_caught(&*runner, &job);
                if ended.send(((job.id, job.attempts), outcome)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("job".to_owned()).spawn(work).map(drop)
    }
}

/// Runs a job; a runner that panics has failed.
fn run_caught(runner: &dyn Runner, job: &Job) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| runner.run(job))).unwrap_or_else(|_| Outcome::failed("the runner panicked"))
}
