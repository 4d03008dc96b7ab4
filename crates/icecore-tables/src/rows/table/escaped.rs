//! Rows that are lines. The values are between tabs, with the escapes of MySQL or PostgreSQL, or without escapes.

use crate::rows::batch::{Batch, CellKind};
use memchr::{memchr2, memchr3};

/// Which escapes a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    Mysql,
    Postgres,
    /// Those of MySQL, and [`PLAIN`].
    Database,
}

/// Mark before a number or a boolean, in rows that this program writes.
pub const PLAIN: &[u8] = b"\\#";

/// Reads one row from the start of these bytes. Returns its length, or `None` if it is not complete. Without a
/// delimiter, a row is one cell.
pub fn read_row(
    bytes: &[u8],
    is_end: bool,
    delimiter: Option<u8>,
    escapes: Option<Escapes>,
    offset: u64,
    batch: &mut Batch,
) -> Option<usize> {
    let separator = delimiter.unwrap_or(b'\n');
    let backslash = if escapes.is_some() { b'\\' } else { b'\n' };
    let (mut position, mut start) = (0, batch.bytes.len());
    // Start of the cell in the input.
    let mut raw_start = position;
    loop {
        let rest = bytes.get(position..).unwrap_or(&[]);
        let found = if escapes.is_some() {
            memchr3(b'\n', separator, backslash, rest)
        } else {
            memchr2(b'\n', separator, rest)
        };
        let stop = match found {
            Some(stop) => position + stop,
            None if is_end => bytes.len(),
            None => return None,
        };
        batch.bytes.extend_from_slice(&bytes[position..stop]);
        match bytes.get(stop) {
            Some(byte) if *byte == separator && separator != b'\n' => {
                batch.push_cell(start, classify_cell(&bytes[raw_start..stop], escapes));
                position = stop + 1;
                (start, raw_start) = (batch.bytes.len(), position);
            }
            Some(b'\\') if escapes.is_some() => {
                position = decode_escape(bytes, stop, is_end, escapes.unwrap_or(Escapes::Mysql), &mut batch.bytes)?;
            }
            _ => {
                let has_return = batch.bytes.len() > start
                    && batch.bytes.ends_with(b"\r")
                    && bytes[raw_start..stop].ends_with(b"\r");
                if has_return {
                    batch.bytes.pop();
                }
                let raw = &bytes[raw_start..stop - usize::from(has_return)];
                batch.push_cell(start, classify_cell(raw, escapes));
                batch.end_row(offset);
                return Some((stop + 1).min(bytes.len()));
            }
        }
    }
}

fn classify_cell(raw: &[u8], escapes: Option<Escapes>) -> CellKind {
    match escapes {
        Some(_) if raw == b"\\N" => CellKind::Null,
        Some(Escapes::Database) if raw.starts_with(PLAIN) => CellKind::Plain,
        _ => CellKind::Text,
    }
}

/// Decodes the escape at `index`. Returns its end, or `None` if it is not complete.
fn decode_escape(bytes: &[u8], index: usize, is_end: bool, escapes: Escapes, out: &mut Vec<u8>) -> Option<usize> {
    let Some(letter) = bytes.get(index + 1).copied() else {
        // A backslash at the very end is a backslash.
        return is_end.then(|| {
            out.push(b'\\');
            index + 1
        });
    };
    // An escape that may have more digits must be followed by further bytes.
    if escapes == Escapes::Postgres && matches!(letter, b'0'..=b'7' | b'x') && bytes.len() < index + 4 && !is_end {
        return None;
    }
    let rest = bytes.get(index + 1..).unwrap_or(&[]);
    if escapes == Escapes::Database && letter == b'#' {
        return Some(index + PLAIN.len());
    }
    let (byte, len) = match (escapes, letter) {
        (_, b'b') => (8, 1),
        (_, b'n') => (b'\n', 1),
        (_, b'r') => (b'\r', 1),
        (_, b't') => (b'\t', 1),
        (Escapes::Mysql | Escapes::Database, b'0') => (0, 1),
        (Escapes::Mysql, b'Z') => (26, 1),
        (Escapes::Postgres, b'f') => (12, 1),
        (Escapes::Postgres, b'v') => (11, 1),
        (Escapes::Postgres, b'0'..=b'7') => parse_digits(rest, 3, 8),
        (Escapes::Postgres, b'x') => match parse_digits(&rest[1..], 2, 16) {
            (_, 0) => (b'x', 1),
            (byte, len) => (byte, len + 1),
        },
        (_, other) => (other, 1),
    };
    out.push(byte);
    Some(index + 1 + len)
}

/// Returns the number of the first digits as a byte, and how many digits it has.
fn parse_digits(text: &[u8], max_digits: usize, radix: u32) -> (u8, usize) {
    let digits = text.iter().take(max_digits).map_while(|byte| char::from(*byte).to_digit(radix));
    let (value, count) = digits.fold((0, 0), |(value, count), digit| (value * radix + digit, count + 1));
    (value as u8, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(bytes: &[u8], escapes: Option<Escapes>) -> Vec<Option<Vec<u8>>> {
        let mut batch = Batch::default();
        // No prefix of the row is complete.
        for len in 0..bytes.len() {
            assert_eq!(read_row(&bytes[..len], false, Some(b'\t'), escapes, 0, &mut batch), None);
            batch.discard_partial_row(0);
        }
        assert_eq!(read_row(bytes, false, Some(b'\t'), escapes, 0, &mut batch), Some(bytes.len()));
        let cells = batch.row_cells(0).0.iter();
        cells.map(|cell| (cell.kind != CellKind::Null).then(|| batch.cell_bytes(*cell).to_vec())).collect()
    }

    fn some_bytes(bytes: &[u8]) -> Option<Vec<u8>> {
        Some(bytes.to_vec())
    }

    #[test]
    fn mysql_escapes_are_decoded() {
        let row = b"1\ta\\tb\\n\\\\\\0\\'\t\\N\tx\\N\tNULL\ta\\\nb\\\t\r\n";
        assert_eq!(
            cells(row, Some(Escapes::Mysql)),
            [
                some_bytes(b"1"),
                some_bytes(b"a\tb\n\\\0'"),
                None,
                some_bytes(b"xN"),
                some_bytes(b"NULL"),
                some_bytes(b"a\nb\t")
            ]
        );
    }

    #[test]
    fn marked_numbers_and_booleans_stay_plain() {
        let mut batch = Batch::default();
        let line = b"\\#1.50\t\\#true\t1\t\\\\#1\t\\N\n";
        assert_eq!(read_row(line, true, Some(b'\t'), Some(Escapes::Database), 0, &mut batch), Some(line.len()));
        let found = batch.row_cells(0).0.iter().map(|cell| (cell.kind, batch.cell_bytes(*cell))).collect::<Vec<_>>();
        let expected: [(CellKind, &[u8]); 5] = [
            (CellKind::Plain, b"1.50"),
            (CellKind::Plain, b"true"),
            (CellKind::Text, b"1"),
            (CellKind::Text, b"\\#1"),
            (CellKind::Null, b"N"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn postgres_escapes_are_decoded() {
        let row = b"\\b\\f\\v\\x41\\x4g\\101\\7\t\\\\x6869\t\\N\t\n";
        assert_eq!(
            cells(row, Some(Escapes::Postgres)),
            [some_bytes(b"\x08\x0c\x0bA\x04gA\x07"), some_bytes(b"\\x6869"), None, some_bytes(b"")]
        );
    }

    #[test]
    fn without_escapes_backslashes_are_text() {
        assert_eq!(cells(b"a\\tb\t\\N\t\"\n", None), [some_bytes(b"a\\tb"), some_bytes(b"\\N"), some_bytes(b"\"")]);
    }

    #[test]
    fn the_last_line_may_lack_its_line_end() {
        let mut batch = Batch::default();
        assert_eq!(read_row(b"a\tb\\", true, Some(b'\t'), Some(Escapes::Mysql), 0, &mut batch), Some(4));
        assert_eq!(batch.cell_bytes(batch.row_cells(0).0[1]), b"b\\");
    }
}
