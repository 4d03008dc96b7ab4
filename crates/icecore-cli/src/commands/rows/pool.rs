//! Batches of rows through several threads, in order.

use super::batch::Batch;
use super::table::Table;
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// How many batches may be under way for each thread that decodes.
const WAITING: usize = 3;

/// A batch to decode, and the channel for its result.
type Task = (Batch, SyncSender<Batch>);

/// What comes next, in the order of the input: a batch to wait for, or why there is
/// no more.
type Ticket = io::Result<Receiver<Batch>>;

/// The threads behind the one that writes. They end with the program: one may be
/// waiting for input when no more is needed.
pub struct Pool {
    tickets: Receiver<Ticket>,
    used: Sender<Batch>,
}

impl Pool {
    /// Starts a thread that reads the table, and for each processor one that works on
    /// its batches.
    pub fn start<W>(table: Table, worker: impl Fn() -> W) -> Pool
    where
        W: FnMut(&mut Batch) + Send + 'static,
    {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let (issue, tickets) = sync_channel(threads * WAITING);
        let (jobs, to_do) = sync_channel::<Task>(threads);
        let (used, unused) = channel();
        thread::spawn(move || read(table, &issue, &jobs, &unused));
        let to_do = Arc::new(Mutex::new(to_do));
        for _ in 0..threads {
            let (to_do, mut work) = (Arc::clone(&to_do), worker());
            thread::spawn(move || {
                loop {
                    // The thread that holds the lock waits for the next batch.
                    let job = to_do.lock().map_or_else(|broken| broken.into_inner().recv(), |to_do| to_do.recv());
                    let Ok((mut batch, done)) = job else { break };
                    work(&mut batch);
                    // Nobody may want it any more.
                    let _ = done.send(batch);
                }
            });
        }
        Pool { tickets, used }
    }

    /// The next batch, decoded.
    pub fn next(&self) -> Option<io::Result<Batch>> {
        let ticket = self.tickets.recv().ok()?;
        // A thread that broke off says why on its own.
        let lost = |_| io::Error::other("a thread that decodes broke off");
        Some(ticket.and_then(|batch| batch.recv().map_err(lost)))
    }

    /// Its memory is used again.
    pub fn give_back(&self, batch: Batch) {
        let _ = self.used.send(batch);
    }
}

/// Reads batch by batch, until the input ends or no more is needed.
fn read(mut table: Table, tickets: &SyncSender<Ticket>, jobs: &SyncSender<Task>, unused: &Receiver<Batch>) {
    loop {
        let mut batch: Batch = unused.try_recv().unwrap_or_default();
        batch.clear();
        match table.fill(&mut batch) {
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
