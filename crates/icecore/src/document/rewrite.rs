//! Makes a tape from another one. Nodes move, and links, ends and notes are adjusted.
//!
//! A container has the index of its end, and a link has the index of its target. If a node in the middle of a tape is
//! inserted or removed, such indexes change everywhere. So a new tape is made instead, in one walk.
//!
//! A [`Rewrite`] emits the new nodes. A walk over the old ones calls
//! [`reach_node`](Rewrite::reach_node) for each, and then any of these:
//!
//! | to | call |
//! |---|---|
//! | keep the node, unchanged or changed | [`keep_node`](Rewrite::keep_node) |
//! | insert a leaf before it | [`push`](Rewrite::push) |
//! | insert a container around it | [`open_container`](Rewrite::open_container), then `keep_node` |
//! | remove it and keep its content | nothing |
//! | remove it with its content | [`remove_node`](Rewrite::remove_node) |
//! | insert a value of another document | [`begin_nested`](Rewrite::begin_nested), a walk over that value, [`end_nested`](Rewrite::end_nested) |
//!
//! The rewrite sets ends. It closes a container when the walk reaches the old node after it. Links name old nodes
//! until [`relink_targets`](Rewrite::relink_targets), because their target may come later. Some callers walk in
//! another order: the expansion of copies, and the paths of Data::Dumper. They close containers themselves, and
//! report where each node moved with [`record_move`](Rewrite::record_move).

use super::detail::Detail;
use super::node::{Kind, Node, flag};
use super::tape::Tape;
use crate::error::Error;
use crate::limits::Limits;
use crate::steps;

/// The position in [`Moves`] of a node that is not on the new tape.
pub(crate) const GONE: u32 = u32::MAX;

/// Where an old node is now.
#[derive(Clone, Copy, Debug)]
struct NewPosition {
    /// The first new node that was emitted for it.
    start: u32,
    /// The node itself, or the one that replaced it.
    node: u32,
}

impl NewPosition {
    /// Makes the position of a node for which nothing was emitted before it.
    fn at(node: u32) -> NewPosition {
        NewPosition { start: node, node }
    }
}

/// New positions of old nodes.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    /// The first old node that has an entry.
    first: u32,
    /// By the old node, from `first` on.
    positions: Vec<NewPosition>,
}

impl Moves {
    /// Makes the table for a walk from `first` to `end`. The walk adds the positions one after another.
    fn for_walk(first: u32, end: u32) -> Moves {
        Moves { first, positions: Vec::with_capacity(end.saturating_sub(first) as usize + 1) }
    }

    /// Makes the table for `count` nodes that do not have a position yet.
    pub(crate) fn new_unset(count: usize) -> Moves {
        Moves { first: 0, positions: vec![NewPosition::at(GONE); count] }
    }

    fn get(&self, old: u32) -> Option<NewPosition> {
        self.positions.get(old.checked_sub(self.first)? as usize).copied()
    }

    /// Returns the position of the node at `old`, or of the node that replaced it; [`GONE`] if there is none.
    pub(crate) fn new_position(&self, old: u32) -> u32 {
        self.get(old).map_or(GONE, |position| position.node)
    }

    /// Returns the first new node for the node at `old`: it may be a node that was inserted before or around it. For
    /// a removed node, returns the position of the node that follows.
    pub(crate) fn new_start(&self, old: u32) -> u32 {
        self.get(old).or(self.positions.last().copied()).map_or(GONE, |position| position.start)
    }

    /// Records that the node at `old` is at `new` now.
    pub(crate) fn set(&mut self, old: u32, new: u32) {
        if let Some(position) = self.positions.get_mut(old.wrapping_sub(self.first) as usize) {
            *position = NewPosition::at(new);
        }
    }
}

/// A walk over an old tape.
#[derive(Debug, Default)]
pub(crate) struct RewriteWalk {
    moves: Moves,
    /// New links that still name old nodes.
    links: Vec<u32>,
    /// New containers that are open, each with the old node before which it ends.
    open: Vec<(u32, u32)>,
}

/// A tape that is being rewritten.
#[derive(Debug, Default)]
pub(crate) struct Rewrite {
    /// The new nodes.
    pub(crate) nodes: Vec<Node>,
    /// Whether the new nodes contain a [`Kind::Copy`].
    has_copies: bool,
    walk: RewriteWalk,
}

impl Rewrite {
    /// Starts a rewrite for a walk over `count` nodes in order.
    pub(crate) fn new(count: usize) -> Rewrite {
        let walk = RewriteWalk { moves: Moves::for_walk(0, count as u32), ..RewriteWalk::default() };
        Rewrite { nodes: Vec::with_capacity(count), has_copies: false, walk }
    }

    /// Starts a rewrite for a walk over `count` nodes in any order.
    pub(crate) fn new_unordered(count: usize) -> Rewrite {
        let walk = RewriteWalk { moves: Moves::new_unset(count), ..RewriteWalk::default() };
        Rewrite { nodes: Vec::with_capacity(count), has_copies: false, walk }
    }

    /// Returns the index of the next new node.
    pub(crate) fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Checks that another node, inside `depth` containers, is allowed.
    ///
    /// # Errors
    /// Of kind `Limit`, if it is not.
    pub(crate) fn check_limits(&self, limits: &Limits, depth: usize) -> Result<(), Error> {
        if self.nodes.len() >= limits.nodes as usize {
            return Err(limits.too_many_nodes());
        }
        if depth > limits.depth as usize {
            return Err(limits.too_deep());
        }
        Ok(())
    }

    // -- Emitting -------------------------------------------------------------

    /// Emits a node unchanged.
    pub(crate) fn push(&mut self, node: Node) -> u32 {
        steps::count(1);
        let index = self.len();
        self.nodes.push(node);
        index
    }

    /// Emits a link of this kind to a new node that was already emitted.
    pub(crate) fn push_link(&mut self, link: Node, target: u32) -> u32 {
        if let Some(target) = self.nodes.get_mut(target as usize) {
            target.flags |= flag::TARGET;
        }
        self.push(Node { payload: u64::from(target), ..link })
    }

    /// Emits a link that names an old node until [`Rewrite::relink_targets`].
    pub(crate) fn push_old_link(&mut self, link: Node) -> u32 {
        self.has_copies |= link.kind == Kind::Copy;
        self.walk.links.push(self.len());
        self.push(link)
    }

    /// Closes the container at `index`: it ends here.
    pub(crate) fn close_container(&mut self, index: u32) {
        let end = self.len();
        if let Some(node) = self.nodes.get_mut(index as usize) {
            node.set_end(end);
        }
    }

    // -- Walking --------------------------------------------------------------

    /// Must be called when the walk reaches the old node at `old`. Closes the containers that end before it. Nodes
    /// that are emitted after this belong to it.
    pub(crate) fn reach_node(&mut self, old: u32) {
        while let Some((container, _)) = self.walk.open.pop_if(|(_, end)| *end <= old) {
            self.close_container(container);
        }
        let next_index = self.len();
        self.walk.moves.positions.push(NewPosition::at(next_index));
    }

    /// Emits a container that ends before the old node `end`.
    pub(crate) fn open_container(&mut self, container: Node, end: u32) -> u32 {
        let index = self.push(container);
        self.walk.open.push((index, end));
        index
    }

    /// Emits `node` for the old node that was reached last. A container ends where the old one ends, and a link keeps
    /// its target.
    pub(crate) fn keep_node(&mut self, node: Node) -> u32 {
        let index = self.len();
        self.record_position(index);
        if node.kind.is_again() {
            self.push_old_link(node)
        } else if node.kind.is_container() && node.end() != 0 {
            self.open_container(node, node.end())
        } else {
            self.push(node)
        }
    }

    /// Records that the old node that was reached last is the new node `index`.
    pub(crate) fn record_position(&mut self, index: u32) {
        if let Some(position) = self.walk.moves.positions.last_mut() {
            position.node = index;
        }
    }

    /// Removes the old node that was reached last, and all nodes before the old node `end`, which the walk must reach
    /// next.
    pub(crate) fn remove_node(&mut self, end: u32) {
        self.record_position(GONE);
        let (next_index, moves) = (self.len(), &mut self.walk.moves);
        let count = end.saturating_sub(moves.first) as usize;
        moves.positions.resize(count.max(moves.positions.len()), NewPosition { start: next_index, node: GONE });
    }

    /// Returns the number of open containers of this walk.
    pub(crate) fn depth(&self) -> usize {
        self.walk.open.len()
    }

    /// Returns the innermost open container.
    pub(crate) fn parent(&self) -> Option<&Node> {
        let (container, _) = self.walk.open.last()?;
        self.nodes.get(*container as usize)
    }

    /// Returns the positions so far.
    pub(crate) fn moves(&self) -> &Moves {
        &self.walk.moves
    }

    /// Records that the next new node is the old one at `old`. Only walks in another order need this.
    pub(crate) fn record_move(&mut self, old: u32) {
        let new = self.len();
        self.walk.moves.set(old, new);
    }

    // -- Ending ---------------------------------------------------------------

    /// Ends a walk before the old node `end`: closes open containers, and makes links name the new nodes that `target`
    /// returns. A link to a removed node names [`GONE`].
    pub(crate) fn relink_targets(&mut self, end: u32, target: impl Fn(&Moves, &Node) -> u32) {
        while let Some((container, _)) = self.walk.open.pop() {
            self.close_container(container);
        }
        let moves = &mut self.walk.moves;
        if moves.positions.len() <= end.saturating_sub(moves.first) as usize {
            let next_index = self.nodes.len() as u32;
            moves.positions.push(NewPosition::at(next_index));
        }
        for link in std::mem::take(&mut self.walk.links) {
            let new_target = target(&self.walk.moves, &self.nodes[link as usize]);
            self.nodes[link as usize].payload = u64::from(new_target);
            if let Some(target) = self.nodes.get_mut(new_target as usize) {
                target.flags |= flag::TARGET;
            }
        }
    }

    /// Begins a walk over the nodes of another tape from `first` to `end`, in the middle of this walk, which is
    /// returned.
    pub(crate) fn begin_nested(&mut self, first: u32, end: u32) -> RewriteWalk {
        std::mem::replace(&mut self.walk, RewriteWalk { moves: Moves::for_walk(first, end), ..RewriteWalk::default() })
    }

    /// Continues the interrupted walk; returns the positions of the inner one.
    pub(crate) fn end_nested(&mut self, outer: RewriteWalk) -> Moves {
        std::mem::replace(&mut self.walk, outer).moves
    }

    /// Puts the new nodes on the tape that the old ones were taken from, and moves its root and its header.
    pub(crate) fn finish(self, tape: &mut Tape) -> Moves {
        let moves = self.walk.moves;
        tape.root = moves.new_start(tape.root);
        tape.header = tape.header.map(|header| moves.new_start(header));
        tape.set_nodes(self.nodes, self.has_copies);
        moves
    }
}

/// Returns the target of a link after a walk: the node that it named.
pub(crate) fn same_node(moves: &Moves, link: &Node) -> u32 {
    u32::try_from(link.payload).map_or(GONE, |old| moves.new_position(old))
}

impl Detail {
    /// Moves extents, spans and notes to the new nodes: an inserted node has the extent of the node for which it was
    /// inserted; `new_owner` returns the new owner of an old node's spans and notes. For a detail during recording,
    /// when notes name node indexes.
    pub(crate) fn apply_moves(&mut self, moves: &Moves, new_owner: impl Fn(&Moves, u32) -> u32) {
        let extents = std::mem::take(&mut self.trace.extents);
        for (old, extent) in (0u32..).zip(extents) {
            self.trace.extents.resize(moves.new_start(old + 1) as usize, extent);
        }
        for cut in &mut self.trace.cut {
            cut.node = moves.new_position(cut.node);
        }
        for span in &mut self.trace.spans {
            // Spans of headers and the like do not belong to a node.
            if span.node != super::NO_NODE {
                span.node = new_owner(moves, span.node);
            }
        }
        for note in &mut self.spelling.notes {
            note.ordinal = new_owner(moves, note.ordinal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Builder, Document};

    /// `[[1, 2], link to the inner array, 3]`, rewritten.
    fn rewrite_nodes(change: impl Fn(&mut Rewrite, u32, Node)) -> (Vec<Node>, Moves) {
        let mut tape = Tape::new();
        let array = |end, count| {
            let mut node = Node { aux: count, ..Node::open(Kind::Array, 0) };
            node.set_end(end);
            node
        };
        tape.nodes =
            vec![array(6, 3), array(4, 2), Node::int(1), Node::int(2), Node::leaf(Kind::Link, 1), Node::int(3)];
        let old = std::mem::take(&mut tape.nodes);
        let mut rewrite = Rewrite::new(old.len());
        let mut index = 0;
        while index < 6 {
            rewrite.reach_node(index);
            change(&mut rewrite, index, old[index as usize]);
            index = (rewrite.moves().positions.len() as u32).max(index + 1);
        }
        rewrite.relink_targets(6, same_node);
        let moves = rewrite.finish(&mut tape);
        (tape.nodes, moves)
    }

    #[test]
    fn kept_nodes_are_unchanged() {
        let (nodes, moves) = rewrite_nodes(|rewrite, _, node| {
            rewrite.keep_node(node);
        });
        assert_eq!((nodes[0].end(), nodes[1].end(), nodes[4].payload), (6, 4, 1));
        assert!(nodes[1].has(flag::TARGET));
        assert_eq!((moves.new_position(5), moves.new_start(6)), (5, 6));
    }

    #[test]
    fn an_inserted_leaf_moves_the_following_nodes() {
        let (nodes, moves) = rewrite_nodes(|rewrite, index, node| {
            if index == 1 {
                rewrite.push(Node::int(9));
            }
            rewrite.keep_node(node);
        });
        assert_eq!((nodes[0].end(), nodes[2].end(), nodes[5].payload), (7, 5, 2));
        assert_eq!((moves.new_start(1), moves.new_position(1)), (1, 2));
    }

    #[test]
    fn a_container_around_a_node_ends_with_it() {
        let (nodes, _) = rewrite_nodes(|rewrite, index, node| {
            if index == 1 {
                rewrite.open_container(Node::open(Kind::Object, 0), 4);
            }
            rewrite.keep_node(node);
        });
        assert_eq!((nodes[1].kind, nodes[1].end(), nodes[2].end(), nodes[0].end()), (Kind::Object, 5, 5, 7));
    }

    #[test]
    fn links_to_removed_nodes_are_gone() {
        let (nodes, moves) = rewrite_nodes(|rewrite, index, node| match index {
            1 => rewrite.remove_node(4),
            _ => {
                rewrite.keep_node(node);
            }
        });
        assert_eq!((nodes.len(), nodes[0].end(), nodes[1].payload), (3, 3, u64::from(GONE)));
        assert_eq!((moves.new_position(2), moves.new_start(2), moves.new_position(5)), (GONE, 1, 2));
    }

    #[test]
    fn a_nested_walk_has_its_own_links() {
        let mut builder = Builder::new();
        builder.begin_array();
        builder.int(7).end();
        let inner: Document<'_> = builder.finish().unwrap();
        let (nodes, _) = rewrite_nodes(|rewrite, index, node| {
            if index != 5 {
                rewrite.keep_node(node);
                return;
            }
            let outer = rewrite.begin_nested(0, 2);
            for (index, node) in (0u32..).zip(inner.nodes()) {
                rewrite.reach_node(index);
                rewrite.keep_node(*node);
            }
            rewrite.relink_targets(2, same_node);
            rewrite.end_nested(outer);
        });
        assert_eq!((nodes.len(), nodes[0].end(), nodes[4].payload), (7, 7, 1));
        assert_eq!((nodes[5].kind, nodes[5].end()), (Kind::Array, 7));
    }
}
