//! Checks the text that is written outside of quotes. When perl evaluates the output, it must not run code from the
//! data.
//!
//! Data::Dumper writes the source of regexps and v-strings as it is. For the values of a program this is harmless,
//! because perl itself made the source. A frozen document can contain any source.

use crate::document::{Document, runs_code};
use crate::format::dumper::options::WriteOptions;
use crate::format::dumper::read::number::parse_v_string_numbers as v_string_characters;
use std::borrow::Cow;

/// Replacement for a regexp with code in it: a regexp that never matches.
pub(super) const NEVER: &[u8] = b"qr/(?!)/";

/// How the pattern of a regexp can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternSafety {
    /// The pattern is written as Data::Dumper writes it: `qr/…/`.
    Literal,
    /// Perl's parser would find variables or the end of the pattern in it. So the pattern is written in a variable,
    /// `do{my $o = '…'; qr/$o/}`. There, perl reads it only as a regexp.
    Variable,
    /// Perl would run code from the pattern, even if it is in a variable.
    Code,
}

/// Returns options with which nothing from the data is where perl would run it.
pub(super) fn safe_options<'o>(document: &Document<'_>, options: &'o WriteOptions) -> Cow<'o, WriteOptions> {
    if options.trusted {
        return Cow::Borrowed(options);
    }
    // A name without quotes is a string only if an arrow follows; otherwise it is a call.
    let quotekeys = !options.quotekeys && !options.pair.trim_start_matches([' ', '\t']).starts_with("=>");
    // A pad may turn each line into a comment. The text after a line break in a string would be a line without a pad,
    // and perl would run it. In double quotes the line break is escaped.
    let useqq = !options.useqq && has_visible_pad(options) && has_line_breaks(document);
    if !quotekeys && !useqq {
        return Cow::Borrowed(options);
    }
    let mut options = options.clone();
    options.quotekeys |= quotekeys;
    options.useqq |= useqq;
    Cow::Owned(options)
}

/// Returns `true` if each line has something other than blanks before it.
pub(super) fn has_visible_pad(options: &WriteOptions) -> bool {
    !options.trusted && !options.pad.trim().is_empty()
}

fn has_line_breaks(document: &Document<'_>) -> bool {
    let mut strings = document.nodes().iter().filter(|node| node.kind.has_bytes()).map(|node| document.bytes(node));
    let keys = document.tape().keys();
    // Ids begin at 1, but the id 0 is also tried, and may not exist.
    let keys = keys.get(0).into_iter().chain((1..).map_while(|id| keys.get(id)));
    let mut keys = keys.map(|name| name.bytes);
    strings.any(|bytes| bytes.contains(&b'\n')) || keys.any(|bytes| bytes.contains(&b'\n'))
}

/// Returns `true` if perl reads the source as a v-string of these characters.
pub(super) fn is_v_string(source: &[u8], characters: &[u64]) -> bool {
    let numbers = source.strip_prefix(b"v").unwrap_or(source);
    let has_v = numbers.len() < source.len();
    let is_number = |number: &[u8]| {
        number.first().is_some_and(u8::is_ascii_digit)
            && number.iter().all(|byte| byte.is_ascii_digit() || has_v && *byte == b'_')
    };
    // Without the `v`, a number that begins with a zero is octal.
    let is_octal = !has_v && matches!(numbers, [b'0', b'0'..=b'9', ..]);
    numbers.split(|byte| *byte == b'.').all(is_number)
        && !is_octal
        && (has_v || numbers.split(|byte| *byte == b'.').count() > 2)
        && v_string_characters(source).eq(characters.iter().copied().map(Some))
}

/// Returns `true` if perl calls a function of this name, if the program has one: `v65`. With a point
/// after the first number, perl does not look for a function.
pub(super) fn may_be_function(source: &[u8]) -> bool {
    let Some(numbers) = source.strip_prefix(b"v") else { return false };
    let digits = numbers.iter().take_while(|byte| byte.is_ascii_digit()).count();
    numbers.get(digits) != Some(&b'.')
}

/// Returns the flags that perl knows, as often as it accepts them: others would be code.
pub(super) fn keep_known_flags(flags: &[u8]) -> Vec<u8> {
    let mut kept: Vec<u8> = Vec::new();
    for flag in flags {
        let max_count = match flag {
            b'm' | b's' | b'i' | b'n' | b'p' | b'u' | b'l' | b'd' => 1,
            b'x' | b'a' => 2,
            _ => 0,
        };
        let is_charset = |flag: &u8| matches!(flag, b'u' | b'a' | b'l' | b'd');
        let count = kept.iter().filter(|kept| *kept == flag).count();
        // Perl accepts only one flag for a character set. A second one is a syntax error.
        let is_second = is_charset(flag) && kept.iter().any(|kept| is_charset(kept) && kept != flag);
        if count < max_count && !is_second {
            kept.push(*flag);
        }
    }
    kept
}

/// Returns how a pattern with these flags can be written. If `is_padded`, line breaks must be escaped.
pub(super) fn classify_pattern(pattern: &[u8], flags: &[u8], is_padded: bool) -> PatternSafety {
    if runs_code(pattern) {
        return PatternSafety::Code;
    }
    let has_comments =
        pattern.windows(3).any(|window| window == b"(?#") || flags.contains(&b'x') && pattern.contains(&b'#');
    if has_variable(pattern) || has_comments || is_padded && pattern.contains(&b'\n') {
        return PatternSafety::Variable;
    }
    PatternSafety::Literal
}

/// Returns `true` if perl's parser finds an array, a change of case or an escaped end. A `$` is
/// written so that it begins no variable.
fn has_variable(pattern: &[u8]) -> bool {
    let mut index = 0;
    while let Some(byte) = pattern.get(index) {
        let next = pattern.get(index + 1).copied();
        match (byte, next) {
            (b'\\', None) => return true,
            (b'\\', Some(b'l' | b'L' | b'u' | b'U' | b'Q' | b'E' | b'F')) => return true,
            (b'\\', Some(_)) => index += 1,
            (b'@', Some(next)) if next.is_ascii_alphanumeric() || !next.is_ascii() => return true,
            (b'@', Some(b'_' | b':' | b'\'' | b'{' | b'$' | b'+' | b'-')) => return true,
            _ => {}
        }
        index += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_v_strings_are_decoded_or_refused() {
        for (source, characters) in [
            ("v1.22.333", &[1, 22, 333][..]),
            ("1.2.3", &[1, 2, 3]),
            ("v65", &[65]),
            ("v1_0.2", &[10, 2]),
            ("0.1.2", &[0, 1, 2]),
        ] {
            assert!(is_v_string(source.as_bytes(), characters), "{source}");
        }
        for (source, characters) in [
            ("", &[][..]),
            ("main::hit()", &[1]),
            ("v1.main::hit()", &[1]),
            ("1.2", &[1, 2]),
            ("v", &[]),
            ("v1.", &[1]),
            ("v1..2", &[1, 2]),
            ("v_1", &[1]),
            ("v1.2\n", &[1, 2]),
            ("v1.2", &[1, 3]),
            ("01.2.3", &[1, 2, 3]),
            ("1_0.2.3", &[10, 2, 3]),
            ("v99999999999999999999", &[u64::MAX]),
        ] {
            assert!(!is_v_string(source.as_bytes(), characters), "{source}");
        }
    }

    #[test]
    fn v_strings_that_may_be_function_names_are_found() {
        for (source, may) in [("v65", true), ("v1_0.2", true), ("v1_0", true), ("v1.2_0", false), ("1.2.3", false)] {
            assert_eq!(may_be_function(source.as_bytes()), may, "{source}");
        }
    }

    #[test]
    fn only_flags_that_perl_knows_are_kept() {
        for (flags, kept) in [
            ("msixxnpaa", "msixxnpaa"),
            (";main::hit();#", "main"),
            ("ul", "u"),
            ("aaa", "aa"),
            ("xxx", "xx"),
            ("e", ""),
            ("ii", "i"),
        ] {
            assert_eq!(String::from_utf8(keep_known_flags(flags.as_bytes())).unwrap(), kept, "{flags}");
        }
    }

    #[test]
    fn patterns_are_classified_by_the_code_in_them() {
        let form = |text: &str| classify_pattern(text.as_bytes(), b"", false);
        for text in [
            "",
            "^ok$",
            "a@",
            "a@\\.b",
            "\\@b",
            "$x",
            "a/b",
            "\\p{L}",
            "\\p{Script=Greek}",
            "\\N{U+263A}",
            "\\N{3}",
            "\\\\",
        ] {
            assert_eq!(form(text), PatternSafety::Literal, "{text}");
        }
        for text in ["@x", "@{[main::hit()]}", "@$x", "@::x", "\\\\@x", "a\\", "\\\\\\", "\\Qx", "(?#$x)", "@é"] {
            assert_eq!(form(text), PatternSafety::Variable, "{text}");
        }
        for text in [
            "(?{hit()})",
            "(??{hit()})",
            "(*{hit()})",
            "(**{hit()})",
            "(?p{hit()})",
            "(?(?{hit()})a|b)",
            "\\(?{",
            "\\p{IsHit}",
            "\\P{ ^InHit}",
            "\\p{main::IsHit}",
            "\\N{hit}",
        ] {
            assert_eq!(form(text), PatternSafety::Code, "{text}");
        }
        assert_eq!(classify_pattern(b"a # $x", b"x", false), PatternSafety::Variable);
        assert_eq!(classify_pattern(b"a\n", b"", true), PatternSafety::Variable);
    }
}
