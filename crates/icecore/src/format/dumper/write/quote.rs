//! Strings in quotes.

use crate::format::scan::utf8;

/// Returns `true` if it reads as a number that needs no quotes: up to nine digits.
#[inline]
pub(super) fn is_decimal(bytes: &[u8]) -> bool {
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    match digits {
        [b'0'] => bytes.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.len() <= 8 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Returns `true` if it is a name, as allowed for keys without quotes.
#[inline]
pub(super) fn is_identifier(bytes: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    !bytes.first().is_none_or(u8::is_ascii_digit) && bytes.iter().all(is_word)
}

/// Writes bytes in single quotes.
#[inline]
pub(in crate::format::dumper) fn push_single(bytes: &[u8], buf: &mut Vec<u8>) {
    buf.push(b'\'');
    push_escaped(bytes, buf);
    buf.push(b'\'');
}

/// Writes bytes with the escapes that single quotes need.
#[inline]
pub(super) fn push_escaped(bytes: &[u8], buf: &mut Vec<u8>) {
    let is_special = |byte: &u8| matches!(byte, b'\'' | b'\\');
    let (blocks, remainder) = bytes.as_chunks::<16>();
    let is_plain = |block: &[u8]| !block.iter().fold(false, |any, byte| any | is_special(byte));
    if blocks.iter().all(|block| is_plain(block)) && is_plain(remainder) {
        return buf.extend_from_slice(bytes);
    }
    let mut rest = bytes;
    while let Some(index) = rest.iter().position(is_special) {
        buf.extend_from_slice(&rest[..index]);
        buf.extend_from_slice(&[b'\\', rest[index]]);
        rest = &rest[index + 1..];
    }
    buf.extend_from_slice(rest);
}

/// Writes a string in double quotes. Non-ASCII characters of text are escaped by their
/// numbers, bytes above 0x7F are octal. `escapes_controls` tells whether control
/// characters are escaped too; otherwise they stay.
pub(in crate::format::dumper) fn push_double(bytes: &[u8], is_text: bool, escapes_controls: bool, buf: &mut Vec<u8>) {
    buf.push(b'"');
    let mut offset = 0;
    while let Some(byte) = bytes.get(offset) {
        if is_text
            && !byte.is_ascii()
            && let Some((code, len)) = utf8::first_character(&bytes[offset..])
        {
            buf.extend_from_slice(format!("\\x{{{code:x}}}").as_bytes());
            offset += len;
            continue;
        }
        offset += 1;
        match byte {
            b'"' | b'\\' | b'$' | b'@' => buf.extend_from_slice(&[b'\\', *byte]),
            b' '..=b'~' => buf.push(*byte),
            _ if !escapes_controls => buf.push(*byte),
            _ => push_control(*byte, bytes.get(offset), buf),
        }
    }
    buf.push(b'"');
}

/// Writes an escape for a control character or a byte above ASCII.
fn push_control(byte: u8, next: Option<&u8>, buf: &mut Vec<u8>) {
    buf.push(b'\\');
    let letter = match byte {
        7 => b'a',
        8 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0C => b'f',
        b'\r' => b'r',
        0x1B => b'e',
        _ => {
            // A following digit would be read as part of the number.
            let digits = if next.is_some_and(u8::is_ascii_digit) { 3 } else { 1 };
            return buf.extend_from_slice(format!("{byte:0digits$o}").as_bytes());
        }
    };
    buf.push(letter);
}

/// Writes a string without escapes, in characters: UTF-8 if `writes_utf8`, otherwise Latin-1.
/// Characters beyond Latin-1 stay UTF-8.
pub(super) fn push_chars(bytes: &[u8], is_text: bool, writes_utf8: bool, buf: &mut Vec<u8>) {
    match (is_text, writes_utf8) {
        (true, false) => {
            let mut rest = bytes;
            while let Some((code, len)) = utf8::first_character(rest) {
                match u8::try_from(code) {
                    Ok(byte) => buf.push(byte),
                    Err(_) => buf.extend_from_slice(&rest[..len]),
                }
                rest = &rest[len..];
            }
            buf.extend_from_slice(rest);
        }
        (false, true) => bytes.iter().for_each(|byte| {
            buf.extend_from_slice(char::from(*byte).encode_utf8(&mut [0; 2]).as_bytes());
        }),
        _ => buf.extend_from_slice(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_decimal_integers_need_no_quotes() {
        for text in ["0", "1", "-1", "123456789", "-123456789"] {
            assert!(is_decimal(text.as_bytes()), "{text}");
        }
        for text in ["", "-", "-0", "00", "01", "1234567890", "1 ", "1a", "+1", "1\n"] {
            assert!(!is_decimal(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn strings_are_quoted_like_data_dumper() {
        let single = |bytes: &[u8]| {
            let mut buf = Vec::new();
            push_single(bytes, &mut buf);
            buf
        };
        let double = |bytes: &[u8], is_text, escapes_controls| {
            let mut buf = Vec::new();
            push_double(bytes, is_text, escapes_controls, &mut buf);
            String::from_utf8_lossy(&buf).into_owned()
        };
        assert_eq!(single(b"it's \\ \n"), b"'it\\'s \\\\ \n'");
        assert_eq!(double(b"\0\x001\x1f8\x7f\xe9a$", false, true), r#""\0\0001\0378\177\351a\$""#);
        assert_eq!(double("\n\u{263a}".as_bytes(), true, false), "\"\n\\x{263a}\"");
    }
}
