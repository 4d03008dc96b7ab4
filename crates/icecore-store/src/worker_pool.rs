//! Threads of a worker: at most one for each job that runs at the same time, started when needed.

use crate::id::Id;
use crate::job::Job;
use crate::runner::{Outcome, Runner};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A job id with its attempt number. A worker that lost a lease may get the same job again while its first attempt
/// still runs.
pub(crate) type Attempt = (Id, u32);

/// An attempt that ended, and its outcome.
pub(crate) type EndedAttempt = (Attempt, Outcome);

/// The threads. When this is dropped, they finish their jobs and end.
pub(crate) struct WorkerPool {
    runner: Arc<dyn Runner>,
    board: Arc<JobQueue>,
    ended: Sender<EndedAttempt>,
    threads: usize,
    busy: usize,
}

impl WorkerPool {
    /// Creates a crew without threads. The receiver gets each attempt that ends.
    pub(crate) fn new(runner: Arc<dyn Runner>) -> (WorkerPool, Receiver<EndedAttempt>) {
        let (ended, outcomes) = channel();
        (WorkerPool { runner, board: Arc::default(), ended, threads: 0, busy: 0 }, outcomes)
    }

    /// Runs a job on a thread.
    ///
    /// # Errors
    /// If the first thread can't be started.
    pub(crate) fn run_job(&mut self, job: Job) -> std::io::Result<()> {
        if self.busy >= self.threads {
            match self.start_thread() {
                Ok(()) => self.threads += 1,
                Err(error) if self.threads == 0 => return Err(error),
                // The job waits for one of the existing threads.
                Err(_) => {}
            }
        }
        self.busy += 1;
        self.board.push_job(job);
        Ok(())
    }

    /// Records that a job ended.
    pub(crate) fn release_thread(&mut self) {
        self.busy -= 1;
    }

    fn start_thread(&self) -> std::io::Result<()> {
        let (runner, board, ended) = (Arc::clone(&self.runner), Arc::clone(&self.board), self.ended.clone());
        let work = move || {
            while let Some(job) = board.next_job() {
                let outcome = run_catching_panics(&*runner, &job);
                if ended.send(((job.id, job.attempts), outcome)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("job".to_owned()).spawn(work).map(drop)
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.board.lock().is_over = true;
        self.board.wake.notify_all();
    }
}

/// Queue of jobs that wait for a thread. A sleeping thread is woken only if no other woken thread is still on its way,
/// so a single thread does all jobs that take almost no time.
#[derive(Default)]
struct JobQueue {
    waiting: Mutex<QueueState>,
    wake: Condvar,
}

#[derive(Default)]
struct QueueState {
    jobs: VecDeque<Job>,
    /// Number of threads that sleep, or are waking up.
    idle: usize,
    /// Whether a thread was woken and has not arrived yet.
    is_woken: bool,
    is_over: bool,
}

impl JobQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push_job(&self, job: Job) {
        let mut waiting = self.lock();
        waiting.jobs.push_back(job);
        self.wake_one(&mut waiting);
    }

    /// Returns the next job. The caller that takes a job also wakes a thread for the jobs after it.
    fn next_job(&self) -> Option<Job> {
        let mut waiting = self.lock();
        loop {
            if let Some(job) = waiting.jobs.pop_front() {
                self.wake_one(&mut waiting);
                return Some(job);
            }
            if waiting.is_over {
                return None;
            }
            waiting.idle += 1;
            waiting = self.wake.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            waiting.idle -= 1;
            waiting.is_woken = false;
        }
    }

    fn wake_one(&self, waiting: &mut QueueState) {
        if !waiting.jobs.is_empty() && waiting.idle > 0 && !waiting.is_woken {
            waiting.is_woken = true;
            self.wake.notify_one();
        }
    }
}

/// Runs a job. A runner that panics counts as failed.
fn run_catching_panics(runner: &dyn Runner, job: &Job) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| runner.run(job))).unwrap_or_else(|_| Outcome::failed("the runner panicked"))
}
