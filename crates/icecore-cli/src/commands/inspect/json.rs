//! The tree for programs: flat lists of pieces and values, so that any depth can be written and read.

use super::deep::{self, Known as Seen, Look};
use super::{Piece, View, variant};
use crate::report::Abort;
use crate::sink::Sink;
use icecore::{Document, raw::Outcome};
use icecore_inspect::{ErrorReport, Item, Row, Tree};
use serde::Serialize;

#[derive(Serialize)]
struct Head<'a> {
    file: &'a str,
    format: &'a str,
    variant: String,
    start: usize,
    length: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wrappers: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<Said<'a>>,
}

/// A note of a wrapper.
#[derive(Serialize)]
struct Said<'a> {
    name: &'a str,
    value: &'a str,
}

pub fn document(
    piece: &Piece<'_>,
    outcome: &Outcome<'_>,
    top: Option<u32>,
    view: &View<'_>,
    look: Look<'_>,
    sink: &mut Sink,
) -> Result<(), Abort> {
    let tree = view.tree(outcome, top, look, false);
    head(piece, sink)?;
    let mut list = List { view, sink, comma: "\n", opened: 0, part: None };
    list.rows(tree, piece, &outcome.document, look, 0)?;
    end(outcome, sink)
}

/// Writes everything before the items.
pub fn head(piece: &Piece<'_>, sink: &mut Sink) -> Result<(), Abort> {
    let head = Head {
        file: piece.name,
        format: piece.stage.format().name,
        wrappers: piece.stage.wrappers().iter().map(|wrap| wrap.wrapper().name).collect(),
        notes: piece.notes.iter().map(|(name, value)| Said { name, value }).collect(),
        variant: variant(piece),
        start: piece.start,
        length: piece.bytes.len(),
    };
    sink.text("{\"document\":")?;
    sink.json(&head)?;
    sink.text(",\n\"items\":[")
}

/// Writes everything after the items.
pub fn end(outcome: &Outcome<'_>, sink: &mut Sink) -> Result<(), Abort> {
    sink.text("],\n\"error\":")?;
    sink.json(&outcome.error.as_ref().map(ErrorReport::from_error))?;
    sink.text("}\n")
}

/// The values that the items of a part of an array need from the whole array.
#[derive(Clone, Copy)]
pub struct Part {
    /// Number of nodes in earlier parts.
    pub nodes: u32,
    /// Total number of items, and the end of the array.
    pub count: u64,
    pub end: u64,
}

impl Part {
    fn place(self, item: &mut Item<'_>) {
        match &mut item.node {
            Some(0) if item.step.is_some() => (item.count, item.end) = (Some(self.count), Some(self.end)),
            Some(node) if *node > 0 => *node += self.nodes,
            _ => {}
        }
        // The target of a link is in the same part.
        if let Some(target) = item.target.as_mut().filter(|target| **target > 0) {
            *target += self.nodes;
        }
    }
}

/// Writes the items of a part of an array.
pub fn part(
    tree: Tree<'_>,
    piece: &Piece<'_>,
    document: &Document<'_>,
    view: &View<'_>,
    look: Look<'_>,
    part: Part,
    sink: &mut Sink,
) -> Result<(), Abort> {
    let comma = if part.nodes == 0 { "\n" } else { ",\n" };
    List { view, sink, comma, opened: 0, part: Some(part) }.rows(tree, piece, document, look, 0)
}

/// Writes the items.
struct List<'l> {
    view: &'l View<'l>,
    sink: &'l mut Sink,
    comma: &'static str,
    /// Number of strings that were opened.
    opened: u32,
    part: Option<Part>,
}

impl List<'_> {
    fn push(&mut self, item: &Item<'_>) -> Result<(), Abort> {
        self.sink.text(self.comma)?;
        self.comma = ",\n";
        self.sink.json(item)
    }

    /// Writes the rows of a document, which was in the opened string `within` (0: in none), and the contents of its
    /// strings.
    fn rows(
        &mut self,
        tree: Tree<'_>,
        piece: &Piece<'_>,
        document: &Document<'_>,
        look: Look<'_>,
        within: u32,
    ) -> Result<(), Abort> {
        let mut seen = Seen::new();
        for row in tree {
            let Some(mut item) = Item::from_row(document, &row) else { continue };
            item.depth += look.base;
            item.within = within;
            if let Some(part) = self.part {
                part.place(&mut item);
            }
            if within > 0 && item.layer == 0 {
                for place in [&mut item.start, &mut item.end].into_iter().flatten() {
                    *place += piece.start as u64;
                }
            }
            self.push(&item)?;
            let Row::Value { node, depth, .. } = row else { continue };
            if !look.shows(depth) {
                continue;
            }
            let Some(stage) = look.stage(document, node, depth, &mut seen) else { continue };
            let Some(known) = document.nodes().get(node as usize) else { continue };
            let look = look.inside(depth);
            deep::open(piece, document.bytes(known), &stage, look, |piece, outcome| {
                self.opened += 1;
                let number = self.opened;
                let format = stage.name();
                let opened = Item {
                    kind: "opened",
                    depth: look.base,
                    node: Some(node),
                    start: (!piece.is_apart).then_some(piece.start as u64),
                    end: (!piece.is_apart).then_some((piece.start + piece.bytes.len()) as u64),
                    what: Some(&format),
                    number: Some(number),
                    within,
                    ..Item::default()
                };
                self.push(&opened)?;
                let tree = self.view.tree(outcome, None, look, false);
                self.rows(tree, piece, &outcome.document, look, number)
            })?;
        }
        Ok(())
    }
}
