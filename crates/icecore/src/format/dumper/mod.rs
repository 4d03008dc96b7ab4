//! The text that Perl's Data::Dumper writes, read without `eval`.
//!
//! See `FORMAT.md` in this folder for the facts.

mod detect;
#[cfg(test)]
mod linear;
mod options;
mod read;
mod spelling;
mod strings;
mod write;

pub use options::{ReadOptions, WriteOptions};
pub use write::write;

const NAME: &str = "dumper";

/// Begins a package without functions, so that a v-string can't be read as the name of one.
const NO_FUNCTIONS: &[u8] = b"package Icecore::None; ";

use crate::format::Restart;
use crate::format::prelude::*;
use crate::options::Settings;

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    aliases: &["data-dumper", "Data::Dumper", "perl"],
    title: "Perl's Data::Dumper",
    options: options::OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities {
        extension: "pl",
        separator: b"\n",
        skips_blanks: true,
        names_strings_again: true,
        restarts: &[Restart::from_context(b"\n", b"$VAR")],
        has_byte_patterns: true,
        naming: Naming::Perl,
        ..Capabilities::TEXT
    },
    detect: detect::detect,
    begins: Some(detect::begins_document),
    detect_in_string: None,
    strings: Some(&strings::STRINGS),
    hides: None,
    reader: |settings| Box::new(ReadOptions::from_settings(settings)),
    writer: |settings| Box::new(Dumper::new(settings)),
};

/// Reads what Data::Dumper wrote. Nothing is evaluated: code is refused.
///
/// ```
/// use icecore::{ErrorKind, Limits, format::dumper};
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
/// `Unsupported` for code. With offset and path.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    options.read(input, Request::new(limits)).into_whole_document(input, &FORMAT)
}

impl Feed for ReadOptions {
    const FORMAT: &'static Format = &FORMAT;

    fn feed_document<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        read::feed_document(input, self, limits, sink)
    }
}

/// The writer. It keeps its settings, because a text that was read has its own.
#[derive(Debug)]
struct Dumper {
    settings: Settings,
    options: WriteOptions,
}

impl Dumper {
    fn new(settings: &Settings) -> Dumper {
        let options = WriteOptions::from_settings(settings, WriteOptions::default());
        Dumper { settings: settings.clone(), options }
    }
}

impl Writer for Dumper {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        if document.spelling().is_none() {
            return write(document, &self.options, limits, out);
        }
        // Settings of the text that was read replace the defaults.
        let options =
            WriteOptions::from_settings(&self.settings, WriteOptions::from_document(document, self.options.trusted));
        write(document, &options, limits, out)
    }
}
