//! `--charset`: the charset of an input that does not name it.

use crate::unicode::CodeUnits;
use icecore_replace::Charset;

/// The charset of an input.
#[derive(Clone, Debug)]
pub enum CharsetArg {
    /// UTF-8; the bytes are used as they are.
    Utf8,
    /// One byte for each character.
    Single(Charset),
    /// UTF-16 or UTF-32.
    Wide(CodeUnits),
}

/// Parses the value of `--charset`.
pub fn parse_charset(text: &str) -> Result<CharsetArg, String> {
    if text.eq_ignore_ascii_case("utf-8") || text.eq_ignore_ascii_case("utf8") {
        return Ok(CharsetArg::Utf8);
    }
    let wide = CodeUnits::from_name(text).map(CharsetArg::Wide);
    wide.or_else(|| Charset::from_name(text).map(CharsetArg::Single)).ok_or_else(|| {
        "use `utf-8`, `utf-16le`, `utf-16be`, `utf-32le`, `utf-32be`, or a charset of single bytes such as `latin1`, \
         `windows-1251`, `iso-8859-15`, `koi8-r` or `cp850`; `iconv` converts others to UTF-8"
            .to_owned()
    })
}
