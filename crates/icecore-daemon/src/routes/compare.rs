//! Route that compares two payloads or objects.

use super::inspect::{Blob, inspect_limits};
use crate::answer::ok_response;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::query::Query;
use axum::response::Response;
use icecore::Document;
use icecore_inspect::find_differences;

pub async fn compare(call: Call) -> Result<Response, Failure> {
    let limit = call.limit_parameter("limit", 200, 1_000)?;
    let (left, right) =
        (load_blob(&call.app, &call.query, "left").await?, load_blob(&call.app, &call.query, "right").await?);
    let work = move |_: &mut ()| {
        let (left, right) = (decode_blob(&left, "left")?, decode_blob(&right, "right")?);
        Ok(ok_response(&find_differences(&left, &right, limit)))
    };
    call.app.decoders.submit_and_wait(call.app.settings.database_timeout, work).await?
}

/// Returns the blob named as `jobs/ID` or `objects/ID`.
async fn load_blob(app: &App, query: &Query, side: &str) -> Result<Blob, Failure> {
    let name = query.get(side).unwrap_or_default();
    let missing = |error| Failure::not_found(format!("{side}: {error}"));
    match name.split_once('/') {
        Some(("jobs", id)) => Blob::load_job(app, id.parse().map_err(missing)?).await,
        Some(("objects", id)) => Blob::load_object(app, id.parse().map_err(missing)?).await,
        _ => Err(Failure::invalid_request("parameter", format!("{side} must be jobs/ID or objects/ID, not {name:?}"))),
    }
}

fn decode_blob<'b>(blob: &'b Blob, side: &str) -> Result<Document<'b>, Failure> {
    let document = blob.find_stage().and_then(|stage| icecore::read_as(&blob.bytes, &stage, &inspect_limits()));
    document.map_err(|error| {
        let mut failure = Failure::from_decode_error(&error);
        failure.body.message = format!("{side}: {}", failure.body.message);
        failure
    })
}
