//! Scalars that are blessed after they were read.
//!
//! A scalar that is met as an item before any reference to it is written
//! without its class; the class stands at the first reference to it, as OBJECT
//! before a REFP. In a document the scalar itself is the object, so that place
//! is moved when all was read: the object's node goes from the reference to
//! the scalar.

use super::spell::{Speller, has_target};
use crate::document::{Detail, Extent, Form, Kind, NO_KEY, NO_NODE, Node, Sink, flag};

/// A move: the object at `from`, whose body is a reference to the variable at
/// `to`, goes there.
#[derive(Clone, Copy, Debug)]
struct Move {
    from: u32,
    to: u32,
    class: u32,
}

/// Old places and what they become.
struct Shifts {
    /// Where a node comes in before, and where one goes; ascending.
    to: Vec<u32>,
    from: Vec<u32>,
}

impl Shifts {
    /// How far what stands before `at` moves what stands there.
    fn end(&self, at: u32) -> u32 {
        let more = self.to.partition_point(|to| *to < at) as u32;
        let fewer = self.from.partition_point(|from| *from < at) as u32;
        at + more - fewer
    }

    /// The new place of the node at `at`; of one that goes, of what it held.
    fn node(&self, at: u32) -> u32 {
        self.end(at) + u32::from(self.to.binary_search(&at).is_ok())
    }

    /// The new place of the variable at `at`.
    fn variable(&self, at: u32) -> u32 {
        self.end(at)
    }
}

/// Moves the objects at `late`, as far as they are of this kind.
pub(super) fn bless<S: Sink>(sink: &mut S, speller: &mut Speller, late: &[u32]) {
    let nodes = &sink.tape().nodes;
    let mut moves: Vec<Move> = late.iter().filter_map(|from| plan(nodes, *from)).collect();
    moves.sort_by_key(|one| (one.to, one.from));
    // A scalar can be blessed once.
    moves.dedup_by_key(|one| one.to);
    if moves.is_empty() {
        return;
    }
    let mut shifts =
        Shifts { to: moves.iter().map(|one| one.to).collect(), from: moves.iter().map(|one| one.from).collect() };
    shifts.from.sort_unstable();
    rebuild(sink, &moves, &shifts);
    if let Some(detail) = sink.detail() {
        renumber(detail, &shifts);
        speller.renumber(|node| shifts.node(node));
    }
}

fn plan(nodes: &[Node], from: u32) -> Option<Move> {
    let [object, reference, alias] = nodes.get(from as usize..from as usize + 3)?.try_into().ok()?;
    let is_late = object.kind == Kind::Object && reference.kind == Kind::Ref && alias.kind == Kind::Alias;
    let to = u32::try_from(alias.payload).ok().filter(|to| is_late && *to < from)?;
    let scalar = nodes.get(to as usize)?;
    let is_leaf = !scalar.kind.is_container() && !matches!(scalar.kind, Kind::Link | Kind::Alias);
    // What stands behind REFN or OBJECT is no item.
    let is_item = to == 0 || !matches!(nodes[to as usize - 1].kind, Kind::Ref | Kind::Object);
    (is_leaf && is_item).then_some(Move { from, to, class: object.class() })
}

fn rebuild<S: Sink>(sink: &mut S, moves: &[Move], shifts: &Shifts) {
    let tape = sink.tape();
    let old = std::mem::take(&mut tape.nodes);
    let mut moves = moves.iter().peekable();
    let mut gone: Option<Node> = None;
    for (at, node) in (0u32..).zip(&old) {
        if shifts.from.binary_search(&at).is_ok() {
            gone = Some(*node);
            continue;
        }
        let mut node = *node;
        match node.kind {
            Kind::Link => node.payload = u64::from(shifts.node(node.payload as u32)),
            Kind::Alias => node.payload = u64::from(shifts.variable(node.payload as u32)),
            kind if kind.is_container() && node.end() != 0 => {
                let end = shifts.end(node.end());
                node.set_end(end);
            }
            _ => {}
        }
        if let Some(object) = gone.take() {
            node.key = object.key;
            node.flags |= object.flags & (flag::TARGET | flag::WEAK);
        }
        if let Some(one) = moves.next_if(|one| one.to == at) {
            let object = Node::open(Kind::Object, one.class).with(node.flags & flag::TARGET);
            let mut object = object.in_form(Form::Variable);
            object.key = node.key;
            object.aux = 1;
            object.set_end(tape.nodes.len() as u32 + 2);
            tape.nodes.push(object);
            node.key = NO_KEY;
            node.flags &= !flag::TARGET;
        }
        tape.nodes.push(node);
    }
    tape.root = shifts.variable(tape.root);
    tape.header = tape.header.map(|header| shifts.variable(header));
}

fn renumber(detail: &mut Detail, shifts: &Shifts) {
    for note in &mut detail.spelling.notes {
        note.ordinal = shifts.node(note.ordinal);
        if has_target(note.code) && note.value != u64::MAX {
            note.value = note.value & !0xFFFF_FFFF | u64::from(shifts.node(note.value as u32));
        }
    }
    for span in detail.trace.spans.iter_mut().filter(|span| span.node != NO_NODE) {
        span.node = shifts.node(span.node);
    }
    let old = std::mem::take(&mut detail.trace.extents);
    let mut gone: Option<Extent> = None;
    for (at, extent) in (0u32..).zip(&old) {
        if shifts.from.binary_search(&at).is_ok() {
            gone = Some(*extent);
            continue;
        }
        if shifts.to.binary_search(&at).is_ok() {
            detail.trace.extents.push(*extent);
        }
        let start = gone.take().map_or(extent.start, |object| object.start);
        detail.trace.extents.push(Extent { start, ..*extent });
    }
}
