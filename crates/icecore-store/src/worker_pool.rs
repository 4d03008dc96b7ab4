//! Threads of a worker. A thread is started when it is needed. There are at most as many threads as jobs that run at
//! the same time.

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

/// The threads. When the pool is dropped, the threads finish all queued jobs and end.
pub(crate) struct WorkerPool {
    runner: Arc<dyn Runner>,
    queue: Arc<JobQueue>,
    ended_sender: Sender<EndedAttempt>,
    threads: usize,
    busy: usize,
}

impl WorkerPool {
    /// Creates a pool without threads. The receiver gets each attempt that ends.
    pub(crate) fn new(runner: Arc<dyn Runner>) -> (WorkerPool, Receiver<EndedAttempt>) {
        let (ended_sender, ended_receiver) = channel();
        (WorkerPool { runner, queue: Arc::default(), ended_sender, threads: 0, busy: 0 }, ended_receiver)
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
        self.queue.push_job(job);
        Ok(())
    }

    /// Counts one busy thread less. The caller must call this for each ended attempt that it receives.
    pub(crate) fn mark_thread_idle(&mut self) {
        self.busy -= 1;
    }

    fn start_thread(&self) -> std::io::Result<()> {
        let (runner, queue, ended_sender) =
            (Arc::clone(&self.runner), Arc::clone(&self.queue), self.ended_sender.clone());
        let work = move || {
            while let Some(job) = queue.next_job() {
                let outcome = run_catching_panics(&*runner, &job);
                // Sending fails if the receiver was dropped. Then nobody needs the outcomes of further jobs.
                if ended_sender.send(((job.id, job.attempts), outcome)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("job".to_owned()).spawn(work).map(drop)
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.queue.lock().is_closed = true;
        self.queue.wake.notify_all();
    }
}

/// Queue of jobs that wait for a thread. A sleeping thread is woken only while no other one is waking up. So if
/// all jobs take almost no time, one thread runs all of them.
#[derive(Default)]
struct JobQueue {
    state: Mutex<QueueState>,
    wake: Condvar,
}

#[derive(Default)]
struct QueueState {
    jobs: VecDeque<Job>,
    /// Number of threads that sleep, or are waking up.
    idle: usize,
    /// Whether a thread was notified and has not locked the state yet.
    is_waking: bool,
    is_closed: bool,
}

impl JobQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push_job(&self, job: Job) {
        let mut state = self.lock();
        state.jobs.push_back(job);
        self.wake_one(&mut state);
    }

    /// Waits for the next job. Returns `None` if the queue is closed and empty. A thread that takes a job also wakes
    /// another thread for the jobs after it.
    fn next_job(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                self.wake_one(&mut state);
                return Some(job);
            }
            if state.is_closed {
                return None;
            }
            state.idle += 1;
            state = self.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
            state.is_waking = false;
        }
    }

    fn wake_one(&self, state: &mut QueueState) {
        if !state.jobs.is_empty() && state.idle > 0 && !state.is_waking {
            state.is_waking = true;
            self.wake.notify_one();
        }
    }
}

/// Runs a job. A runner that panics counts as failed.
fn run_catching_panics(runner: &dyn Runner, job: &Job) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| runner.run(job))).unwrap_or_else(|_| Outcome::failed("the runner panicked"))
}
