//! Routes that show a payload or an object in parts: values with classes, offsets and bytes.

use super::{jobs, objects};
use crate::answer::done;
use crate::app::App;
use crate::call::Call;
use crate::failure::{Failure, message_for_clients};
use crate::payload;
use axum::response::Response;
use icecore::raw::Outcome;
use icecore::text::to_base64;
use icecore::{Error, ErrorKind, Limits, Request, Stage, deep, detect};
use icecore_inspect::{Part, Wanted, Wrong};
use icecore_store::Id;
use serde::Serialize;

/// Maximum number of values: for each one, its position takes additional memory.
const NODES: u32 = 500_000;
/// Maximum size of decompressed data.
const DECOMPRESSED: u64 = 64 << 20;
/// How many bytes are shown of data that can't be decoded.
const START: usize = 256;

/// Returns the limits for inspecting.
pub fn limits() -> Limits {
    let mut limits = payload::limits();
    limits.nodes = NODES;
    limits.decompressed = DECOMPRESSED;
    limits
}

/// Bytes and their format.
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

    /// Returns the stage of the bytes, detected if no format is recorded.
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
        items: call.limit_parameter("items", 100, 1_000)? as u64,
        rows: call.limit_parameter("limit", 500, 2_000)?,
        longest: call.limit_parameter("longest", 1_000, 1 << 20)?,
    };
    let within = nodes(call.query.get("within").unwrap_or_default())?;
    if let Some(format) = call.query.get("format") {
        Stage::parse(format).map_err(|error| Failure::decoding(&error))?;
        blob.format = Some(format.to_owned());
    }
    let work = move |_: &mut ()| done(&answer(&blob, &within, &wanted));
    Ok(call.app.decoders.ask(call.app.settings.database_timeout, work).await?)
}

/// Parses node numbers separated by commas.
fn nodes(text: &str) -> Result<Vec<u32>, Failure> {
    let parts: Vec<_> = text.split(',').filter(|part| !part.is_empty()).map(str::parse).collect();
    if parts.len() > deep::LEVELS as usize {
        let message = format!("at most {} strings in strings are opened", deep::LEVELS);
        return Err(Failure::input("parameter", message));
    }
    let wrong = |_| Failure::input("parameter", "within is numbers with commas between them");
    parts.into_iter().collect::<Result<_, _>>().map_err(wrong)
}

/// Answer about a blob.
#[derive(Serialize)]
struct Inspected {
    format: Option<String>,
    variant: String,
    /// Number of bytes without wrappers, which offsets refer to.
    size: usize,
    #[serde(flatten)]
    part: Part,
    error: Option<serde_json::Value>,
    /// First bytes in Base64, if the data can't be decoded.
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
    let mut said = serde_json::to_value(Wrong::of(error)).ok()?;
    said.as_object_mut()?.insert("message".to_owned(), message_for_clients(error).into());
    Some(said)
}

/// Bytes without their wrappers, and their stage.
struct Plain {
    bytes: Vec<u8>,
    stage: Stage,
}

impl Plain {
    fn of(bytes: &[u8], stage: Stage, limits: &mut Limits) -> Result<Plain, Error> {
        let bytes = stage.unwrap_within(bytes, limits)?.bytes.into_owned();
        Ok(Plain { bytes, stage })
    }

    fn read(&self, limits: &Limits) -> Outcome<'_> {
        self.stage.format().read(&self.bytes, self.stage.settings(), Request::new(limits).detailed())
    }

    /// Returns the data in the string of this node.
    fn inside(&self, node: u32, limits: &mut Limits) -> Result<Plain, Error> {
        let outcome = self.read(limits);
        let known = outcome.document.nodes().get(node as usize);
        let bytes = known.filter(|known| known.kind.is_string()).map(|known| outcome.document.bytes(known));
        let found = bytes.and_then(|bytes| Some((bytes, deep::stage_within(bytes, limits)?)));
        let (bytes, stage) = found.ok_or_else(|| {
            Error::new(ErrorKind::Format).expecting("a string that is frozen data").finding(format!("node {node}"))
        })?;
        Plain::of(bytes, stage, limits)
    }
}

fn answer(blob: &Blob, within: &[u32], wanted: &Wanted) -> Inspected {
    let mut limits = limits();
    let plain = blob.stage().and_then(|stage| Plain::of(&blob.bytes, stage, &mut limits));
    let plain = within.iter().fold(plain, |plain, node| plain?.inside(*node, &mut limits));
    let plain = match plain {
        Ok(plain) => plain,
        Err(error) => return Inspected::nothing(&blob.bytes, &error),
    };
    let outcome = plain.read(&limits);
    let (bytes, error) = (&*plain.bytes, outcome.error.as_ref());
    Inspected {
        format: Some(plain.stage.name()),
        variant: (plain.stage.format().detect)(bytes).map_or_else(String::new, |guess| guess.variant),
        size: bytes.len(),
        part: Part::of(&outcome.document, bytes, wanted),
        error: error.and_then(said),
        start: error.map(|_| to_base64(&bytes[..bytes.len().min(START)])),
    }
}
