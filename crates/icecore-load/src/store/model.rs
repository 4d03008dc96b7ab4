//! The report, and the form of its JSON.

use super::grow::Growing;
use icecore_lab::model::{Absent, Interval, Machine, Sample};
use icecore_lab::stats;
use serde::{Deserialize, Serialize};

/// The version of the form.
pub const SCHEMA: u32 = 1;

/// What a run found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of this form: [`SCHEMA`].
    pub schema: u32,
    /// The version of Icecore.
    pub icecore: String,
    /// When it began, UTC.
    pub made: String,
    /// How long it took.
    pub seconds: f64,
    /// Where it took place.
    pub machine: Machine,
    /// How it was measured.
    pub settings: Settings,
    /// What was seen to be right before anything was timed.
    pub checks: Vec<String>,
    /// Jobs.
    pub groups: Vec<Group>,
    /// Objects that were walked through, one for each number of them.
    pub objects: Vec<Objects>,
    /// What was to be reached, and whether it was.
    pub goals: Vec<Goal>,
    /// Who took no part.
    pub absent: Vec<Absent>,
    /// Whether it was stopped before it was done.
    pub stopped: bool,
    /// How it grows: measured by itself, and perhaps at another time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
}

/// What was found of how it grows.
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

/// How that was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "they are those of the options")]
pub struct GrowthSettings {
    pub seed: u64,
    pub rounds: u32,
    pub turns: u32,
    pub small: bool,
    pub growing: Growing,
}

/// How it was measured.
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

/// What is done with jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Clients post jobs over HTTP, and wait for the id each time.
    Turnaround,
    /// A program queues jobs, one in a transaction.
    Push,
    /// A program queues jobs, many in a transaction.
    PushMany,
    /// The same by the quickest way that there is, which may tell less: COPY.
    PushCopy,
    /// Workers take jobs, do nothing with them, and have that recorded.
    Work,
    /// Processes with a worker each empty a queue of jobs that take no time.
    Drain,
    /// The same with jobs that wait for a while.
    DrainWaiting,
    /// Clients that are spread over daemons post jobs.
    Daemons,
}

/// Those who did the same side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What they did.
    pub operation: Operation,
    /// `SQLite`, `PostgreSQL`
    pub database: String,
    /// How many clients or connections there were; how many jobs each worker had at once.
    pub clients: u32,
    /// Each of them.
    pub entries: Vec<Entry>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// `icecore/serve`
    pub id: String,
    /// For people.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What was measured.
    pub samples: Vec<Timed>,
    /// Jobs a second: the median of the samples.
    pub per_second: Interval,
    /// Half of the answers came within so many nanoseconds.
    pub p50: Option<Interval>,
    /// 99 of 100 did.
    pub p99: Option<Interval>,
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timed {
    /// Which start of all programs.
    pub round: u32,
    /// Which turn in it: samples of one turn stand side by side.
    pub turn: u32,
    /// How many jobs.
    pub jobs: u32,
    /// From the first that began to the last that ended.
    pub ns: f64,
    /// Half of the answers came within so many nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50: Option<f64>,
    /// 99 of 100 did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
}

impl Timed {
    fn sample(&self, ns: f64) -> Sample {
        Sample { round: self.round, turn: self.turn, ns }
    }
}

impl Entry {
    /// What these samples say.
    pub(super) fn new(id: &str, name: &str, version: &str, samples: Vec<Timed>) -> Entry {
        let mut entry = Entry {
            id: id.to_owned(),
            name: name.to_owned(),
            version: version.to_owned(),
            samples,
            per_second: Interval { estimate: 0.0, low: 0.0, high: 0.0 },
            p50: None,
            p99: None,
        };
        entry.per_second = per_second(&entry.costs());
        let middle = |samples: Vec<Sample>| (!samples.is_empty()).then(|| stats::summary(&samples).median);
        entry.p50 = middle(entry.times(|timed| timed.p50));
        entry.p99 = middle(entry.times(|timed| timed.p99));
        entry
    }

    /// Nanoseconds a job.
    pub(crate) fn costs(&self) -> Vec<Sample> {
        self.times(|timed| Some(timed.ns / f64::from(timed.jobs)))
    }

    pub(super) fn times(&self, of: impl Fn(&Timed) -> Option<f64>) -> Vec<Sample> {
        self.samples.iter().filter_map(|timed| Some(timed.sample(of(timed)?))).collect()
    }
}

/// How many a second, of nanoseconds each; zeros without any.
pub(super) fn per_second(costs: &[Sample]) -> Interval {
    let cost = stats::summary(costs).median;
    let rate = |ns: f64| if ns > 0.0 { 1e9 / ns } else { 0.0 };
    Interval { estimate: rate(cost.estimate), low: rate(cost.high), high: rate(cost.low) }
}

/// `store each --json` over so many objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Objects {
    /// How many there are.
    pub count: u32,
    /// Their bytes, all together.
    pub bytes: u64,
    /// What was measured.
    pub samples: Vec<Timed>,
    /// Objects a second: the median of the samples.
    pub per_second: Interval,
    /// The memory that each of the samples took.
    pub peaks: Vec<Peak>,
}

/// The most memory that a process had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peak {
    /// Resident bytes.
    pub bytes: u64,
}

/// Something that was to be reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// In a sentence.
    pub text: String,
    /// At least this, or at most.
    pub wanted: f64,
    /// Whether less is better.
    pub at_most: bool,
    /// What was measured; none, if it was not.
    pub measured: Option<Interval>,
    /// Whether it was reached.
    pub met: Met,
}

/// Whether a goal was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Met {
    /// With the whole interval of the measurement.
    Yes,
    /// The interval includes it.
    Open,
    /// Not even with the best end of the interval.
    No,
    /// It was not measured.
    Unmeasured,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_rates() {
        let timed = |round, ns| Timed { round, turn: 0, jobs: 100, ns, p50: Some(ns / 200.0), p99: None };
        let entry = Entry::new("a", "A", "1", vec![timed(0, 1e9), timed(1, 2e9), timed(2, 4e9)]);
        assert_eq!(entry.per_second.estimate, 50.0);
        assert!(entry.per_second.low < 50.0 && entry.per_second.high > 50.0, "{:?}", entry.per_second);
        assert_eq!(entry.p50.map(|p50| p50.estimate), Some(1e7));
        assert_eq!(entry.p99, None);
        assert_eq!(Entry::new("a", "A", "1", Vec::new()).per_second.estimate, 0.0);
    }
}
