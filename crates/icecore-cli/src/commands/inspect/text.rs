//! The tree as text for people.

use super::deep::{self, NestedSettings, StageCache};
use super::{DocumentSource, InspectView, detect_variant};
use crate::paint::{Ink, Paint};
use crate::report::Abort;
use crate::sink::Sink;
use icecore::{
    Document, Kind, Stage,
    raw::{Extent, Outcome},
};
use icecore_inspect::describe::{Tone, counted, describe_key, describe_value, quote_bytes, summarize_known};
use icecore_inspect::{Row, Tree};

/// Number of bytes in a row.
const BYTES: usize = 8;
/// Number of characters of a string in a row: fewer on a narrow terminal.
const CHARACTERS: usize = 60;
const MIN_CHARACTERS: usize = 16;
/// Width of a row without its indent, its name and the characters of its string: offset, bytes, kind, quotes and
/// length.
const FIXED_WIDTH: usize = 8 + 2 + 3 * BYTES + 1 + 24;
/// Maximum indent of rows; deeper ones show their depth.
const MAX_INDENT: u32 = 32;
/// Number of paths that are looked up for links: each lookup walks the document.
const MAX_PATH_LOOKUPS: usize = 256;

pub fn write_document(
    piece: &DocumentSource<'_>,
    outcome: &Outcome<'_>,
    top: Option<u32>,
    view: &InspectView<'_>,
    settings: NestedSettings<'_>,
    sink: &mut Sink,
) -> Result<(), Abort> {
    let tree = view.build_tree(outcome, top, settings, true);
    if top.is_none() {
        write_head(piece, view, sink)?;
    }
    write_rows(tree, &mut RowFormatter::new(piece, &outcome.document, view, settings), view, sink)
}

/// Writes the lines before the first row.
pub fn write_head(piece: &DocumentSource<'_>, view: &InspectView<'_>, sink: &mut Sink) -> Result<(), Abort> {
    let paint = view.paint;
    let variant = detect_variant(piece);
    let comma = if variant.is_empty() { "" } else { ", " };
    let format = piece.stage.name();
    let len = piece.bytes.len();
    let location = if piece.start > 0 { format!(" at {:08x}", piece.start) } else { String::new() };
    let bytes = if len == 1 { "byte" } else { "bytes" };
    let head = paint.ink(Ink::Name, format!("{format}{comma}{variant}"));
    sink.write_text(&format!("{}: {head}, {len} {bytes}{location}\n", icecore::text::printable(piece.name)))?;
    for (name, value) in piece.notes {
        sink.write_text(&format!("{}\n", paint.ink(Ink::Faint, format!("· {name}: {value}"))))?;
    }
    Ok(())
}

/// Writes the rows of a part of an array.
pub fn write_part(
    tree: Tree<'_>,
    piece: &DocumentSource<'_>,
    document: &Document<'_>,
    view: &InspectView<'_>,
    settings: NestedSettings<'_>,
    so_far: &mut PartCounts,
    sink: &mut Sink,
) -> Result<(), Abort> {
    let mut text = RowFormatter {
        count: Some(so_far.items),
        paths: so_far.paths,
        ..RowFormatter::new(piece, document, view, settings)
    };
    write_rows(tree, &mut text, view, sink)?;
    so_far.paths = text.paths;
    Ok(())
}

/// Counts over all parts.
pub struct PartCounts {
    /// Total number of items.
    pub items: u64,
    /// Number of paths that were looked up.
    pub paths: usize,
}

/// Shows rows, and the contents of their strings.
fn write_rows(
    tree: Tree<'_>,
    text: &mut RowFormatter<'_>,
    view: &InspectView<'_>,
    sink: &mut Sink,
) -> Result<(), Abort> {
    for row in tree {
        let (line, stage) = text.format_row(&row);
        sink.write_text(&line)?;
        let (Some(stage), Row::Value { node, depth, .. }) = (stage, &row) else { continue };
        let Some(known) = text.document.nodes().get(*node as usize) else { continue };
        if !text.settings.shows_contents(*depth) {
            continue;
        }
        let (paint, settings) = (text.paint, text.settings.inside_string(*depth));
        let base = settings.base;
        let opened = deep::open_string(text.piece, text.document.bytes(known), &stage, settings, |piece, outcome| {
            let tree = view.build_tree(outcome, None, settings, true);
            let mut text = RowFormatter::new(piece, &outcome.document, view, settings);
            write_rows(tree, &mut text, view, sink)
        })?;
        if opened.is_none() {
            let more = paint.ink(Ink::Faint, "… not shown: a limit is reached (--limit expansion=N)");
            sink.write_text(&format!("{}{}{more}\n", text.format_place(None), indentation(base)))?;
        }
    }
    Ok(())
}

struct RowFormatter<'t> {
    piece: &'t DocumentSource<'t>,
    document: &'t Document<'t>,
    paint: Paint,
    paths: usize,
    settings: NestedSettings<'t>,
    stage_cache: StageCache,
    /// For a part of an array: number of items of the whole array.
    count: Option<u64>,
    /// The columns of the terminal, if it is one.
    width: Option<usize>,
    /// Number of characters of a string in the current row.
    characters: usize,
}

impl<'t> RowFormatter<'t> {
    fn new(
        piece: &'t DocumentSource<'t>,
        document: &'t Document<'t>,
        view: &InspectView<'_>,
        settings: NestedSettings<'t>,
    ) -> RowFormatter<'t> {
        let (known, characters) = (StageCache::new(), CHARACTERS);
        RowFormatter {
            piece,
            document,
            paint: view.paint,
            paths: 0,
            settings,
            stage_cache: known,
            count: None,
            width: view.width,
            characters,
        }
    }
}

impl RowFormatter<'_> {
    /// Returns the line of a row, and the format of a string that is frozen data.
    fn format_row(&mut self, row: &Row) -> (String, Option<Stage>) {
        let Row::Value { node, depth, .. } = row else { return (self.format_line(row), None) };
        let mut line = self.format_line(row);
        let stage = self.settings.detect_stage(self.document, *node, *depth, &mut self.stage_cache);
        if let Some(stage) = &stage {
            line.pop();
            let hint = match self.settings.shows_contents(*depth) {
                true => format!(", {} inside:", stage.name()),
                false if self.settings.opens => format!(", {} inside", stage.name()),
                false => format!(", {} inside (--deep shows it)", stage.name()),
            };
            line.push_str(&self.paint.ink(Ink::Faint, hint));
            line.push('\n');
        }
        (line, stage)
    }

    fn row_indent(&self, depth: u32) -> String {
        indentation(self.settings.base + depth)
    }

    /// Returns the number of characters of its string that a row can show on the terminal.
    fn count_characters(&self, row: &Row) -> usize {
        let (Some(width), Row::Value { depth, step, .. }) = (self.width, row) else { return CHARACTERS };
        let indent = 2 * (self.settings.base + depth).min(MAX_INDENT) as usize;
        width.saturating_sub(FIXED_WIDTH + indent + step.chars().count()).clamp(MIN_CHARACTERS, CHARACTERS)
    }

    fn format_line(&mut self, row: &Row) -> String {
        self.characters = self.count_characters(row);
        match row {
            Row::Layer => {
                let len = self.layer_bytes(1).len();
                self.paint.ink(Ink::Name, format!("decompressed body, {len} bytes:")) + "\n"
            }
            Row::Header => self.paint.ink(Ink::Name, "user header:") + "\n",
            Row::Body => self.paint.ink(Ink::Name, "body:") + "\n",
            Row::Span { span, depth } => {
                let extent = Extent { start: span.start, end: span.end, layer: span.layer, copied: false };
                let bytes = self.extent_bytes(&extent);
                let quoted = if bytes.len() > 1 && bytes.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ') {
                    format!(" {}", self.paint.ink(Ink::String, quote_bytes(bytes, CHARACTERS)))
                } else {
                    String::new()
                };
                let piece_name = self.paint.ink(Ink::Faint, format!("· {}", span.what));
                format!("{}{}{piece_name}{quoted}\n", self.format_place(Some(extent)), self.row_indent(*depth))
            }
            Row::Value { node, body, depth, step, extent } => {
                let step = if step.is_empty() { String::new() } else { self.paint.ink(Ink::Name, step) + " " };
                let words = match (self.describe_known(*node), body) {
                    (Some(description), _) => description,
                    (None, None) => self.describe_node(*node),
                    (None, Some(body)) => format!("{}: {}", self.describe_node(*node), self.describe_node(*body)),
                };
                format!("{}{}{step}{words}\n", self.format_place(*extent), self.row_indent(*depth))
            }
            Row::Key { node, depth, extent } => {
                let words = self.describe_known(*node).unwrap_or_else(|| self.describe_node(*node));
                format!("{}{}key {words}\n", self.format_place(*extent), self.row_indent(*depth))
            }
            Row::Member { value, depth } => {
                let words = describe_key(self.document, *value, CHARACTERS).map(|(kind, tone, text)| {
                    let kind = if text.is_empty() { kind.to_owned() } else { format!("{kind} ") };
                    kind + &self.paint.ink(tone_ink(tone), text)
                });
                let dash = self.paint.ink(Ink::Name, "-");
                format!("{}{}{dash} {}\n", self.format_place(None), self.row_indent(*depth), words.unwrap_or_default())
            }
            Row::More { count, depth } => {
                let more = self.paint.ink(Ink::Faint, format!("… {count} more (--all shows them)"));
                format!("{}{}{more}\n", self.format_place(None), self.row_indent(*depth))
            }
        }
    }

    /// Returns the columns with the offset and the bytes.
    fn format_place(&self, extent: Option<Extent>) -> String {
        let width = 3 * BYTES + 1;
        let Some(extent) = extent else { return format!("{:8}  {:width$}", "", "") };
        let bytes = self.extent_bytes(&extent);
        let mut hex: Vec<_> = bytes.iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect();
        if bytes.len() > BYTES {
            hex[BYTES - 1] = "…".to_owned();
        }
        let hex = hex.join(" ");
        let start = if extent.layer == 0 { extent.start + self.piece.start as u64 } else { extent.start };
        let offset = if self.piece.is_apart { format!("+{start:07x}") } else { format!("{start:08x}") };
        let offset = self.paint.ink(Ink::Faint, offset);
        format!("{offset}  {hex}{:padding$}", "", padding = width.saturating_sub(hex.chars().count()))
    }

    fn layer_bytes(&self, layer: u8) -> &[u8] {
        match layer {
            0 => self.piece.bytes,
            _ => self.document.trace().and_then(|trace| trace.layer.as_deref()).unwrap_or(&[]),
        }
    }

    fn extent_bytes(&self, extent: &Extent) -> &[u8] {
        let layer = self.layer_bytes(extent.layer);
        let end = extent.end.min(layer.len() as u64) as usize;
        layer.get(extent.start as usize..end).unwrap_or(&[])
    }

    fn describe_node(&mut self, node: u32) -> String {
        let mut words = describe_value(self.document, node, self.characters);
        if let Some(count) = self.count.filter(|_| node == 0) {
            words.value = Some((Tone::Count, counted(count, "item", "items")));
        }
        let mut text = words.kind.to_owned();
        if let Some(class) = words.class {
            text.push(' ');
            text.push_str(&self.paint.ink(Ink::Class, class));
        }
        match self.document.nodes().get(node as usize) {
            Some(known) if known.kind.is_again() => {
                text.push_str(if known.kind == Kind::Copy { " of " } else { " to " });
                text.push_str(&self.format_target(known.payload as u32));
            }
            _ => {}
        }
        if let Some((tone, value)) = words.value {
            let comma = if tone == Tone::Count { ", " } else { " " };
            text.push_str(comma);
            text.push_str(&self.paint.ink(tone_ink(tone), value));
        }
        for mark in words.marks {
            text.push_str(", ");
            text.push_str(mark);
        }
        text
    }

    /// Returns the text of a value of Ruby's own classes.
    fn describe_known(&self, node: u32) -> Option<String> {
        let summary = summarize_known(self.document, node, self.characters)?;
        let class = self.paint.ink(Ink::Class, summary.class);
        Some(match summary.known {
            "exception" => format!("exception {class} {}", self.paint.ink(Ink::String, summary.text)),
            _ if summary.is_complete => format!("{class} {}", self.paint.ink(Ink::Number, summary.text)),
            _ => format!("{class}, {}", self.paint.ink(Ink::Faint, summary.text)),
        })
    }

    /// Returns the target of a link: its path, unless too many paths were looked up.
    fn format_target(&mut self, target: u32) -> String {
        self.paths += 1;
        let extent = self.document.trace().and_then(|trace| trace.extents.get(target as usize));
        match extent {
            Some(extent) if self.paths > MAX_PATH_LOOKUPS => format!("{:08x}", extent.start),
            _ => icecore::text::printable(&self.document.path(target)).into_owned(),
        }
    }
}

fn tone_ink(tone: Tone) -> Ink {
    match tone {
        Tone::Number => Ink::Number,
        Tone::String => Ink::String,
        Tone::Count => Ink::Faint,
    }
}

fn indentation(depth: u32) -> String {
    if depth <= MAX_INDENT {
        "  ".repeat(depth as usize)
    } else {
        format!("{}({depth}) ", "  ".repeat(MAX_INDENT as usize))
    }
}
