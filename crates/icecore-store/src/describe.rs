//! Descriptions of bytes that are to be stored, made by the engine.

use crate::error::{Error, ErrorKind, Result};
use crate::job::NewJob;
use crate::object::{BlobDescription, NewObject};
use icecore::raw::Spare;
use icecore::{Converter, Cursor, Document, Limits, Output, Stage, Value, detect};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;

/// Returns the limits for decoding. A store receives untrusted data.
fn decode_limits() -> Limits {
    let mut limits = Limits::default();
    limits.depth = 1_000;
    limits
}

/// Describes bytes. `format` names their format, such as `base64/marshal`; without it the format is detected. Bytes
/// that can't be decoded get a description too, with the problem.
///
/// ```
/// use icecore_store::describe::describe;
/// let description = describe(b"a:1:{i:0;i:7;}", None);
/// assert_eq!((description.format.as_deref(), description.json.as_deref()), (Some("php"), Some("[7]")));
/// let description = describe(b"\x04\x08[", Some("marshal"));
/// assert!(description.format.is_none() && description.problem.is_some());
/// ```
pub fn describe(bytes: &[u8], format: Option<&str>) -> BlobDescription {
    let mut description = BlobDescription { checksum: compute_checksum(bytes), ..BlobDescription::default() };
    if let Err(error) = decode_into(bytes, format, &mut description) {
        description.problem = Some(describe_problem(&error));
    }
    description
}

/// Creates an object from these bytes.
pub fn describe_object(bytes: Vec<u8>, format: Option<&str>) -> NewObject {
    let description = describe(&bytes, format);
    NewObject { bytes, description, ..NewObject::default() }
}

/// Creates a job with these bytes as its payload.
pub fn describe_job(queue: &str, bytes: Vec<u8>, format: Option<&str>) -> NewJob {
    let description = describe(&bytes, format);
    NewJob::new(queue, bytes, description)
}

/// Decodes a blob, and adds what it shows to a description.
fn decode_into(
    bytes: &[u8],
    format: Option<&str>,
    description: &mut BlobDescription,
) -> std::result::Result<(), icecore::Error> {
    let stage = match format {
        Some(format) => Stage::parse(format)?,
        None => detect::stage_of(bytes)?,
    };
    let limits = decode_limits();
    let document = icecore::read_as(bytes, &stage, &limits)?;
    let name = stage.to_string();
    let is_json = name == "json";
    if !is_json {
        description.json = Some(document_to_json(&document, &limits)?);
    }
    let text = |bytes: &[u8]| without_nul(&String::from_utf8_lossy(bytes)).into_owned();
    let class = document.root().class();
    description.class = (!class.is_empty()).then(|| text(class));
    description.classes = document.classes().into_iter().map(|class| text(&class.name)).collect();
    description.classes.sort_unstable();
    description.classes.dedup();
    description.format = Some(name);
    Ok(())
}

fn json_stage() -> Stage {
    Stage::parse("json:cycles=null").unwrap_or_else(|_| unreachable!("the engine has JSON"))
}

fn document_to_json(document: &Document<'_>, limits: &Limits) -> std::result::Result<String, icecore::Error> {
    let mut out = Vec::new();
    icecore::write_to(document, &json_stage(), limits, &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Returns why bytes can't be decoded. The advice to raise a limit is left out, because the limits of the store are
/// fixed.
fn describe_problem(error: &icecore::Error) -> String {
    let text = error.to_string();
    match error.help().filter(|_| error.kind() == icecore::ErrorKind::Limit) {
        Some(help) => without_nul(&text.replace(&format!(" ({help})"), "")).into_owned(),
        None => without_nul(&text).into_owned(),
    }
}

/// Replaces U+0000 by U+FFFD, because some databases do not accept U+0000 in a text.
pub(crate) fn without_nul(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => Cow::Owned(text.replace('\0', "\u{fffd}")),
        false => Cow::Borrowed(text),
    }
}

/// Returns the SHA-256 of bytes in hexadecimal digits.
pub fn compute_checksum(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Decodes objects to JSON, one line for each.
#[derive(Default)]
pub struct Decoder {
    converters: HashMap<String, Converter>,
    spare: Spare,
}

/// Output buffer of a document, with spare memory of the writer for the next document.
struct JsonLine<'l> {
    bytes: &'l mut Vec<u8>,
    spare: &'l mut Spare,
}

impl Output for JsonLine<'_> {
    fn buffer(&mut self) -> &mut Vec<u8> {
        self.bytes
    }

    fn take_spare(&mut self) -> Spare {
        std::mem::take(self.spare)
    }

    fn return_spare(&mut self, spare: Spare) {
        *self.spare = spare;
    }
}

impl Decoder {
    /// Returns the value of these bytes as JSON, or `None` if their format is unknown.
    ///
    /// # Errors
    /// As for [`Decoder::append_json_line`].
    pub fn decode_to_json(
        &mut self,
        bytes: &[u8],
        format: Option<&str>,
    ) -> std::result::Result<Option<String>, String> {
        let Some(format) = format else { return Ok(None) };
        let mut json = Vec::new();
        self.append_json_line(bytes, format, &mut json)?;
        String::from_utf8(json).map(Some).map_err(|error| error.to_string())
    }

    /// Appends the value of these bytes as one line of JSON.
    ///
    /// # Errors
    /// The problem as text, if the bytes can't be decoded.
    pub fn append_json_line(
        &mut self,
        bytes: &[u8],
        format: &str,
        out: &mut Vec<u8>,
    ) -> std::result::Result<(), String> {
        let start = out.len();
        let mut line = JsonLine { bytes: out, spare: &mut self.spare };
        if let Some(converter) = self.converters.get_mut(format)
            && convert_whole_input(converter, bytes, &mut line).is_ok()
        {
            return Ok(());
        }
        // A converter's memory limit covers all its documents, so one that was used for long may fail too early. A
        // new one decides.
        line.bytes.truncate(start);
        let stage = Stage::parse(format).map_err(|error| error.to_string())?;
        let mut converter = Converter::new(stage, json_stage()).limited(&decode_limits());
        let result = convert_whole_input(&mut converter, bytes, &mut line);
        if result.is_ok() {
            self.converters.insert(format.to_owned(), converter);
        } else {
            out.truncate(start);
        }
        result
    }
}

fn convert_whole_input(
    converter: &mut Converter,
    bytes: &[u8],
    out: &mut JsonLine<'_>,
) -> std::result::Result<(), String> {
    let conversion = converter.convert(bytes, out);
    conversion.written.map_err(|error| error.to_string())?;
    match bytes.get(conversion.consumed..).is_some_and(|rest| rest.iter().all(u8::is_ascii_whitespace)) {
        true => Ok(()),
        false => Err(format!("there are bytes after the document, from offset {}", conversion.consumed)),
    }
}

/// Returns the scalar values at these paths of a document, as indexes store them. Decodes the document once for all
/// paths.
pub(crate) fn find_index_values<'p>(bytes: &[u8], format: Option<&str>, paths: &'p [String]) -> Vec<(&'p str, String)> {
    let stage = format.filter(|_| !paths.is_empty()).and_then(|format| Stage::parse(format).ok());
    let Some(document) = stage.and_then(|stage| icecore::read_as(bytes, &stage, &decode_limits()).ok()) else {
        return Vec::new();
    };
    let value = |path: &str| index_form_of_scalar(&document.find(path).ok()?);
    paths.iter().filter_map(|path| Some((&**path, value(path)?))).collect()
}

/// Returns the index form of a value that a user searches for. Text that is not JSON counts as a string.
pub(crate) fn parse_wanted_value(json: &str) -> Result<String> {
    let value = match icecore::read_as(json.as_bytes(), &json_stage(), &decode_limits()) {
        Ok(document) => index_form_of_scalar(&document.root()),
        Err(_) => Some(index_form_of_text(json.as_bytes())),
    };
    value.ok_or_else(|| Error::new(ErrorKind::Input, "objects can be found by a text, a number, true, false or null"))
}

/// Returns the index form of a text. A long text, or one that not all databases accept, is replaced by its checksum.
fn index_form_of_text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= 200 && !text.contains('\0') => format!("text {text}"),
        _ => format!("long {}", compute_checksum(bytes)),
    }
}

fn index_form_of_scalar(value: &Cursor<'_>) -> Option<String> {
    let mut value = value.target();
    // Unwraps values with attributes. They may be nested, and the limit ends the loop in any case.
    for _ in 0..16 {
        let Value::Attrs(inner) = value.value() else { break };
        value = inner.target();
    }
    if let Some(bytes) = value.as_bytes() {
        return Some(index_form_of_text(bytes));
    }
    match value.value() {
        Value::Null => Some("null".to_owned()),
        Value::Bool(is_true) => Some(is_true.to_string()),
        Value::Int(number) => Some(format!("number {number}")),
        Value::Uint(number) => Some(format!("number {number}")),
        Value::BigInt(number) => Some(index_form_of_integer(number.negative, number.magnitude)),
        Value::Float(number) => Some(index_form_of_float(number)),
        _ => None,
    }
}

/// Returns the index form of a float. A whole number is written as an integer, so that 7.0 and 7 are equal.
fn index_form_of_float(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude.fract() != 0.0 || magnitude >= 2f64.powi(128) {
        // In exponent form, because the digits of such a number can be more than 300.
        return format!("number {number:e}");
    }
    index_form_of_integer(number < 0.0, &(magnitude as u128).to_le_bytes())
}

/// Returns the index form of an integer with its magnitude in little-endian order. Above 128 bits, the checksum of
/// the magnitude is used.
fn index_form_of_integer(is_negative: bool, magnitude: &[u8]) -> String {
    let len = magnitude.len() - magnitude.iter().rev().take_while(|byte| **byte == 0).count();
    let sign = if is_negative { "-" } else { "" };
    if len > 16 {
        return format!("big {sign}{}", compute_checksum(&magnitude[..len]));
    }
    let mut bytes = [0; 16];
    bytes[..len].copy_from_slice(&magnitude[..len]);
    format!("number {sign}{}", u128::from_le_bytes(bytes))
}

/// Checks that a path can be indexed.
pub(crate) fn check_path(path: &str) -> Result<()> {
    if !path.starts_with('$') || path.len() > 200 || path.contains('\0') {
        let text = format!("a path begins with $, such as $.user.id, and has at most 200 bytes: {path:?}");
        return Err(Error::new(ErrorKind::Input, text));
    }
    Document::check_path(path).map_err(|error| Error::new(ErrorKind::Input, error.to_string()))
}
