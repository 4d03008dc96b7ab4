//! Ways of measuring: how the length of a string was counted, if the string has its current bytes now.

/// The number that one character counted when the length was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset<'r> {
    /// One byte counts 1.
    Bytes,
    /// The text is UTF-8 now. Each character was one byte, or was counted as one.
    Characters,
    /// Like `Characters`, but a character beyond U+FFFF counts 2, as in UTF-16.
    Utf16,
    /// Like `Characters`, and the text was converted to UTF-8 twice. If `cp1252` is set, the second conversion took
    /// it for cp1252; otherwise it took it for latin1.
    Twice { cp1252: bool },
    /// The text is UTF-8 now. Each character beyond ASCII had two bytes. If `has_kana` is set, half-width kana had one
    /// byte, as in Shift_JIS.
    Wide { has_kana: bool },
    /// The lengths count bytes of UTF-8, and the text has one byte for each character now.
    Utf8Of(SingleByte),
    /// Each U+FFFD was one byte of invalid UTF-8.
    Replaced,
    /// Some characters were entities, as `htmlspecialchars()` writes them. `double` and `single` are the numbers that
    /// a double and a single quote counted.
    Entities { double: u8, single: u8 },
    /// The text `new` replaced another text that was not empty. The other text was `grew` bytes shorter.
    Rewritten { new: &'r [u8], grew: i64 },
}

/// Charset of one byte for each character. The bits are the bytes from 0x80 to 0xFF that have
/// three bytes in UTF-8; all others beyond ASCII have two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SingleByte {
    pub(super) name: &'static str,
    three: u128,
}

/// Returns the bits of these bytes.
const fn set_bits(bytes: &[u8]) -> u128 {
    let (mut bits, mut index) = (0, 0);
    while index < bytes.len() {
        bits |= 1 << (bytes[index] - 0x80);
        index += 1;
    }
    bits
}

/// The most frequent charsets first.
pub(super) const SINGLE_BYTE: [SingleByte; 7] = [
    SingleByte { name: "latin1", three: 0 },
    SingleByte {
        name: "cp1252",
        three: set_bits(&[
            0x80, 0x82, 0x84, 0x85, 0x86, 0x87, 0x89, 0x8B, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x99, 0x9B,
        ]),
    },
    SingleByte { name: "iso-8859-15", three: set_bits(&[0xA4]) },
    SingleByte {
        name: "cp1251",
        three: set_bits(&[
            0x82, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8B, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x99, 0x9B, 0xB9,
        ]),
    },
    SingleByte {
        name: "koi8-r",
        // The box-drawing characters, up to the letters. The characters in the set have only two bytes in UTF-8.
        three: ((1 << 0x40) - 1) & !set_bits(&[0x9A, 0x9C, 0x9D, 0x9E, 0x9F, 0xA3, 0xB3, 0xBF]),
    },
    SingleByte { name: "iso-8859-5", three: set_bits(&[0xF0]) },
    SingleByte { name: "cp874", three: !set_bits(&[0xA0]) },
];

/// What a line end counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnds {
    Kept,
    /// A line feed was CR LF.
    WasCrlf,
    /// CR LF was a line feed.
    WasLf,
}

/// How a length was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measure<'r> {
    pub(super) charset: Charset<'r>,
    pub(super) lines: LineEnds,
}

impl Measure<'_> {
    pub(super) const BYTES: Measure<'static> = Measure { charset: Charset::Bytes, lines: LineEnds::Kept };

    /// Returns the end of a string that starts at `first` and whose length was counted as
    /// `len`; `None` if no string of that length can start there.
    pub(super) fn find_end(self, text: &[u8], first: usize, len: u64) -> Option<usize> {
        if self == Measure::BYTES {
            return first.checked_add(usize::try_from(len).ok()?).filter(|end| *end <= text.len());
        }
        let (mut offset, mut counted) = (first, 0);
        while counted < len {
            let (bytes, units) = self.measure_character(text, offset)?;
            offset += bytes;
            counted += units;
        }
        // A character may have become several ones. Those after the first one count 0, and belong to the string.
        while let Some((bytes, 0)) = self.measure_character(text, offset) {
            offset += bytes;
        }
        (counted == len).then_some(offset)
    }

    /// Returns how many bytes one character has now, and what it counted.
    #[inline]
    pub(super) fn measure_character(self, text: &[u8], offset: usize) -> Option<(usize, u64)> {
        let byte = *text.get(offset)?;
        match (self.lines, byte) {
            (LineEnds::WasCrlf, b'\n') if offset.checked_sub(1).and_then(|at| text.get(at)) != Some(&b'\r') => {
                return Some((1, 2));
            }
            (LineEnds::WasLf, b'\r') if text.get(offset + 1) == Some(&b'\n') => return Some((2, 1)),
            _ => {}
        }
        match self.charset {
            Charset::Bytes => Some((1, 1)),
            Charset::Rewritten { new, grew } => match text[offset..].starts_with(new) {
                true => Some((new.len(), (new.len() as u64).checked_add_signed(grew.checked_neg()?)?)),
                false => Some((1, 1)),
            },
            Charset::Entities { double, single } => Some((
                1,
                match byte {
                    b'&' => 5,
                    b'<' | b'>' => 4,
                    b'"' => u64::from(double),
                    b'\'' => u64::from(single),
                    _ => 1,
                },
            )),
            Charset::Utf8Of(charset) if byte >= 0x80 => {
                Some((1, 2 + u64::from(charset.three >> (byte - 0x80) & 1 == 1)))
            }
            Charset::Replaced if text[offset..].starts_with("\u{FFFD}".as_bytes()) => Some((3, 1)),
            _ if byte < 0x80 => Some((1, 1)),
            Charset::Utf8Of(_) | Charset::Replaced => Some((1, 1)),
            charset => {
                let letter = decode_character(&text[offset..])?;
                let units = match charset {
                    Charset::Utf16 => letter.len_utf16() as u64,
                    Charset::Twice { cp1252 } => u64::from(!matches!(encode_single_byte(letter, cp1252)?, 0x80..=0xBF)),
                    Charset::Wide { has_kana } => {
                        1 + u64::from(!(has_kana && matches!(letter, '¥' | '‾' | '\u{FF61}'..='\u{FF9F}')))
                    }
                    _ => 1,
                };
                Some((letter.len_utf8(), units))
            }
        }
    }
}

/// Returns the UTF-8 character at the start of the text.
pub(super) fn decode_character(text: &[u8]) -> Option<char> {
    let len = match text.first()? {
        0..0x80 => 1,
        0xC2..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0..0xF5 => 4,
        _ => return None,
    };
    std::str::from_utf8(text.get(..len)?).ok()?.chars().next()
}

/// The characters of cp1252 from 0x80 to 0x9F. Five positions are unused; converters map them
/// as latin1 does.
const CP1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// Returns the byte of a character in latin1 or cp1252.
pub(super) fn encode_single_byte(letter: char, cp1252: bool) -> Option<u8> {
    if cp1252 && let Some(index) = CP1252.iter().position(|known| *known == letter) {
        return u8::try_from(0x80 + index).ok();
    }
    u8::try_from(u32::from(letter)).ok()
}

/// The range of lengths that a string may have had, if the number is not certain for each character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MeasureRange<'r> {
    pub(super) measure: Measure<'r>,
    pub(super) loss: Uncertainty,
}

/// The characters that became shorter or longer only in some places, so that their numbers are not certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Uncertainty {
    /// Some line feeds were CR LF.
    SomeCrlf,
    /// Some line ends of two bytes were line feeds.
    SomeLf,
    /// Some question marks were characters of four bytes.
    Wide,
    /// Some question marks were characters of up to four bytes.
    Any,
}

impl MeasureRange<'_> {
    /// Returns the size of the character at `offset` in bytes, and the least and most that it
    /// counted.
    pub(super) fn measure_character(self, text: &[u8], offset: usize) -> Option<(usize, u64, u64)> {
        let (bytes, units) = self.measure.measure_character(text, offset)?;
        Some(match (self.loss, text[offset]) {
            (Uncertainty::SomeCrlf, b'\n') if offset.checked_sub(1).and_then(|at| text.get(at)) != Some(&b'\r') => {
                (1, 1, 2)
            }
            (Uncertainty::SomeLf, b'\r') if text.get(offset + 1) == Some(&b'\n') => (2, 1, 2),
            (Uncertainty::Wide | Uncertainty::Any, b'?') => (1, 1, 4),
            _ => (bytes, units, units),
        })
    }

    /// Returns `true` if a string that counted between these numbers may have counted `len`.
    pub(super) fn fits_length(self, min_len: u64, max_len: u64, len: u64) -> bool {
        (min_len..=max_len).contains(&len) && (self.loss != Uncertainty::Wide || (len - min_len).is_multiple_of(3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(charset: Charset<'_>, lines: LineEnds, text: &str, len: u64) -> Option<usize> {
        Measure { charset, lines }.find_end(text.as_bytes(), 0, len)
    }

    #[test]
    fn lengths_are_measured_in_the_original_charset() {
        use Charset::{Bytes, Characters, Entities, Replaced, Twice, Utf16, Wide};
        for (charset, lines, text, len) in [
            (Bytes, LineEnds::Kept, "Grüße", 7),
            (Bytes, LineEnds::WasCrlf, "a\nb\r\n", 6),
            (Bytes, LineEnds::WasLf, "a\r\nb\r", 4),
            (Characters, LineEnds::Kept, "Grüße €", 7),
            (Characters, LineEnds::WasLf, "ü\r\n", 2),
            (Utf16, LineEnds::Kept, "ü😀", 3),
            (Twice { cp1252: false }, LineEnds::Kept, "Ã¼x", 2),
            (Twice { cp1252: true }, LineEnds::Kept, "â‚¬x", 2),
            (Wide { has_kana: true }, LineEnds::Kept, "日本ｱa", 6),
            (Replaced, LineEnds::Kept, "a\u{FFFD}ü", 4),
            (Entities { double: 6, single: 1 }, LineEnds::Kept, "a&b\"'", 14),
        ] {
            assert_eq!(end(charset, lines, text, len), Some(text.len()), "{text}");
        }
        assert_eq!(end(Characters, LineEnds::Kept, "ab", 3), None);
        assert_eq!(Measure { charset: Characters, lines: LineEnds::Kept }.find_end(b"a\xFC", 0, 2), None);
        let single = |name: &str| SINGLE_BYTE.into_iter().find(|known| known.name == name).unwrap();
        for (name, text, len) in
            [("latin1", &b"Gr\xFC\xDFe"[..], 7), ("cp1252", b"\x80 \xFC", 6), ("cp1251", b"\xCF\xB9", 5)]
        {
            let measure = Measure { charset: Charset::Utf8Of(single(name)), lines: LineEnds::Kept };
            assert_eq!(measure.find_end(text, 0, len), Some(text.len()), "{name}");
        }
    }
}
