//! Runs with the real runtimes, at small size.

mod common;

use icecore_lab::model::{Fidelity, Operation, Role};
use icecore_lab::run::{Options, run};
use icecore_lab::scenario;
use std::sync::atomic::AtomicBool;

#[test]
fn try_it() {
    let text = r#"
title = "mix"
language = "perl"
operations = ["write", "read", "round-trip", "to-json"]
baseline = "perl/storable"
memory = true
engine = ["sereal", "storable"]
[data]
make = "mix"
"#;
    let scenario = scenario::parse("perl-mix", text).expect("it is right");
    let options = Options { modules: common::modules(), ..Options::default().small() };
    let report = run(&[scenario], &options, &mut (), &AtomicBool::new(false)).expect("it runs");
    for entry in &report.scenarios[0].points[0].entries {
        let ns = |operation| {
            entry
                .cell(operation)
                .map(|cell| (cell.summary.median.estimate as u64, cell.against.map(|a| a.times.estimate)))
        };
        println!(
            "{} {:?} {:?} {:?} {:?} {:?} {:?}",
            entry.id,
            entry.role,
            entry.fidelity,
            entry.size,
            ns(Operation::Write),
            ns(Operation::Read),
            ns(Operation::ToJson)
        );
        println!("   {:?}", entry.memory);
    }
    println!("{:?}", report.scenarios[0].absent);
    println!("{:?}", report.scenarios[0].noise);
    println!("{:?}", report.scenarios[0].notes);
    println!("{:?} {}", report.machine, report.seconds);
    let _ = (Fidelity::Exact, Role::Twin);
}
