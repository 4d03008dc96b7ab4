//! What the reader hands out.

use std::ops::Range;

use crate::{Quoting, TableId};

/// A literal: where it stands in the window, how it is quoted, and what it is a value of.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Literal {
    /// All of it, with its quotes, and a prefix that stands right before them.
    pub whole: Range<usize>,
    /// What is between the quotes: what [`Quoting`] decodes and encodes.
    pub body: Range<usize>,
    /// How the body is written.
    pub quoting: Quoting,
    /// Whose value it is; nothing in statements that are no rows, such as a default in `CREATE TABLE`.
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
    /// Which value of the row, from 0, in the order of the statement.
    pub position: u32,
    /// Which row of the table, from 0, in the order of the dump.
    pub row: u64,
}
