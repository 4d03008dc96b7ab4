//! Serialized strings inside of a text that is something else, as shortcodes, comments and YAML have them.
//!
//! Such a text is not read as a document. A change in one of these strings would leave a wrong length before it, so
//! the text stays as it is then, and is counted.

use super::Edits;
use memchr::memmem;

/// How the quotes of a serialized string are written in a text: as they are, escaped, as entities, doubled.
const QUOTES: [&[u8]; 8] = [b"\\\\\\\"", b"\\\\\"", b"\\\"", b"&quot;", b"&#34;", b"&#034;", b"\\u0022", b"\"\""];
/// How many digits a length has at most.
const DIGITS: usize = 9;

/// Whether one of these changes makes the length of a serialized string wrong.
///
/// The time is linear in the text.
pub(super) fn breaks_lengths(text: &[u8], edits: &Edits) -> bool {
    // One of these is in each kind of quotes.
    if edits.is_empty() || memchr::memchr3(b'"', b'&', b'%', text).is_none() && memchr::memchr(b'\\', text).is_none() {
        return false;
    }
    let growing: Vec<(usize, usize)> = edits
        .iter()
        .filter(|edit| edit.new.len() != edit.end - edit.start)
        .map(|edit| (edit.start, edit.end))
        .collect();
    if growing.is_empty() {
        return false;
    }
    let mut ends = Ends::default();
    let changes_within = |(start, end): (usize, usize)| {
        let at = growing.partition_point(|(_, edit_end)| *edit_end <= start);
        growing.get(at).is_some_and(|(edit_start, _)| *edit_start < end)
    };
    let plain = memmem::find_iter(text, b"s:").filter_map(|at| ends.find_string(text, at));
    if plain.into_iter().any(changes_within) {
        return true;
    }
    let mut ends = Ends::default();
    let encoded = memmem::find_iter(text, b"s%3").filter_map(|at| ends.find_encoded_string(text, at));
    encoded.into_iter().any(changes_within)
}

/// The ends of strings that were found last, for each kind of quotes: texts in which no string ends are not searched
/// again and again.
#[derive(Default)]
struct Ends {
    found: [Option<Option<usize>>; QUOTES.len() + 1],
}

impl Ends {
    /// The first of these ends from `start` on.
    fn find(&mut self, kind: usize, text: &[u8], start: usize, end: &[u8]) -> Option<usize> {
        match self.found[kind] {
            Some(None) => return None,
            Some(Some(at)) if at >= start => return Some(at),
            _ => {}
        }
        let found = memmem::find(text.get(start..)?, end).map(|at| start + at);
        self.found[kind] = Some(found);
        found
    }

    /// Where the contents of the string are whose `s:` is at `at`.
    fn find_string(&mut self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        if is_in_word(text, at) {
            return None;
        }
        let (length, after) = read_length(text, at + 2)?;
        let rest = text.get(after..)?.strip_prefix(b":")?;
        let start = after + 1;
        for (kind, quote) in QUOTES.iter().enumerate() {
            // Doubled quotes may also be a quote and the first byte of the string.
            if rest.starts_with(quote) && !ends_exactly(text, start + 1, length) {
                let end = [*quote, b";"].concat();
                let begin = start + quote.len();
                return self.find(kind, text, begin, &end).map(|end| (begin, end));
            }
        }
        (rest.starts_with(b"\"") && ends_exactly(text, start + 1, length)).then_some((start + 1, start + 1 + length))
    }

    /// The same in a text that is percent-encoded.
    fn find_encoded_string(&mut self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        let is_mark =
            |at: usize, mark: &[u8]| text.get(at..at + 3).is_some_and(|bytes| bytes.eq_ignore_ascii_case(mark));
        if is_in_word(text, at) || !is_mark(at + 1, b"%3A") {
            return None;
        }
        let (_, after) = read_length(text, at + 4)?;
        let begin = after + 6;
        if !is_mark(after, b"%3A") || !is_mark(after + 3, b"%22") {
            return None;
        }
        self.find(QUOTES.len(), text, begin, b"%22%3").map(|end| (begin, end))
    }
}

/// Whether a letter precedes, so that this is a part of a word.
fn is_in_word(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(u8::is_ascii_alphabetic)
}

/// The number at `at`, and where it ends.
fn read_length(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let digits = text.get(at..)?.iter().take(DIGITS + 1).take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(text.get(at..at + digits)?).ok()?;
    (digits <= DIGITS).then_some(())?;
    Some((number.parse().ok()?, at + digits))
}

/// Whether a string of this length ends with a quote and a semicolon.
fn ends_exactly(text: &[u8], start: usize, length: usize) -> bool {
    start.checked_add(length).and_then(|end| text.get(end..)).is_some_and(|rest| rest.starts_with(b"\";"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaks(text: &str) -> bool {
        let mut edits = Edits::new();
        for at in memmem::find_iter(text.as_bytes(), b"old") {
            edits.push(at, at + 3, b"newer");
        }
        breaks_lengths(text.as_bytes(), &edits)
    }

    #[test]
    fn strings_are_found_in_each_kind_of_quotes() {
        for text in [
            "[x d='a:1:{i:0;s:3:\"old\";}'] old",
            "<!-- a:1:{i:0;s:3:\"old\";} -->",
            "d: \"a:1:{i:0;s:3:\\\"old\\\";}\"",
            r#"x s:3:\\\"old\\\"; y"#,
            "<p d=\"s:3:&quot;old&quot;;\">",
            "{\"d\":\"s:3:\\u0022old\\u0022;\"} --",
            "1,\"s:3:\"\"old\"\";\",2",
            "?d=s%3a3%3a%22old%22%3b",
            "x s:13:\"s:5:\"a old\";\"; y",
            "17s:3:\"old\"; x",
        ] {
            assert!(breaks(text), "{text}");
        }
        for text in [
            "[x d='a:1:{i:0;s:3:\"abc\";}'] old",
            "yes:3:\"old\";",
            "https://s:3/old",
            "p { a:1:{color: old} }",
            "s:9:\"old\";",
            "s:0:\"\"; old \"\";",
            "old s:3:\"abc\"; old",
        ] {
            assert!(!breaks(text), "{text}");
        }
        let mut edits = Edits::new();
        edits.push(5, 8, b"new");
        assert!(!breaks_lengths(b"s:3:\"old\"; x", &edits), "the length stays");
    }

    /// Nothing ends here: each kind of end is looked for once.
    #[test]
    fn beginnings_without_an_end_take_linear_time() {
        let mut text = b"old".to_vec();
        text.extend(b"s:1:\\\"s:1:&quot;s%3A1%3A%22".repeat(200_000));
        let mut edits = Edits::new();
        edits.push(0, 3, b"newer");
        assert!(!breaks_lengths(&text, &edits));
    }
}
