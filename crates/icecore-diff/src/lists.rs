//! Which items of two lists are the same, with no more numbers than are needed.
//!
//! Items are followed as long as they are the same, node by node. Where they are not, a way on is looked
//! for: first, whether one item was changed, put in or taken out and the next ones are the same;
//! then in windows of the next items, aligned by their numbers, each larger than the one before until
//! so many items behind each other are the same that this is no chance. A window that holds
//! all that is left is aligned as it is: so short lists are aligned as a whole, as the reference does it.
//!
//! A window is four times as large as the one before, and what is taken of a large one is an eighth
//! of it or more. So the work is linear, with the factor of [`align`].

use crate::align::align;
use crate::lockstep::Lockstep;
use crate::pairs::Sides;

/// How many items the first window has.
const WINDOW: usize = 64;
/// So many in a row are the same by no chance.
const SURE: usize = 16;
/// So many, if one item alone is left out for it.
const NEXT: usize = 4;

/// Items that stand beside each other.
pub(crate) struct Run {
    pub(crate) left: usize,
    pub(crate) right: usize,
    pub(crate) len: usize,
    /// Whether they are the same node by node; otherwise only their numbers are.
    pub(crate) is_settled: bool,
}

/// The runs of two lists whose items are at these nodes, by all numbers: the readable twin of [`runs`].
pub(crate) fn reference_runs(sides: Sides<'_, '_>, a: &[u32], b: &[u32]) -> Vec<Run> {
    let (of_a, of_b) = numbers(sides, a, b);
    let run = |(left, right): (u32, u32)| Run { left: left as usize, right: right as usize, len: 1, is_settled: false };
    align(&of_a, &of_b).into_iter().map(run).collect()
}

/// The runs of two lists whose items are at these nodes, ascending in both.
pub(crate) fn runs(lockstep: &mut Lockstep<'_, '_>, a: &[u32], b: &[u32]) -> Vec<Run> {
    let sides = lockstep.sides;
    let mut search = Search { lockstep, sides, a, b, at: (0, 0), end: (a.len(), b.len()), runs: Vec::new() };
    search.follow();
    while !search.is_done() {
        if !search.step_over() {
            search.windows();
        }
        search.follow();
    }
    // The end that was left out for a while.
    (search.at, search.end) = (search.end, (a.len(), b.len()));
    search.follow();
    search.runs
}

struct Search<'s, 'r, 'd> {
    lockstep: &'s mut Lockstep<'r, 'd>,
    sides: Sides<'r, 'd>,
    a: &'s [u32],
    b: &'s [u32],
    at: (usize, usize),
    /// Behind that both lists are the same.
    end: (usize, usize),
    runs: Vec<Run>,
}

impl Search<'_, '_, '_> {
    fn is_done(&self) -> bool {
        self.at.0 >= self.end.0 || self.at.1 >= self.end.1
    }

    /// Takes what is the same from here on.
    fn follow(&mut self) {
        while !self.is_done() {
            let (left, right) = (self.a[self.at.0], self.b[self.at.1]);
            let is_settled = self.lockstep.same(left, right) || self.lockstep.means_same(left, right);
            if !is_settled && self.sides.left.number(left) != self.sides.right.number(right) {
                return;
            }
            self.take(self.at, is_settled);
        }
    }

    fn take(&mut self, (left, right): (usize, usize), is_settled: bool) {
        self.at = (left + 1, right + 1);
        match self.runs.last_mut() {
            Some(run) if run.is_settled == is_settled && (run.left + run.len, run.right + run.len) == (left, right) => {
                run.len += 1;
            }
            _ => self.runs.push(Run { left, right, len: 1, is_settled }),
        }
    }

    /// Goes over one item of either list or of both, if what comes next is the same.
    fn step_over(&mut self) -> bool {
        let rest = (self.end.0 - self.at.0, self.end.1 - self.at.1);
        if rest.0.max(rest.1) <= WINDOW || rest.0.min(rest.1) <= NEXT {
            return false;
        }
        let to = [(1, 1), (0, 1), (1, 0)].map(|(x, y)| (self.at.0 + x, self.at.1 + y));
        let next = to
            .into_iter()
            .find(|(x, y)| (0..NEXT).all(|next| self.lockstep.means_same(self.a[x + next], self.b[y + next])));
        self.at = next.unwrap_or(self.at);
        next.is_some()
    }

    /// Aligns a window of what comes next.
    fn windows(&mut self) {
        let (mut size, from) = (WINDOW, self.at);
        loop {
            let to = (self.end.0.min(from.0 + size), self.end.1.min(from.1 + size));
            let (of_a, of_b) = numbers(self.sides, &self.a[from.0..to.0], &self.b[from.1..to.1]);
            let aligned = align(&of_a, &of_b);
            let least = if size == WINDOW { 0 } else { size / 8 };
            let taken = if to == self.end { Some(aligned.len()) } else { sure(&aligned, least) };
            if let Some(count) = taken {
                for (x, y) in &aligned[..count] {
                    self.take((from.0 + *x as usize, from.1 + *y as usize), false);
                }
                self.at = match aligned.get(count) {
                    Some((x, y)) => (from.0 + *x as usize, from.1 + *y as usize),
                    None => to,
                };
                return;
            }
            if size == WINDOW {
                self.shorten();
            }
            size *= 4;
        }
    }

    /// Leaves out what is the same at the end of both lists.
    fn shorten(&mut self) {
        let is_whole = self.end == (self.a.len(), self.b.len());
        while is_whole && !self.is_done() {
            let (left, right) = (self.a[self.end.0 - 1], self.b[self.end.1 - 1]);
            let is_same =
                self.lockstep.means_same(left, right) || self.sides.left.number(left) == self.sides.right.number(right);
            if !is_same {
                return;
            }
            self.end = (self.end.0 - 1, self.end.1 - 1);
        }
    }
}

fn numbers(sides: Sides<'_, '_>, a: &[u32], b: &[u32]) -> (Vec<u64>, Vec<u64>) {
    let of_a = a.iter().map(|at| sides.left.number(*at)).collect();
    (of_a, b.iter().map(|at| sides.right.number(*at)).collect())
}

/// Where the last run of so many pairs begins that is no chance, and so far from the start.
fn sure(pairs: &[(u32, u32)], least: usize) -> Option<usize> {
    let mut end = pairs.len();
    while end > 0 {
        let mut start = end - 1;
        while start > 0 && pairs[start - 1].0 + 1 == pairs[start].0 && pairs[start - 1].1 + 1 == pairs[start].1 {
            start -= 1;
        }
        let (x, y) = pairs[start];
        if end - start >= SURE && x.max(y) as usize >= least {
            return Some(start);
        }
        end = start;
    }
    None
}
