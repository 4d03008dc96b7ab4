//! Key patterns with the syntax of Redis: `*`, `?`, `[a-z]`, `[^a]`, `\*`.

/// Returns whether a key matches a pattern.
///
/// Only the last of several stars is retried, so the work is at most the product of the lengths.
pub(super) fn matches_pattern(pattern: &[u8], key: &[u8]) -> bool {
    let (mut pattern_at, mut key_at) = (0, 0);
    // Position in the pattern after the last star, and position in the key where its match ends.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        if pattern.get(pattern_at) == Some(&b'*') {
            pattern_at += 1;
            retry = Some((pattern_at, key_at));
            continue;
        }
        let step = match (key.get(key_at), pattern_at < pattern.len()) {
            (Some(byte), true) => match_element(&pattern[pattern_at..], *byte),
            (None, false) => return true,
            _ => None,
        };
        match (step, &mut retry) {
            (Some(length), _) => {
                pattern_at += length;
                key_at += 1;
            }
            (None, Some((after_star, reached))) if *reached < key.len() => {
                *reached += 1;
                (pattern_at, key_at) = (*after_star, *reached);
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
            let (is_in, length) = match_class(rest, byte);
            is_in.then_some(1 + length)
        }
        [b'\\', escaped, ..] => (*escaped == byte).then_some(2),
        [first, ..] => (*first == byte).then_some(1),
        [] => None,
    }
}

/// Returns whether a byte is in the class that begins here, and the length of the class. A class without an end extends
/// to the end of the pattern.
fn match_class(pattern: &[u8], byte: u8) -> (bool, usize) {
    let is_other = pattern.first() == Some(&b'^');
    let (mut position, mut is_in) = (usize::from(is_other), false);
    loop {
        match &pattern[position.min(pattern.len())..] {
            [] => return (is_in != is_other, pattern.len()),
            [b'\\', escaped, ..] => {
                is_in |= *escaped == byte;
                position += 2;
            }
            [b']', ..] => return (is_in != is_other, position + 1),
            [first, b'-', last, ..] => {
                is_in |= (*first.min(last)..=*first.max(last)).contains(&byte);
                position += 3;
            }
            [first, ..] => {
                is_in |= *first == byte;
                position += 1;
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
