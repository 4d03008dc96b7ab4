//! Days and moments.

use std::fmt;

/// The Julian day of 1970-01-01.
const EPOCH: i64 = 2_440_588;
const SECONDS_PER_DAY: i64 = 86_400;

/// A day of the calendar that Ruby's `Date` uses: Julian before a certain day, and Gregorian from that day on.
///
/// ```
/// use icecore::Known;
/// // Marshal.dump([Date.new(2026, 11, 23)])
/// # let dump: Vec<u8> = (0..HEX.len()).step_by(2).map(|at| u8::from_str_radix(&HEX[at..at + 2], 16).unwrap()).collect();
/// # const HEX: &str = "04085b06553a09446174655b0b69006903b88e25690069006900660c32323939313631";
/// let document = icecore::read(&dump)?;
/// let Some(Known::Date(day)) = document.root().item(0).and_then(Known::of) else { panic!("no date") };
/// assert_eq!((day.civil(), day.julian_day()), ((2026, 11, 23), 2_461_368));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Day {
    /// The chronological Julian day number.
    pub(super) jd: i64,
    /// The first day of the Gregorian calendar; infinite if that calendar is always or never used.
    pub(super) gregorian_start: f64,
}

impl Day {
    /// Returns the chronological Julian day number, which identifies the day in any calendar.
    pub fn julian_day(&self) -> i64 {
        self.jd
    }

    /// Year, month and day.
    ///
    /// The year before 1 is 0, as in ISO 8601.
    pub fn civil(&self) -> (i64, u8, u8) {
        if (self.jd as f64) < self.gregorian_start { julian_to_civil(self.jd) } else { gregorian_to_civil(self.jd) }
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        let width = if year < 0 { 5 } else { 4 };
        write!(f, "{year:0width$}-{month:02}-{day:02}")
    }
}

/// Returns year, month and day for a day of a year that starts in March. In such years of both calendars, the leap day
/// is the last day.
fn civil_from_march(year: i64, day_of_year: i64) -> (i64, u8, u8) {
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (year, month as u8, day as u8)
}

fn julian_to_civil(jd: i64) -> (i64, u8, u8) {
    // Days since 1 March of the year 0 of this calendar. A cycle is 4 years, 1461 days.
    let days = jd - 1_721_118;
    let (cycle, day) = (days.div_euclid(1461), days.rem_euclid(1461));
    let year = (day - day / 1460) / 365;
    civil_from_march(cycle * 4 + year, day - year * 365)
}

fn gregorian_to_civil(jd: i64) -> (i64, u8, u8) {
    // Days since 1 March of the year 0 of this calendar. A cycle is 400 years, 146,097 days.
    let days = jd - 1_721_120;
    let (cycle, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    civil_from_march(cycle * 400 + year, day - (365 * year + year / 4 - year / 100))
}

/// Returns the Julian day of a Gregorian date.
fn gregorian_to_jd(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    1_721_120 + cycle * 146_097 + year * 365 + year / 4 - year / 100 + day_of_year
}

/// A moment, and its local representation.
///
/// ```
/// use icecore::Known;
/// // Marshal.dump([Time.at(1770000000, 500_000_000, :nsec, in: "+01:00")])
/// # let dump: Vec<u8> = (0..HEX.len()).step_by(2).map(|at| u8::from_str_radix(&HEX[at..at + 2], 16).unwrap()).collect();
/// # const HEX: &str = "04085b0649753a0954696d650d42841f8020a107a0073a0b6f66667365746902100e3a097a6f6e6530";
/// let document = icecore::read(&dump)?;
/// let Some(Known::Time(moment)) = document.root().item(0).and_then(Known::of) else { panic!("no time") };
/// assert_eq!((moment.seconds(), moment.nanoseconds()), (1_770_000_000, 500_000_000));
/// assert_eq!((moment.offset(), moment.zone(), moment.is_exact()), (Some(3600), "", true));
/// assert_eq!(moment.iso8601(), "2026-02-02T03:40:00.5+01:00");
/// assert_eq!(moment.readable(), "2026-02-02 03:40:00.5 +01:00");
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment<'d> {
    pub(super) seconds: i64,
    pub(super) nanoseconds: u32,
    pub(super) is_exact: bool,
    /// Seconds that local clocks are ahead of UTC; `None` means UTC itself.
    pub(super) offset: Option<i32>,
    pub(super) zone: &'d str,
    /// As in [`Day`]: the calendar of the local date.
    pub(super) gregorian_start: f64,
}

impl<'d> Moment<'d> {
    /// Seconds since 1970, UTC, without the [nanoseconds](Moment::nanoseconds).
    pub fn seconds(&self) -> i64 {
        self.seconds
    }

    /// Nanoseconds after the second: below 1,000,000,000.
    pub fn nanoseconds(&self) -> u32 {
        self.nanoseconds
    }

    /// Returns `true` if there is no fraction below the nanoseconds. Ruby stores such fractions if it was given one;
    /// here they are cut off.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Returns the number of seconds that local clocks are ahead of UTC; `None` means UTC itself.
    pub fn offset(&self) -> Option<i32> {
        self.offset
    }

    /// Returns the name of the zone, such as `CET` or `Europe/Berlin`; may be empty.
    pub fn zone(&self) -> &'d str {
        self.zone
    }

    /// Returns the local day and the second of the day.
    fn local_day_and_second(&self) -> (Day, i64) {
        let seconds = self.seconds.saturating_add(i64::from(self.offset.unwrap_or(0)));
        let jd = seconds.div_euclid(SECONDS_PER_DAY) + EPOCH;
        (Day { jd, gregorian_start: self.gregorian_start }, seconds.rem_euclid(SECONDS_PER_DAY))
    }

    fn format_local(&self, separator: char) -> String {
        let (day, second) = self.local_day_and_second();
        let mut text = format!("{day}{separator}{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
        if self.nanoseconds > 0 {
            let digits = format!(".{:09}", self.nanoseconds);
            text.push_str(digits.trim_end_matches('0'));
        }
        text
    }

    fn offset_text(offset: i32) -> String {
        let (sign, off) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs());
        let mut text = format!("{sign}{:02}:{:02}", off / 3600, off / 60 % 60);
        if off % 60 > 0 {
            text.push_str(&format!(":{:02}", off % 60));
        }
        text
    }

    /// As ISO 8601: `2026-11-22T05:17:31.5+01:00`; UTC is `Z`.
    pub fn iso8601(&self) -> String {
        let offset = self.offset.map_or_else(|| "Z".to_owned(), Moment::offset_text);
        self.format_local('T') + &offset
    }

    /// Text for people, with the zone: `2026-11-22 05:17:31.5 +01:00 CET`.
    pub fn readable(&self) -> String {
        let mut text = self.format_local(' ');
        match self.offset {
            None => text.push_str(" UTC"),
            Some(offset) => {
                text.push(' ');
                text.push_str(&Moment::offset_text(offset));
            }
        }
        let is_redundant = self.zone.is_empty() || self.offset.is_none() && self.zone == "UTC";
        if !is_redundant {
            text.push(' ');
            text.extend(self.zone.chars().filter(|c| !c.is_control()));
        }
        text
    }
}

/// Returns the seconds since 1970 of a Gregorian time in UTC. `None` if the year is too far away.
pub(super) fn seconds_from_date(year: i64, month: i64, day: i64, second: i64) -> Option<i64> {
    if year.unsigned_abs() > 1 << 36 {
        return None;
    }
    Some((gregorian_to_jd(year, month, day) - EPOCH) * SECONDS_PER_DAY + second)
}

/// Returns the seconds since 1970 of a second of a Julian day.
pub(super) fn seconds_from_jd(jd: i64, second: i64) -> i64 {
    (jd - EPOCH).saturating_mul(SECONDS_PER_DAY).saturating_add(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_calendars_advance_day_by_day() {
        for (calendar, gregorian_start) in [("julian", f64::INFINITY), ("gregorian", f64::NEG_INFINITY)] {
            let mut previous = Day { jd: -800_001, gregorian_start }.civil();
            for jd in -800_000..2_600_000 {
                let (year, month, day) = Day { jd, gregorian_start }.civil();
                let is_leap = year % 4 == 0 && (calendar == "julian" || year % 100 != 0 || year % 400 == 0);
                let last_day = match previous.1 {
                    2 if is_leap => 29,
                    2 => 28,
                    4 | 6 | 9 | 11 => 30,
                    _ => 31,
                };
                let expected = match previous {
                    (y, 12, 31) => (y + 1, 1, 1),
                    (y, m, d) if d == last_day => (y, m + 1, 1),
                    (y, m, d) => (y, m, d + 1),
                };
                assert_eq!((year, month, day), expected, "{calendar} {jd}");
                previous = expected;
                if calendar == "gregorian" {
                    assert_eq!(gregorian_to_jd(year, month.into(), day.into()), jd);
                }
            }
        }
        assert_eq!(Day { jd: 2_299_160, gregorian_start: 2_299_161.0 }.to_string(), "1582-10-04");
        assert_eq!(Day { jd: 2_299_161, gregorian_start: 2_299_161.0 }.to_string(), "1582-10-15");
        assert_eq!(Day { jd: 0, gregorian_start: f64::INFINITY }.to_string(), "-4712-01-01");
    }
}
