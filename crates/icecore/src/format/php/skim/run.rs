//! The fast loop over tokens.

use super::super::tag::TAGS;
use crate::find_byte::find_byte;
use crate::format::skim::{SkimAborted, SkimResult, bytes_ahead};
use crate::format::tags::Class;

/// Maximum length of a class name that is skipped.
const MAX_CLASS_LEN: u64 = 4096;

static TAG_CLASSES: [Class; 256] = TAGS.tag_classes();

/// How a run over tokens ended.
pub(super) enum RunEnd {
    /// After the value.
    Done,
    /// More bytes are needed.
    Short,
    /// A string ends this many bytes after the position.
    Far(u64),
    Unsure,
}

/// Reads the digits at `offset` up to the byte `end`; returns the offset of that byte. `None`:
/// they continue beyond the view.
#[inline(always)]
fn read_number(bytes: &[u8], offset: usize, end: u8) -> Option<SkimResult<(u64, usize)>> {
    // Most numbers have up to three digits.
    if let Some([a, b, c, d]) = bytes_ahead::<4>(bytes, offset)
        && let Some(first) = decode_digit(*a)
    {
        if *b == end {
            return Some(Ok((first, offset + 1)));
        }
        if let Some(second) = decode_digit(*b) {
            if *c == end {
                return Some(Ok((first * 10 + second, offset + 2)));
            }
            if let Some(third) = decode_digit(*c)
                && *d == end
            {
                return Some(Ok((first * 100 + second * 10 + third, offset + 3)));
            }
        }
    }
    read_long_number(bytes, offset, end)
}

#[inline(always)]
fn decode_digit(byte: u8) -> Option<u64> {
    let value = byte.wrapping_sub(b'0');
    (value <= 9).then_some(u64::from(value))
}

#[inline(never)]
fn read_long_number(bytes: &[u8], mut offset: usize, end: u8) -> Option<SkimResult<(u64, usize)>> {
    let first = offset;
    let mut value = 0u64;
    loop {
        match *bytes.get(offset)? {
            digit @ b'0'..=b'9' if offset - first < 18 => value = value * 10 + u64::from(digit - b'0'),
            byte if byte == end && offset > first => return Some(Ok((value, offset))),
            _ => return Some(Err(SkimAborted)),
        }
        offset += 1;
    }
}

/// Returns the offset after the next semicolon.
#[inline(always)]
fn skip_semicolon(bytes: &[u8], offset: usize) -> Option<usize> {
    find_byte(bytes.get(offset..)?, [b';']).map(|len| offset + 1 + len)
}

/// Skips entries whose keys are integers. Stops after the key that is sought, or before an
/// entry that is rare or not completely in view.
pub(super) fn find_integer_key(bytes: &[u8], remaining: &mut u64, sought: i64) -> (usize, bool) {
    let mut offset = 0;
    while *remaining > 0 && bytes_ahead::<2>(bytes, offset) == Some(b"i:") {
        let Some(Ok((number, end))) = read_number(bytes, offset + 2, b';') else { break };
        if i64::try_from(number) == Ok(sought) {
            *remaining -= 1;
            return (end + 1, true);
        }
        let (mut value_end, mut has_links) = (end + 1, false);
        let RunEnd::Done = skip_value(bytes, &mut value_end, &mut 0, &mut has_links) else { break };
        offset = value_end;
        *remaining -= 1;
    }
    (offset, false)
}

/// Skips tokens of a value from `position` on, until it ends.
pub(super) fn skip_value(bytes: &[u8], position: &mut usize, depth: &mut u64, has_links: &mut bool) -> RunEnd {
    let (mut offset, mut open) = (*position, *depth);
    let ended = skip_tokens(bytes, &mut offset, &mut open, has_links);
    (*position, *depth) = (offset, open);
    ended
}

#[inline(always)]
fn skip_tokens(bytes: &[u8], offset: &mut usize, depth: &mut u64, has_links: &mut bool) -> RunEnd {
    // `None` needs more bytes; `Unsure` needs the reader.
    macro_rules! number {
        ($from:expr, $end:expr) => {
            match read_number(bytes, $from, $end) {
                Some(Ok(number)) => number,
                Some(Err(SkimAborted)) => return RunEnd::Unsure,
                None => return RunEnd::Short,
            }
        };
    }
    macro_rules! brace {
        ($colon:expr) => {
            match bytes.get($colon + 1) {
                Some(b'{') => *offset = $colon + 2,
                Some(_) => return RunEnd::Unsure,
                None => return RunEnd::Short,
            }
        };
    }
    while let Some(tag) = bytes.get(*offset) {
        match TAG_CLASSES[usize::from(*tag)] {
            Class::Text => {
                let (len, colon) = number!(*offset + 2, b':');
                // The quotes and the semicolon.
                let text = colon + 2;
                let Some(remaining) = bytes.len().checked_sub(text + 2) else { return RunEnd::Short };
                if len > remaining as u64 {
                    return RunEnd::Far((text + 2 - *offset) as u64 + len);
                }
                let end = text + len as usize;
                match bytes_ahead::<2>(bytes, end) {
                    Some(b"\";") => *offset = end + 2,
                    _ => return RunEnd::Unsure,
                }
            }
            Class::Integer => match skip_semicolon(bytes, *offset + 1) {
                Some(end) => *offset = end,
                None => return RunEnd::Short,
            },
            Class::Entries => {
                let (_, colon) = number!(*offset + 2, b':');
                brace!(colon);
                *depth += 1;
                continue;
            }
            _ if *tag == b'}' && *depth > 0 => {
                *depth -= 1;
                *offset += 1;
            }
            Class::Object => {
                let (len, colon) = number!(*offset + 2, b':');
                if len > MAX_CLASS_LEN {
                    return RunEnd::Unsure;
                }
                let (_, colon) = number!(colon + 4 + len as usize - 1, b':');
                brace!(colon);
                *depth += 1;
                continue;
            }
            Class::Link => match skip_semicolon(bytes, *offset + 1) {
                Some(end) => (*offset, *has_links) = (end, true),
                None => return RunEnd::Short,
            },
            // Escapes, and payloads of classes.
            _ => return RunEnd::Unsure,
        }
        if *depth == 0 {
            return RunEnd::Done;
        }
    }
    RunEnd::Short
}
