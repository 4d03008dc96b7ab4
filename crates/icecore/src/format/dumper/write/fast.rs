//! A fast loop for runs of common leaves.
//!
//! It stops before anything else, and the code in [`super::frames`] continues there. For the leaves that the loop
//! wrote, that code would write the same bytes.

use super::Writer;
use super::frames::{WriteFrame, WrittenContainer};
use super::leaf::push_digits;
use super::quote;
use crate::document::{Document, Kind, Location, Node, flag};
use crate::format::dumper::options::WriteOptions;
use crate::output::FLUSH_SIZE;

/// Class of the bytes of names.
const WORD: u8 = 1;
/// Class of the bytes that need a backslash in single quotes.
const SPECIAL: u8 = 2;
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let is_word = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
        classes[byte] = if is_word { WORD } else { 0 };
        byte += 1;
    }
    classes[b'\'' as usize] = SPECIAL;
    classes[b'\\' as usize] = SPECIAL;
    classes
};

impl Writer<'_> {
    /// Writes as many children of the frame at `level` as it can.
    #[inline]
    pub(super) fn fast_children(&mut self, frame: &mut WriteFrame, level: usize, buf: &mut Vec<u8>) {
        let is_array = frame.container == WrittenContainer::Array;
        let has_indexes = is_array && self.style.options.indent >= 3;
        if !self.is_fast || has_indexes || !is_array && frame.container != WrittenContainer::Hash {
            return;
        }
        while let Some(node) = self.nodes.get(frame.next as usize).filter(|_| frame.next < frame.end) {
            let start = buf.len();
            if start >= FLUSH_SIZE || node.kind.is_container() {
                return;
            }
            if frame.count > 0 {
                buf.push(b',');
            }
            if self.has_lines {
                self.start_line(frame.column, level, buf);
            }
            let options = self.style.options;
            let is_written =
                (is_array || push_key(self.document, node.key, options, buf)) && push_common(self.document, node, buf);
            if !is_written || self.blanks > self.max_blanks {
                return buf.truncate(start);
            }
            frame.next += 1;
            frame.count += 1;
        }
    }
}

/// Writes a key without flags, and the text after it. Returns `false`, with nothing written,
/// for other keys.
#[inline(always)]
pub(super) fn push_key(document: &Document<'_>, id: u16, options: &WriteOptions, buf: &mut Vec<u8>) -> bool {
    let Some((entry, names)) = document.tape().keys().get_plain(id) else { return false };
    let Location::Arena(start) = entry.node.location() else { return false };
    let Some(key) = names.get(start as usize..).and_then(|rest| rest.get(..entry.node.aux as usize)) else {
        return false;
    };
    let (every, any) = key.iter().fold((WORD, 0), |(every, any), byte| {
        let class = CLASSES[usize::from(*byte)];
        (every & class, any | class)
    });
    let is_name = every == WORD && !key.first().is_none_or(u8::is_ascii_digit);
    if !options.quotekeys && (is_name || quote::is_decimal(key)) {
        buf.extend_from_slice(key);
    } else if any & SPECIAL == 0 {
        buf.push(b'\'');
        buf.extend_from_slice(key);
        buf.push(b'\'');
    } else {
        quote::push_single(key, buf);
    }
    buf.extend_from_slice(options.pair.as_bytes());
    true
}

/// Writes a leaf without references to it. Returns `false`, with nothing written, for other
/// values.
#[inline(always)]
pub(super) fn push_common(document: &Document<'_>, node: &Node, buf: &mut Vec<u8>) -> bool {
    if node.flags & (flag::TARGET | flag::HINT) != 0 {
        return false;
    }
    match node.kind {
        Kind::Bytes => {
            let (base, start) = match node.location() {
                Location::Input(start) => (document.input(), start),
                Location::Arena(start) => (document.tape().arena(), start),
            };
            if !push_short(base, start as usize, node.aux as usize, buf) {
                quote::push_single(document.bytes(node), buf);
            }
        }
        Kind::Text => {
            let bytes = document.bytes(node);
            if !bytes.is_ascii() {
                return false;
            }
            quote::push_single(bytes, buf);
        }
        Kind::Int => {
            let start = buf.len();
            if push_digits(itoa::Buffer::new().format(node.payload as i64).as_bytes(), buf)
                && !document.tape().filled_by_caller
            {
                // These digits would be written in quotes. That is a loss, and only the writer reports losses.
                buf.truncate(start);
                return false;
            }
        }
        Kind::Null => buf.extend_from_slice(b"undef"),
        _ => return false,
    }
    true
}

/// 0x01 in each byte, and 0x80 in each byte.
const ONES: u128 = u128::MAX / 0xFF;
const HIGHS: u128 = ONES << 7;

/// Writes `base[start..start + len]` in single quotes, if it is short and needs no backslashes. It is written as a
/// block of 18 bytes, and the bytes after the string are cut off again.
#[inline(always)]
fn push_short(base: &[u8], start: usize, len: usize, buf: &mut Vec<u8>) -> bool {
    if len > 16 {
        return false;
    }
    let Some(window) = base.get(start..).and_then(|rest| rest.first_chunk::<16>()) else { return false };
    let word = u128::from_le_bytes(*window);
    // Returns the high bits of the bytes that equal `byte`. These bytes are zero in `differs`, so the subtraction of
    // 1 borrows there. A later byte may be reported by mistake, because of a borrow. Then the slow path only writes
    // the string.
    let has = |byte: u8| {
        let differs = word ^ (ONES * u128::from(byte));
        differs.wrapping_sub(ONES) & !differs & HIGHS
    };
    // The mask removes the bytes after the string.
    let counted = if len == 16 { u128::MAX } else { (1 << (8 * len)) - 1 };
    if (has(b'\'') | has(b'\\')) & counted != 0 {
        return false;
    }
    let mut quoted = [b'\''; 18];
    quoted[1..17].copy_from_slice(window);
    quoted[len + 1] = b'\'';
    let end = buf.len() + len + 2;
    buf.extend_from_slice(&quoted);
    buf.truncate(end);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_path_quotes_short_strings_like_the_slow_one() {
        let base = b"0123456789abcdef'hgf\\edcba9876543210";
        for start in 0..base.len() {
            for len in 0..base.len() - start {
                let (mut fast, mut slow) = (Vec::new(), Vec::new());
                quote::push_single(&base[start..start + len], &mut slow);
                if push_short(base, start, len, &mut fast) {
                    assert_eq!(fast, slow);
                } else {
                    let needs_more = len > 16 || slow.len() > len + 2 || start + 16 > base.len();
                    assert!(needs_more && fast.is_empty(), "{start} {len}");
                }
            }
        }
    }
}
