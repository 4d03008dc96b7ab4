//! Jobs, their states and their queues.

use crate::id::Id;
use crate::limits::Rate;
use crate::object::BlobDescription;
use std::time::Duration;

/// A job that is to be queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJob {
    /// Id of the job.
    pub id: Id,
    /// Name of the queue. Queues need no setup.
    pub queue: String,
    /// Payload, as the caller passed it.
    pub bytes: Vec<u8>,
    /// The engine's description of the payload.
    pub description: BlobDescription,
    /// Priority. Jobs with a larger value are handed out first. Usually 0.
    pub priority: i32,
    /// How long the job waits before it is handed out.
    pub delay: Duration,
    /// Unique key. Two unfinished jobs of a queue can't have the same key.
    pub unique_key: Option<String>,
    /// Maximum number of attempts. `None` means the setting of the queue.
    pub max_attempts: Option<u32>,
    /// The job that this one replays.
    pub replay_of: Option<Id>,
    /// The predecessor of the job. The job is handed out only when its predecessor is done.
    pub after: Option<Id>,
}

impl NewJob {
    /// Creates a job with default settings.
    pub fn new(queue: impl Into<String>, bytes: Vec<u8>, description: BlobDescription) -> NewJob {
        NewJob {
            id: Id::new(),
            queue: queue.into(),
            bytes,
            description,
            priority: 0,
            delay: Duration::ZERO,
            unique_key: None,
            max_attempts: None,
            replay_of: None,
            after: None,
        }
    }
}

/// Result of pushing a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// Id of the job. If an unfinished job already has the unique key, this is the id of that job.
    pub id: Id,
    /// Whether the job was added.
    pub is_new: bool,
}

/// State of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// Waits for a worker or for its start time.
    Ready,
    /// A worker has it.
    Leased,
    /// A worker did it.
    Done,
    /// All its attempts failed.
    Dead,
    /// Waits for another job to be done.
    Waiting,
}

impl State {
    /// All states.
    pub const ALL: [State; 5] = [State::Ready, State::Leased, State::Done, State::Dead, State::Waiting];

    /// Returns the name: `ready`, `leased`, `done`, `dead` or `waiting`.
    pub fn name(self) -> &'static str {
        match self {
            State::Ready => "ready",
            State::Leased => "leased",
            State::Done => "done",
            State::Dead => "dead",
            State::Waiting => "waiting",
        }
    }

    /// Returns the state with this name.
    pub fn from_name(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A job as stored in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Job {
    /// Id of the job.
    pub id: Id,
    /// Position among all jobs.
    pub sequence: i64,
    /// Name of the queue.
    pub queue: String,
    /// State of the job.
    pub state: State,
    /// Priority. Jobs with a larger value are handed out first.
    pub priority: i32,
    /// When the job was queued, in milliseconds since 1970, by the clock of the database.
    pub queued_at: i64,
    /// Time before which the job is not handed out.
    pub run_at: i64,
    /// How often the job was handed out.
    pub attempts: u32,
    /// Maximum number of attempts.
    pub max_attempts: u32,
    /// Unique key. Two unfinished jobs of the queue can't have the same key.
    pub unique_key: Option<String>,
    /// When the lease of the worker ends.
    pub lease_until: Option<i64>,
    /// The worker that has the job, or had it last.
    pub worker: Option<String>,
    /// When the job was done or became dead.
    pub finished_at: Option<i64>,
    /// Error of the last failed attempt.
    pub error: Option<String>,
    /// The job that this one replays.
    pub replay_of: Option<Id>,
    /// The job that this one waits for.
    pub after: Option<Id>,
    /// Format of the payload. It is `None` if it could not be decoded.
    pub format: Option<String>,
    /// SHA-256 of the payload, in hexadecimal digits.
    pub checksum: String,
    /// Payload, as the caller passed it.
    pub bytes: Vec<u8>,
    /// Readable copy of the payload, if one was made.
    pub json: Option<String>,
    /// Why the payload can't be decoded.
    pub problem: Option<String>,
    /// Result of the worker.
    pub result: Option<Vec<u8>>,
}

/// A job that a worker holds for a limited time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job: Job,
    /// Token of the lease. Only a caller that knows it can change the job.
    pub token: String,
}

/// A finished job, identified by the token of its lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Id of the job.
    pub id: Id,
    /// Token of the lease.
    pub token: String,
    /// Result of the job.
    pub result: Option<Vec<u8>>,
}

/// Filter for jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Only jobs of this queue.
    pub queue: Option<String>,
    /// Only jobs in this state.
    pub state: Option<State>,
    /// Only jobs after this sequence.
    pub after: i64,
    /// Only jobs before this sequence, and the newest come first. With `None`, the oldest come first.
    pub before: Option<i64>,
}

/// State and settings of a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueStatus {
    /// Name of the queue.
    pub name: String,
    /// Number of jobs per state, in the order of [`State::ALL`].
    pub counts: [u64; State::ALL.len()],
    /// Number of ready jobs that wait for their start time.
    pub delayed: u64,
    /// Waiting time of the oldest job that could be handed out, in milliseconds.
    pub oldest: Option<i64>,
    /// When the queue was paused.
    pub paused_at: Option<i64>,
    /// JSON Schema that payloads are checked against.
    pub schema: Option<String>,
    /// Maximum number of jobs that workers have at the same time.
    pub concurrency: Option<u32>,
    /// Maximum number of jobs handed out in a period.
    pub rate: Option<Rate>,
    /// Maximum number of attempts of a job that is queued without its own limit. `None` means the default.
    pub max_attempts: Option<u32>,
    /// Delay after a job's first failure. `None` means the default.
    pub backoff: Option<Duration>,
}

impl QueueStatus {
    /// Returns the number of jobs in this state.
    pub fn count_in_state(&self, state: State) -> u64 {
        let counted = State::ALL.into_iter().zip(self.counts).find(|(counted_state, _)| *counted_state == state);
        counted.map_or(0, |(_, count)| count)
    }
}
