//! Finds values that were removed at one place and added at another.

use crate::equality::EqualityChecker;
use crate::lockstep::Lockstep;
use crate::pairs::Sides;
use crate::tree;
use crate::walk::{FoundChange, OrderedChange};
use icecore::Cursor;
use std::collections::{HashMap, VecDeque};

/// Minimum length of a string that can move between containers. A shorter one may occur at two places by coincidence.
const MIN_STRING_LENGTH: usize = 8;

/// Turns pairs of a removed and an added value into moves.
///
/// Any value can move within its list or map. Between containers only a list or a map that is not empty, or a string
/// of at least [`MIN_STRING_LENGTH`] bytes, can move. A value with links to the outside does not move.
pub(crate) fn find_moves<'d>(
    sides: Sides<'_, 'd>,
    lockstep: &mut Lockstep<'_, 'd>,
    equality: &mut EqualityChecker<'d>,
    changes: &mut Vec<OrderedChange<'d>>,
) {
    let is_any = |kind: fn(&FoundChange<'d>) -> bool| changes.iter().any(|entry| kind(&entry.change));
    if !is_any(|change| matches!(change, FoundChange::Removed(..)))
        || !is_any(|change| matches!(change, FoundChange::Added(_)))
    {
        return;
    }
    let mut removed: HashMap<u64, VecDeque<usize>> = HashMap::new();
    for (index, entry) in changes.iter().enumerate() {
        if let FoundChange::Removed(left, _) = entry.change {
            removed.entry(sides.left.value_hash(left)).or_default().push_back(index);
        }
    }
    let mut is_gone = vec![false; changes.len()];
    for index in 0..changes.len() {
        let FoundChange::Added(target) = changes[index].change else { continue };
        let Some(candidates) = removed.get_mut(&sides.right.value_hash(target.value)) else { continue };
        // If there are several candidates, one of the same list or map is preferred. At most this number of
        // candidates is examined.
        const MAX_EXAMINED: usize = 16;
        let is_in_same_container = |from: &usize| matches!(changes[*from].change, FoundChange::Removed(_, outer) if outer.index() == target.into.index());
        let preferred = candidates.iter().take(MAX_EXAMINED).position(is_in_same_container);
        let Some(from) = candidates.get(preferred.unwrap_or(0)).copied() else { continue };
        let FoundChange::Removed(left, _) = changes[from].change else { continue };
        let may_move =
            (preferred.is_some() || can_move_far(left)) && is_self_contained(left) && is_self_contained(target.value);
        if !may_move {
            continue;
        }
        if lockstep.means_same(left.index(), target.value.index()) || equality.are_equal(sides, left, target.value) {
            candidates.remove(preferred.unwrap_or(0));
            is_gone[index] = true;
            changes[from].change = FoundChange::Moved(left, target);
        }
    }
    let mut is_gone = is_gone.into_iter();
    changes.retain(|_| !is_gone.next().unwrap_or(false));
}

fn can_move_far(value: Cursor<'_>) -> bool {
    value.node().kind.is_container() && !value.is_empty()
        || value.as_bytes().is_some_and(|bytes| bytes.len() >= MIN_STRING_LENGTH)
}

/// Returns `true` if no link in the value leads out of it.
fn is_self_contained(value: Cursor<'_>) -> bool {
    let document = value.document();
    let (from, to) = (value.index(), tree::index_after(document, value.index()));
    let nodes = document.nodes().get(from as usize..to as usize).unwrap_or(&[]);
    let is_inside = |index: u32| document.at(index).is_some_and(|link| (from..to).contains(&link.target().index()));
    (from..).zip(nodes).all(|(index, node)| !node.kind.is_again() || is_inside(index))
}
