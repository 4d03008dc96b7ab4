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

/// Flags that common nodes do not have.
const UNCOMMON_FLAGS: u8 = !(flag::REF | flag::HINT);

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
    pub(crate) fn new(sides: Sides<'s, 'd>, is_enabled: bool) -> Lockstep<'s, 'd> {
        Lockstep {
            sides,
            is_enabled,
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

    /// Like [`Lockstep::are_equal`], for values that may not be counterparts.
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
        let (document, other) = (self.sides.left.document, self.sides.right.document);
        let xs = document.nodes().get(left as usize..end as usize).unwrap_or(&[]);
        let ys = other.nodes().get(right as usize..).unwrap_or(&[]);
        for (index, (x, y)) in xs.iter().zip(ys).enumerate() {
            // This is a faster check for common nodes. `compare_pair` decides for all others. A key below `IS_KEY` is
            // an id, or there is not a key. Containers must have the same number of nodes. An `end` of 0 means that
            // the document breaks off inside of the container.
            let is_usual = x.kind == y.kind
                && (x.flags | y.flags) & UNCOMMON_FLAGS == 0
                && x.key < IS_KEY
                && self.keys.are_equal(x.key, y.key)
                && match x.kind {
                    Kind::Array | Kind::Map => {
                        x.aux == y.aux && x.end() != 0 && x.end().wrapping_sub(left) == y.end().wrapping_sub(right)
                    }
                    _ => are_usual_leaves(document, other, x, y),
                };
            if !is_usual {
                // All nodes before this one are equal. `compare_pair` computes the indexes of the nodes from this
                // length.
                self.stretch.len = index as u32;
                if !self.compare_pair(document, other, x, y) {
                    return;
                }
            }
        }
        self.stretch.len = xs.len().min(ys.len()) as u32;
    }

    fn compare_pair(&mut self, document: &'d Document<'d>, other: &'d Document<'d>, x: &Node, y: &Node) -> bool {
        if (x.flags ^ y.flags) & self.compared_flags != 0
            || !self.keys.are_equal(x.key, y.key) && !self.learn_key(x.key, y.key)
        {
            return false;
        }
        if x.key == IS_KEY && !self.are_keys(x, y) {
            return false;
        }
        if x.has(flag::TARGET) {
            self.targets.push((self.stretch.left + self.stretch.len, self.stretch.right + self.stretch.len));
        }
        if x.kind.is_container() {
            return self.compare_containers(x, y);
        }
        self.compare_leaves(document, other, x, y)
    }

    fn compare_containers(&mut self, x: &Node, y: &Node) -> bool {
        let indexes = (self.stretch.left + self.stretch.len, self.stretch.right + self.stretch.len);
        // A container has no end if the document breaks off in it.
        x.end() != 0
            && x.end().wrapping_sub(indexes.0) == y.end().wrapping_sub(indexes.1)
            && self.are_alike(x, y, indexes)
    }

    /// Returns `true` if two containers, which are at these nodes, are equal apart from their content.
    pub(crate) fn are_alike(&mut self, x: &Node, y: &Node, indexes: (u32, u32)) -> bool {
        let is_alike =
            x.kind == y.kind && x.aux == y.aux && self.rules.relevant_flags(x) == self.rules.relevant_flags(y);
        if !is_alike || matches!(x.kind, Kind::Array | Kind::Map) {
            return is_alike;
        }
        let classes = (x.class() as u16, y.class() as u16);
        x.form() == y.form()
            && (!x.kind.has_class()
                || self.classes.are_equal(classes.0, classes.1)
                || self.learn_class(classes, indexes))
    }

    pub(crate) fn compare_leaves(&self, document: &Document<'_>, other: &Document<'_>, x: &Node, y: &Node) -> bool {
        if y.kind.is_container() {
            return false;
        }
        if !x.kind.is_again() && !y.kind.is_again() {
            return x.kind == y.kind && are_usual_leaves(document, other, x, y)
                || self.rules.leaf_meaning(document, x) == self.rules.leaf_meaning(other, y);
        }
        // Links are equal if their targets are counterparts. The targets may be in the range or before it.
        let indexes = (self.stretch.left + self.stretch.len, self.stretch.right + self.stretch.len);
        let target =
            |document: &Document<'_>, index: u32| document.at(index).map_or(index, |cursor| cursor.target().index());
        let (to, other_to) = (target(document, indexes.0), target(other, indexes.1));
        x.kind == y.kind && (self.stretch.contains_pair(to, other_to) || self.counterparts.contains_pair(to, other_to))
    }

    /// Returns `true` if the relevant flags of two keys are equal.
    fn are_keys(&self, x: &Node, y: &Node) -> bool {
        const KEY_FLAGS: u8 = flag::LOCKED | flag::PLACEHOLDER;
        let counted_flags =
            if self.rules.is_exact() { x.flags ^ y.flags } else { (x.flags | y.flags) & flag::PLACEHOLDER };
        counted_flags & KEY_FLAGS == 0
    }

    #[cold]
    pub(crate) fn learn_key(&mut self, x: u16, y: u16) -> bool {
        let (document, other, rules) = (self.sides.left.document, self.sides.right.document, self.rules);
        let names = (document.tape().keys().get(u32::from(x)), other.tape().keys().get(u32::from(y)));
        let (Some(a), Some(b)) = names else { return false };
        // The ids are recorded as equal for all places. So the names must be equal both as keys of a map and as names
        // of fields.
        let is_same = self.are_keys(&a.node, &b.node)
            && [false, true].into_iter().all(|is_field| {
                rules.key_meaning(document, &a.node, a.bytes, is_field)
                    == rules.key_meaning(other, &b.node, b.bytes, is_field)
            });
        if is_same {
            self.keys.learn_pair(x, y);
        }
        is_same
    }

    #[cold]
    fn learn_class(&mut self, (x, y): (u16, u16), indexes: (u32, u32)) -> bool {
        let (object, other) = (self.sides.left.value_at(indexes.0), self.sides.right.value_at(indexes.1));
        let is_same = self.rules.normalized_class(object.class()) == self.rules.normalized_class(other.class());
        if is_same {
            self.classes.learn_pair(x, y);
        }
        is_same
    }
}

/// Returns `true` if these nodes of one kind are leaves of a common kind with equal values.
#[inline(always)]
fn are_usual_leaves(document: &Document<'_>, other: &Document<'_>, x: &Node, y: &Node) -> bool {
    match x.kind {
        Kind::Null => true,
        Kind::Bool | Kind::Int | Kind::Uint | Kind::Float => x.payload == y.payload,
        Kind::Bytes | Kind::Text | Kind::Symbol if x.encoding() | y.encoding() == 0 => {
            x.aux == y.aux && document.bytes(x) == other.bytes(y)
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
    pub(crate) fn are_equal(&self, x: u16, y: u16) -> bool {
        match self.0.get(usize::from(x)) {
            Some(known) if *known != 0 => *known == y,
            _ => x == y && matches!(x, NO_KEY | KEY_NODE | IS_KEY),
        }
    }

    fn learn_pair(&mut self, x: u16, y: u16) {
        if self.0.len() <= usize::from(x) {
            self.0.resize(usize::from(x) + 1, 0);
        }
        self.0[usize::from(x)] = y;
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

    pub(crate) fn contains_pair(&self, left: u32, right: u32) -> bool {
        self.counterparts.get(left as usize).is_some_and(|counterpart| *counterpart == right.wrapping_add(1))
    }
}
