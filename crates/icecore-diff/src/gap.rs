//! Pairs the differing items of two lists. The items of a pair count as versions of each other.

use crate::pairs::Sides;
use crate::side::{MAX_CHILDREN, Side};
use icecore::{Cursor, Kind};
use std::ops::Range;

/// Maximum number of pairs of items that are compared in one gap.
const MAX_COMPARED_PAIRS: usize = 10_000;

/// Pairs items between aligned ones. The total cost of all gaps is limited. When it is spent, items are paired by
/// their positions.
pub(crate) struct Gaps<'s, 'd> {
    sides: Sides<'s, 'd>,
    budget: usize,
}

impl<'s, 'd> Gaps<'s, 'd> {
    pub(crate) fn new(sides: Sides<'s, 'd>) -> Gaps<'s, 'd> {
        let nodes = sides.left.document.nodes().len() + sides.right.document.nodes().len();
        Gaps { sides, budget: nodes.saturating_mul(16).saturating_add(1 << 16) }
    }

    /// Returns the sorted numbers of the items that are in both lists between the aligned ones. These items moved.
    pub(crate) fn find_moved_numbers(
        &self,
        left_items: &[u32],
        right_items: &[u32],
        between: &[(Range<usize>, Range<usize>)],
    ) -> Vec<u64> {
        let is_one_list_aligned = between.iter().all(|(left_range, _)| left_range.is_empty())
            || between.iter().all(|(_, right_range)| right_range.is_empty());
        if is_one_list_aligned {
            return Vec::new();
        }
        let left_numbers = between
            .iter()
            .flat_map(|(left_range, _)| &left_items[left_range.clone()])
            .map(|index| self.sides.left.node_hash(*index));
        let right_numbers = between
            .iter()
            .flat_map(|(_, right_range)| &right_items[right_range.clone()])
            .map(|index| self.sides.right.node_hash(*index));
        let (mut left_numbers, mut right_numbers): (Vec<u64>, Vec<u64>) =
            (left_numbers.collect(), right_numbers.collect());
        left_numbers.sort_unstable();
        right_numbers.sort_unstable();
        let mut others = right_numbers.into_iter().peekable();
        left_numbers.dedup();
        left_numbers.retain(|number| {
            while others.next_if(|other| other < number).is_some() {}
            others.peek() == Some(number)
        });
        left_numbers
    }

    /// Returns `true` if a pair should be compared in detail. Two records or lists without anything in common should
    /// not.
    pub(crate) fn has_common(&self, left: Cursor<'d>, right: Cursor<'d>) -> bool {
        let is_large = |cursor: Cursor<'_>| matches!(cursor.kind(), Kind::Array | Kind::Map) && cursor.len() > 1;
        let bodies = (crate::tree::object_body(left), crate::tree::object_body(right));
        if !is_large(bodies.0) || !is_large(bodies.1) || left.class() != right.class() {
            return true;
        }
        // Of larger containers, only a part is examined.
        bodies.0.len().max(bodies.1.len()) > MAX_CHILDREN
            || count_common(&self.sides.left.child_hashes(left), &self.sides.right.child_hashes(right)) > 0
            || has_nested_values(bodies.0) && has_nested_values(bodies.1)
    }

    /// Appends pairs of matching items by their positions, ascending in both lists.
    pub(crate) fn pair_items(
        &mut self,
        (left_items, left_positions): (&[u32], &[usize]),
        (right_items, right_positions): (&[u32], &[usize]),
        pairs: &mut Vec<(usize, usize)>,
    ) {
        let pair_count = left_positions.len().saturating_mul(right_positions.len());
        if !(2..=MAX_COMPARED_PAIRS).contains(&pair_count) || pair_count > self.budget {
            return pairs.extend(left_positions.iter().copied().zip(right_positions.iter().copied()));
        }
        let collect_features = |side: &Side<'d>, list: &[u32], positions: &[usize]| -> Vec<Vec<u64>> {
            positions.iter().map(|position| side.child_hashes(side.value_at(list[*position]))).collect()
        };
        let features = (
            collect_features(self.sides.left, left_items, left_positions),
            collect_features(self.sides.right, right_items, right_positions),
        );
        let max_len = |features: &[Vec<u64>]| features.iter().map(Vec::len).max().unwrap_or(0);
        let cost = pair_count.saturating_mul(1 + max_len(&features.0) + max_len(&features.1));
        if cost > self.budget {
            self.budget = 0;
            return pairs.extend(left_positions.iter().copied().zip(right_positions.iter().copied()));
        }
        self.budget -= cost;
        let score = |left_index: usize, right_index: usize| {
            let (left, right) = (
                self.sides.left.value_at(left_items[left_positions[left_index]]),
                self.sides.right.value_at(right_items[right_positions[right_index]]),
            );
            let is_alike = left.kind() == right.kind() && left.class() == right.class();
            let (left_features, right_features) = (&features.0[left_index], &features.1[right_index]);
            let similarity =
                64 * count_common(left_features, right_features) / left_features.len().max(right_features.len()).max(1);
            1 + u32::from(is_alike) + similarity as u32
        };
        let best_pairs = find_best_pairs(left_positions.len(), right_positions.len(), score).into_iter();
        pairs.extend(best_pairs.map(|(left, right)| (left_positions[left], right_positions[right])));
    }
}

/// Returns `true` if the value contains a container or a link, among the children that are examined.
fn has_nested_values(body: Cursor<'_>) -> bool {
    body.children().take(MAX_CHILDREN).any(|child| child.kind().is_container() || child.kind().is_again())
}

/// Returns how many numbers two sorted lists have in common.
fn count_common(left_numbers: &[u64], right_numbers: &[u64]) -> usize {
    let (mut left_index, mut right_index, mut count) = (0, 0, 0);
    while left_index < left_numbers.len() && right_index < right_numbers.len() {
        match left_numbers[left_index].cmp(&right_numbers[right_index]) {
            std::cmp::Ordering::Less => left_index += 1,
            std::cmp::Ordering::Greater => right_index += 1,
            std::cmp::Ordering::Equal => {
                (left_index, right_index, count) = (left_index + 1, right_index + 1, count + 1)
            }
        }
    }
    count
}

/// Returns the pairs, ascending in both lists, with the highest total score.
fn find_best_pairs(left_len: usize, right_len: usize, score: impl Fn(usize, usize) -> u32) -> Vec<(usize, usize)> {
    let width = right_len + 1;
    let mut best_scores = vec![0_u32; (left_len + 1) * width];
    let mut scores = vec![0_u32; left_len * right_len];
    for left in (0..left_len).rev() {
        for right in (0..right_len).rev() {
            let pair_score = score(left, right);
            scores[left * right_len + right] = pair_score;
            let score_without_pair = best_scores[(left + 1) * width + right].max(best_scores[left * width + right + 1]);
            best_scores[left * width + right] =
                score_without_pair.max(pair_score + best_scores[(left + 1) * width + right + 1]);
        }
    }
    let (mut left, mut right, mut pairs) = (0, 0, Vec::new());
    while left < left_len && right < right_len {
        let best_score = best_scores[left * width + right];
        if best_score == scores[left * right_len + right] + best_scores[(left + 1) * width + right + 1] {
            pairs.push((left, right));
            (left, right) = (left + 1, right + 1);
        } else if best_score == best_scores[(left + 1) * width + right] {
            left += 1;
        } else {
            right += 1;
        }
    }
    pairs
}
