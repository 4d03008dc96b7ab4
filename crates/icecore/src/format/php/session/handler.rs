//! The session handlers: how variables are joined.

use super::{ReadOptions, try_handler};
use crate::limits::Limits;

/// PHP's `session.serialize_handler`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Handler {
    /// `name|value`, one after the other: PHP's default.
    Php,
    /// A byte with the length of the name, the name, the value.
    PhpBinary,
    /// One serialized array.
    PhpSerialize,
}

impl Handler {
    pub(super) const ALL: [Handler; 3] = [Handler::Php, Handler::PhpBinary, Handler::PhpSerialize];

    /// Returns its name in `php.ini`.
    pub fn as_str(self) -> &'static str {
        match self {
            Handler::Php => "php",
            Handler::PhpBinary => "php_binary",
            Handler::PhpSerialize => "php_serialize",
        }
    }
}

/// Maximum length of a variable's name for `php_binary`. The high bit of the length once marked a variable without a
/// value.
pub(super) const MAX_NAME_LEN: usize = 127;

/// Returns `true` if a value seems to begin here.
pub(in crate::format::php) fn begins_value(text: &[u8]) -> bool {
    match text {
        [b'N', rest @ ..] => matches!(rest, [] | [b';', ..]),
        [b'a' | b'b' | b'd' | b'i' | b's' | b'C' | b'E' | b'O' | b'R' | b'S' | b'r', rest @ ..] => {
            matches!(rest, [] | [b':', ..])
        }
        _ => false,
    }
}

/// Returns `true` if a program would use this as a variable's name.
pub(in crate::format::php) fn is_variable_name(name: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.!".contains(byte) || *byte >= 0x80;
    !name.is_empty() && name.len() <= 256 && name.iter().all(is_plain)
}

/// Returns the name at the start of the input, for `php`.
pub(super) fn find_first_name(input: &[u8]) -> Option<&[u8]> {
    let bar = memchr::memchr(b'|', input)?;
    begins_value(&input[bar + 1..]).then(|| &input[..bar])
}

/// Returns `true` if the input begins with a variable in the form of this handler.
pub(super) fn fits_handler(input: &[u8], handler: Handler) -> bool {
    match handler {
        Handler::Php => find_first_name(input).is_some(),
        Handler::PhpSerialize => matches!(input, [b'a', b':', b'0'..=b'9', ..]),
        Handler::PhpBinary => input.split_first().is_some_and(|(len, rest)| {
            rest.get(usize::from(len & 0x7f)..).is_some_and(|value| !value.is_empty() && begins_value(value))
        }),
    }
}

/// Returns the handler with which the whole input can be read. There may be several, because a string in a session may
/// be crafted so that the text can also be read in another way. `php` is tried first only if its first name is plain.
pub(super) fn find_handler(input: &[u8], options: &ReadOptions, limits: &Limits) -> Handler {
    let is_plain = find_first_name(input).is_some_and(is_variable_name);
    let mut order = [Handler::Php, Handler::PhpSerialize, Handler::PhpBinary];
    if !is_plain {
        order.rotate_left(1);
    }
    let mut fitting = order.into_iter().filter(|handler| fits_handler(input, *handler));
    let Some(first) = fitting.next() else {
        return if input.first().is_some_and(|byte| *byte < 0x20) { Handler::PhpBinary } else { Handler::Php };
    };
    let Some(second) = fitting.next() else { return first };
    let reads = |handler: &Handler| {
        let (_, consumed, error) = try_handler(input, *handler, options, limits);
        error.is_none() && consumed == input.len()
    };
    [first, second].into_iter().chain(fitting).find(reads).unwrap_or(first)
}
