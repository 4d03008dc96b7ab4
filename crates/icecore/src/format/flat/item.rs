//! A scalar as Perl sees it.

use crate::num::{bigint, general};
use std::borrow::Cow;

/// A scalar of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Item<'d> {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer above `i64::MAX`.
    Uint(u64),
    /// An integer beyond 64 bits: its sign and its magnitude, least significant byte
    /// first.
    Big(bool, &'d [u8]),
    Float(f64),
    Bytes(&'d [u8]),
    /// Marked as UTF-8.
    Text(&'d [u8]),
}

impl<'d> Item<'d> {
    /// Returns the string that perl makes of it.
    pub(crate) fn make_perl_string(&self) -> Cow<'d, [u8]> {
        match *self {
            Item::Null | Item::Bool(false) => Cow::Borrowed(&[]),
            Item::Bool(true) => Cow::Borrowed(b"1"),
            Item::Int(value) => itoa::Buffer::new().format(value).as_bytes().to_vec().into(),
            Item::Uint(value) => itoa::Buffer::new().format(value).as_bytes().to_vec().into(),
            Item::Big(negative, magnitude) => {
                let mut digits = Vec::new();
                bigint::push_decimal(negative, magnitude, &mut digits);
                digits.into()
            }
            // Zero has no sign here, unlike where perl prints it as a number.
            Item::Float(0.0) => Cow::Borrowed(b"0"),
            Item::Float(value) => general::float_to_perl_text(value).into_bytes().into(),
            Item::Bytes(bytes) | Item::Text(bytes) => Cow::Borrowed(bytes),
        }
    }
}
