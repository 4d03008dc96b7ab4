//! Signals that end the command: nothing half-written stays behind.

use crate::report::{Abort, code};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Files that are to be taken away if the command ends before they are complete.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Becomes true at the first signal, where that one is a wish to end well.
static STOPPED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The unfinished files. While they are held, no signal ends the command: what is made
/// and what is noted stay the same.
pub fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on a signal takes the unfinished files away before it ends the command.
pub fn watch() -> Result<(), Abort> {
    static WATCHED: OnceLock<Result<(), String>> = OnceLock::new();
    WATCHED
        .get_or_init(|| system::watch().map_err(|error| error.to_string()))
        .clone()
        .map_err(|error| Abort::Failed(code::OTHER, format!("signals can't be caught: {error}")))
}

/// Becomes true at the first signal; the second ends the command.
pub fn stop() -> Result<Arc<AtomicBool>, Abort> {
    let stop = STOPPED.get_or_init(Arc::default);
    watch()?;
    Ok(Arc::clone(stop))
}

/// Whether this signal is only a wish.
fn is_wish() -> bool {
    STOPPED.get().is_some_and(|stop| !stop.swap(true, Ordering::Relaxed))
}

#[cfg(unix)]
mod system {
    use super::{is_wish, unfinished};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::{flag, low_level};
    use std::io;
    use std::sync::Arc;
    use std::thread;

    pub(super) fn watch() -> io::Result<()> {
        // A file that may not grow is an error of the writing, then.
        flag::register(SIGXFSZ, Arc::default())?;
        // What the caller ignores (`nohup`, a job in the background) stays ignored.
        let ignored = ignored();
        let caught = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU].into_iter();
        let mut signals = Signals::new(caught.filter(|signal| ignored & (1 << (signal - 1)) == 0))?;
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                let is_of_keyboard = matches!(signal, SIGINT | SIGQUIT);
                if is_wish() || is_of_keyboard && crate::pager::outlives_keyboard() {
                    continue;
                }
                // Held to the end, so that no file is made any more.
                let files = unfinished();
                for file in &*files {
                    let _ = std::fs::remove_file(file);
                }
                // The caller sees that the signal ended it.
                let _ = low_level::emulate_default_handler(signal);
            }
        })?;
        Ok(())
    }

    /// The signals that are ignored, a bit for each; none, where the system does not say.
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

#[cfg(not(unix))]
mod system {
    use super::STOPPED;
    use signal_hook::consts::SIGINT;
    use std::io;
    use std::sync::Arc;

    pub(super) fn watch() -> io::Result<()> {
        match STOPPED.get() {
            Some(stop) => signal_hook::flag::register(SIGINT, Arc::clone(stop)).map(drop),
            None => Ok(()),
        }
    }
}
