//! The values of one record: their comparison with the current values of the database, and their restoration.

use super::outcome::ValueResult;
use super::payload::{CellDigest, ChangedCell, Changes};
use icecore_store::table::{Change, Row, Table, Transaction};
use std::collections::{BTreeMap, HashMap};

/// The selected values of a record.
pub struct Batch<'c> {
    pub cells: Vec<PendingCell<'c>>,
    /// For each row, the indices of its cells.
    cells_by_key: HashMap<&'c [String], Vec<usize>>,
    keys: Vec<&'c [String]>,
    /// Numbers of the columns of the table that have values here.
    columns: Vec<usize>,
}

/// A value to restore, if possible.
pub struct PendingCell<'c> {
    pub key: &'c [String],
    /// Number of its column in the table.
    column: usize,
    pub change: &'c ChangedCell,
    pub result: ValueResult,
    /// The current value in the database, if it is the one that the change stored.
    pub current: Option<Vec<u8>>,
}

impl<'c> Batch<'c> {
    /// Collects the values of the selected columns. `columns` maps the column numbers of the undo file to those of
    /// the table.
    pub fn new(changes: &'c Changes, columns: &BTreeMap<usize, usize>) -> Batch<'c> {
        let mut batch = Batch {
            cells: Vec::new(),
            cells_by_key: HashMap::new(),
            keys: Vec::new(),
            columns: columns.values().copied().collect(),
        };
        for row in &changes.rows {
            let key = &*row.key;
            for cell in &row.cells {
                let Some(column) = columns.get(&cell.column).copied() else { continue };
                let row_cells = batch.cells_by_key.entry(key).or_default();
                if row_cells.is_empty() {
                    batch.keys.push(key);
                }
                row_cells.push(batch.cells.len());
                batch.cells.push(PendingCell {
                    key,
                    column,
                    change: cell,
                    result: ValueResult::RowGone,
                    current: None,
                });
            }
        }
        batch
    }

    /// Compares the rows, and changes nothing.
    pub fn compare_only(&mut self, table: &mut Table) -> icecore_store::Result<()> {
        let keys = std::mem::take(&mut self.keys);
        let columns = self.columns.clone();
        table.find_rows(&keys, &columns, &mut |row| {
            self.compare(&row);
            Ok(())
        })?;
        self.refuse_unfitting_values(table);
        Ok(())
    }

    /// Restores the values of rows that still have what the change stored, in one transaction.
    pub fn restore_values(&mut self, table: &mut Table) -> icecore_store::Result<()> {
        let keys = std::mem::take(&mut self.keys);
        let columns = self.columns.clone();
        let mut transaction = table.begin()?;
        transaction.find_rows(&keys, &columns, &mut |row| {
            self.compare(&row);
            Ok(())
        })?;
        self.refuse_unfitting_values(transaction.table());
        let planned_indices: Vec<usize> =
            (0..self.cells.len()).filter(|index| self.cell_result(*index) == Some(ValueResult::Restored)).collect();
        if planned_indices.is_empty() {
            return Ok(());
        }
        let writes: Vec<Change<'_>> =
            planned_indices.iter().filter_map(|index| self.cells.get(*index)?.to_change()).collect();
        let were_written = transaction.change(&writes)?;
        for (index, was_written) in planned_indices.iter().zip(were_written) {
            // `read_back` sets the final result of the values that were written.
            self.set_result(*index, if was_written { ValueResult::Altered } else { ValueResult::ChangedSince });
        }
        self.read_back(&mut transaction, &columns)?;
        transaction.commit()
    }

    /// Reads the written values back, because a trigger may have changed them.
    fn read_back(&mut self, transaction: &mut Transaction<'_>, columns: &[usize]) -> icecore_store::Result<()> {
        let mut keys: Vec<&[String]> =
            self.cells.iter().filter(|cell| cell.result == ValueResult::Altered).map(|cell| cell.key).collect();
        keys.dedup();
        transaction.find_rows(&keys, columns, &mut |row| {
            for index in self.cells_by_key.get(&*row.key).cloned().unwrap_or_default() {
                let Some(pending) = self.cells.get_mut(index).filter(|pending| pending.result == ValueResult::Altered)
                else {
                    continue;
                };
                let index_in_row = columns.iter().position(|column| *column == pending.column);
                if index_in_row.and_then(|index| row.cells.get(index)?.as_ref()) == Some(&pending.change.old) {
                    pending.result = ValueResult::Restored;
                }
            }
            Ok(())
        })
    }

    /// Compares a row with the values of the record.
    fn compare(&mut self, row: &Row) {
        // A database that ignores case may return the row `A` for the key `a`. It has another key, so nothing is
        // found here.
        for index in self.cells_by_key.get(&*row.key).cloned().unwrap_or_default() {
            let Some(pending) = self.cells.get_mut(index) else { continue };
            let index_in_row = self.columns.iter().position(|column| *column == pending.column);
            let current = index_in_row.and_then(|index| row.cells.get(index)?.as_ref());
            pending.result = match current {
                Some(current) if *current == pending.change.old => ValueResult::AlreadyOld,
                Some(current)
                    if current.is_text == pending.change.old.is_text
                        && CellDigest::from_cell(current) == pending.change.stored =>
                {
                    pending.current = Some(current.bytes.clone());
                    ValueResult::Restored
                }
                _ => ValueResult::ChangedSince,
            };
        }
    }

    /// Marks values as refused if their column no longer accepts them, for example because it became too short.
    fn refuse_unfitting_values(&mut self, table: &Table) {
        for pending in self.cells.iter_mut().filter(|pending| pending.result == ValueResult::Restored) {
            let old = &pending.change.old;
            if !table.accepts_value(pending.column, old.is_text, &old.bytes) {
                pending.result = ValueResult::Refused;
            }
        }
    }

    fn cell_result(&self, index: usize) -> Option<ValueResult> {
        self.cells.get(index).map(|cell| cell.result)
    }

    fn set_result(&mut self, index: usize, result: ValueResult) {
        if let Some(cell) = self.cells.get_mut(index) {
            cell.result = result;
        }
    }
}

impl PendingCell<'_> {
    fn to_change(&self) -> Option<Change<'_>> {
        let old = &self.change.old;
        let current = self.current.as_deref()?;
        Some(Change { key: self.key, column: self.column, is_text: old.is_text, old: current, new: &old.bytes })
    }
}
