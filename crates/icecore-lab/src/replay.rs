//! A report of an earlier run, shown again.

use crate::claims;
use crate::model::Report;
use crate::scenario::{self, Scenario};

/// Takes what was measured from the report, and what the articles say from the scenarios' files of today, and judges
/// the claims again: neither needs another run when it changes. `more`: scenarios that do not come with the lab.
#[must_use]
pub fn replay(mut report: Report, more: &[Scenario]) -> Report {
    // What was not run has nothing to be judged by.
    for found in report.scenarios.iter_mut().filter(|found| !found.points.is_empty()) {
        let mut asked: Vec<_> = found.claims.iter().map(|result| result.claim.clone()).collect();
        let other = more.iter().find(|one| one.name == found.name).cloned();
        if let Some(file) = other.or_else(|| scenario::find(&found.name).ok()) {
            asked = file.claims;
            found.published = file.published;
            found.title = file.title;
            found.about = file.about;
        }
        found.claims = asked.iter().map(|claim| claims::judge(claim, &found.points)).collect();
    }
    report
}
