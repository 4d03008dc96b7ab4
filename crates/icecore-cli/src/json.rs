//! JSON that the command itself writes: without control characters, so that it is safe on a terminal.

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use std::io::{self, Write};

/// Appends a value.
pub fn push_value(value: &impl Serialize, to: &mut Vec<u8>) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(to, PrintableFormatter(CompactFormatter)))
}

/// Appends a quoted text. Fast for texts with nothing to escape, as most have.
pub fn push_text(text: &str, to: &mut Vec<u8>) -> serde_json::Result<()> {
    let needs_no_escape = |byte: u8| matches!(byte, b' '..=b'~') & (byte != b'"') & (byte != b'\\');
    // The loop has no early exit, so the compiler can check many bytes at once.
    if !text.bytes().fold(true, |all, byte| all & needs_no_escape(byte)) {
        return push_value(&text, to);
    }
    to.push(b'"');
    to.extend_from_slice(text.as_bytes());
    to.push(b'"');
    Ok(())
}

/// Appends a value, each part of it on a line of its own.
pub fn push_indented(value: &impl Serialize, to: &mut Vec<u8>) -> serde_json::Result<()> {
    value.serialize(&mut Serializer::with_formatter(to, PrintableFormatter(PrettyFormatter::new())))
}

/// JSON in which invisible characters, and those that change the writing direction, are escaped.
struct PrintableFormatter<F>(F);

/// Forwards methods to the inner formatter.
macro_rules! forward_methods {
    ($($name:ident($($argument:ident: $type:ty),*)),* $(,)?) => {
        $(fn $name<W: ?Sized + Write>(&mut self, to: &mut W $(, $argument: $type)*) -> io::Result<()> {
            self.0.$name(to $(, $argument)*)
        })*
    };
}

impl<F: Formatter> Formatter for PrintableFormatter<F> {
    forward_methods!(
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
        // Most texts are plain ASCII.
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return self.0.write_string_fragment(to, text);
        }
        while let Some(index) = rest.find(|c| !icecore::text::is_printable(c)) {
            let (before, after) = rest.split_at(index);
            to.write_all(before.as_bytes())?;
            let mut chars = after.chars();
            let Some(unprintable) = chars.next() else { break };
            for unit in unprintable.encode_utf16(&mut [0; 2]) {
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
    fn push_text_writes_the_same_as_push_value() {
        for text in ["", "plain ~ text", "a\"b", "a\\b", "a\nb", "é", "\u{202e}", "\u{7f}", "\0"] {
            let (mut quick, mut general) = (Vec::new(), Vec::new());
            push_text(text, &mut quick).unwrap();
            push_value(&text, &mut general).unwrap();
            assert_eq!(quick, general, "{text:?}");
        }
    }

    #[test]
    fn hidden_characters_are_escaped_and_round_trip() {
        let text = "a\u{7f}\u{9b}31m\u{202e}x\u{e0041}\"\\\n é";
        let mut json = Vec::new();
        push_value(&text, &mut json).unwrap();
        let json = String::from_utf8(json).unwrap();
        assert_eq!(json, r#""a\u007f\u009b31m\u202ex\udb40\udc41\"\\\n é""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
