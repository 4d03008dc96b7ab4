//! The fast loop over values, keys and names. The slow path handles everything else, one
//! value at a time.

use super::super::tag;
use super::SkimState;
use crate::format::skim::tokens::{FrameContent, Run, SkimFrame};
use crate::format::skim::{Mark, bytes_ahead};
use crate::format::tags::Class;

/// Maximum length of a string that the loop skips.
const MAX_STRING_LEN: u32 = 1 << 28;

static TAG_CLASSES: [Class; 256] = tag::TAGS.tag_classes();

pub(super) fn skim_run(run: &mut Run<'_, SkimState>) -> usize {
    let Some(SkimFrame { mut content, mut remaining }) = run.open.pop() else { return 0 };
    let (mut offset, bytes, mut values) = (0, run.bytes, run.value_count);
    while content != FrameContent::Rest {
        if remaining == 0 {
            let Some(outer) = run.open.pop() else {
                run.value_count = values;
                return offset;
            };
            SkimFrame { content, remaining } = outer;
            continue;
        }
        let Some(head) = bytes_ahead::<6>(bytes, offset) else { break };
        let class = TAG_CLASSES[usize::from(head[0])];
        if content == FrameContent::Members && remaining.is_multiple_of(2) && class != Class::Again {
            break;
        }
        match class {
            Class::Tag => offset += 1,
            Class::Integer => offset += integer_len(head[1]),
            Class::Again => {
                let Some((number, len)) = parse_count(head) else { break };
                if number as u64 >= run.name_count {
                    break;
                }
                offset += len;
            }
            Class::Link => {
                let Some((number, len)) = parse_count(head) else { break };
                if number as u64 >= values {
                    break;
                }
                offset += len;
            }
            // A key that is a string, and every float, may be linked.
            Class::Text => {
                let Some((text, len)) = parse_count(head) else { break };
                if content != FrameContent::Values && remaining.is_multiple_of(2) {
                    record_linkable(run, offset, values);
                }
                values += 1;
                offset += len + text;
            }
            Class::Float => {
                let Some((text, len)) = parse_count(head) else { break };
                record_linkable(run, offset, values);
                values += 1;
                offset += len + text;
            }
            Class::Owner => {
                let Some(next) = find_encoded_end(bytes, offset, run.name_count) else { break };
                if content != FrameContent::Values && remaining.is_multiple_of(2) {
                    record_linkable(run, offset, values);
                }
                values += 1;
                offset = next;
            }
            Class::Items | Class::Entries | Class::Object => {
                let Some((inside, next)) = parse_container(class, bytes, offset, run.name_count) else { break };
                run.open.push(SkimFrame { content, remaining: remaining - 1 });
                SkimFrame { content, remaining } = inside;
                values += 1;
                offset = next;
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
        remaining -= 1;
    }
    run.open.push(SkimFrame { content, remaining });
    run.value_count = values;
    offset
}

fn record_linkable(run: &mut Run<'_, SkimState>, offset: usize, values: u64) {
    run.format.record_linkable(Mark { offset: run.view_start + offset as u64, numbers: [values, run.name_count] });
}

/// Returns the size of an integer, with its tag.
#[inline(always)]
fn integer_len(first: u8) -> usize {
    match first as i8 {
        width @ -4..=4 => 2 + usize::from(width.unsigned_abs()),
        _ => 2,
    }
}

/// Returns the count after a tag, if it is one, and the size of both.
#[inline(always)]
fn parse_count(head: &[u8; 6]) -> Option<(usize, usize)> {
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
    (value < MAX_STRING_LEN).then(|| (value as usize, 2 + usize::from(first)))
}

/// Returns the offset after a symbol that occurred before.
#[inline(always)]
fn find_symbol_end(bytes: &[u8], offset: usize, symbols: u64) -> Option<usize> {
    let head = bytes_ahead::<6>(bytes, offset)?;
    let (number, len) = parse_count(head)?;
    (head[0] == b';' && (number as u64) < symbols).then_some(offset + len)
}

/// Returns the offset after a string that has its encoding and no other variable.
#[inline(always)]
fn find_encoded_end(bytes: &[u8], offset: usize, symbols: u64) -> Option<usize> {
    let head = bytes_ahead::<6>(bytes, offset + 1)?;
    let (text, len) = parse_count(head)?;
    let text_end = offset + 1 + len + text;
    if head[0] != b'"' || *bytes.get(text_end)? != 1 + 5 {
        return None;
    }
    let variable_end = find_symbol_end(bytes, text_end + 1, symbols)?;
    matches!(bytes.get(variable_end), Some(b'T' | b'F')).then_some(variable_end + 1)
}

/// Returns the offset after the head of a container, and the frame of the container.
#[inline(always)]
fn parse_container(class: Class, bytes: &[u8], offset: usize, symbols: u64) -> Option<(SkimFrame, usize)> {
    // The name of a class takes the place of the tag.
    let tag_offset = if class == Class::Object { find_symbol_end(bytes, offset + 1, symbols)? - 1 } else { offset };
    let (count, len) = parse_count(bytes_ahead::<6>(bytes, tag_offset)?)?;
    let inside = match class {
        Class::Items => SkimFrame::new_values(count as u64),
        Class::Entries => SkimFrame::new_pairs(FrameContent::Entries, count as u64),
        _ => SkimFrame::new_pairs(FrameContent::Members, count as u64),
    };
    Some((inside, tag_offset + len))
}
