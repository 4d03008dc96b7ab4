//! What the articles published, and what became of it.

use super::{Interval, Operation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A figure that an article printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Whose: `perl/storable`.
    pub competitor: String,
    /// Of which operation; none for a size.
    #[serde(default)]
    pub operation: Option<Operation>,
    /// The number.
    pub value: f64,
    /// `a second`, `s`, `ns`, `bytes`, `%`
    pub unit: String,
    /// Which article, and what it measured on.
    pub source: String,
}

/// A sentence of an article, as something that can be measured: one quantity
/// against another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// As a person would say it: `Sereal is 2.9 times as fast as Storable`.
    pub text: String,
    /// Which article.
    pub source: String,
    /// What is measured.
    pub quantity: Quantity,
    /// Whose is divided by …
    pub over: Side,
    /// … this one's.
    pub under: Side,
    /// The quotient, or the crossing, that the article found: from …
    pub from: f64,
    /// … to.
    pub to: f64,
    /// At which sizes it is to be looked at: the parameters of a point. All points if empty.
    #[serde(default)]
    pub at: BTreeMap<String, i64>,
    /// What explains it where it does not hold.
    #[serde(default)]
    pub explanation: String,
}

/// What a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Quantity {
    /// The time of `over` divided by the time of `under`.
    Time,
    /// The bytes of `over` divided by the bytes of `under`.
    Size,
    /// Up to which place on the axis `over` takes no longer than `under`.
    Crossing,
}

/// One side of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// `perl/sereal`
    pub competitor: String,
    /// Which operation; sizes have none.
    #[serde(default)]
    pub operation: Option<Operation>,
}

/// A claim, and what was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// What was claimed.
    pub claim: Claim,
    /// The quotient now, or the place of the crossing; none if a side is missing.
    #[serde(default)]
    pub now: Option<Interval>,
    /// What that means.
    pub verdict: Verdict,
    /// In a sentence.
    pub words: String,
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// The middle of now is what was claimed, with a fifth of it as tolerance, and the whole
    /// interval supports it.
    Holds,
    /// The middle of now is what was claimed; but the interval, over the sizes and the rounds,
    /// reaches to where it is not.
    Partly,
    /// The same side is ahead, by more.
    Stronger,
    /// The same side is ahead, by less.
    Weaker,
    /// No difference can be seen any more.
    Gone,
    /// The other side is ahead.
    Reversed,
    /// There is a difference where the article saw none.
    Differs,
    /// It could not be measured here.
    Unknown,
}

impl Verdict {
    /// Whether the article was right.
    pub fn stands(self) -> bool {
        matches!(self, Verdict::Holds | Verdict::Stronger)
    }
}
