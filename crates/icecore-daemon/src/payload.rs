//! Payloads: their declared format and their decoded value.

use crate::answer::bytes as as_bytes;
use crate::app::App;
use crate::body::{Memory, Read};
use crate::call::Call;
use crate::failure::Failure;
use crate::schema::Checker;
use axum::response::Response;
use icecore::{Limits, Stage};
use icecore_store::{Described, describe};
use std::sync::Arc;

/// Returns the limits for decoding, as in the store.
pub fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.depth = 1_000;
    limits
}

/// A decoded body, with the engine's description.
pub struct Payload {
    pub bytes: Vec<u8>,
    pub said: Described,
    pub memory: Memory,
}

/// Returns the format that the client declares for the body.
pub fn claimed(call: &Call) -> Result<Option<String>, Failure> {
    let format = call.query.get("format");
    if let Some(format) = format {
        Stage::parse(format).map_err(|error| Failure::decoding(&error))?;
    }
    if !call.says_json() {
        return Ok(format.map(str::to_owned));
    }
    match format {
        None | Some("json") => Ok(Some("json".to_owned())),
        Some(format) => Err(Failure::input(
            "format",
            format!("the body can't be both: its Content-Type says JSON, and format says {format}"),
        )),
    }
}

/// JSON up to this length is decoded immediately, because handing it to another thread takes longer. In other formats,
/// a few bytes can require much work.
const SHORT: usize = 8 << 10;

/// Decodes a body. If that fails, the problem is in the description.
pub async fn decode(app: &App, read: Read, format: Option<String>) -> Result<Payload, Failure> {
    let is_short = read.bytes.len() <= SHORT && format.as_deref() == Some("json");
    let work = move |_: &mut ()| {
        let said = describe::describe(&read.bytes, format.as_deref());
        Payload { bytes: read.bytes, said, memory: read.memory }
    };
    if is_short {
        return Ok(work(&mut ()));
    }
    Ok(app.decoders.ask(app.settings.database_timeout, work).await?)
}

/// Decodes a body, and fails if it does not have the declared format.
pub async fn decode_strictly(app: &App, read: Read, format: Option<String>) -> Result<Payload, Failure> {
    let payload = decode(app, read, format.clone()).await?;
    let (Some(format), Some(problem)) = (format, payload.said.problem.clone()) else { return Ok(payload) };
    let work = move |_: &mut ()| match Stage::parse(&format)
        .and_then(|stage| icecore::read_as(&payload.bytes, &stage, &limits()).map(drop))
    {
        Err(error) => Failure::decoding(&error),
        Ok(()) => Failure::input("format", problem),
    };
    Err(app.decoders.ask(app.settings.database_timeout, work).await?)
}

/// Checks a decoded payload against a schema.
pub async fn check(app: &App, payload: Payload, checker: Arc<Checker>) -> Result<Payload, Failure> {
    let is_short = payload.bytes.len() + payload.said.json.as_ref().map_or(0, String::len) <= SHORT;
    let is_at_once = is_short && checker.is_light;
    let work = move |_: &mut ()| {
        let said = &payload.said;
        let json = match (&said.json, &said.format) {
            (Some(json), _) => json.as_bytes(),
            (None, Some(_)) => &payload.bytes,
            (None, None) => {
                let problem = said.problem.as_deref().unwrap_or_default();
                let message = format!("the queue has a schema, and the payload can't be decoded: {problem}");
                return Err(Failure::input("schema", message));
            }
        };
        checker.check(json)?;
        Ok(payload)
    };
    if is_at_once {
        return work(&mut ());
    }
    app.decoders.ask(app.settings.database_timeout, work).await?
}

/// Returns bytes unchanged, or in the requested format.
pub async fn answer(app: &App, to: Option<&str>, bytes: Vec<u8>, format: Option<String>) -> Result<Response, Failure> {
    let Some(to) = to else {
        return Ok(as_bytes(bytes, format.as_deref() == Some("json")));
    };
    let converted = convert(app, bytes, format, to).await?;
    Ok(as_bytes(converted, to == "json" || to.starts_with("json:")))
}

async fn convert(app: &App, bytes: Vec<u8>, format: Option<String>, to: &str) -> Result<Vec<u8>, Failure> {
    let to = Stage::parse(to).map_err(|error| Failure::decoding(&error))?;
    let Some(format) = format else {
        return Err(Failure::input("format", "it can't be decoded, so there is nothing to convert"));
    };
    let work = move |_: &mut ()| {
        let document = icecore::read_as(&bytes, &Stage::parse(&format)?, &limits())?;
        let mut out = Vec::new();
        icecore::write_to(&document, &to, &limits(), &mut out)?;
        Ok(out)
    };
    let converted = app.decoders.ask(app.settings.database_timeout, work).await?;
    converted.map_err(|error: icecore::Error| Failure::decoding(&error))
}
