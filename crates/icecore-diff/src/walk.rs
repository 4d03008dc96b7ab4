//! The walk over both documents side by side, along their trees. Links are put aside:
//! `links.rs` looks at them when it is known what else differs.

use crate::align::align;
use crate::gap::Gaps;
use crate::pairs::{Pairs, Sides};
use crate::same::{Same, beside, is_alike, is_fields};
use icecore::{Cursor, Key, Kind, raw::flag};
use std::collections::HashMap;

/// What was found, and where in the order of the walk.
pub(crate) struct Found<'d> {
    pub(crate) order: u32,
    pub(crate) what: What<'d>,
}

#[derive(Clone, Copy)]
pub(crate) enum What<'d> {
    Changed(Cursor<'d>, Cursor<'d>),
    /// Only the class.
    Class(Cursor<'d>, Cursor<'d>),
    Removed(Cursor<'d>),
    Added(Place<'d>),
    Moved(Cursor<'d>, Place<'d>),
}

/// Where something of the second document belongs in the first.
#[derive(Clone, Copy)]
pub(crate) struct Place<'d> {
    /// The container of the first document.
    pub(crate) into: Cursor<'d>,
    /// The position in the container of the second.
    pub(crate) index: u32,
    pub(crate) key: Option<Key<'d>>,
    pub(crate) value: Cursor<'d>,
}

/// Two values of which one at least is a link.
pub(crate) struct Linked<'d> {
    pub(crate) order: u32,
    pub(crate) left: Cursor<'d>,
    pub(crate) right: Cursor<'d>,
}

#[derive(Clone, Copy)]
enum Task<'d> {
    Pair(Cursor<'d>, Cursor<'d>),
    /// Two items of a list, each in the place of the other, that have nothing in common.
    Replaced(Cursor<'d>, Cursor<'d>),
    Removed(Cursor<'d>),
    Added(Place<'d>),
}

pub(crate) struct Walk<'s, 'd> {
    sides: Sides<'s, 'd>,
    pub(crate) same: Same<'d>,
    pub(crate) found: Vec<Found<'d>>,
    pub(crate) linked: Vec<Linked<'d>>,
    /// What links name, and stands beside what.
    pub(crate) beside: HashMap<u32, u32>,
    stack: Vec<Task<'d>>,
    pairs: Pairs<'d>,
    gaps: Gaps<'s, 'd>,
    order: u32,
}

impl<'s, 'd> Walk<'s, 'd> {
    pub(crate) fn new(sides: Sides<'s, 'd>) -> Walk<'s, 'd> {
        Walk {
            sides,
            same: Same::new(sides),
            found: Vec::new(),
            linked: Vec::new(),
            beside: HashMap::new(),
            stack: Vec::new(),
            pairs: Pairs::default(),
            gaps: Gaps::new(sides),
            order: 0,
        }
    }

    /// Every node of each document is met once at most.
    pub(crate) fn run(&mut self) {
        let (left, right) = (self.sides.left.document, self.sides.right.document);
        let (left, right) = (left.root(), right.root());
        // Perl's formats have a reference at the top: what others store as it is.
        let is_across = self.sides.left.rules.is_across();
        let is_reference = |root: Cursor<'_>| is_across && root.kind() == Kind::Ref && !root.node().has(flag::TARGET);
        let inside = |root: Cursor<'d>| root.children().next().unwrap_or(root);
        self.stack.push(match (is_reference(left), is_reference(right)) {
            (true, false) => Task::Pair(inside(left), right),
            (false, true) => Task::Pair(left, inside(right)),
            _ => Task::Pair(left, right),
        });
        while let Some(task) = self.stack.pop() {
            match task {
                Task::Pair(left, right) => self.pair(left, right),
                Task::Replaced(left, right) => self.note(What::Changed(left, right)),
                Task::Removed(left) => self.note(What::Removed(left)),
                Task::Added(place) => self.note(What::Added(place)),
            }
        }
    }

    fn note(&mut self, what: What<'d>) {
        self.order += 1;
        self.found.push(Found { order: self.order, what });
    }

    fn pair(&mut self, left: Cursor<'d>, right: Cursor<'d>) {
        let (x, y, rules) = (left.node(), right.node(), self.sides.left.rules);
        if x.kind.is_again() || y.kind.is_again() {
            self.order += 1;
            return self.linked.push(Linked { order: self.order, left, right });
        }
        if x.has(flag::TARGET) {
            self.beside.insert(left.index(), right.index());
        }
        if rules.is_nothing(x) && rules.is_nothing(y) {
            return;
        }
        if !x.kind.is_container() && !y.kind.is_container() {
            const REFERENCE: u8 = flag::WEAK | flag::OVERLOAD;
            let differ = rules.is_exact() && (x.flags ^ y.flags) & REFERENCE != 0;
            // Most strings of most documents are the same to the byte.
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
        // What was pushed last is looked at first.
        self.stack[start..].reverse();
    }

    fn entries(&mut self, left: Cursor<'d>, right: Cursor<'d>) {
        let (rules, is_field) = (self.sides.left.rules, is_fields(left) || is_fields(right));
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.find(self.sides, left, right, is_field);
        // An entry whose key is a value: whether that is the same is seen now.
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
                    self.stack.push(Task::Removed(entry.value));
                }
                self.stack.push(Task::Pair(a.value, b.value));
            }
            self.stack.extend(removed.map(|entry| Task::Removed(entry.value)));
            self.stack.extend(pairs.right.iter().map(|entry| {
                Task::Added(Place { into: left, index: entry.position, key: Some(entry.key), value: entry.value })
            }));
        }
        self.pairs = pairs;
    }

    fn items(&mut self, left: Cursor<'d>, right: Cursor<'d>) {
        let (a, b): (Vec<_>, Vec<_>) = (left.children().collect(), right.children().collect());
        let hashes = |side: &crate::side::Side<'d>, items: &[Cursor<'d>]| -> Vec<u64> {
            items.iter().map(|item| side.hash(*item)).collect()
        };
        let (of_a, of_b) = (hashes(self.sides.left, &a), hashes(self.sides.right, &b));
        if of_a == of_b {
            return self.stack.extend(a.into_iter().zip(b).map(|(a, b)| Task::Pair(a, b)));
        }
        let aligned = align(&of_a, &of_b);
        let elsewhere = self.gaps.elsewhere(&of_a, &of_b, &aligned);
        let (mut at, end) = ((0, 0), (a.len(), b.len()));
        let ends = aligned.iter().map(|(x, y)| (*x as usize, *y as usize)).chain([end]);
        let mut rest: Vec<(usize, usize)> = Vec::new();
        for anchor in ends {
            if at.0 < anchor.0 || at.1 < anchor.1 {
                let is_here = |hash: &u64| !elsewhere.contains(hash);
                let here = |range: std::ops::Range<usize>, hashes: &[u64]| -> Vec<usize> {
                    range.filter(|at| is_here(&hashes[*at])).collect()
                };
                let (xs, ys) = (here(at.0..anchor.0, &of_a), here(at.1..anchor.1, &of_b));
                rest.clear();
                self.gaps.pair((&a, &xs), (&b, &ys), &mut rest);
                self.gap((&a, at.0..anchor.0), (&b, at.1..anchor.1), &rest, left);
            }
            if anchor != end {
                self.stack.push(Task::Pair(a[anchor.0], b[anchor.1]));
            }
            at = (anchor.0 + 1, anchor.1 + 1);
        }
    }

    /// What stands between two items that are the same: of these, `paired` belong together.
    fn gap(
        &mut self,
        (a, left): (&[Cursor<'d>], std::ops::Range<usize>),
        (b, right): (&[Cursor<'d>], std::ops::Range<usize>),
        paired: &[(usize, usize)],
        into: Cursor<'d>,
    ) {
        let mut at = (left.start, right.start);
        for (x, y) in paired.iter().copied().chain([(left.end, right.end)]) {
            self.stack.extend((at.0..x).map(|at| Task::Removed(a[at])));
            let place = |at: usize| Place { into, index: at as u32, key: None, value: b[at] };
            self.stack.extend((at.1..y).map(|at| Task::Added(place(at))));
            if (x, y) != (left.end, right.end) {
                let has_common = self.gaps.has_common(a[x], b[y]);
                self.stack.push(if has_common { Task::Pair(a[x], b[y]) } else { Task::Replaced(a[x], b[y]) });
            }
            at = (x + 1, y + 1);
        }
    }
}
