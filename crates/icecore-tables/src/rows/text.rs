//! Cells as text, in JSON, in CSV, and between tabs.

use super::plan::OutputForm;
use icecore::raw::find_byte;
use icecore::text::spreadsheet_text;

/// Whether a byte of a JSON string needs no escape.
const NEEDS_NO_ESCAPE: [bool; 256] = {
    let mut is_plain = [false; 256];
    let mut byte = 0x20;
    while byte < 0x80 {
        is_plain[byte] = byte != b'"' as usize && byte != b'\\' as usize;
        byte += 1;
    }
    is_plain
};

/// Writes bytes as a JSON string. Bytes that are not UTF-8 become one character each. Returns whether they were
/// UTF-8.
pub fn write_json_string(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    out.push(b'"');
    let first_special = bytes.iter().position(|byte| !NEEDS_NO_ESCAPE[usize::from(*byte)]);
    if first_special.is_none() {
        out.extend_from_slice(bytes);
        out.push(b'"');
        return true;
    }
    let text = std::str::from_utf8(bytes);
    if text.is_ok() && !has_rare_controls(bytes) {
        write_escaped(bytes, out);
        out.push(b'"');
        return true;
    }
    out.pop();
    // Writing a string to a vector can't fail.
    let _ = match text {
        Ok(text) => serde_json::to_writer(&mut *out, text),
        Err(_) => serde_json::to_writer(&mut *out, &latin1_to_utf8(bytes)),
    };
    text.is_ok()
}

/// Returns bytes as text, one character for each byte.
pub fn latin1_to_utf8(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// Returns whether there are control characters other than line feeds.
fn has_rare_controls(bytes: &[u8]) -> bool {
    let is_rare = |byte: &u8| *byte < b' ' && *byte != b'\n';
    // The loop has no early exit, so the compiler can check many bytes at once.
    bytes.iter().fold(false, |has_rare, byte| has_rare | is_rare(byte))
}

/// Writes the text of a JSON string. Searches from one escaped character to the next, because most texts have few of
/// them.
fn write_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(found) = find_byte(rest, [b'"', b'\\', b'\n']) {
        let (unescaped, tail) = rest.split_at(found);
        out.extend_from_slice(unescaped);
        let Some((special, after)) = tail.split_first() else { break };
        let letter = if *special == b'\n' { b'n' } else { *special };
        out.extend_from_slice(&[b'\\', letter]);
        rest = after;
    }
    out.extend_from_slice(rest);
}

/// Returns a name as a key: `"name":`.
pub fn format_json_key(name: &str) -> Vec<u8> {
    let mut key = Vec::new();
    write_json_string(name.as_bytes(), &mut key);
    key.push(b':');
    key
}

/// Writes a cell of a table, with the separator before it. `is_safe` means that a cell which a spreadsheet would run
/// becomes text.
pub fn write_table_cell(
    form: OutputForm,
    delimiter: u8,
    is_safe: bool,
    is_first: bool,
    bytes: &[u8],
    out: &mut Vec<u8>,
) {
    match form {
        OutputForm::Csv => {
            if !is_first {
                out.push(delimiter);
            }
            match is_safe {
                // A safe cell must not begin with a character that separates cells in other dialects.
                true => icecore_csv::push_cell(&spreadsheet_text(bytes), delimiter, b";\t,", out),
                false => icecore_csv::push_cell(bytes, delimiter, b"", out),
            }
        }
        _ => {
            if !is_first {
                out.push(b'\t');
            }
            match is_safe {
                true => write_tsv_cell(&spreadsheet_text(bytes), out),
                false => write_tsv_cell(bytes, out),
            }
        }
    }
}

/// Writes a cell with escapes, as MySQL and PostgreSQL read them.
fn write_tsv_cell(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            byte => out.push(*byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_written_as_json() {
        for (bytes, json) in [
            (&b"plain"[..], "\"plain\""),
            (b"", "\"\""),
            (b"a\"b\\c\n\x01", r#""a\"b\\c\n\u0001""#),
            ("é\u{1F600}".as_bytes(), "\"é\u{1F600}\""),
            (b"caf\xe9", "\"café\""),
            (b"\r\n\t\"\"\\x\n", r#""\r\n\t\"\"\\x\n""#),
            (b"\n\x08\x0c\x1f\x7f", "\"\\n\\b\\f\\u001f\x7f\""),
        ] {
            let mut out = Vec::new();
            write_json_string(bytes, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), json);
        }
    }

    #[test]
    fn cells_are_quoted_only_if_needed() {
        for (cell, csv, tsv) in [
            (&b"a b"[..], "a b", "a b"),
            (b"a,b", "\"a,b\"", "a,b"),
            (b"a\"\tb\n\\", "\"a\"\"\tb\n\\\"", "a\"\\tb\\n\\\\"),
        ] {
            let (mut quoted, mut escaped) = (Vec::new(), Vec::new());
            write_table_cell(OutputForm::Csv, b',', false, true, cell, &mut quoted);
            write_table_cell(OutputForm::Tsv, b',', false, true, cell, &mut escaped);
            assert_eq!((&quoted[..], &escaped[..]), (csv.as_bytes(), tsv.as_bytes()));
        }
    }
}
