//! Default tags: those that Storable chooses for a value. Any other tag is spelling.

use super::tag;
use crate::document::{Kind, Node};

/// Returns the tag that Storable chooses for an integer.
pub(super) fn integer_tag(value: i64, netorder: bool) -> u8 {
    match value {
        -128..=127 => tag::BYTE,
        _ if !netorder => tag::INTEGER,
        _ if i32::try_from(value).is_ok() => tag::NETINT,
        _ => tag::SCALAR,
    }
}

/// Returns the tag for a float. Network order has none: Storable writes an integer or a
/// string. In other images floats stay floats; only values of a running program become
/// [integers](exact_integer) where possible.
pub(super) fn float_tag(node: &Node, netorder: bool) -> u8 {
    match (node.kind, exact_integer(f64::from_bits(node.payload))) {
        _ if !netorder => tag::DOUBLE,
        (Kind::Float, Some(integer)) => integer_tag(integer, netorder),
        _ => tag::SCALAR,
    }
}

/// Returns the integer that a float equals, if Storable would treat it as one.
pub(super) fn exact_integer(value: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (value.abs() < EXACT && value.fract() == 0.0).then_some(value as i64)
}

/// Returns the tag that Storable chooses for a string.
pub(super) fn string_tag(kind: Kind, len: u64) -> u8 {
    match (kind, len <= 0xFF) {
        (Kind::Text, true) => tag::UTF8STR,
        (Kind::Text, false) => tag::LUTF8STR,
        (_, true) => tag::SCALAR,
        (_, false) => tag::LSCALAR,
    }
}

/// Returns the tag for a boolean. `has_tags` tells whether the document may use those added by version 2.12.
pub(super) fn bool_tag(value: bool, has_tags: bool) -> u8 {
    match (value, has_tags) {
        (true, true) => tag::BOOLEAN_TRUE,
        (false, true) => tag::BOOLEAN_FALSE,
        (true, false) => tag::SV_YES,
        (false, false) => tag::SV_NO,
    }
}
