//! Rows that are JSON objects. Some of their strings are decoded. Everything else stays as it was written.

use super::batch::{Batch, CellKind};
use super::decode::{RowDecoder, RowState, ValueOutcome};
use super::text;
use super::words::{OnError, Text};
use icecore::format::{Format, Outcome, Request};
use icecore::{Cursor, Error, ErrorKind, Kind, Limits, Stage, Value, raw::Tape};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// Memory for the next row.
#[derive(Default)]
pub struct ObjectWriter {
    tape: Tape,
    /// The values of a row as the cells of a table.
    cells: Batch,
    /// The positions of the columns of the table, by name.
    positions: HashMap<Vec<u8>, usize>,
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
        let plan = Arc::clone(&decoder.plan);
        let (outcome, error) = read_object(line, &plan.row_stage, &plan.limits, std::mem::take(&mut self.tape));
        let root = outcome.document.root();
        let is_table = plan.is_table_of_objects();
        let mut is_written = true;
        match error {
            Some(error) if is_table => {
                is_written = write_broken_table_row(decoder, &error, row, out);
            }
            Some(error) => write_broken_row(decoder, line, &error, row, out),
            None if is_table => self.write_table_row(decoder, line, root, row, out),
            None => match find_reserved_key(decoder, root) {
                Some(error) => write_broken_row(decoder, line, &error, row, out),
                None => write_whole_row(decoder, line, root, row, out),
            },
        }
        self.tape = outcome.document.into_tape();
        is_written
    }

    /// Writes the values of an object as a line of a table, in the order of its columns.
    fn write_table_row(
        &mut self,
        decoder: &mut RowDecoder,
        line: &[u8],
        root: Cursor<'_>,
        row: &mut RowState<'_>,
        out: &mut Vec<u8>,
    ) {
        let plan = Arc::clone(&decoder.plan);
        self.cells.clear();
        let mut values = vec![None; plan.names.len()];
        if self.positions.is_empty() {
            self.positions =
                plan.names.iter().zip(0..).map(|(name, position)| (name.clone().into_bytes(), position)).collect();
        }
        // Keys are mostly in the order of the columns.
        let (mut expected, mut late_key) = (0, None);
        for (key, value) in root.entries() {
            let is_next = plan.names.get(expected).is_some_and(|name| name.as_bytes() == key.bytes());
            match if is_next { Some(expected) } else { self.positions.get(key.bytes()).copied() } {
                Some(position) => {
                    values[position] = Some(value);
                    expected = position + 1;
                }
                None => late_key = late_key.or(Some(key.bytes())),
            }
        }
        if let Some(key) = late_key {
            row.tally.count_late_key(row.number, String::from_utf8_lossy(key).into_owned());
        }
        for (position, value) in values.into_iter().enumerate() {
            let column = plan.columns.iter().find(|column| column.position == Some(position));
            let start = self.cells.bytes.len();
            let kind = match value.map(|value| (value, value.value())) {
                None => {
                    column.into_iter().for_each(|column| row.tally.count_absent_key(&column.name));
                    CellKind::Absent
                }
                Some((_, Value::Null)) => CellKind::Null,
                Some((value, Value::Text(text) | Value::Bytes(text))) => {
                    let bytes = column.and_then(|_| read_string(decoder, value).ok());
                    self.cells.bytes.extend_from_slice(&bytes.unwrap_or_else(|| text.into()));
                    CellKind::Text
                }
                Some((value, _)) => {
                    let (start, end) = find_extent(root, value).unwrap_or_default();
                    self.cells.bytes.extend_from_slice(line.get(start..end).unwrap_or_default());
                    CellKind::Plain
                }
            };
            self.cells.push_cell(start, kind);
        }
        decoder.write_table_row(&self.cells, &self.cells.cells, row, out);
    }
}

/// Returns the stage that reads rows: a row is an object, even if it looks like typed JSON.
pub(super) fn row_stage(json: &'static Format) -> Stage {
    let mut stage = Stage::of(json);
    // JSON has this option.
    let _ = stage.set("typed", Some("no"));
    stage
}

/// Reads a row. Its strings have their places in the line.
fn read_object<'l>(line: &'l [u8], stage: &Stage, limits: &Limits, tape: Tape) -> (Outcome<'l>, Option<Error>) {
    let request = Request { tape, ..Request::new(limits).detailed() };
    let outcome = stage.format().read(line, stage.settings(), request);
    let mut error = outcome.error.clone();
    if error.is_none() && outcome.consumed < line.len() {
        error = Some(Error::trailing_bytes(line, outcome.consumed));
    }
    if error.is_none() && outcome.document.root().kind() != Kind::Map {
        error = Some(Error::new(ErrorKind::Malformed).at(0).expecting("an object").finding("another value"));
    }
    (outcome, error.map(|error| stage.format().explain(error).in_layer("row")))
}

/// Calls `visit` with each key of the object in a line, if there is one.
pub(super) fn visit_keys(line: &[u8], stage: &Stage, limits: &Limits, mut visit: impl FnMut(&[u8])) {
    if let (outcome, None) = read_object(line, stage, limits, Tape::default()) {
        outcome.document.root().entries().for_each(|(key, _)| visit(key.bytes()));
    }
}

/// Returns the place of a value in its line.
fn find_extent(root: Cursor<'_>, value: Cursor<'_>) -> Option<(usize, usize)> {
    let extents = &root.document().trace()?.extents;
    extents.get(value.index() as usize).map(|extent| (extent.start as usize, extent.end as usize))
}

/// Writes a line that is not an object as a row of a table that has only the error message. Returns false if no column
/// has it.
fn write_broken_table_row(decoder: &mut RowDecoder, error: &Error, row: &mut RowState<'_>, out: &mut Vec<u8>) -> bool {
    decoder.record_failure(0, error.kind().as_str(), error.to_string(), row);
    let mut cells = Batch::default();
    for _ in &decoder.plan.names {
        cells.push_cell(0, CellKind::Absent);
    }
    if let Some(outcome) = row.outcomes.first_mut() {
        *outcome = ValueOutcome::Broken;
    }
    decoder.write_table_row(&cells, &cells.cells, row, out);
    !decoder.plan.columns.is_empty()
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
    let plan = Arc::clone(&decoder.plan);
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
        let (Some(column), Some((start, end))) = (column, find_extent(root, value)) else { continue };
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
