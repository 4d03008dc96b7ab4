//! A worker claims jobs of a queue, runs them, and records their outcomes.
//!
//! One thread uses the database. Other threads, one for each concurrent job, run the jobs. The database thread checks
//! at intervals which attempts have ended, and records all of them in one transaction. A job is done at least once.
//! If a worker dies, or can't reach the database after a job, another worker gets the job when the lease ends.

use crate::backend::Backend;
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::job::{Ack, Job, Lease, State};
use crate::runner::{Outcome, Runner, Stop};
use crate::schedule::Fired;
use crate::worker_pool::{Attempt, EndedAttempt, WorkerPool};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// Events that a worker reports while it works.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A job started.
    Begun(&'e Job),
    /// The job is done, and this is recorded.
    Done(Id),
    /// The attempt failed with this error, and the job is now in this state.
    Failed(Id, &'e str, State),
    /// The attempt ended after its lease was over, so its outcome could not be recorded. The job may be done a second
    /// time.
    Lost(Id),
    /// The queue has nothing to hand out, and this worker does not run a job. Reported for each claim that finds
    /// this.
    Idle,
    /// A schedule, of any queue, was due.
    Fired(&'e Fired),
    /// The database can't be reached. The worker tries again.
    Away(&'e Error),
}

/// Counts of a worker's attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of jobs done.
    pub done: u64,
    /// Number of failed attempts.
    pub failed: u64,
    /// Number of attempts whose lease ended before their outcome was recorded.
    pub lost: u64,
}

/// Opens a database. The worker calls this again after each lost connection.
pub type StoreOpener<'o> = &'o dyn Fn() -> Result<Box<dyn Backend>>;

/// Claims jobs of a queue and runs them. Also queues jobs that a schedule makes due.
///
/// ```
/// use icecore_store::{Address, Outcome, Stop, Worker, describe, open};
/// # let folder = tempfile::tempdir().expect("a folder");
/// # let address: Address = format!("sqlite:{}", folder.path().join("a.db").display()).parse()?;
/// let mut store = open(&address)?;
/// let id = store.push(&[describe::describe_job("mails", b"[1]".to_vec(), None)])?[0].id;
///
/// let mut worker = Worker::new("mails", "worker-1");
/// worker.until_empty = true;
/// let echo = |job: &icecore_store::Job| Outcome::Done(Some(job.bytes.clone()));
/// let tally = worker.run(&|| open(&address), std::sync::Arc::new(echo), &Stop::new(), &mut |_| ())?;
/// assert_eq!(tally.done, 1);
/// assert_eq!(store.job(id)?.and_then(|job| job.result), Some(b"[1]".to_vec()));
/// # Ok::<(), icecore_store::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Worker {
    /// Name of the queue.
    pub queue: String,
    /// Name of the worker in its claims.
    pub name: String,
    /// Number of jobs that run at the same time.
    pub concurrency: usize,
    /// Length of a lease. The lease is extended while the job runs.
    pub lease: Duration,
    /// How long the worker waits before it checks an empty queue again.
    pub idle: Duration,
    /// Whether the worker ends when the queue hands out nothing more.
    pub until_empty: bool,
}

/// A running attempt.
struct RunningAttempt {
    token: String,
    extend_at: Instant,
}

impl Worker {
    /// Creates a worker that runs one job at a time, with leases of one minute.
    pub fn new(queue: impl Into<String>, name: impl Into<String>) -> Worker {
        Worker {
            queue: queue.into(),
            name: name.into(),
            concurrency: 1,
            lease: Duration::from_secs(60),
            idle: Duration::from_millis(500),
            until_empty: false,
        }
    }

    /// Runs until `stop` is set, or until the queue is empty with `until_empty`. Then finishes running jobs and
    /// claims no new ones. Waits while the database is unreachable.
    ///
    /// # Errors
    /// Errors that waiting does not solve, such as an invalid queue name.
    pub fn run(
        &self,
        open: StoreOpener<'_>,
        runner: Arc<dyn Runner>,
        stop: &Stop,
        report: &mut dyn FnMut(Event<'_>),
    ) -> Result<Tally> {
        let (pool, outcomes) = WorkerPool::new(runner);
        let mut worker_loop = WorkerLoop {
            worker: self,
            open,
            stop,
            report,
            backend: None,
            open_at: Instant::now(),
            fire_at: Instant::now(),
            claim_at: Instant::now(),
            free_since: None,
            is_empty: false,
            running: HashMap::new(),
            done: Vec::new(),
            done_attempts: Vec::new(),
            failed: Vec::new(),
            tally: Tally::default(),
            pool,
            outcomes,
        };
        loop {
            worker_loop.wait_for_work();
            if let Err(error) = worker_loop.do_due_work() {
                if !is_transient(&error) {
                    return Err(error);
                }
                (worker_loop.report)(Event::Away(&error));
                worker_loop.backend = None;
                worker_loop.open_at = Instant::now() + self.idle.max(Duration::from_millis(100));
            }
            if worker_loop.is_over() {
                return Ok(worker_loop.tally);
            }
        }
    }
}

/// Returns true if the call may succeed later.
fn is_transient(error: &Error) -> bool {
    error.is_passing() || matches!(error.kind(), ErrorKind::Full | ErrorKind::Database)
}

/// Separates errors that may pass with time from final results. A passing error is the outer `Err`. A final result,
/// which may also be an error, is inside of `Ok`.
fn split_passing_errors<T>(result: Result<T>) -> Result<Result<T>> {
    match result {
        Err(error) if is_transient(&error) => Err(error),
        result => Ok(result),
    }
}

/// An attempt that failed, its error, and the delay until the job is tried again (`None`: the default of the queue).
type FailedAttempt = (Attempt, String, Option<Duration>);

/// How often to check the schedules.
const SCHEDULE_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of schedules handled in one call.
const MAX_FIRED: usize = 64;
/// The longest sleep. The worker notices a stop at most this long after it was requested.
const MAX_SLEEP: Duration = Duration::from_millis(50);
/// How long a claim waits while fewer than half of the places are free. More places become free in this time, so one
/// claim fills more of them.
const REFILL_DELAY: Duration = Duration::from_millis(3);

/// State of a running worker.
struct WorkerLoop<'t> {
    worker: &'t Worker,
    open: StoreOpener<'t>,
    stop: &'t Stop,
    report: &'t mut dyn FnMut(Event<'_>),
    backend: Option<Box<dyn Backend>>,
    /// When to open the database next.
    open_at: Instant,
    /// When to check the schedules next.
    fire_at: Instant,
    /// When to claim next if no place became free in the meantime.
    claim_at: Instant,
    /// Since when there are free places that no claim has filled.
    free_since: Option<Instant>,
    /// Whether the last claim got nothing, and nothing has changed since then.
    is_empty: bool,
    running: HashMap<Attempt, RunningAttempt>,
    /// Jobs that are done but not recorded yet.
    done: Vec<Ack>,
    /// The attempts of `done`, in the same order.
    done_attempts: Vec<Attempt>,
    /// Failed attempts that are not recorded yet.
    failed: Vec<FailedAttempt>,
    tally: Tally,
    pool: WorkerPool,
    outcomes: Receiver<EndedAttempt>,
}

impl WorkerLoop<'_> {
    fn is_over(&self) -> bool {
        let claims_no_more = self.stop.is_draining() || (self.worker.until_empty && self.is_empty);
        let is_idle = self.running.is_empty();
        // Without the database nothing can be recorded, so an abort ends immediately.
        (claims_no_more && is_idle) || (self.stop.is_aborting() && self.backend.is_none() && self.have_all_ended())
    }

    /// Returns true if all attempts have ended. An attempt stays in `running` until its outcome is recorded, so
    /// `running` then has exactly the attempts in `done` and `failed`.
    fn have_all_ended(&self) -> bool {
        self.running.len() == self.done.len() + self.failed.len()
    }

    fn has_free_place(&self) -> bool {
        self.running.len() < self.worker.concurrency.max(1) && !self.stop.is_draining()
    }

    /// Returns when the next claim is due, if there is a free place.
    fn next_claim_at(&self) -> Instant {
        let is_half_free = self.running.len() * 2 <= self.worker.concurrency;
        match self.free_since {
            Some(since) if is_half_free => since,
            Some(since) => since + REFILL_DELAY,
            None => self.claim_at,
        }
    }

    /// Waits until there is something to do.
    fn wait_for_work(&mut self) {
        let now = Instant::now();
        let mut deadline = now + MAX_SLEEP;
        // Without a connection there is nothing to do before `open_at`.
        if self.backend.is_some() || self.open_at <= now {
            if self.has_free_place() {
                deadline = deadline.min(self.next_claim_at());
            }
            if !self.done.is_empty() || !self.failed.is_empty() {
                deadline = now;
            }
        }
        let mut next = self.outcomes.recv_timeout(deadline.saturating_duration_since(now)).ok();
        while let Some((attempt, outcome)) = next {
            self.pool.mark_thread_idle();
            self.keep_outcome(attempt, outcome);
            next = self.outcomes.try_recv().ok();
        }
    }

    /// Keeps the outcome of an attempt until `record_outcomes` records it.
    fn keep_outcome(&mut self, attempt: Attempt, outcome: Outcome) {
        let Some(RunningAttempt { token, .. }) = self.running.get(&attempt) else { return };
        match outcome {
            Outcome::Done(result) => {
                self.done.push(Ack { id: attempt.0, token: token.clone(), result });
                self.done_attempts.push(attempt);
            }
            Outcome::Failed { error, delay } => self.failed.push((attempt, error, delay)),
        }
    }

    /// Does everything that is due.
    fn do_due_work(&mut self) -> Result<()> {
        let now = Instant::now();
        if self.backend.is_none() {
            if now < self.open_at {
                return Ok(());
            }
            self.backend = Some((self.open)()?);
        }
        // The connection is put back only at the end. After an error it is dropped, and the next call opens a new
        // one.
        let Some(mut backend) = self.backend.take() else { return Ok(()) };
        self.record_outcomes(&mut *backend)?;
        self.extend_leases(&mut *backend)?;
        self.fire_schedules(&mut *backend)?;
        if self.has_free_place() && self.next_claim_at() <= Instant::now() {
            self.claim_jobs(&mut *backend)?;
        }
        self.backend = Some(backend);
        Ok(())
    }

    /// Records the outcomes of attempts that ended.
    fn record_outcomes(&mut self, backend: &mut dyn Backend) -> Result<()> {
        if !self.done.is_empty() {
            match backend.ack_many(&self.done) {
                Ok(recorded) => {
                    self.done.clear();
                    for (attempt, recorded) in std::mem::take(&mut self.done_attempts).into_iter().zip(recorded) {
                        self.finish_done_attempt(attempt, &recorded);
                    }
                }
                Err(error) if is_transient(&error) => return Err(error),
                // The database rejects one of the results. Recording them one by one finds it.
                Err(_) => self.record_one_by_one(backend)?,
            }
        }
        self.record_failed(backend)
    }

    fn record_one_by_one(&mut self, backend: &mut dyn Backend) -> Result<()> {
        while let (Some(Ack { id, token, result }), Some(attempt)) =
            (self.done.last(), self.done_attempts.last().copied())
        {
            let recorded = split_passing_errors(backend.ack(*id, token, result.as_deref()))?;
            self.done.pop();
            self.done_attempts.pop();
            self.finish_done_attempt(attempt, &recorded);
        }
        Ok(())
    }

    /// Frees the place of an attempt that ended as done, and reports whether this could be recorded.
    fn finish_done_attempt(&mut self, attempt: Attempt, recorded: &Result<()>) {
        self.release_place(attempt);
        match recorded {
            Ok(()) => {
                self.tally.done += 1;
                (self.report)(Event::Done(attempt.0));
            }
            Err(_) => self.report_lost(attempt.0),
        }
    }

    fn record_failed(&mut self, backend: &mut dyn Backend) -> Result<()> {
        while let Some((attempt, error, delay)) = self.failed.last() {
            let Some(RunningAttempt { token, .. }) = self.running.get(attempt) else {
                self.failed.pop();
                continue;
            };
            let recorded = split_passing_errors(backend.nack(attempt.0, token, error, *delay))?;
            let Some((attempt, error, _)) = self.failed.pop() else { break };
            self.release_place(attempt);
            match recorded {
                Ok(state) => {
                    self.tally.failed += 1;
                    (self.report)(Event::Failed(attempt.0, &error, state));
                }
                Err(_) => self.report_lost(attempt.0),
            }
        }
        Ok(())
    }

    /// Counts and reports an attempt whose outcome could not be recorded.
    fn report_lost(&mut self, id: Id) {
        self.tally.lost += 1;
        (self.report)(Event::Lost(id));
    }

    /// Frees the place of an attempt whose outcome is recorded. The queue may have more jobs now.
    fn release_place(&mut self, attempt: Attempt) {
        self.running.remove(&attempt);
        self.free_since.get_or_insert_with(Instant::now);
        self.is_empty = false;
    }

    fn extend_leases(&mut self, backend: &mut dyn Backend) -> Result<()> {
        let now = Instant::now();
        for ((id, _), running) in self.running.iter_mut().filter(|(_, running)| running.extend_at <= now) {
            match backend.extend(*id, &running.token, self.worker.lease) {
                // Another error means that the lease is lost. This is reported when the outcome is recorded.
                Err(error) if is_transient(&error) => return Err(error),
                // After a third of the lease, so that two more extensions can fail before the lease ends.
                _ => running.extend_at = now + self.worker.lease / 3,
            }
        }
        Ok(())
    }

    /// Queues jobs that schedules make due. Every worker does this for all schedules.
    fn fire_schedules(&mut self, backend: &mut dyn Backend) -> Result<()> {
        if Instant::now() < self.fire_at || self.stop.is_draining() {
            return Ok(());
        }
        self.fire_at = Instant::now() + SCHEDULE_CHECK_INTERVAL;
        for fired in split_passing_errors(backend.fire(MAX_FIRED))?.unwrap_or_default() {
            if fired.is_new && fired.queue == self.worker.queue {
                (self.claim_at, self.is_empty) = (Instant::now(), false);
            }
            (self.report)(Event::Fired(&fired));
        }
        Ok(())
    }

    fn claim_jobs(&mut self, backend: &mut dyn Backend) -> Result<()> {
        let worker = self.worker;
        let free_places = worker.concurrency.max(1) - self.running.len();
        let leases = backend.claim(&worker.queue, &worker.name, worker.lease, free_places)?;
        (self.is_empty, self.free_since) = (leases.is_empty(), None);
        if self.is_empty && self.running.is_empty() {
            (self.report)(Event::Idle);
        }
        // If the claim filled all places, there may be more jobs, so the next claim need not wait.
        self.claim_at = Instant::now() + if leases.len() < free_places { worker.idle } else { Duration::ZERO };
        for Lease { job, token } in leases {
            (self.report)(Event::Begun(&job));
            let attempt = (job.id, job.attempts);
            self.running.insert(attempt, RunningAttempt { token, extend_at: Instant::now() + worker.lease / 3 });
            if let Err(error) = self.pool.run_job(job) {
                self.keep_outcome(attempt, Outcome::failed(format!("can't start a thread for the job: {error}")));
            }
        }
        Ok(())
    }
}
