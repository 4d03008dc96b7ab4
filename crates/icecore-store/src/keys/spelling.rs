//! How keys are written as text. They are unchanged, or written as `hex:` and their bytes.

use crate::error::{Error, ErrorKind, Result};
use std::borrow::Cow;

/// Prefix of a key that is spelled in hexadecimal digits.
const HEX: &str = "hex:";

/// Returns the spelling of a key for a command line. A key that is not UTF-8, has control characters or begins with
/// `hex:` is spelled as `hex:` and its bytes.
///
/// ```
/// use icecore_store::{parse_key, spell_key};
/// assert_eq!(spell_key("Zoë:7".as_bytes()), "Zoë:7");
/// assert_eq!(spell_key(b"a\xff\0"), "hex:61ff00");
/// assert_eq!(parse_key("hex:61ff00")?, b"a\xff\0");
/// # Ok::<(), icecore_store::Error>(())
/// ```
pub fn spell_key(key: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(key) {
        Ok(text) if !text.starts_with(HEX) && !text.chars().any(char::is_control) => Cow::Borrowed(text),
        _ => {
            let digits = key.iter().map(|byte| format!("{byte:02x}"));
            Cow::Owned(std::iter::once(HEX.to_owned()).chain(digits).collect())
        }
    }
}

/// Returns the key with this spelling.
///
/// # Errors
/// Of kind `Input`, if `hex:` is not followed by pairs of hexadecimal digits.
pub fn parse_key(text: &str) -> Result<Vec<u8>> {
    let Some(digits) = text.strip_prefix(HEX) else { return Ok(text.as_bytes().to_vec()) };
    let parse_byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        u8::from_str_radix(pair, 16).ok()
    };
    let bytes: Option<Vec<u8>> =
        digits.as_bytes().chunks(2).map(|digits| parse_byte(digits).filter(|_| digits.len() == 2)).collect();
    bytes.ok_or_else(|| {
        Error::new(ErrorKind::Input, "after `hex:`, write two hexadecimal digits for each byte of the key")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn spelled_keys_of_bytes_are_parsed_back(key in proptest::collection::vec(any::<u8>(), 0..20)) {
            prop_assert_eq!(parse_key(&spell_key(&key)).unwrap(), key);
        }

        #[test]
        fn spelled_keys_of_text_are_parsed_back_and_printable(key in "(hex:)?[a-zé:\\\\ 0-9\u{1}]{0,12}") {
            let key = key.as_bytes();
            let spelled = spell_key(key);
            prop_assert_eq!(parse_key(&spelled).unwrap(), key);
            prop_assert!(!spelled.chars().any(char::is_control));
        }
    }

    #[test]
    fn invalid_hex_digits_are_refused() {
        for text in ["hex:1", "hex:0g", "hex:+1", "hex:é"] {
            assert_eq!(parse_key(text).expect_err(text).kind(), ErrorKind::Input);
        }
        assert_eq!(parse_key("hex:").expect("an empty key"), b"");
    }
}
