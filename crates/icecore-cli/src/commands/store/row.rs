//! Formats an object as a line of JSON or as a row of a table.

use crate::json;
use crate::paint::{Ink, Paint};
use crate::terminal;
use icecore_store::describe::Decoder;
use icecore_store::{Id, LentObject, time};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// The metadata of an object, which precede its value in JSON.
#[derive(Serialize)]
struct ObjectHead<'o> {
    #[serde(serialize_with = "serialize_id")]
    id: Id,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'o str>,
    stored_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    format: Option<&'o str>,
    class: Option<&'o str>,
    size: usize,
    checksum: &'o str,
}

fn serialize_id<S: Serializer>(id: &Id, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

impl<'o> ObjectHead<'o> {
    fn from_object(object: &'o LentObject<'_>) -> ObjectHead<'o> {
        ObjectHead {
            id: object.id,
            key: object.key.as_deref(),
            stored_at: time::format_utc(object.stored_at),
            expires_at: object.expires_at.map(time::format_utc),
            format: object.format.as_deref(),
            class: object.class.as_deref(),
            size: object.bytes.len(),
            checksum: &object.checksum,
        }
    }
}

/// Appends an object as a line of JSON, with the fields of an [`ObjectRow`]. Its value is decoded directly into the
/// output. Returns the problem of an object that can't be decoded and is not marked yet.
pub fn push_line(
    object: &LentObject<'_>,
    decoder: &mut Decoder,
    out: &mut Vec<u8>,
) -> serde_json::Result<Option<String>> {
    push_head(object, out)?;
    out.extend_from_slice(b",\"value\":");
    let decode_result = match object.format.as_deref() {
        Some(format) => decoder.append_json_line(&object.bytes, format, out).map(|()| true),
        None => Ok(false),
    };
    if decode_result != Ok(true) {
        out.extend_from_slice(b"null");
    }
    let decode_error = decode_result.err();
    if let Some(problem) = decode_error.as_deref().or(object.problem.as_deref()) {
        out.extend_from_slice(b",\"problem\":");
        json::push_value(&problem, out)?;
    }
    out.extend_from_slice(b"}\n");
    Ok(decode_error.filter(|_| object.problem.is_none()))
}

/// Appends the fields of an [`ObjectHead`] without the closing brace. This does not use the serializer, which would
/// examine each byte of ids, times and checksums in each of many lines.
fn push_head(object: &LentObject<'_>, out: &mut Vec<u8>) -> serde_json::Result<()> {
    fn push_text_field(name: &str, text: Option<&str>, out: &mut Vec<u8>) -> serde_json::Result<()> {
        out.extend_from_slice(name.as_bytes());
        match text {
            Some(text) => json::push_text(text, out),
            None => json::push_value(&(), out),
        }
    }
    let ObjectHead { id, key, stored_at, expires_at, format, class, size, checksum } = ObjectHead::from_object(object);
    push_text_field("{\"id\":", Some(&id.to_string()), out)?;
    if key.is_some() {
        push_text_field(",\"key\":", key, out)?;
    }
    push_text_field(",\"stored_at\":", Some(&stored_at), out)?;
    if expires_at.is_some() {
        push_text_field(",\"expires_at\":", expires_at.as_deref(), out)?;
    }
    push_text_field(",\"format\":", format, out)?;
    push_text_field(",\"class\":", class, out)?;
    out.extend_from_slice(b",\"size\":");
    json::push_value(&size, out)?;
    push_text_field(",\"checksum\":", Some(checksum), out)
}

/// An object with its value.
#[derive(Serialize)]
pub struct ObjectRow<'o> {
    #[serde(flatten)]
    head: ObjectHead<'o>,
    value: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

impl ObjectRow<'_> {
    /// Decodes an object. Also returns the problem of an object that can't be decoded and is not marked yet.
    pub fn from_object<'o>(object: &'o LentObject<'_>, decoder: &mut Decoder) -> (ObjectRow<'o>, Option<String>) {
        let (value, decode_error) = match decode_value(object, decoder) {
            Ok(value) => (value, None),
            Err(problem) => (None, Some(problem)),
        };
        let problem = decode_error.clone().or_else(|| object.problem.as_deref().map(str::to_owned));
        let row = ObjectRow { head: ObjectHead::from_object(object), value, problem };
        (row, decode_error.filter(|_| object.problem.is_none()))
    }

    /// Returns the object as a row of a table, or as two lines on a narrow terminal.
    pub fn format_row(&self, paint: Paint, is_narrow: bool) -> String {
        let value = match (&self.value, &self.problem) {
            (Some(value), _) => {
                icecore::text::printable(&icecore::text::shortened(value.get(), MAX_VALUE_LEN)).into_owned()
            }
            (None, Some(problem)) => paint.ink(Ink::Bad, icecore::text::shortened(problem, MAX_VALUE_LEN)),
            (None, None) => String::new(),
        };
        format!(
            "{}  {:16}  {:12}  {:>9}{}{}  {}  {value}\n",
            self.head.id,
            icecore::text::printable(&icecore::text::shortened(self.head.key.unwrap_or("-"), 40)),
            icecore::text::printable(self.head.format.unwrap_or("-")),
            self.head.size,
            terminal::row_separator(is_narrow),
            paint.ink(Ink::Faint, &self.head.stored_at),
            paint.column(Ink::Class, icecore::text::shortened(self.head.class.unwrap_or("-"), 60), 20),
        )
    }
}

/// Maximum number of characters of a value in a table.
const MAX_VALUE_LEN: usize = 80;

/// Returns the header of a table.
pub fn format_header(paint: Paint, is_narrow: bool) -> String {
    let first_part = format!("{:36}  {:16}  {:12}  {:>9}", "ID", "KEY", "FORMAT", "BYTES");
    let second_part = format!("{:24}  {:20}  VALUE", "STORED AT", "CLASS");
    format!(
        "{}\n",
        paint.ink(Ink::Faint, first_part) + terminal::row_separator(is_narrow) + &paint.ink(Ink::Faint, second_part)
    )
}

fn decode_value(object: &LentObject<'_>, decoder: &mut Decoder) -> Result<Option<Box<RawValue>>, String> {
    let value = decoder.decode_to_json(&object.bytes, object.format.as_deref())?;
    value.map(RawValue::from_string).transpose().map_err(|error| error.to_string())
}
