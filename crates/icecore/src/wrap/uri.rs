//! Percent escapes, as in URLs and forms.

use super::{Changing, ContentHead, Unwrapped, Wrapper, WrapperEvidence};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "uri",
    title: "text with percent escapes, as in URLs and forms",
    extension: "uri",
    text: Some(true),
    layer: "text without its escapes",
    options: &[
        OptionSpec {
            name: "as",
            takes: OptionType::Choice(&["perl", "rfc3986", "php", "cgi", "form"]),
            side: Side::Both,
            help: "whose escapes: URI::Escape and encodeURIComponent; rawurlencode and ERB's url_encode; urlencode; \
                   Ruby's CGI.escape; forms in HTML and URI.encode_www_form_component. In the last three `+` is a blank",
        },
        OptionSpec {
            name: "plus",
            takes: OptionType::Flag,
            side: Side::Both,
            help: "`+` means a blank; it is written as `as=php` writes it unless `as` is given",
        },
    ],
    page: include_str!("uri.md"),
    detect,
    evidence: WrapperEvidence::Text,
    head: Some(decode_head),
    needed_settings: Some(detect_settings),
    stream: None,
    changing: Changing::Allowed,
    unwrap,
    wrap,
};

/// Number of bytes of a text that are examined.
const EXAMINED_LEN: usize = 256;

/// Returns `true` if the text has an escape, and no byte that every writer would escape.
fn detect(input: &[u8]) -> bool {
    let text = input.trim_ascii_end();
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(byte);
    let first = memchr::memchr(b'%', text).and_then(|offset| text.get(offset + 1..)?.first_chunk::<2>());
    first.is_some_and(|digits| digits.iter().all(|digit| hex_digit_value(*digit).is_some()))
        && text.iter().take(EXAMINED_LEN).all(is_plain)
}

/// Returns the option `plus` if there is an unescaped `+`: it is a blank, because all writers escape `+` itself.
fn detect_settings(input: &[u8]) -> Settings {
    let mut settings = Settings::new();
    if input.contains(&b'+') {
        // The table has this option.
        let _ = settings.set(WRAPPER.options, WRAPPER.name, "plus", None);
    }
    settings
}

/// Returns `true` if `+` is a blank.
fn reads_plus_as_blank(settings: &Settings) -> bool {
    settings.flag("plus") || matches!(settings.choice("as"), Some("php" | "cgi" | "form"))
}

fn hex_digit_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn decode_head<'a>(input: &'a [u8], is_complete: bool, settings: &Settings, max_len: usize) -> Option<ContentHead<'a>> {
    let beginning = input.get(..max_len).unwrap_or(input);
    let is_all = is_complete && beginning.len() == input.len();
    let beginning = match beginning {
        [front @ .., b'%'] | [front @ .., b'%', _] if !is_all => front,
        beginning => beginning,
    };
    Some(ContentHead::from_beginning((decode_percent(beginning, reads_plus_as_blank(settings)).ok()?, is_all)))
}

/// Decodes escapes. `Err` contains the position of a malformed escape.
fn decode_percent(input: &[u8], plus_is_blank: bool) -> Result<Vec<u8>, usize> {
    // A newline at the end belongs to the file, not to the text.
    let input = input.strip_suffix(b"\n").map_or(input, |text| text.strip_suffix(b"\r").unwrap_or(text));
    let mut bytes = Vec::with_capacity(input.len());
    let mut rest = input;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'%' => {
                let error_offset = || input.len() - after.len() - 1;
                let (digits, after_digits) = after.split_first_chunk::<2>().ok_or_else(error_offset)?;
                let (high, low) =
                    hex_digit_value(digits[0]).zip(hex_digit_value(digits[1])).ok_or_else(error_offset)?;
                bytes.push(high << 4 | low);
                rest = after_digits;
            }
            b'+' if plus_is_blank => bytes.push(b' '),
            byte => bytes.push(*byte),
        }
    }
    Ok(bytes)
}

fn unwrap<'a>(input: &'a [u8], settings: &Settings, _: &Limits) -> Result<Unwrapped<'a>, Error> {
    decode_percent(input, reads_plus_as_blank(settings)).map(Unwrapped::from_owned).map_err(|offset| {
        let digits =
            String::from_utf8_lossy(input.get(offset + 1..).unwrap_or(&[])).chars().take(2).collect::<String>();
        let (kind, found) = match digits.len() {
            2.. => (ErrorKind::Malformed, format!("`{}`", digits.escape_debug())),
            _ => (ErrorKind::Truncated, "the end of the input".to_owned()),
        };
        Error::new(kind).at(offset).expecting("two hex digits after `%`").finding(found)
    })
}

fn wrap(content: &[u8], settings: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    let style = settings.choice("as").unwrap_or(if settings.flag("plus") { "php" } else { "perl" });
    let unescaped: &[u8] = match style {
        "perl" => b"-._~!*'()",
        "rfc3986" | "cgi" => b"-._~",
        "php" => b"-._",
        _ => b"-._*",
    };
    let plus_is_blank = reads_plus_as_blank(settings);
    out.reserve(content.len() + content.len() / 2);
    for byte in content {
        match byte {
            b' ' if plus_is_blank => out.push(b'+'),
            byte if byte.is_ascii_alphanumeric() || unescaped.contains(byte) => out.push(*byte),
            byte => {
                let digit = |value: u8| b"0123456789ABCDEF"[usize::from(value)];
                out.extend_from_slice(&[b'%', digit(byte >> 4), digit(byte & 15)]);
            }
        }
    }
    Ok(())
}
