//! What Perl's Data::Dumper writes, read without `eval`.
//!
//! `FORMAT.md` beside this file has the facts.

mod detect;
mod finish;
mod frames;
mod heap;
mod keys;
mod layout;
mod lex;
mod number;
mod options;
mod path;
mod read;
mod rebuild;
mod regexp;
mod spelling;
mod statements;
mod string;
mod terms;
mod wide;
mod write;
mod write_as_read;
mod write_fast;
mod write_frames;
mod write_keys;
mod write_leaf;
mod write_paths;
mod write_quote;
mod write_referent;
mod write_values;

pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use super::{Format, Outcome, Request};
use crate::document::{Detailed, Document, Sink};
use crate::error::Error;
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};
use lex::Lexer;
use read::Machine;

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

/// Feeds the sink with a document; says how far it came, and what stopped it.
fn feed<S: Sink>(input: &[u8], options: &ReadOptions, limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
    let pad = options.pad.as_ref().map_or_else(|| layout::find_pad(input), |pad| pad.as_bytes());
    let pair = options.pair.as_ref().map(String::as_bytes);
    let mut machine = Machine::new(Lexer::new(input, pad), pair, limits, sink);
    let error = machine.run().err();
    let consumed = machine.lexer.at.min(input.len());
    (consumed, machine.finish(error))
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
