//! The children of a container, found without a walk over their siblings, while children are added, removed and
//! renamed.

use crate::document::{Cursor, Key, Kind, Node, lookup_names};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A child: an existing one by its node, or an added one (these follow all existing ones) by its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ChildSlot {
    Old(u32),
    New(usize),
}

/// A form under which a key is found. It consists of its sort, a number, and bytes.
type Facet<'d> = (u8, u64, Cow<'d, [u8]>);

/// Sorts of facets. 0 to 2 are the ranks of names (see `match_rank`). An integer key has one more facet. The last
/// sort is the identity of a key: keys of one map differ in it.
const INTEGER: u8 = 3;
const IDENTITY: u8 = 4;

/// An index of the children of one container.
pub(super) struct ChildIndex<'d> {
    /// Values, without keys.
    children: Vec<u32>,
    /// Keys of the first children if these are entries; empty for an array.
    keys: Vec<Key<'d>>,
    facets: BTreeSet<(Facet<'d>, ChildSlot)>,
    /// The children that were removed. It is allocated at the first removal.
    removed: Option<RemainingCounts>,
    removed_count: usize,
    /// The added entries.
    pub(super) added: Vec<usize>,
    /// The last added entry whose key is a string.
    pub(super) last_name: Option<usize>,
}

impl<'d> ChildIndex<'d> {
    /// Returns `None` if `container` is neither an array nor a map, or has fewer children than its length says.
    pub(super) fn new(container: Cursor<'d>) -> Option<ChildIndex<'d>> {
        crate::steps::count(container.len() + 1);
        let children: Vec<u32> = container.children().map(|child| child.index()).collect();
        let mut index = ChildIndex {
            children,
            keys: Vec::new(),
            facets: BTreeSet::new(),
            removed: None,
            removed_count: 0,
            added: Vec::new(),
            last_name: None,
        };
        match container.kind() {
            Kind::Array => {}
            Kind::Map => {
                for (position, (key, value)) in container.entries().enumerate() {
                    index.children.get(position).filter(|child| **child == value.index())?;
                    let slot = ChildSlot::Old(value.index());
                    index.facets.extend(facets_of_key(&key.node(), key.bytes()).map(|facet| (facet, slot)));
                    index.keys.push(key);
                }
            }
            _ => return None,
        }
        (index.children.len() == container.len()).then_some(index)
    }

    /// Returns the number of the document's own children that remain.
    pub(super) fn count_remaining(&self) -> usize {
        self.children.len() - self.removed_count
    }

    pub(super) fn is_changed(&self) -> bool {
        self.removed_count + self.added.len() > 0
    }

    /// Returns the child at this position among the document's own children that remain.
    pub(super) fn nth_remaining(&self, position: usize) -> Option<u32> {
        let position_before_changes = match &self.removed {
            Some(gone) => gone.nth_remaining(position)?,
            None => position,
        };
        self.children.get(position_before_changes).copied()
    }

    /// Returns the last child with this name, and whether other children look like it.
    pub(super) fn find_by_name(&self, name: &str) -> (Option<ChildSlot>, bool) {
        let ranks = if name.contains('…') { 0..3 } else { 0..2 };
        let (mut slot, mut count) = (None, 0);
        for rank in ranks {
            let mut slots = self.find_slots(rank, 0, name.as_bytes());
            slot = slot.or_else(|| {
                let last = slots.next_back();
                count += usize::from(last.is_some());
                last
            });
            count += usize::from(slots.next().is_some());
        }
        (slot, count > 1)
    }

    /// Returns the last entry with this integer as its key.
    pub(super) fn find_by_integer(&self, number: i64) -> Option<ChildSlot> {
        self.find_slots(INTEGER, to_sortable(number as u64), b"").next_back()
    }

    /// Returns the largest integer key.
    pub(super) fn largest_integer_key(&self) -> Option<i64> {
        let first = ((INTEGER, 0, Cow::Borrowed(&b""[..])), ChildSlot::Old(0));
        let end = ((IDENTITY, 0, Cow::Borrowed(&b""[..])), ChildSlot::Old(0));
        self.facets.range(first..end).next_back().map(|((_, number, _), _)| to_sortable(*number) as i64)
    }

    /// Returns `true` if a child other than `except` has a key that a map can't have in addition to this one.
    pub(super) fn has_conflicting_key(&self, key: &Key<'_>, except: u32) -> bool {
        let node = key.node();
        let (sort, number) = identity_facet(&node);
        self.find_slots(sort, number, key.bytes()).any(|slot| slot != ChildSlot::Old(except))
    }

    fn find_slots<'s>(
        &'s self,
        sort: u8,
        number: u64,
        bytes: &'s [u8],
    ) -> impl DoubleEndedIterator<Item = ChildSlot> + 's {
        crate::steps::count(1);
        let facets: &'s BTreeSet<(Facet<'s>, ChildSlot)> = &self.facets;
        let facet = |slot| ((sort, number, Cow::Borrowed(bytes)), slot);
        facets.range(facet(ChildSlot::Old(0))..=facet(ChildSlot::New(usize::MAX))).map(|(_, slot)| *slot)
    }

    /// Returns the key that an entry has in the document.
    pub(super) fn key_before_changes(&self, node: u32) -> Option<Key<'d>> {
        self.keys.get(self.children.binary_search(&node).ok()?).copied()
    }

    /// Returns the remaining keys of the document with their values, the last one first.
    pub(super) fn keys_from_last(&self) -> impl Iterator<Item = (u32, Key<'d>)> {
        let is_left = |position: usize| self.removed.as_ref().is_none_or(|gone| !gone.is_gone(position));
        let entries = self.children.iter().zip(&self.keys).enumerate().rev();
        entries.filter(move |(position, _)| is_left(*position)).map(|(_, (child, key))| (*child, *key))
    }

    /// Removes a child.
    pub(super) fn remove(&mut self, node: u32) {
        let Ok(position) = self.children.binary_search(&node) else { return };
        self.remove_facets(node);
        let count = self.children.len();
        self.removed_count +=
            usize::from(self.removed.get_or_insert_with(|| RemainingCounts::new(count)).mark_gone(position));
    }

    /// Assigns another key to a child.
    pub(super) fn rename(&mut self, node: u32, key: &Key<'_>) {
        self.remove_facets(node);
        self.insert_facets(key, ChildSlot::Old(node));
    }

    /// Adds a child.
    pub(super) fn add(&mut self, key: Option<&Key<'_>>, entry: usize) {
        self.added.push(entry);
        if let Some(key) = key {
            self.insert_facets(key, ChildSlot::New(entry));
            if key.node().kind.is_string() {
                self.last_name = Some(entry);
            }
        }
    }

    fn insert_facets(&mut self, key: &Key<'_>, slot: ChildSlot) {
        for (sort, number, bytes) in facets_of_key(&key.node(), key.bytes()) {
            self.facets.insert(((sort, number, Cow::Owned(bytes.into_owned())), slot));
        }
    }

    fn remove_facets(&mut self, node: u32) {
        if let Some(key) = self.key_before_changes(node) {
            for facet in facets_of_key(&key.node(), key.bytes()) {
                self.facets.remove(&(facet, ChildSlot::Old(node)));
            }
        }
    }
}

/// Returns everything that a key is found by.
fn facets_of_key<'k>(node: &Node, bytes: &'k [u8]) -> impl Iterator<Item = Facet<'k>> + use<'k> {
    let names = node.kind.is_string().then(|| lookup_names(bytes)).into_iter().flatten();
    let (sort, number) = identity_facet(node);
    let own = if sort == INTEGER { &b""[..] } else { bytes };
    names.map(|(rank, name)| (rank, 0, name)).chain([(sort, number, Cow::Borrowed(own))])
}

fn identity_facet(node: &Node) -> (u8, u64) {
    match node.kind {
        Kind::Int => (INTEGER, to_sortable(node.payload)),
        kind => (IDENTITY, u64::from(kind == Kind::Symbol)),
    }
}

/// Maps an integer so that negative ones sort first. If it is applied twice, the result is the first integer again.
fn to_sortable(payload: u64) -> u64 {
    payload ^ 1 << 63
}

/// The children of a container that remain. It is a tree of sums, so the child at a position is found by a binary
/// search.
struct RemainingCounts {
    /// Each sum counts the remaining children in the range that ends here; its length is the lowest set bit of the
    /// index. Indices start at 1.
    sums: Vec<u32>,
    gone: Vec<bool>,
}

impl RemainingCounts {
    fn new(count: usize) -> RemainingCounts {
        crate::steps::count(count);
        let sums = (0..=count).map(|index| (index & index.wrapping_neg()) as u32).collect();
        RemainingCounts { sums, gone: vec![false; count] }
    }

    fn is_gone(&self, position: usize) -> bool {
        self.gone.get(position).copied().unwrap_or(false)
    }

    /// Removes a child; returns `true` if it was there.
    fn mark_gone(&mut self, position: usize) -> bool {
        match self.gone.get_mut(position) {
            Some(gone) if !*gone => *gone = true,
            _ => return false,
        }
        let mut place = position + 1;
        while let Some(sum) = self.sums.get_mut(place) {
            crate::steps::count(1);
            *sum -= 1;
            place += place & place.wrapping_neg();
        }
        true
    }

    fn nth_remaining(&self, position: usize) -> Option<usize> {
        let (mut place, mut rest) = (0, position);
        let mut half = self.sums.len().next_power_of_two();
        while half > 0 {
            crate::steps::count(1);
            if let Some(sum) = self.sums.get(place + half).filter(|sum| **sum as usize <= rest) {
                rest -= *sum as usize;
                place += half;
            }
            half /= 2;
        }
        (place < self.gone.len()).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_entries_are_found_by_their_position() {
        for count in 0..20 {
            let mut remaining: Vec<usize> = (0..count).collect();
            let mut tally = RemainingCounts::new(count);
            let mut next = 7;
            while !remaining.is_empty() {
                next = (next * 5 + 3) % remaining.len();
                assert!(tally.mark_gone(remaining.remove(next)));
                let found: Vec<_> = (0..=remaining.len()).map_while(|position| tally.nth_remaining(position)).collect();
                assert_eq!(found, remaining);
            }
        }
    }
}
