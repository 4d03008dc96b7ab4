//! Converts columns to other types: values that do not fit are noted, and become null.
//!
//! The crate arrow-cast can do this, too. But it has code for every pair of types, which was a tenth of the command,
//! and it silently rounds decimals and cuts the fractions of floats.

use super::cells::Strings;
use super::filler::Notes;
use super::layout::options;
use super::learn::line_stage;
use super::texts::{
    Zone, parse_date_in_milliseconds, parse_day, parse_float, parse_half, parse_integer, parse_moment, parse_time,
};
use super::values::written;
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

/// Converts a column to another type; values that do not fit are noted, and become null.
///
/// # Errors
/// If no value of the column could become one of this type.
pub fn fitted(column: &ArrayRef, to: &DataType, at: usize, notes: &mut Notes<'_>) -> Result<ArrayRef, ArrowError> {
    if column.data_type() == to {
        return Ok(Arc::clone(column));
    }
    if *column.data_type() == DataType::Null {
        return Ok(new_null_array(to, column.len()));
    }
    let is_variable = matches!(to, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    if let (true, Ok(blobs)) = (is_variable, Blobs::of(column.as_ref())) {
        let blobs = (0..column.len()).map(|row| blobs.get(row));
        return match to {
            DataType::Binary => strings::<BinaryType>(blobs, 0),
            DataType::LargeBinary => strings::<LargeBinaryType>(blobs, 0),
            _ => Ok(Arc::new(blobs.collect::<BinaryViewArray>())),
        };
    }
    let cells = match column.as_string_opt::<i32>() {
        Some(texts) => Cells { texts: texts.clone(), is_json: false },
        None => {
            let (texts, is_json) = written(column)?;
            Cells { texts, is_json }
        }
    };
    let made = cells.to_type(to, &options(notes.plan))?;
    if made.null_count() != column.null_count() {
        let expected = icecore_columns::schema::print(&Field::new("", to.clone(), true));
        for row in (0..column.len()).filter(|row| made.is_null(*row) && column.is_valid(*row)) {
            notes.misfit(row, at, format!("expected {expected}, found `{}`", excerpt(cells.texts.value(row))));
        }
    }
    Ok(made)
}

/// The values of a column as text.
struct Cells {
    texts: StringArray,
    /// Whether each text is JSON; otherwise it is the value itself.
    is_json: bool,
}

impl Cells {
    fn to_type(&self, to: &DataType, options: &Options) -> Result<ArrayRef, ArrowError> {
        Ok(match to {
            DataType::Utf8 => self.strings::<Utf8Type>()?,
            DataType::LargeUtf8 => self.strings::<LargeUtf8Type>()?,
            DataType::Utf8View => Arc::new(self.texts.iter().collect::<StringViewArray>()),
            DataType::Binary => self.strings::<BinaryType>()?,
            DataType::LargeBinary => self.strings::<LargeBinaryType>()?,
            DataType::Boolean => {
                Arc::new(self.texts.iter().map(|text| text.and_then(boolean)).collect::<BooleanArray>())
            }
            DataType::Float16 => self.parsed::<Float16Type>(parse_half),
            DataType::Float32 => self.parsed::<Float32Type>(parse_float),
            DataType::Float64 => self.parsed::<Float64Type>(parse_float),
            // In JSON, the number 1.0 is an integer.
            to if self.is_json && (to.is_integer() || to.is_nested()) => self.decoded(to, options)?,
            DataType::Decimal128(..) => self.decoded(to, options)?,
            DataType::Int8 => self.parsed::<Int8Type>(parse_integer),
            DataType::Int16 => self.parsed::<Int16Type>(parse_integer),
            DataType::Int32 => self.parsed::<Int32Type>(parse_integer),
            DataType::Int64 => self.parsed::<Int64Type>(parse_integer),
            DataType::UInt8 => self.parsed::<UInt8Type>(parse_integer),
            DataType::UInt16 => self.parsed::<UInt16Type>(parse_integer),
            DataType::UInt32 => self.parsed::<UInt32Type>(parse_integer),
            DataType::UInt64 => self.parsed::<UInt64Type>(parse_integer),
            DataType::Date32 => self.parsed::<Date32Type>(parse_day),
            DataType::Date64 => self.parsed::<Date64Type>(parse_date_in_milliseconds),
            DataType::Time32(TimeUnit::Second) => {
                self.parsed::<Time32SecondType>(|text| parse_time(text, TimeUnit::Second))
            }
            DataType::Time32(TimeUnit::Millisecond) => {
                self.parsed::<Time32MillisecondType>(|text| parse_time(text, TimeUnit::Millisecond))
            }
            DataType::Time64(TimeUnit::Microsecond) => {
                self.parsed::<Time64MicrosecondType>(|text| parse_time(text, TimeUnit::Microsecond))
            }
            DataType::Time64(TimeUnit::Nanosecond) => {
                self.parsed::<Time64NanosecondType>(|text| parse_time(text, TimeUnit::Nanosecond))
            }
            DataType::Timestamp(TimeUnit::Second, zone) => self.moments::<TimestampSecondType>(zone.as_ref())?,
            DataType::Timestamp(TimeUnit::Millisecond, zone) => {
                self.moments::<TimestampMillisecondType>(zone.as_ref())?
            }
            DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                self.moments::<TimestampMicrosecondType>(zone.as_ref())?
            }
            DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
                self.moments::<TimestampNanosecondType>(zone.as_ref())?
            }
            _ => {
                return Err(ArrowError::CastError(format!(
                    "its values can't become {to}: --schema gives another type"
                )));
            }
        })
    }

    fn strings<T: ByteArrayType>(&self) -> Result<ArrayRef, ArrowError> {
        strings::<T>(self.texts.iter().map(|text| text.map(str::as_bytes)), self.texts.value_data().len())
    }

    fn parsed<T: ArrowPrimitiveType>(&self, parse: impl Fn(&str) -> Option<T::Native>) -> ArrayRef {
        Arc::new(self.texts.iter().map(|text| text.and_then(&parse)).collect::<PrimitiveArray<T>>())
    }

    /// Parses timestamps; one without an offset is a local time in the zone of the column.
    fn moments<T: ArrowTimestampType>(&self, zone: Option<&Arc<str>>) -> Result<ArrayRef, ArrowError> {
        let place = zone.map_or(Ok(Zone::UTC), |zone| Zone::parse(zone))?;
        // A timestamp with a fraction smaller than the unit is refused, not truncated.
        let moment = |text: &str| parse_moment(text, &place)?.count(T::UNIT);
        let moments: PrimitiveArray<T> = self.texts.iter().map(|text| text.and_then(moment)).collect();
        Ok(Arc::new(moments.with_timezone_opt(zone.cloned())))
    }

    /// Returns the values in this type, or null: nothing is rounded.
    fn decoded(&self, to: &DataType, options: &Options) -> Result<ArrayRef, ArrowError> {
        let external = |error: icecore_columns::Error| ArrowError::ExternalError(Box::new(error));
        let field = Field::new("", to.clone(), true);
        let mut decoder = Decoder::new(line_stage(), &field, options.clone()).map_err(external)?;
        let json: BinaryArray = match self.is_json {
            true => self.texts.iter().map(|text| text.map(str::as_bytes)).collect(),
            false => self.texts.iter().map(|text| text.map(quoted)).collect(),
        };
        Ok(decoder.decode(&json).map_err(external)?.column)
    }
}

/// Returns a column of these strings; `size` is their total number of bytes, 0 if unknown.
fn strings<'v, T: ByteArrayType>(
    values: impl ExactSizeIterator<Item = Option<&'v [u8]>>,
    size: usize,
) -> Result<ArrayRef, ArrowError> {
    let mut strings = Strings::<T::Offset>::with_capacity(values.len(), size);
    values.for_each(|value| strings.push(value));
    strings.finish::<T>()
}

fn quoted(value: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len() + 2);
    text::string(value.as_bytes(), &mut out);
    out
}

/// Parses the words that programs write for booleans, and their abbreviations.
fn boolean(text: &str) -> Option<bool> {
    let is_one_of = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text.trim()));
    match () {
        () if is_one_of(&["t", "tr", "tru", "true", "y", "ye", "yes", "on", "1"]) => Some(true),
        () if is_one_of(&["f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0"]) => Some(false),
        () => None,
    }
}

/// Returns a value for a message; of a long one, both ends.
fn excerpt(value: &str) -> String {
    const LONGEST: usize = 40;
    icecore::text::printable(&icecore::text::shortened(value, LONGEST)).into_owned()
}
