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

use super::feed::{self, Feed};
use super::{Capabilities, Format, Outcome, Prepared, Request};
use crate::document::{Document, Sink};
use crate::error::Error;
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};

const NAME: &str = "dumper";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "Perl's Data::Dumper",
    options: options::OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities {
        extension: NAME,
        separator: b"\n",
        skips_blanks: true,
        names_strings_again: true,
        ..Capabilities::TEXT
    },
    detect: detect::detect,
    begins: Some(detect::begins),
    inside: None,
    prepare: Dumper::prepare,
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
    read_outcome(input, options, Request::new(limits)).whole(input, &FORMAT)
}

/// Reads a text from the start of the input.
pub fn read_outcome<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    feed::read(options, input, request)
}

impl Feed for ReadOptions {
    const NAME: &'static str = NAME;

    fn feed<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        read::feed(input, self, limits, sink)
    }
}

/// Data::Dumper with its options.
#[derive(Debug)]
struct Dumper {
    settings: Settings,
    read: ReadOptions,
    write: WriteOptions,
}

impl Dumper {
    fn prepare(settings: &Settings) -> Box<dyn Prepared> {
        Box::new(Dumper {
            settings: settings.clone(),
            read: ReadOptions::from_settings(settings),
            write: WriteOptions::from_settings(settings, WriteOptions::default()),
        })
    }
}

impl Prepared for Dumper {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        read_outcome(input, &self.read, request)
    }

    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Result<Losses, Error> {
        if document.spelling().is_none() {
            return write(document, &self.write, limits, out);
        }
        // The settings of a text that was read come before the usual ones.
        let options = WriteOptions::from_settings(&self.settings, WriteOptions::observed(document));
        write(document, &options, limits, out)
    }
}
