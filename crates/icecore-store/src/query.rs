//! Rows of any query, for callers that keep their blobs in their own tables.

use crate::backend::Flow;
use crate::error::Result;
use std::borrow::Cow;

/// One line of the answer to a query.
#[derive(Debug)]
pub enum Line<'l> {
    /// Names of the columns: the first line.
    Names(&'l [String]),
    /// Values of a row: bytes unchanged, everything else as text; `None` is NULL.
    Values(&'l [Option<Cow<'l, [u8]>>]),
}

/// Callback that receives lines one by one.
pub type EachLine<'f> = &'f mut dyn FnMut(Line<'_>) -> Result<Flow>;
