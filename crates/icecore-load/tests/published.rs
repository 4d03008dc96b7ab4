//! The published pages match the reports: `docs/performance.md` and a part of the README are made from
//! `docs/bench/report.json` and from the reports of separate runs next to it. `UPDATE_PAGES=1` writes them.

use icecore_lab::model::{Report, SCHEMA};
use icecore_lab::page;
use icecore_load::{store, web};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const BEGIN: &str = "<!-- bench: made by scripts/bench.sh from docs/bench/report.json -->\n";
const END: &str = "<!-- /bench -->\n";

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the report with this name in `docs/bench`, if it exists.
fn load_report(name: &str) -> Option<Report> {
    let text = fs::read_to_string(path(&format!("docs/bench/{name}.json"))).ok()?;
    let report: Report = serde_json::from_str(&text).expect("it is a report");
    assert_eq!(report.schema, SCHEMA);
    Some(icecore_lab::replay_report(report, &[web::parse_web_scenario().expect("its file is right")]))
}

fn report() -> Report {
    load_report("report").expect("docs/bench/report.json")
}

/// Returns the reports of separate runs, which scenarios name.
fn other_reports() -> Vec<(String, Report)> {
    let scenarios = icecore_lab::scenario::list_scenarios().expect("their files are right");
    let names: BTreeSet<String> = scenarios.into_iter().filter_map(|one| one.report).collect();
    names.into_iter().filter_map(|name| load_report(&name).map(|report| (name, report))).collect()
}

/// Compares a file with its expected text, or writes it.
fn assert_published(name: &str, expected: &str) {
    if std::env::var_os("UPDATE_PAGES").is_some() {
        fs::write(path(name), expected).expect("the page can be written");
    }
    assert!(text(name) == expected, "{name} is out of date: `make pages` updates it");
}

#[test]
fn the_page_of_performance_is_made_from_the_report() {
    let separate_runs = other_reports();
    let separate_runs: Vec<page::SeparateRun<'_>> =
        separate_runs.iter().map(|(name, report)| (&**name, report)).collect();
    assert_published("docs/performance.md", &page::render_performance(&report(), &separate_runs));
}

#[test]
fn the_readme_is_made_from_the_report() {
    let readme = text("README.md");
    let (before, rest) = readme.split_once(BEGIN).expect("the README has a place for it");
    let (_, after) = rest.split_once(END).expect("the place ends");
    assert_published("README.md", &format!("{before}{BEGIN}{}{END}{after}", page::render_readme(&report())));
}

#[test]
fn files_beside_the_report_are_made_from_it() {
    let report = report();
    assert_published("docs/bench/report.md", &page::render_markdown(&report));
    assert_published("docs/bench/report.csv", &page::render_csv(&report));
    let (_, chart) = page::render_readme_chart(&report).expect("the chart of the README");
    assert_published("docs/bench/chart.svg", &chart);
}

#[test]
fn tables_of_the_store_are_made_from_its_report() {
    let text = text("docs/bench/store.md");
    if !path("docs/bench/store.json").exists() {
        assert!(text.contains("has not been run in full yet"), "docs/bench/store.md has tables of no report");
        return;
    }
    let report: store::Report = serde_json::from_str(&self::text("docs/bench/store.json")).expect("it is a report");
    assert_eq!((report.schema, report.settings.small, report.stopped), (store::SCHEMA, false, false));
    // `--only` reads it and writes it with another part: no number of the other parts may change.
    assert!(self::text("docs/bench/store.json") == serde_json::to_string(&report).expect("JSON") + "\n");
    let small = report.growth.as_ref().map(|growth| (growth.settings.small, growth.stopped));
    assert!(matches!(small, None | Some((false, false))), "how it grows was not measured in full");
    assert_published(
        "docs/bench/store.md",
        &icecore_load::page::replace_tables(&text, &report).expect("the page has a place for them"),
    );
}

#[test]
fn every_scenario_was_run_in_full() {
    let (all, separate_runs) = (report(), other_reports());
    let scenarios = icecore_lab::scenario::list_scenarios().expect("their files are right");
    for scenario in scenarios.into_iter().chain(web::parse_web_scenario()) {
        let report = match &scenario.report {
            None => &all,
            Some(name) => match separate_runs.iter().find(|(known, _)| known == name) {
                Some((_, report)) => report,
                None => {
                    eprintln!("skipped: docs/bench/{name}.json has not been run in full yet");
                    continue;
                }
            },
        };
        assert!(!report.settings.small);
        let found = report.scenarios.iter().find(|one| one.name == scenario.name);
        let found = found.unwrap_or_else(|| panic!("{} is not in the report", scenario.name));
        assert!(!found.stopped, "{} was stopped", scenario.name);
        let sizes =
            if scenario.waits.is_some() { 0 } else { scenario.full_sizes().count() * scenario.clients.len().max(1) };
        assert_eq!(found.points.len(), sizes, "{}", scenario.name);
    }
}
