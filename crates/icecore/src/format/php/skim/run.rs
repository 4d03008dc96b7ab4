//! The fast loop over tokens.

use super::super::tag::TAGS;
use crate::find_byte::find_byte;
use crate::format::skim::{Sure, Unsure, ahead};
use crate::format::tags::Class;

/// Longest class name that is skipped.
const NAME: u64 = 4096;

static CLASSES: [Class; 256] = TAGS.classes();

/// How a run over tokens ended.
pub(super) enum Ended {
    /// After the value.
    Done,
    /// More bytes are needed.
    Short,
    /// A string ends this many bytes after the position.
    Far(u64),
    Unsure,
}

/// Reads the digits at `at` up to the byte `end`; returns the offset of that byte. `None`:
/// they continue beyond the view.
#[inline(always)]
fn number(bytes: &[u8], at: usize, end: u8) -> Option<Sure<(u64, usize)>> {
    // Most numbers have up to three digits.
    if let Some([a, b, c, d]) = ahead::<4>(bytes, at)
        && let Some(first) = digit(*a)
    {
        if *b == end {
            return Some(Ok((first, at + 1)));
        }
        if let Some(second) = digit(*b) {
            if *c == end {
                return Some(Ok((first * 10 + second, at + 2)));
            }
            if let Some(third) = digit(*c)
                && *d == end
            {
                return Some(Ok((first * 100 + second * 10 + third, at + 3)));
            }
        }
    }
    long_number(bytes, at, end)
}

#[inline(always)]
fn digit(byte: u8) -> Option<u64> {
    let value = byte.wrapping_sub(b'0');
    (value <= 9).then_some(u64::from(value))
}

#[inline(never)]
fn long_number(bytes: &[u8], mut at: usize, end: u8) -> Option<Sure<(u64, usize)>> {
    let first = at;
    let mut value = 0u64;
    loop {
        match *bytes.get(at)? {
            digit @ b'0'..=b'9' if at - first < 18 => value = value * 10 + u64::from(digit - b'0'),
            byte if byte == end && at > first => return Some(Ok((value, at))),
            _ => return Some(Err(Unsure)),
        }
        at += 1;
    }
}

/// Returns the offset after the next semicolon.
#[inline(always)]
fn behind_semicolon(bytes: &[u8], at: usize) -> Option<usize> {
    find_byte(bytes.get(at..)?, [b';']).map(|len| at + 1 + len)
}

/// Skips entries whose keys are integers. Stops after the key that is sought, or before an
/// entry that is rare or not completely in view.
pub(super) fn find(bytes: &[u8], left: &mut u64, sought: i64) -> (usize, bool) {
    let mut at = 0;
    while *left > 0 && ahead::<2>(bytes, at) == Some(b"i:") {
        let Some(Ok((number, end))) = number(bytes, at + 2, b';') else { break };
        if i64::try_from(number) == Ok(sought) {
            *left -= 1;
            return (end + 1, true);
        }
        let (mut behind, mut has_links) = (end + 1, false);
        let Ended::Done = over(bytes, &mut behind, &mut 0, &mut has_links) else { break };
        at = behind;
        *left -= 1;
    }
    (at, false)
}

/// Skips tokens of a value from `at` on, until it ends.
pub(super) fn over(bytes: &[u8], at: &mut usize, depth: &mut u64, has_links: &mut bool) -> Ended {
    let (mut here, mut open) = (*at, *depth);
    let ended = tokens(bytes, &mut here, &mut open, has_links);
    (*at, *depth) = (here, open);
    ended
}

#[inline(always)]
fn tokens(bytes: &[u8], at: &mut usize, depth: &mut u64, has_links: &mut bool) -> Ended {
    // `None` needs more bytes; `Unsure` needs the reader.
    macro_rules! number {
        ($from:expr, $end:expr) => {
            match number(bytes, $from, $end) {
                Some(Ok(number)) => number,
                Some(Err(Unsure)) => return Ended::Unsure,
                None => return Ended::Short,
            }
        };
    }
    macro_rules! brace {
        ($colon:expr) => {
            match bytes.get($colon + 1) {
                Some(b'{') => *at = $colon + 2,
                Some(_) => return Ended::Unsure,
                None => return Ended::Short,
            }
        };
    }
    while let Some(tag) = bytes.get(*at) {
        match CLASSES[usize::from(*tag)] {
            Class::Text => {
                let (len, colon) = number!(*at + 2, b':');
                // The quotes and the semicolon.
                let text = colon + 2;
                let Some(left) = bytes.len().checked_sub(text + 2) else { return Ended::Short };
                if len > left as u64 {
                    return Ended::Far((text + 2 - *at) as u64 + len);
                }
                let end = text + len as usize;
                match ahead::<2>(bytes, end) {
                    Some(b"\";") => *at = end + 2,
                    _ => return Ended::Unsure,
                }
            }
            Class::Integer => match behind_semicolon(bytes, *at + 1) {
                Some(behind) => *at = behind,
                None => return Ended::Short,
            },
            Class::Entries => {
                let (_, colon) = number!(*at + 2, b':');
                brace!(colon);
                *depth += 1;
                continue;
            }
            _ if *tag == b'}' && *depth > 0 => {
                *depth -= 1;
                *at += 1;
            }
            Class::Object => {
                let (len, colon) = number!(*at + 2, b':');
                if len > NAME {
                    return Ended::Unsure;
                }
                let (_, colon) = number!(colon + 4 + len as usize - 1, b':');
                brace!(colon);
                *depth += 1;
                continue;
            }
            Class::Link => match behind_semicolon(bytes, *at + 1) {
                Some(behind) => (*at, *has_links) = (behind, true),
                None => return Ended::Short,
            },
            // Escapes, and payloads of classes.
            _ => return Ended::Unsure,
        }
        if *depth == 0 {
            return Ended::Done;
        }
    }
    Ended::Short
}
