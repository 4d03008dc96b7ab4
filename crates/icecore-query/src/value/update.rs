//! Updates of values: `|=`, and everything that is defined by it. A container keeps its class.

use super::access::{item_index, slice_bounds, slice_range, text_slice_range, to_exception};
use super::operators::{MAX_STRING_LENGTH, check_length, key_from_value};
use super::text::KeySpelling;
use super::{Error, Key, LazyContainer, Members, Number, Text, Value};
use crate::memory;
use crate::query_thread::{self, Stop};
use indexmap::map::Entry;
use jaq_core::path::Opt;
use jaq_core::val::Range;
use jaq_core::{Exn, ValX};

/// Returns the unchanged value if the step is optional (`?`), otherwise the error.
fn keep_or_fail<'a>(value: Value, opt: Opt, error: impl FnOnce(Value) -> Error) -> ValX<'a, Value> {
    opt.fail(value, |value| to_exception(error(value)))
}

/// Updates all items or members, as `.[] |= f` does. Each item may become several or none, each member one or none.
pub fn update_all<'a, I: Iterator<Item = ValX<'a, Value>>>(
    value: Value,
    opt: Opt,
    f: impl Fn(Value) -> I,
) -> ValX<'a, Value> {
    match value.into_visible_value() {
        Value::List(mut list) => {
            let old = LazyContainer::change_contents(&mut list, std::mem::take);
            let new: Vec<Value> = old.into_iter().flat_map(f).collect::<Result<_, Exn<'a, Value>>>()?;
            list.raise_depth(new.iter().map(Value::depth).max().unwrap_or(0));
            LazyContainer::change_contents(&mut list, |items| *items = new);
            Ok(Value::List(list))
        }
        Value::Map(mut map) => {
            let old = LazyContainer::change_contents(&mut map, std::mem::take);
            let new =
                old.into_iter().filter_map(|(key, value)| f(value).next().map(|value| value.map(|value| (key, value))));
            let new = new.collect::<Result<Members, Exn<'a, Value>>>()?;
            map.raise_depth(new.values().map(Value::depth).max().unwrap_or(0));
            LazyContainer::change_contents(&mut map, |members| *members = new);
            Ok(Value::Map(map))
        }
        other => keep_or_fail(other, opt, |value| Error::typ(value, "iterable (array or object)")),
    }
}

/// In an object with more members, the last member moves to the place of a deleted one. Moving all following members
/// would take too long.
const MAX_ORDERED_REMOVAL: usize = 10_000;

/// Puts an item after the end of a list. The items between are null.
fn insert_past_end(items: &mut Vec<Value>, index: usize, new: Value) {
    let size = |count: usize| (count as u64).saturating_mul(size_of::<Value>() as u64);
    if size(index) > 2 * MAX_STRING_LENGTH {
        query_thread::stop_filter(Stop::Size);
    }
    if index >= items.capacity() {
        memory::require_bytes(size(index.saturating_add(1).max(2 * items.capacity())));
    }
    query_thread::count_steps((index.saturating_sub(items.len()) as u64).div_ceil(4));
    items.resize(index, Value::Null);
    items.push(new);
}

/// Implements `.[index] |= f`. If `f` has no output, the item is deleted.
pub fn update_entry<'a, I: Iterator<Item = ValX<'a, Value>>>(
    value: Value,
    index: &Value,
    opt: Opt,
    f: impl Fn(Value) -> I,
) -> ValX<'a, Value> {
    match (value.into_visible_value(), index.visible_value()) {
        (value @ (Value::Text(_) | Value::List(_)), Value::Map(range)) => {
            let (start, end) = slice_bounds(range);
            update_slice(value, start.as_ref()..end.as_ref(), opt, f)
        }
        (Value::Map(mut map), index) => {
            let mut key = match index {
                Value::Number(Number::Int(int)) => {
                    if !map.has_integer_keys() && map.find_member(int.to_string().as_bytes()).is_none() {
                        return keep_or_fail(Value::Map(map), opt, |value| Error::index(value, index.clone()));
                    }
                    Key { name: int.to_string().into_bytes().into(), spelling: KeySpelling::Int(*int) }
                }
                other => key_from_value(other).map_err(to_exception)?,
            };
            if let Value::Text(name) = index
                && let Some(stored) = map.stored_name_of(name)
            {
                key = Key::from_text(&Text::new(&stored));
            }
            let count = map.len();
            let mut depth = 0;
            LazyContainer::change_contents(&mut map, |members| match members.entry(key) {
                Entry::Occupied(mut entry) => {
                    let old = std::mem::take(entry.get_mut());
                    match f(old).next().transpose()? {
                        Some(new) => {
                            depth = new.depth();
                            entry.insert(new);
                        }
                        None if count > MAX_ORDERED_REMOVAL => drop(entry.swap_remove()),
                        None => drop(entry.shift_remove()),
                    }
                    Ok::<_, Exn<'a, Value>>(())
                }
                Entry::Vacant(entry) => {
                    if let Some(new) = f(Value::Null).next().transpose()? {
                        depth = new.depth();
                        entry.insert(new);
                    }
                    Ok::<_, Exn<'a, Value>>(())
                }
            })?;
            map.raise_depth(depth);
            Ok(Value::Map(map))
        }
        // Null becomes an empty container that fits the index.
        (Value::Null, Value::Text(_)) => update_entry(Value::from_members(Members::default()), index, opt, f),
        (Value::Null, Value::Number(_)) => update_entry(Value::from_items(Vec::new()), index, opt, f),
        (Value::List(mut list), Value::Number(Number::Int(position)))
            if usize::try_from(*position).is_ok_and(|index| index >= list.len()) =>
        {
            if let Some(new) = f(Value::Null).next().transpose()? {
                list.raise_depth(new.depth());
                LazyContainer::change_contents(&mut list, |items| insert_past_end(items, *position as usize, new));
            }
            Ok(Value::List(list))
        }
        (Value::List(mut list), index) => {
            let found = item_index(index, list.len())
                .and_then(|position| position.ok_or_else(|| Error::str(format_args!("index {index} out of bounds"))));
            let position = match found {
                Ok(position) => position,
                Err(error) => return keep_or_fail(Value::List(list), opt, |_| error),
            };
            let mut depth = 0;
            LazyContainer::change_contents(&mut list, |items| {
                let old = items.get_mut(position).map(std::mem::take).unwrap_or_default();
                match (f(old).next().transpose()?, items.get_mut(position)) {
                    (Some(new), Some(slot)) => {
                        depth = new.depth();
                        *slot = new;
                    }
                    _ => drop(items.remove(position)),
                }
                Ok::<_, Exn<'a, Value>>(())
            })?;
            list.raise_depth(depth);
            Ok(Value::List(list))
        }
        (other, _) => keep_or_fail(other, opt, |value| Error::typ(value, "iterable (array or object)")),
    }
}

/// Updates a slice, as `.[start:end] |= f` does.
pub fn update_slice<'a, I: Iterator<Item = ValX<'a, Value>>>(
    value: Value,
    range: Range<&Value>,
    opt: Opt,
    f: impl Fn(Value) -> I,
) -> ValX<'a, Value> {
    match value.into_visible_value() {
        Value::List(mut list) => {
            let (start, end) = match slice_range(range, list.len()) {
                Ok(bounds) => bounds,
                Err(error) => return keep_or_fail(Value::List(list), opt, |_| error),
            };
            let old = list.get().get(start..end).unwrap_or(&[]).iter().cloned().collect();
            let new = match f(old).next().transpose()?.map(Value::into_visible_value) {
                None => Vec::new(),
                Some(Value::List(new)) => LazyContainer::into_contents(new),
                Some(other) => return Err(to_exception(Error::typ(other, "array"))),
            };
            list.raise_depth(new.iter().map(Value::depth).max().unwrap_or(0));
            LazyContainer::change_contents(&mut list, |items| drop(items.splice(start..end, new)));
            Ok(Value::List(list))
        }
        Value::Text(text) => {
            let (start, end) = match text_slice_range(range, &text.bytes) {
                Ok(bounds) => bounds,
                Err(error) => return keep_or_fail(Value::Text(text), opt, |_| error),
            };
            let (before, after) = (text.bytes.get(..start).unwrap_or(&[]), text.bytes.get(end..).unwrap_or(&[]));
            let old = Value::Text(text.same_kind(text.bytes.get(start..end).unwrap_or(&[])));
            let new = match f(old).next().transpose()?.map(Value::into_visible_value) {
                None => return Ok(Value::Text(text.same_kind(&[before, after].concat()))),
                Some(Value::Text(new)) => new,
                Some(other) => return Err(to_exception(Error::typ(other, "string"))),
            };
            check_length(text.bytes.len() as u64 + new.bytes.len() as u64);
            Ok(Value::Text(text.same_kind(&[before, &*new.bytes, after].concat())))
        }
        other => keep_or_fail(other, opt, |value| Error::typ(value, "array")),
    }
}
