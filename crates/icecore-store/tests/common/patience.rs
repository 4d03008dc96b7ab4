//! Waiting for what must happen.
#![allow(dead_code, reason = "each suite uses a part of it")]

use icecore_store::ErrorKind;
use std::time::{Duration, Instant};

/// Waits until this gives something. No test is decided by how long that takes: two minutes
/// are for machines that do many other things.
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "still not, after two minutes: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Calls again while others hold what is needed, as a program would.
pub fn patiently<T>(mut call: impl FnMut() -> icecore_store::Result<T>) -> icecore_store::Result<T> {
    let start = Instant::now();
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Busy && start.elapsed() < Duration::from_secs(120) => {}
            answer => return answer,
        }
    }
}
