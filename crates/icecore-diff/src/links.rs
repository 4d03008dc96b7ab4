//! Comparison of links, after all other differences are known.
//!
//! Two links are equal if their targets were paired with each other: differences between the targets are reported
//! there. Otherwise the targets are compared. But if something in the target is changed elsewhere, the change would
//! also be visible through the link, although the link's place in the second document may have the old value: so the
//! link is reported as changed.

use crate::equality::EqualityChecker;
use crate::lockstep::Counterparts;
use crate::pairs::Sides;
use crate::tree;
use crate::walk::{FoundChange, LinkPair, OrderedChange};
use icecore::{Cursor, Kind};
use std::collections::HashMap;

/// Adds the differences at links.
pub(crate) fn compare_links<'d>(
    sides: Sides<'_, 'd>,
    same: &mut EqualityChecker<'d>,
    linked: Vec<LinkPair<'d>>,
    counterparts: &Counterparts,
    changes: &mut Vec<OrderedChange<'d>>,
) {
    let is_exact = sides.left.rules.is_exact();
    // Links that are equal by the meaning of their targets, by their nodes.
    let mut by_meaning: HashMap<u32, LinkPair<'d>> = HashMap::new();
    for link in linked {
        let (left, right) = (link.left, link.right);
        let are_links = left.kind().is_again() && right.kind().is_again();
        let (x, y) = (left.target().index(), right.target().index());
        if are_links && counterparts.contains_pair(x, y) && (!is_exact || left.kind() == right.kind()) {
            continue;
        }
        let is_value = |cursor: Cursor<'_>| !cursor.kind().is_again() || cursor.kind() == Kind::Copy;
        if (!is_exact || is_value(left) && is_value(right)) && same.are_equal(sides, left, right) {
            by_meaning.insert(left.index(), link);
        } else {
            changes.push(OrderedChange { order: link.order, change: FoundChange::Changed(left, right) });
        }
    }
    if !by_meaning.is_empty() && !changes.is_empty() {
        find_affected_links(sides, by_meaning, changes);
    }
}

/// Finds the links among these whose targets change.
fn find_affected_links<'d>(
    sides: Sides<'_, 'd>,
    mut by_meaning: HashMap<u32, LinkPair<'d>>,
    found_changes: &mut Vec<OrderedChange<'d>>,
) {
    let document = sides.left.document;
    let parents = tree::find_parents(document);
    let mut names: HashMap<u32, Vec<u32>> = HashMap::new();
    for (index, node) in (0..).zip(document.nodes()) {
        if let (true, Some(link)) = (node.kind.is_again(), document.at(index)) {
            names.entry(link.target().index()).or_default().push(index);
        }
    }
    let mut changes = vec![false; parents.len()];
    let parent = |index: u32| parents.get(index as usize).copied().unwrap_or(index);
    let mut next: Vec<u32> = Vec::new();
    for entry in found_changes.iter() {
        match entry.change {
            FoundChange::Changed(left, _) | FoundChange::Class(left, _) => next.push(left.index()),
            FoundChange::Removed(_, from) => next.push(from.index()),
            FoundChange::Added(place) => next.push(place.into.index()),
            FoundChange::Moved(left, place) => next.extend([parent(left.index()), place.into.index()]),
        }
    }
    while let Some(mut index) = next.pop() {
        // Continue upwards until a node that is known to change.
        while let Some(place) = changes.get_mut(index as usize).filter(|place| !**place) {
            *place = true;
            for link in names.get(&index).into_iter().flatten() {
                next.push(*link);
                if let Some(LinkPair { order, left, right }) = by_meaning.remove(link) {
                    found_changes.push(OrderedChange { order, change: FoundChange::Changed(left, right) });
                }
            }
            index = parent(index);
        }
    }
}
