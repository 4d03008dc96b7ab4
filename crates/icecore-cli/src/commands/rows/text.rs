//! Cells as text: in JSON, in CSV, between tabs.

use super::plan::Out;
use std::borrow::Cow;

/// Whether a byte of a JSON string stands for itself.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0x20;
    while byte < 0x80 {
        plain[byte] = byte != b'"' as usize && byte != b'\\' as usize;
        byte += 1;
    }
    plain
};

/// Writes bytes as a JSON string: as UTF-8 if they are, else a character for each.
/// Returns whether they were UTF-8.
pub fn string(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    out.push(b'"');
    let plain = bytes.iter().position(|byte| !PLAIN[usize::from(*byte)]);
    let Some(special) = plain else {
        out.extend_from_slice(bytes);
        out.push(b'"');
        return true;
    };
    let (text, is_utf8) = text(&bytes[special..], &bytes[..special]);
    out.pop();
    // A string can be written to a vector, always.
    let _ = serde_json::to_writer(&mut *out, &*text);
    is_utf8
}

/// The text of bytes whose first part is ASCII.
fn text<'t>(bytes: &[u8], before: &'t [u8]) -> (Cow<'t, str>, bool) {
    let whole = [before, bytes].concat();
    match String::from_utf8(whole) {
        Ok(text) => (text.into(), true),
        Err(error) => (error.as_bytes().iter().map(|byte| char::from(*byte)).collect::<String>().into(), false),
    }
}

/// A name as a key: `"name":`.
pub fn key(name: &str) -> Vec<u8> {
    let mut key = Vec::new();
    string(name.as_bytes(), &mut key);
    key.push(b':');
    key
}

/// Writes a cell of a table, with what separates it from the one before.
pub fn table_cell(out: Out, delimiter: u8, is_safe: bool, is_first: bool, bytes: &[u8], to: &mut Vec<u8>) {
    match out {
        Out::Csv => {
            if !is_first {
                to.push(delimiter);
            }
            if is_safe && icecore_lab::page::is_formula(bytes) {
                return csv(&[b"'", bytes].concat(), delimiter, to);
            }
            csv(bytes, delimiter, to);
        }
        _ => {
            if !is_first {
                to.push(b'\t');
            }
            tsv(bytes, to);
        }
    }
}

/// A cell in quotes, if it needs them.
fn csv(bytes: &[u8], delimiter: u8, to: &mut Vec<u8>) {
    if !bytes.iter().any(|byte| matches!(*byte, b'"' | b'\n' | b'\r') || *byte == delimiter) {
        return to.extend_from_slice(bytes);
    }
    to.push(b'"');
    for part in bytes.split_inclusive(|byte| *byte == b'"') {
        to.extend_from_slice(part);
        if part.ends_with(b"\"") {
            to.push(b'"');
        }
    }
    to.push(b'"');
}

/// A cell with escapes, as MySQL and PostgreSQL read them.
fn tsv(bytes: &[u8], to: &mut Vec<u8>) {
    for byte in bytes {
        match byte {
            b'\t' => to.extend_from_slice(b"\\t"),
            b'\n' => to.extend_from_slice(b"\\n"),
            b'\r' => to.extend_from_slice(b"\\r"),
            b'\\' => to.extend_from_slice(b"\\\\"),
            byte => to.push(*byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_json() {
        for (bytes, json) in [
            (&b"plain"[..], "\"plain\""),
            (b"", "\"\""),
            (b"a\"b\\c\n\x01", r#""a\"b\\c\n\u0001""#),
            ("é\u{1F600}".as_bytes(), "\"é\u{1F600}\""),
            (b"caf\xe9", "\"café\""),
        ] {
            let mut out = Vec::new();
            string(bytes, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), json);
        }
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        for (cell, csv, tsv) in [
            (&b"a b"[..], "a b", "a b"),
            (b"a,b", "\"a,b\"", "a,b"),
            (b"a\"\tb\n\\", "\"a\"\"\tb\n\\\"", "a\"\\tb\\n\\\\"),
        ] {
            let (mut quoted, mut escaped) = (Vec::new(), Vec::new());
            table_cell(Out::Csv, b',', false, true, cell, &mut quoted);
            table_cell(Out::Tsv, b',', false, true, cell, &mut escaped);
            assert_eq!((&quoted[..], &escaped[..]), (csv.as_bytes(), tsv.as_bytes()));
        }
    }
}
