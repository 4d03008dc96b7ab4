//! Deferred bless: scalars whose class follows after they were read.
//!
//! If a scalar is written as an item before any reference to it, it has no class there: its
//! class is at the first reference, as OBJECT before a REFP. In a document the scalar itself
//! is the object. So after reading, the object's node moves from the reference to the
//! scalar.

use super::spelling::{Speller, has_target};
use crate::document::{Form, Kind, Moves, NO_KEY, Node, Rewrite, Sink, Tape, flag, same_node};
use std::collections::HashSet;

/// A move of the object at `from`, whose body is a reference to the variable at `to`, to
/// that variable.
#[derive(Clone, Copy, Debug)]
struct ObjectMove {
    from: u32,
    to: u32,
    class: u32,
}

/// Moves the objects at `deferred` that are of this kind.
pub(super) fn apply_deferred_blesses<S: Sink>(sink: &mut S, speller: &mut Speller, deferred: &[u32]) {
    let nodes = &sink.tape().nodes;
    let mut moves: Vec<ObjectMove> = deferred.iter().filter_map(|from| plan_move(nodes, *from)).collect();
    moves.sort_by_key(|object_move| (object_move.to, object_move.from));
    // A scalar can be blessed only once.
    moves.dedup_by_key(|object_move| object_move.to);
    if moves.is_empty() {
        return;
    }
    let gone: HashSet<u32> = moves.iter().map(|object_move| object_move.from).collect();
    let places = rewrite_tape(sink.tape(), &moves, &gone);
    if let Some(detail) = sink.detail() {
        // The content of an object that moves away starts where the object started.
        for from in moves.iter().map(|object_move| object_move.from as usize) {
            if let Some([object, body]) = detail.trace.extents.get_mut(from..from + 2) {
                body.start = object.start;
            }
        }
        detail.apply_moves(&places, Moves::new_position);
        for note in &mut detail.spelling.notes {
            if has_target(note.code) && note.value != u64::MAX {
                note.value = note.value & !0xFFFF_FFFF | u64::from(places.new_position(note.value as u32));
            }
        }
        speller.renumber_nodes(|node| places.new_position(node));
    }
}

fn plan_move(nodes: &[Node], from: u32) -> Option<ObjectMove> {
    let [object, reference, alias] = nodes.get(from as usize..from as usize + 3)?.try_into().ok()?;
    let is_late = object.kind == Kind::Object && reference.kind == Kind::Ref && alias.kind == Kind::Alias;
    let to = u32::try_from(alias.payload).ok().filter(|to| is_late && *to < from)?;
    let scalar = nodes.get(to as usize)?;
    let is_leaf = !scalar.kind.is_container() && !matches!(scalar.kind, Kind::Link | Kind::Alias);
    // A value after REFN or OBJECT is not an item.
    let is_item = to == 0 || !matches!(nodes[to as usize - 1].kind, Kind::Ref | Kind::Object);
    (is_leaf && is_item).then_some(ObjectMove { from, to, class: object.class() })
}

fn rewrite_tape(tape: &mut Tape, moves: &[ObjectMove], goes: &HashSet<u32>) -> Moves {
    let old = std::mem::take(&mut tape.nodes);
    let mut rewrite = Rewrite::new(old.len());
    let mut moves = moves.iter().peekable();
    let mut gone: Option<Node> = None;
    for (index, node) in (0u32..).zip(&old) {
        rewrite.reach_node(index);
        if goes.contains(&index) {
            gone = Some(*node);
            continue;
        }
        let mut node = *node;
        if let Some(object) = gone.take() {
            node.key = object.key;
            node.flags |= object.flags & (flag::TARGET | flag::WEAK);
        }
        if let Some(object_move) = moves.next_if(|object_move| object_move.to == index) {
            let object =
                Node::open(Kind::Object, object_move.class).with(node.flags & flag::TARGET).in_form(Form::Variable);
            rewrite.open_container(Node { key: node.key, aux: 1, ..object }, index + 1);
            node.key = NO_KEY;
            node.flags &= !flag::TARGET;
        }
        rewrite.keep_node(node);
    }
    // An alias refers to the variable, which is the object now.
    rewrite.relink_targets(old.len() as u32, |moves, link| match link.kind {
        Kind::Alias => moves.new_start(link.payload as u32),
        _ => same_node(moves, link),
    });
    rewrite.finish(tape)
}
