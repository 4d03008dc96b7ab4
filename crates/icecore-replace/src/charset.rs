//! Single-byte encodings. Rules are in UTF-8. So a text in such an encoding is converted to UTF-8 before the rules
//! are applied.

use std::fmt;
use std::sync::Arc;

/// An encoding in which each character is one byte, and the first 128 are ASCII.
#[derive(Clone)]
pub struct Charset(Arc<Table>);

struct Table {
    name: String,
    /// For each byte from 128 on, its character.
    upper: [char; 128],
    /// Each of these characters with its byte, sorted by character.
    bytes: Vec<(char, u8)>,
}

/// How certain it is that a text is in the charset, and not in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CharsetEvidence {
    /// The user set the charset. All bytes are characters of this charset.
    Sure,
    /// The text is part of a file that declares the charset. A string that is valid UTF-8, and not only ASCII, is
    /// still read as UTF-8, because programs store UTF-8 in columns of any charset.
    Declared,
    /// There is some evidence. In pure ASCII strings, replacements are written in UTF-8.
    Likely,
}

/// Returns the character for a byte that the charset does not define. Each byte has its own character in Unicode's
/// private use area, so that it can be converted back.
fn make_placeholder(byte: u8) -> char {
    char::from_u32(0xf700 + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

impl Charset {
    /// Returns the charset with this name, as spelled by IANA and Ruby, or with a common short name. Returns `None`
    /// if it is unknown or not a single-byte charset. `latin1` is Windows-1252, as in MySQL and browsers;
    /// `ISO-8859-1` is ISO-8859-1.
    ///
    /// ```
    /// use icecore_replace::Charset;
    /// let charset = Charset::from_name("latin1").unwrap();
    /// assert_eq!(charset.encode("5 €").as_deref(), Ok(&b"5 \x80"[..]));
    /// assert_eq!(charset.encode("Łódź"), Err('Ł'));
    /// assert!(Charset::from_name("UTF-8").is_none() && Charset::from_name("GBK").is_none());
    /// ```
    pub fn from_name(name: &str) -> Option<Charset> {
        /// Maximum length of the name of a charset.
        const MAX_NAME_LEN: usize = 20;
        /// Bytes that are often the second byte of a multi-byte character.
        const COMMON_SECOND_BYTES: [u8; 5] = [0x40, 0x41, 0x81, 0xa1, 0xc1];
        /// Minimum number of bytes from 128 on that are characters. In a multi-byte encoding, most of these bytes are
        /// not characters by themselves.
        const MIN_UPPER_CHARACTERS: usize = 64;
        let lower = name.to_ascii_lowercase();
        let is_utf8_or_ascii = matches!(&*lower, "us-ascii" | "utf-8" | "utf8" | "cp65001" | "utf8-mac" | "utf-8-mac");
        if is_utf8_or_ascii || lower.len() > MAX_NAME_LEN {
            return None;
        }
        let strip_prefix =
            |prefix: &str| lower.strip_prefix(prefix).map(|rest| rest.trim_start_matches(['-', '_']).to_owned());
        let windows_page = || strip_prefix("windows").or_else(|| strip_prefix("cp")).or_else(|| strip_prefix("win"));
        let name = match &*lower {
            "latin1" | "latin-1" | "ansi" => "Windows-1252".to_owned(),
            "latin9" => "ISO-8859-15".to_owned(),
            "macintosh" | "mac" => "macRoman".to_owned(),
            "koi8r" => "KOI8-R".to_owned(),
            "koi8u" => "KOI8-U".to_owned(),
            _ => match (strip_prefix("iso8859").or_else(|| strip_prefix("iso-8859")), windows_page()) {
                (Some(part), _) => format!("ISO-8859-{part}"),
                (_, Some(page)) if page.starts_with("125") || page == "874" => format!("Windows-{page}"),
                (_, Some(page)) if matches!(&*page, "850" | "852" | "855") => format!("CP{page}"),
                (_, Some(page)) => format!("IBM{page}"),
                _ => name.to_owned(),
            },
        };
        // An undefined byte must not be the first byte of a multi-byte character.
        let is_single = |byte: u8| match icecore::encoding::decoded(&name, &[byte]) {
            Some(text) => text.chars().count() == 1,
            None => {
                let begins_character = |next: u8| icecore::encoding::decoded(&name, &[byte, next]).is_some();
                !COMMON_SECOND_BYTES.into_iter().any(begins_character)
            }
        };
        let decode = |byte: u8| {
            let bytes = [byte];
            let text = icecore::encoding::decoded(&name, &bytes);
            text.and_then(|text| text.chars().next()).unwrap_or_else(|| make_placeholder(byte))
        };
        let mut upper = ['\0'; 128];
        upper.iter_mut().zip(128..=255).for_each(|(slot, byte)| *slot = decode(byte));
        let upper_characters =
            upper.iter().zip(128..=255).filter(|(character, byte)| **character != make_placeholder(*byte)).count();
        let is_single_byte = upper_characters >= MIN_UPPER_CHARACTERS
            && (128..=255).all(is_single)
            && icecore::encoding::decoded(&name, b"a\\").is_some();
        if !is_single_byte {
            return None;
        }
        let mut bytes: Vec<(char, u8)> = upper.iter().copied().zip(128..=255).collect();
        bytes.sort_unstable();
        Some(Charset(Arc::new(Table { name, upper, bytes })))
    }

    /// Returns the name, for messages.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the bytes of a text.
    ///
    /// # Errors
    /// Returns the first character that is not in this charset.
    pub fn encode(&self, text: &str) -> Result<Vec<u8>, char> {
        text.chars().map(|character| self.encode_char(character).ok_or(character)).collect()
    }

    fn encode_char(&self, character: char) -> Option<u8> {
        if character.is_ascii() {
            return u8::try_from(character).ok();
        }
        let bytes = &self.0.bytes;
        let index = bytes.binary_search_by_key(&character, |(candidate, _)| *candidate).ok()?;
        bytes.get(index).map(|(_, byte)| *byte)
    }

    /// Returns the text of these bytes. Each byte is one character.
    pub fn decode(&self, bytes: &[u8]) -> String {
        bytes.iter().map(|byte| self.decode_byte(*byte)).collect()
    }

    fn decode_byte(&self, byte: u8) -> char {
        match byte.checked_sub(128) {
            Some(upper) => self.0.upper.get(usize::from(upper)).copied().unwrap_or_else(|| make_placeholder(byte)),
            None => char::from(byte),
        }
    }

    /// Returns the length in UTF-8 of the text of these bytes.
    pub(crate) fn decoded_len(&self, bytes: &[u8]) -> usize {
        bytes.iter().map(|byte| self.decode_byte(*byte).len_utf8()).sum()
    }

    /// Appends the bytes of a text in UTF-8. Invalid bytes, and characters that are not in this charset, are appended
    /// unchanged. The replacements of the rules do not contain such characters, because they are checked before.
    pub(crate) fn append_encoded(&self, text: &[u8], out: &mut Vec<u8>) {
        for chunk in text.utf8_chunks() {
            for character in chunk.valid().chars() {
                match self.encode_char(character) {
                    Some(byte) => out.push(byte),
                    None => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
            out.extend_from_slice(chunk.invalid());
        }
    }
}

impl fmt::Debug for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Charset").field(&self.0.name).finish()
    }
}

/// The encoding in which a string is read and replacements in it are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextEncoding {
    /// The string and replacements are UTF-8.
    Utf8,
    /// The string is ASCII. Replacements are written in the charset.
    Ascii,
    /// The string and replacements are in the charset.
    Charset,
}

impl CharsetEvidence {
    pub(crate) fn choose_reading(self, text: &[u8]) -> TextEncoding {
        match self {
            CharsetEvidence::Likely if text.is_ascii() => TextEncoding::Utf8,
            _ if text.is_ascii() => TextEncoding::Ascii,
            CharsetEvidence::Sure => TextEncoding::Charset,
            _ if std::str::from_utf8(text).is_ok() => TextEncoding::Utf8,
            _ => TextEncoding::Charset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_round_trips_in_every_charset() {
        let all: Vec<u8> = (0..=255).collect();
        for name in [
            "latin1",
            "ISO-8859-1",
            "iso8859-15",
            "cp1252",
            "WIN1251",
            "windows-1250",
            "KOI8-R",
            "koi8u",
            "CP850",
            "cp866",
            "macroman",
            "TIS-620",
            "ISO_8859_5",
        ] {
            let name = name.replace("ISO_8859_", "ISO-8859-");
            let charset = Charset::from_name(&name).unwrap_or_else(|| panic!("{name}"));
            let text = charset.decode(&all);
            assert_eq!(text.chars().count(), 256, "{name}");
            assert_eq!(charset.encode(&text).as_deref(), Ok(&all[..]), "{name}");
            assert_eq!(charset.decoded_len(&all), text.len(), "{name}");
        }
        for name in ["", "utf8", "UTF-16LE", "GB18030", "Shift_JIS", "EUC-JP", "nothing", "US-ASCII", &"x".repeat(1000)]
        {
            assert!(Charset::from_name(name).is_none(), "{name}");
        }
    }
}
