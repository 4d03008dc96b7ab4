//! Documents and serde's values: a document is written by any serializer and made of what can
//! be serialized, and its values become a program's own types.
//!
//! Classes, links and the like have no place in serde: an object is its members, a link what
//! it names, a reference what it refers to. Whoever needs them walks a
//! [`Cursor`](crate::Cursor).

mod deserialize;
mod make;
mod serialize;
#[cfg(test)]
mod tests;

pub use deserialize::from_document;
pub use make::to_document;

use crate::document::{Cursor, Value, Visibility};
use crate::error::{Error, ErrorKind};
use std::fmt::Display;

/// How deep values are nested at most: serde goes down by calls.
const DEPTH: u32 = 128;

fn too_deep() -> Error {
    Error::new(ErrorKind::Limit).expecting(format!("at most {DEPTH} levels of nesting")).finding("a deeper one")
}

/// What stands for a value here: behind references, attributes and links, and of an object its
/// members. `None`, if that goes on and on.
fn plain(mut value: Cursor<'_>) -> Option<Cursor<'_>> {
    for _ in 0..DEPTH {
        value = match value.value() {
            Value::Ref(inner) | Value::Tied(inner) | Value::Attrs(inner) | Value::Code(inner) => inner,
            Value::Object(_, inner) | Value::Opaque(_, inner) | Value::Regexp(inner, _) => inner,
            Value::VString(_, inner) => inner,
            Value::Link(_) | Value::Alias(_) | Value::Copy(_) => value.target(),
            _ => return Some(value),
        };
    }
    None
}

/// The name of a member without the marks that PHP and Ruby give it.
fn bare(name: &[u8]) -> &[u8] {
    let name = Visibility::of(name).map_or(name, |(_, name)| name);
    name.strip_prefix(b"@").unwrap_or(name)
}

impl serde::ser::Error for Error {
    fn custom<T: Display>(message: T) -> Error {
        Error::new(ErrorKind::Unrepresentable).finding(message.to_string())
    }
}

impl serde::de::Error for Error {
    fn custom<T: Display>(message: T) -> Error {
        Error::new(ErrorKind::Unrepresentable).finding(message.to_string())
    }
}
