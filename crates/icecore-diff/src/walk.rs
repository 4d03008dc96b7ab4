//! Walks over the trees of both documents side by side. Links are postponed: `links.rs` compares them after all other
//! differences are known.

use crate::gap::Gaps;
use crate::lists;
use crate::lockstep::Lockstep;
use crate::pairs::{Pairs, Sides};
use crate::same::{Same, beside, is_alike, is_fields};
use icecore::{Cursor, Key, Kind, raw::flag};
use std::ops::Range;

/// A difference, and its position in the order of the walk.
pub(crate) struct Found<'d> {
    pub(crate) order: u32,
    pub(crate) what: What<'d>,
}

#[derive(Clone, Copy)]
pub(crate) enum What<'d> {
    Changed(Cursor<'d>, Cursor<'d>),
    /// Only the class differs.
    Class(Cursor<'d>, Cursor<'d>),
    /// The value, and its container.
    Removed(Cursor<'d>, Cursor<'d>),
    Added(Place<'d>),
    Moved(Cursor<'d>, Place<'d>),
}

/// The place in the first document of a value of the second.
#[derive(Clone, Copy)]
pub(crate) struct Place<'d> {
    /// The container in the first document.
    pub(crate) into: Cursor<'d>,
    /// The position in the container of the second document.
    pub(crate) index: u32,
    pub(crate) key: Option<Key<'d>>,
    pub(crate) value: Cursor<'d>,
}

/// Two values, at least one of which is a link.
pub(crate) struct Linked<'d> {
    pub(crate) order: u32,
    pub(crate) left: Cursor<'d>,
    pub(crate) right: Cursor<'d>,
}

#[derive(Clone, Copy)]
enum Task<'d> {
    Pair(Cursor<'d>, Cursor<'d>),
    /// Two items of a list at the same place that have nothing in common.
    Replaced(Cursor<'d>, Cursor<'d>),
    Removed(Cursor<'d>, Cursor<'d>),
    Added(Place<'d>),
}

pub(crate) struct Walk<'s, 'd> {
    sides: Sides<'s, 'd>,
    pub(crate) same: Same<'d>,
    pub(crate) found: Vec<Found<'d>>,
    pub(crate) linked: Vec<Linked<'d>>,
    pub(crate) lockstep: Lockstep<'s, 'd>,
    stack: Vec<Task<'d>>,
    pairs: Pairs<'d>,
    gaps: Gaps<'s, 'd>,
    order: u32,
}

impl<'s, 'd> Walk<'s, 'd> {
    pub(crate) fn new(sides: Sides<'s, 'd>, is_fast: bool) -> Walk<'s, 'd> {
        Walk {
            sides,
            same: Same::new(sides),
            found: Vec::new(),
            linked: Vec::new(),
            lockstep: Lockstep::new(sides, is_fast),
            stack: Vec::new(),
            pairs: Pairs::default(),
            gaps: Gaps::new(sides),
            order: 0,
        }
    }

    /// Whether both documents are equal, node by node.
    pub(crate) fn is_whole_the_same(&mut self) -> bool {
        let (left, right) = (self.sides.left.document, self.sides.right.document);
        self.lockstep.same(left.root().index(), right.root().index())
    }

    /// Visits each node of each document at most once.
    pub(crate) fn run(&mut self) {
        let (left, right) = (self.sides.left.document, self.sides.right.document);
        let (left, right) = (left.root(), right.root());
        // Perl's formats have a reference at the root, where others store the value directly.
        let is_across = self.sides.left.rules.is_across();
        // A reference to a reference is data: one more level of references.
        let inside = |root: Cursor<'d>| root.children().next().unwrap_or(root);
        let is_reference = |root: Cursor<'d>| {
            let is_one = root.kind() == Kind::Ref && !root.node().has(flag::TARGET);
            is_across && is_one && inside(root).kind() != Kind::Ref
        };
        self.stack.push(match (is_reference(left), is_reference(right)) {
            (true, false) if right.kind() != Kind::Ref => Task::Pair(inside(left), right),
            (false, true) if left.kind() != Kind::Ref => Task::Pair(left, inside(right)),
            _ => Task::Pair(left, right),
        });
        while let Some(task) = self.stack.pop() {
            match task {
                Task::Pair(left, right) => self.pair(left, right),
                Task::Replaced(left, right) => self.note(What::Changed(left, right)),
                Task::Removed(left, from) => self.note(What::Removed(left, from)),
                Task::Added(place) => self.note(What::Added(place)),
            }
        }
    }

    fn note(&mut self, what: What<'d>) {
        self.order += 1;
        self.found.push(Found { order: self.order, what });
    }

    fn pair(&mut self, left: Cursor<'d>, right: Cursor<'d>) {
        if self.lockstep.same(left.index(), right.index()) {
            return;
        }
        let (x, y, rules) = (left.node(), right.node(), self.sides.left.rules);
        if x.kind.is_again() || y.kind.is_again() {
            self.order += 1;
            return self.linked.push(Linked { order: self.order, left, right });
        }
        if x.has(flag::TARGET) {
            self.lockstep.beside.put(left.index(), right.index());
        }
        if rules.is_nothing(x) && rules.is_nothing(y) {
            return;
        }
        if !x.kind.is_container() && !y.kind.is_container() {
            const REFERENCE: u8 = flag::WEAK | flag::OVERLOAD;
            let differ = rules.is_exact() && (x.flags ^ y.flags) & REFERENCE != 0;
            // Most strings of most documents are equal to the byte.
            if differ || rules.leaf(left.document(), x) != rules.leaf(right.document(), y) {
                self.note(What::Changed(left, right));
            }
            return;
        }
        if !is_alike(self.sides, left, right) {
            return self.note(What::Changed(left, right));
        }
        let start = self.stack.len();
        match x.kind {
            Kind::Array => self.items(left, right),
            Kind::Map | Kind::Attrs => self.entries(left, right),
            kind => {
                let is_class_alone = rules.class(left.class()) != rules.class(right.class());
                let has_other_parts = left.len() != right.len() || is_class_alone && kind != Kind::Object;
                if has_other_parts {
                    return self.note(What::Changed(left, right));
                }
                if is_class_alone {
                    self.note(What::Class(left, right));
                }
                self.stack.extend(left.children().zip(right.children()).map(|(a, b)| Task::Pair(a, b)));
            }
        }
        // The task that is pushed last runs first.
        self.stack[start..].reverse();
    }

    fn entries(&mut self, left: Cursor<'d>, right: Cursor<'d>) {
        let (rules, is_field) = (self.sides.left.rules, is_fields(left) || is_fields(right));
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.find(self.sides, left, right, is_field);
        // For entries whose keys are values, equality of the keys is checked now.
        for at in (0..pairs.both.len()).rev() {
            if let (Key::Value(a), Key::Value(b)) = (pairs.both[at].0.key, pairs.both[at].1.key)
                && !self.same.same(self.sides, a, b)
            {
                let (a, b) = pairs.both.swap_remove(at);
                pairs.left.push(a);
                pairs.right.push(b);
            }
        }
        let attributes_differ = left.kind() == Kind::Attrs
            && !(pairs.left.is_empty()
                && pairs.right.is_empty()
                && rules.class(left.class()) == rules.class(right.class()));
        let is_whole = attributes_differ
            || !pairs.in_order && rules.is_exact()
            || beside(left, right).is_some_and(|(a, b)| left.kind() == Kind::Map && !self.same.same(self.sides, a, b));
        if is_whole {
            self.note(What::Changed(left, right));
        } else {
            if left.kind() == Kind::Attrs {
                self.stack.extend(beside(left, right).map(|(a, b)| Task::Pair(a, b)));
            }
            let mut removed = pairs.left.iter().peekable();
            for (a, b) in &pairs.both {
                while let Some(entry) = removed.next_if(|entry| entry.position < a.position) {
                    self.stack.push(Task::Removed(entry.value, left));
                }
                self.stack.push(Task::Pair(a.value, b.value));
            }
            self.stack.extend(removed.map(|entry| Task::Removed(entry.value, left)));
            self.stack.extend(pairs.right.iter().map(|entry| {
                Task::Added(Place { into: left, index: entry.position, key: Some(entry.key), value: entry.value })
            }));
        }
        self.pairs = pairs;
    }

    fn items(&mut self, left: Cursor<'d>, right: Cursor<'d>) {
        let children = |list: Cursor<'d>| -> Vec<u32> { list.children().map(|item| item.index()).collect() };
        let (a, b) = (children(left), children(right));
        let runs = match self.lockstep.is_on {
            true => lists::runs(&mut self.lockstep, &a, &b),
            false => lists::reference_runs(self.sides, &a, &b),
        };
        let ends = || runs.iter().map(|run| (run.left, run.right)).chain([(a.len(), b.len())]);
        let starts = [(0, 0)].into_iter().chain(runs.iter().map(|run| (run.left + run.len, run.right + run.len)));
        let between: Vec<_> = starts.zip(ends()).map(|(from, to)| (from.0..to.0, from.1..to.1)).collect();
        let elsewhere = self.gaps.elsewhere(&a, &b, &between);
        let mut rest: Vec<(usize, usize)> = Vec::new();
        for (at, (xs, ys)) in between.into_iter().enumerate() {
            if !xs.is_empty() || !ys.is_empty() {
                let is_here = |number: u64| elsewhere.binary_search(&number).is_err();
                let of_a = xs.clone().filter(|at| is_here(self.sides.left.number(a[*at])));
                let of_b = ys.clone().filter(|at| is_here(self.sides.right.number(b[*at])));
                let (of_a, of_b): (Vec<_>, Vec<_>) = (of_a.collect(), of_b.collect());
                rest.clear();
                self.gaps.pair((&a, &of_a), (&b, &of_b), &mut rest);
                self.gap((&a, xs), (&b, ys), &rest, left);
            }
            if let Some(run) = runs.get(at).filter(|run| !run.is_settled) {
                let pair = |at: usize| {
                    Task::Pair(self.sides.left.at(a[run.left + at]), self.sides.right.at(b[run.right + at]))
                };
                self.stack.extend((0..run.len).map(pair));
            }
        }
    }

    /// Handles the items between two equal ones; those in `paired` are counterparts.
    fn gap(
        &mut self,
        (a, left): (&[u32], Range<usize>),
        (b, right): (&[u32], Range<usize>),
        paired: &[(usize, usize)],
        into: Cursor<'d>,
    ) {
        let item = |at: usize| self.sides.left.at(a[at]);
        let other = |at: usize| self.sides.right.at(b[at]);
        let mut at = (left.start, right.start);
        for (x, y) in paired.iter().copied().chain([(left.end, right.end)]) {
            self.stack.extend((at.0..x).map(|at| Task::Removed(item(at), into)));
            let place = |at: usize| Place { into, index: at as u32, key: None, value: other(at) };
            self.stack.extend((at.1..y).map(|at| Task::Added(place(at))));
            if (x, y) != (left.end, right.end) {
                let (x, y) = (item(x), other(y));
                self.stack.push(if self.gaps.has_common(x, y) { Task::Pair(x, y) } else { Task::Replaced(x, y) });
            }
            at = (x + 1, y + 1);
        }
    }
}
