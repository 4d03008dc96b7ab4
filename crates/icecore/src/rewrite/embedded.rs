//! Serialized documents inside another text: shortcodes, comments, YAML, logs.
//!
//! If it is certain what the documents are, they are changed as documents, and the text around them is changed as
//! plain text. It is certain if all of these conditions are true. Each document can be read to its end, begins at a
//! word boundary, and does not overlap another one. No match crosses a boundary of a document. Nothing else in the
//! text looks serialized. The result has the same documents at their new places. Any other text is changed as plain
//! text, unless a change would make a length in it wrong. Then it stays unchanged and is counted.

use super::serialized::{self, Boundary, SerializedString};
use super::string_rewriter::StringRewriter;
use super::{Broken, Edits, StringRole, signed, trimmed};
use crate::deep::LEVELS;
use crate::error::ErrorKind;
use crate::format::strings::{StringRequest, Strings};
use crate::format::{self, Format, Settings};
use crate::limits::Limits;
use crate::steps;
use memchr::memchr_iter;
use std::ops::Range;

/// The type letters of all serialized values that contain a number.
pub(super) const TYPE_LETTERS: &[u8] = b"asSOCEibdrR";

/// Serialized data in a text.
pub(super) enum EmbeddedData {
    /// Nothing.
    Nothing,
    /// These documents, and nothing else.
    Documents(&'static Format, Vec<Range<usize>>),
    /// These documents, and something that looks serialized but can't be read, because it is damaged, cut off or
    /// escaped.
    Unclear(Vec<Range<usize>>),
}

/// Searches a text for documents from `search_start` on. The time is linear in the length of the text.
pub(super) fn find_embedded(text: &[u8], search_start: usize, limits: &Limits) -> EmbeddedData {
    if serialized::find_heads(text).next().is_none() {
        return EmbeddedData::Nothing;
    }
    let embedded_strings = |format: &Format| format.strings.filter(|strings| strings.is_embedded);
    let Some((format, strings)) = format::all().iter().find_map(|format| Some((*format, embedded_strings(format)?)))
    else {
        return EmbeddedData::Nothing;
    };
    let (documents, is_clear) = scan_documents(text, search_start, strings, limits);
    match is_clear {
        true if documents.is_empty() => EmbeddedData::Nothing,
        true if are_nested(text) => EmbeddedData::Documents(format, documents),
        _ => EmbeddedData::Unclear(documents),
    }
}

/// Returns the documents in a text, and whether nothing else in it looks like one. If not, the list may have too many
/// documents.
fn scan_documents(text: &[u8], search_start: usize, strings: &Strings, limits: &Limits) -> (Vec<Range<usize>>, bool) {
    let (mut documents, mut is_clear, mut end) = (Vec::new(), true, search_start);
    let mut remaining = serialized::search_budget(text);
    // Number of bytes that may be read without success. Values without an end can be nested, and each of them would
    // be read up to the end of the text.
    let mut max_failed_bytes = text.len().saturating_mul(2);
    let wanted = StringRequest { limits, wants_keys: false, wants_classes: false, is_wanted: &|_, _| false };
    for head in serialized::find_heads(text) {
        if head < end || !looks_serialized(text, head, &mut remaining) {
            continue;
        }
        let rest = text.get(head..).unwrap_or_default();
        is_clear &= serialized::boundary_before(text, head) == Boundary::Edge;
        if max_failed_bytes == 0 {
            documents.push(head..text.len());
            return (documents, false);
        }
        let len = match (strings.find)(rest, &Settings::new(), &wanted) {
            Ok(places) => places.consumed,
            Err(error) => {
                is_clear = false;
                let read = error.offset().map_or(rest.len(), |offset| offset as usize);
                steps::count(read);
                max_failed_bytes = max_failed_bytes.saturating_sub(read);
                match rest.get(1) {
                    Some(b'%') => rest.iter().take_while(|byte| is_encoded(**byte)).count(),
                    _ => continue,
                }
            }
        };
        steps::count(len);
        end = head + len;
        documents.push(head..end);
    }
    (documents, is_clear)
}

/// Returns `true` if a percent-encoded text may contain this byte.
fn is_encoded(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"%-._~+*!'()".contains(&byte)
}

/// Returns `true` if a serialized value with a length begins at this place, and not a word of prose. `remaining` is
/// the number of bytes that may still be searched for its end.
pub(super) fn looks_serialized(text: &[u8], head: usize, remaining: &mut usize) -> bool {
    if text.get(head) != Some(&b'a') {
        return serialized::string_at(text, head, remaining).is_some();
    }
    let is_encoded = text.get(head + 1) == Some(&b'%');
    let Some((count, after)) = serialized::parse_number(text, head + if is_encoded { 4 } else { 2 }) else {
        return false;
    };
    if is_encoded {
        let mark = text.get(after..after + 6).unwrap_or_default();
        return mark.eq_ignore_ascii_case(b"%3A%7B");
    }
    match text.get(after..).and_then(|rest| rest.strip_prefix(b":{")) {
        Some([b'}', ..]) => count == 0,
        Some([b'i', b':', key @ ..]) => match serialized::parse_number(key, usize::from(key.first() == Some(&b'-'))) {
            Some((_, end)) => matches!(key.get(end), None | Some(b';')),
            None => false,
        },
        Some([b's' | b'S', b':', key @ ..]) => match serialized::parse_number(key, 0) {
            Some((_, end)) => {
                key.get(end..).is_some_and(|key| matches!(key, [] | [b':'] | [b':', b'"' | b'\'' | b'\\' | b'&', ..]))
            }
            None => false,
        },
        // A key of an array begins with `i`, `s` or `S`. Another value here means that the array is damaged.
        Some([letter, b':', next, ..]) => {
            TYPE_LETTERS.contains(letter) && (next.is_ascii_digit() || b"-.".contains(next))
        }
        Some([b'N', b';', ..]) => true,
        _ => false,
    }
}

/// Returns `true` if each valid string is completely inside or outside of every other one. Otherwise the text can be
/// read in two ways.
fn are_nested(text: &[u8]) -> bool {
    let mut open: Vec<usize> = Vec::new();
    serialized::find_strings(text).filter(|string| string.is_exact).all(|SerializedString { head, range, .. }| {
        // The range ends after the last quote, and the string has one more byte, a semicolon.
        while open.pop_if(|end| *end < head).is_some() {}
        let fits = open.last().is_none_or(|end| range.end < *end - 1);
        open.push(range.end);
        fits
    })
}

/// Returns `true` if these changes damage something serialized in a text.
pub(super) fn breaks_documents(text: &[u8], edits: &Edits, limits: &Limits) -> bool {
    if edits.is_empty() {
        return false;
    }
    match find_embedded(text, 0, limits) {
        EmbeddedData::Nothing => false,
        EmbeddedData::Documents(_, documents) | EmbeddedData::Unclear(documents) => {
            does_damage(text, &documents, edits)
        }
    }
}

/// Returns `true` if a text of the format with this name consists of serialized values, or of variables with such
/// values.
fn has_values(name: &str) -> bool {
    let format = format::all().iter().find(|format| format.name == name);
    format.and_then(|format| format.strings).is_some_and(|strings| strings.repair.is_some())
}

/// Returns `true` if documents of the format with this name are text.
fn is_text_format(name: &str) -> bool {
    format::all().iter().find(|format| format.name == name).is_none_or(|format| format.can.text)
}

/// Returns `true` if a text that looks frozen as a whole is one damaged serialized value or session. `documents` are
/// the known documents in it.
fn is_broken_value(text: &[u8], documents: &[Range<usize>]) -> bool {
    let mut remaining = serialized::search_budget(text);
    let Some(head) = serialized::find_heads(text).find(|head| looks_serialized(text, *head, &mut remaining)) else {
        return true;
    };
    let before = text.get(..head).unwrap_or_default();
    let is_first = match before.strip_suffix(b"|") {
        // The names and values of a session are not escaped.
        Some(name) => {
            let is_name = name.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'|' || !byte.is_ascii());
            let after = serialized::parse_number(text, head + 2).and_then(|(_, after)| text.get(after..));
            is_name && after.is_some_and(|after| after.starts_with(b":\"") || after.starts_with(b":{"))
        }
        None => trimmed::is_all_blank(before),
    };
    is_first && documents.first().is_none_or(|document| document.start != head)
}

/// Returns `true` if one of these changes makes a length of something serialized in the text wrong, or changes a part
/// of it that is not text. `documents` are the known documents of the text.
pub(super) fn does_damage(text: &[u8], documents: &[Range<usize>], edits: &Edits) -> bool {
    let list: Vec<(Range<usize>, bool)> =
        edits.iter().map(|edit| (edit.start..edit.end, edit.new.len() != edit.end - edit.start)).collect();
    // The edits that touch these bytes.
    let touching = |bytes: Range<usize>| {
        let search_start = list.partition_point(|(edit, _)| edit.end <= bytes.start);
        list.iter().skip(search_start).take_while(move |(edit, _)| edit.start < bytes.end)
    };
    if documents.iter().any(|document| touching(document.clone()).next().is_some()) {
        return true;
    }
    // The changes that make the text longer or shorter. One of them inside of a string makes its length wrong.
    let growing: Vec<usize> = list.iter().filter(|(_, grows)| *grows).map(|(edit, _)| edit.start).collect();
    let grows_within = |bytes: &Range<usize>| {
        let next = growing.partition_point(|start| *start < bytes.start);
        growing.get(next).is_some_and(|start| *start < bytes.end)
    };
    // Skips nulls and brackets, because they do not contain numbers that a change could damage.
    let skip_ends = |mut offset: usize| {
        loop {
            match text.get(offset..) {
                Some([b'}', ..]) => offset += 1,
                Some([b'N', b';', ..]) => offset += 2,
                _ => return offset,
            }
        }
    };
    for SerializedString { head, range, has_end, .. } in serialized::find_strings(text) {
        // The last quote of the string, the mark after it, and the closing brackets after that.
        let end = range.end - 1..skip_ends(range.end.saturating_add(1));
        let touches = |bytes: Range<usize>| touching(bytes).next().is_some();
        if touches(head..range.start) || grows_within(&range) || has_end && touches(end) {
            return true;
        }
    }
    let is_number = |colon: usize| {
        let head =
            colon.checked_sub(1).filter(|head| text.get(*head).is_some_and(|letter| TYPE_LETTERS.contains(letter)))?;
        let sign = usize::from(matches!(text.get(colon + 1), Some(b'-' | b'+')));
        let (_, end) = serialized::parse_number(text, colon + 1 + sign)?;
        let rest = text.get(end..)?;
        let end = end + rest.iter().take_while(|byte| byte.is_ascii_digit() || b".eE+-".contains(byte)).count();
        let ends_as_number = matches!(text.get(end), Some(b':' | b';'));
        (ends_as_number && serialized::boundary_before(text, head) != Boundary::Word).then(|| {
            let opens = usize::from(text.get(end + 1) == Some(&b'{'));
            head..skip_ends(end + 1 + opens).max(end + 2)
        })
    };
    memchr_iter(b':', text).filter_map(is_number).any(|bytes| touching(bytes).next().is_some())
}

impl StringRewriter<'_> {
    /// Returns the changes of a text that is not frozen as a whole, and may contain documents. `broken` is the reason
    /// why it is not frozen although it begins like frozen data.
    pub(super) fn change_mixed_text(&mut self, text: &[u8], level: u32, broken: Option<Broken>) -> Edits {
        let embedded = match &broken {
            // In binary data a document is inside of a string with a length of its own. That length would become
            // wrong.
            Some(broken) if !is_text_format(broken.format) => EmbeddedData::Nothing,
            _ => find_embedded(text, 0, &self.limits),
        };
        if let EmbeddedData::Documents(format, documents) = &embedded
            && let Some(edits) = self.change_around_documents(format, text, 0..text.len(), documents, level)
        {
            // A text that contains complete values is not itself a damaged value. It may be a damaged document of
            // another format.
            broken
                .into_iter()
                .filter(|broken| !has_values(broken.format))
                .for_each(|broken| self.tally.count_broken(broken));
            return edits;
        }
        let documents = match &embedded {
            EmbeddedData::Nothing => &[][..],
            EmbeddedData::Documents(_, documents) | EmbeddedData::Unclear(documents) => documents,
        };
        let is_text = matches!(embedded, EmbeddedData::Nothing) || broken.is_some() && is_broken_value(text, documents);
        let edits = match is_text {
            true => self.change_plain_text(text, StringRole::Value),
            false => match self.change_plain_without_damage(text, documents) {
                Some(edits) => edits,
                None => return Edits::new(),
            },
        };
        broken.into_iter().for_each(|broken| self.tally.count_broken(broken));
        edits
    }

    /// Returns the changes of a text with these known documents. If a length would become wrong, returns
    /// `None`, and the text is counted.
    fn change_plain_without_damage(&mut self, text: &[u8], documents: &[Range<usize>]) -> Option<Edits> {
        let changed = self.tally.changed;
        self.change.begin_trial();
        let edits = self.change_plain_text(text, StringRole::Value);
        let is_damaging = does_damage(text, documents, &edits);
        self.change.end_trial(!is_damaging);
        if is_damaging {
            self.tally.changed = changed;
            self.tally.embedded += 1;
            return None;
        }
        Some(edits)
    }

    /// Returns the changes of documents in a text and of the text around them; `None` if that is not certain. All
    /// changes are within `range`; the text outside is only examined.
    pub(super) fn change_around_documents(
        &mut self,
        format: &'static Format,
        text: &[u8],
        range: Range<usize>,
        documents: &[Range<usize>],
        level: u32,
    ) -> Option<Edits> {
        if level >= LEVELS {
            self.keep_beyond_limit(text);
            return Some(Edits::new());
        }
        if self.crosses_document_edge(text, &range, documents) {
            return None;
        }
        let tally = self.tally.clone();
        self.change.begin_trial();
        let edits = self.collect_edits_around(format, text, &range, documents, level);
        let is_signed = edits.as_ref().is_ok_and(|edits| !edits.is_empty()) && is_signed_text(text, documents);
        let edits = edits.map(|edits| (is_certain(text, range, documents, &edits, &self.limits), edits));
        self.change.end_trial(!is_signed && matches!(edits, Ok((true, _))));
        let error = match edits {
            Ok((true, edits)) if !is_signed => return Some(edits),
            edits => edits.err(),
        };
        *self.tally = tally;
        if is_signed {
            self.tally.signed += 1;
            return Some(Edits::new());
        }
        if error == Some(ErrorKind::Limit) {
            self.keep_beyond_limit(text);
            return Some(Edits::new());
        }
        None
    }

    /// Returns `true` if a match in the text, read as plain text, is partly in a document.
    fn crosses_document_edge(&mut self, text: &[u8], range: &Range<usize>, documents: &[Range<usize>]) -> bool {
        self.change.begin_trial();
        let matches = self.change_plain_parts(text, std::slice::from_ref(range));
        self.change.end_trial(false);
        let mut edges = documents.iter().flat_map(|document| [document.start, document.end]).peekable();
        matches.iter().any(|edit| {
            while edges.next_if(|edge| *edge <= edit.start).is_some() {}
            edges.peek().is_some_and(|edge| *edge < edit.end)
        })
    }

    /// Returns the changes of documents and of the text between them.
    fn collect_edits_around(
        &mut self,
        format: &'static Format,
        text: &[u8],
        range: &Range<usize>,
        documents: &[Range<usize>],
        level: u32,
    ) -> Result<Edits, ErrorKind> {
        let (mut gaps, mut offset) = (Vec::with_capacity(documents.len() + 1), range.start);
        for document in documents {
            gaps.push(offset..document.start);
            offset = document.end;
        }
        gaps.push(offset..range.end);
        let plain_edits = self.change_plain_parts(text, &gaps);
        self.tally.changed += u64::from(!plain_edits.is_empty());
        let (mut edits, mut pending) = (Edits::new(), plain_edits.iter().peekable());
        for document in documents {
            while let Some(edit) = pending.next_if(|edit| edit.start < document.start) {
                edits.push(edit.start, edit.end, edit.new);
            }
            let bytes = text.get(document.clone()).unwrap_or_default();
            if self.may_contain_change(bytes) {
                let limits = self.limits.clone();
                let changes = self.change_document(format, &Settings::new(), bytes, &limits, level);
                edits.append(&changes.map_err(|error| error.kind())?, document.start);
            }
        }
        pending.for_each(|edit| {
            edits.push(edit.start, edit.end, edit.new);
        });
        Ok(edits)
    }

    /// Returns the changes of parts of a text that are plain text.
    fn change_plain_parts(&mut self, text: &[u8], parts: &[Range<usize>]) -> Edits {
        let mut edits = Edits::new();
        if parts.iter().any(|part| self.change.may_change(text.get(part.clone()).unwrap_or_default())) {
            self.change.change_parts(text, parts, StringRole::Value, &mut edits);
        }
        edits
    }
}

/// Returns `true` if the changed text has the same documents, each with its own changes.
fn is_certain(text: &[u8], range: Range<usize>, documents: &[Range<usize>], edits: &Edits, limits: &Limits) -> bool {
    let text = text.get(..range.end).unwrap_or(text);
    let mut growth = 0;
    let mut changes = edits.iter().peekable();
    let mut new_offset = |offset: usize| {
        while let Some(edit) = changes.next_if(|edit| edit.end <= offset) {
            growth += edit.growth();
        }
        let is_within = changes.peek().is_some_and(|edit| edit.start < offset);
        offset.checked_add_signed(growth as isize).filter(|_| !is_within)
    };
    let places: Option<Vec<Range<usize>>> =
        documents.iter().map(|document| Some(new_offset(document.start)?..new_offset(document.end)?)).collect();
    match find_embedded(&edits.apply(text), range.start, limits) {
        EmbeddedData::Documents(_, found) => places == Some(found),
        _ => false,
    }
}

/// Returns `true` if a digest is next to the only document of a text, or before the whole text.
fn is_signed_text(text: &[u8], documents: &[Range<usize>]) -> bool {
    let [document] = documents else { return signed::is_signed_body(text) };
    signed::is_signed_body(text) || signed::is_next_to_digest(text, document)
}

/// Returns the same changes, combined into one edit for each changed document.
pub(super) fn merge_documents(text: &[u8], documents: &[Range<usize>], edits: &Edits) -> Edits {
    let mut merged = Edits::new();
    let mut rest = edits.iter().peekable();
    for document in documents {
        while let Some(edit) = rest.next_if(|edit| edit.end <= document.start) {
            merged.push(edit.start, edit.end, edit.new);
        }
        let mut document_edits = Edits::new();
        while let Some(edit) = rest.next_if(|edit| edit.end <= document.end) {
            document_edits.push(edit.start - document.start, edit.end - document.start, edit.new);
        }
        if !document_edits.is_empty() {
            let new = document_edits.apply(text.get(document.clone()).unwrap_or_default());
            merged.push(document.start, document.end, &new);
        }
    }
    rest.for_each(|edit| {
        merged.push(edit.start, edit.end, edit.new);
    });
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use memchr::memmem;

    fn is_damaged_by(text: &str, old: &str, new: &str) -> bool {
        let mut edits = Edits::new();
        for offset in memmem::find_iter(text.as_bytes(), old) {
            edits.push(offset, offset + old.len(), new.as_bytes());
        }
        does_damage(text.as_bytes(), &[], &edits)
    }

    #[test]
    fn changes_of_serialized_strings_are_detected_as_damage() {
        for text in [
            "[x d='a:1:{i:0;s:3:\"old\";}'] old",
            "d: \"a:1:{i:0;s:3:\\\"old\\\";}\"",
            r#"x s:3:\\\"old\\\"; y"#,
            "<p d=\"s:3:&quot;old&quot;;\">",
            "{\"d\":\"s:3:\\u0022old\\u0022;\"} --",
            "1,\"s:3:\"\"old\"\";\",2",
            "?d=s%3a3%3a%22old%22%3b",
            "x s:13:\"s:5:\"a old\";\"; y",
            "17s:3:\"old\"; x",
            // Its length is wrong already, and would become more wrong.
            "x s:9:\"old\";",
        ] {
            assert!(is_damaged_by(text, "old", "newer"), "{text}");
        }
        for text in [
            "[x d='a:1:{i:0;s:3:\"abc\";}'] old",
            "yes:3:\"older\";",
            "https://s:3/old",
            "p { a:1:{color: old} }",
            "s:0:\"\"; old \"\";",
            "old s:3:\"abc\"; old",
        ] {
            assert!(!is_damaged_by(text, "old", "newer"), "{text}");
        }
        assert!(!is_damaged_by("x s:3:\"old\"; y", "old", "new"), "the length stays");
        for old in ["1", "a:", "}", "\";", "s:3", "i:0;N"] {
            assert!(is_damaged_by("x a:1:{i:0;N;}s:3:\\\"abc\\\";} y", old, "2"), "{old}");
        }
    }

    #[test]
    fn embedded_documents_are_told_apart_from_unclear_text() {
        let describe = |text: &str| match find_embedded(text.as_bytes(), 0, &Limits::default()) {
            EmbeddedData::Nothing => "nothing".to_owned(),
            EmbeddedData::Documents(_, documents) => format!("{documents:?}"),
            EmbeddedData::Unclear(_) => "unclear".to_owned(),
        };
        assert_eq!(describe("[x d='a:1:{i:0;s:3:\"abc\";}']"), "[6..26]");
        assert_eq!(describe("a:0:{}s:1:\"b\";,O:1:\"A\":0:{}"), "[0..6, 6..14, 15..27]");
        for text in [
            "a:1: old",
            "p { a:1:{color: old} }",
            "yes:3:\"older\";",
            "https://s:3/old",
            "ratio a:3 s:3 O:3 old;",
            "a:1:{} a:1:{i:0:x O:1:\"A\":",
        ] {
            assert_eq!(describe(text), "nothing", "{text}");
        }
        for text in [
            "x a:2:{i:0;s:3:\"old\";",
            "x s:9:\"old\";",
            "xa:1:{i:0;s:3:\"old\";}",
            "1s:3:\"old\";",
            "s:3:\"old\"; and s:3:\\\"old\\\";",
            "s:3:\"old\"; and s%3A3%3A%22old%22%3B",
            // The value may also begin at the `a`.
            "s:18:\"a:2:{i:0;s:3:\"old\";i:1;i:5;}",
        ] {
            assert_eq!(describe(text), "unclear", "{text}");
        }
    }

    /// Values that begin inside of each other have no end here. The number of bytes that are read is limited.
    #[test]
    fn beginnings_take_linear_time() {
        for piece in [
            "a:9:{i:0;",
            "a:9:{",
            "s:3:\"",
            "O:1:\"A\":9:{s:1:\"b\";",
            "s:1:\"x\";",
            "a:1:{color ",
            "s:99:\\\"",
            "a%3A1%3A%7B",
            "s:9:\"a:1:{i:0;",
            "a:0:{}a:1:{i:0;s:1:\"x\";}s:8:\"",
        ] {
            steps::is_linear(piece, 500, |times| {
                let text = format!("x{}", piece.repeat(times));
                let mut edits = Edits::new();
                edits.push(0, 1, b"yy");
                steps::count(text.len());
                let limits = Limits::default();
                let _ = (find_embedded(text.as_bytes(), 0, &limits), does_damage(text.as_bytes(), &[], &edits));
            });
        }
    }

    /// Replaces one text by another, and counts the bytes that it examines.
    struct Counting;

    impl crate::rewrite::Change for Counting {
        fn change_text(&mut self, text: &[u8], _: StringRole, edits: &mut Edits) {
            steps::count(text.len());
            for offset in memmem::find_iter(text, "old") {
                edits.push(offset, offset + 3, b"newer");
            }
        }
    }

    /// Documents contain texts, and these contain documents. The work grows linearly with the levels; it does not
    /// double with each one.
    #[test]
    fn the_work_is_linear_in_the_levels() {
        let string = |text: &str| format!("s:{}:\"{text}\";", text.len());
        for (before, after) in [
            ("[x d='", "'] old"),
            ("old ", " s:9:\"x"),
            ("s:3:\"old\"; ", "\n s:3:\"old\";"),
            ("{\"a\":[", "]} old"),
            (" ", ""),
            ("a:1:{i:0;", "}a:0:{}"),
            ("hash ", ""),
        ] {
            steps::is_linear(before, 1, |levels| {
                let mut text = "old ".repeat(5_000);
                for _ in 0..levels {
                    text = format!("{before}{}{after}", string(&text));
                }
                let options = crate::rewrite::Rewriting::default();
                let mut tally = crate::rewrite::Tally::default();
                crate::rewrite::value(text.as_bytes(), &mut Counting, &options, &mut tally);
            });
        }
    }
}
