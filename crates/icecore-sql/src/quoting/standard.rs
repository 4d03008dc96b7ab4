//! Standard SQL strings (`'it''s'`), and PostgreSQL's dollar-quoted strings (`$tag$…$tag$`).

use icecore::raw::find_byte;
use icecore::rewrite::{Decoded, DecodedBuilder, ReplacedRange};
use memchr::memchr;

/// Decodes the content of a string, in which two quotes stand for one. Returns `None` for a single quote.
pub(super) fn decode_standard(raw: &[u8], quote: u8) -> Option<Decoded<'_>> {
    let mut builder = DecodedBuilder::new(raw);
    let mut offset = 0;
    while let Some(found) = find_byte(raw.get(offset..)?, [quote]) {
        let start = offset + found;
        offset = start + 2;
        if raw.get(start + 1) != Some(&quote) {
            return None;
        }
        builder.escape(start, offset, &[quote]);
    }
    Some(builder.finish())
}

/// Appends the text with doubled quotes. Returns `false` if the text contains a NUL, because standard strings can't
/// express it.
pub(super) fn encode_standard(text: &[u8], quote: u8, out: &mut Vec<u8>) -> bool {
    for &byte in text {
        if byte == quote {
            out.push(quote);
        }
        out.push(byte);
    }
    memchr(0, text).is_none()
}

/// Appends the text as it is, because dollar-quoted strings have no escapes. The tag that ends the string is not
/// known here, so this returns `false` if the text contains a `$`, or if it would become a tag because of the `$`
/// before and after it.
pub(super) fn encode_dollar(text: &[u8], range: &ReplacedRange<'_>, out: &mut Vec<u8>) -> bool {
    const MAX_TAG_LEN: usize = 1024;
    let is_tag = |byte: &&u8| crate::scan::is_word_byte(**byte) && **byte != b'$';
    let before = range.raw.get(..range.start).unwrap_or_default();
    let after = range.raw.get(range.end..).unwrap_or_default();
    let follows_dollar = before.iter().rev().take(MAX_TAG_LEN).find(|byte| !is_tag(byte)) == Some(&b'$');
    let precedes_dollar = after.iter().take(MAX_TAG_LEN).find(|byte| !is_tag(byte)) == Some(&b'$');
    out.extend_from_slice(text);
    memchr(b'$', text).is_none()
        && memchr(0, text).is_none()
        && !(follows_dollar && precedes_dollar && text.iter().all(|byte| is_tag(&byte)))
}
