//! Cells of CSV and of tables with tabs.

use super::chunk::{LocatedValue, ValueSyntax};
use icecore_csv::{Dialect, Next, Scanner};
use memchr::memchr2;
use std::ops::Range;

/// Finds the cells of whole rows. An error has the number and the start of the first row that is not in the dialect.
pub fn find_csv_cells(
    bytes: &[u8],
    dialect: Dialect,
    header: usize,
    row: u64,
    mut place: impl FnMut(usize) -> Option<u32>,
    values: &mut Vec<LocatedValue>,
) -> Result<(), (u64, usize)> {
    let (mut offset, mut row, mut cells) = (header, row + 1, Vec::new());
    let scanner = Scanner::new(dialect);
    while let Next::Row { end } = scanner.next_row(bytes.get(offset..).unwrap_or_default(), true, &mut cells) {
        for (column, cell) in cells.iter().enumerate() {
            if cell.is_broken {
                return Err((row, offset));
            }
            if let Some(place) = place(column)
                && !cell.range.is_empty()
            {
                let shift = |range: &Range<usize>| offset + range.start..offset + range.end;
                let syntax = ValueSyntax::Csv { is_quoted: cell.is_quoted };
                values.push(LocatedValue {
                    range: shift(&cell.range),
                    body: shift(&cell.body),
                    syntax,
                    place,
                    row,
                    rules: 0,
                });
            }
        }
        (offset, row) = (offset + end, row + 1);
    }
    Ok(())
}

/// Finds the cells between tabs.
pub fn find_tsv_cells(
    bytes: &[u8],
    delimiter: u8,
    header: usize,
    row: u64,
    mut place: impl FnMut(usize) -> Option<u32>,
    values: &mut Vec<LocatedValue>,
) {
    let (mut offset, mut column, mut row) = (header, 0, row + 1);
    while offset < bytes.len() {
        let rest = bytes.get(offset..).unwrap_or_default();
        let len = memchr2(delimiter, b'\n', rest).unwrap_or(rest.len());
        let is_last = rest.get(len).is_none_or(|byte| *byte == b'\n');
        let cell = rest.get(..len).unwrap_or_default();
        let cell = if is_last { cell.strip_suffix(b"\r").unwrap_or(cell) } else { cell };
        if let Some(place) = place(column)
            && !cell.is_empty()
            && cell != b"\\N"
        {
            let cell_range = offset..offset + cell.len();
            values.push(LocatedValue {
                range: cell_range.clone(),
                body: cell_range,
                syntax: ValueSyntax::Tsv,
                place,
                row,
                rules: 0,
            });
        }
        (column, row) = if is_last { (0, row + 1) } else { (column + 1, row) };
        offset += len + 1;
    }
}
