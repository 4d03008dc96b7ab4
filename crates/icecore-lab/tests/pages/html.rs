//! The page and its charts: well-formed, safe, and without resources from elsewhere.

use super::report::{OPERATIONS, entry, report};
use super::xml::{Elements, elements};
use icecore_lab::model::*;
use icecore_lab::page;
use std::collections::BTreeSet;

fn attribute<'a>(attributes: &'a [(String, String)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Checks what must be true for every page. Returns its elements.
fn check_page(context: &str, page: &str) -> Elements {
    let all = elements(page).unwrap_or_else(|why| panic!("{context}: {why}"));
    let mut ids = BTreeSet::new();
    for (name, attributes) in &all {
        assert!(
            !["script", "link", "iframe", "img", "image", "object", "embed", "foreignObject"].contains(&name.as_str()),
            "{context}: <{name}>"
        );
        for (key, value) in attributes {
            assert!(!key.starts_with("on") && key != "src" && key != "style", "{context}: {name} {key}={value}");
            assert!(key != "href" || value.starts_with('#'), "{context}: {value}");
            assert!(key != "id" || ids.insert(value.clone()), "{context}: {value} is there twice");
            assert!(!["NaN", "inf", "-0\""].iter().any(|odd| value.contains(odd)), "{context}: {name} {key}={value}");
        }
    }
    let style = page.split("<style>").skip(1).map(|part| part.split("</style>").next().unwrap_or_default());
    assert!(style.clone().all(|css| !css.contains("url(") && !css.contains("@import")), "{context} loads something");
    for (_, attributes) in &all {
        let links = [attribute(attributes, "aria-labelledby"), attribute(attributes, "href")];
        for id in links.iter().flatten().flat_map(|value| value.split(' ')) {
            assert!(ids.contains(id.trim_start_matches('#')), "{context}: nothing is {id}");
        }
    }
    for (index, (name, attributes)) in all.iter().enumerate() {
        if name == "svg" {
            assert_eq!(attribute(attributes, "role"), Some("img"), "{context}");
            let inside: Vec<&str> = all[index + 1..index + 3].iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(inside, ["title", "desc"], "{context}");
            check_coordinates(context, attribute(attributes, "viewBox").unwrap_or_default(), &all[index + 1..]);
        }
    }
    all
}

/// Checks that all coordinates are numbers inside the chart.
fn check_coordinates(what: &str, view: &str, inside: &[(String, Vec<(String, String)>)]) {
    let size: Vec<f64> = view.split(' ').map(|number| number.parse().expect(view)).collect();
    for (name, attributes) in inside.iter().take_while(|(name, _)| name != "svg") {
        for (key, value) in attributes {
            let limit = match key.as_str() {
                "x" | "x1" | "x2" | "cx" => size[2],
                "y" | "y1" | "y2" | "cy" => size[3],
                "width" | "height" | "r" => f64::INFINITY,
                _ => continue,
            };
            let number: f64 = value.parse().unwrap_or_else(|_| panic!("{what}: {name} {key}={value}"));
            assert!((-1.0..=limit + 1.0).contains(&number), "{what}: {name} {key}={value} in {view}");
        }
    }
}

#[test]
fn the_html_page_is_well_formed_and_safe() {
    let drawn = page::render_html(&report());
    let all = check_page("the page", &drawn);
    let charts = all.iter().filter(|(name, _)| name == "svg").count();
    // Each chart has a version for wide windows and one for narrow ones.
    assert_eq!(charts, 2 * page::list_chart_kinds(&report()).len());
    let count = |expected: &str| all.iter().filter(|(name, _)| name == expected).count();
    assert_eq!(count("figure"), charts / 2);
    assert_eq!(count("details"), charts / 2);
    assert_eq!(count("h1"), 1);
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html");
    std::fs::write(path, drawn).unwrap();
}

#[test]
fn each_kind_of_chart_is_a_separate_file() {
    let report = report();
    let kinds = page::list_chart_kinds(&report);
    let names: Vec<String> = kinds.iter().map(|(scenario, kind)| format!("{scenario} {kind}")).collect();
    for expected in ["perl-mix bars-write", "perl-mix size", "perl-mix memory", "php-objects growth-read"] {
        assert!(names.iter().any(|name| name == expected), "{expected} in {names:?}");
    }
    assert!(!names.contains(&"flat-strings memory".into()));
    for (scenario, kind) in kinds {
        let svg = page::render_svg(&report, scenario, kind).unwrap();
        let all = check_page(&format!("{scenario} {kind}"), &svg);
        assert_eq!(attribute(&all[0].1, "xmlns"), Some("http://www.w3.org/2000/svg"));
        assert!(svg.contains("prefers-color-scheme:dark"));
    }
    assert_eq!(page::render_svg(&report, "nothing", page::ChartKind::Size), None);
    assert_eq!(page::render_svg(&report, "flat-strings", page::ChartKind::Memory), None);
}

#[test]
fn names_are_escaped_everywhere() {
    let evil = "<script>alert('x')</script>\"&amp;\u{1b}[31m|`*_[a](b)\r\n\u{ffff}";
    let mut report = report();
    report.icecore = evil.into();
    report.made = evil.into();
    report.machine.processor = evil.into();
    for scenario in &mut report.scenarios {
        for text in [
            &mut scenario.name,
            &mut scenario.title,
            &mut scenario.about,
            &mut scenario.axis,
            &mut scenario.noise.words,
        ] {
            *text = evil.into();
        }
        scenario.notes.push(evil.into());
        scenario.absent.push(Absent { competitor: evil.into(), why: evil.into(), install: Some(evil.into()) });
        for result in &mut scenario.claims {
            (result.words, result.claim.text, result.claim.source) = (evil.into(), evil.into(), evil.into());
            result.claim.explanation = evil.into();
        }
        for point in &mut scenario.points {
            point.name = evil.into();
            for entry in &mut point.entries {
                (entry.name, entry.version) = (evil.into(), evil.into());
                entry.fidelity = Fidelity::Alike { differences: vec![evil.into()] };
                entry.memory.iter_mut().for_each(|step| step.step = evil.into());
            }
        }
    }
    let drawn = page::render_html(&report);
    check_page("the page", &drawn);
    assert!(!drawn.contains("<script") && drawn.contains("&lt;script&gt;"));
    for (scenario, kind) in page::list_chart_kinds(&report) {
        check_page("a chart", &page::render_svg(&report, scenario, kind).unwrap());
    }
    let text = page::render_text(&report, &page::Style::default());
    assert!(!text.contains(['\u{1b}', '\r']), "a name commands the terminal");
    for markdown in [page::render_markdown(&report), page::render_performance(&report, &[])] {
        assert!(!markdown.replace('`', "").contains("<script") || is_in_code_only(&markdown), "a name is HTML");
    }
}

/// Returns `true` if `<script` occurs in code only.
fn is_in_code_only(markdown: &str) -> bool {
    markdown.lines().filter(|line| line.contains("<script")).all(|line| line.contains("`` <script"))
}

#[test]
fn pages_with_odd_numbers_are_well_formed() {
    let odd = [0.0, -1.0, 1e-9, 1.0, 1e300, f64::MAX, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    for (index, first) in odd.iter().enumerate() {
        for second in &odd[index..] {
            let report = changed_report(|scenario| {
                for point in &mut scenario.points {
                    point.at = if point.at > 100.0 { *first } else { *second };
                    point.memcpy_ns = Some(*second);
                    for (position, entry) in point.entries.iter_mut().enumerate() {
                        let number = if position % 2 == 0 { *first } else { *second };
                        entry.size = Some(number as u64);
                        for cell in &mut entry.cells {
                            cell.summary.median = Interval { estimate: number, low: *first, high: *second };
                            cell.samples.iter_mut().for_each(|sample| sample.ns = number);
                        }
                        for step in &mut entry.memory {
                            (step.resident, step.peak) = (*first as u64, *second as u64);
                        }
                    }
                }
            });
            check_all_pages(&format!("{first} and {second}"), &report);
        }
    }
}

#[test]
fn pages_with_missing_parts_are_well_formed() {
    type Change = fn(&mut ScenarioReport);
    let gaps: [(&str, Change); 10] = [
        ("no points", |scenario| scenario.points.clear()),
        ("one point", |scenario| scenario.points.truncate(1)),
        ("no entries", |scenario| scenario.points.iter_mut().for_each(|point| point.entries.clear())),
        ("one entry", |scenario| scenario.points.iter_mut().for_each(|point| point.entries.truncate(1))),
        ("no cells", |scenario| entries_of(scenario).for_each(|entry| entry.cells.clear())),
        ("no samples", |scenario| {
            let cells = entries_of(scenario).flat_map(|entry| &mut entry.cells);
            cells.for_each(|cell| cell.samples.clear());
        }),
        ("no operations", |scenario| scenario.operations.clear()),
        ("nobody is right", |scenario| {
            entries_of(scenario).for_each(|entry| entry.fidelity = Fidelity::Differs { differences: vec![] });
        }),
        ("all at one place", |scenario| scenario.points.iter_mut().for_each(|point| point.at = 5.0)),
        ("no names", |scenario| entries_of(scenario).for_each(|entry| entry.name.clear())),
    ];
    for (what, change) in gaps {
        check_all_pages(what, &changed_report(change));
    }
    let mut empty = report();
    empty.scenarios.clear();
    empty.machine = Machine::default();
    check_all_pages("nothing", &empty);
}

#[test]
fn many_and_long_names_fit_into_charts() {
    let report = changed_report(|scenario| {
        for point in &mut scenario.points {
            let more = (0..20).map(|number| {
                let name = format!("a serializer whose name is far longer than what fits {number}");
                entry(
                    &format!("x/{number}"),
                    &name,
                    [1e4 + f64::from(number), 1e4 * f64::from(number + 1)],
                    4321 + u64::from(number as u32),
                    None,
                )
            });
            point.entries.extend(more.collect::<Vec<_>>());
        }
    });
    check_all_pages("many", &report);
    assert_eq!(OPERATIONS.len(), 2);
}

fn entries_of(scenario: &mut ScenarioReport) -> impl Iterator<Item = &mut Entry> {
    scenario.points.iter_mut().flat_map(|point| &mut point.entries)
}

/// Returns a changed report. Few samples are enough to draw, and quicker to resample.
fn changed_report(change: impl Fn(&mut ScenarioReport)) -> Report {
    let mut report = report();
    report.scenarios.iter_mut().for_each(change);
    let entries = report.scenarios.iter_mut().flat_map(entries_of);
    entries.flat_map(|entry| &mut entry.cells).for_each(|cell| cell.samples.truncate(3));
    report
}

/// Draws all pages of a report.
fn check_all_pages(context: &str, report: &Report) {
    check_page(context, &page::render_html(report));
    for (scenario, kind) in page::list_chart_kinds(report) {
        check_page(context, &page::render_svg(report, scenario, kind).expect(context));
    }
    for drawn in [
        page::render_text(report, &page::Style { color: true, width: 40, full: false }),
        page::render_markdown(report),
        page::render_performance(report, &[]),
    ] {
        assert!(!drawn.contains("NaN") && !drawn.contains("inf "), "{context}: {drawn}");
    }
    let rows = page::render_csv(report);
    assert!(rows.lines().all(|line| !line.contains("NaN") && !line.contains(",inf,")), "{context}");
}
