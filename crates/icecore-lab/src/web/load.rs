//! Clients that ask at once.

use super::http::{Client, Reply};
use crate::runner::Trouble;
use std::net::SocketAddr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// What every answer of a page has to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub address: SocketAddr,
    pub path: &'a str,
    pub answer: &'a str,
}

/// One question by itself.
pub(super) fn ask(address: SocketAddr, path: &str) -> Result<String, Trouble> {
    let failed = |error: std::io::Error| Trouble::Failed(format!("{path}: {error}"));
    let reply = Client::connect(address, PATIENCE).and_then(|mut client| client.get(path)).map_err(failed)?;
    text(reply, path)
}

fn text(reply: Reply, path: &str) -> Result<String, Trouble> {
    match String::from_utf8(reply.body) {
        Ok(body) if reply.status == 200 => Ok(body),
        _ => Err(Trouble::Failed(format!("{path}: the server answered {}", reply.status))),
    }
}

/// So many clients ask so many times together. Gives the nanoseconds from the first question to the
/// last answer; the connections are made before.
pub(super) fn sample(asked: Asked<'_>, clients: u32, requests: u32, stop: &AtomicBool) -> Result<f64, Trouble> {
    let failed = |error: std::io::Error| Trouble::Failed(format!("{}: {error}", asked.path));
    let connections: Result<Vec<Client>, _> = (0..clients).map(|_| Client::connect(asked.address, PATIENCE)).collect();
    let connections = connections.map_err(failed)?;
    let left = AtomicU32::new(requests);
    let start = Barrier::new(connections.len());
    let (left, start) = (&left, &start);
    std::thread::scope(|scope| {
        let threads: Vec<_> = connections
            .into_iter()
            .map(|client| {
                scope.spawn(move || {
                    start.wait();
                    // Each thread reads the clock itself: the one that joins them may wake late.
                    let began = Instant::now();
                    let done = work(client, asked, left, stop);
                    done.map(|()| (began, Instant::now()))
                })
            })
            .collect();
        let mut spans = Vec::new();
        let mut trouble = None;
        for thread in threads {
            match thread.join() {
                Ok(Ok(span)) => spans.push(span),
                Ok(Err(why)) => trouble = Some(why),
                Err(_) => trouble = Some(Trouble::Failed("a client failed".to_owned())),
            }
        }
        let first = spans.iter().map(|(began, _)| *began).min();
        let last = spans.iter().map(|(_, ended)| *ended).max();
        match (trouble, first.zip(last)) {
            (None, Some((first, last))) => Ok((last - first).as_nanos() as f64),
            (trouble, _) => Err(trouble.unwrap_or_else(|| Trouble::Failed("there were no clients".to_owned()))),
        }
    })
}

/// One client asks as long as there are questions left.
fn work(mut client: Client, asked: Asked<'_>, left: &AtomicU32, stop: &AtomicBool) -> Result<(), Trouble> {
    let take = || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
    while take() {
        if stop.load(Ordering::Relaxed) {
            return Err(Trouble::Stopped);
        }
        let failed = |error: std::io::Error| Trouble::Failed(format!("{}: {error}", asked.path));
        let found = text(client.get(asked.path).map_err(failed)?, asked.path)?;
        if found != asked.answer {
            let (path, answer) = (asked.path, asked.answer);
            return Err(Trouble::Failed(format!("{path}: it answered {found:?} in place of {answer:?}")));
        }
    }
    Ok(())
}
