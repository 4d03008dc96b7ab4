//! List-to-map: changes an array of PHP into a map if a key shows that it is not a list.
//!
//! Even the last key of an array may show this. In a short array, the earlier entries then get ids of keys. In a long
//! array they need nodes for their keys. These nodes are inserted at the end, for all arrays in one pass.

use crate::document::{IS_KEY, KEY_NODE, Kind, Moves, Node, Rewrite, Sink, Tape, same_node};

/// Maximum number of entries of a map whose keys get ids. The keys of larger maps seldom occur again.
pub(super) const MAX_ENTRIES_WITH_IDS: u32 = 256;
/// Number of ids that a table of keys can assign, minus a margin.
pub(super) const MAX_KEY_IDS: usize = 65_000;

/// Arrays whose entries have no keys yet.
#[derive(Debug, Default)]
pub(super) struct DeferredKeys {
    arrays: Vec<KeylessEntries>,
}

/// The children of an array that have no keys yet.
#[derive(Debug)]
struct KeylessEntries {
    /// The first of these children.
    first_child: u32,
    /// The position of the first of them in the array. It becomes the key.
    first_position: u32,
    /// The position after the last of them.
    end_position: u32,
}

impl DeferredKeys {
    /// Changes the array at `index` into a map. Its first `count` entries get their positions as keys: the first of
    /// them get ids now, the others get nodes in [`Self::insert_keys`].
    pub(super) fn convert_to_map(&mut self, tape: &mut Tape, index: u32, count: u32) {
        tape.nodes[index as usize].kind = Kind::Map;
        let mut key_count = 0;
        let mut child = index + 1;
        while key_count < count.min(MAX_ENTRIES_WITH_IDS) && tape.keys.len() < MAX_KEY_IDS {
            let Some(id) = tape.intern_key(Node::int(i64::from(key_count)), &[]) else { break };
            tape.set_key(child, id);
            child = tape.index_after(child);
            key_count += 1;
        }
        if key_count < count {
            self.arrays.push(KeylessEntries { first_child: child, first_position: key_count, end_position: count });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }

    /// Inserts the nodes of all keys in one pass, because each insertion moves all later nodes.
    pub(super) fn insert_keys(self, sink: &mut impl Sink) {
        if self.arrays.is_empty() {
            return;
        }
        let tape = sink.tape();
        // Where each key goes, and its value.
        let mut places: Vec<(u32, u32)> = Vec::new();
        for KeylessEntries { first_child, first_position, end_position } in self.arrays {
            let mut child = first_child;
            for position in first_position..end_position {
                if child >= tape.len() {
                    break;
                }
                places.push((child, position));
                tape.set_key(child, KEY_NODE);
                child = tape.index_after(child);
            }
        }
        places.sort_unstable();
        let old = std::mem::take(&mut tape.nodes);
        let mut rewrite = Rewrite::new(old.len() + places.len());
        let mut places = places.into_iter().peekable();
        for (index, node) in (0u32..).zip(&old) {
            rewrite.reach_node(index);
            if let Some((_, position)) = places.next_if(|(place, _)| *place == index) {
                rewrite.push(Node { key: IS_KEY, ..Node::int(i64::from(position)) });
            }
            rewrite.keep_node(*node);
        }
        rewrite.relink_targets(old.len() as u32, same_node);
        let moves = rewrite.finish(tape);
        if let Some(detail) = sink.detail() {
            detail.apply_moves(&moves, Moves::new_position);
        }
    }
}
