//! Properties of formats as data. Code that works with all formats tests these and names no
//! format.

use super::Format;
use crate::document::Naming;

/// What a format is like, and what it can.
#[derive(Clone, Copy, Debug)]
pub struct Capabilities {
    /// The usual extension of its files, without a dot.
    pub extension: &'static str,
    /// A text, behind which blanks mean nothing.
    pub text: bool,
    /// Its bytes are no text: a terminal shows nonsense.
    pub binary: bool,
    /// What tells it from others.
    pub evidence: Evidence,
    /// Documents of it do not stand one behind the other.
    pub alone: bool,
    /// What is written between documents that follow each other.
    pub separator: &'static [u8],
    /// What tells that a document which was read is complete, while more input may come.
    pub end: End,
    /// Its reader skips blanks in front of a document.
    pub skips_blanks: bool,
    /// Its reader does not take a byte order mark: callers remove the mark first.
    pub no_mark: bool,
    /// Where a document begins behind one that is damaged: reading can start again there.
    /// Empty: it can't.
    pub restarts: &'static [Restart],
    /// Each line is a document of this format.
    pub line: Option<&'static Format>,
    /// Strings are stored once and named again: a program that copies each of them may need
    /// much more memory than the input has bytes.
    pub names_strings_again: bool,
    /// Finished items can be handed over while reading continues.
    pub hands_over: bool,
    /// Without classes, links and the like a document has only values that perl has.
    pub like_perl: bool,
    /// How its language names classes and members.
    pub(crate) naming: Naming,
}

/// Bytes that tell where a document begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restart {
    /// What stands before it.
    pub before: &'static [u8],
    /// What it begins with.
    pub begins: &'static [u8],
    /// Such bytes stand nowhere else, as good as certain: what can't be read from there on is
    /// another damaged document. Otherwise it is a part of the one before.
    pub is_sure: bool,
}

impl Restart {
    /// A signature.
    pub(crate) const fn sure(begins: &'static [u8]) -> Restart {
        Restart { before: b"", begins, is_sure: true }
    }

    /// What also stands in documents.
    pub(crate) const fn guess(before: &'static [u8], begins: &'static [u8]) -> Restart {
        Restart { before, begins, is_sure: false }
    }
}

/// What tells a format from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// How it begins.
    Beginning,
    /// That all of it can be read: many texts begin as it does.
    Whole,
    /// Nothing: it has to be named.
    None,
}

/// What tells that a document which was read is complete, while more input may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The format says where it ends.
    Declared,
    /// What comes next, if the last byte is a letter or a digit: `1` may continue with `2`.
    Word,
    /// What comes next, within some bytes.
    Near,
}

impl Capabilities {
    /// A binary format that can nothing special.
    pub(crate) const BINARY: Capabilities = Capabilities {
        extension: "",
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
        naming: Naming::Plain,
    };

    /// A text format that can nothing special.
    pub(crate) const TEXT: Capabilities =
        Capabilities { text: true, binary: false, end: End::Near, ..Capabilities::BINARY };
}
