//! The results in sentences.

use super::number::{bytes, count, duration, interval, percent, quotient, time};
use super::view::{Names, at, by_speed, competitors, floor, is_baseline, language, plain, right, shown};
use crate::model::{
    Entry, Fidelity, Interval, Machine, Noise, NoiseLevel, Operation, Point, Report, ScenarioReport, Settings, Verdict,
};
use crate::stats::compare;

/// Returns sentences about a scenario, for each point that is shown.
pub(super) fn verdict(scenario: &ScenarioReport, names: &Names) -> Vec<String> {
    let mut out = vec![];
    for point in shown(scenario, false) {
        let mut here: Vec<String> = scenario
            .operations
            .iter()
            .filter_map(|operation| fastest(scenario, point, *operation, names))
            .chain(smallest(scenario, point, names))
            .chain(above_floor(point, names))
            .collect();
        if let (Some(first), true) = (here.first_mut(), scenario.points.len() > 1) {
            *first = match at("", point) {
                name if name.is_empty() => std::mem::take(first),
                name => format!("{}: {first}", &name[2..]),
            };
        }
        here.extend(competitors(point).filter_map(|entry| not_ranked(entry, names)));
        // A sentence that is the same for two points appears once.
        here.retain(|sentence| !out.contains(sentence));
        out.append(&mut here);
    }
    out
}

/// Says which competitor is fastest, and by how much.
fn fastest(scenario: &ScenarioReport, point: &Point, operation: Operation, names: &Names) -> Option<String> {
    let order: Vec<_> = by_speed(point, operation).into_iter().filter(|(e, _)| right(e)).collect();
    let ((first, ns), others) = order.split_first()?;
    if others.is_empty() {
        return Some(format!("Only {} {}, in {}.", names.of(&first.id), verb(operation, 1), time(*ns)));
    }
    let against = |other: &Entry| {
        let (a, b) = (first.cell(operation)?, other.cell(operation)?);
        compare(&a.samples, &b.samples, scenario.noise.resolution)
    };
    let compared: Vec<_> = others.iter().map(|(e, _)| (*e, against(e))).collect();
    // The group of ties ends at the first significant difference.
    let tied = compared.iter().take_while(|(_, c)| c.is_some_and(|c| c.tie)).count();
    let mut group = vec![names.of(&first.id)];
    group.extend(compared[..tied].iter().map(|(e, _)| names.of(&e.id)));
    let ahead = |(e, c): &(&Entry, Option<_>)| {
        let c: &crate::model::Comparison = c.as_ref()?;
        Some(format!("{} times as fast as {}", quotient(c.times.estimate), names.of(&e.id)) + &range(&c.times))
    };
    let next = compared.get(tied);
    let is_base = |e: &Entry| is_baseline(scenario, e);
    let mut parts: Vec<String> = vec![];
    if let Some(next) = next {
        let role = if is_base(next.0) { ", the baseline" } else { ", the next" };
        parts.extend(ahead(next).map(|text| text + role));
    }
    let base = compared.iter().skip(tied + 1).find(|(e, _)| is_base(e));
    parts.extend(base.and_then(ahead).map(|text| text + ", the baseline"));
    let who = format!("{} {} fastest", list(&group), verb(operation, group.len()));
    let tie = if tied > 0 { ", and cannot be told apart" } else { "" };
    Some(match parts.is_empty() {
        true => format!("{who}{tie}."),
        false => format!("{who}{tie}: {}.", parts.join("; ")),
    })
}

/// Returns the interval in parentheses, ` (1.30 to 1.52)`, if there is one.
fn range(times: &Interval) -> String {
    let text = interval(times);
    text.find(" (").map_or(String::new(), |at| text[at..].to_owned())
}

/// Says which competitor writes the fewest bytes.
fn smallest(scenario: &ScenarioReport, point: &Point, names: &Names) -> Option<String> {
    let sizes: Vec<(&Entry, u64)> =
        competitors(point).filter(|e| right(e)).filter_map(|e| Some((e, e.size?))).filter(|(_, n)| *n > 0).collect();
    let least = sizes.iter().map(|(_, size)| *size).min()?;
    if sizes.len() < 2 {
        return None;
    }
    let who: Vec<_> = sizes.iter().filter(|(_, size)| *size == least).map(|(e, _)| names.of(&e.id)).collect();
    let verb = if who.len() == 1 { "writes" } else { "write" };
    let base = sizes.iter().find(|(e, size)| is_baseline(scenario, e) && *size > least);
    let of = base.map_or(String::new(), |(e, size)| {
        format!(", {} of what {} writes", percent(least as f64 / *size as f64), names.of(&e.id))
    });
    Some(format!("{} {verb} the fewest bytes: {}{of}.", list(&who), bytes(least as f64)))
}

/// Says how close the fastest reader is to the time in which the language itself creates the values.
fn above_floor(point: &Point, names: &Names) -> Option<String> {
    let (floor, least) = floor(point, Operation::Read)?;
    let (first, ns) = by_speed(point, Operation::Read).into_iter().find(|(e, _)| right(e))?;
    if language(&first.id) != language(&floor.id) || ns < least {
        return None;
    }
    let (name, times) = (names.of(&first.id), quotient(ns / least));
    Some(format!("Making the values without any bytes takes {}; {name} needs {times} times that.", time(least)))
}

/// Says why an entry is not ranked.
fn not_ranked(entry: &Entry, names: &Names) -> Option<String> {
    let Fidelity::Differs { differences } = &entry.fidelity else { return None };
    Some(format!("{} is not ranked: {}.", names.of(&entry.id), what_differs(differences)))
}

fn what_differs(differences: &[String]) -> String {
    match differences {
        [] => "something else came back than what went in".into(),
        some => some.iter().map(|d| plain(d)).collect::<Vec<_>>().join("; "),
    }
}

/// Joins names: `A, B and C`, with a count for the rest; `A; B and C` if names contain commas.
fn list(names: &[String]) -> String {
    let comma = if names.iter().any(|name| name.contains(',')) { "; " } else { ", " };
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] if names.len() <= 5 => format!("{} and {last}", some.join(comma)),
        _ => format!("{} and {} more", names[..4].join(comma), names.len() - 4),
    }
}

fn verb(operation: Operation, of: usize) -> &'static str {
    match (operation, of) {
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
pub(super) fn operation(operation: Operation) -> &'static str {
    match operation {
        Operation::Write => "write",
        Operation::Read => "read",
        Operation::RoundTrip => "round trip",
        Operation::ToJson => "to JSON",
        Operation::Request => "request",
    }
}

/// Returns sign and word for a fidelity.
pub(super) fn fidelity(fidelity: &Fidelity) -> &'static str {
    match fidelity {
        Fidelity::Exact => "✓ exact",
        Fidelity::Alike { .. } => "≈ alike",
        Fidelity::Differs { .. } => "✗ differs",
        Fidelity::Unchecked => "unchecked",
    }
}

/// Returns the differences of entries that are not exact at a point: name and differences.
pub(super) fn differences(point: &Point, names: &Names) -> Vec<(String, String)> {
    let of = |entry: &Entry| match &entry.fidelity {
        Fidelity::Alike { differences } => Some(("≈", differences.clone())),
        Fidelity::Differs { differences } => Some(("✗", differences.clone())),
        _ => None,
    };
    let line = |entry| of(entry).map(|(sign, d)| (format!("{sign} {}", names.of(&entry.id)), what_differs(&d)));
    point.entries.iter().filter_map(line).collect()
}

/// Returns sign and word for a verdict.
pub(super) fn became(verdict: Verdict) -> (&'static str, &'static str) {
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
pub(super) fn noise(noise: &Noise) -> String {
    let level = match noise.level {
        NoiseLevel::Quiet => "The machine was quiet.",
        NoiseLevel::Restless => "The machine was restless.",
        NoiseLevel::Noisy => "The machine was noisy.",
    };
    let words = if noise.words.trim().is_empty() { level.into() } else { sentence(&noise.words) };
    let numbers = [noise.spread, noise.drift, noise.resolution].map(percent);
    format!(
        "{words} The lab's own work spread by {} and drifted by {}; the resolution was {}.",
        numbers[0], numbers[1], numbers[2]
    )
}

/// Returns missing competitors, grouped by reason, with the command that installs them.
pub(super) fn absent(scenario: &ScenarioReport) -> Vec<(String, String, Option<String>)> {
    let mut out: Vec<(String, String, Option<String>)> = vec![];
    for absent in &scenario.absent {
        let (who, why) = (plain(&absent.competitor), plain(&absent.why));
        match out.iter_mut().find(|(_, other, install)| *other == why && *install == absent.install) {
            Some((all, ..)) => *all += &format!(", {who}"),
            None => out.push((who, why, absent.install.as_deref().map(plain))),
        }
    }
    out
}

fn sentence(text: &str) -> String {
    let text = plain(text);
    match text.chars().last() {
        None | Some('.' | '!' | '?') => text,
        _ => text + ".",
    }
}

/// Says how many samples are far off: `3 of 400 samples are far off from the others; they count like the others.`
pub(super) fn outliers(scenario: &ScenarioReport) -> Option<String> {
    let cells = || scenario.points.iter().flat_map(|p| &p.entries).flat_map(|e| &e.cells);
    let all: usize = cells().map(|c| c.samples.len()).sum();
    let off: usize = cells().map(|c| c.summary.outliers.len()).sum();
    (all > 0).then(|| match off {
        0 => format!("None of {} samples is far off from the others.", count(all as f64)),
        _ => format!(
            "{} of {} samples are far off from the others ({}); they count like the others.",
            count(off as f64),
            count(all as f64),
            percent(off as f64 / all as f64)
        ),
    })
}

/// Describes the machine in a few lines, each with a label.
pub fn machine(machine: &Machine) -> Vec<(&'static str, String)> {
    let mut out = vec![];
    let mut add = |what, text: String| {
        if !text.is_empty() {
            out.push((what, text));
        }
    };
    add("system", [&machine.system, &machine.kernel].map(|s| plain(s)).join(" ").trim().to_owned());
    let cores = if machine.cores == 1 { "1 core".into() } else { format!("{} cores", machine.cores) };
    add("processor", format!("{}, {cores}", plain(&machine.processor)).trim_start_matches(", ").to_owned());
    let copy = if machine.memcpy > 0.0 { format!(", memcpy {:.1} GB/s", machine.memcpy) } else { String::new() };
    add("memory", format!("{}{copy}", bytes(machine.memory as f64)));
    add("load before", machine.load.map(|l| format!("{l:.2}")).join(", "));
    let runtimes = machine.runtimes.iter().map(|r| plain(&format!("{} {}", r.language, r.version)));
    add("runtimes", runtimes.collect::<Vec<_>>().join(", "));
    out
}

/// Describes how the run was measured.
pub(super) fn measured(settings: &Settings) -> String {
    let small = if settings.small { " Only the small sizes ran." } else { "" };
    format!(
        "What each competitor reads back was compared with what went in before anything was timed. Each ran in {}, \
         one sample after the other in turns with all others, in random order (seed {}): {} of each operation in each \
         process, at least {} ms long. Times are medians. Ratios are medians of pairs that were taken next to each \
         other. What stands in brackets is where the number lies with 95 % confidence, by an exact bootstrap over \
         the processes. A tie is a difference that this machine cannot show.{small}",
        some(settings.rounds, "process", "processes"),
        settings.seed,
        some(settings.turns, "sample", "samples"),
        settings.sample_ms,
    )
}

fn some(n: u32, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}

/// Says what ran, when, and how long it took.
pub(super) fn run(report: &Report) -> String {
    format!("Icecore {}, {}, in {}", plain(&report.icecore), when(&report.made), duration(report.seconds))
}

/// Formats a time: `2026-11-22 12:00 UTC`.
pub(super) fn when(made: &str) -> String {
    let made = plain(made);
    match (made.get(..10), made.get(11..16), made.ends_with('Z')) {
        (Some(day), Some(hour), true) => format!("{day} {hour} UTC"),
        _ => made,
    }
}

/// Formats the numbers of a claim: `2.90`, `16 to 24`.
pub(super) fn claimed(from: f64, to: f64, show: impl Fn(f64) -> String) -> String {
    if from == to { show(from) } else { format!("{} to {}", show(from), show(to)) }
}

/// Wraps text to lines that fit, with a prefix for the first line and one for the others.
pub(super) fn wrapped(text: &str, first: &str, others: &str, width: usize) -> String {
    const UNITS: [&str; 9] = ["%", "ns", "µs", "ms", "s", "B", "kB", "MB", "GB"];
    let mut out = String::new();
    let mut line = first.to_owned();
    let mut empty = true;
    for word in plain(text).split_whitespace() {
        // A unit stays on the line of its number.
        let stays = empty || UNITS.contains(&word.trim_end_matches(['.', ',', ';', ')']));
        if !stays && line.chars().count() + 1 + word.chars().count() > width {
            out.extend([line.trim_end(), "\n"]);
            line = others.to_owned();
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    if !empty {
        out.extend([line.trim_end(), "\n"]);
    }
    out
}
