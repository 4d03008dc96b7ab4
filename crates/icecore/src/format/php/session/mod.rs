//! PHP's session files: serialized variables, one behind the other.
//!
//! `FORMAT.md` beside this file has the facts.

mod detect;

mod handler;
mod options;
mod read;
mod write;

pub use handler::Handler;
pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use super::read::Machine;
use super::token::Fixed;
use crate::document::{Detailed, Document, NO_NODE, Sink, Tape};
use crate::error::Error;
use crate::format::{Capabilities, Format, Outcome, Prepared, Request};
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};
use options::OPTIONS;

const NAME: &str = "php-session";

/// The choice of the whole: how the variables are put together.
const HANDLER: u16 = 1;

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "PHP's session files, of all three handlers",
    options: OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities { extension: NAME, alone: true, ..Capabilities::TEXT },
    detect: detect::detect,
    begins: Some(detect::begins),
    inside: None,
    prepare: Session::prepare,
};

/// Reads the variables of a session.
///
/// ```
/// use icecore::{Limits, php::session};
/// let text = b"user|s:5:\"Alice\";visits|i:3;";
/// let document = session::read(text, &session::ReadOptions::default(), &Limits::default())?;
/// assert_eq!(document.root().get("visits").and_then(|visits| visits.as_i64()), Some(3));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Truncated`, `Malformed`, `BadLink`, `Trailing`, `Unsupported` or
/// `Limit`; with offset and path.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    read_outcome(input, options, Request::new(limits)).whole(input, &FORMAT)
}

/// Reads the variables of a session, which take all of the input.
pub fn read_outcome<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, mut tape } = request;
    let handler = options.handler.unwrap_or_else(|| handler::find(input, options, limits));
    tape.clear();
    if !detail {
        let (consumed, error) = feed(input, handler, options, limits, &mut tape);
        return Outcome { document: Document::new(input, tape), consumed, error };
    }
    let mut sink = Detailed { tape, ..Detailed::default() };
    sink.detail.spelling.format = NAME.to_owned();
    // No bytes at all are what two of them write for no variables.
    let written = if input.is_empty() && handler == Handler::PhpSerialize { Handler::Php } else { handler };
    sink.detail.header(HANDLER, written as u64);
    let (consumed, error) = feed(input, handler, options, limits, &mut sink);
    Outcome { document: Document::detailed(input, sink), consumed, error }
}

/// Feeds the sink with the variables; says how far it came, and what stopped
/// it.
fn feed<S: Sink>(
    input: &[u8],
    handler: Handler,
    options: &ReadOptions,
    limits: &Limits,
    sink: &mut S,
) -> (usize, Option<Error>) {
    let php = super::ReadOptions { lenient: options.lenient, ..super::ReadOptions::default() };
    let mut machine = Machine::new(input, Fixed::default(), &php, limits, sink);
    machine.tokens.says_php = false;
    let result = machine.session(handler);
    let mut consumed = machine.tokens.at;
    let error = result.err().map(|error| {
        let path = machine.path();
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

/// What reading with this handler gives, on a tape that is used for nothing
/// else.
fn attempt(input: &[u8], handler: Handler, options: &ReadOptions, limits: &Limits) -> (Tape, usize, Option<Error>) {
    let mut tape = Tape::new();
    let (consumed, error) = feed(input, handler, options, limits, &mut tape);
    (tape, consumed, error)
}

/// Sessions with their options.
#[derive(Debug)]
struct Session {
    read: ReadOptions,
    write: WriteOptions,
}

impl Session {
    fn prepare(settings: &Settings) -> Box<dyn Prepared> {
        let read = ReadOptions::from_settings(settings);
        Box::new(Session { read, write: WriteOptions::from_settings(settings) })
    }
}

impl Prepared for Session {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        read_outcome(input, &self.read, request)
    }

    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Result<Losses, Error> {
        write(document, &self.write, limits, out)
    }
}
