//! Rules for names, ids and waiting times. They are the same in every database.

use crate::error::{Error, ErrorKind, Result};
use crate::id::Id;
use std::time::Duration;

/// Maximum length in bytes of names of queues and workers, and of keys.
const MAX_NAME_LEN: usize = 255;
/// Default for how long a job waits after its first failure.
const DEFAULT_BACKOFF: Duration = Duration::from_secs(5);
/// Maximum wait of a job after a failure.
const MAX_BACKOFF: Duration = Duration::from_secs(60 * 60 * 24);

/// Returns a duration in milliseconds, as databases store it.
pub(crate) fn to_millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}

/// Returns the value of a column that is never NULL.
pub(crate) fn required<T>(value: Option<T>) -> Result<T> {
    value.ok_or_else(|| {
        Error::new(
            ErrorKind::Database,
            "unexpected NULL in a required column: the tables were changed by another program",
        )
    })
}

/// Checks that a name has 1 to 255 bytes and no control characters.
pub(crate) fn check_name(subject: &str, name: &str) -> Result<()> {
    if (1..=MAX_NAME_LEN).contains(&name.len()) && !name.chars().any(char::is_control) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Input,
        format!("a {subject} must have 1 to {MAX_NAME_LEN} bytes and no control characters"),
    ))
}

/// Checks the name of the person or program that does something. It may be empty.
pub(crate) fn check_actor_name(actor: &str) -> Result<()> {
    if actor.is_empty() { Ok(()) } else { check_name("name of a person or program", actor) }
}

/// Returns whether a class name fits into a column, so that objects are found by it.
pub(crate) fn fits_class_column(class: &str) -> bool {
    class.len() <= MAX_NAME_LEN
}

/// Parses an id in this crate's spelling. A row with another spelling would not be found again.
pub(crate) fn parse_id<T: AsRef<str>>(text: Option<T>) -> Result<Id> {
    let text = required(text)?;
    let text = text.as_ref();
    match text.parse::<Id>() {
        Ok(id) if id.is_canonical_text(text) => Ok(id),
        Ok(id) => Err(Error::new(ErrorKind::Database, format!("{text:?} is not an id: it is written as {id}"))),
        Err(error) => Err(Error::new(ErrorKind::Database, format!("{text:?} is not an id: {error}"))),
    }
}

/// Returns the bytes from two columns. The first is a column of bytes. If it is NULL, the second one has Base64.
pub(crate) fn payload_from_columns(bytes: Option<Vec<u8>>, base64: Option<String>) -> Result<Vec<u8>> {
    match bytes {
        Some(bytes) => Ok(bytes),
        None => decode_base64(&required(base64)?),
    }
}

pub(crate) fn decode_base64(text: &str) -> Result<Vec<u8>> {
    icecore::text::from_base64(text.as_bytes())
        .map_err(|offset| Error::new(ErrorKind::Database, format!("what was stored is not Base64 at offset {offset}")))
}

/// Returns a new token.
pub(crate) fn new_token() -> String {
    Id::new().to_string()
}

/// Returns how long jobs of a queue wait after their first failure, from the setting in milliseconds.
pub(crate) fn first_backoff(millis: Option<i64>) -> Duration {
    millis.and_then(|millis| u64::try_from(millis).ok()).map_or(DEFAULT_BACKOFF, Duration::from_millis)
}

/// Returns how long a job waits after this number of attempts. The wait doubles each time.
pub(crate) fn backoff_after(first: Duration, attempts: i64) -> Duration {
    let doubled = u32::try_from(attempts - 1).unwrap_or(0).min(20);
    first.saturating_mul(1 << doubled).min(MAX_BACKOFF)
}

/// Returns the error for a job in this state that the given token can't change.
pub(crate) fn lease_error(id: Id, state: Option<&str>) -> Error {
    match state {
        None => Error::new(ErrorKind::Missing, format!("there is no job {id}")),
        Some(state) => Error::new(
            ErrorKind::Lease,
            format!("job {id} is {state}, but not with this token: the lease ended, or the token is wrong"),
        ),
    }
}

/// Returns the error for a job that waits for a job that does not exist.
pub(crate) fn no_predecessor_error(id: Id) -> Error {
    Error::new(ErrorKind::Missing, format!("there is no job {id} after which this one could come"))
}

/// Returns the error for a job that waits for another one but is to be handed out immediately.
pub(crate) fn waiting_job_error() -> Error {
    Error::new(ErrorKind::Input, "a job that comes after another one can't be handed out at once")
}

/// Error recorded for a job that waited for a job that was removed.
pub(crate) const ORPHANED: &str = "the job that this one waited for was removed before it was done";

/// Returns the error for a queue that has reached its limit.
pub(crate) fn queue_limited_error(queue: &str) -> Error {
    Error::new(
        ErrorKind::Limited,
        format!("the queue {queue:?} hands out no more jobs at the moment: its limit is reached"),
    )
}

/// Returns the error for a paused queue.
pub(crate) fn queue_paused_error(queue: &str) -> Error {
    Error::new(ErrorKind::Paused, format!("the queue {queue:?} is paused and hands out no jobs"))
}
