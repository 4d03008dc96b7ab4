//! The values of a column, row by row.

use super::graft::Graft;
use super::nodes::Nodes;
use crate::blobs::Blobs;
use crate::column::{DEPTH, What};
use crate::error::Error;
use crate::{AT, FILLED_WITH};
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

/// A column whose values are written; its type was examined once for all rows.
pub(super) struct Feed<'a> {
    values: Values<'a>,
    nulls: Option<NullBuffer>,
}

enum Values<'a> {
    Null,
    Bool(&'a BooleanArray),
    Int(ScalarBuffer<i64>),
    Uint(ScalarBuffer<u64>),
    Float(ScalarBuffer<f64>),
    Decimal(ScalarBuffer<i128>, i8),
    Date(ScalarBuffer<i32>),
    Time(ScalarBuffer<i64>, TimeUnit, bool),
    Text(Blobs<'a>),
    Bytes(Blobs<'a>),
    Json(Blobs<'a>, Box<Graft>),
    List(Box<dyn Fn(usize) -> std::ops::Range<usize> + 'a>, Box<Feed<'a>>),
    Map(Box<dyn Fn(usize) -> std::ops::Range<usize> + 'a>, Box<Feed<'a>>, Box<Feed<'a>>),
    Struct(Struct<'a>),
}

struct Struct<'a> {
    members: Vec<(Box<[u8]>, Feed<'a>)>,
    class: Option<Blobs<'a>>,
    rest: Option<(Blobs<'a>, Box<Graft>)>,
}

/// Checks that columns of this field can be written.
///
/// # Errors
/// [`Error::Field`] if they can't.
pub(super) fn check(field: &Field, depth: usize) -> Result<(), Error> {
    let refused = || Err(Error::Field { name: field.name().clone(), data_type: field.data_type().clone() });
    if depth > DEPTH || field.metadata().contains_key(AT) {
        return refused();
    }
    if let Some(word) = field.metadata().get(FILLED_WITH) {
        return if What::parse(word).is_some() && is_text(field.data_type()) { Ok(()) } else { refused() };
    }
    match field.data_type() {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => check(item, depth + 1),
        DataType::Struct(fields) => fields.iter().try_for_each(|field| check(field, depth + 1)),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(parts) if parts.len() == 2 => parts.iter().try_for_each(|part| check(part, depth + 1)),
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
        other if is_text(other) || is_bytes(other) => Ok(()),
        _ => refused(),
    }
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

fn is_bytes(data_type: &DataType) -> bool {
    match data_type {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => true,
        DataType::Dictionary(_, values) => is_bytes(values),
        _ => false,
    }
}

impl<'a> Feed<'a> {
    /// Creates the feed of a field that was checked.
    pub(super) fn new(field: &Field, array: &'a dyn Array) -> Result<Feed<'a>, Error> {
        let refused = || Error::Field { name: field.name().clone(), data_type: array.data_type().clone() };
        let told = field.metadata().get(FILLED_WITH).and_then(|word| What::parse(word));
        let values = match array.data_type() {
            _ if told == Some(What::Json) => Values::Json(Blobs::of(array)?, Box::new(Graft::new()?)),
            DataType::Null => Values::Null,
            DataType::Boolean => Values::Bool(array.as_boolean()),
            DataType::Int8 => Values::Int(widened::<Int8Type>(array)),
            DataType::Int16 => Values::Int(widened::<Int16Type>(array)),
            DataType::Int32 => Values::Int(widened::<Int32Type>(array)),
            DataType::Int64 => Values::Int(array.as_primitive::<Int64Type>().values().clone()),
            DataType::UInt8 => Values::Int(widened::<UInt8Type>(array)),
            DataType::UInt16 => Values::Int(widened::<UInt16Type>(array)),
            DataType::UInt32 => Values::Int(widened::<UInt32Type>(array)),
            DataType::UInt64 => Values::Uint(array.as_primitive::<UInt64Type>().values().clone()),
            DataType::Float32 => {
                let values = array.as_primitive::<Float32Type>().values();
                Values::Float(values.iter().map(|value| f64::from(*value)).collect())
            }
            DataType::Float64 => Values::Float(array.as_primitive::<Float64Type>().values().clone()),
            DataType::Decimal128(_, scale) => {
                Values::Decimal(array.as_primitive::<Decimal128Type>().values().clone(), *scale)
            }
            DataType::Date32 => Values::Date(array.as_primitive::<Date32Type>().values().clone()),
            DataType::Timestamp(unit, zone) => Values::Time(times(array, *unit), *unit, zone.is_some()),
            DataType::List(item) => {
                let list = array.as_list::<i32>();
                let offsets = list.value_offsets();
                let range = |row: usize| offsets[row] as usize..offsets[row + 1] as usize;
                Values::List(Box::new(range), Box::new(Feed::new(item, list.values().as_ref())?))
            }
            DataType::LargeList(item) => {
                let list = array.as_list::<i64>();
                let offsets = list.value_offsets();
                let range = |row: usize| offsets[row] as usize..offsets[row + 1] as usize;
                Values::List(Box::new(range), Box::new(Feed::new(item, list.values().as_ref())?))
            }
            DataType::FixedSizeList(item, len) => {
                let list = array.as_fixed_size_list();
                let len = usize::try_from(*len).unwrap_or(0);
                let range = move |row: usize| row * len..(row + 1) * len;
                Values::List(Box::new(range), Box::new(Feed::new(item, list.values().as_ref())?))
            }
            DataType::Map(entries, _) => {
                let DataType::Struct(parts) = entries.data_type() else { return Err(refused()) };
                let map = array.as_map();
                let offsets = map.value_offsets();
                let range = |row: usize| offsets[row] as usize..offsets[row + 1] as usize;
                let keys = Feed::new(&parts[0], map.keys().as_ref())?;
                let values = Feed::new(&parts[1], map.values().as_ref())?;
                Values::Map(Box::new(range), Box::new(keys), Box::new(values))
            }
            DataType::Struct(fields) => Values::Struct(Struct::new(fields, array.as_struct())?),
            other if is_text(other) => Values::Text(Blobs::of(array)?),
            other if is_bytes(other) => Values::Bytes(Blobs::of(array)?),
            _ => return Err(refused()),
        };
        Ok(Feed { values, nulls: array.logical_nulls() })
    }

    pub(super) fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// Writes the value of a row.
    pub(super) fn write(&mut self, row: usize, to: &mut Nodes<'_>) -> Result<(), icecore::Error> {
        if self.is_null(row) {
            to.push(Node::leaf(Kind::Null, 0));
            return Ok(());
        }
        match &mut self.values {
            Values::Null => drop(to.push(Node::leaf(Kind::Null, 0))),
            Values::Bool(values) => drop(to.push(Node::leaf(Kind::Bool, u64::from(values.value(row))))),
            Values::Int(values) => drop(to.push(Node::int(values[row]))),
            Values::Uint(values) => drop(to.push(Node::uint(values[row]))),
            Values::Float(values) => drop(to.push(Node::float(values[row]))),
            Values::Decimal(values, scale) => to.string(Kind::Text, decimal(values[row], *scale).as_bytes())?,
            Values::Date(values) => to.string(Kind::Text, day(values[row])?.as_bytes())?,
            Values::Time(values, unit, has_zone) => {
                to.string(Kind::Text, time(values[row], *unit, *has_zone)?.as_bytes())?;
            }
            Values::Text(values) => to.string(Kind::Text, values.get(row).unwrap_or_default())?,
            Values::Bytes(values) => to.string(Kind::Bytes, values.get(row).unwrap_or_default())?,
            Values::Json(values, graft) => graft.value(values.get(row).unwrap_or_default(), to)?,
            Values::List(range, items) => {
                let range = range(row);
                let count = range.len();
                let place = to.push(Node::open(Kind::Array, 0));
                for item in range {
                    items.write(item, to)?;
                }
                to.end(place, count)?;
            }
            Values::Map(range, keys, values) => {
                let range = range(row);
                let count = range.len();
                let place = to.push(Node::open(Kind::Map, 0));
                for entry in range {
                    keys.write_key(entry, to)?;
                    values.write(entry, to)?;
                }
                to.end(place, count)?;
            }
            Values::Struct(members) => members.write(row, to)?,
        }
        Ok(())
    }

    fn write_key(&self, row: usize, to: &mut Nodes<'_>) -> Result<(), icecore::Error> {
        match &self.values {
            Values::Text(values) => to.key(Kind::Text, values.get(row).unwrap_or_default()),
            Values::Bytes(values) => to.key(Kind::Bytes, values.get(row).unwrap_or_default()),
            Values::Int(values) => {
                to.number_key(Node::int(values[row]));
                Ok(())
            }
            _ => Err(icecore::Error::new(ErrorKind::Unrepresentable)
                .expecting("keys that are strings or integers")
                .finding("another type")),
        }
    }
}

impl<'a> Struct<'a> {
    fn new(fields: &Fields, array: &'a StructArray) -> Result<Struct<'a>, Error> {
        let mut parts = Struct { members: Vec::new(), class: None, rest: None };
        for (field, column) in fields.iter().zip(array.columns()) {
            let told = field.metadata().get(FILLED_WITH).and_then(|word| What::parse(word));
            match told {
                Some(What::Class) => parts.class = Some(Blobs::of(column.as_ref())?),
                Some(What::Rest) => parts.rest = Some((Blobs::of(column.as_ref())?, Box::new(Graft::new()?))),
                _ => parts.members.push((field.name().as_bytes().into(), Feed::new(field, column.as_ref())?)),
            }
        }
        Ok(parts)
    }

    fn write(&mut self, row: usize, to: &mut Nodes<'_>) -> Result<(), icecore::Error> {
        let object = match self.class.as_ref().and_then(|class| class.get(row)) {
            Some(class) => Some(to.begin_object(class)?),
            None => None,
        };
        let place = to.push(Node::open(Kind::Map, 0));
        let mut count = self.members.len();
        for (name, member) in &mut self.members {
            to.key(Kind::Text, name)?;
            member.write(row, to)?;
        }
        if let Some((rest, graft)) = &mut self.rest
            && let Some(text) = rest.get(row)
        {
            count += graft.entries(text, to)?;
        }
        to.end(place, count)?;
        object.map_or(Ok(()), |object| to.end(object, 1))
    }
}

fn widened<T: ArrowPrimitiveType>(array: &dyn Array) -> ScalarBuffer<i64>
where
    i64: From<T::Native>,
{
    array.as_primitive::<T>().values().iter().map(|value| i64::from(*value)).collect()
}

fn times(array: &dyn Array, unit: TimeUnit) -> ScalarBuffer<i64> {
    match unit {
        TimeUnit::Second => array.as_primitive::<TimestampSecondType>().values().clone(),
        TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().values().clone(),
        TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().values().clone(),
        TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().values().clone(),
    }
}

fn decimal(unscaled: i128, scale: i8) -> String {
    let Ok(scale @ 1..) = usize::try_from(scale) else {
        return format!("{unscaled}{}", "0".repeat(usize::from(scale.unsigned_abs())));
    };
    let digits = format!("{:0>1$}", unscaled.unsigned_abs(), scale + 1);
    let (whole, places) = digits.split_at(digits.len() - scale);
    format!("{}{whole}.{places}", if unscaled < 0 { "-" } else { "" })
}

fn day(days: i32) -> Result<String, icecore::Error> {
    let second = i64::from(days) * 86_400;
    let time = jiff::Timestamp::from_second(second).map_err(|_| out_of_years())?;
    Ok(jiff::tz::Offset::UTC.to_datetime(time).date().to_string())
}

fn time(value: i64, unit: TimeUnit, has_zone: bool) -> Result<String, icecore::Error> {
    let time = match unit {
        TimeUnit::Second => jiff::Timestamp::from_second(value),
        TimeUnit::Millisecond => jiff::Timestamp::from_millisecond(value),
        TimeUnit::Microsecond => jiff::Timestamp::from_microsecond(value),
        TimeUnit::Nanosecond => jiff::Timestamp::from_nanosecond(value.into()),
    };
    let time = time.map_err(|_| out_of_years())?;
    let mut text = String::new();
    let _ = match has_zone {
        true => write!(text, "{time}"),
        false => write!(text, "{}", jiff::tz::Offset::UTC.to_datetime(time)),
    };
    Ok(text)
}

#[cold]
fn out_of_years() -> icecore::Error {
    icecore::Error::new(ErrorKind::Unrepresentable).expecting("a time in the years -9999 to 9999").finding("another")
}
