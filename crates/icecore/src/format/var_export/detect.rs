//! Detection: whether the bytes look like this format.

use super::lex::Lexer;
use super::prologue::Prologue;
use super::try_read;
use crate::document::{Document, Kind};
use crate::error::ErrorKind;
use crate::format::{Certainty, Guess};
use crate::limits::Limits;

/// Limit of the values that are read.
const MAX_VALUES: u32 = 10_000;

/// Detects the text of an array or an object as `var_export()` lays it out, or a PHP file that returns a value. Other
/// literals, such as `array(1, 2)`, occur in ordinary text, and scalars alone could be anything.
pub(super) fn detect(input: &[u8]) -> Option<Guess> {
    let text = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input).trim_ascii_start();
    let is_file = is_php_file(text);
    if is_file || has_exported_layout(text) { guess_by_reading(input, is_file) } else { None }
}

/// Returns `true` if the input is probably an array or an object of PHP in any layout. A replacement in such a text
/// must keep its syntax, whether `var_export()` wrote it or not.
pub(super) fn is_literal(input: &[u8]) -> bool {
    let text = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input).trim_ascii_start();
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    let is_file = is_php_file(text);
    let may_be_literal =
        is_file || begins(b"array") || begins(b"return") || begins(b"(object)") || after_state_head(text).is_some();
    may_be_literal && guess_by_reading(input, is_file).is_some_and(|guess| guess.certainty >= Certainty::Likely)
}

/// Reads the beginning of the input, and returns how certain it is that it is in this format.
fn guess_by_reading(input: &[u8], is_file: bool) -> Option<Guess> {
    let mut limits = Limits::default();
    limits.nodes = MAX_VALUES;
    let (tape, consumed, error) = try_read(input, &limits);
    let document = Document::new(input, tape);
    let root = document.root();
    let values = document.nodes().len();
    let is_container = matches!(root.kind(), Kind::Array | Kind::Map | Kind::Object);
    // A file that assigns a value is more often a program, so all of it must be read.
    let is_assignment = is_file && Lexer { input, offset: 0 }.read_prologue() == Ok(Prologue::Assignment);
    let certainty = match error {
        None if !input[consumed..].trim_ascii().is_empty() || values == 0 => return None,
        None if is_container && values > 1 => Certainty::Sure,
        None => Certainty::Likely,
        Some(error) if is_assignment && error.kind() != ErrorKind::Limit => return None,
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

fn is_php_file(text: &[u8]) -> bool {
    text.get(..5).is_some_and(|tag| tag.eq_ignore_ascii_case(b"<?php"))
}

/// Returns `true` if the text begins as `var_export()` writes an array or an object: the head on a line of its own, and
/// then a key with its arrow, or the end.
fn has_exported_layout(text: &[u8]) -> bool {
    exported_body(text).is_some_and(|body| {
        let line = body.trim_ascii_start();
        line.starts_with(b")") || line.is_empty() || line.len() < body.len() && begins_with_key(line)
    })
}

/// Returns what follows the line with the head of an array or an object; `None` if it is not laid out like one.
fn exported_body(text: &[u8]) -> Option<&[u8]> {
    let head = match text {
        [b'a', ..] => text.strip_prefix(b"array (")?,
        [b'(', ..] => text.strip_prefix(b"(object) array(")?,
        _ => after_state_head(text)?.strip_prefix(b"array(")?,
    };
    head.strip_prefix(b"\n").or_else(|| head.strip_prefix(b"\r\n"))
}

/// Returns what follows `Name::__set_state(`; `None` if the text does not begin with it.
fn after_state_head(text: &[u8]) -> Option<&[u8]> {
    /// Maximum length of a name for detection.
    const MAX_NAME_LEN: usize = 256;
    let name = text.get(..MAX_NAME_LEN).unwrap_or(text);
    let len = name.iter().take_while(|byte| super::lex::is_word_byte(**byte) || **byte == b'\\').count();
    text.get(len..).filter(|_| len > 0)?.strip_prefix(b"::__set_state(")
}

/// Returns `true` if the text begins with a key and ` => `, or ends before that.
fn begins_with_key(text: &[u8]) -> bool {
    let after_key = match text {
        [b'\'', rest @ ..] => {
            let mut bytes = rest.iter().enumerate();
            loop {
                match bytes.next() {
                    Some((_, b'\\')) => _ = bytes.next(),
                    Some((index, b'\'')) => break &rest[index + 1..],
                    Some(_) => {}
                    None => return true,
                }
            }
        }
        _ => {
            let digits = text.strip_prefix(b"-").unwrap_or(text);
            let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if count == 0 && !digits.is_empty() {
                return false;
            }
            &digits[count..]
        }
    };
    // A NUL byte in a key is written as `'' . "\0" . ''`.
    let arrow: &[u8] = if after_key.starts_with(b" . ") { b" . " } else { b" => " };
    after_key.iter().zip(arrow).all(|(byte, expected)| byte == expected)
}

/// Returns `true` if the input begins as `var_export()` writes an array or an object, or probably is another text of
/// it.
pub(super) fn starts_with_value(input: &[u8]) -> bool {
    has_exported_layout(input.trim_ascii_start()) || super::FORMAT.is_likely(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_layout_of_var_export_is_detected() {
        let exported = [
            "array (\n)",
            "array (\n  0 => 1,\n)",
            "array (\r\n  -5 => 1,\r\n)",
            "array (\n  'a\\'b' => \n  array (\n  ),\n)",
            "array (\n  '' . \"\\0\" . 'a' => 1,\n)",
            "(object) array(\n   'a' => 1,\n)",
            "\\A\\B::__set_state(array(\n   'a' => 1,\n))",
            "stdClass::__set_state(array(\n))",
        ];
        for text in exported {
            assert!(detect(text.as_bytes()).is_some(), "{text}");
        }
        let others = [
            "array(1, 2)",
            "Array(3)",
            "ARRAY(0x55dd1234)",
            "array ( 0 => 1, )",
            "array()",
            "array (\n  1,\n  2,\n)",
            "(object) ['a' => 1]",
            "return array('a' => 1);",
            "A::__set_state(array('a' => 1))",
        ];
        for text in others {
            assert!(detect(text.as_bytes()).is_none(), "{text}");
            assert!(!starts_with_value(text.as_bytes()), "{text}");
        }
        assert!(detect(b"<?php return array(1, 2);").is_some());
    }
}
