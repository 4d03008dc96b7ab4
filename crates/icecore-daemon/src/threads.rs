//! Threads for work that must not run on tokio's threads: the database, and decoding.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The reason why work has not produced an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkError {
    /// Too much work is waiting.
    Full,
    /// No new work is accepted.
    Stopping,
    /// The answer did not come in time.
    Late,
    /// The work panicked.
    Broken,
}

type Work<S> = Box<dyn FnOnce(&mut S) + Send>;

/// Locks a mutex. If another thread panicked while it had the lock, the data is used as it is.
pub fn lock_ignoring_poison<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads, each with its own state, and a bounded queue of work.
pub struct Threads<S> {
    /// The sending end of the queue; `None` after `close`. The threads end when all senders are dropped.
    sender: Mutex<Option<SyncSender<Work<S>>>>,
    /// Disconnected when all threads have ended.
    ended: Mutex<Receiver<()>>,
}

impl<S: 'static> Threads<S> {
    /// Starts this many threads. `make` creates a thread's state, and creates it again after a panic.
    pub fn start(
        name: &str,
        count: usize,
        max_queued: usize,
        make: impl Fn() -> S + Clone + Send + 'static,
    ) -> std::io::Result<Threads<S>> {
        let (sender, receiver) = sync_channel::<Work<S>>(max_queued.max(1));
        let (alive_signal, ended) = channel();
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..count.max(1) {
            let (receiver, make, alive_signal) = (Arc::clone(&receiver), make.clone(), alive_signal.clone());
            std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                // Dropped when the thread ends. After the last thread has ended, `ended` is disconnected.
                let _alive_signal = alive_signal;
                let mut state = make();
                loop {
                    // One thread has the lock while it waits for work. The others wait for the lock.
                    let Ok(work) = lock_ignoring_poison(&receiver).recv() else { return };
                    if catch_unwind(AssertUnwindSafe(|| work(&mut state))).is_err() {
                        state = make();
                    }
                }
            })?;
        }
        Ok(Threads { sender: Mutex::new(Some(sender)), ended: Mutex::new(ended) })
    }

    /// Queues work for the next free thread.
    pub fn submit(&self, work: impl FnOnce(&mut S) + Send + 'static) -> Result<(), WorkError> {
        let Some(sender) = lock_ignoring_poison(&self.sender).clone() else { return Err(WorkError::Stopping) };
        sender.try_send(Box::new(work)).map_err(|error| match error {
            TrySendError::Full(_) => WorkError::Full,
            TrySendError::Disconnected(_) => WorkError::Stopping,
        })
    }

    /// Queues work and waits for its result. If the caller has stopped waiting before the work begins, it is not
    /// started.
    pub async fn submit_and_wait<T: Send + 'static>(
        &self,
        timeout: Duration,
        work: impl FnOnce(&mut S) -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        self.submit_and_wait_or_undo(timeout, work, |_, _| ()).await
    }

    /// Does the same as `submit_and_wait`. If the caller has stopped waiting while the work was done, its result is
    /// passed to `undo`.
    pub async fn submit_and_wait_or_undo<T: Send + 'static>(
        &self,
        timeout: Duration,
        work: impl FnOnce(&mut S) -> T + Send + 'static,
        undo: impl FnOnce(&mut S, T) + Send + 'static,
    ) -> Result<T, WorkError> {
        let (reply, answer) = oneshot::channel();
        self.submit(move |state| {
            if !reply.is_closed()
                && let Err(value) = reply.send(work(state))
            {
                undo(state, value);
            }
        })?;
        wait_for_answer(timeout, answer).await
    }

    /// Accepts no new work. Waiting work is still done.
    pub fn close(&self) {
        lock_ignoring_poison(&self.sender).take();
    }

    /// Waits until all threads have ended, or until the deadline.
    pub fn join(&self, deadline: Instant) {
        wait_until_ended(&lock_ignoring_poison(&self.ended), deadline);
    }
}

/// Waits until all senders are dropped, or until the deadline.
pub fn wait_until_ended(ended: &Receiver<()>, deadline: Instant) {
    // The threads never send anything on this channel. The call returns when the channel is disconnected, or at the
    // deadline.
    let _ = ended.recv_timeout(deadline.saturating_duration_since(Instant::now()));
}

/// Waits for an answer from a thread.
pub async fn wait_for_answer<T>(timeout: Duration, answer: oneshot::Receiver<T>) -> Result<T, WorkError> {
    match tokio::time::timeout(timeout, answer).await {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(_)) => Err(WorkError::Broken),
        Err(_) => Err(WorkError::Late),
    }
}
