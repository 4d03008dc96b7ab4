//! The report, and its JSON format.

use super::grow::GrowthPlan;
use icecore_lab::model::{Absent, Interval, Machine, Sample};
use icecore_lab::stats;
use serde::{Deserialize, Serialize};

/// Version of the format.
pub const SCHEMA: u32 = 1;

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Version of this format: [`SCHEMA`].
    pub schema: u32,
    /// Version of Icecore.
    pub icecore: String,
    /// Start of the run, in UTC.
    pub made: String,
    /// Duration of the run.
    pub seconds: f64,
    /// The machine.
    pub machine: Machine,
    /// Settings of the measurement.
    pub settings: Settings,
    /// Checks that were done before anything was timed.
    pub checks: Vec<String>,
    /// Measurements of jobs.
    pub groups: Vec<Group>,
    /// Measurements of walks through objects, one for each number of objects.
    pub objects: Vec<WalkMeasurement>,
    /// Goals, and whether they were reached.
    pub goals: Vec<Goal>,
    /// Programs that did not take part.
    pub absent: Vec<Absent>,
    /// Whether the run was stopped early.
    pub stopped: bool,
    /// The scaling part, which may have been measured separately at another time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
}

/// Result of the scaling part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are those of the report")]
pub struct Growth {
    pub icecore: String,
    pub made: String,
    pub seconds: f64,
    pub machine: Machine,
    pub settings: GrowthSettings,
    pub checks: Vec<String>,
    pub groups: Vec<Group>,
    pub absent: Vec<Absent>,
    pub stopped: bool,
}

/// Settings of the scaling part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are those of the options")]
pub struct GrowthSettings {
    pub seed: u64,
    pub rounds: u32,
    pub turns: u32,
    pub small: bool,
    pub growing: GrowthPlan,
}

/// Settings of the measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are those of the options")]
pub struct Settings {
    pub seed: u64,
    pub rounds: u32,
    pub turns: u32,
    pub requests: u32,
    pub jobs: u32,
    pub connections: u32,
    pub batch: u32,
    pub concurrency: u32,
    pub river_concurrency: u32,
    pub small: bool,
}

/// Measured operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Clients post jobs over HTTP, and wait for the id each time.
    Turnaround,
    /// A program queues jobs, one per transaction.
    Push,
    /// A program queues jobs, many per transaction.
    PushMany,
    /// The same as `PushMany`, but in the fastest way available (COPY), which may report less.
    PushCopy,
    /// Workers take jobs, do nothing with them, and record them as done.
    Work,
    /// Processes with a worker each empty a queue of jobs that take no time.
    Drain,
    /// The same as `Drain`, but with jobs that wait for a while.
    DrainWaiting,
    /// Clients that are distributed over daemons post jobs.
    Daemons,
}

/// Programs that did the same work side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The operation.
    pub operation: Operation,
    /// `SQLite`, `PostgreSQL`
    pub database: String,
    /// Number of clients or connections, or of jobs that each worker ran at the same time.
    pub clients: u32,
    /// The programs.
    pub entries: Vec<Entry>,
}

/// Measurements of one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// `icecore/serve`
    pub id: String,
    /// Display name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Samples.
    pub samples: Vec<TimedSample>,
    /// Jobs per second: the median of the samples.
    pub per_second: Interval,
    /// Nanoseconds within which half of the answers came.
    pub p50: Option<Interval>,
    /// Nanoseconds within which 99 % of the answers came.
    pub p99: Option<Interval>,
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimedSample {
    /// Number of the start of all programs.
    pub round: u32,
    /// Turn within the round. Samples of one turn were taken side by side.
    pub turn: u32,
    /// Number of jobs.
    pub jobs: u32,
    /// Nanoseconds from the first start to the last end.
    pub ns: f64,
    /// Nanoseconds within which half of the answers came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50: Option<f64>,
    /// Nanoseconds within which 99 % of the answers came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
}

impl TimedSample {
    fn to_sample(self, ns: f64) -> Sample {
        Sample { round: self.round, turn: self.turn, ns }
    }
}

impl Entry {
    /// Creates an entry from samples.
    pub(super) fn new(id: &str, name: &str, version: &str, samples: Vec<TimedSample>) -> Entry {
        let mut entry = Entry {
            id: id.to_owned(),
            name: name.to_owned(),
            version: version.to_owned(),
            samples,
            per_second: Interval { estimate: 0.0, low: 0.0, high: 0.0 },
            p50: None,
            p99: None,
        };
        entry.per_second = rate_from_costs(&entry.costs_per_job());
        let median_of = |samples: Vec<Sample>| (!samples.is_empty()).then(|| stats::summarize_samples(&samples).median);
        entry.p50 = median_of(entry.collect_samples(|timed| timed.p50));
        entry.p99 = median_of(entry.collect_samples(|timed| timed.p99));
        entry
    }

    /// Returns the nanoseconds per job.
    pub(crate) fn costs_per_job(&self) -> Vec<Sample> {
        self.collect_samples(|timed| Some(timed.ns / f64::from(timed.jobs)))
    }

    pub(super) fn collect_samples(&self, value_of: impl Fn(&TimedSample) -> Option<f64>) -> Vec<Sample> {
        self.samples.iter().filter_map(|timed| Some(timed.to_sample(value_of(timed)?))).collect()
    }
}

/// Converts nanoseconds per item to items per second. Without samples, all results are 0.
pub(super) fn rate_from_costs(costs: &[Sample]) -> Interval {
    let cost = stats::summarize_samples(costs).median;
    let to_rate = |ns: f64| if ns > 0.0 { 1e9 / ns } else { 0.0 };
    Interval { estimate: to_rate(cost.estimate), low: to_rate(cost.high), high: to_rate(cost.low) }
}

/// Measurements of `store each --json` with this many objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WalkMeasurement {
    /// Number of objects.
    pub count: u32,
    /// Total size of the objects in bytes.
    pub bytes: u64,
    /// Samples.
    pub samples: Vec<TimedSample>,
    /// Objects per second: the median of the samples.
    pub per_second: Interval,
    /// Peak memory in each of the samples.
    pub peaks: Vec<Peak>,
}

/// Peak memory of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peak {
    /// Resident bytes.
    pub bytes: u64,
}

/// A goal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// The goal in a sentence.
    pub text: String,
    /// The bound: a minimum or a maximum.
    pub wanted: f64,
    /// Whether less is better.
    pub at_most: bool,
    /// The measured value, if there is one.
    pub measured: Option<Interval>,
    /// Whether the goal was reached.
    pub met: GoalResult,
}

/// Whether a goal was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GoalResult {
    /// Reached with the whole interval of the measurement.
    Yes,
    /// The interval includes the bound.
    Open,
    /// Missed even with the best end of the interval.
    No,
    /// Not measured.
    Unmeasured,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_rates() {
        let timed = |round, ns| TimedSample { round, turn: 0, jobs: 100, ns, p50: Some(ns / 200.0), p99: None };
        let entry = Entry::new("a", "A", "1", vec![timed(0, 1e9), timed(1, 2e9), timed(2, 4e9)]);
        assert_eq!(entry.per_second.estimate, 50.0);
        assert!(entry.per_second.low < 50.0 && entry.per_second.high > 50.0, "{:?}", entry.per_second);
        assert_eq!(entry.p50.map(|p50| p50.estimate), Some(1e7));
        assert_eq!(entry.p99, None);
        assert_eq!(Entry::new("a", "A", "1", Vec::new()).per_second.estimate, 0.0);
    }
}
