//! Options of the reader and of the writer.

use crate::class_map;
use crate::options::{OptionSpec, OptionType, Settings, Side};

pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "utf8",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "byte strings that are UTF-8 become strings in UTF-8, as a Ruby program would have what PHP or Perl wrote",
    },
    class_map::OPTION,
];

/// How a dump is read.
///
/// ```
/// use icecore::{Limits, format::marshal};
/// let document = marshal::read(b"\x04\x08[\x06i\x06", &marshal::ReadOptions::default(), &Limits::default())?;
/// assert_eq!(document.root().item(0).and_then(|item| item.as_i64()), Some(1));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {}

impl ReadOptions {
    pub(crate) fn from_settings(_settings: &Settings) -> ReadOptions {
        ReadOptions {}
    }
}

/// How a dump is written.
///
/// ```
/// use icecore::{Limits, format::marshal};
/// let document = icecore::read(b"[1]")?;
/// let mut dump = Vec::new();
/// marshal::write(&document, &marshal::WriteOptions::default(), &Limits::default(), &mut dump)?;
/// assert_eq!(dump, b"\x04\x08[\x06i\x06");
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Byte strings that are UTF-8 become strings in UTF-8. PHP's strings and most of Perl's are
    /// bytes, and for Ruby, bytes beyond ASCII differ from the text that they encode.
    pub utf8: bool,
}

impl WriteOptions {
    pub(crate) fn from_settings(settings: &Settings) -> WriteOptions {
        WriteOptions { utf8: settings.flag("utf8") }
    }
}
