//! Parses texts as numbers, dates, times and timestamps.

use super::F16;
use super::calendar::{Date, SECONDS_PER_DAY};
use super::temporal::{NANOSECONDS_PER_SECOND, units_per_second};
use super::zone::Zone;
use arrow_schema::TimeUnit;
use std::str::FromStr;

/// Reads an integer. It may have a sign, and blanks around it.
pub fn parse_integer<T: FromStr>(text: &str) -> Option<T> {
    let text = text.trim_ascii();
    // Unsigned types accept minus zero, but no negative number.
    let minus_zero = || text.strip_prefix('-').filter(|digits| digits.bytes().all(|digit| digit == b'0'))?.parse().ok();
    text.parse().ok().or_else(minus_zero)
}

/// Reads a float such as `1`, `-.5`, `1.e-7`, `inf` or `NaN`. It may have blanks around it.
pub fn parse_float<T: FromStr>(text: &str) -> Option<T> {
    text.trim_ascii().parse().ok()
}

/// Reads a float of 16 bits.
pub fn parse_half(text: &str) -> Option<F16> {
    parse_float(text).map(F16::from_f32)
}

/// Reads a date as days since 1970-01-01. A text with a time of day is accepted only for midnight in UTC.
pub fn parse_day(text: &str) -> Option<i32> {
    if text.starts_with(['+', '-']) {
        let (year, month, day) = parse_signed_date(text)?;
        return Date::new(year, month, day)?.day_number().try_into().ok();
    }
    if text.len() <= DATE.len() {
        return parse_date(text)?.day_number().try_into().ok();
    }
    let moment = parse_moment(text, &Zone::UTC)?;
    let is_midnight = moment.seconds.rem_euclid(SECONDS_PER_DAY) == 0 && moment.nanoseconds == 0;
    (moment.seconds / SECONDS_PER_DAY).try_into().ok().filter(|_| is_midnight)
}

/// Reads a date or a timestamp as milliseconds since 1970. Smaller parts are cut off.
pub fn parse_date_in_milliseconds(text: &str) -> Option<i64> {
    if text.len() > DATE.len() {
        let moment = parse_moment(text, &Zone::UTC)?;
        return Some(moment.seconds * 1_000 + i64::from(moment.nanoseconds / 1_000_000));
    }
    let date = match text.starts_with(['+', '-']) {
        true => parse_signed_date(text).and_then(|(year, month, day)| Date::new(year, month, day)),
        false => parse_date(text),
    };
    Some(date?.day_number() * SECONDS_PER_DAY * 1_000)
}

/// The form of a date. Longer texts have more than a date.
const DATE: &str = "2026-02-03";

/// Reads `2026-02-03`, `2026-2-3` or `20260203`.
fn parse_date(text: &str) -> Option<Date> {
    let bytes = text.as_bytes();
    let (year, month, day) = match bytes {
        _ if bytes.len() == 8 && count_digits(bytes) == 8 => (&bytes[..4], &bytes[4..6], &bytes[6..]),
        [_, _, _, _, b'-', rest @ ..] => {
            let mut parts = rest.splitn(2, |byte| *byte == b'-');
            (&bytes[..4], parts.next()?, parts.next()?)
        }
        _ => return None,
    };
    let is_short = |part: &[u8]| matches!(part.len(), 1 | 2);
    if !is_short(month) || !is_short(day) {
        return None;
    }
    Date::new(parse_digits(year)?.into(), parse_digits(month)?, parse_digits(day)?)
}

/// Reads the parts of a date whose year has a sign and at least four digits: `-0044-03-15`, `+12026-02-03`.
fn parse_signed_date(text: &str) -> Option<(i64, u32, u32)> {
    let (sign, rest) = text.split_at_checked(1)?;
    let (year, rest) = rest.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    if year.len() < 4 {
        return None;
    }
    let year: i32 = [sign, year].concat().parse().ok()?;
    Some((year.into(), month.parse().ok()?, day.parse().ok()?))
}

/// Reads up to nine digits.
fn parse_digits(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + u32::from(digit - b'0')))
}

/// Reads the digits of a fraction of a second. There must be at least one. Digits after the ninth are cut off.
fn parse_nanoseconds(digits: &[u8]) -> Option<u32> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let kept = &digits[..digits.len().min(9)];
    Some(parse_digits(kept)? * 10_u32.pow(9 - kept.len() as u32))
}

/// A moment in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970.
    seconds: i64,
    /// At least one second in a leap second.
    nanoseconds: u32,
}

impl Moment {
    /// Returns this moment as a count of `unit` since 1970; `None` if it is not a whole number or does not fit. Leap
    /// seconds are not counted.
    pub fn to_count(self, unit: TimeUnit) -> Option<i64> {
        let nanoseconds_each = NANOSECONDS_PER_SECOND / units_per_second(unit) as u32;
        let is_whole = self.nanoseconds < NANOSECONDS_PER_SECOND && self.nanoseconds.is_multiple_of(nanoseconds_each);
        let count = i128::from(self.seconds) * i128::from(units_per_second(unit))
            + i128::from(self.nanoseconds / nanoseconds_each);
        i64::try_from(count).ok().filter(|_| is_whole)
    }
}

/// Reads a timestamp: a date, or a date and a time with `T` or a blank between them, and an optional zone at the end. A
/// text without a zone is a local time in `zone`.
pub fn parse_moment(text: &str, zone: &Zone) -> Option<Moment> {
    let (date, rest) = text.as_bytes().split_at_checked(DATE.len())?;
    let date = match date {
        [year @ .., b'-', a, b, b'-', c, d] => {
            Date::new(parse_digits(year)?.into(), parse_digits(&[*a, *b])?, parse_digits(&[*c, *d])?)?
        }
        _ => return None,
    };
    let (mut time, mut rest) = (Time::MIDNIGHT, rest);
    if let [separator, clock @ ..] = rest {
        if !matches!(separator, b'T' | b't' | b' ') {
            return None;
        }
        (time, rest) = parse_clock(clock)?;
    }
    let offset = match rest {
        [] => zone.offset_of_local(date, time.second)?,
        b"z" | b"Z" => 0,
        _ => {
            // All text before it is ASCII.
            let zone = text[text.len() - rest.len()..].trim_start();
            Zone::parse(zone).ok()?.offset_of_local(date, time.second)?
        }
    };
    let seconds = date.day_number() * SECONDS_PER_DAY + time.second - i64::from(offset);
    Some(Moment { seconds, nanoseconds: time.nanoseconds })
}

/// A time of day.
#[derive(Clone, Copy)]
struct Time {
    second: i64,
    /// At least one second in a leap second.
    nanoseconds: u32,
}

impl Time {
    const MIDNIGHT: Time = Time { second: 0, nanoseconds: 0 };

    /// Returns the time, if it is valid. A leap second is a longer second 59.
    fn new(hour: u32, minute: u32, second: u32, nanoseconds: u32) -> Option<Time> {
        let (second, nanoseconds) =
            if second == 60 { (59, nanoseconds + NANOSECONDS_PER_SECOND) } else { (second, nanoseconds) };
        let is_valid = hour < 24 && minute < 60 && second < 60;
        is_valid.then(|| Time { second: i64::from(hour * 3600 + minute * 60 + second), nanoseconds })
    }
}

/// Reads the time of a timestamp, `04:05:06.5` or `040506`. Also returns the text after it.
fn parse_clock(text: &[u8]) -> Option<(Time, &[u8])> {
    let ([h1, h2, m1, m2, s1, s2], rest, nanoseconds) = match text {
        [h1, h2, b':', m1, m2, b':', s1, s2, b'.', rest @ ..] => {
            let (digits, rest) = rest.split_at(count_digits(rest));
            ([h1, h2, m1, m2, s1, s2], rest, parse_nanoseconds(digits)?)
        }
        [h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] => ([h1, h2, m1, m2, s1, s2], rest, 0),
        // An offset must have a blank before it here.
        [_, _, _, _, _, _, sign, digit, ..] if !sign.is_ascii_digit() && digit.is_ascii_digit() => return None,
        [h1, h2, m1, m2, s1, s2, rest @ ..] => ([h1, h2, m1, m2, s1, s2], rest, 0),
        _ => return None,
    };
    let pair = |tens: &u8, ones: &u8| parse_digits(&[*tens, *ones]);
    Some((Time::new(pair(h1, h2)?, pair(m1, m2)?, pair(s1, s2)?, nanoseconds)?, rest))
}

fn count_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Reads a time of day. A number is a count of the unit. Parts smaller than the unit are cut off.
pub fn parse_time<T: FromStr + TryFrom<i64>>(text: &str, unit: TimeUnit) -> Option<T> {
    let Some(time) = parse_time_of_day(text) else { return text.parse().ok() };
    let nanoseconds = time.second * i64::from(NANOSECONDS_PER_SECOND) + i64::from(time.nanoseconds);
    (nanoseconds / (i64::from(NANOSECONDS_PER_SECOND) / units_per_second(unit))).try_into().ok()
}

/// Reads `4:05`, `04:05:06.5` or `4:05 PM`.
fn parse_time_of_day(text: &str) -> Option<Time> {
    let bytes = text.as_bytes();
    let (bytes, is_afternoon) = match bytes {
        [clock @ .., b' ', b'A' | b'a', b'M' | b'm'] => (clock, Some(false)),
        [clock @ .., b' ', b'P' | b'p', b'M' | b'm'] => (clock, Some(true)),
        _ => (bytes, None),
    };
    let (hour, rest) = match bytes {
        [hour, b':', rest @ ..] => ([b'0', *hour], rest),
        [a, b, b':', rest @ ..] => ([*a, *b], rest),
        _ => return None,
    };
    let (minute, second, fraction) = match rest {
        [a, b] => ([*a, *b], [b'0', b'0'], None),
        [a, b, b':', c, d] => ([*a, *b], [*c, *d], None),
        [a, b, b':', c, d, b'.', fraction @ ..] => ([*a, *b], [*c, *d], Some(fraction)),
        _ => return None,
    };
    let hour = match (parse_digits(&hour)?, is_afternoon) {
        (hour, None) => hour,
        (12, Some(false)) => 0,
        (12, Some(true)) => 12,
        (hour @ 1..=11, Some(is_afternoon)) => hour + if is_afternoon { 12 } else { 0 },
        _ => return None,
    };
    let nanoseconds = fraction.map_or(Some(0), parse_nanoseconds)?;
    Time::new(hour, parse_digits(&minute)?, parse_digits(&second)?, nanoseconds)
}
