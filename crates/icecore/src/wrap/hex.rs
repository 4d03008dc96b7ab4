//! Hexadecimal digits, two for a byte.

use super::{Changing, ContentHead, Unwrapped, Wrapper, WrapperEvidence};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::{OptionSpec, OptionType, Settings, Side};

/// Registry row.
pub static WRAPPER: Wrapper = Wrapper {
    name: "hex",
    title: "hexadecimal digits, also as \\x…, 0x… or X'…'",
    extension: "hex",
    text: Some(true),
    layer: "data in hex",
    options: &[
        OptionSpec { name: "upper", takes: OptionType::Flag, side: Side::Write, help: "A to F instead of a to f" },
        OptionSpec {
            name: "prefix",
            takes: OptionType::Choice(&["none", "\\x", "0x"]),
            side: Side::Write,
            help: "the text before the digits: \\x as PostgreSQL writes, 0x as MySQL does",
        },
    ],
    page: include_str!("hex.md"),
    detect,
    evidence: WrapperEvidence::Text,
    head: Some(decode_head),
    needed_settings: None,
    stream: None,
    changing: Changing::OnRequest(None),
    unwrap,
    wrap,
};

/// Number of bytes of a text that are examined.
const EXAMINED_LEN: usize = 64;
/// Minimum number of digits.
const MIN_DIGITS: usize = 8;
/// Minimum length of a text without letters: a shorter one is taken as a decimal number.
const MIN_DIGITS_WITHOUT_LETTERS: usize = 32;

fn detect(input: &[u8]) -> bool {
    let (_, digits) = without_prefix(input);
    digits.len() >= MIN_DIGITS
        && digits.iter().take(EXAMINED_LEN).all(|byte| byte.is_ascii_hexdigit() || byte.is_ascii_whitespace())
        && (digits.len() >= MIN_DIGITS_WITHOUT_LETTERS || digits.iter().any(u8::is_ascii_alphabetic))
}

/// Returns the length of the prefix, and the digits after it. A literal of SQL, `X'…'`, ends with a quote, unless it is
/// cut.
fn without_prefix(input: &[u8]) -> (usize, &[u8]) {
    let text = input.trim_ascii_start();
    let text = match text {
        [b'\\', b'x', rest @ ..] | [b'0', b'x' | b'X', rest @ ..] | [b'x' | b'X', b'\'', rest @ ..] => rest,
        text => text,
    };
    let start = input.len() - text.len();
    let is_literal = start > 0 && input.get(start - 1) == Some(&b'\'');
    let digits = if is_literal { text.trim_ascii_end().strip_suffix(b"'").unwrap_or(text) } else { text };
    (start, digits)
}

fn decode_head<'a>(input: &'a [u8], is_complete: bool, _: &Settings, max_len: usize) -> Option<ContentHead<'a>> {
    let beginning = input.get(..max_len.saturating_mul(2)).unwrap_or(input);
    let is_all = is_complete && beginning.len() == input.len();
    let bytes = match decode_hex(beginning) {
        Ok((bytes, half)) => (half.is_none() || !is_all).then_some(bytes)?,
        Err(_) => return None,
    };
    Some(ContentHead::from_beginning((bytes, is_all)))
}

/// Returns the bytes, and the position of a digit without a partner. `Err` contains the position of the first byte that
/// is not a digit.
fn decode_hex(input: &[u8]) -> Result<(Vec<u8>, Option<usize>), usize> {
    let (start, digits) = without_prefix(input);
    let mut bytes = Vec::with_capacity(digits.len() / 2);
    let mut high = None;
    for (offset, byte) in digits.iter().enumerate() {
        let digit = VALUES[usize::from(*byte)];
        if digit == NO_DIGIT {
            if byte.is_ascii_whitespace() {
                continue;
            }
            return Err(start + offset);
        }
        match high.take() {
            None => high = Some((digit, start + offset)),
            Some((high, _)) => bytes.push(high << 4 | digit),
        }
    }
    Ok((bytes, high.map(|(_, offset)| offset)))
}

const NO_DIGIT: u8 = 0xFF;
static VALUES: [u8; 256] = build_digit_values();

const fn build_digit_values() -> [u8; 256] {
    let mut values = [NO_DIGIT; 256];
    let mut digit = 0u8;
    while digit < 16 {
        values[b"0123456789abcdef"[digit as usize] as usize] = digit;
        values[b"0123456789ABCDEF"[digit as usize] as usize] = digit;
        digit += 1;
    }
    values
}

fn unwrap<'a>(input: &'a [u8], _: &Settings, _: &Limits) -> Result<Unwrapped<'a>, Error> {
    match decode_hex(input) {
        Ok((bytes, None)) => Ok(Unwrapped::from_owned(bytes)),
        Ok((_, Some(offset))) => Err(Error::new(ErrorKind::Truncated)
            .at(input.len())
            .expecting("an even number of hex digits")
            .finding(format!("one more, at offset {offset}"))),
        Err(offset) => {
            let byte = input.get(offset).copied().unwrap_or_default();
            let found = match byte.is_ascii_graphic() {
                true => format!("`{}`", char::from(byte)),
                false => format!("the byte 0x{byte:02x}"),
            };
            Err(Error::new(ErrorKind::Malformed).at(offset).expecting("a hex digit").finding(found))
        }
    }
}

fn wrap(content: &[u8], settings: &Settings, out: &mut Vec<u8>) -> Result<(), Error> {
    let digits = if settings.flag("upper") { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let prefix = settings.choice("prefix").filter(|prefix| *prefix != "none").unwrap_or_default();
    out.reserve(prefix.len() + 2 * content.len());
    out.extend_from_slice(prefix.as_bytes());
    for byte in content {
        out.extend_from_slice(&[digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
    }
    Ok(())
}
