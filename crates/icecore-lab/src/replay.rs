//! Shows a report of an earlier run again.

use crate::claims;
use crate::model::Report;
use crate::scenario::{self, Scenario};

/// Combines the measurements of a report with the current scenario files, and judges the claims again, so that changed
/// texts and claims need no new run. `other_scenarios` are scenarios that do not come with the lab.
#[must_use]
pub fn replay_report(mut report: Report, other_scenarios: &[Scenario]) -> Report {
    // A scenario that did not run has no measurements, so its claims can't be judged.
    for measured in report.scenarios.iter_mut().filter(|scenario| !scenario.points.is_empty()) {
        let mut claims_to_judge: Vec<_> = measured.claims.iter().map(|result| result.claim.clone()).collect();
        let other = other_scenarios.iter().find(|other| other.name == measured.name).cloned();
        if let Some(file) = other.or_else(|| scenario::find_scenario(&measured.name).ok()) {
            claims_to_judge = file.claims;
            measured.published = file.published;
            measured.title = file.title;
            measured.about = file.about;
        }
        measured.claims = claims_to_judge.iter().map(|claim| claims::judge_claim(claim, &measured.points)).collect();
    }
    report
}
