//! Comparison of links, after all other differences are known.
//!
//! Two links are equal if their targets were paired with each other, because differences between the targets are
//! reported at the targets. Otherwise the targets are compared. They may be equal although the target is changed
//! elsewhere. That change would also be visible through the link, but the second document has the old value there. So
//! the link is reported as changed.

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
    equality: &mut EqualityChecker<'d>,
    linked: Vec<LinkPair<'d>>,
    counterparts: &Counterparts,
    changes: &mut Vec<OrderedChange<'d>>,
) {
    let is_exact = sides.left.rules.is_exact();
    // The links whose targets are equal, by their nodes.
    let mut links_by_meaning: HashMap<u32, LinkPair<'d>> = HashMap::new();
    for link in linked {
        let (left, right) = (link.left, link.right);
        let are_links = left.kind().is_again() && right.kind().is_again();
        let (left_target, right_target) = (left.target().index(), right.target().index());
        // A shared value may be stored at another place than in the other document.
        let may_be_same =
            if is_exact { are_links && left.kind() == right.kind() } else { are_links || !has_copy(&link) };
        if may_be_same && counterparts.contains_pair(left_target, right_target) {
            continue;
        }
        let is_value = |cursor: Cursor<'_>| !cursor.kind().is_again() || cursor.kind() == Kind::Copy;
        if (!is_exact || is_value(left) && is_value(right)) && equality.are_equal(sides, left, right) {
            links_by_meaning.insert(left.index(), link);
        } else {
            changes.push(OrderedChange { order: link.order, change: FoundChange::Changed(left, right) });
        }
    }
    if !links_by_meaning.is_empty() && !changes.is_empty() {
        find_affected_links(sides, links_by_meaning, changes);
    }
}

/// Returns whether one of the values is a copy of the value that it links to.
fn has_copy(link: &LinkPair<'_>) -> bool {
    link.left.kind() == Kind::Copy || link.right.kind() == Kind::Copy
}

/// Adds a change for each of these links whose target changes.
fn find_affected_links<'d>(
    sides: Sides<'_, 'd>,
    mut links_by_meaning: HashMap<u32, LinkPair<'d>>,
    found_changes: &mut Vec<OrderedChange<'d>>,
) {
    let document = sides.left.document;
    let parents = tree::find_parents(document);
    let mut links_by_target: HashMap<u32, Vec<u32>> = HashMap::new();
    for (index, node) in (0..).zip(document.nodes()) {
        if let (true, Some(link)) = (node.kind.is_again(), document.at(index)) {
            links_by_target.entry(link.target().index()).or_default().push(index);
        }
    }
    let mut is_changed_node = vec![false; parents.len()];
    let parent = |index: u32| parents.get(index as usize).copied().unwrap_or(index);
    let mut pending: Vec<u32> = Vec::new();
    for entry in found_changes.iter() {
        match entry.change {
            FoundChange::Changed(left, _) | FoundChange::Class(left, _) => pending.push(left.index()),
            FoundChange::Removed(_, container) => pending.push(container.index()),
            FoundChange::Added(target) => pending.push(target.into.index()),
            FoundChange::Moved(left, target) => pending.extend([parent(left.index()), target.into.index()]),
        }
    }
    while let Some(mut index) = pending.pop() {
        // This continues upwards until a node that is known to change.
        while let Some(is_changed) = is_changed_node.get_mut(index as usize).filter(|is_changed| !**is_changed) {
            *is_changed = true;
            for link in links_by_target.get(&index).into_iter().flatten() {
                pending.push(*link);
                if let Some(LinkPair { order, left, right }) = links_by_meaning.remove(link) {
                    found_changes.push(OrderedChange { order, change: FoundChange::Changed(left, right) });
                }
            }
            index = parent(index);
        }
    }
}
