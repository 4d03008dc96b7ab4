//! Processes the batches of an input in several threads, in order.

use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// Maximum number of batches under way for each worker thread.
const BATCHES_PER_THREAD: usize = 8;

/// A reader of batches.
pub trait BatchReader: Send + 'static {
    /// A part of the input, and its result.
    type Batch: Default + Send + 'static;

    /// Fills a batch. The batch may have been used before. Returns `false` at the end of the input.
    fn fill_batch(&mut self, batch: &mut Self::Batch) -> io::Result<bool>;
}

/// A batch to process, and the channel for its result.
type Task<B> = (B, SyncSender<B>);

/// The next result in the order of the input. It is a batch to wait for, or the error that ended the input.
type Ticket<B> = io::Result<Receiver<B>>;

/// The threads that work for the writing thread. They are not joined and end with the program, because one of them
/// may be waiting for input that is not needed any more.
pub struct Pool<B> {
    tickets: Receiver<Ticket<B>>,
    /// Takes batches whose memory is used again.
    recycle: Sender<B>,
}

impl<B: Default + Send + 'static> Pool<B> {
    /// Starts a thread that reads batches, and one worker thread per processor.
    pub fn start<W>(reader: impl BatchReader<Batch = B>, worker: impl Fn() -> W) -> Pool<B>
    where
        W: FnMut(&mut B) + Send + 'static,
    {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let (send_ticket, tickets) = sync_channel(threads * BATCHES_PER_THREAD);
        let (tasks, task_receiver) = sync_channel::<Task<B>>(threads * BATCHES_PER_THREAD);
        let (recycle, recycled) = channel();
        thread::spawn(move || read_batches(reader, &send_ticket, &tasks, &recycled));
        let task_receiver = Arc::new(Mutex::new(task_receiver));
        for _ in 0..threads {
            let (task_receiver, mut work) = (Arc::clone(&task_receiver), worker());
            thread::spawn(move || {
                loop {
                    // The thread that has the lock waits for the next task. The others wait for the lock.
                    let task = task_receiver
                        .lock()
                        .map_or_else(|poisoned| poisoned.into_inner().recv(), |receiver| receiver.recv());
                    let Ok((mut batch, reply)) = task else { break };
                    work(&mut batch);
                    // The receiver may no longer exist.
                    let _ = reply.send(batch);
                }
            });
        }
        Pool { tickets, recycle }
    }

    /// Returns the next processed batch.
    pub fn next_batch(&self) -> Option<io::Result<B>> {
        let ticket = self.tickets.recv().ok()?;
        // A thread that panics prints its own message.
        let thread_error = |_| io::Error::other("a thread ended unexpectedly");
        Some(ticket.and_then(|batch| batch.recv().map_err(thread_error)))
    }

    /// Returns a batch so that its memory is used again.
    pub fn recycle_batch(&self, batch: B) {
        let _ = self.recycle.send(batch);
    }
}

/// Reads batch after batch, until the input ends or no more is needed.
fn read_batches<F: BatchReader>(
    mut reader: F,
    tickets: &SyncSender<Ticket<F::Batch>>,
    tasks: &SyncSender<Task<F::Batch>>,
    recycled: &Receiver<F::Batch>,
) {
    loop {
        let mut batch = recycled.try_recv().unwrap_or_default();
        match reader.fill_batch(&mut batch) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return drop(tickets.send(Err(error))),
        }
        let (reply, result) = sync_channel(1);
        if tickets.send(Ok(result)).is_err() || tasks.send((batch, reply)).is_err() {
            return;
        }
    }
}
