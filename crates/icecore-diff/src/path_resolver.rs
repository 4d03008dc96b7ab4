//! Follows the paths of a difference in a document.

use crate::emit::as_key;
use crate::hash::Hashes;
use crate::pairs::Sides;
use crate::side::{Side, resolve_key};
use crate::{equality, tree};
use icecore::{Cursor, Key, Kind};
use std::collections::HashMap;

/// Follows paths from the second document in the first one. Items and entries of a container are looked up in a table,
/// so the work is linear in the length of the paths.
pub(crate) struct PathResolver<'s, 'd> {
    sides: Sides<'s, 'd>,
    lists: HashMap<u32, Vec<u32>>,
    maps: HashMap<u32, HashMap<u64, Vec<(Key<'d>, u32)>>>,
    parents: Vec<u32>,
}

impl<'s, 'd> PathResolver<'s, 'd> {
    pub(crate) fn new(sides: Sides<'s, 'd>) -> PathResolver<'s, 'd> {
        let parents = tree::find_parents(sides.left.document);
        PathResolver { sides, lists: HashMap::new(), maps: HashMap::new(), parents }
    }

    /// Returns the container of a value.
    pub(crate) fn find_parent(&self, value: Cursor<'d>) -> Option<Cursor<'d>> {
        let parent = self.parents.get(value.index() as usize).filter(|parent| **parent != value.index())?;
        self.sides.left.document.at(*parent)
    }

    /// Returns the value on this path; `None` if nothing is there, or the path is invalid.
    pub(crate) fn follow_path(&mut self, path: Cursor<'d>) -> Option<Cursor<'d>> {
        let mut current = self.sides.left.document.root();
        for step in path.items() {
            // In this document the shared value may have been stored at another place.
            current = current.target();
            current = match parse_special_step(step) {
                Some(SpecialStep::At(position)) => self.find_child(current, position)?,
                Some(SpecialStep::Entry(position)) => self.find_child(tree::object_body(current), position)?,
                Some(SpecialStep::Key(key)) => self.find_entry(tree::object_body(current), &as_key(key))?,
                None => {
                    let inside = tree::object_body(current);
                    match (inside.kind(), step.as_i64()) {
                        (Kind::Array, Some(position)) => self.find_child(inside, u32::try_from(position).ok()?)?,
                        (Kind::Map | Kind::Attrs, _) => self.find_entry(inside, &as_key(step))?,
                        _ => return None,
                    }
                }
            };
        }
        (path.kind() == Kind::Array).then_some(current)
    }

    fn find_child(&mut self, container: Cursor<'d>, position: u32) -> Option<Cursor<'d>> {
        let children = self
            .lists
            .entry(container.index())
            .or_insert_with(|| container.children().map(|child| child.index()).collect());
        self.sides.left.document.at(*children.get(position as usize)?)
    }

    /// Returns the value of a key of a map.
    pub(crate) fn find_entry(&mut self, map: Cursor<'d>, key: &Key<'d>) -> Option<Cursor<'d>> {
        if !matches!(map.kind(), Kind::Map | Kind::Attrs) {
            return None;
        }
        let is_field = equality::is_field_map(map);
        let (left, right) = (self.sides.left, self.sides.right);
        let entries = self.maps.entry(map.index()).or_insert_with(|| {
            let mut entries: HashMap<u64, Vec<(Key<'d>, u32)>> = HashMap::new();
            // Includes placeholders: they count in an exact difference.
            for (key, value) in map.entries() {
                let key = resolve_key(key);
                let hash = left.key_hash(&key, value, is_field);
                entries.entry(hash).or_default().push((key, value.index()));
            }
            entries
        });
        let hash = key_hash(right, key, is_field);
        // Keys that differ in kind, but not in meaning, are also found.
        let found = entries.get(&hash)?.iter().find(|(known, _)| matches_key(self.sides, known, key, is_field))?;
        left.document.at(found.1)
    }
}

/// A step that is not a plain key.
enum SpecialStep<'d> {
    At(u32),
    Entry(u32),
    Key(Cursor<'d>),
}

fn parse_special_step(step: Cursor<'_>) -> Option<SpecialStep<'_>> {
    if step.kind() != Kind::Map {
        return None;
    }
    let number =
        |name: &str| step.get(name).map(|number| number.as_i64().and_then(|number| u32::try_from(number).ok()));
    match (number("part"), number("entry")) {
        (Some(position), _) => position.map(SpecialStep::At),
        (None, Some(position)) => position.map(SpecialStep::Entry),
        (None, None) => step.get("key").map(SpecialStep::Key),
    }
}

fn key_hash(side: &Side<'_>, key: &Key<'_>, is_field: bool) -> u64 {
    match key {
        Key::Name(name) => Hashes::hash_loose_key(side.rules, side.document, &name.node, name.bytes, is_field),
        Key::Value(key) => side.value_hash(*key),
    }
}

/// Whether a key of the first document equals a key in the second.
fn matches_key(sides: Sides<'_, '_>, known: &Key<'_>, key: &Key<'_>, is_field: bool) -> bool {
    let rules = sides.left.rules;
    match (known, key) {
        (Key::Name(x), Key::Name(y)) => {
            rules.key_meaning(sides.left.document, &x.node, x.bytes, is_field)
                == rules.key_meaning(sides.right.document, &y.node, y.bytes, is_field)
        }
        (Key::Value(_), Key::Value(_)) => true,
        _ => false,
    }
}
