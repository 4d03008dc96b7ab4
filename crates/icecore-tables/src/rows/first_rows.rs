//! Reads the first rows of a table and stops there.

use super::batch::Batch;
use crate::pool::Batches;
use std::io;

/// A reader of batches that stops after a number of rows. It reads nothing after these rows.
pub struct FirstRows<T> {
    from: T,
    /// Remaining number of rows; `None` means all.
    left: Option<u64>,
}

impl<T: Batches<Batch = Batch>> FirstRows<T> {
    /// Limits batches to `most` rows, if that is given.
    pub fn new(from: T, max_rows: Option<u64>) -> FirstRows<T> {
        FirstRows { from, left: max_rows }
    }
}

impl<T: Batches<Batch = Batch>> Batches for FirstRows<T> {
    type Batch = Batch;

    fn fill_batch(&mut self, batch: &mut Batch) -> io::Result<bool> {
        if self.left == Some(0) {
            return Ok(false);
        }
        batch.wanted = self.left.map(|left| usize::try_from(left).unwrap_or(usize::MAX));
        let is_filled = self.from.fill_batch(batch)?;
        self.left = self.left.map(|left| left.saturating_sub(batch.row_count() as u64));
        Ok(is_filled)
    }
}
