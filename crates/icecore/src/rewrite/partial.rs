//! Serialized values that a text contains only in part: it begins or ends inside of one.

use super::Edits;
use super::embedded::{EmbeddedData, TYPE_LETTERS, does_damage, find_embedded, looks_serialized};
use super::serialized::{self, Boundary};
use crate::limits::Limits;
use memchr::{memchr2, memchr2_iter, memrchr};
use std::ops::Range;

/// Maximum number of digits of a length.
const MAX_DIGITS: usize = 20;

/// Returns `true` if something serialized begins in a text and may end after it.
pub(super) fn is_cut_off(text: &[u8], limits: &Limits) -> bool {
    if find_cut_head(text).is_some() {
        return true;
    }
    let EmbeddedData::Unclear(documents) = find_embedded(text, 0, limits) else { return false };
    let mut remaining = serialized::search_budget(text);
    let mut known = documents.iter().peekable();
    // Brackets outside of strings.
    let mut strings = serialized::find_strings(text).peekable();
    let mut brackets = memchr2_iter(b'{', b'}', text).filter(|offset| {
        while strings.next_if(|string| string.range.end <= *offset).is_some() {}
        strings.peek().is_none_or(|string| *offset < string.range.start)
    });
    let mut end = 0;
    for head in serialized::find_heads(text) {
        while known.next_if(|document| document.end <= head).is_some() {}
        let is_known = known.peek().is_some_and(|document| document.start <= head && document.end < text.len());
        if head < end || is_known || !looks_serialized(text, head, &mut remaining) {
            continue;
        }
        let string = serialized::string_at(text, head, &mut remaining);
        if string.is_some_and(|string| !string.has_end && string.range.end > text.len()) {
            return true;
        }
        if matches!(text.get(head), Some(b's' | b'S' | b'E')) {
            continue;
        }
        // This value can't be read, so its end is unknown. It is cut off if it has more opening than closing
        // brackets.
        let mut depth = 0;
        let close = brackets.by_ref().skip_while(|offset| *offset < head).find(|offset| {
            depth += if text.get(*offset) == Some(&b'{') { 1 } else { -1 };
            depth <= 0
        });
        match close {
            Some(close) => end = close,
            None => return true,
        }
    }
    false
}

/// Returns the offset of the beginning of a serialized value, if this place of a text is inside of it.
pub(super) fn find_head_across(text: &[u8], place: usize) -> Option<usize> {
    let window_start = place.saturating_sub(MAX_DIGITS + 2);
    let window = text.get(window_start..text.len().min(place.saturating_add(MAX_DIGITS))).unwrap_or_default();
    let across = serialized::find_heads(window).map(|head| window_start + head).find(|head| {
        let end = serialized::parse_number(text, head + 2).map_or(head + 4, |(_, end)| end + 2);
        *head < place && place < end
    });
    across.or_else(|| find_cut_head(text.get(..place).unwrap_or_default()))
}

/// Returns the offset of what may be the beginning of a serialized value, if a text ends inside of it: `s`, `a:`,
/// `O:12`, `a:1:{s:`.
fn find_cut_head(text: &[u8]) -> Option<usize> {
    // Longer names of classes are rare, and a fixed length keeps the search short.
    const MAX_HEAD_LEN: usize = 320;
    let window_start = text.len().saturating_sub(MAX_HEAD_LEN);
    let mut end = text.get(window_start..).unwrap_or_default();
    // The text may end inside of the first key of an array or object.
    if let Some(bracket) = memrchr(b'{', end)
        && let (Some(before), Some(key)) = (end.get(..bracket), end.get(bracket + 1..))
        && before.ends_with(b":")
        && match key {
            [] => true,
            [letter, rest @ ..] => TYPE_LETTERS.contains(letter) && !rest.iter().any(u8::is_ascii_alphabetic),
        }
    {
        end = before;
    }
    let end = end.strip_suffix(b":").unwrap_or(end);
    let head = end.iter().rposition(|byte| !byte.is_ascii_digit())?;
    let before_number = end.get(..head + 1)?;
    let name = before_number.strip_suffix(b":").unwrap_or(before_number);
    if let Some(name) = name.strip_suffix(b"\"") {
        return serialized::find_heads(name).find(|head| ends_with_name(name, *head)).map(|head| window_start + head);
    }
    let head = if end.get(head) == Some(&b':') { head.checked_sub(1)? } else { head };
    let is_letter = end.get(head).is_some_and(|letter| TYPE_LETTERS.contains(letter));
    (is_letter && serialized::boundary_before(end, head) != Boundary::Word).then_some(window_start + head)
}

/// Returns `true` if a text ends with the name of a class whose letter is at `head`.
fn ends_with_name(text: &[u8], head: usize) -> bool {
    let is_object = matches!(text.get(head), Some(b'O' | b'C'));
    is_object
        && serialized::parse_number(text, head + 2).is_some_and(|(len, after)| {
            text.get(after..).is_some_and(|rest| rest.starts_with(b":\"") && rest.len() - 2 == len)
        })
}

/// Returns `true` if one of these changes touches a number, a quote or a bracket of something serialized. The text may
/// begin inside of it. A change that covers a whole document counts as well.
pub(super) fn touches_marks(text: &[u8], edits: &Edits) -> bool {
    // The text may begin with a number, and the letter of this number may be before the text.
    let leading = text.iter().take_while(|byte| byte.is_ascii_digit() || b".eE+-:".contains(byte)).count();
    let mut numbers = Edits::new();
    for edit in edits.iter() {
        let old = text.get(edit.start..edit.end).unwrap_or_default();
        if edit.start < leading || memchr2(b'{', b'}', old).is_some() || has_end_mark(text, edit.start..edit.end) {
            return true;
        }
        // The old bytes in the place of the new ones: this edit touches a number but does not change a length, so
        // only damage to numbers counts here.
        numbers.push(edit.start, edit.end, old);
    }
    !numbers.is_empty() && does_damage(text, &[], &numbers)
}

/// Returns `true` if a quote or a semicolon that may end a value is, at least partly, in this part of a text.
fn has_end_mark(text: &[u8], part: Range<usize>) -> bool {
    memchr2_iter(b'"', b';', text.get(part.clone()).unwrap_or_default()).any(|offset| {
        let offset = part.start + offset;
        let rest = text.get(offset + 1..).unwrap_or_default();
        match (text.get(offset), rest) {
            (Some(b'"'), [b';' | b':', ..] | []) => true,
            (Some(b'"'), _) => offset.checked_sub(1).is_none_or(|before| text.get(before) == Some(&b':')),
            // A number, a string, or a value with brackets.
            _ => offset
                .checked_sub(1)
                .and_then(|before| text.get(before))
                .is_none_or(|byte| byte.is_ascii_digit() || matches!(byte, b'"' | b'}' | b'N')),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps;
    use memchr::memmem;

    #[test]
    fn values_cut_off_by_the_end_of_a_text_are_detected() {
        let is_cut = |text: &str| is_cut_off(text.as_bytes(), &Limits::default());
        let value = "a:2:{i:0;s:5:\"a}b\"c\";i:1;O:1:\"A\":1:{s:1:\"x\";d:0.5;}}";
        let object = "O:4:\"Shop\":3:{s:3:\"url\";s:1:\"+\";s:4:\"_\";O:\";s:10:\"%20olds:3:\";s:2:\"ab\";i:87;}";
        for value in [value, object] {
            for end in 1..value.len() {
                assert!(is_cut(&format!("x {}", &value[..end])), "{}", &value[..end]);
            }
        }
        let escaped = value.replace('"', "\\\"");
        for end in 1..escaped.len() {
            assert!(is_cut(&format!("x '{}", &escaped[..end])), "{}", &escaped[..end]);
        }
        for text in
            [value, &format!("[x d='{escaped}'] {{old"), "data", "see s:3", "p { color: old", "x s:9:\"old\"; {  {"]
        {
            let text = format!("{text} \n{}", " ".repeat(60));
            assert!(!is_cut(&text), "{text}");
        }
    }

    #[test]
    fn changes_of_numbers_and_marks_are_detected() {
        let touches = |text: &str, old: &str| {
            let mut edits = Edits::new();
            for offset in memmem::find_iter(text.as_bytes(), old) {
                edits.push(offset, offset + old.len(), b"2");
            }
            touches_marks(text.as_bytes(), &edits)
        };
        let tail = "c\";i:1;s:3:\"abc\";d:0.5;}} and 1, s:1:\"1\";";
        for old in ["i:1", "0.5", "}", "c\"", "\";", "s:3", ":3:", "5;", "s:1:\"1\";"] {
            assert!(touches(tail, old), "{old}");
        }
        for old in ["and", "a", "abc", "1, "] {
            assert!(!touches(tail, old), "{old}");
        }
    }

    /// Values begin inside of each other and do not end. The work is limited.
    #[test]
    fn beginnings_take_linear_time() {
        for piece in ["a:9:{i:0;", "a:9:{", "s:3:\"", "O:1:\"A\":9:{s:1:\"b\";", "s:99:\\\"", "s:9:\"a:1:{i:0;"] {
            steps::is_linear(piece, 500, |times| {
                let text = format!("x{}", piece.repeat(times));
                let mut edits = Edits::new();
                edits.push(0, 1, b"yy");
                steps::count(text.len());
                let _ = (is_cut_off(text.as_bytes(), &Limits::default()), touches_marks(text.as_bytes(), &edits));
            });
        }
    }
}
