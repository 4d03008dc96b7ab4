//! Follows both tapes side by side, node by node, while they are equal.
//!
//! Most parts of two documents are usually stored alike. They have the same sequence of nodes, with other offsets.
//! Such parts are found here without a tree, without the numbers of `Hashes`, and without an allocation. Values that
//! are not found equal here may still be equal. [`TreeWalk`](crate::walk::TreeWalk) checks that.
//!
//! The range that was compared last is kept. A value that begins in the range is equal if it ends in the range. It is
//! not equal if the range ends inside the value. So on the way down to a difference nothing is compared twice, at any
//! depth.

mod key_order;

use crate::pairs::Sides;
use crate::rules::Rules;
use crate::tree;
use icecore::raw::{IS_KEY, KEY_NODE, NO_KEY, Node, flag};
use icecore::{Document, Kind};
use key_order::ReorderedState;
use std::collections::HashMap;

/// Flags that common nodes do not have.
const UNCOMMON_FLAGS: u8 = !(flag::REF | flag::HINT);

/// How documents are compared. Both algorithms find the same differences.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    /// Equal parts are skipped in one step.
    Fast,
    /// Every value is examined separately.
    Reference,
}

/// A comparison of both tapes, node by node.
pub(crate) struct Lockstep<'s, 'd> {
    pub(crate) sides: Sides<'s, 'd>,
    /// If false, nothing counts as equal here, because the readable twin examines every value separately.
    pub(crate) is_enabled: bool,
    pub(crate) rules: Rules,
    /// Flags that are compared for every value.
    compared_flags: u8,
    pub(crate) keys: EqualIds,
    classes: EqualIds,
    stretch: EqualStretch,
    /// The values in the range to which links lead, in order. Each entry has the node in both documents.
    targets: Vec<(u32, u32)>,
    /// Targets of links, with their counterparts.
    pub(crate) counterparts: Counterparts,
    pub(crate) reordered: ReorderedState,
}

/// The first nodes of a range in which both documents are equal, and the length of the range.
#[derive(Clone, Copy, Default)]
struct EqualStretch {
    left: u32,
    right: u32,
    len: u32,
}

impl EqualStretch {
    /// Returns true if both nodes are in the range, at the same offset. An index before the range wraps to an offset
    /// that is too large.
    fn contains_pair(self, left: u32, right: u32) -> bool {
        let offset = left.wrapping_sub(self.left);
        offset < self.len && right.wrapping_sub(self.right) == offset
    }
}

impl<'s, 'd> Lockstep<'s, 'd> {
    pub(crate) fn new(sides: Sides<'s, 'd>, algorithm: Algorithm) -> Lockstep<'s, 'd> {
        Lockstep {
            sides,
            is_enabled: algorithm == Algorithm::Fast,
            rules: sides.left.rules,
            compared_flags: if sides.left.rules.is_exact() { flag::WEAK | flag::OVERLOAD } else { 0 },
            keys: EqualIds::default(),
            classes: EqualIds::default(),
            stretch: EqualStretch::default(),
            targets: Vec::new(),
            counterparts: Counterparts::new(sides.left.document),
            reordered: ReorderedState::new(sides.left.document, sides.right.document),
        }
    }

    /// Returns `true` if these values are equal, node by node. Targets of links in them are then recorded as
    /// counterparts.
    pub(crate) fn are_equal(&mut self, left: u32, right: u32) -> bool {
        let is_same = self.looks_same(left, right);
        if is_same && !self.targets.is_empty() {
            let end = tree::index_after(self.sides.left.document, left);
            let first = self.targets.partition_point(|(named, _)| *named < left);
            for (named, other) in self.targets[first..].iter().take_while(|(named, _)| *named < end) {
                self.counterparts.record_pair(*named, *other);
            }
        }
        is_same
    }

    /// Returns the same as [`Lockstep::are_equal`], but for values that may not be counterparts.
    pub(crate) fn looks_same(&mut self, left: u32, right: u32) -> bool {
        if !self.is_enabled {
            return false;
        }
        let end = tree::index_after(self.sides.left.document, left);
        if !self.stretch.contains_pair(left, right) {
            self.compare_nodes(left, right, end);
        }
        end <= self.stretch.left + self.stretch.len
    }

    /// Compares nodes from these on, up to `end` in the first document, until two differ.
    fn compare_nodes(&mut self, left: u32, right: u32, end: u32) {
        self.stretch = EqualStretch { left, right, len: 0 };
        self.targets.clear();
        let (left_document, right_document) = (self.sides.left.document, self.sides.right.document);
        let left_nodes = left_document.nodes().get(left as usize..end as usize).unwrap_or(&[]);
        let right_nodes = right_document.nodes().get(right as usize..).unwrap_or(&[]);
        for (index, (left_node, right_node)) in left_nodes.iter().zip(right_nodes).enumerate() {
            // This is a faster check for common nodes. `compare_pair` decides for all others. A key below `IS_KEY` is
            // an id, or says that there is no key. Containers must have the same number of nodes. An `end` of 0 means
            // that the document breaks off inside of the container.
            let is_usual = left_node.kind == right_node.kind
                && (left_node.flags | right_node.flags) & UNCOMMON_FLAGS == 0
                && left_node.key < IS_KEY
                && self.keys.are_equal(left_node.key, right_node.key)
                && match left_node.kind {
                    Kind::Array | Kind::Map => {
                        left_node.aux == right_node.aux
                            && left_node.end() != 0
                            && left_node.end().wrapping_sub(left) == right_node.end().wrapping_sub(right)
                    }
                    _ => are_usual_leaves(left_document, right_document, left_node, right_node),
                };
            if !is_usual {
                // All nodes before this one are equal. `compare_pair` computes the indexes of the nodes from this
                // length.
                self.stretch.len = index as u32;
                if !self.compare_pair(left_document, right_document, left_node, right_node) {
                    return;
                }
            }
        }
        self.stretch.len = left_nodes.len().min(right_nodes.len()) as u32;
    }

    fn compare_pair(
        &mut self,
        left_document: &'d Document<'d>,
        right_document: &'d Document<'d>,
        left_node: &Node,
        right_node: &Node,
    ) -> bool {
        if (left_node.flags ^ right_node.flags) & self.compared_flags != 0
            || !self.keys.are_equal(left_node.key, right_node.key) && !self.learn_key(left_node.key, right_node.key)
        {
            return false;
        }
        if left_node.key == IS_KEY && !self.have_equal_key_flags(left_node, right_node) {
            return false;
        }
        if left_node.has(flag::TARGET) || right_node.has(flag::TARGET) {
            self.targets.push((self.stretch.left + self.stretch.len, self.stretch.right + self.stretch.len));
        }
        if left_node.kind.is_container() {
            return self.compare_containers(left_node, right_node);
        }
        self.compare_leaves(left_document, right_document, left_node, right_node)
    }

    fn compare_containers(&mut self, left_node: &Node, right_node: &Node) -> bool {
        let indexes = (self.stretch.left + self.stretch.len, self.stretch.right + self.stretch.len);
        // A container has no end if the document breaks off in it.
        left_node.end() != 0
            && left_node.end().wrapping_sub(indexes.0) == right_node.end().wrapping_sub(indexes.1)
            && self.are_alike(left_node, right_node, indexes)
    }

    /// Returns `true` if two containers, which are at these nodes, are equal apart from their content.
    pub(crate) fn are_alike(&mut self, left_node: &Node, right_node: &Node, indexes: (u32, u32)) -> bool {
        let is_alike = left_node.kind == right_node.kind
            && left_node.aux == right_node.aux
            && self.rules.relevant_flags(left_node) == self.rules.relevant_flags(right_node);
        if !is_alike || matches!(left_node.kind, Kind::Array | Kind::Map) {
            return is_alike;
        }
        let classes = (left_node.class() as u16, right_node.class() as u16);
        left_node.form() == right_node.form()
            && (!left_node.kind.has_class()
                || self.classes.are_equal(classes.0, classes.1)
                || self.learn_class(classes, indexes))
    }

    pub(crate) fn compare_leaves(
        &self,
        left_document: &Document<'_>,
        right_document: &Document<'_>,
        left_node: &Node,
        right_node: &Node,
    ) -> bool {
        if right_node.kind.is_container() {
            return false;
        }
        if !left_node.kind.is_again() && !right_node.kind.is_again() {
            return left_node.kind == right_node.kind
                && are_usual_leaves(left_document, right_document, left_node, right_node)
                || self.rules.leaf_meaning(left_document, left_node)
                    == self.rules.leaf_meaning(right_document, right_node);
        }
        // Links are equal if their targets are counterparts. The targets may be in the range or before it.
        let indexes = (self.stretch.left + self.stretch.len, self.stretch.right + self.stretch.len);
        let target =
            |document: &Document<'_>, index: u32| document.at(index).map_or(index, |cursor| cursor.target().index());
        let (left_target, right_target) = (target(left_document, indexes.0), target(right_document, indexes.1));
        left_node.kind == right_node.kind
            && (self.stretch.contains_pair(left_target, right_target)
                || self.counterparts.contains_pair(left_target, right_target))
    }

    /// Returns `true` if the relevant flags of two keys are equal.
    fn have_equal_key_flags(&self, left_node: &Node, right_node: &Node) -> bool {
        const KEY_FLAGS: u8 = flag::LOCKED | flag::PLACEHOLDER;
        let counted_flags = if self.rules.is_exact() {
            left_node.flags ^ right_node.flags
        } else {
            (left_node.flags | right_node.flags) & flag::PLACEHOLDER
        };
        counted_flags & KEY_FLAGS == 0
    }

    #[cold]
    pub(crate) fn learn_key(&mut self, left_id: u16, right_id: u16) -> bool {
        let (left_document, right_document, rules) = (self.sides.left.document, self.sides.right.document, self.rules);
        let names = (
            left_document.tape().keys().get(u32::from(left_id)),
            right_document.tape().keys().get(u32::from(right_id)),
        );
        let (Some(left_name), Some(right_name)) = names else { return false };
        // The ids are recorded as equal for all places. So the names must be equal both as keys of a map and as names
        // of fields.
        let is_same = self.have_equal_key_flags(&left_name.node, &right_name.node)
            && [false, true].into_iter().all(|is_field| {
                rules.key_meaning(left_document, &left_name.node, left_name.bytes, is_field)
                    == rules.key_meaning(right_document, &right_name.node, right_name.bytes, is_field)
            });
        if is_same {
            self.keys.learn_pair(left_id, right_id);
        }
        is_same
    }

    #[cold]
    fn learn_class(&mut self, (left_id, right_id): (u16, u16), indexes: (u32, u32)) -> bool {
        let (object, other) = (self.sides.left.value_at(indexes.0), self.sides.right.value_at(indexes.1));
        let is_same = self.rules.normalized_class(object.class()) == self.rules.normalized_class(other.class());
        if is_same {
            self.classes.learn_pair(left_id, right_id);
        }
        is_same
    }
}

/// Returns `true` if these nodes of one kind are leaves of a common kind with equal values.
#[inline(always)]
fn are_usual_leaves(
    left_document: &Document<'_>,
    right_document: &Document<'_>,
    left_node: &Node,
    right_node: &Node,
) -> bool {
    match left_node.kind {
        Kind::Null => true,
        Kind::Bool | Kind::Int | Kind::Uint | Kind::Float => left_node.payload == right_node.payload,
        Kind::Bytes | Kind::Text | Kind::Symbol if left_node.encoding() | right_node.encoding() == 0 => {
            left_node.aux == right_node.aux && left_document.bytes(left_node) == right_document.bytes(right_node)
        }
        _ => false,
    }
}

/// For each name of the first document, the id of the equal name of the second document. It is 0 if it is not known
/// yet, because ids begin at 1.
#[derive(Default)]
pub(crate) struct EqualIds(Vec<u16>);

impl EqualIds {
    /// Returns `true` if two ids are known to be equal. Special ids are not recorded.
    #[inline(always)]
    pub(crate) fn are_equal(&self, left_id: u16, right_id: u16) -> bool {
        match self.0.get(usize::from(left_id)) {
            Some(known) if *known != 0 => *known == right_id,
            _ => left_id == right_id && matches!(left_id, NO_KEY | KEY_NODE | IS_KEY),
        }
    }

    fn learn_pair(&mut self, left_id: u16, right_id: u16) {
        if self.0.len() <= usize::from(left_id) {
            self.0.resize(usize::from(left_id) + 1, 0);
        }
        self.0[usize::from(left_id)] = right_id;
    }
}

/// Values of the first document to which links lead, and their counterparts in the second one.
pub(crate) struct Counterparts {
    node_count: usize,
    /// For each node, the index of its counterpart plus 1, or 0 if the node has none. The list is empty until there
    /// is a counterpart.
    counterparts: Vec<u32>,
}

impl Counterparts {
    fn new(document: &Document<'_>) -> Counterparts {
        Counterparts { node_count: document.nodes().len(), counterparts: Vec::new() }
    }

    pub(crate) fn record_pair(&mut self, left: u32, right: u32) {
        if self.counterparts.is_empty() {
            self.counterparts = vec![0; self.node_count];
        }
        if let Some(counterpart) = self.counterparts.get_mut(left as usize) {
            *counterpart = right.wrapping_add(1);
        }
    }

    /// Returns the node of the first document for each node of the second one that has a counterpart.
    pub(crate) fn by_right_node(&self) -> HashMap<u32, u32> {
        let pairs = (0..).zip(&self.counterparts).filter(|(_, counterpart)| **counterpart != 0);
        pairs.map(|(left, counterpart)| (counterpart.wrapping_sub(1), left)).collect()
    }

    /// Returns whether this node of the first document has a counterpart.
    pub(crate) fn has_left(&self, left: u32) -> bool {
        self.counterparts.get(left as usize).is_some_and(|counterpart| *counterpart != 0)
    }

    pub(crate) fn contains_pair(&self, left: u32, right: u32) -> bool {
        self.counterparts.get(left as usize).is_some_and(|counterpart| *counterpart == right.wrapping_add(1))
    }
}
