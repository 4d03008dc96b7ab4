//! The fast loop over values, keys and names. The slow path handles everything else, one
//! value at a time.

use super::super::tag;
use super::Symbols;
use crate::format::skim::tokens::{Frame, Run, Sort};
use crate::format::skim::{Mark, ahead};
use crate::format::tags::Class;

/// Longest string that it skips.
const LONG: u32 = 1 << 28;

static CLASSES: [Class; 256] = tag::TAGS.classes();

pub(super) fn over(run: &mut Run<'_, Symbols>) -> usize {
    let Some(Frame { mut sort, mut left }) = run.open.pop() else { return 0 };
    let (mut at, bytes, mut values) = (0, run.bytes, run.values);
    while sort != Sort::Rest {
        if left == 0 {
            let Some(below) = run.open.pop() else {
                run.values = values;
                return at;
            };
            Frame { sort, left } = below;
            continue;
        }
        let Some(head) = ahead::<6>(bytes, at) else { break };
        let class = CLASSES[usize::from(head[0])];
        if sort == Sort::Members && left.is_multiple_of(2) && class != Class::Again {
            break;
        }
        match class {
            Class::Tag => at += 1,
            Class::Integer => at += int_len(head[1]),
            Class::Again => {
                let Some((number, len)) = count(head) else { break };
                if number as u64 >= run.names {
                    break;
                }
                at += len;
            }
            Class::Link => {
                let Some((number, len)) = count(head) else { break };
                if number as u64 >= values {
                    break;
                }
                at += len;
            }
            // A key that is a string, and every float, may be linked.
            Class::Text => {
                let Some((text, len)) = count(head) else { break };
                if sort != Sort::Values && left.is_multiple_of(2) {
                    note(run, at, values);
                }
                values += 1;
                at += len + text;
            }
            Class::Float => {
                let Some((text, len)) = count(head) else { break };
                note(run, at, values);
                values += 1;
                at += len + text;
            }
            Class::Owner => {
                let Some(behind) = encoded(bytes, at, run.names) else { break };
                if sort != Sort::Values && left.is_multiple_of(2) {
                    note(run, at, values);
                }
                values += 1;
                at = behind;
            }
            Class::Items | Class::Entries | Class::Object => {
                let Some((inside, behind)) = container(class, bytes, at, run.names) else { break };
                run.open.push(Frame { sort, left: left - 1 });
                Frame { sort, left } = inside;
                values += 1;
                at = behind;
                continue;
            }
            Class::Byte
            | Class::Four
            | Class::Eight
            | Class::ShortText
            | Class::LowText
            | Class::Name
            | Class::Value
            | Class::TwoValues
            | Class::Blessed
            | Class::LowItems
            | Class::LowEntries
            | Class::FlagEntries
            | Class::Rare => break,
        }
        left -= 1;
    }
    run.open.push(Frame { sort, left });
    run.values = values;
    at
}

fn note(run: &mut Run<'_, Symbols>, at: usize, values: u64) {
    run.format.note(Mark { at: run.base + at as u64, numbers: [values, run.names] });
}

/// Returns the size of an integer, with its tag.
#[inline(always)]
fn int_len(first: u8) -> usize {
    match first as i8 {
        width @ -4..=4 => 2 + usize::from(width.unsigned_abs()),
        _ => 2,
    }
}

/// Returns the count after a tag, if it is one, and the size of both.
#[inline(always)]
fn count(head: &[u8; 6]) -> Option<(usize, usize)> {
    let [_, first, a, b, c, d] = *head;
    if first >= 5 {
        return (first < 0x80).then(|| (usize::from(first) - 5, 2));
    }
    let word = u32::from_le_bytes([a, b, c, d]);
    let value = match first {
        0 => 0,
        1 => word & 0xFF,
        2 => word & 0xFFFF,
        3 => word & 0xFF_FFFF,
        _ => word,
    };
    (value < LONG).then(|| (value as usize, 2 + usize::from(first)))
}

/// Returns the offset after a symbol that occurred before.
#[inline(always)]
fn symbol(bytes: &[u8], at: usize, symbols: u64) -> Option<usize> {
    let head = ahead::<6>(bytes, at)?;
    let (number, len) = count(head)?;
    (head[0] == b';' && (number as u64) < symbols).then_some(at + len)
}

/// Returns the offset after a string that has its encoding and no other variable.
#[inline(always)]
fn encoded(bytes: &[u8], at: usize, symbols: u64) -> Option<usize> {
    let head = ahead::<6>(bytes, at + 1)?;
    let (text, len) = count(head)?;
    let behind = at + 1 + len + text;
    if head[0] != b'"' || *bytes.get(behind)? != 1 + 5 {
        return None;
    }
    let behind = symbol(bytes, behind + 1, symbols)?;
    matches!(bytes.get(behind), Some(b'T' | b'F')).then_some(behind + 1)
}

/// Returns the offset after the front of a container, and the frame of the container.
#[inline(always)]
fn container(class: Class, bytes: &[u8], at: usize, symbols: u64) -> Option<(Frame, usize)> {
    // The name of a class takes the place of the tag.
    let at = if class == Class::Object { symbol(bytes, at + 1, symbols)? - 1 } else { at };
    let (count, len) = count(ahead::<6>(bytes, at)?)?;
    let inside = match class {
        Class::Items => Frame::values(count as u64),
        Class::Entries => Frame::pairs(Sort::Entries, count as u64),
        _ => Frame::pairs(Sort::Members, count as u64),
    };
    Some((inside, at + len))
}
