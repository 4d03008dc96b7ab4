//! Options: the template, and the names of items.

use super::template::Program;
use super::usage_error;
use crate::error::Error;
use crate::format::flat::{ItemsAs, MAP, NAMES};
use crate::options::{OptionSpec, OptionType, Settings, Side};

pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "template",
        takes: OptionType::Text,
        side: Side::Both,
        help: "the template of pack and unpack, in quotes; it is always needed: `pack:template='(N/A*)*'`",
    },
    NAMES,
    MAP,
    OptionSpec {
        name: "exact",
        takes: OptionType::Flag,
        side: Side::Read,
        help: "stop where the template stops: what it leaves is an error, or the next of several records, not \
               left out as unpack does",
    },
    OptionSpec {
        name: "utf8",
        takes: OptionType::Flag,
        side: Side::Both,
        help: "the packed string is text in UTF-8: the template counts characters, as in a Perl string with the UTF8 flag",
    },
    OptionSpec {
        name: "encode",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "pack the UTF-8 bytes of texts, as Perl's encode_utf8 returns them, not their characters",
    },
];

/// How a list is packed.
///
/// ```
/// use icecore::{Limits, format::pack};
/// let document = icecore::read(b"[1, 2]")?;
/// let mut out = Vec::new();
/// pack::write(&document, &pack::Options::new("n*"), &Limits::default(), &mut out)?;
/// assert_eq!(out, [0, 1, 0, 2]);
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The compiled template.
    pub(super) program: Program,
    /// What the items of the list are.
    pub items_as: ItemsAs,
    /// The data must end with the template; `unpack` ignores the rest.
    pub exact: bool,
    /// Whether the packed string is text.
    pub utf8: bool,
    /// Pack the UTF-8 bytes of texts instead of their characters.
    pub encode: bool,
}

impl Options {
    /// Returns options with this template only.
    pub fn new(template: &str) -> Options {
        let program = Program::new(template.as_bytes());
        Options { program, items_as: ItemsAs::List, exact: false, utf8: false, encode: false }
    }

    pub(crate) fn from_settings(settings: &Settings) -> Result<Options, Error> {
        let template = settings.text("template").ok_or_else(|| {
            usage_error("a template")
                .finding("none")
                .helping("for example `pack:template='(N/A*)*'`; it can't be guessed")
        })?;
        Ok(Options {
            items_as: ItemsAs::from_settings(settings)?,
            exact: settings.flag("exact"),
            utf8: settings.flag("utf8"),
            encode: settings.flag("encode"),
            ..Options::new(template)
        })
    }
}
