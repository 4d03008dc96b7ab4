//! The layouts of Ruby's own classes.

use super::time::{self, Day, Moment};
use super::{Exception, Known, Members, SimilarValue, number};
use crate::document::{Cursor, Form, Key, Kind, Node, Value};

/// The calendar of `Time`: always Gregorian.
const GREGORIAN: f64 = f64::NEG_INFINITY;
/// `Date` splits its day number into periods of this many days.
const PERIOD: i64 = 71_149_239 * 3;
/// Zones in which Rails shows an offset of zero as `Z`.
const UTC: [&str; 5] = ["UTC", "Etc/UTC", "Etc/UCT", "UCT", "Zulu"];

/// Returns the name of a member if it is a symbol.
fn member_name<'d>(key: &Key<'d>) -> Option<&'d [u8]> {
    (key.node().kind == Kind::Symbol).then(|| key.bytes())
}

/// Returns the members with these names; a missing one is `None`. Fails if there are other or repeated members.
fn find_members<'d, const N: usize>(
    entries: impl Iterator<Item = (Key<'d>, Cursor<'d>)>,
    names: [&str; N],
) -> Option<[Option<Cursor<'d>>; N]> {
    find_members_among_variables(entries, names).filter(|(_, has_variables)| !has_variables).map(|(members, _)| members)
}

/// Like [`find_members`], but allows instance variables in addition. Also returns whether there are any.
fn find_members_among_variables<'d, const N: usize>(
    entries: impl Iterator<Item = (Key<'d>, Cursor<'d>)>,
    names: [&str; N],
) -> Option<([Option<Cursor<'d>>; N], bool)> {
    let (mut members, mut has_variables) = ([None; N], false);
    for (key, value) in entries {
        let name = member_name(&key)?;
        match names.iter().position(|known| known.as_bytes() == name) {
            Some(index) if members[index].replace(value.target()).is_some() => return None,
            Some(_) => {}
            None if name.starts_with(b"@") => has_variables = true,
            None => return None,
        }
    }
    Some((members, has_variables))
}

/// Returns the items of an array with exactly `N` items.
fn exact_items<'d, const N: usize>(array: Cursor<'d>) -> Option<[Cursor<'d>; N]> {
    let array = array.target();
    if array.kind() != Kind::Array || array.len() != N {
        return None;
    }
    let mut items = array.items();
    let targets = [(); N].map(|()| items.next().map(|item| item.target()));
    targets.iter().all(Option::is_some).then(|| targets.map(|item| item.unwrap_or(array)))
}

/// Returns the meaning of an object. The first member shows which layout is possible. Most objects have none of these
/// layouts, and only their first member is examined.
pub(super) fn decode_object(value: Cursor<'_>) -> Option<Known<'_>> {
    if value.node().form() != Form::Usual {
        return None;
    }
    let body = value.document().at(value.index() + 1).filter(|body| body.kind() == Kind::Map)?;
    match member_name(&body.entries().next()?.0)? {
        b"excl" | b"begin" | b"end" if value.class() == b"Range" => decode_range(body),
        b"@hash" | b"@keys" => decode_set(value.class(), body),
        b"mesg" | b"bt" => decode_exception(value.class(), body),
        // A class that set variables before it called `super`.
        _ if value.document().tape().keys().find(Node::leaf(Kind::Symbol, 0), b"mesg").is_some() => {
            decode_exception(value.class(), body)
        }
        _ => None,
    }
}

fn decode_range(body: Cursor<'_>) -> Option<Known<'_>> {
    let [Some(begin), Some(end), Some(excl)] = find_members(body.entries(), ["begin", "end", "excl"])? else {
        return None;
    };
    let Value::Bool(excludes_end) = excl.value() else { return None };
    Some(Known::Range { begin, end, excludes_end })
}

fn decode_set<'d>(class: &[u8], body: Cursor<'d>) -> Option<Known<'d>> {
    if !matches!(class, b"Set" | b"SortedSet") {
        return None;
    }
    let [map, keys] = find_members(body.entries(), ["@hash", "@keys"])?;
    decode_set_members(class, map, keys)
}

fn decode_set_members<'d>(class: &[u8], map: Option<Cursor<'d>>, keys: Option<Cursor<'d>>) -> Option<Known<'d>> {
    let map = map.filter(|map| map.kind() == Kind::Map)?;
    // `@keys` of a `SortedSet` is a cache of the map's keys.
    let is_cache = |keys: Cursor<'_>| class == b"SortedSet" && matches!(keys.kind(), Kind::Null | Kind::Array);
    let is_bool = |value: Cursor<'_>, expected: bool| matches!(value.value(), Value::Bool(found) if found == expected);
    let fits = keys.is_none_or(is_cache)
        && map.default_value().is_none_or(|value| is_bool(value, false))
        && map.entries().all(|(_, value)| is_bool(value, true));
    fits.then_some(Known::Set(Members { map }))
}

/// Decodes an exception. Only exceptions have members with these names without `@`.
fn decode_exception<'d>(class: &'d [u8], body: Cursor<'d>) -> Option<Known<'d>> {
    let (mut message, mut backtrace, mut cause) = (None, None, None);
    for (key, value) in body.entries() {
        let place = match member_name(&key)? {
            b"mesg" => &mut message,
            b"bt" => &mut backtrace,
            b"cause" => &mut cause,
            b"message" | b"backtrace" => return None,
            _ => continue,
        };
        if place.replace(value).is_some() {
            return None;
        }
    }
    let backtrace = backtrace?;
    matches!(backtrace.target().kind(), Kind::Null | Kind::Array).then_some(())?;
    Some(Known::Exception(Exception { class, message: message?, backtrace, cause }))
}

/// Returns the meaning of a value with a known layout that has another class, or instance variables in addition.
pub(super) fn decode_similar(value: Cursor<'_>) -> Option<SimilarValue<'_>> {
    match (value.kind(), value.node().form()) {
        (Kind::Object, Form::Usual) => decode_similar_set(value),
        (Kind::Opaque, Form::UserDump) => {
            let Value::Opaque(class, payload) = value.value() else { return None };
            let time = decode_time_parts(payload)?;
            let has_other_class = class != b"Time";
            // No program can set a variable named `zone`: only `Time` writes it.
            let is_time = !has_other_class || time.has_zone;
            let similar =
                SimilarValue { known: Known::Time(time.moment), has_other_class, has_variables: time.has_variables };
            is_time.then_some(similar)
        }
        (Kind::Opaque, Form::UserMarshal) => {
            let Value::Opaque(class, payload) = value.value() else { return None };
            let Value::Attrs(fields) = payload.value() else { return None };
            let (day, moment) = decode_date(fields).filter(|_| payload.class().is_empty())?;
            let known = match class {
                b"Date" => Known::Date(day),
                b"DateTime" => Known::DateTime(moment),
                _ => return None,
            };
            Some(SimilarValue { known, has_other_class: false, has_variables: true })
        }
        _ => None,
    }
}

/// Decodes a `Set` with instance variables, or an object of another class that contains nothing but the hash of a set.
fn decode_similar_set(value: Cursor<'_>) -> Option<SimilarValue<'_>> {
    let body = value.document().at(value.index() + 1).filter(|body| body.kind() == Kind::Map)?;
    if member_name(&body.entries().next()?.0)? != b"@hash" {
        return None;
    }
    let ([map], has_variables) = find_members_among_variables(body.entries(), ["@hash"])?;
    let has_other_class = value.class() != b"Set";
    // Every set has a hash with the default value false. Other objects seldom have one.
    let has_default = map.and_then(|map| map.default_value()).is_some();
    if has_other_class && (has_variables || !has_default) {
        return None;
    }
    let known = decode_set_members(b"Set", map, None)?;
    Some(SimilarValue { known, has_other_class, has_variables })
}

pub(super) fn decode_opaque(value: Cursor<'_>) -> Option<Known<'_>> {
    let Value::Opaque(class, payload) = value.value() else { return None };
    if value.len() != 1 {
        return None;
    }
    match (value.node().form(), class) {
        (Form::UserDump, b"Time") => Some(Known::Time(decode_time(payload)?)),
        (Form::UserDump, b"BigDecimal") => Some(Known::Decimal(decimal_text(payload)?)),
        (Form::UserMarshal, b"Date") => Some(Known::Date(decode_date(payload)?.0)),
        (Form::UserMarshal, b"DateTime") => Some(Known::DateTime(decode_date(payload)?.1)),
        (Form::UserMarshal, b"Complex") => {
            let [real, imaginary] = exact_items(payload)?;
            let known = Known::Complex { real, imaginary };
            (is_real_number(real) && is_real_number(imaginary)).then_some(known)
        }
        (Form::UserMarshal, b"Rational") => {
            let [numerator, denominator] = rational_parts(payload)?;
            Some(Known::Rational { numerator, denominator })
        }
        (Form::UserMarshal, b"OpenStruct") => {
            let keys = |map: Cursor<'_>| map.entries().all(|(key, _)| member_name(&key).is_some());
            (payload.kind() == Kind::Map && keys(payload)).then_some(Known::Map(payload))
        }
        (Form::UserMarshal, b"ActiveSupport::TimeWithZone") => Some(Known::Time(decode_zoned_time(payload)?)),
        _ => None,
    }
}

pub(super) fn decode_extended(value: Cursor<'_>) -> Option<Known<'_>> {
    let Value::Attrs(map) = value.value() else { return None };
    let is_known = value.node().form() == Form::Subclass
        && value.class() == b"ActiveSupport::HashWithIndifferentAccess"
        && map.kind() == Kind::Map
        && value.entries().next().is_none();
    is_known.then_some(Known::Map(map))
}

fn is_integer(value: Cursor<'_>) -> bool {
    matches!(value.kind(), Kind::Int | Kind::Uint | Kind::BigInt)
}

/// Returns the payload of an opaque object of this class. Its content is not decoded as a known value: that could nest
/// without limit.
fn payload_of<'d>(value: Cursor<'d>, form: Form, class: &[u8]) -> Option<Cursor<'d>> {
    match value.value() {
        Value::Opaque(known, payload) if value.node().form() == form && known == class && value.len() == 1 => {
            Some(payload)
        }
        _ => None,
    }
}

/// Returns the parts of the payload of a `Rational`.
fn rational_parts(payload: Cursor<'_>) -> Option<[Cursor<'_>; 2]> {
    let [numerator, denominator] = exact_items(payload)?;
    let is_above_zero = match denominator.value() {
        Value::Int(value) => value > 0,
        Value::Uint(_) => true,
        Value::BigInt(value) => !value.negative,
        _ => false,
    };
    (is_integer(numerator) && is_above_zero).then_some([numerator, denominator])
}

/// Returns the text after the precision in the payload of a `BigDecimal`.
fn decimal_text(payload: Cursor<'_>) -> Option<&str> {
    let (precision, text) = payload.as_str()?.split_once(':')?;
    number::split_decimal(text)?;
    precision.bytes().all(|byte| byte.is_ascii_digit()).then_some(text)
}

fn is_real_number(value: Cursor<'_>) -> bool {
    let is_rational = || payload_of(value, Form::UserMarshal, b"Rational").and_then(rational_parts).is_some();
    let is_decimal = || payload_of(value, Form::UserDump, b"BigDecimal").and_then(decimal_text).is_some();
    is_integer(value) || value.kind() == Kind::Float || is_rational() || is_decimal()
}

/// Returns the integer part of a number of nanoseconds, and whether it is exact: the number may be a fraction.
fn decode_nanoseconds(value: Cursor<'_>) -> Option<(i64, bool)> {
    if let Value::Int(value) = value.value() {
        return Some((value, true));
    }
    let [numerator, denominator] = payload_of(value, Form::UserMarshal, b"Rational").and_then(rational_parts)?;
    integer_quotient(numerator, denominator)
}

/// Returns the integer part of a fraction, whose parts may be large, and whether it is exact.
fn integer_quotient(numerator: Cursor<'_>, denominator: Cursor<'_>) -> Option<(i64, bool)> {
    let to_i128 = |value: Cursor<'_>| match value.value() {
        Value::Int(value) => Some(i128::from(value)),
        Value::Uint(value) => Some(i128::from(value)),
        Value::BigInt(value) if value.magnitude.len() <= 15 => {
            let magnitude = value.magnitude.iter().rev().fold(0, |sum: i128, byte| sum << 8 | i128::from(*byte));
            Some(if value.negative { -magnitude } else { magnitude })
        }
        _ => None,
    };
    let (numerator, denominator) = (to_i128(numerator)?, to_i128(denominator)?);
    if denominator <= 0 {
        return None;
    }
    let quotient = numerator.div_euclid(denominator);
    Some((i64::try_from(quotient).ok()?, numerator.rem_euclid(denominator) == 0))
}

/// Decodes `Date` and `DateTime`: an array of period, day in the period, second of that day, nanoseconds, offset and
/// the start of the Gregorian calendar. The variables have the names that Ruby's source uses for them.
fn decode_date(payload: Cursor<'_>) -> Option<(Day, Moment<'_>)> {
    let [nth, jd, df, sf, of, sg] = exact_items(payload)?;
    let nth = nth.as_i64()?;
    let jd = nth.checked_mul(PERIOD)?.checked_add(jd.as_i64()?)?;
    let second = df.as_i64().filter(|second| (0..86_400).contains(second))?;
    let (nanoseconds, is_exact) = decode_nanoseconds(sf)?;
    let nanoseconds = u32::try_from(nanoseconds).ok().filter(|count| *count < 1_000_000_000)?;
    let offset = i32::try_from(of.as_i64()?).ok().filter(|offset| offset.abs() <= 86_400)?;
    let Value::Float(gregorian_start) = sg.value() else { return None };
    // Outside the first period, Ruby uses only one calendar.
    let gregorian_start = match nth {
        _ if gregorian_start.is_infinite() => gregorian_start,
        0 => gregorian_start,
        1.. => f64::NEG_INFINITY,
        _ => f64::INFINITY,
    };
    if gregorian_start.is_nan() || jd.unsigned_abs() > 1 << 45 {
        return None;
    }
    let local = jd + (second + i64::from(offset)).div_euclid(86_400);
    let seconds = time::seconds_from_jd(jd, second);
    let moment = Moment { seconds, nanoseconds, is_exact, offset: Some(offset), zone: "", gregorian_start };
    Some((Day { jd: local, gregorian_start }, moment))
}

/// The fields that are packed into the eight bytes of a `Time`.
struct PackedTime {
    /// Seconds since 1970.
    seconds: i64,
    micro: u32,
    is_utc: bool,
    /// Whether Ruby 1.8 wrote it. Nanoseconds and an offset are then ignored.
    is_old: bool,
}

fn unpack_time(bytes: &[u8]) -> Option<PackedTime> {
    let word = |offset: usize| Some(u32::from_le_bytes(*bytes.get(offset..)?.first_chunk()?));
    let (date, clock) = (word(0)?, word(4)?);
    if date >> 31 == 0 {
        let packed = PackedTime { seconds: i64::from(date), micro: clock, is_utc: false, is_old: true };
        return (bytes.len() == 8 && clock < 1_000_000).then_some(packed);
    }
    let mut year = 1900 + i64::from(date >> 14 & 0xFFFF);
    if bytes.len() > 8 {
        // Byte 8 is a length. The bytes after it are the distance of the year from the range that `date` can contain.
        let beyond = bytes.get(9..)?;
        if beyond.is_empty() || beyond.len() > 6 || usize::from(bytes[8]) != beyond.len() + 5 {
            return None;
        }
        let beyond = beyond.iter().rev().fold(0, |sum: i64, byte| sum << 8 | i64::from(*byte));
        year += if year == 1900 { -beyond } else { beyond };
    }
    let (month, day, hour) = (date >> 10 & 0x0F, date >> 5 & 0x1F, date & 0x1F);
    let (minute, second, micro) = (clock >> 26, clock >> 20 & 0x3F, clock & 0xF_FFFF);
    if month > 11 || day == 0 || hour > 24 || minute > 59 || second > 60 || micro > 999_999 {
        return None;
    }
    let second = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
    let seconds = time::seconds_from_date(year, i64::from(month) + 1, i64::from(day), second)?;
    Some(PackedTime { seconds, micro, is_utc: date >> 30 & 1 == 1, is_old: false })
}

fn decode_time(payload: Cursor<'_>) -> Option<Moment<'_>> {
    decode_time_parts(payload).filter(|time| !time.has_variables).map(|time| time.moment)
}

struct DecodedTime<'d> {
    moment: Moment<'d>,
    /// Whether the dump has a zone, which may be nil.
    has_zone: bool,
    /// Whether the object has instance variables of its own.
    has_variables: bool,
}

fn decode_time_parts(payload: Cursor<'_>) -> Option<DecodedTime<'_>> {
    let (bytes, entries) = match payload.value() {
        Value::Bytes(bytes) => (bytes, None),
        Value::Attrs(inner) if payload.node().form() == Form::Usual => match inner.value() {
            Value::Bytes(bytes) => (bytes, Some(payload.entries())),
            _ => return None,
        },
        _ => return None,
    };
    let PackedTime { seconds, micro, is_utc, is_old } = unpack_time(bytes)?;
    let names = ["offset", "zone", "nano_num", "nano_den", "submicro"];
    let ([offset, zone, num, den, submicro], has_variables) =
        find_members_among_variables(entries.into_iter().flatten(), names)?;
    let has_zone = zone.is_some();
    let (nano, is_exact) = match (num, den, submicro) {
        _ if is_old => (0, true),
        (Some(num), Some(den), _) if is_integer(num) && is_integer(den) => integer_quotient(num, den)?,
        (None, None, Some(digits)) => (decode_submicro(digits.as_bytes()?), true),
        (None, None, None) => (0, true),
        _ => return None,
    };
    let nano = u32::try_from(nano).ok().filter(|nano| *nano < 1000)?;
    let offset = match offset {
        Some(offset) => Some(i32::try_from(offset.as_i64()?).ok().filter(|offset| offset.abs() <= 86_400)?),
        None => None,
    };
    let zone = match zone {
        None => "",
        Some(zone) if zone.kind() == Kind::Null => "",
        Some(zone) => zone.as_str()?,
    };
    let offset = if is_utc || is_old { None } else { offset };
    let nanoseconds = micro * 1000 + nano;
    let moment = Moment { seconds, nanoseconds, is_exact, offset, zone, gregorian_start: GREGORIAN };
    Some(DecodedTime { moment, has_zone, has_variables })
}

/// Returns the nanoseconds that Ruby 1.9.1 stores: three digits in half bytes.
fn decode_submicro(bytes: &[u8]) -> i64 {
    let half = |offset: usize, shift: u8| i64::from(bytes.get(offset).map_or(0, |byte| byte >> shift & 0x0F));
    half(0, 4) * 100 + half(0, 0) * 10 + half(1, 4)
}

/// Decodes `TimeWithZone`: the time in UTC, the zone, and the local time stored as if it were UTC.
fn decode_zoned_time(payload: Cursor<'_>) -> Option<Moment<'_>> {
    let [utc, zone, local] = exact_items(payload)?;
    let moment = |value| payload_of(value, Form::UserDump, b"Time").and_then(decode_time);
    let (utc, local, zone) = (moment(utc)?, moment(local)?, zone.as_str()?);
    let offset = i32::try_from(local.seconds - utc.seconds).ok().filter(|offset| offset.abs() <= 86_400)?;
    let offset = if offset == 0 && UTC.contains(&zone) { None } else { Some(offset) };
    Some(Moment { offset, zone, ..utc })
}
