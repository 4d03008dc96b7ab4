//! Prescan: checks if a text is one long list that can be handed over in parts.
//!
//! The last key of an array may show that it is not a list, when its first items are already
//! handed over. So the text is scanned first: nothing is built, and errors are left to the
//! reader.

use super::read_leaf::{integer, string};

/// Whether the root is an array with the keys 0, 1, 2 and so on, and no link occurs
/// anywhere. In a damaged text this holds up to the damage.
pub(super) fn is_list(input: &[u8]) -> bool {
    let Some(mut at) = input.starts_with(b"a:").then(|| behind_number(input, 2, b'{')).flatten() else { return false };
    let mut depth = 1usize;
    let mut position = 0;
    let mut is_key = true;
    while let Some(byte) = input.get(at) {
        if depth == 1 && is_key && *byte != b'}' {
            match integer(input, at) {
                Some((key, behind)) if key == position => at = behind,
                _ => return false,
            }
            position += 1;
            is_key = false;
            continue;
        }
        let behind = match byte {
            b's' => string(input, at).map(|(.., behind)| behind),
            b'i' => integer(input, at).map(|(_, behind)| behind),
            b'N' => Some(at + 2),
            b'b' => Some(at + 4),
            b'd' => input[at..].iter().position(|byte| *byte == b';').map(|len| at + len + 1),
            b'a' => {
                depth += 1;
                behind_number(input, at + 2, b'{')
            }
            b'O' => {
                depth += 1;
                behind_name(input, at).and_then(|at| behind_number(input, at, b'{'))
            }
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return true;
                }
                Some(at + 1)
            }
            // Links, and values too rare to be handled here.
            _ => return false,
        };
        match behind {
            Some(behind) => at = behind,
            None => return false,
        }
        is_key |= depth == 1;
    }
    true
}

/// Skips the digits at `at`, `:` and `last`.
fn behind_number(input: &[u8], at: usize, last: u8) -> Option<usize> {
    let digits = input.get(at..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = at + digits;
    (digits > 0 && input.get(end..end + 2)? == [b':', last]).then_some(end + 2)
}

/// Skips `O:`, the length, the name and `:`.
fn behind_name(input: &[u8], at: usize) -> Option<usize> {
    let first = behind_number(input, at + 2, b'"')?;
    let len: usize = std::str::from_utf8(&input[at + 2..first - 2]).ok()?.parse().ok()?;
    let end = first.checked_add(len)?;
    (input.get(end..end.checked_add(2)?)? == b"\":").then_some(end + 2)
}
