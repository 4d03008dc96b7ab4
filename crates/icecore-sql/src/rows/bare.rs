//! Values without quotes.

use std::ops::Range;

use crate::rows::Content;
use crate::scan::is_word_byte;
use crate::{Dialect, scan};

/// Returns the content of a value without literals, whose text begins at `start` in the window.
pub(crate) fn classify_content(text: &[u8], start: usize, dialect: Option<Dialect>) -> Content {
    let is_word = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
    match text {
        [b'0'..=b'9' | b'+' | b'-' | b'.', ..] if is_number(text) => Content::Number,
        _ if is_word("null") => Content::Null,
        _ if is_word("true") => Content::Bool(true),
        _ if is_word("false") => Content::Bool(false),
        _ if is_word("default") => Content::Absent,
        [b'b' | b'B', b'\'', digits @ .., b'\'']
            if dialect != Some(Dialect::Sqlite) && digits.iter().all(|digit| matches!(digit, b'0' | b'1')) =>
        {
            Content::Bits(start + 2..start + 2 + digits.len())
        }
        _ => Content::Expression,
    }
}

/// Returns true if the text is `[+-] digits [. digits] [e [+-] digits]`, with digits before or after the dot.
fn is_number(text: &[u8]) -> bool {
    let count_digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    let integer_len = count_digits(text);
    let mut rest = text.get(integer_len..).unwrap_or_default();
    let mut fraction_len = 0;
    if let Some(after_point) = rest.strip_prefix(b".") {
        fraction_len = count_digits(after_point);
        rest = after_point.get(fraction_len..).unwrap_or_default();
    }
    if integer_len + fraction_len == 0 {
        return false;
    }
    let [b'e' | b'E', exponent @ ..] = rest else { return rest.is_empty() };
    let exponent = exponent.strip_prefix(b"-").or(exponent.strip_prefix(b"+")).unwrap_or(exponent);
    !exponent.is_empty() && count_digits(exponent) == exponent.len()
}

/// Returns the end of a number that begins at `start` and consists of digits and at most one dot between them, if a
/// comma or a parenthesis directly follows. This covers most numbers, and is faster than [`classify_content`].
#[inline]
pub(crate) fn find_plain_number_end(window: &[u8], start: usize) -> Option<usize> {
    let find_digits_end = |digits_start: usize| {
        let rest = window.get(digits_start..)?;
        let len = rest.iter().position(|byte| !byte.is_ascii_digit())?;
        (len > 0).then_some(digits_start + len)
    };
    let first_digit = start + usize::from(window.get(start) == Some(&b'-'));
    let mut end = find_digits_end(first_digit)?;
    if window.get(end) == Some(&b'.') {
        end = find_digits_end(end + 1)?;
    }
    matches!(window.get(end), Some(b',' | b')')).then_some(end)
}

/// Returns `true` if the text around a literal only repeats its type: `CONVERT("…" USING utf8mb4)` of mydumper,
/// `CAST('…' AS json)`, `'…'::jsonb`.
pub(crate) fn is_cast(window: &[u8], value_range: &Range<usize>, literal: &Range<usize>) -> bool {
    let (Some(before), Some(after)) =
        (window.get(value_range.start..literal.start), window.get(literal.end..value_range.end))
    else {
        return false;
    };
    let (before, after) = (before.trim_ascii(), after.trim_ascii());
    if let (true, Some(type_name)) = (before.is_empty(), after.strip_prefix(b"::")) {
        return type_name.iter().all(|byte| is_word_byte(*byte) || matches!(byte, b' ' | b'.' | b'"' | b'[' | b']'));
    }
    let (call, rest) = before.split_at(scan::find_word_end(before, 0));
    let Some(introducer) = rest.trim_ascii_start().strip_prefix(b"(") else { return false };
    let introducer = introducer.trim_ascii();
    if !introducer.is_empty() && (introducer[0] != b'_' || !introducer.iter().all(|byte| is_word_byte(*byte))) {
        return false;
    }
    let Some(suffix) = after.strip_suffix(b")") else { return false };
    let mut words = suffix.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_keyword =
        |word: Option<&[u8]>, keyword: &str| word.is_some_and(|word| word.eq_ignore_ascii_case(keyword.as_bytes()));
    let (first, second) = (words.next(), words.next());
    let is_charset = second.is_some_and(|word| word.iter().all(|byte| is_word_byte(*byte)));
    words.next().is_none()
        && (is_keyword(Some(call), "convert") && is_keyword(first, "using") && is_charset
            || is_keyword(Some(call), "cast")
                && is_keyword(first, "as")
                && (is_keyword(second, "json") || is_keyword(second, "char")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_recognized_as_in_sql() {
        for number in ["0", "007", "-1", "+1", "1.5", ".5", "-.5", "1.", "1e9", "1.e+9", "9.0e+999", "-1E-5"] {
            assert!(is_number(number.as_bytes()), "{number}");
        }
        for other in ["", "-", ".", "e5", "1e", "1e+", "--1", "1 2", "1-2", "0x41", "1_0", "-.e1", "1.2.3"] {
            assert!(!is_number(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn casts_tell_the_type_of_a_literal() {
        for (text, is) in [
            ("CONVERT(@ USING UTF8MB4)", true),
            ("convert ( _binary @ using utf8mb4 )", true),
            ("CAST(@ AS JSON)", true),
            ("CAST(@ AS SIGNED)", false),
            ("@::character varying[]", true),
            ("@::jsonb || 1", false),
            ("lower(@)", false),
            ("convert(x @ using utf8)", false),
            ("1 @", false),
        ] {
            let index = text.find('@').expect("a literal");
            assert_eq!(is_cast(text.as_bytes(), &(0..text.len()), &(index..index + 1)), is, "{text}");
        }
    }
}
