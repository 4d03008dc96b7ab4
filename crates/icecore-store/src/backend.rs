//! What every database does, in one interface.

use crate::error::Result;
use crate::id::Id;
use crate::job::{Ack, Job, JobFilter, Lease, NewJob, Pushed, QueueStatus, State};
use crate::limits::Rate;
use crate::object::{LentObject, NewObject, Object, ObjectFilter};
use crate::schedule::{Fired, NewSchedule, Schedule};
use std::time::Duration;

/// What one who takes values one by one says: to go on, or that it is enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The next one.
    On,
    /// No more.
    Stop,
}

/// Takes values one by one.
pub type Each<'f, T> = &'f mut dyn FnMut(T) -> Result<Flow>;

/// Takes objects one by one that are there until it returns.
pub type EachLent<'f> = &'f mut dyn FnMut(LentObject<'_>) -> Result<Flow>;

/// Sets of a queue; what is `None` stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueSettings {
    /// How often a job is tried.
    pub max_attempts: Option<u32>,
    /// How long a job waits behind its first failure; twice that behind the second, and so on.
    pub backoff: Option<Duration>,
    /// The JSON Schema that payloads are checked against; an empty one takes it away.
    pub schema: Option<String>,
    /// How many of its jobs workers have at most at a time; 0 takes the limit away.
    pub concurrency: Option<u32>,
    /// How many of its jobs are handed out at most in a time; [`Rate::NONE`] takes the limit away.
    pub rate: Option<Rate>,
}

/// A queue, and the JSON Schema that its payloads were checked against, if it had one.
pub type QueueSchema<'s> = (&'s str, Option<&'s str>);

/// One connection to a database.
///
/// Each call is one transaction: what it returned is durable. Times are those of the
/// database's clock, in milliseconds since 1970. Calls of several connections, programs and
/// machines may go on at once.
pub trait Backend: Objects + Jobs + Queues + Schedules + Send {
    /// The time.
    fn now(&mut self) -> Result<i64>;

    /// Queues jobs, all or none, if their queues have the schemas that the payloads were
    /// checked against. `None`, and nothing is queued, if one of them has another.
    fn push_checked(&mut self, jobs: &[NewJob], schemas: &[QueueSchema<'_>]) -> Result<Option<Vec<Pushed>>> {
        if !self.has_schemas(schemas)? {
            return Ok(None);
        }
        self.push(jobs).map(Some)
    }
}

/// What a database does with objects: the part of a [`Backend`] that knows no jobs.
pub trait Objects {
    /// Stores objects, all or none; their ids, in order. One whose key is there already is
    /// an error of kind `Taken`.
    fn put(&mut self, objects: &[NewObject]) -> Result<Vec<Id>>;
    /// The object with this id.
    fn object(&mut self, id: Id) -> Result<Option<Object>>;
    /// The object with this key.
    fn object_named(&mut self, key: &str) -> Result<Option<Object>>;
    /// The objects behind this sequence, in order, at most so many; what is stored meanwhile
    /// does not disturb.
    fn objects(&mut self, after: i64, most: usize, filter: &ObjectFilter, each: Each<'_, Object>) -> Result<()>;
    /// The same, lent one by one and without their readable copies: for those who decode the
    /// bytes themselves. Nothing is copied for objects that are only looked at.
    fn walk(&mut self, after: i64, most: usize, filter: &ObjectFilter, each: EachLent<'_>) -> Result<()>;
    /// Takes objects away, and notes who did. How many there were.
    fn remove(&mut self, ids: &[Id], by: &str) -> Result<u64>;
    /// Takes those away whose time has come. How many there were.
    fn expire(&mut self) -> Result<u64>;
    /// Marks an object as one that can't be decoded.
    fn quarantine(&mut self, id: Id, problem: &str) -> Result<()>;
    /// Keeps what stands at this path of all objects, so that they are found by it.
    fn index(&mut self, path: &str) -> Result<()>;
    /// The paths of which that is kept.
    fn indexes(&mut self) -> Result<Vec<String>>;
    /// What is there.
    fn object_stats(&mut self) -> Result<ObjectStats>;
}

/// Jobs.
pub trait Jobs {
    /// Queues jobs, all or none.
    fn push(&mut self, jobs: &[NewJob]) -> Result<Vec<Pushed>>;
    /// Hands out at most so many jobs of a queue, which are this caller's until the time of
    /// the lease is over. Those come first that have the highest priority, and among them
    /// those that have waited longest.
    fn claim(&mut self, queue: &str, worker: &str, lease: Duration, most: usize) -> Result<Vec<Lease>>;
    /// Queues a job that this caller has at once; `None`, if another job has its unique key.
    /// A queue that is paused hands out nothing: that is an error of kind `Paused`.
    fn push_and_claim(&mut self, job: &NewJob, worker: &str, lease: Duration) -> Result<Option<Lease>>;
    /// The job is done.
    fn ack(&mut self, id: Id, token: &str, result: Option<&[u8]>) -> Result<()>;
    /// These jobs are done. What became of each, in order: one whose lease is over keeps no
    /// other.
    fn ack_many(&mut self, acks: &[Ack]) -> Result<Vec<Result<()>>>;
    /// The job was not done. It is tried again after this time, or after what its queue
    /// says; too often tried, it is dead. Where it stands then.
    fn nack(&mut self, id: Id, token: &str, error: &str, delay: Option<Duration>) -> Result<State>;
    /// The worker needs longer: until when it has the job.
    fn extend(&mut self, id: Id, token: &str, lease: Duration) -> Result<i64>;
    /// The job with this id.
    fn job(&mut self, id: Id) -> Result<Option<Job>>;
    /// Jobs in the order in which they came, at most so many.
    fn jobs(&mut self, filter: &JobFilter, most: usize, each: Each<'_, Job>) -> Result<()>;
    /// Makes dead jobs ready again, all of a queue or these, and notes who did. How many
    /// there were.
    fn redrive(&mut self, queue: &str, ids: Option<&[Id]>, by: &str) -> Result<u64>;
    /// Queues what a job was once more, as a new one, and notes who did.
    fn replay(&mut self, id: Id, by: &str) -> Result<Id>;
    /// Takes done and dead jobs away that ended before this time. How many there were.
    fn forget(&mut self, before: i64) -> Result<u64>;
}

/// Queues: what is set for them, and what is in them.
pub trait Queues {
    /// Lets a queue hand out nothing, or again.
    fn pause(&mut self, queue: &str, is_paused: bool, by: &str) -> Result<()>;
    /// Sets what a queue does.
    fn configure(&mut self, queue: &str, settings: &QueueSettings) -> Result<()>;
    /// All queues that have jobs or settings.
    fn queues(&mut self) -> Result<Vec<QueueStatus>>;
    /// The JSON Schema of a queue.
    fn schema(&mut self, queue: &str) -> Result<Option<String>>;

    /// Whether queues have these schemas.
    fn has_schemas(&mut self, schemas: &[QueueSchema<'_>]) -> Result<bool> {
        for (queue, wanted) in schemas {
            if self.schema(queue)?.as_deref() != *wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Schedules: jobs that are queued again and again.
pub trait Schedules {
    /// Sets a schedule, in the place of one of its name, and notes who did. When its first job
    /// is queued.
    fn set_schedule(&mut self, schedule: &NewSchedule, by: &str) -> Result<i64>;
    /// All of them, by name.
    fn schedules(&mut self) -> Result<Vec<Schedule>>;
    /// Lets a schedule queue nothing, or again: what would have been queued meanwhile is not.
    fn pause_schedule(&mut self, name: &str, is_paused: bool, by: &str) -> Result<()>;
    /// Takes a schedule away, and notes who did. Whether there was one. Its jobs stay.
    fn remove_schedule(&mut self, name: &str, by: &str) -> Result<bool>;
    /// Queues the jobs whose time came, of at most so many schedules. Of several times of one
    /// schedule that passed while nobody called this, the first has a job, the others have none.
    /// However many call this at once, no time has two.
    fn fire(&mut self, most: usize) -> Result<Vec<Fired>>;
}

/// What is there, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectStats {
    /// Objects.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Those that can't be decoded.
    pub quarantined: u64,
    /// When the first was stored.
    pub first_at: Option<i64>,
    /// When the last was stored.
    pub last_at: Option<i64>,
    /// How many of each format.
    pub formats: Vec<(Option<String>, u64)>,
    /// How many of each class; of what has none, none.
    pub classes: Vec<(String, u64)>,
}
