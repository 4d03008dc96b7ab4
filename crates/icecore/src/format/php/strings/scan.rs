//! The fast scan: arrays, objects and scalars in their usual spelling.

use crate::format::php::read_leaf::{read_integer, read_number, read_string};
use crate::format::php::text;
use crate::format::strings::{FoundString, Length, StringPlace, StringPlaces, StringRequest};
use crate::steps;

/// Maximum length of a float that the scan accepts.
const MAX_FLOAT_LEN: usize = 40;

/// Returns the wanted strings. `None` if there is an error or anything unusual.
pub(super) fn scan_strings<'t>(input: &[u8], wanted: &StringRequest<'_>) -> Option<StringPlaces<'t>> {
    let mut places = StringPlaces::default();
    // Number of entries still to read in each outer container; `remaining` is that of the innermost one.
    let mut outer_remaining: Vec<u32> = Vec::new();
    let (mut offset, mut remaining, mut values) = (0, 0, 0u32);
    let mut slots = SlotCounter::default();
    loop {
        values = values.checked_add(1).filter(|values| *values < wanted.limits.nodes / 4)?;
        steps::count(1);
        slots.count += 1;
        match input.get(offset..offset + 2)? {
            b"s:" => {
                let (start, len, end) = read_string(input, offset)?;
                if len as u64 > wanted.limits.string {
                    return None;
                }
                if (wanted.is_wanted)(start, start + len) {
                    let length = Length { start: offset + 2, end: start - 2, value: len as u64, max_value: None };
                    places.strings.push(FoundString::Text(StringPlace::without_escapes(
                        start,
                        start + len,
                        Some(length),
                    )));
                }
                offset = end;
            }
            b"i:" => offset = read_integer(input, offset)?.1,
            b"b:" => match input.get(offset + 2..offset + 4)? {
                b"0;" | b"1;" => offset += 4,
                _ => return None,
            },
            b"d:" => offset = skip_float(input, offset)?,
            b"N;" => offset += 2,
            b"r:" => offset = slots.check_link(input, offset)?,
            b"R:" => {
                slots.count -= 1;
                offset = slots.check_alias(input, offset)?;
            }
            head @ (b"a:" | b"O:") => {
                let is_object = head == b"O:";
                let (count, start) =
                    if is_object { skip_object_head(input, offset)? } else { skip_array_head(input, offset)? };
                if is_object {
                    slots.objects.push(slots.count);
                }
                if (count > 0 || is_object) && outer_remaining.len() >= wanted.limits.depth as usize {
                    return None;
                }
                outer_remaining.push(remaining);
                (remaining, offset) = (count, start);
                if count > 0 {
                    offset = skip_key(input, offset, wanted)?;
                    remaining -= 1;
                    continue;
                }
                offset = skip_end(input, offset)?;
                remaining = outer_remaining.pop()?;
            }
            _ => return None,
        }
        while remaining == 0 {
            if outer_remaining.is_empty() {
                places.consumed = offset;
                return Some(places);
            }
            offset = skip_end(input, offset)?;
            remaining = outer_remaining.pop()?;
        }
        offset = skip_key(input, offset, wanted)?;
        remaining -= 1;
    }
}

/// Counts the values that links can refer to: PHP calls them slots and numbers them from 1.
#[derive(Default)]
struct SlotCounter {
    count: u32,
    /// Numbers of the slots that are objects, ascending.
    objects: Vec<u32>,
}

impl SlotCounter {
    /// Returns the end of a link to an object. A link to a link is left to the reader.
    fn check_link(&self, input: &[u8], offset: usize) -> Option<usize> {
        let (slot, end) = read_number(input, offset + 2)?;
        self.objects.binary_search(&slot).ok()?;
        (input.get(end) == Some(&b';')).then_some(end + 1)
    }

    /// Returns the end of an alias of a variable.
    fn check_alias(&self, input: &[u8], offset: usize) -> Option<usize> {
        let (slot, end) = read_number(input, offset + 2)?;
        ((1..=self.count).contains(&slot) && input.get(end) == Some(&b';')).then_some(end + 1)
    }
}

fn skip_end(input: &[u8], offset: usize) -> Option<usize> {
    (input.get(offset) == Some(&b'}')).then_some(offset + 1)
}

/// Returns the end of the key at `offset`.
fn skip_key(input: &[u8], offset: usize, wanted: &StringRequest<'_>) -> Option<usize> {
    if let Some((_, len, end)) = read_string(input, offset) {
        return (len as u64 <= wanted.limits.string).then_some(end);
    }
    read_integer(input, offset).map(|(_, end)| end)
}

/// Returns the number of entries of an array, and where the first starts.
fn skip_array_head(input: &[u8], offset: usize) -> Option<(u32, usize)> {
    let (count, end) = read_number(input, offset + 2)?;
    let fits = count as usize <= input.len().checked_sub(end + 2)? / 2;
    (fits && input.get(end..end + 2)? == b":{").then_some((count, end + 2))
}

/// Like [`skip_array_head`], for an object.
fn skip_object_head(input: &[u8], offset: usize) -> Option<(u32, usize)> {
    let (len, quote) = read_number(input, offset + 2)?;
    let start = quote + 2;
    let name = input.get(start..start.checked_add(len as usize)?)?;
    let name_end = start + name.len();
    if len == 0 || input.get(quote..start)? != b":\"" || input.get(name_end..name_end + 2)? != b"\":" {
        return None;
    }
    let (count, end) = read_number(input, name_end + 2)?;
    let fits = count as usize <= input.len().checked_sub(end + 2)? / 2;
    (fits && input.get(end..end + 2)? == b":{" && text::is_class_name(name)).then_some((count, end + 2))
}

/// Returns the end of the float.
fn skip_float(input: &[u8], offset: usize) -> Option<usize> {
    let rest = input.get(offset + 2..)?;
    let len = rest.iter().take(MAX_FLOAT_LEN).position(|byte| *byte == b';')?;
    text::is_float_text(&rest[..len]).then_some(offset + 2 + len + 1)
}
