//! Samples, and what was measured of one competitor.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Operation {
    /// Values to bytes, or to a file.
    Write,
    /// Bytes, or a file, to values; freeing them is included.
    Read,
    /// Both, one behind the other.
    RoundTrip,
    /// A file to JSON, as a process of its own from start to end.
    ToJson,
    /// A request to a web server until the answer has come.
    Request,
}

impl Operation {
    /// As it stands in files and on the command line: `round-trip`.
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

/// What a participant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Role {
    /// Turns values of its language to bytes and back. Only these are ranked against each other.
    Competitor,
    /// Makes the same values in the language, without any bytes.
    Floor,
    /// The Rust engine: bytes to a Document and back, without values of a language.
    Engine,
    /// The baseline once more: what differs from it is noise.
    Twin,
}

/// One participant at one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// `perl/sereal`: the runner.
    pub id: String,
    /// For people: `Sereal, zstd`.
    pub name: String,
    /// `5.003`
    #[serde(default)]
    pub version: String,
    /// What it is.
    pub role: Role,
    /// Whether what comes back is what went in.
    pub fidelity: Fidelity,
    /// Bytes that it wrote.
    #[serde(default)]
    pub size: Option<u64>,
    /// One for each operation that it has.
    #[serde(default)]
    pub cells: Vec<Cell>,
    /// Resident memory, step by step.
    #[serde(default)]
    pub memory: Vec<MemoryStep>,
}

impl Entry {
    /// What was measured of an operation.
    pub fn cell(&self, operation: Operation) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.operation == operation)
    }
}

/// Whether a round trip gives what went in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fidelity {
    /// Nothing differs.
    Exact,
    /// A program in the language hardly sees what differs: numbers that came back as text in Perl. Each kind, with the first path.
    Alike {
        /// `numbers came back as text, first at $[0]`
        differences: Vec<String>,
    },
    /// Something else came back.
    Differs {
        /// The same, or what could not be read.
        differences: Vec<String>,
    },
    /// There was nothing to check: a floor, a web page.
    Unchecked,
}

/// One measured span of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Which process of the competitor, from 0.
    pub round: u32,
    /// Which sample of this process, from 0. Samples of the same round and turn were taken next to each other.
    pub turn: u32,
    /// Nanoseconds for one execution.
    pub ns: f64,
}

/// What was measured of one operation of one competitor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The operation.
    pub operation: Operation,
    /// All of them, as taken.
    pub samples: Vec<Sample>,
    /// What they say.
    pub summary: Summary,
    /// How many times faster than the baseline; none for the baseline.
    #[serde(default)]
    pub against: Option<Comparison>,
}

/// What a list of samples says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The median in nanoseconds with its interval.
    pub median: Interval,
    /// The fastest sample.
    pub fastest: f64,
    /// The slowest sample.
    pub slowest: f64,
    /// The samples far off from the others, by their place in the list. They count like the others.
    #[serde(default)]
    pub outliers: Vec<usize>,
}

/// An estimate, and where it lies with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The best guess.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Two competitors compared, pair by pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// How many times faster: the median of the ratios of pairs.
    pub times: Interval,
    /// Whether that is more than noise.
    pub tie: bool,
}

/// Resident memory after one step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryStep {
    /// `start`, `data`, `written`, `freed`, `read`.
    pub step: String,
    /// Bytes resident now.
    pub resident: u64,
    /// The most that was resident since the step before.
    pub peak: u64,
}
