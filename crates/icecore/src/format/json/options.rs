//! The options of JSON.

use crate::options::{Opt, Settings, Side, Takes};

/// The table of options.
pub(super) static TABLE: &[Opt] = &ALL;

/// The table of the options of lines: `indent` has no place there.
pub(super) static LINES: &[Opt] = &{
    let mut lines = [ALL[0]; ALL.len() - 1];
    let (mut from, mut to) = (0, 0);
    while from < ALL.len() {
        if from != INDENT {
            lines[to] = ALL[from];
            to += 1;
        }
        from += 1;
    }
    lines
};

const INDENT: usize = 2;

const ALL: [Opt; 11] = [
    Opt {
        name: "typed",
        takes: Takes::Flag,
        side: Side::Both,
        help: "says everything that a document means, and reads back to an equal one; `typed=no` reads one as plain JSON",
    },
    Opt {
        name: "spelling",
        takes: Takes::Flag,
        side: Side::Write,
        help: "with `typed`: adds the byte form, so that the original format comes back byte for byte",
    },
    Opt {
        name: "indent",
        takes: Takes::Number(0, 8),
        side: Side::Write,
        help: "how many blanks to indent each level by; 0, the default, writes all in one line",
    },
    Opt {
        name: "sort_keys",
        takes: Takes::Flag,
        side: Side::Write,
        help: "sorts the keys of each object by their bytes",
    },
    Opt { name: "sorted", takes: Takes::Flag, side: Side::Write, help: "the same as `sort_keys`" },
    Opt { name: "ascii", takes: Takes::Flag, side: Side::Write, help: "escapes every character beyond ASCII" },
    Opt {
        name: "bytes",
        takes: Takes::Choice(&["latin1", "base64", "hex", "replace", "error"]),
        side: Side::Write,
        help: "what becomes of byte strings that are not UTF-8: a character for each byte, Base64, hex digits, \
               U+FFFD for what is wrong, or an error",
    },
    Opt {
        name: "text",
        takes: Takes::Choice(&["utf8", "latin1"]),
        side: Side::Write,
        help: "how byte strings are read: as UTF-8 where they are valid, or always as Latin-1, as JSON::XS does",
    },
    Opt {
        name: "class",
        takes: Takes::Text,
        side: Side::Write,
        help: "keeps the class names of objects, as an entry with this key",
    },
    Opt {
        name: "cycles",
        takes: Takes::Choice(&["error", "null"]),
        side: Side::Write,
        help: "what becomes of a link to a container that contains it",
    },
    Opt {
        name: "surrogates",
        takes: Takes::Choice(&["error", "replace", "keep"]),
        side: Side::Read,
        help: "what becomes of an escape that is half of a surrogate pair: an error, U+FFFD, or the surrogate itself",
    },
];

const _: () = assert!(matches!(ALL[INDENT].takes, Takes::Number(..)), "only `indent` takes a number");

/// What becomes of an escape that is half of a surrogate pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Surrogates {
    /// It is an error.
    #[default]
    Error,
    /// It becomes U+FFFD.
    Replace,
    /// It stays, as Perl keeps it; the string is then not valid UTF-8.
    Keep,
}

/// What becomes of byte strings that are not UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BytesAs {
    /// A character, U+0000 to U+00FF, for each byte.
    #[default]
    Latin1,
    /// Their Base64.
    Base64,
    /// Their hex digits.
    Hex,
    /// U+FFFD for each wrong part.
    Replace,
    /// An error.
    Error,
}

/// How byte strings become text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextAs {
    /// As UTF-8 where they are valid; [`BytesAs`] says what happens elsewhere.
    #[default]
    Utf8,
    /// As Latin-1, always: a character for each byte, as JSON::XS does.
    Latin1,
}

/// What becomes of a link to a container that contains it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cycles {
    /// It is an error.
    #[default]
    Error,
    /// It becomes null.
    Null,
}

/// Options of [`read`](super::read).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Whether it is `json:typed`. `None`: if it says so in its first key.
    pub typed: Option<bool>,
    /// What becomes of an escape that is half of a surrogate pair.
    pub surrogates: Surrogates,
}

/// Options of [`write`](super::write()).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Say everything that the document means: `json:typed`.
    pub typed: bool,
    /// With `typed`: add the byte form.
    pub spelling: bool,
    /// How many blanks to indent each level by; 0 writes all in one line.
    pub indent: usize,
    /// Sort the keys of each object by their bytes.
    pub sort_keys: bool,
    /// Escape every character beyond ASCII.
    pub ascii: bool,
    /// What becomes of byte strings that are not UTF-8.
    pub bytes: BytesAs,
    /// How byte strings become text.
    pub text: TextAs,
    /// Keep the class names of objects, as an entry with this key.
    pub class: Option<String>,
    /// What becomes of a link to a container that contains it.
    pub cycles: Cycles,
}

impl ReadOptions {
    pub(crate) fn from_settings(settings: &Settings) -> ReadOptions {
        ReadOptions {
            typed: settings.flag_set("typed"),
            surrogates: match settings.choice("surrogates") {
                Some("replace") => Surrogates::Replace,
                Some("keep") => Surrogates::Keep,
                _ => Surrogates::Error,
            },
        }
    }
}

impl WriteOptions {
    pub(crate) fn from_settings(settings: &Settings) -> WriteOptions {
        WriteOptions {
            typed: settings.flag("typed"),
            spelling: settings.flag("spelling"),
            indent: settings.number("indent").and_then(|indent| usize::try_from(indent).ok()).unwrap_or(0),
            sort_keys: settings.flag("sort_keys") || settings.flag("sorted"),
            ascii: settings.flag("ascii"),
            bytes: match settings.choice("bytes") {
                Some("base64") => BytesAs::Base64,
                Some("hex") => BytesAs::Hex,
                Some("replace") => BytesAs::Replace,
                Some("error") => BytesAs::Error,
                _ => BytesAs::Latin1,
            },
            text: match settings.choice("text") {
                Some("latin1") => TextAs::Latin1,
                _ => TextAs::Utf8,
            },
            class: settings.text("class").map(str::to_owned),
            cycles: match settings.choice("cycles") {
                Some("null") => Cycles::Null,
                _ => Cycles::Error,
            },
        }
    }
}
