//! Containers that contain themselves.

use super::Document;
use super::cursor::Cursor;
use super::node::{Kind, Node};
use crate::limits::Limits;
use crate::losses::{LossKind, Losses};

/// How far the search has come with a container.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    No,
    Open,
    Done,
}

impl Document<'_> {
    /// Replaces each link that closes a cycle by null, for callers that follow links. Returns how many there were, and
    /// their paths.
    ///
    /// # Example
    /// ```
    /// let mut document = icecore::read(b"a:2:{i:0;i:7;i:1;R:1;}")?;
    /// let losses = document.cut_cycles(&icecore::Limits::default());
    /// assert_eq!(losses.iter().next().map(|loss| &*loss.path), Some("$[1]"));
    /// assert_eq!(icecore::write(&document, "json")?, b"[7,null]");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn cut_cycles(&mut self, limits: &Limits) -> Losses {
        let mut losses = Losses::with_limits(limits);
        let closing = find_closing_links(self);
        for link in &closing {
            losses.add(LossKind::Cycle, || self.path(*link));
        }
        for link in closing {
            self.tape.set_null(link);
        }
        losses
    }
}

/// Returns the links to a container that the link is in, in the order of a walk that enters each container once.
/// Without them, following links ends.
fn find_closing_links(document: &Document<'_>) -> Vec<u32> {
    let mut closing = Vec::new();
    if !document.nodes().iter().any(|node| node.kind.is_again()) {
        return closing;
    }
    let mut visits = vec![Visit::No; document.nodes().len()];
    let root = document.root();
    let mut open = vec![(root, root.children())];
    set_visit(&mut visits, root, Visit::Open);
    while let Some((container, children)) = open.last_mut() {
        let Some(child) = children.next() else {
            set_visit(&mut visits, *container, Visit::Done);
            open.pop();
            continue;
        };
        let target = child.target();
        match visits.get(target.index() as usize) {
            Some(Visit::Open) => closing.push(child.index()),
            Some(Visit::No) if target.kind().is_container() => {
                set_visit(&mut visits, target, Visit::Open);
                open.push((target, target.children()));
            }
            _ => {}
        }
    }
    closing
}

fn set_visit(visits: &mut [Visit], container: Cursor<'_>, visit: Visit) {
    if let Some(place) = visits.get_mut(container.index() as usize) {
        *place = visit;
    }
}

impl super::Tape {
    /// Replaces a leaf by null; its key stays.
    fn set_null(&mut self, index: u32) {
        if let Some(node) = self.nodes.get_mut(index as usize) {
            *node = Node { key: node.key, ..Node::leaf(Kind::Null, 0) };
        }
    }
}
