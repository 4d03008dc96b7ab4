//! The formats: one folder and one row each.

pub mod dumper;
pub mod flat;
pub mod igbinary;
pub mod join;
pub mod json;
pub mod marshal;
pub mod pack;
pub mod php;
pub mod sereal;
pub mod storable;
pub mod var_export;

pub(crate) mod append;
mod late;
mod php_lacks;
mod php_text;
mod scan;

use crate::document::{Document, Naming, Receive, Tape, Windows, lose_repeated, renamed};
use crate::error::Error;
use crate::limits::Limits;
use crate::options::{Opt, Settings};
use crate::output::{Losses, Output};
use std::borrow::Cow;
use std::sync::OnceLock;

pub(crate) use php_text::push_float as push_php_float;
pub(crate) use scan::Scan;

/// A format: its row in the registry.
pub struct Format {
    /// Its name in stages.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// Its options.
    pub options: &'static [Opt],
    /// Its page of documentation, in Markdown.
    pub page: &'static str,
    /// Whether the bytes look like it.
    pub detect: fn(&[u8]) -> Option<Guess>,
    /// Reads one document from the start of the input.
    pub read: ReadFn,
    /// Reads one document and hands over finished items of a root that is an
    /// array while reading goes on, if the format can.
    pub windows: Option<WindowsFn>,
    /// Writes one document.
    pub write: WriteFn,
    /// Writes a part of a document whose root is an array, if the stage can.
    pub write_part: Option<WritePartFn>,
}

/// See [`Format::read`].
pub type ReadFn = for<'a> fn(&'a [u8], &Settings, Request<'_>) -> Outcome<'a>;
/// See [`Format::windows`]. What must be decompressed first goes into the
/// store, which the windows borrow from then.
pub type WindowsFn = for<'r, 'a> fn(&'a [u8], &'a OnceLock<Vec<u8>>, &Settings, &Limits, Receive<'r, 'a>) -> Rest<'a>;
/// See [`Format::write_part`]. `None`: with these options only whole documents
/// can be written.
pub type WritePartFn = fn(&Document<'_>, Part, &Settings, &Limits, &mut dyn Output) -> Option<Result<Losses, Error>>;
/// See [`Format::write`].
pub type WriteFn = fn(&Document<'_>, &Settings, &Limits, &mut dyn Output) -> Result<Losses, Error>;

/// How a document is to be read.
#[derive(Debug)]
pub struct Request<'r> {
    /// What it may cost.
    pub limits: &'r Limits,
    /// Whether spelling and spans are wanted.
    pub detail: bool,
    /// The tape to use; it is cleared first.
    pub tape: Tape,
}

impl<'r> Request<'r> {
    /// Meaning only, on a new tape.
    pub fn new(limits: &'r Limits) -> Request<'r> {
        Request { limits, detail: false, tape: Tape::new() }
    }

    /// Spelling and spans as well.
    #[must_use]
    pub fn detailed(mut self) -> Request<'r> {
        self.detail = true;
        self
    }
}

/// What a reading gave: a document as far as it went, and why it went no
/// further.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The document; a part of one if there is an error.
    pub document: Document<'a>,
    /// How many bytes of the input it took.
    pub consumed: usize,
    /// What stopped the reading.
    pub error: Option<Error>,
}

impl<'a> Outcome<'a> {
    /// The document, if nothing stopped the reading and nothing is left of the
    /// input.
    pub(crate) fn whole(self, input: &[u8], format: &'static str) -> Result<Document<'a>, Error> {
        let trailing = || (self.consumed < input.len()).then(|| crate::api::trailing(input, self.consumed));
        match self.error.or_else(trailing) {
            Some(error) => Err(error.in_format(format)),
            None => Ok(self.document),
        }
    }
}

/// What is left when windows have been handed over.
#[derive(Debug)]
pub struct Rest<'a> {
    /// The last window, how far reading came, and what stopped it.
    pub outcome: Outcome<'a>,
    /// How many items were handed over in windows before.
    pub items: u64,
    /// A link turned up, and the document must be read as a whole.
    pub needs_whole: bool,
}

impl<'a> Rest<'a> {
    /// All of it: nothing was handed over.
    pub(crate) fn whole(outcome: Outcome<'a>) -> Rest<'a> {
        Rest { outcome, items: 0, needs_whole: false }
    }

    pub(crate) fn new(sink: Windows<'_, 'a>, consumed: usize, error: Option<Error>) -> Rest<'a> {
        let needs_whole = sink.stopped();
        let document = sink.into_rest();
        let items = document.tape().first_item;
        Rest { outcome: Outcome { document, consumed, error }, items, needs_whole }
    }
}

/// The document for a writer that has sharing, but no copies: checked, if it was made
/// by hand, and each copy written out.
pub(crate) fn uncopied<'d>(document: &'d Document<'_>, limits: &Limits) -> Result<Cow<'d, Document<'d>>, Error> {
    document.tape().check()?;
    document.without_copies(limits)
}

/// Writes the document with the names that the target has for classes and
/// members; as it is, if it was read from that very format.
pub(crate) fn write_named(
    document: &Document<'_>,
    format: &'static str,
    naming: Naming,
    limits: &Limits,
    write: impl FnOnce(&Document<'_>) -> Result<Losses, Error>,
) -> Result<Losses, Error> {
    if document.spelling_of(format).is_some() {
        return write(document);
    }
    let mut losses = Losses::within(limits);
    lose_repeated(document, naming, &mut losses);
    match renamed(document, naming, losses) {
        Ok((document, mut losses)) => {
            losses.merge(write(&document)?);
            Ok(losses)
        }
        Err(mut losses) => {
            losses.merge(write(document)?);
            Ok(losses)
        }
    }
}

/// Which part of an array is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// How many items were written before: no opening bracket then.
    pub before: u64,
    /// How many items at the front are left out.
    pub skip: u64,
    /// Whether more will follow: no closing bracket then.
    pub more: bool,
}

/// What [`Format::detect`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// How sure it is.
    pub certainty: Certainty,
    /// Version and variant, for people: `file, 2.11, native 64-bit
    /// little-endian`.
    pub variant: String,
}

/// How sure a guess is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// It may be; other things look like it too.
    Possible,
    /// Its structure fits as far as was looked.
    Likely,
    /// It has a magic number, or the whole input was checked.
    Sure,
}

impl Certainty {
    /// As one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Certainty::Possible => "possible",
            Certainty::Likely => "likely",
            Certainty::Sure => "sure",
        }
    }
}

impl Format {
    /// Whether this is a text format, and nothing but blanks is left behind a document of
    /// it, as where an editor or `echo` ended the last line. In other formats blanks are
    /// bytes as all others.
    ///
    /// ```
    /// let format = |name| icecore::format::by_name(name).unwrap();
    /// assert!(format("php").ends_with_blanks(b"\r\n"));
    /// assert!(!format("php").ends_with_blanks(b"") && !format("igbinary").ends_with_blanks(b"\n"));
    /// ```
    pub fn ends_with_blanks(&self, rest: &[u8]) -> bool {
        let is_text = matches!(self.name, "php" | "php-session" | "var-export" | "dumper" | "json" | "ndjson");
        is_text && !rest.is_empty() && are_blanks(rest)
    }
}

/// Whether these are spaces, tabs and line ends.
pub(crate) fn are_blanks(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Format").field("name", &self.name).finish_non_exhaustive()
    }
}

static FORMATS: &[&Format] = &[
    &storable::FORMAT,
    &sereal::FORMAT,
    &dumper::FORMAT,
    &php::FORMAT,
    &php::session::FORMAT,
    &var_export::FORMAT,
    &igbinary::FORMAT,
    &marshal::FORMAT,
    &json::lines::FORMAT,
    &json::FORMAT,
    &pack::FORMAT,
    &join::FORMAT,
];

/// All formats.
pub fn all() -> &'static [&'static Format] {
    FORMATS
}

/// The format with this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.name == name)
}
