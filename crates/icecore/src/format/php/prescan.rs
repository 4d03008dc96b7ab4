//! Prescan: checks if a text is one long list that can be handed over in parts.
//!
//! The last key of an array may show that it is not a list. By then, its first items would already be handed over. So
//! the text is scanned first. The prescan builds nothing, and leaves errors to the reader.

use super::read_leaf::{read_integer, read_string};

/// Returns `true` if the root is an array with the keys 0, 1, 2 and so on, and the text does not contain links. In a
/// damaged text, this is true for the part before the damage.
pub(super) fn is_list(input: &[u8]) -> bool {
    let Some(mut offset) = input.starts_with(b"a:").then(|| skip_number(input, 2, b'{')).flatten() else {
        return false;
    };
    let mut depth = 1usize;
    let mut position = 0;
    let mut is_key = true;
    while let Some(byte) = input.get(offset) {
        if depth == 1 && is_key && *byte != b'}' {
            match read_integer(input, offset) {
                Some((key, end)) if key == position => offset = end,
                _ => return false,
            }
            position += 1;
            is_key = false;
            continue;
        }
        let next = match byte {
            b's' => read_string(input, offset).map(|(.., end)| end),
            b'i' => read_integer(input, offset).map(|(_, end)| end),
            b'N' => Some(offset + 2),
            b'b' => Some(offset + 4),
            b'd' => input[offset..].iter().position(|byte| *byte == b';').map(|len| offset + len + 1),
            b'a' => {
                depth += 1;
                skip_number(input, offset + 2, b'{')
            }
            b'O' => {
                depth += 1;
                skip_name(input, offset).and_then(|name_end| skip_number(input, name_end, b'{'))
            }
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return true;
                }
                Some(offset + 1)
            }
            // This is a link, or a value that is too rare to be handled here.
            _ => return false,
        };
        match next {
            Some(end) => offset = end,
            None => return false,
        }
        is_key |= depth == 1;
    }
    true
}

/// Skips the digits at `offset`, `:` and `last`.
fn skip_number(input: &[u8], offset: usize, last: u8) -> Option<usize> {
    let digits = input.get(offset..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = offset + digits;
    (digits > 0 && input.get(end..end + 2)? == [b':', last]).then_some(end + 2)
}

/// Skips `O:`, the length, the name and `:`.
fn skip_name(input: &[u8], offset: usize) -> Option<usize> {
    let first = skip_number(input, offset + 2, b'"')?;
    let len: usize = std::str::from_utf8(&input[offset + 2..first - 2]).ok()?.parse().ok()?;
    let end = first.checked_add(len)?;
    (input.get(end..end.checked_add(2)?)? == b"\":").then_some(end + 2)
}
