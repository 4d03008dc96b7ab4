//! Detection: whether the bytes look like this format.

use super::ReadOptions;
use super::read::{feed_document, layout};
use crate::document::Tape;
use crate::error::ErrorKind;
use crate::format::{Certainty, Guess};
use crate::limits::Limits;

/// Limit of the values that are read.
const MAX_VALUES: u32 = 10_000;

/// Detects a text that begins with `$VAR1 = ` or another assignment. Bare values could
/// be anything.
pub(super) fn detect(input: &[u8]) -> Option<Guess> {
    let text = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input);
    if !layout::may_begin_document(text) {
        return None;
    }
    // Only Data::Dumper names variables like this.
    let is_numbered = matches!(text.trim_ascii_start(), [b'$', b'V', b'A', b'R', digit, ..] if digit.is_ascii_digit());
    let mut limits = Limits::default();
    limits.nodes = MAX_VALUES;
    limits.depth = u32::MAX;
    let mut tape = Tape::new();
    let (consumed, error) = feed_document(input, &ReadOptions::default(), &limits, &mut tape);
    let values = tape.nodes().len();
    let is_container = tape.nodes().get(tape.root() as usize).is_some_and(|root| root.kind.is_container());
    let certainty = match error {
        None if values == 0 => return None,
        None if is_container || consumed < input.len() => Certainty::Sure,
        None => Certainty::Likely,
        Some(error) => match error.kind() {
            ErrorKind::Limit if is_container => Certainty::Sure,
            ErrorKind::Truncated if is_container => Certainty::Likely,
            ErrorKind::Malformed | ErrorKind::BadLink if is_container && values > 2 => Certainty::Likely,
            // The reader can report where the code is. With other names it may be a
            // program.
            ErrorKind::Unsupported | ErrorKind::Malformed if is_numbered => Certainty::Likely,
            _ => return None,
        },
    };
    Some(Guess { certainty, variant: String::new() })
}

/// Returns `true` if the input begins with `$VAR1 =`, or probably is another text of
/// Data::Dumper.
pub(super) fn begins_document(input: &[u8]) -> bool {
    let is_variable = || {
        let rest = input.trim_ascii_start().strip_prefix(b"$VAR")?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (digits > 0 && rest[digits..].trim_ascii_start().starts_with(b"=")).then_some(())
    };
    is_variable().is_some() || super::FORMAT.is_likely(input)
}
