//! The pages are the ones committed in `golden/`. `UPDATE_PAGES=1` writes them again.

use super::report::report;
use icecore_lab::page::{self, Style};
use icecore_lab::rank;
use std::path::Path;

fn assert_drawn_as(name: &str, drawn: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages/golden").join(name);
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(&path, drawn).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (i, (drawn, expected)) in drawn.lines().zip(expected.lines()).enumerate() {
        assert_eq!(drawn, expected, "{name}, line {}; UPDATE_PAGES=1 if that is meant", i + 1);
    }
    assert_eq!(drawn.len(), expected.len(), "{name} is longer or shorter; UPDATE_PAGES=1 if that is meant");
}

#[test]
fn the_text_report_equals_its_golden_file() {
    let drawn = page::render_text(&report(), &Style::default());
    assert_drawn_as("report.txt", &drawn);
    let wide: Vec<_> = drawn.lines().filter(|line| line.chars().count() > 110).collect();
    assert!(wide.is_empty(), "too wide: {wide:#?}");
}

/// The order follows the numbers that are shown, even if pairs of samples on a busy machine
/// contradict it.
#[test]
fn rates_are_sorted_by_the_shown_numbers() {
    let mut measured: icecore_lab::model::Report =
        serde_json::from_str(include_str!("../../../../docs/bench/report.json")).unwrap();
    // Ratios of pairs that contradict the medians.
    for scenario in &mut measured.scenarios {
        for entry in scenario.points.iter_mut().flat_map(|point| &mut point.entries) {
            for against in entry.cells.iter_mut().filter_map(|cell| cell.against.as_mut()) {
                against.times.estimate = 1.0 / against.times.estimate;
            }
        }
    }
    let text = page::render_text(&measured, &Style { full: true, ..Style::default() });
    let rate = |line: &str| {
        let digits = line.split_whitespace().find_map(|word| word.strip_suffix("/s"))?;
        digits.replace(',', "").parse::<f64>().ok()
    };
    let mut seen = 0;
    for matrix in text.split(" Rate ").skip(1) {
        let rates: Vec<f64> = matrix.lines().skip(1).map_while(rate).collect();
        assert!(rates.is_sorted(), "{rates:?}");
        seen += rates.len();
    }
    assert!(seen > 30, "{seen}");
}

#[test]
fn the_markdown_report_equals_its_golden_file() {
    assert_drawn_as("report.md", &page::render_markdown(&report()));
}

#[test]
fn the_csv_report_equals_its_golden_file() {
    assert_drawn_as("report.csv", &page::render_csv(&report()));
}

#[test]
fn the_performance_page_equals_its_golden_file() {
    assert_drawn_as("performance.md", &page::render_performance(&report(), &[("columns", &report())]));
}

#[test]
fn rankings_equal_their_golden_file() {
    let report = report();
    let mut drawn = String::new();
    for (scenario, weights) in report.scenarios.iter().zip(["write:1,read:100,size:0.1", "read:1", "to-json:1"]) {
        let point = scenario.points.last().unwrap();
        let ranked = rank::rank_competitors(point, &weights.parse().unwrap());
        drawn += &page::render_ranking(scenario, point, &ranked, weights != "to-json:1", &page::Style::default());
    }
    assert_drawn_as("ranking.txt", &drawn);
}
