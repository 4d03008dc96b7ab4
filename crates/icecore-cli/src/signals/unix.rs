//! Signals of Unix: a thread waits for them.

use super::{is_wish, outlives_keyboard, unfinished};
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
            if is_wish() || is_of_keyboard && outlives_keyboard() {
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
