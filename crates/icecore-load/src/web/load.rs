//! Concurrent clients of a web server.

use crate::concurrent_clients::run_together;
use crate::http::{Client, Reply};
use icecore_lab::runner::ParticipantError;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// Timeout for one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);

/// A page, and its expected answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageRequest<'a> {
    pub address: SocketAddr,
    pub path: &'a str,
    pub answer: &'a str,
}

/// Sends a single request.
pub(super) fn request_page(address: SocketAddr, path: &str) -> Result<String, ParticipantError> {
    let to_failure = |error: std::io::Error| ParticipantError::Failed(format!("{path}: {error}"));
    let reply = Client::connect(address, ANSWER_TIMEOUT).and_then(|mut client| client.get(path)).map_err(to_failure)?;
    text_of_reply(reply, path)
}

fn text_of_reply(reply: Reply, path: &str) -> Result<String, ParticipantError> {
    match String::from_utf8(reply.body) {
        Ok(body) if reply.status == 200 => Ok(body),
        _ => Err(ParticipantError::Failed(format!("{path}: the server answered {}", reply.status))),
    }
}

/// Sends this many requests in total with this many concurrent clients. Returns the nanoseconds from the first request
/// to the last answer. All connections are open before the first request, so their time does not count.
pub(super) fn time_requests(
    request: PageRequest<'_>,
    clients: u32,
    requests: u32,
    stop: &AtomicBool,
) -> Result<f64, ParticipantError> {
    let to_failure = |error: std::io::Error| ParticipantError::Failed(format!("{}: {error}", request.path));
    let connections: Result<Vec<Client>, _> =
        (0..clients).map(|_| Client::connect(request.address, ANSWER_TIMEOUT)).collect();
    let connections = connections.map_err(to_failure)?;
    let remaining = AtomicU32::new(requests);
    let (duration, _) = run_together(connections, |client| send_requests(client, request, &remaining, stop))?;
    Ok(duration.as_nanos() as f64)
}

/// Sends requests with one client as long as there are any left.
fn send_requests(
    mut client: Client,
    request: PageRequest<'_>,
    remaining: &AtomicU32,
    stop: &AtomicBool,
) -> Result<(), ParticipantError> {
    let take_request =
        || remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |remaining| remaining.checked_sub(1)).is_ok();
    while take_request() {
        if stop.load(Ordering::Relaxed) {
            return Err(ParticipantError::Stopped);
        }
        let to_failure = |error: std::io::Error| ParticipantError::Failed(format!("{}: {error}", request.path));
        let found = text_of_reply(client.get(request.path).map_err(to_failure)?, request.path)?;
        if found != request.answer {
            let (path, answer) = (request.path, request.answer);
            return Err(ParticipantError::Failed(format!("{path}: it answered {found:?} instead of {answer:?}")));
        }
    }
    Ok(())
}
