//! Values of columns as cells of rows.

use super::texts::{MAX_OUTPUT, Printer, Temporal};
use crate::rows::batch::{Batch, CellKind};
use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{ArrowError, DataType};
use icecore_columns::Blobs;

/// Converts the record of a batch, if any, to rows of cells.
pub fn expand_record(batch: &mut Batch) -> Result<(), String> {
    let Some(record) = batch.record.take() else { return Ok(()) };
    let columns: Result<Vec<ColumnPrinter<'_>>, ArrowError> =
        record.columns().iter().map(|array| ColumnPrinter::from_array(array.as_ref())).collect();
    let columns = columns.map_err(|error| error.to_string())?;
    for row in 0..record.num_rows() {
        for column in &columns {
            let start = batch.bytes.len();
            let kind = column.print_value(row, &mut batch.bytes);
            batch.push_cell(start, kind);
            // Cells have offsets of 32 bits.
            if batch.bytes.len() > MAX_OUTPUT {
                return Err(format!("{} rows together are longer than {MAX_OUTPUT} bytes", record.num_rows()));
            }
        }
        batch.end_row(0);
    }
    Ok(())
}

/// Returns the values of a column as text, and whether all of them are JSON.
pub fn column_to_text(column: &ArrayRef) -> Result<(StringArray, bool), ArrowError> {
    let cells = ColumnPrinter::from_array(column.as_ref())?;
    let mut texts = StringBuilder::new();
    let (mut is_json, mut cell) = (true, Vec::new());
    for row in 0..column.len() {
        cell.clear();
        let kind = cells.print_value(row, &mut cell);
        if texts.values_slice().len() + cell.len() >= MAX_OUTPUT {
            let message = format!("the texts of {} values together are longer than {MAX_OUTPUT} bytes", column.len());
            return Err(ArrowError::CastError(message));
        }
        match (kind, std::str::from_utf8(&cell)) {
            (CellKind::Text | CellKind::Plain, Ok(text)) => {
                is_json &= kind == CellKind::Plain;
                texts.append_value(text);
            }
            _ => texts.append_null(),
        }
    }
    Ok((texts.finish(), is_json))
}

/// How the values of a column are written.
enum ColumnPrinter<'r> {
    Bytes(Blobs<'r>),
    /// Floats. Numbers that JSON can't express are text.
    Float(Printer<'r>),
    Json(Printer<'r>),
    /// Times and similar values.
    Text(Option<&'r NullBuffer>, Temporal<'r>),
}

impl<'r> ColumnPrinter<'r> {
    fn from_array(array: &'r dyn Array) -> Result<ColumnPrinter<'r>, ArrowError> {
        if let Ok(blobs) = Blobs::from_array(array) {
            return Ok(ColumnPrinter::Bytes(blobs));
        }
        if let Some(temporal) = Temporal::from_array(array)? {
            return Ok(ColumnPrinter::Text(array.nulls(), temporal));
        }
        let printer = Printer::from_array(array)?;
        Ok(match array.data_type() {
            DataType::Float16 | DataType::Float32 | DataType::Float64 => ColumnPrinter::Float(printer),
            _ => ColumnPrinter::Json(printer),
        })
    }

    /// Writes a value, and returns its sort.
    fn print_value(&self, row: usize, out: &mut Vec<u8>) -> CellKind {
        match self {
            ColumnPrinter::Bytes(blobs) => match blobs.get(row) {
                Some(bytes) => {
                    out.extend_from_slice(bytes);
                    CellKind::Text
                }
                None => CellKind::Null,
            },
            ColumnPrinter::Float(printer) | ColumnPrinter::Json(printer) if printer.is_null(row) => CellKind::Null,
            ColumnPrinter::Float(printer) => match printer.float_value(row).and_then(name_non_finite) {
                Some(word) => {
                    out.extend_from_slice(word.as_bytes());
                    CellKind::Text
                }
                None => {
                    printer.print_value(row, out);
                    CellKind::Plain
                }
            },
            ColumnPrinter::Json(printer) => {
                printer.print_value(row, out);
                CellKind::Plain
            }
            ColumnPrinter::Text(nulls, _) if nulls.is_some_and(|nulls| nulls.is_null(row)) => CellKind::Null,
            ColumnPrinter::Text(_, temporal) => {
                // If the value has no text, the error is written instead.
                if let Err(text) = temporal.print_value(row, out) {
                    out.extend_from_slice(text.as_bytes());
                }
                CellKind::Text
            }
        }
    }
}

/// Returns the word for a number that JSON can't express.
fn name_non_finite(value: f64) -> Option<&'static str> {
    match value {
        _ if value.is_finite() => None,
        _ if value.is_nan() => Some("NaN"),
        _ if value > 0.0 => Some("Infinity"),
        _ => Some("-Infinity"),
    }
}
