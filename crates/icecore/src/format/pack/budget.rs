//! The bound on the work of a template.

use crate::error::{Error, ErrorKind};
use crate::steps;

/// Work that is still allowed.
pub(super) struct Budget {
    remaining: u64,
    expected: &'static str,
}

impl Budget {
    /// Returns the budget for a template and data of this size.
    pub(super) fn new(size: usize, expected: &'static str) -> Budget {
        Budget { remaining: (size as u64).saturating_mul(64).saturating_add(1 << 20), expected }
    }

    pub(super) fn spend(&mut self, work: usize) -> Result<(), Error> {
        let Some(remaining) = self.remaining.checked_sub(work as u64) else {
            return Err(Error::new(ErrorKind::Limit)
                .expecting(self.expected)
                .finding("one that goes over it again and again"));
        };
        steps::count(work);
        self.remaining = remaining;
        Ok(())
    }
}
