//! What is in a payload or an object: values with classes, offsets and bytes, a part at a time.

use super::{jobs, objects};
use crate::answer::done;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::payload;
use axum::response::Response;
use icecore::text::to_base64;
use icecore::{Error, Limits, Request, Stage, detect};
use icecore_inspect::{Part, Wanted, Wrong};
use icecore_store::Id;
use serde::Serialize;

/// How many values are looked at: each takes memory for its place, beside itself.
const NODES: u32 = 500_000;
/// How much is decompressed.
const DECOMPRESSED: u64 = 64 << 20;
/// How many bytes are shown of what can't be decoded.
const START: usize = 256;

/// The bounds of what is looked into here.
pub fn limits() -> Limits {
    let mut limits = payload::limits();
    limits.nodes = NODES;
    limits.decompressed = DECOMPRESSED;
    limits
}

/// Bytes, and what they are.
pub struct Blob {
    pub bytes: Vec<u8>,
    pub format: Option<String>,
}

impl Blob {
    pub async fn job(app: &App, id: Id) -> Result<Blob, Failure> {
        let job = jobs::find(app, id).await?;
        Ok(Blob { bytes: job.bytes, format: job.format })
    }

    pub async fn object(app: &App, id: Id) -> Result<Blob, Failure> {
        let object = objects::find(app, id).await?;
        Ok(Blob { bytes: object.bytes, format: object.format })
    }

    /// What it is, or seems to be.
    pub fn stage(&self) -> Result<Stage, Error> {
        match &self.format {
            Some(format) => Stage::parse(format),
            None => detect::stage_of(&self.bytes),
        }
    }
}

pub async fn job(call: Call) -> Result<Response, Failure> {
    let blob = Blob::job(&call.app, call.id()?).await?;
    show(call, blob).await
}

pub async fn object(call: Call) -> Result<Response, Failure> {
    let blob = Blob::object(&call.app, call.id()?).await?;
    show(call, blob).await
}

async fn show(call: Call, mut blob: Blob) -> Result<Response, Failure> {
    let wanted = Wanted {
        node: call.query.number("node")?,
        skip: call.query.number("skip")?.unwrap_or(0),
        depth: call.query.number("depth")?.unwrap_or(3),
        items: call.most("items", 100, 1_000)? as u64,
        rows: call.most("limit", 500, 2_000)?,
        longest: call.most("longest", 1_000, 1 << 20)?,
    };
    if let Some(format) = call.query.get("format") {
        Stage::parse(format).map_err(|error| Failure::decoding(&error))?;
        blob.format = Some(format.to_owned());
    }
    let work = move |_: &mut ()| done(&answer(&blob, &wanted));
    Ok(call.app.decoders.ask(call.app.settings.database_timeout, work).await?)
}

/// What is said of a blob.
#[derive(Serialize)]
struct Inspected {
    format: Option<String>,
    variant: String,
    /// How many bytes there are without wrappers: offsets are of these.
    size: usize,
    #[serde(flatten)]
    part: Part,
    error: Option<serde_json::Value>,
    /// Of what can't be decoded, the first bytes in Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<String>,
}

impl Inspected {
    fn nothing(bytes: &[u8], error: &Error) -> Inspected {
        Inspected {
            format: None,
            variant: String::new(),
            size: bytes.len(),
            part: Part::default(),
            error: said(error),
            start: Some(to_base64(&bytes[..bytes.len().min(START)])),
        }
    }
}

fn said(error: &Error) -> Option<serde_json::Value> {
    serde_json::to_value(Wrong::of(error)).ok()
}

fn answer(blob: &Blob, wanted: &Wanted) -> Inspected {
    let mut limits = limits();
    let unwrapped = blob.stage().and_then(|stage| Ok((stage.unwrap_within(&blob.bytes, &mut limits)?, stage)));
    let (unwrapped, stage) = match unwrapped {
        Ok(unwrapped) => unwrapped,
        Err(error) => return Inspected::nothing(&blob.bytes, &error),
    };
    let bytes = &*unwrapped.bytes;
    let outcome = stage.format().read(bytes, stage.settings(), Request::new(&limits).detailed());
    let error = outcome.error.as_ref();
    Inspected {
        format: Some(stage.name()),
        variant: (stage.format().detect)(bytes).map_or_else(String::new, |guess| guess.variant),
        size: bytes.len(),
        part: Part::of(&outcome.document, bytes, wanted),
        error: error.and_then(said),
        start: error.map(|_| to_base64(&bytes[..bytes.len().min(START)])),
    }
}
