//! Time zones of columns. They are offsets from UTC, or names of the time zone database.

use super::calendar::{Date, SECONDS_PER_DAY};
use arrow_schema::ArrowError;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, civil};
use std::sync::LazyLock;

/// A time zone.
#[derive(Clone, Debug)]
pub enum Zone {
    /// Always this number of seconds ahead of UTC.
    Fixed(i32),
    Named(TimeZone),
}

impl Zone {
    pub const UTC: Zone = Zone::Fixed(0);

    /// Reads `+05:30`, `+0530`, `+05` or a name, such as `Europe/Berlin`.
    pub fn parse(text: &str) -> Result<Zone, ArrowError> {
        parse_offset(text).map(Zone::Fixed).or_else(|| find_by_name(text)).ok_or_else(|| {
            let expected = "expected an offset such as +05:30, or a name such as Europe/Berlin";
            ArrowError::ParseError(format!("Invalid timezone {text:?}: {expected}"))
        })
    }

    /// Returns how many seconds its clocks are ahead of UTC, at a moment in seconds since 1970.
    pub fn offset_at(&self, seconds: i64) -> i32 {
        match self {
            Zone::Fixed(offset) => *offset,
            Zone::Named(zone) => {
                // The library has rules only for years up to 9999. The last rule is used for later years.
                let clamped = seconds.clamp(Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
                Timestamp::from_second(clamped).map_or(0, |moment| zone.to_offset(moment).seconds())
            }
        }
    }

    /// Returns the offset for a local time. `None` if clocks skip that time or show it twice.
    pub fn offset_of_local(&self, date: Date, second_of_day: i64) -> Option<i32> {
        let zone = match self {
            Zone::Fixed(offset) => return Some(*offset),
            Zone::Named(zone) => zone,
        };
        let date = civil::Date::new(date.year.try_into().ok()?, date.month.try_into().ok()?, date.day.try_into().ok()?);
        let [hour, minute, second] = [second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60];
        let local = date.ok()?.at(hour.try_into().ok()?, minute as i8, second as i8, 0);
        match zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => Some(offset.seconds()),
            AmbiguousOffset::Gap { .. } | AmbiguousOffset::Fold { .. } => None,
        }
    }
}

/// Parses `+05:30`, `+0530` or `+05` as seconds.
fn parse_offset(text: &str) -> Option<i32> {
    let digits = match *text.as_bytes() {
        [_, a, b, b':', c, d] | [_, a, b, c, d] => [a, b, c, d],
        [_, a, b] => [a, b, b'0', b'0'],
        _ => return None,
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let [a, b, c, d] = digits.map(|digit| i32::from(digit - b'0'));
    let seconds = (a * 10 + b) * 3600 + (c * 10 + d) * 60;
    let sign = match text.as_bytes()[0] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    (i64::from(seconds) < SECONDS_PER_DAY).then_some(sign * seconds)
}

/// Looks up a name in the database that is part of the command, so that a file has the same text on all systems.
fn find_by_name(name: &str) -> Option<Zone> {
    static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);
    let zone = DATABASE.get(name).ok()?;
    // The database also finds names in different case.
    if zone.iana_name() != Some(name) {
        return None;
    }
    Some(zone.to_fixed_offset().map_or(Zone::Named(zone), |offset| Zone::Fixed(offset.seconds())))
}

#[cfg(test)]
mod tests {
    use super::Zone;
    use crate::rows::columnar::texts::calendar::Date;

    #[test]
    fn zones_are_parsed_from_offsets_and_names() {
        for (text, offset) in
            [("+05:30", 19_800), ("-0530", -19_800), ("+09", 32_400), ("+00:00", 0), ("UTC", 0), ("-23:59", -86_340)]
        {
            assert_eq!(Zone::parse(text).expect(text).offset_at(0), offset, "{text}");
        }
        for text in
            ["", "+", "Z", "+5:30", "+24:00", "+23:60", "05:30 ", "+0\u{665}", "europe/berlin", "Europe/Nowhere"]
        {
            let error = Zone::parse(text).expect_err(text).to_string();
            assert!(error.starts_with("Parser error: Invalid timezone \""), "{error}");
        }
    }

    #[test]
    fn named_zones_have_summer_time() {
        let berlin = Zone::parse("Europe/Berlin").expect("a name");
        assert_eq!([1_770_000_000, 1_783_000_000].map(|moment| berlin.offset_at(moment)), [3600, 7200]);
        let local_offset =
            |month, day, hour: i64| berlin.offset_of_local(Date { year: 2026, month, day }, hour * 3600 + 1800);
        assert_eq!(
            [local_offset(3, 29, 1), local_offset(3, 29, 2), local_offset(3, 29, 3)],
            [Some(3600), None, Some(7200)]
        );
        assert_eq!(
            [local_offset(10, 25, 1), local_offset(10, 25, 2), local_offset(10, 25, 3)],
            [Some(7200), None, Some(3600)]
        );
        // Far from the years with known rules.
        assert_eq!([i64::MIN, i64::MAX].map(|moment| berlin.offset_at(moment).abs() < 7200), [true; 2]);
        // A name that some systems no longer have.
        assert_eq!(Zone::parse("US/Pacific").expect("a name").offset_at(1_770_000_000), -28_800);
    }
}
