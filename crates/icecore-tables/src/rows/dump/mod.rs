//! Rows of SQL dumps. The lexer runs in the reading thread.

mod tables;
mod value;

#[cfg(feature = "store")]
pub use value::write_number;

use super::batch::{Batch, Cell, CellKind};
use super::plan::Plan;
use crate::pool::BatchReader;
use crate::window::Window;
use icecore_sql::{Next, Options, Reader, Value};
use std::io::{self, Read};
use std::sync::{Arc, OnceLock};
pub use tables::TableSelection;
use value::Type;

/// Approximate number of bytes in a batch.
const BATCH_BYTES: usize = 128 << 10;
/// Maximum number of values in a row.
const MAX_ROW_VALUES: usize = 1 << 24;

/// A dump that is read batch by batch.
pub struct Dump {
    window: Window<Box<dyn Read + Send>>,
    reader: Reader,
    tables: TableSelection,
    layout: Layout,
    rows: u64,
    /// Offset of the current row in the dump, and its start in the bytes of the batch.
    offset: u64,
    start: usize,
    /// The first part of a row whose batch is already complete.
    carried: (Vec<u8>, Vec<Cell>),
    max_row_len: usize,
    is_done: bool,
    /// The tables without a column to decode, once the end was read.
    skipped_tables: Arc<OnceLock<Vec<String>>>,
    /// The error that stopped reading, once the rows before it were handed out.
    error: Option<io::Error>,
}

/// The layout of the current rows.
#[derive(Default)]
struct Layout {
    /// The number that the reader gives to this layout.
    number: u64,
    is_selected: bool,
    plan: Option<Arc<Plan>>,
    columns: Vec<(Option<u32>, Type)>,
}

impl Dump {
    /// Creates the reader. `base` is the part of the plan that does not depend on the tables.
    pub fn new(window: Window<Box<dyn Read + Send>>, base: Plan, tables: TableSelection, max_record: u64) -> Dump {
        let mut options = Options::default();
        // Cells have offsets of 32 bits, and a window may hold twice as much.
        let max_row_len = usize::try_from(max_record).unwrap_or(usize::MAX).min(1 << 30);
        (options.rows, options.literal) = (true, max_row_len);
        Dump {
            window,
            reader: Reader::with_options(options),
            tables: tables.with_base(base),
            layout: Layout::default(),
            rows: 0,
            offset: 0,
            start: 0,
            carried: Default::default(),
            max_row_len,
            is_done: false,
            skipped_tables: Arc::default(),
            error: None,
        }
    }

    /// Returns the place of the names of tables that are left out because they have no column to decode. It is filled
    /// when the end of the dump was read.
    pub fn skipped_tables(&self) -> Arc<OnceLock<Vec<String>>> {
        Arc::clone(&self.skipped_tables)
    }

    /// Handles a value. Returns whether its row is complete.
    fn push_value(&mut self, value: Value, batch: &mut Batch) -> io::Result<bool> {
        let Value { full_range: range, content, cell, ends_row, .. } = value;
        if cell.position == 0 {
            self.offset = self.reader.offset() + range.start as u64;
            if self.layout.number != self.reader.layout() {
                let is_selected = self.tables.selects_table(self.reader.table(cell.table));
                self.layout = Layout { number: self.reader.layout(), is_selected, ..Layout::default() };
            }
        }
        if !self.layout.is_selected {
            self.reader.skip_rows();
            return Ok(false);
        }
        let position = cell.position as usize;
        let plan = self.layout.plan.as_deref();
        if position >= self.layout.columns.len() {
            let column_type = Type::from_column(self.reader.table(cell.table), cell.column, self.reader.dialect());
            self.layout.columns.push((cell.column, column_type));
        }
        let start = batch.bytes.len();
        let column_type = self.layout.columns.get(position).map_or(Type::Any, |column| column.1);
        let kind = if plan.is_some_and(|plan| plan.is_hidden(position)) {
            CellKind::Null
        } else {
            let content_sort = value::write_content(self.window.bytes(), range, content, column_type, &mut batch.bytes);
            if content_sort.is_none() {
                let number = self.rows + batch.row_count() as u64 + 1;
                batch
                    .tally
                    .count_passed_on(number, || self.tables.qualified_column(self.reader.table(cell.table), &cell));
            }
            content_sort.unwrap_or_default()
        };
        batch.push_cell(start, kind);
        let cells = batch.cells.len() - batch.ends.last().map_or(0, |end| end.0 as usize);
        // The number of cells is limited too, because empty cells take memory. In the dump, a value with its
        // separator has at least two bytes.
        if batch.bytes.len() - self.start > self.max_row_len || cells > (self.max_row_len / 2 + 1).min(MAX_ROW_VALUES) {
            return Err(too_long_error(self.offset, self.max_row_len));
        }
        if ends_row {
            let plan = match &self.layout.plan {
                Some(plan) => plan,
                None => {
                    let columns = self.layout.columns.iter().map(|column| column.0);
                    let plan = self.tables.create_plan(self.reader.table(cell.table), columns)?;
                    self.layout.plan.insert(plan)
                }
            };
            if plan.hides_all() {
                self.layout.is_selected = false;
                batch.discard_partial_row(self.start);
                return Ok(false);
            }
            batch.set_plan(plan);
            batch.end_row(self.offset);
            self.start = batch.bytes.len();
        }
        Ok(ends_row)
    }

    /// Moves the first part of the next row out of a complete batch.
    fn carry_partial_row(&mut self, batch: &mut Batch) {
        let (bytes, cells) = &mut self.carried;
        let first_cell = batch.ends.last().map_or(0, |end| end.0 as usize);
        bytes.extend(batch.bytes.drain(self.start..));
        let shifted = |offset: u32| offset - self.start as u32;
        cells.extend(batch.cells.drain(first_cell..).map(|cell| Cell {
            start: shifted(cell.start),
            end: shifted(cell.end),
            ..cell
        }));
        self.start = 0;
    }

    /// Reads rows until there are enough, or the next one needs more input.
    fn read_rows(&mut self, batch: &mut Batch) -> io::Result<()> {
        while !batch.is_full() && (batch.bytes.len() < BATCH_BYTES || batch.row_count() == 0) {
            let next = self.reader.next(self.window.bytes(), self.window.is_end());
            match next.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))? {
                Next::Value(value) => {
                    if !self.push_value(value, batch)? {
                        continue;
                    }
                }
                Next::Literal(_) => {}
                Next::More { used } => {
                    self.window.consume(used);
                    // Complete rows do not wait for further input.
                    if batch.row_count() > 0 {
                        batch.is_last_for_now = true;
                        return Ok(());
                    }
                    self.window.read_more()?;
                }
                Next::End => {
                    self.is_done = true;
                    return match self.reader.unclosed_offset() {
                        Some(offset) => Err(cut_off_error(offset)),
                        None => {
                            self.skipped_tables.get_or_init(|| self.tables.list_skipped(self.reader.tables()));
                            self.tables.check_selection(self.reader.tables())
                        }
                    };
                }
            }
        }
        Ok(())
    }
}

fn too_long_error(offset: u64, max_len: usize) -> io::Error {
    io::Error::other(format!(
        "the row at offset {offset} is longer than {max_len} bytes (raise --max-record if the input is trusted)"
    ))
}

fn cut_off_error(offset: u64) -> io::Error {
    let text = format!("the input is cut off: it ends inside a row, after the value at offset {offset}");
    io::Error::new(io::ErrorKind::UnexpectedEof, text)
}

impl BatchReader for Dump {
    type Batch = Batch;

    fn fill_batch(&mut self, batch: &mut Batch) -> io::Result<bool> {
        batch.clear();
        batch.earlier_rows = self.rows;
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.is_done {
            return Ok(false);
        }
        let (bytes, cells) = &mut self.carried;
        batch.bytes.append(bytes);
        batch.cells.append(cells);
        self.start = 0;
        match self.read_rows(batch) {
            Ok(()) => {}
            Err(error) if batch.row_count() > 0 => {
                self.is_done = true;
                self.error = Some(error);
            }
            Err(error) => return Err(error),
        }
        self.carry_partial_row(batch);
        self.rows += batch.row_count() as u64;
        batch.end = self.reader.offset();
        Ok(batch.row_count() > 0)
    }
}
