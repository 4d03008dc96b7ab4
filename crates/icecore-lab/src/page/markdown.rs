//! The report as Markdown.

use super::comparison_matrix::Matrix;
use super::table::{Table, escape_markdown, format_code};
use super::view::{Names, group_points, make_printable, measured_operations, operations_at_point, select_shown_points};
use super::{shared_tables, view, words};
use crate::model::{Point, Report, ScenarioReport, Verdict};
use std::fmt::Write;

/// Returns the whole report as Markdown.
pub fn render_markdown(report: &Report) -> String {
    let mut out = format!("# Serializers, measured\n\n{}.\n\n", escape_markdown(&words::describe_run(report)));
    out += &render_machine(report);
    for scenario in &report.scenarios {
        out += &render_scenario(scenario);
    }
    if !report.scenarios.is_empty() {
        _ = write!(out, "\n## How it was measured\n\n{}\n", escape_markdown(&words::describe_method(&report.settings)));
    }
    out
}

/// Returns a list that describes the machine.
pub(super) fn render_machine(report: &Report) -> String {
    words::describe_machine(&report.machine)
        .iter()
        .map(|(label, text)| format!("- {label}: {}\n", escape_markdown(text)))
        .collect()
}

fn render_scenario(scenario: &ScenarioReport) -> String {
    let names = Names::new(scenario);
    let mut out = String::new();
    _ = write!(out, "\n## {}\n\n{}\n", escape_markdown(&scenario.name), escape_markdown(&scenario.title));
    if scenario.stopped {
        out += "\nThe run was stopped before this was done.\n";
    }
    if !scenario.about.trim().is_empty() {
        _ = write!(out, "\n{}\n", escape_markdown(&scenario.about));
    }
    out += &render_results(scenario, &names);
    for point in select_shown_points(scenario) {
        out += &render_point(scenario, point, &names);
    }
    for group in group_points(scenario).iter().filter(|group| group.points.len() > 1) {
        for operation in measured_operations(scenario) {
            let head = format!("Growth: {} {}", words::operation_title(operation), group.label);
            write_section(&mut out, &head, &shared_tables::build_growth_table(scenario, group, operation, &names, 12));
        }
    }
    if let Some(table) = shared_tables::build_published_table(scenario, &names) {
        write_section(&mut out, "Then and now", &table);
    }
    out += &render_claims(scenario);
    out += &render_remarks(scenario);
    out
}

/// Returns the results of a scenario as a list of sentences.
pub(super) fn render_results(scenario: &ScenarioReport, names: &Names) -> String {
    let list: String = words::describe_results(scenario, names)
        .iter()
        .map(|sentence| format!("- {}\n", escape_markdown(sentence)))
        .collect();
    if list.is_empty() { list } else { format!("\n{list}") }
}

fn render_point(scenario: &ScenarioReport, point: &Point, names: &Names) -> String {
    let mut out = render_summary(scenario, point, names);
    for operation in operations_at_point(point, &measured_operations(scenario)) {
        let Some(matrix) = Matrix::new(point, operation, scenario.noise.resolution) else { continue };
        for table in matrix.build_tables(names, usize::MAX) {
            write_section(
                &mut out,
                &format!("{}: each against each", view::title_at_point(words::operation_title(operation), point)),
                &table,
            );
        }
    }
    if let Some(table) = shared_tables::build_memory_table(point, names) {
        write_section(&mut out, &view::title_at_point("Memory", point), &table);
    }
    out
}

/// Returns the summary of a point. Below it is what each competitor changed in the values, if it did not return them
/// exactly.
pub(super) fn render_summary(scenario: &ScenarioReport, point: &Point, names: &Names) -> String {
    let operations = operations_at_point(point, &measured_operations(scenario));
    let mut out = String::new();
    write_section(
        &mut out,
        &view::title_at_point("Summary", point),
        &shared_tables::build_summary_table(scenario, point, &operations, names),
    );
    let list = words::list_differences(point, names);
    if !list.is_empty() {
        out += "\n";
    }
    for (name, differences) in list {
        _ = writeln!(out, "- {}: {}", escape_markdown(&name), escape_markdown(&differences));
    }
    out
}

/// Returns the claims of a scenario, with explanations for those that do not hold.
fn render_claims(scenario: &ScenarioReport) -> String {
    let mut out = String::new();
    write_section(&mut out, "What the article claims", &shared_tables::build_claims_table(&scenario.claims));
    out + &render_claim_results(scenario, |_| true)
}

/// Returns the results of selected claims in sentences.
pub(super) fn render_claim_results(scenario: &ScenarioReport, is_selected: impl Fn(Verdict) -> bool) -> String {
    let mut out = String::new();
    for result in scenario.claims.iter().filter(|result| is_selected(result.verdict)) {
        let explanation = match result.verdict {
            Verdict::Holds => String::new(),
            _ => make_printable(&result.claim.explanation),
        };
        let text = [make_printable(&result.claim.text) + ":", make_printable(&result.words), explanation].join(" ");
        _ = writeln!(out, "- {} ({})", escape_markdown(text.trim()), escape_markdown(&result.claim.source));
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

/// Returns missing competitors, noise and notes.
pub(super) fn render_remarks(scenario: &ScenarioReport) -> String {
    let mut out = String::new();
    if !scenario.absent.is_empty() {
        out += "\n### Not here\n\n";
    }
    for (competitor, reason, install) in words::group_absent(scenario) {
        let install = install.map_or(String::new(), |command| format!(": {}", format_code(&command)));
        _ = writeln!(out, "- {}: {}{install}", escape_markdown(&competitor), escape_markdown(&reason));
    }
    if !scenario.points.is_empty() {
        _ = write!(out, "\n{}", escape_markdown(&words::describe_noise(&scenario.noise)));
    }
    if let Some(sentence) = words::describe_outliers(scenario) {
        _ = write!(out, " {}", escape_markdown(&sentence));
    }
    out += "\n";
    for note in &scenario.notes {
        _ = write!(out, "\n{}\n", escape_markdown(note));
    }
    out
}

/// Writes a table below its heading, if it has rows.
pub(super) fn write_section(out: &mut String, title: &str, table: &Table) {
    if !table.is_empty() {
        _ = write!(out, "\n### {}\n\n{}", escape_markdown(title), table.to_markdown());
    }
}
