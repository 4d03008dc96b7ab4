//! A column that is being filled.

mod record;
mod text;

use crate::FILLED_WITH;
use crate::error::Error;
use crate::misfit::Misfit;
use crate::view::{Key, Value, View};
use arrow_array::types::{BinaryType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{ArrayRef, BooleanArray, GenericListArray, MapArray, OffsetSizeTrait, PrimitiveArray, StructArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use icecore::{Codec, Kind, Stage};
use std::sync::Arc;

pub(crate) use record::Record;
use text::Strings;

/// How deep types may be.
const DEPTH: usize = 64;

/// The values of one field.
#[derive(Debug)]
pub(crate) struct Column {
    values: Values,
    nulls: NullBufferBuilder,
    is_nullable: bool,
}

#[derive(Debug)]
enum Values {
    Bool(BooleanBufferBuilder),
    Int(Vec<i64>, Integer),
    Uint(Vec<u64>),
    Float(Vec<f64>),
    Float32(Vec<f32>),
    Utf8(Strings<i32>),
    LargeUtf8(Strings<i64>),
    Binary(Strings<i32>),
    LargeBinary(Strings<i64>),
    List(Vec<i32>, FieldRef, Box<Column>),
    LargeList(Vec<i64>, FieldRef, Box<Column>),
    Map(Entries),
    Record(Record),
    Class(Strings<i32>),
    Json(Strings<i32>, Codec),
}

/// An integer type of Arrow whose values an `i64` holds.
#[derive(Clone, Copy, Debug)]
enum Integer {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
}

#[derive(Debug)]
struct Entries {
    offsets: Vec<i32>,
    entries: FieldRef,
    is_sorted: bool,
    keys: Box<Column>,
    values: Box<Column>,
}

impl Integer {
    fn holds(self, value: i64) -> bool {
        match self {
            Integer::I8 => i8::try_from(value).is_ok(),
            Integer::I16 => i16::try_from(value).is_ok(),
            Integer::I32 => i32::try_from(value).is_ok(),
            Integer::I64 => true,
            Integer::U8 => u8::try_from(value).is_ok(),
            Integer::U16 => u16::try_from(value).is_ok(),
            Integer::U32 => u32::try_from(value).is_ok(),
        }
    }
}

impl Column {
    /// A column for this field, which stands so deep.
    pub(crate) fn new(field: &Field, depth: usize) -> Result<Column, Error> {
        let refused = || Error::Field { name: field.name().clone(), data_type: field.data_type().clone() };
        if depth > DEPTH {
            return Err(refused());
        }
        let inner = |field: &FieldRef| Column::new(field, depth + 1).map(Box::new);
        let values = match (field.metadata().get(FILLED_WITH).map(String::as_str), field.data_type()) {
            (Some("class"), DataType::Utf8) => Values::Class(Strings::new()),
            (Some("json"), DataType::Utf8) => Values::Json(Strings::new(), Codec::new(Stage::parse("json")?)),
            (Some(_), _) => return Err(refused()),
            (None, data_type) => match data_type {
                DataType::Boolean => Values::Bool(BooleanBufferBuilder::new(0)),
                DataType::Int8 => Values::Int(Vec::new(), Integer::I8),
                DataType::Int16 => Values::Int(Vec::new(), Integer::I16),
                DataType::Int32 => Values::Int(Vec::new(), Integer::I32),
                DataType::Int64 => Values::Int(Vec::new(), Integer::I64),
                DataType::UInt8 => Values::Int(Vec::new(), Integer::U8),
                DataType::UInt16 => Values::Int(Vec::new(), Integer::U16),
                DataType::UInt32 => Values::Int(Vec::new(), Integer::U32),
                DataType::UInt64 => Values::Uint(Vec::new()),
                DataType::Float64 => Values::Float(Vec::new()),
                DataType::Float32 => Values::Float32(Vec::new()),
                DataType::Utf8 => Values::Utf8(Strings::new()),
                DataType::LargeUtf8 => Values::LargeUtf8(Strings::new()),
                DataType::Binary => Values::Binary(Strings::new()),
                DataType::LargeBinary => Values::LargeBinary(Strings::new()),
                DataType::List(item) => Values::List(vec![0], item.clone(), inner(item)?),
                DataType::LargeList(item) => Values::LargeList(vec![0], item.clone(), inner(item)?),
                DataType::Map(entries, is_sorted) => {
                    let DataType::Struct(parts) = entries.data_type() else { return Err(refused()) };
                    let [keys, values] = &**parts else { return Err(refused()) };
                    Values::Map(Entries {
                        offsets: vec![0],
                        entries: entries.clone(),
                        is_sorted: *is_sorted,
                        keys: inner(keys)?,
                        values: inner(values)?,
                    })
                }
                DataType::Struct(fields) => Values::Record(Record::new(fields, depth + 1)?),
                _ => return Err(refused()),
            },
        };
        Ok(Column { values, nulls: NullBufferBuilder::new(0), is_nullable: field.is_nullable() })
    }

    /// Whether it tells of the value that it stands in, instead of a part of it.
    pub(crate) fn is_told(&self) -> bool {
        matches!(self.values, Values::Class(_))
    }

    /// Whether something is filled by what only a document can say.
    pub(crate) fn needs_document(&self) -> bool {
        match &self.values {
            Values::Json(..) => true,
            Values::List(.., item) | Values::LargeList(.., item) => item.needs_document(),
            Values::Map(map) => map.keys.needs_document() || map.values.needs_document(),
            Values::Record(record) => record.needs_document(),
            _ => false,
        }
    }

    /// Forgets what it knows of the keys of tapes.
    pub(crate) fn forget_names(&mut self) {
        match &mut self.values {
            Values::List(.., item) | Values::LargeList(.., item) => item.forget_names(),
            Values::Map(map) => map.values.forget_names(),
            Values::Record(record) => record.forget_names(),
            _ => {}
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.nulls.len()
    }

    /// Adds the value at this node. What was added of one that does not fit must be taken away
    /// by [`Column::truncate`].
    #[inline]
    pub(crate) fn push(&mut self, view: View<'_>, at: u32) -> Result<(), Misfit> {
        if matches!(self.values, Values::Class(_) | Values::Json(..)) {
            return self.push_told(view, at);
        }
        let at = view.settle(at)?;
        let value = view.value(at);
        view.spend(at, if let Value::Text(text) = value { text.len() } else { 0 })?;
        let is_pushed = match (&mut self.values, &value) {
            (_, Value::Null) => return self.push_null(at),
            (Values::Bool(values), Value::Bool(value)) => {
                values.append(*value);
                true
            }
            (Values::Int(values, to), value) => match integer(value).filter(|value| to.holds(*value)) {
                Some(value) => {
                    values.push(value);
                    true
                }
                None => false,
            },
            (Values::Uint(values), value) => {
                let value = match value {
                    Value::Uint(value) => Some(*value),
                    Value::Text(text) => number(text),
                    value => integer(value).and_then(|value| u64::try_from(value).ok()),
                };
                value.map(|value| values.push(value)).is_some()
            }
            (Values::Float(values), value) => float(value).map(|value| values.push(value)).is_some(),
            (Values::Float32(values), value) => {
                let narrow = |value: f64| (f64::from(value as f32) == value || value.is_nan()).then_some(value as f32);
                float(value).and_then(narrow).map(|value| values.push(value)).is_some()
            }
            (Values::Utf8(values), value) => text(value, |text| values.push(text)),
            (Values::LargeUtf8(values), value) => text(value, |text| values.push(text)),
            (Values::Binary(values), Value::Text(value)) => values.push(value),
            (Values::LargeBinary(values), Value::Text(value)) => values.push(value),
            (Values::List(offsets, _, column), Value::List) => fill_list(offsets, column, view, at)?,
            (Values::LargeList(offsets, _, column), Value::List) => fill_list(offsets, column, view, at)?,
            // A language without lists has no empty one.
            (Values::List(offsets, ..), Value::Map) if view.node(at).aux == 0 => extend_same(offsets),
            (Values::LargeList(offsets, ..), Value::Map) if view.node(at).aux == 0 => extend_same(offsets),
            (Values::Map(map), Value::Map | Value::List) => map.fill(view, at)?,
            (Values::Record(record), Value::Map) => {
                record.push(view, at)?;
                true
            }
            (Values::Record(record), Value::List) if view.node(at).aux == 0 => {
                record.push(view, at)?;
                true
            }
            _ => false,
        };
        if !is_pushed {
            return Err(self.misfit(view, at));
        }
        self.nulls.append_non_null();
        Ok(())
    }

    /// Adds what is said of a value, not the value.
    fn push_told(&mut self, view: View<'_>, at: u32) -> Result<(), Misfit> {
        let too_much = || Misfit::new(at, "at most 2 GB of strings in a batch", "more");
        match &mut self.values {
            Values::Class(values) => match view.class(at) {
                Some(class) if std::str::from_utf8(class).is_err() => {
                    return Err(Misfit::new(at, "the name of a class in UTF-8", "other bytes"));
                }
                Some(class) if values.push(class) => {}
                Some(_) => return Err(too_much()),
                None => return self.push_null(at),
            },
            Values::Json(values, codec) => {
                let misfit = |error: icecore::Error| Misfit::new(at, "a value that JSON can say", error.to_string());
                let mut text = Vec::new();
                if let Some(document) = view.document {
                    let part = document.part(at).map_err(misfit)?;
                    view.spend(at, size_of_val(part.nodes()))?;
                    codec.write(&part, &mut text).map_err(misfit)?;
                    view.spend(at, text.len())?;
                }
                if !values.push(&text) {
                    return Err(too_much());
                }
            }
            _ => {}
        }
        self.nulls.append_non_null();
        Ok(())
    }

    /// Adds null; an error, if that may not be. `at`: what is null, or where it is missing.
    pub(crate) fn push_null(&mut self, at: u32) -> Result<(), Misfit> {
        if !self.is_nullable {
            return Err(Misfit::new(at, self.expected(), "null"));
        }
        self.fill_null();
        Ok(())
    }

    /// Adds null, though nobody may see it.
    pub(crate) fn fill_null(&mut self) {
        match &mut self.values {
            Values::Bool(values) => values.append(false),
            Values::Int(values, _) => values.push(0),
            Values::Uint(values) => values.push(0),
            Values::Float(values) => values.push(0.0),
            Values::Float32(values) => values.push(0.0),
            Values::Utf8(values) | Values::Binary(values) | Values::Class(values) | Values::Json(values, _) => {
                values.push(b"");
            }
            Values::LargeUtf8(values) | Values::LargeBinary(values) => {
                values.push(b"");
            }
            Values::List(offsets, ..) => {
                extend_same(offsets);
            }
            Values::LargeList(offsets, ..) => {
                extend_same(offsets);
            }
            Values::Map(map) => {
                extend_same(&mut map.offsets);
            }
            Values::Record(record) => record.fill_null(),
        }
        self.nulls.append_null();
    }

    /// Takes away what was added behind the first `len` values.
    pub(crate) fn truncate(&mut self, len: usize) {
        match &mut self.values {
            Values::Bool(values) => values.truncate(len),
            Values::Int(values, _) => values.truncate(len),
            Values::Uint(values) => values.truncate(len),
            Values::Float(values) => values.truncate(len),
            Values::Float32(values) => values.truncate(len),
            Values::Utf8(values) | Values::Binary(values) | Values::Class(values) | Values::Json(values, _) => {
                values.truncate(len);
            }
            Values::LargeUtf8(values) | Values::LargeBinary(values) => values.truncate(len),
            Values::List(offsets, _, item) => {
                offsets.truncate(len + 1);
                item.truncate(offsets.last().map_or(0, |end| *end as usize));
            }
            Values::LargeList(offsets, _, item) => {
                offsets.truncate(len + 1);
                item.truncate(offsets.last().map_or(0, |end| *end as usize));
            }
            Values::Map(map) => {
                map.offsets.truncate(len + 1);
                let end = map.offsets.last().map_or(0, |end| *end as usize);
                map.keys.truncate(end);
                map.values.truncate(end);
            }
            Values::Record(record) => record.truncate(len),
        }
        self.nulls.truncate(len);
    }

    /// The array; the column is empty again.
    pub(crate) fn finish(&mut self) -> Result<ArrayRef, Error> {
        let nulls = std::mem::replace(&mut self.nulls, NullBufferBuilder::new(0)).finish();
        Ok(match &mut self.values {
            Values::Bool(values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::Int(values, to) => integers(std::mem::take(values), *to, nulls),
            Values::Uint(values) => primitive::<arrow_array::types::UInt64Type>(std::mem::take(values), nulls),
            Values::Float(values) => primitive::<arrow_array::types::Float64Type>(std::mem::take(values), nulls),
            Values::Float32(values) => primitive::<arrow_array::types::Float32Type>(std::mem::take(values), nulls),
            Values::Utf8(values) | Values::Class(values) | Values::Json(values, _) => {
                values.finish::<Utf8Type>(nulls)?
            }
            Values::LargeUtf8(values) => values.finish::<LargeUtf8Type>(nulls)?,
            Values::Binary(values) => values.finish::<BinaryType>(nulls)?,
            Values::LargeBinary(values) => values.finish::<LargeBinaryType>(nulls)?,
            Values::List(offsets, field, item) => list(offsets, field, item.finish()?, nulls)?,
            Values::LargeList(offsets, field, item) => list(offsets, field, item.finish()?, nulls)?,
            Values::Map(map) => map.finish(nulls)?,
            Values::Record(record) => Arc::new(record.finish(nulls)?),
        })
    }

    #[cold]
    fn misfit(&self, view: View<'_>, at: u32) -> Misfit {
        let found = match view.value(at) {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Uint(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Text(text) => shown(text),
            Value::List => "a list".to_owned(),
            Value::Map => "a map".to_owned(),
            Value::Other(name) => name.to_owned(),
        };
        let is_text = matches!(view.node(at).kind, Kind::Bytes | Kind::Text | Kind::Symbol | Kind::EnumCase);
        let misfit = Misfit::new(at, self.expected(), found);
        match &self.values {
            Values::Utf8(_) | Values::LargeUtf8(_) if is_text => {
                misfit.expecting("text in UTF-8, below 2 GB in a batch")
            }
            _ => misfit,
        }
    }

    fn expected(&self) -> String {
        match &self.values {
            Values::Bool(_) => "true or false".to_owned(),
            Values::Int(_, to) => format!("an integer of type {to:?}"),
            Values::Uint(_) => "an integer of type U64".to_owned(),
            Values::Float(_) => "a number".to_owned(),
            Values::Float32(_) => "a number of 32 bits".to_owned(),
            Values::Utf8(_) | Values::LargeUtf8(_) => "text".to_owned(),
            Values::Binary(_) | Values::LargeBinary(_) => "bytes".to_owned(),
            Values::List(..) | Values::LargeList(..) => "a list".to_owned(),
            Values::Map(_) => "a map".to_owned(),
            Values::Record(_) => "a map or an object".to_owned(),
            Values::Class(_) => "an object".to_owned(),
            Values::Json(..) => "a value".to_owned(),
        }
    }
}

impl Entries {
    fn fill(&mut self, view: View<'_>, at: u32) -> Result<bool, Misfit> {
        if view.node(at).kind == Kind::Array {
            for (position, item) in view.items(at).enumerate() {
                self.keys.push_key(position.to_string().as_bytes(), at)?;
                self.values.push(view, item)?;
            }
        } else {
            for (key, value) in view.entries(at) {
                match key {
                    Key::Name(id) => match view.name(id) {
                        Some(name) if name.node.kind == Kind::Int => {
                            self.keys.push_key((name.node.payload as i64).to_string().as_bytes(), value)?;
                        }
                        Some(name) => self.keys.push_key(name.bytes, value)?,
                        None => return Ok(false),
                    },
                    Key::Node(node) if node.kind == Kind::Int => {
                        self.keys.push_key((node.payload as i64).to_string().as_bytes(), value)?;
                    }
                    Key::Node(node) if node.kind.is_string() => self.keys.push_key(view.bytes(node), value)?,
                    Key::Node(_) => return Err(Misfit::new(value, "keys that are strings or integers", "another key")),
                }
                self.values.push(view, value)?;
            }
        }
        let Ok(end) = i32::try_from(self.values.len()) else { return Ok(false) };
        self.offsets.push(end);
        Ok(true)
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Error> {
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        let DataType::Struct(parts) = self.entries.data_type() else { unreachable!("it was looked at before") };
        let entries = StructArray::try_new(parts.clone(), vec![self.keys.finish()?, self.values.finish()?], None)?;
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        Ok(Arc::new(MapArray::try_new(self.entries.clone(), offsets, entries, nulls, self.is_sorted)?))
    }
}

impl Column {
    /// Adds a key of a map; integers may be wanted, or text.
    fn push_key(&mut self, key: &[u8], at: u32) -> Result<(), Misfit> {
        let is_pushed = match &mut self.values {
            Values::Utf8(values) => text(&Value::Text(key), |text| values.push(text)),
            Values::LargeUtf8(values) => text(&Value::Text(key), |text| values.push(text)),
            Values::Binary(values) => values.push(key),
            Values::LargeBinary(values) => values.push(key),
            Values::Int(values, to) => match number(key).filter(|value| to.holds(*value)) {
                Some(value) => {
                    values.push(value);
                    true
                }
                None => false,
            },
            _ => false,
        };
        if !is_pushed {
            return Err(Misfit::new(at, format!("a key that is {}", self.expected()), shown(key)));
        }
        self.nulls.append_non_null();
        Ok(())
    }
}

/// The beginning of a text, for a message.
fn shown(text: &[u8]) -> String {
    const LONGEST: usize = 40;
    let head = text.get(..LONGEST).unwrap_or(text);
    let dots = if head.len() < text.len() { "…" } else { "" };
    format!("{:?}{dots}", String::from_utf8_lossy(head))
}

fn fill_list<O: OffsetSizeTrait>(
    offsets: &mut Vec<O>,
    column: &mut Column,
    view: View<'_>,
    at: u32,
) -> Result<bool, Misfit> {
    for item in view.items(at) {
        column.push(view, item)?;
    }
    let end = O::from_usize(column.len());
    offsets.extend(end);
    Ok(end.is_some())
}

fn extend_same<O: Copy>(offsets: &mut Vec<O>) -> bool {
    let last = offsets.last().copied();
    offsets.extend(last);
    last.is_some()
}

fn list<O: OffsetSizeTrait>(
    offsets: &mut Vec<O>,
    field: &FieldRef,
    items: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, Error> {
    let offsets = std::mem::replace(offsets, vec![O::usize_as(0)]);
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(Arc::new(GenericListArray::<O>::try_new(field.clone(), offsets, items, nulls)?))
}

fn primitive<T: arrow_array::ArrowPrimitiveType>(values: Vec<T::Native>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls))
}

fn integers(values: Vec<i64>, to: Integer, nulls: Option<NullBuffer>) -> ArrayRef {
    use arrow_array::types::{Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type};
    // Each was seen to fit.
    macro_rules! narrow {
        ($kind:ty, $native:ty) => {
            primitive::<$kind>(values.iter().map(|value| *value as $native).collect(), nulls)
        };
    }
    match to {
        Integer::I8 => narrow!(Int8Type, i8),
        Integer::I16 => narrow!(Int16Type, i16),
        Integer::I32 => narrow!(Int32Type, i32),
        Integer::I64 => primitive::<Int64Type>(values, nulls),
        Integer::U8 => narrow!(UInt8Type, u8),
        Integer::U16 => narrow!(UInt16Type, u16),
        Integer::U32 => narrow!(UInt32Type, u32),
    }
}

/// The integer that a value is, without loss: a text is one, if it is written as one.
#[inline]
fn integer(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Int(value) => Some(*value),
        Value::Text(text) => number(text),
        Value::Float(value) => {
            let whole = *value as i64;
            // 2^63 itself becomes the largest integer, which is not the same.
            (whole as f64 == *value && whole != i64::MAX).then_some(whole)
        }
        _ => None,
    }
}

/// The number that a text writes in the usual way.
fn number<N: std::str::FromStr + ToString>(text: &[u8]) -> Option<N> {
    /// What 64 bits need.
    const LONGEST: usize = 20;
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() <= LONGEST)?;
    let number: N = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[inline]
fn float(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        Value::Int(value) => (*value as f64 as i128 == i128::from(*value)).then_some(*value as f64),
        Value::Uint(value) => (*value as f64 as u128 == u128::from(*value)).then_some(*value as f64),
        Value::Text(text) => {
            let text = std::str::from_utf8(text).ok()?;
            let is_decimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
            text.parse().ok().filter(|value: &f64| is_decimal && value.is_finite())
        }
        _ => None,
    }
}

/// Hands over the text that a value is; numbers are written.
#[inline]
fn text(value: &Value<'_>, push: impl FnOnce(&[u8]) -> bool) -> bool {
    match value {
        Value::Text(text) => (text.is_ascii() || std::str::from_utf8(text).is_ok()) && push(text),
        Value::Int(value) => push(value.to_string().as_bytes()),
        Value::Uint(value) => push(value.to_string().as_bytes()),
        _ => false,
    }
}

/// The fields of a struct that is not null where it stands.
pub(crate) fn fields_of(fields: &Fields, depth: usize) -> Result<Vec<Column>, Error> {
    fields.iter().map(|field| Column::new(field, depth)).collect()
}
