//! Keys as text in paths. A path is valid text, and a key may be any bytes.
//!
//! A byte that is not part of UTF-8 is a private character in the text, and is shown as `\xe4`. So different keys have
//! different texts.

use std::borrow::Cow;

/// The characters U+10FF80 to U+10FFFF stand for the bytes 0x80 to 0xff.
const FIRST_BYTE_CHAR: u32 = 0x10_ff00;

/// Returns the byte that this character stands for, if it stands for one.
pub(crate) fn byte_of_char(c: char) -> Option<u8> {
    let offset = u32::from(c).checked_sub(FIRST_BYTE_CHAR)?;
    u8::try_from(offset).ok().filter(|byte| *byte >= 0x80)
}

/// Returns the character that stands for this byte, which is not ASCII.
fn char_of_byte(byte: u8) -> char {
    char::from_u32(FIRST_BYTE_CHAR + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns the text of a key. Such private characters in the key itself are taken as bytes.
pub(crate) fn key_text(key: &[u8]) -> Cow<'_, str> {
    /// The first byte of the characters that stand for bytes.
    const LEAD_BYTE: u8 = 0xf4;
    match std::str::from_utf8(key) {
        Ok(text) if !key.contains(&LEAD_BYTE) || !text.contains(|c| byte_of_char(c).is_some()) => Cow::Borrowed(text),
        _ => {
            let mut text = String::with_capacity(key.len());
            for chunk in key.utf8_chunks() {
                for c in chunk.valid().chars() {
                    match byte_of_char(c) {
                        Some(_) => text.extend(c.encode_utf8(&mut [0; 4]).bytes().map(char_of_byte)),
                        None => text.push(c),
                    }
                }
                text.extend(chunk.invalid().iter().map(|byte| char_of_byte(*byte)));
            }
            Cow::Owned(text)
        }
    }
}

/// Returns the bytes of a key with this text.
pub(crate) fn key_bytes(text: &str) -> Cow<'_, [u8]> {
    if !text.contains(|c| byte_of_char(c).is_some()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of_char(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// Appends the byte that the escape `\xe4` in a path stands for.
pub(crate) fn push_byte(text: &mut String, byte: u8) {
    text.push(if byte.is_ascii() { char::from(byte) } else { char_of_byte(byte) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_its_own_text() {
        let keys: [&[u8]; 6] =
            [b"name", "gr\u{f6}\u{df}e".as_bytes(), b"Gr\xf6\xdfe", b"\xe4", b"\xf6", "\u{10ffe4}".as_bytes()];
        let texts: Vec<String> = keys.iter().map(|key| key_text(key).into_owned()).collect();
        for (key, text) in keys.iter().zip(&texts) {
            assert_eq!(&*key_bytes(text), *key);
            assert_eq!(texts.iter().filter(|other| *other == text).count(), 1);
        }
    }
}
