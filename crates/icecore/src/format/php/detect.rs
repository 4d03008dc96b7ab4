//! Detection: whether the bytes look like this format.

use super::ReadOptions;
use crate::error::ErrorKind;
use crate::format::Reader as _;
use crate::format::{Certainty, Guess, Request};
use crate::limits::Limits;

/// Maximum number of values that are read to detect the format.
const MAX_VALUES: u32 = 10_000;

/// PHP has no magic number: the values must parse, to the end or for a long stretch.
pub(super) fn detect(input: &[u8]) -> Option<Guess> {
    let is_null = input.starts_with(b"N;");
    if !is_null && !matches!(input, [b'a' | b'O' | b'C' | b's' | b'S' | b'E' | b'i' | b'd' | b'b', b':', ..]) {
        return None;
    }
    let mut limits = Limits::default();
    limits.nodes = MAX_VALUES;
    let mut outcome = ReadOptions::default().read(input, Request::new(&limits));
    if outcome.error.as_ref().is_some_and(|error| error.kind() == ErrorKind::Truncated) {
        // If a count is too large, only this request shows what is there.
        outcome = ReadOptions::default().read(input, Request::new(&limits).salvaging());
    }
    let is_container = matches!(input[0], b'a' | b'O' | b'C' | b'E');
    let rest = input.get(outcome.consumed..).unwrap_or(&[]);
    let certainty = match outcome.error {
        None if !rest.trim_ascii().is_empty() => return None,
        None if is_container || matches!(input[0], b's' | b'S') => Certainty::Sure,
        None if is_null => Certainty::Possible,
        None => Certainty::Likely,
        Some(error) if error.kind() == ErrorKind::Limit => Certainty::Sure,
        // Damaged or cut off: a part of it must parse.
        Some(error) if error.kind() == ErrorKind::Truncated && outcome.consumed >= 8 => Certainty::Likely,
        Some(_) if is_container && outcome.document.nodes().len() >= 3 => Certainty::Likely,
        Some(_) if !is_container && is_string_head(input) => Certainty::Likely,
        Some(_) => return None,
    };
    Some(Guess { certainty, variant: String::new() })
}

/// Returns `true` if a string in other data is worth reading. `N;` may occur in any text, but is
/// rarely all of one.
pub(super) fn is_worth_reading(input: &[u8]) -> bool {
    input == b"N;" || matches!(input, [b'a' | b'O' | b'C' | b's' | b'S' | b'E' | b'i' | b'd' | b'b', b':', ..])
}

/// Returns `true` if this is the beginning of a string whose end is not here yet.
fn is_string_head(input: &[u8]) -> bool {
    let Some(rest) = input.strip_prefix(b"s:") else { return false };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let Some(len) = std::str::from_utf8(&rest[..digits]).ok().and_then(|digits| digits.parse::<usize>().ok()) else {
        return false;
    };
    rest[digits..].starts_with(b":\"") && input.len() >= 16 && rest.len() - digits - 2 < len
}

/// Returns `true` if the input begins as only a serialized value does: with a type and a length,
/// or as a complete integer, float or boolean.
pub(super) fn starts_with_value(input: &[u8]) -> bool {
    let [kind, b':', rest @ ..] = input else { return false };
    match kind {
        b'a' | b'O' | b'C' | b'E' | b's' | b'S' => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            digits > 0 && rest.get(digits) == Some(&b':')
        }
        b'i' | b'd' | b'b' => match rest.trim_ascii_end() {
            [number @ .., b';'] => {
                let is_part = |byte: &u8| byte.is_ascii_digit() || b"+-.eEINFA".contains(byte);
                !number.is_empty() && number.iter().all(is_part)
            }
            _ => false,
        },
        _ => false,
    }
}
