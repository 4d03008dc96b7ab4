//! Makes a tape from another one: nodes move, and links, ends and notes follow.
//!
//! Two things name nodes by index: a container knows where it ends, a link what it
//! names. Inserting or removing a node in the middle of a tape changes both
//! everywhere, so a new tape is made instead, in one walk.
//!
//! A [`Rewrite`] emits the new nodes. A walk over the old ones calls
//! [`reach`](Rewrite::reach) for each, and then any of these:
//!
//! | to | call |
//! |---|---|
//! | keep the node, as it is or changed | [`keep`](Rewrite::keep) |
//! | insert a leaf before it | [`push`](Rewrite::push) |
//! | insert a container around it | [`open`](Rewrite::open), then `keep` |
//! | remove it, what it holds stays | nothing |
//! | remove it with all that it holds | [`remove`](Rewrite::remove) |
//! | insert a value of another document | [`nest`](Rewrite::nest), a walk over that value, [`unnest`](Rewrite::unnest) |
//!
//! Ends are set by the rewrite: it closes a container when the walk reaches the old node
//! behind it. Links name old nodes until [`relink`](Rewrite::relink), as their target may
//! come later. A caller that walks in another order (expansion of copies, the paths of
//! Data::Dumper) closes containers itself and reports where each node
//! [`moved`](Rewrite::moved).

use super::detail::Detail;
use super::node::{Kind, Node, flag};
use super::tape::Tape;
use crate::error::Error;
use crate::limits::Limits;
use crate::steps;

/// In [`Moves`]: a node that is not on the new tape.
pub(crate) const GONE: u32 = u32::MAX;

/// Where old nodes are on the new tape.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    /// The first old node that has an entry.
    first: u32,
    /// Of each: where the new nodes begin that were emitted for it, and which of them
    /// is the node itself.
    places: Vec<(u32, u32)>,
}

impl Moves {
    /// Of a walk from `first` to `end`, which sets the places one after the other.
    fn walk(first: u32, end: u32) -> Moves {
        Moves { first, places: Vec::with_capacity(end.saturating_sub(first) as usize + 1) }
    }

    /// Of `count` nodes that have no place yet.
    pub(crate) fn unset(count: usize) -> Moves {
        Moves { first: 0, places: vec![(GONE, GONE); count] }
    }

    fn get(&self, old: u32) -> Option<(u32, u32)> {
        self.places.get(old.checked_sub(self.first)? as usize).copied()
    }

    /// Where the node at `old` is, or what took its place; [`GONE`], if nothing did.
    pub(crate) fn node(&self, old: u32) -> u32 {
        self.get(old).map_or(GONE, |(_, node)| node)
    }

    /// Where the node at `old` begins, with what was inserted before and around it; of
    /// one that is gone, what follows.
    pub(crate) fn start(&self, old: u32) -> u32 {
        self.get(old).or(self.places.last().copied()).map_or(GONE, |(start, _)| start)
    }

    /// The node at `old` is at `new` now.
    pub(crate) fn set(&mut self, old: u32, new: u32) {
        if let Some(place) = self.places.get_mut(old.wrapping_sub(self.first) as usize) {
            *place = (new, new);
        }
    }
}

/// A walk over an old tape.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    moves: Moves,
    /// New links that still name old nodes.
    links: Vec<u32>,
    /// New containers that are open, and the old nodes that they end before.
    open: Vec<(u32, u32)>,
}

/// A tape that is being written anew.
#[derive(Debug, Default)]
pub(crate) struct Rewrite {
    /// The new nodes.
    pub(crate) nodes: Vec<Node>,
    /// Whether there is a [`Kind::Copy`] among them.
    copies: bool,
    walk: Walk,
}

impl Rewrite {
    /// For a walk over `count` nodes.
    pub(crate) fn new(count: usize) -> Rewrite {
        let walk = Walk { moves: Moves::walk(0, count as u32), ..Walk::default() };
        Rewrite { nodes: Vec::with_capacity(count), copies: false, walk }
    }

    /// For what walks in an order of its own over `count` nodes.
    pub(crate) fn unordered(count: usize) -> Rewrite {
        let walk = Walk { moves: Moves::unset(count), ..Walk::default() };
        Rewrite { nodes: Vec::with_capacity(count), copies: false, walk }
    }

    /// The index of the next new node.
    pub(crate) fn len(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Whether another node may come, in `depth` containers.
    ///
    /// # Errors
    /// Of kind `Limit`, if it may not.
    pub(crate) fn check(&self, limits: &Limits, depth: usize) -> Result<(), Error> {
        if self.nodes.len() >= limits.nodes as usize {
            return Err(limits.too_many_nodes());
        }
        if depth > limits.depth as usize {
            return Err(limits.too_deep());
        }
        Ok(())
    }

    // -- Emitting -------------------------------------------------------------

    /// Emits a node as it is.
    pub(crate) fn push(&mut self, node: Node) -> u32 {
        steps::count(1);
        let at = self.len();
        self.nodes.push(node);
        at
    }

    /// Emits a link of this kind to a new node that was emitted before.
    pub(crate) fn link(&mut self, link: Node, target: u32) -> u32 {
        if let Some(target) = self.nodes.get_mut(target as usize) {
            target.flags |= flag::TARGET;
        }
        self.push(Node { payload: u64::from(target), ..link })
    }

    /// Emits a link that names an old node, until [`Rewrite::relink`].
    pub(crate) fn link_old(&mut self, link: Node) -> u32 {
        self.copies |= link.kind == Kind::Copy;
        self.walk.links.push(self.len());
        self.push(link)
    }

    /// Closes the container at `at`: it ends here.
    pub(crate) fn close(&mut self, at: u32) {
        let end = self.len();
        if let Some(node) = self.nodes.get_mut(at as usize) {
            node.set_end(end);
        }
    }

    // -- Walking --------------------------------------------------------------

    /// The walk comes to the old node at `old`: what ended before it is closed, and
    /// what is emitted from now on belongs to it.
    pub(crate) fn reach(&mut self, old: u32) {
        while let Some((at, _)) = self.walk.open.pop_if(|(_, end)| *end <= old) {
            self.close(at);
        }
        let here = self.len();
        self.walk.moves.places.push((here, here));
    }

    /// Emits a container that ends before the old node `end`.
    pub(crate) fn open(&mut self, container: Node, end: u32) -> u32 {
        let at = self.push(container);
        self.walk.open.push((at, end));
        at
    }

    /// Emits the old node that was reached last, as `node` says. A container keeps its
    /// end, also one that has none yet; a link keeps what it names.
    pub(crate) fn keep(&mut self, node: Node) -> u32 {
        let at = self.len();
        self.place(at);
        if node.kind.is_again() {
            self.link_old(node)
        } else if node.kind.is_container() && node.end() != 0 {
            self.open(node, node.end())
        } else {
            self.push(node)
        }
    }

    /// The old node that was reached last is the new node `at`.
    pub(crate) fn place(&mut self, at: u32) {
        if let Some((_, node)) = self.walk.moves.places.last_mut() {
            *node = at;
        }
    }

    /// Removes the old node that was reached last, and all up to the old node `end`,
    /// which the walk reaches next.
    pub(crate) fn remove(&mut self, end: u32) {
        self.place(GONE);
        let (here, moves) = (self.len(), &mut self.walk.moves);
        let count = end.saturating_sub(moves.first) as usize;
        moves.places.resize(count.max(moves.places.len()), (here, GONE));
    }

    /// How many containers of this walk are open.
    pub(crate) fn depth(&self) -> usize {
        self.walk.open.len()
    }

    /// The innermost container that is open.
    pub(crate) fn parent(&self) -> Option<&Node> {
        let (at, _) = self.walk.open.last()?;
        self.nodes.get(*at as usize)
    }

    /// The places so far.
    pub(crate) fn moves(&self) -> &Moves {
        &self.walk.moves
    }

    /// The next new node is the old one at `old`: for what walks in an order of its own.
    pub(crate) fn moved(&mut self, old: u32) {
        let new = self.len();
        self.walk.moves.set(old, new);
    }

    // -- Ending ---------------------------------------------------------------

    /// Ends a walk before the old node `end`: closes what is open, and makes links name
    /// new nodes: those that `target` says. One to what is gone names [`GONE`].
    pub(crate) fn relink(&mut self, end: u32, target: impl Fn(&Moves, &Node) -> u32) {
        while let Some((at, _)) = self.walk.open.pop() {
            self.close(at);
        }
        let moves = &mut self.walk.moves;
        if moves.places.len() <= end.saturating_sub(moves.first) as usize {
            let here = self.nodes.len() as u32;
            moves.places.push((here, here));
        }
        for at in std::mem::take(&mut self.walk.links) {
            let to = target(&self.walk.moves, &self.nodes[at as usize]);
            self.nodes[at as usize].payload = u64::from(to);
            if let Some(named) = self.nodes.get_mut(to as usize) {
                named.flags |= flag::TARGET;
            }
        }
    }

    /// Begins a walk over the nodes of another tape from `first` to `end`, in the
    /// middle of this one, which is returned.
    pub(crate) fn nest(&mut self, first: u32, end: u32) -> Walk {
        std::mem::replace(&mut self.walk, Walk { moves: Moves::walk(first, end), ..Walk::default() })
    }

    /// Continues with the walk that was interrupted; gives the places of the inner one.
    pub(crate) fn unnest(&mut self, outer: Walk) -> Moves {
        std::mem::replace(&mut self.walk, outer).moves
    }

    /// Puts the new nodes on the tape that the old ones were taken from, and moves its
    /// root and its header.
    pub(crate) fn finish(self, tape: &mut Tape) -> Moves {
        let moves = self.walk.moves;
        tape.root = moves.start(tape.root);
        tape.header = tape.header.map(|header| moves.start(header));
        tape.set_nodes(self.nodes, self.copies);
        moves
    }
}

/// Where a link leads after a walk: to the node that it named.
pub(crate) fn same_node(moves: &Moves, link: &Node) -> u32 {
    u32::try_from(link.payload).map_or(GONE, |old| moves.node(old))
}

impl Detail {
    /// Moves extents, spans and notes after the nodes: what is inserted has the extent
    /// of the node that it was inserted for, and `to` says whose spans and notes the
    /// old ones are. For a detail that is being recorded, whose notes name nodes.
    pub(crate) fn rewrite(&mut self, moves: &Moves, to: impl Fn(&Moves, u32) -> u32) {
        let extents = std::mem::take(&mut self.trace.extents);
        for (old, extent) in (0u32..).zip(extents) {
            self.trace.extents.resize(moves.start(old + 1) as usize, extent);
        }
        for cut in &mut self.trace.cut {
            cut.node = moves.node(cut.node);
        }
        for span in &mut self.trace.spans {
            // Those of headers and the like belong to no node.
            if span.node != super::NO_NODE {
                span.node = to(moves, span.node);
            }
        }
        for note in &mut self.spelling.notes {
            note.ordinal = to(moves, note.ordinal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Builder, Document};

    /// `[[1, 2], link to the inner array, 3]`, rewritten.
    fn rewritten(change: impl Fn(&mut Rewrite, u32, Node)) -> (Vec<Node>, Moves) {
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
        let mut at = 0;
        while at < 6 {
            rewrite.reach(at);
            change(&mut rewrite, at, old[at as usize]);
            at = (rewrite.moves().places.len() as u32).max(at + 1);
        }
        rewrite.relink(6, same_node);
        let moves = rewrite.finish(&mut tape);
        (tape.nodes, moves)
    }

    #[test]
    fn what_is_kept_stays_as_it_is() {
        let (nodes, moves) = rewritten(|rewrite, _, node| {
            rewrite.keep(node);
        });
        assert_eq!((nodes[0].end(), nodes[1].end(), nodes[4].payload), (6, 4, 1));
        assert!(nodes[1].has(flag::TARGET));
        assert_eq!((moves.node(5), moves.start(6)), (5, 6));
    }

    #[test]
    fn a_leaf_before_a_node_moves_what_follows() {
        let (nodes, moves) = rewritten(|rewrite, at, node| {
            if at == 1 {
                rewrite.push(Node::int(9));
            }
            rewrite.keep(node);
        });
        assert_eq!((nodes[0].end(), nodes[2].end(), nodes[5].payload), (7, 5, 2));
        assert_eq!((moves.start(1), moves.node(1)), (1, 2));
    }

    #[test]
    fn a_container_around_a_node_ends_with_it() {
        let (nodes, _) = rewritten(|rewrite, at, node| {
            if at == 1 {
                rewrite.open(Node::open(Kind::Object, 0), 4);
            }
            rewrite.keep(node);
        });
        assert_eq!((nodes[1].kind, nodes[1].end(), nodes[2].end(), nodes[0].end()), (Kind::Object, 5, 5, 7));
    }

    #[test]
    fn what_is_removed_is_named_by_nothing() {
        let (nodes, moves) = rewritten(|rewrite, at, node| match at {
            1 => rewrite.remove(4),
            _ => {
                rewrite.keep(node);
            }
        });
        assert_eq!((nodes.len(), nodes[0].end(), nodes[1].payload), (3, 3, u64::from(GONE)));
        assert_eq!((moves.node(2), moves.start(2), moves.node(5)), (GONE, 1, 2));
    }

    #[test]
    fn a_nested_walk_has_links_of_its_own() {
        let mut builder = Builder::new();
        builder.begin_array();
        builder.int(7).end();
        let inner: Document<'_> = builder.finish().unwrap();
        let (nodes, _) = rewritten(|rewrite, at, node| {
            if at != 5 {
                rewrite.keep(node);
                return;
            }
            let outer = rewrite.nest(0, 2);
            for (at, node) in (0u32..).zip(inner.nodes()) {
                rewrite.reach(at);
                rewrite.keep(*node);
            }
            rewrite.relink(2, same_node);
            rewrite.unnest(outer);
        });
        assert_eq!((nodes.len(), nodes[0].end(), nodes[4].payload), (7, 7, 1));
        assert_eq!((nodes[5].kind, nodes[5].end()), (Kind::Array, 7));
    }
}
