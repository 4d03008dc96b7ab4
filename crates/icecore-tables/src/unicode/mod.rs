//! Text in UTF-16 and UTF-32. It is recognised by its first bytes, converted to UTF-8 when it is read, and written in
//! its original encoding.

mod decoder;
mod encoder;

pub use decoder::Decoder;
pub use encoder::{Encoder, InvalidUtf8};
use icecore::format::Certainty;

/// The code units of a text that is not in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeUnits {
    /// 16 bits, the low byte first.
    Utf16Le,
    /// 16 bits, the high byte first.
    Utf16Be,
    /// 32 bits, the low byte first.
    Utf32Le,
    /// 32 bits, the high byte first.
    Utf32Be,
}

/// The encoding of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WideEncoding {
    /// The units and their byte order.
    pub units: CodeUnits,
    /// Whether it begins with a byte order mark.
    pub has_mark: bool,
}

/// Minimum number of characters that must be available to recognise the beginning of a longer text.
const MIN_CHARACTERS: usize = 8;

/// The units in the order in which they are tried. UTF-32LE comes before UTF-16LE, because its mark begins with that
/// of UTF-16LE.
const ALL: [CodeUnits; 4] = [CodeUnits::Utf32Le, CodeUnits::Utf32Be, CodeUnits::Utf16Le, CodeUnits::Utf16Be];

impl CodeUnits {
    /// Returns the units with this name. A name without a byte order means little-endian, as on Windows.
    pub fn from_name(name: &str) -> Option<CodeUnits> {
        Some(match &*name.to_ascii_lowercase() {
            "utf-16" | "utf-16le" | "utf16" | "utf16le" | "ucs-2" | "ucs-2le" | "ucs2" => CodeUnits::Utf16Le,
            "utf-16be" | "utf16be" | "ucs-2be" => CodeUnits::Utf16Be,
            "utf-32" | "utf-32le" | "utf32" | "utf32le" | "ucs-4le" => CodeUnits::Utf32Le,
            "utf-32be" | "utf32be" | "ucs-4be" => CodeUnits::Utf32Be,
            _ => return None,
        })
    }

    /// Returns the name for messages and reports.
    pub fn name(self) -> &'static str {
        match self {
            CodeUnits::Utf16Le => "UTF-16LE",
            CodeUnits::Utf16Be => "UTF-16BE",
            CodeUnits::Utf32Le => "UTF-32LE",
            CodeUnits::Utf32Be => "UTF-32BE",
        }
    }

    /// Returns the byte order mark.
    pub fn mark(self) -> &'static [u8] {
        match self {
            CodeUnits::Utf16Le => b"\xff\xfe",
            CodeUnits::Utf16Be => b"\xfe\xff",
            CodeUnits::Utf32Le => b"\xff\xfe\0\0",
            CodeUnits::Utf32Be => b"\0\0\xfe\xff",
        }
    }

    /// Returns the number of bytes of a unit.
    pub fn bytes_per_unit(self) -> usize {
        match self {
            CodeUnits::Utf16Le | CodeUnits::Utf16Be => 2,
            CodeUnits::Utf32Le | CodeUnits::Utf32Be => 4,
        }
    }

    /// Returns the first unit of these bytes. It is the number of a character, or one half of a surrogate pair.
    fn read_unit(self, bytes: &[u8]) -> Option<u32> {
        Some(match self {
            CodeUnits::Utf16Le => u32::from(u16::from_le_bytes(*bytes.first_chunk()?)),
            CodeUnits::Utf16Be => u32::from(u16::from_be_bytes(*bytes.first_chunk()?)),
            CodeUnits::Utf32Le => u32::from_le_bytes(*bytes.first_chunk()?),
            CodeUnits::Utf32Be => u32::from_be_bytes(*bytes.first_chunk()?),
        })
    }

    /// Returns the first character of these bytes, and its length in bytes.
    ///
    /// Returns `Ok(None)` if the character is incomplete, and `Err` if the bytes are invalid.
    fn decode_char(self, bytes: &[u8]) -> Result<Option<(char, usize)>, ()> {
        let Some(first) = self.read_unit(bytes) else { return Ok(None) };
        if let Some(character) = char::from_u32(first) {
            return Ok(Some((character, self.bytes_per_unit())));
        }
        if self.bytes_per_unit() == 4 || !(0xd800..0xdc00).contains(&first) {
            return Err(());
        }
        let Some(second) = self.read_unit(bytes.get(2..).unwrap_or_default()) else { return Ok(None) };
        if !(0xdc00..0xe000).contains(&second) {
            return Err(());
        }
        let number = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        char::from_u32(number).map(|character| Some((character, 4))).ok_or(())
    }

    /// Returns whether these bytes are text in these units. At least an eighth of the characters must be ASCII, and
    /// the only control characters are those of lines. `is_all` means that no bytes follow.
    fn is_text(self, bytes: &[u8], is_all: bool) -> bool {
        let Some((count, ascii)) = self.count_characters(bytes, is_all) else { return false };
        // Statements, tables and markup use ASCII signs. In the wrong byte order these signs are Asian characters, so
        // the share of ASCII shows the right order.
        let is_enough = count >= if is_all { 2 } else { MIN_CHARACTERS };
        is_enough && ascii * 8 >= count
    }

    /// Returns the number of characters in these bytes, and how many of them are ASCII. Returns `None` if the bytes
    /// are not text.
    fn count_characters(self, bytes: &[u8], is_all: bool) -> Option<(usize, usize)> {
        let (mut offset, mut count, mut ascii) = (0, 0usize, 0usize);
        while let Some(rest) = bytes.get(offset..).filter(|rest| !rest.is_empty()) {
            let Some((character, len)) = self.decode_char(rest).ok()? else {
                return if is_all { None } else { Some((count, ascii)) };
            };
            let is_control = character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\x0c' | '\x1b');
            let is_noncharacter = matches!(u32::from(character) & 0xffff, 0xfffe | 0xffff);
            if is_control || is_noncharacter {
                return None;
            }
            ascii += usize::from(character.is_ascii());
            (offset, count) = (offset + len, count + 1);
        }
        Some((count, ascii))
    }
}

impl WideEncoding {
    /// Returns the encoding of a text with this beginning. Returns `None` if the text is not in UTF-16 or UTF-32.
    /// `is_all` means that no bytes follow.
    pub fn from_head(head: &[u8], is_all: bool) -> Option<WideEncoding> {
        let is_marked = |units: &CodeUnits| head.starts_with(units.mark());
        // The mark of UTF-32LE is that of UTF-16LE and a NUL character. A text does not contain NUL, so the longer
        // mark wins.
        if let Some(units) = ALL.into_iter().find(is_marked) {
            return Some(WideEncoding { units, has_mark: true });
        }
        // Text in any other encoding has no NUL.
        memchr::memchr(0, head.get(..64).unwrap_or(head))?;
        let units = ALL.into_iter().find(|units| units.is_text(head, is_all))?;
        Some(WideEncoding { units, has_mark: false })
    }

    /// Returns whether these first bytes of a text are too few to detect UTF-16 or UTF-32. For any other text, two
    /// bytes or a line feed are usually enough.
    pub fn may_begin(head: &[u8]) -> bool {
        let is_part_of_mark = |units: &CodeUnits| units.mark().starts_with(head) && head.len() < units.mark().len();
        let may_be_text = |units: &CodeUnits| {
            head.len() < MIN_CHARACTERS * units.bytes_per_unit()
                && units.count_characters(head, false).is_some()
                && head.contains(&0)
        };
        ALL.iter().any(is_part_of_mark) || ALL.iter().any(may_be_text) || matches!(head, [byte] if *byte != b'\n')
    }

    /// Returns the encoding of a text in the units that the command line names.
    pub fn from_units(units: CodeUnits, head: &[u8]) -> WideEncoding {
        // If the name has no byte order, the mark decides.
        let marked = ALL
            .into_iter()
            .find(|marked| head.starts_with(marked.mark()) && marked.bytes_per_unit() == units.bytes_per_unit());
        WideEncoding { units: marked.unwrap_or(units), has_mark: marked.is_some() }
    }

    /// Returns how certain the encoding is.
    pub fn certainty(self) -> Certainty {
        if self.has_mark { Certainty::Sure } else { Certainty::Likely }
    }

    /// Returns the description for `detect` and messages.
    pub fn describe(self) -> String {
        let mark = if self.has_mark { ", with a byte order mark" } else { "" };
        format!("{}{mark}", self.units.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn encode(units: CodeUnits, has_mark: bool, text: &str) -> Vec<u8> {
        let mut encoder = Encoder::new(WideEncoding { units, has_mark });
        let mut out = encoder.encode_piece(text.as_bytes()).unwrap().to_vec();
        out.extend_from_slice(encoder.finish().unwrap());
        out
    }

    /// A reader that returns a few bytes at a time.
    struct Dripping<'b>(&'b [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(buffer.len()).min(self.0.len());
            let (now, later) = self.0.split_at(count);
            buffer[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    #[test]
    fn texts_are_decoded_from_pieces_of_any_size() {
        let text = "INSERT INTO t VALUES ('ü€𝄞 \u{10fffd}');\r\n".repeat(50);
        for units in ALL {
            for has_mark in [false, true] {
                let bytes = encode(units, has_mark, &text);
                assert_eq!(WideEncoding::from_head(&bytes, true), Some(WideEncoding { units, has_mark }), "{units:?}");
                for step in [1, 2, 3, 5, 7, 4096] {
                    let mut read = String::new();
                    let reader = Dripping(&bytes, step);
                    Decoder::new(reader, WideEncoding { units, has_mark }).read_to_string(&mut read).unwrap();
                    assert_eq!(read, text, "{units:?} {step}");
                    let mut encoder = Encoder::new(WideEncoding { units, has_mark });
                    let mut out = Vec::new();
                    for piece in text.as_bytes().chunks(step) {
                        out.extend_from_slice(encoder.encode_piece(piece).unwrap());
                    }
                    out.extend_from_slice(encoder.finish().unwrap());
                    assert_eq!(out, bytes, "{units:?} {step}");
                }
            }
        }
    }

    #[test]
    fn damaged_text_is_an_error_with_its_offset() {
        let read = |units, bytes: &[u8]| {
            let mut text = Vec::new();
            let reader = Dripping(bytes, 3);
            let end = Decoder::new(reader, WideEncoding { units, has_mark: false }).read_to_end(&mut text);
            (text, end.unwrap_err().to_string())
        };
        let (text, error) = read(CodeUnits::Utf16Le, b"a\0\x00\xd8b\0");
        assert!(text == b"a" && error.contains("offset 2") && error.contains("surrogate"), "{error}");
        let (text, error) = read(CodeUnits::Utf16Be, b"\0a\xdc\x00\0b");
        assert!(text == b"a" && error.contains("offset 2"), "{error}");
        let (text, error) = read(CodeUnits::Utf16Le, b"a\0b");
        assert!(text == b"a" && error.contains("offset 2") && error.contains("ends"), "{error}");
        let (text, error) = read(CodeUnits::Utf16Le, b"a\0\x3d\xd8");
        assert!(text == b"a" && error.contains("offset 2"), "{error}");
        let (text, error) = read(CodeUnits::Utf32Le, b"a\0\0\0\0\0\x11\0");
        assert!(text == b"a" && error.contains("offset 4"), "{error}");
        let mut encoder = Encoder::new(WideEncoding { units: CodeUnits::Utf16Le, has_mark: false });
        assert!(encoder.encode_piece(b"a\xffb").is_err());
        let mut encoder = Encoder::new(WideEncoding { units: CodeUnits::Utf16Le, has_mark: false });
        assert_eq!(encoder.encode_piece(b"a\xc3").unwrap(), b"a\0");
        assert!(encoder.finish().is_err());
    }

    #[test]
    fn other_bytes_are_not_detected_as_text() {
        for bytes in [
            &b""[..],
            b"a",
            b"plain text",
            b"\x04\x08i\x06",
            b"\0\0\0\x02\x06\x05",
            b"\x05\x0b\x03\0\0\0\x02",
            b"a\0b\0\0\0",
            b"\0\x01\0\x02\0\x03",
            "ürlich".as_bytes(),
        ] {
            assert_eq!(WideEncoding::from_head(bytes, true), None, "{bytes:?}");
        }
        // The head may end inside a character.
        assert_eq!(
            WideEncoding::from_head(b"i\0d\0,\0n\0a\0m\0e\0\n\0\x31", false).map(|wide| wide.units),
            Some(CodeUnits::Utf16Le)
        );
        assert_eq!(WideEncoding::from_head(b"i\0d\0,\0n\0a\0m\0e\0\n\0\x31", true), None);
    }
}
