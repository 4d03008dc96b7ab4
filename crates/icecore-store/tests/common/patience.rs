//! Waiting for what must happen.
#![allow(dead_code, reason = "each suite uses a part of it")]

use icecore_store::ErrorKind;
use std::time::{Duration, Instant};

/// Waits until `look` returns something. No test depends on how long that takes: the limit of two
/// minutes is for busy machines.
pub fn until<T>(condition: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "still not, after two minutes: {condition}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Repeats a call while others hold a lock that it needs, as a program would.
pub fn patiently<T>(mut call: impl FnMut() -> icecore_store::Result<T>) -> icecore_store::Result<T> {
    let start = Instant::now();
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Busy && start.elapsed() < Duration::from_secs(120) => {}
            answer => return answer,
        }
    }
}
