//! Rows that are objects of JSON: some of their strings are decoded, all else stays
//! as it was written.

use super::decode::{Decoder, Row};
use super::plan::{OnError, Text};
use super::text;
use icecore::{Cursor, Error, ErrorKind, Kind, Request, Stage, Tape, Value};
use std::borrow::Cow;

/// Memory for the next row.
#[derive(Default)]
pub struct Object {
    tape: Tape,
}

impl Object {
    /// Writes the row in this line. Says whether there is one.
    pub(super) fn row(&mut self, decoder: &mut Decoder, line: &[u8], row: &mut Row<'_>, out: &mut Vec<u8>) -> bool {
        let line = line.trim_ascii();
        if line.is_empty() {
            return false;
        }
        let limits = decoder.plan.limits.clone();
        let request = Request { tape: std::mem::take(&mut self.tape), ..Request::new(&limits).detailed() };
        let Some(json) = icecore::format::by_name("json") else { return false };
        let mut stage = Stage::of(json);
        // Whatever it says of itself, it is a row.
        let _ = stage.set("typed", Some("no"));
        let outcome = (json.read)(line, stage.settings(), request);
        let mut error = outcome.error.clone();
        let root = outcome.document.root();
        if error.is_none() && outcome.consumed < line.len() {
            error = Some(icecore::behind(line, outcome.consumed));
        }
        if error.is_none() && root.kind() != Kind::Map {
            error = Some(Error::new(ErrorKind::Malformed).at(0).expecting("an object").finding("another value"));
        }
        match error {
            Some(error) => broken(decoder, &error.in_format("json"), row, out),
            None => whole(decoder, line, root, row, out),
        }
        self.tape = outcome.document.into_tape();
        true
    }
}

/// A row that is no object is in the output as an error alone.
fn broken(decoder: &Decoder, error: &Error, row: &mut Row<'_>, out: &mut Vec<u8>) {
    let message = error.clone().in_layer("row").to_string();
    decoder.fail(0, error.kind().as_str(), message.clone(), row);
    out.push(b'{');
    out.extend_from_slice(&text::key(&format!("{}_error", decoder.name(0))));
    text::string(message.as_bytes(), out);
    out.extend_from_slice(b"}\n");
}

/// The text of the row, with the decoded values in the place of the strings.
fn whole(decoder: &mut Decoder, line: &[u8], root: Cursor<'_>, row: &mut Row<'_>, out: &mut Vec<u8>) {
    let extent = |value: Cursor<'_>| {
        let extents = &root.document().trace()?.extents;
        extents.get(value.index() as usize).map(|extent| (extent.start as usize, extent.end as usize))
    };
    let plan = std::sync::Arc::clone(&decoder.plan);
    let mut at = 0;
    let mut seen = vec![false; plan.columns.len()];
    for (key, value) in root.entries() {
        let column = plan.columns.iter().position(|column| column.name.as_bytes() == key.bytes());
        let (Some(column), Some((start, end))) = (column, extent(value)) else { continue };
        seen[column] = true;
        let Some(bytes) = string(decoder, column, value, row) else {
            if value.kind() != Kind::Null {
                out.extend_from_slice(line.get(at..start).unwrap_or(&[]));
                out.extend_from_slice(b"null");
                at = end;
            }
            continue;
        };
        out.extend_from_slice(line.get(at..start).unwrap_or(&[]));
        decoder.decode(column, &bytes, row, out);
        at = end;
    }
    for (column, _) in seen.iter().enumerate().filter(|(_, seen)| !**seen) {
        decoder.fail(column, "row", "the row has no such key".to_owned(), row);
    }
    let rest = line.get(at..).unwrap_or(&[]);
    if row.errors.is_empty() || plan.on_error != OnError::Null {
        out.extend_from_slice(rest);
    } else {
        out.extend_from_slice(rest.strip_suffix(b"}").unwrap_or(rest));
        for (position, (column, message)) in row.errors.iter().enumerate() {
            if position > 0 || !root.is_empty() {
                out.push(b',');
            }
            out.extend_from_slice(&text::key(&format!("{}_error", decoder.name(*column))));
            text::string(message.as_bytes(), out);
        }
        out.push(b'}');
    }
    out.push(b'\n');
}

/// The bytes of a string to decode. `None` for null, and for what is no string.
fn string<'v>(decoder: &Decoder, column: usize, value: Cursor<'v>, row: &mut Row<'_>) -> Option<Cow<'v, [u8]>> {
    let bytes = match value.value() {
        Value::Null => return None,
        Value::Text(bytes) | Value::Bytes(bytes) => bytes,
        _ => {
            decoder.fail(column, "row", "expected a string, found another value".to_owned(), row);
            return None;
        }
    };
    if bytes.is_empty() || decoder.plan.text == Text::Utf8 {
        return Some(bytes.into());
    }
    let text = String::from_utf8_lossy(bytes);
    let latin1: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    if latin1.is_none() {
        let message = "expected characters up to U+00FF (--text latin1), found one beyond".to_owned();
        decoder.fail(column, "row", message, row);
    }
    latin1.map(Cow::Owned)
}
