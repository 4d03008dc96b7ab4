//! Decoding the values of rows, and writing the rows.

use super::batch::{Batch, Cell, CellKind};
use super::column::ColumnSpec;
use super::object::ObjectWriter;
use super::plan::{OutputForm, Plan, error_column_name, kind_column_name};
use super::text;
use super::words::{Bytea, OnError, TableForm};
use crate::record_converter::RecordConverter;
use crate::tally::{LOSS, REFUSED, RecordError, Tally};
use icecore::{Error, ErrorKind, LossKind, Losses, Stage, deep};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The decoders of a thread. There is one for each recently used plan.
#[derive(Default)]
pub struct Decoders {
    by_plan: Vec<RowDecoder>,
}

impl Decoders {
    /// Maximum number of plans that are kept.
    const MAX_PLANS: usize = 32;

    /// Decodes the rows of a batch, and writes them into it.
    pub fn decode_batch(&mut self, batch: &mut Batch) {
        #[cfg(feature = "columns")]
        if let Err(reason) = super::columnar::expand_record(batch) {
            batch.error = Some(reason);
            return;
        }
        let plans = std::mem::take(&mut batch.plans);
        for (index, (start, plan)) in plans.iter().enumerate() {
            let end = plans.get(index + 1).map_or(batch.row_count(), |next| next.0);
            if !self.decoder_for(plan).decode_rows(batch, *start..end) {
                break;
            }
        }
        batch.plans = plans;
    }

    fn decoder_for(&mut self, plan: &Arc<Plan>) -> &mut RowDecoder {
        let index = self.by_plan.iter().position(|decoder| Arc::ptr_eq(&decoder.plan, plan)).unwrap_or_else(|| {
            if self.by_plan.len() == Self::MAX_PLANS {
                self.by_plan.remove(0);
            }
            self.by_plan.push(RowDecoder::new(Arc::clone(plan)));
            self.by_plan.len() - 1
        });
        &mut self.by_plan[index]
    }
}

/// The decoder of a thread for one plan.
pub struct RowDecoder {
    pub(super) plan: Arc<Plan>,
    /// For each column to decode, the converter of its values, if all have one format.
    converters: Vec<Option<RecordConverter>>,
    /// Converters for stages that were detected from values.
    detected: Vec<(String, RecordConverter)>,
    /// For each column of the table, its number among the columns to decode.
    by_position: Vec<Option<usize>>,
    /// The converter in `detected` that was used last.
    last_detected: Option<usize>,
    /// The stage to try first for the current row. It is known from the column that names the program that wrote the
    /// value.
    probable_stage: Option<Stage>,
    /// Buffer for a decoded value before it is written into a cell. It is kept, so that its memory is used again.
    value: Vec<u8>,
    object: ObjectWriter,
}

/// The row that is being written.
pub(super) struct RowState<'r> {
    pub(super) number: u64,
    pub(super) offset: u64,
    pub(super) tally: &'r mut Tally,
    /// The messages of values that can't be decoded: the column and the error.
    pub(super) errors: Vec<(usize, String)>,
    /// The outcome for each column to decode.
    pub(super) outcomes: Vec<ValueOutcome>,
    /// Whether a value of the row can't be decoded.
    is_undecodable: bool,
    /// Whether the row is left out because of a loss that is not allowed.
    is_refused: bool,
}

impl<'r> RowState<'r> {
    /// Creates a row with this number of columns to decode.
    pub(super) fn new(number: u64, offset: u64, tally: &'r mut Tally, columns: usize) -> RowState<'r> {
        let outcomes = vec![ValueOutcome::Missing; columns];
        RowState { number, offset, tally, errors: Vec::new(), outcomes, is_undecodable: false, is_refused: false }
    }

    /// Records a value with bytes that became text although they are not UTF-8.
    pub(super) fn record_lost_bytes(&mut self, is_strict: bool, path: impl FnOnce() -> String) {
        if !is_strict {
            return self.tally.count_lost_bytes(self.number, path);
        }
        self.is_refused = true;
        let message = format!("{REFUSED}{}, at {}", LossKind::Bytes.describe(1), path());
        self.tally.list_error(RecordError { record: self.number, offset: self.offset, kind: LOSS, message });
    }
}

/// What became of a value, as the column `NAME_kind` says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ValueOutcome {
    Decoded,
    /// It is not frozen data.
    Text,
    /// It can't be decoded.
    Broken,
    /// It has a loss that is not allowed.
    Refused,
    Null,
    /// It is not a string.
    Other,
    #[default]
    Missing,
}

impl ValueOutcome {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            ValueOutcome::Decoded => "decoded",
            ValueOutcome::Text => "text",
            ValueOutcome::Broken => "broken",
            ValueOutcome::Refused => "refused",
            ValueOutcome::Null => "null",
            ValueOutcome::Other => "other",
            ValueOutcome::Missing => "missing",
        }
    }
}

impl RowDecoder {
    pub fn new(plan: Arc<Plan>) -> RowDecoder {
        let converter = |spec: &ColumnSpec| {
            let stage = spec.stage.clone()?;
            Some(RecordConverter::new(stage, plan.json.clone(), &plan.limits, plan.deep))
        };
        let converters = plan.columns.iter().map(converter).collect();
        let mut by_position = vec![None; plan.names.len()];
        for (index, column) in plan.columns.iter().enumerate() {
            if let Some(slot) = column.position.and_then(|position| by_position.get_mut(position)) {
                *slot = Some(index);
            }
        }
        RowDecoder {
            plan,
            converters,
            detected: Vec::new(),
            last_detected: None,
            by_position,
            probable_stage: None,
            value: Vec::new(),
            object: ObjectWriter::default(),
        }
    }

    /// Decodes consecutive rows of a batch, and writes them into the batch. Returns whether the next rows are needed.
    pub fn decode_rows(&mut self, batch: &mut Batch, rows: Range<usize>) -> bool {
        let (mut out, mut tally) = (std::mem::take(&mut batch.out), std::mem::take(&mut batch.tally));
        let plan = Arc::clone(&self.plan);
        let mut needs_more = true;
        for row_index in rows {
            let (cells, offset) = batch.row_cells(row_index);
            let number = batch.earlier_rows + row_index as u64 + 1;
            let start = out.len();
            self.probable_stage = plan
                .program
                .and_then(|position| cells.get(position))
                .and_then(|cell| program_stage(batch.cell_bytes(*cell)));
            let mut row = RowState::new(number, offset, &mut tally, plan.columns.len());
            let is_row = match (plan.form, plan.out) {
                (TableForm::Ndjson, _) => self.write_object_row(batch, cells, &mut row, &mut out),
                (_, OutputForm::Json) => self.write_json_row(batch, cells, &mut row, &mut out),
                _ => self.write_table_row(batch, cells, &mut row, &mut out),
            };
            // A row with errors stays only if it has columns for them.
            if !row.errors.is_empty() && !plan.has_error_columns() || !is_row || row.is_refused {
                out.truncate(start);
            }
            let outcomes = std::mem::take(&mut row.outcomes);
            let (is_bad, is_undecodable) = (!row.errors.is_empty() || row.is_refused, row.is_undecodable);
            tally.count_row(is_bad, is_undecodable);
            outcomes.iter().for_each(|outcome| tally.count_kind(outcome.as_str()));
            if is_bad && plan.on_error == OnError::Stop {
                batch.truncate_rows(row_index + 1);
                needs_more = false;
                break;
            }
        }
        (batch.out, batch.tally) = (out, tally);
        needs_more
    }

    /// Writes the cells of a row as an object.
    fn write_json_row(&mut self, batch: &Batch, cells: &[Cell], row: &mut RowState<'_>, out: &mut Vec<u8>) -> bool {
        let plan = Arc::clone(&self.plan);
        out.push(b'{');
        out.extend_from_slice(&plan.constant_json);
        for (position, cell) in cells.iter().enumerate() {
            if cell.kind == CellKind::Absent || plan.is_hidden(position) {
                continue;
            }
            out.extend_from_slice(&plan.json_key(position));
            match self.by_position.get(position).copied().flatten() {
                Some(column) => self.write_value(column, batch, *cell, row, out),
                None => self.write_cell(position, batch, *cell, row, out),
            }
            out.push(b',');
        }
        self.record_missing_columns(cells.len(), row);
        // Each member above ends with a comma, so the last comma is removed.
        let is_empty = out.last() == Some(&b'{');
        if !is_empty {
            out.pop();
        }
        self.write_own_members(row, is_empty, out);
        out.extend_from_slice(b"}\n");
        true
    }

    /// Writes a cell that is not decoded.
    fn write_cell(&self, position: usize, batch: &Batch, cell: Cell, row: &mut RowState<'_>, out: &mut Vec<u8>) {
        match cell.kind {
            CellKind::Null | CellKind::Absent => out.extend_from_slice(b"null"),
            CellKind::Plain => out.extend_from_slice(batch.cell_bytes(cell)),
            CellKind::Text => {
                if !text::write_json_string(batch.cell_bytes(cell), out) {
                    row.record_lost_bytes(self.plan.strict, || format!("column {}", self.plan.column_name(position)));
                }
            }
        }
    }

    /// Writes the members of an object that say what became of its values.
    pub(super) fn write_own_members(&self, row: &RowState<'_>, mut is_empty: bool, out: &mut Vec<u8>) {
        let mut write_member = |name: String, value: &str| {
            if !std::mem::take(&mut is_empty) {
                out.push(b',');
            }
            out.extend_from_slice(&text::format_json_key(&name));
            text::write_json_string(value.as_bytes(), out);
        };
        if self.plan.has_error_columns() {
            for (column, message) in &row.errors {
                write_member(error_column_name(self.decoded_column_name(*column)), message);
            }
        }
        if self.plan.has_kinds {
            for (column, outcome) in row.outcomes.iter().enumerate() {
                write_member(kind_column_name(self.decoded_column_name(column)), outcome.as_str());
            }
        }
    }

    /// Writes a row as a line of a table.
    pub(super) fn write_table_row(
        &mut self,
        batch: &Batch,
        cells: &[Cell],
        row: &mut RowState<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        let plan = Arc::clone(&self.plan);
        // Both closures need to know whether a cell is the first one, so the flag is a `Cell`. `take` sets it to
        // false.
        let is_first = std::cell::Cell::new(true);
        let put = |bytes: &[u8], out: &mut Vec<u8>| plan.write_cell(is_first.take(), bytes, out);
        // The output is UTF-8 as a whole, so that its readers need not guess.
        let put_text =
            |bytes: &[u8], column: usize, row: &mut RowState<'_>, out: &mut Vec<u8>| match str::from_utf8(bytes) {
                Ok(_) => put(bytes, out),
                Err(_) => {
                    put(text::latin1_to_utf8(bytes).as_bytes(), out);
                    row.record_lost_bytes(plan.strict, || format!("column {}", plan.column_name(column)));
                }
            };
        let null = |out: &mut Vec<u8>| write_null(plan.out, plan.delimiter, is_first.take(), out);
        plan.constant_columns.iter().for_each(|(_, value)| put(value.as_bytes(), out));
        let mut value = std::mem::take(&mut self.value);
        for (position, cell) in cells.iter().enumerate() {
            if plan.is_hidden(position) {
                continue;
            }
            match self.by_position.get(position).copied().flatten() {
                Some(_) if cell.kind == CellKind::Absent => null(out),
                Some(column) => {
                    value.clear();
                    self.write_value(column, batch, *cell, row, &mut value);
                    match row.outcomes[column] {
                        ValueOutcome::Decoded => put(&value, out),
                        ValueOutcome::Text | ValueOutcome::Broken | ValueOutcome::Refused | ValueOutcome::Other
                            if plan.on_error == OnError::Keep =>
                        {
                            put_text(batch.cell_bytes(*cell), position, row, out)
                        }
                        _ => null(out),
                    }
                }
                None if matches!(cell.kind, CellKind::Null | CellKind::Absent) => null(out),
                None => put_text(batch.cell_bytes(*cell), position, row, out),
            }
        }
        self.value = value;
        self.record_missing_columns(cells.len(), row);
        if plan.has_error_columns() || plan.has_kinds {
            for _ in (cells.len()..plan.names.len()).filter(|position| !plan.is_hidden(*position)) {
                null(out);
            }
        }
        if plan.has_error_columns() {
            for column in 0..plan.columns.len() {
                let message = row.errors.iter().find(|(error_column, _)| *error_column == column);
                put(message.map_or(&[][..], |(_, message)| message.as_bytes()), out);
            }
        }
        for outcome in row.outcomes.iter().filter(|_| plan.has_kinds) {
            put(outcome.as_str().as_bytes(), out);
        }
        out.push(b'\n');
        true
    }

    /// Records an error for each column to decode that a row with this number of cells lacks.
    fn record_missing_columns(&self, cells: usize, row: &mut RowState<'_>) {
        for (column, spec) in self.plan.columns.iter().enumerate() {
            if spec.position.is_none_or(|position| position >= cells) {
                let message = format!("the row has only {cells} of {} columns", self.plan.names.len());
                self.record_failure(column, "row", message, row);
            }
        }
    }

    /// Returns the name of a column to decode.
    pub(super) fn decoded_column_name(&self, column: usize) -> String {
        self.plan.decoded_column_name(column)
    }

    /// Writes the decoded value of a cell, and records what became of the value.
    fn write_value(&mut self, column: usize, batch: &Batch, cell: Cell, row: &mut RowState<'_>, out: &mut Vec<u8>) {
        let bytes = batch.cell_bytes(cell);
        if cell.kind == CellKind::Null || bytes.is_empty() && self.plan.empty_is_null {
            row.outcomes[column] = ValueOutcome::Null;
            return out.extend_from_slice(b"null");
        }
        if cell.kind != CellKind::Text {
            row.outcomes[column] = ValueOutcome::Other;
            if self.plan.on_error != OnError::Keep {
                self.record_failure(column, "row", "expected a string, found another value".to_owned(), row);
                row.outcomes[column] = ValueOutcome::Broken;
                return out.extend_from_slice(b"null");
            }
            return out.extend_from_slice(bytes);
        }
        let content =
            if self.plan.form == TableForm::Pgcopy { decode_bytea(bytes, self.plan.bytea) } else { bytes.into() };
        match self.decode_value(column, &content, row, out) {
            ValueOutcome::Text | ValueOutcome::Broken | ValueOutcome::Refused
                if self.plan.on_error == OnError::Keep =>
            {
                if !text::write_json_string(bytes, out) && self.plan.out == OutputForm::Json {
                    row.record_lost_bytes(self.plan.strict, || format!("column {}", self.decoded_column_name(column)));
                }
            }
            ValueOutcome::Decoded => {}
            _ => out.extend_from_slice(b"null"),
        }
    }

    /// Writes the decoded value of these bytes, if they can be decoded. Records what became of them.
    pub(super) fn decode_value(
        &mut self,
        column: usize,
        bytes: &[u8],
        row: &mut RowState<'_>,
        out: &mut Vec<u8>,
    ) -> ValueOutcome {
        let start = out.len();
        self.last_detected = None;
        let outcome = match self.try_convert(column, bytes, out) {
            Ok((losses, _)) if self.plan.strict && !losses.is_empty() => {
                out.truncate(start);
                let descriptions: Vec<_> = losses.iter().map(ToString::to_string).collect();
                self.record_failure(column, LOSS, format!("{REFUSED}{}", descriptions.join("; ")), row);
                ValueOutcome::Refused
            }
            Ok((losses, opened)) => {
                row.tally.opened += opened;
                if !losses.is_empty() {
                    row.tally.count_losses(&losses, row.number, Some(&self.decoded_column_name(column)));
                }
                row.tally.decoded_as_given += u64::from(self.converters[column].is_some());
                if let Some((format, _)) = self.last_detected.and_then(|index| self.detected.get(index)) {
                    row.tally.count_format(format);
                }
                ValueOutcome::Decoded
            }
            Err(error) => {
                out.truncate(start);
                match error {
                    None => {
                        if self.converters[column].is_some() && !bytes.is_empty() {
                            row.tally.count_kept_value(row.number, || self.decoded_column_name(column));
                        }
                        row.tally.null_words += u64::from(bytes == b"NULL");
                        ValueOutcome::Text
                    }
                    Some(error) => {
                        self.record_failure(column, error.kind().as_str(), format_error(error), row);
                        ValueOutcome::Broken
                    }
                }
            }
        };
        row.outcomes[column] = outcome;
        outcome
    }

    /// Converts a value. The error is `None` if the value is not frozen data, and the options allow such values.
    fn try_convert(&mut self, column: usize, bytes: &[u8], out: &mut Vec<u8>) -> Result<(Losses, u64), Option<Error>> {
        let keeps_text = self.plan.on_error == OnError::Keep;
        if keeps_text && bytes.is_empty() {
            return Err(None);
        }
        if let Some(converter) = &mut self.converters[column] {
            return convert_value(converter, bytes, out).map_err(|error| {
                let is_text = keeps_text && !icecore::detect::begins_as(converter.source(), bytes);
                (!is_text).then_some(error)
            });
        }
        // The bytes alone may fit several formats. So the stage of the program that wrote them is tried first.
        if let Some(stage) = self.probable_stage.clone()
            && let Ok(done) = convert_value(self.converter_for_stage(stage), bytes, out)
        {
            return Ok(done);
        }
        let stage = match keeps_text {
            true => self.detect_stage(bytes).or_else(|error| match icecore::detect::is_damaged_data(bytes) {
                true => icecore::detect::stage_of(bytes).map_err(Some),
                false => Err(error),
            })?,
            // A value that begins like frozen data has a more precise error than one of an unknown format.
            false => icecore::detect::stage_of(bytes).or_else(|error| self.detect_stage(bytes).or(Err(error)))?,
        };
        Ok(convert_value(self.converter_for_stage(stage), bytes, out)?)
    }

    /// Returns the stage of a value that is frozen data. A value that only begins like frozen data is an error.
    fn detect_stage(&self, bytes: &[u8]) -> Result<Stage, Option<Error>> {
        let find = |bytes: &[u8]| deep::stage_of(bytes, &self.plan.limits);
        // Digits are a number, even if they could be hexadecimal.
        if bytes.iter().all(u8::is_ascii_digit) {
            return Err(None);
        }
        let stage =
            find(bytes).or_else(|| Some(bytes.trim_ascii_end()).filter(|part| part.len() < bytes.len()).and_then(find));
        stage.or_else(|| icecore::detect::begins_frozen(bytes)).ok_or(None)
    }

    /// Returns the converter for a stage that was detected from a value.
    fn converter_for_stage(&mut self, stage: Stage) -> &mut RecordConverter {
        let name = stage.name();
        let index = self.detected.iter().position(|(stage_name, _)| *stage_name == name).unwrap_or_else(|| {
            let converter = RecordConverter::new(stage, self.plan.json.clone(), &self.plan.limits, self.plan.deep);
            self.detected.push((name, converter));
            self.detected.len() - 1
        });
        self.last_detected = Some(index);
        &mut self.detected[index].1
    }

    /// Records that a value can't be decoded.
    pub(super) fn record_failure(&self, column: usize, kind: &'static str, message: String, row: &mut RowState<'_>) {
        row.is_undecodable |= kind != LOSS;
        let described = format!("column {}: {message}", self.decoded_column_name(column));
        row.tally.list_error(RecordError { record: row.number, offset: row.offset, kind, message: described });
        row.errors.push((column, message));
    }

    /// Writes a row that is a JSON object.
    fn write_object_row(&mut self, batch: &Batch, cells: &[Cell], row: &mut RowState<'_>, out: &mut Vec<u8>) -> bool {
        let line = cells.first().map_or(&[][..], |cell| batch.cell_bytes(*cell));
        let mut object = std::mem::take(&mut self.object);
        let is_row = object.write_row(self, line, row, out);
        self.object = object;
        is_row
    }
}

/// Returns the stage in which a program stores values.
#[cfg(feature = "store")]
fn program_stage(program: &[u8]) -> Option<Stage> {
    let stage = icecore_store::stage_of_program(std::str::from_utf8(program).ok()?)?;
    Stage::parse(stage).ok()
}

#[cfg(not(feature = "store"))]
fn program_stage(_: &[u8]) -> Option<Stage> {
    None
}

/// Converts a value that uses all of these bytes.
fn convert_value(converter: &mut RecordConverter, bytes: &[u8], out: &mut Vec<u8>) -> Result<(Losses, u64), Error> {
    let (result, opened) = converter.convert(bytes, out);
    let rest = bytes.get(result.consumed..).unwrap_or(&[]);
    let is_end = rest.is_empty() || converter.source().format().ends_with_blanks(rest);
    if result.is_read && !is_end {
        return Err(converter.source().format().explain(Error::trailing_bytes(bytes, result.consumed)));
    }
    Ok((result.written?, opened))
}

/// Returns the message of an error, whose offsets count from the start of the value.
pub(super) fn format_error(error: Error) -> String {
    match error.kind() {
        ErrorKind::Format => error.to_string(),
        _ => error.in_layer("value").to_string(),
    }
}

fn write_null(form: OutputForm, delimiter: u8, is_first: bool, line: &mut Vec<u8>) {
    if !is_first {
        line.push(if form == OutputForm::Csv { delimiter } else { b'\t' });
    }
    if form == OutputForm::Tsv {
        line.extend_from_slice(b"\\N");
    }
}

/// Returns the bytes that PostgreSQL wrote as text.
pub(super) fn decode_bytea(bytes: &[u8], bytea: Bytea) -> Cow<'_, [u8]> {
    match bytea {
        Bytea::No => bytes.into(),
        Bytea::Hex => bytes.strip_prefix(b"\\x").and_then(decode_hex).map_or(bytes.into(), Cow::Owned),
        Bytea::Escape => {
            let mut out = Vec::with_capacity(bytes.len());
            let mut rest = bytes;
            while let Some((byte, after)) = rest.split_first() {
                let octal = after.first_chunk::<3>().filter(|digits| digits.iter().all(|b| matches!(b, b'0'..=b'7')));
                let (byte, len) = match (byte, octal, after.first()) {
                    (b'\\', Some(digits), _) => (digits.iter().fold(0u8, |value, b| value << 3 | (b - b'0')), 3),
                    (b'\\', None, Some(b'\\')) => (b'\\', 1),
                    _ => (*byte, 0),
                };
                out.push(byte);
                rest = &after[len..];
            }
            out.into()
        }
    }
}

fn decode_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some((digit(*high)? << 4 | digit(*low)?) as u8));
    if rest.is_empty() { bytes.collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytea_escapes_are_decoded() {
        assert_eq!(&*decode_bytea(b"\\x6869ff", Bytea::Hex), b"hi\xff");
        for other in [&b"\\x686"[..], b"\\x68zz", b"plain", b"App\\\\Job"] {
            assert_eq!(&*decode_bytea(other, Bytea::Hex), other);
        }
        assert_eq!(&*decode_bytea(b"a\\000\\377\\\\b\\x", Bytea::Escape), b"a\0\xff\\b\\x");
        assert_eq!(&*decode_bytea(b"\\x6869", Bytea::No), b"\\x6869");
    }
}
