//! Payloads: their declared format and their decoded value.

use crate::answer::bytes_response;
use crate::app::App;
use crate::body::{MemoryPermit, ReceivedBody};
use crate::call::Call;
use crate::failure::Failure;
use crate::schema::Checker;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use icecore::{Limits, Losses, Stage};
use icecore_store::{BlobDescription, describe};
use std::sync::Arc;

/// Returns the limits for decoding, as in the store.
pub fn decode_limits() -> Limits {
    let mut limits = Limits::default();
    limits.depth = 1_000;
    limits
}

/// A decoded body, with the engine's description.
pub struct Payload {
    pub bytes: Vec<u8>,
    pub description: BlobDescription,
    pub memory: MemoryPermit,
}

/// Returns the format that the client declares for the body.
pub fn read_declared_format(call: &Call) -> Result<Option<String>, Failure> {
    let format = call.query.get("format");
    if let Some(format) = format {
        Stage::parse(format).map_err(|error| Failure::from_decode_error(&error))?;
    }
    if !call.declares_json() {
        return Ok(format.map(str::to_owned));
    }
    match format {
        None | Some("json") => Ok(Some("json".to_owned())),
        Some(format) => Err(Failure::invalid_request(
            "format",
            format!("the Content-Type of the body says JSON, but format says {format}"),
        )),
    }
}

/// JSON up to this length is decoded immediately, because handing it to another thread takes longer. In other formats,
/// a few bytes can require much work.
const MAX_IMMEDIATE_LEN: usize = 8 << 10;

/// Decodes a body. If that fails, the problem is in the description.
pub async fn decode_body(app: &App, received: ReceivedBody, format: Option<String>) -> Result<Payload, Failure> {
    let is_short = received.bytes.len() <= MAX_IMMEDIATE_LEN && format.as_deref() == Some("json");
    let work = move |_: &mut ()| {
        let description = describe::describe(&received.bytes, format.as_deref());
        Payload { bytes: received.bytes, description, memory: received.memory }
    };
    if is_short {
        return Ok(work(&mut ()));
    }
    Ok(app.decoders.submit_and_wait(app.settings.database_timeout, work).await?)
}

/// Decodes a body, and fails if it does not have the declared format.
pub async fn decode_strictly(app: &App, received: ReceivedBody, format: Option<String>) -> Result<Payload, Failure> {
    let payload = decode_body(app, received, format.clone()).await?;
    let (Some(format), Some(problem)) = (format, payload.description.problem.clone()) else { return Ok(payload) };
    let work = move |_: &mut ()| match Stage::parse(&format)
        .and_then(|stage| icecore::read_as(&payload.bytes, &stage, &decode_limits()).map(drop))
    {
        Err(error) => Failure::from_decode_error(&error),
        Ok(()) => Failure::invalid_request("format", problem),
    };
    Err(app.decoders.submit_and_wait(app.settings.database_timeout, work).await?)
}

/// Checks a decoded payload against a schema.
pub async fn check_against_schema(app: &App, payload: Payload, checker: Arc<Checker>) -> Result<Payload, Failure> {
    let is_short = payload.bytes.len() + payload.description.json.as_ref().map_or(0, String::len) <= MAX_IMMEDIATE_LEN;
    let is_immediate = is_short && checker.is_light;
    let work = move |_: &mut ()| {
        let description = &payload.description;
        let json = match (&description.json, &description.format) {
            (Some(json), _) => json.as_bytes(),
            (None, Some(_)) => &payload.bytes,
            (None, None) => {
                let problem = description.problem.as_deref().unwrap_or_default();
                let message = format!("the queue has a schema, and the payload can't be decoded: {problem}");
                return Err(Failure::invalid_request("schema", message));
            }
        };
        checker.check(json)?;
        Ok(payload)
    };
    if is_immediate {
        return work(&mut ());
    }
    app.decoders.submit_and_wait(app.settings.database_timeout, work).await?
}

/// Returns bytes unchanged, or in the requested format.
pub async fn respond_with_bytes(
    app: &App,
    target: Option<&str>,
    bytes: Vec<u8>,
    format: Option<String>,
) -> Result<Response, Failure> {
    let Some(target) = target else {
        return Ok(bytes_response(bytes, format.as_deref() == Some("json")));
    };
    let (converted, losses) = convert_bytes(app, bytes, format, target).await?;
    let mut response = bytes_response(converted, target == "json" || target.starts_with("json:"));
    if let Some(value) = losses_header(&losses) {
        response.headers_mut().insert(LOSSES_HEADER, value);
    }
    Ok(response)
}

/// The header with what the requested format could not express.
const LOSSES_HEADER: HeaderName = HeaderName::from_static("icecore-losses");
/// Maximum length of this header.
const MAX_LOSSES_LEN: usize = 1000;

/// Returns the losses as a header; `None` if there are none. Paths come from the data, so only printable ASCII is left
/// unescaped.
fn losses_header(losses: &Losses) -> Option<HeaderValue> {
    let descriptions: Vec<String> = losses.iter().map(ToString::to_string).collect();
    let text: String = descriptions.join("; ").chars().flat_map(char::escape_default).take(MAX_LOSSES_LEN).collect();
    if text.is_empty() { None } else { HeaderValue::from_str(&text).ok() }
}

async fn convert_bytes(
    app: &App,
    bytes: Vec<u8>,
    format: Option<String>,
    target: &str,
) -> Result<(Vec<u8>, Losses), Failure> {
    let target = Stage::parse(target).map_err(|error| Failure::from_decode_error(&error))?;
    let Some(format) = format else {
        return Err(Failure::invalid_request("format", "the bytes can't be decoded and so can't be converted"));
    };
    let work = move |_: &mut ()| {
        let document = icecore::read_as(&bytes, &Stage::parse(&format)?, &decode_limits())?;
        let mut out = Vec::new();
        let losses = icecore::write_to(&document, &target, &decode_limits(), &mut out)?;
        Ok((out, losses))
    };
    let converted = app.decoders.submit_and_wait(app.settings.database_timeout, work).await?;
    converted.map_err(|error: icecore::Error| Failure::from_decode_error(&error))
}
