//! A long array, shown window by window: memory does not grow with the document.
//!
//! It is read twice: the first pass counts its items and checks that it can be shown in parts.

use super::deep::NestedSettings;
use super::json::{self, ArrayPart};
use super::text::{self, PartCounts};
use super::{DocumentSource, InspectView};
use crate::report::Abort;
use crate::sink::Sink;
use icecore::{Document, Error, ErrorKind, Limits, raw::Outcome};
use icecore_inspect::{Tree, TreeOptions};

/// Inputs below this size are shown as a whole.
const LARGE: usize = 1 << 20;

/// The result of the first pass.
struct ArrayTotals {
    count: u64,
    end: u64,
}

/// Shows the document, if it is a long array without links and without errors.
pub fn show_in_parts(
    piece: &DocumentSource<'_>,
    limits: &Limits,
    view: &InspectView<'_>,
    settings: NestedSettings<'_>,
    sink: &mut Sink,
) -> Result<bool, Abort> {
    let Some(totals) = count_items(piece, limits) else { return Ok(false) };
    let reading = (piece.stage.format().reader)(piece.stage.settings());
    if view.args.json {
        json::write_head(piece, sink)?;
    } else {
        text::write_head(piece, view, sink)?;
    }
    let count = PartCounts { items: totals.count, paths: 0 };
    let mut so_far =
        PartsWriter { piece, view, settings, end: totals.end, count, items: 0, nodes: 0, sink, stopped: None };
    let rest = reading.read_traced_windows(piece.bytes, limits, &mut |window| {
        so_far.write_window(&window)?;
        Ok(window.into_tape())
    });
    let Some(rest) = rest else { return Ok(false) };
    // The last window; an error is one of the output.
    let written = if so_far.stopped.is_none() { so_far.write_window(&rest.outcome.document) } else { Ok(()) };
    let PartsWriter { stopped, sink, .. } = so_far;
    match (stopped, written) {
        (Some(stop), _) => return Err(stop),
        (None, _) if view.args.json => json::write_end(&Outcome { error: None, ..rest.outcome }, sink)?,
        _ => {}
    }
    Ok(true)
}

/// Counts the items; `None` if the document has to be shown as a whole.
fn count_items(piece: &DocumentSource<'_>, limits: &Limits) -> Option<ArrayTotals> {
    let bytes = piece.bytes;
    if bytes.len() < LARGE || !piece.stage.wrappers().is_empty() {
        return None;
    }
    let reading = (piece.stage.format().reader)(piece.stage.settings());
    let rest = reading.read_traced_windows(bytes, limits, &mut |window| Ok(window.into_tape()))?;
    let trailing = bytes.get(rest.outcome.consumed..).unwrap_or(&[]);
    let is_whole = rest.outcome.error.is_none() && trailing.is_empty();
    let root = rest.outcome.document.root();
    (is_whole && rest.items > 0 && !rest.needs_whole)
        .then(|| ArrayTotals { count: rest.items + root.children().count() as u64, end: rest.outcome.consumed as u64 })
}

struct PartsWriter<'s> {
    piece: &'s DocumentSource<'s>,
    view: &'s InspectView<'s>,
    settings: NestedSettings<'s>,
    /// End of the array.
    end: u64,
    count: PartCounts,
    /// Number of items and nodes shown so far.
    items: u64,
    nodes: u32,
    sink: &'s mut Sink,
    /// Why nothing more can be shown.
    stopped: Option<Abort>,
}

impl PartsWriter<'_> {
    fn write_window(&mut self, window: &Document<'_>) -> Result<(), Error> {
        let PartsWriter { piece, view, settings, end, items, nodes, .. } = *self;
        let is_json = view.args.json;
        let show = TreeOptions {
            top: None,
            depth: settings.depth,
            shows_spans: true,
            items: u64::MAX,
            fold: !is_json,
            earlier_items: items,
            skip: 0,
        };
        let tree = Tree::new(window, show);
        let part = ArrayPart { nodes, count: self.count.items, end };
        let written = match is_json {
            true => json::write_part(tree, piece, window, view, settings, part, self.sink),
            false => text::write_part(tree, piece, window, view, settings, &mut self.count, self.sink),
        };
        self.items += window.root().len() as u64;
        self.nodes += window.nodes().len() as u32 - 1;
        written.map_err(|stop| {
            self.stopped = Some(stop);
            Error::new(ErrorKind::Output)
        })
    }
}
