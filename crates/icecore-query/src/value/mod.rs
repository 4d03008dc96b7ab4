//! The values that filters work on.

mod access;
mod bytes;
mod compare;
mod document_writer;
mod json;
mod lazy_container;
mod number;
mod operators;
mod origin;
mod text;
mod update;

pub use bytes::Bytes;
pub use compare::contains_value;
pub use document_writer::{Latin1As, WrittenValue};
pub use lazy_container::LazyContainer;
pub use number::Number;
pub use operators::{check_length, find_indices};
pub use origin::{OpenDocument, Origin};
pub use text::{Key, Text};

use crate::memory::{ALLOCATION_OVERHEAD, Charge};
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
    /// Null that was found in null. The number counts the consecutive lookups, because the path to it has this
    /// length.
    Absent(u32),
    /// What filters see of a value that contains more, such as a symbol, a time or an object frozen in a special way.
    /// If it is not changed, it is written in its original form.
    Preserved(Rc<PreservedValue>),
}

/// See [`Value::Preserved`].
#[derive(Debug)]
pub struct PreservedValue {
    pub value: Value,
    pub origin: Origin,
    /// Counts its own memory.
    _charge: Charge,
}

/// An array.
pub type List = LazyContainer<Vec<Value>>;
/// An object: a map, or an object of a class.
pub type Map = LazyContainer<Members>;

impl PreservedValue {
    pub fn new(value: Value, origin: Origin) -> PreservedValue {
        PreservedValue { value, origin, _charge: Charge::new(size_of::<PreservedValue>() + ALLOCATION_OVERHEAD) }
    }
}

impl Value {
    /// Returns the value that filters see.
    pub fn visible_value(&self) -> &Value {
        match self {
            Value::Preserved(preserved) => preserved.value.visible_value(),
            Value::Absent(_) => &Value::Null,
            other => other,
        }
    }

    /// Returns the same as `visible_value`, as an owned value.
    pub fn into_visible_value(self) -> Value {
        match self {
            Value::Preserved(preserved) => preserved.value.visible_value().clone(),
            Value::Absent(_) => Value::Null,
            other => other,
        }
    }

    /// Creates an array.
    pub fn from_items(items: Vec<Value>) -> Value {
        Value::List(Rc::new(List::new(items)))
    }

    /// Creates an object.
    pub fn from_members(members: Members) -> Value {
        Value::Map(Rc::new(Map::new(members)))
    }

    /// Creates a string.
    pub fn from_text(bytes: impl AsRef<[u8]>) -> Value {
        Value::Text(Text::new(bytes.as_ref()))
    }

    /// Returns the document if this is the complete, unchanged root of it.
    pub fn unchanged_document(&self) -> Option<&icecore::Document<'static>> {
        let is_changed = match self {
            Value::List(list) => list.is_changed(),
            Value::Map(map) => map.is_changed(),
            _ => false,
        };
        let origin = self.origin().filter(|_| !is_changed)?;
        let document = &origin.source.document;
        (document.root().target().index() == origin.node).then_some(document)
    }

    /// Returns its origin in a document.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Value::List(list) => list.origin(),
            Value::Map(map) => map.origin(),
            Value::Preserved(preserved) => Some(&preserved.origin),
            _ => None,
        }
    }

    /// Returns the name of its class, if it has one.
    pub fn class_name(&self) -> Option<&[u8]> {
        self.origin().and_then(Origin::class_name)
    }

    /// Returns the maximum depth of the values in this value. For a leaf, returns the number of consecutive lookups
    /// that led to it.
    pub fn depth(&self) -> u32 {
        match self {
            Value::Absent(depth) => *depth,
            Value::Text(text) => text.slice_depth,
            Value::List(list) => list.depth(),
            Value::Map(map) => map.depth(),
            Value::Preserved(preserved) => preserved.value.depth(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }

    /// Returns the result of a lookup that finds nothing.
    pub fn absent_in(value: &Value) -> Value {
        match value {
            Value::Absent(depth) => Value::Absent(lazy_container::next_depth(*depth)),
            _ => Value::Absent(1),
        }
    }

    /// Returns true if the value contains other values. Only such a value must be dropped by a loop.
    fn is_container(&self) -> bool {
        matches!(self, Value::List(_) | Value::Map(_) | Value::Preserved(_))
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Value {
        // Items are counted as they come, because there may be infinitely many.
        let charge = Charge::default();
        let mut all: Vec<Value> = Vec::new();
        for item in items {
            crate::query_thread::count_step();
            if all.len() == all.capacity() {
                let added = all.len().max(4);
                charge.set((all.len() + added) * size_of::<Value>());
                all.reserve_exact(added);
            }
            all.push(item);
        }
        drop(charge);
        all.shrink_to(all.len() + all.len() / 4);
        Value::from_items(all)
    }
}

/// Returns the key with this name.
pub fn key_from_name(name: &str) -> Key {
    Key::from_text(&Text::new(name.as_bytes()))
}
