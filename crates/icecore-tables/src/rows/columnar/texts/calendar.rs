//! Days and their dates in the Gregorian calendar, which is also used for the time before its introduction.

use std::ops::RangeInclusive;

pub const SECONDS_PER_DAY: i64 = 86_400;

/// The days since 1970-01-01 that have a text. The crates of Arrow represent these and no others.
pub const PRINTABLE_DAYS: RangeInclusive<i64> =
    Date { year: -262_143, month: 1, day: 1 }.day_number()..=Date { year: 262_142, month: 12, day: 31 }.day_number();

/// The days of 400 years, after which the calendar repeats.
const DAYS_PER_ERA: i64 = 146_097;
/// From 0000-03-01, where an era starts, to 1970-01-01.
const ERA_TO_EPOCH: i64 = 719_468;

/// A date of the Gregorian calendar. The year before 1 is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    pub year: i64,
    pub month: u32,
    pub day: u32,
}

impl Date {
    /// Returns the date, if there is such a day.
    pub fn new(year: i64, month: u32, day: u32) -> Option<Date> {
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            _ => return None,
        };
        (1..=days).contains(&day).then_some(Date { year, month, day })
    }

    /// Returns the date of a day. Day 0 is 1970-01-01.
    pub fn from_day_number(day: i64) -> Date {
        // Years start in March here, so that the day of a leap year is the last one.
        let day = day + ERA_TO_EPOCH;
        let era = day.div_euclid(DAYS_PER_ERA);
        let day_of_era = day.rem_euclid(DAYS_PER_ERA) as u32;
        let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let is_next_year = month >= 10;
        let month = if is_next_year { month - 9 } else { month + 3 };
        Date { year: era * 400 + i64::from(year) + i64::from(is_next_year), month, day }
    }

    /// Returns the number of the day. Day 0 is 1970-01-01.
    pub const fn day_number(self) -> i64 {
        let is_before_march = self.month <= 2;
        let year = if is_before_march { self.year - 1 } else { self.year };
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let month = (if is_before_march { self.month + 9 } else { self.month - 3 }) as i64;
        let day_of_year = (153 * month + 2) / 5 + self.day as i64 - 1;
        era * DAYS_PER_ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - ERA_TO_EPOCH
    }
}

#[cfg(test)]
mod tests {
    use super::Date;

    #[test]
    fn day_numbers_become_dates() {
        for (day, year, month, of_month) in [
            (0, 1970, 1, 1),
            (-1, 1969, 12, 31),
            (11_016, 2000, 2, 29),
            (11_017, 2000, 3, 1),
            (-719_528, 0, 1, 1),
            (-719_529, -1, 12, 31),
            (-719_469, 0, 2, 29),
            (2_932_896, 9999, 12, 31),
        ] {
            let date = Date::new(year, month, of_month).expect("a date");
            assert_eq!((date.day_number(), Date::from_day_number(day)), (day, date));
        }
        for (year, month, day) in [(1900, 2, 29), (2001, 2, 29), (2000, 0, 1), (2000, 13, 1), (2000, 4, 31), (1, 1, 0)]
        {
            assert_eq!(Date::new(year, month, day), None);
        }
        let mut date = Date::from_day_number(-400_000);
        for day in -399_999..400_000 {
            let next = Date::from_day_number(day);
            let follows = match Date::new(date.year, date.month, date.day + 1) {
                Some(same_month) => next == same_month,
                None if date.month < 12 => next == Date { month: date.month + 1, day: 1, ..date },
                None => next == Date { year: date.year + 1, month: 1, day: 1 },
            };
            assert!(follows && next.day_number() == day, "{date:?} {next:?}");
            date = next;
        }
    }
}
