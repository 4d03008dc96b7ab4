//! Route that compares two payloads or objects.

use super::inspect::{Blob, limits};
use crate::answer::done;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::query::Query;
use axum::response::Response;
use icecore::Document;
use icecore_inspect::differences;

pub async fn compare(call: Call) -> Result<Response, Failure> {
    let most = call.limit_parameter("limit", 200, 1_000)?;
    let (left, right) = (blob(&call.app, &call.query, "left").await?, blob(&call.app, &call.query, "right").await?);
    let work = move |_: &mut ()| {
        let (left, right) = (read(&left, "left")?, read(&right, "right")?);
        Ok(done(&differences(&left, &right, most)))
    };
    call.app.decoders.ask(call.app.settings.database_timeout, work).await?
}

/// Returns the blob named as `jobs/ID` or `objects/ID`.
async fn blob(app: &App, query: &Query, side: &str) -> Result<Blob, Failure> {
    let name = query.get(side).unwrap_or_default();
    let missing = |error| Failure::missing(format!("{side}: {error}"));
    match name.split_once('/') {
        Some(("jobs", id)) => Blob::job(app, id.parse().map_err(missing)?).await,
        Some(("objects", id)) => Blob::object(app, id.parse().map_err(missing)?).await,
        _ => Err(Failure::input("parameter", format!("{side} is jobs/ID or objects/ID, not {name:?}"))),
    }
}

fn read<'b>(blob: &'b Blob, side: &str) -> Result<Document<'b>, Failure> {
    let document = blob.stage().and_then(|stage| icecore::read_as(&blob.bytes, &stage, &limits()));
    document.map_err(|error| {
        let mut failure = Failure::decoding(&error);
        failure.said.message = format!("{side}: {}", failure.said.message);
        failure
    })
}
