//! Properties of formats as data. Code that works with all formats tests these and mentions
//! no format.

use super::Format;
use crate::document::Naming;

/// Properties and abilities of a format.
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    /// The usual extension of its files, without a dot.
    pub extension: &'static str,
    /// Other extensions of its files.
    pub more_extensions: &'static [&'static str],
    /// Whether it is text, so that blanks after it have no meaning.
    pub text: bool,
    /// Whether its bytes are not text, so that a terminal can't show them.
    pub binary: bool,
    /// What distinguishes it from other formats.
    pub evidence: Evidence,
    /// Whether its documents can't follow each other.
    pub alone: bool,
    /// What is written between documents that follow each other.
    pub separator: &'static [u8],
    /// What shows that a document is complete while more input may follow.
    pub end: End,
    /// Whether its reader skips blanks before a document.
    pub skips_blanks: bool,
    /// Whether its reader refuses a byte order mark: callers remove it first.
    pub no_mark: bool,
    /// Where the next document begins after a damaged one: reading can start again there.
    /// Empty if it can't.
    pub restarts: &'static [Restart],
    /// Each line is a document of this format.
    pub line: Option<&'static Format>,
    /// Whether strings are stored once and referred to later: a program that copies each of
    /// them may need much more memory than the input has bytes.
    pub names_strings_again: bool,
    /// Whether finished items can be handed over while reading continues.
    pub hands_over: bool,
    /// Whether a document without classes, links and the like only has values that perl has.
    pub like_perl: bool,
    /// Whether patterns of regular expressions are bytes, or are written as source text: characters beyond ASCII are
    /// written as escapes.
    pub(crate) has_byte_patterns: bool,
    /// The names of its language for classes and members.
    pub(crate) naming: Naming,
}

/// Bytes that mark the beginning of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restart {
    /// Bytes before it.
    pub before: &'static [u8],
    /// Its first bytes.
    pub begins: &'static [u8],
    /// Whether these bytes almost certainly occur nowhere else: unreadable input from there
    /// on is another damaged document. Otherwise it is a part of the previous one.
    pub is_sure: bool,
}

impl Restart {
    /// Returns a signature.
    pub(crate) const fn from_signature(begins: &'static [u8]) -> Restart {
        Restart { before: b"", begins, is_sure: true }
    }

    /// Returns bytes that also occur inside documents.
    pub(crate) const fn from_context(before: &'static [u8], begins: &'static [u8]) -> Restart {
        Restart { before, begins, is_sure: false }
    }
}

/// What distinguishes a format from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Its beginning.
    Beginning,
    /// The whole must be readable: many texts begin like it.
    Whole,
    /// Nothing: the format must be given.
    None,
}

/// What shows that a document is complete while more input may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The format states where it ends.
    Declared,
    /// The next byte, if the last one is a letter or a digit: `1` may continue with `2`.
    Word,
    /// The next bytes, up to some number.
    Near,
}

impl Capabilities {
    /// A binary format without special abilities.
    pub(crate) const BINARY: Capabilities = Capabilities {
        extension: "",
        more_extensions: &[],
        text: false,
        binary: true,
        evidence: Evidence::Beginning,
        alone: false,
        separator: b"",
        end: End::Declared,
        skips_blanks: false,
        no_mark: false,
        restarts: &[],
        line: None,
        names_strings_again: false,
        hands_over: false,
        like_perl: false,
        has_byte_patterns: false,
        naming: Naming::Plain,
    };

    /// A text format without special abilities.
    pub(crate) const TEXT: Capabilities =
        Capabilities { text: true, binary: false, end: End::Near, ..Capabilities::BINARY };
}
