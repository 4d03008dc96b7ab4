//! A batch of rows on its way from the reader to the writer.

use super::plan::Plan;
use crate::tally::Tally;
#[cfg(feature = "columns")]
use arrow_array::RecordBatch;
use std::sync::Arc;

/// A cell. It has the range of its bytes, and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub start: u32,
    pub end: u32,
    pub kind: CellKind,
}

/// The sort of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellKind {
    #[default]
    Text,
    Null,
    /// A number or a boolean, as JSON writes it.
    Plain,
    /// The input has no value here.
    Absent,
}

/// A batch of rows.
#[derive(Default)]
pub struct Batch {
    /// The bytes of all cells.
    pub bytes: Vec<u8>,
    /// The cells of all rows, in order.
    pub cells: Vec<Cell>,
    /// For each row, the end of its cells, and its offset in the input.
    pub ends: Vec<(u32, u64)>,
    /// Maximum number of rows to read, if there is one.
    pub max_rows: Option<usize>,
    /// Number of earlier rows.
    pub earlier_rows: u64,
    /// Offset up to which the input was read.
    pub end: u64,
    /// Whether the reader has to wait for more input.
    pub is_last_for_now: bool,
    /// The output.
    pub out: Vec<u8>,
    /// The counts.
    pub tally: Tally,
    /// The plan for the rows from each of these numbers on.
    pub plans: Vec<(usize, Arc<Plan>)>,
    /// The rows of an input that has columns with types, instead of cells.
    #[cfg(feature = "columns")]
    pub record: Option<RecordBatch>,
    /// The output in columns with types.
    #[cfg(feature = "columns")]
    pub records: Vec<RecordBatch>,
    /// Why the batch has no more output.
    #[cfg(feature = "columns")]
    pub error: Option<String>,
}

impl Batch {
    /// Returns true if it has the maximum number of rows.
    pub fn is_full(&self) -> bool {
        self.max_rows.is_some_and(|max_rows| self.row_count() >= max_rows)
    }

    /// Empties the batch, but keeps its memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.cells.clear();
        self.ends.clear();
        self.out.clear();
        self.plans.clear();
        self.tally = Tally::default();
        self.is_last_for_now = false;
        #[cfg(feature = "columns")]
        {
            self.record = None;
            self.records.clear();
            self.error = None;
        }
    }

    /// Returns the number of rows.
    pub fn row_count(&self) -> usize {
        #[cfg(feature = "columns")]
        if let Some(record) = &self.record {
            return record.num_rows();
        }
        self.ends.len()
    }

    /// Returns the approximate number of bytes.
    #[cfg(feature = "columns")]
    pub fn byte_size(&self) -> usize {
        self.bytes.len() + self.record.as_ref().map_or(0, RecordBatch::get_array_memory_size)
    }

    /// Drops the rows after the first `rows`.
    pub fn truncate_rows(&mut self, rows: usize) {
        self.ends.truncate(rows);
        #[cfg(feature = "columns")]
        if let Some(record) = &mut self.record {
            *record = record.slice(0, rows.min(record.num_rows()));
        }
    }

    /// Returns the bytes of a cell.
    pub fn cell_bytes(&self, cell: Cell) -> &[u8] {
        self.bytes.get(cell.start as usize..cell.end as usize).unwrap_or(&[])
    }

    /// Returns the cells of a row, and its offset in the input.
    pub fn row_cells(&self, row: usize) -> (&[Cell], u64) {
        let start = row.checked_sub(1).and_then(|previous| self.ends.get(previous)).map_or(0, |end| end.0);
        let (end, offset) = self.ends.get(row).copied().unwrap_or((start, 0));
        (self.cells.get(start as usize..end as usize).unwrap_or(&[]), offset)
    }

    /// Adds a cell with the bytes from `start` on.
    pub fn push_cell(&mut self, start: usize, kind: CellKind) {
        self.cells.push(Cell { start: start as u32, end: self.bytes.len() as u32, kind });
    }

    /// Completes the row of the cells that were added.
    pub fn end_row(&mut self, offset: u64) {
        self.ends.push((self.cells.len() as u32, offset));
    }

    /// Sets the plan for the rows from here on.
    pub fn set_plan(&mut self, plan: &Arc<Plan>) {
        if self.plans.last().is_none_or(|(_, last_plan)| !Arc::ptr_eq(last_plan, plan)) {
            self.plans.push((self.row_count(), Arc::clone(plan)));
        }
    }

    /// Removes the cells of an incomplete row.
    pub fn discard_partial_row(&mut self, bytes: usize) {
        self.bytes.truncate(bytes);
        self.cells.truncate(self.ends.last().map_or(0, |end| end.0 as usize));
    }
}
