//! Systems without signals: only Ctrl-C is noticed.

use super::STOP_FLAG;
use signal_hook::consts::SIGINT;
use std::io;
use std::sync::Arc;

pub(super) fn watch_signals() -> io::Result<()> {
    match STOP_FLAG.get() {
        Some(stop) => signal_hook::flag::register(SIGINT, Arc::clone(stop)).map(drop),
        None => Ok(()),
    }
}
