//! Ranks serializers for a use by the cost of one use, in ascending order.
//!
//! Only competitors are ranked, and an incorrect one is never above a correct one. Exact round trips come first, then
//! alike ones, then unchecked ones, then those that differ. Within these groups, the cheaper is first. A competitor
//! without a significant difference to the first of a rank shares that rank.

mod cost;
mod explain;
#[cfg(test)]
mod tests;
mod weights;

pub use explain::explain_ranking;
pub use weights::{Part, Weights, WeightsError};

use crate::model::{Entry, Fidelity, Interval, Operation, Point, Role};
use crate::stats;
use cost::Cost;
use serde::{Deserialize, Serialize};

/// The competitors of a point, sorted by the cost of one use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The weights of the ranking.
    pub weights: Weights,
    /// Competitors from the first to the last place.
    pub places: Vec<RankedCompetitor>,
    /// Competitors that could not be ranked.
    pub unranked: Vec<UnrankedCompetitor>,
    /// For each part, the competitors that would be first if only that part counted. There are several if they are
    /// tied.
    pub alone: Vec<SinglePartWinners>,
}

/// A competitor with its rank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedCompetitor {
    /// The rank, from 1. Tied places have the same rank.
    pub rank: usize,
    /// Whether others have the same rank.
    pub tied: bool,
    /// `perl/sereal`
    pub id: String,
    /// `Sereal, zstd`
    pub name: String,
    /// Whether its output equals its input.
    pub fidelity: Fidelity,
    /// Cost of a use, in nanoseconds.
    pub cost: Interval,
    /// Parts of the cost, in the order of the weights.
    pub parts: Vec<Share>,
    /// Cost divided by that of the first place, or none for the first place itself. It is below 1 for a cheaper
    /// competitor that is ranked lower because its output differs.
    pub times: Option<Interval>,
}

impl RankedCompetitor {
    /// Returns the rank: `1`, or `1=` if it is shared.
    pub fn label(&self) -> String {
        format!("{}{}", self.rank, if self.tied { "=" } else { "" })
    }
}

/// A part of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Kind of the part.
    pub part: Part,
    /// Nanoseconds per use.
    pub cost: f64,
    /// Share of the whole cost: 0.95 is 95 %.
    pub share: f64,
}

/// A competitor without a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnrankedCompetitor {
    /// `perl/sereal`
    pub id: String,
    /// `Sereal, zstd`
    pub name: String,
    /// The reason: `reading was not timed`.
    pub why: String,
}

/// The winners if only one part counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinglePartWinners {
    /// The only part that counts.
    pub part: Part,
    /// Ids of all competitors with rank 1.
    pub first: Vec<String>,
}

/// Ranks the competitors of a point. Costs are tied if the interval of their quotient, paired by round and turn,
/// includes 1, or if they are closer to each other than the baseline's twin is to the baseline at this point
/// ([`stats::operation_resolution`]).
pub fn rank_competitors(point: &Point, weights: &Weights) -> Ranking {
    let (costs, unranked) = compute_costs(point, weights);
    let ranks = assign_ranks(&costs, find_resolution(point, weights));
    let places = costs.iter().enumerate().map(|(index, (entry, cost))| RankedCompetitor {
        rank: ranks[index],
        tied: ranks.iter().filter(|rank| **rank == ranks[index]).count() > 1,
        id: entry.id.clone(),
        name: entry.name.clone(),
        fidelity: entry.fidelity.clone(),
        cost: cost.to_interval(),
        parts: cost.parts.clone(),
        times: (index > 0).then(|| costs[0].1.relative_cost_of(cost)),
    });
    let winners = SINGLE_PARTS.into_iter().filter_map(|part| find_winners(point, part));
    Ranking { weights: weights.clone(), places: places.collect(), unranked, alone: winners.collect() }
}

/// Parts that may be the only ones that matter to a user.
const SINGLE_PARTS: [Part; 7] = [
    Part::Time(Operation::Read),
    Part::Time(Operation::Write),
    Part::Time(Operation::RoundTrip),
    Part::Time(Operation::ToJson),
    Part::Time(Operation::Request),
    Part::Size,
    Part::Memory,
];

/// Returns the costs of all competitors that can be ranked, sorted, and the reasons for the others.
fn compute_costs<'p>(point: &'p Point, weights: &Weights) -> (Vec<(&'p Entry, Cost)>, Vec<UnrankedCompetitor>) {
    let mut unranked = Vec::new();
    let mut costs = Vec::new();
    for entry in point.entries.iter().filter(|entry| entry.role == Role::Competitor) {
        match Cost::from_entry(entry, weights) {
            Ok(cost) => costs.push((entry, cost)),
            Err(reason) => {
                unranked.push(UnrankedCompetitor { id: entry.id.clone(), name: entry.name.clone(), why: reason })
            }
        }
    }
    costs.sort_by(|(a, a_cost), (b, b_cost)| {
        let by_cost = || a_cost.estimate.total_cmp(&b_cost.estimate);
        fidelity_sort_key(&a.fidelity).cmp(&fidelity_sort_key(&b.fidelity)).then_with(by_cost)
    });
    (costs, unranked)
}

/// Returns the competitors that would share the first rank if only this part counted.
fn find_winners(point: &Point, part: Part) -> Option<SinglePartWinners> {
    let weights = Weights::from_part(part);
    let resolution = find_resolution(point, &weights);
    let (costs, _) = compute_costs(point, &weights);
    let (leader, cost) = costs.first()?;
    let is_tied_with_leader = |(other, other_cost): &(&Entry, Cost)| {
        fidelity_sort_key(&other.fidelity) == fidelity_sort_key(&leader.fidelity)
            && cost.is_tied(other_cost, resolution)
    };
    let others = costs[1..].iter().take_while(|other| is_tied_with_leader(other)).map(|(other, _)| other.id.clone());
    Some(SinglePartWinners { part, first: std::iter::once(leader.id.clone()).chain(others).collect() })
}

/// Returns the resolution of the noisiest operation that counts.
fn find_resolution(point: &Point, weights: &Weights) -> f64 {
    let resolution_of = |part: &Part| match part {
        Part::Time(operation) => stats::operation_resolution(point, *operation),
        Part::Size | Part::Memory => stats::MIN_RESOLUTION,
    };
    weights.parts().iter().map(|(part, _)| resolution_of(part)).fold(stats::MIN_RESOLUTION, f64::max)
}

/// Returns the sort key of a fidelity. Less correct results have larger keys.
pub(crate) fn fidelity_sort_key(fidelity: &Fidelity) -> u8 {
    match fidelity {
        Fidelity::Exact => 0,
        Fidelity::Alike { .. } => 1,
        Fidelity::Unchecked => 2,
        Fidelity::Differs { .. } => 3,
    }
}

/// Returns the ranks of sorted costs. A cost without a significant difference to the first of a rank shares that rank.
fn assign_ranks(costs: &[(&Entry, Cost)], resolution: f64) -> Vec<usize> {
    let mut ranks: Vec<usize> = Vec::with_capacity(costs.len());
    let mut leader = 0;
    for (index, (entry, cost)) in costs.iter().enumerate() {
        let (first, first_cost) = &costs[leader];
        let has_same_fidelity = fidelity_sort_key(&first.fidelity) == fidelity_sort_key(&entry.fidelity);
        if index > 0 && !(has_same_fidelity && first_cost.is_tied(cost, resolution)) {
            leader = index;
        }
        ranks.push(leader + 1);
    }
    ranks
}
