//! The options of JSON.

use crate::options::Settings;

/// How to handle an escape that is half of a surrogate pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Surrogates {
    /// It is an error.
    #[default]
    Error,
    /// It becomes U+FFFD.
    Replace,
    /// It is kept, as Perl does; the string is then not valid UTF-8.
    Keep,
}

/// How to write byte strings that are not UTF-8.
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
    /// U+FFFD for each invalid part.
    Replace,
    /// An error.
    Error,
}

/// Which encoding the bytes of a byte string are taken to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextAs {
    /// UTF-8 if the bytes are valid; otherwise [`BytesAs`] applies.
    #[default]
    Utf8,
    /// Always Latin-1: a character for each byte, as JSON::XS does.
    Latin1,
}

/// How to write a cycle: a link inside of the container that it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cycles {
    /// It is an error.
    #[default]
    Error,
    /// It becomes null.
    Null,
}

/// How floats are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Floats {
    /// The shortest text that reads back as the same float, with a point or an
    /// exponent.
    #[default]
    Shortest,
    /// 15 digits, as perl prints floats and JSON::XS writes them.
    JsonXs,
    /// 15 digits, with `.0` after whole numbers, as Cpanel::JSON::XS writes them.
    Cpanel,
}

/// How infinity and NaN are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum InfNan {
    /// As null.
    #[default]
    Null,
    /// As a string: `"inf"`, `"-inf"`, `"nan"`, and `"-nan"` if it has a sign.
    Text,
    /// As a string; NaN never has a sign.
    Unified,
    /// As a bare word, which is not JSON.
    Word,
}

/// Options of [`read`](super::read).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Whether the input is `json:typed`. If this is `None`, its first key decides.
    pub typed: Option<bool>,
    /// How to handle an escape that is half of a surrogate pair.
    pub surrogates: Surrogates,
    /// Which input beyond JSON is accepted.
    pub relaxed: Relaxed,
}

/// Input beyond JSON that is accepted. By default, none is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Relaxed {
    /// A comma before a closing bracket, tabs in strings and comments after `#`, as
    /// JSON::XS's `relaxed` accepts them.
    pub relaxed: bool,
    /// Comments: `#`, `//` and `/* */`.
    pub comments: bool,
    /// Strings in single quotes.
    pub singlequote: bool,
    /// Keys without quotes.
    pub barekey: bool,
    /// Control characters in strings.
    pub loose: bool,
    /// `("Class")[…]`, as JSON::XS writes an object that has a method `FREEZE`.
    pub tags: bool,
    /// A float with more digits than a 64-bit float can represent becomes a string
    /// with all its digits.
    pub bignum: bool,
    /// A duplicate key in an object is an error.
    pub unique_keys: bool,
}

/// Options of [`write`](super::write()).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Represent everything in the document: `json:typed`.
    pub typed: bool,
    /// With `typed`: add the byte form.
    pub spelling: bool,
    /// Number of blanks to indent each level by; 0 writes everything on one line.
    pub indent: usize,
    /// Write each value on its own line, even if `indent` is 0.
    pub pretty: bool,
    /// A blank before each colon.
    pub space_before: bool,
    /// A blank after each colon, and after commas that do not end a line. If this is
    /// `None`, there is one if values have their own lines.
    pub space_after: Option<bool>,
    /// Sort the keys of each object by their bytes.
    pub sort_keys: bool,
    /// Escape every character beyond ASCII.
    pub ascii: bool,
    /// Write Latin-1: characters up to U+00FF are one byte, the others are escaped.
    pub latin1: bool,
    /// Escape slashes.
    pub escape_slash: bool,
    /// How floats are written.
    pub floats: Floats,
    /// How infinity and NaN are written.
    pub infnan: InfNan,
    /// Write as Perl's modules do: references to 0 and 1 and objects of
    /// `JSON::PP::Boolean` are booleans, text may have surrogates, and numbers read
    /// from JSON do not keep their text.
    pub perl: bool,
    /// Write `("Class")[…]` for objects that a method `FREEZE` has frozen, as JSON::XS does.
    pub tags: bool,
    /// Write null for objects.
    pub allow_blessed: bool,
    /// How to write byte strings that are not UTF-8.
    pub bytes: BytesAs,
    /// Which encoding the bytes of a byte string are taken to have.
    pub text: TextAs,
    /// Keep the class names of objects, as an entry with this key.
    pub class: Option<String>,
    /// How to write a cycle: a link inside of the container that it names.
    pub cycles: Cycles,
}

impl ReadOptions {
    /// Returns `true` if any input beyond JSON is accepted.
    pub(super) fn is_relaxed(&self) -> bool {
        self.relaxed != Relaxed::default()
    }

    pub(crate) fn from_settings(settings: &Settings) -> ReadOptions {
        ReadOptions {
            typed: settings.flag_set("typed"),
            surrogates: match settings.choice("surrogates") {
                Some("replace") => Surrogates::Replace,
                Some("keep") => Surrogates::Keep,
                _ => Surrogates::Error,
            },
            relaxed: Relaxed {
                relaxed: settings.flag("relaxed"),
                comments: settings.flag("comments"),
                singlequote: settings.flag("singlequote") || settings.flag("allow_singlequote"),
                barekey: settings.flag("barekey") || settings.flag("allow_barekey"),
                loose: settings.flag("loose"),
                tags: settings.flag("tags") || settings.flag("allow_tags"),
                bignum: settings.flag("bignum") || settings.flag("allow_bignum"),
                unique_keys: settings.choice("dupkeys") == Some("error"),
            },
        }
    }
}

/// Number of blanks that JSON::XS indents by.
const JSON_XS_INDENT: usize = 3;

impl WriteOptions {
    pub(crate) fn from_settings(settings: &Settings) -> WriteOptions {
        // The Perl module whose output is imitated.
        let perl_module = settings.choice("as").filter(|name| *name != "icecore");
        let number = |name| settings.number(name).and_then(|number| usize::try_from(number).ok());
        let pretty = settings.flag("pretty");
        let indent = number("indent").or_else(|| number("indent_length").filter(|_| pretty));
        WriteOptions {
            pretty,
            space_before: settings.flag_set("space_before").unwrap_or(pretty),
            // Perl's modules write this blank only with `pretty` or `space_after`, not because of the indent.
            space_after: settings.flag_set("space_after").or_else(|| perl_module.map(|_| pretty)),
            latin1: settings.flag("latin1"),
            escape_slash: settings.flag("escape_slash"),
            floats: match settings.choice("floats").or(perl_module) {
                Some("json-xs") => Floats::JsonXs,
                Some("cpanel") => Floats::Cpanel,
                _ => Floats::Shortest,
            },
            // The numbers are those of Cpanel::JSON::XS. Without the option, `as=json-xs` writes bare words.
            infnan: match settings.number("stringify_infnan").unwrap_or(if perl_module == Some("json-xs") {
                2
            } else {
                0
            }) {
                1 => InfNan::Text,
                2 => InfNan::Word,
                3 => InfNan::Unified,
                _ => InfNan::Null,
            },
            perl: perl_module.is_some(),
            tags: settings.flag("tags") || settings.flag("allow_tags"),
            allow_blessed: settings.flag("allow_blessed"),
            typed: settings.flag("typed"),
            spelling: settings.flag("spelling"),
            indent: indent.unwrap_or(if pretty { JSON_XS_INDENT } else { 0 }),
            sort_keys: ["sort_keys", "sorted", "canonical"].iter().any(|name| settings.flag(name)),
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
                None if perl_module.is_some() => TextAs::Latin1,
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
