//! Options for reading and writing PHP sessions.

use super::Handler;
use crate::class_map;
use crate::options::{OptionSpec, OptionType, Settings, Side};

pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "handler",
        takes: OptionType::Choice(&["php", "php_binary", "php_serialize"]),
        side: Side::Both,
        help: "session.serialize_handler; detected when reading; the default when writing is the one that was read, or php",
    },
    OptionSpec {
        name: "lenient",
        takes: OptionType::Flag,
        side: Side::Read,
        help: "clamp integers beyond 64 bits, ignore bytes after the array of php_serialize, as PHP does, and blanks after the last \
               variable",
    },
    OptionSpec {
        name: "repair",
        takes: OptionType::Choice(&["no", "lengths"]),
        side: Side::Read,
        help: "explain wrong lengths and correct them, as in `php`",
    },
    OptionSpec {
        name: "payloads",
        takes: OptionType::Flag,
        side: Side::Read,
        help: "read the data that a class wrote itself (`C:`) as frozen data, as in `php`",
    },
    class_map::OPTION,
];

/// How a session is read.
///
/// ```
/// use icecore::{Limits, format::php::session};
/// let mut options = session::ReadOptions::default();
/// options.handler = Some(session::Handler::PhpBinary);
/// let document = session::read(b"\x01ai:1;", &options, &Limits::default())?;
/// assert_eq!(document.root().get("a").and_then(|a| a.as_i64()), Some(1));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The handler that wrote the session. `None` detects it.
    pub handler: Option<Handler>,
    /// Clamp integers beyond 64 bits, and ignore bytes after the array of `php_serialize`, as PHP
    /// does. Also ignore blanks after the last variable, which editors may add.
    pub lenient: bool,
    /// Correct wrong lengths, as [`super::super::ReadOptions::repair_lengths`] does. Names of
    /// variables must then be plain.
    ///
    /// ```
    /// use icecore::{Limits, format::php::session};
    /// let mut options = session::ReadOptions::default();
    /// options.repair_lengths = true;
    /// let document = session::read("name|s:5:\"Grüße\";n|i:1;".as_bytes(), &options, &Limits::default())?;
    /// assert_eq!(document.root().get("name").and_then(|name| name.as_str()), Some("Grüße"));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub repair_lengths: bool,
    /// Read the payload of a `C:` object as PHP values if it begins like one, as
    /// [`super::super::ReadOptions::payloads`] does.
    ///
    /// ```
    /// use icecore::{Limits, format::php::session};
    /// let mut options = session::ReadOptions::default();
    /// options.payloads = true;
    /// let text = br#"bag|C:3:"Bag":15:{O:4:"Item":0:{}}item|r:2;"#;
    /// let document = session::read(text, &options, &Limits::default())?;
    /// assert!(document.classes().iter().any(|class| class.name == b"Item"));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub payloads: bool,
    /// See [`super::super::ReadOptions::accept_unknown_links`].
    pub(crate) accept_unknown_links: bool,
}

impl ReadOptions {
    pub(super) fn from_settings(settings: &Settings) -> ReadOptions {
        ReadOptions {
            handler: parse_handler(settings),
            lenient: settings.flag("lenient"),
            repair_lengths: settings.choice("repair") == Some("lengths"),
            payloads: settings.flag("payloads"),
            ..ReadOptions::default()
        }
    }
}

/// How a session is written.
///
/// ```
/// use icecore::{Limits, format::php::session};
/// let document = icecore::read(br#"{"a":1}"#)?;
/// let mut options = session::WriteOptions::default();
/// options.handler = Some(session::Handler::PhpSerialize);
/// let mut text = Vec::new();
/// session::write(&document, &options, &Limits::default(), &mut text)?;
/// assert_eq!(text, br#"a:1:{s:1:"a";i:1;}"#);
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The handler to write for. `None` uses the handler that the document was read with, or `php` if it was not read
    /// from a session.
    pub handler: Option<Handler>,
}

impl WriteOptions {
    pub(super) fn from_settings(settings: &Settings) -> WriteOptions {
        WriteOptions { handler: parse_handler(settings) }
    }
}

fn parse_handler(settings: &Settings) -> Option<Handler> {
    let name = settings.choice("handler")?;
    Handler::ALL.into_iter().find(|handler| handler.as_str() == name)
}
