//! Formatting of numbers in sentences.

use super::is_known;
use crate::model::Interval;

/// Formats three digits: `0.042`, `1.7`, `16.7`, `1428`.
pub(crate) fn format_number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let exponent = value.abs().log10().floor() as i32;
    let text = format!("{value:.*}", (2 - exponent).clamp(0, 12) as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Formats an interval: `1.7 (1.6 to 1.8)`, or only the number if it is exact or its error is unknown.
pub(crate) fn format_interval(value: &Interval) -> String {
    let (estimate, low, high) = (format_number(value.estimate), format_number(value.low), format_number(value.high));
    match () {
        () if !is_known(value) => format!("{estimate} (one sample, its error is not known)"),
        () if low == high => estimate,
        () => format!("{estimate} ({low} to {high})"),
    }
}

/// Formats a duration: `850 ns`, `1.23 ms`.
pub(crate) fn format_duration(ns: f64) -> String {
    let (divisor, unit) = match ns {
        ns if ns < 1e3 => (1.0, "ns"),
        ns if ns < 1e6 => (1e3, "µs"),
        ns if ns < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", format_number(ns / divisor))
}

/// Formats a share: `95 %`, `less than 1 %`.
pub(crate) fn format_share(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 0.5 => "less than 1 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

/// Joins words: `a`, `a and b`, `a, b and c`; or `a, b; c and d` if a name contains a comma.
pub(crate) fn join_words<T: AsRef<str>>(words: &[T], conjunction: &str) -> String {
    match words {
        [] => String::new(),
        [word] => word.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            let separator = if words.iter().any(|word| word.as_ref().contains(',')) { "; " } else { ", " };
            format!("{} {conjunction} {}", first.join(separator), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let formatted = [0.0, 0.0421, 0.5, 1.0, 1.7, 1.678, 16.72, 99.5, 142.8, 1428.4, -2.5].map(format_number);
        assert_eq!(formatted, ["0", "0.0421", "0.5", "1", "1.7", "1.68", "16.7", "99.5", "143", "1428", "-2.5"]);
    }

    #[test]
    fn intervals_are_formatted_with_what_is_known() {
        let of = |estimate, low, high| format_interval(&Interval { estimate, low, high });
        assert_eq!(of(1.7, 1.6, 1.8), "1.7 (1.6 to 1.8)");
        assert_eq!(of(1.7, 1.7, 1.7), "1.7");
        assert_eq!(of(1.7, 0.017, 170.0), "1.7 (one sample, its error is not known)");
    }

    #[test]
    fn lists_keep_names_apart() {
        assert_eq!(join_words(&["a", "b", "c"], "and"), "a, b and c");
        assert_eq!(join_words(&["a", "a, b", "c"], "or"), "a; a, b or c");
        assert_eq!((join_words(&["a"], "and"), join_words::<&str>(&[], "and")), ("a".to_owned(), String::new()));
    }

    #[test]
    fn durations_choose_their_unit() {
        assert_eq!(
            [3.0, 4500.0, 1.25e6, 2e9, 1e13].map(format_duration),
            ["3 ns", "4.5 µs", "1.25 ms", "2 s", "10000 s"]
        );
    }
}
