//! Who waits for jobs of a queue is woken when one comes through this daemon.

use crate::threads::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// A bell for each queue for which somebody waits.
#[derive(Default)]
pub struct Wakeups(Mutex<HashMap<String, Arc<Notify>>>);

/// From how many bells on those are taken away for which nobody waits.
const MANY: usize = 64;

impl Wakeups {
    /// The bell of a queue.
    pub fn of(&self, queue: &str) -> Arc<Notify> {
        let mut bells = lock(&self.0);
        if let Some(bell) = bells.get(queue) {
            return Arc::clone(bell);
        }
        if bells.len() >= MANY {
            bells.retain(|_, bell| Arc::strong_count(bell) > 1);
        }
        Arc::clone(bells.entry(queue.to_owned()).or_default())
    }

    /// One job came: one of those that wait is enough.
    pub fn one(&self, queue: &str) {
        if let Some(bell) = lock(&self.0).get(queue) {
            bell.notify_one();
        }
    }

    /// Several may have come.
    pub fn all(&self, queue: &str) {
        if let Some(bell) = lock(&self.0).get(queue) {
            bell.notify_waiters();
        }
    }
}
