//! Strings of `serialize()` anywhere in a text, in any quoting.
//!
//! A string begins with a letter, its length and a quote: `s:3:"`. Its end is certain only if the string is in the
//! text as PHP wrote it. Otherwise it is escaped or cut off, or its length is wrong. Then its range may be too long,
//! but not too short.

use crate::steps;
use memchr::{memchr, memchr2_iter, memmem};
use std::ops::Range;

/// Maximum number of bytes of an escaped character.
const MAX_ESCAPED_LEN: usize = 6;
/// Maximum number of digits of a length.
const MAX_DIGITS: usize = 20;
/// The search for ends of strings covers at most this multiple of the text's length. After that, a string is assumed to
/// have the maximum length.
const MAX_SEARCH_FACTOR: usize = 16;

/// A string in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SerializedString {
    /// Offset of its letter.
    pub(super) head: usize,
    /// The bytes that its length counts, and its last quote. The range may end after the text.
    pub(super) range: Range<usize>,
    /// Whether it ends where its length says, without escapes.
    pub(super) is_exact: bool,
    /// Whether its end was found. Otherwise the range has the maximum length.
    pub(super) has_end: bool,
}

/// What precedes a letter that may begin a serialized value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Boundary {
    /// A letter precedes, so this letter is part of a word.
    Word,
    /// A digit, a letter beyond ASCII or an escape precedes. This letter may belong to it.
    Unclear,
    /// A blank, a punctuation mark or nothing precedes, so a value may begin here.
    Edge,
}

/// Returns what precedes this place of a text.
pub(super) fn boundary_before(text: &[u8], offset: usize) -> Boundary {
    let head = text.get(..offset).unwrap_or_default();
    match head {
        [.., b'\\', letter] if letter.is_ascii_alphabetic() => Boundary::Unclear,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => Boundary::Unclear,
        [.., byte] if byte.is_ascii_alphabetic() => Boundary::Word,
        [.., byte] if byte.is_ascii_digit() || *byte == b'_' => Boundary::Unclear,
        [.., byte] if !byte.is_ascii() => {
            let start = head.len() - head.len().min(4);
            let is_letter = |from: usize| {
                let character = std::str::from_utf8(head.get(from..)?).ok()?.chars().next_back()?;
                Some(character.is_alphanumeric())
            };
            match (start..head.len()).find_map(is_letter) {
                Some(false) => Boundary::Edge,
                _ => Boundary::Unclear,
            }
        }
        _ => Boundary::Edge,
    }
}

/// Returns `true` if this letter begins a string or a class name, so that a length follows it.
fn is_string_letter(letter: u8) -> bool {
    matches!(letter, b's' | b'S' | b'O' | b'C' | b'E')
}

/// Returns the offsets of letters that are followed by a colon and a number. Most texts have none.
pub(super) fn find_heads(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr2_iter(b':', b'%', text).filter_map(|offset| {
        let head = offset.checked_sub(1)?;
        let letter = *text.get(head)?;
        (letter == b'a' || is_string_letter(letter)).then_some(())?;
        let after = offset + colon_width(text, offset)?;
        text.get(after).filter(|byte| byte.is_ascii_digit())?;
        Some(head)
    })
}

/// Returns the number of bytes of the colon at this place, percent-encoded or not.
fn colon_width(text: &[u8], offset: usize) -> Option<usize> {
    match text.get(offset..)? {
        [b':', ..] => Some(1),
        [b'%', b'3', b'A' | b'a', ..] => Some(3),
        _ => None,
    }
}

/// Returns the number at this place, and the offset of its end.
pub(super) fn parse_number(text: &[u8], offset: usize) -> Option<(usize, usize)> {
    let digits = text.get(offset..)?.iter().take(MAX_DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(text.get(offset..offset + digits)?).ok()?;
    Some((number.parse().ok()?, offset + digits))
}

/// Returns the quote at the beginning of this text, with its escapes.
fn leading_quote(text: &[u8]) -> Option<&[u8]> {
    let len = match text {
        [b'"', b'"', ..] => 2,
        [b'"' | b'\'', ..] => 1,
        [b'\\', ..] => {
            let slashes = text.iter().take_while(|byte| **byte == b'\\').count();
            match text.get(slashes..)? {
                [b'"' | b'\'', ..] => slashes + 1,
                [b'u', b'0', b'0', b'2', b'2' | b'7', ..] => slashes + 5,
                _ => return None,
            }
        }
        [b'&', ..] => memchr(b';', text.get(..8)?)? + 1,
        [b'%', b'2', b'2' | b'7', ..] => 3,
        _ => return None,
    };
    text.get(..len)
}

/// Returns the number of bytes that may be searched for the ends of strings in a text.
pub(super) fn search_budget(text: &[u8]) -> usize {
    text.len().saturating_mul(MAX_SEARCH_FACTOR)
}

/// Returns the strings that begin in a text, in order. They include names of classes and the payloads after them.
///
/// The time is linear in the length of the text.
pub(super) fn find_strings(text: &[u8]) -> impl Iterator<Item = SerializedString> {
    let mut remaining = search_budget(text);
    find_heads(text).filter_map(move |head| string_at(text, head, &mut remaining))
}

/// Returns the string whose letter is at this place. `remaining` is the number of bytes that may still be searched.
pub(super) fn string_at(text: &[u8], head: usize, remaining: &mut usize) -> Option<SerializedString> {
    let letter = *text.get(head)?;
    is_string_letter(letter).then_some(())?;
    let width = colon_width(text, head + 1)?;
    let (len, after) = parse_number(text, head + 1 + width)?;
    let after = after + colon_width(text, after)?;
    let mark = if matches!(letter, b'O' | b'C') { b':' } else { b';' };
    let rest = text.get(after..)?;
    let make_string = |range, is_exact, has_end| Some(SerializedString { head, range, is_exact, has_end });
    if width == 1 && rest.first() == Some(&b'"') {
        let end = (after + 1).saturating_add(len);
        let close = text.get(end..).unwrap_or_default();
        if matches!(close, [b'"', next, ..] if *next == mark) {
            if mark == b':' && !is_count_at(text, end + 2) {
                return None;
            }
            let end = payload_end(text, letter, end + 2).unwrap_or(end + 1);
            return make_string(after + 1..end, true, true);
        }
    }
    let quote = leading_quote(rest)?;
    let start = after + quote.len();
    // After a letter, `s:3:"` is probably prose. It may still be a value if the quote is escaped, or if the string
    // would end after the text.
    let is_word = boundary_before(text, head) == Boundary::Word;
    if is_word && matches!(quote, [b'"' | b'\'', ..]) && start.saturating_add(len) < text.len() {
        return None;
    }
    // An escaped character has more bytes here than the length counts, so the string may end later than its length
    // says.
    let max_end = start.saturating_add(len.saturating_mul(MAX_ESCAPED_LEN)).saturating_add(quote.len() + 1);
    let close = if width == 1 { [quote, &[mark]].concat() } else { [quote, b"%3"].concat() };
    let searched = text.get(start..max_end.min(text.len())).unwrap_or_default();
    let end = remaining.checked_sub(searched.len()).and_then(|rest| {
        *remaining = rest;
        steps::count(searched.len());
        let end = match find_exact_end(searched, len, quote, &close) {
            Some(end) => end,
            // Several ends are possible. The last one is taken, because it can't be too early.
            None => len + memmem::rfind(searched.get(len..)?, &close)?,
        };
        Some(start + end + quote.len())
    });
    if is_word && end.is_none() && start.saturating_add(len) < text.len() {
        return None;
    }
    make_string(start..end.unwrap_or(max_end), false, end.is_some())
}

/// Returns the end of this number of bytes, which are escaped like their quotes, if the closing quote is there.
fn find_exact_end(text: &[u8], len: usize, quote: &[u8], close: &[u8]) -> Option<usize> {
    [true, false].into_iter().find_map(|is_json| {
        let (mut offset, mut remaining) = (0, len);
        while remaining > 0 {
            let (width, bytes) = escaped_width(text.get(offset..).filter(|rest| !rest.is_empty())?, quote, is_json);
            offset += width;
            remaining = remaining.checked_sub(bytes)?;
        }
        text.get(offset..)?.starts_with(close).then_some(offset)
    })
}

/// Returns the number of bytes of the first character, with and without its escape. Quotes are escaped as `quote` is;
/// with `is_json`, a backslash and `u` begin a character in hexadecimal digits.
fn escaped_width(text: &[u8], quote: &[u8], is_json: bool) -> (usize, usize) {
    match (quote, text) {
        ([b'\\', ..], [b'\\', b'u', digits @ ..]) if is_json => {
            let digits = digits.get(..4).and_then(|digits| std::str::from_utf8(digits).ok());
            match digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
                Some(0..0x80) => (6, 1),
                // JSON writes a character beyond U+FFFF as two surrogates. It has four bytes in UTF-8, so each
                // surrogate counts two.
                Some(0x80..0x800 | 0xd800..0xe000) => (6, 2),
                _ => (6, 3),
            }
        }
        ([b'\\', ..], [b'\\', _, ..]) => (2, 1),
        ([b'%', ..], [b'%', _, _, ..]) => (3, 1),
        ([b'"', b'"'], [b'"', b'"', ..]) => (2, 1),
        ([b'&', ..], [b'&', ..]) => {
            let end = text.get(..8).and_then(|text| memchr(b';', text));
            (end.map_or(1, |end| end + 1), 1)
        }
        _ => (1, 1),
    }
}

/// Returns `true` if the number after the name of a class, and the bracket after it, are here.
fn is_count_at(text: &[u8], offset: usize) -> bool {
    parse_number(text, offset).is_some_and(|(_, after)| text.get(after..).is_some_and(|rest| rest.starts_with(b":{")))
}

/// Returns the end of a payload that only its class understands, whose length is at this place.
fn payload_end(text: &[u8], letter: u8, offset: usize) -> Option<usize> {
    (letter == b'C').then_some(())?;
    let (len, after) = parse_number(text, offset)?;
    text.get(after..)?.starts_with(b":{").then_some((after + 2).saturating_add(len))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_values(text: &str) -> Vec<(usize, usize)> {
        find_strings(text.as_bytes()).map(|string| (string.range.start, string.range.end)).collect()
    }

    #[test]
    fn strings_are_found_in_each_kind_of_quotes() {
        assert_eq!(find_values(r#"x|s:3:"abc";"#), [(7, 11)]);
        assert_eq!(find_values(r#"[code a='a:1:{i:0;s:3:\"abc\";}']"#), [(24, 29)]);
        assert_eq!(find_values("s:2:&quot;&lt;b&quot;; x"), [(10, 21)]);
        assert_eq!(find_values("?d=s%3a3%3a%22abc%22%3b"), [(14, 20)]);
        assert_eq!(find_values(r#"{"d":"s:3:\u0022abc\u0022;"}"#), [(16, 25)]);
        assert_eq!(find_values("1,\"s:3:\"\"abc\"\";\",2"), [(9, 14)]);
        assert_eq!(find_values("O:1:\"A\":0:{} C:1:\"B\":3:{abc} E:3:\"A:b\";"), [(5, 7), (18, 27), (34, 38)]);
        // The end is not that of the inner string.
        assert_eq!(find_values(r#"x s:14:\"s:3:\"abc\"; de\"; y"#), [(9, 26), (15, 20)]);
        assert_eq!(find_values("s%3A6%3A%22%22%22%3Babc%22%3Bd%22%3B"), [(11, 26)]);
        // Its end is not there yet.
        assert_eq!(find_values("s:100:\"ab"), [(7, 609)]);
        assert_eq!(find_values(r#"s:18446744073709551615:"a"#), [(24, usize::MAX)]);
        assert!(
            find_values("yes:3:\"abc\" s:x:\"a\" s:3 s:3:abc s:99999999999999999999:\"a\" https://s:3/").is_empty()
        );
        // The name of a class without an object.
        assert!(find_values(r#"O:1:"A":a:1:{ C:1:"B":x"#).is_empty());
        // Part of a word, but valid.
        assert_eq!(find_values("xs:3:\"abc\";"), [(6, 10)]);
        assert_eq!(find_values(r#""a\ns:3:\"abc\";""#), [(10, 15)]);
    }

    #[test]
    fn texts_before_a_value_are_distinguished() {
        for (text, expected) in [
            ("", Boundary::Edge),
            ("='", Boundary::Edge),
            ("“", Boundary::Edge),
            ("😀", Boundary::Edge),
            ("x", Boundary::Word),
            ("1", Boundary::Unclear),
            ("_", Boundary::Unclear),
            ("ö", Boundary::Unclear),
            ("\\n", Boundary::Unclear),
            ("%0A", Boundary::Unclear),
        ] {
            assert_eq!(boundary_before(text.as_bytes(), text.len()), expected, "{text}");
        }
        assert_eq!(boundary_before(b"a\xff", 2), Boundary::Unclear);
    }

    /// The strings do not end. The searches for their ends are limited.
    #[test]
    fn beginnings_without_an_end_take_linear_time() {
        steps::is_linear("strings", 1_000, |times| {
            let text = b"s:100000:\\\"s:1:&quot;s%3A1%3A%22".repeat(times);
            assert_eq!(find_strings(&text).count(), 3 * times);
        });
    }
}
