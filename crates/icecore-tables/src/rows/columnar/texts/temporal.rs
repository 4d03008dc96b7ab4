//! Texts of dates, times, timestamps, durations and intervals.

use super::calendar::{Date, PRINTABLE_DAYS, SECONDS_PER_DAY};
use super::native_values;
use super::numbers::print_integer;
use super::zone::Zone;
use arrow_array::Array;
use arrow_array::types::{
    Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_buffer::{IntervalDayTime, IntervalMonthDayNano};
use arrow_schema::{ArrowError, DataType, IntervalUnit, TimeUnit};
use std::io::Write as _;

pub const NANOSECONDS_PER_SECOND: u32 = 1_000_000_000;

/// The values of a column of a temporal type.
pub struct Temporal<'a> {
    data_type: &'a DataType,
    values: TemporalValues<'a>,
}

enum TemporalValues<'a> {
    Date32(&'a [i32]),
    Date64(&'a [i64]),
    Time32(&'a [i32], TimeUnit),
    Time64(&'a [i64], TimeUnit),
    Timestamp(&'a [i64], TimeUnit, Option<Zone>),
    Duration(&'a [i64], TimeUnit),
    YearMonth(&'a [i32]),
    DayTime(&'a [IntervalDayTime]),
    MonthDayNano(&'a [IntervalMonthDayNano]),
}

impl<'a> Temporal<'a> {
    /// Returns the values of a column, or `None` if its type is not temporal.
    ///
    /// # Errors
    /// If its time zone is unknown.
    pub fn from_array(array: &'a dyn Array) -> Result<Option<Temporal<'a>>, ArrowError> {
        let values = match array.data_type() {
            DataType::Date32 => TemporalValues::Date32(native_values::<Date32Type>(array)),
            DataType::Date64 => TemporalValues::Date64(native_values::<Date64Type>(array)),
            DataType::Time32(unit) => TemporalValues::Time32(
                match unit {
                    TimeUnit::Second => native_values::<Time32SecondType>(array),
                    _ => native_values::<Time32MillisecondType>(array),
                },
                *unit,
            ),
            DataType::Time64(unit) => TemporalValues::Time64(
                match unit {
                    TimeUnit::Microsecond => native_values::<Time64MicrosecondType>(array),
                    _ => native_values::<Time64NanosecondType>(array),
                },
                *unit,
            ),
            DataType::Timestamp(unit, zone) => TemporalValues::Timestamp(
                match unit {
                    TimeUnit::Second => native_values::<TimestampSecondType>(array),
                    TimeUnit::Millisecond => native_values::<TimestampMillisecondType>(array),
                    TimeUnit::Microsecond => native_values::<TimestampMicrosecondType>(array),
                    TimeUnit::Nanosecond => native_values::<TimestampNanosecondType>(array),
                },
                *unit,
                zone.as_deref().map(Zone::parse).transpose()?,
            ),
            DataType::Duration(unit) => TemporalValues::Duration(
                match unit {
                    TimeUnit::Second => native_values::<DurationSecondType>(array),
                    TimeUnit::Millisecond => native_values::<DurationMillisecondType>(array),
                    TimeUnit::Microsecond => native_values::<DurationMicrosecondType>(array),
                    TimeUnit::Nanosecond => native_values::<DurationNanosecondType>(array),
                },
                *unit,
            ),
            DataType::Interval(IntervalUnit::YearMonth) => {
                TemporalValues::YearMonth(native_values::<IntervalYearMonthType>(array))
            }
            DataType::Interval(IntervalUnit::DayTime) => {
                TemporalValues::DayTime(native_values::<IntervalDayTimeType>(array))
            }
            DataType::Interval(IntervalUnit::MonthDayNano) => {
                TemporalValues::MonthDayNano(native_values::<IntervalMonthDayNanoType>(array))
            }
            _ => return Ok(None),
        };
        Ok(Some(Temporal { data_type: array.data_type(), values }))
    }

    /// Writes the text of a value that is not null.
    ///
    /// # Errors
    /// If the date is outside of the calendar, or the time is outside of a day. The error is the text to write
    /// instead.
    pub fn print_value(&self, row: usize, out: &mut Vec<u8>) -> Result<(), String> {
        let is_written = match &self.values {
            TemporalValues::Date32(days) => print_date(i64::from(days[row]), out),
            TemporalValues::Date64(counts) => {
                let (seconds, nanoseconds) = split_count(counts[row], TimeUnit::Millisecond);
                print_date_time(seconds, nanoseconds, out)
            }
            TemporalValues::Time32(counts, unit) => print_time_of_count(i64::from(counts[row]), *unit, out),
            TemporalValues::Time64(counts, unit) => print_time_of_count(counts[row], *unit, out),
            TemporalValues::Timestamp(counts, unit, zone) => {
                let (seconds, nanoseconds) = split_count(counts[row], *unit);
                match zone {
                    None => print_date_time(seconds, nanoseconds, out),
                    Some(zone) => print_with_zone(seconds, nanoseconds, zone, out),
                }
            }
            TemporalValues::Duration(counts, unit) => {
                print_duration(counts[row], *unit, out);
                true
            }
            TemporalValues::YearMonth(months) => {
                let _ = write!(out, "{} years {} mons", months[row].div_euclid(12), months[row].rem_euclid(12));
                true
            }
            TemporalValues::DayTime(intervals) => {
                let IntervalDayTime { days, milliseconds } = intervals[row];
                print_interval([(0, "mons"), (days, "days")], i64::from(milliseconds), TimeUnit::Millisecond, out);
                true
            }
            TemporalValues::MonthDayNano(intervals) => {
                let IntervalMonthDayNano { months, days, nanoseconds } = intervals[row];
                print_interval([(months, "mons"), (days, "days")], nanoseconds, TimeUnit::Nanosecond, out);
                true
            }
        };
        if is_written { Ok(()) } else { Err(self.describe_mismatch(row)) }
    }

    #[cold]
    fn describe_mismatch(&self, row: usize) -> String {
        let (value, target) = match &self.values {
            TemporalValues::Date32(values) | TemporalValues::Time32(values, _) => (i64::from(values[row]), "temporal"),
            TemporalValues::Date64(values) | TemporalValues::Time64(values, _) => (values[row], "temporal"),
            TemporalValues::Timestamp(values, ..) => (values[row], "datetime"),
            _ => (0, "temporal"),
        };
        format!("ERROR: Cast error: Failed to convert {value} to {target} for {}", self.data_type)
    }
}

/// Returns how many of a unit are in a second.
pub fn units_per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Splits a count of a unit into seconds and the nanoseconds after them.
fn split_count(count: i64, unit: TimeUnit) -> (i64, u32) {
    // Each unit has its own constants, because the compiler makes faster code for a division by a constant.
    let (seconds, rest) = match unit {
        TimeUnit::Second => (count, 0),
        TimeUnit::Millisecond => (count.div_euclid(1_000), count.rem_euclid(1_000) * 1_000_000),
        TimeUnit::Microsecond => (count.div_euclid(1_000_000), count.rem_euclid(1_000_000) * 1_000),
        TimeUnit::Nanosecond => (count.div_euclid(1_000_000_000), count.rem_euclid(1_000_000_000)),
    };
    (seconds, rest as u32)
}

/// Writes `2026-02-03T04:05:06.500`. Returns false and writes nothing if the calendar has no such day.
fn print_date_time(seconds: i64, nanoseconds: u32, out: &mut Vec<u8>) -> bool {
    let is_written = print_date(seconds.div_euclid(SECONDS_PER_DAY), out);
    if is_written {
        out.push(b'T');
        print_time(seconds.rem_euclid(SECONDS_PER_DAY) as u32, nanoseconds, out);
    }
    is_written
}

/// Writes a timestamp with its offset from UTC: `2026-02-03T04:05:06.500+01:00`.
fn print_with_zone(seconds: i64, nanoseconds: u32, zone: &Zone, out: &mut Vec<u8>) -> bool {
    if !PRINTABLE_DAYS.contains(&seconds.div_euclid(SECONDS_PER_DAY)) {
        return false;
    }
    let offset = zone.offset_at(seconds);
    let local = seconds + i64::from(offset);
    // The offset can move the local date just outside of the calendar. Such a date still has a text.
    print_any_date(local.div_euclid(SECONDS_PER_DAY), out);
    out.push(b'T');
    print_time(local.rem_euclid(SECONDS_PER_DAY) as u32, nanoseconds, out);
    if offset == 0 {
        out.push(b'Z');
        return true;
    }
    // Historic offsets have seconds, but the text of a timestamp can't express them. So the offset is rounded to
    // minutes.
    let minutes = (offset.unsigned_abs() + 30) / 60;
    let [hours, minutes] = [minutes / 60, minutes % 60].map(two_digits);
    let sign = if offset < 0 { b'-' } else { b'+' };
    out.extend_from_slice(&[sign, hours[0], hours[1], b':', minutes[0], minutes[1]]);
    true
}

/// Writes a day as `2026-02-03`. Returns false and writes nothing if the calendar has no such day.
fn print_date(day: i64, out: &mut Vec<u8>) -> bool {
    let is_printable = PRINTABLE_DAYS.contains(&day);
    if is_printable {
        print_any_date(day, out);
    }
    is_printable
}

fn print_any_date(day: i64, out: &mut Vec<u8>) {
    let Date { year, month, day } = Date::from_day_number(day);
    let [month, day] = [month, day].map(two_digits);
    match u32::try_from(year) {
        Ok(year @ 0..=9999) => {
            let [century, year] = [year / 100, year % 100].map(two_digits);
            out.extend_from_slice(&[
                century[0], century[1], year[0], year[1], b'-', month[0], month[1], b'-', day[0], day[1],
            ]);
        }
        // ISO 8601 requires a sign for years that have more than four digits or are negative.
        _ => {
            let _ = write!(out, "{year:+05}");
            out.extend_from_slice(&[b'-', month[0], month[1], b'-', day[0], day[1]]);
        }
    }
}

/// Writes a time of day from its count of a unit since midnight. Returns false and writes nothing if the count is
/// negative or exceeds a day.
fn print_time_of_count(count: i64, unit: TimeUnit, out: &mut Vec<u8>) -> bool {
    let (seconds, nanoseconds) = split_count(count, unit);
    let is_time = (0..SECONDS_PER_DAY).contains(&seconds);
    if is_time {
        print_time(seconds as u32, nanoseconds, out);
    }
    is_time
}

/// Writes `04:05:06`, and a fraction of 3, 6 or 9 digits if there is one.
fn print_time(second_of_day: u32, nanoseconds: u32, out: &mut Vec<u8>) {
    let [hours, minutes, seconds] = [second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60].map(two_digits);
    out.extend_from_slice(&[hours[0], hours[1], b':', minutes[0], minutes[1], b':', seconds[0], seconds[1]]);
    match nanoseconds {
        0 => {}
        _ if nanoseconds.is_multiple_of(1_000_000) => print_fraction(nanoseconds / 1_000_000, 3, out),
        _ if nanoseconds.is_multiple_of(1_000) => print_fraction(nanoseconds / 1_000, 6, out),
        _ => print_fraction(nanoseconds, 9, out),
    }
}

/// Writes a point, and the value with this number of digits.
fn print_fraction(mut value: u32, width: usize, out: &mut Vec<u8>) {
    let mut digits = [b'.'; 10];
    for digit in digits[1..=width].iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
    out.extend_from_slice(&digits[..=width]);
}

/// Returns the two digits of a number below 100.
fn two_digits(value: u32) -> [u8; 2] {
    [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8]
}

/// Writes a duration in seconds, as in ISO 8601: `PT1.5S`.
fn print_duration(count: i64, unit: TimeUnit, out: &mut Vec<u8>) {
    /// Longer durations have no text. The crates of Arrow support durations of up to 2^63 milliseconds.
    const MAX_SECONDS: u64 = i64::MAX as u64 / 1_000;
    let is_too_long = match unit {
        TimeUnit::Second => count.unsigned_abs() > MAX_SECONDS,
        TimeUnit::Millisecond => count == i64::MIN,
        TimeUnit::Microsecond | TimeUnit::Nanosecond => false,
    };
    if is_too_long {
        return out.extend_from_slice(b"<invalid>");
    }
    if count < 0 {
        out.push(b'-');
    }
    if count == 0 {
        return out.extend_from_slice(b"P0D");
    }
    let per_second = units_per_second(unit) as u64;
    let (seconds, rest) = (count.unsigned_abs() / per_second, count.unsigned_abs() % per_second);
    out.extend_from_slice(b"PT");
    print_integer(seconds, out);
    if rest > 0 {
        print_fraction(rest as u32 * (u64::from(NANOSECONDS_PER_SECOND) / per_second) as u32, 9, out);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
    out.push(b'S');
}

/// Writes an interval: `1 mons 2 days 3 hours 4 mins -5.006 secs`, without the parts that are zero.
fn print_interval(parts: [(i32, &str); 2], count: i64, unit: TimeUnit, out: &mut Vec<u8>) {
    let start = out.len();
    let per_second = units_per_second(unit);
    let seconds = count / per_second;
    let [hours, minutes] = [seconds / 3600, seconds / 60 % 60];
    let clock = [(hours, "hours"), (minutes, "mins")];
    for (value, name) in parts.map(|(value, name)| (i64::from(value), name)).into_iter().chain(clock) {
        if value != 0 {
            print_separator(start, out);
            print_integer(value, out);
            out.push(b' ');
            out.extend_from_slice(name.as_bytes());
        }
    }
    let (seconds, fraction) = (seconds % 60, count % per_second);
    if seconds != 0 || fraction != 0 {
        print_separator(start, out);
        if count < 0 {
            out.push(b'-');
        }
        print_integer(seconds.unsigned_abs(), out);
        let width = if unit == TimeUnit::Millisecond { 3 } else { 9 };
        print_fraction(fraction.unsigned_abs() as u32, width, out);
        out.extend_from_slice(b" secs");
    }
    if out.len() == start {
        out.extend_from_slice(b"0 secs");
    }
}

fn print_separator(start: usize, out: &mut Vec<u8>) {
    if out.len() > start {
        out.push(b' ');
    }
}
