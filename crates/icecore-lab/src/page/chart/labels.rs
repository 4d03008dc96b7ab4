//! Placement of labels without overlaps.

/// Position and size of a box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rect {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }

    pub(super) fn is_inside(&self, other: &Self) -> bool {
        self.x >= other.x
            && self.y >= other.y
            && self.x + self.width <= other.x + other.width
            && self.y + self.height <= other.y + other.height
    }
}

/// Moves positions in a column apart, as little as possible, between `low` and `high`. The order stays the same. If
/// there is not enough room, the gaps are smaller than `gap`.
pub(super) fn spread_positions(preferred: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..preferred.len()).collect();
    order.sort_by(|left, right| preferred[*left].total_cmp(&preferred[*right]));
    let gap = gap.min((high - low) / (preferred.len().max(2) - 1) as f64);
    // Labels that touch form a block. A block is stored as the position of its middle and its number of labels.
    let mut blocks: Vec<(f64, usize)> = vec![];
    for index in &order {
        let mut block = (preferred[*index].clamp(low, high), 1);
        while let Some(&(above, size)) = blocks.last() {
            let distance = gap * (size + block.1) as f64 / 2.0;
            if block.0 - above >= distance {
                break;
            }
            blocks.pop();
            // The new middle is the mean of the two blocks, weighted by their sizes.
            let total = size + block.1;
            let middle = (above * size as f64 + block.0 * block.1 as f64) / total as f64;
            block = (middle, total);
        }
        // All labels of the block must be between `low` and `high`. This may move the block onto the previous one.
        let half = gap * (block.1 - 1) as f64 / 2.0;
        block.0 = block.0.clamp(low + half, (high - half).max(low + half));
        blocks.push(block);
        merge_overlapping_blocks(&mut blocks, gap, low, high);
    }
    let mut out = vec![0.0; preferred.len()];
    let mut remaining = order.into_iter();
    for (middle, size) in blocks {
        let first = middle - gap * (size - 1) as f64 / 2.0;
        for (offset, index) in remaining.by_ref().take(size).enumerate() {
            out[index] = first + gap * offset as f64;
        }
    }
    out
}

/// Joins the last blocks until none overlaps the previous one.
fn merge_overlapping_blocks(blocks: &mut Vec<(f64, usize)>, gap: f64, low: f64, high: f64) {
    while let [.., a, b] = blocks[..] {
        if b.0 - a.0 >= gap * (a.1 + b.1) as f64 / 2.0 - 1e-9 {
            return;
        }
        let total = a.1 + b.1;
        let half = gap * (total - 1) as f64 / 2.0;
        let middle = (a.0 * a.1 as f64 + b.0 * b.1 as f64) / total as f64;
        blocks.truncate(blocks.len() - 2);
        blocks.push((middle.clamp(low + half, (high - half).max(low + half)), total));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_spread_apart() {
        assert_eq!(spread_positions(&[10.0, 50.0], 14.0, 0.0, 100.0), [10.0, 50.0]);
        assert_eq!(spread_positions(&[50.0, 50.0], 10.0, 0.0, 100.0), [45.0, 55.0]);
        assert_eq!(spread_positions(&[100.0, 99.0, 98.0], 10.0, 0.0, 100.0), [100.0, 90.0, 80.0]);
        assert_eq!(spread_positions(&[5.0, 0.0], 10.0, 0.0, 5.0), [5.0, 0.0]);
        assert!(spread_positions(&[], 10.0, 0.0, 5.0).is_empty());
    }

    #[test]
    fn many_labels_stay_inside_and_apart() {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..300 {
            let positions: Vec<f64> = (0..rng.usize(1..15)).map(|_| rng.f64() * 200.0).collect();
            let mut found = spread_positions(&positions, 14.0, 0.0, 200.0);
            found.sort_by(f64::total_cmp);
            assert!(found[0] >= -0.01 && found[found.len() - 1] <= 200.01, "{positions:?} {found:?}");
            assert!(found.windows(2).all(|pair| pair[1] - pair[0] > 13.9), "{positions:?} {found:?}");
        }
    }
}
