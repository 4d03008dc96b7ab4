//! PHP's `serialize()`.
//!
//! `FORMAT.md` beside this file has the facts.

mod detect;
mod fast;
mod links;
mod options;
mod read;
pub mod session;
mod spelling;
mod token;
mod write;
mod write_keys;
mod write_leaf;

pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use super::{Format, Outcome, Request, late, php_text as text};
use crate::document::{Detailed, Document, NO_NODE, Sink, Tape};
use crate::error::Error;
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};
use options::OPTIONS;
use read::Machine;

const NAME: &str = "php";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "PHP's serialize()",
    options: OPTIONS,
    page: include_str!("FORMAT.md"),
    detect: detect::detect,
    read: read_row,
    windows: None,
    write: write_row,
    write_part: None,
};

/// Reads a serialized value, of which nothing may be left unless the reading is
/// lenient.
///
/// ```
/// use icecore::{Limits, php};
/// let text = br#"O:4:"User":1:{s:4:"name";s:5:"Alice";}"#;
/// let document = php::read(text, &php::ReadOptions::default(), &Limits::default())?;
/// assert_eq!(document.root().class(), b"User");
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Truncated`, `Malformed`, `BadLink`, `Trailing`, `Unsupported` or
/// `Limit`; with offset and path, and with the offset that PHP gives.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    read_outcome(input, options, Request::new(limits)).whole(input, NAME)
}

/// Reads a serialized value from the start of the input. A lenient reading takes
/// all of it.
pub fn read_outcome<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, mut tape } = request;
    if !detail {
        let (consumed, error) = read_tape(input, options, limits, &mut tape);
        return Outcome { document: Document::new(input, tape), consumed, error };
    }
    tape.clear();
    let mut sink = Detailed { tape, ..Detailed::default() };
    sink.detail.spelling.format = NAME.to_owned();
    let (consumed, error) = feed(input, options, limits, &mut sink);
    Outcome { document: Document::detailed(input, sink), consumed, error }
}

/// Reads a value from the start of the input into a tape.
pub(crate) fn read_tape(
    input: &[u8],
    options: &ReadOptions,
    limits: &Limits,
    tape: &mut Tape,
) -> (usize, Option<Error>) {
    tape.clear();
    feed(input, options, limits, tape)
}

/// Feeds the sink with a value; says how far it came, and what stopped it.
fn feed<S: Sink>(input: &[u8], options: &ReadOptions, limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
    let mut machine = Machine::new(input, options, limits, sink);
    let result = machine.run();
    let mut consumed = machine.tokens.at;
    let error = result.err().map(|error| {
        let next = machine.sink.tape().len();
        let path = machine.sink.tape().path_to(next, input);
        error.on_path(path)
    });
    machine.finish();
    if options.lenient && error.is_none() {
        if let Some(detail) = sink.detail() {
            detail.span(consumed, input.len(), NO_NODE, "ignored");
        }
        consumed = input.len();
    }
    (consumed, error)
}

fn read_row<'a>(input: &'a [u8], settings: &Settings, request: Request<'_>) -> Outcome<'a> {
    read_outcome(input, &ReadOptions::from_settings(settings), request)
}

fn write_row(
    document: &Document<'_>,
    _settings: &Settings,
    limits: &Limits,
    out: &mut dyn Output,
) -> Result<Losses, Error> {
    write(document, &WriteOptions::default(), limits, out)
}
