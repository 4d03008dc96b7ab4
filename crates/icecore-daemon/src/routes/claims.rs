//! Routes for workers: claiming jobs and recording their outcomes.

use crate::answer::{LeaseView, RequestedParts, ok_response};
use crate::call::Call;
use crate::failure::Failure;
use crate::query::parse_duration;
use crate::shutdown::select_first;
use axum::response::Response;
use icecore_store::time::format_utc as iso;
use icecore_store::{Ack, Id, Lease};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::time::Duration;
use tokio::time::Instant;

/// How often to check whether another program pushed a job.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Default length of a lease.
const DEFAULT_LEASE: Duration = Duration::from_secs(60);
/// Maximum length of a lease.
const MAX_LEASE: Duration = Duration::from_secs(7 * 86_400);
/// Maximum time that a claim waits for a job.
const MAX_WAIT: Duration = Duration::from_secs(600);

pub async fn claim(call: Call) -> Result<Response, Failure> {
    let queue = call.queue_name();
    let worker = call.query.get("worker").map_or_else(|| call.client_name(), str::to_owned);
    let lease = call.duration_parameter("lease", DEFAULT_LEASE, MAX_LEASE)?;
    let max_jobs = call.limit_parameter("max", 1, 100)?;
    let wait = call.duration_parameter("wait", Duration::ZERO, MAX_WAIT)?;
    let parts = call.requested_parts()?;
    let (app, deadline) = (&call.app, Instant::now() + wait);
    let bell = app.wakeups.find_or_add_bell(&queue);
    loop {
        // The bell is watched before the claim, so that a job that is stored after the claim wakes this loop.
        let notified = bell.notified();
        let mut notified = std::pin::pin!(notified);
        notified.as_mut().enable();
        let (queue, worker) = (queue.clone(), worker.clone());
        let claimed = app.database.write_or_undo(
            move |backend| backend.claim(&queue, &worker, lease, max_jobs),
            |backend, leases: Vec<Lease>| {
                // If the client is gone, its jobs are returned for the next worker.
                leases.iter().try_for_each(|Lease { job, token }| {
                    let error = "the worker disconnected before it received the job";
                    backend.nack(job.id, token, error, Some(Duration::ZERO)).map(drop)
                })
            },
        );
        let leases = claimed.await?;
        let remaining = deadline.saturating_duration_since(Instant::now());
        if !leases.is_empty() || remaining.is_zero() || app.shutdown.has_begun() {
            return Ok(leases_response(&leases, parts));
        }
        let timeout = tokio::time::sleep(remaining.min(POLL_INTERVAL));
        select_first(app.shutdown.wait_until_begun(), select_first(notified, timeout)).await;
    }
}

fn leases_response(leases: &[Lease], parts: RequestedParts) -> Response {
    #[derive(Serialize)]
    struct Jobs<'l> {
        jobs: Vec<LeaseView<'l>>,
    }
    ok_response(&Jobs { jobs: leases.iter().map(|lease| LeaseView::from_lease(lease, parts)).collect() })
}

/// A duration in a body: a number of seconds, or a text.
#[derive(Deserialize)]
#[serde(untagged)]
enum DurationField {
    Seconds(f64),
    Text(String),
}

/// What a worker reports about a job, in the body of its request.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WorkerReport {
    token: Option<String>,
    result: Option<Box<RawValue>>,
    error: Option<String>,
    delay: Option<DurationField>,
    lease: Option<DurationField>,
}

/// Report of a worker, from the path, the body and the parameters.
struct AckRequest {
    id: Id,
    token: String,
    report: WorkerReport,
}

async fn read_ack_request(call: &mut Call) -> Result<AckRequest, Failure> {
    let (id, report) = (call.parse_id()?, call.read_json::<WorkerReport>().await?);
    let token = report.token.as_deref().or(call.query.get("token"));
    let token = token
        .ok_or_else(|| Failure::invalid_request("parameter", "the token that the job was claimed with is required"))?;
    Ok(AckRequest { id, token: token.to_owned(), report })
}

fn read_report_duration(call: &Call, name: &str, report: Option<&DurationField>) -> Result<Option<Duration>, Failure> {
    match report {
        Some(DurationField::Seconds(seconds)) => parse_duration(name, &seconds.to_string()).map(Some),
        Some(DurationField::Text(text)) => parse_duration(name, text).map(Some),
        None => call.query.parse_duration(name),
    }
}

/// State of a job after a report.
#[derive(Serialize)]
struct Recorded {
    id: String,
    state: &'static str,
}

pub async fn ack(mut call: Call) -> Result<Response, Failure> {
    let AckRequest { id, token, report } = read_ack_request(&mut call).await?;
    let result = match report.result {
        Some(json) => Some(json.get().as_bytes().to_vec()),
        None => call.query.get("result").map(|text| text.as_bytes().to_vec()),
    };
    call.app.recorder.record_ack(Ack { id, token, result }).await?;
    Ok(ok_response(&Recorded { id: id.to_string(), state: "done" }))
}

pub async fn nack(mut call: Call) -> Result<Response, Failure> {
    let AckRequest { id, token, report } = read_ack_request(&mut call).await?;
    let delay = read_report_duration(&call, "delay", report.delay.as_ref())?;
    let error = report.error.or_else(|| call.query.get("error").map(str::to_owned)).unwrap_or_default();
    let nacked = call.app.database.write(move |backend| {
        let state = backend.nack(id, &token, &error, delay)?;
        let queue = if delay == Some(Duration::ZERO) { backend.job(id)?.map(|job| job.queue) } else { None };
        Ok((state, queue))
    });
    let (state, queue) = nacked.await?;
    if let Some(queue) = queue {
        call.app.wakeups.wake_one(&queue);
    }
    Ok(ok_response(&Recorded { id: id.to_string(), state: state.name() }))
}

pub async fn extend(mut call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Extended {
        id: String,
        lease_until: i64,
        lease_until_iso: String,
    }
    let AckRequest { id, token, report } = read_ack_request(&mut call).await?;
    let lease = read_report_duration(&call, "lease", report.lease.as_ref())?.unwrap_or(DEFAULT_LEASE).min(MAX_LEASE);
    let lease_until = call.app.database.write(move |backend| backend.extend(id, &token, lease)).await?;
    Ok(ok_response(&Extended { id: id.to_string(), lease_until, lease_until_iso: iso(lease_until) }))
}
