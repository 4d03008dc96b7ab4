//! What is queued.

use crate::id::Id;
use crate::limits::Rate;
use crate::object::Described;
use std::time::Duration;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewJob {
    /// Its id.
    pub id: Id,
    /// The queue; it needs no set-up.
    pub queue: String,
    /// The payload, as it came.
    pub bytes: Vec<u8>,
    /// What the engine says of it.
    pub said: Described,
    /// Larger ones are handed out first; usually 0.
    pub priority: i32,
    /// How long it is not handed out.
    pub delay: Duration,
    /// No two jobs of a queue that are not done have the same.
    pub unique_key: Option<String>,
    /// How often it is tried; `None`: as often as the queue says.
    pub max_attempts: Option<u32>,
    /// The job of which this is a replay.
    pub replay_of: Option<Id>,
    /// The job behind which it comes: it is handed out when that one is done, and not before.
    pub after: Option<Id>,
}

impl NewJob {
    /// A job with nothing else set.
    pub fn new(queue: impl Into<String>, bytes: Vec<u8>, said: Described) -> NewJob {
        NewJob {
            id: Id::new(),
            queue: queue.into(),
            bytes,
            said,
            priority: 0,
            delay: Duration::ZERO,
            unique_key: None,
            max_attempts: None,
            replay_of: None,
            after: None,
        }
    }
}

/// What became of a job that was pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// Its id: of the one that was there before, if that has its unique key.
    pub id: Id,
    /// Whether it is a new one.
    pub is_new: bool,
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// It waits, for a worker or for its time.
    Ready,
    /// A worker has it.
    Leased,
    /// A worker did it.
    Done,
    /// It was tried too often.
    Dead,
    /// It waits for another job to be done.
    Waiting,
}

impl State {
    /// All of them.
    pub const ALL: [State; 5] = [State::Ready, State::Leased, State::Done, State::Dead, State::Waiting];

    /// Its name: `ready`, `leased`, `done`, `dead`, `waiting`.
    pub fn name(self) -> &'static str {
        match self {
            State::Ready => "ready",
            State::Leased => "leased",
            State::Done => "done",
            State::Dead => "dead",
            State::Waiting => "waiting",
        }
    }

    /// The state of this name.
    pub fn named(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A job as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Job {
    /// Its id.
    pub id: Id,
    /// Where it stands among all.
    pub sequence: i64,
    /// Its queue.
    pub queue: String,
    /// Where it stands.
    pub state: State,
    /// Larger ones are handed out first.
    pub priority: i32,
    /// When it came, in milliseconds since 1970, by the clock of the database.
    pub queued_at: i64,
    /// Not handed out before.
    pub run_at: i64,
    /// How often it was handed out.
    pub attempts: u32,
    /// How often it is.
    pub max_attempts: u32,
    /// No other job of the queue that is not done has the same.
    pub unique_key: Option<String>,
    /// Until when a worker has it.
    pub lease_until: Option<i64>,
    /// Who has it, or had it last.
    pub worker: Option<String>,
    /// When it was done, or given up.
    pub finished_at: Option<i64>,
    /// What the last worker said that could not do it.
    pub error: Option<String>,
    /// The job of which this is a replay.
    pub replay_of: Option<Id>,
    /// The job behind which it comes.
    pub after: Option<Id>,
    /// What the payload is; `None`, if it could not be decoded.
    pub format: Option<String>,
    /// SHA-256 of the payload, in hexadecimal digits.
    pub checksum: String,
    /// The payload, as it came.
    pub bytes: Vec<u8>,
    /// A readable copy of it, if one was made.
    pub json: Option<String>,
    /// Why it can't be decoded.
    pub problem: Option<String>,
    /// What the worker returned.
    pub result: Option<Vec<u8>>,
}

/// A job that a worker has for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The job.
    pub job: Job,
    /// Only who knows it may say what becomes of the job.
    pub token: String,
}

/// A job that is done, by the token of its lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The job.
    pub id: Id,
    /// The token that came with it.
    pub token: String,
    /// What it returned.
    pub result: Option<Vec<u8>>,
}

/// Which jobs are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Of this queue.
    pub queue: Option<String>,
    /// In this state.
    pub state: Option<State>,
    /// Behind this sequence.
    pub after: i64,
    /// Before this sequence, the newest first; `None`: the oldest first.
    pub before: Option<i64>,
}

/// What is known of a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueStatus {
    /// Its name.
    pub name: String,
    /// How many jobs are in each state, in the order of [`State::ALL`].
    pub counts: [u64; State::ALL.len()],
    /// Of those that are ready, how many wait for their time.
    pub delayed: u64,
    /// How long the oldest job waits that could be handed out, in milliseconds.
    pub oldest: Option<i64>,
    /// Since when it hands out nothing.
    pub paused_at: Option<i64>,
    /// The JSON Schema that payloads are checked against.
    pub schema: Option<String>,
    /// How many of its jobs workers have at most at a time.
    pub concurrency: Option<u32>,
    /// How many of its jobs are handed out at most in a time.
    pub rate: Option<Rate>,
}

impl QueueStatus {
    /// How many jobs are in this state.
    pub fn count(&self, state: State) -> u64 {
        let known = State::ALL.into_iter().zip(self.counts).find(|(known, _)| *known == state);
        known.map_or(0, |(_, count)| count)
    }
}
