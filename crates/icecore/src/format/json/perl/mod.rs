//! JSON as Perl's JSON::XS and Cpanel::JSON::XS read and write it, for the module that
//! replaces them: bytes are characters up to U+00FF, and numbers are printed as perl prints
//! them. The caller that fills the tape decides which Perl values are numbers and which are
//! strings.
//!
//! ```
//! use icecore::format::json::perl::{Style, write};
//! let document = icecore::read(br#"{"pi":3.25,"list":[1,"x"]}"#)?;
//! let mut out = Vec::new();
//! write(&document, &Style { space_after: true, ..Style::default() }, &mut out)?;
//! assert_eq!(out, br#"{"pi": 3.25, "list": [1, "x"]}"#);
//! # Ok::<(), icecore::Error>(())
//! ```

pub(super) mod number;
mod read;
mod text;
mod write;

pub use read::read;
pub use write::write;

/// Which characters are written without escapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beyond {
    /// All, as UTF-8.
    #[default]
    Utf8,
    /// Those up to U+00FF, each as one byte; others are escaped.
    Latin1,
    /// ASCII; others are escaped.
    Ascii,
    /// ASCII; the bytes of all others, also of text, are escaped as `\xe9`. This is not JSON,
    /// but Cpanel::JSON::XS's `binary`.
    Binary,
}

/// How infinity and "not a number" are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NonFiniteStyle {
    /// As C prints them, `inf` and `nan`; this is not JSON.
    #[default]
    Bare,
    /// As null.
    Null,
    /// As these words in quotes.
    Quoted,
    /// As these words in quotes, but "not a number" never has a sign.
    Unified,
}

/// How JSON is written. The names are those of the Perl modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Which characters are written without escapes.
    pub beyond: Beyond,
    /// Number of blanks to indent each level by, with each value on its own line; `None`
    /// writes everything on one line.
    pub indent: Option<u8>,
    /// A blank before the colon.
    pub space_before: bool,
    /// A blank after the colon.
    pub space_after: bool,
    /// `/` is written as `\/`.
    pub escape_slash: bool,
    /// Integral floats get a `.0`.
    pub point_zero: bool,
    /// How infinity and "not a number" are written.
    pub inf_nan: NonFiniteStyle,
    /// Every number is written in quotes.
    pub all_strings: bool,
}
