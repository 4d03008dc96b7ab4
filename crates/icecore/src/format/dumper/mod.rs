//! What Perl's Data::Dumper writes, read without `eval`.
//!
//! `FORMAT.md` beside this file has the facts.

mod detect;
#[cfg(test)]
mod linear;
mod options;
mod read;
mod spelling;
mod write;

pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use super::{Format, Outcome, Request};
use crate::document::{Detailed, Document};
use crate::error::Error;
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};
use read::feed;

const NAME: &str = "dumper";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "Perl's Data::Dumper",
    options: options::OPTIONS,
    page: include_str!("FORMAT.md"),
    detect: detect::detect,
    read: read_row,
    windows: None,
    write: write_row,
    write_part: None,
};

/// Reads what Data::Dumper wrote. Nothing is evaluated: what is code is refused.
///
/// ```
/// use icecore::{ErrorKind, Limits, dumper};
/// let (options, limits) = (dumper::ReadOptions::default(), Limits::default());
/// let document = dumper::read(b"$VAR1 = { 'name' => 'Alice', 'tags' => [1, 2] };", &options, &limits)?;
/// assert_eq!(document.root().get("tags").map(|tags| tags.len()), Some(2));
/// let error = dumper::read(b"$VAR1 = { 'key' => getenv('KEY') };", &options, &limits).unwrap_err();
/// assert_eq!((error.kind(), error.offset()), (ErrorKind::Unsupported, Some(19)));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Truncated`, `Malformed`, `Trailing`, `BadLink` or `Limit`;
/// `Unsupported` for anything that is code. With offset and path.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    read_outcome(input, options, Request::new(limits)).whole(input, NAME)
}

/// Reads a text from the start of the input.
pub fn read_outcome<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, mut tape } = request;
    tape.clear();
    if !detail {
        let (consumed, error) = feed(input, options, limits, &mut tape);
        return Outcome { document: Document::new(input, tape), consumed, error };
    }
    let mut sink = Detailed { tape, ..Detailed::default() };
    sink.detail.spelling.format = NAME.to_owned();
    let (consumed, error) = feed(input, options, limits, &mut sink);
    Outcome { document: Document::detailed(input, sink), consumed, error }
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
    write(document, &WriteOptions::from_settings(settings, WriteOptions::as_read(document)), limits, out)
}
