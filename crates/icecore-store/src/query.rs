//! Rows of any query, for those whose blobs are in tables of their own.

use crate::backend::Flow;
use crate::error::Result;
use std::borrow::Cow;

/// What a query answers, one after another.
#[derive(Debug)]
pub enum Line<'l> {
    /// The names of the columns: the first.
    Names(&'l [String]),
    /// The values of a row: bytes as they are, all else as text; `None` is NULL.
    Values(&'l [Option<Cow<'l, [u8]>>]),
}

/// Takes lines one by one.
pub type EachLine<'f> = &'f mut dyn FnMut(Line<'_>) -> Result<Flow>;
