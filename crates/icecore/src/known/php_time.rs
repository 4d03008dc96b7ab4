//! A moment in the form of PHP's time objects.

use super::Moment;

/// Returns `true` if this class stores a moment in the members of [`PhpTime`].
pub(crate) fn is_time_class(name: &[u8]) -> bool {
    let name = name.strip_prefix(b"\\").unwrap_or(name);
    name.eq_ignore_ascii_case(b"DateTime") || name.eq_ignore_ascii_case(b"DateTimeImmutable")
}

/// What `DateTime` and `DateTimeImmutable` serialize.
pub(super) struct PhpTime {
    /// The local time: `2026-02-02 03:40:00.500000`.
    pub(super) date: String,
    /// 1 if the zone is an offset, 3 if it is a name.
    pub(super) zone_type: i64,
    pub(super) zone: String,
    /// Whether the moment has no fraction below the microseconds.
    pub(super) is_exact: bool,
}

impl PhpTime {
    /// Returns `None` for years that PHP does not read back from four digits.
    pub(super) fn from_moment(moment: &Moment<'_>) -> Option<PhpTime> {
        let text = moment.iso8601();
        let (day, clock) = text.split_once('T')?;
        let has_four_digit_year = day.len() == 10 && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let end = clock.find(['Z', '+', '-'])?;
        let (clock, offset) = clock.split_at(end);
        let (seconds, fraction) = clock.split_once('.').unwrap_or((clock, ""));
        let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
        let is_name = moment.zone().contains('/');
        let (zone_type, zone) = match offset {
            _ if is_name => (3, moment.zone()),
            "Z" => (3, "UTC"),
            offset => (1, offset),
        };
        let is_exact = moment.is_exact() && moment.nanoseconds().is_multiple_of(1000);
        let date = format!("{day} {seconds}.{micros}");
        has_four_digit_year.then(|| PhpTime { date, zone_type, zone: zone.to_owned(), is_exact })
    }
}
