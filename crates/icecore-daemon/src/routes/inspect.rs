//! Routes that show a payload or an object in parts: values with classes, offsets and bytes.

use super::{jobs, objects};
use crate::answer::ok_response;
use crate::app::App;
use crate::call::Call;
use crate::failure::{Failure, message_for_clients};
use crate::payload;
use axum::response::Response;
use icecore::raw::Outcome;
use icecore::text::to_base64;
use icecore::{Error, ErrorKind, Limits, Request, Stage, deep, detect};
use icecore_inspect::{ErrorReport, Part, PartRequest};
use icecore_store::Id;
use serde::Serialize;

/// Maximum number of values. It is lower than elsewhere, because the positions of values take additional memory.
const MAX_NODES: u32 = 500_000;
/// Maximum size of decompressed data.
const MAX_DECOMPRESSED: u64 = 64 << 20;
/// How many bytes are shown of data that can't be decoded.
const SHOWN_START: usize = 256;

/// Returns the limits for inspecting.
pub fn inspect_limits() -> Limits {
    let mut limits = payload::decode_limits();
    limits.nodes = MAX_NODES;
    limits.decompressed = MAX_DECOMPRESSED;
    limits
}

/// Bytes and their format.
pub struct Blob {
    pub bytes: Vec<u8>,
    pub format: Option<String>,
}

impl Blob {
    pub async fn load_job(app: &App, id: Id) -> Result<Blob, Failure> {
        let job = jobs::find_job(app, id).await?;
        Ok(Blob { bytes: job.bytes, format: job.format })
    }

    pub async fn load_object(app: &App, id: Id) -> Result<Blob, Failure> {
        let object = objects::find_object(app, id).await?;
        Ok(Blob { bytes: object.bytes, format: object.format })
    }

    /// Returns the stage of the bytes, detected if no format is recorded.
    pub fn find_stage(&self) -> Result<Stage, Error> {
        match &self.format {
            Some(format) => Stage::parse(format),
            None => detect::stage_of(&self.bytes),
        }
    }
}

pub async fn job(call: Call) -> Result<Response, Failure> {
    let blob = Blob::load_job(&call.app, call.parse_id()?).await?;
    respond_with_parts(call, blob).await
}

pub async fn object(call: Call) -> Result<Response, Failure> {
    let blob = Blob::load_object(&call.app, call.parse_id()?).await?;
    respond_with_parts(call, blob).await
}

async fn respond_with_parts(call: Call, mut blob: Blob) -> Result<Response, Failure> {
    let part_request = PartRequest {
        node: call.query.parse_number("node")?,
        skip: call.query.parse_number("skip")?.unwrap_or(0),
        depth: call.query.parse_number("depth")?.unwrap_or(3),
        items: call.limit_parameter("items", 100, 1_000)? as u64,
        rows: call.limit_parameter("limit", 500, 2_000)?,
        max_text_len: call.limit_parameter("longest", 1_000, 1 << 20)?,
    };
    let within = parse_node_numbers(call.query.get("within").unwrap_or_default())?;
    if let Some(format) = call.query.get("format") {
        Stage::parse(format).map_err(|error| Failure::from_decode_error(&error))?;
        blob.format = Some(format.to_owned());
    }
    let work = move |_: &mut ()| ok_response(&inspect_blob(&blob, &within, &part_request));
    Ok(call.app.decoders.submit_and_wait(call.app.settings.database_timeout, work).await?)
}

/// Parses node numbers separated by commas.
fn parse_node_numbers(text: &str) -> Result<Vec<u32>, Failure> {
    let parts: Vec<_> = text.split(',').filter(|part| !part.is_empty()).map(str::parse).collect();
    if parts.len() > deep::LEVELS as usize {
        let message = format!("at most {} levels of strings in strings can be opened", deep::LEVELS);
        return Err(Failure::invalid_request("parameter", message));
    }
    let invalid = |_| Failure::invalid_request("parameter", "within must be numbers separated by commas");
    parts.into_iter().collect::<Result<_, _>>().map_err(invalid)
}

/// Answer about a blob.
#[derive(Serialize)]
struct Inspection {
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

impl Inspection {
    fn from_error(bytes: &[u8], error: &Error) -> Inspection {
        Inspection {
            format: None,
            variant: String::new(),
            size: bytes.len(),
            part: Part::default(),
            error: error_to_json(error),
            start: Some(to_base64(&bytes[..bytes.len().min(SHOWN_START)])),
        }
    }
}

fn error_to_json(error: &Error) -> Option<serde_json::Value> {
    let mut description = serde_json::to_value(ErrorReport::from_error(error)).ok()?;
    description.as_object_mut()?.insert("message".to_owned(), message_for_clients(error).into());
    Some(description)
}

/// Bytes without their wrappers, and their stage.
struct UnwrappedBlob {
    bytes: Vec<u8>,
    stage: Stage,
}

impl UnwrappedBlob {
    fn unwrap_bytes(bytes: &[u8], stage: Stage, limits: &mut Limits) -> Result<UnwrappedBlob, Error> {
        let bytes = stage.unwrap_within(bytes, limits)?.bytes.into_owned();
        Ok(UnwrappedBlob { bytes, stage })
    }

    fn read_document(&self, limits: &Limits) -> Outcome<'_> {
        self.stage.format().read(&self.bytes, self.stage.settings(), Request::new(limits).salvaging())
    }

    /// Returns the data in the string of this node.
    fn unwrap_string_node(&self, node: u32, limits: &mut Limits) -> Result<UnwrappedBlob, Error> {
        let outcome = self.read_document(limits);
        let node_data = outcome.document.nodes().get(node as usize);
        let bytes = node_data.filter(|node| node.kind.is_string()).map(|node| outcome.document.bytes(node));
        let content = bytes.and_then(|bytes| Some((bytes, deep::stage_within(bytes, limits)?)));
        let (bytes, stage) = content.ok_or_else(|| {
            Error::new(ErrorKind::Format).expecting("a string that is frozen data").finding(format!("node {node}"))
        })?;
        UnwrappedBlob::unwrap_bytes(bytes, stage, limits)
    }
}

fn inspect_blob(blob: &Blob, within: &[u32], part_request: &PartRequest) -> Inspection {
    let mut limits = inspect_limits();
    let outermost = blob.find_stage().and_then(|stage| UnwrappedBlob::unwrap_bytes(&blob.bytes, stage, &mut limits));
    let innermost = within.iter().fold(outermost, |outer, node| outer?.unwrap_string_node(*node, &mut limits));
    let unwrapped = match innermost {
        Ok(unwrapped) => unwrapped,
        Err(error) => return Inspection::from_error(&blob.bytes, &error),
    };
    let outcome = unwrapped.read_document(&limits);
    let (bytes, error) = (&*unwrapped.bytes, outcome.error.as_ref());
    Inspection {
        format: Some(unwrapped.stage.name()),
        variant: (unwrapped.stage.format().detect)(bytes).map_or_else(String::new, |guess| guess.variant),
        size: bytes.len(),
        part: Part::from_document(&outcome.document, bytes, part_request),
        error: error.and_then(error_to_json),
        start: error.map(|_| to_base64(&bytes[..bytes.len().min(SHOWN_START)])),
    }
}
