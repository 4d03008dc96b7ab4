//! Chooses the color and shape of each curve. A competitor has the same color and shape in all charts of a point.

use crate::model::{Entry, Point, Role, ScenarioReport};
use crate::page::view::{competitors_at_point, is_baseline, is_correct, is_icecore, median_time};

/// Number of curves that have a color of their own.
const EMPHASIZED_CURVES: usize = 6;

/// Returns `0` to `5` for emphasized curves, in this order: Icecore's, the baseline, the fastest. Returns `x` for other
/// competitors, and `d` for entries that are not competitors.
pub(super) fn choose_curve_style(scenario: &ScenarioReport, point: &Point, entry: &Entry) -> char {
    if entry.role != Role::Competitor {
        return 'd';
    }
    let time =
        |entry: &Entry| scenario.operations.iter().filter_map(|operation| median_time(entry, *operation)).sum::<f64>();
    let mut important: Vec<&Entry> = competitors_at_point(point).filter(|entry| is_correct(entry)).collect();
    important.sort_by(|left, right| time(left).total_cmp(&time(right)));
    important.sort_by_key(|entry| (!is_icecore(entry), !is_baseline(scenario, entry)));
    let position = important.iter().take(EMPHASIZED_CURVES).position(|other| other.id == entry.id);
    position.and_then(|index| char::from_digit(index as u32, 10)).unwrap_or('x')
}
