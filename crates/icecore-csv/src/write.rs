//! Writes cells of tables in RFC 4180.

/// Appends a cell of RFC 4180 with this delimiter: in quotes, if it needs them. `others` are bytes that need quotes as
/// well, such as what other programs take for a delimiter.
///
/// ```
/// let mut row = Vec::new();
/// icecore_csv::push_cell(b"a,\"b\"", b',', b"", &mut row);
/// row.push(b',');
/// icecore_csv::push_cell(b"c;d", b',', b";", &mut row);
/// assert_eq!(row, b"\"a,\"\"b\"\"\",\"c;d\"");
/// ```
pub fn push_cell(text: &[u8], delimiter: u8, others: &[u8], out: &mut Vec<u8>) {
    let needs = |byte: &u8| matches!(byte, b'"' | b'\n' | b'\r') || *byte == delimiter || others.contains(byte);
    if !text.iter().any(needs) {
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
