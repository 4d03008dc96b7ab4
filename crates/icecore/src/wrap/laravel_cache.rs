//! Laravel's cache files: a time of expiry, and a serialized value.

use super::{Changing, Unwrapped, Wrapper, WrapperEvidence};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};
use std::borrow::Cow;

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "laravel-cache",
    title: "an entry of Laravel's file cache: expiry, then a value of PHP",
    extension: "cache",
    text: None,
    layer: "value of the Laravel cache entry",
    options: &[OptionSpec {
        name: "expires",
        takes: OptionType::Number(0, MAX_EXPIRY),
        side: Side::Write,
        help: "when the entry expires, in seconds since 1970; 9999999999 (never) by default",
    }],
    page: include_str!("laravel_cache.md"),
    detect,
    evidence: WrapperEvidence::Envelope,
    head: None,
    needed_settings: None,
    stream: None,
    changing: Changing::Allowed,
    unwrap,
    wrap,
};

/// Number of digits of the expiry.
const EXPIRY_DIGITS: usize = 10;
/// Maximum of the expiry; it means never.
const MAX_EXPIRY: i64 = 9_999_999_999;

fn detect(input: &[u8]) -> bool {
    input.len() > EXPIRY_DIGITS + 1
        && input[..EXPIRY_DIGITS].iter().all(u8::is_ascii_digit)
        && matches!(
            input[EXPIRY_DIGITS..EXPIRY_DIGITS + 2],
            [b'a' | b's' | b'i' | b'd' | b'b' | b'O' | b'C' | b'E', b':'] | [b'N', b';']
        )
}

fn unwrap<'a>(input: &'a [u8], _: &Settings, _: &Limits) -> Result<Unwrapped<'a>, Error> {
    let digits = input.get(..EXPIRY_DIGITS).ok_or_else(|| {
        let found = format!("only {} bytes", input.len());
        Error::new(ErrorKind::Truncated).at(input.len()).expecting("10 digits of an expiry").finding(found)
    })?;
    if let Some(offset) = digits.iter().position(|byte| !byte.is_ascii_digit()) {
        let found = format!("the byte 0x{:02x}", digits[offset]);
        return Err(Error::new(ErrorKind::Malformed).at(offset).expecting("10 digits of an expiry").finding(found));
    }
    let expires = String::from_utf8_lossy(digits).into_owned();
    let expires = (expires != MAX_EXPIRY.to_string()).then_some(expires);
    let remark =
        expires.as_ref().map_or_else(|| "never".to_owned(), |expires| format!("{expires} (seconds since 1970)"));
    let unwrapped = Unwrapped::new(Cow::Borrowed(&input[EXPIRY_DIGITS..]), vec![("expires", remark)]);
    Ok(unwrapped.with_metadata(WRAPPER.name, "expires", expires))
}

fn wrap(content: &[u8], settings: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    out.extend_from_slice(format!("{:010}", settings.number("expires").unwrap_or(MAX_EXPIRY)).as_bytes());
    out.extend_from_slice(content);
    Ok(())
}
