//! Values of columns as cells of rows.

use crate::commands::rows::batch::{Batch, Sort};
use crate::commands::rows::text;
use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_json::writer::{Encoder, EncoderFactory, EncoderOptions, NullableEncoder, make_encoder};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use icecore_columns::Blobs;
use std::fmt::Write as _;
use std::sync::Arc;

/// How many bytes the cells of a batch may have: they have offsets of 32 bits.
const MOST: usize = 1 << 31;

/// Makes rows of cells of a batch that has a record.
pub fn expand(batch: &mut Batch) -> Result<(), String> {
    let Some(record) = batch.record.take() else { return Ok(()) };
    let options = options();
    let schema = record.schema();
    let mut columns = columns(&record, schema.fields(), &options).map_err(|error| error.to_string())?;
    for row in 0..record.num_rows() {
        for column in &mut columns {
            let start = batch.bytes.len();
            let sort = column.put(row, &mut batch.bytes);
            batch.push_cell(start, sort);
            if batch.bytes.len() > MOST {
                return Err(format!("{} rows together are longer than {MOST} bytes", record.num_rows()));
            }
        }
        batch.end_row(0);
    }
    Ok(())
}

/// The values of a column as they are written, and whether that is JSON for all of them.
pub fn written(column: &ArrayRef) -> Result<(StringArray, bool), ArrowError> {
    let (options, field) = (options(), Arc::new(Field::new("", column.data_type().clone(), true)));
    let mut cells = Column::of(&field, column.as_ref(), &options)?;
    let mut texts = StringBuilder::new();
    let (mut is_json, mut cell) = (true, Vec::new());
    for row in 0..column.len() {
        cell.clear();
        match cells.put(row, &mut cell) {
            Sort::Text | Sort::Plain if std::str::from_utf8(&cell).is_err() => texts.append_null(),
            sort @ (Sort::Text | Sort::Plain) => {
                is_json &= sort == Sort::Plain;
                texts.append_value(String::from_utf8_lossy(&cell));
            }
            _ => texts.append_null(),
        }
    }
    Ok((texts.finish(), is_json))
}

fn options() -> EncoderOptions {
    EncoderOptions::default().with_explicit_nulls(true).with_encoder_factory(Arc::new(Bytes))
}

fn columns<'r>(
    record: &'r RecordBatch,
    fields: &'r [FieldRef],
    options: &'r EncoderOptions,
) -> Result<Vec<Column<'r>>, ArrowError> {
    fields.iter().zip(record.columns()).map(|(field, array)| Column::of(field, array.as_ref(), options)).collect()
}

/// How the values of a column are written.
enum Column<'r> {
    Bytes(Blobs<'r>),
    /// Numbers that JSON has no word for are text.
    Float(&'r dyn Array, NullableEncoder<'r>),
    Json(NullableEncoder<'r>),
    /// Times and the like.
    Text(&'r dyn Array, ArrayFormatter<'r>),
}

impl<'r> Column<'r> {
    fn of(field: &'r FieldRef, array: &'r dyn Array, options: &'r EncoderOptions) -> Result<Column<'r>, ArrowError> {
        if let Ok(blobs) = Blobs::of(array) {
            return Ok(Column::Bytes(blobs));
        }
        Ok(match array.data_type() {
            DataType::Float16 | DataType::Float32 | DataType::Float64 => {
                Column::Float(array, make_encoder(field, array, options)?)
            }
            kind if kind.is_temporal() => Column::Text(array, ArrayFormatter::try_new(array, &FormatOptions::new())?),
            _ => Column::Json(make_encoder(field, array, options)?),
        })
    }

    /// Writes a value, and tells what it is.
    fn put(&mut self, row: usize, out: &mut Vec<u8>) -> Sort {
        match self {
            Column::Bytes(blobs) => match blobs.get(row) {
                Some(bytes) => {
                    out.extend_from_slice(bytes);
                    Sort::Text
                }
                None => Sort::Null,
            },
            Column::Float(array, encoder) => {
                if array.is_null(row) {
                    return Sort::Null;
                }
                match odd(*array, row) {
                    Some(word) => {
                        out.extend_from_slice(word.as_bytes());
                        Sort::Text
                    }
                    None => {
                        encoder.encode(row, out);
                        Sort::Plain
                    }
                }
            }
            Column::Json(encoder) => {
                if encoder.is_null(row) {
                    return Sort::Null;
                }
                encoder.encode(row, out);
                Sort::Plain
            }
            Column::Text(array, formatter) => {
                if array.is_null(row) {
                    return Sort::Null;
                }
                let mut text = String::new();
                // What has no text is told in its place.
                if let Err(error) = write!(text, "{}", formatter.value(row)) {
                    text = error.to_string();
                }
                out.extend_from_slice(text.as_bytes());
                Sort::Text
            }
        }
    }
}

/// The word for a number that JSON can't write.
fn odd(array: &dyn Array, row: usize) -> Option<&'static str> {
    let value = match array.data_type() {
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row),
        DataType::Float32 => f64::from(array.as_primitive::<Float32Type>().value(row)),
        _ => f64::from(array.as_primitive::<Float16Type>().value(row)),
    };
    match value {
        _ if value.is_finite() => None,
        _ if value.is_nan() => Some("NaN"),
        _ if value > 0.0 => Some("Infinity"),
        _ => Some("-Infinity"),
    }
}

/// Bytes inside of other values are strings, as they are elsewhere.
#[derive(Debug)]
struct Bytes;

struct BytesEncoder<'a>(Blobs<'a>);

impl Encoder for BytesEncoder<'_> {
    fn encode(&mut self, row: usize, out: &mut Vec<u8>) {
        text::string(self.0.get(row).unwrap_or_default(), out);
    }
}

impl EncoderFactory for Bytes {
    fn make_default_encoder<'a>(
        &self,
        _: &'a FieldRef,
        array: &'a dyn Array,
        _: &'a EncoderOptions,
    ) -> Result<Option<NullableEncoder<'a>>, ArrowError> {
        let is_bytes = matches!(
            array.data_type(),
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_)
        );
        let blobs = if is_bytes { Blobs::of(array).ok() } else { None };
        Ok(blobs.map(|blobs| NullableEncoder::new(Box::new(BytesEncoder(blobs)), array.nulls().cloned())))
    }
}
