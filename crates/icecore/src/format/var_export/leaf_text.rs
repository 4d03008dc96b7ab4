//! Texts of leaves and keys, as PHP 8.2 writes them.

use super::text::{push_float, push_uint};
use crate::document::{Kind, Node, Tape};
use crate::find_byte::find_byte;

/// Returns the text of a leaf that PHP has.
pub(super) fn format_leaf(node: &Node, tape: &Tape, input: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    match node.kind {
        Kind::Bool => push_bool(node.payload != 0, &mut out),
        Kind::Int => push_int(node.payload as i64, &mut out),
        Kind::Float => push_number(f64::from_bits(node.payload), &mut out),
        Kind::Bytes => push_string(tape.string_bytes(node, input), false, &mut out),
        Kind::EnumCase => push_case(tape.string_bytes(node, input), &mut out),
        _ => out.extend_from_slice(b"NULL"),
    }
    out
}

/// Returns the text of a key that PHP has.
pub(super) fn format_key(node: &Node, tape: &Tape, input: &[u8], is_object: bool) -> Vec<u8> {
    let mut out = Vec::new();
    match node.kind {
        Kind::Int => push_digits(node.payload as i64, &mut out),
        _ if is_object => push_property(tape.string_bytes(node, input), false, &mut out),
        _ => push_string(tape.string_bytes(node, input), false, &mut out),
    }
    out
}

pub(super) fn push_bool(value: bool, buf: &mut Vec<u8>) {
    buf.extend_from_slice(if value { b"true" } else { b"false" });
}

/// Appends an integer's digits.
pub(super) fn push_digits(value: i64, buf: &mut Vec<u8>) {
    if value < 0 {
        buf.push(b'-');
    }
    push_uint(value.unsigned_abs(), buf);
}

/// Appends an integer as a value: the smallest integer has no literal.
pub(super) fn push_int(value: i64, buf: &mut Vec<u8>) {
    if value == i64::MIN {
        return buf.extend_from_slice(b"-9223372036854775807-1");
    }
    push_digits(value, buf);
}

/// Appends a float, with a point to distinguish it from an integer.
pub(super) fn push_number(value: f64, buf: &mut Vec<u8>) {
    let start = buf.len();
    push_float(value, buf);
    if value.is_finite() && !buf[start..].contains(&b'.') {
        buf.extend_from_slice(b".0");
    }
}

/// Text between the two parts of a split string.
const JOIN: &[u8] = b"' . '";

/// Appends a string; NUL is written in double quotes. With `splits_tags`, a PHP tag in it is split, so
/// that `<` ends one string, and the rest begins the next one.
pub(super) fn push_string(bytes: &[u8], splits_tags: bool, buf: &mut Vec<u8>) {
    push_quoted(bytes, b"' . \"\\0\" . '", splits_tags, buf);
}

/// Appends the name of a property, in which NUL stays as it is; tags as in [`push_string`].
pub(super) fn push_property(bytes: &[u8], splits_tags: bool, buf: &mut Vec<u8>) {
    push_quoted(bytes, b"\0", splits_tags, buf);
}

/// Returns `true` if PHP begins to run code here, in a file that it has only printed so far. `<%` and
/// `<script` are tags of PHP 5.
fn begins_tag(bytes: &[u8]) -> bool {
    match bytes {
        [b'<', b'?' | b'%', ..] => true,
        [b'<', word @ ..] => word.get(..6).is_some_and(|word| word.eq_ignore_ascii_case(b"script")),
        _ => false,
    }
}

/// Returns the offset of the next tag at which [`begins_tag`] returns `true`.
pub(super) fn find_tag(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    while let Some(distance) = find_byte(&bytes[start..], [b'<']) {
        if begins_tag(&bytes[start + distance..]) {
            return Some(start + distance);
        }
        start += distance + 1;
    }
    None
}

fn push_quoted(mut bytes: &[u8], nul: &[u8], splits_tags: bool, buf: &mut Vec<u8>) {
    buf.push(b'\'');
    while let Some(offset) = bytes.iter().position(|byte| matches!(byte, b'\'' | b'\\' | b'<' | 0)) {
        buf.extend_from_slice(&bytes[..offset]);
        match bytes[offset] {
            0 => buf.extend_from_slice(nul),
            b'<' if splits_tags && begins_tag(&bytes[offset..]) => {
                buf.push(b'<');
                buf.extend_from_slice(JOIN);
            }
            b'<' => buf.push(b'<'),
            byte => buf.extend_from_slice(&[b'\\', byte]),
        }
        bytes = &bytes[offset + 1..];
    }
    buf.extend_from_slice(bytes);
    buf.push(b'\'');
}

/// Appends `Cls:Case` as `\Cls::Case`.
pub(super) fn push_case(name: &[u8], buf: &mut Vec<u8>) {
    let colon = name.iter().position(|byte| *byte == b':').unwrap_or(name.len());
    buf.push(b'\\');
    buf.extend_from_slice(&name[..colon]);
    buf.extend_from_slice(b"::");
    buf.extend_from_slice(name.get(colon + 1..).unwrap_or(b""));
}
