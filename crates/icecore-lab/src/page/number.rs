//! Readable numbers: three significant digits, a unit, no exponent.

use crate::model::Interval;
use crate::stats::is_known;

/// The text for a missing number.
pub(super) const NONE: &str = "-";

/// Formats a count: `1,172,433`.
pub fn format_count(count: f64) -> String {
    if !count.is_finite() {
        return NONE.into();
    }
    if count.abs() >= 1e15 {
        return format!("{count:.1e}");
    }
    let digits = format!("{:.0}", count.abs());
    let mut out = String::new();
    if count < 0.0 && digits != "0" {
        out.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats three significant digits: `1.23`, `12.3`, `123`, `1,234`.
fn format_digits(number: f64) -> String {
    match number.abs() {
        0.0 => "0".into(),
        magnitude if magnitude >= 99.95 => format_count(number),
        magnitude if magnitude >= 9.995 => format!("{number:.1}"),
        magnitude if magnitude >= 0.0995 => format!("{number:.2}"),
        magnitude if magnitude >= 0.00995 => format!("{number:.3}"),
        magnitude if magnitude >= 0.0001 => format!("{number:.4}"),
        _ => format!("{number:.1e}"),
    }
}

/// Formats a number in the first of these units in which it is below a thousand.
fn format_with_unit(number: f64, units: &[(f64, &str)]) -> String {
    let last = units.len() - 1;
    let (size, unit) = units[..last].iter().find(|(size, _)| number.abs() / size < 999.5).unwrap_or(&units[last]);
    format!("{} {unit}", format_digits(number / size))
}

/// Formats a time: `853 ns`, `1.20 ms`.
pub fn format_time(ns: f64) -> String {
    if !ns.is_finite() {
        return NONE.into();
    }
    if ns > 0.0 && ns < 10.0 {
        return format!("{ns:.1} ns");
    }
    format_with_unit(ns.round(), &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")])
}

/// Removes trailing zeros: `1.00 µs` becomes `1 µs`.
pub(super) fn trim_zeros(text: String) -> String {
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

/// Formats executions per second: `1,172,433/s`, `3.42/s`.
pub(super) fn format_rate(ns: f64) -> String {
    let rate = 1e9 / ns;
    if !rate.is_finite() || rate <= 0.0 {
        return NONE.into();
    }
    format!("{}/s", format_digits(rate))
}

/// Formats a number of bytes: `1,234 B`, `52.4 MB`.
pub fn format_bytes(bytes: f64) -> String {
    if !bytes.is_finite() {
        return NONE.into();
    }
    if bytes.abs() < 9999.5 {
        return format!("{} B", format_count(bytes));
    }
    format_with_unit(bytes, &[(1e3, "kB"), (1e6, "MB"), (1e9, "GB")])
}

/// Returns the unit that suits a number of bytes, and its size.
pub(super) fn choose_byte_unit(bytes: f64) -> (f64, &'static str) {
    match bytes {
        bytes if bytes >= 1e9 => (1e9, "GB"),
        bytes if bytes >= 1e6 => (1e6, "MB"),
        bytes if bytes >= 1e3 => (1e3, "kB"),
        _ => (1.0, "B"),
    }
}

/// Formats growth in a unit, with a sign: `+367`.
pub(super) fn format_growth(growth: f64, unit: f64) -> String {
    let growth = growth / unit;
    let text = if growth.abs() >= 9.95 { format_count(growth) } else { format!("{growth:.1}") };
    if growth < 0.0 { text } else { format!("+{text}") }
}

/// Formats a quotient: `1.41`, `17.3`, `120`.
pub(super) fn format_quotient(quotient: f64) -> String {
    if quotient.is_finite() { format_digits(quotient) } else { NONE.into() }
}

/// Formats a quotient with its interval: `1.41 (1.30 to 1.52)`.
pub fn format_interval(interval: &Interval) -> String {
    format_with_interval(interval, format_quotient)
}

/// Formats a number with its interval. An interval that adds nothing is left out.
pub(super) fn format_with_interval(interval: &Interval, format_value: impl Fn(f64) -> String) -> String {
    let [estimate, low, high] = [interval.estimate, interval.low, interval.high].map(&format_value);
    match () {
        () if low == estimate && high == estimate => estimate,
        () if !is_known(interval) => format!("{estimate} (one sample)"),
        () => format!("{estimate} ({low} to {high})"),
    }
}

/// Formats a fraction in percent: `3 %`, `0.4 %`.
pub(super) fn format_percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    match percent.abs() {
        magnitude if !magnitude.is_finite() => NONE.into(),
        0.0 => "0 %".into(),
        magnitude if magnitude < 0.05 => "< 0.1 %".into(),
        magnitude if magnitude >= 9.95 => format!("{} %", format_count(percent)),
        _ => format!("{percent:.1} %"),
    }
}

/// Formats a duration: `35 s`, `4 min 10 s`, `2 h 5 min`.
pub(super) fn format_duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return NONE.into();
    }
    let rounded = seconds.round() as u64;
    match rounded {
        0..60 => format!("{rounded} s"),
        60..3600 => format!("{} min {} s", rounded / 60, rounded % 60),
        _ => format!("{} h {} min", rounded / 3600, rounded % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_for_people() {
        assert_eq!(format_count(1172433.0), "1,172,433");
        assert_eq!(format_count(-1000.0), "-1,000");
        assert_eq!(format_count(999.0), "999");
        assert_eq!(format_time(853.2), "853 ns");
        assert_eq!(format_time(7.26), "7.3 ns");
        assert_eq!(format_time(999.7), "1.00 µs");
        assert_eq!(format_time(1_200_000.0), "1.20 ms");
        assert_eq!(format_time(999_999.0), "1.00 ms");
        assert_eq!(format_time(16.649e9), "16.6 s");
        assert_eq!(format_time(4000e9), "4,000 s");
        assert_eq!(format_rate(853.0), "1,172,333/s");
        assert_eq!(format_rate(292e6), "3.42/s");
        assert_eq!(format_rate(20e9), "0.050/s");
        assert_eq!(format_bytes(1234.0), "1,234 B");
        assert_eq!(format_bytes(52.35e6), "52.4 MB");
        assert_eq!(format_bytes(12_345.0), "12.3 kB");
        assert_eq!(format_growth(367e6, 1e6), "+367");
        assert_eq!(format_growth(-1.26e6, choose_byte_unit(5e6).0), "-1.3");
        assert_eq!(format_quotient(2.9), "2.90");
        assert_eq!(format_quotient(17.34), "17.3");
        assert_eq!(format_quotient(1234.0), "1,234");
        assert_eq!(format_percent(0.034), "3.4 %");
        assert_eq!(format_percent(0.25), "25 %");
        assert_eq!(format_duration(251.0), "4 min 11 s");
        assert_eq!(format_duration(7500.0), "2 h 5 min");
    }

    #[test]
    fn unknown_intervals_are_not_printed() {
        let formatted = |estimate, low, high| format_interval(&Interval { estimate, low, high });
        assert_eq!(formatted(1.4, 1.3, 1.5), "1.40 (1.30 to 1.50)");
        assert_eq!(formatted(1.4, 1.4, 1.4), "1.40");
        assert_eq!(formatted(1.4, 0.014, 140.0), "1.40 (one sample)");
        assert_eq!(formatted(f64::NAN, f64::NAN, f64::NAN), NONE);
    }

    #[test]
    fn nan_and_infinity_are_not_printed_as_numbers() {
        for number in [f64::NAN, f64::INFINITY] {
            assert_eq!(
                [
                    format_count(number),
                    format_time(number),
                    format_rate(number),
                    format_bytes(number),
                    format_quotient(number),
                    format_percent(number),
                    format_duration(number)
                ]
                .map(|text| text == NONE),
                [true; 7]
            );
        }
        assert_eq!(format_rate(0.0), NONE);
        assert_eq!(format_rate(-1.0), NONE);
        assert_eq!(format_time(0.0), "0 ns");
    }
}
