//! The reader's results.

use std::ops::Range;

use crate::{Quoting, TableId};

/// A literal. It has a position in the window, a quoting, and a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Literal {
    /// The complete literal, with its quotes and a prefix directly before them.
    pub full_range: Range<usize>,
    /// The text between the quotes. [`Quoting`] decodes and encodes it.
    pub body: Range<usize>,
    /// The quoting of the body.
    pub quoting: Quoting,
    /// The cell of the value; `None` in statements without rows, such as a default in `CREATE TABLE`.
    pub cell: Option<Cell>,
}

/// The place of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cell {
    /// The table: [`Reader::table`](crate::Reader::table) has its name.
    pub table: TableId,
    /// The column, as an index in [`Table::columns`](crate::Table::columns), if its name is known.
    pub column: Option<u32>,
    /// Position of the value in the row, from 0, in the order of the statement.
    pub position: u32,
    /// Number of the row in the table, from 0, in the order of the dump.
    pub row: u64,
}
