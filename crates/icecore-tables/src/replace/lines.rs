//! Lines: JSON values, and plain text.

use super::chunk::{LocatedValue, ValueSyntax};
use super::plan::ReplacePlan;
use icecore::rewrite::{self, Change as _, Edits, Rewriting, StringRole, Tally};
use icecore_replace::{Replacing, Rules};
use memchr::{memchr, memchr2};
use std::ops::Range;

/// Finds the values on lines of JSON. An object has a value for each of its keys. Any other line is one value.
pub fn find_json_values(
    bytes: &[u8],
    plan: &ReplacePlan,
    row: u64,
    mut place: impl FnMut(&[u8]) -> Option<u32>,
    values: &mut Vec<LocatedValue>,
) {
    let (mut offset, mut row) = (0, row);
    let mut members = Vec::new();
    while offset < bytes.len() {
        let rest = bytes.get(offset..).unwrap_or_default();
        let len = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..len).unwrap_or_default().trim_ascii_end();
        row += 1;
        members.clear();
        // If keys are changed as well, a line is one value, unless columns are selected.
        let is_whole = plan.rewrite_options.keys && !plan.places.has_selection();
        if is_whole || !find_members(line, &mut members) {
            members.clear();
            if !line.is_empty() {
                members.push((0..0, 0..line.len()));
            }
        }
        for (key, value) in &members {
            if let Some(place) = place(line.get(key.clone()).unwrap_or_default()) {
                let value = offset + value.start..offset + value.end;
                values.push(LocatedValue {
                    range: value.clone(),
                    body: value,
                    syntax: ValueSyntax::Json,
                    place,
                    row,
                    rules: 0,
                });
            }
        }
        offset += len + 1;
    }
}

/// Finds the keys of an object, without quotes, and their values. Returns false if this is not an object.
fn find_members(line: &[u8], members: &mut Vec<(Range<usize>, Range<usize>)>) -> bool {
    let skip = |offset: usize| offset + line.get(offset..).map_or(0, |rest| rest.len() - rest.trim_ascii_start().len());
    let mut offset = skip(0);
    if line.get(offset) != Some(&b'{') {
        return false;
    }
    offset = skip(offset + 1);
    if line.get(offset) == Some(&b'}') {
        return skip(offset + 1) == line.len();
    }
    loop {
        if line.get(offset) != Some(&b'"') {
            return false;
        }
        let Some(key_end) = find_string_end(line, offset + 1) else { return false };
        let colon = skip(key_end + 1);
        if line.get(colon) != Some(&b':') {
            return false;
        }
        let start = skip(colon + 1);
        let Some(end) = find_value_end(line, start) else { return false };
        let value = line.get(start..end).unwrap_or_default();
        members.push((offset + 1..key_end, start..start + value.trim_ascii_end().len()));
        match line.get(end) {
            Some(b',') => offset = skip(end + 1),
            Some(b'}') => return skip(end + 1) == line.len(),
            _ => return false,
        }
    }
}

/// Returns the position of the closing quote of the string whose contents begin at `offset`.
fn find_string_end(line: &[u8], mut offset: usize) -> Option<usize> {
    loop {
        offset += memchr2(b'"', b'\\', line.get(offset..)?)?;
        if line.get(offset) == Some(&b'"') {
            return Some(offset);
        }
        // The byte after a backslash does not end the string.
        offset += 2;
    }
}

/// Returns the place of the comma or the bracket after a value.
fn find_value_end(line: &[u8], mut offset: usize) -> Option<usize> {
    let mut depth = 0usize;
    loop {
        match line.get(offset)? {
            b'"' => offset = find_string_end(line, offset + 1)?,
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return Some(offset),
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        offset += 1;
    }
}

/// Decodes the name of a JSON key.
pub fn decode_key(key: &[u8]) -> String {
    let quoted = [b"\"", key, b"\""].concat();
    serde_json::from_slice(&quoted).unwrap_or_else(|_| String::from_utf8_lossy(key).into_owned())
}

/// The effects of changes of a plain text on serialized values in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Damage {
    /// The first change, if one of the changes damages a serialized value.
    pub damaging_change: Option<usize>,
    /// The first change, if one of the changes affects a number or a mark of a value that began before the text,
    /// provided that there is such a value.
    pub split_change: Option<usize>,
    /// Whether a value may begin in the text and end after it.
    pub is_cut_off: bool,
}

/// Adds the changes of plain text. A regular expression is applied to each line. A serialized document that changes
/// is one edit.
pub fn change_text(
    bytes: &[u8],
    own_range: Range<usize>,
    rules: &Rules,
    replacing: &mut Replacing<'_>,
    edits: &mut Edits,
) -> Damage {
    if rules.max_lookahead().is_some() {
        let text = bytes.get(..own_range.end).unwrap_or_default();
        let (is_cut_off, cut_head) = (rewrite::is_cut_off(text), rewrite::find_head_across(bytes, own_range.end));
        let first = match change_documents(bytes, own_range.clone(), replacing) {
            Some(found) => {
                edits.append(&found, 0);
                None
            }
            None => {
                replacing.change_part(bytes, own_range, edits);
                find_damage(bytes, edits)
            }
        };
        let is_cut_head = |edit: &rewrite::Edit<'_>| cut_head.is_some_and(|head| edit.end > head);
        let first = first.or(edits.iter().last().filter(is_cut_head).map(|edit| edit.start));
        return Damage { damaging_change: first, split_change: find_split_change(bytes, edits), is_cut_off };
    }
    let (mut offset, mut damage) = (0, Damage::default());
    while offset < bytes.len() {
        let rest = bytes.get(offset..).unwrap_or_default();
        let len = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..len).unwrap_or_default();
        let mut line_edits = Edits::new();
        let text = line.strip_suffix(b"\r").unwrap_or(line);
        let mut first = None;
        match change_documents(text, 0..text.len(), replacing) {
            Some(found) => line_edits = found,
            None => {
                replacing.change_text(text, StringRole::Value, &mut line_edits);
                first = find_damage(text, &line_edits);
            }
        }
        let split_change = find_split_change(text, &line_edits);
        let first = first.or(split_change.filter(|_| damage.is_cut_off));
        damage.damaging_change = damage.damaging_change.or(first.map(|index| offset + index));
        damage.split_change = damage.split_change.or(split_change.map(|index| offset + index));
        damage.is_cut_off |= rewrite::is_cut_off(line);
        edits.append(&line_edits, offset);
        offset += len + 1;
    }
    damage
}

/// Returns the first change, if one of the changes affects a number or a mark of a value that began before this text.
fn find_split_change(text: &[u8], edits: &Edits) -> Option<usize> {
    let first = edits.iter().next()?;
    rewrite::touches_marks(text, edits).then_some(first.start)
}

/// Returns the first change, if one of the changes damages a serialized value in this text.
fn find_damage(text: &[u8], edits: &Edits) -> Option<usize> {
    let first = edits.iter().next()?;
    rewrite::breaks_documents(text, edits).then_some(first.start)
}

/// Returns the strings of serialize() that begin in a text: see [`rewrite::serialized_strings`].
pub fn find_frozen_strings(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    rewrite::serialized_strings(bytes)
}

/// Returns the changes of a text with serialized documents in it, if the documents are certain. Names of properties
/// and classes in them are not changed. If a name has a match too, the result is `None`, because it is not known here
/// whether names are to change. Two trials find this out: with names and without them, the changes must be the same.
fn change_documents(bytes: &[u8], own_range: Range<usize>, replacing: &mut Replacing<'_>) -> Option<Edits> {
    let change = |replacing: &mut Replacing<'_>, options: &Rewriting| {
        let mut tally = Tally::default();
        let edits = rewrite::text_with_documents(bytes, own_range.clone(), replacing, options, &mut tally)?;
        (!tally.is_notable()).then_some(edits)
    };
    let (mut names_too, mut values_only) = (Rewriting::default(), Rewriting::default());
    (names_too.keys, names_too.classes) = (true, true);
    (values_only.keys, values_only.classes) = (false, false);
    replacing.begin_trial();
    let with_names = change(replacing, &names_too);
    replacing.end_trial(false);
    let with_names = with_names?;
    replacing.begin_trial();
    let edits = change(replacing, &values_only).filter(|edits| edits.iter().eq(with_names.iter()));
    replacing.end_trial(edits.is_some());
    edits
}

/// Returns the places of edits that change the length of a text. An edit inside a string of serialize() makes the
/// length of that string wrong. An edit of a whole document begins before the strings in it, so it is not inside one.
pub fn find_length_changes(edits: &Edits) -> impl Iterator<Item = usize> {
    edits.iter().filter(|edit| edit.new.len() != edit.end - edit.start).map(|edit| edit.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_members_lists_keys_and_values() {
        let texts = |line: &str| {
            let mut found = Vec::new();
            find_members(line.as_bytes(), &mut found).then(|| {
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
