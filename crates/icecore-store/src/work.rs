//! A worker: it takes jobs of a queue, has them done, and says what became of them.
//!
//! One thread talks to the database; as many others as jobs run at once do them. Whatever has
//! ended when that thread gets to it is recorded in one transaction. A job is done at least
//! once: a worker that dies, or that can't reach the database when it is done, leaves the job
//! to the next one when the lease is over.

use crate::backend::Backend;
use crate::crew::{Attempt, Crew, Ended};
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::job::{Ack, Job, Lease, State};
use crate::runner::{Outcome, Runner, Stop};
use crate::schedule::Fired;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

/// What a worker tells while it works.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// A job is begun.
    Begun(&'e Job),
    /// It is done, and that is recorded.
    Done(Id),
    /// It failed with this error, and stands there now.
    Failed(Id, &'e str, State),
    /// The job ran, and its lease was over before that could be recorded: it may be done
    /// once more.
    Lost(Id),
    /// The time of a schedule came, of whatever queue.
    Fired(&'e Fired),
    /// The database can't be asked; it is tried again.
    Away(&'e Error),
}

/// What a worker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Jobs that are done.
    pub done: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Attempts whose lease was over before their end was recorded.
    pub lost: u64,
}

/// Opens a database, each time that the connection is lost.
pub type Open<'o> = &'o dyn Fn() -> Result<Box<dyn Backend>>;

/// Takes jobs of a queue and has them done. It also queues what is due by a schedule.
///
/// ```
/// use icecore_store::{Address, Outcome, Stop, Worker, describe, open};
/// # let folder = tempfile::tempdir().expect("a folder");
/// # let address: Address = format!("sqlite:{}", folder.path().join("a.db").display()).parse()?;
/// let mut store = open(&address)?;
/// let id = store.push(&[describe::job("mails", b"[1]".to_vec(), None)])?[0].id;
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
    /// The queue.
    pub queue: String,
    /// The name under which it takes jobs.
    pub name: String,
    /// How many run at once.
    pub concurrency: usize,
    /// How long a job is this worker's; it is extended as long as the job runs.
    pub lease: Duration,
    /// How long it waits before it looks again into an empty queue.
    pub idle: Duration,
    /// Whether it ends when the queue hands out nothing more.
    pub until_empty: bool,
}

/// An attempt that runs.
struct Running {
    token: String,
    extend_at: Instant,
}

impl Worker {
    /// A worker that does one job at a time, with leases of a minute.
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

    /// Works until it is told to stop: it finishes what runs, and takes nothing new. Outages
    /// of the database are waited for.
    ///
    /// # Errors
    /// Those that waiting does not help with, as a name that no queue can have.
    pub fn run(
        &self,
        open: Open<'_>,
        runner: Arc<dyn Runner>,
        stop: &Stop,
        tell: &mut dyn FnMut(Event<'_>),
    ) -> Result<Tally> {
        let (crew, told) = Crew::new(runner);
        let mut turn = Turn {
            worker: self,
            open,
            stop,
            tell,
            backend: None,
            open_at: Instant::now(),
            fire_at: Instant::now(),
            claim_at: Instant::now(),
            free_since: None,
            is_empty: false,
            running: HashMap::new(),
            done: Vec::new(),
            done_by: Vec::new(),
            failed: Vec::new(),
            tally: Tally::default(),
            crew,
            told,
        };
        loop {
            turn.wait();
            if let Err(error) = turn.turn() {
                if !waiting_helps(&error) {
                    return Err(error);
                }
                (turn.tell)(Event::Away(&error));
                turn.backend = None;
                turn.open_at = Instant::now() + self.idle.max(Duration::from_millis(100));
            }
            if turn.is_over() {
                return Ok(turn.tally);
            }
        }
    }
}

fn waiting_helps(error: &Error) -> bool {
    error.is_passing() || matches!(error.kind(), ErrorKind::Full | ErrorKind::Database)
}

/// An answer to go on with, or an error that waiting helps with.
fn unless_waiting_helps<T>(answer: Result<T>) -> Result<Result<T>> {
    match answer {
        Err(error) if waiting_helps(&error) => Err(error),
        answer => Ok(answer),
    }
}

/// An attempt that failed: why, and when the job is tried again.
type Failed = (Attempt, String, Option<Duration>);

/// How often schedules are looked at.
const FIRE: Duration = Duration::from_secs(1);
/// How many schedules queue a job in one go.
const MOST_FIRED: usize = 64;
/// The longest sleep: how soon a stop is seen.
const NAP: Duration = Duration::from_millis(50);
/// How long a few free places wait for others, so that one claim fills all of them.
const REFILL: Duration = Duration::from_millis(3);

/// The state of a worker at work.
struct Turn<'t> {
    worker: &'t Worker,
    open: Open<'t>,
    stop: &'t Stop,
    tell: &'t mut dyn FnMut(Event<'_>),
    backend: Option<Box<dyn Backend>>,
    open_at: Instant,
    /// When it is asked whether the time of a schedule came.
    fire_at: Instant,
    claim_at: Instant,
    /// Since when there are places that no claim filled.
    free_since: Option<Instant>,
    is_empty: bool,
    running: HashMap<Attempt, Running>,
    /// Jobs that are done, which is not recorded yet.
    done: Vec<Ack>,
    /// Which attempts at them these were, in the same order.
    done_by: Vec<Attempt>,
    /// Those that failed.
    failed: Vec<Failed>,
    tally: Tally,
    crew: Crew,
    told: Receiver<Ended>,
}

impl Turn<'_> {
    fn is_over(&self) -> bool {
        let wants_no_more = self.stop.is_draining() || (self.worker.until_empty && self.is_empty);
        let is_idle = self.running.is_empty();
        // Without the database nothing can be recorded; who wants an end at once gets it.
        (wants_no_more && is_idle) || (self.stop.is_aborting() && self.backend.is_none() && self.all_ended())
    }

    fn all_ended(&self) -> bool {
        self.running.len() == self.done.len() + self.failed.len()
    }

    fn has_room(&self) -> bool {
        self.running.len() < self.worker.concurrency.max(1) && !self.stop.is_draining()
    }

    /// When the next claim is due, if there is room for what it brings.
    fn claim_at(&self) -> Instant {
        let is_half_free = self.running.len() * 2 <= self.worker.concurrency;
        match self.free_since {
            Some(since) if is_half_free => since,
            Some(since) => since + REFILL,
            None => self.claim_at,
        }
    }

    /// Waits until there is something to do.
    fn wait(&mut self) {
        let now = Instant::now();
        let mut until = now + NAP;
        if self.backend.is_some() || self.open_at <= now {
            if self.has_room() {
                until = until.min(self.claim_at());
            }
            if !self.done.is_empty() || !self.failed.is_empty() {
                until = now;
            }
        }
        let mut next = self.told.recv_timeout(until.saturating_duration_since(now)).ok();
        while let Some((attempt, outcome)) = next {
            self.crew.is_free();
            self.ended(attempt, outcome);
            next = self.told.try_recv().ok();
        }
    }

    /// An attempt ended.
    fn ended(&mut self, attempt: Attempt, outcome: Outcome) {
        let Some(Running { token, .. }) = self.running.get(&attempt) else { return };
        match outcome {
            Outcome::Done(result) => {
                self.done.push(Ack { id: attempt.0, token: token.clone(), result });
                self.done_by.push(attempt);
            }
            Outcome::Failed { error, delay } => self.failed.push((attempt, error, delay)),
        }
    }

    /// Does what is due.
    fn turn(&mut self) -> Result<()> {
        let now = Instant::now();
        if self.backend.is_none() {
            if now < self.open_at {
                return Ok(());
            }
            self.backend = Some((self.open)()?);
        }
        let Some(mut backend) = self.backend.take() else { return Ok(()) };
        self.record(&mut *backend)?;
        self.extend(&mut *backend)?;
        self.fire(&mut *backend)?;
        if self.has_room() && self.claim_at() <= Instant::now() {
            self.claim(&mut *backend)?;
        }
        self.backend = Some(backend);
        Ok(())
    }

    /// Records what ended.
    fn record(&mut self, backend: &mut dyn Backend) -> Result<()> {
        if !self.done.is_empty() {
            match backend.ack_many(&self.done) {
                Ok(recorded) => {
                    self.done.clear();
                    for (attempt, recorded) in std::mem::take(&mut self.done_by).into_iter().zip(recorded) {
                        self.recorded_done(attempt, &recorded);
                    }
                }
                Err(error) if waiting_helps(&error) => return Err(error),
                // One of them is to blame: a result that no database takes.
                Err(_) => self.record_one_by_one(backend)?,
            }
        }
        self.record_failed(backend)
    }

    fn record_one_by_one(&mut self, backend: &mut dyn Backend) -> Result<()> {
        while let (Some(Ack { id, token, result }), Some(attempt)) = (self.done.last(), self.done_by.last().copied()) {
            let recorded = unless_waiting_helps(backend.ack(*id, token, result.as_deref()))?;
            self.done.pop();
            self.done_by.pop();
            self.recorded_done(attempt, &recorded);
        }
        Ok(())
    }

    fn recorded_done(&mut self, attempt: Attempt, recorded: &Result<()>) {
        self.leave(attempt);
        match recorded {
            Ok(()) => {
                self.tally.done += 1;
                (self.tell)(Event::Done(attempt.0));
            }
            Err(_) => self.lost(attempt.0),
        }
    }

    fn record_failed(&mut self, backend: &mut dyn Backend) -> Result<()> {
        while let Some((attempt, error, delay)) = self.failed.last() {
            let Some(Running { token, .. }) = self.running.get(attempt) else {
                self.failed.pop();
                continue;
            };
            let recorded = unless_waiting_helps(backend.nack(attempt.0, token, error, *delay))?;
            let Some((attempt, error, _)) = self.failed.pop() else { break };
            self.leave(attempt);
            match recorded {
                Ok(state) => {
                    self.tally.failed += 1;
                    (self.tell)(Event::Failed(attempt.0, &error, state));
                }
                Err(_) => self.lost(attempt.0),
            }
        }
        Ok(())
    }

    fn lost(&mut self, id: Id) {
        self.tally.lost += 1;
        (self.tell)(Event::Lost(id));
    }

    /// What becomes of an attempt is recorded: a place is free, and there may be more.
    fn leave(&mut self, attempt: Attempt) {
        self.running.remove(&attempt);
        self.free_since.get_or_insert_with(Instant::now);
        self.is_empty = false;
    }

    fn extend(&mut self, backend: &mut dyn Backend) -> Result<()> {
        let now = Instant::now();
        for ((id, _), running) in self.running.iter_mut().filter(|(_, running)| running.extend_at <= now) {
            match backend.extend(*id, &running.token, self.worker.lease) {
                // Whose lease is lost finds that out at the end.
                Err(error) if waiting_helps(&error) => return Err(error),
                _ => running.extend_at = now + self.worker.lease / 3,
            }
        }
        Ok(())
    }

    /// Queues what is due by a schedule: any worker does it for all of them.
    fn fire(&mut self, backend: &mut dyn Backend) -> Result<()> {
        if Instant::now() < self.fire_at || self.stop.is_draining() {
            return Ok(());
        }
        self.fire_at = Instant::now() + FIRE;
        for fired in unless_waiting_helps(backend.fire(MOST_FIRED))?.unwrap_or_default() {
            if fired.is_new && fired.queue == self.worker.queue {
                (self.claim_at, self.is_empty) = (Instant::now(), false);
            }
            (self.tell)(Event::Fired(&fired));
        }
        Ok(())
    }

    fn claim(&mut self, backend: &mut dyn Backend) -> Result<()> {
        let worker = self.worker;
        let most = worker.concurrency.max(1) - self.running.len();
        let leases = backend.claim(&worker.queue, &worker.name, worker.lease, most)?;
        (self.is_empty, self.free_since) = (leases.is_empty(), None);
        self.claim_at = Instant::now() + if leases.len() < most { worker.idle } else { Duration::ZERO };
        for Lease { job, token } in leases {
            (self.tell)(Event::Begun(&job));
            let attempt = (job.id, job.attempts);
            self.running.insert(attempt, Running { token, extend_at: Instant::now() + worker.lease / 3 });
            if let Err(error) = self.crew.take(job) {
                self.ended(attempt, Outcome::failed(format!("no thread for the job: {error}")));
            }
        }
        Ok(())
    }
}
