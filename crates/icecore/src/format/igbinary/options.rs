//! Options of the reader and of the writer.

use crate::class_map;
use crate::options::{OptionSpec, OptionType, Settings, Side};

pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "compact_strings",
        takes: OptionType::Choice(&["on", "off"]),
        side: Side::Write,
        help: "on: a repeated string is written as its number, as with igbinary.compact_strings",
    },
    OptionSpec { name: "lenient", takes: OptionType::Flag, side: Side::Read, help: "ignore bytes after the value" },
    class_map::OPTION,
];

/// How igbinary is written.
///
/// ```
/// use icecore::{Limits, format::igbinary};
/// let document = icecore::read(br#"["a","a"]"#)?;
/// let mut options = igbinary::WriteOptions::default();
/// options.compact_strings = false;
/// let mut out = Vec::new();
/// igbinary::write(&document, &options, &Limits::default(), &mut out)?;
/// assert_eq!(out, b"\0\0\0\x02\x14\x02\x06\0\x11\x01a\x06\x01\x11\x01a");
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// A string that was written before is written as a number.
    pub compact_strings: bool,
}

impl Default for WriteOptions {
    fn default() -> WriteOptions {
        WriteOptions { compact_strings: true }
    }
}

/// How a document is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Ignore bytes after the document.
    pub lenient: bool,
}

impl ReadOptions {
    pub(super) fn from_settings(settings: &Settings) -> ReadOptions {
        ReadOptions { lenient: settings.flag("lenient") }
    }
}

impl WriteOptions {
    pub(super) fn from_settings(settings: &Settings) -> WriteOptions {
        WriteOptions { compact_strings: settings.choice("compact_strings") != Some("off") }
    }
}
