//! Jobs that run immediately: recorded like all others, and done here.

use super::jobs::{self, JobSettings};
use crate::answer::Bytes;
use crate::answer::done;
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
pub struct Command(Arc<dyn Runner>, OwnedSemaphorePermit);

/// Returns the command of a queue.
pub fn command(app: &App, queue: &str) -> Result<Command, Failure> {
    let Some(runner) = app.settings.commands.get(queue) else {
        return Err(Failure::input("no-command", format!("the queue {queue} has no command that could run now")));
    };
    match Arc::clone(&app.commands).try_acquire_owned() {
        Ok(permit) => Ok(Command(Arc::clone(runner), permit)),
        Err(_) => Err(Failure::later("busy", "as many commands run as may")),
    }
}

/// Worker name for these jobs.
const WORKER: &str = "daemon";

/// Outcome of the job.
#[derive(Serialize)]
struct Ran {
    id: String,
    state: &'static str,
    attempt: u32,
    result: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Records a job and runs it; the job continues if the client disconnects.
pub async fn now(
    app: Arc<App>,
    mut payload: Payload,
    mut settings: JobSettings,
    command: Command,
) -> Result<Response, Failure> {
    let (queue, lease) = (settings.queue.clone(), app.settings.lease);
    let schema = app.database.read(move |backend| backend.schema(&queue)).await?;
    let known = app.schemas.of(&settings.queue).filter(|known| Some(&*known.text) == schema.as_deref());
    let checker = match known {
        Some(known) => Some(known),
        None => jobs::current(&app, &settings.queue, schema).await?,
    };
    if let Some(checker) = checker {
        payload = payload::check(&app, payload, checker).await?;
    }
    settings.delay = Duration::ZERO;
    let job = settings.to_job(payload.bytes.clone(), payload.said.clone());
    let taken = app.database.write(move |backend| backend.push_and_claim(&job, WORKER, lease)).await?;
    let Some(taken) = taken else {
        // Another job has the unique key: the answer is about that job.
        return jobs::store(&app, payload, settings).await;
    };
    drop(payload);
    let ran = tokio::spawn(async move { run(&app, taken, command).await });
    match ran.await {
        Ok(ran) => Ok(done(&ran?)),
        Err(_) => Err(crate::threads::Refused::Broken.into()),
    }
}

/// Runs a job, and records its outcome.
async fn run(app: &App, taken: Lease, command: Command) -> Result<Ran, Failure> {
    let Lease { job, token } = taken;
    let (id, attempt) = (job.id, job.attempts);
    let (reply, mut outcome) = oneshot::channel();
    let Command(runner, permit) = command;
    // Held until the outcome is recorded: the daemon waits for it when it ends.
    let _permit = permit;
    let begun = std::thread::Builder::new().name("command".to_owned()).spawn(move || {
        let _ = reply.send(caught(&*runner, &job));
    });
    let outcome = match begun {
        Err(error) => Outcome::failed(format!("no thread for the command: {error}")),
        Ok(_) => loop {
            match tokio::time::timeout(app.settings.lease / 3, &mut outcome).await {
                Ok(outcome) => break outcome.unwrap_or_else(|_| Outcome::failed("the command's thread ended")),
                Err(_) => extend(app, id, &token).await,
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
        Outcome::Done(result) => (result.as_deref().map(Bytes::of), None),
        Outcome::Failed { error, .. } => (None, Some(error)),
    };
    Ok(Ran { id: id.to_string(), state, attempt, result, error })
}

async fn extend(app: &App, id: Id, token: &str) {
    let (token, lease) = (token.to_owned(), app.settings.lease);
    // If the lease is lost, that shows when the outcome is recorded.
    let _ = app.database.write(move |backend| backend.extend(id, &token, lease)).await;
}

fn caught(runner: &dyn Runner, job: &Job) -> Outcome {
    catch_unwind(AssertUnwindSafe(|| runner.run(job))).unwrap_or_else(|_| Outcome::failed("the command panicked"))
}
