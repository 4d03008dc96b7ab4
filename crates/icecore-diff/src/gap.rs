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
        a: &[u32],
        b: &[u32],
        between: &[(Range<usize>, Range<usize>)],
    ) -> Vec<u64> {
        let is_one_list_aligned =
            between.iter().all(|(xs, _)| xs.is_empty()) || between.iter().all(|(_, ys)| ys.is_empty());
        if is_one_list_aligned {
            return Vec::new();
        }
        let left_numbers =
            between.iter().flat_map(|(xs, _)| &a[xs.clone()]).map(|index| self.sides.left.node_hash(*index));
        let right_numbers =
            between.iter().flat_map(|(_, ys)| &b[ys.clone()]).map(|index| self.sides.right.node_hash(*index));
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
        (a, xs): (&[u32], &[usize]),
        (b, ys): (&[u32], &[usize]),
        pairs: &mut Vec<(usize, usize)>,
    ) {
        let pair_count = xs.len().saturating_mul(ys.len());
        if !(2..=MAX_COMPARED_PAIRS).contains(&pair_count) || pair_count > self.budget {
            return pairs.extend(xs.iter().copied().zip(ys.iter().copied()));
        }
        let collect_features = |side: &Side<'d>, list: &[u32], positions: &[usize]| -> Vec<Vec<u64>> {
            positions.iter().map(|position| side.child_hashes(side.value_at(list[*position]))).collect()
        };
        let features = (collect_features(self.sides.left, a, xs), collect_features(self.sides.right, b, ys));
        let max_len = |features: &[Vec<u64>]| features.iter().map(Vec::len).max().unwrap_or(0);
        let cost = pair_count.saturating_mul(1 + max_len(&features.0) + max_len(&features.1));
        if cost > self.budget {
            self.budget = 0;
            return pairs.extend(xs.iter().copied().zip(ys.iter().copied()));
        }
        self.budget -= cost;
        let score = |x: usize, y: usize| {
            let (left, right) = (self.sides.left.value_at(a[xs[x]]), self.sides.right.value_at(b[ys[y]]));
            let is_alike = left.kind() == right.kind() && left.class() == right.class();
            let (x_features, y_features) = (&features.0[x], &features.1[y]);
            let similarity = 64 * count_common(x_features, y_features) / x_features.len().max(y_features.len()).max(1);
            1 + u32::from(is_alike) + similarity as u32
        };
        find_best_pairs(xs.len(), ys.len(), score).into_iter().for_each(|(x, y)| pairs.push((xs[x], ys[y])));
    }
}

/// Returns `true` if the value contains a container or a link, among the children that are examined.
fn has_nested_values(body: Cursor<'_>) -> bool {
    body.children().take(MAX_CHILDREN).any(|child| child.kind().is_container() || child.kind().is_again())
}

/// Returns how many numbers two sorted lists have in common.
fn count_common(a: &[u64], b: &[u64]) -> usize {
    let (mut x, mut y, mut count) = (0, 0, 0);
    while x < a.len() && y < b.len() {
        match a[x].cmp(&b[y]) {
            std::cmp::Ordering::Less => x += 1,
            std::cmp::Ordering::Greater => y += 1,
            std::cmp::Ordering::Equal => (x, y, count) = (x + 1, y + 1, count + 1),
        }
    }
    count
}

/// Returns the pairs, ascending in both lists, with the highest total score.
fn find_best_pairs(n: usize, m: usize, score: impl Fn(usize, usize) -> u32) -> Vec<(usize, usize)> {
    let width = m + 1;
    let mut best_scores = vec![0_u32; (n + 1) * width];
    let mut scores = vec![0_u32; n * m];
    for x in (0..n).rev() {
        for y in (0..m).rev() {
            let pair_score = score(x, y);
            scores[x * m + y] = pair_score;
            let score_without_pair = best_scores[(x + 1) * width + y].max(best_scores[x * width + y + 1]);
            best_scores[x * width + y] = score_without_pair.max(pair_score + best_scores[(x + 1) * width + y + 1]);
        }
    }
    let (mut x, mut y, mut pairs) = (0, 0, Vec::new());
    while x < n && y < m {
        let best_score = best_scores[x * width + y];
        if best_score == scores[x * m + y] + best_scores[(x + 1) * width + y + 1] {
            pairs.push((x, y));
            (x, y) = (x + 1, y + 1);
        } else if best_score == best_scores[(x + 1) * width + y] {
            x += 1;
        } else {
            y += 1;
        }
    }
    pairs
}
