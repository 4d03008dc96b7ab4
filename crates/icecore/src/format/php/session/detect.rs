//! Detection: whether the bytes look like this format.

use super::handler::{self, find_first_name, is_variable_name};
use super::{Handler, ReadOptions, try_handler};
use crate::document::Document;
use crate::error::ErrorKind;
use crate::format::php::detect::starts_with_value as begins_value;
use crate::format::{Certainty, Guess, are_blanks};
use crate::limits::Limits;

/// Maximum number of values that are read to detect the format.
const MAX_VALUES: u32 = 10_000;

/// Detects names and values that can be read, to the end or for a long stretch. A session of the handler
/// `php_serialize` is not detected: it is an array of `serialize()`.
pub(super) fn detect(input: &[u8]) -> Option<Guess> {
    let handler = if find_first_name(input.get(..512).unwrap_or(input)).is_some_and(is_variable_name) {
        Handler::Php
    } else if handler::fits_handler(input, Handler::PhpBinary) {
        Handler::PhpBinary
    } else {
        return None;
    };
    let mut limits = Limits::default();
    limits.nodes = MAX_VALUES;
    // Links with unknown targets count as links.
    let options = ReadOptions { accept_unknown_links: true, ..ReadOptions::default() };
    let (tape, consumed, error) = try_handler(input, handler, &options, &limits);
    // The names must look like those of a program's variables.
    let document = Document::new(input, tape);
    let is_expected_name = match handler {
        Handler::Php => is_variable_name,
        _ => |name: &[u8]| !name.is_empty() && name.iter().all(|byte| byte.is_ascii_graphic() || *byte >= 0x80),
    };
    if !document.root().entries().all(|(name, _)| is_expected_name(name.bytes())) {
        return None;
    }
    let count = document.root().entries().count();
    // A name, a type and a length are hardly a coincidence.
    let begins_with_length = handler == Handler::Php
        && memchr::memchr(b'|', input).and_then(|bar| input.get(bar + 1..)).is_some_and(begins_value);
    let certainty = match error {
        None if count > 0 && are_blanks(&input[consumed..]) => Certainty::Sure,
        Some(error) if error.kind() == ErrorKind::Limit => Certainty::Sure,
        Some(error) if error.kind() == ErrorKind::Truncated && (count > 1 || begins_with_length) => Certainty::Likely,
        // Damaged later: everything before it must be more than chance.
        Some(_) if handler == Handler::Php && count > 2 => Certainty::Likely,
        _ => return None,
    };
    Some(Guess { certainty, variant: format!("handler {}", handler.as_str()) })
}

/// Returns `true` if the input begins with the name of a variable and a serialized value.
pub(super) fn starts_with_variable(input: &[u8]) -> bool {
    let named = input.get(..512).unwrap_or(input).split(|byte| *byte == b'|').next().unwrap_or(&[]);
    let is_named = is_variable_name(named) && input.get(named.len() + 1..).is_some_and(begins_value);
    let counted = || match input.split_first() {
        Some((len @ 1..0x20, rest)) => rest.get(usize::from(*len)..).is_some_and(begins_value),
        _ => false,
    };
    is_named || begins_value(input) && input[0] == b'a' || counted()
}
