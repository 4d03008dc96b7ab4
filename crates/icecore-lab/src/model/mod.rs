//! What a run found: the raw samples, what follows from them, and on which
//! machine. This is what `--json` writes and `--from` reads.

mod claim;
mod machine;
mod measure;

pub use claim::{Claim, ClaimResult, Published, Quantity, Side, Verdict};
pub use machine::{Machine, Noise, NoiseLevel, Runtime};
pub use measure::{Cell, Comparison, Entry, Fidelity, Interval, MemoryStep, Operation, Role, Sample, Summary};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the form of [`Report`].
pub const SCHEMA: u32 = 1;

/// All that a run found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of Icecore that ran.
    pub icecore: String,
    /// When the run began, UTC: `2026-11-22T12:00:00Z`.
    pub made: String,
    /// How long the run took, in seconds.
    pub seconds: f64,
    /// Where it ran.
    pub machine: Machine,
    /// How it was measured.
    pub settings: Settings,
    /// One for each scenario, in the order in which they ran.
    pub scenarios: Vec<ScenarioReport>,
}

/// How a run measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The seed of the random order.
    pub seed: u64,
    /// How many processes each competitor gets, one after the other.
    pub rounds: u32,
    /// How many samples of each operation a process gives.
    pub turns: u32,
    /// How long one sample lasts at least, in milliseconds; a single execution may take longer.
    pub sample_ms: u64,
    /// Whether only the small sizes ran.
    pub small: bool,
}

/// What a run found in one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioReport {
    /// The name: `perl-mix`.
    pub name: String,
    /// A line that says what is measured.
    pub title: String,
    /// A few sentences more.
    #[serde(default)]
    pub about: String,
    /// What is timed, in the order of tables.
    pub operations: Vec<Operation>,
    /// The competitor that the others are compared with: `perl/storable`.
    #[serde(default)]
    pub baseline: Option<String>,
    /// What the numbers on the axis of the points count: `objects`. Empty where there is one point.
    #[serde(default)]
    pub axis: String,
    /// The sizes that were measured, ascending.
    pub points: Vec<Point>,
    /// What the article published.
    #[serde(default)]
    pub published: Vec<Published>,
    /// What the article claimed, and whether it holds.
    #[serde(default)]
    pub claims: Vec<ClaimResult>,
    /// Who took no part, and why.
    #[serde(default)]
    pub absent: Vec<Absent>,
    /// How noisy the machine was meanwhile.
    pub noise: Noise,
    /// Whether the run was stopped before the scenario was done.
    #[serde(default)]
    pub stopped: bool,
    /// Remarks for the reader: what is left out at which size, say.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// One size of a scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// For people: `1,000 objects`.
    pub name: String,
    /// Where it stands on the axis.
    pub at: f64,
    /// What the data was made with: `count`, `s`, `r`, `clients`.
    #[serde(default)]
    pub parameters: BTreeMap<String, i64>,
    /// One for each competitor, the floor, and the engine.
    pub entries: Vec<Entry>,
    /// Nanoseconds to copy as many bytes as the smallest competitor wrote: the roof.
    #[serde(default)]
    pub memcpy_ns: Option<f64>,
}

/// A competitor that took no part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Absent {
    /// `perl/sereal`
    pub competitor: String,
    /// What is missing, or what it cannot carry.
    pub why: String,
    /// The command that would install what is missing.
    #[serde(default)]
    pub install: Option<String>,
}
