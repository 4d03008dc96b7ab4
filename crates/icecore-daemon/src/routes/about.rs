//! Routes about the daemon itself.

use super::openapi;
use crate::answer::{build_response, json_response, ok_response};
use crate::call::Call;
use crate::failure::Failure;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use std::time::Duration;

/// Time limit for the database to answer.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);

pub async fn health(call: Call) -> Result<Response, Failure> {
    #[derive(Serialize)]
    struct Health {
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    }
    let app = &call.app;
    if app.shutdown.has_begun() {
        let health = Health { status: "stopping", problem: Some("the daemon is shutting down".to_owned()) };
        return Ok(json_response(StatusCode::SERVICE_UNAVAILABLE, &health));
    }
    Ok(match app.database.read_with_timeout(DATABASE_TIMEOUT, |backend| backend.now()).await {
        Ok(_) => ok_response(&Health { status: "ok", problem: None }),
        Err(failure) => {
            // A client without a token does not learn the path of the file.
            let problem = match &*failure.body.kind {
                "moved" => "the file of the database was moved, deleted or replaced".to_owned(),
                _ => format!("the database does not answer: {}", failure.body.message),
            };
            json_response(StatusCode::SERVICE_UNAVAILABLE, &Health { status: "down", problem: Some(problem) })
        }
    })
}

pub async fn metrics(call: Call) -> Result<Response, Failure> {
    let queues = call.app.counts.load_recent_counts(&call.app.database).await.ok();
    let text = call.app.metrics.to_prometheus_text(queues.as_deref().map(|queues| &queues[..]));
    Ok(build_response(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text))
}

pub async fn openapi(_: Call) -> Result<Response, Failure> {
    Ok(ok_response(&openapi::build_document()))
}
