//! `+`, `-`, `*`, `/`, `%`.

use super::{Error, Key, LazyContainer, List, Map, Number, Text, ValR, Value};
use crate::memory;
use crate::query_thread::{self, Stop};
use bstr::ByteSlice;
use jaq_core::ops::Math;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Maximum length of a string.
pub const MAX_STRING_LENGTH: u64 = 1 << 30;
/// Maximum number of bytes of a big integer. Without a limit, repeated products would soon take very long.
const MAX_INTEGER_SIZE: u64 = 1 << 20;

/// Counts the work for a string of this number of bytes. Stops the filter if the string is too long.
pub fn check_length(bytes: u64) {
    if bytes > MAX_STRING_LENGTH {
        query_thread::stop_filter(Stop::Size);
    }
    // Two copies exist for a moment, because the string is made first and then copied to its final place.
    memory::require_bytes(bytes.saturating_mul(2));
    query_thread::count_steps(bytes / 64);
}

fn checked_number(number: Number) -> ValR {
    if number.size() > MAX_INTEGER_SIZE {
        query_thread::stop_filter(Stop::Size);
    }
    Ok(Value::Number(number))
}

impl std::ops::Add for Value {
    type Output = ValR;

    fn add(self, other: Value) -> ValR {
        // A loop of the library, as in `last(range(1e18))`, evaluates no term, so its work is counted here.
        query_thread::count_step();
        // Null leaves the other value unchanged.
        match (self.visible_value(), other.visible_value()) {
            (_, Value::Null) => return Ok(self),
            (Value::Null, _) => return Ok(other),
            _ => {}
        }
        match (self.into_visible_value(), other.into_visible_value()) {
            (Value::Number(a), Value::Number(b)) => checked_number(a + b),
            (Value::Text(a), Value::Text(b)) => {
                let length = a.bytes.len() as u64 + b.bytes.len() as u64;
                if length > MAX_STRING_LENGTH {
                    query_thread::stop_filter(Stop::Size);
                }
                Ok(Value::Text(a.append(&b)))
            }
            (Value::List(mut a), Value::List(b)) => {
                query_thread::count_steps(b.len() as u64);
                memory::require_bytes(b.len() as u64 * size_of::<Value>() as u64);
                LazyContainer::change_contents(&mut a, |items| items.extend_from_slice(b.get()));
                a.raise_depth(b.depth().saturating_sub(1));
                Ok(Value::List(a))
            }
            (Value::Map(mut a), Value::Map(b)) => {
                query_thread::count_steps(b.len() as u64);
                LazyContainer::change_contents(&mut a, |members| {
                    members.extend(b.get().iter().map(|(key, value)| (key.clone(), value.clone())));
                });
                a.raise_depth(b.depth().saturating_sub(1));
                Ok(Value::Map(a))
            }
            (a, b) => Err(Error::math(a, Math::Add, b)),
        }
    }
}

impl std::ops::Sub for Value {
    type Output = ValR;

    fn sub(self, other: Value) -> ValR {
        match (self.into_visible_value(), other.into_visible_value()) {
            (Value::Number(a), Value::Number(b)) => checked_number(a - b),
            (Value::List(mut a), Value::List(b)) => {
                // The contents of a container are created when they are first accessed. This does not change how it
                // compares.
                #[allow(clippy::mutable_key_type)]
                let removed: BTreeSet<&Value> = b.get().iter().collect();
                LazyContainer::change_contents(&mut a, |items| items.retain(|item| !removed.contains(item)));
                Ok(Value::List(a))
            }
            (a, b) => Err(Error::math(a, Math::Sub, b)),
        }
    }
}

/// Merges the members of one object into another one, recursively for members of both.
fn merge_members(target: &mut Rc<Map>, source: &Map) {
    query_thread::count_step();
    target.raise_depth(source.depth().saturating_sub(1));
    LazyContainer::change_contents(target, |members| {
        for (key, value) in source.get() {
            match (members.get_mut(key), value) {
                (Some(Value::Map(target)), Value::Map(source)) => merge_members(target, source),
                (Some(member), value) => *member = value.clone(),
                (None, value) => {
                    members.insert(key.clone(), value.clone());
                }
            }
        }
    });
}

fn repeat_text(text: &Text, times: &Number) -> Value {
    let times = match times {
        Number::Int(times) if *times > 0 => *times as u64,
        Number::Big(_) => query_thread::stop_filter(Stop::Size),
        _ => return Value::Null,
    };
    let length = (text.bytes.len() as u64).saturating_mul(times);
    check_length(length);
    // An empty string stays empty.
    Value::Text(text.same_kind(&text.bytes.repeat(if length == 0 { 0 } else { times as usize })))
}

impl std::ops::Mul for Value {
    type Output = ValR;

    fn mul(self, other: Value) -> ValR {
        match (self.into_visible_value(), other.into_visible_value()) {
            (Value::Number(a), Value::Number(b)) => {
                if a.is_int() && b.is_int() && a.size() + b.size() > MAX_INTEGER_SIZE {
                    query_thread::stop_filter(Stop::Size);
                }
                query_thread::count_steps(if a.is_int() && b.is_int() {
                    a.size().saturating_mul(b.size()) / 4096
                } else {
                    0
                });
                checked_number(a * b)
            }
            (Value::Text(text), Value::Number(times)) | (Value::Number(times), Value::Text(text)) if times.is_int() => {
                Ok(repeat_text(&text, &times))
            }
            (Value::Map(mut a), Value::Map(b)) => {
                merge_members(&mut a, &b);
                Ok(Value::Map(a))
            }
            (a, b) => Err(Error::math(a, Math::Mul, b)),
        }
    }
}

impl std::ops::Div for Value {
    type Output = ValR;

    fn div(self, other: Value) -> ValR {
        match (self.into_visible_value(), other.into_visible_value()) {
            (Value::Number(a), Value::Number(b)) => checked_number(a / b),
            (Value::Text(text), Value::Text(separator)) => Ok(split_text(&text, &separator)),
            (a, b) => Err(Error::math(a, Math::Div, b)),
        }
    }
}

/// Returns the parts between separators. If the separator is empty, returns the characters.
fn split_text(text: &Text, separator: &Text) -> Value {
    let part = |bytes: &[u8]| Value::Text(text.same_kind(bytes));
    match (text.bytes.is_empty(), separator.bytes.is_empty()) {
        (true, _) => Value::from_items(Vec::new()),
        (_, true) => text.bytes.char_indices().map(|(start, end, _)| part(&text.bytes[start..end])).collect(),
        _ => text.bytes.split_str(&separator.bytes).map(part).collect(),
    }
}

impl std::ops::Rem for Value {
    type Output = ValR;

    fn rem(self, other: Value) -> ValR {
        match (self.into_visible_value(), other.into_visible_value()) {
            (Value::Number(a), Value::Number(b)) if !(a.is_int() && b.is_int() && b == Number::Int(0)) => {
                checked_number(a % b)
            }
            (a, b) => Err(Error::math(a, Math::Rem, b)),
        }
    }
}

impl std::ops::Neg for Value {
    type Output = ValR;

    fn neg(self) -> ValR {
        match self.into_visible_value() {
            Value::Number(a) => checked_number(-a),
            a => Err(Error::typ(a, "number")),
        }
    }
}

/// Returns the positions of `part` in `haystack`: characters of strings, items or runs of items of arrays.
pub fn find_indices(haystack: &Value, part: &Value) -> ValR {
    let to_value =
        |indexes: &mut dyn Iterator<Item = usize>| indexes.map(|index| Value::from(index as isize)).collect();
    match (haystack.visible_value(), part.visible_value()) {
        (Value::Text(all), Value::Text(part)) => Ok(find_in_text(&all.bytes, &part.bytes)),
        (Value::List(_), Value::List(part)) if part.len() == 0 => Ok(Value::from_items(Vec::new())),
        (Value::List(all), Value::List(part)) => {
            let runs = all.get().windows(part.len()).enumerate();
            Ok(to_value(&mut runs.filter(|(_, run)| *run == part.get().as_slice()).map(|(index, _)| index)))
        }
        (Value::List(all), part) => Ok(find_in_list(all, part)),
        (all, part) => Err(Error::index(all.clone(), part.clone())),
    }
}

fn find_in_list(all: &List, part: &Value) -> Value {
    all.get()
        .iter()
        .enumerate()
        .filter(|(_, item)| *item == part)
        .map(|(index, _)| Value::from(index as isize))
        .collect()
}

/// Returns the character positions at which a string occurs in another one, including overlaps.
fn find_in_text(all: &[u8], part: &[u8]) -> Value {
    if part.is_empty() {
        return Value::from_items(Vec::new());
    }
    let starts = all.char_indices().map(|(start, _, _)| start).enumerate();
    starts
        .filter(|(_, start)| all.get(*start..).is_some_and(|rest| rest.starts_with(part)))
        .map(|(index, _)| Value::from(index as isize))
        .collect()
}

/// Returns the key of this value, which must be a string.
pub fn key_from_value(value: &Value) -> Result<Key, Error> {
    match value.visible_value() {
        Value::Text(text) => Ok(Key::from_text(text)),
        other => Err(Error::str(format_args!("keys of objects must be strings, and {other} is not"))),
    }
}
