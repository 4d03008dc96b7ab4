//! Values that are written at several places.

use std::collections::HashSet;

/// Which values are being written that a link may name, and how many were
/// written through links.
pub(super) struct Repeated {
    open: HashSet<u32>,
    written: u64,
    /// The most values that may be written through links.
    pub(super) most: u64,
}

impl Repeated {
    pub(super) fn new(most: u64) -> Repeated {
        Repeated { open: HashSet::new(), written: 0, most }
    }

    /// The value at `at` is being written from now on. Returns false if it is
    /// already.
    pub(super) fn enter(&mut self, at: u32) -> bool {
        self.open.insert(at)
    }

    /// The value at `at` has been written.
    pub(super) fn leave(&mut self, at: u32) {
        self.open.remove(&at);
    }

    /// Whether the value at `at` is being written.
    pub(super) fn is_open(&self, at: u32) -> bool {
        self.open.contains(&at)
    }

    /// Counts values that are written through a link. Returns whether there
    /// may be so many.
    pub(super) fn count(&mut self, values: u32) -> bool {
        self.written = self.written.saturating_add(u64::from(values));
        self.written <= self.most
    }
}
