//! What holds in every database: names, ids, times to wait.

use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use std::time::Duration;

/// Names of queues, workers and keys have at most so many bytes.
const LONGEST_NAME: usize = 255;
/// How long a job waits behind its first failure.
const BACKOFF: Duration = Duration::from_secs(5);
/// The longest that it waits.
const LONGEST_BACKOFF: Duration = Duration::from_secs(60 * 60 * 24);

/// Milliseconds, as databases count them.
pub(crate) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}

/// A column that is never empty.
pub(crate) fn there<T>(value: Option<T>) -> Result<T> {
    value.ok_or_else(|| Error::new(ErrorKind::Database, "a column is empty that never is: the tables were changed"))
}

/// Names have at most 255 bytes and no control characters.
pub(crate) fn check_name(what: &str, name: &str) -> Result<()> {
    if (1..=LONGEST_NAME).contains(&name.len()) && !name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Input, format!("a {what} has 1 to {LONGEST_NAME} bytes and no control characters")))
}

/// Who does something may have no name.
pub(crate) fn check_who(by: &str) -> Result<()> {
    if by.is_empty() { Ok(()) } else { check_name("name of who does this", by) }
}

/// Whether objects are found by a class of this name: it fits into a column.
pub(crate) fn is_kept(class: &str) -> bool {
    class.len() <= LONGEST_NAME
}

/// An id as this crate writes it: by another spelling the row would not be found again.
pub(crate) fn id_of<T: AsRef<str>>(text: Option<T>) -> Result<Id> {
    let text = there(text)?;
    let text = text.as_ref();
    match text.parse::<Id>() {
        Ok(id) if id.is_written(text) => Ok(id),
        Ok(id) => Err(Error::new(ErrorKind::Database, format!("{text:?} is no id: it is written as {id}"))),
        Err(error) => Err(Error::new(ErrorKind::Database, format!("{text:?} is no id: {error}"))),
    }
}

/// Bytes of two columns: as they are, or as Base64 where the column is one of text.
pub(crate) fn payload(bytes: Option<Vec<u8>>, base64: Option<String>) -> Result<Vec<u8>> {
    match bytes {
        Some(bytes) => Ok(bytes),
        None => from_base64(&there(base64)?),
    }
}

pub(crate) fn from_base64(text: &str) -> Result<Vec<u8>> {
    icecore::text::from_base64(text.as_bytes())
        .map_err(|at| Error::new(ErrorKind::Database, format!("what was stored is no Base64 at offset {at}")))
}

/// A token that nobody had before.
pub(crate) fn token() -> String {
    Id::new().to_string()
}

/// How long jobs wait behind their first failure, as their queue says it in milliseconds.
pub(crate) fn first_backoff(millis: Option<i64>) -> Duration {
    millis.and_then(|millis| u64::try_from(millis).ok()).map_or(BACKOFF, Duration::from_millis)
}

/// How long a job waits that failed so often: each time twice as long.
pub(crate) fn backoff(first: Duration, attempts: i64) -> Duration {
    let doubled = u32::try_from(attempts - 1).unwrap_or(0).min(20);
    first.saturating_mul(1 << doubled).min(LONGEST_BACKOFF)
}

/// A job that can't be changed by who has this token, as it stands in this state.
pub(crate) fn no_lease(id: Id, state: Option<&str>) -> Error {
    match state {
        None => Error::new(ErrorKind::Missing, format!("there is no job {id}")),
        Some(state) => Error::new(
            ErrorKind::Lease,
            format!("job {id} is {state}, and not by this token: its lease ended, or was never this one"),
        ),
    }
}

/// A job that is to come behind one that is not there.
pub(crate) fn no_predecessor(id: Id) -> Error {
    Error::new(ErrorKind::Missing, format!("there is no job {id} behind which this one could come"))
}

/// A job that is wanted at once, and is to come behind another one.
pub(crate) fn waits() -> Error {
    Error::new(ErrorKind::Input, "a job that comes behind another one can't be handed out at once")
}

/// What a job is told that waited for one that was taken away.
pub(crate) const ORPHANED: &str = "the job before this one was taken away, and was not done";

/// A queue whose limit is reached.
pub(crate) fn limited(queue: &str) -> Error {
    Error::new(ErrorKind::Limited, format!("the queue {queue:?} hands out no more at this time: its limit is reached"))
}

/// A queue that hands out nothing.
pub(crate) fn paused(queue: &str) -> Error {
    Error::new(ErrorKind::Paused, format!("the queue {queue:?} is paused: it hands out nothing"))
}
