//! Checks names of queues. A queue is created when a job or a setting names it, so a misspelled name would create a
//! new one.

use super::DEFAULT_QUEUE;
use super::args::QueueArg;
use crate::database::database_error;
use crate::report::{Abort, Report, usage_text_error};
use icecore::text::{nearest, printable};
use icecore_store::{Backend, QueueStatus};

/// Returns the queue that was named, or the default one.
pub fn queue_or_default<'a>(queue_arg: &'a QueueArg, report: &Report) -> &'a str {
    queue_arg.name().unwrap_or_else(|| report_default_queue(report))
}

/// Reports that no queue was named, and returns the default queue.
pub fn report_default_queue(report: &Report) -> &'static str {
    report.report_note(DEFAULT_QUEUE, "unnamed", "no queue was named, so this one is changed".to_owned());
    DEFAULT_QUEUE
}

/// Finds a queue. A missing queue is reported, unless it is the default one.
///
/// # Errors
/// Wrong usage, if another queue has a similar name.
pub fn find_queue(queue: &str, store: &mut dyn Backend, report: &Report) -> Result<Option<QueueStatus>, Abort> {
    let mut queues = store.queues().map_err(database_error)?;
    if let Some(index) = queues.iter().position(|known| known.name == queue) {
        return Ok(Some(queues.swap_remove(index)));
    }
    let schedules = store.schedules().map_err(database_error)?;
    if queue == DEFAULT_QUEUE || schedules.iter().any(|schedule| schedule.queue == queue) {
        return Ok(None);
    }
    let names = queues.iter().map(|queue| &*queue.name);
    if let Some(similar) = nearest(queue, names.chain(schedules.iter().map(|schedule| &*schedule.queue))) {
        return Err(usage_text_error(format!(
            "there is no queue {}; did you mean {}?",
            printable(queue),
            printable(similar)
        )));
    }
    // Ids of jobs are UUIDs.
    let is_id = queue.len() == 36 && queue.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let advice = if is_id { ", and looks like the id of a job: the name of a queue is expected here" } else { "" };
    report.report_note(queue, "new", format!("this queue does not exist yet{advice}"));
    Ok(None)
}

/// Finds a queue, for a command that has the option --create. If `create` is true, the queue may be missing even if
/// another one has a similar name: the command creates it later.
///
/// # Errors
/// Wrong usage, if another queue has a similar name and `create` is not set.
pub fn find_or_allow_new_queue(
    queue: &str,
    create: bool,
    store: &mut dyn Backend,
    report: &Report,
) -> Result<Option<QueueStatus>, Abort> {
    match find_queue(queue, store, report) {
        Err(Abort::Failed(..)) if create => Ok(None),
        Err(Abort::Failed(code, text)) => Err(Abort::Failed(code, format!("{text} --create makes a new one"))),
        result => result,
    }
}

/// Checks that a queue exists, or that a schedule puts jobs into it. Without this check, pausing a misspelled name
/// would have no effect.
///
/// # Errors
/// Wrong usage, if it does not exist and `create` is not set.
pub fn require_queue(queue: &str, create: bool, store: &mut dyn Backend) -> Result<(), Abort> {
    let exists = store.queues().map_err(database_error)?.iter().any(|known| known.name == queue)
        || store.schedules().map_err(database_error)?.iter().any(|schedule| schedule.queue == queue);
    if create || exists || queue == DEFAULT_QUEUE {
        return Ok(());
    }
    Err(usage_text_error(format!("there is no queue {}; --create makes it, paused", printable(queue))))
}

/// Reports that a job creates a queue, if an existing queue has a similar name.
pub fn report_new_queue(queue: &str, store: &mut dyn Backend, report: &Report) -> Result<(), Abort> {
    let queues = store.queues().map_err(database_error)?;
    if queue == DEFAULT_QUEUE || queues.iter().any(|known| known.name == queue) {
        return Ok(());
    }
    if let Some(similar) = nearest(queue, queues.iter().map(|queue| &*queue.name)) {
        report.report_note(
            queue,
            "new",
            format!("this is a new queue; did you mean the existing queue {}?", printable(similar)),
        );
    }
    Ok(())
}
