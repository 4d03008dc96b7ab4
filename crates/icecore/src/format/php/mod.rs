//! PHP's `serialize()`.
//!
//! `FORMAT.md` beside this file has the facts.

mod detect;
mod links;
mod options;
mod prescan;
mod read;
mod read_fast;
mod repair;
mod repair_read;
mod repair_step;
pub mod session;
mod spelling;
mod spl;
mod token;
mod write;
mod write_keys;
mod write_leaf;
mod write_spl;

pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use super::feed::{self, Feed};
use super::{Capabilities, End, Filled, Format, Outcome, Prepared, Request, Rest, list_to_map, php_text as text};
use crate::document::{Document, NO_NODE, Receive, Sink, Tape};
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
    can: Capabilities { extension: NAME, end: End::Declared, hands_over: true, ..Capabilities::TEXT },
    detect: detect::detect,
    begins: Some(detect::begins),
    inside: Some(detect::inside),
    prepare: Php::prepare,
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
    read_outcome(input, options, Request::new(limits)).whole(input, &FORMAT)
}

/// Reads a serialized value from the start of the input. A lenient reading takes
/// all of it.
pub fn read_outcome<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, tape } = request;
    let outcome = read_fixed(input, Fixed::default(), options, Request { limits, detail, tape });
    let is_damaged = |error: &Error| matches!(error.kind(), ErrorKind::Malformed | ErrorKind::Truncated);
    if options.repair_lengths && outcome.error.as_ref().is_some_and(is_damaged) {
        return repair_read::read(outcome, input, options, limits, detail, 0, None);
    }
    outcome
}

fn read_fixed<'a>(input: &'a [u8], fixed: Fixed<'_>, options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    feed::read(&Reader { fixed, options }, input, request)
}

/// What a text is read with.
struct Reader<'r> {
    fixed: Fixed<'r>,
    options: &'r ReadOptions,
}

impl Feed for Reader<'_> {
    const NAME: &'static str = NAME;

    fn feed<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        feed(input, self.fixed, self.options, limits, sink)
    }
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

/// PHP's `serialize()` with its options.
#[derive(Debug)]
struct Php {
    read: ReadOptions,
}

impl Php {
    fn prepare(settings: &Settings) -> Box<dyn Prepared> {
        Box::new(Php { read: ReadOptions::from_settings(settings) })
    }

    fn reader(&self) -> Reader<'_> {
        Reader { fixed: Fixed::default(), options: &self.read }
    }
}

impl Prepared for Php {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        read_outcome(input, &self.read, request)
    }

    fn fill(&self, input: &[u8], limits: &Limits, tape: &mut Tape) -> Filled {
        // What it takes may have to be mended.
        if self.read.repair_lengths {
            return Filled::by_reading(limits, tape, |request| self.read(input, request));
        }
        feed::fill(&self.reader(), input, limits, tape)
    }

    fn windows<'a>(
        &self,
        input: &'a [u8],
        _: &'a OnceLock<Vec<u8>>,
        limits: &Limits,
        receive: Receive<'_, 'a>,
    ) -> Rest<'a> {
        if self.read.repair_lengths || !prescan::is_list(input) {
            return Rest::whole(self.read(input, Request::new(limits)));
        }
        feed::windows(&self.reader(), input, limits, receive)
    }

    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Result<Losses, Error> {
        write(document, &WriteOptions::default(), limits, out)
    }
}
