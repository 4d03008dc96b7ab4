//! Makes a document from serializable values.

use super::{MAX_DEPTH, too_deep_error};
use crate::document::{Builder, Document};
use crate::error::Error;
use serde::ser::{self, Serialize, Serializer};

/// Makes a document from a serializable value: structs and maps become maps with text names; variants of enums are
/// represented as in JSON.
///
/// ```
/// #[derive(serde::Serialize)]
/// struct User<'n> {
///     id: u32,
///     name: &'n str,
/// }
/// let document = icecore::value::to_document(&User { id: 1, name: "Alice" })?;
/// assert_eq!(icecore::write(&document, "php")?, br#"a:2:{s:2:"id";i:1;s:4:"name";s:5:"Alice";}"#);
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Limit`, if the value is nested too deeply; `Unrepresentable`, with the message of a value that can't be
/// serialized.
pub fn to_document<T: Serialize + ?Sized>(value: &T) -> Result<Document<'static>, Error> {
    let mut builder = Builder::new();
    value.serialize(ValueBuilder { builder: &mut builder, depth: 0 })?;
    builder.finish()
}

/// Appends a value to the document.
struct ValueBuilder<'b> {
    builder: &'b mut Builder,
    depth: u32,
}

/// Appends the parts of a container.
struct ContainerBuilder<'b> {
    builder: &'b mut Builder,
    depth: u32,
    /// Number of containers that end with it: a variant is a map around its content.
    ends: u32,
}

impl<'b> ValueBuilder<'b> {
    fn append_leaf(self, append: impl FnOnce(&mut Builder) -> &mut Builder) -> Result<(), Error> {
        append(self.builder);
        Ok(())
    }

    fn open_container(self, begin: impl FnOnce(&mut Builder) -> &mut Builder) -> Result<ContainerBuilder<'b>, Error> {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep_error());
        }
        begin(self.builder);
        Ok(ContainerBuilder { builder: self.builder, depth: self.depth + 1, ends: 1 })
    }

    fn open_variant(
        self,
        name: &'static str,
        begin: impl FnOnce(&mut Builder) -> &mut Builder,
    ) -> Result<ContainerBuilder<'b>, Error> {
        let parts = self.open_container(|builder| begin(builder.begin_map().text_key(name)))?;
        Ok(ContainerBuilder { depth: parts.depth + 1, ends: 2, ..parts })
    }
}

impl<'b> Serializer for ValueBuilder<'b> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = ContainerBuilder<'b>;
    type SerializeTuple = ContainerBuilder<'b>;
    type SerializeTupleStruct = ContainerBuilder<'b>;
    type SerializeTupleVariant = ContainerBuilder<'b>;
    type SerializeMap = ContainerBuilder<'b>;
    type SerializeStruct = ContainerBuilder<'b>;
    type SerializeStructVariant = ContainerBuilder<'b>;

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.append_leaf(|builder| builder.bool(value))
    }

    fn serialize_i8(self, value: i8) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        self.append_leaf(|builder| builder.int(value))
    }

    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        self.append_leaf(|builder| builder.big_int(value < 0, &value.unsigned_abs().to_le_bytes()))
    }

    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        self.append_leaf(|builder| match i64::try_from(value) {
            Ok(value) => builder.int(value),
            Err(_) => builder.uint(value),
        })
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        self.append_leaf(|builder| builder.big_int(false, &value.to_le_bytes()))
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.append_leaf(|builder| builder.float(value))
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.append_leaf(|builder| builder.text(value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.append_leaf(|builder| builder.bytes(value))
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.append_leaf(Builder::null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let mut parts = self.open_container(|builder| builder.begin_map().text_key(variant))?;
        parts.value(value)?;
        parts.finish();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<ContainerBuilder<'b>, Error> {
        self.open_container(Builder::begin_array)
    }

    fn serialize_tuple(self, _: usize) -> Result<ContainerBuilder<'b>, Error> {
        self.open_container(Builder::begin_array)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<ContainerBuilder<'b>, Error> {
        self.open_container(Builder::begin_array)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<ContainerBuilder<'b>, Error> {
        self.open_variant(name, Builder::begin_array)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<ContainerBuilder<'b>, Error> {
        self.open_container(Builder::begin_map)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<ContainerBuilder<'b>, Error> {
        self.open_container(Builder::begin_map)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<ContainerBuilder<'b>, Error> {
        self.open_variant(name, Builder::begin_map)
    }
}

impl ContainerBuilder<'_> {
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(ValueBuilder { builder: self.builder, depth: self.depth })
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.builder.text_key(name);
        self.value(value)
    }

    fn finish(self) {
        for _ in 0..self.ends {
            self.builder.end();
        }
    }
}

macro_rules! parts {
    ($trait:ident, $method:ident($($name:ident: $type:ty)?)) => {
        impl ser::$trait for ContainerBuilder<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, $($name: $type,)? value: &T) -> Result<(), Error> {
                parts!(@ self $($name)? value)
            }

            fn end(self) -> Result<(), Error> {
                self.finish();
                Ok(())
            }
        }
    };
    (@ $self:ident $value:ident) => {
        $self.value($value)
    };
    (@ $self:ident $name:ident $value:ident) => {
        $self.member($name, $value)
    };
}

parts!(SerializeSeq, serialize_element());
parts!(SerializeTuple, serialize_element());
parts!(SerializeTupleStruct, serialize_field());
parts!(SerializeTupleVariant, serialize_field());
parts!(SerializeStruct, serialize_field(name: &'static str));
parts!(SerializeStructVariant, serialize_field(name: &'static str));

impl ser::SerializeMap for ContainerBuilder<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.builder.key();
        self.value(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.value(value)
    }

    fn end(self) -> Result<(), Error> {
        self.finish();
        Ok(())
    }
}
