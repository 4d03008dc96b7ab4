//! `docs/performance.md`: the results of a run, for readers of the documentation.

use super::markdown::{around, explained, machine, section, sentences, summary};
use super::table::escape;
use super::view::{self, Names, shown};
use super::{Kind, svg, tables, words};
use crate::articles::{self, Article};
use crate::model::{Operation, Report, ScenarioReport, Verdict};
use std::fmt::Write;

/// The chart in the README.
const CHART: (&str, Kind) = ("perl-mix", Kind::Bars(Operation::RoundTrip));

/// A separate run in addition to that of all scenarios: the name of its file in `docs/bench`, and its report.
pub type Beside<'r> = (&'r str, &'r Report);

/// Returns the text of `docs/performance.md`. It links to `bench/report.json`, which contains the samples and from
/// which a page with charts is generated, and to `bench/engine.md`, which is written by hand. Separate runs come last,
/// each with its machine and its day.
pub fn performance(report: &Report, beside: &[Beside<'_>]) -> String {
    let mut out = String::from("# Performance\n\n");
    out += "This page is made by `icecore bench` from a run of all scenarios. ";
    out += "[Its JSON](bench/report.json) has every sample, and ";
    out += "`icecore bench --show docs/bench/report.json --html report.html` draws it with its charts. ";
    out += "Measurements of the engine alone, and of single features, are in [bench/engine.md](bench/engine.md).\n\n";
    out +=
        "Only ratios that were measured side by side in one run are claims; absolute times depend on the machine.\n\n";
    _ = write!(out, "## Machine\n\n{}.\n\n{}", escape(&words::run(report)), machine(report));
    _ = write!(out, "\n{}\n", escape(&words::measured(&report.settings)));
    out += &claims(report);
    for scenario in &report.scenarios {
        out += &one(scenario);
    }
    for (name, report) in beside {
        out += &run(name, report);
    }
    out
}

/// Returns the section of a separate run.
fn run(name: &str, report: &Report) -> String {
    let mut out = format!("\n## In a run of its own: {}\n\n", escape(name));
    out += "What is below was measured later than what is above, or on another machine: numbers of the two are not ";
    _ = write!(out, "compared. [Its JSON](bench/{name}.json) has every sample.\n\n");
    _ = write!(out, "{}.\n\n{}", escape(&words::run(report)), machine(report));
    _ = write!(out, "\n{}\n", escape(&words::measured(&report.settings)));
    for scenario in &report.scenarios {
        out += &one(scenario);
        let names = Names::new(scenario);
        for point in shown(scenario, false) {
            if let Some(table) = tables::items_a_second(scenario, point, &names) {
                section(&mut out, &view::at(&format!("{} a second", scenario.axis), point), &table);
            }
        }
    }
    out
}

/// Returns the claims of all scenarios, one table each.
fn claims(report: &Report) -> String {
    let all = || report.scenarios.iter().flat_map(|s| &s.claims);
    if all().next().is_none() {
        return String::new();
    }
    let held = all().filter(|c| c.verdict.stands()).count();
    let mut out = String::from("\n## The articles' claims, then and now\n\n");
    _ = writeln!(out, "{held} of {} hold on this machine, or hold even more.", all().count());
    for scenario in report.scenarios.iter().filter(|s| !s.claims.is_empty()) {
        section(&mut out, &scenario.name, &tables::claims(&scenario.claims));
        out += &sources(scenario);
        out += &explained(scenario, |verdict| verdict != Verdict::Holds);
    }
    out
}

/// Returns the chart in the README: its description, and the SVG.
pub fn readme_chart(report: &Report) -> Option<(String, String)> {
    let (scenario, kind) = CHART;
    let title = &report.scenarios.iter().find(|one| one.name == scenario)?.title;
    Some((format!("{title}, {}", words::operation(Operation::RoundTrip)), svg(report, scenario, kind)?))
}

/// Number of claims of each article in the README.
const OF_EACH: usize = 2;

/// Returns the part of the README about a run: one chart, and two claims of each article.
pub fn readme(report: &Report) -> String {
    let mut out = String::new();
    if let Some((about, _)) = readme_chart(report) {
        _ = write!(out, "![{}](docs/bench/chart.svg)\n\n", escape(&about));
    }
    let all = || report.scenarios.iter().flat_map(|s| &s.claims);
    let held = all().filter(|c| c.verdict.stands()).count();
    _ = write!(out, "Of {} claims of five articles {held} hold on this machine, or hold even more ", all().count());
    out += "([all of them, and what explains the others](docs/performance.md)). Two of each:\n\n";
    out += "| now | claim | then | measured | article |\n|---|---|--:|--:|---|\n";
    let mut shown: Vec<&'static Article> = Vec::new();
    for result in all() {
        let Some(article) = articles::of(&result.claim.source) else { continue };
        if shown.iter().filter(|one| **one == article).count() == OF_EACH {
            continue;
        }
        shown.push(article);
        let cells = tables::claim(result).map(|cell| escape(&cell)).join(" | ");
        _ = writeln!(out, "| {cells} | {} |", linked(article));
    }
    out
}

fn linked(article: &Article) -> String {
    format!("[{}]({})", escape(article.title), article.url)
}

/// Returns links to the articles of a scenario's claims.
fn sources(scenario: &ScenarioReport) -> String {
    let mut found: Vec<&'static Article> = Vec::new();
    for article in scenario.claims.iter().filter_map(|result| articles::of(&result.claim.source)) {
        if !found.contains(&article) {
            found.push(article);
        }
    }
    let linked: Vec<_> = found.into_iter().map(linked).collect();
    if linked.is_empty() { String::new() } else { format!("\nFrom {}.\n", linked.join(" and ")) }
}

fn one(scenario: &ScenarioReport) -> String {
    let names = Names::new(scenario);
    let mut out = String::new();
    _ = write!(out, "\n## {}\n\n{}.\n", escape(&scenario.name), escape(scenario.title.trim_end_matches('.')));
    if scenario.stopped {
        out += "\nThe run was stopped before this was done.\n";
    }
    out += &sentences(scenario, &names);
    for point in shown(scenario, false) {
        out += &summary(scenario, point, &names);
    }
    out + &around(scenario)
}
