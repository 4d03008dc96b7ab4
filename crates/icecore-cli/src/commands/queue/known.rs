//! Names of queues that do not exist. A queue is created when a job or a setting names it, so a misspelled name would
//! create a queue.

use super::USUAL;
use super::args::Which;
use crate::database::failed;
use crate::report::{Abort, Report, usage_of};
use icecore::text::{nearest, printable};
use icecore_store::{Backend, QueueStatus};

/// Returns the queue that was named, or the default one.
pub fn named_or_usual<'a>(which: &'a Which, report: &Report) -> &'a str {
    which.name().unwrap_or_else(|| note_usual(report))
}

/// Returns the default queue, and notes that no queue was named.
pub fn note_usual(report: &Report) -> &'static str {
    report.note(USUAL, "unnamed", "no queue was named, so this one is changed".to_owned());
    USUAL
}

/// Finds a queue. A missing queue is reported, unless it is the default one.
///
/// # Errors
/// Wrong usage, if another queue has a similar name.
pub fn look_up(queue: &str, store: &mut dyn Backend, report: &Report) -> Result<Option<QueueStatus>, Abort> {
    let mut queues = store.queues().map_err(failed)?;
    if let Some(at) = queues.iter().position(|known| known.name == queue) {
        return Ok(Some(queues.swap_remove(at)));
    }
    let schedules = store.schedules().map_err(failed)?;
    if queue == USUAL || schedules.iter().any(|schedule| schedule.queue == queue) {
        return Ok(None);
    }
    let names = queues.iter().map(|queue| &*queue.name);
    if let Some(near) = nearest(queue, names.chain(schedules.iter().map(|schedule| &*schedule.queue))) {
        return Err(usage_of(format!("there is no queue {}; did you mean {}?", printable(queue), printable(near))));
    }
    report.note(queue, "new", "this queue does not exist yet".to_owned());
    Ok(None)
}

/// Finds a queue, for a command that may create it with --create.
///
/// # Errors
/// Wrong usage, if another queue has a similar name and `create` is not set.
pub fn look_up_or_create(
    queue: &str,
    create: bool,
    store: &mut dyn Backend,
    report: &Report,
) -> Result<Option<QueueStatus>, Abort> {
    match look_up(queue, store, report) {
        Err(Abort::Failed(..)) if create => Ok(None),
        Err(Abort::Failed(code, text)) => Err(Abort::Failed(code, format!("{text} --create makes a new one"))),
        found => found,
    }
}

/// Notes that a job creates a queue if another one has a similar name.
pub fn note_new(queue: &str, store: &mut dyn Backend, report: &Report) -> Result<(), Abort> {
    let queues = store.queues().map_err(failed)?;
    if queue == USUAL || queues.iter().any(|known| known.name == queue) {
        return Ok(());
    }
    if let Some(near) = nearest(queue, queues.iter().map(|queue| &*queue.name)) {
        report.note(queue, "new", format!("this is a new queue; did you mean the existing queue {}?", printable(near)));
    }
    Ok(())
}
