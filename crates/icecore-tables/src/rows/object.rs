//! Rows that are JSON objects. Some of their strings are decoded. Everything else stays as it was written.

use super::decode::{RowDecoder, RowState, ValueOutcome};
use super::plan::JSON;
use super::text;
use super::words::{OnError, Text};
use icecore::{Cursor, Error, ErrorKind, Kind, Request, Stage, Value, raw::Tape};
use std::borrow::Cow;

/// Memory for the next row.
#[derive(Default)]
pub struct ObjectWriter {
    tape: Tape,
}

impl ObjectWriter {
    /// Writes the row in this line. Returns whether there is one.
    pub(super) fn write_row(
        &mut self,
        decoder: &mut RowDecoder,
        line: &[u8],
        row: &mut RowState<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        let line = line.trim_ascii();
        if line.is_empty() {
            return false;
        }
        let limits = decoder.plan.limits.clone();
        let request = Request { tape: std::mem::take(&mut self.tape), ..Request::new(&limits).detailed() };
        let Some(json) = icecore::format::by_name(JSON) else { return false };
        let mut stage = Stage::of(json);
        // The input is a row, even if it looks like typed JSON.
        let _ = stage.set("typed", Some("no"));
        let outcome = json.read(line, stage.settings(), request);
        let mut error = outcome.error.clone();
        let root = outcome.document.root();
        if error.is_none() && outcome.consumed < line.len() {
            error = Some(Error::trailing_bytes(line, outcome.consumed));
        }
        if error.is_none() && root.kind() != Kind::Map {
            error = Some(Error::new(ErrorKind::Malformed).at(0).expecting("an object").finding("another value"));
        }
        match error {
            Some(error) => write_broken_row(decoder, line, &json.explain(error).in_layer("row"), row, out),
            None => match find_reserved_key(decoder, root) {
                Some(error) => write_broken_row(decoder, line, &error, row, out),
                None => write_whole_row(decoder, line, root, row, out),
            },
        }
        self.tape = outcome.document.into_tape();
        true
    }
}

/// Returns an error if a key of the row has the name of one of our own members.
fn find_reserved_key(decoder: &RowDecoder, root: Cursor<'_>) -> Option<Error> {
    let own_names = || decoder.plan.constant_columns.iter().map(|(name, _)| name).chain(&decoder.plan.added_names);
    let is_own = |key: &[u8]| own_names().find(|name| name.as_bytes() == key);
    let name = root.entries().find_map(|(key, _)| is_own(key.bytes()))?;
    let error = Error::new(ErrorKind::Malformed).expecting("an object without a key of that name");
    Some(error.finding(format!("`{name}`, which is the name of a column that Icecore adds")))
}

/// Writes a row that is not an object as an error, with its text.
fn write_broken_row(decoder: &RowDecoder, line: &[u8], error: &Error, row: &mut RowState<'_>, out: &mut Vec<u8>) {
    let message = error.to_string();
    decoder.record_failure(0, error.kind().as_str(), message, row);
    if let Some(outcome) = row.outcomes.first_mut() {
        *outcome = ValueOutcome::Broken;
    }
    out.push(b'{');
    out.extend_from_slice(&decoder.plan.constant_json);
    let keeps_text = decoder.plan.on_error == OnError::Keep;
    if keeps_text {
        out.extend_from_slice(&text::format_json_key(&decoder.decoded_column_name(0)));
        if !text::write_json_string(line, out) {
            row.record_lost_bytes(decoder.plan.strict, || "the row".to_owned());
        }
    }
    decoder.write_own_members(row, !keeps_text, out);
    out.extend_from_slice(b"}\n");
}

/// Writes the text of the row, with decoded values in place of the strings.
fn write_whole_row(decoder: &mut RowDecoder, line: &[u8], root: Cursor<'_>, row: &mut RowState<'_>, out: &mut Vec<u8>) {
    let extent = |value: Cursor<'_>| {
        let extents = &root.document().trace()?.extents;
        extents.get(value.index() as usize).map(|extent| (extent.start as usize, extent.end as usize))
    };
    let plan = std::sync::Arc::clone(&decoder.plan);
    let mut offset = 0;
    if !plan.constant_json.is_empty() {
        out.push(b'{');
        out.extend_from_slice(&plan.constant_json);
        if root.is_empty() {
            out.pop();
        }
        offset = 1;
    }
    let mut found_columns = vec![false; plan.columns.len()];
    for (key, value) in root.entries() {
        let column = plan.columns.iter().position(|column| column.name.as_bytes() == key.bytes());
        let (Some(column), Some((start, end))) = (column, extent(value)) else { continue };
        found_columns[column] = true;
        let before = out.len();
        out.extend_from_slice(line.get(offset..start).unwrap_or(&[]));
        let outcome = match read_string(decoder, value) {
            Ok(bytes) if bytes.is_empty() && plan.empty_is_null => ValueOutcome::Null,
            Ok(bytes) => decoder.decode_value(column, &bytes, row, out),
            Err((outcome, message)) => {
                if let Some(message) = message {
                    decoder.record_failure(column, "row", message, row);
                }
                outcome
            }
        };
        row.outcomes[column] = outcome;
        match outcome {
            ValueOutcome::Decoded => offset = end,
            // The value stays as it is written.
            ValueOutcome::Text | ValueOutcome::Broken | ValueOutcome::Refused | ValueOutcome::Other
                if plan.on_error == OnError::Keep =>
            {
                out.truncate(before)
            }
            _ => {
                out.extend_from_slice(b"null");
                offset = end;
            }
        }
    }
    for (column, _) in found_columns.iter().enumerate().filter(|(_, is_found)| !**is_found) {
        row.tally.count_absent_key(&plan.columns[column].name);
    }
    let rest = line.get(offset..).unwrap_or(&[]);
    if plan.added_names.is_empty() || row.errors.is_empty() && !plan.has_kinds {
        out.extend_from_slice(rest);
    } else {
        out.extend_from_slice(rest.strip_suffix(b"}").unwrap_or(rest));
        decoder.write_own_members(row, root.is_empty() && plan.constant_columns.is_empty(), out);
        out.push(b'}');
    }
    out.push(b'\n');
}

/// Returns the bytes of a string to decode. For another value, the error has what became of the value, and a message
/// if this is a failure.
fn read_string<'v>(decoder: &RowDecoder, value: Cursor<'v>) -> Result<Cow<'v, [u8]>, (ValueOutcome, Option<String>)> {
    let keeps_values = decoder.plan.on_error == OnError::Keep;
    let bytes = match value.value() {
        Value::Null => return Err((ValueOutcome::Null, None)),
        Value::Text(bytes) | Value::Bytes(bytes) => bytes,
        _ if keeps_values => return Err((ValueOutcome::Other, None)),
        _ => return Err((ValueOutcome::Broken, Some("expected a string, found another value".to_owned()))),
    };
    if bytes.is_empty() || decoder.plan.text == Text::Utf8 {
        return Ok(bytes.into());
    }
    let text = String::from_utf8_lossy(bytes);
    let latin1: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    match latin1 {
        Some(latin1) => Ok(latin1.into()),
        // Such characters are not bytes.
        None if keeps_values => Err((ValueOutcome::Text, None)),
        None => {
            let message = "expected characters up to U+00FF (--text latin1), found one beyond".to_owned();
            Err((ValueOutcome::Broken, Some(message)))
        }
    }
}
