//! Characters of strings with a named encoding, converted like in Ruby.
//!
//! Single-byte encodings are a table that was printed by Ruby (`fixtures/ruby/encodings.rb`). Multi-byte encodings need
//! the feature `encodings`; if the Web's tables differ from Ruby's, Ruby's character is used.

mod single_byte;
mod unicode;

use std::borrow::Cow;

/// Maximum length of the name of an encoding.
const MAX_NAME_LEN: usize = 40;

/// Returns the text of these bytes in the encoding with this name; `None` if the encoding is unknown or the bytes are
/// invalid in it.
///
/// ```
/// assert_eq!(icecore::encoding::decoded("Shift_JIS", b"\x93\xfa\x96\x7b").as_deref(), Some("日本"));
/// assert_eq!(icecore::encoding::decoded("ISO-8859-15", b"\xa4").as_deref(), Some("€"));
/// assert_eq!(icecore::encoding::decoded("Shift_JIS", b"\x93"), None);
/// assert_eq!(icecore::encoding::decoded("Emacs-Mule", b"\x81\xe9"), None);
/// ```
pub fn decoded<'b>(encoding: &str, bytes: &'b [u8]) -> Option<Cow<'b, str>> {
    // No name is longer; a long hostile name is not processed again for each of its strings.
    if encoding.len() > MAX_NAME_LEN {
        return None;
    }
    if let Some(table) = single_byte::find_table(encoding) {
        return single_byte::decode_single_byte(table, bytes);
    }
    match encoding.to_ascii_uppercase().as_str() {
        "UTF-8" | "US-ASCII" | "CP65001" | "UTF8-MAC" | "UTF-8-MAC" => {
            std::str::from_utf8(bytes).ok().map(Cow::Borrowed)
        }
        "UTF-16LE" => unicode::decode_utf16(bytes, u16::from_le_bytes),
        "UTF-16BE" | "UCS-2BE" => unicode::decode_utf16(bytes, u16::from_be_bytes),
        "UTF-16" => unicode::decode_marked_utf16(bytes),
        "UTF-32LE" | "UCS-4LE" => unicode::decode_utf32(bytes, u32::from_le_bytes),
        "UTF-32BE" | "UCS-4BE" => unicode::decode_utf32(bytes, u32::from_be_bytes),
        "UTF-32" => unicode::decode_marked_utf32(bytes),
        #[cfg(feature = "encodings")]
        name => several_bytes::decode_multi_byte(name, bytes),
        #[cfg(not(feature = "encodings"))]
        _ => None,
    }
}

#[cfg(feature = "encodings")]
mod several_bytes;
