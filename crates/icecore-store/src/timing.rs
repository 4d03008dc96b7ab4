//! Timings of schedules: cron expressions and fixed intervals.

use crate::error::{Error, ErrorKind, Result};
use crate::rules::to_millis;
use crate::time::parse_duration;
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::fmt;

/// Maximum length in bytes of timings and of time zone names.
const MAX_TEXT_LEN: usize = 255;
/// Number of milliseconds in 30 years. A timing without an occurrence in this time counts as one that never occurs.
const HORIZON_MS: i64 = 30 * 366 * 86_400 * 1000;

/// A repeating timing.
///
/// Five cron fields (minute, hour, day of the month, month, day of the week), or six with seconds first; `@hourly`,
/// `@daily`, `@weekly`, `@monthly`, `@yearly`; or `every 5m`, counted from 1970. Cron fields use the clock of a time
/// zone, UTC by default. A time that the clock skips in spring occurs immediately after the gap; a time that exists
/// twice in autumn occurs once. A timing without a fixed hour, such as `@hourly`, occurs in both of the repeated
/// hours.
///
/// ```
/// use icecore_store::Timing;
/// let nightly = Timing::new("30 2 * * MON-FRI", Some("Europe/Berlin"))?;
/// // Monday, 2026-11-23, 02:30 in Berlin.
/// let monday = 1_795_397_400_000;
/// assert_eq!(nightly.next(monday - 1), Some(monday));
/// assert_eq!(nightly.next(monday), Some(monday + 86_400_000));
/// assert_eq!(Timing::new("every 5m", None)?.next(299_999), Some(300_000));
/// assert!(Timing::new("0 0 30 2 *", None).is_err(), "there is no such day");
/// # Ok::<(), icecore_store::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Timing {
    text: String,
    zone: Option<String>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Cron(Box<Cron>, TimeZone),
    /// Interval in milliseconds.
    Every(i64),
}

fn invalid_timing_error(text: &str, reason: impl fmt::Display) -> Error {
    let help = "use '*/5 * * * *', '30 2 * * MON-FRI', '@hourly', '@daily' or 'every 5m'";
    Error::new(ErrorKind::Input, format!("{text:?} is not a timing; {help}: {reason}"))
}

/// Returns why a cron expression is invalid. It names the field, which the parser's own message does not.
fn explain_cron_error(text: &str) -> String {
    const FIELDS: [&str; 6] = ["second", "minute", "hour", "day of the month", "month", "day of the week"];
    let fields: Vec<&str> = text.split_whitespace().collect();
    let names = match fields.len() {
        5 => &FIELDS[1..],
        6 => &FIELDS[..],
        1 => return "this is neither a cron expression nor one of its names".to_owned(),
        count => return format!("a cron expression has 5 or 6 fields, not {count}"),
    };
    let parser = CronParser::builder().seconds(Seconds::Optional).year(Year::Disallowed).build();
    let is_valid = |index: usize| {
        let only_this_field: Vec<&str> =
            (0..fields.len()).map(|other| if other == index { fields[index] } else { "*" }).collect();
        parser.parse(&only_this_field.join(" ")).is_ok()
    };
    match (0..fields.len()).find(|index| !is_valid(*index)) {
        Some(index) => format!("the {} can't be `{}`", names[index], fields[index]),
        None => "its fields do not go together".to_owned(),
    }
}

impl Timing {
    /// Parses a timing. `zone` is the name of a time zone (`Europe/Berlin`); without it the timing uses UTC.
    ///
    /// # Errors
    /// Of kind `Input`, if the text is not a timing, or is one that never occurs.
    pub fn new(text: &str, zone: Option<&str>) -> Result<Timing> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_TEXT_LEN || text.chars().any(char::is_control) {
            return Err(invalid_timing_error(
                text,
                format_args!("it must have 1 to {MAX_TEXT_LEN} bytes and no control characters"),
            ));
        }
        let kind = match text.strip_prefix("every ") {
            Some(period) => {
                let period = to_millis(parse_duration(period).map_err(|error| invalid_timing_error(text, error))?);
                if !(1_000..=HORIZON_MS).contains(&period) {
                    return Err(invalid_timing_error(
                        text,
                        "the interval must be at least a second and at most 30 years",
                    ));
                }
                Kind::Every(period)
            }
            None => {
                let parser = CronParser::builder().seconds(Seconds::Optional).year(Year::Disallowed).build();
                // The parser does not know this alias of `@daily`.
                let expression = if text.eq_ignore_ascii_case("@midnight") { "@daily" } else { text };
                let cron =
                    parser.parse(expression).map_err(|_| invalid_timing_error(text, explain_cron_error(expression)))?;
                Kind::Cron(Box::new(cron), find_time_zone(zone)?)
            }
        };
        let timing = Timing { text: text.to_owned(), zone: zone.map(str::to_owned), kind };
        match timing.next(0) {
            Some(_) => Ok(timing),
            None => Err(invalid_timing_error(text, "it never occurs")),
        }
    }

    /// Returns the first time after this one. Both are milliseconds since 1970.
    pub fn next(&self, after: i64) -> Option<i64> {
        let horizon = after.saturating_add(HORIZON_MS);
        // Both computations return `None` for times that a number or a date can't represent.
        let next = match &self.kind {
            Kind::Every(period) => after.div_euclid(*period).checked_add(1)?.checked_mul(*period)?,
            Kind::Cron(cron, zone) => {
                let after = Timestamp::from_millisecond(after).ok()?.to_zoned(zone.clone());
                cron.find_next_occurrence(&after, false).ok()?.timestamp().as_millisecond()
            }
        };
        (next > after && next <= horizon).then_some(next)
    }

    /// Returns the timing as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the time zone of the timing, if it is not UTC.
    pub fn zone(&self) -> Option<&str> {
        self.zone.as_deref()
    }
}

fn find_time_zone(name: Option<&str>) -> Result<TimeZone> {
    let Some(name) = name else { return Ok(TimeZone::UTC) };
    let zone = (name.len() <= MAX_TEXT_LEN).then(|| TimeZone::get(name).ok()).flatten();
    zone.ok_or_else(|| {
        Error::new(
            ErrorKind::Input,
            format!("{name:?} is not a known time zone; use a name such as Europe/Berlin or UTC"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-28T00:00:00Z, the day before Berlin switches to summer time.
    const MARCH: i64 = 1_774_656_000_000;
    /// 2026-10-24T00:00:00Z, the day before Berlin switches back.
    const OCTOBER: i64 = 1_792_800_000_000;
    const MINUTE: i64 = 60_000;
    const DAY: i64 = 1440 * MINUTE;

    fn occurrence_minutes(text: &str, zone: &str, mut after: i64, count: usize) -> Vec<i64> {
        let (timing, start) = (Timing::new(text, Some(zone)).expect(text), after);
        let next = |_| {
            after = timing.next(after).expect("a next one");
            (after - start) / MINUTE
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn daily_timings_occur_once_on_days_when_the_clock_changes() {
        // In winter, 02:30 is 01:30 UTC; in summer, it is 00:30 UTC. On the 29th there is no 02:30.
        assert_eq!(occurrence_minutes("30 2 * * *", "Europe/Berlin", MARCH, 3), [90, 1440 + 60, 2880 + 30]);
        assert_eq!(occurrence_minutes("30 2 * * *", "Europe/Berlin", OCTOBER, 3), [30, 1440 + 30, 2880 + 90]);
        // An hourly timing has no fixed hour, so it occurs in both of the repeated hours.
        assert_eq!(occurrence_minutes("0 * * * *", "Europe/Berlin", OCTOBER + DAY - MINUTE, 4), [1, 61, 121, 181]);
        assert_eq!(occurrence_minutes("0 * * * *", "Europe/Berlin", MARCH + DAY - MINUTE, 4), [1, 61, 121, 181]);
    }

    #[test]
    fn invalid_timings_are_refused() {
        let long = "1,".repeat(200) + "1 * * * *";
        let invalid = [
            "",
            " ",
            "* * * *",
            "* * * * * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 32 * *",
            "* * 0 * *",
            "* * * 13 *",
            "* * * * 8",
            "*/0 * * * *",
            "5-1 * * * *x",
            "every",
            "every day",
            "every 0s",
            "every 999ms",
            "every 99y",
            "@never",
            "0 0 31 2,4 *",
            "* *\n* * *",
            "\0",
            &long,
        ];
        for text in invalid {
            let error = Timing::new(text, None).err();
            assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::Input), "{text:?}");
        }
        for zone in ["", "Mars/Base", "../etc/passwd", "Europe/Berlin\0"] {
            assert!(Timing::new("@daily", Some(zone)).is_err(), "{zone:?}");
        }
    }

    #[test]
    fn times_far_away_are_computed() {
        for text in ["@daily", "every 5m", "0 0 29 2 *", "* * * * * *"] {
            let timing = Timing::new(text, None).expect(text);
            for after in [i64::MIN, -1, 0, 4_102_444_800_000, i64::MAX - 1, i64::MAX] {
                assert!(timing.next(after).is_none_or(|next| next > after), "{text} after {after}");
            }
        }
        let leap = Timing::new("0 0 29 2 *", None).expect("a timing");
        // The next one after 2096 is in 2104, because 2100 is not a leap year.
        assert_eq!(leap.next(3_981_312_000_000), Some(4_233_686_400_000));
    }
}
