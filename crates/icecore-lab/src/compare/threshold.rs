//! The threshold above which changes count.

use super::Change;
use crate::model::Interval;
use crate::stats;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A relative change, such as `10%` or `0.1`. Smaller changes do not count. The default is 10 %.
///
/// ```
/// use icecore_lab::compare::Threshold;
///
/// assert_eq!("10%".parse::<Threshold>()?, "0.1".parse()?);
/// assert_eq!("2.5 %".parse::<Threshold>()?.to_string(), "2.5 %");
/// assert!("10".parse::<Threshold>().unwrap_err().to_string().contains("use 10%"));
/// # Ok::<(), icecore_lab::compare::ThresholdError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threshold(f64);

impl Default for Threshold {
    fn default() -> Threshold {
        Threshold(0.1)
    }
}

impl Threshold {
    /// Judges a quotient of new and old value for which larger is worse. The whole interval must be beyond the
    /// threshold, or beyond its inverse for an improvement.
    pub(super) fn judge_change(self, times: &Interval, noise: f64) -> Change {
        let limit = 1.0 + self.0;
        match () {
            () if stats::is_tie(times, noise) => Change::Same,
            () if times.low > limit => Change::Worse,
            () if times.high < 1.0 / limit => Change::Improved,
            () => Change::Same,
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", (self.0 * 1e6).round() / 1e4)
    }
}

/// Error for an invalid threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThresholdError(String);

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ThresholdError {}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Threshold, ThresholdError> {
        let text = text.trim();
        let (number, is_percent) = match text.strip_suffix('%') {
            Some(number) => (number.trim_end(), true),
            None => (text, false),
        };
        let value: f64 =
            number.parse().map_err(|_| ThresholdError(format!("`{text}` is not a share: write 10% or 0.1")))?;
        match value {
            value if !(value >= 0.0 && value.is_finite()) => {
                Err(ThresholdError(format!("`{text}` is not a share from 0 on: write 10% or 0.1")))
            }
            value if is_percent => Ok(Threshold(value / 100.0)),
            value if value >= 1.0 => {
                Err(ThresholdError(format!("`{text}` would be {} %: use {number}% if you mean that", value * 100.0)))
            }
            value => Ok(Threshold(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_and_fractions_are_read() {
        for (text, share) in [("10%", 0.1), ("0.1", 0.1), (" 5 % ", 0.05), ("0", 0.0), ("150%", 1.5)] {
            let Threshold(read) = text.parse().unwrap();
            assert!((read - share).abs() < 1e-12, "{text}");
        }
        assert_eq!(Threshold::default().to_string(), "10 %");
    }

    #[test]
    fn invalid_thresholds_are_refused() {
        for (text, message) in [
            ("ten", "`ten` is not a share: write 10% or 0.1"),
            ("", "`` is not a share: write 10% or 0.1"),
            ("%", "`%` is not a share: write 10% or 0.1"),
            ("-1%", "`-1%` is not a share from 0 on: write 10% or 0.1"),
            ("nan", "`nan` is not a share from 0 on: write 10% or 0.1"),
            ("inf%", "`inf%` is not a share from 0 on: write 10% or 0.1"),
            ("10", "`10` would be 1000 %: use 10% if you mean that"),
        ] {
            assert_eq!(text.parse::<Threshold>().unwrap_err().to_string(), message);
        }
    }
}
