//! The machine, and its noise.

use serde::{Deserialize, Serialize};

/// The machine of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// `Debian GNU/Linux 12 (bookworm)`
    pub system: String,
    /// `6.1.0-18-amd64`
    pub kernel: String,
    /// `AMD EPYC 7763`
    pub processor: String,
    /// Number of usable cores.
    pub cores: usize,
    /// Size of the memory in bytes.
    pub memory: u64,
    /// Load averages over one, five and fifteen minutes before the run.
    pub load: [f64; 3],
    /// Runtimes of the competitors.
    pub runtimes: Vec<Runtime>,
    /// Speed of copying a block that fits into no cache, in bytes per nanosecond (GB/s).
    pub memcpy: f64,
}

/// Runtime of a language.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// `perl`
    pub language: String,
    /// `5.36.0`
    pub version: String,
}

/// Noise of the machine while a scenario ran. It is measured by a fixed task of the lab, timed before each turn, and by
/// comparing the baseline with itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Level of the noise.
    pub level: NoiseLevel,
    /// Spread of the lab's own task: the interquartile range of its times divided by their median; 0.02 is 2 %.
    pub spread: f64,
    /// How much slower the last third of its times is than the first third; 0.1 is 10 %.
    pub drift: f64,
    /// Difference between the baseline and its twin; 0.03 is 3 %. A quotient closer to 1 than this is a tie.
    pub resolution: f64,
    /// The noise in a sentence, with advice.
    pub words: String,
}

/// Level of noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseLevel {
    /// Differences of a few percent are visible.
    Quiet,
    /// Differences of ten percent are visible.
    Restless,
    /// Only large differences are visible.
    Noisy,
}
