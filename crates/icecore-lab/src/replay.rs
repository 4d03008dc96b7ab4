//! A report of an earlier run, shown again.

use crate::model::Report;
use crate::{claims, scenario};

/// Takes what was measured from the report, and what the articles say from the scenarios' files of today, and judges
/// the claims anew: neither needs another run when it changes.
#[must_use]
pub fn replay(mut report: Report) -> Report {
    // What was not run has nothing to be judged by.
    for found in report.scenarios.iter_mut().filter(|found| !found.points.is_empty()) {
        let mut asked: Vec<_> = found.claims.iter().map(|result| result.claim.clone()).collect();
        if let Ok(file) = scenario::find(&found.name) {
            asked = file.claims;
            found.published = file.published;
            found.title = file.title;
            found.about = file.about;
        }
        found.claims = asked.iter().map(|claim| claims::judge(claim, &found.points)).collect();
    }
    report
}
