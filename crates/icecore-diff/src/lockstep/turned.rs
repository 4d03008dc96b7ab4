//! Equality apart from the order of keys: perl writes the same hash in different orders.

use super::Lockstep;
use crate::tree;
use icecore::raw::{IS_KEY, NO_KEY, flag};
use icecore::{Document, Kind};

/// Larger maps are left to the walk, which has a table for them.
const FEW: usize = 32;

/// Data that is kept from one comparison to the next.
pub(crate) struct Turned {
    stack: Vec<(u32, u32)>,
    entries: Vec<(u16, u32)>,
    /// Number of nodes that failing comparisons may still visit.
    budget: u64,
}

impl Turned {
    pub(crate) fn new(document: &Document<'_>, other: &Document<'_>) -> Turned {
        let nodes = document.nodes().len() + other.nodes().len();
        Turned { stack: Vec::new(), entries: Vec::new(), budget: (nodes as u64).saturating_mul(8) }
    }
}

impl Lockstep<'_, '_> {
    /// Like [`Lockstep::looks_same`], or equal apart from the order of keys. Links and their targets are left to the
    /// walk; so is everything, after failing comparisons have cost eight times the size of the documents.
    pub(crate) fn means_same(&mut self, left: u32, right: u32) -> bool {
        if self.looks_same(left, right) {
            return true;
        }
        if !self.is_on || self.rules.is_exact() || self.turned.budget == 0 {
            return false;
        }
        let mut stack = std::mem::take(&mut self.turned.stack);
        stack.clear();
        let mut is_same = self.meet(left, right, &mut stack);
        let mut steps = 1;
        while let Some((left, right)) = stack.pop().filter(|_| is_same) {
            is_same = self.meet_inside(left, right, &mut stack);
            steps += 1 + self.sides.left.at(left).len() as u64;
        }
        self.turned.stack = stack;
        if !is_same {
            self.turned.budget = self.turned.budget.saturating_sub(steps);
        }
        is_same
    }

    /// Compares two leaves; containers are put on the stack.
    #[inline]
    fn meet(&mut self, left: u32, right: u32, stack: &mut Vec<(u32, u32)>) -> bool {
        let (document, other) = (self.sides.left.document, self.sides.right.document);
        let nodes = (document.nodes().get(left as usize), other.nodes().get(right as usize));
        let (Some(x), Some(y)) = nodes else { return false };
        if (x.flags | y.flags) & flag::TARGET != 0 || x.kind.is_again() || y.kind.is_again() {
            return false;
        }
        if x.kind.is_container() {
            stack.push((left, right));
            return true;
        }
        self.leaves(document, other, x, y)
    }

    /// Compares two containers without the containers in them, which are put on the stack.
    fn meet_inside(&mut self, left: u32, right: u32, stack: &mut Vec<(u32, u32)>) -> bool {
        let (document, other) = (self.sides.left.document, self.sides.right.document);
        let nodes = (document.nodes().get(left as usize), other.nodes().get(right as usize));
        let (Some(x), Some(y)) = nodes else { return false };
        if x.kind == Kind::Attrs || x.has(flag::DEFAULT) || !self.are_alike(x, y, (left, right)) {
            return false;
        }
        let (mut at, end) = (left + 1, tree::next(document, left));
        let (mut beside, other_end) = (right + 1, tree::next(other, right));
        if x.kind != Kind::Map {
            let mut is_same = true;
            while is_same && at < end && beside < other_end {
                is_same = self.meet(at, beside, stack);
                (at, beside) = (tree::next(document, at), tree::next(other, beside));
            }
            return is_same && at >= end && beside >= other_end;
        }
        let mut entries = std::mem::take(&mut self.turned.entries);
        entries.clear();
        while let Some(node) = other.nodes().get(beside as usize).filter(|_| beside < other_end && entries.len() <= FEW)
        {
            entries.push((node.key, beside));
            beside = tree::next(other, beside);
        }
        let mut is_same = entries.len() <= FEW;
        while let Some(node) = document.nodes().get(at as usize).filter(|_| is_same && at < end) {
            let is_named = node.key != NO_KEY && node.key < IS_KEY;
            let found = entries.iter().position(|(key, _)| is_named && self.keys.same(node.key, *key));
            let learn = || entries.iter().position(|(key, _)| is_named && self.learn_key(node.key, *key));
            let found = found.or_else(learn);
            is_same = found.is_some_and(|found| self.meet(at, entries.remove(found).1, stack));
            at = tree::next(document, at);
        }
        is_same &= entries.is_empty();
        self.turned.entries = entries;
        is_same
    }
}
