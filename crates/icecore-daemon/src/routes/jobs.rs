//! Routes for jobs: pushing, reading and replaying them.

use super::run;
use crate::answer::{JobView, json_response, ok_response};
use crate::app::App;
use crate::call::Call;
use crate::committer::StoreOutcome;
use crate::failure::Failure;
use crate::payload::{self, Payload};
use crate::schema::Checker;
use axum::http::StatusCode;
use axum::response::Response;
use icecore_store::{BlobDescription, Flow, Id, Job, JobFilter, NewJob, Pushed, State};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of times that a payload is checked, because the schema may change in the meantime.
const MAX_CHECKS: u32 = 5;

/// Queue of jobs that name no queue.
pub const DEFAULT_QUEUE: &str = "default";

/// Answer to a push.
#[derive(Serialize)]
pub struct PushedView {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub async fn push(mut call: Call) -> Result<Response, Failure> {
    let queue = call.query.get("queue").unwrap_or(DEFAULT_QUEUE).to_owned();
    let priority = call.query.parse_number("priority")?.unwrap_or(0);
    let delay = call.query.parse_duration("delay")?.unwrap_or(Duration::ZERO);
    let max_attempts = call.query.parse_number("max_attempts")?;
    let unique_key = call.query.get("unique").map(str::to_owned);
    let (id, after) = (call.id_parameter("id")?, call.id_parameter("after")?);
    let command = match call.query.get("run") {
        None => None,
        Some("now") => Some(run::acquire_command(&call.app, &queue)?),
        Some(_) => return Err(Failure::invalid_request("parameter", "run must be `now` or absent")),
    };
    let format = payload::read_declared_format(&call)?;
    let received = call.read_body().await?;
    let app = call.app;
    let payload = payload::decode_strictly(&app, received, format).await?;
    let settings =
        JobSettings { id: id.unwrap_or_else(Id::new), queue, priority, delay, unique_key, max_attempts, after };
    match command {
        Some(command) => run::run_now(app, payload, settings, command).await,
        None => store_job(&app, payload, settings).await,
    }
}

/// Settings of a job in a request, without its payload.
pub struct JobSettings {
    pub id: Id,
    pub queue: String,
    pub priority: i32,
    pub delay: Duration,
    pub unique_key: Option<String>,
    pub max_attempts: Option<u32>,
    pub after: Option<Id>,
}

impl JobSettings {
    /// Returns the job with these settings and this payload.
    pub fn to_job(&self, bytes: Vec<u8>, description: BlobDescription) -> NewJob {
        NewJob {
            id: self.id,
            priority: self.priority,
            delay: self.delay,
            unique_key: self.unique_key.clone(),
            max_attempts: self.max_attempts,
            after: self.after,
            ..NewJob::new(&self.queue, bytes, description)
        }
    }
}

/// Stores a job if the schema of its queue allows it.
pub async fn store_job(app: &App, mut payload: Payload, settings: JobSettings) -> Result<Response, Failure> {
    let problem = payload.description.problem.clone();
    let queue = &settings.queue;
    let mut checker = app.schemas.find_checker(queue);
    // The schema may change while the payload is checked, but not repeatedly.
    for _ in 0..MAX_CHECKS {
        if let Some(checker) = &checker {
            payload = payload::check_against_schema(app, payload, Arc::clone(checker)).await?;
        }
        // The memory of the payload stays reserved until the job is stored.
        let Payload { bytes, description, memory } = payload;
        let job = settings.to_job(bytes, description);
        let schema = checker.as_ref().map(|checker| Arc::clone(&checker.text));
        match app.committer.store_job(job, schema).await? {
            StoreOutcome::Stored(pushed) => return Ok(pushed_response(app, queue, settings.id, pushed, problem)),
            StoreOutcome::OtherSchema(current_schema, job) => {
                checker = remember_schema(app, queue, current_schema).await?;
                payload = Payload { bytes: job.bytes, description: job.description, memory };
            }
        }
    }
    Err(Failure::retry_later("busy", "the schema of the queue changes too often; try again"))
}

fn pushed_response(app: &App, queue: &str, id: Id, pushed: Pushed, problem: Option<String>) -> Response {
    if !pushed.is_new {
        return ok_response(&PushedView { id: pushed.id.to_string(), new: Some(false), problem: None });
    }
    app.wakeups.wake_one(queue);
    json_response(StatusCode::CREATED, &PushedView { id: id.to_string(), new: None, problem })
}

/// Compiles the database's current schema of a queue, and remembers it.
pub async fn remember_schema(app: &App, queue: &str, text: Option<String>) -> Result<Option<Arc<Checker>>, Failure> {
    let checker = compile_schema(app, text).await?;
    app.schemas.set_checker(queue, checker.clone());
    Ok(checker)
}

/// Compiles a schema.
pub async fn compile_schema(app: &App, text: Option<String>) -> Result<Option<Arc<Checker>>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let checker = app.decoders.submit_and_wait(app.settings.database_timeout, move |_| Checker::new(&text)).await?;
    Ok(Some(Arc::new(checker?)))
}

pub async fn find_job(app: &App, id: Id) -> Result<Job, Failure> {
    let found = app.database.read(move |backend| backend.job(id)).await?;
    found.ok_or_else(|| Failure::not_found(format!("there is no job {id}")))
}

pub async fn get(call: Call) -> Result<Response, Failure> {
    let is_brief = call.flag_parameter("brief")?.unwrap_or(false);
    let job = find_job(&call.app, call.parse_id()?).await?;
    Ok(ok_response(&JobView::from_job(&job, is_brief)))
}

pub async fn payload(call: Call) -> Result<Response, Failure> {
    let job = find_job(&call.app, call.parse_id()?).await?;
    payload::respond_with_bytes(&call.app, call.query.get("to"), job.bytes, job.format).await
}

pub async fn replay(call: Call) -> Result<Response, Failure> {
    let (id, actor) = (call.parse_id()?, call.client_name());
    let replayed = call.app.database.write(move |backend| {
        let new_id = backend.replay(id, &actor)?;
        Ok((new_id, backend.job(id)?.map(|job| job.queue)))
    });
    let (new_id, queue) = replayed.await?;
    if let Some(queue) = queue {
        call.app.wakeups.wake_one(&queue);
    }
    Ok(json_response(StatusCode::CREATED, &PushedView { id: new_id.to_string(), new: None, problem: None }))
}

/// Number of bytes of payloads at which an answer is full. The last item may exceed this number.
pub const MAX_PAGE_BYTES: usize = 8 << 20;

/// A page of a list. It ends when it has enough items, or when it is large.
pub struct Page<T> {
    pub items: Vec<T>,
    /// Sequence of the last item, if there are more.
    pub next: Option<i64>,
    max_items: usize,
    /// Total size of the items.
    bytes: usize,
    /// Sequence of the last item.
    last: i64,
}

impl<T> Page<T> {
    pub fn new(max_items: usize) -> Page<T> {
        Page { items: Vec::new(), next: None, max_items, bytes: 0, last: 0 }
    }

    /// Adds an item of this many bytes.
    pub fn add_item(&mut self, item: T, sequence: i64, bytes: usize) -> Flow {
        if self.items.len() >= self.max_items || self.bytes >= MAX_PAGE_BYTES {
            self.next = Some(self.last);
            return Flow::Stop;
        }
        self.bytes += bytes;
        self.last = sequence;
        self.items.push(item);
        Flow::Continue
    }
}

pub async fn list(call: Call) -> Result<Response, Failure> {
    let state = call.query.get("state").map(|name| {
        let names = || format!("state must be one of: {}", State::ALL.map(State::name).join(", "));
        State::from_name(name).ok_or_else(|| Failure::invalid_request("parameter", names()))
    });
    let filter = JobFilter {
        queue: call.query.get("queue").map(str::to_owned),
        state: state.transpose()?,
        after: call.query.parse_number("after")?.unwrap_or(0),
        before: call.query.parse_number("before")?,
    };
    let (limit, is_brief) = (call.limit_parameter("limit", 100, 1000)?, call.flag_parameter("brief")?.unwrap_or(false));
    let page = call.app.database.read(move |backend| {
        let mut page = Page::new(limit);
        backend.jobs(&filter, limit + 1, &mut |job| {
            let (sequence, size) = (job.sequence, job.bytes.len() + job.json.as_ref().map_or(0, String::len));
            Ok(page.add_item(job, sequence, size))
        })?;
        Ok(page)
    });
    #[derive(Serialize)]
    struct Jobs<'j> {
        jobs: Vec<JobView<'j>>,
        next: Option<i64>,
    }
    let page = page.await?;
    let jobs = page.items.iter().map(|job| JobView::from_job(job, is_brief)).collect();
    Ok(ok_response(&Jobs { jobs, next: page.next }))
}
