//! Detection: whether the bytes look like this format.

use super::try_read;
use crate::document::{Document, Kind};
use crate::error::ErrorKind;
use crate::format::{Certainty, Guess};
use crate::limits::Limits;

/// Limit of the values that are read.
const MAX_VALUES: u32 = 10_000;

/// Detects an array or an object, or a PHP file that returns a value. Scalars alone could be
/// anything.
pub(super) fn detect(input: &[u8]) -> Option<Guess> {
    let text = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input).trim_ascii_start();
    let is_file = text.get(..5).is_some_and(|tag| tag.eq_ignore_ascii_case(b"<?php"));
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    let is_state = || {
        let head = text.get(..256).unwrap_or(text);
        let name = head.iter().take_while(|byte| super::lex::is_word_byte(**byte) || **byte == b'\\').count();
        name > 0 && head[name..].starts_with(b"::__set_state(")
    };
    if !(is_file || begins(b"array") || begins(b"return") || begins(b"(object)") || is_state()) {
        return None;
    }
    let mut limits = Limits::default();
    limits.nodes = MAX_VALUES;
    let (tape, consumed, error) = try_read(input, &limits);
    let document = Document::new(input, tape);
    let root = document.root();
    let values = document.nodes().len();
    let is_container = matches!(root.kind(), Kind::Array | Kind::Map | Kind::Object);
    let certainty = match error {
        None if !input[consumed..].trim_ascii().is_empty() || values == 0 => return None,
        None if is_container && values > 1 => Certainty::Sure,
        None => Certainty::Likely,
        Some(error) => match error.kind() {
            ErrorKind::Limit if is_container => Certainty::Sure,
            ErrorKind::Truncated if is_container && values > 2 => Certainty::Likely,
            ErrorKind::Malformed if is_container && values > 2 => Certainty::Likely,
            // A program: the reader can report where the code is.
            ErrorKind::Unsupported if is_container && (is_file || values > 2) => Certainty::Possible,
            _ => return None,
        },
    };
    Some(Guess { certainty, variant: if is_file { "in a PHP file".to_owned() } else { String::new() } })
}

/// Returns `true` if the input begins with `array (` and an item, as `var_export()` writes it, or
/// probably is another text of it.
pub(super) fn starts_with_value(input: &[u8]) -> bool {
    let is_array = || {
        let rest = input.trim_ascii_start().strip_prefix(b"array")?.trim_ascii_start();
        let item = rest.strip_prefix(b"(")?.trim_ascii_start();
        item.first().is_none_or(|byte| b"'\")-\\".contains(byte) || byte.is_ascii_digit()).then_some(())
    };
    is_array().is_some() || super::FORMAT.is_likely(input)
}
