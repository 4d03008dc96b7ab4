//! The children of a container, found without a walk over those beside them, while some of them
//! go, come, and get other keys.

use crate::document::{Cursor, Key, Kind, Node, names_of};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A child: one that the document has, by its node, or one that comes behind all of these, by its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    Old(u32),
    New(usize),
}

/// What a key is found by: the sort, a number, and bytes.
type Facet<'d> = (u8, u64, Cow<'d, [u8]>);

/// Sorts of facets: the names of the ranks 0 to 2, integers, and what keys of a map differ in.
const INTEGER: u8 = 3;
const IDENTITY: u8 = 4;

pub(super) struct Index<'d> {
    /// Values, keys left out.
    children: Vec<u32>,
    /// The keys of the first of them, which are entries; empty for an array.
    keys: Vec<Key<'d>>,
    facets: BTreeSet<(Facet<'d>, Slot)>,
    /// How many are gone; made when the first goes.
    gone: Option<Tally>,
    gone_count: usize,
    /// The entries that come.
    pub(super) added: Vec<usize>,
    /// The last one that came with a string as its key.
    pub(super) last_name: Option<usize>,
}

impl<'d> Index<'d> {
    /// `None` for what is neither an array nor a map, or has not as many children as it says.
    pub(super) fn new(container: Cursor<'d>) -> Option<Index<'d>> {
        crate::steps::count(container.len() + 1);
        let children: Vec<u32> = container.children().map(|child| child.index()).collect();
        let mut index = Index {
            children,
            keys: Vec::new(),
            facets: BTreeSet::new(),
            gone: None,
            gone_count: 0,
            added: Vec::new(),
            last_name: None,
        };
        match container.kind() {
            Kind::Array => {}
            Kind::Map => {
                for (at, (key, value)) in container.entries().enumerate() {
                    index.children.get(at).filter(|child| **child == value.index())?;
                    let slot = Slot::Old(value.index());
                    index.facets.extend(facets(&key.node(), key.bytes()).map(|facet| (facet, slot)));
                    index.keys.push(key);
                }
            }
            _ => return None,
        }
        (index.children.len() == container.len()).then_some(index)
    }

    /// How many of the document's own children are there.
    pub(super) fn left(&self) -> usize {
        self.children.len() - self.gone_count
    }

    pub(super) fn is_changed(&self) -> bool {
        self.gone_count + self.added.len() > 0
    }

    /// The child of the document's own at this position, among those that are left.
    pub(super) fn nth(&self, position: usize) -> Option<u32> {
        let at = match &self.gone {
            Some(gone) => gone.nth_left(position)?,
            None => position,
        };
        self.children.get(at).copied()
    }

    /// The last child with this name, and whether others look like it.
    pub(super) fn named(&self, name: &str) -> (Option<Slot>, bool) {
        let ranks = if name.contains('…') { 0..3 } else { 0..2 };
        let (mut found, mut count) = (None, 0);
        for rank in ranks {
            let mut slots = self.slots(rank, 0, name.as_bytes());
            found = found.or_else(|| {
                let last = slots.next_back();
                count += usize::from(last.is_some());
                last
            });
            count += usize::from(slots.next().is_some());
        }
        (found, count > 1)
    }

    /// The last entry under this integer.
    pub(super) fn numbered(&self, number: i64) -> Option<Slot> {
        self.slots(INTEGER, sortable(number as u64), b"").next_back()
    }

    /// The largest integer that is a key.
    pub(super) fn largest(&self) -> Option<i64> {
        let first = ((INTEGER, 0, Cow::Borrowed(&b""[..])), Slot::Old(0));
        let behind = ((IDENTITY, 0, Cow::Borrowed(&b""[..])), Slot::Old(0));
        self.facets.range(first..behind).next_back().map(|((_, number, _), _)| sortable(*number) as i64)
    }

    /// Whether another child than this has a key that a map can't have beside this one.
    pub(super) fn is_taken(&self, key: &Key<'_>, but: u32) -> bool {
        let node = key.node();
        let (sort, number) = identity(&node);
        self.slots(sort, number, key.bytes()).any(|slot| slot != Slot::Old(but))
    }

    fn slots<'s>(&'s self, sort: u8, number: u64, bytes: &'s [u8]) -> impl DoubleEndedIterator<Item = Slot> + 's {
        crate::steps::count(1);
        let facets: &'s BTreeSet<(Facet<'s>, Slot)> = &self.facets;
        let facet = |slot| ((sort, number, Cow::Borrowed(bytes)), slot);
        facets.range(facet(Slot::Old(0))..=facet(Slot::New(usize::MAX))).map(|(_, slot)| *slot)
    }

    /// The key that an entry of the document has there.
    pub(super) fn key(&self, node: u32) -> Option<Key<'d>> {
        self.keys.get(self.children.binary_search(&node).ok()?).copied()
    }

    /// The keys that are left of the document's own, the last one first, with their values.
    pub(super) fn keys_from_last(&self) -> impl Iterator<Item = (u32, Key<'d>)> {
        let is_left = |at: usize| self.gone.as_ref().is_none_or(|gone| !gone.is_gone(at));
        let entries = self.children.iter().zip(&self.keys).enumerate().rev();
        entries.filter(move |(at, _)| is_left(*at)).map(|(_, (child, key))| (*child, *key))
    }

    /// A child goes.
    pub(super) fn remove(&mut self, node: u32) {
        let Ok(at) = self.children.binary_search(&node) else { return };
        self.forget(node);
        let count = self.children.len();
        self.gone_count += usize::from(self.gone.get_or_insert_with(|| Tally::new(count)).remove(at));
    }

    /// A child is found by another key.
    pub(super) fn rename(&mut self, node: u32, key: &Key<'_>) {
        self.forget(node);
        self.insert(key, Slot::Old(node));
    }

    /// A child comes.
    pub(super) fn add(&mut self, key: Option<&Key<'_>>, entry: usize) {
        self.added.push(entry);
        if let Some(key) = key {
            self.insert(key, Slot::New(entry));
            if key.node().kind.is_string() {
                self.last_name = Some(entry);
            }
        }
    }

    fn insert(&mut self, key: &Key<'_>, slot: Slot) {
        for (sort, number, bytes) in facets(&key.node(), key.bytes()) {
            self.facets.insert(((sort, number, Cow::Owned(bytes.into_owned())), slot));
        }
    }

    fn forget(&mut self, node: u32) {
        if let Some(key) = self.key(node) {
            for facet in facets(&key.node(), key.bytes()) {
                self.facets.remove(&(facet, Slot::Old(node)));
            }
        }
    }
}

/// All that a key is found by.
fn facets<'k>(node: &Node, bytes: &'k [u8]) -> impl Iterator<Item = Facet<'k>> + use<'k> {
    let names = node.kind.is_string().then(|| names_of(bytes)).into_iter().flatten();
    let (sort, number) = identity(node);
    let own = if sort == INTEGER { &b""[..] } else { bytes };
    names.map(|(rank, name)| (rank, 0, name)).chain([(sort, number, Cow::Borrowed(own))])
}

fn identity(node: &Node) -> (u8, u64) {
    match node.kind {
        Kind::Int => (INTEGER, sortable(node.payload)),
        kind => (IDENTITY, u64::from(kind == Kind::Symbol)),
    }
}

/// An integer so that those below 0 come first; and back.
fn sortable(payload: u64) -> u64 {
    payload ^ 1 << 63
}

/// Which of so many are left: a tree of sums, in which the one at a position is found by halving.
struct Tally {
    /// Each has how many are left of those that end with it: as many as its lowest bit says. From 1 on.
    sums: Vec<u32>,
    gone: Vec<bool>,
}

impl Tally {
    fn new(count: usize) -> Tally {
        crate::steps::count(count);
        let sums = (0..=count).map(|at| (at & at.wrapping_neg()) as u32).collect();
        Tally { sums, gone: vec![false; count] }
    }

    fn is_gone(&self, at: usize) -> bool {
        self.gone.get(at).copied().unwrap_or(false)
    }

    /// Whether it was there.
    fn remove(&mut self, at: usize) -> bool {
        match self.gone.get_mut(at) {
            Some(gone) if !*gone => *gone = true,
            _ => return false,
        }
        let mut place = at + 1;
        while let Some(sum) = self.sums.get_mut(place) {
            crate::steps::count(1);
            *sum -= 1;
            place += place & place.wrapping_neg();
        }
        true
    }

    fn nth_left(&self, position: usize) -> Option<usize> {
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
    fn what_is_left_is_found_by_its_position() {
        for count in 0..20 {
            let mut left: Vec<usize> = (0..count).collect();
            let mut tally = Tally::new(count);
            let mut next = 7;
            while !left.is_empty() {
                next = (next * 5 + 3) % left.len();
                assert!(tally.remove(left.remove(next)));
                let found: Vec<_> = (0..=left.len()).map_while(|at| tally.nth_left(at)).collect();
                assert_eq!(found, left);
            }
        }
    }
}
