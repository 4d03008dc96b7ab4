//! Compares an old report with a new one: what improved, and what got worse.
//!
//! On a machine that is shared with others, absolute times of different runs can't be compared. But within a run, a
//! competitor and the baseline were timed side by side, so the quotient of their times does not depend on the load.
//! These quotients are compared, with the errors of both runs. Absolute times are shown, but do not decide anything.
//! Sizes are exact numbers, so they do not have errors. A fidelity is compared by its place in the order of
//! fidelities.

mod show;
#[cfg(test)]
mod tests;
mod threshold;

pub use threshold::{Threshold, ThresholdError};

use crate::model::{Entry, Fidelity, Interval, Operation, Point, Report, Role, ScenarioReport};
use crate::{rank, stats};
use serde::{Deserialize, Serialize};

/// Comparison of two reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportComparison {
    /// Changes within this threshold don't count.
    pub threshold: Threshold,
    /// One finding for each compared item, in the order of the new report.
    pub findings: Vec<Finding>,
    /// Notes for the reader, for example that the machines differ.
    pub notes: Vec<String>,
}

impl ReportComparison {
    /// Returns true if anything got worse by more than the threshold.
    pub fn has_regressions(&self) -> bool {
        self.findings_with_change(Change::Worse).next().is_some()
    }

    /// Returns all findings with this change.
    pub fn findings_with_change(&self, change: Change) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.change == change)
    }
}

/// An item that both reports measured, or only one of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// `perl-mix`
    pub scenario: String,
    /// Name of the size: `1,000 objects`.
    pub point: String,
    /// `perl/sereal`
    pub competitor: String,
    /// The compared quantity.
    pub what: ComparedQuantity,
    /// How it changed.
    pub change: Change,
    /// New value divided by old value: of the times relative to the baseline, or of the bytes.
    pub times: Option<Interval>,
    /// Nanoseconds or bytes in the old report.
    pub old: Option<f64>,
    /// Nanoseconds or bytes in the new report.
    pub new: Option<f64>,
    /// Further remarks, such as what differs in the round trip now.
    pub words: String,
}

/// A compared quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ComparedQuantity {
    /// Participation of the competitor.
    Part,
    /// Time of an operation.
    Time(Operation),
    /// Size of the output in bytes.
    Size,
    /// Whether the output equals the input.
    Fidelity,
}

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Worse by more than the threshold; for times, with the whole interval.
    Worse,
    /// Better by more than the threshold, in the same way.
    Improved,
    /// Only in the new report.
    New,
    /// Only in the old report.
    Gone,
    /// No change that is both certain and large enough.
    Same,
}

/// Compares two reports.
pub fn compare_reports(old: &Report, new: &Report, threshold: Threshold) -> ReportComparison {
    let mut findings = Vec::new();
    for scenario in &new.scenarios {
        let before = old.scenarios.iter().find(|other| other.name == scenario.name);
        for point in &scenario.points {
            let other = before.and_then(|before| before.points.iter().find(|other| other.name == point.name));
            let pair = PointPair { scenario: &scenario.name, old: other, new: Some(point), threshold };
            pair.compare_entries(choose_baseline(before, scenario), &mut findings);
        }
    }
    for scenario in &old.scenarios {
        let after = new.scenarios.iter().find(|other| other.name == scenario.name);
        let is_gone =
            |point: &&Point| !after.is_some_and(|after| after.points.iter().any(|other| other.name == point.name));
        for point in scenario.points.iter().filter(is_gone) {
            let pair = PointPair { scenario: &scenario.name, old: Some(point), new: None, threshold };
            pair.compare_entries(None, &mut findings);
        }
    }
    ReportComparison { threshold, findings, notes: collect_notes(old, new) }
}

/// Returns the competitor by whose times both runs are divided: the baseline of the new run.
fn choose_baseline<'r>(old: Option<&'r ScenarioReport>, new: &'r ScenarioReport) -> Option<&'r str> {
    new.baseline.as_deref().or(old?.baseline.as_deref())
}

fn collect_notes(old: &Report, new: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    if old.machine.processor != new.machine.processor {
        let (old, new) = (&old.machine.processor, &new.machine.processor);
        notes.push(format!("The old report is of another processor ({old}, now {new})."));
    }
    for runtime in &new.machine.runtimes {
        let before = old.machine.runtimes.iter().find(|other| other.language == runtime.language);
        if let Some(before) = before.filter(|before| before.version != runtime.version) {
            notes.push(format!("{} was {} then, and is {} now.", runtime.language, before.version, runtime.version));
        }
    }
    notes
}

/// A size in the old and in the new report.
struct PointPair<'r> {
    scenario: &'r str,
    old: Option<&'r Point>,
    new: Option<&'r Point>,
    threshold: Threshold,
}

impl PointPair<'_> {
    fn compare_entries(&self, baseline: Option<&str>, findings: &mut Vec<Finding>) {
        for entry in compared_entries(self.new) {
            match find_entry(self.old, &entry.id) {
                Some(old) => {
                    findings.extend(self.compare_fidelity(old, entry));
                    findings.extend(self.compare_size(old, entry));
                    self.compare_times(old, entry, baseline, findings);
                }
                None => findings.push(self.make_finding(entry, ComparedQuantity::Part, Change::New)),
            }
        }
        for entry in compared_entries(self.old).filter(|entry| find_entry(self.new, &entry.id).is_none()) {
            findings.push(self.make_finding(entry, ComparedQuantity::Part, Change::Gone));
        }
    }

    fn make_finding(&self, entry: &Entry, quantity: ComparedQuantity, change: Change) -> Finding {
        Finding {
            scenario: self.scenario.to_owned(),
            point: self.new.or(self.old).map(|point| point.name.clone()).unwrap_or_default(),
            competitor: entry.id.clone(),
            what: quantity,
            change,
            times: None,
            old: None,
            new: None,
            words: String::new(),
        }
    }

    /// Compares the fidelity. Returns nothing if one of the two was not checked.
    fn compare_fidelity(&self, old: &Entry, new: &Entry) -> Option<Finding> {
        if old.fidelity == Fidelity::Unchecked || new.fidelity == Fidelity::Unchecked {
            return None;
        }
        let (before, now) = (rank::fidelity_sort_key(&old.fidelity), rank::fidelity_sort_key(&new.fidelity));
        let change = match now.cmp(&before) {
            std::cmp::Ordering::Greater => Change::Worse,
            std::cmp::Ordering::Less => Change::Improved,
            std::cmp::Ordering::Equal => Change::Same,
        };
        let differences: &[String] = match &new.fidelity {
            Fidelity::Alike { differences } | Fidelity::Differs { differences } => differences,
            _ => &[],
        };
        Some(Finding { words: differences.join("; "), ..self.make_finding(new, ComparedQuantity::Fidelity, change) })
    }

    fn compare_size(&self, old: &Entry, new: &Entry) -> Option<Finding> {
        let bytes = |entry: &Entry| entry.size.filter(|size| *size > 0).map(|size| size as f64);
        self.compare_optional(new, ComparedQuantity::Size, bytes(old), bytes(new), 0.0, |before, now| {
            Some(stats::exact_interval(now / before))
        })
    }

    /// Compares the operations of both reports. The baseline is compared with itself, so it is shown as unchanged.
    fn compare_times(&self, old: &Entry, new: &Entry, baseline: Option<&str>, findings: &mut Vec<Finding>) {
        let removed = old.cells.iter().filter(|cell| new.find_cell(cell.operation).is_none());
        for operation in new.cells.iter().chain(removed).map(|cell| cell.operation) {
            let median_time = |entry: &Entry| stats::median_of_samples(&entry.find_cell(operation)?.samples);
            let quotient_to_baseline = |point: Option<&Point>, entry: &Entry| {
                let baseline_cell = find_entry(point, baseline?)?.find_cell(operation)?;
                stats::compute_speedup(&baseline_cell.samples, &entry.find_cell(operation)?.samples)
            };
            let change =
                || divide_quotients(quotient_to_baseline(self.old, old)?, quotient_to_baseline(self.new, new)?);
            let change_unless_baseline = |_, _| change().filter(|_| baseline != Some(&*new.id));
            let noise =
                [self.old, self.new].into_iter().flatten().map(|point| stats::operation_resolution(point, operation));
            let noise = noise.fold(stats::MIN_RESOLUTION, f64::max);
            findings.extend(self.compare_optional(
                new,
                ComparedQuantity::Time(operation),
                median_time(old),
                median_time(new),
                noise,
                change_unless_baseline,
            ));
        }
    }

    /// Compares a number that may be missing in one or both reports. A difference below `noise` counts as no change.
    fn compare_optional(
        &self,
        entry: &Entry,
        quantity: ComparedQuantity,
        old: Option<f64>,
        new: Option<f64>,
        noise: f64,
        divide: impl Fn(f64, f64) -> Option<Interval>,
    ) -> Option<Finding> {
        let (times, change) = match (old, new) {
            (None, None) => return None,
            (None, Some(_)) => (None, Change::New),
            (Some(_), None) => (None, Change::Gone),
            (Some(old), Some(new)) => {
                let times = divide(old, new);
                (times, times.map_or(Change::Same, |times| self.threshold.judge_change(&times, noise)))
            }
        };
        Some(Finding { times, old, new, ..self.make_finding(entry, quantity, change) })
    }
}

/// Returns the entries that are compared. Floors and twins are not.
fn compared_entries(point: Option<&Point>) -> impl Iterator<Item = &Entry> {
    let entries = point.into_iter().flat_map(|point| &point.entries);
    entries.filter(|entry| matches!(entry.role, Role::Competitor | Role::Engine))
}

fn find_entry<'r>(point: Option<&'r Point>, id: &str) -> Option<&'r Entry> {
    compared_entries(point).find(|entry| entry.id == id)
}

/// Divides the new quotient by the old one. The two runs are independent, so the squares of their errors add up, on
/// logarithms. Returns `None` if one of the errors is unknown.
fn divide_quotients(old: Interval, new: Interval) -> Option<Interval> {
    if !stats::is_known(&old) || !stats::is_known(&new) {
        return None;
    }
    let estimate = new.estimate / old.estimate;
    let combine_errors = |new: f64, old: f64| new.ln().hypot(old.ln()).exp();
    Some(Interval {
        estimate,
        low: estimate / combine_errors(new.estimate / new.low, old.high / old.estimate),
        high: estimate * combine_errors(new.high / new.estimate, old.estimate / old.low),
    })
}
