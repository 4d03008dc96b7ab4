//! Stopping a filter by unwinding to its start.

use std::panic::{self, AssertUnwindSafe, resume_unwind};

/// Reason why a filter was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The stack is full: endless recursion, or too deeply nested values.
    Depth,
    /// More steps than allowed.
    Steps,
    /// More memory than allowed.
    Memory,
    /// An interrupt was requested.
    Interrupt,
    /// A string or a list would become unreasonably long.
    Size,
}

/// Unwinds to [`catch_stop`].
#[cold]
pub(crate) fn stop_filter(stop: Stop) -> ! {
    resume_unwind(Box::new(stop))
}

/// The result of an evaluation that did not end normally.
pub(crate) enum Abort {
    Stopped(Stop),
    /// A bug in a library, with its message.
    Panicked(String),
}

/// Runs a part of a filter, and catches stops and panics.
pub(crate) fn catch_stop<T>(work: impl FnOnce() -> T) -> Result<T, Abort> {
    // The data of a stopped filter is dropped with it. So inconsistent data is never visible after this call.
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| match panic.downcast::<Stop>() {
        Ok(stop) => Abort::Stopped(*stop),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Abort::Panicked(text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no words").to_owned())
        }
    })
}
