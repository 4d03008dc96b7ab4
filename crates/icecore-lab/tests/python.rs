//! A language that the lab does not know takes part through the protocol alone.

use icecore_lab::model::{Fidelity, Operation};
use icecore_lab::run::{Options, run_scenarios};
use icecore_lab::scenario;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

fn pickle(json: &str) -> Option<icecore_lab::model::ScenarioReport> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is not installed");
        return None;
    }
    let text =
        format!("title = \"mine\"\noperations = [\"write\", \"read\", \"round-trip\"]\n[data]\njson = '''{json}'''\n");
    let scenario = scenario::parse_scenario("mine", &text).expect("a scenario");
    let options = Options {
        only: vec!["python".to_owned()],
        runners: Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/runners")),
        ..Options::default().small()
    };
    let report = run_scenarios(&[scenario], &options, &mut (), &AtomicBool::new(false)).expect("it runs");
    report.scenarios.into_iter().next()
}

#[test]
fn python_pickle_returns_values_exactly() {
    let all = r#"{"$icecore":1,"$strings":"bytes","$value":{"a":[1,-2,1.5,0.1,1e100,true,null,{"$float":"inf"}],
        "$t:text":{"$text":"Zoë"},"latin":{"$latin1":"\u00ff"},"$$dollar":{"$map":[[1,2],[{"$text":"x"},{}]]},"big":99999999999999999999}}"#;
    let Some(report) = pickle(all) else { return };
    let entry = report.points[0].entries.iter().find(|entry| entry.id == "python/pickle");
    let entry = entry.unwrap_or_else(|| panic!("{:?}", report.absent));
    assert_eq!(entry.fidelity, Fidelity::Exact);
    for operation in [Operation::Write, Operation::Read, Operation::RoundTrip] {
        assert!(entry.find_cell(operation).is_some_and(|cell| cell.summary.median.estimate > 0.0), "{operation}");
    }
}

#[test]
fn values_that_python_lacks_are_refused() {
    let Some(report) = pickle(r#"[{"$class":"C","$value":{}}]"#) else { return };
    let why = &report.absent.iter().find(|absent| absent.competitor == "python/pickle").expect("it is absent").why;
    assert!(why.contains("$class"), "{why}");
}

/// The interpreter that the option names is used, and missing runners are reported with their
/// package.
#[test]
fn python_runners_use_the_given_interpreter() {
    let columns = scenario::find_scenario("columns").expect("a scenario");
    let options = Options { python: Some("/nowhere/at/all/python3".into()), ..Options::default().small() };
    let report =
        run_scenarios(std::slice::from_ref(&columns), &options, &mut (), &AtomicBool::new(false)).expect("it runs");
    let absent = &report.scenarios[0].absent;
    assert!(absent.iter().any(|one| one.competitor == "python/polars/php"), "{absent:?}");
    assert!(absent.iter().all(|one| one.why.contains("is not installed")), "{absent:?}");
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is not installed");
        return;
    }
    // -S leaves out all packages, so each of them is missing.
    let folder = tempfile::tempdir().expect("a folder");
    let bare = folder.path().join("python3");
    std::fs::write(&bare, "#!/bin/sh\nexec python3 -S \"$@\"\n").expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&bare, mode).expect("it can be started");
    let options = Options { python: Some(bare), ..Options::default().small() };
    let report = run_scenarios(&[columns], &options, &mut (), &AtomicBool::new(false)).expect("it runs");
    let absent = &report.scenarios[0].absent;
    let peer = absent.iter().find(|one| one.competitor == "python/peer/phpserialize").expect("it is absent");
    assert!(peer.why.contains("the Python package") && peer.install.is_some(), "{peer:?}");
}
