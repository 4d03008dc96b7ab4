//! Jobs that are queued again and again.

use crate::describe;
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::job::NewJob;
use crate::rules::check_name;
use crate::timing::Timing;

/// Names of schedules have at most so many bytes, so that one fits into a unique key.
const LONGEST_NAME: usize = 200;

/// What is to be queued, and when.
#[derive(Clone, Debug)]
pub struct NewSchedule {
    /// Its name; another one of this name is replaced.
    pub name: String,
    /// The queue of its jobs.
    pub queue: String,
    /// When.
    pub timing: Timing,
    /// The payload of each job, as it came.
    pub bytes: Vec<u8>,
    /// What the payload is; `None`: it is found out.
    pub format: Option<String>,
    /// The priority of its jobs.
    pub priority: i32,
    /// How often they are tried; `None`: as often as the queue says.
    pub max_attempts: Option<u32>,
    /// Whether a job is left out while the last one is neither done nor dead.
    pub is_alone: bool,
}

impl NewSchedule {
    /// A schedule with nothing else set.
    pub fn new(name: impl Into<String>, queue: impl Into<String>, timing: Timing, bytes: Vec<u8>) -> NewSchedule {
        NewSchedule {
            name: name.into(),
            queue: queue.into(),
            timing,
            bytes,
            format: None,
            priority: 0,
            max_attempts: None,
            is_alone: false,
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        check_schedule(&self.name)?;
        check_name("queue", &self.queue)
    }
}

/// Names of schedules are those of queues, and shorter.
pub(crate) fn check_schedule(name: &str) -> Result<()> {
    check_name("schedule", name)?;
    if name.len() <= LONGEST_NAME {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Input, format!("the name of a schedule has at most {LONGEST_NAME} bytes")))
}

pub(crate) fn no_schedule(name: &str) -> Error {
    Error::new(ErrorKind::Missing, format!("there is no schedule {name:?}"))
}

/// A schedule as it is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schedule {
    /// Its name.
    pub name: String,
    /// The queue of its jobs.
    pub queue: String,
    /// When, as it was written.
    pub timing: String,
    /// The time zone by whose clock that goes, if it is not UTC.
    pub zone: Option<String>,
    /// When the next job is queued; `None`: never, as it is paused or has a problem.
    pub next_at: Option<i64>,
    /// The time of the last one.
    pub last_at: Option<i64>,
    /// The last job.
    pub last_id: Option<Id>,
    /// Since when it queues nothing.
    pub paused_at: Option<i64>,
    /// The priority of its jobs.
    pub priority: i32,
    /// How often they are tried.
    pub max_attempts: Option<u32>,
    /// Whether a job is left out while the last one is neither done nor dead.
    pub is_alone: bool,
    /// What the payload is said to be.
    pub format: Option<String>,
    /// The payload.
    pub bytes: Vec<u8>,
    /// Why it queues nothing.
    pub problem: Option<String>,
}

impl Schedule {
    /// When it comes next behind this time.
    pub(crate) fn next(&self, after: i64) -> Result<i64> {
        let next = Timing::new(&self.timing, self.zone.as_deref())?.next(after);
        next.ok_or_else(|| Error::new(ErrorKind::Input, format!("{:?} has no next time", self.timing)))
    }

    /// One whose record makes no sense, as another program wrote it.
    pub(crate) fn senseless(name: String, error: &Error) -> Schedule {
        let problem = Some(describe::without_nul(&error.to_string()).into_owned());
        Schedule { name, problem, ..Schedule::default() }
    }

    /// The time that came, and the one that comes next. Of several that passed it is the first.
    pub(crate) fn due(&self, now: i64) -> Result<(i64, i64)> {
        match &self.problem {
            Some(problem) => Err(Error::new(ErrorKind::Input, problem)),
            None => Ok((self.next_at.unwrap_or(now).min(now), self.next(now)?)),
        }
    }

    /// Since when it is paused, and when it comes next, if it is paused now or not any more.
    pub(crate) fn switched(&self, is_paused: bool, now: i64) -> Result<(Option<i64>, Option<i64>)> {
        match self.next_at.filter(|_| self.paused_at.is_none()) {
            _ if is_paused => Ok((self.paused_at.or(Some(now)), None)),
            Some(next) => Ok((None, Some(next))),
            None => Ok((None, Some(self.next(now)?))),
        }
    }

    /// What is told of it before anything came of it.
    pub(crate) fn fired(&self) -> Fired {
        Fired { schedule: self.name.clone(), queue: self.queue.clone(), id: None, is_new: false, problem: None }
    }

    /// The job of this time. Whoever makes it makes the same: it is queued once.
    pub(crate) fn job(&self, at: i64) -> NewJob {
        NewJob {
            id: Id::of_time(at, &self.name),
            priority: self.priority,
            max_attempts: self.max_attempts,
            unique_key: self.is_alone.then(|| format!("schedule {}", self.name)),
            ..describe::job(&self.queue, self.bytes.clone(), self.format.as_deref())
        }
    }
}

/// What became of a schedule whose time came.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fired {
    /// Its name.
    pub schedule: String,
    /// Its queue.
    pub queue: String,
    /// The job: the last one, if that is still to be done and the schedule has one at a time.
    pub id: Option<Id>,
    /// Whether it was queued now.
    pub is_new: bool,
    /// Why nothing was queued, nor will be.
    pub problem: Option<String>,
}
