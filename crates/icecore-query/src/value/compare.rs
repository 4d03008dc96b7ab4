//! Equality and order: null, booleans, numbers, strings, arrays, objects.

use super::text::shown_text;
use super::{Key, Map, Value};
use crate::query_thread;
use std::cmp::Ordering;

/// Returns the rank of a kind in the order.
fn kind_rank(value: &Value) -> u8 {
    match value {
        Value::Null | Value::Absent(_) => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::Text(_) => 3,
        Value::List(_) => 4,
        Value::Map(_) => 5,
        Value::Preserved(preserved) => kind_rank(preserved.value.visible_value()),
    }
}

/// Returns the members in the order of their names.
fn members_by_name(map: &Map) -> Vec<(&Key, &Value)> {
    let mut members: Vec<_> = map.get().iter().collect();
    members.sort_unstable_by(|(a, _), (b, _)| compare_names(a, b));
    members
}

/// Compares the names of two keys as they are shown.
fn compare_names(left: &Key, right: &Key) -> Ordering {
    match left.name.is_ascii() && right.name.is_ascii() {
        true => left.name.cmp(&right.name),
        false => shown_text(&left.name).cmp(&shown_text(&right.name)),
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        match (self.visible_value(), other.visible_value()) {
            (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
            (Value::Number(left), Value::Number(right)) => left.cmp(right),
            (Value::Text(left), Value::Text(right)) => left.bytes.cmp(&right.bytes),
            (Value::List(left), Value::List(right)) => {
                query_thread::count_step();
                left.get().cmp(right.get())
            }
            (Value::Map(left), Value::Map(right)) => {
                query_thread::count_step();
                let (left, right) = (members_by_name(left), members_by_name(right));
                let names = left.iter().zip(&right).map(|((left, _), (right, _))| compare_names(left, right));
                names
                    .fold(Ordering::Equal, Ordering::then)
                    .then(left.len().cmp(&right.len()))
                    .then_with(|| left.iter().map(|(_, value)| *value).cmp(right.iter().map(|(_, value)| *value)))
            }
            (left, right) => kind_rank(left).cmp(&kind_rank(right)),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Value) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        match (self.visible_value(), other.visible_value()) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Number(left), Value::Number(right)) => left == right,
            (Value::Text(left), Value::Text(right)) => left.bytes == right.bytes,
            (Value::List(left), Value::List(right)) => {
                query_thread::count_step();
                left.len() == right.len() && left.get() == right.get()
            }
            (Value::Map(left), Value::Map(right)) => {
                query_thread::count_step();
                left.len() == right.len()
                    && left.get().iter().all(|(key, left)| right.get_alike(key).is_some_and(|right| left == right))
            }
            _ => false,
        }
    }
}

impl Eq for Value {}

/// Returns `true` if `all` contains `part`: strings in strings, each item in some item, each member in the member with
/// the same name.
pub fn contains_value(all: &Value, part: &Value) -> bool {
    query_thread::count_step();
    match (all.visible_value(), part.visible_value()) {
        (Value::Text(all), Value::Text(part)) => bstr::ByteSlice::contains_str(&*all.bytes, &part.bytes),
        (Value::List(all), Value::List(part)) => {
            part.get().iter().all(|part| all.get().iter().any(|all| contains_value(all, part)))
        }
        (Value::Map(all), Value::Map(part)) => {
            part.get().iter().all(|(key, part)| all.get_alike(key).is_some_and(|all| contains_value(all, part)))
        }
        (all, part) => all == part,
    }
}
