//! Clients that work at the same time.

use icecore_lab::runner::ParticipantError;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Runs `work` for each client in a thread of its own. All threads start together. Returns the time from the first
/// start to the last end, and the results.
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
                    // Each thread reads the clock itself, because the thread that joins it may wake up late.
                    let began = Instant::now();
                    let result = work(client);
                    result.map(|value| (began, Instant::now(), value))
                })
            })
            .collect();
        let (mut spans, mut results) = (Vec::new(), Vec::new());
        let mut last_error = None;
        for thread in threads {
            match thread.join() {
                Ok(Ok((began, ended, value))) => {
                    spans.push((began, ended));
                    results.push(value);
                }
                Ok(Err(error)) => last_error = Some(error),
                Err(_) => last_error = Some(ParticipantError::Failed("a client failed".to_owned())),
            }
        }
        let first = spans.iter().map(|(began, _)| *began).min();
        let last = spans.iter().map(|(_, ended)| *ended).max();
        match (last_error, first.zip(last)) {
            (None, Some((first, last))) => Ok((last - first, results)),
            (last_error, _) => {
                Err(last_error.unwrap_or_else(|| ParticipantError::Failed("there were no clients".to_owned())))
            }
        }
    })
}
