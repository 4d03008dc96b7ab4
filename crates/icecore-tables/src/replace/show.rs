//! Showing what would change, for a dry run.

use super::places::Place;
use icecore::rewrite::{Edits, Tally};

/// Where a value is, and what was seen in it.
#[derive(Clone, Copy, Debug)]
pub struct Head<'h> {
    /// What messages call the input.
    pub input: &'h str,
    /// The table and column.
    pub place: &'h Place,
    /// From 1 on; 0, if there are no rows.
    pub row: u64,
    /// What the engine saw in the value.
    pub tally: &'h Tally,
}

/// Shows changes of values, in its own way. Several threads use it.
pub trait Show: Send + Sync {
    /// Appends what becomes of a value to `out`.
    fn show(&self, head: &Head<'_>, text: &[u8], edits: &Edits, extent: Extent, out: &mut Vec<u8>);
}

/// How many of the changes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The first ones of a value.
    First,
    /// All changes of a text.
    All,
}
