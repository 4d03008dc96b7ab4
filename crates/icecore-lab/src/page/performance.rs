//! `docs/performance.md`: the results of a run, for readers of the documentation.

use super::markdown::{
    render_claim_results, render_machine, render_remarks, render_results, render_summary, write_section,
};
use super::table::escape_markdown;
use super::view::{self, Names, select_shown_points};
use super::{ChartKind, render_svg, shared_tables, words};
use crate::articles::{self, Article};
use crate::model::{Operation, Report, ScenarioReport, Verdict};
use std::fmt::Write;

/// The scenario and the kind of the chart in the README.
const README_CHART: (&str, ChartKind) = ("perl-mix", ChartKind::Bars(Operation::RoundTrip));

/// A separate run in addition to that of all scenarios: the name of its file in `docs/bench`, and its report.
pub type SeparateRun<'r> = (&'r str, &'r Report);

/// Returns the text of `docs/performance.md`. It links to `bench/report.json`, which contains the samples and from
/// which a page with charts is generated, and to `bench/engine.md`, which is written by hand. Separate runs come last,
/// each with its machine and its day.
pub fn render_performance(report: &Report, separate_runs: &[SeparateRun<'_>]) -> String {
    let mut out = String::from("# Performance\n\n");
    out += "This page is made by `icecore bench` from a run of all scenarios. ";
    out += "[Its JSON](bench/report.json) has every sample, and ";
    out += "`icecore bench --show docs/bench/report.json --html report.html` draws it with its charts. ";
    out += "Measurements of the engine alone, and of single features, are in [bench/engine.md](bench/engine.md).\n\n";
    out +=
        "Only ratios that were measured side by side in one run are claims; absolute times depend on the machine.\n\n";
    _ = write!(out, "## Machine\n\n{}.\n\n{}", escape_markdown(&words::describe_run(report)), render_machine(report));
    _ = write!(out, "\n{}\n", escape_markdown(&words::describe_method(&report.settings)));
    out += &render_all_claims(report);
    for scenario in &report.scenarios {
        out += &render_scenario(scenario);
    }
    for (name, report) in separate_runs {
        out += &render_separate_run(name, report);
    }
    out
}

/// Returns the section of a separate run.
fn render_separate_run(name: &str, report: &Report) -> String {
    let mut out = format!("\n## In a run of its own: {}\n\n", escape_markdown(name));
    out += "This section was measured later than the sections above, or on another machine: their numbers can't be ";
    _ = write!(out, "compared. [Its JSON](bench/{name}.json) has every sample.\n\n");
    _ = write!(out, "{}.\n\n{}", escape_markdown(&words::describe_run(report)), render_machine(report));
    _ = write!(out, "\n{}\n", escape_markdown(&words::describe_method(&report.settings)));
    for scenario in &report.scenarios {
        out += &render_scenario(scenario);
        let names = Names::new(scenario);
        for point in select_shown_points(scenario) {
            if let Some(table) = shared_tables::build_rate_table(scenario, point, &names) {
                write_section(&mut out, &view::title_at_point(&format!("{} a second", scenario.axis), point), &table);
            }
        }
    }
    out
}

/// Returns the claims of all scenarios, one table each.
fn render_all_claims(report: &Report) -> String {
    let all_claims = || report.scenarios.iter().flat_map(|scenario| &scenario.claims);
    if all_claims().next().is_none() {
        return String::new();
    }
    let confirmed = all_claims().filter(|claim| claim.verdict.confirms_claim()).count();
    let mut out = String::from("\n## The articles' claims, then and now\n\n");
    _ = writeln!(out, "{confirmed} of {} hold on this machine, or hold even more.", all_claims().count());
    for scenario in report.scenarios.iter().filter(|scenario| !scenario.claims.is_empty()) {
        write_section(&mut out, &scenario.name, &shared_tables::build_claims_table(&scenario.claims));
        out += &link_sources(scenario);
        out += &render_claim_results(scenario, |verdict| verdict != Verdict::Holds);
    }
    out
}

/// Returns the chart in the README: its description, and the SVG.
pub fn render_readme_chart(report: &Report) -> Option<(String, String)> {
    let (scenario, kind) = README_CHART;
    let title = &report.scenarios.iter().find(|other| other.name == scenario)?.title;
    Some((format!("{title}, {}", words::operation_title(Operation::RoundTrip)), render_svg(report, scenario, kind)?))
}

/// Number of claims of each article in the README.
const CLAIMS_PER_ARTICLE: usize = 2;

/// Returns the part of the README about a run: one chart, and two claims of each article.
pub fn render_readme(report: &Report) -> String {
    let mut out = String::new();
    if let Some((about, _)) = render_readme_chart(report) {
        _ = write!(out, "![{}](docs/bench/chart.svg)\n\n", escape_markdown(&about));
    }
    let all_claims = || report.scenarios.iter().flat_map(|scenario| &scenario.claims);
    let confirmed = all_claims().filter(|claim| claim.verdict.confirms_claim()).count();
    _ = write!(
        out,
        "Of {} claims of five articles {confirmed} hold on this machine, or hold even more ",
        all_claims().count()
    );
    out += "([all of them, and what explains the others](docs/performance.md)). Two of each:\n\n";
    out += "| now | claim | then | measured | article |\n|---|---|--:|--:|---|\n";
    let mut listed: Vec<&'static Article> = Vec::new();
    for result in all_claims() {
        let Some(article) = articles::find_article(&result.claim.source) else { continue };
        if listed.iter().filter(|other| **other == article).count() == CLAIMS_PER_ARTICLE {
            continue;
        }
        listed.push(article);
        let cells = shared_tables::build_claim_cells(result).map(|cell| escape_markdown(&cell)).join(" | ");
        _ = writeln!(out, "| {cells} | {} |", link_article(article));
    }
    out
}

fn link_article(article: &Article) -> String {
    format!("[{}]({})", escape_markdown(article.title), article.url)
}

/// Returns links to the articles of a scenario's claims.
fn link_sources(scenario: &ScenarioReport) -> String {
    let mut found: Vec<&'static Article> = Vec::new();
    for article in scenario.claims.iter().filter_map(|result| articles::find_article(&result.claim.source)) {
        if !found.contains(&article) {
            found.push(article);
        }
    }
    let linked: Vec<_> = found.into_iter().map(link_article).collect();
    if linked.is_empty() { String::new() } else { format!("\nFrom {}.\n", linked.join(" and ")) }
}

fn render_scenario(scenario: &ScenarioReport) -> String {
    let names = Names::new(scenario);
    let mut out = String::new();
    _ = write!(
        out,
        "\n## {}\n\n{}.\n",
        escape_markdown(&scenario.name),
        escape_markdown(scenario.title.trim_end_matches('.'))
    );
    if scenario.stopped {
        out += "\nThe run was stopped before this was done.\n";
    }
    out += &render_results(scenario, &names);
    for point in select_shown_points(scenario) {
        out += &render_summary(scenario, point, &names);
    }
    out + &render_remarks(scenario)
}
