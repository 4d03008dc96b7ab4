//! Reads the first rows of a table and stops there.

use super::batch::Batch;
use crate::pool::BatchReader;
use std::io;

/// A reader of batches that stops after a number of rows. It reads nothing after these rows.
pub struct FirstRows<T> {
    source: T,
    /// Remaining number of rows. `None` means all.
    remaining: Option<u64>,
}

impl<T: BatchReader<Batch = Batch>> FirstRows<T> {
    /// Limits batches to `max_rows` rows in total, if that is given.
    pub fn new(source: T, max_rows: Option<u64>) -> FirstRows<T> {
        FirstRows { source, remaining: max_rows }
    }
}

impl<T: BatchReader<Batch = Batch>> BatchReader for FirstRows<T> {
    type Batch = Batch;

    fn fill_batch(&mut self, batch: &mut Batch) -> io::Result<bool> {
        if self.remaining == Some(0) {
            return Ok(false);
        }
        batch.max_rows = self.remaining.map(|remaining| usize::try_from(remaining).unwrap_or(usize::MAX));
        let is_filled = self.source.fill_batch(batch)?;
        self.remaining = self.remaining.map(|remaining| remaining.saturating_sub(batch.row_count() as u64));
        Ok(is_filled)
    }
}
