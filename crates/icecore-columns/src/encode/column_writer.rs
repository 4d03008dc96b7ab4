//! Writes the values of a column, row by row.

use super::json_copier::JsonCopier;
use super::tape_builder::TapeBuilder;
use crate::blobs::Blobs;
use crate::column::{MAX_DEPTH, VirtualKind};
use crate::error::Error;
use crate::{FILLED_WITH, PATH_METADATA};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, BooleanArray, StructArray};
use arrow_buffer::{NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use icecore::raw::Node;
use icecore::{ErrorKind, Kind};
use std::fmt::Write;

/// A column whose values are written. The type of the column is examined once, and not for each row.
pub(super) struct ColumnWriter<'a> {
    values: SourceValues<'a>,
    nulls: Option<NullBuffer>,
}

enum SourceValues<'a> {
    Null,
    Bool(&'a BooleanArray),
    Int(ScalarBuffer<i64>),
    Uint(ScalarBuffer<u64>),
    Float(ScalarBuffer<f64>),
    /// Integers in units of the last decimal place, and the number of places.
    Decimal(ScalarBuffer<i128>, i8),
    Date(ScalarBuffer<i32>),
    /// Times, their unit, and whether they have a time zone.
    Time(ScalarBuffer<i64>, TimeUnit, bool),
    Text(Blobs<'a>),
    Bytes(Blobs<'a>),
    Json(Blobs<'a>, Box<JsonCopier>),
    /// A function that returns the range of a row's items, and the items.
    List(Box<dyn Fn(usize) -> std::ops::Range<usize> + 'a>, Box<ColumnWriter<'a>>),
    /// A function that returns the range of a row's entries, their keys, and their values.
    Map(Box<dyn Fn(usize) -> std::ops::Range<usize> + 'a>, Box<ColumnWriter<'a>>, Box<ColumnWriter<'a>>),
    Struct(StructWriter<'a>),
}

struct StructWriter<'a> {
    members: Vec<(Box<[u8]>, ColumnWriter<'a>)>,
    class: Option<Blobs<'a>>,
    rest: Option<(Blobs<'a>, Box<JsonCopier>)>,
}

/// Checks that columns of this field can be written.
///
/// # Errors
/// [`Error::Field`] if they can't.
pub(super) fn check_field(field: &Field, depth: usize) -> Result<(), Error> {
    let refused = || Err(Error::Field { name: field.name().clone(), data_type: field.data_type().clone() });
    if depth > MAX_DEPTH || field.metadata().contains_key(PATH_METADATA) {
        return refused();
    }
    if let Some(word) = field.metadata().get(FILLED_WITH) {
        return if VirtualKind::parse(word).is_some() && is_text_type(field.data_type()) { Ok(()) } else { refused() };
    }
    match field.data_type() {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            check_field(item, depth + 1)
        }
        DataType::Struct(fields) => fields.iter().try_for_each(|field| check_field(field, depth + 1)),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(parts) if parts.len() == 2 => {
                parts.iter().try_for_each(|part| check_field(part, depth + 1))
            }
            _ => refused(),
        },
        DataType::Null
        | DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Float32
        | DataType::Float64
        | DataType::Decimal128(..)
        | DataType::Date32
        | DataType::Timestamp(..) => Ok(()),
        other if is_text_type(other) || is_bytes_type(other) => Ok(()),
        _ => refused(),
    }
}

fn is_text_type(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text_type(values),
        _ => false,
    }
}

fn is_bytes_type(data_type: &DataType) -> bool {
    match data_type {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => true,
        DataType::Dictionary(_, values) => is_bytes_type(values),
        _ => false,
    }
}

impl<'a> ColumnWriter<'a> {
    /// Creates the writer of a field that [`check_field`] accepted.
    pub(super) fn new(field: &Field, array: &'a dyn Array) -> Result<ColumnWriter<'a>, Error> {
        let refused = || Error::Field { name: field.name().clone(), data_type: array.data_type().clone() };
        let virtual_kind = field.metadata().get(FILLED_WITH).and_then(|word| VirtualKind::parse(word));
        let values = match array.data_type() {
            _ if virtual_kind == Some(VirtualKind::Json) => {
                SourceValues::Json(Blobs::from_array(array)?, Box::new(JsonCopier::new()?))
            }
            DataType::Null => SourceValues::Null,
            DataType::Boolean => SourceValues::Bool(array.as_boolean()),
            DataType::Int8 => SourceValues::Int(widen_integers::<Int8Type>(array)),
            DataType::Int16 => SourceValues::Int(widen_integers::<Int16Type>(array)),
            DataType::Int32 => SourceValues::Int(widen_integers::<Int32Type>(array)),
            DataType::Int64 => SourceValues::Int(array.as_primitive::<Int64Type>().values().clone()),
            DataType::UInt8 => SourceValues::Int(widen_integers::<UInt8Type>(array)),
            DataType::UInt16 => SourceValues::Int(widen_integers::<UInt16Type>(array)),
            DataType::UInt32 => SourceValues::Int(widen_integers::<UInt32Type>(array)),
            DataType::UInt64 => SourceValues::Uint(array.as_primitive::<UInt64Type>().values().clone()),
            DataType::Float32 => {
                let values = array.as_primitive::<Float32Type>().values();
                SourceValues::Float(values.iter().map(|value| f64::from(*value)).collect())
            }
            DataType::Float64 => SourceValues::Float(array.as_primitive::<Float64Type>().values().clone()),
            DataType::Decimal128(_, scale) => {
                SourceValues::Decimal(array.as_primitive::<Decimal128Type>().values().clone(), *scale)
            }
            DataType::Date32 => SourceValues::Date(array.as_primitive::<Date32Type>().values().clone()),
            DataType::Timestamp(unit, zone) => {
                SourceValues::Time(timestamp_values(array, *unit), *unit, zone.is_some())
            }
            DataType::List(item) => {
                let list = array.as_list::<i32>();
                let offsets = list.value_offsets();
                let range = |row: usize| offsets[row] as usize..offsets[row + 1] as usize;
                SourceValues::List(Box::new(range), Box::new(ColumnWriter::new(item, list.values().as_ref())?))
            }
            DataType::LargeList(item) => {
                let list = array.as_list::<i64>();
                let offsets = list.value_offsets();
                let range = |row: usize| offsets[row] as usize..offsets[row + 1] as usize;
                SourceValues::List(Box::new(range), Box::new(ColumnWriter::new(item, list.values().as_ref())?))
            }
            DataType::FixedSizeList(item, len) => {
                let list = array.as_fixed_size_list();
                let len = usize::try_from(*len).unwrap_or(0);
                let range = move |row: usize| row * len..(row + 1) * len;
                SourceValues::List(Box::new(range), Box::new(ColumnWriter::new(item, list.values().as_ref())?))
            }
            DataType::Map(entries, _) => {
                let DataType::Struct(parts) = entries.data_type() else { return Err(refused()) };
                let map = array.as_map();
                let offsets = map.value_offsets();
                let range = |row: usize| offsets[row] as usize..offsets[row + 1] as usize;
                let keys = ColumnWriter::new(&parts[0], map.keys().as_ref())?;
                let values = ColumnWriter::new(&parts[1], map.values().as_ref())?;
                SourceValues::Map(Box::new(range), Box::new(keys), Box::new(values))
            }
            DataType::Struct(fields) => SourceValues::Struct(StructWriter::new(fields, array.as_struct())?),
            other if is_text_type(other) => SourceValues::Text(Blobs::from_array(array)?),
            other if is_bytes_type(other) => SourceValues::Bytes(Blobs::from_array(array)?),
            _ => return Err(refused()),
        };
        Ok(ColumnWriter { values, nulls: array.logical_nulls() })
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Writes the value of a row.
    pub(super) fn write_value(&mut self, row: usize, builder: &mut TapeBuilder<'_>) -> Result<(), icecore::Error> {
        if self.is_null(row) {
            builder.push_node(Node::leaf(Kind::Null, 0));
            return Ok(());
        }
        match &mut self.values {
            SourceValues::Null => drop(builder.push_node(Node::leaf(Kind::Null, 0))),
            SourceValues::Bool(values) => drop(builder.push_node(Node::leaf(Kind::Bool, u64::from(values.value(row))))),
            SourceValues::Int(values) => drop(builder.push_node(Node::int(values[row]))),
            SourceValues::Uint(values) => drop(builder.push_node(Node::uint(values[row]))),
            SourceValues::Float(values) => drop(builder.push_node(Node::float(values[row]))),
            SourceValues::Decimal(values, scale) => {
                builder.push_string(Kind::Text, format_decimal(values[row], *scale).as_bytes())?
            }
            SourceValues::Date(values) => builder.push_string(Kind::Text, format_day(values[row])?.as_bytes())?,
            SourceValues::Time(values, unit, has_zone) => {
                builder.push_string(Kind::Text, format_time(values[row], *unit, *has_zone)?.as_bytes())?;
            }
            SourceValues::Text(values) => builder.push_string(Kind::Text, values.get(row).unwrap_or_default())?,
            SourceValues::Bytes(values) => builder.push_string(Kind::Bytes, values.get(row).unwrap_or_default())?,
            SourceValues::Json(values, json_copier) => {
                json_copier.write_value(values.get(row).unwrap_or_default(), builder)?
            }
            SourceValues::List(range, items) => {
                let range = range(row);
                let count = range.len();
                let container = builder.push_node(Node::open(Kind::Array, 0));
                for item in range {
                    items.write_value(item, builder)?;
                }
                builder.end_container(container, count)?;
            }
            SourceValues::Map(range, keys, values) => {
                let range = range(row);
                let count = range.len();
                let container = builder.push_node(Node::open(Kind::Map, 0));
                for entry in range {
                    keys.write_key(entry, builder)?;
                    values.write_value(entry, builder)?;
                }
                builder.end_container(container, count)?;
            }
            SourceValues::Struct(members) => members.write_struct(row, builder)?,
        }
        Ok(())
    }

    fn write_key(&self, row: usize, builder: &mut TapeBuilder<'_>) -> Result<(), icecore::Error> {
        match &self.values {
            SourceValues::Text(values) => builder.set_key(Kind::Text, values.get(row).unwrap_or_default()),
            SourceValues::Bytes(values) => builder.set_key(Kind::Bytes, values.get(row).unwrap_or_default()),
            SourceValues::Int(values) => {
                builder.set_number_key(Node::int(values[row]));
                Ok(())
            }
            _ => Err(icecore::Error::new(ErrorKind::Unrepresentable)
                .expecting("keys that are strings or integers")
                .finding("another type")),
        }
    }
}

impl<'a> StructWriter<'a> {
    fn new(fields: &Fields, array: &'a StructArray) -> Result<StructWriter<'a>, Error> {
        let mut writer = StructWriter { members: Vec::new(), class: None, rest: None };
        for (field, column) in fields.iter().zip(array.columns()) {
            let virtual_kind = field.metadata().get(FILLED_WITH).and_then(|word| VirtualKind::parse(word));
            match virtual_kind {
                Some(VirtualKind::Class) => writer.class = Some(Blobs::from_array(column.as_ref())?),
                Some(VirtualKind::Rest) => {
                    writer.rest = Some((Blobs::from_array(column.as_ref())?, Box::new(JsonCopier::new()?)))
                }
                _ => writer.members.push((field.name().as_bytes().into(), ColumnWriter::new(field, column.as_ref())?)),
            }
        }
        Ok(writer)
    }

    fn write_struct(&mut self, row: usize, builder: &mut TapeBuilder<'_>) -> Result<(), icecore::Error> {
        let object = match self.class.as_ref().and_then(|class| class.get(row)) {
            Some(class) => Some(builder.begin_object(class)?),
            None => None,
        };
        let container = builder.push_node(Node::open(Kind::Map, 0));
        // The number of entries is known only after the entries of `rest` are written.
        let mut count = self.members.len();
        for (name, member) in &mut self.members {
            builder.set_key(Kind::Text, name)?;
            member.write_value(row, builder)?;
        }
        if let Some((rest, json_copier)) = &mut self.rest
            && let Some(text) = rest.get(row)
        {
            count += json_copier.write_entries(text, builder)?;
        }
        builder.end_container(container, count)?;
        object.map_or(Ok(()), |object| builder.end_container(object, 1))
    }
}

fn widen_integers<T: ArrowPrimitiveType>(array: &dyn Array) -> ScalarBuffer<i64>
where
    i64: From<T::Native>,
{
    array.as_primitive::<T>().values().iter().map(|value| i64::from(*value)).collect()
}

fn timestamp_values(array: &dyn Array, unit: TimeUnit) -> ScalarBuffer<i64> {
    match unit {
        TimeUnit::Second => array.as_primitive::<TimestampSecondType>().values().clone(),
        TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().values().clone(),
        TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().values().clone(),
        TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().values().clone(),
    }
}

fn format_decimal(unscaled: i128, scale: i8) -> String {
    // A scale that is not positive adds zeros instead of a point.
    let Ok(scale @ 1..) = usize::try_from(scale) else {
        return format!("{unscaled}{}", "0".repeat(usize::from(scale.unsigned_abs())));
    };
    // With one digit more than the scale, there is always a digit before the point.
    let digits = format!("{:0>1$}", unscaled.unsigned_abs(), scale + 1);
    let (integer_part, fraction) = digits.split_at(digits.len() - scale);
    format!("{}{integer_part}.{fraction}", if unscaled < 0 { "-" } else { "" })
}

fn format_day(days: i32) -> Result<String, icecore::Error> {
    let second = i64::from(days) * 86_400;
    let time = jiff::Timestamp::from_second(second).map_err(|_| year_range_error())?;
    Ok(jiff::tz::Offset::UTC.to_datetime(time).date().to_string())
}

fn format_time(value: i64, unit: TimeUnit, has_zone: bool) -> Result<String, icecore::Error> {
    let time = match unit {
        TimeUnit::Second => jiff::Timestamp::from_second(value),
        TimeUnit::Millisecond => jiff::Timestamp::from_millisecond(value),
        TimeUnit::Microsecond => jiff::Timestamp::from_microsecond(value),
        TimeUnit::Nanosecond => jiff::Timestamp::from_nanosecond(value.into()),
    };
    let time = time.map_err(|_| year_range_error())?;
    let mut text = String::new();
    let _ = match has_zone {
        true => write!(text, "{time}"),
        false => write!(text, "{}", jiff::tz::Offset::UTC.to_datetime(time)),
    };
    Ok(text)
}

#[cold]
fn year_range_error() -> icecore::Error {
    icecore::Error::new(ErrorKind::Unrepresentable).expecting("a time in the years -9999 to 9999").finding("another")
}
