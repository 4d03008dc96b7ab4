//! Finds values that were removed at one place and added at another.

use crate::lockstep::Lockstep;
use crate::pairs::Sides;
use crate::same::Same;
use crate::tree;
use crate::walk::{Found, What};
use icecore::Cursor;
use std::collections::{HashMap, VecDeque};

/// A shorter string may occur at two places by coincidence.
const STRING: usize = 8;

/// Turns pairs of a removed and an added value into moves.
///
/// Any value can move within its list or map. Between containers only a list or a map that is not empty, or a string of
/// at least [`STRING`] bytes, can move. A value with links to the outside does not move.
pub(crate) fn find<'d>(
    sides: Sides<'_, 'd>,
    lockstep: &mut Lockstep<'_, 'd>,
    same: &mut Same<'d>,
    found: &mut Vec<Found<'d>>,
) {
    let is_any = |kind: fn(&What<'d>) -> bool| found.iter().any(|one| kind(&one.what));
    if !is_any(|what| matches!(what, What::Removed(..))) || !is_any(|what| matches!(what, What::Added(_))) {
        return;
    }
    let mut removed: HashMap<u64, VecDeque<usize>> = HashMap::new();
    for (at, one) in found.iter().enumerate() {
        if let What::Removed(left, _) = one.what {
            removed.entry(sides.left.hash(left)).or_default().push_back(at);
        }
    }
    let mut gone = vec![false; found.len()];
    for at in 0..found.len() {
        let What::Added(place) = found[at].what else { continue };
        let Some(candidates) = removed.get_mut(&sides.right.hash(place.value)) else { continue };
        // Of several, one of the same list or map is preferred; this many are examined.
        const LOOK: usize = 16;
        let is_near =
            |from: &usize| matches!(found[*from].what, What::Removed(_, outer) if outer.index() == place.into.index());
        let near = candidates.iter().take(LOOK).position(is_near);
        let Some(from) = candidates.get(near.unwrap_or(0)).copied() else { continue };
        let What::Removed(left, _) = found[from].what else { continue };
        let may_move = (near.is_some() || has_weight(left)) && is_by_itself(left) && is_by_itself(place.value);
        if !may_move {
            continue;
        }
        if lockstep.means_same(left.index(), place.value.index()) || same.same(sides, left, place.value) {
            candidates.remove(near.unwrap_or(0));
            gone[at] = true;
            found[from].what = What::Moved(left, place);
        }
    }
    let mut gone = gone.into_iter();
    found.retain(|_| !gone.next().unwrap_or(false));
}

fn has_weight(here: Cursor<'_>) -> bool {
    here.node().kind.is_container() && !here.is_empty() || here.as_bytes().is_some_and(|bytes| bytes.len() >= STRING)
}

/// Returns `true` if no link in the value leads out of it.
fn is_by_itself(here: Cursor<'_>) -> bool {
    let document = here.document();
    let (from, to) = (here.index(), tree::next(document, here.index()));
    let nodes = document.nodes().get(from as usize..to as usize).unwrap_or(&[]);
    let is_inside = |at: u32| document.at(at).is_some_and(|here| (from..to).contains(&here.target().index()));
    (from..).zip(nodes).all(|(at, node)| !node.kind.is_again() || is_inside(at))
}
