//! The text of PHP's `var_export()`.
//!
//! See `FORMAT.md` in this folder for the facts.

mod detect;
mod frames;
mod leaf_text;
mod lex;
mod number;
mod options;
mod prologue;
mod read;
mod source_text;
mod spelling;
mod string;
mod strings;
mod words;
mod write;
mod write_leaf;

pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use super::{list_to_map, php_text as text};
use crate::format::Restart;
use crate::format::prelude::*;
use options::OPTIONS;
use read::Machine;

const NAME: &str = "var-export";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    aliases: &["php-array"],
    title: "PHP's var_export(), and files that return such a value",
    options: OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities {
        extension: "php",
        separator: b"\n",
        skips_blanks: true,
        restarts: &[
            Restart::from_context(b"\n", b"array ("),
            Restart::from_context(b"\n", b"(object)"),
            Restart::from_context(b"\n", b"\\"),
        ],
        naming: Naming::Php,
        ..Capabilities::TEXT
    },
    detect: detect::detect,
    begins: Some(detect::starts_with_value),
    detect_in_string: None,
    strings: Some(&strings::STRINGS),
    hides: None,
    reader: |_| Box::new(ReadOptions::default()),
    writer: |settings| Box::new(WriteOptions::from_settings(settings)),
};

/// Reads a value that `var_export()` wrote, or that a PHP file returns. Nothing is evaluated:
/// anything but a literal is refused.
///
/// ```
/// use icecore::{ErrorKind, Limits, format::var_export};
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
/// code. With offset and path.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    options.read(input, Request::new(limits)).into_whole_document(input, &FORMAT)
}

impl Feed for ReadOptions {
    const FORMAT: &'static Format = &FORMAT;

    fn feed_document<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        feed_document(input, limits, sink)
    }
}

/// Feeds a value to the sink. Returns how far it got, and the error that stopped it.
fn feed_document<S: Sink>(input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
    let mut machine = Machine::new(input, limits, sink);
    let error = machine.run().err().map(|error| {
        let path = machine.failed_path(error.kind());
        error.on_path(path)
    });
    let consumed = machine.lexer.offset.min(input.len());
    machine.close_open_containers();
    (consumed, error)
}

/// Reads a value for detection. Returns the tape, how far it got, and the error that stopped
/// it.
fn try_read(input: &[u8], limits: &Limits) -> (Tape, usize, Option<Error>) {
    let mut tape = Tape::new();
    let (consumed, error) = feed_document(input, limits, &mut tape);
    (tape, consumed, error)
}
