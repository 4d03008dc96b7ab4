//! Moments and days. They are read from objects of time classes, and from texts in ISO 8601.

use crate::mismatch::TypeMismatch;
use crate::view::TapeView;
use arrow_schema::TimeUnit;
use icecore::{Cursor, Known, Value};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, civil};

/// The Julian day of 1970-01-01.
const EPOCH_JULIAN_DAY: i64 = 2_440_588;
/// 1970-01-01 as a Rata Die day, counted from 0001-01-01 on.
const EPOCH_RATA_DIE: i64 = 719_163;
const SECONDS_PER_DAY: i64 = 86_400;

/// A moment. It has the seconds since 1970 in UTC, and the nanoseconds after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    seconds: i64,
    nanoseconds: u32,
    /// Whether its offset from UTC is known.
    has_known_offset: bool,
}

/// Returns the moment in this unit. A moment that would lose precision is refused. A column with a time zone needs
/// moments with a known offset. A column without one takes local times unchanged.
pub(super) fn read_timestamp(
    view: &TapeView<'_>,
    node: u32,
    unit: TimeUnit,
    has_zone: bool,
) -> Result<Option<i64>, TypeMismatch> {
    let Some(moment) = resolve_value(view, node).and_then(read_moment) else { return Ok(None) };
    if has_zone && !moment.has_known_offset {
        return Err(TypeMismatch::new(node, "a time with an offset from UTC", "a local time"));
    }
    let (_, nanoseconds_per_unit) = unit_factors(unit);
    if moment.nanoseconds % nanoseconds_per_unit != 0 {
        let expected = format!("a time without more than {unit:?}s");
        return Err(TypeMismatch::new(node, expected, format!("{} nanoseconds after the second", moment.nanoseconds)));
    }
    Ok(moment.to_count(unit))
}

/// Returns the number of units in a second, and the number of nanoseconds in a unit.
fn unit_factors(unit: TimeUnit) -> (i64, u32) {
    match unit {
        TimeUnit::Second => (1, 1_000_000_000),
        TimeUnit::Millisecond => (1_000, 1_000_000),
        TimeUnit::Microsecond => (1_000_000, 1_000),
        TimeUnit::Nanosecond => (1_000_000_000, 1),
    }
}

impl Moment {
    /// Returns the number of units since 1970, or `None` if it does not fit in 64 bits.
    fn to_count(self, unit: TimeUnit) -> Option<i64> {
        let (units_per_second, nanoseconds_per_unit) = unit_factors(unit);
        self.seconds.checked_mul(units_per_second)?.checked_add(i64::from(self.nanoseconds / nanoseconds_per_unit))
    }
}

/// Returns the day of a value, counted from 1970-01-01.
pub(super) fn read_day(view: &TapeView<'_>, node: u32) -> Option<i32> {
    let value = resolve_value(view, node)?;
    if let Some(Known::Date(day)) = Known::of(value) {
        return to_epoch_day(day);
    }
    let day: civil::Date = read_text(value).filter(|text| text.len() == "YYYY-MM-DD".len())?.parse().ok()?;
    i32::try_from(Offset::UTC.to_timestamp(day.at(0, 0, 0, 0)).ok()?.as_second() / SECONDS_PER_DAY).ok()
}

fn to_epoch_day(day: icecore::known::Day) -> Option<i32> {
    i32::try_from(day.julian_day().checked_sub(EPOCH_JULIAN_DAY)?).ok()
}

/// Returns the precision of a value that is a moment, and whether its offset from UTC is known. Used to infer types.
pub(crate) fn detect_precision(value: Cursor<'_>) -> Option<(TimeUnit, bool)> {
    // Texts that look like times stay texts.
    let moment = if read_text(value).is_some() { None } else { read_moment(value) }?;
    let unit = if moment.nanoseconds % 1_000 == 0 { TimeUnit::Microsecond } else { TimeUnit::Nanosecond };
    moment.to_count(unit).map(|_| (unit, moment.has_known_offset))
}

/// Returns true if the value is a day of a date class.
pub(crate) fn is_day(value: Cursor<'_>) -> bool {
    matches!(Known::of(value), Some(Known::Date(day)) if to_epoch_day(day).is_some())
}

/// Returns the value after links and references.
fn resolve_value<'d>(view: &TapeView<'d>, node: u32) -> Option<Cursor<'d>> {
    view.document?.at(view.resolve_links(node))
}

fn read_text(value: Cursor<'_>) -> Option<&str> {
    value.as_str()
}

fn read_moment(value: Cursor<'_>) -> Option<Moment> {
    if let Some(text) = read_text(value) {
        return parse_moment(text);
    }
    match Known::of(value) {
        Some(Known::Time(moment) | Known::DateTime(moment)) => {
            return moment.is_exact().then(|| Moment {
                seconds: moment.seconds(),
                nanoseconds: moment.nanoseconds(),
                has_known_offset: true,
            });
        }
        Some(_) => return None,
        None => {}
    }
    let Value::Object(class, body) = value.value() else { return None };
    match class {
        b"Time::Piece" => read_time_piece(body),
        _ => read_php_datetime(body).or_else(|| read_perl_datetime(body)),
    }
}

/// Parses `2026-02-02T03:40:00.5+01:00`, also with a blank instead of the T, and without the offset from UTC.
fn parse_moment(text: &str) -> Option<Moment> {
    /// Longer than any output of jiff.
    const MAX_LEN: usize = 48;
    if text.len() > MAX_LEN || !text.starts_with(|letter: char| letter.is_ascii_digit() || matches!(letter, '-' | '+'))
    {
        return None;
    }
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Some(moment_from_timestamp(moment));
    }
    // A day without a time is not a moment, nor is a text with a zone that is unknown.
    let is_local = text.contains(':') && !text.contains('[') && !text.ends_with('Z');
    let local: civil::DateTime = if is_local { text.parse().ok()? } else { return None };
    Some(Moment { has_known_offset: false, ..moment_from_timestamp(Offset::UTC.to_timestamp(local).ok()?) })
}

/// Reads PHP's `DateTime`, `DateTimeImmutable` and classes derived from them, such as Carbon.
fn read_php_datetime(body: Cursor<'_>) -> Option<Moment> {
    let member = |name: &str| body.get(name);
    let local: civil::DateTime = member("date")?.as_str()?.parse().ok()?;
    let zone = member("timezone")?.as_str()?;
    let zone = match member("timezone_type")?.as_i64()? {
        1 => TimeZone::fixed(parse_offset(zone)?),
        _ if matches!(zone, "UTC" | "Z" | "GMT") => TimeZone::UTC,
        3 => TimeZone::get(zone).ok()?,
        // An abbreviation means different zones in different countries.
        _ => return None,
    };
    Some(moment_from_timestamp(zone.to_ambiguous_timestamp(local).compatible().ok()?))
}

fn parse_offset(text: &str) -> Option<Offset> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let mut seconds = 0;
    let mut unit = 3600;
    for part in rest.split(':') {
        seconds += part.parse::<i32>().ok().filter(|part| (0..100).contains(part))? * unit;
        unit /= 60;
    }
    Offset::from_seconds(sign * seconds).ok()
}

/// Reads Perl's `DateTime`.
fn read_perl_datetime(body: Cursor<'_>) -> Option<Moment> {
    let member = |name: &str| body.get(name)?.as_i64();
    let days = member("utc_rd_days")?.checked_sub(EPOCH_RATA_DIE)?;
    let seconds = days.checked_mul(SECONDS_PER_DAY)?.checked_add(member("utc_rd_secs")?)?;
    let nanoseconds = u32::try_from(member("rd_nanosecs")?).ok().filter(|nanos| *nanos < 1_000_000_000)?;
    let has_known_offset = body.get("tz").is_none_or(|zone| zone.class() != b"DateTime::TimeZone::Floating");
    Some(Moment { seconds, nanoseconds, has_known_offset })
}

/// Reads Perl's `Time::Piece`: an array with the seconds since 1970 after nine other items.
fn read_time_piece(body: Cursor<'_>) -> Option<Moment> {
    const SECONDS_ITEM: usize = 9;
    let seconds = body.item(SECONDS_ITEM)?.as_i64()?;
    Some(Moment { seconds, nanoseconds: 0, has_known_offset: true })
}

fn moment_from_timestamp(moment: Timestamp) -> Moment {
    let nanoseconds = moment.as_nanosecond();
    let seconds = nanoseconds.div_euclid(1_000_000_000);
    let subsecond = nanoseconds.rem_euclid(1_000_000_000);
    Moment { seconds: seconds as i64, nanoseconds: subsecond as u32, has_known_offset: true }
}
