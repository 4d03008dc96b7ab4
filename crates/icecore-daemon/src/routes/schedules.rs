//! Routes for schedules: jobs that are queued repeatedly.

use super::jobs::{self, DEFAULT};
use crate::answer::{ScheduleView, done};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::payload;
use crate::shutdown::{First, first};
use axum::response::Response;
use icecore_store::time::format_utc as iso;
use icecore_store::{NewSchedule, Timing};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// How often to check which schedules are due.
const FIRE: Duration = Duration::from_secs(1);
/// Maximum number of schedules handled in one check.
const MOST_FIRED: usize = 64;

pub async fn list(call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Schedules<'s> {
        schedules: Vec<ScheduleView<'s>>,
    }
    let is_brief = call.flag("brief")?.unwrap_or(false);
    let schedules = call.app.database.read(|backend| backend.schedules()).await?;
    Ok(done(&Schedules { schedules: schedules.iter().map(|one| ScheduleView::of(one, is_brief)).collect() }))
}

pub async fn set(mut call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Set {
        schedule: String,
        next_at: i64,
        next_at_iso: String,
    }
    let Some(timing) = call.query.get("timing") else {
        return Err(Failure::input("parameter", "timing says when, as `timing=every 5m`"));
    };
    let timing = Timing::new(timing, call.query.get("zone"))?;
    let (name, by) = (call.schedule(), call.by());
    let queue = call.query.get("queue").unwrap_or(DEFAULT).to_owned();
    let mut schedule = NewSchedule::new(name.clone(), queue, timing, Vec::new());
    schedule.priority = call.query.number("priority")?.unwrap_or(0);
    schedule.max_attempts = call.query.number("max_attempts")?;
    schedule.is_alone = call.flag("alone")?.unwrap_or(false);
    let format = payload::claimed(&call)?;
    let read = call.body().await?;
    let app = call.app;
    let mut payload = payload::decode_strictly(&app, read, format).await?;
    // Checked against the current schema of the queue; later jobs are not checked again.
    let queue = schedule.queue.clone();
    let text = app.database.read(move |backend| backend.schema(&queue)).await?;
    if let Some(checker) = jobs::ready(&app, text).await? {
        payload = payload::check(&app, payload, checker).await?;
    }
    (schedule.bytes, schedule.format) = (std::mem::take(&mut payload.bytes), payload.said.format.clone());
    let next_at = app.database.write(move |backend| backend.set_schedule(&schedule, &by)).await?;
    Ok(done(&Set { schedule: name, next_at, next_at_iso: iso(next_at) }))
}

pub async fn remove(call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Removed {
        schedule: String,
    }
    let (name, by) = (call.schedule(), call.by());
    let gone = name.clone();
    match call.app.database.write(move |backend| backend.remove_schedule(&gone, &by)).await? {
        true => Ok(done(&Removed { schedule: name })),
        false => Err(Failure::missing(format!("there is no schedule {name:?}"))),
    }
}

pub async fn pause(call: Call) -> Result<Response, Failure> {
    set_paused(call, true).await
}

pub async fn resume(call: Call) -> Result<Response, Failure> {
    set_paused(call, false).await
}

async fn set_paused(call: Call, is_paused: bool) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Paused {
        schedule: String,
        is_paused: bool,
    }
    let (name, by) = (call.schedule(), call.by());
    let schedule = name.clone();
    call.app.database.write(move |backend| backend.pause_schedule(&name, is_paused, &by)).await?;
    Ok(done(&Paused { schedule, is_paused }))
}

/// Queues jobs that are due, until the daemon ends.
pub async fn fire(app: Arc<App>) {
    let mut has_failed = false;
    loop {
        if let First::Right(()) = first(tokio::time::sleep(FIRE), app.shutdown.begun()).await {
            return;
        }
        match app.database.write(|backend| backend.fire(MOST_FIRED)).await {
            Ok(fired) => {
                has_failed = false;
                for fired in fired {
                    match fired.problem {
                        Some(problem) => {
                            app.journal.line(format_args!("the schedule {:?} is stopped: {problem}", fired.schedule));
                        }
                        None if fired.is_new => app.wakeups.one(&fired.queue),
                        None => {}
                    }
                }
            }
            // Logged once, because it is tried every second.
            Err(failure) if !has_failed => {
                has_failed = true;
                app.journal.line(format_args!("schedules wait: {}", failure.said.message));
            }
            Err(_) => {}
        }
    }
}
