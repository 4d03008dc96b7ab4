//! Responses: jobs, objects and errors as JSON.

use crate::failure::{ErrorBody, Failure};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use icecore_store::time::format_utc as iso;
use icecore_store::{Job, Lease, Object, QueueStatus, Schedule, State, describe};
use serde::Serialize;
use serde_json::value::RawValue;

/// Creates a response with a body of this media type.
pub fn build_response(code: StatusCode, media: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    // Payloads come from clients, so a browser must not interpret them as a page.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Creates a response in JSON. The body ends with a line feed, because people read it on a terminal.
pub fn json_response(code: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(mut text) => {
            text.push(b'\n');
            build_response(code, "application/json", text)
        }
        Err(_) => build_response(StatusCode::INTERNAL_SERVER_ERROR, "text/plain", "the answer can't be written\n"),
    }
}

/// Creates a JSON response with the status 200.
pub fn ok_response(value: &impl Serialize) -> Response {
    json_response(StatusCode::OK, value)
}

/// Creates a response with stored bytes.
pub fn bytes_response(bytes: Vec<u8>, is_json: bool) -> Response {
    build_response(StatusCode::OK, if is_json { "application/json" } else { "application/octet-stream" }, bytes)
}

/// Creates the response for a failure.
pub fn failure_response(failure: &Failure) -> Response {
    #[derive(Serialize)]
    struct Body<'b> {
        error: &'b ErrorBody,
    }
    let mut response = json_response(failure.code, &Body { error: &failure.body });
    let headers = response.headers_mut();
    if let Some(seconds) = failure.retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if failure.closes_connection {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if failure.code == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// Returns JSON text unchanged; `None`, if it is not JSON.
fn parse_raw_json(text: &[u8]) -> Option<Box<RawValue>> {
    serde_json::from_slice(text).ok()
}

/// Returns a blob's value as JSON: its readable copy, or the blob itself if it is JSON.
fn select_readable_json(json: Option<&str>, format: Option<&str>, bytes: &[u8]) -> Option<Box<RawValue>> {
    match (json, format) {
        (Some(json), _) => parse_raw_json(json.as_bytes()),
        (None, Some(_)) => parse_raw_json(bytes),
        (None, None) => None,
    }
}

/// Bytes as JSON if they are JSON, otherwise as text, otherwise as Base64.
#[derive(Serialize)]
#[serde(untagged)]
pub enum BytesView {
    Json(Box<RawValue>),
    Text(String),
    Base64 { base64: String },
}

impl BytesView {
    pub fn from_bytes(bytes: &[u8]) -> BytesView {
        match (parse_raw_json(bytes), std::str::from_utf8(bytes)) {
            (Some(json), _) => BytesView::Json(json),
            (None, Ok(text)) => BytesView::Text(text.to_owned()),
            (None, Err(_)) => BytesView::Base64 { base64: icecore::text::to_base64(bytes) },
        }
    }
}

/// Which parts of a blob an answer contains.
#[derive(Clone, Copy)]
pub struct RequestedParts {
    /// Leaves out the decoded value.
    pub is_brief: bool,
    /// Includes the original bytes.
    pub with_bytes: bool,
}

impl RequestedParts {
    fn encode_bytes(self, bytes: &[u8]) -> Option<String> {
        self.with_bytes.then(|| icecore::text::to_base64(bytes))
    }
}

/// A job in an answer. Times are in milliseconds since 1970, and repeated in ISO 8601.
#[derive(Serialize)]
pub struct JobView<'j> {
    id: String,
    sequence: i64,
    queue: &'j str,
    state: &'static str,
    priority: i32,
    queued_at: i64,
    queued_at_iso: String,
    run_at: i64,
    run_at_iso: String,
    attempts: u32,
    max_attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    unique_key: Option<&'j str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<&'j str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_until: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_until_iso: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at_iso: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'j str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replay_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    format: Option<&'j str>,
    checksum: &'j str,
    size: usize,
    payload: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'j str>,
    result: Option<BytesView>,
}

impl<'j> JobView<'j> {
    /// Creates the view of a job. A brief view has neither payload nor result.
    pub fn from_job(job: &'j Job, is_brief: bool) -> JobView<'j> {
        let payload = || select_readable_json(job.json.as_deref(), job.format.as_deref(), &job.bytes);
        JobView {
            id: job.id.to_string(),
            sequence: job.sequence,
            queue: &job.queue,
            state: job.state.name(),
            priority: job.priority,
            queued_at: job.queued_at,
            queued_at_iso: iso(job.queued_at),
            run_at: job.run_at,
            run_at_iso: iso(job.run_at),
            attempts: job.attempts,
            max_attempts: job.max_attempts,
            unique_key: job.unique_key.as_deref(),
            worker: job.worker.as_deref(),
            lease_until: job.lease_until,
            lease_until_iso: job.lease_until.map(iso),
            finished_at: job.finished_at,
            finished_at_iso: job.finished_at.map(iso),
            error: job.error.as_deref(),
            replay_of: job.replay_of.map(|id| id.to_string()),
            after: job.after.map(|id| id.to_string()),
            format: job.format.as_deref(),
            checksum: &job.checksum,
            size: job.bytes.len(),
            payload: if is_brief { None } else { payload() },
            problem: job.problem.as_deref(),
            result: job.result.as_deref().filter(|_| !is_brief).map(BytesView::from_bytes),
        }
    }
}

/// A job that is handed out.
#[derive(Serialize)]
pub struct LeaseView<'j> {
    token: &'j str,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    #[serde(flatten)]
    job: JobView<'j>,
}

impl<'j> LeaseView<'j> {
    pub fn from_lease(lease: &'j Lease, parts: RequestedParts) -> LeaseView<'j> {
        let job = &lease.job;
        LeaseView {
            token: &lease.token,
            attempt: job.attempts,
            bytes: parts.encode_bytes(&job.bytes),
            job: JobView::from_job(job, parts.is_brief),
        }
    }
}

/// An object in an answer.
#[derive(Serialize)]
pub struct ObjectView<'o> {
    id: String,
    sequence: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'o str>,
    stored_at: i64,
    stored_at_iso: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at_iso: Option<String>,
    format: Option<&'o str>,
    class: Option<&'o str>,
    checksum: &'o str,
    size: usize,
    /// The decoded value.
    document: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'o str>,
}

impl<'o> ObjectView<'o> {
    /// Creates the view of an object. A brief view has no document.
    pub fn from_object(object: &'o Object, parts: RequestedParts) -> ObjectView<'o> {
        let document = || select_readable_json(object.json.as_deref(), object.format.as_deref(), &object.bytes);
        ObjectView {
            id: object.id.to_string(),
            sequence: object.sequence,
            key: object.key.as_deref(),
            stored_at: object.stored_at,
            stored_at_iso: iso(object.stored_at),
            expires_at: object.expires_at,
            expires_at_iso: object.expires_at.map(iso),
            format: object.format.as_deref(),
            class: object.class.as_deref(),
            checksum: &object.checksum,
            size: object.bytes.len(),
            document: if parts.is_brief { None } else { document() },
            bytes: parts.encode_bytes(&object.bytes),
            problem: object.problem.as_deref(),
        }
    }
}

/// A queue in an answer.
#[derive(Serialize)]
pub struct QueueView<'q> {
    name: &'q str,
    ready: u64,
    leased: u64,
    done: u64,
    dead: u64,
    waiting: u64,
    delayed: u64,
    /// Waiting time of the oldest job that could be handed out, in milliseconds.
    oldest: Option<i64>,
    is_paused: bool,
    paused_at: Option<i64>,
    paused_at_iso: Option<String>,
    has_schema: bool,
    /// Maximum number of jobs that workers have at the same time.
    concurrency: Option<u32>,
    /// Maximum number of jobs handed out in a period, such as `100/1m`.
    rate: Option<String>,
}

impl<'q> QueueView<'q> {
    pub fn from_queue(queue: &'q QueueStatus) -> QueueView<'q> {
        QueueView {
            name: &queue.name,
            ready: queue.count_in_state(State::Ready),
            leased: queue.count_in_state(State::Leased),
            done: queue.count_in_state(State::Done),
            dead: queue.count_in_state(State::Dead),
            waiting: queue.count_in_state(State::Waiting),
            delayed: queue.delayed,
            oldest: queue.oldest,
            is_paused: queue.paused_at.is_some(),
            paused_at: queue.paused_at,
            paused_at_iso: queue.paused_at.map(iso),
            has_schema: queue.schema.is_some(),
            concurrency: queue.concurrency,
            rate: queue.rate.map(|rate| rate.to_string()),
        }
    }
}

/// A schedule in an answer.
#[derive(Serialize)]
pub struct ScheduleView<'s> {
    name: &'s str,
    queue: &'s str,
    timing: &'s str,
    zone: &'s str,
    next_at: Option<i64>,
    next_at_iso: Option<String>,
    last_at: Option<i64>,
    last_at_iso: Option<String>,
    last_id: Option<String>,
    is_paused: bool,
    paused_at: Option<i64>,
    priority: i32,
    max_attempts: Option<u32>,
    alone: bool,
    format: Option<&'s str>,
    size: usize,
    payload: Option<Box<RawValue>>,
    problem: Option<&'s str>,
}

impl<'s> ScheduleView<'s> {
    /// Creates the view of a schedule. A brief view has no payload.
    pub fn from_schedule(schedule: &'s Schedule, is_brief: bool) -> ScheduleView<'s> {
        let payload = || {
            let description = describe::describe(&schedule.bytes, schedule.format.as_deref());
            select_readable_json(description.json.as_deref(), description.format.as_deref(), &schedule.bytes)
        };
        ScheduleView {
            name: &schedule.name,
            queue: &schedule.queue,
            timing: &schedule.timing,
            zone: schedule.zone.as_deref().unwrap_or("UTC"),
            next_at: schedule.next_at,
            next_at_iso: schedule.next_at.map(iso),
            last_at: schedule.last_at,
            last_at_iso: schedule.last_at.map(iso),
            last_id: schedule.last_id.map(|id| id.to_string()),
            is_paused: schedule.paused_at.is_some(),
            paused_at: schedule.paused_at,
            priority: schedule.priority,
            max_attempts: schedule.max_attempts,
            alone: schedule.is_alone,
            format: schedule.format.as_deref(),
            size: schedule.bytes.len(),
            payload: if is_brief { None } else { payload() },
            problem: schedule.problem.as_deref(),
        }
    }
}
