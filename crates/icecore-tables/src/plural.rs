//! Numbers in sentences.

use std::fmt::Display;

/// Formats a count with its noun.
pub fn format_count(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", group_digits(count), if count == 1 { one } else { many })
}

/// Formats `1234567` as `1,234,567`.
pub fn group_digits(number: u64) -> impl Display {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Maximum number of names in a list.
const MAX_LISTED: usize = 20;

/// Joins names with commas. For a long list, the result has the first names and the number of the others.
pub fn join_names<N: AsRef<str>>(names: &[N]) -> String {
    let listed: Vec<&str> = names.iter().take(MAX_LISTED).map(AsRef::as_ref).collect();
    let unlisted_count = names.len() - listed.len();
    let list = listed.join(", ");
    if unlisted_count == 0 { list } else { format!("{list} and {} more", group_digits(unlisted_count as u64)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_end_with_a_number() {
        let names: Vec<String> = (0..2_000).map(|index| format!("n{index}")).collect();
        assert_eq!(join_names(&names[..2]), "n0, n1");
        assert!(join_names(&names).ends_with("n18, n19 and 1,980 more"), "{}", join_names(&names));
    }

    #[test]
    fn large_numbers_are_grouped() {
        let text = |number| group_digits(number).to_string();
        assert_eq!((text(0), text(999), text(1000)), ("0".into(), "999".into(), "1,000".into()));
        assert_eq!(text(1_234_567), "1,234,567");
    }
}
