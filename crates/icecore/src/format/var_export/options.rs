//! Options of the writer.

use crate::class_map;
use crate::options::{OptionSpec, OptionType, Settings, Side};

pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "file",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "write a file that returns the value, for PHP's require; `file=no` omits the text around the value that was read",
    },
    OptionSpec {
        name: "short",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "write arrays as people do: in `[` and `]`, indented by 4, lists without keys",
    },
    OptionSpec {
        name: "plain",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "write objects as arrays and enum cases as strings: running the text loads no class and calls no `__set_state`",
    },
    OptionSpec {
        name: "trusted",
        takes: OptionType::Flag,
        side: Side::Write,
        help: "write `<?` in strings as var_export() does, though PHP runs what follows where the text is a file without `<?php` in front; for values of your own program",
    },
    class_map::OPTION,
];

/// How a value is read. It has no options yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {}

/// How a value is written.
///
/// ```
/// use icecore::{Limits, format::var_export};
/// let document = icecore::read(br#"{"debug":true,"hosts":["a","b"]}"#)?;
/// let mut options = var_export::WriteOptions::default();
/// options.file = Some(true);
/// options.short = true;
/// let mut text = Vec::new();
/// var_export::write(&document, &options, &Limits::default(), &mut text)?;
/// assert_eq!(
///     String::from_utf8_lossy(&text),
///     "<?php\n\nreturn [\n    'debug' => true,\n    'hosts' => [\n        'a',\n        'b',\n    ],\n];\n"
/// );
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Whether to write a file that returns the value. If this is `None`, the text around
    /// the value that was read is written again.
    pub file: Option<bool>,
    /// Write arrays in `[` and `]`, indented by 4, lists without keys.
    pub short: bool,
    /// Write objects as arrays and enum cases as strings. Running the text then loads no class
    /// and calls no `__set_state`.
    pub plain: bool,
    /// Write strings with the bytes of `var_export()`, even if PHP would run their content: in a
    /// file that does not begin with `<?php`, text after `<?` is code.
    pub trusted: bool,
}

impl WriteOptions {
    pub(super) fn from_settings(settings: &Settings) -> WriteOptions {
        WriteOptions {
            file: settings.flag_set("file"),
            short: settings.flag("short"),
            plain: settings.flag("plain"),
            trusted: settings.flag("trusted"),
        }
    }
}
