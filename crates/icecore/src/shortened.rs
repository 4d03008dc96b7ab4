//! Shortens texts for people: names and strings of the input may be long.

use std::borrow::Cow;

/// Returns the text with its middle left out, if it has more than `max_len` bytes: names and keys from data must not
/// fill a screen.
///
/// ```
/// assert_eq!(icecore::text::shortened("short", 16), "short");
/// assert_eq!(icecore::text::shortened(&"x".repeat(1000), 16), "xxxxxxxx…(984 bytes)…xxxxxxxx");
/// ```
pub fn shortened(text: &str, max_len: usize) -> Cow<'_, str> {
    if text.len() <= max_len {
        return Cow::Borrowed(text);
    }
    let (mut front, mut back) = (max_len / 2, text.len() - max_len / 2);
    while !text.is_char_boundary(front) {
        front -= 1;
    }
    while !text.is_char_boundary(back) {
        back += 1;
    }
    let left_out = back - front;
    Cow::Owned(format!("{}…({left_out} bytes)…{}", &text[..front], &text[back..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortening_keeps_characters_whole() {
        for len in 0..40 {
            let text = "é€😀".repeat(len);
            for max_len in 0..30 {
                let short = shortened(&text, max_len);
                assert!(short.len() <= text.len().min(max_len) + 40, "{len} {max_len} {short}");
            }
        }
    }
}
