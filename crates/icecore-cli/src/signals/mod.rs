//! Signals that end the command: they leave no incomplete files.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

#[cfg(not(unix))]
use other as system;
#[cfg(unix)]
use unix as system;

/// Files to remove if the command ends before they are complete.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Becomes true at the first signal. Exists only if the command uses it to stop in an orderly way.
static STOP_FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The reason why signals can't be caught.
#[derive(Debug)]
pub struct SignalError(String);

impl std::fmt::Display for SignalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "signals can't be caught: {}", self.0)
    }
}

/// Function that decides about a signal of the keyboard: it returns true if the command ends by itself after it.
#[cfg(unix)]
static KEYBOARD_HANDLER: OnceLock<fn() -> bool> = OnceLock::new();

/// Registers the function to call when a signal comes from the keyboard.
#[cfg(unix)]
pub fn set_keyboard_handler(handler: fn() -> bool) {
    let _ = KEYBOARD_HANDLER.set(handler);
}

/// Returns true if the command ends by itself after a signal of the keyboard.
#[cfg(unix)]
fn survives_keyboard_signal() -> bool {
    KEYBOARD_HANDLER.get().is_some_and(|handler| handler())
}

/// Locks the set of unfinished files. While it is locked, no signal ends the command, so the files and the set stay
/// consistent.
pub fn lock_unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, a signal removes the unfinished files before it ends the command.
pub fn watch_signals() -> Result<(), SignalError> {
    static WATCH_RESULT: OnceLock<Result<(), String>> = OnceLock::new();
    WATCH_RESULT.get_or_init(|| system::watch_signals().map_err(|error| error.to_string())).clone().map_err(SignalError)
}

/// Returns a flag that becomes true at the first signal; the second one ends the command.
#[cfg(any(feature = "bench", feature = "store"))]
pub fn stop_flag() -> Result<Arc<AtomicBool>, SignalError> {
    let stop = STOP_FLAG.get_or_init(Arc::default);
    watch_signals()?;
    Ok(Arc::clone(stop))
}

/// Sets the stop flag, if there is one. Returns true for the first signal, after which the command stops by itself.
fn request_orderly_end() -> bool {
    STOP_FLAG.get().is_some_and(|stop| !stop.swap(true, Ordering::Relaxed))
}
