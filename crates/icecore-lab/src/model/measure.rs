//! Samples, and the measurements of one competitor.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A timed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Operation {
    /// Converts values to bytes, or to a file.
    Write,
    /// Converts bytes, or a file, to values, and frees the values.
    Read,
    /// Writes and then reads.
    RoundTrip,
    /// Converts a file to JSON in a separate process, including its start and end.
    ToJson,
    /// Sends a request to a web server and receives the answer.
    Request,
}

impl Operation {
    /// Returns the name in files and on the command line: `round-trip`.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Write => "write",
            Operation::Read => "read",
            Operation::RoundTrip => "round-trip",
            Operation::ToJson => "to-json",
            Operation::Request => "request",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Role of a participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Role {
    /// Converts values of its language to bytes and back. Only these are ranked against each other.
    Competitor,
    /// Creates the same values in the language, without any bytes.
    Floor,
    /// The Rust engine: bytes to a Document and back, without values of a language.
    Engine,
    /// The baseline a second time. Any difference between the two is noise, because both do the same work.
    Twin,
}

/// One participant at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Id of the runner: `perl/sereal`.
    pub id: String,
    /// Display name: `Sereal, zstd`.
    pub name: String,
    /// `5.003`
    #[serde(default)]
    pub version: String,
    /// The role of the participant.
    pub role: Role,
    /// Whether its output equals its input.
    pub fidelity: Fidelity,
    /// Number of bytes written.
    #[serde(default)]
    pub size: Option<u64>,
    /// One cell for each operation.
    #[serde(default)]
    pub cells: Vec<Cell>,
    /// Resident memory after each step.
    #[serde(default)]
    pub memory: Vec<MemoryStep>,
}

impl Entry {
    /// Returns the measurements of an operation.
    pub fn find_cell(&self, operation: Operation) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.operation == operation)
    }
}

/// Result of comparing the output of a round trip with its input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fidelity {
    /// Nothing differs.
    Exact,
    /// The results differ, but a program in the language hardly sees it. In Perl, numbers may come back as text.
    Alike {
        /// Each kind of difference with its first path: `numbers came back as text, first at $[0]`.
        differences: Vec<String>,
    },
    /// The output differs.
    Differs {
        /// Each kind of difference with its first path, or the error of a result that could not be read.
        differences: Vec<String>,
    },
    /// Nothing was checked, for a floor or a web page.
    Unchecked,
}

/// One measured time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Process of the competitor, from 0.
    pub round: u32,
    /// Number of the sample in this process, from 0. Samples of the same round and turn were taken next to each other.
    pub turn: u32,
    /// Nanoseconds per execution.
    pub ns: f64,
}

/// Measurements of one operation of one competitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The operation.
    pub operation: Operation,
    /// All samples, in the order in which they were taken.
    pub samples: Vec<Sample>,
    /// Statistics of the samples.
    pub summary: Summary,
    /// How many times faster than the baseline it is. The baseline has no comparison.
    #[serde(default)]
    pub against: Option<Comparison>,
}

/// Statistics of a list of samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Median in nanoseconds with its interval.
    pub median: Interval,
    /// The fastest sample.
    pub fastest: f64,
    /// The slowest sample.
    pub slowest: f64,
    /// Indexes of the samples that are far from the others. They count like the others.
    #[serde(default)]
    pub outliers: Vec<usize>,
}

/// An estimate with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The best estimate.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Two competitors compared pair by pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// How many times faster: the median of the ratios of pairs.
    pub times: Interval,
    /// Whether the difference could be noise.
    pub tie: bool,
}

/// Resident memory after a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryStep {
    /// `start`, `data`, `written`, `freed`, `read`.
    pub step: String,
    /// Resident bytes after the step.
    pub resident: u64,
    /// Maximum of resident bytes since the previous step.
    pub peak: u64,
}
