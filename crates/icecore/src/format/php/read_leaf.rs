//! Reads leaves, numbers and strings in their usual spelling, for the fast loop. The functions report no errors. They
//! return `None` at anything unusual, and the machine reads that.

use super::read_cache::read_word;
use crate::document::{Kind, Location, Node};
use crate::steps;

/// Strings of fewer bytes are short: their length has at most two digits.
pub(super) const SHORT_LIMIT: u64 = 100;
/// Maximum number of digits of an integer here. A number of 18 digits is less than 2^63, so the sum can't overflow.
const MAX_DIGITS: usize = 18;
/// An integer of at most this number of digits is exact as `f64`. These powers of ten are exact, too.
const EXACT_DIGITS: usize = 15;
const POWERS: [f64; 16] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

#[inline(always)]
pub(super) fn push_node(nodes: &mut Vec<Node>, node: Node) -> u32 {
    steps::count(1);
    let index = nodes.len() as u32;
    nodes.push(node);
    index
}

/// Puts the leaf at the beginning of `rest` on the tape if it is a common one. Returns what follows it. `input_len`
/// is the length of the whole input.
#[inline(always)]
pub(super) fn push_leaf<'a>(
    rest: &'a [u8],
    key: u16,
    nodes: &mut Vec<Node>,
    input_len: usize,
    max_len: u64,
) -> Option<&'a [u8]> {
    let (node, after) = read_common_leaf(rest, input_len, max_len)?;
    push_node(nodes, Node { key, ..node });
    Some(after)
}

/// Returns the scalar at this offset, for a stencil.
pub(super) fn read_scalar(input: &[u8], offset: usize, like: Node) -> Option<(Node, usize)> {
    let (node, after) = read_common_leaf(input.get(offset..)?, input.len(), u64::MAX)?;
    Some((Node { key: like.key, ..node }, input.len() - after.len()))
}

/// Returns the leaf at the beginning of `rest`, if it is a common one, and what follows it.
#[inline(always)]
fn read_common_leaf(rest: &[u8], input_len: usize, max_len: u64) -> Option<(Node, &[u8])> {
    const TRUE_OR_FALSE: u32 = u32::from_le_bytes(*b"b:0;");
    let head = read_word(rest);
    let letter = head as u16;
    if letter == u16::from_le_bytes(*b"s:") {
        if let Some((start, len)) = read_short_length(head) {
            // The length has at most two digits, and the callers require `max_len >= SHORT_LIMIT`. So it is not
            // compared.
            let (text, after) = rest.split_at_checked(start + len + 2)?;
            let place = Location::Input((input_len - rest.len() + start) as u64);
            return text.ends_with(b"\";").then(|| (Node::string(Kind::Bytes, place, len as u32), after));
        }
        let (start, len, end) = read_long_string(rest)?;
        return Some((make_bytes_node(input_len - rest.len() + start, len, max_len)?, rest.get(end..)?));
    }
    if letter == u16::from_le_bytes(*b"i:") {
        let (value, end) = read_short_integer(head).or_else(|| read_long_integer(rest))?;
        return Some((Node::int(value), rest.get(end..)?));
    }
    // The digits 0 and 1 differ only in the lowest bit of the third byte. The mask clears that bit.
    if head as u32 & !0x1_0000 == TRUE_OR_FALSE {
        return Some((Node::leaf(Kind::Bool, head >> 16 & 1), rest.get(4..)?));
    }
    if letter == u16::from_le_bytes(*b"N;") {
        return Some((Node::leaf(Kind::Null, 0), rest.get(2..)?));
    }
    if letter == u16::from_le_bytes(*b"d:") {
        let (value, end) = read_float(rest)?;
        return Some((Node::float(value), rest.get(end..)?));
    }
    None
}

#[inline(always)]
pub(super) fn make_bytes_node(start: usize, len: usize, max_len: u64) -> Option<Node> {
    let short = u32::try_from(len).ok().filter(|len| *len < u32::MAX && u64::from(*len) <= max_len)?;
    Some(Node::string(Kind::Bytes, Location::Input(start as u64), short))
}

/// Reads a non-negative integer of up to five digits from a word that begins with `i:`. Returns it
/// and its end.
#[inline(always)]
fn read_short_integer(head: u64) -> Option<(i64, usize)> {
    let bytes = head.to_le_bytes();
    let mut value = 0;
    for (index, byte) in bytes.iter().enumerate().skip(2) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (*byte == b';' && index > 2).then_some((value, index + 1));
        }
        value = value * 10 + i64::from(digit);
    }
    None
}

#[inline(never)]
fn read_long_integer(rest: &[u8]) -> Option<(i64, usize)> {
    read_integer(rest, 0)
}

/// Reads the length of a string, of one or two digits, from a word that begins with `s:`. Returns
/// where the string begins and its length.
#[inline(always)]
fn read_short_length(head: u64) -> Option<(usize, usize)> {
    const QUOTE: u16 = u16::from_le_bytes(*b":\"");
    let (first, second) = (((head >> 16) as u8).wrapping_sub(b'0'), ((head >> 24) as u8).wrapping_sub(b'0'));
    if (head >> 32) as u16 == QUOTE && first <= 9 && second <= 9 {
        Some((6, usize::from(first) * 10 + usize::from(second)))
    } else if (head >> 24) as u16 == QUOTE && first <= 9 {
        Some((5, usize::from(first)))
    } else {
        None
    }
}

#[inline(never)]
fn read_long_string(rest: &[u8]) -> Option<(usize, usize, usize)> {
    read_string(rest, 0)
}

/// Returns the integer at `offset` and its end.
#[inline(always)]
pub(super) fn read_integer(input: &[u8], offset: usize) -> Option<(i64, usize)> {
    let rest = input.get(offset..)?;
    let (negative, digits) = match rest {
        [b'i', b':', b'-', digits @ ..] => (true, digits),
        [b'i', b':', digits @ ..] => (false, digits),
        _ => return None,
    };
    let mut value = 0i64;
    for (count, byte) in digits.iter().take(MAX_DIGITS + 1).enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            let is_end = *byte == b';' && count > 0;
            let end = offset + 3 + count + usize::from(negative);
            return is_end.then_some((if negative { -value } else { value }, end));
        }
        if count == MAX_DIGITS {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    None
}

/// Returns a number of up to nine digits at `offset`, and its end.
#[inline(always)]
pub(super) fn read_number(input: &[u8], offset: usize) -> Option<(u32, usize)> {
    let mut value = 0;
    for (count, byte) in input.get(offset..)?.iter().take(10).enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (count > 0).then_some((value, offset + count));
        }
        if count == 9 {
            return None;
        }
        value = value * 10 + u32::from(digit);
    }
    None
}

/// Returns the float here and its end: digits with a point, maybe with an exponent.
#[inline(never)]
fn read_float(rest: &[u8]) -> Option<(f64, usize)> {
    let (negative, digits) = match rest {
        [b'd', b':', b'-', digits @ ..] => (true, digits),
        [b'd', b':', digits @ ..] => (false, digits),
        _ => return None,
    };
    let (mut value, mut count, mut fraction, mut is_fraction) = (0u64, 0, 0, false);
    for (index, byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 && count < EXACT_DIGITS {
            value = value * 10 + u64::from(digit);
            count += 1;
            fraction += usize::from(is_fraction);
        } else if *byte == b'.' && !is_fraction && index > 0 {
            is_fraction = true;
        } else if *byte == b';' && count > 0 {
            // The digits and the power of ten are exact floats, so the division rounds to the float nearest to the
            // text.
            let float = value as f64 / POWERS[fraction];
            let end = 3 + index + usize::from(negative);
            return Some((if negative { -float } else { float }, end));
        } else {
            return read_long_float(rest);
        }
    }
    None
}

/// Reads a float that has more digits or an exponent, if PHP would write it in this way.
fn read_long_float(rest: &[u8]) -> Option<(f64, usize)> {
    let text = rest.get(2..)?;
    let len = text.iter().take(40).position(|byte| *byte == b';')?;
    let text = &text[..len];
    if !super::text::is_float_text(text) {
        return None;
    }
    Some((std::str::from_utf8(text).ok()?.parse().ok()?, len + 3))
}

/// Returns start, length and end of the string at `offset`.
#[inline(always)]
pub(super) fn read_string(input: &[u8], offset: usize) -> Option<(usize, usize, usize)> {
    let rest = input.get(offset..)?;
    let [b's', b':', digits @ ..] = rest else { return None };
    let (len, front) = match digits {
        [a @ b'0'..=b'9', b':', b'"', ..] => (usize::from(a - b'0'), 5),
        [a @ b'0'..=b'9', b @ b'0'..=b'9', b':', b'"', ..] => (usize::from(a - b'0') * 10 + usize::from(b - b'0'), 6),
        _ => {
            let (len, end) = read_number(input, offset + 2)?;
            if input.get(end..end + 2)? != b":\"" {
                return None;
            }
            (len as usize, end + 2 - offset)
        }
    };
    let start = offset + front;
    let end = start + len;
    (input.get(end..end + 2)? == b"\";").then_some((start, len, end + 2))
}
