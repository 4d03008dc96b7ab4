//! The values that filters work on.

mod access;
mod bytes;
mod compare;
mod held;
mod json;
mod number;
mod operators;
mod origin;
mod text;
mod update;
mod written;

pub use bytes::Bytes;
pub use compare::contains;
pub use held::Held;
pub use number::Number;
pub use operators::{check_length, indices};
pub use origin::{Opened, Origin};
pub use text::{Key, Text};

use crate::memory::{Charge, PIECE};
use indexmap::IndexMap;
use std::rc::Rc;

/// The members of an object, in order.
pub type Members = IndexMap<Key, Value, foldhash::fast::RandomState>;

/// An error of a filter.
pub type Error = jaq_core::Error<Value>;
/// A value or an error.
pub type ValR<T = Value> = Result<T, Error>;

/// A value.
#[derive(Clone, Debug, Default)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    Text(Text),
    List(Rc<List>),
    Map(Rc<Map>),
    /// Null that was found in null, with the number of consecutive lookups: a path to it has this length.
    Absent(u32),
    /// The view of a filter on a value that contains more: a symbol, a time, an object frozen in a special way. If it
    /// is not changed, it is written in its original form.
    Odd(Rc<Odd>),
}

/// See [`Value::Odd`].
#[derive(Debug)]
pub struct Odd {
    pub plain: Value,
    pub origin: Origin,
    /// Counts its own memory.
    _charge: Charge,
}

/// An array.
pub type List = Held<Vec<Value>>;
/// An object: a map, or an object of a class.
pub type Map = Held<Members>;

impl Odd {
    pub fn new(plain: Value, origin: Origin) -> Odd {
        Odd { plain, origin, _charge: Charge::new(size_of::<Odd>() + PIECE) }
    }
}

impl Value {
    /// Returns the value that filters see.
    pub fn plain(&self) -> &Value {
        match self {
            Value::Odd(odd) => odd.plain.plain(),
            Value::Absent(_) => &Value::Null,
            other => other,
        }
    }

    /// The same, as an owned value.
    pub fn into_plain(self) -> Value {
        match self {
            Value::Odd(odd) => odd.plain.plain().clone(),
            Value::Absent(_) => Value::Null,
            other => other,
        }
    }

    /// An array.
    pub fn list(items: Vec<Value>) -> Value {
        Value::List(Rc::new(List::new(items)))
    }

    /// An object.
    pub fn map(members: Members) -> Value {
        Value::Map(Rc::new(Map::new(members)))
    }

    /// A string.
    pub fn text(bytes: impl AsRef<[u8]>) -> Value {
        Value::Text(Text::new(bytes.as_ref()))
    }

    /// Returns the document if this is the complete, unchanged root of it.
    pub fn whole(&self) -> Option<&icecore::Document<'static>> {
        let is_changed = match self {
            Value::List(list) => list.is_changed(),
            Value::Map(map) => map.is_changed(),
            _ => false,
        };
        let origin = self.origin().filter(|_| !is_changed)?;
        let document = &origin.source.document;
        (document.root().target().index() == origin.at).then_some(document)
    }

    /// Returns its origin in a document.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Value::List(list) => list.origin(),
            Value::Map(map) => map.origin(),
            Value::Odd(odd) => Some(&odd.origin),
            _ => None,
        }
    }

    /// Returns the name of its class, if it has one.
    pub fn class(&self) -> Option<&[u8]> {
        self.origin().and_then(Origin::class)
    }

    /// Returns the maximum depth of values in it; for a leaf, the number of consecutive lookups that led to it.
    pub fn depth(&self) -> u32 {
        match self {
            Value::Absent(depth) => *depth,
            Value::Text(text) => text.cuts,
            Value::List(list) => list.depth(),
            Value::Map(map) => map.depth(),
            Value::Odd(odd) => odd.plain.depth(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }

    /// Returns the result of a lookup that finds nothing.
    pub fn nothing_in(value: &Value) -> Value {
        match value {
            Value::Absent(depth) => Value::Absent(held::below(*depth)),
            _ => Value::Absent(1),
        }
    }

    /// Whether it is a container; leaves need no special drop.
    fn is_deep(&self) -> bool {
        matches!(self, Value::List(_) | Value::Map(_) | Value::Odd(_))
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Value {
        // Items are counted as they come, because there may be infinitely many.
        let charge = Charge::default();
        let mut all: Vec<Value> = Vec::new();
        for item in items {
            crate::room::step();
            if all.len() == all.capacity() {
                let more = all.len().max(4);
                charge.set((all.len() + more) * size_of::<Value>());
                all.reserve_exact(more);
            }
            all.push(item);
        }
        drop(charge);
        all.shrink_to(all.len() + all.len() / 4);
        Value::list(all)
    }
}

/// Returns the key with this name.
pub fn key(name: &str) -> Key {
    Key::of(&Text::new(name.as_bytes()))
}
