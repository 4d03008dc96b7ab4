//! What the command itself says as JSON: nothing in it acts on a terminal.

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use std::io::{self, Write};

/// Appends a value.
pub fn push(value: &impl Serialize, to: &mut Vec<u8>) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(to, Shown(CompactFormatter)))
}

/// Appends a text in quotes. Most have nothing to escape: that is seen at a glance.
pub fn push_text(text: &str, to: &mut Vec<u8>) -> serde_json::Result<()> {
    let stands_for_itself = |byte: u8| matches!(byte, b' '..=b'~') & (byte != b'"') & (byte != b'\\');
    // Without an end at the first that does not: many bytes are looked at in one go.
    if !text.bytes().fold(true, |all, byte| all & stands_for_itself(byte)) {
        return push(&text, to);
    }
    to.push(b'"');
    to.extend_from_slice(text.as_bytes());
    to.push(b'"');
    Ok(())
}

/// Appends a value, each part of it in a line of its own.
pub fn push_lines(value: &impl Serialize, to: &mut Vec<u8>) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(to, Shown(PrettyFormatter::new())))
}

/// JSON in which what can't be seen, or turns the direction of writing, is escaped.
struct Shown<F>(F);

/// Methods that are those of the formatter inside.
macro_rules! as_inside {
    ($($name:ident($($argument:ident: $type:ty),*)),* $(,)?) => {
        $(fn $name<W: ?Sized + Write>(&mut self, to: &mut W $(, $argument: $type)*) -> io::Result<()> {
            self.0.$name(to $(, $argument)*)
        })*
    };
}

impl<F: Formatter> Formatter for Shown<F> {
    as_inside!(
        begin_array(),
        end_array(),
        begin_array_value(first: bool),
        end_array_value(),
        begin_object(),
        end_object(),
        begin_object_key(first: bool),
        begin_object_value(),
        end_object_value(),
    );

    fn write_string_fragment<W: ?Sized + Write>(&mut self, to: &mut W, text: &str) -> io::Result<()> {
        let mut rest = text;
        // Most of what is said is this.
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.0.write_string_fragment(to, text);
        }
        while let Some(at) = rest.find(|c| !icecore::text::is_printable(c)) {
            let (before, behind) = rest.split_at(at);
            to.write_all(before.as_bytes())?;
            let mut chars = behind.chars();
            let Some(hidden) = chars.next() else { break };
            for unit in hidden.encode_utf16(&mut [0; 2]) {
                write!(to, "\\u{unit:04x}")?;
            }
            rest = chars.as_str();
        }
        self.0.write_string_fragment(to, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_written_as_any_value() {
        for text in ["", "plain ~ text", "a\"b", "a\\b", "a\nb", "é", "\u{202e}", "\u{7f}", "\0"] {
            let (mut quick, mut usual) = (Vec::new(), Vec::new());
            push_text(text, &mut quick).unwrap();
            push(&text, &mut usual).unwrap();
            assert_eq!(quick, usual, "{text:?}");
        }
    }

    #[test]
    fn what_is_hidden_is_escaped_and_comes_back() {
        let text = "a\u{7f}\u{9b}31m\u{202e}x\u{e0041}\"\\\n é";
        let mut json = Vec::new();
        push(&text, &mut json).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert_eq!(json, r#""a\u007f\u009b31m\u202ex\udb40\udc41\"\\\n é""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
