//! Queries on a report that several output formats share.

use crate::model::{Cell, Entry, Fidelity, Operation, Point, Role, ScenarioReport};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the median time of an operation, if it can be drawn.
pub(super) fn median_time(entry: &Entry, operation: Operation) -> Option<f64> {
    entry.find_cell(operation).and_then(cell_median_time)
}

/// Returns the median time of a cell, if it can be drawn.
pub(super) fn cell_median_time(cell: &Cell) -> Option<f64> {
    let median = cell.summary.median.estimate;
    (median.is_finite() && median > 0.0).then_some(median)
}

/// Returns true if an entry may be ranked: its output does not differ from its input.
pub(super) fn is_correct(entry: &Entry) -> bool {
    !matches!(entry.fidelity, Fidelity::Differs { .. })
}

/// Returns true if an entry is part of Icecore.
pub(super) fn is_icecore(entry: &Entry) -> bool {
    [&entry.id, &entry.name].iter().any(|text| text.to_lowercase().contains("icecore"))
}

/// Returns the entries that are ranked against each other.
pub(super) fn competitors_at_point(point: &Point) -> impl Iterator<Item = &Entry> {
    entries_with_role(point, Role::Competitor)
}

/// Returns the entries with a role.
pub(super) fn entries_with_role(point: &Point, role: Role) -> impl Iterator<Item = &Entry> {
    point.entries.iter().filter(move |entry| entry.role == role)
}

/// Returns competitors with their times. The fastest is first, and those with wrong results are last. They are sorted
/// by the ratios of pairs, because the medians of a restless machine may have another order.
pub(super) fn sort_by_speed(point: &Point, operation: Operation) -> Vec<(&Entry, f64)> {
    let mut competitors: Vec<_> =
        competitors_at_point(point).filter_map(|entry| Some((entry, median_time(entry, operation)?))).collect();
    let paired_time = |entry: &Entry| estimate_paired_time(point, entry, operation).unwrap_or(f64::INFINITY);
    competitors.sort_by(|(a, _), (b, _)| {
        is_correct(b).cmp(&is_correct(a)).then(paired_time(a).total_cmp(&paired_time(b))).then(a.id.cmp(&b.id))
    });
    competitors
}

/// Returns the time of an operation scaled to the baseline's median, by the ratio of pairs.
pub(super) fn estimate_paired_time(point: &Point, entry: &Entry, operation: Operation) -> Option<f64> {
    let cell = entry.find_cell(operation)?;
    let baseline =
        competitors_at_point(point).filter_map(|entry| entry.find_cell(operation)).find(|cell| cell.against.is_none());
    let paired = cell.against.map(|against| against.times.estimate).filter(|times| times.is_finite() && *times > 0.0);
    match (paired, baseline.and_then(cell_median_time)) {
        (Some(times), Some(baseline_ns)) => Some(baseline_ns / times),
        _ => cell_median_time(cell),
    }
}

/// Returns the lowest floor, for values created by the language itself.
pub(super) fn find_floor(point: &Point, operation: Operation) -> Option<(&Entry, f64)> {
    let all = entries_with_role(point, Role::Floor).filter_map(|entry| Some((entry, median_time(entry, operation)?)));
    all.min_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// Returns the entry with an id. The twin has the id of the baseline and is not returned.
pub(super) fn find_entry<'a>(point: &'a Point, id: &str) -> Option<&'a Entry> {
    point.entries.iter().find(|entry| entry.id == id && entry.role != Role::Twin)
}

/// Returns true if an entry is the one that others are compared with.
pub(super) fn is_baseline(scenario: &ScenarioReport, entry: &Entry) -> bool {
    entry.role != Role::Twin && scenario.baseline.as_deref() == Some(&entry.id)
}

/// Returns the language of an id: `perl` for `perl/sereal`.
pub(super) fn language_of_id(id: &str) -> &str {
    id.split('/').next().unwrap_or_default()
}

/// Returns a title with the name of the point.
pub(super) fn title_at_point(title: &str, point: &Point) -> String {
    match make_printable(point.name.trim()) {
        name if name.is_empty() => title.to_owned(),
        name => format!("{title}, {name}"),
    }
}

/// Returns the time to copy the bytes, for operations that read or write them.
pub(super) fn memcpy_time(point: &Point, operation: Operation) -> Option<f64> {
    let moves_bytes = matches!(operation, Operation::Write | Operation::Read | Operation::RoundTrip);
    point.memcpy_ns.filter(|ns| moves_bytes && ns.is_finite() && *ns > 0.0)
}

/// Returns the operations in which at least one entry was measured.
pub(super) fn measured_operations(scenario: &ScenarioReport) -> Vec<Operation> {
    let is_measured = |operation| {
        scenario.points.iter().any(|point| point.entries.iter().any(|entry| median_time(entry, operation).is_some()))
    };
    scenario.operations.iter().copied().filter(|operation| is_measured(*operation)).collect()
}

/// Returns the operations in which a competitor was measured at a point.
pub(super) fn operations_at_point(point: &Point, operations: &[Operation]) -> Vec<Operation> {
    operations.iter().copied().filter(|operation| !sort_by_speed(point, *operation).is_empty()).collect()
}

/// Unique display names. A name that two entries share is followed by the id. If there are several languages, the
/// language follows.
pub(super) struct Names<'a>(BTreeMap<&'a str, String>);

impl<'a> Names<'a> {
    pub(super) fn new(scenario: &'a ScenarioReport) -> Self {
        let mut ids: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        // The twin is a second run of the baseline, and has its name.
        let all = scenario.points.iter().flat_map(|point| &point.entries).filter(|entry| entry.role != Role::Twin);
        for entry in all {
            ids.entry(make_printable(entry.name.trim())).or_default().insert(&entry.id);
        }
        let competitors = scenario.points.iter().flat_map(competitors_at_point);
        // The command's name already says that it does not belong to a language.
        let languages: BTreeSet<_> =
            competitors.map(|entry| language_of_id(&entry.id)).filter(|name| *name != "command").collect();
        let has_several_languages = languages.len() > 1;
        let engines: BTreeSet<&str> = scenario
            .points
            .iter()
            .flat_map(|point| entries_with_role(point, Role::Engine))
            .map(|entry| entry.id.as_str())
            .collect();
        let mut names = BTreeMap::new();
        for (name, ids) in &ids {
            for id in ids {
                let name = match (name.is_empty(), ids.len()) {
                    (true, _) => make_printable(id),
                    (_, 1) => name.clone(),
                    _ => format!("{name} ({})", make_printable(id)),
                };
                let language_suffix = match has_several_languages && !engines.contains(id) && !name.ends_with(')') {
                    true => format!(" ({})", make_printable(language_of_id(id))),
                    false => String::new(),
                };
                names.insert(*id, name + &language_suffix);
            }
        }
        Self(names)
    }

    /// Returns the name of an entry.
    pub(super) fn entry_name(&self, entry: &Entry) -> String {
        match entry.role {
            Role::Twin => make_printable(&entry.name),
            _ => self.display_name(&entry.id),
        }
    }

    /// Returns the name of an id, or the id itself if it did not take part.
    pub(super) fn display_name(&self, id: &str) -> String {
        self.0.get(id).cloned().unwrap_or_else(|| make_printable(id))
    }
}

/// Returns printable text. It is needed because names come from files, and terminals interpret control characters.
pub(super) fn make_printable(text: &str) -> String {
    icecore::text::printable(text).into_owned()
}

/// Maximum number of points that are all shown in detail.
const MAX_POINTS_IN_DETAIL: usize = 2;

/// The points of one curve. Each of them is at another place on the axis.
pub(super) struct PointGroup<'a> {
    /// What these points have in common: `clients 10`. Empty if there is one group.
    pub(super) label: String,
    pub(super) points: Vec<&'a Point>,
}

/// Returns the curves of a scenario. If two points are at the same place, a parameter distinguishes them, and each of
/// its values makes a curve.
pub(super) fn group_points(scenario: &ScenarioReport) -> Vec<PointGroup<'_>> {
    let all: Vec<&Point> = scenario.points.iter().collect();
    if have_distinct_places(&all) {
        return if all.is_empty() { vec![] } else { vec![PointGroup { label: String::new(), points: all }] };
    }
    let keys: BTreeSet<&String> = all.iter().flat_map(|point| point.parameters.keys()).collect();
    for key in keys {
        let mut points_by_value: BTreeMap<Option<i64>, Vec<&Point>> = BTreeMap::new();
        for point in &all {
            points_by_value.entry(point.parameters.get(key).copied()).or_default().push(point);
        }
        if points_by_value.len() < all.len() && points_by_value.values().all(|points| have_distinct_places(points)) {
            let make_label = |value: Option<i64>| value.map_or(String::new(), |value| format!("{key} {value}"));
            return points_by_value
                .into_iter()
                .map(|(value, points)| PointGroup { label: make_label(value), points })
                .collect();
        }
    }
    all.into_iter().map(|point| PointGroup { label: point.name.clone(), points: vec![point] }).collect()
}

fn have_distinct_places(points: &[&Point]) -> bool {
    let places: BTreeSet<u64> = points.iter().map(|point| point.at.to_bits()).collect();
    places.len() == points.len()
}

/// Returns the points that are shown in detail. These are all points if there are few, and otherwise the largest of
/// each curve.
pub(super) fn select_shown_points(scenario: &ScenarioReport) -> Vec<&Point> {
    if scenario.points.len() <= MAX_POINTS_IN_DETAIL {
        return scenario.points.iter().collect();
    }
    group_points(scenario).iter().filter_map(|group| group.points.last().copied()).collect()
}
