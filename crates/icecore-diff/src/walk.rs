//! Walks over the trees of both documents side by side. Links are only collected here. `links.rs` compares them after
//! all other differences are known.

use crate::equality::{EqualityChecker, is_alike, is_field_map, non_entry_values};
use crate::gap::Gaps;
use crate::lists;
use crate::lockstep::{Algorithm, Lockstep};
use crate::pairs::{Pairs, Sides};
use icecore::{Cursor, Key, Kind, raw::flag};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A difference, and its position in the order of the walk.
pub(crate) struct OrderedChange<'d> {
    pub(crate) order: u32,
    pub(crate) change: FoundChange<'d>,
}

/// A difference that the walk found.
#[derive(Clone, Copy)]
pub(crate) enum FoundChange<'d> {
    Changed(Cursor<'d>, Cursor<'d>),
    /// Only the class differs.
    Class(Cursor<'d>, Cursor<'d>),
    /// The value, and its container.
    Removed(Cursor<'d>, Cursor<'d>),
    Added(InsertPosition<'d>),
    Moved(Cursor<'d>, InsertPosition<'d>),
}

/// The place where a value of the second document is inserted into the first document.
#[derive(Clone, Copy)]
pub(crate) struct InsertPosition<'d> {
    /// The container in the first document.
    pub(crate) into: Cursor<'d>,
    /// The position in the container of the second document.
    pub(crate) index: u32,
    pub(crate) key: Option<Key<'d>>,
    pub(crate) value: Cursor<'d>,
}

/// Two values, at least one of which is a link.
pub(crate) struct LinkPair<'d> {
    pub(crate) order: u32,
    pub(crate) left: Cursor<'d>,
    pub(crate) right: Cursor<'d>,
}

/// Maximum depth of shared values within shared values that are compared although they are stored at different places.
const MAX_SHARED_DEPTH: usize = 64;

/// What the walk still has to do.
#[derive(Clone, Copy)]
enum WalkTask<'d> {
    Pair(Cursor<'d>, Cursor<'d>),
    /// Two items of a list at the same place that have nothing in common.
    Replaced(Cursor<'d>, Cursor<'d>),
    Removed(Cursor<'d>, Cursor<'d>),
    Added(InsertPosition<'d>),
}

/// A walk over both trees, with the changes that it found.
pub(crate) struct TreeWalk<'s, 'd> {
    sides: Sides<'s, 'd>,
    pub(crate) equality: EqualityChecker<'d>,
    pub(crate) changes: Vec<OrderedChange<'d>>,
    pub(crate) linked: Vec<LinkPair<'d>>,
    pub(crate) lockstep: Lockstep<'s, 'd>,
    stack: Vec<WalkTask<'d>>,
    pairs: Pairs<'d>,
    gaps: Gaps<'s, 'd>,
    order: u32,
}

/// Records the counterpart of a value, or that it has several.
fn record_counterpart(counterparts: &mut HashMap<u32, Option<u32>>, value: u32, counterpart: u32) {
    let known = counterparts.entry(value).or_insert(Some(counterpart));
    if *known != Some(counterpart) {
        *known = None;
    }
}

impl<'s, 'd> TreeWalk<'s, 'd> {
    pub(crate) fn new(sides: Sides<'s, 'd>, algorithm: Algorithm) -> TreeWalk<'s, 'd> {
        TreeWalk {
            sides,
            equality: EqualityChecker::new(sides),
            changes: Vec::new(),
            linked: Vec::new(),
            lockstep: Lockstep::new(sides, algorithm),
            stack: Vec::new(),
            pairs: Pairs::default(),
            gaps: Gaps::new(sides),
            order: 0,
        }
    }

    /// Returns true if both documents are equal, node by node.
    pub(crate) fn are_documents_equal(&mut self) -> bool {
        let (left, right) = (self.sides.left.document, self.sides.right.document);
        self.lockstep.are_equal(left.root().index(), right.root().index())
    }

    /// Finds all changes except those at links. Each node of each document is visited at most once.
    pub(crate) fn walk_trees(&mut self) {
        let (left, right) = (self.sides.left.document, self.sides.right.document);
        let (left, right) = (left.root(), right.root());
        // Perl's formats have a reference at the root. Other formats store the value itself there. So across formats,
        // such a reference is skipped.
        let is_across = self.sides.left.rules.is_across_formats();
        // If the root is a reference to a reference, the second reference is a part of the data. Such a root is not
        // skipped.
        let referent = |root: Cursor<'d>| root.children().next().unwrap_or(root);
        let is_reference = |root: Cursor<'d>| {
            let may_be_storage = root.kind() == Kind::Ref && !root.node().has(flag::TARGET);
            is_across && may_be_storage && referent(root).kind() != Kind::Ref
        };
        self.stack.push(match (is_reference(left), is_reference(right)) {
            (true, false) if right.kind() != Kind::Ref => WalkTask::Pair(referent(left), right),
            (false, true) if left.kind() != Kind::Ref => WalkTask::Pair(left, referent(right)),
            _ => WalkTask::Pair(left, right),
        });
        self.run_tasks();
        for _ in 0..MAX_SHARED_DEPTH {
            if !self.push_shared_values() {
                break;
            }
            self.run_tasks();
        }
    }

    fn run_tasks(&mut self) {
        while let Some(task) = self.stack.pop() {
            match task {
                WalkTask::Pair(left, right) => self.compare_values(left, right),
                WalkTask::Replaced(left, right) => self.record_change(FoundChange::Changed(left, right)),
                WalkTask::Removed(left, from) => self.record_change(FoundChange::Removed(left, from)),
                WalkTask::Added(target) => self.record_change(FoundChange::Added(target)),
            }
        }
    }

    /// Pushes pairs of shared values that are stored at different places: each document has a link where the other one
    /// has the value. Perl writes the keys of a hash in any order, and the first place of a shared value has the value.
    /// Values that are paired with several others, or were paired already, stay different at the links. Returns whether
    /// there are such pairs.
    fn push_shared_values(&mut self) -> bool {
        if self.sides.left.rules.is_exact() {
            return false;
        }
        // For each value of either document, its counterpart, or `None` if there are several.
        let (mut by_left, mut by_right) = (HashMap::new(), HashMap::new());
        let mut left_values = HashSet::new();
        let mut right_values = Vec::new();
        for link in self.linked.iter().filter(|link| link.left.kind().is_again() != link.right.kind().is_again()) {
            let targets = (link.left.target().index(), link.right.target().index());
            record_counterpart(&mut by_left, targets.0, targets.1);
            record_counterpart(&mut by_right, targets.1, targets.0);
            match link.left.kind().is_again() {
                true => right_values.push(link),
                false => drop(left_values.insert(targets)),
            }
        }
        if left_values.is_empty() || right_values.is_empty() {
            return false;
        }
        let paired_right_values = self.lockstep.counterparts.by_right_node();
        let mut found = Vec::new();
        for link in right_values {
            let targets = (link.left.target().index(), link.right.target().index());
            let is_only_pair =
                by_left.get(&targets.0) == Some(&Some(targets.1)) && by_right.get(&targets.1) == Some(&Some(targets.0));
            let is_value = |cursor: Cursor<'_>| cursor.kind() != Kind::Copy;
            if left_values.remove(&targets)
                && is_only_pair
                && is_value(link.left)
                && !self.lockstep.counterparts.has_left(targets.0)
                && !paired_right_values.contains_key(&targets.1)
            {
                found.push(WalkTask::Pair(link.left.target(), link.right));
            }
        }
        found.reverse();
        self.stack.extend(found);
        !self.stack.is_empty()
    }

    fn record_change(&mut self, change: FoundChange<'d>) {
        self.order += 1;
        self.changes.push(OrderedChange { order: self.order, change });
    }

    /// Compares two values. Records a change if they differ as wholes, and otherwise puts their children on the
    /// stack.
    fn compare_values(&mut self, left: Cursor<'d>, right: Cursor<'d>) {
        if self.lockstep.are_equal(left.index(), right.index()) {
            return;
        }
        let (left_node, right_node, rules) = (left.node(), right.node(), self.sides.left.rules);
        if left_node.kind.is_again() || right_node.kind.is_again() {
            self.order += 1;
            return self.linked.push(LinkPair { order: self.order, left, right });
        }
        if left_node.has(flag::TARGET) || right_node.has(flag::TARGET) {
            self.lockstep.counterparts.record_pair(left.index(), right.index());
        }
        if rules.is_empty_container(left_node) && rules.is_empty_container(right_node) {
            return;
        }
        if !left_node.kind.is_container() && !right_node.kind.is_container() {
            const REFERENCE_FLAGS: u8 = flag::WEAK | flag::OVERLOAD;
            let references_differ = rules.is_exact() && (left_node.flags ^ right_node.flags) & REFERENCE_FLAGS != 0;
            if references_differ
                || rules.leaf_meaning(left.document(), left_node) != rules.leaf_meaning(right.document(), right_node)
            {
                self.record_change(FoundChange::Changed(left, right));
            }
            return;
        }
        if !is_alike(self.sides, left, right) {
            return self.record_change(FoundChange::Changed(left, right));
        }
        let start = self.stack.len();
        match left_node.kind {
            Kind::Array => self.compare_items(left, right),
            Kind::Map | Kind::Attrs => self.compare_entries(left, right),
            kind => {
                let has_other_class = rules.normalized_class(left.class()) != rules.normalized_class(right.class());
                let has_other_parts = left.len() != right.len() || has_other_class && kind != Kind::Object;
                if has_other_parts {
                    return self.record_change(FoundChange::Changed(left, right));
                }
                if has_other_class {
                    self.record_change(FoundChange::Class(left, right));
                }
                self.stack
                    .extend(left.children().zip(right.children()).map(|(left, right)| WalkTask::Pair(left, right)));
            }
        }
        // The task that is pushed last runs first.
        self.stack[start..].reverse();
    }

    /// Compares the entries of two maps, or the attributes of two values.
    fn compare_entries(&mut self, left: Cursor<'d>, right: Cursor<'d>) {
        let (rules, is_field) = (self.sides.left.rules, is_field_map(left) || is_field_map(right));
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.pair_entries(self.sides, left, right, is_field);
        // Keys that are values were paired by their numbers, and different values can have the same number. So their
        // equality is checked now. The loop runs backwards, because `swap_remove` moves the last pair.
        for index in (0..pairs.common.len()).rev() {
            if let (Key::Value(left_key), Key::Value(right_key)) =
                (pairs.common[index].0.key, pairs.common[index].1.key)
                && !self.equality.are_equal(self.sides, left_key, right_key)
            {
                let (left_entry, right_entry) = pairs.common.swap_remove(index);
                pairs.left.push(left_entry);
                pairs.right.push(right_entry);
            }
        }
        let attributes_differ = left.kind() == Kind::Attrs
            && !(pairs.left.is_empty()
                && pairs.right.is_empty()
                && rules.normalized_class(left.class()) == rules.normalized_class(right.class()));
        let is_changed_as_whole = attributes_differ
            || !pairs.in_order && rules.is_exact()
            || non_entry_values(left, right).is_some_and(|(left_value, right_value)| {
                left.kind() == Kind::Map && !self.equality.are_equal(self.sides, left_value, right_value)
            });
        if is_changed_as_whole {
            self.record_change(FoundChange::Changed(left, right));
        } else {
            if left.kind() == Kind::Attrs {
                self.stack.extend(
                    non_entry_values(left, right)
                        .map(|(left_value, right_value)| WalkTask::Pair(left_value, right_value)),
                );
            }
            let mut removed = pairs.left.iter().peekable();
            for (left_entry, right_entry) in &pairs.common {
                while let Some(entry) = removed.next_if(|entry| entry.position < left_entry.position) {
                    self.stack.push(WalkTask::Removed(entry.value, left));
                }
                self.stack.push(WalkTask::Pair(left_entry.value, right_entry.value));
            }
            self.stack.extend(removed.map(|entry| WalkTask::Removed(entry.value, left)));
            self.stack.extend(pairs.right.iter().map(|entry| {
                WalkTask::Added(InsertPosition {
                    into: left,
                    index: entry.position,
                    key: Some(entry.key),
                    value: entry.value,
                })
            }));
        }
        self.pairs = pairs;
    }

    /// Compares the items of two lists: finds runs of equal items, and then pairs the items between the runs.
    fn compare_items(&mut self, left: Cursor<'d>, right: Cursor<'d>) {
        let children = |list: Cursor<'d>| -> Vec<u32> { list.children().map(|item| item.index()).collect() };
        let (left_items, right_items) = (children(left), children(right));
        let runs = match self.lockstep.is_enabled {
            true => lists::find_runs(&mut self.lockstep, &left_items, &right_items),
            false => lists::find_reference_runs(self.sides, &left_items, &right_items),
        };
        let ends = || runs.iter().map(|run| (run.left, run.right)).chain([(left_items.len(), right_items.len())]);
        let starts = [(0, 0)].into_iter().chain(runs.iter().map(|run| (run.left + run.len, run.right + run.len)));
        let between: Vec<_> = starts.zip(ends()).map(|(from, to)| (from.0..to.0, from.1..to.1)).collect();
        let moved_numbers = self.gaps.find_moved_numbers(&left_items, &right_items, &between);
        let mut gap_pairs: Vec<(usize, usize)> = Vec::new();
        for (run_index, (left_range, right_range)) in between.into_iter().enumerate() {
            if !left_range.is_empty() || !right_range.is_empty() {
                let is_unmoved = |number: u64| moved_numbers.binary_search(&number).is_err();
                let left_positions =
                    left_range.clone().filter(|index| is_unmoved(self.sides.left.node_hash(left_items[*index])));
                let right_positions =
                    right_range.clone().filter(|index| is_unmoved(self.sides.right.node_hash(right_items[*index])));
                let (left_positions, right_positions): (Vec<_>, Vec<_>) =
                    (left_positions.collect(), right_positions.collect());
                gap_pairs.clear();
                self.gaps.pair_items((&left_items, &left_positions), (&right_items, &right_positions), &mut gap_pairs);
                self.compare_gap((&left_items, left_range), (&right_items, right_range), &gap_pairs, left);
            }
            if let Some(run) = runs.get(run_index).filter(|run| !run.is_equal_by_nodes) {
                let pair = |index: usize| {
                    WalkTask::Pair(
                        self.sides.left.value_at(left_items[run.left + index]),
                        self.sides.right.value_at(right_items[run.right + index]),
                    )
                };
                self.stack.extend((0..run.len).map(pair));
            }
        }
    }

    /// Handles the items between two runs of equal items. The pairs in `paired` are counterparts.
    fn compare_gap(
        &mut self,
        (left_items, left_range): (&[u32], Range<usize>),
        (right_items, right_range): (&[u32], Range<usize>),
        paired: &[(usize, usize)],
        into: Cursor<'d>,
    ) {
        let left_item = |index: usize| self.sides.left.value_at(left_items[index]);
        let right_item = |index: usize| self.sides.right.value_at(right_items[index]);
        let mut next = (left_range.start, right_range.start);
        for (left_index, right_index) in paired.iter().copied().chain([(left_range.end, right_range.end)]) {
            self.stack.extend((next.0..left_index).map(|index| WalkTask::Removed(left_item(index), into)));
            let target =
                |index: usize| InsertPosition { into, index: index as u32, key: None, value: right_item(index) };
            self.stack.extend((next.1..right_index).map(|index| WalkTask::Added(target(index))));
            if (left_index, right_index) != (left_range.end, right_range.end) {
                let (left, right) = (left_item(left_index), right_item(right_index));
                self.stack.push(if self.gaps.has_common(left, right) {
                    WalkTask::Pair(left, right)
                } else {
                    WalkTask::Replaced(left, right)
                });
            }
            next = (left_index + 1, right_index + 1);
        }
    }
}
