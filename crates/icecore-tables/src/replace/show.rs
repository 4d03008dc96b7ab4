//! Showing the changes of a dry run.

use super::places::TableColumn;
use icecore::rewrite::{Edits, Tally};

/// The place of a value, and the counts of the engine for it.
#[derive(Clone, Copy, Debug)]
pub struct ChangeContext<'h> {
    /// The name of the input in messages.
    pub input: &'h str,
    /// The table and column.
    pub place: &'h TableColumn,
    /// The row, from 1 on; 0 if there are no rows.
    pub row: u64,
    /// The counts of the engine for the value.
    pub tally: &'h Tally,
}

/// Shows changes of values in a format of its own. Several threads use it.
pub trait Show: Send + Sync {
    /// Appends the changes of a value to `out`.
    fn show_changes(
        &self,
        context: &ChangeContext<'_>,
        text: &[u8],
        edits: &Edits,
        extent: ShownChanges,
        out: &mut Vec<u8>,
    );
}

/// How many of the changes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownChanges {
    /// The first changes of a value.
    First,
    /// All changes of a text.
    All,
}
