//! Aligns the items of two lists by the numbers of their values, and not by their positions.
//!
//! The common beginning and the common end are aligned first. Then items that occur once in each list can be anchors,
//! as in a patience diff. The longest sequence of them that has the same order in both lists is kept. The part
//! between two anchors is aligned separately, in a limited number of rounds. In a part without anchors, the shortest
//! edit path is searched (Myers, "An O(ND) Difference Algorithm"), up to [`MAX_PATH_LENGTH`] steps. If the path is
//! longer, the items of this part are not aligned. The caller then pairs them by their positions.

/// Maximum number of rounds in which anchors are searched between anchors.
const MAX_ROUNDS: u32 = 8;
/// Maximum number of items on the shortest edit path that are in only one list.
const MAX_PATH_LENGTH: usize = 100;

/// A range of each list, and the round in which it is aligned.
#[derive(Clone, Copy)]
struct Gap {
    left: (usize, usize),
    right: (usize, usize),
    round: u32,
}

/// Returns pairs of positions with the same number, ascending in both lists. The work is linear in the lists, with
/// factors of at most [`MAX_ROUNDS`] and [`MAX_PATH_LENGTH`].
pub(crate) fn align_numbers(left: &[u64], right: &[u64]) -> Vec<(u32, u32)> {
    let mut pairs = Vec::with_capacity(left.len().min(right.len()));
    let mut gaps = vec![Gap { left: (0, left.len()), right: (0, right.len()), round: 0 }];
    while let Some(mut gap) = gaps.pop() {
        let (mut from, mut to) = ((gap.left.0, gap.right.0), (gap.left.1, gap.right.1));
        while from.0 < to.0 && from.1 < to.1 && left[from.0] == right[from.1] {
            pairs.push((from.0 as u32, from.1 as u32));
            from = (from.0 + 1, from.1 + 1);
        }
        while from.0 < to.0 && from.1 < to.1 && left[to.0 - 1] == right[to.1 - 1] {
            to = (to.0 - 1, to.1 - 1);
            pairs.push((to.0 as u32, to.1 as u32));
        }
        if from.0 == to.0 || from.1 == to.1 {
            continue;
        }
        (gap.left, gap.right) = ((from.0, to.0), (from.1, to.1));
        let anchors = if gap.round < MAX_ROUNDS { find_anchors(left, right, gap) } else { Vec::new() };
        if anchors.is_empty() {
            match_by_edit_path(left, right, gap, &mut pairs);
            continue;
        }
        let mut position = (gap.left.0, gap.right.0);
        for anchor in anchors.iter().copied().chain([(gap.left.1, gap.right.1)]) {
            if position.0 < anchor.0 && position.1 < anchor.1 {
                gaps.push(Gap { left: (position.0, anchor.0), right: (position.1, anchor.1), round: gap.round + 1 });
            }
            position = (anchor.0 + 1, anchor.1 + 1);
        }
        pairs.extend(anchors.into_iter().map(|(left_index, right_index)| (left_index as u32, right_index as u32)));
    }
    pairs.sort_unstable();
    pairs
}

/// Returns the anchors of this gap. They occur once in each list, and are the longest sequence of such items that has
/// the same order in both lists.
fn find_anchors(left: &[u64], right: &[u64], gap: Gap) -> Vec<(usize, usize)> {
    let left_unique = find_unique_numbers(&left[gap.left.0..gap.left.1]);
    let mut right_unique = find_unique_numbers(&right[gap.right.0..gap.right.1]).into_iter().peekable();
    let mut unique_pairs: Vec<(usize, usize)> = Vec::new();
    // Both lists are sorted by number, so one pass finds the common numbers.
    for (hash, left_index) in left_unique {
        while right_unique.next_if(|(other, _)| *other < hash).is_some() {}
        if let Some((_, right_index)) = right_unique.next_if(|(other, _)| *other == hash) {
            unique_pairs.push((gap.left.0 + left_index as usize, gap.right.0 + right_index as usize));
        }
    }
    unique_pairs.sort_unstable();
    longest_rising_pairs(&unique_pairs)
}

/// Returns the numbers that occur once in a list, sorted, with their positions. They are found by sorting, because a
/// hash table would be slow for numbers that were chosen to collide.
fn find_unique_numbers(list: &[u64]) -> Vec<(u64, u32)> {
    let mut positions: Vec<(u64, u32)> = list.iter().copied().zip(0..).collect();
    positions.sort_unstable();
    positions.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() == 1).map(|equal| equal[0]).collect()
}

/// Returns the longest selection of pairs whose second numbers ascend.
fn longest_rising_pairs(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, consider all selections of this length. `ends` has the last pair of the one that ends lowest.
    let mut ends: Vec<usize> = Vec::new();
    // For each pair, the pair before it in the selection that ends with it.
    let mut predecessors: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, (_, second)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *second);
        predecessors.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut selection = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        selection.push(pairs[index]);
        next = predecessors[index];
    }
    selection.reverse();
    selection
}

/// Adds the pairs of equal items on the shortest edit path between the lists. Adds nothing if the path is too long.
fn match_by_edit_path(left: &[u64], right: &[u64], gap: Gap, pairs: &mut Vec<(u32, u32)>) {
    let (left_items, right_items) = (&left[gap.left.0..gap.left.1], &right[gap.right.0..gap.right.1]);
    let max_steps = MAX_PATH_LENGTH.min(left_items.len() + right_items.len());
    if left_items.len().abs_diff(right_items.len()) > max_steps {
        return;
    }
    // The position that each diagonal reaches, after each number of steps. Diagonal d is at index `d + max_steps +
    // 1`.
    let mut reach = vec![0_usize; 2 * max_steps + 3];
    let mut history: Vec<Vec<usize>> = Vec::new();
    let middle = max_steps + 1;
    for steps in 0..=max_steps {
        history.push(reach[middle - steps - 1..=middle + steps + 1].to_vec());
        let mut index = middle - steps;
        while index <= middle + steps {
            let is_down = index == middle - steps || (index != middle + steps && reach[index - 1] < reach[index + 1]);
            let mut x = if is_down { reach[index + 1] } else { reach[index - 1] + 1 };
            let mut y = x + middle;
            // A diagonal that begins below the lists is outside of them.
            let is_inside = x <= left_items.len() && y >= index && y - index <= right_items.len();
            if is_inside {
                y -= index;
                while x < left_items.len() && y < right_items.len() && left_items[x] == right_items[y] {
                    (x, y) = (x + 1, y + 1);
                }
                if x == left_items.len() && y == right_items.len() {
                    return trace_edit_path(
                        left_items,
                        right_items,
                        &history,
                        index.wrapping_sub(middle) as isize,
                        gap,
                        pairs,
                    );
                }
            }
            reach[index] = x;
            index += 2;
        }
    }
}

/// Follows the path from its end to its start, and adds the pairs of equal items.
fn trace_edit_path(
    left_items: &[u64],
    right_items: &[u64],
    history: &[Vec<usize>],
    mut diagonal: isize,
    gap: Gap,
    pairs: &mut Vec<(u32, u32)>,
) {
    let (mut x, mut y) = (left_items.len(), right_items.len());
    for (steps, reach) in history.iter().enumerate().rev() {
        let steps = steps as isize;
        let reach_of = |diagonal: isize| reach.get((diagonal + steps + 1) as usize).copied().unwrap_or(0);
        let is_down = diagonal == -steps || (diagonal != steps && reach_of(diagonal - 1) < reach_of(diagonal + 1));
        let from = if is_down { diagonal + 1 } else { diagonal - 1 };
        let start = if steps == 0 {
            0
        } else if is_down {
            reach_of(from)
        } else {
            reach_of(from) + 1
        };
        while x > start && x > 0 && y > 0 && left_items[x - 1] == right_items[y - 1] {
            (x, y) = (x - 1, y - 1);
            pairs.push(((gap.left.0 + x) as u32, (gap.right.0 + y) as u32));
        }
        if steps == 0 {
            return;
        }
        // This is the step that is not a pair of equal items.
        if is_down {
            y = y.saturating_sub(1)
        } else {
            x = x.saturating_sub(1)
        }
        diagonal = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The length of the longest common subsequence, by the textbook algorithm.
    fn common_length(left: &[u64], right: &[u64]) -> usize {
        let mut row = vec![0; right.len() + 1];
        for x in left {
            let mut corner = 0;
            for (column, y) in right.iter().enumerate() {
                let above = row[column + 1];
                row[column + 1] = if x == y { corner + 1 } else { above.max(row[column]) };
                corner = above;
            }
        }
        row[right.len()]
    }

    fn assert_aligned(left: &[u64], right: &[u64]) -> usize {
        let pairs = align_numbers(left, right);
        assert!(pairs.iter().all(|(x, y)| left[*x as usize] == right[*y as usize]), "{left:?} {right:?} {pairs:?}");
        assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1), "{left:?} {right:?} {pairs:?}");
        pairs.len()
    }

    #[test]
    fn short_lists_are_aligned_optimally() {
        let mut seed = 1_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let (mut best, mut all) = (0, 0);
        for _ in 0..3000 {
            let (left_len, right_len, number_count) = (next(9), next(9), next(4) + 1);
            let left: Vec<u64> = (0..left_len).map(|_| next(number_count)).collect();
            let right: Vec<u64> = (0..right_len).map(|_| next(number_count)).collect();
            let (aligned_len, longest_len) = (assert_aligned(&left, &right), common_length(&left, &right));
            // Anchors are not always part of a longest subsequence.
            assert!(aligned_len <= longest_len && (aligned_len > 0 || longest_len == 0), "{left:?} {right:?}");
            best += usize::from(aligned_len == longest_len);
            all += 1;
            // Without anchors, the longest one is found.
            let mut direct = Vec::new();
            let gap = Gap { left: (0, left.len()), right: (0, right.len()), round: 0 };
            match_by_edit_path(&left, &right, gap, &mut direct);
            assert_eq!(direct.len(), longest_len, "{left:?} {right:?}");
        }
        assert!(best * 10 > all * 9, "{best} of {all}");
    }

    #[test]
    fn long_alignments_find_an_insertion_or_give_up() {
        let list: Vec<u64> = (0..10_000).collect();
        let mut longer = list.clone();
        longer.insert(5000, 77_777);
        assert_eq!(assert_aligned(&list, &longer), 10_000);
        let (ones, twos) = (vec![1; 1000], vec![2; 1000]);
        assert_eq!(assert_aligned(&ones, &twos), 0);
        assert_eq!(assert_aligned(&ones, &[]), 0);
        let mut mixed = Vec::new();
        (0..1000).for_each(|index| mixed.extend([1 + index % 2, 3, 3]));
        assert!(assert_aligned(&ones, &mixed) <= 1000);
    }
}
