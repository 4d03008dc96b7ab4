//! The runners of Ruby: the values that each of them returns, with the real Ruby.
//!
//! Reports that it was skipped if Ruby or the library of a runner is not installed.

use crate::{common, runs};

use icecore_lab::model::{Absent, Entry, Fidelity, Operation, Report, Role};
use icecore_lab::run::{Options, run_scenarios};
use icecore_lab::scenario::{self, Scenario};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

fn has_ruby() -> bool {
    let is_installed = Command::new("ruby").arg("--version").output().is_ok();
    if !is_installed {
        eprintln!("skipped: ruby is not installed");
    }
    is_installed
}

fn options() -> Options {
    Options { rounds: 1, turns: 1, modules: common::find_modules(), ..Options::default().small() }
}

/// Runs a scenario of the lab and checks that everything is measured and every answer is as
/// expected.
fn measure_and_check(scenario: &Scenario) -> Report {
    let options = runs::options();
    let report = measure(scenario.clone(), &options);
    assert_eq!(runs::check_scenario(&report.scenarios[0], scenario, &options), Vec::<String>::new());
    report
}

fn with_runners(scenario: Scenario, runners: PathBuf) -> Report {
    measure(scenario, &Options { runners: Some(runners), ..options() })
}

fn measure(scenario: Scenario, options: &Options) -> Report {
    run_scenarios(&[scenario], options, &mut (), &AtomicBool::new(false)).expect("it runs")
}

/// Measures this value as plain data with these runners of Ruby.
fn measure_plain_value(json: &str, medium: &str, settings: &str, names: &[&str]) -> Report {
    let text = format!(
        "title = \"plain\"\nlanguage = \"ruby\"\noperations = [\"write\", \"read\", \"round-trip\"{settings}]\n\
         medium = \"{medium}\"\nmemory = true\n[data]\njson = '''{json}'''\n"
    );
    let only = names.iter().map(|name| format!("ruby/{name}")).collect();
    measure(scenario::parse_scenario("plain", &text).expect("a scenario"), &Options { only, ..options() })
}

fn entry<'r>(report: &'r Report, id: &str) -> Option<&'r Entry> {
    let found = report.scenarios[0].points[0].entries.iter().find(|entry| entry.id == id);
    if found.is_none() {
        let absent = find_absent(report, id).unwrap_or_else(|| panic!("{id} is nowhere"));
        assert!(absent.install.is_some(), "{id}: {}", absent.why);
        eprintln!("skipped: {id}: {}", absent.why);
    }
    found
}

fn find_absent<'r>(report: &'r Report, id: &str) -> Option<&'r Absent> {
    report.scenarios[0].absent.iter().find(|absent| absent.competitor == id)
}

fn is_exact(entry: &Entry) -> bool {
    entry.fidelity == Fidelity::Exact
}

#[test]
fn runners_return_the_objects_of_the_article() {
    if !has_ruby() {
        return;
    }
    let scenario = scenario::find_scenario("ruby-base64").expect("the scenario");
    let report = measure_and_check(&scenario);
    let marshal = [
        ("marshal", 38_147),
        ("marshal-base64", 50_864),
        ("marshal-base64-lines", 51_712),
        ("marshal-each", 66_115),
        ("marshal-each-base64", 89_688),
        ("marshal-each-base64-lines", 91_688),
    ];
    for (name, size) in marshal {
        let entry = entry(&report, &format!("ruby/{name}")).expect("it needs nothing");
        assert!(is_exact(entry), "{name}: {:?}", entry.fidelity);
        assert_eq!(entry.size, Some(size), "{name}");
    }
    let ours = [("", 38_147), ("-base64", 50_864), ("-each", 66_115), ("-each-base64", 89_688)];
    for (name, size) in ours {
        let Some(entry) = entry(&report, &format!("ruby/icecore{name}")) else {
            assert!(!common::is_built("ruby"), "icecore{name} does not take part");
            continue;
        };
        assert_eq!(entry.size, Some(size), "icecore{name}: the bytes are Marshal's");
    }
    let names = ["json", "yaml", "oj-object", "oj-compat", "msgpack"];
    let ours = ours.map(|(name, _)| format!("icecore{name}"));
    for name in names.into_iter().chain(ours.iter().map(String::as_str)) {
        let Some(entry) = entry(&report, &format!("ruby/{name}")) else { continue };
        assert!(is_exact(entry), "{name}: {:?}", entry.fidelity);
        for operation in [Operation::Write, Operation::Read, Operation::RoundTrip] {
            assert!(
                entry.find_cell(operation).is_some_and(|cell| cell.summary.median.estimate > 0.0),
                "{name}, {operation}"
            );
        }
    }
    for claim in &scenario.claims {
        for side in [&claim.over, &claim.under] {
            let entry = entry(&report, &side.competitor).expect("it needs nothing");
            assert!(side.operation.is_none_or(|operation| entry.find_cell(operation).is_some()), "{}", claim.text);
        }
    }
    let floor = entry(&report, "ruby/floor").expect("it needs nothing");
    assert_eq!(floor.role, Role::Floor);
    assert!(floor.find_cell(Operation::Read).is_some() && floor.find_cell(Operation::Write).is_none());
}

/// The bytes of its fifty objects, and of their Base64.
const PENDING: [(&str, u64); 2] = [("", 3_104), ("-base64", 4_184)];

#[test]
fn every_model_returns_the_pending_objects() {
    if !has_ruby() {
        return;
    }
    let scenario = scenario::find_scenario("pending-store").expect("the scenario");
    let report = measure_and_check(&scenario);
    let models = ["pending", "pending-transaction", "pending-bulk", "pending-icecore"];
    let models = models.iter().flat_map(|name| ["sqlite", "postgres", "mariadb"].map(|database| (*name, database)));
    let drivers = ["pending-driver", "pending-driver-bulk", "pending-driver-icecore"].map(|name| (name, "mongodb"));
    for (name, database) in models.chain(drivers) {
        for (form, size) in PENDING {
            let Some(entry) = entry(&report, &format!("ruby/{name}/{database}{form}")) else { continue };
            assert!(is_exact(entry), "{name}, {database}{form}: {:?}", entry.fidelity);
            assert_eq!(entry.size, Some(size), "{name}, {database}{form}");
            assert!(
                entry.find_cell(Operation::Write).is_some() && entry.find_cell(Operation::Read).is_some(),
                "{name}"
            );
        }
    }
    let command = find_absent(&report, "ruby/pending-store/sqlite").expect("the library has no command");
    assert!(command.why.contains("icecore"), "{}", command.why);
    let others = &report.scenarios[0].points[0].entries;
    assert!(others.iter().all(|entry| entry.id.starts_with("ruby/pending") || entry.role == Role::Floor));
    for claim in &scenario.claims {
        for side in [&claim.over, &claim.under] {
            entry(&report, &side.competitor);
        }
    }
    // Runners that do not apply are not even started.
    let report = measure_plain_value("[1]", "memory", "", &["marshal", "pending-store"]);
    assert!(entry(&report, "ruby/marshal").is_some());
    assert!(find_absent(&report, "ruby/pending-store/sqlite").is_none());
}

#[test]
fn a_script_may_be_several_competitors() {
    if !has_ruby() {
        return;
    }
    let folder_of_user = tempfile::tempdir().expect("a folder");
    let folder = folder_of_user.path().join("ruby");
    std::fs::create_dir(&folder).expect("a folder");
    let runner = r#"#!/usr/bin/env ruby
# variants: right wrong
# scenarios: ruby-base64 another
require File.join(ENV.fetch("LAB_LIB"), "lab")

EMPTIED = []
Lab.run "Marshal, #{ENV.fetch("LAB_VARIANT")}",
        version: -> { RUBY_VERSION },
        before: -> { EMPTIED << 1 },
        stored: -> { ["four", "more"] },
        write: ->(value) { raise "not emptied" if EMPTIED.empty?; EMPTIED.clear; Marshal.dump(value) },
        read: ->(bytes) { ENV["LAB_VARIANT"] == "right" ? Marshal.load(bytes) : 7 }
"#;
    std::fs::write(folder.join("many.rb"), runner).expect("a file");
    let mut scenario = scenario::find_scenario("ruby-base64").expect("the scenario");
    scenario.only = vec!["ruby/marshal".to_owned(), "ruby/many".to_owned()];
    let report = with_runners(scenario, folder_of_user.path().to_owned());
    let [right, wrong] =
        ["right", "wrong"].map(|name| entry(&report, &format!("ruby/many/{name}")).expect("it is there"));
    assert_eq!((&*right.name, right.size), ("Marshal, right", Some(8)));
    assert!(is_exact(right) && matches!(wrong.fidelity, Fidelity::Differs { .. }));
    for operation in [Operation::Write, Operation::Read, Operation::RoundTrip] {
        assert!(right.find_cell(operation).is_some(), "{operation}");
    }
}

const EMPLOYEES: &str = r#"[{"id":1,"name":"Zoë","ratio":0.30000000000000004,"boss":null,"active":true},
    {"id":2,"name":"Bob","ratio":1e-7,"boss":1,"tags":["a","b",[]],"more":{}},
    {"id":-3,"name":"","ratio":1.0,"big":9007199254740993}]"#;

const PLAIN_DATA_RUNNERS: [&str; 12] = [
    "marshal",
    "marshal-base64",
    "icecore",
    "icecore-base64",
    "json",
    "yaml",
    "oj-object",
    "oj-compat",
    "msgpack",
    "cbor",
    "yajl",
    "floor",
];

#[test]
fn runners_return_plain_data_exactly() {
    if !has_ruby() {
        return;
    }
    for medium in ["memory", "file"] {
        let report = measure_plain_value(EMPLOYEES, medium, "", &[&PLAIN_DATA_RUNNERS[..], &["marshal-each"]].concat());
        for name in PLAIN_DATA_RUNNERS {
            let Some(entry) = entry(&report, &format!("ruby/{name}")) else { continue };
            let unchecked = entry.role == Role::Floor && entry.fidelity == Fidelity::Unchecked;
            assert!(is_exact(entry) || unchecked, "{name}: {:?}", entry.fidelity);
            if entry.role == Role::Competitor {
                let steps: Vec<&str> = entry.memory.iter().map(|step| step.step.as_str()).collect();
                assert_eq!(steps, ["start", "data", "written", "freed", "read"], "{name}");
                assert!(entry.memory.iter().all(|step| step.peak >= step.resident / 2 && step.resident > 1 << 20));
            }
        }
        assert!(find_absent(&report, "ruby/marshal-each").is_none(), "it belongs to another scenario");
    }
}

#[test]
fn values_that_json_loses_are_reported() {
    if !has_ruby() {
        return;
    }
    let carry = ["marshal", "icecore", "icecore-base64", "yaml", "msgpack"];
    let lose = ["json", "oj-compat"];
    let json = r#"{"$map":[[{"$symbol":"a"},[{"$symbol":"b"},1]],[2,3]]}"#;
    let report = measure_plain_value(json, "memory", "", &[&carry[..], &lose].concat());
    for name in carry {
        let Some(entry) = entry(&report, &format!("ruby/{name}")) else { continue };
        assert!(is_exact(entry), "{name}: {:?}", entry.fidelity);
    }
    for name in lose {
        let Some(entry) = entry(&report, &format!("ruby/{name}")) else { continue };
        assert!(matches!(entry.fidelity, Fidelity::Differs { .. }), "{name}: {:?}", entry.fidelity);
    }
}

#[test]
fn runners_return_or_refuse_objects_of_unknown_classes() {
    if !has_ruby() {
        return;
    }
    let carry = ["marshal", "icecore", "icecore-base64", "yaml", "oj-object"];
    let report = measure_plain_value(
        r#"[{"$class":"Shop::Order","$value":{"$map":[[{"$symbol":"@id"},7],[{"$symbol":"@to"},null]]}}]"#,
        "memory",
        "",
        &[&carry[..], &["json", "floor"]].concat(),
    );
    for name in carry {
        let Some(entry) = entry(&report, &format!("ruby/{name}")) else { continue };
        assert!(is_exact(entry), "{name}: {:?}", entry.fidelity);
    }
    let json = entry(&report, "ruby/json").expect("it needs nothing");
    assert!(matches!(json.fidelity, Fidelity::Differs { .. }), "{:?}", json.fidelity);
    let floor = find_absent(&report, "ruby/floor").expect("it builds plain data");
    assert!(floor.why.contains("Shop::Order"), "{}", floor.why);
}

#[test]
fn files_are_converted_to_json_in_a_separate_process() {
    if !has_ruby() {
        return;
    }
    let names = ["marshal", "icecore"];
    let report = measure_plain_value(EMPLOYEES, "file", ", \"to-json\"", &names);
    for name in names {
        let Some(entry) = entry(&report, &format!("ruby/{name}")) else { continue };
        let cell = entry.find_cell(Operation::ToJson).expect("it has that");
        // No Ruby starts within a millisecond.
        assert!(cell.summary.median.estimate > 1e6, "{name}: {:?}", cell.summary);
    }
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bench.md");
    std::fs::read_to_string(path).expect("the page")
}

#[test]
fn the_page_lists_every_scenario() {
    let page = page();
    for scenario in scenario::list_scenarios().expect("the scenarios") {
        assert!(page.contains(&format!("| `{}` |", scenario.name)), "{} is not in docs/bench.md", scenario.name);
    }
}

#[test]
fn the_runner_on_the_page_works() {
    if !has_ruby() {
        return;
    }
    let page = page();
    let runner = page.split("```ruby\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a runner");
    let folder_of_user = tempfile::tempdir().expect("a folder");
    let folder = folder_of_user.path().join("ruby");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("marshal-zlib.rb"), runner).expect("a file");
    let mut scenario = scenario::find_scenario("ruby-base64").expect("the scenario");
    scenario.only = vec!["ruby/marshal".to_owned(), "ruby/marshal-zlib".to_owned()];
    let report = with_runners(scenario, folder_of_user.path().to_owned());
    let [plain, packed] = ["ruby/marshal", "ruby/marshal-zlib"].map(|id| entry(&report, id).expect("it needs nothing"));
    assert_eq!(packed.name, "Marshal, zlib");
    assert!(is_exact(packed), "{:?}", packed.fidelity);
    assert!(packed.size < plain.size, "{:?}", packed.size);
}
