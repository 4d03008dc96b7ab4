//! Common types of values.

use crate::FILLED_WITH;
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use std::collections::HashMap;
use std::sync::Arc;

/// Maps with different keys become maps, not structs, if there are more different keys than this.
const MAX_STRUCT_KEYS: usize = 64;
/// Maximum number of keys that are kept separately.
const MAX_KEPT_KEYS: usize = 1024;
/// The field for the name of a class.
const CLASS: &str = "_class";

/// The common type of the values of a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Shape {
    /// Only nulls, or nothing.
    #[default]
    Nothing,
    Bool,
    Int(Range),
    Float,
    /// Digits before and after the point.
    Decimal(u8, u8),
    Text,
    Bytes,
    Day,
    /// The unit, and whether the offset from UTC is known.
    Time(TimeUnit, bool),
    List(Box<Shape>),
    /// An empty list or map, in a language that does not distinguish them.
    Empty,
    Struct(StructShape),
    /// Values that only JSON can represent together.
    Mixed,
}

/// Bounds of integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) low: i128,
    pub(super) high: i128,
}

/// The common type of maps or objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StructShape {
    /// The keys with the shapes of their values, in the order in which they occurred.
    fields: Vec<(String, Shape)>,
    /// The index in `fields` of each key.
    index_by_key: HashMap<String, usize>,
    /// Number of entries in all maps together.
    entries: u64,
    /// Number of maps.
    maps: u64,
    has_class: bool,
    /// Whether the name of a class is not valid text.
    has_invalid_class: bool,
    /// Whether there were more keys than are kept.
    is_full: bool,
    /// The common type of the values of keys that are not kept.
    others: Option<Box<Shape>>,
}

impl Range {
    pub(super) fn from_value(value: i128) -> Range {
        Range { low: value, high: value }
    }

    fn union_with(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Returns true if a float represents every integer between the bounds exactly.
    fn fits_float(self) -> bool {
        const MAX_EXACT: i128 = 1 << 53;
        self.low >= -MAX_EXACT && self.high <= MAX_EXACT
    }

    fn count_digits(self) -> u8 {
        let max_magnitude = self.low.unsigned_abs().max(self.high.unsigned_abs());
        max_magnitude.checked_ilog10().map_or(1, |log| log as u8 + 1)
    }

    fn to_data_type(self) -> DataType {
        if i64::try_from(self.low).is_ok() && i64::try_from(self.high).is_ok() {
            DataType::Int64
        } else if u64::try_from(self.low).is_ok() && u64::try_from(self.high).is_ok() {
            DataType::UInt64
        } else {
            DataType::Decimal128(38, 0)
        }
    }
}

impl Shape {
    /// Adds the values of another shape.
    pub(super) fn merge(&mut self, other: Shape) {
        let mine = std::mem::take(self);
        *self = match (mine, other) {
            (Shape::Nothing, shape) | (shape, Shape::Nothing) => shape,
            (Shape::Struct(mut mine), Shape::Struct(other)) => {
                mine.merge(other);
                Shape::Struct(mine)
            }
            (Shape::List(mut mine), Shape::List(other)) => {
                mine.merge(*other);
                Shape::List(mine)
            }
            (Shape::Empty, shape @ (Shape::List(_) | Shape::Struct(_)))
            | (shape @ (Shape::List(_) | Shape::Struct(_)), Shape::Empty) => shape,
            (Shape::Int(mine), Shape::Int(other)) => Shape::Int(mine.union_with(other)),
            (Shape::Int(range), Shape::Float) | (Shape::Float, Shape::Int(range)) => {
                if range.fits_float() {
                    Shape::Float
                } else {
                    Shape::Mixed
                }
            }
            (Shape::Decimal(integer_digits, places), Shape::Decimal(more_integer_digits, more_places)) => {
                Shape::Decimal(integer_digits.max(more_integer_digits), places.max(more_places))
            }
            (Shape::Decimal(integer_digits, places), Shape::Int(range))
            | (Shape::Int(range), Shape::Decimal(integer_digits, places)) => {
                Shape::Decimal(integer_digits.max(range.count_digits()), places)
            }
            (Shape::Text, Shape::Int(_)) | (Shape::Int(_), Shape::Text) => Shape::Text,
            (Shape::Text, Shape::Bytes) | (Shape::Bytes, Shape::Text) => Shape::Bytes,
            (Shape::Time(mine, has_known_offset), Shape::Time(other, other_has_known_offset))
                if has_known_offset == other_has_known_offset =>
            {
                let needs_nanoseconds = [mine, other].contains(&TimeUnit::Nanosecond);
                Shape::Time(
                    if needs_nanoseconds { TimeUnit::Nanosecond } else { TimeUnit::Microsecond },
                    has_known_offset,
                )
            }
            (mine, other) if mine == other => mine,
            _ => Shape::Mixed,
        };
    }

    /// Returns a field of this name for these values.
    pub(super) fn to_field(&self, name: &str) -> Field {
        match self.to_data_type() {
            Some(data_type) => Field::new(name, data_type, true),
            None => Field::new(name, DataType::Utf8, true)
                .with_metadata([(FILLED_WITH.to_owned(), crate::JSON.to_owned())].into()),
        }
    }

    /// Returns the type, or `None` if only JSON can represent the values.
    fn to_data_type(&self) -> Option<DataType> {
        Some(match self {
            // Nothing is known of the values, and text accepts most values.
            Shape::Nothing => DataType::Utf8,
            Shape::Bool => DataType::Boolean,
            Shape::Int(range) => range.to_data_type(),
            Shape::Float => DataType::Float64,
            Shape::Decimal(integer_digits, places) => match integer_digits.saturating_add(*places) {
                digits @ 1..=38 => DataType::Decimal128(digits, *places as i8),
                _ => return None,
            },
            Shape::Text => DataType::Utf8,
            Shape::Bytes => DataType::Binary,
            Shape::Day => DataType::Date32,
            Shape::Time(unit, has_known_offset) => DataType::Timestamp(*unit, has_known_offset.then(|| "UTC".into())),
            Shape::List(items) => DataType::List(Arc::new(items.to_field("item"))),
            Shape::Struct(shape) => return shape.to_data_type(),
            Shape::Empty | Shape::Mixed => return None,
        })
    }
}

impl StructShape {
    /// Creates the shape of an object of this class, or of a map.
    pub(super) fn from_class(class: Option<&[u8]>) -> StructShape {
        let has_invalid_class = class.is_some_and(|class| std::str::from_utf8(class).is_err());
        StructShape { has_class: class.is_some(), has_invalid_class, maps: 1, ..StructShape::default() }
    }

    pub(super) fn add_entry(&mut self, key: &str, value: Shape) {
        self.entries += 1;
        self.merge_field(key, value);
    }

    fn merge_field(&mut self, key: &str, value: Shape) {
        if let Some(index) = self.index_by_key.get(key) {
            self.fields[*index].1.merge(value);
        } else if self.fields.len() < MAX_KEPT_KEYS {
            self.index_by_key.insert(key.to_owned(), self.fields.len());
            self.fields.push((key.to_owned(), value));
        } else {
            self.is_full = true;
            self.others.get_or_insert_default().merge(value);
        }
    }

    fn merge(&mut self, other: StructShape) {
        self.entries += other.entries;
        self.maps += other.maps;
        self.has_class |= other.has_class;
        self.has_invalid_class |= other.has_invalid_class;
        self.is_full |= other.is_full;
        for (key, value) in other.fields {
            self.merge_field(&key, value);
        }
        if let Some(others) = other.others {
            self.others.get_or_insert_default().merge(*others);
        }
    }

    /// Returns true if the keys are data and not names of fields. This is assumed if there are many different keys,
    /// and most maps have few of them.
    fn is_map(&self) -> bool {
        const MIN_KEY_RATIO: u64 = 4;
        let keys = self.fields.len() as u64;
        !self.has_class
            && (self.is_full
                || keys > MAX_STRUCT_KEYS as u64 && self.maps > 1 && self.entries / self.maps < keys / MIN_KEY_RATIO)
    }

    fn to_data_type(&self) -> Option<DataType> {
        if !self.is_map() {
            return (!self.is_full).then(|| DataType::Struct(self.to_fields()));
        }
        let mut values = Shape::Nothing;
        for (_, value) in &self.fields {
            values.merge(value.clone());
        }
        values.merge(self.others.as_deref().cloned().unwrap_or_default());
        let parts = vec![Field::new("key", DataType::Utf8, false), values.to_field("value")];
        let entries = Field::new("entries", DataType::Struct(parts.into()), false);
        Some(DataType::Map(Arc::new(entries), false))
    }

    fn to_fields(&self) -> Fields {
        let class_field = |name: &str| {
            Field::new(name, DataType::Utf8, true).with_metadata([(FILLED_WITH.to_owned(), "class".to_owned())].into())
        };
        // A member with the name of the class field has priority.
        let has_class_field = self.has_class && !self.has_invalid_class && !self.index_by_key.contains_key(CLASS);
        let class = has_class_field.then(|| class_field(CLASS));
        let members = self.fields.iter().map(|(name, shape)| shape.to_field(name));
        class.into_iter().chain(members).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_with_too_many_digits_have_no_type() {
        assert_eq!(Shape::Decimal(20, 18).to_data_type(), Some(DataType::Decimal128(38, 18)));
        assert_eq!(Shape::Decimal(20, 19).to_data_type(), None);
        // The sum does not fit into a byte.
        assert_eq!(Shape::Decimal(200, 60).to_data_type(), None);
    }
}
