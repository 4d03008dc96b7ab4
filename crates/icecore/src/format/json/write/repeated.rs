//! Values that are written more than once.

use std::collections::HashSet;

/// Link targets that are being written, and how many values were written through links.
pub(super) struct RepeatedValues {
    open: HashSet<u32>,
    written: u64,
    /// Limit of values written through links.
    pub(super) max_values: u64,
}

impl RepeatedValues {
    pub(super) fn new(max_values: u64) -> RepeatedValues {
        RepeatedValues { open: HashSet::new(), written: 0, max_values }
    }

    /// Marks the value at `index` as being written. Returns `false` if it already is.
    pub(super) fn enter(&mut self, index: u32) -> bool {
        self.open.insert(index)
    }

    /// Marks the value at `index` as written.
    pub(super) fn leave(&mut self, index: u32) {
        self.open.remove(&index);
    }

    /// Returns `true` if the value at `index` is being written.
    pub(super) fn is_open(&self, index: u32) -> bool {
        self.open.contains(&index)
    }

    /// Counts values written through a link. Returns `false` if the limit is exceeded.
    pub(super) fn count_values(&mut self, values: u32) -> bool {
        self.written = self.written.saturating_add(u64::from(values));
        self.written <= self.max_values
    }
}
