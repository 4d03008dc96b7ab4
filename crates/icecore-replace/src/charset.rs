//! Texts in encodings of single bytes: rules are in UTF-8, and see such a text as UTF-8.

use std::fmt;
use std::sync::Arc;

/// An encoding in which each character is one byte, and the first 128 are ASCII.
#[derive(Clone)]
pub struct Charset(Arc<Table>);

struct Table {
    name: String,
    /// The characters of the bytes from 128 on.
    upper: [char; 128],
    /// The same by character, sorted.
    bytes: Vec<(char, u8)>,
}

/// How sure it is that a text is in a charset, and not in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trust {
    /// Somebody said so: all bytes are taken for characters of it.
    Sure,
    /// The text is part of a file that declares it. A string that is UTF-8, and not ASCII alone, is UTF-8 nevertheless:
    /// programs store it in columns of any charset.
    Declared,
    /// Something speaks for it. Strings of ASCII alone get what is new in UTF-8.
    Likely,
}

/// The character of a byte that has none: it must come back as it was.
fn placeholder(byte: u8) -> char {
    char::from_u32(0xf700 + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

impl Charset {
    /// The charset with this name, as IANA and Ruby spell it, or a usual short name; `None` if it is not known, or not of
    /// single bytes. `latin1` is Windows-1252, as it is for MySQL and browsers; `ISO-8859-1` is that alone.
    ///
    /// ```
    /// use icecore_replace::Charset;
    /// let charset = Charset::of_name("latin1").unwrap();
    /// assert_eq!(charset.encode("5 €").as_deref(), Ok(&b"5 \x80"[..]));
    /// assert_eq!(charset.encode("Łódź"), Err('Ł'));
    /// assert!(Charset::of_name("UTF-8").is_none() && Charset::of_name("GBK").is_none());
    /// ```
    pub fn of_name(name: &str) -> Option<Charset> {
        /// The longest name that is known.
        const LONGEST: usize = 20;
        let lower = name.to_ascii_lowercase();
        let is_ascii = matches!(&*lower, "us-ascii" | "utf-8" | "utf8" | "cp65001" | "utf8-mac" | "utf-8-mac");
        if is_ascii || lower.len() > LONGEST {
            return None;
        }
        let number =
            |prefix: &str| lower.strip_prefix(prefix).map(|rest| rest.trim_start_matches(['-', '_']).to_owned());
        let windows = || number("windows").or_else(|| number("cp")).or_else(|| number("win"));
        let name = match &*lower {
            "latin1" | "latin-1" | "ansi" => "Windows-1252".to_owned(),
            "latin9" => "ISO-8859-15".to_owned(),
            "macintosh" | "mac" => "macRoman".to_owned(),
            "koi8r" => "KOI8-R".to_owned(),
            "koi8u" => "KOI8-U".to_owned(),
            _ => match (number("iso8859").or_else(|| number("iso-8859")), windows()) {
                (Some(part), _) => format!("ISO-8859-{part}"),
                (_, Some(page)) if page.starts_with("125") || page == "874" => format!("Windows-{page}"),
                (_, Some(page)) if matches!(&*page, "850" | "852" | "855") => format!("CP{page}"),
                (_, Some(page)) => format!("IBM{page}"),
                _ => name.to_owned(),
            },
        };
        // A byte that is no character must not begin one of several bytes.
        let is_single = |byte: u8| match icecore::encoding::decoded(&name, &[byte]) {
            Some(text) => text.chars().count() == 1,
            None => {
                let begins = |next: u8| icecore::encoding::decoded(&name, &[byte, next]).is_some();
                ![0x40, 0x41, 0x81, 0xa1, 0xc1].into_iter().any(begins)
            }
        };
        let decode = |byte: u8| {
            let bytes = [byte];
            let text = icecore::encoding::decoded(&name, &bytes);
            text.and_then(|text| text.chars().next()).unwrap_or_else(|| placeholder(byte))
        };
        let mut upper = ['\0'; 128];
        upper.iter_mut().zip(128..=255).for_each(|(slot, byte)| *slot = decode(byte));
        let known = upper.iter().zip(128..=255).filter(|(character, byte)| **character != placeholder(*byte)).count();
        // Of an encoding with several bytes most bytes of the upper half are no characters by themselves.
        let is_known = known >= 64 && (128..=255).all(is_single) && icecore::encoding::decoded(&name, b"a\\").is_some();
        if !is_known {
            return None;
        }
        let mut bytes: Vec<(char, u8)> = upper.iter().copied().zip(128..=255).collect();
        bytes.sort_unstable();
        Some(Charset(Arc::new(Table { name, upper, bytes })))
    }

    /// The name, for messages.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The bytes of a text.
    ///
    /// # Errors
    /// The first character that this charset does not have.
    pub fn encode(&self, text: &str) -> Result<Vec<u8>, char> {
        text.chars().map(|character| self.byte(character).ok_or(character)).collect()
    }

    fn byte(&self, character: char) -> Option<u8> {
        if character.is_ascii() {
            return u8::try_from(character).ok();
        }
        let bytes = &self.0.bytes;
        let found = bytes.binary_search_by_key(&character, |(known, _)| *known).ok()?;
        bytes.get(found).map(|(_, byte)| *byte)
    }

    /// The text of these bytes. Each byte is one character.
    pub fn decode(&self, bytes: &[u8]) -> String {
        bytes.iter().map(|byte| self.character(*byte)).collect()
    }

    fn character(&self, byte: u8) -> char {
        match byte.checked_sub(128) {
            Some(upper) => self.0.upper.get(usize::from(upper)).copied().unwrap_or_else(|| placeholder(byte)),
            None => char::from(byte),
        }
    }

    /// How long the texts of these bytes are in UTF-8.
    pub(crate) fn decoded_len(&self, bytes: &[u8]) -> usize {
        bytes.iter().map(|byte| self.character(*byte).len_utf8()).sum()
    }

    /// Appends the bytes of a text in UTF-8; bytes that are none, and characters that this charset does not have, as they
    /// are: rules are checked for those before.
    pub(crate) fn append(&self, text: &[u8], out: &mut Vec<u8>) {
        for chunk in text.utf8_chunks() {
            for character in chunk.valid().chars() {
                match self.byte(character) {
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

/// How a string has to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// As it is: it is UTF-8, and what is new is as well.
    Utf8,
    /// It is ASCII; what is new is in the charset.
    Ascii,
    /// In the charset.
    Charset,
}

impl Trust {
    pub(crate) fn reading(self, text: &[u8]) -> Reading {
        match self {
            Trust::Likely if text.is_ascii() => Reading::Utf8,
            _ if text.is_ascii() => Reading::Ascii,
            Trust::Sure => Reading::Charset,
            _ if std::str::from_utf8(text).is_ok() => Reading::Utf8,
            _ => Reading::Charset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
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
            let charset = Charset::of_name(&name).unwrap_or_else(|| panic!("{name}"));
            let text = charset.decode(&all);
            assert_eq!(text.chars().count(), 256, "{name}");
            assert_eq!(charset.encode(&text).as_deref(), Ok(&all[..]), "{name}");
            assert_eq!(charset.decoded_len(&all), text.len(), "{name}");
        }
        for name in ["", "utf8", "UTF-16LE", "GB18030", "Shift_JIS", "EUC-JP", "nothing", "US-ASCII", &"x".repeat(1000)]
        {
            assert!(Charset::of_name(name).is_none(), "{name}");
        }
    }
}
