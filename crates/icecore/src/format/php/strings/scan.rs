//! The fast scan: arrays, objects and scalars in their usual spelling.

use crate::format::php::read_leaf::{integer, number, string};
use crate::format::php::text;
use crate::format::strings::{Found, Length, Place, Places, Wanted};
use crate::steps;

/// Longest text of a float here.
const FLOAT: usize = 40;

/// Returns the wanted strings. `None` if there is an error or anything unusual.
pub(super) fn scan<'t>(input: &[u8], wanted: &Wanted<'_>) -> Option<Places<'t>> {
    let mut places = Places::default();
    // Numbers of entries still to read: in the outer containers, and in the innermost.
    let mut around: Vec<u32> = Vec::new();
    let (mut at, mut left, mut values) = (0, 0, 0u32);
    let mut slots = Slots::default();
    loop {
        values = values.checked_add(1).filter(|values| *values < wanted.limits.nodes / 4)?;
        steps::count(1);
        slots.count += 1;
        match input.get(at..at + 2)? {
            b"s:" => {
                let (start, len, end) = string(input, at)?;
                if len as u64 > wanted.limits.string {
                    return None;
                }
                if (wanted.may)(start, start + len) {
                    let length = Length { start: at + 2, end: start - 2, was: len as u64, most: None };
                    places.list.push(Found::Text(Place::plain(start, start + len, Some(length))));
                }
                at = end;
            }
            b"i:" => at = integer(input, at)?.1,
            b"b:" => match input.get(at + 2..at + 4)? {
                b"0;" | b"1;" => at += 4,
                _ => return None,
            },
            b"d:" => at = float(input, at)?,
            b"N;" => at += 2,
            b"r:" => at = slots.object(input, at)?,
            b"R:" => {
                slots.count -= 1;
                at = slots.variable(input, at)?;
            }
            head @ (b"a:" | b"O:") => {
                let is_object = head == b"O:";
                let (count, start) = if is_object { object(input, at)? } else { array(input, at)? };
                if is_object {
                    slots.objects.push(slots.count);
                }
                if (count > 0 || is_object) && around.len() >= wanted.limits.depth as usize {
                    return None;
                }
                around.push(left);
                (left, at) = (count, start);
                if count > 0 {
                    at = key(input, at, wanted)?;
                    left -= 1;
                    continue;
                }
                at = end(input, at)?;
                left = around.pop()?;
            }
            _ => return None,
        }
        while left == 0 {
            if around.is_empty() {
                places.consumed = at;
                return Some(places);
            }
            at = end(input, at)?;
            left = around.pop()?;
        }
        at = key(input, at, wanted)?;
        left -= 1;
    }
}

/// The values that links can refer to; their numbers start at 1.
#[derive(Default)]
struct Slots {
    count: u32,
    /// Those that are objects, in order.
    objects: Vec<u32>,
}

impl Slots {
    /// Returns the end of a link to an object. A link to a link is left to the reader.
    fn object(&self, input: &[u8], at: usize) -> Option<usize> {
        let (slot, end) = number(input, at + 2)?;
        self.objects.binary_search(&slot).ok()?;
        (input.get(end) == Some(&b';')).then_some(end + 1)
    }

    /// Returns the end of an alias of a variable.
    fn variable(&self, input: &[u8], at: usize) -> Option<usize> {
        let (slot, end) = number(input, at + 2)?;
        ((1..=self.count).contains(&slot) && input.get(end) == Some(&b';')).then_some(end + 1)
    }
}

fn end(input: &[u8], at: usize) -> Option<usize> {
    (input.get(at) == Some(&b'}')).then_some(at + 1)
}

/// Returns the end of the key at `at`.
fn key(input: &[u8], at: usize, wanted: &Wanted<'_>) -> Option<usize> {
    if let Some((_, len, end)) = string(input, at) {
        return (len as u64 <= wanted.limits.string).then_some(end);
    }
    integer(input, at).map(|(_, end)| end)
}

/// Returns the number of entries of an array, and where the first starts.
fn array(input: &[u8], at: usize) -> Option<(u32, usize)> {
    let (count, end) = number(input, at + 2)?;
    let fits = count as usize <= input.len().checked_sub(end + 2)? / 2;
    (fits && input.get(end..end + 2)? == b":{").then_some((count, end + 2))
}

/// The same for an object.
fn object(input: &[u8], at: usize) -> Option<(u32, usize)> {
    let (len, quote) = number(input, at + 2)?;
    let start = quote + 2;
    let name = input.get(start..start.checked_add(len as usize)?)?;
    let behind = start + name.len();
    if len == 0 || input.get(quote..start)? != b":\"" || input.get(behind..behind + 2)? != b"\":" {
        return None;
    }
    let (count, end) = number(input, behind + 2)?;
    let fits = count as usize <= input.len().checked_sub(end + 2)? / 2;
    (fits && input.get(end..end + 2)? == b":{" && text::is_class_name(name)).then_some((count, end + 2))
}

/// Returns the end of the float.
fn float(input: &[u8], at: usize) -> Option<usize> {
    let rest = input.get(at + 2..)?;
    let len = rest.iter().take(FLOAT).position(|byte| *byte == b';')?;
    text::is_float(&rest[..len]).then_some(at + 2 + len + 1)
}
