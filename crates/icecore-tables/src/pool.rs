//! Processes the batches of an input in several threads, in order.

use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// Maximum number of batches under way for each worker thread.
const WAITING: usize = 8;

/// A reader of batches.
pub trait Batches: Send + 'static {
    /// A part of the input, and its result.
    type Batch: Default + Send + 'static;

    /// Fills a batch, which may have been used before. Returns whether there is one.
    fn fill_batch(&mut self, batch: &mut Self::Batch) -> io::Result<bool>;
}

/// A batch to process, and the channel for its result.
type Task<B> = (B, SyncSender<B>);

/// The next result, in the order of the input: a batch to wait for, or the error that ended the input.
type Ticket<B> = io::Result<Receiver<B>>;

/// The threads that work for the writing thread. They end with the program: one may be waiting for input that is no
/// longer needed.
pub struct Pool<B> {
    tickets: Receiver<Ticket<B>>,
    used: Sender<B>,
}

impl<B: Default + Send + 'static> Pool<B> {
    /// Starts a thread that reads batches, and one worker thread per processor.
    pub fn start<W>(from: impl Batches<Batch = B>, worker: impl Fn() -> W) -> Pool<B>
    where
        W: FnMut(&mut B) + Send + 'static,
    {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let (issue, tickets) = sync_channel(threads * WAITING);
        let (jobs, to_do) = sync_channel::<Task<B>>(threads * WAITING);
        let (used, unused) = channel();
        thread::spawn(move || read_batches(from, &issue, &jobs, &unused));
        let to_do = Arc::new(Mutex::new(to_do));
        for _ in 0..threads {
            let (to_do, mut work) = (Arc::clone(&to_do), worker());
            thread::spawn(move || {
                loop {
                    // The thread that holds the lock waits for the next batch.
                    let job = to_do.lock().map_or_else(|broken| broken.into_inner().recv(), |to_do| to_do.recv());
                    let Ok((mut batch, done)) = job else { break };
                    work(&mut batch);
                    // The receiver may no longer exist.
                    let _ = done.send(batch);
                }
            });
        }
        Pool { tickets, used }
    }

    /// Returns the next processed batch.
    pub fn next_batch(&self) -> Option<io::Result<B>> {
        let ticket = self.tickets.recv().ok()?;
        // A thread that panics prints its own message.
        let lost = |_| io::Error::other("a thread ended unexpectedly");
        Some(ticket.and_then(|batch| batch.recv().map_err(lost)))
    }

    /// Returns a batch so that its memory is used again.
    pub fn recycle_batch(&self, batch: B) {
        let _ = self.used.send(batch);
    }
}

/// Reads batch after batch, until the input ends or no more is needed.
fn read_batches<F: Batches>(
    mut from: F,
    tickets: &SyncSender<Ticket<F::Batch>>,
    jobs: &SyncSender<Task<F::Batch>>,
    unused: &Receiver<F::Batch>,
) {
    loop {
        let mut batch = unused.try_recv().unwrap_or_default();
        match from.fill_batch(&mut batch) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return drop(tickets.send(Err(error))),
        }
        let (done, wait) = sync_channel(1);
        if tickets.send(Ok(wait)).is_err() || jobs.send((batch, done)).is_err() {
            return;
        }
    }
}
