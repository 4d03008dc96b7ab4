//! Stopping a filter: it unwinds to where it began.

use std::panic::{self, AssertUnwindSafe, resume_unwind};

/// Why a filter was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The stack is full: a function that calls itself without end, or values in values.
    Depth,
    /// More steps than allowed.
    Steps,
    /// More memory than allowed.
    Memory,
    /// Somebody asked.
    Interrupt,
    /// A string or a list that would be longer than anything should be.
    Size,
}

/// Goes back to [`caught`].
#[cold]
pub(crate) fn stop(stop: Stop) -> ! {
    resume_unwind(Box::new(stop))
}

/// What an evaluation came to that did not end by itself.
pub(crate) enum Broken {
    Stopped(Stop),
    /// A mistake in a library; what it says.
    Panicked(String),
}

/// Runs a part of a filter.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Broken> {
    // What a stopped filter was at is dropped with it: nothing broken is seen again.
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| match panic.downcast::<Stop>() {
        Ok(stop) => Broken::Stopped(*stop),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Broken::Panicked(text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no words").to_owned())
        }
    })
}
