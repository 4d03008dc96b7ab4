//! Follows the paths of a difference in a document.

use crate::emit::as_key;
use crate::hash::Hashes;
use crate::pairs::Sides;
use crate::side::{Side, resolve_key};
use crate::{equality, tree};
use icecore::{Cursor, Key, Kind};
use std::collections::HashMap;

/// Follows paths that the second document contains, in the first document. Items and entries of a container are
/// looked up in a table, so the work is linear in the length of the paths.
pub(crate) struct PathResolver<'s, 'd> {
    sides: Sides<'s, 'd>,
    /// The children of each container that was examined.
    children: HashMap<u32, Vec<u32>>,
    /// The entries of each map that was examined, by the numbers of their keys.
    maps: HashMap<u32, HashMap<u64, Vec<(Key<'d>, u32)>>>,
    parents: Vec<u32>,
}

impl<'s, 'd> PathResolver<'s, 'd> {
    pub(crate) fn new(sides: Sides<'s, 'd>) -> PathResolver<'s, 'd> {
        let parents = tree::find_parents(sides.left.document);
        PathResolver { sides, children: HashMap::new(), maps: HashMap::new(), parents }
    }

    /// Returns the container of a value.
    pub(crate) fn find_parent(&self, value: Cursor<'d>) -> Option<Cursor<'d>> {
        let parent = self.parents.get(value.index() as usize).filter(|parent| **parent != value.index())?;
        self.sides.left.document.at(*parent)
    }

    /// Returns the value on this path, or `None` if nothing is there or the path is invalid.
    pub(crate) fn follow_path(&mut self, path: Cursor<'d>) -> Option<Cursor<'d>> {
        let mut current = self.sides.left.document.root();
        for step in path.items() {
            // In this document the shared value may have been stored at another place.
            current = current.target();
            current = match parse_special_step(step) {
                Some(SpecialStep::Child(position)) => self.find_child(current, position)?,
                Some(SpecialStep::Entry(position)) => self.find_child(tree::object_body(current), position)?,
                Some(SpecialStep::Key(key)) => self.find_entry(tree::object_body(current), &as_key(key))?,
                None => {
                    let container = tree::object_body(current);
                    match (container.kind(), step.as_i64()) {
                        (Kind::Array, Some(position)) => self.find_child(container, u32::try_from(position).ok()?)?,
                        (Kind::Map | Kind::Attrs, _) => self.find_entry(container, &as_key(step))?,
                        _ => return None,
                    }
                }
            };
        }
        (path.kind() == Kind::Array).then_some(current)
    }

    /// Returns the child of a container at this position.
    pub(crate) fn find_child(&mut self, container: Cursor<'d>, position: u32) -> Option<Cursor<'d>> {
        let children = self
            .children
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
            // This includes placeholders, because they count in an exact difference.
            for (key, value) in map.entries() {
                let key = resolve_key(key);
                let hash = left.key_hash(&key, value, is_field);
                entries.entry(hash).or_default().push((key, value.index()));
            }
            entries
        });
        let hash = key_hash(right, key, is_field);
        // This also finds keys that differ in kind, but not in meaning.
        let mut entries = entries.get(&hash)?.iter();
        let (_, index) = entries.find(|(candidate, _)| matches_key(self.sides, candidate, key, is_field))?;
        left.document.at(*index)
    }
}

/// A step that is not a plain key.
enum SpecialStep<'d> {
    Child(u32),
    Entry(u32),
    Key(Cursor<'d>),
}

fn parse_special_step(step: Cursor<'_>) -> Option<SpecialStep<'_>> {
    if step.kind() != Kind::Map {
        return None;
    }
    let position_named =
        |name: &str| step.get(name).map(|number| number.as_i64().and_then(|number| u32::try_from(number).ok()));
    match (position_named("part"), position_named("entry")) {
        (Some(position), _) => position.map(SpecialStep::Child),
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

/// Returns true if a key of the first document equals a key in the second one.
fn matches_key(sides: Sides<'_, '_>, candidate: &Key<'_>, key: &Key<'_>, is_field: bool) -> bool {
    let rules = sides.left.rules;
    match (candidate, key) {
        (Key::Name(x), Key::Name(y)) => {
            rules.key_meaning(sides.left.document, &x.node, x.bytes, is_field)
                == rules.key_meaning(sides.right.document, &y.node, y.bytes, is_field)
        }
        (Key::Value(_), Key::Value(_)) => true,
        _ => false,
    }
}
