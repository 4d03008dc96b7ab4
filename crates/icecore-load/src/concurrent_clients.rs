//! Clients that work at the same time.

use icecore_lab::runner::ParticipantError;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Runs `work` for each client in its own thread; all start together. Returns the results, and the time from the first
/// start to the last end.
pub(crate) fn run_together<C: Send, T: Send>(
    clients: Vec<C>,
    work: impl Fn(C) -> Result<T, ParticipantError> + Sync,
) -> Result<(Duration, Vec<T>), ParticipantError> {
    let start = Barrier::new(clients.len());
    let (start, work) = (&start, &work);
    std::thread::scope(|scope| {
        let threads: Vec<_> = clients
            .into_iter()
            .map(|client| {
                scope.spawn(move || {
                    start.wait();
                    // Each thread reads the clock itself, because the joining thread may wake up late.
                    let began = Instant::now();
                    let done = work(client);
                    done.map(|done| (began, Instant::now(), done))
                })
            })
            .collect();
        let (mut spans, mut all) = (Vec::new(), Vec::new());
        let mut trouble = None;
        for thread in threads {
            match thread.join() {
                Ok(Ok((began, ended, done))) => {
                    spans.push((began, ended));
                    all.push(done);
                }
                Ok(Err(reason)) => trouble = Some(reason),
                Err(_) => trouble = Some(ParticipantError::Failed("a client failed".to_owned())),
            }
        }
        let first = spans.iter().map(|(began, _)| *began).min();
        let last = spans.iter().map(|(_, ended)| *ended).max();
        match (trouble, first.zip(last)) {
            (None, Some((first, last))) => Ok((last - first, all)),
            (trouble, _) => {
                Err(trouble.unwrap_or_else(|| ParticipantError::Failed("there were no clients".to_owned())))
            }
        }
    })
}
