//! Converts rows to records.

use super::cells::{CellColumn, Strings};
use super::fit::convert_column;
use super::layout::{BlobColumn, ColumnSource, DecodeTarget, OutputLayout, written_columns};
use super::type_inference::create_line_decoder;
use crate::rows::batch::{Batch, CellKind};
use crate::rows::decode::{RowDecoder as TextDecoder, RowState, ValueOutcome, decode_bytea, format_error};
use crate::rows::plan::Plan;
use crate::rows::text;
use crate::rows::words::{OnError, TableForm};
use crate::tally::{LOSS, REFUSED, RecordError, Tally};
use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryType, Utf8Type};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;
use icecore::LossKind;
use icecore_columns::{Blobs, Decoder, Source};
use std::ops::Range;
use std::sync::Arc;

/// Maximum length of a text in the column for errors.
const MAX_EXCERPT_LEN: usize = 200;

/// The state of a thread that creates records.
pub struct RecordBuilder {
    layout: Arc<OutputLayout>,
    decoders: Vec<Option<Decoder>>,
    /// The decoder for lines of JSON.
    lines: Option<Decoder>,
    /// The decoder for values that become text, and its plan.
    text: Option<(Arc<Plan>, TextDecoder)>,
}

/// What is reported about consecutive rows of one plan: counts, errors, and the outcome of each value.
pub struct RowReport<'n> {
    pub plan: &'n Plan,
    tally: Tally,
    errors: Vec<RowError>,
    /// Ordinary texts that the type of their column can't hold: the row, the column to decode, and the beginning.
    texts: Vec<(usize, usize, String)>,
    /// For each column to decode, what became of the value in each row.
    outcomes: Vec<Vec<ValueOutcome>>,
    /// The number of the first row in the input, counted from 1.
    first_row: u64,
}

/// An error in a row.
struct RowError {
    /// Index of the row in its report.
    row: usize,
    /// Index of the column among the columns to decode, if the error concerns one of them.
    column: Option<usize>,
    kind: &'static str,
    message: String,
}

impl<'n> RowReport<'n> {
    fn new(plan: &'n Plan, rows: usize, first_row: u64) -> RowReport<'n> {
        let outcomes = plan.columns.iter().map(|_| vec![ValueOutcome::Decoded; rows]).collect();
        RowReport { plan, tally: Tally::default(), errors: Vec::new(), texts: Vec::new(), outcomes, first_row }
    }

    /// Records a value with bytes that are not text, in a column that is not decoded. `position` is the index of the
    /// column in the table.
    pub fn record_lost_bytes(&mut self, row: usize, position: usize) {
        let path = format!("column {}", self.plan.column_name(position));
        if self.plan.strict {
            let message = format!("{REFUSED}{}, at {path}", LossKind::Bytes.describe(1));
            self.errors.push(RowError { row, column: None, kind: LOSS, message });
        } else {
            self.tally.count_lost_bytes(self.first_row + row as u64, || path);
        }
    }

    /// Records a value that does not fit its column, in a column that is not decoded.
    pub fn record_mismatch(&mut self, row: usize, position: usize, message: String) {
        let message =
            format!("column {}: {message} (choose another type with --schema)", self.plan.column_name(position));
        self.errors.push(RowError { row, column: None, kind: "row", message });
    }

    /// Records a value that can't be decoded.
    fn record_bad_value(
        &mut self,
        row: usize,
        column: usize,
        outcome: ValueOutcome,
        kind: &'static str,
        message: String,
    ) {
        self.outcomes[column][row] = outcome;
        self.errors.push(RowError { row, column: Some(column), kind, message });
    }
}

impl RecordBuilder {
    /// Creates a builder for the columns of this layout and the rows of a plan.
    pub fn new(layout: &Arc<OutputLayout>, plan: &Plan) -> Result<RecordBuilder, icecore_columns::Error> {
        let decoder = |blob: &BlobColumn| blob.create_decoder(&layout.input_fields[blob.written_index], plan);
        let decoders = layout.blobs.iter().map(decoder).collect::<Result<_, _>>()?;
        let lines = layout.lines.as_ref().map(|fields| create_line_decoder(fields, plan)).transpose()?;
        Ok(RecordBuilder { layout: Arc::clone(layout), decoders, lines, text: None })
    }

    /// Creates records from the rows of a batch.
    pub fn build_records(&mut self, batch: &mut Batch) {
        let plans = std::mem::take(&mut batch.plans);
        for (index, (start, plan)) in plans.iter().enumerate() {
            let end = plans.get(index + 1).map_or(batch.row_count(), |next| next.0);
            match self.build_record(batch, *start..end, plan) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    batch.error = Some(error.to_string());
                    break;
                }
            }
        }
        batch.plans = plans;
    }

    /// Creates a record from consecutive rows. Returns whether the next rows are needed.
    fn build_record(&mut self, batch: &mut Batch, rows: Range<usize>, plan: &Arc<Plan>) -> Result<bool, ArrowError> {
        let layout = Arc::clone(&self.layout);
        // These rows belong to another table, with other columns. The writing thread refuses them.
        if layout.lines.is_none() && written_columns(plan).count() != layout.input_fields.len() {
            return Ok(true);
        }
        let mut report = RowReport::new(plan, rows.len(), batch.earlier_rows + rows.start as u64 + 1);
        let input = self.build_input_columns(batch, &rows, plan, &mut report)?;
        let mut decoded = Vec::new();
        for (column, blob) in layout.blobs.iter().enumerate() {
            decoded.push(self.decode_column(column, blob, &input[blob.written_index], plan, &mut report)?);
        }
        let columns = build_output_columns(&layout, &input, &decoded, plan, &mut report)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let record = RecordBatch::try_new_with_options(Arc::clone(&layout.schema), columns, &options)?;
        store_record(record, batch, rows, report)
    }

    /// Returns the columns of the input that are written. A column that is not decoded already has its final type.
    fn build_input_columns(
        &mut self,
        batch: &Batch,
        rows: &Range<usize>,
        plan: &Plan,
        report: &mut RowReport<'_>,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        if self.lines.is_some() {
            return self.decode_lines(batch, rows, report);
        }
        let fields = self.layout.input_fields.iter();
        let is_blob = |index: usize| self.layout.blobs.iter().position(|blob| blob.written_index == index);
        let mut columns = Vec::new();
        for (index, (position, field)) in written_columns(plan).zip(fields).enumerate() {
            let cells = CellColumn { batch, rows: rows.clone(), position };
            columns.push(match (&batch.record, is_blob(index)) {
                (Some(record), None) => {
                    let column = record.column(position).slice(rows.start, rows.len());
                    convert_column(&column, field.data_type(), position, report)?
                }
                (Some(record), Some(_)) => record.column(position).slice(rows.start, rows.len()),
                (None, None) => cells.to_column(field.data_type(), report)?,
                (None, Some(column)) => read_blob_cells(&cells, column, report)?,
            });
        }
        if batch.record.is_none() {
            record_extra_cells(batch, rows, plan, report);
        }
        Ok(columns)
    }

    /// Builds the input columns like `build_input_columns`, but from lines of JSON.
    fn decode_lines(
        &mut self,
        batch: &Batch,
        rows: &Range<usize>,
        report: &mut RowReport<'_>,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let Some(decoder) = &mut self.lines else { return Ok(Vec::new()) };
        let lines = CellColumn { batch, rows: rows.clone(), position: 0 }.to_binary()?;
        let decoded = decoder.decode(lines.as_ref()).map_err(external_error)?;
        for bad in decoded.bad {
            report.errors.push(RowError {
                row: bad.row,
                column: None,
                kind: bad.error.kind().as_str(),
                message: bad.error.in_layer("row").to_string(),
            });
        }
        if let Some(texts) = decoded.byte_texts {
            report.tally.count_byte_texts(texts.count, report.first_row + texts.row as u64, || texts.path);
        }
        if let Some((count, first)) = decoded.extra {
            report.tally.count_left_out(count as u64, report.first_row + first as u64, || "its line".to_owned());
        }
        // A null row may have placeholder values in its columns. The columns are written without the row's own null
        // bits, so these values become null.
        let rows = decoded.column.as_struct();
        let nulls = rows.nulls().cloned();
        let masked = rows.columns().iter().map(|column| match &nulls {
            None => Ok(Arc::clone(column)),
            Some(nulls) => {
                let is_null = BooleanArray::new(!nulls.inner(), None);
                arrow_select::nullif::nullif(column, &is_null)
            }
        });
        masked.collect()
    }

    /// Decodes a column.
    fn decode_column(
        &mut self,
        column: usize,
        blob: &BlobColumn,
        input: &ArrayRef,
        plan: &Arc<Plan>,
        report: &mut RowReport<'_>,
    ) -> Result<ArrayRef, ArrowError> {
        for row in 0..input.len() {
            if input.is_null(row) && report.outcomes[column][row] == ValueOutcome::Decoded {
                report.outcomes[column][row] = ValueOutcome::Null;
            }
        }
        let (source, decoder) = match (&blob.target, &mut self.decoders[column]) {
            (DecodeTarget::Typed(source), Some(decoder)) => (source, decoder),
            _ => return self.decode_as_json(column, input, plan, report),
        };
        let decoded = decoder.decode(input.as_ref()).map_err(external_error)?;
        let blobs = Blobs::from_array(input.as_ref()).map_err(external_error)?;
        let keeps_text = plan.on_error == OnError::Keep && !plan.strict;
        for bad in decoded.bad {
            let is_text = |blob: &[u8]| match source {
                Source::Stage(stage) => !icecore::detect::begins_as(stage, blob),
                // A number or a word is text, although it is also JSON.
                _ => {
                    icecore::deep::stage_of(blob, &plan.limits).is_none() && !icecore::detect::is_damaged_data(blob)
                        || blob.iter().all(u8::is_ascii_digit)
                }
            };
            if keeps_text && blobs.get(bad.row).is_some_and(is_text) {
                report.outcomes[column][bad.row] = ValueOutcome::Text;
                let name = || plan.decoded_column_name(column);
                report.tally.count_text_as_null(report.first_row + bad.row as u64, name);
                let text = String::from_utf8_lossy(blobs.get(bad.row).unwrap_or_default());
                let excerpt = icecore::text::shortened(&text, MAX_EXCERPT_LEN).to_string();
                report.texts.push((bad.row, column, format!("ordinary text: {excerpt}")));
                continue;
            }
            let error = match source {
                Source::Stage(stage) => stage.format().explain(bad.error),
                _ => bad.error,
            };
            report.record_bad_value(bad.row, column, ValueOutcome::Broken, error.kind().as_str(), format_error(error));
        }
        if let Some(texts) = decoded.byte_texts {
            let path = || format!("{} of column {}", texts.path, plan.decoded_column_name(column));
            report.tally.count_byte_texts(texts.count, report.first_row + texts.row as u64, path);
        }
        if let Some((count, first)) = decoded.extra.filter(|_| blob.is_learned) {
            let name = || format!("column {}", plan.decoded_column_name(column));
            report.tally.count_left_out(count as u64, report.first_row + first as u64, name);
        }
        Ok(decoded.column)
    }

    /// Decodes a column whose values become JSON.
    fn decode_as_json(
        &mut self,
        column: usize,
        input: &ArrayRef,
        plan: &Arc<Plan>,
        report: &mut RowReport<'_>,
    ) -> Result<ArrayRef, ArrowError> {
        let decoder = match &mut self.text {
            Some((decoder_plan, decoder)) if Arc::ptr_eq(decoder_plan, plan) => decoder,
            slot => &mut slot.insert((Arc::clone(plan), TextDecoder::new(Arc::clone(plan)))).1,
        };
        let blobs = Blobs::from_array(input.as_ref()).map_err(external_error)?;
        let mut strings = Strings::<i32>::with_capacity(input.len(), 0);
        let mut out = Vec::new();
        for row in 0..input.len() {
            let Some(blob) = blobs.get(row) else {
                strings.push(None);
                continue;
            };
            out.clear();
            let mut tally = Tally::default();
            let mut state = RowState::new(report.first_row + row as u64, 0, &mut tally, plan.columns.len());
            let outcome = decoder.decode_value(column, blob, &mut state, &mut out);
            let errors = std::mem::take(&mut state.errors);
            let keeps_bad_values = plan.on_error == OnError::Keep;
            let is_kept = matches!(outcome, ValueOutcome::Text | ValueOutcome::Broken | ValueOutcome::Refused)
                && keeps_bad_values;
            if is_kept && !text::write_json_string(blob, &mut out) {
                tally.count_lost_bytes(report.first_row + row as u64, || {
                    format!("column {}", plan.decoded_column_name(column))
                });
            }
            strings.push((outcome == ValueOutcome::Decoded || is_kept).then_some(&out[..]));
            report.outcomes[column][row] = outcome;
            // Each failure added its message to `errors` and its kind to the tally, in the same order.
            let kinds: Vec<_> = tally.errors.drain(..).map(|error| error.kind).collect();
            for ((_, message), kind) in errors.into_iter().zip(kinds) {
                report.record_bad_value(row, column, outcome, kind, message);
            }
            report.tally.merge(&tally);
        }
        strings.finish::<Utf8Type>()
    }
}

/// Returns the cells of a column to decode.
fn read_blob_cells(cells: &CellColumn<'_>, column: usize, report: &mut RowReport<'_>) -> Result<ArrayRef, ArrowError> {
    let plan = report.plan;
    let mut strings = Strings::<i32>::with_capacity(cells.rows.len(), 0);
    for (row, cell) in cells.iter().enumerate() {
        let value = match cell {
            None => {
                let count = cells.batch.row_cells(cells.rows.start + row).0.len();
                let message = format!("the row has only {count} of {} columns", plan.names.len());
                report.record_bad_value(row, column, ValueOutcome::Missing, "row", message);
                None
            }
            Some((CellKind::Null | CellKind::Absent, _)) => None,
            Some((_, b"")) if plan.empty_is_null => None,
            Some((CellKind::Plain, _)) => {
                let message = "expected a string, found another value".to_owned();
                report.record_bad_value(row, column, ValueOutcome::Broken, "row", message);
                None
            }
            Some((CellKind::Text, bytes)) => Some(bytes),
        };
        match value {
            Some(bytes) if plan.form == TableForm::Pgcopy => strings.push(Some(&decode_bytea(bytes, plan.bytea))),
            value => strings.push(value),
        }
    }
    strings.finish::<BinaryType>()
}

/// Records an error for each row that has more cells than the table has columns.
fn record_extra_cells(batch: &Batch, rows: &Range<usize>, plan: &Plan, report: &mut RowReport<'_>) {
    for row in rows.clone() {
        let count = batch.row_cells(row).0.len();
        if count > plan.names.len() {
            let message = format!("the row has {count} values for {} columns", plan.names.len());
            report.errors.push(RowError { row: row - rows.start, column: None, kind: "row", message });
        }
    }
}

/// Returns the columns of the output.
fn build_output_columns(
    layout: &OutputLayout,
    input: &[ArrayRef],
    decoded: &[ArrayRef],
    plan: &Plan,
    report: &mut RowReport<'_>,
) -> Result<Vec<ArrayRef>, ArrowError> {
    let rows = input.first().map_or(0, |column| column.len());
    let mut columns: Vec<ArrayRef> = Vec::new();
    for source in &layout.sources {
        columns.push(match *source {
            ColumnSource::Constant(index) => {
                let value = plan.constant_columns.get(index).map_or("", |(_, value)| value.as_str());
                Arc::new(StringArray::from_iter_values(std::iter::repeat_n(value, rows)))
            }
            ColumnSource::Plain(index) => {
                let (column, field) = (&input[index], &layout.input_fields[index]);
                convert_column(column, field.data_type(), index, report)?
            }
            ColumnSource::Blob(column) => Arc::clone(&decoded[column]),
            ColumnSource::Errors(column) => {
                let mut messages = vec![None; rows];
                for (row, _, message) in report.texts.iter().filter(|(_, text_column, _)| *text_column == column) {
                    messages[*row] = Some(message.as_str());
                }
                for error in report.errors.iter().filter(|error| error.column == Some(column)) {
                    messages[error.row] = Some(error.message.as_str());
                }
                Arc::new(StringArray::from(messages))
            }
            ColumnSource::Kinds(column) => {
                Arc::new(StringArray::from_iter_values(report.outcomes[column].iter().map(|outcome| outcome.as_str())))
            }
        });
    }
    Ok(columns)
}

/// Puts a record into its batch, without the rows that are left out. Returns whether the next rows are needed.
fn store_record(
    record: RecordBatch,
    batch: &mut Batch,
    rows: Range<usize>,
    mut report: RowReport<'_>,
) -> Result<bool, ArrowError> {
    let plan = report.plan;
    report.outcomes.iter().flatten().for_each(|outcome| report.tally.count_kind(outcome.as_str()));
    // The errors were recorded column by column. Below they are needed row by row.
    report.errors.sort_by_key(|error| error.row);
    let first_bad = report.errors.first().map(|error| error.row);
    let stop_row = first_bad.filter(|_| plan.on_error == OnError::Stop);
    // The bad row at which processing stops still counts as processed.
    let processed_rows = stop_row.map_or(rows.len(), |row| row + 1);
    let mut is_kept = vec![true; processed_rows];
    let mut errors = report.errors.into_iter().filter(|error| error.row < processed_rows).peekable();
    let mut tally = std::mem::take(&mut batch.tally);
    tally.merge(&report.tally);
    for (row, is_kept) in is_kept.iter_mut().enumerate() {
        let (mut is_bad, mut is_undecodable, mut is_refused) = (false, false, false);
        while let Some(error) = errors.next_if(|error| error.row == row) {
            (is_bad, is_undecodable) = (true, is_undecodable | (error.kind != LOSS));
            is_refused |= error.kind == LOSS && error.column.is_none();
            let message = match error.column {
                Some(column) => format!("column {}: {}", plan.decoded_column_name(column), error.message),
                None => error.message,
            };
            let (record, offset) = (report.first_row + row as u64, batch.row_cells(rows.start + row).1);
            tally.list_error(RecordError { record, offset, kind: error.kind, message });
        }
        tally.count_row(is_bad, is_undecodable);
        // A bad row stays only if it has columns for its errors. A refused row is always left out.
        *is_kept = !(is_refused || is_bad && !plan.has_error_columns());
    }
    batch.tally = tally;
    let record = record.slice(0, processed_rows);
    let record = match is_kept.contains(&false) {
        true => filter_record_batch(&record, &BooleanArray::from(is_kept))?,
        false => record,
    };
    batch.records.push(record);
    if stop_row.is_some() {
        batch.truncate_rows(rows.start + processed_rows);
    }
    Ok(stop_row.is_none())
}

fn external_error(error: icecore_columns::Error) -> ArrowError {
    ArrowError::ExternalError(Box::new(error))
}
