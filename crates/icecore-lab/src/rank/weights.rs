//! Weights, which describe how a use is composed.

use crate::model::Operation;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A part of the cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Part {
    /// The time of an operation.
    Time(Operation),
    /// The number of bytes stored or sent.
    Size,
    /// The number of bytes by which resident memory grew at its peak.
    Memory,
}

/// All parts, in the order of messages.
const PARTS: [Part; 7] = [
    Part::Time(Operation::Write),
    Part::Time(Operation::Read),
    Part::Time(Operation::RoundTrip),
    Part::Size,
    Part::Time(Operation::ToJson),
    Part::Time(Operation::Request),
    Part::Memory,
];

impl Part {
    /// Returns the name on the command line: `round-trip`.
    pub fn name(self) -> &'static str {
        match self {
            Part::Time(operation) => operation.name(),
            Part::Size => "size",
            Part::Memory => "memory",
        }
    }

    /// Returns the part as a noun in a sentence: `reading`.
    pub fn noun(self) -> &'static str {
        match self {
            Part::Time(Operation::Write) => "writing",
            Part::Time(Operation::Read) => "reading",
            Part::Time(Operation::RoundTrip) => "the round trip",
            Part::Time(Operation::ToJson) => "turning it into JSON",
            Part::Time(Operation::Request) => "the request",
            Part::Size => "size",
            Part::Memory => "memory",
        }
    }
}

/// How often each part occurs in one *use* of the data.
///
/// The cost of a use is the sum of the nanoseconds of each operation times its weight. It also includes the bytes times
/// the weight of `size` (and of `memory`), which is the cost of a byte in nanoseconds. `write:1,read:100,size:0.1`
/// describes a cache that is read a hundred times per write, on a disk with ten gigabytes per second; a network with
/// one gigabit per second is `size:8`.
///
/// ```
/// use icecore_lab::rank::Weights;
///
/// let weights: Weights = "write:1,read:100,size:0.1".parse()?;
/// assert_eq!(weights.to_string(), "write:1,read:100,size:0.1");
/// let error = "write:1,raed:100".parse::<Weights>().unwrap_err();
/// assert!(error.to_string().contains("`raed` can't be weighted"));
/// # Ok::<(), icecore_lab::rank::WeightsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    parts: Vec<(Part, f64)>,
}

impl Default for Weights {
    /// Returns the weights of data that is written once and read once, and whose bytes cost nothing.
    fn default() -> Weights {
        Weights { parts: vec![(Part::Time(Operation::Write), 1.0), (Part::Time(Operation::Read), 1.0)] }
    }
}

impl Weights {
    /// Returns the parts with a weight above 0, in the given order.
    pub fn parts(&self) -> &[(Part, f64)] {
        &self.parts
    }

    /// Creates weights in which only one part counts.
    pub(super) fn from_part(part: Part) -> Weights {
        Weights { parts: vec![(part, 1.0)] }
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.parts.iter().map(|(part, weight)| format!("{}:{weight}", part.name())).collect();
        f.write_str(&parts.join(","))
    }
}

/// Error for invalid weights, which says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightsError(String);

impl fmt::Display for WeightsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WeightsError {}

impl FromStr for Weights {
    type Err = WeightsError;

    fn from_str(text: &str) -> Result<Weights, WeightsError> {
        let mut parts: Vec<(Part, f64)> = Vec::new();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (part, weight) = parse_weight(item)?;
            if parts.iter().any(|(other, _)| *other == part) {
                return Err(WeightsError(format!("`{}` has two weights: give only one", part.name())));
            }
            parts.push((part, weight));
        }
        parts.retain(|(_, weight)| *weight > 0.0);
        match parts.is_empty() {
            true => Err(WeightsError(format!("nothing has a weight: {EXAMPLE}"))),
            false => Ok(Weights { parts }),
        }
    }
}

const EXAMPLE: &str = "give names with numbers above 0, such as write:1,read:100,size:0.1";

/// Parses one weight: `read:100`.
fn parse_weight(item: &str) -> Result<(Part, f64), WeightsError> {
    let (name, number) =
        item.split_once(':').ok_or_else(|| WeightsError(format!("`{item}` has no number after a colon: {EXAMPLE}")))?;
    let (name, number) = (name.trim(), number.trim());
    let part = PARTS
        .into_iter()
        .find(|part| part.name() == name)
        .ok_or_else(|| WeightsError(format!("`{name}` can't be weighted; use {}", PARTS.map(Part::name).join(", "))))?;
    let weight = number
        .parse::<f64>()
        .map_err(|_| WeightsError(format!("`{number}` is not a number: write {name}:100, or {name}:0.1")))?;
    match weight {
        0.0 | 1e-6..=1e9 => Ok((part, weight)),
        _ => Err(WeightsError(format!("`{name}:{number}` is out of bounds: a weight is 0, or 0.000001 to 1000000000"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        text.parse::<Weights>().unwrap_err().to_string()
    }

    #[test]
    fn all_names_of_weights_are_parsed() {
        let text = "write:1,read:2,round-trip:3,size:0.5,to-json:4,request:5,memory:0.25";
        assert_eq!(text.parse::<Weights>().unwrap().to_string(), text);
        assert_eq!(" read : 2 , write:0,".parse::<Weights>().unwrap().parts(), [(Part::Time(Operation::Read), 2.0)]);
    }

    #[test]
    fn errors_in_weights_give_advice() {
        assert_eq!(
            error("raed:1"),
            "`raed` can't be weighted; use write, read, round-trip, size, to-json, request, memory"
        );
        assert_eq!(
            error("read"),
            "`read` has no number after a colon: give names with numbers above 0, such as write:1,read:100,size:0.1"
        );
        assert_eq!(error("read:often"), "`often` is not a number: write read:100, or read:0.1");
        assert_eq!(error("read:1,read:2"), "`read` has two weights: give only one");
        for empty in ["", ",", "read:0"] {
            assert!(error(empty).starts_with("nothing has a weight: give names"));
        }
        for wild in ["read:-1", "read:nan", "read:inf", "read:1e300", "read:1e-300"] {
            assert!(error(wild).contains("out of bounds"), "{wild}");
        }
    }
}
