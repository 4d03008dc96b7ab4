//! Access to values, as the language defines it.

use super::lazy_container::next_depth;
use super::operators::{find_indices, key_from_value};
use super::{Error, LazyContainer, List, Map, Members, Number, Text, ValR, Value};
use crate::memory;
use crate::query_thread;
use bstr::ByteSlice;
use jaq_core::box_iter::{BoxIter, box_once};
use jaq_core::path::Opt;
use jaq_core::val::Range;
use jaq_core::{Exn, ValX};
use std::rc::Rc;

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<isize> for Value {
    fn from(value: isize) -> Value {
        Value::Number(Number::Int(value as i64))
    }
}

impl From<usize> for Value {
    fn from(value: usize) -> Value {
        Value::Number(Number::from_big_int(value.into()))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Number(Number::Float(value))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::from_text(value)
    }
}

/// Represents the bounds of a slice as in a path.
impl From<Range<Value>> for Value {
    fn from(range: Range<Value>) -> Value {
        let bounds = [("start", range.start), ("end", range.end)];
        let members = bounds.into_iter().filter_map(|(name, bound)| Some((name, bound?)));
        Value::from_members(
            members.map(|(name, bound)| (super::Key::from_text(&Text::new(name.as_bytes())), bound)).collect(),
        )
    }
}

/// Returns the bounds of a slice that an object represents.
pub fn slice_bounds(map: &Map) -> (Option<Value>, Option<Value>) {
    (map.find_member(b"start"), map.find_member(b"end"))
}

/// Returns an index into a sequence of this length. A negative index counts from the end. Returns `None` for a
/// position before the beginning.
fn resolve_index(index: i64, len: usize) -> Option<usize> {
    let len = len as i128;
    let position = if index < 0 { len + i128::from(index) } else { i128::from(index) };
    usize::try_from(position).ok()
}

/// Returns the index of an item of an array.
pub fn item_index(index: &Value, len: usize) -> Result<Option<usize>, Error> {
    match index.visible_value() {
        Value::Number(Number::Int(position)) => Ok(resolve_index(*position, len).filter(|index| *index < len)),
        Value::Number(Number::Big(_)) => Ok(None),
        other => Err(Error::typ(other.clone(), "integer")),
    }
}

/// Returns the start and end of a slice of a sequence of this length.
pub fn slice_range(range: Range<&Value>, len: usize) -> Result<(usize, usize), Error> {
    let bound = |bound: Option<&Value>, default: usize| match bound.map(Value::visible_value) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Number(Number::Int(index))) => Ok(resolve_index(*index, len).unwrap_or(0).min(len)),
        Some(Value::Number(number @ Number::Big(_))) => Ok(if *number < Number::Int(0) { 0 } else { len }),
        Some(other) => Err(Error::typ(other.clone(), "integer")),
    };
    let (start, end) = (bound(range.start, 0)?, bound(range.end, len)?);
    Ok((start, end.max(start)))
}

/// Returns the start and end in bytes of a slice of characters.
pub fn text_slice_range(range: Range<&Value>, text: &[u8]) -> Result<(usize, usize), Error> {
    query_thread::count_steps(text.len() as u64 / 64);
    let (start, end) = slice_range(range, text.chars().count())?;
    let mut char_starts = text.char_indices().map(|(start, _, _)| start).chain([text.len()]);
    let first = char_starts.nth(start).unwrap_or(text.len());
    let last = if end == start { first } else { char_starts.nth(end - start - 1).unwrap_or(text.len()) };
    Ok((first, last))
}

impl Value {
    /// Returns the member or item, if it exists.
    pub fn find_entry(&self, index: &Value) -> Result<Option<Value>, Error> {
        Ok(match (self.visible_value(), index.visible_value()) {
            (Value::Null, _) => None,
            (Value::List(list), Value::Number(number)) if number.is_int() => {
                item_index(index, list.len())?.and_then(|position| list.get().get(position).cloned())
            }
            (Value::List(_), part @ Value::List(_)) => Some(find_indices(self, part)?),
            (Value::Map(map), Value::Text(name)) => map.find_named(name),
            // A PHP array may have integers as keys. Keys are found by their names, so the integer becomes text.
            (Value::Map(map), Value::Number(Number::Int(int))) => map.find_member(int.to_string().as_bytes()),
            (Value::Map(_), _) => None,
            (Value::List(_) | Value::Text(_), Value::Map(range)) => {
                let (start, end) = slice_bounds(range);
                return jaq_core::ValT::range(self.clone(), start.as_ref()..end.as_ref()).map(Some);
            }
            (value, index) => return Err(Error::index(value.clone(), index.clone())),
        })
    }

    /// Implements `length`.
    pub fn jq_length(&self) -> ValR {
        match self.visible_value() {
            Value::Null => Ok(Value::from(0usize)),
            Value::Number(number) => Ok(Value::Number(number.absolute_value())),
            Value::Text(text) => Ok(Value::from(text.bytes.chars().count())),
            Value::List(list) => Ok(Value::from(list.len())),
            Value::Map(map) => Ok(Value::from(map.len())),
            other => Err(Error::str(format_args!("{other} has no length"))),
        }
    }
}

type BoxedValues<T> = Box<dyn Iterator<Item = ValR<T>>>;

/// The items of a list from an index on, one by one.
struct Items(Rc<List>, usize);

impl Iterator for Items {
    type Item = ValR;

    fn next(&mut self) -> Option<ValR> {
        query_thread::count_iterator_step();
        let item = self.0.get().get(self.1)?.clone();
        self.1 += 1;
        Some(Ok(item))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let remaining = self.0.len().saturating_sub(self.1);
        (remaining, Some(remaining))
    }
}

/// The members of an object from an index on, one by one.
struct Entries(Rc<Map>, usize);

impl Iterator for Entries {
    type Item = ValR<(Value, Value)>;

    fn next(&mut self) -> Option<Self::Item> {
        query_thread::count_iterator_step();
        let (key, value) = self.0.get().get_index(self.1)?;
        self.1 += 1;
        Some(Ok((Value::Text(key.to_text()), value.clone())))
    }
}

impl jaq_core::ValT for Value {
    fn from_num(text: &str) -> ValR {
        let number = Number::parse(text).ok_or_else(|| Error::str(format_args!("{text} is too long for a number")));
        number.map(Value::Number)
    }

    fn from_map<I: IntoIterator<Item = (Value, Value)>>(entries: I) -> ValR {
        let members: Result<Members, Error> =
            entries.into_iter().map(|(key, value)| Ok((key_from_value(&key)?, value))).collect();
        Ok(Value::from_members(members?))
    }

    fn key_values(self) -> BoxIter<'static, ValR<(Value, Value)>> {
        match self.into_visible_value() {
            Value::List(list) => {
                let items = Items(list, 0).enumerate();
                Box::new(items.map(|(index, item)| item.map(|item| (Value::from(index as isize), item))))
                    as BoxedValues<_>
            }
            Value::Map(map) => Box::new(Entries(map, 0)),
            other => box_once(Err(Error::typ(other, "iterable (array or object)"))),
        }
    }

    fn values(self) -> BoxedValues<Value> {
        match self.into_visible_value() {
            Value::List(list) => Box::new(Items(list, 0)),
            Value::Map(map) => Box::new(Entries(map, 0).map(|entry| entry.map(|(_, value)| value))),
            other => box_once(Err(Error::typ(other, "iterable (array or object)"))),
        }
    }

    fn index(self, index: &Value) -> ValR {
        Ok(self.find_entry(index)?.unwrap_or_else(|| Value::absent_in(&self)))
    }

    fn range(self, range: Range<&Value>) -> ValR {
        match self.visible_value() {
            Value::Null => Ok(Value::absent_in(&self)),
            Value::List(list) => {
                let (start, end) = slice_range(range, list.len())?;
                let part: Value = list.get().get(start..end).unwrap_or(&[]).iter().cloned().collect();
                if let Value::List(part) = &part {
                    part.raise_depth(list.depth());
                }
                Ok(part)
            }
            Value::Text(text) => {
                let (start, end) = text_slice_range(range, &text.bytes)?;
                let part = text.same_kind(text.bytes.get(start..end).unwrap_or(&[]));
                Ok(Value::Text(Text { slice_depth: next_depth(text.slice_depth), ..part }))
            }
            other => Err(Error::typ(other.clone(), "rangeable (array or string)")),
        }
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Value>>>(self, opt: Opt, f: impl Fn(Value) -> I) -> ValX<'a, Value> {
        super::update::update_all(self, opt, f)
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Value>>>(
        self,
        index: &Value,
        opt: Opt,
        f: impl Fn(Value) -> I,
    ) -> ValX<'a, Value> {
        super::update::update_entry(self, index, opt, f)
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Value>>>(
        self,
        range: Range<&Value>,
        opt: Opt,
        f: impl Fn(Value) -> I,
    ) -> ValX<'a, Value> {
        super::update::update_slice(self, range, opt, f)
    }

    fn as_bool(&self) -> bool {
        !matches!(self.visible_value(), Value::Null | Value::Bool(false))
    }

    fn into_string(self) -> Value {
        match self.visible_value() {
            Value::Text(text) => Value::Text(text.clone()),
            other => Value::from_text(other.to_json()),
        }
    }
}

/// Memory that a function of the library may hold for each item of an array, in addition to the array.
const SORT_BYTES_PER_ITEM: u64 = 128;

impl jaq_std::ValT for Value {
    fn into_seq<S: FromIterator<Value>>(self) -> Result<S, Value> {
        match self.into_visible_value() {
            Value::List(list) => {
                // Sorting and grouping hold a key for each item, which is not counted otherwise.
                memory::require_bytes(list.len() as u64 * SORT_BYTES_PER_ITEM);
                Ok(LazyContainer::into_contents(list).into_iter().collect())
            }
            other => Err(other),
        }
    }

    fn is_int(&self) -> bool {
        matches!(self.visible_value(), Value::Number(number) if number.is_int())
    }

    fn as_isize(&self) -> Option<isize> {
        if let Value::Number(number) = self.visible_value() { number.to_isize() } else { None }
    }

    fn as_f64(&self) -> Option<f64> {
        if let Value::Number(number) = self.visible_value() { Some(number.to_f64()) } else { None }
    }

    fn is_utf8_str(&self) -> bool {
        matches!(self.visible_value(), Value::Text(_))
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        if let Value::Text(text) = self.visible_value() { Some(&text.bytes) } else { None }
    }

    fn as_sub_str(&self, sub: &[u8]) -> Value {
        match self.visible_value() {
            Value::Text(text) => Value::Text(text.same_kind(sub)),
            _ => Value::from_text(sub),
        }
    }

    fn from_utf8_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Value {
        Value::from_text(bytes)
    }
}

/// Converts an error to its form inside an update.
pub fn to_exception<'a>(error: Error) -> Exn<'a, Value> {
    Exn::from(error)
}
