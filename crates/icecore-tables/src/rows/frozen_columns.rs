//! Columns with frozen values, in rows of which no column is decoded.

use super::batch::{Batch, CellKind};
use super::decode::decode_bytea;
use super::plan::{JSON, Plan};
use super::words::TableForm;
use icecore::{Request, Stage, deep};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Maximum number of rows of a table that are examined.
const MAX_TABLE_ROWS: usize = 100;
/// Maximum number of rows that are examined in total.
const MAX_ROWS: usize = 10_000;
/// Maximum number of columns that are listed.
const MAX_COLUMNS: usize = 8;
/// Lengths of the values that are examined. Shorter texts may look frozen by chance.
const EXAMINED_LENGTHS: RangeInclusive<usize> = 6..=1 << 20;

/// A column with a frozen value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrozenColumn {
    /// The table, if it has a name.
    pub table: String,
    /// The name of the column, or its number.
    pub column: String,
    /// The format of the first frozen value.
    pub format: String,
}

/// Finds such columns among the first rows.
#[derive(Default)]
pub struct FrozenColumns {
    found: Vec<FrozenColumn>,
    /// The current plan, and the number of its rows that were examined.
    current: Option<(Arc<Plan>, usize)>,
    /// Number of rows that were examined.
    rows: usize,
}

impl FrozenColumns {
    /// Examines the rows of a batch.
    pub fn examine(&mut self, batch: &Batch) {
        for (index, (start, plan)) in batch.plans.iter().enumerate() {
            let end = batch.plans.get(index + 1).map_or(batch.row_count(), |next| next.0);
            let examined = match &self.current {
                Some((current, examined)) if Arc::ptr_eq(current, plan) => *examined,
                _ => 0,
            };
            let end = end
                .min(start + (MAX_TABLE_ROWS - examined.min(MAX_TABLE_ROWS)).min(MAX_ROWS - self.rows.min(MAX_ROWS)));
            self.current = Some((Arc::clone(plan), examined + end.saturating_sub(*start)));
            if plan.columns.is_empty() {
                (*start..end).for_each(|row| self.examine_row(batch, row, plan));
            }
        }
    }

    /// Returns the columns, in the order in which they were found.
    pub fn found(&self) -> &[FrozenColumn] {
        &self.found
    }

    /// Examines the cells of a row for frozen data.
    fn examine_row(&mut self, batch: &Batch, row: usize, plan: &Plan) {
        self.rows += 1;
        let (cells, _) = batch.row_cells(row);
        for (position, cell) in cells.iter().enumerate() {
            let bytes = batch.cell_bytes(*cell);
            if cell.kind != CellKind::Text || plan.is_hidden(position) {
                continue;
            }
            if plan.form == TableForm::Ndjson {
                self.examine_object(bytes, plan);
            } else {
                self.examine_value(bytes, plan, || plan.column_name(position));
            }
        }
    }

    /// Examines the strings of a row that is a JSON object.
    fn examine_object(&mut self, line: &[u8], plan: &Plan) {
        let Ok(stage) = Stage::parse(JSON) else { return };
        let outcome = stage.format().read(line, stage.settings(), Request::new(&plan.limits));
        for (key, value) in outcome.document.root().entries() {
            if let Some(bytes) = value.as_bytes() {
                self.examine_value(bytes, plan, || String::from_utf8_lossy(key.bytes()).into_owned());
            }
        }
    }

    /// Remembers the column of a value that looks frozen.
    fn examine_value(&mut self, bytes: &[u8], plan: &Plan, column_name: impl Fn() -> String) {
        if !EXAMINED_LENGTHS.contains(&bytes.len()) || self.found.len() >= MAX_COLUMNS {
            return;
        }
        let bytes = decode_bytea(bytes, plan.bytea);
        // Digits are a number, even if they could be hexadecimal.
        if bytes.iter().all(u8::is_ascii_digit) {
            return;
        }
        let Some(stage) = deep::stage_of(&bytes, &plan.limits) else { return };
        let column = FrozenColumn { table: plan.table.clone(), column: column_name(), format: stage.name() };
        let is_new = |other: &FrozenColumn| (&other.table, &other.column) != (&column.table, &column.column);
        if self.found.iter().all(is_new) {
            self.found.push(column);
        }
    }
}
