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
pub(super) enum InferredType {
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
    List(Box<InferredType>),
    /// An empty list or map, in a language that does not distinguish them.
    Empty,
    Struct(InferredStruct),
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
pub(super) struct InferredStruct {
    /// The keys with the types of their values, in the order in which they occurred.
    fields: Vec<(String, InferredType)>,
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
    others: Option<Box<InferredType>>,
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

impl InferredType {
    /// Merges the type of further values into this one.
    pub(super) fn merge(&mut self, other: InferredType) {
        let current = std::mem::take(self);
        *self = match (current, other) {
            (InferredType::Nothing, inferred_type) | (inferred_type, InferredType::Nothing) => inferred_type,
            (InferredType::Struct(mut current), InferredType::Struct(other)) => {
                current.merge(other);
                InferredType::Struct(current)
            }
            (InferredType::List(mut current), InferredType::List(other)) => {
                current.merge(*other);
                InferredType::List(current)
            }
            (InferredType::Empty, inferred_type @ (InferredType::List(_) | InferredType::Struct(_)))
            | (inferred_type @ (InferredType::List(_) | InferredType::Struct(_)), InferredType::Empty) => inferred_type,
            (InferredType::Int(current), InferredType::Int(other)) => InferredType::Int(current.union_with(other)),
            (InferredType::Int(range), InferredType::Float) | (InferredType::Float, InferredType::Int(range)) => {
                if range.fits_float() {
                    InferredType::Float
                } else {
                    InferredType::Mixed
                }
            }
            (
                InferredType::Decimal(integer_digits, places),
                InferredType::Decimal(more_integer_digits, more_places),
            ) => InferredType::Decimal(integer_digits.max(more_integer_digits), places.max(more_places)),
            (InferredType::Decimal(integer_digits, places), InferredType::Int(range))
            | (InferredType::Int(range), InferredType::Decimal(integer_digits, places)) => {
                InferredType::Decimal(integer_digits.max(range.count_digits()), places)
            }
            (InferredType::Text, InferredType::Int(_)) | (InferredType::Int(_), InferredType::Text) => {
                InferredType::Text
            }
            (InferredType::Text, InferredType::Bytes) | (InferredType::Bytes, InferredType::Text) => {
                InferredType::Bytes
            }
            (InferredType::Time(current, has_known_offset), InferredType::Time(other, other_has_known_offset))
                if has_known_offset == other_has_known_offset =>
            {
                let needs_nanoseconds = [current, other].contains(&TimeUnit::Nanosecond);
                InferredType::Time(
                    if needs_nanoseconds { TimeUnit::Nanosecond } else { TimeUnit::Microsecond },
                    has_known_offset,
                )
            }
            (current, other) if current == other => current,
            _ => InferredType::Mixed,
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
            InferredType::Nothing => DataType::Utf8,
            InferredType::Bool => DataType::Boolean,
            InferredType::Int(range) => range.to_data_type(),
            InferredType::Float => DataType::Float64,
            InferredType::Decimal(integer_digits, places) => match integer_digits.saturating_add(*places) {
                digits @ 1..=38 => DataType::Decimal128(digits, *places as i8),
                _ => return None,
            },
            InferredType::Text => DataType::Utf8,
            InferredType::Bytes => DataType::Binary,
            InferredType::Day => DataType::Date32,
            InferredType::Time(unit, has_known_offset) => {
                DataType::Timestamp(*unit, has_known_offset.then(|| "UTC".into()))
            }
            InferredType::List(items) => DataType::List(Arc::new(items.to_field("item"))),
            InferredType::Struct(inferred_type) => return inferred_type.to_data_type(),
            InferredType::Empty | InferredType::Mixed => return None,
        })
    }
}

impl InferredStruct {
    /// Creates the inferred_type of an object of this class, or of a map.
    pub(super) fn from_class(class: Option<&[u8]>) -> InferredStruct {
        let has_invalid_class = class.is_some_and(|class| std::str::from_utf8(class).is_err());
        InferredStruct { has_class: class.is_some(), has_invalid_class, maps: 1, ..InferredStruct::default() }
    }

    pub(super) fn add_entry(&mut self, key: &str, value: InferredType) {
        self.entries += 1;
        self.merge_field(key, value);
    }

    fn merge_field(&mut self, key: &str, value: InferredType) {
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

    fn merge(&mut self, other: InferredStruct) {
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
        let mut values = InferredType::Nothing;
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
        let members = self.fields.iter().map(|(name, inferred_type)| inferred_type.to_field(name));
        class.into_iter().chain(members).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_with_too_many_digits_have_no_type() {
        assert_eq!(InferredType::Decimal(20, 18).to_data_type(), Some(DataType::Decimal128(38, 18)));
        assert_eq!(InferredType::Decimal(20, 19).to_data_type(), None);
        // The sum does not fit into a byte.
        assert_eq!(InferredType::Decimal(200, 60).to_data_type(), None);
    }
}
