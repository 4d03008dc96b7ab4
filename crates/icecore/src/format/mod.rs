//! The formats: one folder and one registry row each.

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
#[cfg(feature = "toy")]
#[path = "../../tests/toy/mod.rs"]
mod toy;
pub mod var_export;

pub(crate) mod append;
mod capabilities;
mod class_map_writer;
pub(crate) mod feed;
mod list_to_map;
mod php_losses;
mod php_text;
mod prelude;
mod prepared;
mod reader;
mod scan;
pub(crate) mod skim;
mod stencil;
pub(crate) mod strings;
pub(crate) mod tags;
mod writer;

use crate::class_map::{self, ClassMap};
use crate::document::{Document, Naming, Tape, lose_repeated, rename_for_target, rename_foreign_members};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::output::{Losses, Output, Written};
use crate::regexp::translate_regexps;
use std::borrow::Cow;

pub use crate::options::{OptionSpec, OptionType, Settings, Side};
pub use capabilities::{Capabilities, End, Evidence, Restart};
use class_map_writer::ClassMapWriter;
pub use prepared::Prepared;
pub use reader::{Filled, Outcome, Reader, Request, Rest, Store};
pub(crate) use scan::Scan;
pub use stencil::{ReadScalar, Stencils};
use strings::Strings;
pub use writer::{DocumentPart, Memory, PartProgress, Writer};

/// A format: its row in the registry. Other code knows formats only by these rows.
///
/// ```
/// use icecore::format::{Certainty, Side, by_name};
/// use icecore::{Limits, format};
/// assert!(format::all().iter().any(|format| format.name == "marshal"));
/// let php = by_name("php").unwrap();
/// assert!(php.options.iter().any(|option| option.name == "lenient" && option.side == Side::Read));
/// assert_eq!((php.can.extension, php.can.text, php.of_document().name), ("ser", true, "php"));
/// assert_eq!((php.detect)(b"a:0:{}").map(|guess| guess.certainty), Some(Certainty::Sure));
/// // Damaged, but meant for it.
/// assert!(php.may_begin(b"a:1:{i:0;"));
/// // Looked up once, for many documents.
/// let prepared = php.prepare(&Default::default());
/// let mut out = Vec::new();
/// prepared.writer.write(&icecore::read(b"[1]")?, &Limits::default(), &mut out)?;
/// assert_eq!(out, b"a:1:{i:0;i:1;}");
/// let error = php.explain(icecore::Error::trailing(b"N;N;", 2));
/// assert_eq!(error.format(), Some("php"));
/// # Ok::<(), icecore::Error>(())
/// ```
pub struct Format {
    /// Its name in stages.
    pub name: &'static str,
    /// Other common names; messages for them give the name.
    pub aliases: &'static [&'static str],
    /// A description in one line.
    pub title: &'static str,
    /// Its options.
    pub options: &'static [OptionSpec],
    /// Its page of documentation, in Markdown.
    pub page: &'static str,
    /// Its properties and abilities.
    pub can: Capabilities,
    /// Detects the format in the bytes.
    pub detect: fn(&[u8]) -> Option<Guess>,
    /// Returns `true` if bytes that the format can't read begin like its data. If there is no such
    /// function, [`Format::detect`] decides.
    pub begins: Option<fn(&[u8]) -> bool>,
    /// Returns `true` if a string in other data is similar enough to be worth reading. If there is no
    /// such function, [`Format::detect`] decides.
    pub detect_in_string: Option<fn(&[u8]) -> bool>,
    /// Finds strings in its texts, for changes in place. Without it, changed documents are written
    /// again as a whole.
    pub(crate) strings: Option<&'static Strings>,
    /// Returns `true` if the strings of these bytes are not visible in them, because they are
    /// compressed.
    pub(crate) hides: Option<fn(&[u8]) -> bool>,
    /// Makes its reader with these options.
    pub reader: fn(&Settings) -> Box<dyn Reader>,
    /// Makes its writer with these options.
    pub writer: fn(&Settings) -> Box<dyn Writer>,
}

impl Format {
    /// Declares that classes and members of a tape filled by the caller have the names that this
    /// format's language uses: the writer then changes none.
    pub fn named(&self, tape: &mut Tape) {
        tape.naming = self.can.naming;
    }

    /// Returns the language whose classes this format has: Perl, PHP or Ruby. `None` for formats that all languages
    /// share.
    ///
    /// ```
    /// assert_eq!(icecore::format::by_name("storable").and_then(|format| format.language()), Some("Perl"));
    /// assert_eq!(icecore::format::by_name("json").and_then(|format| format.language()), None);
    /// ```
    pub fn language(&self) -> Option<&'static str> {
        self.can.naming.language_name()
    }

    /// Returns `true` if both formats' languages use the same names for classes and members.
    ///
    /// ```
    /// let format = |name| icecore::format::by_name(name).unwrap();
    /// assert!(format("php").shares_names(format("igbinary")) && !format("php").shares_names(format("marshal")));
    /// ```
    pub fn shares_names(&self, other: &Format) -> bool {
        self.can.naming == other.can.naming
    }

    /// Looks up the options.
    pub fn prepare(&self, settings: &Settings) -> Prepared {
        Prepared { reader: (self.reader)(settings), writer: self.writer_with(settings) }
    }

    /// Reads one document from the start of the input.
    ///
    /// ```
    /// use icecore::{Limits, Request, format::Settings};
    /// let json = icecore::format::by_name("json").unwrap();
    /// let outcome = json.read(b"[1][2]", &Settings::new(), Request::new(&Limits::default()));
    /// assert_eq!((outcome.consumed, outcome.error), (3, None));
    /// ```
    pub fn read<'a>(&self, input: &'a [u8], settings: &Settings, request: Request<'_>) -> Outcome<'a> {
        (self.reader)(settings).read(input, request)
    }

    /// Writes one document, and reports what the format could not represent.
    ///
    /// # Errors
    /// As for [`crate::write_to`].
    pub fn write(
        &self,
        document: &Document<'_>,
        settings: &Settings,
        limits: &Limits,
        out: &mut dyn Output,
    ) -> Written {
        write_with(&*self.writer_with(settings), document, limits, out)
    }

    /// Returns its writer with these options, including those that all formats have.
    fn writer_with(&self, settings: &Settings) -> Box<dyn Writer> {
        let writer = (self.writer)(settings);
        match settings.text(class_map::OPTION.name) {
            Some(map) => {
                Box::new(ClassMap::parse(map).map(|map| ClassMapWriter { map, naming: self.can.naming, writer }))
            }
            None => writer,
        }
    }

    /// Adds the format's name and a help text to an error.
    pub fn explain(&self, error: Error) -> Error {
        let is_lenient = self.options.iter().any(|option| option.name == "lenient");
        let error = match is_lenient {
            true => error.with_ignoring_option(&format!("{}:lenient", self.name), self.can.alone),
            false => error,
        };
        error.in_format(self.name)
    }

    /// Returns `true` if this is the format's name or one of its [aliases](Format::aliases).
    pub(crate) fn has_name(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Returns the format of a single document. In a format of lines, each line is one.
    pub fn of_document(&'static self) -> &'static Format {
        self.can.line.unwrap_or(self)
    }

    /// Returns `true` if bytes that the format can't read begin like its data: they are damaged or cut
    /// off, but not ordinary text.
    pub fn may_begin(&self, input: &[u8]) -> bool {
        self.begins.map_or_else(|| self.is_likely(input), |begins| begins(input))
    }

    /// Returns `true` if detection finds it likely.
    pub(crate) fn is_likely(&self, input: &[u8]) -> bool {
        (self.detect)(input).is_some_and(|guess| guess.certainty >= Certainty::Likely)
    }

    /// Returns `true` if this is a text format, and `rest` only has blanks, as editors or `echo` add them at
    /// the end. In other formats, blanks are bytes like any others.
    ///
    /// ```
    /// let format = |name| icecore::format::by_name(name).unwrap();
    /// assert!(format("php").ends_with_blanks(b"\r\n"));
    /// assert!(!format("php").ends_with_blanks(b"") && !format("igbinary").ends_with_blanks(b"\n"));
    /// ```
    pub fn ends_with_blanks(&self, rest: &[u8]) -> bool {
        self.can.text && !rest.is_empty() && are_blanks(rest)
    }

    /// Returns `true` if the bytes after a document have no meaning: blanks after text, and in any format the
    /// single line end that programs add to their output, as `redis-cli` does.
    ///
    /// ```
    /// let format = |name| icecore::format::by_name(name).unwrap();
    /// assert!(format("igbinary").ends_as_printed(b"\n") && format("php").ends_as_printed(b" \n"));
    /// assert!(!format("igbinary").ends_as_printed(b"\n\n"));
    /// ```
    pub fn ends_as_printed(&self, rest: &[u8]) -> bool {
        rest == b"\n" || self.ends_with_blanks(rest)
    }
}

/// Returns the document for a writer that supports sharing, but not copies: it is checked if it was
/// made by hand, and each copy is written out.
pub(crate) fn check_and_expand<'d>(
    document: &'d Document<'_>,
    limits: &Limits,
) -> Result<Cow<'d, Document<'d>>, Error> {
    document.tape().check_structure()?;
    document.without_copies(limits)
}

/// Returns the error for a chain of links and wrappers that begins at `first` and is longer than
/// [`Document::max_link_steps`]. `has_links` tells whether it contains links, which may form a circle.
#[cold]
pub(crate) fn chain_too_long_error(document: &Document<'_>, first: u32, has_links: bool, limits: &Limits) -> Error {
    let error = match has_links {
        true => Error::new(ErrorKind::Unrepresentable).finding("links that form a circle"),
        false => limits.too_deep(),
    };
    error.on_path(document.path(first))
}

/// Writes the document with the target's names for classes and members. A document that was read
/// from this format keeps its names.
pub(crate) fn write_named(
    document: &Document<'_>,
    format: &'static Format,
    limits: &Limits,
    write: impl FnOnce(&Document<'_>) -> Written,
) -> Written {
    let naming = format.can.naming;
    if document.spelling_of(format.name).is_some() {
        let Some((document, mut losses)) = (naming == Naming::Ruby).then(|| rename_foreign_members(document)).flatten()
        else {
            return write(document);
        };
        losses.merge(write(&document)?);
        return Ok(losses);
    }
    let mut losses = Losses::with_limits(limits);
    let translated = translate_regexps(document, naming, format.can.has_byte_patterns, &mut losses);
    let document = translated.as_ref().unwrap_or(document);
    lose_repeated(document, naming, &mut losses);
    match rename_for_target(document, naming, losses) {
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

/// Writes a document, with what the writer can't express in a form that it can.
pub(crate) fn write_with(
    writer: &dyn Writer,
    document: &Document<'_>,
    limits: &Limits,
    out: &mut dyn Output,
) -> Written {
    match writer.keeps_hook_values() {
        true => writer.write(document, limits, out),
        false => writer.write(&document.with_hook_values_in_payload(), limits, out),
    }
}

/// Result of [`Format::detect`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// How certain it is.
    pub certainty: Certainty,
    /// Version and variant, for people: `file, 2.11, native 64-bit little-endian`.
    pub variant: String,
}

/// How certain a guess is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// It is possible; other data looks like it too.
    Possible,
    /// Its structure fits, as far as it was checked.
    Likely,
    /// It has a magic number, or the whole input was checked.
    Sure,
}

impl Certainty {
    /// Returns it as one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Certainty::Possible => "possible",
            Certainty::Likely => "likely",
            Certainty::Sure => "sure",
        }
    }
}

/// Returns `true` if these are only spaces, tabs and line ends.
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
    // The last one: `all` omits it unless a test asks for it.
    #[cfg(feature = "toy")]
    &toy::FORMAT,
];

/// Returns all formats.
pub fn all() -> &'static [&'static Format] {
    #[cfg(feature = "toy")]
    if !IS_TOY_SHOWN.load(std::sync::atomic::Ordering::Relaxed) {
        return &FORMATS[..FORMATS.len() - 1];
    }
    FORMATS
}

/// Whether the test-only format is one of [`all`].
#[cfg(feature = "toy")]
static IS_TOY_SHOWN: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Adds the test-only format to [`all`], so that one build serves its test and all other tests.
#[cfg(feature = "toy")]
#[doc(hidden)]
pub fn show_toy() {
    IS_TOY_SHOWN.store(true, std::sync::atomic::Ordering::Relaxed);
}

/// Returns the format with this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    all().iter().copied().find(|format| format.name == name)
}

/// Like [`by_name`], for callers that need exactly that format.
pub(crate) fn require_format(name: &str) -> Result<&'static Format, Error> {
    by_name(name).ok_or_else(|| {
        Error::new(ErrorKind::Unsupported)
            .expecting(format!("the format {name}"))
            .finding("a build of icecore that lacks it")
    })
}
