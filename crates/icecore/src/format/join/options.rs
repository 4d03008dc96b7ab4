//! The separator, and whether the fields are a list, the values of named keys, or keys and values.

use crate::error::{Error, ErrorKind};
use crate::format::flat::{ItemsAs, MAP, NAMES};
use crate::options::{OptionSpec, OptionType, Settings, Side};

pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "separator",
        takes: OptionType::Text,
        side: Side::Both,
        help: "the text between two fields, taken literally; the default is the byte 1C, perl's `$;`",
    },
    NAMES,
    MAP,
    OptionSpec {
        name: "trim",
        takes: OptionType::Flag,
        side: Side::Read,
        help: "leave out empty fields at the end, as perl's split does without a limit",
    },
];

/// How fields are joined by the writer, and split by the reader.
///
/// ```
/// use icecore::{Limits, format::join};
/// let document = icecore::read(br#"["a", "b", 3]"#)?;
/// let mut out = Vec::new();
/// join::write(&document, &join::Options::default(), &Limits::default(), &mut out)?;
/// assert_eq!(out, b"a\x1cb\x1c3");
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Bytes between two fields.
    pub separator: Vec<u8>,
    /// Whether the fields are a list, the values of named keys, or keys and values in turn.
    pub items_as: ItemsAs,
    /// Leave out empty fields at the end when reading.
    pub trim: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { separator: vec![0x1C], items_as: ItemsAs::List, trim: false }
    }
}

impl Options {
    pub(super) fn from_settings(settings: &Settings) -> Result<Options, Error> {
        let default = Options::default();
        let separator = settings.text("separator").map_or(default.separator, |text| text.as_bytes().to_vec());
        let options = Options { separator, items_as: ItemsAs::from_settings(settings)?, trim: settings.flag("trim") };
        options.check()?;
        Ok(options)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.separator.is_empty() {
            return Err(Error::new(ErrorKind::Usage)
                .expecting("a separator of a byte or more")
                .finding("an empty one"));
        }
        Ok(())
    }
}
