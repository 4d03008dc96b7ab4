//! Options of the reader and of the writer.

use crate::class_map;
use crate::options::{OptionSpec, OptionType, Settings, Side};

pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "lenient",
        takes: OptionType::Flag,
        side: Side::Read,
        help: "ignore bytes after the value and clamp integers beyond 64 bits, as PHP does",
    },
    OptionSpec {
        name: "repair",
        takes: OptionType::Choice(&["no", "lengths"]),
        side: Side::Read,
        help: "explain wrong lengths, correct them if one explanation reads all of the text, and report it",
    },
    OptionSpec {
        name: "payloads",
        takes: OptionType::Flag,
        side: Side::Read,
        help: "read the data that a class wrote itself (`C:`) as frozen data if it begins like frozen data; then it must be well-formed",
    },
    OptionSpec {
        name: "unresolved",
        takes: OptionType::Choice(&["payloads", "links"]),
        side: Side::Read,
        help: "leave all data that classes wrote themselves (`C:`) as bytes, and read links that may lead into it as null; `links`: all links, for a text that is a part of another one",
    },
    class_map::OPTION,
];

/// How a value is read.
///
/// ```
/// use icecore::{Limits, format::php};
/// let mut options = php::ReadOptions::default();
/// options.lenient = true;
/// let document = php::read(b"i:9223372036854775808; and more", &options, &Limits::default())?;
/// assert_eq!(document.root().as_i64(), Some(i64::MAX));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Ignore bytes after the value and clamp integers beyond 64 bits, as PHP does. (PHP warns about
    /// such integers.)
    pub lenient: bool,
    /// Undo damage to the text, if one explanation reads all of it: a search and replace in a
    /// database dump, a converted charset, other line ends, lost NUL bytes, slashes, and more. The
    /// changes and their cause are in [`Document::repairs`](crate::Document::repairs). In a text
    /// that can be read as it is, only one thing is corrected: names of properties whose NUL bytes
    /// became blanks.
    ///
    /// ```
    /// use icecore::{Limits, format::php};
    /// let mut options = php::ReadOptions::default();
    /// options.repair_lengths = true;
    /// let text = br#"a:1:{s:4:"home";s:18:"https://example.com";}"#;
    /// let document = php::read(text, &options, &Limits::default())?;
    /// assert_eq!(document.root().get("home").and_then(|home| home.as_bytes()), Some(&b"https://example.com"[..]));
    /// let repair = &document.repairs()[0];
    /// assert_eq!((repair.old_len, repair.new_len, repair.path.as_str()), (18, 19, "$.home"));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub repair_lengths: bool,
    /// Read the payload of a `C:` object as PHP values if it begins like one: the result of a
    /// class's own `serialize()` mostly is one. Such a payload must then be well-formed to its end.
    /// Its values get numbers for links, as if the class called `unserialize()` on it once. Any other
    /// payload is taken to contain no numbered values.
    ///
    /// ```
    /// use icecore::{Limits, format::php};
    /// let mut options = php::ReadOptions::default();
    /// options.payloads = true;
    /// let document = php::read(br#"C:3:"Bag":19:{O:4:"Item":0:{}i:1;}"#, &options, &Limits::default())?;
    /// assert!(document.classes().iter().any(|class| class.name == b"Item"));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub payloads: bool,
    /// Leave all payloads of `C:` objects as bytes, also those of PHP's own classes.
    pub(crate) keeps_payloads: bool,
    /// Read all links as null: the text is a part of another one, and its links may lead to values outside of it.
    pub(crate) ignores_links: bool,
    /// Accept links whose targets are unknown, such as those after an opaque payload: for readers
    /// that do not follow links.
    pub(crate) accept_unknown_links: bool,
}

impl ReadOptions {
    pub(crate) fn from_settings(settings: &Settings) -> ReadOptions {
        let unresolved = settings.choice("unresolved");
        ReadOptions {
            lenient: settings.flag("lenient"),
            repair_lengths: settings.choice("repair") == Some("lengths"),
            payloads: settings.flag("payloads"),
            keeps_payloads: unresolved.is_some(),
            ignores_links: unresolved == Some("links"),
            accept_unknown_links: unresolved.is_some(),
        }
    }
}

/// How a value is written. There are no options so far.
///
/// ```
/// use icecore::{Limits, format::php};
/// let document = icecore::read(br#"{"a":[1,2.5]}"#)?;
/// let mut text = Vec::new();
/// php::write(&document, &php::WriteOptions::default(), &Limits::default(), &mut text)?;
/// assert_eq!(text, br#"a:1:{s:1:"a";a:2:{i:0;i:1;i:1;d:2.5;}}"#);
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {}
