//! PHP's session files: serialized variables, one after the other.
//!
//! See `FORMAT.md` in this folder for the facts.

mod detect;
mod handler;
mod options;
mod read;
mod strings;
mod write;

pub use handler::Handler;
pub(super) use handler::{begins_value, is_variable_name};
pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use super::read::Machine;
use super::repair::{self, RepairSettings, Start};
use crate::document::Cursor;
use crate::format::prelude::*;
use options::OPTIONS;

const NAME: &str = "php-session";

/// The choice for the whole document: how the variables are joined.
const HANDLER: u16 = 1;

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    aliases: &["session", "sess"],
    title: "PHP's session files, of all three handlers",
    options: OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities { extension: "sess", alone: true, naming: Naming::Php, ..Capabilities::TEXT },
    detect: detect::detect,
    begins: Some(detect::starts_with_variable),
    detect_in_string: None,
    strings: Some(&strings::STRINGS),
    hides: None,
    reader: |settings| Box::new(ReadOptions::from_settings(settings)),
    writer: |settings| Box::new(WriteOptions::from_settings(settings)),
};

/// Reads the variables of a session.
///
/// ```
/// use icecore::{Limits, format::php::session};
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
    options.read(input, Request::new(limits)).into_whole_document(input, &FORMAT)
}

/// Settings for reading the variables.
#[derive(Debug)]
struct Variables<'r> {
    handler: Handler,
    options: &'r ReadOptions,
}

impl Feed for Variables<'_> {
    const FORMAT: &'static Format = &FORMAT;

    fn feed_document<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        if let Some(detail) = sink.detail() {
            // `php_serialize` writes an array also if there are no variables. So no bytes come from another handler.
            let is_other = input.is_empty() && self.handler == Handler::PhpSerialize;
            detail.record_header_note(HANDLER, if is_other { Handler::Php } else { self.handler } as u64);
        }
        let ReadOptions { lenient, payloads, accept_unknown_links, .. } = *self.options;
        let php = super::ReadOptions { lenient, payloads, accept_unknown_links, ..super::ReadOptions::default() };
        let mut machine = Machine::new(input, &php, limits, sink);
        machine.tokens.adds_php_message = false;
        let result = machine.read_session(self.handler);
        machine.finish_reading(result)
    }
}

/// Returns the result of reading with this handler, on a temporary tape.
fn try_handler(input: &[u8], handler: Handler, options: &ReadOptions, limits: &Limits) -> (Tape, usize, Option<Error>) {
    let mut tape = Tape::new();
    let (consumed, error) = Variables { handler, options }.feed_document(input, limits, &mut tape);
    (tape, consumed, error)
}

/// Reads a session of this handler, without repairs.
fn read_unrepaired<'a>(input: &'a [u8], handler: Handler, options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    feed::read_document(&Variables { handler, options }, input, request)
}

/// Returns the beginnings that a session of this handler may have; `None` stands for any handler.
fn possible_starts(handler: Option<Handler>) -> &'static [Start] {
    match handler {
        None => &[Start::Named, Start::Counted, Start::Value],
        Some(Handler::Php) => &[Start::Named],
        Some(Handler::PhpBinary) => &[Start::Counted],
        Some(Handler::PhpSerialize) => &[Start::Value],
    }
}

fn handler_for(start: Start) -> Handler {
    match start {
        Start::Named => Handler::Php,
        Start::Counted => Handler::PhpBinary,
        Start::Value => Handler::PhpSerialize,
    }
}

/// Returns `true` if a session looks damaged though it can be read. An unusual name is often the rest of
/// a string that ended too early; a variable inside a string shows that the string ended too
/// late.
fn looks_damaged(document: &Document<'_>, handler: Handler) -> bool {
    let has_variable = match handler {
        Handler::Php => repair::has_variable,
        Handler::PhpBinary => repair::has_counted_variable,
        Handler::PhpSerialize => return false,
    };
    let contains_variable = |value: Cursor<'_>| value.as_bytes().is_some_and(has_variable);
    document.root().entries().any(|(name, value)| !is_variable_name(name.bytes()) || contains_variable(value))
}

impl Reader for ReadOptions {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        let Request { limits, detail, salvages, tape } = request;
        let handler = self.handler.unwrap_or_else(|| handler::find_handler(input, self, limits));
        let outcome = read_unrepaired(input, handler, self, Request { limits, detail, salvages, tape });
        if !self.repair_lengths {
            return outcome;
        }
        let looks_damaged = outcome.error.is_none() && looks_damaged(&outcome.document, handler);
        let repair_settings = RepairSettings {
            starts: possible_starts(self.handler),
            limits,
            detail,
            looks_damaged,
            read: &|text, start, request| read_unrepaired(text, handler_for(start), self, request),
        };
        repair::read_or_repair(outcome, input, &repair_settings)
    }
}
