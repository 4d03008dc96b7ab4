//! Finds equal items of two lists, and computes as few numbers for this as possible.
//!
//! Items are followed as long as they are equal, node by node. At a difference, a continuation is searched. The first
//! attempt assumes that one item was changed, added or removed, and that the next ones are equal. After that, the
//! next items are aligned by their numbers, in windows. Each window is larger than the previous one, until enough
//! consecutive items are equal that this is not a coincidence. A window that contains all remaining items is aligned
//! as it is. So short lists are aligned as a whole, as in the reference.
//!
//! A window is four times as large as the previous one, and at least an eighth of a large window is used. So the work
//! is linear, with the factor of [`align_numbers`].

use crate::align::align_numbers;
use crate::lockstep::Lockstep;
use crate::pairs::Sides;

/// Number of items in the first window.
const FIRST_WINDOW: usize = 64;
/// The factor by which a window is larger than the previous one.
const WINDOW_GROWTH: usize = 4;
/// At least one item in this many of a larger window is used.
const MIN_USED_FRACTION: usize = 8;
/// If this many consecutive items are equal, that is not a coincidence.
const MIN_SURE_RUN: usize = 16;
/// The number of equal items that suffices after only one item was skipped.
const MIN_SURE_RUN_AFTER_SKIP: usize = 4;

/// Consecutive items of both lists that are paired.
pub(crate) struct Run {
    pub(crate) left: usize,
    pub(crate) right: usize,
    pub(crate) len: usize,
    /// Whether they are equal node by node. Otherwise, only their numbers are equal.
    pub(crate) is_equal_by_nodes: bool,
}

/// Returns the runs of two lists whose items are at these nodes. It computes all numbers. This is the readable twin
/// of [`find_runs`].
pub(crate) fn find_reference_runs(sides: Sides<'_, '_>, left_items: &[u32], right_items: &[u32]) -> Vec<Run> {
    let (left_numbers, right_numbers) = collect_numbers(sides, left_items, right_items);
    let run = |(left, right): (u32, u32)| Run {
        left: left as usize,
        right: right as usize,
        len: 1,
        is_equal_by_nodes: false,
    };
    align_numbers(&left_numbers, &right_numbers).into_iter().map(run).collect()
}

/// Returns the runs of two lists whose items are at these nodes, ascending in both lists.
pub(crate) fn find_runs(lockstep: &mut Lockstep<'_, '_>, left_items: &[u32], right_items: &[u32]) -> Vec<Run> {
    let sides = lockstep.sides;
    let mut search = RunSearch {
        lockstep,
        sides,
        left_items,
        right_items,
        start: (0, 0),
        end: (left_items.len(), right_items.len()),
        runs: Vec::new(),
    };
    search.take_equal_items();
    while !search.is_done() {
        if !search.step_over() {
            search.align_window();
        }
        search.take_equal_items();
    }
    // These are the items at the end of both lists that were left out before.
    (search.start, search.end) = (search.end, (left_items.len(), right_items.len()));
    search.take_equal_items();
    search.runs
}

/// A search for runs, and its position in both lists.
struct RunSearch<'s, 'r, 'd> {
    lockstep: &'s mut Lockstep<'r, 'd>,
    sides: Sides<'r, 'd>,
    left_items: &'s [u32],
    right_items: &'s [u32],
    start: (usize, usize),
    /// The common end of both lists begins here.
    end: (usize, usize),
    runs: Vec<Run>,
}

impl RunSearch<'_, '_, '_> {
    fn is_done(&self) -> bool {
        self.start.0 >= self.end.0 || self.start.1 >= self.end.1
    }

    /// Takes equal items from the start position on.
    fn take_equal_items(&mut self) {
        while !self.is_done() {
            let (left, right) = (self.left_items[self.start.0], self.right_items[self.start.1]);
            let is_equal_by_nodes = self.lockstep.are_equal(left, right) || self.lockstep.means_same(left, right);
            if !is_equal_by_nodes && self.sides.left.node_hash(left) != self.sides.right.node_hash(right) {
                return;
            }
            self.push_pair(self.start, is_equal_by_nodes);
        }
    }

    fn push_pair(&mut self, (left, right): (usize, usize), is_equal_by_nodes: bool) {
        self.start = (left + 1, right + 1);
        match self.runs.last_mut() {
            Some(run)
                if run.is_equal_by_nodes == is_equal_by_nodes
                    && (run.left + run.len, run.right + run.len) == (left, right) =>
            {
                run.len += 1;
            }
            _ => self.runs.push(Run { left, right, len: 1, is_equal_by_nodes }),
        }
    }

    /// Skips one item of either or both lists, if the following items are equal.
    fn step_over(&mut self) -> bool {
        let rest = (self.end.0 - self.start.0, self.end.1 - self.start.1);
        if rest.0.max(rest.1) <= FIRST_WINDOW || rest.0.min(rest.1) <= MIN_SURE_RUN_AFTER_SKIP {
            return false;
        }
        let continuations = [(1, 1), (0, 1), (1, 0)]
            .map(|(left_skipped, right_skipped)| (self.start.0 + left_skipped, self.start.1 + right_skipped));
        let next = continuations.into_iter().find(|(left_index, right_index)| {
            (0..MIN_SURE_RUN_AFTER_SKIP).all(|offset| {
                self.lockstep.means_same(self.left_items[left_index + offset], self.right_items[right_index + offset])
            })
        });
        self.start = next.unwrap_or(self.start);
        next.is_some()
    }

    /// Aligns a window of the next items.
    fn align_window(&mut self) {
        let (mut size, from) = (FIRST_WINDOW, self.start);
        loop {
            let to = (self.end.0.min(from.0 + size), self.end.1.min(from.1 + size));
            let (left_numbers, right_numbers) =
                collect_numbers(self.sides, &self.left_items[from.0..to.0], &self.right_items[from.1..to.1]);
            let aligned = align_numbers(&left_numbers, &right_numbers);
            let min_position = if size == FIRST_WINDOW { 0 } else { size / MIN_USED_FRACTION };
            let sure_count = if to == self.end { Some(aligned.len()) } else { last_sure_run(&aligned, min_position) };
            if let Some(count) = sure_count {
                for (left_offset, right_offset) in &aligned[..count] {
                    self.push_pair((from.0 + *left_offset as usize, from.1 + *right_offset as usize), false);
                }
                self.start = match aligned.get(count) {
                    Some((left_offset, right_offset)) => {
                        (from.0 + *left_offset as usize, from.1 + *right_offset as usize)
                    }
                    None => to,
                };
                return;
            }
            if size == FIRST_WINDOW {
                self.trim_common_end();
            }
            size *= WINDOW_GROWTH;
        }
    }

    /// Leaves out equal items at the end of both lists.
    fn trim_common_end(&mut self) {
        let is_untrimmed = self.end == (self.left_items.len(), self.right_items.len());
        while is_untrimmed && !self.is_done() {
            let (left, right) = (self.left_items[self.end.0 - 1], self.right_items[self.end.1 - 1]);
            let is_same = self.lockstep.means_same(left, right)
                || self.sides.left.node_hash(left) == self.sides.right.node_hash(right);
            if !is_same {
                return;
            }
            self.end = (self.end.0 - 1, self.end.1 - 1);
        }
    }
}

fn collect_numbers(sides: Sides<'_, '_>, left_items: &[u32], right_items: &[u32]) -> (Vec<u64>, Vec<u64>) {
    let left_numbers = left_items.iter().map(|index| sides.left.node_hash(*index)).collect();
    (left_numbers, right_items.iter().map(|index| sides.right.node_hash(*index)).collect())
}

/// Returns the start of the last run of pairs that is long enough not to be a coincidence, and far enough from the
/// beginning.
fn last_sure_run(pairs: &[(u32, u32)], min_position: usize) -> Option<usize> {
    let mut end = pairs.len();
    while end > 0 {
        let mut start = end - 1;
        while start > 0 && pairs[start - 1].0 + 1 == pairs[start].0 && pairs[start - 1].1 + 1 == pairs[start].1 {
            start -= 1;
        }
        let (left_position, right_position) = pairs[start];
        if end - start >= MIN_SURE_RUN && left_position.max(right_position) as usize >= min_position {
            return Some(start);
        }
        end = start;
    }
    None
}
