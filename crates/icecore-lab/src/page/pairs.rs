//! Stand-in until the statistics are here.

use crate::model::{Comparison, Interval, Sample};
use std::collections::BTreeMap;

/// How many times faster `a` is than `b`.
pub(super) fn compare(a: &[Sample], b: &[Sample], resolution: f64, _seed: u64) -> Option<Comparison> {
    let others: BTreeMap<(u32, u32), f64> = b.iter().map(|s| ((s.round, s.turn), s.ns)).collect();
    let mut ratios: Vec<f64> = a.iter().filter_map(|s| Some(others.get(&(s.round, s.turn))? / s.ns)).collect();
    ratios.retain(|r| r.is_finite() && *r > 0.0);
    ratios.sort_by(f64::total_cmp);
    let at = |part: f64| ratios.get(((ratios.len().checked_sub(1)?) as f64 * part).round() as usize).copied();
    let times = Interval { estimate: at(0.5)?, low: at(0.25)?, high: at(0.75)? };
    let tie = times.low <= 1.0 && times.high >= 1.0 || (times.estimate - 1.0).abs() <= resolution;
    Some(Comparison { times, tie })
}
