//! Cache files of Symfony, Doctrine and phpBB: lines with the expiry and the key, and a serialized value.

use super::{Changing, Unwrapped, Wrapper, WrapperEvidence};
use crate::document::Metadata;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};
use std::borrow::Cow;

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "php-cache",
    title: "a cache file of Symfony, Doctrine or phpBB: lines with expiry and key, then a value of PHP",
    extension: "cache",
    text: None,
    layer: "value of the cache file",
    options: &[
        OptionSpec {
            name: "expires",
            takes: OptionType::Number(0, i64::MAX),
            side: Side::Write,
            help: "when the entry expires, in seconds since 1970; 0 (never) by default",
        },
        OptionSpec {
            name: "key",
            takes: OptionType::Text,
            side: Side::Write,
            help: "the line after the expiry: Symfony's key, or the query of phpBB",
        },
        OptionSpec {
            name: "guard",
            takes: OptionType::Flag,
            side: Side::Write,
            help: "begin with the line `<?php exit; ?>`, as phpBB does",
        },
        OptionSpec {
            name: "length",
            takes: OptionType::Flag,
            side: Side::Write,
            help: "write the length of the value before it, as phpBB does",
        },
    ],
    page: include_str!("php_cache.md"),
    detect: |input| HeaderLines::parse(input).is_ok_and(|header| begins_value(&input[header.len..])),
    evidence: WrapperEvidence::Envelope,
    head: None,
    needed_settings: None,
    stream: None,
    changing: Changing::Allowed,
    unwrap,
    wrap,
};

/// The first line of phpBB's files, so that a web server shows nothing of them.
const GUARD: &[u8] = b"<?php exit; ?>\n";
/// Maximum number of digits of the expiry.
const MAX_DIGITS: usize = 19;
/// Maximum length of a key. phpBB stores queries there.
const MAX_KEY_LEN: usize = 64 << 10;

/// The lines before the value.
struct HeaderLines<'a> {
    has_guard: bool,
    expires: &'a str,
    key: Option<Cow<'a, str>>,
    has_length: bool,
    /// Length of all lines.
    len: usize,
}

impl<'a> HeaderLines<'a> {
    fn parse(input: &'a [u8]) -> Result<HeaderLines<'a>, Error> {
        let has_guard = input.starts_with(GUARD);
        let start = if has_guard { GUARD.len() } else { 0 };
        let expected = "a line with the digits of an expiry";
        let (expires, mut rest) = split_line(&input[start..], MAX_DIGITS)
            .ok_or_else(|| Error::new(ErrorKind::Malformed).at(start).expecting(expected).finding("another line"))?;
        let expires =
            std::str::from_utf8(expires).ok().filter(|digits| is_number(digits.as_bytes())).ok_or_else(|| {
                Error::new(ErrorKind::Malformed).at(start).expecting(expected).finding("other characters")
            })?;
        let mut header = HeaderLines { has_guard, expires, key: None, has_length: false, len: 0 };
        if !begins_value(rest)
            && let Some((line, after)) = split_line(rest, MAX_KEY_LEN)
            && !is_length(line, after)
            && (begins_value(after) || begins_with_length(after))
        {
            header.key = Some(String::from_utf8_lossy(line));
            rest = after;
        }
        if begins_with_length(rest)
            && let Some((_, value)) = split_line(rest, MAX_DIGITS)
        {
            header.has_length = true;
            rest = value;
        }
        header.len = input.len() - rest.len();
        Ok(header)
    }
}

/// Returns the first line and what follows it.
fn split_line(input: &[u8], max_len: usize) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b'\n', input.get(..=max_len).unwrap_or(input))?;
    Some((&input[..end], &input[end + 1..]))
}

fn is_number(digits: &[u8]) -> bool {
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Returns whether a line is the length of the value that follows it.
fn is_length(line: &[u8], value: &[u8]) -> bool {
    is_number(line) && std::str::from_utf8(line).is_ok_and(|digits| digits == value.len().to_string())
}

/// Returns whether a line with the length of the rest is here.
fn begins_with_length(input: &[u8]) -> bool {
    split_line(input, MAX_DIGITS).is_some_and(|(line, value)| is_length(line, value))
}

/// Returns whether a value of `serialize()` or of igbinary begins here.
fn begins_value(input: &[u8]) -> bool {
    matches!(
        input,
        [b'a' | b's' | b'i' | b'd' | b'b' | b'O' | b'C' | b'E', b':', ..] | [b'N', b';', ..] | [0, 0, 0, 1 | 2, ..]
    )
}

fn unwrap<'a>(input: &'a [u8], _: &Settings, _: &Limits) -> Result<Unwrapped<'a>, Error> {
    let header = HeaderLines::parse(input)?;
    let expires = (header.expires != "0").then(|| header.expires.to_owned());
    let mut remarks =
        vec![("expires", expires.as_ref().map_or("never".to_owned(), |time| format!("{time} (seconds since 1970)")))];
    remarks.extend(header.key.as_ref().map(|key| ("key", key.to_string())));
    let mut unwrapped = Unwrapped::new(Cow::Borrowed(&input[header.len..]), remarks)
        .with_metadata(WRAPPER.name, "expires", expires)
        .with_metadata(WRAPPER.name, "key", header.key.map(Cow::into_owned));
    let flags = [("guard", header.has_guard), ("length", header.has_length)].into_iter().filter(|(_, is_set)| *is_set);
    unwrapped.metadata.extend(flags.map(|(option, _)| Metadata {
        wrapper: WRAPPER.name,
        option,
        value: "yes".to_owned(),
        is_form: true,
    }));
    Ok(unwrapped)
}

fn wrap(content: &[u8], settings: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    if settings.flag("guard") {
        out.extend_from_slice(GUARD);
    }
    out.extend_from_slice(format!("{}\n", settings.number("expires").unwrap_or(0)).as_bytes());
    if let Some(key) = settings.text("key") {
        if key.contains('\n') {
            return Err(Error::new(ErrorKind::Usage).expecting("a key on one line").finding("a line feed"));
        }
        out.extend_from_slice(format!("{key}\n").as_bytes());
    }
    if settings.flag("length") {
        out.extend_from_slice(format!("{}\n", content.len()).as_bytes());
    }
    out.extend_from_slice(content);
    Ok(())
}
