//! Documents and serde: a document can be written by any serializer and made from any serializable value, and its
//! values can be converted to a program's own types.
//!
//! Serde has no classes, links and the like: an object becomes its members, a link its target, a reference the value it
//! refers to. Code that needs more uses a [`Cursor`](crate::Cursor).

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

/// Maximum nesting depth of values: serde uses recursive calls.
const MAX_DEPTH: u32 = 128;

fn too_deep_error() -> Error {
    Error::new(ErrorKind::Limit).expecting(format!("at most {MAX_DEPTH} levels of nesting")).finding("a deeper one")
}

/// Returns the represented value: after references, attributes and links; for an object its members. `None` if there
/// are too many of these.
fn find_represented(mut value: Cursor<'_>) -> Option<Cursor<'_>> {
    for _ in 0..MAX_DEPTH {
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

/// Returns the name of a member without the marks of PHP and Ruby.
fn strip_member_marks(name: &[u8]) -> &[u8] {
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
