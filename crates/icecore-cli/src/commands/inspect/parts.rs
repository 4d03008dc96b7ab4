//! Shows a long array window by window, so that memory does not grow with the document.
//!
//! The array is read twice: the first pass counts its items and checks that it can be shown in parts.

use super::deep::NestedSettings;
use super::json::{self, ArrayPart};
use super::text::{self, PartCounts};
use super::{DocumentSource, InspectView};
use crate::output_writer::OutputWriter;
use crate::report::Abort;
use icecore::{Document, Error, ErrorKind, Limits, raw::Outcome};
use icecore_inspect::{Tree, TreeOptions};

/// Inputs below this size are shown as a whole.
const MIN_LEN: usize = 1 << 20;

/// The result of the first pass.
struct ArrayTotals {
    /// Number of items.
    count: u64,
    /// Offset at which the array ends.
    end: u64,
}

/// Shows the document if it is a long array without links and without errors. Returns true if it was shown.
pub fn show_in_parts(
    source: &DocumentSource<'_>,
    limits: &Limits,
    view: &InspectView<'_>,
    settings: NestedSettings<'_>,
    writer: &mut OutputWriter,
) -> Result<bool, Abort> {
    let Some(totals) = count_items(source, limits) else { return Ok(false) };
    let reader = (source.stage.format().reader)(source.stage.settings());
    if view.args.json {
        json::write_head(source, writer)?;
    } else {
        text::write_head(source, view, writer)?;
    }
    let counts = PartCounts { items: totals.count, path_lookups: 0 };
    let mut parts_writer = PartsWriter {
        source,
        view,
        settings,
        end: totals.end,
        counts,
        shown_items: 0,
        shown_nodes: 0,
        writer,
        stop_reason: None,
    };
    let reading_result = reader.read_traced_windows(source.bytes, limits, &mut |window| {
        parts_writer.write_window(&window)?;
        Ok(window.into_tape())
    });
    let Some(reading_result) = reading_result else { return Ok(false) };
    // The last window. The only possible error is one of the output.
    let result = if parts_writer.stop_reason.is_none() {
        parts_writer.write_window(&reading_result.outcome.document)
    } else {
        Ok(())
    };
    let PartsWriter { stop_reason, writer, .. } = parts_writer;
    match (stop_reason, result) {
        (Some(abort), _) => return Err(abort),
        (None, _) if view.args.json => json::write_end(&Outcome { error: None, ..reading_result.outcome }, writer)?,
        _ => {}
    }
    Ok(true)
}

/// Counts the items; `None` if the document has to be shown as a whole.
fn count_items(source: &DocumentSource<'_>, limits: &Limits) -> Option<ArrayTotals> {
    let bytes = source.bytes;
    if bytes.len() < MIN_LEN || !source.stage.wrappers().is_empty() {
        return None;
    }
    let reader = (source.stage.format().reader)(source.stage.settings());
    let reading_result = reader.read_traced_windows(bytes, limits, &mut |window| Ok(window.into_tape()))?;
    let trailing = bytes.get(reading_result.outcome.consumed..).unwrap_or(&[]);
    let is_complete = reading_result.outcome.error.is_none() && trailing.is_empty();
    let root = reading_result.outcome.document.root();
    (is_complete && reading_result.items > 0 && !reading_result.needs_whole).then(|| ArrayTotals {
        count: reading_result.items + root.children().count() as u64,
        end: reading_result.outcome.consumed as u64,
    })
}

/// Shows the windows one after another.
struct PartsWriter<'s> {
    source: &'s DocumentSource<'s>,
    view: &'s InspectView<'s>,
    settings: NestedSettings<'s>,
    /// End of the array.
    end: u64,
    counts: PartCounts,
    /// Number of items shown so far.
    shown_items: u64,
    /// Number of nodes of these items.
    shown_nodes: u32,
    writer: &'s mut OutputWriter,
    /// Why nothing more can be shown.
    stop_reason: Option<Abort>,
}

impl PartsWriter<'_> {
    /// Writes the items of one window of the array.
    fn write_window(&mut self, window: &Document<'_>) -> Result<(), Error> {
        let PartsWriter { source, view, settings, end, shown_items, shown_nodes, .. } = *self;
        let is_json = view.args.json;
        let options = TreeOptions {
            top: None,
            depth: settings.depth,
            shows_spans: true,
            items: u64::MAX,
            fold: !is_json,
            earlier_items: shown_items,
            skip: 0,
        };
        let tree = Tree::new(window, options);
        let part = ArrayPart { earlier_nodes: shown_nodes, count: self.counts.items, end };
        let result = match is_json {
            true => json::write_part(tree, source, window, view, settings, part, self.writer),
            false => text::write_part(tree, source, window, view, settings, &mut self.counts, self.writer),
        };
        self.shown_items += window.root().len() as u64;
        // The node of the array itself is not counted again for each window.
        self.shown_nodes += window.nodes().len() as u32 - 1;
        result.map_err(|abort| {
            self.stop_reason = Some(abort);
            Error::new(ErrorKind::Output)
        })
    }
}
