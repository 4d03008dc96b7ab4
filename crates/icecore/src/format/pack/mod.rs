//! What Perl's `pack` packs.
//!
//! `FORMAT.md` beside this file has the facts.

mod ber;
mod bits;
mod budget;
mod checksum;
mod layout;
#[cfg(test)]
mod linear;
mod measure;
mod numbers;
mod options;
mod pack_numbers;
mod pack_strings;
mod packer;
mod position;
mod read;
mod records;
mod strings;
mod symbol;
mod template;
mod uu;
mod write;

pub use options::Options;
pub use read::read_outcome;
pub use write::write;

use super::{Capabilities, End, Evidence, Format, Outcome, Prepared, Request};
use crate::document::Document;
use crate::error::{Error, ErrorKind};
use crate::format::scan::utf8;
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};

const NAME: &str = "pack";

/// What a template may have.
const LETTERS: &str =
    "a letter of pack's (a A Z b B h H c C W U s S l L q Q j J i I n N v V f d F D u w x X @ . or a group)";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "what Perl's pack writes by a template",
    options: options::OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities { extension: NAME, evidence: Evidence::None, end: End::Near, ..Capabilities::BINARY },
    detect: |_| None,
    begins: Some(|_| true),
    inside: None,
    prepare: Pack::prepare,
};

/// Reads a list by a template, as perl's `unpack` does.
///
/// ```
/// use icecore::{Limits, pack};
/// let options = pack::Options::new("(N/A*)*");
/// let document = pack::read(b"\0\0\0\x04hoge\0\0\0\x04fuga", &options, &Limits::default())?;
/// assert_eq!(document.root().item(1).and_then(|item| item.as_str()), Some("fuga"));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of kind `Usage` for the template; `Malformed` or `Truncated` where `unpack`
/// dies; `Trailing` for bytes that the template leaves, if [`Options::exact`] asks;
/// `Limit`. What is left out is in [`Document::repairs`].
pub fn read<'a>(input: &'a [u8], options: &Options, limits: &Limits) -> Result<Document<'a>, Error> {
    read_outcome(input, options, Request::new(limits)).whole(input, &FORMAT)
}

/// A mistake in a template.
#[cold]
fn usage(expected: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::Usage).expecting(expected)
}

/// Pointers are refused: what they point to is in no file.
#[cold]
fn pointer(op: &template::Op) -> Error {
    Error::new(ErrorKind::Unsupported)
        .expecting(format!("{LETTERS} at position {} of the template", op.at))
        .finding(format!("`{}`, a pointer into the memory of a running program", char::from(op.letter)))
}

/// What a letter reads, for people.
fn what(letter: u8) -> &'static str {
    match letter {
        b'a' | b'A' | b'Z' => "string",
        b'b' | b'B' => "bits",
        b'h' | b'H' => "half bytes",
        b'f' | b'd' | b'F' | b'D' => "float",
        b'w' => "compressed integer",
        b'u' => "uuencoded string",
        b'U' | b'W' => "character",
        b'x' | b'X' | b'@' | b'.' => "bytes that no value is made of",
        _ => "integer",
    }
}

/// `pack` with its template, or what is wrong with the options: that is told where they are used.
#[derive(Debug)]
struct Pack(Result<Options, Error>);

impl Pack {
    fn prepare(settings: &Settings) -> Box<dyn Prepared> {
        Box::new(Pack(Options::from_settings(settings)))
    }
}

impl Prepared for Pack {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        match &self.0 {
            Ok(options) => read_outcome(input, options, request),
            Err(error) => Outcome::refused(input, request, error.clone()),
        }
    }

    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Result<Losses, Error> {
        write(document, self.0.as_ref().map_err(Error::clone)?, limits, out)
    }
}
