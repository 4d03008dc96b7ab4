//! Equality and order: null, booleans, numbers, strings, arrays, objects.

use super::{Key, Map, Value};
use crate::query_thread;
use std::borrow::Cow;
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
    members.sort_unstable_by(|(a, _), (b, _)| a.name.cmp(&b.name));
    members
}

/// Returns a text as it is shown: bytes that are not UTF-8 are characters of Latin-1.
fn shown_text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into(),
    }
}

/// Compares two texts as they are shown.
fn compare_texts(left: &[u8], right: &[u8]) -> Ordering {
    match left.is_ascii() && right.is_ascii() {
        true => left.cmp(right),
        false => shown_text(left).cmp(&shown_text(right)),
    }
}

/// Returns true if two texts are shown alike.
fn equal_texts(left: &[u8], right: &[u8]) -> bool {
    if left.len() == right.len() {
        return left == right;
    }
    // A character of Latin-1 beyond ASCII takes one byte, and two in UTF-8.
    let (short, long) = if left.len() < right.len() { (left, right) } else { (right, left) };
    let is_long_enough = || short.len() + short.iter().filter(|byte| !byte.is_ascii()).count() == long.len();
    long.len() <= 2 * short.len() && is_long_enough() && shown_text(short) == shown_text(long)
}

impl Ord for Value {
    fn cmp(&self, other: &Value) -> Ordering {
        match (self.visible_value(), other.visible_value()) {
            (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
            (Value::Number(left), Value::Number(right)) => left.cmp(right),
            (Value::Text(left), Value::Text(right)) => compare_texts(&left.bytes, &right.bytes),
            (Value::List(left), Value::List(right)) => {
                query_thread::count_step();
                left.get().cmp(right.get())
            }
            (Value::Map(left), Value::Map(right)) => {
                query_thread::count_step();
                let (left, right) = (members_by_name(left), members_by_name(right));
                let names = |map: &[(&Key, &Value)]| map.iter().map(|(key, _)| key.name.clone()).collect::<Vec<_>>();
                names(&left)
                    .cmp(&names(&right))
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
            (Value::Text(left), Value::Text(right)) => equal_texts(&left.bytes, &right.bytes),
            (Value::List(left), Value::List(right)) => {
                query_thread::count_step();
                left.len() == right.len() && left.get() == right.get()
            }
            (Value::Map(left), Value::Map(right)) => {
                query_thread::count_step();
                left.len() == right.len()
                    && left.get().iter().all(|(key, left)| right.get().get(key).is_some_and(|right| left == right))
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
            part.get().iter().all(|(key, part)| all.get().get(key).is_some_and(|all| contains_value(all, part)))
        }
        (all, part) => all == part,
    }
}
