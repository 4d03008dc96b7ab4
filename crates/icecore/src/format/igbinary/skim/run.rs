//! The fast loop over entries. The slow path handles everything else, one token at a time.

use super::super::tag;
use super::{StringPositions, decode_integer};
use crate::format::skim::bytes_ahead;
use crate::format::skim::tokens::{FrameContent, Run, SkimFrame};

/// Maximum length of a string that the loop skips.
const MAX_STRING_LEN: u32 = 1 << 28;

/// Class of a token for the fast loop, with its size.
enum Token {
    Leaf(usize),
    /// A string written in full.
    Text(usize),
    /// The number of a string.
    Again(usize, u32),
    Array(usize, u32),
    Other,
}

impl Token {
    #[inline(always)]
    fn from_head(head: &[u8; 9]) -> Token {
        let [tag, a, b, c, d, ..] = *head;
        let wide = |width: u8| match width {
            0 => u32::from(a),
            1 => u32::from(u16::from_be_bytes([a, b])),
            _ => u32::from_be_bytes([a, b, c, d]),
        };
        match tag {
            tag::NULL | tag::FALSE | tag::TRUE | tag::EMPTY => Token::Leaf(1),
            0x06 | 0x07 => Token::Leaf(2),
            0x08 | 0x09 => Token::Leaf(3),
            0x0a | 0x0b => Token::Leaf(5),
            tag::FLOAT | tag::INT64 | tag::INT64_NEGATIVE => Token::Leaf(9),
            0x0e => Token::Again(2, wide(0)),
            0x0f => Token::Again(3, wide(1)),
            0x10 => Token::Again(5, wide(2)),
            0x11 => Token::Text(2 + wide(0) as usize),
            0x12 => Token::Text(3 + wide(1) as usize),
            0x13 if wide(2) <= MAX_STRING_LEN => Token::Text(5 + wide(2) as usize),
            0x14 => Token::Array(2, wide(0)),
            0x15 => Token::Array(3, wide(1)),
            0x16 => Token::Array(5, wide(2)),
            _ => Token::Other,
        }
    }
}

/// Skips entries, up to one with anything rare.
pub(super) fn skip_entries(run: &mut Run<'_, StringPositions>, sought: Option<i64>) -> (usize, bool) {
    // Number of entries still to skip.
    let Some(mut remaining) = pop_entries(run) else { return (0, false) };
    let (mut offset, mut values, mut names, mut is_found) = (0, run.value_count, run.name_count, false);
    let (bytes, base) = (run.bytes, run.view_start);
    let is_open = loop {
        if remaining == 0 {
            match pop_entries(run) {
                Some(outer) => remaining = outer,
                None => break false,
            }
            continue;
        }
        let Some(head) = bytes_ahead::<9>(bytes, offset) else { break true };
        let mut next = offset;
        let mut texts = 0;
        match Token::from_head(head) {
            // An array's keys are integers and strings, and no value is omitted.
            Token::Leaf(len) if head[0] > tag::TRUE && head[0] != tag::FLOAT => {
                if sought.is_some() && run.open.is_empty() && decode_integer(head) == sought {
                    (offset, is_found) = (offset + len, true);
                    break true;
                }
                next += len;
            }
            Token::Text(len) => {
                texts = 1;
                next += len;
            }
            Token::Again(len, number) if u64::from(number) < names => next += len,
            _ => break true,
        }
        let Some(head) = bytes_ahead::<9>(bytes, next) else { break true };
        let value = next;
        let mut array = None;
        match Token::from_head(head) {
            Token::Leaf(len) => next += len,
            Token::Text(len) => {
                next += len;
                if texts == 1 {
                    run.format.number_string(base + offset as u64, &mut names);
                }
                run.format.number_string(base + value as u64, &mut names);
                texts = 0;
            }
            Token::Again(len, number) if u64::from(number) < names + texts => next += len,
            Token::Array(len, count) => {
                next += len;
                array = Some(count);
            }
            _ => break true,
        }
        if texts == 1 {
            run.format.number_string(base + offset as u64, &mut names);
        }
        remaining -= 1;
        offset = next;
        if let Some(count) = array {
            values += 1;
            run.open.push(SkimFrame::new_pairs(FrameContent::Entries, remaining));
            remaining = u64::from(count);
        }
    };
    if is_open {
        let mut frame = SkimFrame::new_pairs(FrameContent::Entries, remaining);
        // The key that was sought is skipped.
        frame.remaining -= u64::from(is_found);
        run.open.push(frame);
    }
    (run.value_count, run.name_count) = (values, names);
    (offset, is_found)
}

/// Returns how many entries are left in the innermost container, if a key is next.
#[inline(always)]
fn pop_entries(run: &mut Run<'_, StringPositions>) -> Option<u64> {
    let frame = run.open.pop()?;
    let is_ready = match frame.content {
        FrameContent::Entries => frame.remaining.is_multiple_of(2),
        content => content == FrameContent::Values && frame.remaining == 0,
    };
    if is_ready {
        return Some(frame.remaining / 2);
    }
    run.open.push(frame);
    None
}
