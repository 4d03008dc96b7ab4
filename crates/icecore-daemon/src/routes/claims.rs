//! Routes for workers: claiming jobs and recording their outcomes.

use crate::answer::{LeaseView, Shown, done};
use crate::call::Call;
use crate::failure::Failure;
use crate::query::duration;
use crate::shutdown::first;
use axum::response::Response;
use icecore_store::time::format_utc as iso;
use icecore_store::{Ack, Id, Lease};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::time::Duration;
use tokio::time::Instant;

/// How often to check whether another program pushed a job.
const POLL: Duration = Duration::from_secs(1);
/// Default length of a lease.
const LEASE: Duration = Duration::from_secs(60);
const LONGEST_LEASE: Duration = Duration::from_secs(7 * 86_400);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

pub async fn claim(call: Call) -> Result<Response, Failure> {
    let queue = call.queue();
    let worker = call.query.get("worker").map_or_else(|| call.by(), str::to_owned);
    let lease = call.duration("lease", LEASE, LONGEST_LEASE)?;
    let most = call.limit_parameter("max", 1, 100)?;
    let wait = call.duration("wait", Duration::ZERO, LONGEST_WAIT)?;
    let shown = call.requested_parts()?;
    let (app, until) = (&call.app, Instant::now() + wait);
    let bell = app.wakeups.of(&queue);
    loop {
        // From here on, the bell is not missed.
        let rung = bell.notified();
        let mut rung = std::pin::pin!(rung);
        rung.as_mut().enable();
        let (queue, worker) = (queue.clone(), worker.clone());
        let claimed = app.database.write_or(
            move |backend| backend.claim(&queue, &worker, lease, most),
            |backend, leases: Vec<Lease>| {
                // If the client is gone, its jobs are returned for the next worker.
                leases.iter().try_for_each(|Lease { job, token }| {
                    let error = "the worker was gone before it got the job";
                    backend.nack(job.id, token, error, Some(Duration::ZERO)).map(drop)
                })
            },
        );
        let leases = claimed.await?;
        let left = until.saturating_duration_since(Instant::now());
        if !leases.is_empty() || left.is_zero() || app.shutdown.has_begun() {
            return Ok(claimed_answer(&leases, shown));
        }
        let nap = tokio::time::sleep(left.min(POLL));
        first(app.shutdown.begun(), first(rung, nap)).await;
    }
}

fn claimed_answer(leases: &[Lease], shown: Shown) -> Response {
    #[derive(Serialize)]
    struct Jobs<'l> {
        jobs: Vec<LeaseView<'l>>,
    }
    done(&Jobs { jobs: leases.iter().map(|lease| LeaseView::of(lease, shown)).collect() })
}

/// A duration in a body: a number of seconds, or a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Long {
    Seconds(f64),
    Text(String),
}

/// What a worker reports about a job, in the body of its request.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Word {
    token: Option<String>,
    result: Option<Box<RawValue>>,
    error: Option<String>,
    delay: Option<Long>,
    lease: Option<Long>,
}

/// Report of a worker, from the body and the parameters.
struct AckRequest {
    id: Id,
    token: String,
    word: Word,
}

async fn read_ack(call: &mut Call) -> Result<AckRequest, Failure> {
    let (id, word) = (call.id()?, call.json::<Word>().await?);
    let token = word.token.as_deref().or(call.query.get("token"));
    let token = token.ok_or_else(|| Failure::input("parameter", "the token that came with the job is needed"))?;
    Ok(AckRequest { id, token: token.to_owned(), word })
}

fn long(call: &Call, name: &str, word: Option<&Long>) -> Result<Option<Duration>, Failure> {
    match word {
        Some(Long::Seconds(seconds)) => duration(name, &seconds.to_string()).map(Some),
        Some(Long::Text(text)) => duration(name, text).map(Some),
        None => call.query.duration(name),
    }
}

/// State of a job after a report.
#[derive(Serialize)]
struct Recorded {
    id: String,
    state: &'static str,
}

pub async fn ack(mut call: Call) -> Result<Response, Failure> {
    let AckRequest { id, token, word } = read_ack(&mut call).await?;
    let result = match word.result {
        Some(json) => Some(json.get().as_bytes().to_vec()),
        None => call.query.get("result").map(|text| text.as_bytes().to_vec()),
    };
    call.app.recorder.ack(Ack { id, token, result }).await?;
    Ok(done(&Recorded { id: id.to_string(), state: "done" }))
}

pub async fn nack(mut call: Call) -> Result<Response, Failure> {
    let AckRequest { id, token, word } = read_ack(&mut call).await?;
    let delay = long(&call, "delay", word.delay.as_ref())?;
    let error = word.error.or_else(|| call.query.get("error").map(str::to_owned)).unwrap_or_default();
    let nacked = call.app.database.write(move |backend| {
        let state = backend.nack(id, &token, &error, delay)?;
        let queue = if delay == Some(Duration::ZERO) { backend.job(id)?.map(|job| job.queue) } else { None };
        Ok((state, queue))
    });
    let (state, queue) = nacked.await?;
    if let Some(queue) = queue {
        call.app.wakeups.one(&queue);
    }
    Ok(done(&Recorded { id: id.to_string(), state: state.name() }))
}

pub async fn extend(mut call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Extended {
        id: String,
        lease_until: i64,
        lease_until_iso: String,
    }
    let AckRequest { id, token, word } = read_ack(&mut call).await?;
    let lease = long(&call, "lease", word.lease.as_ref())?.unwrap_or(LEASE).min(LONGEST_LEASE);
    let lease_until = call.app.database.write(move |backend| backend.extend(id, &token, lease)).await?;
    Ok(done(&Extended { id: id.to_string(), lease_until, lease_until_iso: iso(lease_until) }))
}
