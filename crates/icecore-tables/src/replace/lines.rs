//! Lines: values of JSON, and plain text.

use super::chunk::{Manner, Piece};
use super::plan::Plan;
use icecore::rewrite::{Change as _, Edits, Part};
use icecore_replace::{Replacing, Rules};
use memchr::{memchr, memchr2, memmem};
use std::ops::Range;

/// Finds the values on lines of JSON: of objects those of each key.
pub fn pieces(
    bytes: &[u8],
    plan: &Plan,
    row: u64,
    mut place: impl FnMut(&[u8]) -> Option<u32>,
    pieces: &mut Vec<Piece>,
) {
    let (mut at, mut row) = (0, row);
    let mut found = Vec::new();
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let len = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..len).unwrap_or_default().trim_ascii_end();
        row += 1;
        found.clear();
        // Where keys are changed too, a line is one value, unless columns are chosen.
        let is_whole = plan.how.keys && !plan.places.has_choice();
        if is_whole || !members(line, &mut found) {
            found.clear();
            if !line.is_empty() {
                found.push((0..0, 0..line.len()));
            }
        }
        for (key, value) in &found {
            if let Some(place) = place(line.get(key.clone()).unwrap_or_default()) {
                let value = at + value.start..at + value.end;
                pieces.push(Piece { whole: value.clone(), body: value, manner: Manner::Json, place, row, rules: 0 });
            }
        }
        at += len + 1;
    }
}

/// Where the keys of an object are, without quotes, and their values. `false`: this is not an object.
fn members(line: &[u8], found: &mut Vec<(Range<usize>, Range<usize>)>) -> bool {
    let skip = |at: usize| at + line.get(at..).map_or(0, |rest| rest.len() - rest.trim_ascii_start().len());
    let mut at = skip(0);
    if line.get(at) != Some(&b'{') {
        return false;
    }
    at = skip(at + 1);
    if line.get(at) == Some(&b'}') {
        return skip(at + 1) == line.len();
    }
    loop {
        if line.get(at) != Some(&b'"') {
            return false;
        }
        let Some(key_end) = string_end(line, at + 1) else { return false };
        let colon = skip(key_end + 1);
        if line.get(colon) != Some(&b':') {
            return false;
        }
        let start = skip(colon + 1);
        let Some(end) = value_end(line, start) else { return false };
        let value = line.get(start..end).unwrap_or_default();
        found.push((at + 1..key_end, start..start + value.trim_ascii_end().len()));
        match line.get(end) {
            Some(b',') => at = skip(end + 1),
            Some(b'}') => return skip(end + 1) == line.len(),
            _ => return false,
        }
    }
}

/// Where the string ends that begins before `at`: its quote.
fn string_end(line: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr2(b'"', b'\\', line.get(at..)?)?;
        if line.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// Where the comma or the bracket after a value is.
fn value_end(line: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match line.get(at)? {
            b'"' => at = string_end(line, at + 1)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return Some(at),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
}

/// The name that a key of JSON says.
pub fn name(key: &[u8]) -> String {
    let quoted = [b"\"", key, b"\""].concat();
    serde_json::from_slice(&quoted).unwrap_or_else(|_| String::from_utf8_lossy(key).into_owned())
}

/// The changes of plain text. A regular expression sees a line at a time.
pub fn text(bytes: &[u8], own: Range<usize>, rules: &Rules, replacing: &mut Replacing<'_>, edits: &mut Edits) {
    if rules.reach().is_some() {
        return replacing.change_part(bytes, own, edits);
    }
    let mut at = 0;
    while at < bytes.len() {
        let rest = bytes.get(at..).unwrap_or_default();
        let len = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..len).unwrap_or_default();
        let mut own = Edits::new();
        replacing.change(line.strip_suffix(b"\r").unwrap_or(line), Part::Value, &mut own);
        for edit in own.iter() {
            edits.push(at + edit.start, at + edit.end, edit.new);
        }
        at += len + 1;
    }
}

/// Strings of serialize() that begin in a text: the bytes that their lengths count, and their last quote. They may end
/// after the text. Where their end is not in it, too much is taken rather than too little.
pub fn frozen_strings(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    /// How many bytes an escaped character has at most.
    const ESCAPED: usize = 6;
    memmem::find_iter(bytes, b"s:").filter_map(|at| {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        if at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(is_word) {
            return None;
        }
        let rest = bytes.get(at + 2..)?;
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let len: usize = std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()?;
        let quote = leading_quote(rest.get(digits..)?.strip_prefix(b":")?)?;
        let start = at + 2 + digits + 1 + quote.len();
        // Escaped characters are longer than what the length counts: the string ends there, or later.
        let most = start.saturating_add(len.saturating_mul(ESCAPED)).saturating_add(quote.len() + 1);
        let tail = bytes.get(start.saturating_add(len)..most.min(bytes.len())).unwrap_or_default();
        let end = memmem::find(tail, &[quote, b";"].concat()).map_or(most, |end| start + len + end + quote.len());
        Some(start..end)
    })
}

/// The quote that this text begins with, as it is escaped there.
fn leading_quote(text: &[u8]) -> Option<&[u8]> {
    let len = match text {
        [b'"', b'"', ..] => 2,
        [b'"' | b'\'', ..] => 1,
        [b'\\', ..] => {
            let slashes = text.iter().take_while(|byte| **byte == b'\\').count();
            matches!(text.get(slashes), Some(b'"' | b'\'')).then_some(slashes + 1)?
        }
        [b'&', ..] => memchr(b';', text.get(..8)?)? + 1,
        [b'%', b'2', b'2' | b'7', ..] => 3,
        _ => return None,
    };
    text.get(..len)
}

/// The places of edits that change the length of a text. An edit in a string of serialize() makes the length of that
/// string wrong.
pub fn growing(edits: &Edits) -> impl Iterator<Item = usize> {
    edits.iter().filter(|edit| edit.new.len() != edit.end - edit.start).map(|edit| edit.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_serialize_are_found() {
        let found =
            |text: &str| frozen_strings(text.as_bytes()).map(|range| (range.start, range.end)).collect::<Vec<_>>();
        assert_eq!(found(r#"x|s:3:"abc";"#), [(7, 11)]);
        assert_eq!(found(r#"[code a='a:1:{i:0;s:3:\"abc\";}']"#), [(24, 29)]);
        assert!(found("yes:3:\"abc\" s:x:\"a\" s:3 s:3:abc s:99999999999999999999:\"a\"").is_empty());
        assert_eq!(found("s:2:&quot;&lt;b&quot;; x"), [(10, 21)]);
        // Its end is not there yet.
        assert_eq!(found("s:100:\"ab"), [(7, 609)]);
        assert_eq!(found(r#"s:18446744073709551615:"a"#), [(24, usize::MAX)]);
    }

    #[test]
    fn objects_have_members() {
        let texts = |line: &str| {
            let mut found = Vec::new();
            members(line.as_bytes(), &mut found).then(|| {
                found.into_iter().map(|(key, value)| (line[key].to_owned(), line[value].to_owned())).collect::<Vec<_>>()
            })
        };
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            texts(r#" {"a" : "b,\"}" ,"c":{"d":[1,{}]} , "e\"": null}"#),
            Some(vec![pair("a", r#""b,\"}""#), pair("c", r#"{"d":[1,{}]}"#), pair(r#"e\""#, "null"),])
        );
        assert_eq!(texts("{}"), Some(vec![]));
        for other in [
            "",
            "[1]",
            "\"a\"",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1}x",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\":\"\\",
        ] {
            assert_eq!(texts(other), None, "{other}");
        }
    }
}
