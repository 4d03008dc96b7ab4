//! The runners of PHP, with the real PHP if it is installed.

use crate::{common, runs};

use icecore_lab::model::{Fidelity, Role, ScenarioReport};
use icecore_lab::run::run_scenarios;
use icecore_lab::scenario;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

fn report(scenario: &str) -> ScenarioReport {
    let scenario = scenario::find_scenario(scenario).expect("the scenario is there");
    let options = runs::options();
    let report =
        run_scenarios(std::slice::from_ref(&scenario), &options, &mut (), &AtomicBool::new(false)).expect("it runs");
    let report = report.scenarios.into_iter().next().expect("one scenario ran");
    assert_eq!(runs::check_scenario(&report, &scenario, &options), Vec::<String>::new());
    report
}

#[test]
fn all_runners_except_json_return_the_tree_exactly() {
    if !common::is_installed("php") {
        return;
    }
    let report = report("php-objects");
    assert_eq!(report.points.len(), 3);
    for absent in &report.absent {
        assert!(absent.install.is_some(), "{absent:?}");
    }
    for point in &report.points {
        let entries: BTreeMap<&str, _> = point.entries.iter().map(|entry| (entry.id.as_str(), entry)).collect();
        assert!(entries.len() >= 11, "{:?}", entries.keys());
        assert_eq!(entries["php/floor"].role, Role::Floor);
        if common::is_built("php") {
            assert!(entries.contains_key("php/icecore"), "{:?}", entries.keys());
        }
        for entry in point.entries.iter().filter(|entry| entry.role == Role::Competitor) {
            let lossy = matches!(entry.fidelity, Fidelity::Differs { .. });
            assert_eq!(lossy, entry.id == "php/json", "{}: {:?}", entry.id, entry.fidelity);
            assert!(entry.size > Some(100), "{}: {:?}", entry.id, entry.size);
            assert!(entry.memory.iter().all(|step| step.peak >= step.resident), "{:?}", entry.memory);
            let steps: Vec<&str> = entry.memory.iter().map(|step| step.step.as_str()).collect();
            assert_eq!(steps, ["start", "data", "written", "freed", "read"], "{}", entry.id);
        }
    }
}
