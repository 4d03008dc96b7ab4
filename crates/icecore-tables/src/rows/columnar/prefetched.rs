//! The first rows of a table, examined before the rest is read.

use crate::pool::BatchReader;
use crate::rows::batch::Batch;
use crate::rows::plan::Plan;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of bytes that are examined, whatever the number of rows.
const MAX_BYTES: usize = 64 << 20;

/// Some of the first rows.
pub struct SampleRows<'b> {
    pub batch: &'b Batch,
    pub rows: Range<usize>,
}

/// Batches whose first ones can be examined in advance.
pub struct Prefetched<T> {
    source: T,
    first: VecDeque<Batch>,
    /// The error that stopped reading ahead.
    error: Option<io::Error>,
    is_done: bool,
}

impl<T: BatchReader<Batch = Batch>> Prefetched<T> {
    /// Reads batches until they have this number of rows.
    pub fn read_ahead(source: T, rows: usize) -> Prefetched<T> {
        let mut prefetched = Prefetched { source, first: VecDeque::new(), error: None, is_done: false };
        let (mut row_count, mut bytes) = (0, 0);
        while row_count < rows.max(1) && bytes < MAX_BYTES {
            let mut batch = Batch::default();
            match prefetched.source.fill_batch(&mut batch) {
                Ok(true) => {
                    row_count += batch.row_count();
                    bytes += batch.byte_size();
                    prefetched.first.push_back(batch);
                }
                Ok(false) => {
                    prefetched.is_done = true;
                    break;
                }
                Err(error) => {
                    prefetched.error = Some(error);
                    break;
                }
            }
        }
        prefetched
    }

    /// Returns the plan of the first row.
    pub fn first_plan(&self) -> Option<Arc<Plan>> {
        self.first.front()?.plans.first().map(|(_, plan)| Arc::clone(plan))
    }

    /// Returns the first rows that have the columns of a plan, at most `max_rows`.
    pub fn select_parts(&self, plan: &Plan, max_rows: usize) -> Vec<SampleRows<'_>> {
        let (mut parts, mut remaining) = (Vec::new(), max_rows);
        for batch in &self.first {
            for (index, (start, part_plan)) in batch.plans.iter().enumerate() {
                let end = batch
                    .plans
                    .get(index + 1)
                    .map_or(batch.row_count(), |next| next.0)
                    .min(start.saturating_add(remaining));
                if part_plan.names == plan.names && *start < end {
                    remaining -= end - start;
                    parts.push(SampleRows { batch, rows: *start..end });
                }
            }
        }
        parts
    }

    /// Returns why there is no first batch, if that is an error.
    pub fn take_error(&mut self) -> Option<io::Error> {
        if self.first.is_empty() { self.error.take() } else { None }
    }
}

impl<T: BatchReader<Batch = Batch>> BatchReader for Prefetched<T> {
    type Batch = Batch;

    fn fill_batch(&mut self, batch: &mut Batch) -> io::Result<bool> {
        if let Some(first) = self.first.pop_front() {
            *batch = first;
            return Ok(true);
        }
        match self.error.take() {
            Some(error) => Err(error),
            None if self.is_done => Ok(false),
            None => self.source.fill_batch(batch),
        }
    }
}
