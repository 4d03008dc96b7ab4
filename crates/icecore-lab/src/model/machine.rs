//! The machine, and how quiet it was.

use serde::{Deserialize, Serialize};

/// Where a run took place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `Debian GNU/Linux 12 (bookworm)`
    pub system: String,
    /// `6.1.0-18-amd64`
    pub kernel: String,
    /// `AMD EPYC 7763`
    pub processor: String,
    /// Cores that can be used.
    pub cores: usize,
    /// Bytes of memory.
    pub memory: u64,
    /// Load over one, five and fifteen minutes before the run.
    pub load: [f64; 3],
    /// What runs the competitors.
    pub runtimes: Vec<Runtime>,
    /// Bytes a nanosecond (GB/s) of copying a block that no cache holds.
    pub memcpy: f64,
}

/// A language's runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// `perl`
    pub language: String,
    /// `5.36.0`
    pub version: String,
}

/// How much the machine itself moved while a scenario ran: the same work of the
/// lab, timed before each turn, and the baseline timed against itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// In a word.
    pub level: NoiseLevel,
    /// The spread of the lab's own work: the middle half of its times over their median, 0.02 is 2 %.
    pub spread: f64,
    /// How much slower the last third of its times is than the first, 0.1 is 10 %.
    pub drift: f64,
    /// How far the baseline is from itself: what is closer to 1 than this is a tie. 0.03 is 3 %.
    pub resolution: f64,
    /// In a sentence, with what to do about it.
    pub words: String,
}

/// The verdict on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseLevel {
    /// Differences of a few percent can be seen.
    Quiet,
    /// Differences of ten percent can be seen.
    Restless,
    /// Only large differences can be seen.
    Noisy,
}
