//! Equality of two values, including everything that they link to.

use crate::pairs::{Pairs, Sides};
use icecore::{Cursor, Key, Kind, raw::flag};
use std::collections::HashMap;

/// Compares values of two documents.
///
/// A target of a link is put into one set with its counterpart. Members of one set are not compared again, so cycles
/// end and the work is linear. If a comparison fails, the sets that it joined are separated again.
pub(crate) struct EqualityChecker<'d> {
    /// For each value that is not the head of its set, the next value on the way to the head.
    sets: HashMap<u64, u64>,
    /// The joins that this comparison made.
    joins: Vec<u64>,
    stack: Vec<(Cursor<'d>, Cursor<'d>)>,
    pairs: Pairs<'d>,
    /// The cost that failing comparisons may still have.
    budget: u64,
    /// Number of comparisons after which all containers are put into sets, and not only the targets of links. This is
    /// necessary because a cycle between two targets may be long.
    remaining_comparisons: u64,
}

/// Distinguishes values of the second document from those of the first.
const RIGHT_MARK: u64 = 1 << 32;

impl<'d> EqualityChecker<'d> {
    pub(crate) fn new(sides: Sides<'_, 'd>) -> EqualityChecker<'d> {
        let nodes = sides.left.document.nodes().len() + sides.right.document.nodes().len();
        EqualityChecker {
            sets: HashMap::new(),
            joins: Vec::new(),
            stack: Vec::new(),
            pairs: Pairs::default(),
            budget: (nodes as u64).saturating_mul(8).saturating_add(1024),
            remaining_comparisons: (nodes as u64).saturating_mul(2).saturating_add(1024),
        }
    }

    /// Returns `true` if they are equal. After failing comparisons have cost more than eight times the size of the
    /// documents, the result is always `false`.
    pub(crate) fn are_equal(&mut self, sides: Sides<'_, 'd>, left: Cursor<'d>, right: Cursor<'d>) -> bool {
        if self.budget == 0 {
            return false;
        }
        self.joins.clear();
        self.stack.clear();
        self.stack.push((left, right));
        let mut steps = 0;
        while let Some((left, right)) = self.stack.pop() {
            steps += 1;
            self.remaining_comparisons = self.remaining_comparisons.saturating_sub(1);
            if !self.compare_pair(sides, left, right, &mut steps) {
                self.budget = self.budget.saturating_sub(steps);
                for member in self.joins.drain(..) {
                    self.sets.remove(&member);
                }
                return false;
            }
        }
        true
    }

    fn set_head(&self, mut member: u64) -> u64 {
        while let Some(next) = self.sets.get(&member) {
            member = *next;
        }
        member
    }

    /// Joins the sets of both values. Returns true if they were already in the same set.
    fn join_sets(&mut self, left: u32, right: u32) -> bool {
        let (left_head, right_head) = (self.set_head(u64::from(left)), self.set_head(u64::from(right) | RIGHT_MARK));
        if left_head != right_head {
            // The head is chosen by a pseudo-random order, so that the paths stay short.
            let order = |head: u64| crate::hash::mix_hashes(head, 1);
            let (member, head) =
                if order(left_head) < order(right_head) { (left_head, right_head) } else { (right_head, left_head) };
            self.sets.insert(member, head);
            self.joins.push(member);
        }
        left_head == right_head
    }

    /// Compares two values without their children, which are put on the stack. Adds to `steps` the children that
    /// it looked at. Returns false if the values differ.
    fn compare_pair(&mut self, sides: Sides<'_, 'd>, left: Cursor<'d>, right: Cursor<'d>, steps: &mut u64) -> bool {
        let rules = sides.left.rules;
        if rules.is_exact() {
            const REFERENCE_FLAGS: u8 = flag::WEAK | flag::OVERLOAD;
            let is_link = |cursor: Cursor<'_>| cursor.kind().is_again() && cursor.kind() != Kind::Copy;
            if (left.node().flags ^ right.node().flags) & REFERENCE_FLAGS != 0 || is_link(left) != is_link(right) {
                return false;
            }
        }
        let (left_target, right_target) = (left.target(), right.target());
        let (left_node, right_node) = (left_target.node(), right_target.node());
        let is_shared = left_node.has(flag::TARGET)
            || right_node.has(flag::TARGET)
            || self.remaining_comparisons == 0 && left_node.kind.is_container();
        if is_shared && self.join_sets(left_target.index(), right_target.index()) {
            return true;
        }
        if rules.is_empty_container(left_node) && rules.is_empty_container(right_node) {
            return true;
        }
        if !left_node.kind.is_container() || !right_node.kind.is_container() {
            let is_leaf = |kind: Kind| !kind.is_container() && !kind.is_again();
            return is_leaf(left_node.kind)
                && is_leaf(right_node.kind)
                && rules.leaf_meaning(left_target.document(), left_node)
                    == rules.leaf_meaning(right_target.document(), right_node);
        }
        if !is_alike(sides, left_target, right_target)
            || rules.normalized_class(left_target.class()) != rules.normalized_class(right_target.class())
        {
            return false;
        }
        if !matches!(left_node.kind, Kind::Map | Kind::Attrs) {
            *steps += u64::from(left_node.aux);
            let (mut left_children, mut right_children) = (left_target.children(), right_target.children());
            loop {
                match (left_children.next(), right_children.next()) {
                    (Some(left_child), Some(right_child)) => self.stack.push((left_child, right_child)),
                    (None, None) => return true,
                    _ => return false,
                }
            }
        }
        *steps += u64::from(left_node.aux) + u64::from(right_node.aux);
        let is_field = is_field_map(left_target) || is_field_map(right_target);
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.pair_entries(sides, left_target, right_target, is_field);
        let is_possible = pairs.left.is_empty() && pairs.right.is_empty() && (pairs.in_order || !rules.is_exact());
        if is_possible {
            for (left_entry, right_entry) in &pairs.common {
                if let (Key::Value(left_key), Key::Value(right_key)) = (left_entry.key, right_entry.key) {
                    self.stack.push((left_key, right_key));
                }
                self.stack.push((left_entry.value, right_entry.value));
            }
            self.stack.extend(non_entry_values(left_target, right_target));
        }
        self.pairs = pairs;
        is_possible
    }
}

/// Returns the values of two maps that are not entries, if both maps have one. Such a value is the default value of
/// the map, or the value that has attributes.
pub(crate) fn non_entry_values<'d>(left: Cursor<'d>, right: Cursor<'d>) -> Option<(Cursor<'d>, Cursor<'d>)> {
    let extra_value = |cursor: Cursor<'d>| match cursor.kind() {
        Kind::Attrs => cursor.children().next(),
        _ => cursor.default_value(),
    };
    extra_value(left).zip(extra_value(right))
}

/// Returns true if two containers are equal apart from class and content.
pub(crate) fn is_alike(sides: Sides<'_, '_>, left: Cursor<'_>, right: Cursor<'_>) -> bool {
    let (left_node, right_node, rules) = (left.node(), right.node(), sides.left.rules);
    let has_form = !matches!(left_node.kind, Kind::Array | Kind::Map);
    left_node.kind == right_node.kind
        && rules.relevant_flags(left_node) == rules.relevant_flags(right_node)
        && (!has_form || left_node.form() == right_node.form())
}

/// Returns true if the entries of this map are the fields of an object. The node of the object directly precedes the
/// map.
pub(crate) fn is_field_map(map: Cursor<'_>) -> bool {
    if map.kind() == Kind::Attrs {
        return true;
    }
    let outer = map.index().checked_sub(1).and_then(|index| map.document().at(index));
    outer.is_some_and(|outer| outer.kind() == Kind::Object && outer.node().end() > map.index())
}
