//! Strings joined by a separator: perl's `join` and `split`.
//!
//! `FORMAT.md` beside this file has the facts.

mod options;
mod read;
mod write;

pub use options::Options;
pub use read::read_outcome;
pub use write::write;

use super::{Format, Outcome, Request};
use crate::document::{Document, Tape};
use crate::error::Error;
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};

const NAME: &str = "join";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "strings joined by a separator, as Perl's join and split do it",
    options: options::OPTIONS,
    page: include_str!("FORMAT.md"),
    detect: |_| None,
    read: read_row,
    windows: None,
    write: write_row,
    write_part: None,
};

/// Splits the input at the separator.
///
/// ```
/// use icecore::{Limits, join};
/// let mut options = join::Options::default();
/// options.separator = b":".to_vec();
/// let document = join::read(b"root:x:0:0:", &options, &Limits::default())?;
/// assert_eq!(document.root().len(), 5);
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Malformed`, if the fields do not fit `names` or `map`; `Limit`, if
/// there are too many; `Usage`, for options that do not go together.
pub fn read<'a>(input: &'a [u8], options: &Options, limits: &Limits) -> Result<Document<'a>, Error> {
    read_outcome(input, options, Request::new(limits)).whole(input, NAME)
}

fn read_row<'a>(input: &'a [u8], settings: &Settings, request: Request<'_>) -> Outcome<'a> {
    match Options::from_settings(settings) {
        Ok(options) => read_outcome(input, &options, request),
        Err(error) => {
            let mut tape: Tape = request.tape;
            tape.clear();
            Outcome { document: Document::new(input, tape), consumed: 0, error: Some(error) }
        }
    }
}

fn write_row(
    document: &Document<'_>,
    settings: &Settings,
    limits: &Limits,
    out: &mut dyn Output,
) -> Result<Losses, Error> {
    write(document, &Options::from_settings(settings)?, limits, out)
}
