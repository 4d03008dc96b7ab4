//! The interface that every database implements.

use crate::error::Result;
use crate::id::Id;
use crate::job::{Ack, Job, JobFilter, Lease, NewJob, Pushed, QueueStatus, State};
use crate::limits::Rate;
use crate::object::{LentObject, NewObject, Object, ObjectFilter};
use crate::schedule::{Fired, NewSchedule, Schedule};
use std::time::Duration;

/// Answer of a callback that receives values one by one. It says whether to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Continue with the next value.
    Continue,
    /// Stop.
    Stop,
}

/// Callback that receives values one by one.
pub type Each<'f, T> = &'f mut dyn FnMut(T) -> Result<Flow>;

/// Callback that receives objects one by one. Each object is valid only during the call.
pub type EachLent<'f> = &'f mut dyn FnMut(LentObject<'_>) -> Result<Flow>;

/// Settings of a queue. A field that is `None` leaves the setting unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueSettings {
    /// Maximum number of attempts at a job.
    pub max_attempts: Option<u32>,
    /// How long a job waits after its first failure. The wait doubles after each further failure.
    pub backoff: Option<Duration>,
    /// JSON Schema for the payloads. An empty text removes it.
    pub schema: Option<String>,
    /// Maximum number of jobs that workers have at the same time. 0 removes the limit.
    pub concurrency: Option<u32>,
    /// Maximum number of jobs handed out in a period. [`Rate::NONE`] removes the limit.
    pub rate: Option<Rate>,
}

/// A queue, and the JSON Schema that its payloads were checked against, if any.
pub type QueueSchema<'s> = (&'s str, Option<&'s str>);

/// One connection to a database.
///
/// Each call is one transaction. When the call returns, its result is durable. Times are milliseconds since 1970 by
/// the clock of the database. Several connections, programs and machines may make calls at the same time.
pub trait Backend: Objects + Jobs + Queues + Schedules + Send {
    /// Returns the current time of the database.
    fn now(&mut self) -> Result<i64>;

    /// Queues all jobs or none, provided that their queues still have the schemas that the payloads were checked
    /// against. If a queue has another schema, queues nothing and returns `None`.
    fn push_checked(&mut self, jobs: &[NewJob], schemas: &[QueueSchema<'_>]) -> Result<Option<Vec<Pushed>>> {
        if !self.has_schemas(schemas)? {
            return Ok(None);
        }
        self.push(jobs).map(Some)
    }
}

/// Operations on objects. This is the part of a [`Backend`] without jobs.
pub trait Objects {
    /// Stores all objects or none, and returns their ids in order. If a key already exists, the error has kind
    /// `Taken`.
    fn put(&mut self, objects: &[NewObject]) -> Result<Vec<Id>>;
    /// Returns the object with this id.
    fn object(&mut self, id: Id) -> Result<Option<Object>>;
    /// Returns the object with this key.
    fn object_named(&mut self, key: &str) -> Result<Option<Object>>;
    /// Passes up to `max_objects` objects after this sequence to `each`, in order. Objects that are stored in the
    /// meantime do not disturb the walk.
    fn objects(&mut self, after: i64, max_objects: usize, filter: &ObjectFilter, each: Each<'_, Object>) -> Result<()>;
    /// Passes the same objects as [`objects`](Objects::objects), but lends them one by one, without their readable
    /// copies. It is for callers that decode the bytes themselves, and avoids a copy of each object.
    fn walk(&mut self, after: i64, max_objects: usize, filter: &ObjectFilter, each: EachLent<'_>) -> Result<()>;
    /// Removes objects and records who did. Returns how many there were.
    fn remove(&mut self, ids: &[Id], actor: &str) -> Result<u64>;
    /// Removes objects that have expired. Returns how many there were.
    fn remove_expired(&mut self) -> Result<u64>;
    /// Marks an object as one that can't be decoded.
    fn quarantine(&mut self, id: Id, problem: &str) -> Result<()>;
    /// Indexes the value at this path of every object, so that objects are found by it.
    fn index(&mut self, path: &str) -> Result<()>;
    /// Returns the paths that are indexed.
    fn indexes(&mut self) -> Result<Vec<String>>;
    /// Returns counts of the stored objects.
    fn object_stats(&mut self) -> Result<ObjectStats>;
}

/// Operations on jobs.
pub trait Jobs {
    /// Queues all jobs or none.
    fn push(&mut self, jobs: &[NewJob]) -> Result<Vec<Pushed>>;
    /// Hands out up to `max_jobs` jobs of a queue. They belong to this caller until the lease ends. Jobs with the
    /// highest priority come first; among them, those that have waited longest.
    fn claim(&mut self, queue: &str, worker: &str, lease: Duration, max_jobs: usize) -> Result<Vec<Lease>>;
    /// Queues a job and immediately hands it out to this caller. Returns `None` if another job has its unique key.
    /// For a paused queue, which hands out nothing, the error has kind `Paused`.
    fn push_and_claim(&mut self, job: &NewJob, worker: &str, lease: Duration) -> Result<Option<Lease>>;
    /// Records that the job is done.
    fn ack(&mut self, id: Id, token: &str, result: Option<&[u8]>) -> Result<()>;
    /// Records that these jobs are done. Returns one result for each, in order. A lease that has ended does not
    /// prevent the other jobs from being recorded.
    fn ack_many(&mut self, acks: &[Ack]) -> Result<Vec<Result<()>>>;
    /// Records that an attempt failed. The job is tried again after `delay`, or after the delay that its queue sets.
    /// After too many attempts it is dead. Returns the new state.
    fn nack(&mut self, id: Id, token: &str, error: &str, delay: Option<Duration>) -> Result<State>;
    /// Extends the lease of a job. Returns when the lease ends.
    fn extend(&mut self, id: Id, token: &str, lease: Duration) -> Result<i64>;
    /// Returns the job with this id.
    fn job(&mut self, id: Id) -> Result<Option<Job>>;
    /// Passes up to `max_jobs` jobs to `each`, in the order in which they were queued.
    fn jobs(&mut self, filter: &JobFilter, max_jobs: usize, each: Each<'_, Job>) -> Result<()>;
    /// Makes jobs ready, and records who did: all dead jobs of a queue, or these jobs, which are dead or wait for their
    /// time. A job that waits keeps the number of its attempts. Returns how many there were.
    fn redrive(&mut self, queue: &str, ids: Option<&[Id]>, actor: &str) -> Result<u64>;
    /// Queues a copy of a job as a new job, and records who did.
    fn replay(&mut self, id: Id, actor: &str) -> Result<Id>;
    /// Removes done and dead jobs that ended before this time. Returns how many there were.
    fn remove_ended_jobs(&mut self, before: i64) -> Result<u64>;
}

/// Operations on the settings and the state of queues.
pub trait Queues {
    /// Pauses a queue, so that it hands out nothing, or resumes it.
    fn pause(&mut self, queue: &str, is_paused: bool, actor: &str) -> Result<()>;
    /// Changes the settings of a queue.
    fn configure(&mut self, queue: &str, settings: &QueueSettings) -> Result<()>;
    /// Returns all queues that have jobs or settings.
    fn queues(&mut self) -> Result<Vec<QueueStatus>>;
    /// Returns the JSON Schema of a queue.
    fn schema(&mut self, queue: &str) -> Result<Option<String>>;

    /// Returns whether all these queues have the given schemas.
    fn has_schemas(&mut self, schemas: &[QueueSchema<'_>]) -> Result<bool> {
        for (queue, expected) in schemas {
            if self.schema(queue)?.as_deref() != *expected {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Operations on schedules. A schedule queues jobs repeatedly.
pub trait Schedules {
    /// Sets a schedule, replacing one with the same name, and records who did. Returns when its first job is queued.
    fn set_schedule(&mut self, schedule: &NewSchedule, actor: &str) -> Result<i64>;
    /// Returns all schedules, sorted by name.
    fn schedules(&mut self) -> Result<Vec<Schedule>>;
    /// Pauses or resumes a schedule. Jobs that were due while it was paused are not queued later.
    fn pause_schedule(&mut self, name: &str, is_paused: bool, actor: &str) -> Result<()>;
    /// Removes a schedule, and records who did. Its jobs stay. Returns whether the schedule existed.
    fn remove_schedule(&mut self, name: &str, actor: &str) -> Result<bool>;
    /// Queues the jobs that are due, for up to `max_schedules` schedules. If several times of a schedule passed since
    /// the last call, only the first of them gets a job. Concurrent callers never queue two jobs for the same time.
    fn fire(&mut self, max_schedules: usize) -> Result<Vec<Fired>>;
}

/// Counts of the stored objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectStats {
    /// Number of objects.
    pub count: u64,
    /// Total size of the objects in bytes.
    pub bytes: u64,
    /// Number of objects that can't be decoded.
    pub quarantined: u64,
    /// When the first object was stored.
    pub first_at: Option<i64>,
    /// When the last object was stored.
    pub last_at: Option<i64>,
    /// Number of objects per format.
    pub formats: Vec<(Option<String>, u64)>,
    /// Number of objects per class. Objects without a class are not counted.
    pub classes: Vec<(String, u64)>,
}
