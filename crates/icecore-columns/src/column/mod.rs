//! A column while it is being filled.

mod decimal;
mod nested;
mod record;
mod scalar;
mod text;
pub(crate) mod time;
mod virtual_field;

use crate::FILLED_WITH;
use crate::error::Error;
use crate::mismatch::TypeMismatch;
use crate::view::{RowState, TapeView, Value};
use arrow_array::types::{
    ArrowPrimitiveType, BinaryType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, LargeBinaryType, LargeUtf8Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type, Utf8Type,
};
use arrow_array::{ArrayRef, BooleanArray, NullArray, PrimitiveArray};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer, NullBufferBuilder, ScalarBuffer};
use arrow_schema::{DataType, Field, FieldRef, Fields, TimeUnit};
use icecore::{Kind, Limits, Stage};
use nested::{List, Map};
pub(crate) use record::Record;
use scalar::{Integer, to_float, to_float32, to_integer, to_unsigned, with_text};
use std::sync::Arc;
use text::Strings;
use virtual_field::VirtualField;
pub(crate) use virtual_field::VirtualKind;

/// Maximum nesting depth of types.
pub(crate) const MAX_DEPTH: usize = 64;

/// The values of one field.
#[derive(Debug)]
pub(crate) struct Column {
    values: Values,
    nulls: NullBufferBuilder,
    is_nullable: bool,
}

#[derive(Debug)]
enum Values {
    Null,
    Bool(BooleanBufferBuilder),
    Int(Vec<i64>, Integer),
    Uint(Vec<u64>),
    Float(Vec<f64>),
    Float32(Vec<f32>),
    Decimal(Vec<i128>, u8, i8),
    Date(Vec<i32>),
    Time(Vec<i64>, TimeUnit, Option<Arc<str>>),
    Utf8(Strings<i32>),
    LargeUtf8(Strings<i64>),
    Binary(Strings<i32>),
    LargeBinary(Strings<i64>),
    List(List<i32>),
    LargeList(List<i64>),
    Map(Map),
    Record(Record),
    Virtual(VirtualField),
}

/// Runs code that depends on how the values are stored. There are four ways: not at all, as bits, as a vector of
/// numbers, or in a type of this crate.
macro_rules! for_storage {
    (
        $values:expr,
        null: $null:expr,
        bits: $bits:ident => $bit:expr,
        vector: $vector:ident => $number:expr,
        own: $own:ident => $other:expr $(,)?
    ) => {
        match $values {
            Values::Null => $null,
            Values::Bool($bits) => $bit,
            Values::Int($vector, _) => $number,
            Values::Uint($vector) => $number,
            Values::Float($vector) => $number,
            Values::Float32($vector) => $number,
            Values::Decimal($vector, ..) => $number,
            Values::Date($vector) => $number,
            Values::Time($vector, ..) => $number,
            Values::Utf8($own) | Values::Binary($own) => $other,
            Values::LargeUtf8($own) | Values::LargeBinary($own) => $other,
            Values::List($own) => $other,
            Values::LargeList($own) => $other,
            Values::Map($own) => $other,
            Values::Record($own) => $other,
            Values::Virtual($own) => $other,
        }
    };
}

impl Column {
    /// Creates a column for this field at this depth.
    pub(crate) fn new(field: &Field, depth: usize) -> Result<Column, Error> {
        let refused = || Error::Field { name: field.name().clone(), data_type: field.data_type().clone() };
        if depth > MAX_DEPTH {
            return Err(refused());
        }
        let values = match (field.metadata().get(FILLED_WITH), field.data_type()) {
            (Some(word), DataType::Utf8) => {
                Values::Virtual(VirtualField::new(VirtualKind::parse(word).ok_or_else(refused)?)?)
            }
            (Some(_), _) => return Err(refused()),
            (None, data_type) => create_values(data_type, depth)?.ok_or_else(refused)?,
        };
        Ok(Column { values, nulls: NullBufferBuilder::new(0), is_nullable: field.is_nullable() })
    }

    /// Returns what the column shows of the enclosing value, if the column is a virtual field of that value. A field
    /// of JSON shows its own value instead, so it does not count.
    pub(crate) fn virtual_kind(&self) -> Option<VirtualKind> {
        match &self.values {
            Values::Virtual(virtual_field) if virtual_field.kind != VirtualKind::Json => Some(virtual_field.kind),
            _ => None,
        }
    }

    /// Returns true if a part of the column can only be filled from a document.
    pub(crate) fn needs_document(&self) -> bool {
        match &self.values {
            Values::Virtual(virtual_field) => virtual_field.kind != VirtualKind::Class,
            Values::Time(..) | Values::Date(_) | Values::Decimal(..) => true,
            Values::List(list) => list.items.needs_document(),
            Values::LargeList(list) => list.items.needs_document(),
            Values::Map(map) => map.keys.needs_document() || map.values.needs_document(),
            Values::Record(record) => record.needs_document(),
            _ => false,
        }
    }

    /// Drops the cached ids of keys. Another document has another table of names, so the same id means another name.
    pub(crate) fn forget_names(&mut self) {
        match &mut self.values {
            Values::List(list) => list.items.forget_names(),
            Values::LargeList(list) => list.items.forget_names(),
            Values::Map(map) => map.values.forget_names(),
            Values::Record(record) => record.forget_names(),
            _ => {}
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.nulls.len()
    }

    /// Reserves space for this number of rows. The less common types grow when values are added.
    pub(crate) fn reserve(&mut self, rows: usize) {
        match &mut self.values {
            Values::Int(values, _) => values.reserve(rows),
            Values::Uint(values) => values.reserve(rows),
            Values::Float(values) => values.reserve(rows),
            Values::Utf8(values) | Values::Binary(values) => values.reserve(rows),
            Values::LargeUtf8(values) | Values::LargeBinary(values) => values.reserve(rows),
            Values::Record(record) => record.reserve(rows),
            _ => {}
        }
    }

    /// Adds the value at this node. After an error, a part of the value may have been added. The caller must then
    /// remove it with [`Column::truncate`].
    #[inline]
    pub(crate) fn push(&mut self, view: &TapeView<'_>, node_index: u32) -> Result<(), TypeMismatch> {
        let node = view.node(node_index);
        // These combinations of value and field are the most common ones. `push_any` handles them too, but takes
        // longer.
        match (&mut self.values, node.kind) {
            (Values::Int(values, Integer::I64), Kind::Int) => {
                view.spend_budget(node_index, 0)?;
                values.push(node.payload as i64);
            }
            (Values::Float(values), Kind::Float) => {
                view.spend_budget(node_index, 0)?;
                values.push(f64::from_bits(node.payload));
            }
            // Sereal writes a float in 32 bits if it fits.
            (Values::Float(values), Kind::Float32) => {
                view.spend_budget(node_index, 0)?;
                values.push(f64::from(f32::from_bits(node.payload as u32)));
            }
            (Values::Record(record), Kind::Map) => {
                view.spend_budget(node_index, 0)?;
                record.push(view, node_index)?;
            }
            (Values::Utf8(values), Kind::Bytes | Kind::Text) if view.has_inline_location(node) => {
                let bytes = view.string_bytes(node);
                if !(bytes.is_ascii() || std::str::from_utf8(bytes).is_ok()) {
                    return self.push_any(view, node_index);
                }
                view.spend_budget(node_index, bytes.len())?;
                if !values.push(bytes) {
                    return Err(self.mismatch_at(view, node_index));
                }
            }
            _ => return self.push_any(view, node_index),
        }
        self.nulls.append_non_null();
        Ok(())
    }

    /// Adds the value at a node, of any kind. Virtual fields get their computed value.
    fn push_any(&mut self, view: &TapeView<'_>, node: u32) -> Result<(), TypeMismatch> {
        if let Values::Virtual(virtual_field) = &mut self.values {
            match virtual_field.kind {
                VirtualKind::Class => {
                    if !virtual_field.push_class(view, node)? {
                        return self.push_null(node);
                    }
                }
                VirtualKind::Json => {
                    if !virtual_field.push_json(view, node)? {
                        return self.push_null(node);
                    }
                }
                VirtualKind::Rest => virtual_field.push_entries(view, node, &[])?,
            }
            self.nulls.append_non_null();
            return Ok(());
        }
        let resolved = view.resolve_value(node)?;
        let value = view.read_value(resolved);
        view.spend_budget(resolved, if let Value::Text(text) = value { text.len() } else { 0 })?;
        let is_pushed = match (&mut self.values, &value) {
            (_, Value::Null) => return self.push_null(resolved),
            (Values::Bool(values), Value::Bool(value)) => {
                values.append(*value);
                true
            }
            (Values::Int(values, integer_type), value) => {
                push_if_some(values, to_integer(value).filter(|value| integer_type.can_hold(*value)))
            }
            (Values::Uint(values), value) => push_if_some(values, to_unsigned(value)),
            (Values::Float(values), value) => push_if_some(values, to_float(value)),
            (Values::Float32(values), value) => push_if_some(values, to_float32(value)),
            (Values::Decimal(values, digits, scale), _) => {
                let target = view.resolve_links(node);
                push_if_some(values, decimal::read_unscaled(view, target, *digits, *scale))
            }
            (Values::Date(values), _) => push_if_some(values, time::read_day(view, node)),
            (Values::Time(values, unit, zone), _) => {
                push_if_some(values, time::read_timestamp(view, node, *unit, zone.is_some())?)
            }
            (Values::Utf8(values), value) => with_text(view, resolved, value, |text| values.push(text)),
            (Values::LargeUtf8(values), value) => with_text(view, resolved, value, |text| values.push(text)),
            (Values::Binary(values), Value::Text(value)) => values.push(value),
            (Values::LargeBinary(values), Value::Text(value)) => values.push(value),
            (Values::List(list), Value::List) => list.push(view, view.items(resolved))?,
            (Values::LargeList(list), Value::List) => list.push(view, view.items(resolved))?,
            // A format with only one type for lists and maps writes an empty list like an empty map.
            (Values::List(list), Value::Map) if view.is_empty_container(resolved) => {
                list.push(view, std::iter::empty())?
            }
            (Values::LargeList(list), Value::Map) if view.is_empty_container(resolved) => {
                list.push(view, std::iter::empty())?
            }
            (Values::Map(map), Value::Map | Value::List) => map.push(view, resolved)?,
            (Values::Record(record), _) if record.has_only_paths() => record.push_paths(view, resolved)?,
            (Values::Record(record), Value::Map) => record.push(view, resolved)?,
            (Values::Record(record), Value::List) if view.is_empty_container(resolved) => {
                record.push(view, resolved)?
            }
            _ => false,
        };
        if !is_pushed {
            return Err(self.mismatch_at(view, resolved));
        }
        self.nulls.append_non_null();
        Ok(())
    }

    /// Adds a key of a map. The column may contain integers, text or bytes.
    fn push_key(&mut self, view: &TapeView<'_>, key: &[u8], node: u32) -> Result<(), TypeMismatch> {
        let value = Value::Text(key);
        let is_pushed = match &mut self.values {
            Values::Utf8(values) => with_text(view, node, &value, |text| values.push(text)),
            Values::LargeUtf8(values) => with_text(view, node, &value, |text| values.push(text)),
            Values::Binary(values) => values.push(key),
            Values::LargeBinary(values) => values.push(key),
            Values::Int(values, integer_type) => {
                push_if_some(values, to_integer(&value).filter(|value| integer_type.can_hold(*value)))
            }
            Values::Uint(values) => push_if_some(values, to_unsigned(&value)),
            _ => false,
        };
        if !is_pushed {
            return Err(TypeMismatch::new(
                node,
                format!("a key that is {}", self.describe_expected()),
                quote_excerpt(key),
            ));
        }
        self.nulls.append_non_null();
        Ok(())
    }

    /// Adds what a virtual field shows of the object at this node. `extra_entries` are the entries of the object's
    /// body that have no field.
    fn push_virtual(
        &mut self,
        view: &TapeView<'_>,
        node: u32,
        extra_entries: &[record::ExtraEntry],
    ) -> Result<(), TypeMismatch> {
        match &mut self.values {
            Values::Virtual(virtual_field) if virtual_field.kind == VirtualKind::Rest => {
                virtual_field.push_entries(view, node, extra_entries)?;
                self.nulls.append_non_null();
                Ok(())
            }
            _ => self.push_any(view, node),
        }
    }

    /// Adds the values at these nodes as a list. If the column is not a list, adds only the first value.
    fn push_matches(
        &mut self,
        view: &TapeView<'_>,
        node: u32,
        matches: &mut dyn Iterator<Item = u32>,
    ) -> Result<(), TypeMismatch> {
        let is_pushed = match &mut self.values {
            Values::List(list) => list.push(view, matches)?,
            Values::LargeList(list) => list.push(view, matches)?,
            _ => match matches.next() {
                Some(first) => return self.push(view, first),
                None => return self.push_null(node),
            },
        };
        if !is_pushed {
            return Err(self.mismatch_at(view, node));
        }
        self.nulls.append_non_null();
        Ok(())
    }

    /// Returns true if the column takes values of any kind and shows them as JSON.
    pub(crate) fn takes_any_json(&self) -> bool {
        matches!(&self.values, Values::Virtual(virtual_field) if virtual_field.kind == VirtualKind::Json)
    }

    /// Adds a value that is already JSON.
    pub(crate) fn push_json(&mut self, json: &[u8]) -> Result<(), TypeMismatch> {
        match &mut self.values {
            Values::Virtual(virtual_field) if json != b"null" => virtual_field.push(json, 0)?,
            _ => return self.push_null(0),
        }
        self.nulls.append_non_null();
        Ok(())
    }

    /// Returns true if the values of the column can be found without reading a whole document.
    pub(crate) fn can_skim(&self) -> bool {
        matches!(&self.values, Values::Record(record) if record.can_skim())
    }

    /// Adds the values that are found by skimming a blob; see [`Record::skim_values`].
    pub(crate) fn skim_values(
        &mut self,
        blob: &[u8],
        stage: &Stage,
        limits: &Limits,
        row_state: &RowState,
    ) -> Result<(), icecore::Error> {
        // Only records can be skimmed, as `can_skim` says.
        if let Values::Record(record) = &mut self.values {
            record.skim_values(blob, stage, limits, row_state)?;
            self.nulls.append_non_null();
        }
        Ok(())
    }

    /// Adds null. Returns an error if null is not allowed. `node` is the null value, or the value that lacks this
    /// field.
    pub(crate) fn push_null(&mut self, node: u32) -> Result<(), TypeMismatch> {
        if !self.is_nullable {
            return Err(TypeMismatch::new(node, self.describe_expected(), "null"));
        }
        self.fill_null();
        Ok(())
    }

    /// Adds a null without checking whether null is allowed. Below a null row of the parent this is always right,
    /// because readers of the column do not see it.
    pub(crate) fn fill_null(&mut self) {
        for_storage!(&mut self.values,
            null: {},
            bits: bits => bits.append(false),
            vector: values => values.push(Default::default()),
            own: storage => storage.push_empty(),
        );
        self.nulls.append_null();
    }

    /// Removes the values after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize) {
        for_storage!(&mut self.values,
            null: {},
            bits: bits => bits.truncate(len),
            vector: values => values.truncate(len),
            own: storage => storage.truncate(len),
        );
        self.nulls.truncate(len);
    }

    /// Returns the array, and empties the column.
    pub(crate) fn finish(&mut self) -> Result<ArrayRef, Error> {
        let len = self.len();
        let nulls = std::mem::replace(&mut self.nulls, NullBufferBuilder::new(0)).finish();
        Ok(match &mut self.values {
            Values::Null => Arc::new(NullArray::new(len)),
            Values::Bool(values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::Int(values, integer_type) => build_integers(std::mem::take(values), *integer_type, nulls),
            Values::Uint(values) => Arc::new(primitive::<UInt64Type>(values, nulls)),
            Values::Float(values) => Arc::new(primitive::<Float64Type>(values, nulls)),
            Values::Float32(values) => Arc::new(primitive::<Float32Type>(values, nulls)),
            Values::Decimal(values, digits, scale) => {
                Arc::new(primitive::<Decimal128Type>(values, nulls).with_precision_and_scale(*digits, *scale)?)
            }
            Values::Date(values) => Arc::new(primitive::<Date32Type>(values, nulls)),
            Values::Time(values, unit, zone) => {
                let zone = zone.clone();
                match unit {
                    TimeUnit::Second => {
                        Arc::new(primitive::<TimestampSecondType>(values, nulls).with_timezone_opt(zone))
                    }
                    TimeUnit::Millisecond => {
                        Arc::new(primitive::<TimestampMillisecondType>(values, nulls).with_timezone_opt(zone))
                    }
                    TimeUnit::Microsecond => {
                        Arc::new(primitive::<TimestampMicrosecondType>(values, nulls).with_timezone_opt(zone))
                    }
                    TimeUnit::Nanosecond => {
                        Arc::new(primitive::<TimestampNanosecondType>(values, nulls).with_timezone_opt(zone))
                    }
                }
            }
            Values::Utf8(values) => values.finish::<Utf8Type>(nulls)?,
            Values::LargeUtf8(values) => values.finish::<LargeUtf8Type>(nulls)?,
            Values::Binary(values) => values.finish::<BinaryType>(nulls)?,
            Values::LargeBinary(values) => values.finish::<LargeBinaryType>(nulls)?,
            Values::List(list) => list.finish(nulls)?,
            Values::LargeList(list) => list.finish(nulls)?,
            Values::Map(map) => map.finish(nulls)?,
            Values::Record(record) => Arc::new(record.finish(nulls)?),
            Values::Virtual(virtual_field) => virtual_field.finish(nulls)?,
        })
    }

    #[cold]
    fn mismatch_at(&self, view: &TapeView<'_>, node: u32) -> TypeMismatch {
        let found = match view.read_value(node) {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Uint(value) => value.to_string(),
            Value::Float(value) => format!("{value:?}"),
            Value::Text(text) => quote_excerpt(text),
            Value::List => "a list".to_owned(),
            Value::Map => "a map".to_owned(),
            Value::Other(name) => name.to_owned(),
        };
        let is_text = matches!(view.node(node).kind, Kind::Bytes | Kind::Text | Kind::Symbol | Kind::EnumCase);
        let mismatch = TypeMismatch::new(node, self.describe_expected(), found);
        match &self.values {
            Values::Utf8(_) | Values::LargeUtf8(_) if is_text => {
                mismatch.expecting("text in UTF-8, below 2 GB in a batch")
            }
            _ => mismatch,
        }
    }

    fn describe_expected(&self) -> String {
        match &self.values {
            Values::Null => "nothing".to_owned(),
            Values::Bool(_) => "true or false".to_owned(),
            Values::Int(_, integer_type) => format!("an integer of type {integer_type:?}"),
            Values::Uint(_) => "an integer of type U64".to_owned(),
            Values::Float(_) => "a number".to_owned(),
            Values::Float32(_) => "a number of 32 bits".to_owned(),
            Values::Decimal(_, digits, scale) => {
                format!("a number with at most {digits} digits, {scale} of them after the point")
            }
            Values::Date(_) => "a day".to_owned(),
            Values::Time(..) => "a time".to_owned(),
            Values::Utf8(_) | Values::LargeUtf8(_) => "text".to_owned(),
            Values::Binary(_) | Values::LargeBinary(_) => "bytes".to_owned(),
            Values::List(..) | Values::LargeList(..) => "a list".to_owned(),
            Values::Map(_) => "a map".to_owned(),
            Values::Record(_) => "a map or an object".to_owned(),
            Values::Virtual(virtual_field) if virtual_field.kind == VirtualKind::Class => "an object".to_owned(),
            Values::Virtual(_) => "a value".to_owned(),
        }
    }
}

/// Returns the storage for values of this type, or `None` if the type is not supported.
fn create_values(data_type: &DataType, depth: usize) -> Result<Option<Values>, Error> {
    let create_inner = |field: &FieldRef| Column::new(field, depth + 1).map(Box::new);
    Ok(Some(match data_type {
        DataType::Null => Values::Null,
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
        DataType::Decimal128(digits @ 1..=38, scale) if (0..=*digits as i8).contains(scale) => {
            Values::Decimal(Vec::new(), *digits, *scale)
        }
        DataType::Date32 => Values::Date(Vec::new()),
        DataType::Timestamp(unit, zone) => Values::Time(Vec::new(), *unit, zone.clone()),
        DataType::Utf8 => Values::Utf8(Strings::new()),
        DataType::LargeUtf8 => Values::LargeUtf8(Strings::new()),
        DataType::Binary => Values::Binary(Strings::new()),
        DataType::LargeBinary => Values::LargeBinary(Strings::new()),
        DataType::List(item) => Values::List(List::new(item, create_inner(item)?)),
        DataType::LargeList(item) => Values::LargeList(List::new(item, create_inner(item)?)),
        DataType::Map(entries, is_sorted) => match entries.data_type() {
            DataType::Struct(parts) if parts.len() == 2 => {
                Values::Map(Map::new(entries, *is_sorted, create_inner(&parts[0])?, create_inner(&parts[1])?))
            }
            _ => return Ok(None),
        },
        DataType::Struct(fields) => Values::Record(Record::new(fields, depth + 1)?),
        _ => return Ok(None),
    }))
}

/// Adds a value, if there is one. Returns true if there was one.
fn push_if_some<T>(values: &mut Vec<T>, value: Option<T>) -> bool {
    let has_value = value.is_some();
    values.extend(value);
    has_value
}

/// Returns the beginning of a text, for a message.
fn quote_excerpt(text: &[u8]) -> String {
    const MAX_SHOWN_BYTES: usize = 40;
    let head = text.get(..MAX_SHOWN_BYTES).unwrap_or(text);
    let ellipsis = if head.len() < text.len() { "…" } else { "" };
    format!("{:?}{ellipsis}", String::from_utf8_lossy(head))
}

fn primitive<T: ArrowPrimitiveType>(values: &mut Vec<T::Native>, nulls: Option<NullBuffer>) -> PrimitiveArray<T> {
    PrimitiveArray::new(ScalarBuffer::from(std::mem::take(values)), nulls)
}

fn build_integers(mut values: Vec<i64>, integer_type: Integer, nulls: Option<NullBuffer>) -> ArrayRef {
    // The cast does not lose anything, because `Integer::can_hold` was checked when each value was added.
    macro_rules! narrow {
        ($kind:ty, $native:ty) => {
            Arc::new(primitive::<$kind>(&mut values.iter().map(|value| *value as $native).collect(), nulls))
        };
    }
    match integer_type {
        Integer::I8 => narrow!(Int8Type, i8),
        Integer::I16 => narrow!(Int16Type, i16),
        Integer::I32 => narrow!(Int32Type, i32),
        Integer::I64 => Arc::new(primitive::<Int64Type>(&mut values, nulls)),
        Integer::U8 => narrow!(UInt8Type, u8),
        Integer::U16 => narrow!(UInt16Type, u16),
        Integer::U32 => narrow!(UInt32Type, u32),
    }
}

/// Returns the columns of a struct that is not null itself.
pub(crate) fn create_columns(fields: &Fields, depth: usize) -> Result<Vec<Column>, Error> {
    fields.iter().map(|field| Column::new(field, depth)).collect()
}
