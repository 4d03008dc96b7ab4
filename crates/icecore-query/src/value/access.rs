//! Access to values, as the language defines it.

use super::held::below;
use super::operators::{indices, key_of};
use super::{Error, Held, List, Map, Members, Number, Text, ValR, Value};
use crate::memory;
use crate::room;
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
        Value::Number(Number::big(value.into()))
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Number(Number::Float(value))
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::text(value)
    }
}

/// Represents the bounds of a slice as in a path.
impl From<Range<Value>> for Value {
    fn from(range: Range<Value>) -> Value {
        let bounds = [("start", range.start), ("end", range.end)];
        let members = bounds.into_iter().filter_map(|(name, bound)| Some((name, bound?)));
        Value::map(members.map(|(name, bound)| (super::Key::of(&Text::new(name.as_bytes())), bound)).collect())
    }
}

/// Returns the bounds of a slice that an object represents.
pub fn bounds(map: &Map) -> (Option<Value>, Option<Value>) {
    (map.member(b"start"), map.member(b"end"))
}

/// Returns an index into a sequence of this length; a negative one counts from the end. `None`: before the beginning.
fn absolute(at: i64, len: usize) -> Option<usize> {
    let len = len as i128;
    let at = if at < 0 { len + i128::from(at) } else { i128::from(at) };
    usize::try_from(at).ok()
}

/// Returns the index of an item of an array.
pub fn place(at: &Value, len: usize) -> Result<Option<usize>, Error> {
    match at.plain() {
        Value::Number(Number::Int(at)) => Ok(absolute(*at, len).filter(|at| *at < len)),
        Value::Number(Number::Big(_)) => Ok(None),
        other => Err(Error::typ(other.clone(), "integer")),
    }
}

/// Returns the start and end of a slice of a sequence of this length.
pub fn slice(range: Range<&Value>, len: usize) -> Result<(usize, usize), Error> {
    let bound = |bound: Option<&Value>, usual: usize| match bound.map(Value::plain) {
        None | Some(Value::Null) => Ok(usual),
        Some(Value::Number(Number::Int(at))) => Ok(absolute(*at, len).unwrap_or(0).min(len)),
        Some(Value::Number(number @ Number::Big(_))) => Ok(if *number < Number::Int(0) { 0 } else { len }),
        Some(other) => Err(Error::typ(other.clone(), "integer")),
    };
    let (start, end) = (bound(range.start, 0)?, bound(range.end, len)?);
    Ok((start, end.max(start)))
}

/// Returns the start and end in bytes of a slice of characters.
pub fn text_slice(range: Range<&Value>, text: &[u8]) -> Result<(usize, usize), Error> {
    room::steps(text.len() as u64 / 64);
    let (start, end) = slice(range, text.chars().count())?;
    let mut places = text.char_indices().map(|(start, _, _)| start).chain([text.len()]);
    let first = places.nth(start).unwrap_or(text.len());
    let last = if end == start { first } else { places.nth(end - start - 1).unwrap_or(text.len()) };
    Ok((first, last))
}

impl Value {
    /// Returns the member or item, if it exists.
    pub fn find(&self, index: &Value) -> Result<Option<Value>, Error> {
        Ok(match (self.plain(), index.plain()) {
            (Value::Null, _) => None,
            (Value::List(list), Value::Number(number)) if number.is_int() => {
                place(index, list.len())?.and_then(|at| list.get().get(at).cloned())
            }
            (Value::List(_), part @ Value::List(_)) => Some(indices(self, part)?),
            (Value::Map(map), Value::Text(name)) => map.member(&name.bytes),
            // A PHP array has numbers as keys.
            (Value::Map(map), Value::Number(Number::Int(int))) => map.member(int.to_string().as_bytes()),
            (Value::Map(_), _) => None,
            (Value::List(_) | Value::Text(_), Value::Map(range)) => {
                let (start, end) = bounds(range);
                return jaq_core::ValT::range(self.clone(), start.as_ref()..end.as_ref()).map(Some);
            }
            (value, index) => return Err(Error::index(value.clone(), index.clone())),
        })
    }

    /// Implements `length`.
    pub fn length(&self) -> ValR {
        match self.plain() {
            Value::Null => Ok(Value::from(0usize)),
            Value::Number(number) => Ok(Value::Number(number.length())),
            Value::Text(text) => Ok(Value::from(text.bytes.chars().count())),
            Value::List(list) => Ok(Value::from(list.len())),
            Value::Map(map) => Ok(Value::from(map.len())),
            other => Err(Error::str(format_args!("{other} has no length"))),
        }
    }
}

type Boxed<T> = Box<dyn Iterator<Item = ValR<T>>>;

/// The items of a list, one by one.
struct Items(Rc<List>, usize);

impl Iterator for Items {
    type Item = ValR;

    fn next(&mut self) -> Option<ValR> {
        room::step_through();
        let item = self.0.get().get(self.1)?.clone();
        self.1 += 1;
        Some(Ok(item))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.len().saturating_sub(self.1);
        (left, Some(left))
    }
}

/// The members of an object.
struct Entries(Rc<Map>, usize);

impl Iterator for Entries {
    type Item = ValR<(Value, Value)>;

    fn next(&mut self) -> Option<Self::Item> {
        room::step_through();
        let (key, value) = self.0.get().get_index(self.1)?;
        self.1 += 1;
        Some(Ok((Value::Text(key.text()), value.clone())))
    }
}

impl jaq_core::ValT for Value {
    fn from_num(text: &str) -> ValR {
        let number = Number::parse(text).ok_or_else(|| Error::str(format_args!("{text} is too long for a number")));
        number.map(Value::Number)
    }

    fn from_map<I: IntoIterator<Item = (Value, Value)>>(entries: I) -> ValR {
        let members: Result<Members, Error> =
            entries.into_iter().map(|(key, value)| Ok((key_of(&key)?, value))).collect();
        Ok(Value::map(members?))
    }

    fn key_values(self) -> BoxIter<'static, ValR<(Value, Value)>> {
        match self.into_plain() {
            Value::List(list) => {
                let items = Items(list, 0).enumerate();
                Box::new(items.map(|(at, item)| item.map(|item| (Value::from(at as isize), item)))) as Boxed<_>
            }
            Value::Map(map) => Box::new(Entries(map, 0)),
            other => box_once(Err(Error::typ(other, "iterable (array or object)"))),
        }
    }

    fn values(self) -> Boxed<Value> {
        match self.into_plain() {
            Value::List(list) => Box::new(Items(list, 0)),
            Value::Map(map) => Box::new(Entries(map, 0).map(|entry| entry.map(|(_, value)| value))),
            other => box_once(Err(Error::typ(other, "iterable (array or object)"))),
        }
    }

    fn index(self, index: &Value) -> ValR {
        Ok(self.find(index)?.unwrap_or_else(|| Value::nothing_in(&self)))
    }

    fn range(self, range: Range<&Value>) -> ValR {
        match self.plain() {
            Value::Null => Ok(Value::nothing_in(&self)),
            Value::List(list) => {
                let (start, end) = slice(range, list.len())?;
                let part: Value = list.get().get(start..end).unwrap_or(&[]).iter().cloned().collect();
                if let Value::List(part) = &part {
                    part.deepen(list.depth());
                }
                Ok(part)
            }
            Value::Text(text) => {
                let (start, end) = text_slice(range, &text.bytes)?;
                let part = text.like(text.bytes.get(start..end).unwrap_or(&[]));
                Ok(Value::Text(Text { cuts: below(text.cuts), ..part }))
            }
            other => Err(Error::typ(other.clone(), "rangeable (array or string)")),
        }
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Value>>>(self, opt: Opt, f: impl Fn(Value) -> I) -> ValX<'a, Value> {
        super::update::all(self, opt, f)
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Value>>>(
        self,
        index: &Value,
        opt: Opt,
        f: impl Fn(Value) -> I,
    ) -> ValX<'a, Value> {
        super::update::one(self, index, opt, f)
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Value>>>(
        self,
        range: Range<&Value>,
        opt: Opt,
        f: impl Fn(Value) -> I,
    ) -> ValX<'a, Value> {
        super::update::part(self, range, opt, f)
    }

    fn as_bool(&self) -> bool {
        !matches!(self.plain(), Value::Null | Value::Bool(false))
    }

    fn into_string(self) -> Value {
        match self.plain() {
            Value::Text(text) => Value::Text(text.clone()),
            other => Value::text(other.to_json()),
        }
    }
}

/// Memory that a function of the library may hold for each item of an array, in addition to the array.
const WHILE_SORTED: u64 = 128;

impl jaq_std::ValT for Value {
    fn into_seq<S: FromIterator<Value>>(self) -> Result<S, Value> {
        match self.into_plain() {
            Value::List(list) => {
                // Sorting and grouping hold a key for each item, which is not counted otherwise.
                memory::require(list.len() as u64 * WHILE_SORTED);
                Ok(Held::into_contents(list).into_iter().collect())
            }
            other => Err(other),
        }
    }

    fn is_int(&self) -> bool {
        matches!(self.plain(), Value::Number(number) if number.is_int())
    }

    fn as_isize(&self) -> Option<isize> {
        if let Value::Number(number) = self.plain() { number.to_isize() } else { None }
    }

    fn as_f64(&self) -> Option<f64> {
        if let Value::Number(number) = self.plain() { Some(number.to_f64()) } else { None }
    }

    fn is_utf8_str(&self) -> bool {
        matches!(self.plain(), Value::Text(_))
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        if let Value::Text(text) = self.plain() { Some(&text.bytes) } else { None }
    }

    fn as_sub_str(&self, sub: &[u8]) -> Value {
        match self.plain() {
            Value::Text(text) => Value::Text(text.like(sub)),
            _ => Value::text(sub),
        }
    }

    fn from_utf8_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Value {
        Value::text(bytes)
    }
}

/// Converts an error to its form inside an update.
pub fn thrown<'a>(error: Error) -> Exn<'a, Value> {
    Exn::from(error)
}
