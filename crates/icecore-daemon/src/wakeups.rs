//! Wakes clients that wait for jobs of a queue when this daemon stores one.

use crate::threads::lock_ignoring_poison;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// A bell for each queue from which clients wait for jobs.
#[derive(Default)]
pub struct Wakeups(Mutex<HashMap<String, Arc<Notify>>>);

/// With at least this number of bells, unused ones are removed before another one is added.
const CLEANUP_COUNT: usize = 64;

impl Wakeups {
    /// Returns the bell of a queue.
    pub fn find_or_add_bell(&self, queue: &str) -> Arc<Notify> {
        let mut bells = lock_ignoring_poison(&self.0);
        if let Some(bell) = bells.get(queue) {
            return Arc::clone(bell);
        }
        if bells.len() >= CLEANUP_COUNT {
            // A bell that only this map owns is not in use, because a waiting client has a clone.
            bells.retain(|_, bell| Arc::strong_count(bell) > 1);
        }
        Arc::clone(bells.entry(queue.to_owned()).or_default())
    }

    /// Wakes one waiting client, for one new job.
    pub fn wake_one(&self, queue: &str) {
        if let Some(bell) = lock_ignoring_poison(&self.0).get(queue) {
            bell.notify_one();
        }
    }

    /// Wakes all waiting clients, because there may be several jobs.
    pub fn wake_all(&self, queue: &str) {
        if let Some(bell) = lock_ignoring_poison(&self.0).get(queue) {
            bell.notify_waiters();
        }
    }
}
