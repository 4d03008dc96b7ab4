//! Converts values of a document to a program's own types.

use super::{MAX_DEPTH, find_represented, strip_member_marks, too_deep_error};
use crate::document::{Cursor, Document, Key, Kind, Value};
use crate::error::Error;
use crate::limits::Limits;
use crate::num::float128;
use serde::de::value::{BorrowedBytesDeserializer, BorrowedStrDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::cell::Cell;

/// Converts a document to a value of this type: an object becomes its members, with bare names. A variant of an enum is
/// a string, or a map with one entry, as in JSON.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct User<'d> {
///     id: u32,
///     name: &'d str,
/// }
/// // An object of PHP's, and one of Ruby's.
/// let php = icecore::read(b"O:4:\"User\":2:{s:5:\"\0*\0id\";i:1;s:4:\"name\";s:5:\"Alice\";}")?;
/// let ruby = icecore::read(b"\x04\x08o:\x09User\x07:\x08@idi\x06:\x0a@name\"\x0aAlice")?;
/// for document in [&php, &ruby] {
///     let user: User<'_> = icecore::value::from_document(document)?;
///     assert_eq!((user.id, user.name), (1, "Alice"));
/// }
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Unrepresentable`, with the message of the type and the path of the value that does not fit; of kind
/// `Limit`, if the document is nested too deeply.
pub fn from_document<'d, T: Deserialize<'d>>(document: &'d Document<'_>) -> Result<T, Error> {
    let remaining = Cell::new(Limits::default().expanded_from(document.nodes().len()));
    T::deserialize(ValueDeserializer { value: document.root(), depth: 0, remaining: &remaining })
}

/// A value, its depth, and how many more values may follow: links multiply values.
#[derive(Clone, Copy)]
struct ValueDeserializer<'d, 'w> {
    value: Cursor<'d>,
    depth: u32,
    remaining: &'w Cell<u64>,
}

impl<'d, 'w> ValueDeserializer<'d, 'w> {
    fn represented_value(&self) -> Result<Cursor<'d>, Error> {
        find_represented(self.value)
            .filter(|_| self.depth < MAX_DEPTH)
            .ok_or_else(|| too_deep_error().on_path(self.value.path()))
    }

    fn nested_value(&self, value: Cursor<'d>) -> ValueDeserializer<'d, 'w> {
        ValueDeserializer { value, depth: self.depth + 1, remaining: self.remaining }
    }

    fn visit_with<V: Visitor<'d>>(self, visitor: V) -> Result<V::Value, Error> {
        let value = self.represented_value()?;
        let remaining =
            self.remaining.get().checked_sub(1).ok_or_else(|| <Error as de::Error>::custom("links that multiply"))?;
        self.remaining.set(remaining);
        match value.value() {
            Value::Bool(is) => visitor.visit_bool(is),
            Value::Int(number) => visitor.visit_i64(number),
            Value::Uint(number) => visitor.visit_u64(number),
            Value::BigInt(number) if number.magnitude.len() <= 15 => {
                let mut wide = [0; 16];
                wide[..number.magnitude.len()].copy_from_slice(number.magnitude);
                let magnitude = i128::from_le_bytes(wide);
                visitor.visit_i128(if number.negative { -magnitude } else { magnitude })
            }
            Value::Float(number) => visitor.visit_f64(number),
            Value::Float128(number) => visitor.visit_f64(float128::to_f64(&number)),
            Value::Bytes(text) | Value::Text(text) | Value::Encoded(text, _) | Value::Symbol(text, _) => {
                visit_text_or_bytes(text, visitor)
            }
            Value::Module(text, _) | Value::EnumCase(text) => visit_text_or_bytes(text, visitor),
            Value::Array => visitor.visit_seq(ItemAccess { deserializer: self, items: value.items() }),
            Value::Map => visitor.visit_map(EntryAccess { deserializer: self, entries: value.entries(), value: None }),
            _ => visitor.visit_unit(),
        }
    }
}

fn visit_text_or_bytes<'d, V: Visitor<'d>>(bytes: &'d [u8], visitor: V) -> Result<V::Value, Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) => visitor.visit_borrowed_str(text),
        Err(_) => visitor.visit_borrowed_bytes(bytes),
    }
}

impl<'de> Deserializer<'de> for ValueDeserializer<'de, '_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.visit_with(visitor).map_err(|error| match error.path() {
            Some(_) => error,
            None => error.on_path(self.value.path()),
        })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.represented_value()?.kind() {
            Kind::Null | Kind::Hole => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.represented_value()?.as_bytes() {
            Some(bytes) => visitor.visit_borrowed_bytes(bytes),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let value = self.represented_value()?;
        if let (Kind::Map, Some((Key::Name(name), content))) = (value.kind(), value.entries().next()) {
            return visitor.visit_enum(Variant {
                name: strip_member_marks(name.bytes),
                content: Some(self.nested_value(content)),
            });
        }
        match value.value() {
            Value::EnumCase(case) => {
                let name = case.splitn(2, |byte| *byte == b':').nth(1).unwrap_or(case);
                visitor.visit_enum(Variant { name, content: None })
            }
            _ => match value.as_bytes() {
                Some(name) => visitor.visit_enum(Variant { name, content: None }),
                None => self.deserialize_any(visitor),
            },
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string unit unit_struct seq tuple tuple_struct map
        struct identifier ignored_any
    }
}

struct ItemAccess<'d, 'w> {
    deserializer: ValueDeserializer<'d, 'w>,
    items: crate::document::Items<'d>,
}

impl<'d> SeqAccess<'d> for ItemAccess<'d, '_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'d>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.items.next().map(|item| seed.deserialize(self.deserializer.nested_value(item))).transpose()
    }
}

struct EntryAccess<'d, 'w> {
    deserializer: ValueDeserializer<'d, 'w>,
    entries: crate::document::Entries<'d>,
    /// The value of the last key.
    value: Option<Cursor<'d>>,
}

impl<'d> MapAccess<'d> for EntryAccess<'d, '_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'d>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.entries.next() else { return Ok(None) };
        self.value = Some(value);
        let key = match key {
            Key::Name(name) if name.node.kind == Kind::Int => {
                seed.deserialize(de::value::I64Deserializer::new(name.node.payload as i64))
            }
            Key::Name(name) => match std::str::from_utf8(strip_member_marks(name.bytes)) {
                Ok(text) => seed.deserialize(BorrowedStrDeserializer::new(text)),
                Err(_) => seed.deserialize(BorrowedBytesDeserializer::new(name.bytes)),
            },
            Key::Value(key) => seed.deserialize(self.deserializer.nested_value(key)),
        };
        key.map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'d>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let value = self.value.take().ok_or_else(|| de::Error::custom("a value without a key"))?;
        seed.deserialize(self.deserializer.nested_value(value))
    }
}

/// A variant of an enum; one without content is only its name.
struct Variant<'d, 'w> {
    name: &'d [u8],
    content: Option<ValueDeserializer<'d, 'w>>,
}

impl<'d> EnumAccess<'d> for Variant<'d, '_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'d>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let name = seed.deserialize(BorrowedBytesDeserializer::<Error>::new(self.name))?;
        Ok((name, self))
    }
}

impl<'d> VariantAccess<'d> for Variant<'d, '_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.content.map_or(Ok(()), Deserialize::deserialize)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'d>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.content.ok_or_else(|| de::Error::custom("a variant without its content"))?)
    }

    fn tuple_variant<V: Visitor<'d>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        let content = self.content.ok_or_else(|| <Error as de::Error>::custom("a variant without its content"))?;
        content.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'d>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.tuple_variant(0, visitor)
    }
}
