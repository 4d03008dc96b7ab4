//! Reading rows and their cells.

mod csv;
mod escaped;

use super::batch::{Batch, CellKind};
use super::plan::{Plan, TableStyle};
use super::words::TableForm;
use crate::error::{Result, usage_error};
use crate::pool::BatchReader;
use crate::window::Window;
use csv::Csv;
use escaped::Escapes;
#[cfg(feature = "store")]
pub use escaped::PLAIN;
use icecore_csv::{DetectedDialect, Dialect};
use std::io::{self, Read};
use std::sync::Arc;

/// Approximate number of bytes in a batch.
const BATCH_BYTES: usize = 128 << 10;

/// How cells are separated.
enum Cells {
    Csv(Box<Csv>),
    /// One row on each line. Contains the delimiter of the cells, and their escapes.
    Line(Option<u8>, Option<Escapes>),
}

/// The properties of the table.
pub struct Settings {
    has_header: bool,
    names: Vec<String>,
    delimiter: u8,
    null: Option<Vec<u8>>,
    max_record: u64,
    /// The dialect of a csv.
    csv: Option<DetectedDialect>,
}

impl Settings {
    /// Creates the settings for a table of this form. `max_record` is the maximum length of a row in bytes, `csv` the
    /// detected dialect.
    pub fn from_style(
        style: &TableStyle,
        form: TableForm,
        max_record: u64,
        csv: Option<DetectedDialect>,
    ) -> Result<Settings> {
        let has_names = matches!(form, TableForm::Csv | TableForm::Tsv | TableForm::Mysql | TableForm::Database);
        let has_header_by_form = has_names && style.names.is_empty();
        if style.has_header == Some(true) && matches!(form, TableForm::Ndjson | TableForm::Lines) {
            return Err(usage_error("rows of `--in ndjson` and `--in lines` have no header".to_owned()));
        }
        Ok(Settings {
            has_header: style.has_header.unwrap_or(has_header_by_form),
            names: style.names.clone(),
            delimiter: style.delimiter(form),
            null: style.null.as_ref().map(|null| null.clone().into_bytes()),
            // Cells have offsets of 32 bits, and a window may hold twice as much.
            max_record: max_record.min(1 << 30),
            csv,
        })
    }
}

/// A table that is read batch by batch.
pub struct Table {
    window: Window<Box<dyn Read + Send>>,
    cells: Cells,
    settings: Settings,
    plan: Option<Arc<Plan>>,
    rows: u64,
    is_done: bool,
    /// The error that stopped reading, once the rows before it were handed out.
    error: Option<io::Error>,
}

impl Table {
    /// Reads a table from the start of this window.
    pub fn new(form: TableForm, mut window: Window<Box<dyn Read + Send>>, settings: Settings) -> io::Result<Table> {
        let delimiter = settings.delimiter;
        let cells = match (form, settings.csv) {
            (TableForm::Csv, Some(detected)) => {
                while window.bytes().len() < detected.start && !window.is_end() {
                    window.read_more()?;
                }
                window.consume(detected.start);
                Cells::Csv(Box::new(Csv::new(detected.dialect)))
            }
            (TableForm::Csv, None) => Cells::Csv(Box::new(Csv::new(Dialect { delimiter, ..Dialect::RFC_4180 }))),
            (TableForm::Tsv, _) => Cells::Line(Some(delimiter), None),
            (TableForm::Mysql, _) => Cells::Line(Some(delimiter), Some(Escapes::Mysql)),
            (TableForm::Database, _) => Cells::Line(Some(delimiter), Some(Escapes::Database)),
            (TableForm::Pgcopy, _) => Cells::Line(Some(delimiter), Some(Escapes::Postgres)),
            (TableForm::Ndjson | TableForm::Lines | TableForm::Sql | TableForm::Parquet | TableForm::Arrow, _) => {
                Cells::Line(None, None)
            }
        };
        Ok(Table { window, cells, settings, plan: None, rows: 0, is_done: false, error: None })
    }

    /// Returns the names of the columns, if there are any.
    pub fn read_header(&mut self) -> io::Result<Vec<String>> {
        let mut names = std::mem::take(&mut self.settings.names);
        if self.settings.has_header {
            let mut batch = Batch::default();
            while !self.read_row(&mut batch)? && !self.is_done {
                self.read_more()?;
            }
            let name = |cell| String::from_utf8_lossy(batch.cell_bytes(cell)).into_owned();
            let cells = if batch.row_count() > 0 { batch.row_cells(0).0 } else { &[] };
            let first_row: Vec<String> = cells.iter().map(|cell| name(*cell)).collect();
            if names.is_empty() {
                names = first_row;
            }
            if let Some(first) = names.first_mut()
                && let Some(rest) = first.strip_prefix('\u{feff}')
            {
                *first = rest.to_owned();
            }
        }
        Ok(names)
    }

    /// Sets the plan for its rows.
    pub fn with_plan(self, plan: &Arc<Plan>) -> Table {
        Table { plan: Some(Arc::clone(plan)), ..self }
    }

    fn read_more(&mut self) -> io::Result<()> {
        self.check_length(self.window.bytes().len())?;
        self.window.read_more()
    }

    /// Returns an error if the row that begins here is longer than allowed.
    fn check_length(&self, len: usize) -> io::Result<()> {
        let (max_len, offset) = (self.settings.max_record, self.window.offset());
        match len as u64 > max_len {
            true => Err(io::Error::other(format!(
                "the row at offset {offset} is longer than {max_len} bytes (raise --max-record if the input is \
                 trusted; or is a quote missing?)"
            ))),
            false => Ok(()),
        }
    }

    /// Reads one row. Returns whether it was complete.
    fn read_row(&mut self, batch: &mut Batch) -> io::Result<bool> {
        let (bytes, is_end) = (self.window.bytes(), self.window.is_end());
        if bytes.is_empty() && is_end {
            self.is_done = true;
            return Ok(false);
        }
        if self.is_at_end_mark() {
            self.is_done = true;
            return Ok(false);
        }
        let (start, offset) = (batch.bytes.len(), self.window.offset());
        let row_len = match &mut self.cells {
            Cells::Csv(csv) => csv.read_row(bytes, is_end, offset, batch)?,
            Cells::Line(delimiter, escapes) => escaped::read_row(bytes, is_end, *delimiter, *escapes, offset, batch),
        };
        match row_len {
            Some(len) => {
                if let Err(error) = self.check_length(len) {
                    batch.truncate_rows(batch.row_count().saturating_sub(1));
                    batch.discard_partial_row(start);
                    return Err(error);
                }
                self.window.consume(len);
                Ok(true)
            }
            None => {
                batch.discard_partial_row(start);
                self.is_done = is_end;
                Ok(false)
            }
        }
    }

    /// Returns whether the data ends here with `\.` on a line of its own, as it does in PostgreSQL.
    fn is_at_end_mark(&self) -> bool {
        let line = self.window.bytes().strip_prefix(b"\\.");
        let is_mark = line.is_some_and(|rest| match rest {
            [b'\n', ..] | [b'\r', b'\n', ..] => true,
            _ => rest.is_empty() && self.window.is_end(),
        });
        is_mark && matches!(self.cells, Cells::Line(_, Some(Escapes::Postgres)))
    }

    /// Marks cells that contain the text for NULL.
    fn mark_nulls(&self, batch: &mut Batch) {
        let Some(null) = &self.settings.null else { return };
        let Batch { bytes, cells, .. } = batch;
        for cell in cells {
            if bytes.get(cell.start as usize..cell.end as usize) == Some(null) {
                cell.kind = CellKind::Null;
            }
        }
    }
}

impl BatchReader for Table {
    type Batch = Batch;

    /// Fills a batch with rows.
    fn fill_batch(&mut self, batch: &mut Batch) -> io::Result<bool> {
        batch.clear();
        batch.earlier_rows = self.rows;
        self.plan.iter().for_each(|plan| batch.set_plan(plan));
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        while batch.bytes.len() < BATCH_BYTES && !self.is_done && !batch.is_full() {
            match self.read_row(batch) {
                Ok(true) => continue,
                Ok(false) => {}
                Err(error) if batch.row_count() > 0 => {
                    self.error = Some(error);
                    break;
                }
                Err(error) => return Err(error),
            }
            if self.is_done {
                break;
            }
            // Complete rows do not wait for further input.
            if batch.row_count() > 0 {
                batch.is_last_for_now = true;
                break;
            }
            self.read_more()?;
        }
        self.rows += batch.row_count() as u64;
        batch.end = self.window.offset();
        self.mark_nulls(batch);
        Ok(batch.row_count() > 0)
    }
}
