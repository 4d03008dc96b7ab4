//! Keys of long arrays that began like lists.
//!
//! That an array is no list may show at its last entry. Short ones get ids for
//! the keys of the entries before; for long ones key nodes are put in, for all
//! of them in one pass at the end.

use crate::document::{IS_KEY, KEY_NODE, Kind, Node, Sink, Tape};

/// Maps of up to this many entries get ids for their keys; the keys of larger
/// ones are seldom seen again.
pub(super) const KEYED: u32 = 256;
/// How many ids there are, less a margin.
pub(super) const IDS: usize = 65_000;

/// Arrays whose entries lack their keys.
#[derive(Debug, Default)]
pub(super) struct Late {
    /// Container, first child without key, its position, and the position of
    /// the first child with a key.
    arrays: Vec<(u32, u32, u32, u32)>,
}

impl Late {
    /// The array at `at` is no list: the `count` entries that it has so far get
    /// their keys, now or at the end.
    pub(super) fn unlist(&mut self, tape: &mut Tape, at: u32, count: u32) {
        tape.nodes[at as usize].kind = Kind::Map;
        let mut done = 0;
        let mut child = at + 1;
        while done < count.min(KEYED) && tape.keys.len() < IDS {
            let Some(id) = tape.intern_key(Node::int(i64::from(done)), &[]) else { break };
            tape.set_key(child, id);
            child = tape.next(child);
            done += 1;
        }
        if done < count {
            self.arrays.push((at, child, done, count));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }

    /// Puts the keys in.
    pub(super) fn insert_keys(self, sink: &mut impl Sink) {
        if self.arrays.is_empty() {
            return;
        }
        let tape = sink.tape();
        // Where a key goes, and which.
        let mut places: Vec<(u32, u32)> = Vec::new();
        for (_, mut child, from, to) in self.arrays {
            for position in from..to {
                if child >= tape.len() {
                    break;
                }
                places.push((child, position));
                tape.set_key(child, KEY_NODE);
                child = tape.next(child);
            }
        }
        places.sort_unstable();
        // How far a node moves: by the keys before it and its own.
        let moved = |at: u32| at.saturating_add(places.partition_point(|(place, _)| *place <= at) as u32);
        // How far an end moves: by the keys before it.
        let ended = |end: u32| end + places.partition_point(|(place, _)| *place < end) as u32;
        let old = std::mem::take(&mut tape.nodes);
        let mut nodes = Vec::with_capacity(old.len() + places.len());
        let mut next = places.iter().peekable();
        for (at, mut node) in old.into_iter().enumerate() {
            if let Some((_, position)) = next.next_if(|(place, _)| *place as usize == at) {
                nodes.push(Node { key: IS_KEY, ..Node::int(i64::from(*position)) });
            }
            if node.kind.is_container() {
                node.set_end(ended(node.end()));
            } else if node.kind.is_again() {
                node.payload = u64::from(moved(node.payload as u32));
            }
            nodes.push(node);
        }
        tape.nodes = nodes;
        if let Some(detail) = sink.detail() {
            for note in &mut detail.spelling.notes {
                note.ordinal = moved(note.ordinal);
            }
            for span in &mut detail.trace.spans {
                span.node = moved(span.node);
            }
            let old = std::mem::take(&mut detail.trace.extents);
            let extents = &mut detail.trace.extents;
            extents.reserve(old.len() + places.len());
            let mut next = places.iter().peekable();
            for (at, extent) in old.into_iter().enumerate() {
                if next.next_if(|(place, _)| *place as usize == at).is_some() {
                    extents.push(extent);
                }
                extents.push(extent);
            }
        }
    }
}
