//! Frozen data that contradicts an assumed form. This is a string of serialize() in plain text, or one that crosses
//! the borders of cells.

use super::chunk::{Chunk, LocatedValue};
use super::lines::{find_frozen_strings, find_length_changes};
use icecore::detect;
use icecore::rewrite::Edits;
use icecore_csv::{Detector, Next, Scanner};
use memchr::{memchr, memmem, memrchr};
use std::ops::Range;

/// The strings of serialize() seen so far in a plain text.
#[derive(Default)]
pub struct FrozenText {
    /// The largest end of such a string.
    end: u64,
    /// Whether a value may have begun in one chunk and end after it. The end of such a value is unknown.
    is_open: bool,
}

impl FrozenText {
    /// Finds the changes of the next chunk that make the length of such a string wrong, or change the structure of a
    /// value that began earlier. Returns their minimum number, and the place of the first one in the chunk.
    pub fn find_damaging_changes(&mut self, chunk: &Chunk) -> (u64, Option<usize>) {
        let mut strings = chunk.frozen.iter().peekable();
        let (mut count, mut first) = (0, None);
        for offset in &chunk.growing {
            while let Some(string) = strings.next_if(|string| string.start <= *offset) {
                self.end = self.end.max(string.end);
            }
            if *offset < self.end {
                count += 1;
                first = first.or_else(|| usize::try_from(offset - chunk.offset).ok());
            }
        }
        self.end = strings.map(|string| string.end).fold(self.end, u64::max);
        if let Some(split_change) = chunk.split_change.filter(|_| self.is_open && count == 0) {
            (count, first) = (1, Some(split_change));
        }
        self.is_open |= chunk.is_cut_off;
        (count, first)
    }
}

/// Returns where a string of serialize() begins in a cell if its length leads to an end exactly after that cell. Then
/// the cells were read wrongly.
pub fn find_string_over_cells(bytes: &[u8], values: &[LocatedValue]) -> Option<usize> {
    find_exact_strings(bytes).find_map(|string| {
        let next = values.partition_point(|value| value.range.start <= string.start);
        let value = values.get(next.checked_sub(1)?)?;
        (string.start < value.range.end && value.range.end < string.end).then_some(string.start)
    })
}

/// Returns whether these changes of a plain text make the length of a string of serialize() in it wrong.
pub fn breaks_string_length(text: &[u8], edits: &Edits) -> bool {
    let mut change_offsets: Vec<usize> = find_length_changes(edits).collect();
    if change_offsets.is_empty() {
        return false;
    }
    change_offsets.sort_unstable();
    find_frozen_strings(text).filter(|string| is_complete_string(text, string)).any(|string| {
        let next = change_offsets.partition_point(|offset| *offset < string.start);
        change_offsets.get(next).is_some_and(|offset| *offset < string.end)
    })
}

/// Returns whether a string of serialize() in this text ends exactly where its length says; one with escaped quotes
/// may end later.
fn is_complete_string(text: &[u8], string: &Range<usize>) -> bool {
    if text.get(..string.start).is_some_and(|before| before.ends_with(b":\"")) {
        return ends_exactly(text, string);
    }
    let before = text.get(..string.start).unwrap_or_default();
    let quote = before.get(memrchr(b':', before).map_or(0, |colon| colon + 1)..).unwrap_or_default();
    let close = string.end.checked_sub(quote.len()).and_then(|start| text.get(start..)).unwrap_or_default();
    close.strip_prefix(quote).is_some_and(|rest| rest.starts_with(b";"))
}

/// Returns whether a text contains a complete string of serialize().
pub fn has_exact_string(bytes: &[u8]) -> bool {
    find_exact_strings(bytes).next().is_some()
}

/// Returns the strings of serialize() that end exactly where their lengths say. Such strings do not contain escapes.
fn find_exact_strings(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    find_frozen_strings(bytes).filter(|string| ends_exactly(bytes, string))
}

/// Returns true if the string ends with its quote and a semicolon exactly where its length says.
fn ends_exactly(bytes: &[u8], string: &Range<usize>) -> bool {
    let before = bytes.get(..string.start).unwrap_or_default();
    let Some(colon) = memrchr(b':', before) else { return false };
    let digits = before.get(..colon).unwrap_or_default();
    let first = memrchr(b':', digits).map_or(0, |index| index + 1);
    let len = std::str::from_utf8(digits.get(first..).unwrap_or_default()).ok().and_then(|len| len.parse().ok());
    let quote = before.get(colon + 1..).unwrap_or_default();
    let close = len.and_then(|len: usize| bytes.get(string.start.checked_add(len)?..)).unwrap_or_default();
    close.strip_prefix(quote).is_some_and(|rest| rest.starts_with(b";"))
}

/// Returns the value for `--in` that fits a text with frozen data at this place, or `None` if that is not clear.
pub fn suggest_form(bytes: &[u8], offset: usize) -> Option<String> {
    let start = memrchr(b'\n', bytes.get(..offset)?).map_or(0, |end| end + 1);
    let rest = bytes.get(start..)?;
    let line = rest.get(..memchr(b'\n', rest).unwrap_or(rest.len()))?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if let Ok(stage) = detect::stage_of(line)
        && detect::stage_of(first.strip_suffix(b"\r").unwrap_or(first)).is_ok()
    {
        return Some(if stage.format().name == "json" {
            "ndjson".to_owned()
        } else {
            format!("{} --each=lines", stage.name())
        });
    }
    let is_frozen = |text: &[u8]| detect::begins_frozen(text).is_some() && detect::stage_of(text).is_ok();
    if line.contains(&b'\t') && line.split(|byte| *byte == b'\t').any(is_frozen) {
        return Some("tsv".to_owned());
    }
    let line_contains = |word: &[u8]| memmem::find(line, word).is_some();
    if line_contains(b"('")
        || line_contains(b",'")
        || line_contains(b", '")
        || line_contains(b"='")
        || line_contains(b"= '")
    {
        return Some("sql".to_owned());
    }
    let mut is_frozen_cell = |text: &[u8]| is_frozen(text);
    let detected = Detector::default().detect(line, true, &mut is_frozen_cell).ok()?;
    let mut cells = Vec::new();
    let Next::Row { .. } = Scanner::new(detected.dialect).next_row(line, true, &mut cells) else { return None };
    cells.iter().any(|cell| is_frozen(&detected.dialect.decode_cell(cell, line))).then(|| "csv".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replace::chunk::ValueSyntax;

    #[test]
    fn serialized_strings_across_cells_are_found() {
        let value = |bounds: Range<usize>| LocatedValue {
            range: bounds.clone(),
            body: bounds,
            syntax: ValueSyntax::Tsv,
            place: 0,
            row: 1,
            rules: 0,
        };
        let text = br#"k|s:3:"a,b";x"#;
        assert_eq!(find_string_over_cells(text, &[value(0..8), value(9..13)]), Some(7));
        assert_eq!(find_string_over_cells(text, &[value(0..13)]), None);
        // A wrong length proves nothing about the cells.
        assert_eq!(find_string_over_cells(br#"k|s:4:"a,b";x"#, &[value(0..8), value(9..13)]), None);
    }

    #[test]
    fn changes_that_break_a_string_length_are_found() {
        let inside = |text: &str, offset: usize, new: &[u8]| {
            let mut edits = Edits::new();
            edits.push(offset, offset + 3, new);
            breaks_string_length(text.as_bytes(), &edits)
        };
        assert!(inside("it: s:7:\\\"the old\\\"; x", 14, b"newer"));
        assert!(!inside("it: s:7:\\\"the old\\\"; x", 14, b"new"));
        assert!(!inside("it: s:3:\\\"the\\\"; old", 18, b"newer"));
    }

    #[test]
    fn the_right_form_is_suggested() {
        let suggested = |text: &str| suggest_form(text.as_bytes(), text.find("s:").unwrap());
        assert_eq!(suggested("a:0:{}\na:1:{i:0;s:3:\"old\";}\ny").as_deref(), Some("php --each=lines"));
        assert_eq!(suggested("{\"a\":\"s:3:\\\"old\\\";\"}\n{}").as_deref(), Some("ndjson"));
        assert_eq!(suggested("1\ts:3:\"old\";\n2\tx\n").as_deref(), Some("tsv"));
        assert_eq!(suggested("1,\"s:3:\"\"old\"\";\",x\n2,y,z\n").as_deref(), Some("csv"));
        assert_eq!(suggested("(1,'s:3:\\\"old\\\";'),\n").as_deref(), Some("sql"));
        assert_eq!(suggested("see s:3:\"old\"; there\n"), None);
    }
}
