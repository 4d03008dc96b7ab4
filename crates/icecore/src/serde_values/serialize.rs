//! Writes a document with any serializer.

use super::{MAX_DEPTH, find_represented, strip_member_marks, too_deep_error};
use crate::document::{BigInt, Cursor, Document, Key, Kind, Value};
use crate::limits::Limits;
use crate::num::{bigint, float128};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};
use std::cell::Cell;

/// Like the [`Cursor`] of its root.
impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.root().serialize(serializer)
    }
}

/// An object becomes its members, with bare names; a link becomes its target.
///
/// ```
/// let document = icecore::read(b"O:1:\"A\":2:{s:5:\"\0*\0id\";i:1;s:4:\"tags\";a:1:{i:0;s:1:\"x\";}}")?;
/// assert_eq!(serde_json::to_string(&document).unwrap(), r#"{"id":1,"tags":["x"]}"#);
/// # Ok::<(), icecore::Error>(())
/// ```
impl Serialize for Cursor<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let remaining = Cell::new(Limits::default().expanded_from(self.document().nodes().len()));
        SerializedValue { value: *self, depth: 0, remaining: &remaining }.serialize(serializer)
    }
}

/// A value, its depth, and how many more values may follow: links multiply values.
struct SerializedValue<'d, 'w> {
    value: Cursor<'d>,
    depth: u32,
    remaining: &'w Cell<u64>,
}

impl<'d> SerializedValue<'d, '_> {
    fn nested_value(&self, value: Cursor<'d>) -> SerializedValue<'d, '_> {
        SerializedValue { value, depth: self.depth + 1, remaining: self.remaining }
    }
}

impl Serialize for SerializedValue<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = find_represented(self.value)
            .filter(|_| self.depth < MAX_DEPTH)
            .ok_or_else(|| S::Error::custom(too_deep_error()))?;
        let remaining = self.remaining.get().checked_sub(1);
        self.remaining.set(remaining.ok_or_else(|| S::Error::custom("links that multiply"))?);
        match value.value() {
            Value::Bool(is) => serializer.serialize_bool(is),
            Value::Int(number) => serializer.serialize_i64(number),
            Value::Uint(number) => serializer.serialize_u64(number),
            Value::BigInt(number) => serialize_big_int(number, serializer),
            Value::Float(number) => serializer.serialize_f64(number),
            Value::Float128(number) => serializer.serialize_f64(float128::to_f64(&number)),
            Value::Array => {
                let mut items = serializer.serialize_seq(Some(value.items().count()))?;
                value.items().try_for_each(|item| items.serialize_element(&self.nested_value(item)))?;
                items.end()
            }
            Value::Map => {
                let mut entries = serializer.serialize_map(Some(value.entries().count()))?;
                for (key, value) in value.entries() {
                    entries.serialize_entry(&SerializedKey { key, map: self }, &self.nested_value(value))?;
                }
                entries.end()
            }
            Value::Bytes(text) | Value::Text(text) | Value::Encoded(text, _) | Value::Symbol(text, _) => {
                serialize_text_or_bytes(text, serializer)
            }
            Value::Module(text, _) | Value::EnumCase(text) => serialize_text_or_bytes(text, serializer),
            _ => serializer.serialize_unit(),
        }
    }
}

/// Serializes an integer as a number if it has at most 128 bits, otherwise as its digits.
fn serialize_big_int<S: Serializer>(number: BigInt<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    let mut wide = [0; 16];
    let small = number.magnitude.len() <= 15;
    if small {
        wide[..number.magnitude.len()].copy_from_slice(number.magnitude);
        let value = i128::from_le_bytes(wide);
        return serializer.serialize_i128(if number.negative { -value } else { value });
    }
    if bigint::exceeds(number.magnitude, Limits::default().digits) {
        return Err(S::Error::custom("an integer of too many digits"));
    }
    let mut digits = Vec::new();
    bigint::push_decimal(number.negative, number.magnitude, &mut digits);
    serialize_text_or_bytes(&digits, serializer)
}

/// Serializes a string as text if it is valid UTF-8, otherwise as bytes.
fn serialize_text_or_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => serializer.serialize_str(text),
        Err(_) => serializer.serialize_bytes(bytes),
    }
}

/// A key of `map`.
struct SerializedKey<'d, 'w> {
    key: Key<'d>,
    map: &'w SerializedValue<'d, 'w>,
}

impl Serialize for SerializedKey<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.key {
            Key::Name(name) if name.node.kind == Kind::Int => serializer.serialize_i64(name.node.payload as i64),
            Key::Name(name) => serialize_text_or_bytes(strip_member_marks(name.bytes), serializer),
            Key::Value(value) => self.map.nested_value(value).serialize(serializer),
        }
    }
}
