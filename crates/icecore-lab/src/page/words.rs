//! The results in sentences.

use super::number::{
    format_bytes, format_count, format_duration, format_interval, format_percent, format_quotient, format_time,
};
use super::view::{
    Names, competitors_at_point, find_floor, is_baseline, is_correct, language_of_id, make_printable,
    select_shown_points, sort_by_speed, title_at_point,
};
use crate::model::{
    Entry, Fidelity, Interval, Machine, Noise, NoiseLevel, Operation, Point, Report, ScenarioReport, Settings, Verdict,
};
use crate::stats::compare_samples;

/// Returns sentences about a scenario, for each point that is shown.
pub(super) fn describe_results(scenario: &ScenarioReport, names: &Names) -> Vec<String> {
    let mut out = vec![];
    for point in select_shown_points(scenario) {
        let mut sentences: Vec<String> = scenario
            .operations
            .iter()
            .filter_map(|operation| describe_fastest(scenario, point, *operation, names))
            .chain(describe_smallest(scenario, point, names))
            .chain(describe_above_floor(point, names))
            .collect();
        if let (Some(first), true) = (sentences.first_mut(), scenario.points.len() > 1) {
            *first = match title_at_point("", point) {
                name if name.is_empty() => std::mem::take(first),
                name => format!("{}: {first}", &name[2..]),
            };
        }
        sentences.extend(competitors_at_point(point).filter_map(|entry| describe_unranked(entry, names)));
        // Two points may give the same sentence, and it appears only once.
        sentences.retain(|sentence| !out.contains(sentence));
        out.append(&mut sentences);
    }
    out
}

/// Returns a sentence about the fastest competitor and its lead.
fn describe_fastest(scenario: &ScenarioReport, point: &Point, operation: Operation, names: &Names) -> Option<String> {
    let order: Vec<_> = sort_by_speed(point, operation).into_iter().filter(|(entry, _)| is_correct(entry)).collect();
    let ((first, ns), others) = order.split_first()?;
    if others.is_empty() {
        return Some(format!(
            "Only {} {}, in {}.",
            names.display_name(&first.id),
            operation_verb(operation, 1),
            format_time(*ns)
        ));
    }
    let compare_with_first = |other: &Entry| {
        let first_cell = first.find_cell(operation)?;
        let other_cell = other.find_cell(operation)?;
        compare_samples(&first_cell.samples, &other_cell.samples, scenario.noise.resolution)
    };
    let compared: Vec<_> = others.iter().map(|(entry, _)| (*entry, compare_with_first(entry))).collect();
    // The group of ties ends at the first significant difference.
    let tied =
        compared.iter().take_while(|(_, comparison)| comparison.is_some_and(|comparison| comparison.tie)).count();
    let mut group = vec![names.display_name(&first.id)];
    group.extend(compared[..tied].iter().map(|(entry, _)| names.display_name(&entry.id)));
    let describe_lead = |(entry, comparison): &(&Entry, Option<_>)| {
        let comparison: &crate::model::Comparison = comparison.as_ref()?;
        Some(
            format!(
                "{} times as fast as {}",
                format_quotient(comparison.times.estimate),
                names.display_name(&entry.id)
            ) + &format_range(&comparison.times),
        )
    };
    let next = compared.get(tied);
    let is_the_baseline = |entry: &Entry| is_baseline(scenario, entry);
    let mut parts: Vec<String> = vec![];
    if let Some(next) = next {
        let role = if is_the_baseline(next.0) { ", the baseline" } else { ", the next" };
        parts.extend(describe_lead(next).map(|text| text + role));
    }
    let baseline = compared.iter().skip(tied + 1).find(|(entry, _)| is_the_baseline(entry));
    parts.extend(baseline.and_then(describe_lead).map(|text| text + ", the baseline"));
    let fastest = format!("{} {} fastest", join_names(&group), operation_verb(operation, group.len()));
    let tie = if tied > 0 { ", and cannot be distinguished" } else { "" };
    Some(match parts.is_empty() {
        true => format!("{fastest}{tie}."),
        false => format!("{fastest}{tie}: {}.", parts.join("; ")),
    })
}

/// Returns the interval in parentheses, ` (1.30 to 1.52)`, if there is one.
fn format_range(times: &Interval) -> String {
    let text = format_interval(times);
    text.find(" (").map_or(String::new(), |start| text[start..].to_owned())
}

/// Returns a sentence about the competitor that writes the fewest bytes.
fn describe_smallest(scenario: &ScenarioReport, point: &Point, names: &Names) -> Option<String> {
    let sizes: Vec<(&Entry, u64)> = competitors_at_point(point)
        .filter(|entry| is_correct(entry))
        .filter_map(|entry| Some((entry, entry.size?)))
        .filter(|(_, n)| *n > 0)
        .collect();
    let smallest = sizes.iter().map(|(_, size)| *size).min()?;
    if sizes.len() < 2 {
        return None;
    }
    let leaders: Vec<_> =
        sizes.iter().filter(|(_, size)| *size == smallest).map(|(entry, _)| names.display_name(&entry.id)).collect();
    let verb = if leaders.len() == 1 { "writes" } else { "write" };
    let baseline = sizes.iter().find(|(entry, size)| is_baseline(scenario, entry) && *size > smallest);
    let comparison = baseline.map_or(String::new(), |(entry, size)| {
        format!(", {} of what {} writes", format_percent(smallest as f64 / *size as f64), names.display_name(&entry.id))
    });
    Some(format!("{} {verb} the fewest bytes: {}{comparison}.", join_names(&leaders), format_bytes(smallest as f64)))
}

/// Returns a sentence about how close the fastest reader is to the time in which the language itself creates the
/// values.
fn describe_above_floor(point: &Point, names: &Names) -> Option<String> {
    let (floor, floor_ns) = find_floor(point, Operation::Read)?;
    let (first, ns) = sort_by_speed(point, Operation::Read).into_iter().find(|(entry, _)| is_correct(entry))?;
    if language_of_id(&first.id) != language_of_id(&floor.id) || ns < floor_ns {
        return None;
    }
    let (name, times) = (names.display_name(&first.id), format_quotient(ns / floor_ns));
    Some(format!(
        "Making the values without any bytes takes {}; {name} needs {times} times that.",
        format_time(floor_ns)
    ))
}

/// Returns a sentence about why an entry is not ranked.
fn describe_unranked(entry: &Entry, names: &Names) -> Option<String> {
    let Fidelity::Differs { differences } = &entry.fidelity else { return None };
    Some(format!("{} is not ranked: {}.", names.display_name(&entry.id), join_differences(differences)))
}

fn join_differences(differences: &[String]) -> String {
    match differences {
        [] => "it read back another value than was written".into(),
        some => some.iter().map(|difference| make_printable(difference)).collect::<Vec<_>>().join("; "),
    }
}

/// Joins names: `A, B and C`, with a count for the rest, or `A; B and C` if names contain commas.
fn join_names(names: &[String]) -> String {
    let separator = if names.iter().any(|name| name.contains(',')) { "; " } else { ", " };
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] if names.len() <= 5 => format!("{} and {last}", some.join(separator)),
        _ => format!("{} and {} more", names[..4].join(separator), names.len() - 4),
    }
}

fn operation_verb(operation: Operation, count: usize) -> &'static str {
    match (operation, count) {
        (Operation::Write, 1) => "writes",
        (Operation::Write, _) => "write",
        (Operation::Read, 1) => "reads",
        (Operation::Read, _) => "read",
        (Operation::RoundTrip, 1) => "goes both ways",
        (Operation::RoundTrip, _) => "go both ways",
        (Operation::ToJson, 1) => "turns it into JSON",
        (Operation::ToJson, _) => "turn it into JSON",
        (Operation::Request, 1) => "answers",
        (Operation::Request, _) => "answer",
    }
}

/// Returns the column head of an operation: `round trip`.
pub(super) fn operation_title(operation: Operation) -> &'static str {
    match operation {
        Operation::Write => "write",
        Operation::Read => "read",
        Operation::RoundTrip => "round trip",
        Operation::ToJson => "to JSON",
        Operation::Request => "request",
    }
}

/// Returns the sign and the word for a fidelity.
pub(super) fn fidelity_label(fidelity: &Fidelity) -> &'static str {
    match fidelity {
        Fidelity::Exact => "✓ exact",
        Fidelity::Alike { .. } => "≈ alike",
        Fidelity::Differs { .. } => "✗ differs",
        Fidelity::Unchecked => "unchecked",
    }
}

/// Returns the differences of entries that are not exact at a point: name and differences.
pub(super) fn list_differences(point: &Point, names: &Names) -> Vec<(String, String)> {
    let sign_and_differences = |entry: &Entry| match &entry.fidelity {
        Fidelity::Alike { differences } => Some(("≈", differences.clone())),
        Fidelity::Differs { differences } => Some(("✗", differences.clone())),
        _ => None,
    };
    let to_item = |entry| {
        let (sign, differences) = sign_and_differences(entry)?;
        Some((format!("{sign} {}", names.display_name(&entry.id)), join_differences(&differences)))
    };
    point.entries.iter().filter_map(to_item).collect()
}

/// Returns the sign and the word for a verdict.
pub(super) fn verdict_label(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Holds => ("✓", "holds"),
        Verdict::Partly => ("~", "partly"),
        Verdict::Stronger => ("▲", "stronger"),
        Verdict::Weaker => ("▼", "weaker"),
        Verdict::Gone => ("=", "gone"),
        Verdict::Reversed => ("✗", "reversed"),
        Verdict::Differs => ("≠", "differs"),
        Verdict::Unknown => ("?", "unknown"),
    }
}

/// Describes the noise of the machine, with the numbers.
pub(super) fn describe_noise(noise: &Noise) -> String {
    let level = match noise.level {
        NoiseLevel::Quiet => "The machine was quiet.",
        NoiseLevel::Restless => "The machine was restless.",
        NoiseLevel::Noisy => "The machine was noisy.",
    };
    let words = if noise.words.trim().is_empty() { level.into() } else { end_sentence(&noise.words) };
    let numbers = [noise.spread, noise.drift, noise.resolution].map(format_percent);
    format!(
        "{words} The lab's own work spread by {} and drifted by {}; the resolution was {}.",
        numbers[0], numbers[1], numbers[2]
    )
}

/// Returns missing competitors, grouped by reason, with the command that installs them.
pub(super) fn group_absent(scenario: &ScenarioReport) -> Vec<(String, String, Option<String>)> {
    let mut out: Vec<(String, String, Option<String>)> = vec![];
    for absent in &scenario.absent {
        let (competitor, reason) = (make_printable(&absent.competitor), make_printable(&absent.why));
        match out.iter_mut().find(|(_, other, install)| *other == reason && *install == absent.install) {
            Some((competitors, ..)) => *competitors += &format!(", {competitor}"),
            None => out.push((competitor, reason, absent.install.as_deref().map(make_printable))),
        }
    }
    out
}

fn end_sentence(text: &str) -> String {
    let text = make_printable(text);
    match text.chars().last() {
        None | Some('.' | '!' | '?') => text,
        _ => text + ".",
    }
}

/// Returns a sentence about how many samples are far off: `3 of 400 samples are far off from the others; they count
/// like the others.`
pub(super) fn describe_outliers(scenario: &ScenarioReport) -> Option<String> {
    let cells = || scenario.points.iter().flat_map(|point| &point.entries).flat_map(|entry| &entry.cells);
    let sample_count: usize = cells().map(|cell| cell.samples.len()).sum();
    let outlier_count: usize = cells().map(|cell| cell.summary.outliers.len()).sum();
    (sample_count > 0).then(|| match outlier_count {
        0 => format!("None of {} samples is far off from the others.", format_count(sample_count as f64)),
        _ => format!(
            "{} of {} samples are far off from the others ({}); they count like the others.",
            format_count(outlier_count as f64),
            format_count(sample_count as f64),
            format_percent(outlier_count as f64 / sample_count as f64)
        ),
    })
}

/// Describes the machine in a few lines, each with a label.
pub fn describe_machine(machine: &Machine) -> Vec<(&'static str, String)> {
    let mut out = vec![];
    let mut add = |label, text: String| {
        if !text.is_empty() {
            out.push((label, text));
        }
    };
    add("system", [&machine.system, &machine.kernel].map(|text| make_printable(text)).join(" ").trim().to_owned());
    let cores = if machine.cores == 1 { "1 core".into() } else { format!("{} cores", machine.cores) };
    add("processor", format!("{}, {cores}", make_printable(&machine.processor)).trim_start_matches(", ").to_owned());
    let memcpy_note = if machine.memcpy > 0.0 { format!(", memcpy {:.1} GB/s", machine.memcpy) } else { String::new() };
    add("memory", format!("{}{memcpy_note}", format_bytes(machine.memory as f64)));
    add("load before", machine.load.map(|load| format!("{load:.2}")).join(", "));
    let runtimes =
        machine.runtimes.iter().map(|runtime| make_printable(&format!("{} {}", runtime.language, runtime.version)));
    add("runtimes", runtimes.collect::<Vec<_>>().join(", "));
    out
}

/// Describes how the run was measured.
pub(super) fn describe_method(settings: &Settings) -> String {
    let small_note = if settings.small { " Only the small sizes ran." } else { "" };
    format!(
        "What each competitor reads back was compared with what went in before anything was timed. Each ran in {}, \
         one sample after the other in turns with all others, in random order (seed {}): {} of each operation in each \
         process, at least {} ms long. Times are medians. Ratios are medians of pairs that were taken next to each \
         other. The range in brackets contains the number with 95 % confidence, by an exact bootstrap over \
         the processes. A tie is a difference that this machine cannot show.{small_note}",
        format_plural(settings.rounds, "process", "processes"),
        settings.seed,
        format_plural(settings.turns, "sample", "samples"),
        settings.sample_ms,
    )
}

fn format_plural(count: u32, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// Describes what ran, when, and how long it took.
pub(super) fn describe_run(report: &Report) -> String {
    format!(
        "Icecore {}, {}, in {}",
        make_printable(&report.icecore),
        format_start_time(&report.made),
        format_duration(report.seconds)
    )
}

/// Formats a time: `2026-11-22 12:00 UTC`.
pub(super) fn format_start_time(made: &str) -> String {
    let made = make_printable(made);
    match (made.get(..10), made.get(11..16), made.ends_with('Z')) {
        (Some(day), Some(time), true) => format!("{day} {time} UTC"),
        _ => made,
    }
}

/// Formats the numbers of a claim: `2.90`, `16 to 24`.
pub(super) fn format_claimed_range(from: f64, to: f64, format_value: impl Fn(f64) -> String) -> String {
    if from == to { format_value(from) } else { format!("{} to {}", format_value(from), format_value(to)) }
}

/// Wraps text to lines that fit, with a prefix for the first line and one for the others.
pub(super) fn wrap_text(text: &str, first: &str, others: &str, width: usize) -> String {
    const UNITS: [&str; 9] = ["%", "ns", "µs", "ms", "s", "B", "kB", "MB", "GB"];
    let mut out = String::new();
    let mut line = first.to_owned();
    let mut is_line_empty = true;
    for word in make_printable(text).split_whitespace() {
        // A unit stays on the line of its number.
        let stays_on_line = is_line_empty || UNITS.contains(&word.trim_end_matches(['.', ',', ';', ')']));
        if !stays_on_line && line.chars().count() + 1 + word.chars().count() > width {
            out.extend([line.trim_end(), "\n"]);
            line = others.to_owned();
            is_line_empty = true;
        }
        if !is_line_empty {
            line.push(' ');
        }
        line += word;
        is_line_empty = false;
    }
    if !is_line_empty {
        out.extend([line.trim_end(), "\n"]);
    }
    out
}
