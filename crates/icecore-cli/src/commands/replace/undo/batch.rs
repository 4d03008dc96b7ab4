//! The values of one record, compared with the current values of the database.

use super::outcome::Fate;
use super::payload::{CellDigest, ChangedCell, Changes};
use icecore_store::table::{Change, Row, Table, Transaction};
use std::collections::{BTreeMap, HashMap};

/// The selected values of a record.
pub struct Batch<'c> {
    pub cells: Vec<PendingCell<'c>>,
    /// The cells of each row.
    by_key: HashMap<&'c [String], Vec<usize>>,
    keys: Vec<&'c [String]>,
    /// The columns of the table that have values here.
    columns: Vec<usize>,
}

/// A value to restore, if possible.
pub struct PendingCell<'c> {
    pub key: &'c [String],
    /// Number of its column in the table.
    column: usize,
    pub cell: &'c ChangedCell,
    pub fate: Fate,
    /// The current value of the row, if it is the one that the change stored.
    pub now: Option<Vec<u8>>,
}

impl<'c> Batch<'c> {
    /// Collects the values whose columns have a number in the table.
    pub fn new(changes: &'c Changes, columns: &BTreeMap<usize, usize>) -> Batch<'c> {
        let mut batch = Batch {
            cells: Vec::new(),
            by_key: HashMap::new(),
            keys: Vec::new(),
            columns: columns.values().copied().collect(),
        };
        for row in &changes.rows {
            let key = &*row.key;
            for cell in &row.cells {
                let Some(column) = columns.get(&cell.column).copied() else { continue };
                let of_row = batch.by_key.entry(key).or_default();
                if of_row.is_empty() {
                    batch.keys.push(key);
                }
                of_row.push(batch.cells.len());
                batch.cells.push(PendingCell { key, column, cell, fate: Fate::Gone, now: None });
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
        self.refuse_unfit(table);
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
        self.refuse_unfit(transaction.table());
        let planned: Vec<usize> =
            (0..self.cells.len()).filter(|index| self.fate(*index) == Some(Fate::PutBack)).collect();
        if planned.is_empty() {
            return Ok(());
        }
        let writes: Vec<Change<'_>> = planned.iter().filter_map(|index| self.cells.get(*index)?.to_change()).collect();
        let done = transaction.change(&writes)?;
        for (index, is_done) in planned.iter().zip(done) {
            // Preliminary, until the values are read back.
            self.set_fate(*index, if is_done { Fate::Altered } else { Fate::ChangedSince });
        }
        self.read_back(&mut transaction, &columns)?;
        transaction.commit()
    }

    /// Reads the written values back: a trigger may have changed them.
    fn read_back(&mut self, transaction: &mut Transaction<'_>, columns: &[usize]) -> icecore_store::Result<()> {
        let mut keys: Vec<&[String]> =
            self.cells.iter().filter(|cell| cell.fate == Fate::Altered).map(|cell| cell.key).collect();
        keys.dedup();
        transaction.find_rows(&keys, columns, &mut |row| {
            for index in self.by_key.get(&*row.key).cloned().unwrap_or_default() {
                let Some(cell) = self.cells.get_mut(index).filter(|cell| cell.fate == Fate::Altered) else { continue };
                let place = columns.iter().position(|column| *column == cell.column);
                if place.and_then(|place| row.cells.get(place)?.as_ref()) == Some(&cell.cell.old) {
                    cell.fate = Fate::PutBack;
                }
            }
            Ok(())
        })
    }

    /// Compares a row with the values of the record.
    fn compare(&mut self, row: &Row) {
        // A database may treat `a` like `A`, but that is another row; it is not found here.
        for index in self.by_key.get(&*row.key).cloned().unwrap_or_default() {
            let Some(pending) = self.cells.get_mut(index) else { continue };
            let place = self.columns.iter().position(|column| *column == pending.column);
            let now = place.and_then(|place| row.cells.get(place)?.as_ref());
            pending.fate = match now {
                Some(now) if *now == pending.cell.old => Fate::Already,
                Some(now)
                    if now.is_text == pending.cell.old.is_text && CellDigest::from_cell(now) == pending.cell.stored =>
                {
                    pending.now = Some(now.bytes.clone());
                    Fate::PutBack
                }
                _ => Fate::ChangedSince,
            };
        }
    }

    /// Refuses values that no longer fit: a column may have become too short for the old value.
    fn refuse_unfit(&mut self, table: &Table) {
        for pending in self.cells.iter_mut().filter(|pending| pending.fate == Fate::PutBack) {
            let old = &pending.cell.old;
            if !table.accepts_value(pending.column, old.is_text, &old.bytes) {
                pending.fate = Fate::Refused;
            }
        }
    }

    fn fate(&self, index: usize) -> Option<Fate> {
        self.cells.get(index).map(|cell| cell.fate)
    }

    fn set_fate(&mut self, index: usize, fate: Fate) {
        if let Some(cell) = self.cells.get_mut(index) {
            cell.fate = fate;
        }
    }
}

impl PendingCell<'_> {
    fn to_change(&self) -> Option<Change<'_>> {
        let old = &self.cell.old;
        let now = self.now.as_deref()?;
        Some(Change { key: self.key, column: self.column, is_text: old.is_text, old: now, new: &old.bytes })
    }
}
