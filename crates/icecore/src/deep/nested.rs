//! Detects and reads frozen data in a string.

use crate::document::{Document, Kind};
use crate::error::{Error, ErrorKind};
use crate::format::{self, Evidence as FormatEvidence, Format, Request};
use crate::limits::Limits;
use crate::options::Settings;
use crate::stage::Stage;
use crate::wrap::{self, Wrapper, WrapperEvidence};
use std::borrow::Cow;

/// Maximum number of wrappers that are removed.
const MAX_WRAPPERS: u32 = 4;

/// Number of content bytes that are examined before everything is unwrapped.
const SAMPLE_LEN: usize = 1 << 10;

/// The value in a string.
pub(super) struct Nested<'b> {
    pub(super) stage: Stage,
    pub(super) document: Document<'b>,
}

/// Returns the stage that reads all of these bytes, if they count as frozen data inside something else: see [the
/// module](crate::deep).
///
/// ```
/// use icecore::{Limits, deep};
/// let stage = |text: &str| deep::stage_of(text.as_bytes(), &Limits::default()).map(|stage| stage.format().name);
/// assert_eq!(stage(r#"a:1:{i:0;s:1:"x";}"#), Some("php"));
/// assert_eq!(stage(r#"{"a": 1}"#), Some("json"));
/// assert_eq!(stage("i:5;"), Some("php"));
/// assert_eq!((stage("5"), stage("[]"), stage("a:1:{broken")), (None, None, None));
/// ```
pub fn stage_of(bytes: &[u8], limits: &Limits) -> Option<Stage> {
    stage_within(bytes, &mut limits.clone())
}

/// Like [`stage_of`], for many strings: decompressed data of one string reduces [`Limits::decompressed`] for the next.
pub fn stage_within(bytes: &[u8], limits: &mut Limits) -> Option<Stage> {
    read_nested_within(bytes, limits, MAX_WRAPPERS).ok().flatten().map(|nested| nested.stage)
}

/// Reads the value in these bytes. An error means that a limit was reached in data that was valid so far. Decompressed
/// data is subtracted from the limits even if it was not used, because there may be many strings.
pub(super) fn read_nested<'b>(bytes: &'b [u8], limits: &mut Limits) -> Result<Option<Nested<'b>>, Error> {
    read_nested_within(bytes, limits, MAX_WRAPPERS)
}

fn read_nested_within<'b>(bytes: &'b [u8], limits: &mut Limits, wrappers: u32) -> Result<Option<Nested<'b>>, Error> {
    if bytes.len() < 2 {
        return Ok(None);
    }
    for format in format::all() {
        if !is_candidate(format, bytes) {
            continue;
        }
        let outcome = format.read(bytes, &Settings::new(), Request::new(limits));
        let spent = outcome.error.as_ref().map_or(0, Error::decompressed_bytes);
        let body = outcome.document.input().len().saturating_sub(bytes.len());
        limits.decompressed = limits.decompressed.saturating_sub(spent + body as u64);
        match outcome.into_whole_document(bytes, format) {
            Ok(document) if is_convincing(format, &document) => {
                return Ok(Some(Nested { stage: Stage::of(format), document }));
            }
            // A text with many brackets is not JSON until all of it was read.
            Err(error) if error.kind() == ErrorKind::Limit && format.can.evidence != FormatEvidence::Whole => {
                return Err(error);
            }
            _ => {}
        }
    }
    let Some(remaining) = wrappers.checked_sub(1) else { return Ok(None) };
    for wrapper in wrap::all().iter().copied().filter(|wrapper| (wrapper.detect)(bytes)) {
        if let Some(nested) = read_wrapped_content(wrapper, bytes, limits, remaining)? {
            return Ok(Some(nested));
        }
    }
    Ok(None)
}

/// Reads the content of this wrapper.
fn read_wrapped_content<'b>(
    wrapper: &'static Wrapper,
    bytes: &'b [u8],
    limits: &mut Limits,
    remaining: u32,
) -> Result<Option<Nested<'b>>, Error> {
    if wrapper.evidence != WrapperEvidence::Envelope && !is_promising(wrapper, bytes, remaining) {
        return Ok(None);
    }
    let settings = wrapper.settings_for(bytes);
    let unwrapped = match (wrapper.unwrap)(bytes, &settings, limits) {
        Ok(unwrapped) => unwrapped,
        Err(error) if error.kind() == ErrorKind::Limit => return Err(error),
        Err(error) => {
            limits.decompressed = limits.decompressed.saturating_sub(error.decompressed_bytes());
            return Ok(None);
        }
    };
    if unwrapped.bytes.len() > bytes.len() {
        limits.decompressed = limits.decompressed.saturating_sub(unwrapped.bytes.len() as u64);
    }
    let nested = match &unwrapped.bytes {
        Cow::Borrowed(bytes) => read_nested_within(bytes, limits, remaining)?,
        Cow::Owned(bytes) => read_nested_within(bytes, limits, remaining)?
            .map(|nested| Nested { stage: nested.stage, document: nested.document.into_owned() }),
    };
    Ok(nested.map(|Nested { stage, document }| Nested { stage: stage.wrapped_in(wrapper, settings), document }))
}

/// Returns `true` if the beginning of the content may be frozen data: many words look like Base64, but most strings are
/// not.
fn is_promising(wrapper: &Wrapper, bytes: &[u8], remaining: u32) -> bool {
    let Some(head) = wrapper.content_head(bytes, true, SAMPLE_LEN) else { return false };
    let content = &*head.bytes;
    let is_other = |other: &&'static Wrapper| remaining > 0 && (other.detect)(content);
    format::all().iter().any(|format| is_possible(format, content)) || wrap::all().iter().any(is_other)
}

/// Like [`is_candidate`], for bytes that may be truncated.
fn is_possible(format: &Format, bytes: &[u8]) -> bool {
    format.detect_in_string.map_or_else(|| (format.detect)(bytes).is_some(), |inside| inside(bytes))
}

/// Returns `true` if the bytes look enough like this format to try to read them. Text formats without a signature are
/// certain after all of the text was read.
fn is_candidate(format: &Format, bytes: &[u8]) -> bool {
    format.detect_in_string.map_or_else(|| format.is_likely(bytes), |inside| inside(bytes))
}

/// Returns `true` unless this is an empty array in a format that only the whole text can confirm: that is probably
/// not data.
fn is_convincing(format: &Format, document: &Document<'_>) -> bool {
    let root = document.root();
    format.can.evidence != FormatEvidence::Whole || root.kind() != Kind::Array || !root.is_empty()
}
