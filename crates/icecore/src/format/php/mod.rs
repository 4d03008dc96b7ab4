//! PHP's `serialize()`.
//!
//! `FORMAT.md` beside this file has the facts.

mod detect;

pub(crate) use detect::begins;
mod fast;
mod links;
mod options;
mod read;
mod repair;
mod repair_step;
mod repaired;
pub mod session;
mod skim;
mod spelling;
mod spl;
mod token;
mod write;
mod write_keys;
mod write_leaf;
mod write_spl;

pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use super::{Format, Outcome, Request, Rest, late, php_text as text};
use crate::document::{Detailed, Document, NO_NODE, Receive, Sink, Tape, Windows};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};
use options::OPTIONS;
use read::Machine;
use std::sync::OnceLock;
use token::Fixed;

const NAME: &str = "php";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "PHP's serialize()",
    options: OPTIONS,
    page: include_str!("FORMAT.md"),
    detect: detect::detect,
    read: read_row,
    windows: Some(windows),
    write: write_row,
    // The number of items stands before the first.
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
    let Request { limits, detail, tape } = request;
    let outcome = read_fixed(input, Fixed::default(), options, Request { limits, detail, tape });
    let is_damaged = |error: &Error| matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Truncated);
    if options.repair_lengths && outcome.error.as_ref().is_some_and(is_damaged) {
        return repaired::read(outcome, input, options, limits, detail, 0, None);
    }
    outcome
}

/// As the row of the registry reads it, onto a tape. With `None`, it has to be read by
/// that: what it takes may have to be mended.
pub(crate) fn read_tape(
    input: &[u8],
    options: &ReadOptions,
    limits: &Limits,
    tape: &mut Tape,
) -> Option<(usize, Option<Error>)> {
    if options.repair_lengths {
        return None;
    }
    tape.clear();
    Some(feed(input, Fixed::default(), options, limits, tape))
}

fn read_fixed<'a>(input: &'a [u8], fixed: Fixed<'_>, options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, mut tape } = request;
    tape.clear();
    if !detail {
        let (consumed, error) = feed(input, fixed, options, limits, &mut tape);
        return Outcome { document: Document::new(input, tape), consumed, error };
    }
    let mut sink = Detailed { tape, ..Detailed::default() };
    sink.detail.spelling.format = NAME.to_owned();
    let (consumed, error) = feed(input, fixed, options, limits, &mut sink);
    Outcome { document: Document::detailed(input, sink), consumed, error }
}

/// Feeds the sink with a value; says how far it came, and what stopped it.
fn feed<S: Sink>(
    input: &[u8],
    fixed: Fixed<'_>,
    options: &ReadOptions,
    limits: &Limits,
    sink: &mut S,
) -> (usize, Option<Error>) {
    let mut machine = Machine::new(input, fixed, options, limits, sink);
    let result = machine.run();
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

fn read_row<'a>(input: &'a [u8], settings: &Settings, request: Request<'_>) -> Outcome<'a> {
    read_outcome(input, &ReadOptions::from_settings(settings), request)
}

fn windows<'a>(
    input: &'a [u8],
    _store: &'a OnceLock<Vec<u8>>,
    settings: &Settings,
    limits: &Limits,
    receive: Receive<'_, 'a>,
) -> Rest<'a> {
    let options = ReadOptions::from_settings(settings);
    if options.repair_lengths || !skim::is_list(input) {
        return Rest::whole(read_outcome(input, &options, Request::new(limits)));
    }
    let mut sink = Windows::new(input, receive);
    let (consumed, error) = feed(input, Fixed::default(), &options, limits, &mut sink);
    Rest::new(sink, consumed, error)
}

fn write_row(
    document: &Document<'_>,
    _settings: &Settings,
    limits: &Limits,
    out: &mut dyn Output,
) -> Result<Losses, Error> {
    write(document, &WriteOptions::default(), limits, out)
}
