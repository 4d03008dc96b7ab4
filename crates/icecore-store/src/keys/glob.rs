//! Key patterns with the syntax of Redis: `*`, `?`, `[a-z]`, `[^a]`, `\*`.

/// Returns whether a key matches a pattern.
///
/// After a mismatch, only the last star is extended. So the work is at most the product of the two lengths.
pub(super) fn matches_pattern(pattern: &[u8], key: &[u8]) -> bool {
    let (mut pattern_offset, mut key_offset) = (0, 0);
    // Offset in the pattern after the last star, and offset in the key where the star's match ends.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if pattern.get(pattern_offset) == Some(&b'*') {
            pattern_offset += 1;
            retry = Some((pattern_offset, key_offset));
            continue;
        }
        let element_length = match (key.get(key_offset), pattern_offset < pattern.len()) {
            (Some(byte), true) => match_element(&pattern[pattern_offset..], *byte),
            (None, false) => return true,
            _ => None,
        };
        match (element_length, &mut retry) {
            (Some(length), _) => {
                pattern_offset += length;
                key_offset += 1;
            }
            (None, Some((after_star, star_end))) if *star_end < key.len() => {
                *star_end += 1;
                (pattern_offset, key_offset) = (*after_star, *star_end);
            }
            _ => return false,
        }
    }
}

/// Returns the length of the pattern's first element if it matches this byte.
fn match_element(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', rest @ ..] => {
            let (is_member, length) = match_class(rest, byte);
            is_member.then_some(1 + length)
        }
        [b'\\', escaped, ..] => (*escaped == byte).then_some(2),
        [first, ..] => (*first == byte).then_some(1),
        [] => None,
    }
}

/// Returns whether a byte is in the class that begins here, and the length of the class. A class without an end extends
/// to the end of the pattern.
fn match_class(pattern: &[u8], byte: u8) -> (bool, usize) {
    let is_negated = pattern.first() == Some(&b'^');
    let (mut offset, mut is_member) = (usize::from(is_negated), false);
    loop {
        match &pattern[offset.min(pattern.len())..] {
            [] => return (is_member != is_negated, pattern.len()),
            [b'\\', escaped, ..] => {
                is_member |= *escaped == byte;
                offset += 2;
            }
            [b']', ..] => return (is_member != is_negated, offset + 1),
            [first, b'-', last, ..] => {
                is_member |= (*first.min(last)..=*first.max(last)).contains(&byte);
                offset += 3;
            }
            [first, ..] => {
                is_member |= *first == byte;
                offset += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn patterns_match_as_in_redis() {
        for (pattern, key, is_like) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("cache:*", "cache:7", true),
            ("cache:*", "cached", false),
            ("*:7", "a:7:7", true),
            ("a*b*c", "axxbyybc", true),
            ("a*b*c", "axxbyy", false),
            ("?", "", false),
            ("h[ae]llo", "hallo", true),
            ("h[^e]llo", "hello", false),
            ("h[a-c]llo", "hbllo", true),
            ("h[c-a]llo", "hbllo", true),
            (r"\*", "*", true),
            (r"\*", "a", false),
            (r"[\]]", "]", true),
            ("[abc", "c", true),
            ("**a", "ba", true),
        ] {
            assert_eq!(matches_pattern(pattern.as_bytes(), key.as_bytes()), is_like, "{pattern} {key}");
        }
    }

    #[test]
    fn patterns_with_many_stars_end_soon() {
        let pattern = "a*".repeat(200) + "b";
        assert!(!matches_pattern(pattern.as_bytes(), "a".repeat(2000).as_bytes()));
    }
}
