//! What is drawn is what is committed in `golden/`. `UPDATE_PAGES=1` writes it anew.

use crate::report::report;
use icecore_lab::page::{self, Style};
use icecore_lab::rank;
use std::path::Path;

fn same(name: &str, drawn: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages/golden").join(name);
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(&path, drawn).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    for (i, (drawn, wanted)) in drawn.lines().zip(wanted.lines()).enumerate() {
        assert_eq!(drawn, wanted, "{name}, line {}; UPDATE_PAGES=1 if that is meant", i + 1);
    }
    assert_eq!(drawn.len(), wanted.len(), "{name} is longer or shorter; UPDATE_PAGES=1 if that is meant");
}

#[test]
fn text() {
    let drawn = page::text(&report(), &Style::default());
    same("report.txt", &drawn);
    let wide: Vec<_> = drawn.lines().filter(|line| line.chars().count() > 110).collect();
    assert!(wide.is_empty(), "too wide: {wide:#?}");
}

#[test]
fn markdown() {
    same("report.md", &page::markdown(&report()));
}

#[test]
fn csv() {
    same("report.csv", &page::csv(&report()));
}

#[test]
fn performance() {
    same("performance.md", &page::performance(&report()));
}

#[test]
fn ranking() {
    let report = report();
    let mut drawn = String::new();
    for (scenario, weights) in report.scenarios.iter().zip(["write:1,read:100,size:0.1", "read:1", "to-json:1"]) {
        let point = scenario.points.last().unwrap();
        let ranked = rank::rank(point, &weights.parse().unwrap(), 1);
        drawn += &page::ranking(scenario, point, &ranked, weights != "to-json:1");
    }
    same("ranking.txt", &drawn);
}
