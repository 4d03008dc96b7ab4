//! Jobs that run immediately. They are recorded like all others, and run in this process.

use super::jobs::{self, JobSettings};
use crate::answer::BytesView;
use crate::answer::ok_response;
use crate::app::App;
use crate::failure::Failure;
use crate::payload::{self, Payload};
use axum::response::Response;
use icecore_store::{Id, Job, Lease, Outcome, Runner, State};
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// The command of a queue, and a permit to run it.
pub struct CommandPermit(Arc<dyn Runner>, OwnedSemaphorePermit);

/// Returns the command of a queue.
pub fn acquire_command(app: &App, queue: &str) -> Result<CommandPermit, Failure> {
    let Some(runner) = app.settings.commands.get(queue) else {
        return Err(Failure::invalid_request(
            "no-command",
            format!("the queue {queue} has no command to run the job now"),
        ));
    };
    match Arc::clone(&app.commands).try_acquire_owned() {
        Ok(permit) => Ok(CommandPermit(Arc::clone(runner), permit)),
        Err(_) => Err(Failure::retry_later("busy", "the maximum number of commands is running")),
    }
}

/// Worker name for these jobs.
const WORKER: &str = "daemon";

/// Outcome of the job.
#[derive(Serialize)]
struct RunResponse {
    id: String,
    state: &'static str,
    attempt: u32,
    result: Option<BytesView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Records a job and runs it. The job continues even if the client disconnects.
pub async fn run_now(
    app: Arc<App>,
    mut payload: Payload,
    mut settings: JobSettings,
    command: CommandPermit,
) -> Result<Response, Failure> {
    let (queue, lease) = (settings.queue.clone(), app.settings.lease);
    let schema = app.database.read(move |backend| backend.schema(&queue)).await?;
    let cached = app.schemas.find_checker(&settings.queue).filter(|cached| Some(&*cached.text) == schema.as_deref());
    let checker = match cached {
        Some(cached) => Some(cached),
        None => jobs::remember_schema(&app, &settings.queue, schema).await?,
    };
    if let Some(checker) = checker {
        payload = payload::check_against_schema(&app, payload, checker).await?;
    }
    settings.delay = Duration::ZERO;
    let job = settings.to_job(payload.bytes.clone(), payload.description.clone());
    let claimed = app.database.write(move |backend| backend.push_and_claim(&job, WORKER, lease)).await?;
    let Some(claimed) = claimed else {
        // Another job has the unique key, so the answer is about that job.
        return jobs::store_job(&app, payload, settings).await;
    };
    drop(payload);
    let finished = tokio::spawn(async move { run_job(&app, claimed, command).await });
    match finished.await {
        Ok(finished) => Ok(ok_response(&finished?)),
        Err(_) => Err(crate::threads::WorkError::Broken.into()),
    }
}

/// Runs a job, and records its outcome.
async fn run_job(app: &App, claimed: Lease, command: CommandPermit) -> Result<RunResponse, Failure> {
    let Lease { job, token } = claimed;
    let (id, attempt) = (job.id, job.attempts);
    let (reply, mut outcome) = oneshot::channel();
    let CommandPermit(runner, permit) = command;
    // The permit is held until the outcome is recorded. When the daemon ends, it waits for all permits.
    let _permit = permit;
    let spawned = std::thread::Builder::new().name("command".to_owned()).spawn(move || {
        let _ = reply.send(run_catching_panics(&*runner, &job));
    });
    let outcome = match spawned {
        Err(error) => Outcome::failed(format!("can't start a thread for the command: {error}")),
        Ok(_) => loop {
            match tokio::time::timeout(app.settings.lease / 3, &mut outcome).await {
                Ok(outcome) => break outcome.unwrap_or_else(|_| Outcome::failed("the command's thread ended")),
                Err(_) => extend_lease(app, id, &token).await,
            }
        },
    };
    let recorded = outcome.clone();
    let state = app.database.write(move |backend| match &recorded {
        Outcome::Done(result) => backend.ack(id, &token, result.as_deref()).map(|()| State::Done),
        Outcome::Failed { error, delay } => backend.nack(id, &token, error, *delay),
    });
    let state = state.await?.name();
    let (result, error) = match outcome {
        Outcome::Done(result) => (result.as_deref().map(BytesView::from_bytes), None),
        Outcome::Failed { error, .. } => (None, Some(error)),
    };
    Ok(RunResponse { id: id.to_string(), state, attempt, result, error })
}

async fn extend_lease(app: &App, id: Id, token: &str) {
    let (token, lease) = (token.to_owned(), app.settings.lease);
    // If the lease is lost, that shows when the outcome is recorded.
    let _ = app.database.write(move |backend| backend.extend(id, &token, lease)).await;
}

fn run_catching_panics(runner: &dyn Runner, job: &Job) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| runner.run(job))).unwrap_or_else(|_| Outcome::failed("the command panicked"))
}
