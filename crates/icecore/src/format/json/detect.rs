//! Detection of JSON.

use super::read::Reader;
use super::{ReadOptions, Surrogates, strip_byte_order_mark};
use crate::document::Tape;
use crate::error::ErrorKind;
use crate::format::{Certainty, Guess};
use crate::limits::Limits;

/// Number of bytes of the input that are examined.
const EXAMINED_BYTES: usize = 256 << 10;

pub(super) fn detect(input: &[u8]) -> Option<Guess> {
    // The caller decides what to do about a byte order mark.
    let input = strip_byte_order_mark(input);
    let start = input.iter().take(EXAMINED_BYTES).position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))?;
    let first = input[start];
    if !matches!(first, b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') {
        return None;
    }
    let beginning = &input[..input.len().min(EXAMINED_BYTES)];
    let limits = Limits { depth: u32::MAX, ..Limits::default() };
    let mut tape = Tape::new();
    let options = ReadOptions { surrogates: Surrogates::Keep, ..ReadOptions::default() };
    let (consumed, error) = Reader::<_, true, false>::new(beginning, &mut tape, &limits, &options).read();
    let is_container = matches!(first, b'{' | b'[');
    let is_typed = super::is_typed_json(input, &ReadOptions::default());
    let variant = |suffix: &str| format!("{}{suffix}", if is_typed { "typed" } else { "plain" });
    match error {
        None if consumed == input.len() && is_container => {
            Some(Guess { certainty: Certainty::Sure, variant: variant("") })
        }
        // A number or a word alone may be anything.
        None if consumed == input.len() => Some(Guess { certainty: Certainty::Possible, variant: variant(" value") }),
        None if is_container && matches!(input.get(consumed), Some(b'{' | b'[')) => {
            Some(Guess { certainty: Certainty::Likely, variant: variant(", several documents") })
        }
        Some(error) if is_container && error.kind() == ErrorKind::Truncated && beginning.len() < input.len() => {
            Some(Guess { certainty: Certainty::Likely, variant: variant("") })
        }
        // Cut off, but JSON up to there.
        Some(error) if is_container && error.kind() == ErrorKind::Truncated && tape.nodes().len() > 2 => {
            Some(Guess { certainty: Certainty::Possible, variant: variant(", broken off") })
        }
        _ => None,
    }
}

/// Returns `true` if the first bytes look like JSON.
pub(super) fn begins_like_json(input: &[u8]) -> bool {
    match strip_byte_order_mark(input).trim_ascii_start() {
        [b'{', rest @ ..] => matches!(rest.trim_ascii_start(), [b'"' | b'}', ..]),
        [b'[', rest @ ..] => {
            matches!(rest.trim_ascii_start(), [b'[' | b'{' | b'"' | b']' | b'-' | b'0'..=b'9', ..])
        }
        _ => false,
    }
}

/// Returns `true` if a string in other data is worth reading.
pub(super) fn may_be_json(input: &[u8]) -> bool {
    matches!(input.trim_ascii_start(), [b'{' | b'[', ..])
}
