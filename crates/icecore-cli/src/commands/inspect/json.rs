//! The tree for programs: flat lists of pieces and values, so that any depth can be written and read.

use super::deep::{self, NestedSettings, StageCache};
use super::{DocumentSource, InspectView, detect_variant};
use crate::report::Abort;
use crate::sink::Sink;
use icecore::{Document, raw::Outcome};
use icecore_inspect::{ErrorReport, Item, Row, Tree};
use serde::Serialize;

#[derive(Serialize)]
struct DocumentHead<'a> {
    file: &'a str,
    format: &'a str,
    variant: String,
    start: usize,
    length: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wrappers: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<WrapperNote<'a>>,
}

/// A note of a wrapper.
#[derive(Serialize)]
struct WrapperNote<'a> {
    name: &'a str,
    value: &'a str,
}

pub fn write_document(
    piece: &DocumentSource<'_>,
    outcome: &Outcome<'_>,
    top: Option<u32>,
    view: &InspectView<'_>,
    settings: NestedSettings<'_>,
    sink: &mut Sink,
) -> Result<(), Abort> {
    let tree = view.build_tree(outcome, top, settings, false);
    write_head(piece, sink)?;
    let mut list = ItemWriter { view, sink, comma: "\n", opened: 0, part: None };
    list.write_rows(tree, piece, &outcome.document, settings, 0)?;
    write_end(outcome, sink)
}

/// Writes everything before the items.
pub fn write_head(piece: &DocumentSource<'_>, sink: &mut Sink) -> Result<(), Abort> {
    let head = DocumentHead {
        file: piece.name,
        format: piece.stage.format().name,
        wrappers: piece.stage.wrappers().iter().map(|wrap| wrap.wrapper().name).collect(),
        notes: piece.notes.iter().map(|(name, value)| WrapperNote { name, value }).collect(),
        variant: detect_variant(piece),
        start: piece.start,
        length: piece.bytes.len(),
    };
    sink.write_text("{\"document\":")?;
    sink.write_json(&head)?;
    sink.write_text(",\n\"items\":[")
}

/// Writes everything after the items.
pub fn write_end(outcome: &Outcome<'_>, sink: &mut Sink) -> Result<(), Abort> {
    sink.write_text("],\n\"error\":")?;
    sink.write_json(&outcome.error.as_ref().map(ErrorReport::from_error))?;
    sink.write_text("}\n")
}

/// The values that the items of a part of an array need from the whole array.
#[derive(Clone, Copy)]
pub struct ArrayPart {
    /// Number of nodes in earlier parts.
    pub nodes: u32,
    /// Total number of items, and the end of the array.
    pub count: u64,
    pub end: u64,
}

impl ArrayPart {
    fn adjust_item(self, item: &mut Item<'_>) {
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
pub fn write_part(
    tree: Tree<'_>,
    piece: &DocumentSource<'_>,
    document: &Document<'_>,
    view: &InspectView<'_>,
    settings: NestedSettings<'_>,
    part: ArrayPart,
    sink: &mut Sink,
) -> Result<(), Abort> {
    let comma = if part.nodes == 0 { "\n" } else { ",\n" };
    ItemWriter { view, sink, comma, opened: 0, part: Some(part) }.write_rows(tree, piece, document, settings, 0)
}

/// Writes the items.
struct ItemWriter<'l> {
    view: &'l InspectView<'l>,
    sink: &'l mut Sink,
    comma: &'static str,
    /// Number of strings that were opened.
    opened: u32,
    part: Option<ArrayPart>,
}

impl ItemWriter<'_> {
    fn write_item(&mut self, item: &Item<'_>) -> Result<(), Abort> {
        self.sink.write_text(self.comma)?;
        self.comma = ",\n";
        self.sink.write_json(item)
    }

    /// Writes the rows of a document, which was in the opened string `within` (0: in none), and the contents of its
    /// strings.
    fn write_rows(
        &mut self,
        tree: Tree<'_>,
        piece: &DocumentSource<'_>,
        document: &Document<'_>,
        settings: NestedSettings<'_>,
        within: u32,
    ) -> Result<(), Abort> {
        let mut stage_cache = StageCache::new();
        for row in tree {
            let Some(mut item) = Item::from_row(document, &row) else { continue };
            item.depth += settings.base;
            item.within = within;
            if let Some(part) = self.part {
                part.adjust_item(&mut item);
            }
            if within > 0 && item.layer == 0 {
                for place in [&mut item.start, &mut item.end].into_iter().flatten() {
                    *place += piece.start as u64;
                }
            }
            self.write_item(&item)?;
            let Row::Value { node, depth, .. } = row else { continue };
            if !settings.shows_contents(depth) {
                continue;
            }
            let Some(stage) = settings.detect_stage(document, node, depth, &mut stage_cache) else { continue };
            let Some(known) = document.nodes().get(node as usize) else { continue };
            let inner_settings = settings.inside_string(depth);
            deep::open_string(piece, document.bytes(known), &stage, inner_settings, |piece, outcome| {
                self.opened += 1;
                let number = self.opened;
                let format = stage.name();
                let opened = Item {
                    kind: "opened",
                    depth: inner_settings.base,
                    node: Some(node),
                    start: (!piece.is_apart).then_some(piece.start as u64),
                    end: (!piece.is_apart).then_some((piece.start + piece.bytes.len()) as u64),
                    what: Some(&format),
                    number: Some(number),
                    within,
                    ..Item::default()
                };
                self.write_item(&opened)?;
                let tree = self.view.build_tree(outcome, None, inner_settings, false);
                self.write_rows(tree, piece, &outcome.document, inner_settings, number)
            })?;
        }
        Ok(())
    }
}
