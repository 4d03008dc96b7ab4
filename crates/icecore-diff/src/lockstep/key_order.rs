//! Compares values apart from the order of keys, because perl writes the same hash in different orders.

use super::Lockstep;
use crate::tree;
use icecore::raw::{IS_KEY, NO_KEY, flag};
use icecore::{Document, Kind};

/// Maximum number of entries of a map that is compared here. Larger maps are left to the walk, because it has a table
/// of keys.
const MAX_ENTRIES: usize = 32;

/// Memory and a budget that comparisons share.
pub(crate) struct ReorderedState {
    stack: Vec<(u32, u32)>,
    entries: Vec<(u16, u32)>,
    /// Number of nodes that failing comparisons may still visit.
    budget: u64,
}

impl ReorderedState {
    pub(crate) fn new(left_document: &Document<'_>, right_document: &Document<'_>) -> ReorderedState {
        let nodes = left_document.nodes().len() + right_document.nodes().len();
        ReorderedState { stack: Vec::new(), entries: Vec::new(), budget: (nodes as u64).saturating_mul(8) }
    }
}

impl Lockstep<'_, '_> {
    /// Returns true if these values are equal. The order of keys may differ. Returns false for links and their
    /// targets, and for all values after failing comparisons have cost eight times the size of the documents. The
    /// walk compares such values instead.
    pub(crate) fn means_same(&mut self, left: u32, right: u32) -> bool {
        if self.looks_same(left, right) {
            return true;
        }
        if !self.is_enabled || self.rules.is_exact() || self.reordered.budget == 0 {
            return false;
        }
        let mut stack = std::mem::take(&mut self.reordered.stack);
        stack.clear();
        let mut is_same = self.compare_or_push(left, right, &mut stack);
        let mut steps = 1;
        while let Some((left, right)) = stack.pop().filter(|_| is_same) {
            is_same = self.compare_children(left, right, &mut stack);
            steps += 1 + self.sides.left.value_at(left).len() as u64;
        }
        self.reordered.stack = stack;
        if !is_same {
            self.reordered.budget = self.reordered.budget.saturating_sub(steps);
        }
        is_same
    }

    /// Compares two leaves. Containers are put on the stack instead.
    #[inline]
    fn compare_or_push(&mut self, left: u32, right: u32, stack: &mut Vec<(u32, u32)>) -> bool {
        let (left_document, right_document) = (self.sides.left.document, self.sides.right.document);
        let nodes = (left_document.nodes().get(left as usize), right_document.nodes().get(right as usize));
        let (Some(left_node), Some(right_node)) = nodes else { return false };
        if (left_node.flags | right_node.flags) & flag::TARGET != 0
            || left_node.kind.is_again()
            || right_node.kind.is_again()
        {
            return false;
        }
        if left_node.kind.is_container() {
            stack.push((left, right));
            return true;
        }
        self.compare_leaves(left_document, right_document, left_node, right_node)
    }

    /// Compares two containers without their inner containers. The inner ones are put on the stack.
    fn compare_children(&mut self, left: u32, right: u32, stack: &mut Vec<(u32, u32)>) -> bool {
        let (left_document, right_document) = (self.sides.left.document, self.sides.right.document);
        let nodes = (left_document.nodes().get(left as usize), right_document.nodes().get(right as usize));
        let (Some(left_node), Some(right_node)) = nodes else { return false };
        if left_node.kind == Kind::Attrs
            || left_node.has(flag::DEFAULT)
            || !self.are_alike(left_node, right_node, (left, right))
        {
            return false;
        }
        let (mut left_child, end) = (left + 1, tree::index_after(left_document, left));
        let (mut right_child, other_end) = (right + 1, tree::index_after(right_document, right));
        if left_node.kind != Kind::Map {
            let mut is_same = true;
            while is_same && left_child < end && right_child < other_end {
                is_same = self.compare_or_push(left_child, right_child, stack);
                (left_child, right_child) =
                    (tree::index_after(left_document, left_child), tree::index_after(right_document, right_child));
            }
            return is_same && left_child >= end && right_child >= other_end;
        }
        let mut entries = std::mem::take(&mut self.reordered.entries);
        entries.clear();
        while let Some(node) = right_document
            .nodes()
            .get(right_child as usize)
            .filter(|_| right_child < other_end && entries.len() <= MAX_ENTRIES)
        {
            entries.push((node.key, right_child));
            right_child = tree::index_after(right_document, right_child);
        }
        let mut is_same = entries.len() <= MAX_ENTRIES;
        while let Some(node) = left_document.nodes().get(left_child as usize).filter(|_| is_same && left_child < end) {
            let is_named = node.key != NO_KEY && node.key < IS_KEY;
            let position = entries.iter().position(|(key, _)| is_named && self.keys.are_equal(node.key, *key));
            let find_unknown = || entries.iter().position(|(key, _)| is_named && self.learn_key(node.key, *key));
            let position = position.or_else(find_unknown);
            is_same =
                position.is_some_and(|position| self.compare_or_push(left_child, entries.remove(position).1, stack));
            left_child = tree::index_after(left_document, left_child);
        }
        is_same &= entries.is_empty();
        self.reordered.entries = entries;
        is_same
    }
}
