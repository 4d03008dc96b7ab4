//! Limits of a queue. They limit how many jobs workers have at the same time, and how many are handed out in a
//! period.
//!
//! Jobs that were handed out are counted in short slots of time. Every job of a slot counts as if it was handed out
//! at the end of the slot. So it counts for at least one period, and a period never contains more jobs than the
//! limit. The price is that a job may wait for one slot (a hundredth of the period) longer than the limit requires.

use crate::error::{Error, ErrorKind, Result};
use crate::rules::to_millis;
use crate::time::parse_duration;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Number of slots in the period of a rate.
const SLOTS_PER_PERIOD: i64 = 100;
/// Maximum period of a rate.
const MAX_PERIOD: Duration = Duration::from_secs(366 * 86_400);

/// Maximum number of jobs handed out in a period. No time span of this length contains more.
///
/// ```
/// use icecore_store::Rate;
/// use std::time::Duration;
/// let rate: Rate = "100/1m".parse()?;
/// assert_eq!((rate.count, rate.period), (100, Duration::from_secs(60)));
/// assert_eq!("5/s".parse::<Rate>()?.to_string(), "5/1s");
/// # Ok::<(), icecore_store::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Number of jobs. In a setting, 0 removes the limit.
    pub count: u32,
    /// Length of the period in whole milliseconds, at least one.
    pub period: Duration,
}

impl Rate {
    /// The setting that removes the limit.
    pub const NONE: Rate = Rate { count: 0, period: Duration::from_secs(1) };

    /// Reads a rate from two columns. Returns `None` for values that are not a rate.
    pub(crate) fn from_columns(count: Option<i64>, per: Option<i64>) -> Option<Rate> {
        let count = u32::try_from(count?).ok().filter(|count| *count > 0)?;
        let per = u64::try_from(per?).ok().filter(|per| *per > 0)?;
        Some(Rate { count, period: Duration::from_millis(per).min(MAX_PERIOD) })
    }

    /// Returns the period in milliseconds.
    pub(crate) fn period_millis(self) -> i64 {
        to_millis(self.period.min(MAX_PERIOD)).max(1)
    }

    fn slot_millis(self) -> i64 {
        (self.period_millis() / SLOTS_PER_PERIOD).max(1)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            0 => f.write_str("none"),
            count => write!(f, "{count}/{}", humantime::format_duration(self.period)),
        }
    }
}

impl FromStr for Rate {
    type Err = Error;

    fn from_str(text: &str) -> Result<Rate> {
        let invalid_rate = || {
            Error::new(
                ErrorKind::Input,
                format!("{text:?} is not a rate; use 100/1m, 5/s or none, over at most a year"),
            )
        };
        let text = text.trim();
        if text == "none" || text == "0" {
            return Ok(Rate::NONE);
        }
        let (count, per) = text.split_once('/').ok_or_else(invalid_rate)?;
        let per = per.trim();
        let per = match per.chars().next() {
            Some('0'..='9') => parse_duration(per),
            Some(_) => parse_duration(&format!("1{per}")),
            None => return Err(invalid_rate()),
        };
        let per = per.ok().map(|per| Duration::from_millis(u64::try_from(to_millis(per)).unwrap_or(0)));
        let per = per.filter(|per| !per.is_zero() && *per <= MAX_PERIOD).ok_or_else(invalid_rate)?;
        Ok(Rate { count: count.trim().parse().map_err(|_| invalid_rate())?, period: per })
    }
}

/// Number of jobs handed out in each slot. An entry is the end of the slot, and its count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RateUsage(Vec<(i64, u32)>);

impl RateUsage {
    /// Parses the text that a database stores. Ignores invalid parts.
    pub(crate) fn parse(text: &str) -> RateUsage {
        let slot = |text: &str| {
            let (end, count) = text.split_once(':')?;
            Some((end.parse().ok()?, count.parse().ok()?))
        };
        RateUsage(text.split(' ').filter_map(slot).collect())
    }

    /// Returns how many more jobs may be handed out at this time.
    pub(crate) fn count_remaining(&self, rate: Rate, now: i64) -> u32 {
        let counted = |(end, count): &(i64, u32)| is_slot_counted(rate, now, *end).then_some(*count);
        self.0.iter().filter_map(counted).fold(rate.count, u32::saturating_sub)
    }

    /// Subtracts jobs from the count of this time, because they were counted but not handed out.
    #[cfg(feature = "mongodb")]
    pub(crate) fn subtract_jobs(&mut self, rate: Rate, time: i64, count: usize) {
        let end = slot_end(rate, time);
        if let Some((_, slot_count)) = self.0.iter_mut().find(|(slot_end, _)| *slot_end == end) {
            *slot_count = slot_count.saturating_sub(u32::try_from(count).unwrap_or(u32::MAX));
        }
    }

    /// Adds jobs that were handed out at this time, and drops slots that no longer count.
    pub(crate) fn add_jobs(&mut self, rate: Rate, now: i64, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let end = slot_end(rate, now);
        self.0.retain(|(end, _)| is_slot_counted(rate, now, *end));
        match self.0.iter_mut().find(|(slot_end, _)| *slot_end == end) {
            Some((_, slot_count)) => *slot_count = slot_count.saturating_add(count),
            None => self.0.push((end, count)),
        }
        // Slots from an earlier setting may be shorter, so there may be too many of them. Then the current slot gets
        // all counts. This can only delay jobs, and never exceeds the limit.
        if self.0.len() > 4 * SLOTS_PER_PERIOD as usize {
            let total = self.0.iter().fold(0, |total: u32, (_, count)| total.saturating_add(*count));
            self.0 = vec![(end, total)];
        }
    }
}

/// Returns the end of the slot that contains this time.
fn slot_end(rate: Rate, time: i64) -> i64 {
    time.div_euclid(rate.slot_millis()).saturating_add(1).saturating_mul(rate.slot_millis())
}

/// Returns true if a slot with this end still counts at this time. A slot far in the future does not count, because
/// the clock was set back after the slot was recorded.
fn is_slot_counted(rate: Rate, now: i64, end: i64) -> bool {
    let age = now.saturating_sub(end);
    age < rate.period_millis() && age >= -rate.period_millis().saturating_add(rate.slot_millis())
}

impl fmt::Display for RateUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (end, count)) in self.0.iter().enumerate() {
            write!(f, "{}{end}:{count}", if number == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn rates_are_parsed() {
        for (text, count, per) in
            [("1/s", 1, 1_000), ("100/1m", 100, 60_000), (" 3 / 250ms ", 3, 250), ("5/2", 5, 2_000)]
        {
            let rate: Rate = text.parse().expect(text);
            assert_eq!((rate.count, rate.period_millis()), (count, per), "{text}");
            assert_eq!(rate.to_string().parse::<Rate>().expect("read again"), rate);
        }
        assert_eq!("none".parse::<Rate>().expect("none"), Rate::NONE);
        for text in ["", "5", "/", "5/", "/s", "-1/s", "5/0s", "5/1us", "5/9000d", "5/1s/1s", "5000000000/s", "five/s"]
        {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    #[test]
    fn invalid_columns_are_ignored() {
        assert_eq!(RateUsage::parse("x 1: :1 1:2:3 99999999999999999999:1 7:2"), RateUsage(vec![(7, 2)]));
        assert_eq!(
            Rate::from_columns(Some(-1), Some(5))
                .or(Rate::from_columns(Some(1), Some(0)))
                .or(Rate::from_columns(Some(1), None)),
            None
        );
        let wild = RateUsage(vec![(i64::MAX, u32::MAX), (i64::MIN, u32::MAX), (0, u32::MAX), (0, u32::MAX)]);
        assert_eq!(wild.count_remaining(Rate { count: 3, period: Duration::from_secs(1) }, 0), 0);
        assert_eq!(wild.count_remaining(Rate { count: 3, period: Duration::MAX }, i64::MAX), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// No period contains more jobs than the rate allows, and after a period and a slot all of them are available
        /// again.
        #[test]
        fn no_period_exceeds_its_rate(
            count in 1..20u32,
            per in 1..5_000u64,
            steps in vec((0..700i64, 0..30usize), 1..200),
        ) {
            let rate = Rate { count, period: Duration::from_millis(per) };
            let (mut spent, mut now, mut granted) = (RateUsage::default(), 1_700_000_000_000, Vec::new());
            for (later, requested) in steps {
                now += later;
                let allowed = requested.min(spent.count_remaining(rate, now) as usize);
                if allowed > 0 {
                    spent.add_jobs(rate, now, allowed);
                    granted.push((now, allowed));
                }
                spent = RateUsage::parse(&spent.to_string());
                prop_assert!(spent.0.len() <= SLOTS_PER_PERIOD as usize + 3);
                let recent = granted.iter().filter(|(at, _)| now - at < per as i64);
                let within = recent.map(|(_, allowed)| allowed).sum::<usize>();
                prop_assert!(within <= count as usize);
                prop_assert_eq!(spent.count_remaining(rate, now + per as i64 + rate.slot_millis()), count);
            }
        }
    }
}
