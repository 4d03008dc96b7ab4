//! Schedules: jobs that are queued repeatedly.

use crate::describe;
use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use crate::job::NewJob;
use crate::rules::check_name;
use crate::timing::Timing;

/// Maximum length in bytes of a schedule's name, so that it fits into a unique key.
const MAX_NAME_LEN: usize = 200;

/// A schedule that is to be set.
#[derive(Clone, Debug)]
pub struct NewSchedule {
    /// Name of the schedule. A schedule with the same name is replaced.
    pub name: String,
    /// Queue of its jobs.
    pub queue: String,
    /// When its jobs are queued.
    pub timing: Timing,
    /// Payload of each job, as the caller passed it.
    pub bytes: Vec<u8>,
    /// Format of the payload. `None` means that it is detected.
    pub format: Option<String>,
    /// Priority of its jobs.
    pub priority: i32,
    /// Maximum number of attempts. `None` means the setting of the queue.
    pub max_attempts: Option<u32>,
    /// Whether a job is skipped while the previous one is neither done nor dead.
    pub is_alone: bool,
}

impl NewSchedule {
    /// Creates a schedule with default settings.
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

    pub(crate) fn check_names(&self) -> Result<()> {
        check_schedule(&self.name)?;
        check_name("queue", &self.queue)
    }
}

/// Checks the name of a schedule. It follows the rule for queues, but is shorter.
pub(crate) fn check_schedule(name: &str) -> Result<()> {
    check_name("schedule", name)?;
    if name.len() <= MAX_NAME_LEN {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Input, format!("the name of a schedule may have at most {MAX_NAME_LEN} bytes")))
}

pub(crate) fn no_schedule_error(name: &str) -> Error {
    Error::new(ErrorKind::Missing, format!("there is no schedule {name:?}"))
}

/// A schedule as stored in the database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Schedule {
    /// Name of the schedule.
    pub name: String,
    /// Queue of its jobs.
    pub queue: String,
    /// When its jobs are queued, as it was written.
    pub timing: String,
    /// Time zone of the timing, if it is not UTC.
    pub zone: Option<String>,
    /// When the next job is queued. `None` means never, because it is paused or has a problem.
    pub next_at: Option<i64>,
    /// Time of the last job.
    pub last_at: Option<i64>,
    /// Id of the last job.
    pub last_id: Option<Id>,
    /// When it was paused.
    pub paused_at: Option<i64>,
    /// Priority of its jobs.
    pub priority: i32,
    /// Maximum number of attempts.
    pub max_attempts: Option<u32>,
    /// Whether a job is skipped while the previous one is neither done nor dead.
    pub is_alone: bool,
    /// Declared format of the payload.
    pub format: Option<String>,
    /// Payload of each job.
    pub bytes: Vec<u8>,
    /// Why it queues no jobs.
    pub problem: Option<String>,
}

impl Schedule {
    /// Returns the next time after this one.
    pub(crate) fn next_time(&self, after: i64) -> Result<i64> {
        let next = Timing::new(&self.timing, self.zone.as_deref())?.next(after);
        next.ok_or_else(|| Error::new(ErrorKind::Input, format!("{:?} has no next time", self.timing)))
    }

    /// Creates a placeholder for a schedule whose record is invalid, because another program wrote it.
    pub(crate) fn placeholder_for(name: String, error: &Error) -> Schedule {
        let problem = Some(describe::without_nul(&error.to_string()).into_owned());
        Schedule { name, problem, ..Schedule::default() }
    }

    /// Returns the time that is due, and the next time after `now`. If several times have passed, the first one is
    /// due.
    pub(crate) fn due_and_next_time(&self, now: i64) -> Result<(i64, i64)> {
        match &self.problem {
            Some(problem) => Err(Error::new(ErrorKind::Input, problem)),
            None => Ok((self.next_at.unwrap_or(now).min(now), self.next_time(now)?)),
        }
    }

    /// Returns when the schedule was paused, and its next time, after it is paused or resumed.
    pub(crate) fn pause_and_next_time(&self, is_paused: bool, now: i64) -> Result<(Option<i64>, Option<i64>)> {
        match self.next_at.filter(|_| self.paused_at.is_none()) {
            _ if is_paused => Ok((self.paused_at.or(Some(now)), None)),
            Some(next) => Ok((None, Some(next))),
            None => Ok((None, Some(self.next_time(now)?))),
        }
    }

    /// Returns a report in which nothing was queued yet.
    pub(crate) fn empty_report(&self) -> Fired {
        Fired { schedule: self.name.clone(), queue: self.queue.clone(), id: None, is_new: false, problem: None }
    }

    /// Returns the job of this time. All callers make the same id, so it is queued once.
    pub(crate) fn job_at(&self, time: i64) -> NewJob {
        NewJob {
            id: Id::from_time_and_text(time, &self.name),
            priority: self.priority,
            max_attempts: self.max_attempts,
            unique_key: self.is_alone.then(|| format!("schedule {}", self.name)),
            ..describe::describe_job(&self.queue, self.bytes.clone(), self.format.as_deref())
        }
    }
}

/// Result of a schedule whose time came.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fired {
    /// Name of the schedule.
    pub schedule: String,
    /// Queue of the schedule.
    pub queue: String,
    /// Id of the job. If the previous job is still unfinished and the schedule allows one at a time, its id.
    pub id: Option<Id>,
    /// Whether the job was queued now.
    pub is_new: bool,
    /// Why nothing was queued, now or in the future.
    pub problem: Option<String>,
}
