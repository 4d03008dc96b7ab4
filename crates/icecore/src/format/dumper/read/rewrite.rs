//! Rewrites the tape from the values of the variables. The first occurrence of a value is written in full. Later ones
//! become links or aliases.

use super::heap::{AddedValue, Heap, Value};
use crate::document::{Detail, Extent, GONE, IS_KEY, KEY_NODE, Kind, Moves, NO_KEY, NO_NODE, Node, Rewrite, flag};
use crate::error::Error;
use crate::limits::Limits;

/// Used in the place of an index of the old tape, if there is no such node.
const NONE: u32 = u32::MAX;

/// A container that is being written.
struct RewriteFrame {
    node: u32,
    count: u32,
    /// The next child on the old tape, and where the children end.
    child: u32,
    end: u32,
    /// The container on the old tape, if statements added to it.
    body: u32,
    added: usize,
    /// Whether the container is in the same place as in the text.
    is_in_place: bool,
}

/// The next child of a frame.
#[derive(Clone, Copy, PartialEq)]
enum NextChild {
    Child(u32, u16),
    Added(usize),
    End,
}

pub(super) struct Rewriter<'h, 'a, 't> {
    heap: &'h mut Heap<'a, 't>,
    limits: &'h Limits,
    out: Rewrite,
    /// New nodes of variables, and of their content, by old node.
    variables: Moves,
    targets: Moves,
    /// The old node of each new one, and whether it moved.
    old_nodes: Vec<(u32, bool)>,
    stack: Vec<RewriteFrame>,
}

impl<'h, 'a, 't> Rewriter<'h, 'a, 't> {
    pub(super) fn new(heap: &'h mut Heap<'a, 't>, limits: &'h Limits) -> Rewriter<'h, 'a, 't> {
        let len = heap.tape.nodes().len();
        Rewriter {
            heap,
            limits,
            out: Rewrite::new(len + 1),
            variables: Moves::new_unset(len),
            targets: Moves::new_unset(len),
            old_nodes: Vec::with_capacity(len + 1),
            stack: Vec::new(),
        }
    }

    /// Writes the values of these nodes: a single one as it is, several as an array.
    pub(super) fn rewrite_tape(mut self, roots: &[u32], detail: Option<&mut Detail>) -> Result<(), Error> {
        let result = self.write_roots(roots);
        while let Some(frame) = self.stack.pop() {
            self.close_frame(&frame);
        }
        if let Some(detail) = detail {
            self.record_trace(detail);
        }
        self.heap.tape.nodes = self.out.nodes;
        self.heap.tape.root = 0;
        result
    }

    fn write_roots(&mut self, roots: &[u32]) -> Result<(), Error> {
        let is_list = roots.len() > 1;
        if is_list {
            // The flag `HINT` distinguishes this list of values from a single value that is an array.
            let list = Node::open(Kind::Array, 0).with(flag::HINT);
            self.push(Node { aux: roots.len() as u32, ..list }, NONE, true);
        }
        for root in roots {
            self.write_variable(*root, NO_KEY, true);
            self.write_open_frames()?;
        }
        if is_list {
            self.out.close_container(0);
        }
        Ok(())
    }

    fn write_open_frames(&mut self) -> Result<(), Error> {
        while let Some(next) = self.next_child() {
            self.out.check_limits(self.limits, self.stack.len())?;
            let is_in_place = self.stack.last().is_some_and(|frame| frame.is_in_place);
            match next {
                NextChild::Child(child, key) => self.write_variable(child, key, is_in_place),
                NextChild::Added(index) => self.write_added_value(index),
                NextChild::End => {
                    if let Some(frame) = self.stack.pop() {
                        self.close_frame(&frame);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the next child of the innermost container.
    fn next_child(&mut self) -> Option<NextChild> {
        crate::steps::count(1);
        let frame = self.stack.last_mut()?;
        if frame.child >= frame.end {
            let added = self.heap.added.get(&frame.body).map_or(0, Vec::len);
            if frame.added >= added {
                return Some(NextChild::End);
            }
            frame.added += 1;
            frame.count += 1;
            return Some(NextChild::Added(frame.added - 1));
        }
        let mut child = frame.child;
        let (is_in_place, mut node) = (frame.is_in_place, self.heap.tape.nodes[child as usize]);
        frame.count += 1;
        if node.key == IS_KEY {
            self.push(node, child, is_in_place);
            child += 1;
            node = self.heap.tape.nodes.get(child as usize).copied().unwrap_or(node);
        }
        let next = self.heap.tape.index_after(child);
        if let Some(frame) = self.stack.last_mut() {
            frame.child = next;
        }
        Some(NextChild::Child(child, node.key))
    }

    /// Writes a value that a statement added to the innermost container.
    fn write_added_value(&mut self, index: usize) {
        let body = self.stack.last().map_or(NONE, |frame| frame.body);
        let Some(AddedValue { key, variable }) = self.heap.added.get(&body).and_then(|added| added.get(index)).cloned()
        else {
            return;
        };
        let key = match key {
            None => NO_KEY,
            Some((kind, name)) => match self.heap.tape.intern_key(Node::leaf(kind, 0), &name) {
                Some(id) => id,
                None => {
                    let node = self.heap.tape.new_owned_string(kind, &name);
                    self.push(Node { key: IS_KEY, ..node }, NONE, false);
                    KEY_NODE
                }
            },
        };
        self.write_variable(variable, key, false);
    }

    fn push(&mut self, node: Node, old_node: u32, is_in_place: bool) -> u32 {
        self.old_nodes.push((old_node, !is_in_place));
        self.out.push(node)
    }

    fn push_link(&mut self, kind: Kind, target: u32, key: u16, old_node: u32, is_in_place: bool) {
        self.old_nodes.push((old_node, !is_in_place));
        self.out.push_link(Node { key, ..Node::leaf(kind, 0) }, target);
    }

    /// Writes the variable at this old node.
    fn write_variable(&mut self, node: u32, key: u16, is_in_place: bool) {
        let variable = self.heap.variable_at(node);
        let new_index = self.variables.new_position(variable);
        if new_index != GONE {
            return self.push_link(Kind::Alias, new_index, key, node, is_in_place);
        }
        self.variables.set(variable, self.out.len());
        match self.heap.content_of(variable) {
            None => {
                self.push(Node { key, ..Node::leaf(Kind::Null, 0) }, node, is_in_place);
            }
            Some(Value::Leaf(leaf)) => self.copy_value(leaf, key, node, is_in_place),
            Some(Value::Scalar(inner)) => {
                let is_own = is_in_place && variable == node && inner == node + 1;
                let new = self.push(Node { key, ..Node::open(Kind::Ref, 0) }, node, is_in_place);
                let (child, end) = (inner, self.heap.tape.index_after(inner));
                self.stack.push(RewriteFrame {
                    node: new,
                    count: 0,
                    child,
                    end,
                    body: NONE,
                    added: 0,
                    is_in_place: is_own,
                });
            }
            Some(Value::Target(target)) => {
                self.write_target(target, key, node, is_in_place && variable == node && target == node)
            }
        }
    }

    /// Writes the target of a reference; `variable` is the variable that contains the
    /// reference.
    fn write_target(&mut self, target: u32, key: u16, variable: u32, is_in_place: bool) {
        let new_index = self.targets.new_position(target);
        if new_index != GONE {
            return self.push_link(Kind::Link, new_index, key, variable, true);
        }
        self.targets.set(target, self.out.len());
        let Some(node) = self.heap.tape.nodes.get(target as usize).copied() else { return };
        if matches!(node.kind, Kind::Code | Kind::Regexp) {
            return self.copy_value(target, key, target, is_in_place);
        }
        let new = self.push(Node { key, aux: 0, ..node }, target, is_in_place);
        let end = self.heap.tape.index_after(target);
        self.stack.push(RewriteFrame {
            node: new,
            count: 0,
            child: target + 1,
            end,
            body: target,
            added: 0,
            is_in_place,
        });
    }

    /// Writes a value that contains no variables.
    fn copy_value(&mut self, start: u32, key: u16, old_node: u32, is_in_place: bool) {
        let is_in_place = is_in_place && start == old_node;
        let new = self.out.len();
        for old in start..self.heap.tape.index_after(start) {
            let mut node = self.heap.tape.nodes[old as usize];
            if node.kind.is_container() {
                node.set_end(node.end() - start + new);
            }
            if old == start {
                node.key = key;
            }
            self.push(node, if start == old_node { old } else { old_node }, is_in_place);
        }
    }

    fn close_frame(&mut self, frame: &RewriteFrame) {
        if let Some(node) = self.out.nodes.get_mut(frame.node as usize) {
            node.aux = frame.count;
        }
        self.out.close_container(frame.node);
    }

    /// Records where the new nodes are in the text.
    fn record_trace(&self, detail: &mut Detail) {
        let text_end = detail.trace.spans.last().map_or(0, |span| span.end);
        let old = std::mem::take(&mut detail.trace.extents);
        let extent = |(old_node, elsewhere): &(u32, bool)| match old.get(*old_node as usize) {
            Some(extent) => Extent { copied: *elsewhere, ..*extent },
            None if *elsewhere => Extent::default(),
            None => Extent { end: text_end, ..Extent::default() },
        };
        detail.trace.extents = self.old_nodes.iter().map(extent).collect();
        detail.trace.cut.clear();
        let mut places = vec![NO_NODE; old.len()];
        for (new, (old_node, _)) in self.old_nodes.iter().enumerate().rev() {
            if let Some(place) = places.get_mut(*old_node as usize) {
                *place = new as u32;
            }
        }
        for span in &mut detail.trace.spans {
            span.node = places.get(span.node as usize).copied().unwrap_or(NO_NODE);
        }
    }
}
