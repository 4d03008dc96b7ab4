//! Signals of Unix: a thread waits for them.

use super::{lock_unfinished, request_orderly_end, survives_keyboard_signal};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};
use std::io;
use std::sync::Arc;
use std::thread;

/// Starts the thread that handles signals: it lets the command end in order, or removes unfinished files and ends it.
pub(super) fn watch_signals() -> io::Result<()> {
    // With a handler, exceeding the limit of a file's size is an error of the write and does not end the command.
    flag::register(SIGXFSZ, Arc::default())?;
    // Signals that the caller ignores (`nohup`, a background job) stay ignored.
    let ignored_mask = ignored_signals();
    let caught_signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU].into_iter();
    let mut signals = Signals::new(caught_signals.filter(|signal| ignored_mask & (1 << (signal - 1)) == 0))?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            let is_from_keyboard = matches!(signal, SIGINT | SIGQUIT);
            if request_orderly_end() || is_from_keyboard && survives_keyboard_signal() {
                continue;
            }
            // The lock is held until the end, so that no further file is created.
            let files = lock_unfinished();
            for file in &*files {
                let _ = std::fs::remove_file(file);
            }
            // The caller sees that the signal ended the command.
            let _ = low_level::emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

/// Returns the ignored signals as a bit mask; 0 if the system does not report them.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
