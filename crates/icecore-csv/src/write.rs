//! Writes cells of tables in RFC 4180.

/// Appends a cell of RFC 4180 with this delimiter, with quotes if it needs them. `others` are further bytes that need
/// quotes, such as delimiters of other programs.
///
/// ```
/// let mut row = Vec::new();
/// icecore_csv::push_cell(b"a,\"b\"", b',', b"", &mut row);
/// row.push(b',');
/// icecore_csv::push_cell(b"c;d", b',', b";", &mut row);
/// assert_eq!(row, b"\"a,\"\"b\"\"\",\"c;d\"");
/// ```
pub fn push_cell(text: &[u8], delimiter: u8, others: &[u8], out: &mut Vec<u8>) {
    let needs_quotes = |byte: &u8| matches!(byte, b'"' | b'\n' | b'\r') || *byte == delimiter || others.contains(byte);
    if !text.iter().any(needs_quotes) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for part in text.split_inclusive(|byte| *byte == b'"') {
        out.extend_from_slice(part);
        if part.ends_with(b"\"") {
            out.push(b'"');
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::push_cell;

    #[test]
    fn cells_are_quoted_for_every_possible_separator() {
        let cell = |cell: &[u8], delimiter, others: &[u8]| {
            let mut out = Vec::new();
            push_cell(cell, delimiter, others, &mut out);
            String::from_utf8(out).expect("text")
        };
        assert_eq!(cell(b"a;=1", b',', b""), "a;=1");
        assert_eq!(cell(b"a;=1", b',', b";\t"), "\"a;=1\"");
        assert_eq!(cell(b"a\t=1", b';', b";\t"), "\"a\t=1\"");
        assert_eq!(cell(b"'\"=1\"", b',', b""), "\"'\"\"=1\"\"\"");
        assert_eq!(cell(b"a,b", b';', b""), "a,b");
        assert_eq!(cell(b"a b", b' ', b""), "\"a b\"");
    }
}
