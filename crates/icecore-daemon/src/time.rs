//! Times and durations as people write them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970 as ISO 8601: `2026-01-31T12:00:00.250Z`.
pub fn iso(millis: i64) -> String {
    let (seconds, millis) = (millis.div_euclid(1000), millis.rem_euclid(1000));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The date so many days behind 1970-01-01: years that begin in March, in eras of 400 years.
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// The time of this machine, for the journal.
pub fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    iso(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The longest duration that is taken: ten years.
const LONGEST: f64 = 10.0 * 365.0 * 86_400.0;

/// A duration: seconds, or with a unit, as `90`, `0.5`, `250ms`, `5s`, `2m`, `1h`, `7d`.
pub fn duration(text: &str) -> Option<Duration> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return None,
    };
    let is_plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds = number.parse::<f64>().ok().filter(|_| is_plain)? * unit;
    (seconds <= LONGEST).then(|| Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_as_iso_8601() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_767_225_599_999, "2025-12-31T23:59:59.999Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(iso(millis), text);
        }
    }

    #[test]
    fn durations_have_units() {
        for (text, millis) in [("5", 5_000), ("0.5", 500), ("250ms", 250), ("2m", 120_000), ("1h", 3_600_000), ("0", 0)]
        {
            assert_eq!(duration(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "-1", "5 s", "1e3", "inf", "NaN", "5w", "99999999999", "1.2.3"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
