//! Pairs the entries of two maps by their keys.

use crate::side::{Entry, Side};
use icecore::{Cursor, Key};
use std::collections::{HashMap, VecDeque};

/// Pairs of entries with the same key, and entries that only one of the maps has.
#[derive(Default)]
pub(crate) struct Pairs<'d> {
    pub(crate) common: Vec<(Entry<'d>, Entry<'d>)>,
    pub(crate) left: Vec<Entry<'d>>,
    pub(crate) right: Vec<Entry<'d>>,
    /// Whether the entries of both are in the same order.
    pub(crate) in_order: bool,
}

/// Maximum number of entries among which a key is searched without a table.
const MAX_WITHOUT_TABLE: usize = 16;

/// The two documents.
#[derive(Clone, Copy)]
pub(crate) struct Sides<'s, 'd> {
    pub(crate) left: &'s Side<'d>,
    pub(crate) right: &'s Side<'d>,
}

impl<'d> Pairs<'d> {
    /// Pairs the entries of two maps, in linear time. If a map has a key twice, the first is paired with the first.
    /// Keys that are values of other kinds are paired if they have the same number. The caller must check that they
    /// are equal.
    pub(crate) fn pair_entries(&mut self, sides: Sides<'_, 'd>, left: Cursor<'d>, right: Cursor<'d>, is_field: bool) {
        self.common.clear();
        self.left.clear();
        self.right.clear();
        self.in_order = true;
        let (mut left_entries, mut right_entries) =
            (sides.left.relevant_entries(left), sides.right.relevant_entries(right));
        // Usually both have the same keys in the same order.
        let (first_left, first_right) = loop {
            match (left_entries.next(), right_entries.next()) {
                (Some(left_entry), Some(right_entry)) if same_key(sides, &left_entry, &right_entry, is_field) => {
                    self.common.push((left_entry, right_entry))
                }
                (None, None) => return,
                ends => break ends,
            }
        };
        let rest = first_left.into_iter().chain(left_entries);
        self.right.extend(first_right.into_iter().chain(right_entries));
        match self.right.len() <= MAX_WITHOUT_TABLE {
            true => self.find_among_few(sides, rest, is_field),
            false => self.find_by_numbers(sides, rest, is_field),
        }
    }

    fn find_among_few(&mut self, sides: Sides<'_, 'd>, rest: impl Iterator<Item = Entry<'d>>, is_field: bool) {
        let mut last_position = 0;
        for entry in rest {
            match self.right.iter().position(|other| same_key(sides, &entry, other, is_field)) {
                Some(index) => {
                    let other = self.right.remove(index);
                    self.in_order &= other.position >= last_position;
                    last_position = other.position;
                    self.common.push((entry, other));
                }
                None => self.left.push(entry),
            }
        }
    }

    /// Pairs entries whose keys have equal hashes, in the order in which they occur.
    fn find_by_numbers(&mut self, sides: Sides<'_, 'd>, rest: impl Iterator<Item = Entry<'d>>, is_field: bool) {
        let mut right_by_hash: HashMap<u64, VecDeque<Entry<'d>>> = HashMap::new();
        for entry in self.right.drain(..) {
            let hash = sides.right.key_hash(&entry.key, entry.value, is_field);
            right_by_hash.entry(hash).or_default().push_back(entry);
        }
        let mut last_position = 0;
        for entry in rest {
            let hash = sides.left.key_hash(&entry.key, entry.value, is_field);
            let candidates = right_by_hash.get_mut(&hash);
            let matched = candidates.and_then(|candidates| {
                let is_same = candidates.front().is_some_and(|other| same_key(sides, &entry, other, is_field));
                if is_same { candidates.pop_front() } else { None }
            });
            match matched {
                Some(other) => {
                    self.in_order &= other.position >= last_position;
                    last_position = other.position;
                    self.common.push((entry, other));
                }
                None => self.left.push(entry),
            }
        }
        self.right.extend(right_by_hash.into_values().flatten());
        self.right.sort_unstable_by_key(|entry| entry.position);
    }
}

fn same_key<'d>(sides: Sides<'_, 'd>, left_entry: &Entry<'d>, right_entry: &Entry<'d>, is_field: bool) -> bool {
    match (&left_entry.key, &right_entry.key) {
        (Key::Name(left_key), Key::Name(right_key)) => {
            if left_key.node.kind == right_key.node.kind
                && left_key.node.kind.has_bytes()
                && left_key.node.flags == right_key.node.flags
            {
                // Most keys are equal to the byte.
                if left_key.bytes == right_key.bytes && left_key.node.encoding() == 0 && right_key.node.encoding() == 0
                {
                    return true;
                }
            }
            let (left_side, right_side) = (sides.left, sides.right);
            left_side.rules.key_meaning(left_side.document, &left_key.node, left_key.bytes, is_field)
                == right_side.rules.key_meaning(right_side.document, &right_key.node, right_key.bytes, is_field)
        }
        (Key::Value(left_key), Key::Value(right_key)) => {
            sides.left.value_hash(*left_key) == sides.right.value_hash(*right_key)
        }
        _ => false,
    }
}
