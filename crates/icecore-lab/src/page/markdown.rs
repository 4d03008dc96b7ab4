//! The report as Markdown.

use super::matrix::Matrix;
use super::table::{Table, code, escape};
use super::view::{Names, groups, operations, operations_at, plain, shown};
use super::{tables, view, words};
use crate::model::{Point, Report, ScenarioReport, Verdict};
use std::fmt::Write;

/// Returns the whole report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut out = format!("# Serializers, measured\n\n{}.\n\n", escape(&words::run(report)));
    out += &machine(report);
    for scenario in &report.scenarios {
        out += &one(scenario);
    }
    if !report.scenarios.is_empty() {
        _ = write!(out, "\n## How it was measured\n\n{}\n", escape(&words::measured(&report.settings)));
    }
    out
}

/// Returns a list that describes the machine.
pub(super) fn machine(report: &Report) -> String {
    words::machine(&report.machine).iter().map(|(what, text)| format!("- {what}: {}\n", escape(text))).collect()
}

fn one(scenario: &ScenarioReport) -> String {
    let names = Names::new(scenario);
    let mut out = String::new();
    _ = write!(out, "\n## {}\n\n{}\n", escape(&scenario.name), escape(&scenario.title));
    if scenario.stopped {
        out += "\nThe run was stopped before this was done.\n";
    }
    if !scenario.about.trim().is_empty() {
        _ = write!(out, "\n{}\n", escape(&scenario.about));
    }
    out += &sentences(scenario, &names);
    for point in shown(scenario, false) {
        out += &at(scenario, point, &names);
    }
    for group in groups(scenario).iter().filter(|g| g.points.len() > 1) {
        for operation in operations(scenario) {
            let head = format!("Growth: {} {}", words::operation(operation), group.label);
            section(&mut out, &head, &tables::growth(scenario, group, operation, &names, 12));
        }
    }
    if let Some(table) = tables::published(scenario, &names) {
        section(&mut out, "Then and now", &table);
    }
    out += &claims(scenario);
    out += &around(scenario);
    out
}

/// Returns the verdict as a list.
pub(super) fn sentences(scenario: &ScenarioReport, names: &Names) -> String {
    let list: String = words::verdict(scenario, names).iter().map(|s| format!("- {}\n", escape(s))).collect();
    if list.is_empty() { list } else { format!("\n{list}") }
}

fn at(scenario: &ScenarioReport, point: &Point, names: &Names) -> String {
    let mut out = summary(scenario, point, names);
    for operation in operations_at(point, &operations(scenario)) {
        let Some(matrix) = Matrix::new(point, operation, scenario.noise.resolution) else { continue };
        for table in matrix.tables(names, usize::MAX) {
            section(&mut out, &format!("{}: each against each", view::at(words::operation(operation), point)), &table);
        }
    }
    if let Some(table) = tables::memory(point, names) {
        section(&mut out, &view::at("Memory", point), &table);
    }
    out
}

/// Returns the summary of a point, with the differences of results that are not exact.
pub(super) fn summary(scenario: &ScenarioReport, point: &Point, names: &Names) -> String {
    let operations = operations_at(point, &operations(scenario));
    let mut out = String::new();
    section(&mut out, &view::at("Summary", point), &tables::summary(scenario, point, &operations, names));
    let list = words::differences(point, names);
    if !list.is_empty() {
        out += "\n";
    }
    for (name, differences) in list {
        _ = writeln!(out, "- {}: {}", escape(&name), escape(&differences));
    }
    out
}

/// Returns the claims of a scenario, with explanations for those that do not hold.
fn claims(scenario: &ScenarioReport) -> String {
    let mut out = String::new();
    section(&mut out, "What the article claims", &tables::claims(&scenario.claims));
    out + &explained(scenario, |_| true)
}

/// Returns the results of selected claims in sentences.
pub(super) fn explained(scenario: &ScenarioReport, which: impl Fn(Verdict) -> bool) -> String {
    let mut out = String::new();
    for result in scenario.claims.iter().filter(|result| which(result.verdict)) {
        let why = match result.verdict {
            Verdict::Holds => String::new(),
            _ => plain(&result.claim.explanation),
        };
        let text = [plain(&result.claim.text) + ":", plain(&result.words), why].join(" ");
        _ = writeln!(out, "- {} ({})", escape(text.trim()), escape(&result.claim.source));
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

/// Returns missing competitors, noise and notes.
pub(super) fn around(scenario: &ScenarioReport) -> String {
    let mut out = String::new();
    if !scenario.absent.is_empty() {
        out += "\n### Not here\n\n";
    }
    for (who, why, install) in words::absent(scenario) {
        let install = install.map_or(String::new(), |c| format!(": {}", code(&c)));
        _ = writeln!(out, "- {}: {}{install}", escape(&who), escape(&why));
    }
    if !scenario.points.is_empty() {
        _ = write!(out, "\n{}", escape(&words::noise(&scenario.noise)));
    }
    if let Some(sentence) = words::outliers(scenario) {
        _ = write!(out, " {}", escape(&sentence));
    }
    out += "\n";
    for note in &scenario.notes {
        _ = write!(out, "\n{}\n", escape(note));
    }
    out
}

/// Writes a table below its heading, if it has rows.
pub(super) fn section(out: &mut String, title: &str, table: &Table) {
    if !table.is_empty() {
        _ = write!(out, "\n### {}\n\n{}", escape(title), table.markdown());
    }
}
