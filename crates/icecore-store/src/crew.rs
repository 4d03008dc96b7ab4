//! The threads of a worker: as many as jobs run at once, begun when they are needed.

use crate::id::Id;
use crate::job::Job;
use crate::runner::{Outcome, Runner};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A job, and which attempt at it: a worker that lost a lease may get the same job again while
/// its first attempt still runs.
pub(crate) type Attempt = (Id, u32);

/// An attempt that ended, and how.
pub(crate) type Ended = (Attempt, Outcome);

/// The threads. They end when this is dropped, and what they do then.
pub(crate) struct Crew {
    runner: Arc<dyn Runner>,
    board: Arc<Board>,
    ended: Sender<Ended>,
    threads: usize,
    busy: usize,
}

impl Crew {
    /// Nobody yet. What ends is told to the receiver.
    pub(crate) fn new(runner: Arc<dyn Runner>) -> (Crew, Receiver<Ended>) {
        let (ended, told) = channel();
        (Crew { runner, board: Arc::default(), ended, threads: 0, busy: 0 }, told)
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
        self.board.put(job);
        Ok(())
    }

    /// A job ended.
    pub(crate) fn is_free(&mut self) {
        self.busy -= 1;
    }

    fn begin(&self) -> std::io::Result<()> {
        let (runner, board, ended) = (Arc::clone(&self.runner), Arc::clone(&self.board), self.ended.clone());
        let work = move || {
            while let Some(job) = board.next() {
                let outcome = run_caught(&*runner, &job);
                if ended.send(((job.id, job.attempts), outcome)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("job".to_owned()).spawn(work).map(drop)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.board.lock().is_over = true;
        self.board.wake.notify_all();
    }
}

/// Where jobs wait for a thread. One that sleeps is woken only while no other one that was
/// woken is on its way: jobs that take no time are all done by the first.
#[derive(Default)]
struct Board {
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// Threads that sleep, or are on their way from there.
    idle: usize,
    /// Whether one of them was woken and is on its way.
    is_woken: bool,
    is_over: bool,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, job: Job) {
        let mut waiting = self.lock();
        waiting.jobs.push_back(job);
        self.wake_one(&mut waiting);
    }

    /// The next job. Whoever takes one sees to it that those behind it have a thread.
    fn next(&self) -> Option<Job> {
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

    fn wake_one(&self, waiting: &mut Waiting) {
        if !waiting.jobs.is_empty() && waiting.idle > 0 && !waiting.is_woken {
            waiting.is_woken = true;
            self.wake.notify_one();
        }
    }
}

/// Runs a job; a runner that panics has failed.
fn run_caught(runner: &dyn Runner, job: &Job) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| runner.run(job))).unwrap_or_else(|_| Outcome::failed("the runner panicked"))
}
