//! Times and durations in readable form.

use crate::error::{Error, ErrorKind, Result};
use std::time::{Duration, UNIX_EPOCH};

/// Formats a time in milliseconds since 1970, such as `2026-11-23T20:01:22.250Z`.
///
/// ```
/// assert_eq!(icecore_store::time::format_utc(1_250), "1970-01-01T00:00:01.250Z");
/// ```
pub fn format_utc(millis: i64) -> String {
    // No database has stored anything before 1970 or after the year 9999.
    let millis = u64::try_from(millis).unwrap_or(0).min(253_402_300_799_999);
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(millis)).to_string()
}

/// Parses a duration: a number of seconds, or `90s`, `5m`, `1h 30m`, `7d`.
///
/// ```
/// use std::time::Duration;
/// assert_eq!(icecore_store::time::parse_duration("5m")?, Duration::from_secs(300));
/// assert_eq!(icecore_store::time::parse_duration("0.5")?, Duration::from_millis(500));
/// assert!(icecore_store::time::parse_duration("soon").is_err());
/// # Ok::<(), icecore_store::Error>(())
/// ```
///
/// # Errors
/// Of kind `Input`, if the text is not a duration.
pub fn parse_duration(text: &str) -> Result<Duration> {
    let text = text.trim();
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds
        .map_or_else(|| humantime::parse_duration(text), Ok)
        .map_err(|_| Error::new(ErrorKind::Input, format!("{text:?} is not a duration; use 90s, 5m, 1h 30m or 7d")))
}
