//! Concurrent clients of a web server.

use crate::http::{Client, Reply};
use crate::together::together;
use icecore_lab::runner::Trouble;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Timeout for one answer.
const PATIENCE: Duration = Duration::from_secs(300);

/// A page, and its expected answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub address: SocketAddr,
    pub path: &'a str,
    pub answer: &'a str,
}

/// Sends a single request.
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

/// Sends this many requests in total with this many concurrent clients. Returns the nanoseconds from the first request
/// to the last answer; the connections are made before.
pub(super) fn sample(asked: Asked<'_>, clients: u32, requests: u32, stop: &AtomicBool) -> Result<f64, Trouble> {
    let failed = |error: std::io::Error| Trouble::Failed(format!("{}: {error}", asked.path));
    let connections: Result<Vec<Client>, _> = (0..clients).map(|_| Client::connect(asked.address, PATIENCE)).collect();
    let connections = connections.map_err(failed)?;
    let left = AtomicU32::new(requests);
    let (took, _) = together(connections, |client| work(client, asked, &left, stop))?;
    Ok(took.as_nanos() as f64)
}

/// Sends requests with one client as long as there are any left.
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
