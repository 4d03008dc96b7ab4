//! Names of classes, compared by characters.

use crate::error::{Error, ErrorKind};

/// How a host compares names of classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameComparison {
    /// Character by character: Perl, Ruby.
    #[default]
    Exact,
    /// As PHP looks classes up: ASCII letters without regard to case, and one leading `\` is ignored. It is also
    /// ignored in a name from data: PHP builds the class `App\User` for `\App\User`, so that class is checked.
    Php,
}

/// The name of a class, or a pattern for such names.
///
/// Characters are compared: bytes that happen to be the UTF-8 form of a name are another name. Text may contain
/// characters that Perl allows beyond Unicode.
///
/// ```
/// use icecore::policy::{ClassName, NameComparison};
/// let text = ClassName::new(NameComparison::Exact, "Café".as_bytes(), true)?;
/// assert!(text.equals(ClassName::new(NameComparison::Exact, b"Caf\xe9", false)?));
/// assert!(!text.equals(ClassName::new(NameComparison::Exact, "Café".as_bytes(), false)?));
/// assert!(ClassName::new(NameComparison::Exact, b"Caf\xe9", true).is_err());
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ClassName<'n> {
    bytes: &'n [u8],
    /// Whether the bytes are UTF-8 with characters beyond ASCII.
    is_text: bool,
    /// Whether the case of ASCII letters is ignored.
    ignores_case: bool,
}

impl<'n> ClassName<'n> {
    /// Creates a name; with `is_text`, it is UTF-8. Malformed UTF-8 is an error, because a host would interpret it as
    /// another name.
    pub fn new(names: NameComparison, bytes: &'n [u8], is_text: bool) -> Result<ClassName<'n>, Error> {
        if is_text && !bytes.is_ascii() && !is_well_formed(bytes) {
            let malformed = Error::new(ErrorKind::Malformed);
            return Err(malformed.expecting("the name of a class").finding("malformed UTF-8"));
        }
        Ok(ClassName::checked(names, bytes, is_text))
    }

    /// Creates a name that was already checked. The result of comparing an unchecked name is unspecified, but safe.
    pub fn checked(names: NameComparison, bytes: &'n [u8], is_text: bool) -> ClassName<'n> {
        let ignores_case = names == NameComparison::Php;
        let bytes = if ignores_case { bytes.strip_prefix(b"\\").unwrap_or(bytes) } else { bytes };
        ClassName { bytes, is_text: is_text && !bytes.is_ascii(), ignores_case }
    }

    /// Returns the same name, compared without regard to the case of ASCII letters.
    pub(super) fn with_folded_case(self) -> ClassName<'n> {
        ClassName { ignores_case: true, ..self }
    }

    /// Returns the bytes of the name, without the ignored prefix.
    pub fn bytes(&self) -> &'n [u8] {
        self.bytes
    }

    /// How the name is compared.
    pub fn names(&self) -> NameComparison {
        if self.ignores_case { NameComparison::Php } else { NameComparison::Exact }
    }

    /// Returns `true` if the name is text beyond ASCII.
    pub fn is_text(&self) -> bool {
        self.is_text
    }

    /// Returns `true` if the name contains a `*`, which matches any characters in a pattern.
    pub fn has_wildcard(&self) -> bool {
        self.bytes.contains(&b'*')
    }

    /// Returns `true` if both are the same name.
    pub fn equals(self, other: ClassName<'_>) -> bool {
        if self.has_same_form(other) { self.bytes == other.bytes } else { self.characters().eq(other.characters()) }
    }

    /// Returns `true` if the bytes can be compared instead of the characters.
    pub(super) fn has_same_form(self, other: ClassName<'_>) -> bool {
        self.is_text == other.is_text && !self.ignores_case && !other.ignores_case
    }

    /// Returns the characters of the name, as they are compared.
    pub(super) fn characters(self) -> Characters<'n> {
        Characters(self)
    }
}

/// The characters of a name.
#[derive(Clone)]
pub(super) struct Characters<'n>(ClassName<'n>);

impl Iterator for Characters<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let name = &mut self.0;
        let (&first, rest) = name.bytes.split_first()?;
        crate::steps::count(1);
        if first < 0x80 || !name.is_text {
            name.bytes = rest;
            let folded = if name.ignores_case { first.to_ascii_lowercase() } else { first };
            return Some(u64::from(folded));
        }
        let (character, len) = decode_character(name.bytes).unwrap_or((u64::from(first), 1));
        name.bytes = &name.bytes[len..];
        Some(character)
    }
}

/// Decodes the first character of UTF-8 that does not begin with ASCII, as perl reads it, and returns its number of
/// bytes. Surrogates and numbers up to 63 bits are also accepted, in up to 13 bytes. `None` if it is malformed or not
/// in its shortest form.
pub(super) fn decode_character(bytes: &[u8]) -> Option<(u64, usize)> {
    let first = *bytes.first()?;
    let (len, bits) = match first {
        0xc2..=0xdf => (2, u64::from(first & 0x1f)),
        0xe0..=0xef => (3, u64::from(first & 0x0f)),
        0xf0..=0xf7 => (4, u64::from(first & 0x07)),
        0xf8..=0xfb => (5, u64::from(first & 0x03)),
        0xfc..=0xfd => (6, u64::from(first & 0x01)),
        0xfe => (7, 0),
        0xff => (13, 0),
        _ => return None,
    };
    let mut character = bits;
    for byte in bytes.get(1..len)? {
        if byte & 0xc0 != 0x80 || character >> 57 != 0 {
            return None;
        }
        character = character << 6 | u64::from(byte & 0x3f);
    }
    // The smallest character that needs this length. A smaller one must be in a shorter form.
    let min_character = match len {
        2 => 0x80,
        13 => 1 << 36,
        _ => 1 << (5 * len - 4),
    };
    (character >= min_character).then_some((character, len))
}

fn is_well_formed(bytes: &[u8]) -> bool {
    let mut rest = match std::str::from_utf8(bytes) {
        Ok(_) => return true,
        Err(error) => &bytes[error.valid_up_to()..],
    };
    while let Some(first) = rest.first() {
        let len = if *first < 0x80 { 1 } else { decode_character(rest).map_or(0, |(_, len)| len) };
        if len == 0 {
            return false;
        }
        rest = &rest[len..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_is_accepted_as_in_perl() {
        let good: [&[u8]; 8] = [
            b"",
            b"A",
            "Caf\u{e9}\u{263a}\u{1f600}".as_bytes(),
            b"\xed\xa0\x80",
            b"\xf4\x90\x80\x80",
            b"\xfd\xbf\xbf\xbf\xbf\xbf",
            b"\xfe\x82\x80\x80\x80\x80\x80",
            b"\xff\x80\x87\xbf\xbf\xbf\xbf\xbf\xbf\xbf\xbf\xbf\xbf",
        ];
        let bad: [&[u8]; 9] = [
            b"\x80",
            b"Caf\xe9",
            b"\xc0\x80",
            b"\xc1\xbf",
            b"\xe0\x9f\xbf",
            b"\xf0\x8f\xbf\xbf",
            b"\xfe\x81\xbf\xbf\xbf\xbf\xbf",
            b"\xff\x80\x80\x80\x80\x80\x81\x80\x80\x80\x80\x80",
            b"\xff\x80\x88\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80",
        ];
        good.iter().for_each(|name| assert!(ClassName::new(NameComparison::Exact, name, true).is_ok(), "{name:x?}"));
        bad.iter().for_each(|name| assert!(ClassName::new(NameComparison::Exact, name, true).is_err(), "{name:x?}"));
        bad.iter().for_each(|name| assert!(ClassName::new(NameComparison::Exact, name, false).is_ok(), "{name:x?}"));
    }

    #[test]
    fn characters_of_every_length_are_decoded() {
        for bits in 7..63 {
            let character = 1u64 << bits;
            let name = encode_character(character);
            assert_eq!(decode_character(&name), Some((character, name.len())), "{bits}");
            assert_eq!(decode_character(&name[..name.len() - 1]), None);
        }
    }

    /// The shortest form of a character beyond ASCII.
    fn encode_character(character: u64) -> Vec<u8> {
        let bits = 64 - character.leading_zeros() as usize;
        let len = (2..=7).find(|len| bits <= if *len == 2 { 11 } else { 5 * len + 1 }).unwrap_or(13);
        let byte = |index: usize| (character >> (6 * (len - 1 - index)) & 0x3f) as u8 | 0x80;
        let mut name: Vec<u8> =
            (0..len).map(|index| if 6 * (len - 1 - index) > 63 { 0x80 } else { byte(index) }).collect();
        let marks = [0xc0, 0xe0, 0xf0, 0xf8, 0xfc, 0xfe];
        name[0] = match len {
            13 => 0xff,
            _ => marks[len - 2] | (character >> (6 * (len - 1))) as u8,
        };
        name
    }

    #[test]
    fn php_folds_ascii_and_drops_one_backslash() {
        let equal = |a: &[u8], b: &[u8]| {
            ClassName::checked(NameComparison::Php, a, true).equals(ClassName::checked(NameComparison::Php, b, true))
        };
        assert!(equal(br"\App\User", br"app\USER"));
        assert!(!equal(br"\\App\User", br"App\User"));
        assert!(!equal(br"App\User\", br"App\User"));
        assert!(equal("\\\u{c9}tat".as_bytes(), "\u{c9}TAT".as_bytes()));
        assert!(!equal("\u{c9}tat".as_bytes(), "\u{e9}tat".as_bytes()));
    }
}
