//! Routes for queues: their state and their settings.

use super::jobs;
use crate::answer::{QueueView, build_response, ok_response};
use crate::call::Call;
use crate::failure::Failure;
use axum::http::StatusCode;
use axum::response::Response;
use icecore_store::{Id, QueueSettings, Rate};
use serde::{Deserialize, Serialize};

pub async fn list(call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Queues<'q> {
        queues: Vec<QueueView<'q>>,
    }
    let queues = call.app.database.read(|backend| backend.queues()).await?;
    Ok(ok_response(&Queues { queues: queues.iter().map(QueueView::from_queue).collect() }))
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
        queue: String,
        is_paused: bool,
    }
    let (queue, actor) = (call.queue_name(), call.client_name());
    let name = queue.clone();
    call.app.database.write(move |backend| backend.pause(&name, is_paused, &actor)).await?;
    call.app.wakeups.wake_all(&queue);
    Ok(ok_response(&Paused { queue, is_paused }))
}

/// Selection of jobs in the body of a request.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RedriveRequest {
    ids: Option<Vec<String>>,
}

pub async fn redrive(mut call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Redriven {
        queue: String,
        redriven: u64,
    }
    let (queue, actor) = (call.queue_name(), call.client_name());
    let from_query = call.query.get("ids").map(|ids| ids.split(',').map(|id| id.trim().to_owned()).collect());
    let ids: Option<Vec<String>> = call.read_json::<RedriveRequest>().await?.ids.or(from_query);
    let parse_id =
        |id: &String| id.parse::<Id>().map_err(|error| Failure::invalid_request("parameter", format!("ids: {error}")));
    let ids = ids.map(|ids| ids.iter().map(parse_id).collect::<Result<Vec<Id>, Failure>>()).transpose()?;
    let name = queue.clone();
    let redriven = call.app.database.write(move |backend| backend.redrive(&name, ids.as_deref(), &actor)).await?;
    call.app.wakeups.wake_all(&queue);
    Ok(ok_response(&Redriven { queue, redriven }))
}

/// Limits in the body of a request.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LimitsRequest {
    concurrency: Option<u32>,
    rate: Option<String>,
}

pub async fn set_limits(mut call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Set {
        queue: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        concurrency: Option<u32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        rate: Option<String>,
    }
    let body = call.read_json::<LimitsRequest>().await?;
    let rate = body.rate.as_deref().or(call.query.get("rate")).map(str::parse::<Rate>).transpose()?;
    let concurrency = match body.concurrency {
        None => call.query.parse_number("concurrency")?,
        from_body => from_body,
    };
    if rate.is_none() && concurrency.is_none() {
        return Err(Failure::invalid_request("parameter", "set concurrency, rate or both"));
    }
    let queue = call.queue_name();
    let name = queue.clone();
    let settings = QueueSettings { concurrency, rate, ..QueueSettings::default() };
    call.app.database.write(move |backend| backend.configure(&name, &settings)).await?;
    // More jobs may be allowed now.
    call.app.wakeups.wake_all(&queue);
    Ok(ok_response(&Set { queue, concurrency, rate: rate.map(|rate| rate.to_string()) }))
}

pub async fn set_schema(mut call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Set {
        queue: String,
        has_schema: bool,
    }
    let queue = call.queue_name();
    let text = String::from_utf8(call.read_body().await?.bytes)
        .map_err(|_| Failure::invalid_request("schema", "the schema is not JSON: it is not UTF-8"))?;
    let has_schema = !text.trim().is_empty();
    // The schema is compiled before it is stored, so that an invalid schema is refused.
    let checker = jobs::compile_schema(&call.app, has_schema.then(|| text.clone())).await?;
    let name = queue.clone();
    let settings = QueueSettings { schema: Some(text), ..QueueSettings::default() };
    call.app.database.write(move |backend| backend.configure(&name, &settings)).await?;
    call.app.schemas.set_checker(&queue, checker);
    Ok(ok_response(&Set { queue, has_schema }))
}

pub async fn schema(call: Call) -> Result<Response, Failure> {
    let queue = call.queue_name();
    let name = queue.clone();
    match call.app.database.read(move |backend| backend.schema(&name)).await? {
        Some(text) => Ok(build_response(StatusCode::OK, "application/schema+json", text)),
        None => Err(Failure::not_found(format!("the queue {queue} has no schema"))),
    }
}
