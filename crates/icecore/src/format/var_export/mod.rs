//! What PHP's `var_export()` writes.
//!
//! `FORMAT.md` beside this file has the facts.

mod detect;
mod frames;
mod kept;
mod leaf_text;
mod lex;
mod number;
mod options;
mod read;
mod spelling;
mod string;
mod words;
mod write;
mod write_leaf;

pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use super::feed::{self, Feed};
use super::{Capabilities, Format, Outcome, Prepared, Request, list_to_map, php_text as text};
use crate::document::{Document, Sink, Tape};
use crate::error::Error;
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};
use options::OPTIONS;
use read::Machine;

const NAME: &str = "var-export";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "PHP's var_export(), and files that return such a value",
    options: OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities { extension: NAME, separator: b"\n", skips_blanks: true, ..Capabilities::TEXT },
    detect: detect::detect,
    begins: Some(detect::begins),
    inside: None,
    prepare: VarExport::prepare,
};

/// Reads a value that `var_export()` wrote, or that a PHP file returns. Nothing
/// is evaluated: what is no literal is refused.
///
/// ```
/// use icecore::{ErrorKind, Limits, var_export};
/// let (options, limits) = (var_export::ReadOptions::default(), Limits::default());
/// let text = b"<?php return ['name' => 'Alice', 'tags' => array('a', 'b')];";
/// let document = var_export::read(text, &options, &limits)?;
/// assert_eq!(document.root().get("tags").map(|tags| tags.len()), Some(2));
/// let error = var_export::read(b"['key' => getenv('KEY')]", &options, &limits).unwrap_err();
/// assert_eq!((error.kind(), error.offset()), (ErrorKind::Unsupported, Some(10)));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Truncated`, `Malformed`, `Trailing` or `Limit`; `Unsupported` for
/// anything that is code. With offset and path.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    read_outcome(input, options, Request::new(limits)).whole(input, &FORMAT)
}

/// Reads a value from the start of the input.
pub fn read_outcome<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    feed::read(options, input, request)
}

impl Feed for ReadOptions {
    const NAME: &'static str = NAME;

    fn feed<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        feed(input, limits, sink)
    }
}

/// `var_export()` with its options.
#[derive(Debug)]
struct VarExport {
    write: WriteOptions,
}

impl VarExport {
    fn prepare(settings: &Settings) -> Box<dyn Prepared> {
        Box::new(VarExport { write: WriteOptions::from_settings(settings) })
    }
}

impl Prepared for VarExport {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        read_outcome(input, &ReadOptions::default(), request)
    }

    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Result<Losses, Error> {
        write(document, &self.write, limits, out)
    }
}

/// Feeds the sink with a value; says how far it came, and what stopped it.
fn feed<S: Sink>(input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
    let mut machine = Machine::new(input, limits, sink);
    let error = machine.run().err().map(|error| {
        let path = machine.path(error.kind());
        error.on_path(path)
    });
    let consumed = machine.lexer.at.min(input.len());
    machine.finish();
    (consumed, error)
}

/// A reading for detection: the tape, how far it came, and what stopped it.
fn attempt(input: &[u8], limits: &Limits) -> (Tape, usize, Option<Error>) {
    let mut tape = Tape::new();
    let (consumed, error) = feed(input, limits, &mut tape);
    (tape, consumed, error)
}
