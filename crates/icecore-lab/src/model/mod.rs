//! Results of a run: raw samples, statistics, and the machine. `--json` writes this form and `--from` reads it.

mod claim;
mod machine;
mod measure;

pub use claim::{Claim, ClaimResult, Published, Quantity, Side, Verdict};
pub use machine::{Machine, Noise, NoiseLevel, Runtime};
pub use measure::{Cell, Comparison, Entry, Fidelity, Interval, MemoryStep, Operation, Role, Sample, Summary};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the format of [`Report`].
pub const SCHEMA: u32 = 1;

/// Result of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of Icecore.
    pub icecore: String,
    /// Start of the run in UTC: `2026-11-22T12:00:00Z`.
    pub made: String,
    /// Duration of the run in seconds.
    pub seconds: f64,
    /// The machine.
    pub machine: Machine,
    /// Settings of the measurement.
    pub settings: Settings,
    /// One report for each scenario, in the order in which they ran.
    pub scenarios: Vec<ScenarioReport>,
}

/// Settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Seed of the random order.
    pub seed: u64,
    /// Number of processes of each competitor, one after another.
    pub rounds: u32,
    /// Number of samples of each operation in a process.
    pub turns: u32,
    /// Minimum duration of a sample in milliseconds; a single execution may take longer.
    pub sample_ms: u64,
    /// Whether only the small sizes ran.
    pub small: bool,
}

/// Result of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioReport {
    /// Name: `perl-mix`.
    pub name: String,
    /// One line that says what is measured.
    pub title: String,
    /// A few more sentences.
    #[serde(default)]
    pub about: String,
    /// Timed operations, in the order of tables.
    pub operations: Vec<Operation>,
    /// The competitor that the others are compared with: `perl/storable`.
    #[serde(default)]
    pub baseline: Option<String>,
    /// Unit of the axis: `objects`. Empty if there is one point.
    #[serde(default)]
    pub axis: String,
    /// The measured sizes, ascending.
    pub points: Vec<Point>,
    /// Figures that the article published.
    #[serde(default)]
    pub published: Vec<Published>,
    /// Claims of the article, with verdicts.
    #[serde(default)]
    pub claims: Vec<ClaimResult>,
    /// Competitors that did not take part, with reasons.
    #[serde(default)]
    pub absent: Vec<Absent>,
    /// Noise of the machine during the scenario.
    pub noise: Noise,
    /// Whether the run was stopped before the scenario was done.
    #[serde(default)]
    pub stopped: bool,
    /// Remarks for the reader, for example about competitors left out at some size.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One size of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Display name: `1,000 objects`.
    pub name: String,
    /// Position on the axis.
    pub at: f64,
    /// Parameters of the data: `count`, `s`, `r`, `clients`.
    #[serde(default)]
    pub parameters: BTreeMap<String, i64>,
    /// One entry for each competitor, floor and engine.
    pub entries: Vec<Entry>,
    /// Nanoseconds to copy as many bytes as the most compact competitor wrote. No serializer can be faster.
    #[serde(default)]
    pub memcpy_ns: Option<f64>,
}

/// A competitor that did not take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absent {
    /// `perl/sereal`
    pub competitor: String,
    /// What is missing, or which data it can't represent.
    pub why: String,
    /// Command that installs what is missing.
    #[serde(default)]
    pub install: Option<String>,
}
