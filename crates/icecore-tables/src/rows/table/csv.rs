//! Rows of CSV.

use crate::csv::broken_row_error;
use crate::rows::batch::{Batch, CellKind};
use icecore_csv::{Cell, Dialect, Next, Scanner};
use std::io;

/// The scanner, and memory for the cells of one row.
pub struct Csv {
    scanner: Scanner,
    dialect: Dialect,
    cells: Vec<Cell>,
}

impl Csv {
    pub fn new(dialect: Dialect) -> Csv {
        Csv { scanner: Scanner::new(dialect), dialect, cells: Vec::new() }
    }

    /// Reads one row from the start of these bytes. Returns its length, or `None` if it is not complete. Empty
    /// lines are skipped.
    pub fn read_row(
        &mut self,
        bytes: &[u8],
        is_end: bool,
        offset: u64,
        batch: &mut Batch,
    ) -> io::Result<Option<usize>> {
        let Next::Row { end } = self.scanner.next_row(bytes, is_end, &mut self.cells) else { return Ok(None) };
        if matches!(&self.cells[..], [cell] if cell.range.is_empty()) {
            return Ok(Some(end));
        }
        if self.cells.iter().any(|cell| cell.is_broken) {
            return Err(broken_row_error(batch.earlier_rows + batch.row_count() as u64 + 1, offset));
        }
        for cell in &self.cells {
            let start = batch.bytes.len();
            batch.bytes.extend_from_slice(&self.dialect.decode_cell(cell, bytes));
            batch.push_cell(start, CellKind::Text);
        }
        batch.end_row(offset);
        Ok(Some(end))
    }
}
