//! Shows a report of an earlier run again.

use crate::claims;
use crate::model::Report;
use crate::scenario::{self, Scenario};

/// Combines the measurements of a report with the current scenario files, and judges the claims again, so that changed
/// texts and claims need no new run. `more` are scenarios that do not come with the lab.
#[must_use]
pub fn replay_report(mut report: Report, more: &[Scenario]) -> Report {
    // A scenario that did not run has no measurements to judge claims by.
    for found in report.scenarios.iter_mut().filter(|found| !found.points.is_empty()) {
        let mut claims_to_judge: Vec<_> = found.claims.iter().map(|result| result.claim.clone()).collect();
        let other = more.iter().find(|one| one.name == found.name).cloned();
        if let Some(file) = other.or_else(|| scenario::find_scenario(&found.name).ok()) {
            claims_to_judge = file.claims;
            found.published = file.published;
            found.title = file.title;
            found.about = file.about;
        }
        found.claims = claims_to_judge.iter().map(|claim| claims::judge_claim(claim, &found.points)).collect();
    }
    report
}
