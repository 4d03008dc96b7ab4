//! Finds values that were removed at one place and added at another.

use crate::equality::EqualityChecker;
use crate::lockstep::Lockstep;
use crate::pairs::Sides;
use crate::tree;
use crate::walk::{FoundChange, OrderedChange};
use icecore::Cursor;
use std::collections::{HashMap, VecDeque};

/// A shorter string may occur at two places by coincidence.
const MIN_STRING_LENGTH: usize = 8;

/// Turns pairs of a removed and an added value into moves.
///
/// Any value can move within its list or map. Between containers only a list or a map that is not empty, or a string of
/// at least [`MIN_STRING_LENGTH`] bytes, can move. A value with links to the outside does not move.
pub(crate) fn find_moves<'d>(
    sides: Sides<'_, 'd>,
    lockstep: &mut Lockstep<'_, 'd>,
    same: &mut EqualityChecker<'d>,
    found: &mut Vec<OrderedChange<'d>>,
) {
    let is_any = |kind: fn(&FoundChange<'d>) -> bool| found.iter().any(|one| kind(&one.change));
    if !is_any(|change| matches!(change, FoundChange::Removed(..)))
        || !is_any(|change| matches!(change, FoundChange::Added(_)))
    {
        return;
    }
    let mut removed: HashMap<u64, VecDeque<usize>> = HashMap::new();
    for (at, one) in found.iter().enumerate() {
        if let FoundChange::Removed(left, _) = one.change {
            removed.entry(sides.left.value_hash(left)).or_default().push_back(at);
        }
    }
    let mut is_gone = vec![false; found.len()];
    for at in 0..found.len() {
        let FoundChange::Added(place) = found[at].change else { continue };
        let Some(candidates) = removed.get_mut(&sides.right.value_hash(place.value)) else { continue };
        // Of several, one of the same list or map is preferred; this many are examined.
        const MAX_EXAMINED: usize = 16;
        let is_near = |from: &usize| matches!(found[*from].change, FoundChange::Removed(_, outer) if outer.index() == place.into.index());
        let near = candidates.iter().take(MAX_EXAMINED).position(is_near);
        let Some(from) = candidates.get(near.unwrap_or(0)).copied() else { continue };
        let FoundChange::Removed(left, _) = found[from].change else { continue };
        let may_move =
            (near.is_some() || can_move_far(left)) && is_self_contained(left) && is_self_contained(place.value);
        if !may_move {
            continue;
        }
        if lockstep.means_same(left.index(), place.value.index()) || same.are_equal(sides, left, place.value) {
            candidates.remove(near.unwrap_or(0));
            is_gone[at] = true;
            found[from].change = FoundChange::Moved(left, place);
        }
    }
    let mut gone = is_gone.into_iter();
    found.retain(|_| !gone.next().unwrap_or(false));
}

fn can_move_far(here: Cursor<'_>) -> bool {
    here.node().kind.is_container() && !here.is_empty()
        || here.as_bytes().is_some_and(|bytes| bytes.len() >= MIN_STRING_LENGTH)
}

/// Returns `true` if no link in the value leads out of it.
fn is_self_contained(here: Cursor<'_>) -> bool {
    let document = here.document();
    let (from, to) = (here.index(), tree::index_after(document, here.index()));
    let nodes = document.nodes().get(from as usize..to as usize).unwrap_or(&[]);
    let is_inside = |at: u32| document.at(at).is_some_and(|here| (from..to).contains(&here.target().index()));
    (from..).zip(nodes).all(|(at, node)| !node.kind.is_again() || is_inside(at))
}
