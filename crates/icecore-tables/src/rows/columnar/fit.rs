//! Converts columns to other types. Values that do not fit are reported, and become null.
//!
//! The crate arrow-cast can convert columns too. But it has code for every pair of types, and this code would be a
//! tenth of the command's size. It also silently rounds decimals and cuts off the fractions of floats.

use super::cells::Strings;
use super::filler::RowReport;
use super::layout::decoder_options;
use super::texts::{
    Zone, parse_date_in_milliseconds, parse_day, parse_float, parse_half, parse_integer, parse_moment, parse_time,
};
use super::type_inference::plain_json_stage;
use super::values::column_to_text;
use crate::rows::text;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ArrowTimestampType, BinaryType, ByteArrayType, Date32Type, Date64Type, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
    UInt64Type, Utf8Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, PrimitiveArray, StringArray, StringViewArray,
    new_null_array,
};
use arrow_schema::{ArrowError, DataType, Field, TimeUnit};
use icecore_columns::{Blobs, Decoder, Options};
use std::sync::Arc;

/// Converts a column to another type. Values that do not fit are reported, and become null.
///
/// # Errors
/// If no value of the column could become one of this type.
pub fn convert_column(
    column: &ArrayRef,
    to: &DataType,
    position: usize,
    report: &mut RowReport<'_>,
) -> Result<ArrayRef, ArrowError> {
    if column.data_type() == to {
        return Ok(Arc::clone(column));
    }
    if *column.data_type() == DataType::Null {
        return Ok(new_null_array(to, column.len()));
    }
    let is_variable = matches!(to, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    if let (true, Ok(blobs)) = (is_variable, Blobs::from_array(column.as_ref())) {
        let blobs = (0..column.len()).map(|row| blobs.get(row));
        return match to {
            DataType::Binary => build_strings::<BinaryType>(blobs, 0),
            DataType::LargeBinary => build_strings::<LargeBinaryType>(blobs, 0),
            _ => Ok(Arc::new(blobs.collect::<BinaryViewArray>())),
        };
    }
    let cells = match column.as_string_opt::<i32>() {
        Some(texts) => TextColumn { texts: texts.clone(), is_json: false },
        None => {
            let (texts, is_json) = column_to_text(column)?;
            TextColumn { texts, is_json }
        }
    };
    let converted = cells.to_type(to, &decoder_options(report.plan))?;
    if converted.null_count() != column.null_count() {
        let expected = icecore_columns::schema::print(&Field::new("", to.clone(), true));
        for row in (0..column.len()).filter(|row| converted.is_null(*row) && column.is_valid(*row)) {
            report.record_mismatch(
                row,
                position,
                format!("expected {expected}, found `{}`", make_excerpt(cells.texts.value(row))),
            );
        }
    }
    Ok(converted)
}

/// The values of a column as text.
struct TextColumn {
    texts: StringArray,
    /// Whether each text is JSON. Otherwise the text is the value itself.
    is_json: bool,
}

impl TextColumn {
    /// Returns a column of this type. Texts that are not values of the type become null.
    fn to_type(&self, to: &DataType, options: &Options) -> Result<ArrayRef, ArrowError> {
        Ok(match to {
            DataType::Utf8 => self.to_strings::<Utf8Type>()?,
            DataType::LargeUtf8 => self.to_strings::<LargeUtf8Type>()?,
            DataType::Utf8View => Arc::new(self.texts.iter().collect::<StringViewArray>()),
            DataType::Binary => self.to_strings::<BinaryType>()?,
            DataType::LargeBinary => self.to_strings::<LargeBinaryType>()?,
            DataType::Boolean => {
                Arc::new(self.texts.iter().map(|text| text.and_then(parse_boolean)).collect::<BooleanArray>())
            }
            DataType::Float16 => self.parse_values::<Float16Type>(parse_half),
            DataType::Float32 => self.parse_values::<Float32Type>(parse_float),
            DataType::Float64 => self.parse_values::<Float64Type>(parse_float),
            // In JSON, the number 1.0 is an integer.
            to if self.is_json && (to.is_integer() || to.is_nested()) => self.decode_values(to, options)?,
            DataType::Decimal128(..) => self.decode_values(to, options)?,
            DataType::Int8 => self.parse_values::<Int8Type>(parse_integer),
            DataType::Int16 => self.parse_values::<Int16Type>(parse_integer),
            DataType::Int32 => self.parse_values::<Int32Type>(parse_integer),
            DataType::Int64 => self.parse_values::<Int64Type>(parse_integer),
            DataType::UInt8 => self.parse_values::<UInt8Type>(parse_integer),
            DataType::UInt16 => self.parse_values::<UInt16Type>(parse_integer),
            DataType::UInt32 => self.parse_values::<UInt32Type>(parse_integer),
            DataType::UInt64 => self.parse_values::<UInt64Type>(parse_integer),
            DataType::Date32 => self.parse_values::<Date32Type>(parse_day),
            DataType::Date64 => self.parse_values::<Date64Type>(parse_date_in_milliseconds),
            DataType::Time32(TimeUnit::Second) => {
                self.parse_values::<Time32SecondType>(|text| parse_time(text, TimeUnit::Second))
            }
            DataType::Time32(TimeUnit::Millisecond) => {
                self.parse_values::<Time32MillisecondType>(|text| parse_time(text, TimeUnit::Millisecond))
            }
            DataType::Time64(TimeUnit::Microsecond) => {
                self.parse_values::<Time64MicrosecondType>(|text| parse_time(text, TimeUnit::Microsecond))
            }
            DataType::Time64(TimeUnit::Nanosecond) => {
                self.parse_values::<Time64NanosecondType>(|text| parse_time(text, TimeUnit::Nanosecond))
            }
            DataType::Timestamp(TimeUnit::Second, zone) => self.parse_moments::<TimestampSecondType>(zone.as_ref())?,
            DataType::Timestamp(TimeUnit::Millisecond, zone) => {
                self.parse_moments::<TimestampMillisecondType>(zone.as_ref())?
            }
            DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                self.parse_moments::<TimestampMicrosecondType>(zone.as_ref())?
            }
            DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
                self.parse_moments::<TimestampNanosecondType>(zone.as_ref())?
            }
            _ => {
                return Err(ArrowError::CastError(format!(
                    "its values can't become {to}: choose another type with --schema"
                )));
            }
        })
    }

    fn to_strings<T: ByteArrayType>(&self) -> Result<ArrayRef, ArrowError> {
        build_strings::<T>(self.texts.iter().map(|text| text.map(str::as_bytes)), self.texts.value_data().len())
    }

    fn parse_values<T: ArrowPrimitiveType>(&self, parse: impl Fn(&str) -> Option<T::Native>) -> ArrayRef {
        Arc::new(self.texts.iter().map(|text| text.and_then(&parse)).collect::<PrimitiveArray<T>>())
    }

    /// Parses timestamps. A timestamp without an offset is a local time in the zone of the column.
    fn parse_moments<T: ArrowTimestampType>(&self, zone: Option<&Arc<str>>) -> Result<ArrayRef, ArrowError> {
        let parsed_zone = zone.map_or(Ok(Zone::UTC), |zone| Zone::parse(zone))?;
        // A timestamp with a fraction smaller than the unit is refused, not truncated.
        let moment = |text: &str| parse_moment(text, &parsed_zone)?.to_count(T::UNIT);
        let moments: PrimitiveArray<T> = self.texts.iter().map(|text| text.and_then(moment)).collect();
        Ok(Arc::new(moments.with_timezone_opt(zone.cloned())))
    }

    /// Returns the values in this type. A value that would have to be rounded becomes null.
    fn decode_values(&self, to: &DataType, options: &Options) -> Result<ArrayRef, ArrowError> {
        let external = |error: icecore_columns::Error| ArrowError::ExternalError(Box::new(error));
        let field = Field::new("", to.clone(), true);
        let mut decoder = Decoder::new(plain_json_stage(), &field, options.clone()).map_err(external)?;
        let json: BinaryArray = match self.is_json {
            true => self.texts.iter().map(|text| text.map(str::as_bytes)).collect(),
            false => self.texts.iter().map(|text| text.map(quote_json)).collect(),
        };
        Ok(decoder.decode(&json).map_err(external)?.column)
    }
}

/// Returns a column of these strings. `size` is their total number of bytes, or 0 if it is not known.
fn build_strings<'v, T: ByteArrayType>(
    values: impl ExactSizeIterator<Item = Option<&'v [u8]>>,
    size: usize,
) -> Result<ArrayRef, ArrowError> {
    let mut strings = Strings::<T::Offset>::with_capacity(values.len(), size);
    values.for_each(|value| strings.push(value));
    strings.finish::<T>()
}

fn quote_json(value: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len() + 2);
    text::write_json_string(value.as_bytes(), &mut out);
    out
}

/// Parses the words that programs write for booleans, and their abbreviations.
fn parse_boolean(text: &str) -> Option<bool> {
    let is_one_of = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text.trim()));
    match () {
        () if is_one_of(&["t", "tr", "tru", "true", "y", "ye", "yes", "on", "1"]) => Some(true),
        () if is_one_of(&["f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0"]) => Some(false),
        () => None,
    }
}

/// Returns a value for a message. A long value is cut to its two ends.
fn make_excerpt(value: &str) -> String {
    const MAX_EXCERPT: usize = 40;
    icecore::text::printable(&icecore::text::shortened(value, MAX_EXCERPT)).into_owned()
}
