//! Types of columns, inferred from the first rows.

use super::cells::CellColumn;
use super::layout::{DecodeTarget, decoder_options, is_json_field};
use super::prefetched::SampleRows;
use crate::error::{Error, Result, usage_error};
use crate::rows::batch::CellKind;
use crate::rows::plan::{JSON, Plan};
use crate::rows::words::TableForm;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use icecore::Stage;
use icecore_columns::{Decoder, FILLED_WITH, Inference, Source, has_binary_controls};
use std::sync::Arc;

/// Returns the type of a column that is not decoded.
pub fn infer_plain_type(parts: &[SampleRows<'_>], position: usize, plan: &Plan) -> DataType {
    let cells = || parts.iter().flat_map(move |part| part_cells(part, position).iter()).flatten();
    let values = || cells().filter(|(sort, _)| matches!(sort, CellKind::Text | CellKind::Plain));
    let all = |matches: fn(&[u8]) -> bool| values().all(|(sort, bytes)| sort == CellKind::Plain && matches(bytes));
    match () {
        () if values().next().is_none() => DataType::Utf8,
        () if all(|bytes| matches!(bytes, b"true" | b"false")) => DataType::Boolean,
        () if all(is_integer) => DataType::Int64,
        () if all(is_float) => DataType::Float64,
        () if values().any(|(_, bytes)| is_binary(bytes, plan)) => DataType::Binary,
        () => DataType::Utf8,
    }
}

/// Returns whether bytes are kept as they are. Others that are not UTF-8 are taken for text in another charset.
fn is_binary(bytes: &[u8], plan: &Plan) -> bool {
    std::str::from_utf8(bytes).is_err() && (plan.strict || has_binary_controls(bytes))
}

/// Describes a column that is text because some of its values are not numbers, although most are.
pub fn describe_mixed_column(parts: &[SampleRows<'_>], position: usize, name: &str) -> Option<String> {
    let cells = || parts.iter().flat_map(move |part| part_cells(part, position).iter()).flatten();
    let values =
        || cells().filter(|(kind, bytes)| matches!(kind, CellKind::Text | CellKind::Plain) && !bytes.is_empty());
    let is_number = |(kind, bytes): &(CellKind, &[u8])| *kind == CellKind::Plain && is_float(bytes);
    let (count, numbers) = (values().count(), values().filter(is_number).count());
    let kind = if values().filter(is_number).all(|(_, bytes)| is_integer(bytes)) { "int64" } else { "float64" };
    let name = icecore::text::printable(name);
    (numbers < count && numbers * 2 > count).then(|| {
        format!(
            "the column {name} is text: {numbers} of {count} values are numbers, the others are not; --schema '{name}: \
             {kind}' keeps the numbers, and null for the others"
        )
    })
}

fn is_integer(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| text.parse::<i64>().is_ok_and(|value| value.to_string() == text))
}

/// Returns whether a float can hold all digits of a number.
fn is_float(bytes: &[u8]) -> bool {
    /// A float can always hold this many digits.
    const EXACT_DIGITS: usize = 15;
    let number = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<f64>().ok());
    let mantissa = bytes.split(|byte| matches!(byte, b'e' | b'E')).next().unwrap_or_default();
    number.is_some_and(f64::is_finite) && mantissa.iter().filter(|byte| byte.is_ascii_digit()).count() <= EXACT_DIGITS
}

fn part_cells<'b>(part: &SampleRows<'b>, position: usize) -> CellColumn<'b> {
    CellColumn { batch: part.batch, rows: part.rows.clone(), position }
}

/// Returns the field of a column to decode, and what its values become.
pub fn infer_blob_field(
    parts: &[SampleRows<'_>],
    plan: &Plan,
    column: usize,
    position: usize,
    given_field: Option<&FieldRef>,
) -> Result<(FieldRef, DecodeTarget)> {
    let name = plan.decoded_column_name(column);
    let source = plan.columns[column].stage.clone().map_or(Source::Detect, Source::Stage);
    match given_field {
        Some(field) if is_json_field(field) => return Ok((Arc::clone(field), DecodeTarget::Json)),
        Some(field) => {
            let field = field.as_ref().clone().with_nullable(true);
            return Ok((Arc::new(field), DecodeTarget::Typed(source)));
        }
        None => {}
    }
    let samples = collect_samples(parts, plan, &name, position);
    let samples = samples.map_err(|error| Error::Other(format!("column {name}: {error}")))?;
    match infer_field(&samples, &source, plan).map_err(|error| usage_error(format!("column {name}: {error}")))? {
        Some(field) if !is_json_field(&field) => {
            Ok((Arc::new(field.with_name(name).with_nullable(true)), DecodeTarget::Typed(source)))
        }
        _ => Ok((json_field(&name), DecodeTarget::Json)),
    }
}

fn json_field(name: &str) -> FieldRef {
    let json = [(FILLED_WITH.to_owned(), icecore_columns::JSON.to_owned())];
    Arc::new(Field::new(name, DataType::Utf8, true).with_metadata(json.into()))
}

/// Returns the values of a column in the first rows.
fn collect_samples(
    parts: &[SampleRows<'_>],
    plan: &Plan,
    name: &str,
    position: usize,
) -> Result<Vec<ArrayRef>, ArrowError> {
    if plan.form == TableForm::Ndjson {
        let field = Arc::new(Field::new(name, DataType::Utf8, true));
        return decode_line_columns(parts, plan, &Fields::from(vec![field]));
    }
    parts
        .iter()
        .map(|part| match &part.batch.record {
            Some(record) => Ok(record.column(position).slice(part.rows.start, part.rows.len())),
            None => part_cells(part, position).to_binary(),
        })
        .collect()
}

/// Returns the first column of these fields in lines of JSON.
fn decode_line_columns(parts: &[SampleRows<'_>], plan: &Plan, fields: &Fields) -> Result<Vec<ArrayRef>, ArrowError> {
    let external = |error: icecore_columns::Error| ArrowError::ExternalError(Box::new(error));
    let mut decoder = create_line_decoder(fields, plan).map_err(external)?;
    let column = |part: &SampleRows<'_>| {
        let lines = part_cells(part, 0).to_binary()?;
        Ok(Arc::clone(decoder.decode(lines.as_ref()).map_err(external)?.column.as_struct().column(0)))
    };
    parts.iter().map(column).collect()
}

/// Returns the decoder for lines of JSON, even if they look like typed JSON.
pub fn create_line_decoder(fields: &Fields, plan: &Plan) -> Result<Decoder, icecore_columns::Error> {
    let field = Field::new("row", DataType::Struct(fields.clone()), true);
    Decoder::new(plain_json_stage(), &field, decoder_options(plan))
}

/// Returns plain JSON, not typed JSON.
pub fn plain_json_stage() -> Stage {
    let mut stage = Stage::parse(JSON).expect("JSON is always there");
    let _ = stage.set("typed", Some("no"));
    stage
}

/// Returns the common type of these values, or `None` if text preserves more of them.
fn infer_field(samples: &[ArrayRef], source: &Source, plan: &Plan) -> Result<Option<Field>, icecore_columns::Error> {
    let mut inference = Inference::new(source.clone(), &plan.limits).with_bytes_as_text(!plan.strict);
    for sample in samples {
        inference.examine_column(sample.as_ref())?;
    }
    // If most values are ordinary text, only JSON can express all of them.
    let has_type = inference.rows() > 0 && inference.bad() * 2 <= inference.rows();
    Ok(has_type.then(|| inference.field()))
}

/// Returns the fields of lines of JSON. Columns to decode are text.
pub fn infer_line_fields(parts: &[SampleRows<'_>], given_fields: &Fields, plan: &Plan) -> Result<Fields> {
    let mut inference = Inference::new(plain_json_stage(), &plan.limits).with_bytes_as_text(!plan.strict);
    for part in parts {
        let lines = part_cells(part, 0).to_binary().map_err(|error| usage_error(error.to_string()))?;
        inference.examine_column(lines.as_ref()).map_err(|error| usage_error(error.to_string()))?;
    }
    let inferred = inference.field();
    let inferred = match inferred.data_type() {
        DataType::Struct(fields) => fields.clone(),
        _ if !given_fields.is_empty() => Fields::empty(),
        _ => return Err(usage_error("its lines have no common keys: name the columns with --schema".to_owned())),
    };
    let others = given_fields.iter().filter(|field| inferred.find(field.name()).is_none());
    let fields = inferred.iter().chain(others).map(|field| {
        let is_blob = plan.columns.iter().any(|column| column.name == *field.name());
        match given_fields.find(field.name()) {
            _ if is_blob => Arc::new(Field::new(field.name(), DataType::Utf8, true)),
            Some((_, given_field)) => Arc::clone(given_field),
            None => Arc::clone(field),
        }
    });
    Ok(fields.collect())
}
