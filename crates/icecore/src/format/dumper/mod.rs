//! What Perl's Data::Dumper writes, read without `eval`.
//!
//! `FORMAT.md` beside this file has the facts.

mod options;
mod paths;
mod quote;
mod read;
mod referent;
mod wide;
mod write;
mod write_fast;
mod write_frames;
mod write_keys;
mod write_leaf;
mod write_values;

pub use options::{ReadOptions, WriteOptions};
pub use read::read_outcome;
pub use write::write;

use super::{Format, Outcome, Request};
use crate::document::Document;
use crate::error::Error;
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};

const NAME: &str = "dumper";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "Perl's Data::Dumper",
    options: options::OPTIONS,
    page: include_str!("FORMAT.md"),
    detect: |_| None,
    read: read_row,
    windows: None,
    write: write_row,
    write_part: None,
};

/// Reads what Data::Dumper wrote. Nothing is evaluated: what is code is refused.
///
/// # Errors
/// Of kind `Truncated`, `Malformed`, `Trailing` or `Limit`; `Unsupported` for
/// anything that is code. With offset and path.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    read_outcome(input, options, Request::new(limits)).whole(input, NAME)
}

fn read_row<'a>(input: &'a [u8], settings: &Settings, request: Request<'_>) -> Outcome<'a> {
    read_outcome(input, &ReadOptions::from_settings(settings), request)
}

fn write_row(
    document: &Document<'_>,
    settings: &Settings,
    limits: &Limits,
    out: &mut dyn Output,
) -> Result<Losses, Error> {
    write(document, &WriteOptions::from_settings(settings), limits, out)
}
