//! Figures and claims of the articles, and the verdicts on them.

use super::{Interval, Operation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A figure that an article printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Competitor: `perl/storable`.
    pub competitor: String,
    /// The operation, or none for a size.
    #[serde(default)]
    pub operation: Option<Operation>,
    /// The number.
    pub value: f64,
    /// `a second`, `s`, `ns`, `bytes`, `%`
    pub unit: String,
    /// The article, and what it measured on.
    pub source: String,
}

/// A claim of an article in measurable form: one quantity divided by another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Text of the claim: `Sereal is 2.9 times as fast as Storable`.
    pub text: String,
    /// The article.
    pub source: String,
    /// The measured quantity.
    pub quantity: Quantity,
    /// Side whose quantity is the numerator.
    pub over: Side,
    /// Side whose quantity is the denominator.
    pub under: Side,
    /// Lower end of the quotient, or of the crossing, that the article found.
    pub from: f64,
    /// Upper end.
    pub to: f64,
    /// Parameters of the sizes at which the claim is checked. If there are none, it is checked at all sizes.
    #[serde(default)]
    pub at: BTreeMap<String, i64>,
    /// Explanation for a claim that does not hold.
    #[serde(default)]
    pub explanation: String,
}

/// Quantity that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Quantity {
    /// The time of `over` divided by the time of `under`.
    Time,
    /// The bytes of `over` divided by the bytes of `under`.
    Size,
    /// The place on the axis up to which `over` takes no longer than `under`.
    Crossing,
}

/// One side of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// `perl/sereal`
    pub competitor: String,
    /// The operation, or none for a size.
    #[serde(default)]
    pub operation: Option<Operation>,
}

/// A claim and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// The claim.
    pub claim: Claim,
    /// The measured quotient, or the place of the crossing. There is none if a side is missing.
    #[serde(default)]
    pub now: Option<Interval>,
    /// Verdict on the claim.
    pub verdict: Verdict,
    /// The result in a sentence.
    pub words: String,
}

/// Verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// The middle of the measurements matches the claim, with a tolerance of a fifth, and the whole interval supports
    /// it.
    Holds,
    /// The middle of the measurements matches the claim, but the interval over the sizes and rounds extends to values
    /// that do not.
    Partly,
    /// The same side is ahead, by more.
    Stronger,
    /// The same side is ahead, by less.
    Weaker,
    /// No difference is visible any more.
    Gone,
    /// The other side is ahead.
    Reversed,
    /// There is a difference where the article saw none.
    Differs,
    /// The claim could not be measured here.
    Unknown,
}

impl Verdict {
    /// Returns true if the article was right.
    pub fn confirms_claim(self) -> bool {
        matches!(self, Verdict::Holds | Verdict::Stronger)
    }
}
