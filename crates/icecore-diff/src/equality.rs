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
        let (a, b) = (self.set_head(u64::from(left)), self.set_head(u64::from(right) | RIGHT_MARK));
        if a != b {
            // The head is chosen by a pseudo-random order, so that the paths stay short.
            let order = |head: u64| crate::hash::mix_hashes(head, 1);
            let (member, head) = if order(a) < order(b) { (a, b) } else { (b, a) };
            self.sets.insert(member, head);
            self.joins.push(member);
        }
        a == b
    }

    fn compare_pair(&mut self, sides: Sides<'_, 'd>, left: Cursor<'d>, right: Cursor<'d>, steps: &mut u64) -> bool {
        let rules = sides.left.rules;
        if rules.is_exact() {
            const REFERENCE_FLAGS: u8 = flag::WEAK | flag::OVERLOAD;
            let is_link = |cursor: Cursor<'_>| cursor.kind().is_again() && cursor.kind() != Kind::Copy;
            if (left.node().flags ^ right.node().flags) & REFERENCE_FLAGS != 0 || is_link(left) != is_link(right) {
                return false;
            }
        }
        let (a, b) = (left.target(), right.target());
        let (x, y) = (a.node(), b.node());
        let is_shared =
            x.has(flag::TARGET) || y.has(flag::TARGET) || self.remaining_comparisons == 0 && x.kind.is_container();
        if is_shared && self.join_sets(a.index(), b.index()) {
            return true;
        }
        if rules.is_empty_container(x) && rules.is_empty_container(y) {
            return true;
        }
        if !x.kind.is_container() || !y.kind.is_container() {
            let is_leaf = |kind: Kind| !kind.is_container() && !kind.is_again();
            return is_leaf(x.kind)
                && is_leaf(y.kind)
                && rules.leaf_meaning(a.document(), x) == rules.leaf_meaning(b.document(), y);
        }
        if !is_alike(sides, a, b) || rules.normalized_class(a.class()) != rules.normalized_class(b.class()) {
            return false;
        }
        if !matches!(x.kind, Kind::Map | Kind::Attrs) {
            *steps += u64::from(x.aux);
            let (mut left_children, mut right_children) = (a.children(), b.children());
            loop {
                match (left_children.next(), right_children.next()) {
                    (Some(a), Some(b)) => self.stack.push((a, b)),
                    (None, None) => return true,
                    _ => return false,
                }
            }
        }
        *steps += u64::from(x.aux) + u64::from(y.aux);
        let is_field = is_field_map(a) || is_field_map(b);
        let mut pairs = std::mem::take(&mut self.pairs);
        pairs.pair_entries(sides, a, b, is_field);
        let is_possible = pairs.left.is_empty() && pairs.right.is_empty() && (pairs.in_order || !rules.is_exact());
        if is_possible {
            for (a, b) in &pairs.common {
                if let (Key::Value(a), Key::Value(b)) = (a.key, b.key) {
                    self.stack.push((a, b));
                }
                self.stack.push((a.value, b.value));
            }
            self.stack.extend(non_entry_values(a, b));
        }
        self.pairs = pairs;
        is_possible
    }
}

/// Returns the values of two maps that are not entries, if both maps have one. Such a value is the default value of
/// the map, or the value that has attributes.
pub(crate) fn non_entry_values<'d>(a: Cursor<'d>, b: Cursor<'d>) -> Option<(Cursor<'d>, Cursor<'d>)> {
    let extra_value = |cursor: Cursor<'d>| match cursor.kind() {
        Kind::Attrs => cursor.children().next(),
        _ => cursor.default_value(),
    };
    extra_value(a).zip(extra_value(b))
}

/// Returns true if two containers are equal apart from class and content.
pub(crate) fn is_alike(sides: Sides<'_, '_>, a: Cursor<'_>, b: Cursor<'_>) -> bool {
    let (x, y, rules) = (a.node(), b.node(), sides.left.rules);
    let has_form = !matches!(x.kind, Kind::Array | Kind::Map);
    x.kind == y.kind && rules.relevant_flags(x) == rules.relevant_flags(y) && (!has_form || x.form() == y.form())
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
