//! Routes for schedules: jobs that are queued repeatedly.

use super::jobs::{self, DEFAULT_QUEUE};
use crate::answer::{ScheduleView, ok_response};
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::payload;
use crate::shutdown::{Either, select_first};
use axum::response::Response;
use icecore_store::time::format_utc as iso;
use icecore_store::{NewSchedule, Timing};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// How often to check which schedules are due.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of schedules handled in one check.
const MAX_FIRED: usize = 64;

pub async fn list(call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Schedules<'s> {
        schedules: Vec<ScheduleView<'s>>,
    }
    let is_brief = call.flag_parameter("brief")?.unwrap_or(false);
    let schedules = call.app.database.read(|backend| backend.schedules()).await?;
    Ok(ok_response(&Schedules {
        schedules: schedules.iter().map(|schedule| ScheduleView::from_schedule(schedule, is_brief)).collect(),
    }))
}

pub async fn set(mut call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Set {
        schedule: String,
        next_at: i64,
        next_at_iso: String,
    }
    let Some(timing) = call.query.get("timing") else {
        return Err(Failure::invalid_request("parameter", "timing is missing; for example, `timing=every 5m`"));
    };
    let timing = Timing::new(timing, call.query.get("zone"))?;
    let (name, actor) = (call.schedule_name(), call.client_name());
    let queue = call.query.get("queue").unwrap_or(DEFAULT_QUEUE).to_owned();
    let mut schedule = NewSchedule::new(name.clone(), queue, timing, Vec::new());
    schedule.priority = call.query.parse_number("priority")?.unwrap_or(0);
    schedule.max_attempts = call.query.parse_number("max_attempts")?;
    schedule.is_alone = call.flag_parameter("alone")?.unwrap_or(false);
    let format = payload::read_declared_format(&call)?;
    let received = call.read_body().await?;
    let app = call.app;
    let mut payload = payload::decode_strictly(&app, received, format).await?;
    // The payload is checked once, against the current schema of the queue. The jobs that the schedule queues are not
    // checked again.
    let queue = schedule.queue.clone();
    let text = app.database.read(move |backend| backend.schema(&queue)).await?;
    if let Some(checker) = jobs::compile_schema(&app, text).await? {
        payload = payload::check_against_schema(&app, payload, checker).await?;
    }
    (schedule.bytes, schedule.format) = (std::mem::take(&mut payload.bytes), payload.description.format.clone());
    let next_at = app.database.write(move |backend| backend.set_schedule(&schedule, &actor)).await?;
    Ok(ok_response(&Set { schedule: name, next_at, next_at_iso: iso(next_at) }))
}

pub async fn remove(call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Removed {
        schedule: String,
    }
    let (name, actor) = (call.schedule_name(), call.client_name());
    let removed_name = name.clone();
    match call.app.database.write(move |backend| backend.remove_schedule(&removed_name, &actor)).await? {
        true => Ok(ok_response(&Removed { schedule: name })),
        false => Err(Failure::not_found(format!("there is no schedule {name:?}"))),
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
    let (name, actor) = (call.schedule_name(), call.client_name());
    let schedule = name.clone();
    call.app.database.write(move |backend| backend.pause_schedule(&name, is_paused, &actor)).await?;
    Ok(ok_response(&Paused { schedule, is_paused }))
}

/// Queues jobs that are due, until the daemon ends.
pub async fn fire_due_schedules(app: Arc<App>) {
    let mut has_failed = false;
    loop {
        if let Either::Right(()) =
            select_first(tokio::time::sleep(CHECK_INTERVAL), app.shutdown.wait_until_begun()).await
        {
            return;
        }
        match app.database.write(|backend| backend.fire(MAX_FIRED)).await {
            Ok(fired) => {
                has_failed = false;
                for fired in fired {
                    match fired.problem {
                        Some(problem) => {
                            app.journal
                                .log_message(format_args!("the schedule {:?} is stopped: {problem}", fired.schedule));
                        }
                        None if fired.is_new => app.wakeups.wake_one(&fired.queue),
                        None => {}
                    }
                }
            }
            // A failure is logged once, because the call is repeated every second.
            Err(failure) if !has_failed => {
                has_failed = true;
                app.journal.log_message(format_args!("schedules wait: {}", failure.body.message));
            }
            Err(_) => {}
        }
    }
}
