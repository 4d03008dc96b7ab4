//! The tree as JSON for programs. It is a flat list of items with their depths, so that values of any depth can be
//! written and read.

use super::deep::{self, NestedSettings, StageCache};
use super::{DocumentSource, InspectView, detect_variant};
use crate::output_writer::OutputWriter;
use crate::report::Abort;
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
    source: &DocumentSource<'_>,
    outcome: &Outcome<'_>,
    top_node: Option<u32>,
    view: &InspectView<'_>,
    settings: NestedSettings<'_>,
    writer: &mut OutputWriter,
) -> Result<(), Abort> {
    let tree = view.build_tree(outcome, top_node, settings);
    write_head(source, writer)?;
    let mut item_writer = ItemWriter { view, writer, separator: "\n", opened_count: 0, part: None };
    item_writer.write_rows(tree, source, &outcome.document, settings, 0)?;
    write_end(outcome, writer)
}

/// Writes everything before the items.
pub fn write_head(source: &DocumentSource<'_>, writer: &mut OutputWriter) -> Result<(), Abort> {
    let head = DocumentHead {
        file: source.name,
        format: source.stage.format().name,
        wrappers: source.stage.wrappers().iter().map(|wrap| wrap.wrapper().name).collect(),
        notes: source.notes.iter().map(|(name, value)| WrapperNote { name, value }).collect(),
        variant: detect_variant(source),
        start: source.start,
        length: source.bytes.len(),
    };
    writer.write_text("{\"document\":")?;
    writer.write_json(&head)?;
    writer.write_text(",\n\"items\":[")
}

/// Writes everything after the items.
pub fn write_end(outcome: &Outcome<'_>, writer: &mut OutputWriter) -> Result<(), Abort> {
    writer.write_text("],\n\"error\":")?;
    writer.write_json(&outcome.error.as_ref().map(ErrorReport::from_error))?;
    writer.write_text("}\n")
}

/// The values that the items of a part of an array need from the whole array.
#[derive(Clone, Copy)]
pub struct ArrayPart {
    /// Number of nodes in earlier parts.
    pub earlier_nodes: u32,
    /// Number of items of the whole array.
    pub count: u64,
    /// Offset at which the array ends.
    pub end: u64,
}

impl ArrayPart {
    /// Changes the numbers of an item as if the whole array were one document.
    fn adjust_item(self, item: &mut Item<'_>) {
        match &mut item.node {
            // Node 0 is the array itself.
            Some(0) if item.step.is_some() => (item.count, item.end) = (Some(self.count), Some(self.end)),
            Some(node) if *node > 0 => *node += self.earlier_nodes,
            _ => {}
        }
        // The target of a link is in the same part.
        if let Some(target) = item.target.as_mut().filter(|target| **target > 0) {
            *target += self.earlier_nodes;
        }
    }
}

/// Writes the items of a part of an array.
pub fn write_part(
    tree: Tree<'_>,
    source: &DocumentSource<'_>,
    document: &Document<'_>,
    view: &InspectView<'_>,
    settings: NestedSettings<'_>,
    part: ArrayPart,
    writer: &mut OutputWriter,
) -> Result<(), Abort> {
    let separator = if part.earlier_nodes == 0 { "\n" } else { ",\n" };
    ItemWriter { view, writer, separator, opened_count: 0, part: Some(part) }
        .write_rows(tree, source, document, settings, 0)
}

/// Writes the items of a document.
struct ItemWriter<'l> {
    view: &'l InspectView<'l>,
    writer: &'l mut OutputWriter,
    /// What is written before the next item.
    separator: &'static str,
    /// Number of strings that were decoded.
    opened_count: u32,
    part: Option<ArrayPart>,
}

impl ItemWriter<'_> {
    fn write_item(&mut self, item: &Item<'_>) -> Result<(), Abort> {
        self.writer.write_text(self.separator)?;
        self.separator = ",\n";
        self.writer.write_json(item)
    }

    /// Writes the rows of a document, and the contents of its strings. `within` is the number of the decoded string
    /// that contains the document, or 0.
    fn write_rows(
        &mut self,
        tree: Tree<'_>,
        source: &DocumentSource<'_>,
        document: &Document<'_>,
        settings: NestedSettings<'_>,
        within: u32,
    ) -> Result<(), Abort> {
        let mut stage_cache = StageCache::new();
        for row in tree {
            let Some(mut item) = Item::from_row(document, &row) else { continue };
            item.depth += settings.base_depth;
            item.within = within;
            if let Some(part) = self.part {
                part.adjust_item(&mut item);
            }
            if within > 0 && item.layer == 0 {
                for offset in [&mut item.start, &mut item.end].into_iter().flatten() {
                    *offset += source.start as u64;
                }
            }
            self.write_item(&item)?;
            let Row::Value { node, depth, .. } = row else { continue };
            if !settings.shows_contents(depth) {
                continue;
            }
            let Some(stage) = settings.detect_stage(document, node, depth, &mut stage_cache) else { continue };
            let Some(string_node) = document.nodes().get(node as usize) else { continue };
            let inner_settings = settings.inside_string(depth);
            deep::open_string(source, document.bytes(string_node), &stage, inner_settings, |source, outcome| {
                self.opened_count += 1;
                let number = self.opened_count;
                let format = stage.name();
                let opened = Item {
                    kind: "opened",
                    depth: inner_settings.base_depth,
                    node: Some(node),
                    start: (!source.has_own_offsets).then_some(source.start as u64),
                    end: (!source.has_own_offsets).then_some((source.start + source.bytes.len()) as u64),
                    what: Some(&format),
                    number: Some(number),
                    within,
                    ..Item::default()
                };
                self.write_item(&opened)?;
                let tree = self.view.build_tree(outcome, None, inner_settings);
                self.write_rows(tree, source, &outcome.document, inner_settings, number)
            })?;
        }
        Ok(())
    }
}
