//! The tree as text for people.

use super::deep::{self, NestedSettings, StageCache};
use super::{DocumentSource, InspectView, detect_variant};
use crate::output_writer::OutputWriter;
use crate::paint::{Ink, Paint};
use crate::report::Abort;
use icecore::{
    Document, Kind, Stage,
    raw::{Extent, Outcome},
};
use icecore_inspect::describe::{Tone, counted, describe_key, describe_value, quote_bytes, summarize_known};
use icecore_inspect::{Row, Tree};

/// Number of bytes in a row.
const ROW_BYTES: usize = 8;
/// Maximum number of characters of a string in a row.
const MAX_STRING_LEN: usize = 60;
/// Maximum number of these characters on a very narrow terminal.
const MIN_STRING_LEN: usize = 16;
/// Width of a row without its indent, its name and the characters of its string: offset, bytes, kind, quotes and
/// length.
const FIXED_WIDTH: usize = 8 + 2 + 3 * ROW_BYTES + 1 + 24;
/// Maximum indent of rows. Deeper rows show their depth as a number.
const MAX_INDENT: u32 = 32;
/// Maximum number of paths that are looked up for links, because each lookup walks the document.
const MAX_PATH_LOOKUPS: usize = 256;

pub fn write_document(
    source: &DocumentSource<'_>,
    outcome: &Outcome<'_>,
    top_node: Option<u32>,
    view: &InspectView<'_>,
    settings: NestedSettings<'_>,
    writer: &mut OutputWriter,
) -> Result<(), Abort> {
    let tree = view.build_tree(outcome, top_node, settings);
    if top_node.is_none() {
        write_head(source, view, writer)?;
    }
    write_rows(tree, &mut RowFormatter::new(source, &outcome.document, view, settings), view, writer)
}

/// Writes the lines before the first row.
pub fn write_head(source: &DocumentSource<'_>, view: &InspectView<'_>, writer: &mut OutputWriter) -> Result<(), Abort> {
    let paint = view.paint;
    let variant = detect_variant(source);
    let comma = if variant.is_empty() { "" } else { ", " };
    let format = source.stage.name();
    let len = source.bytes.len();
    let location = if source.start > 0 { format!(" at {:08x}", source.start) } else { String::new() };
    let bytes = if len == 1 { "byte" } else { "bytes" };
    let format_label = paint.ink(Ink::Name, format!("{format}{comma}{variant}"));
    writer
        .write_text(&format!("{}: {format_label}, {len} {bytes}{location}\n", icecore::text::printable(source.name)))?;
    for (name, value) in source.notes {
        writer.write_text(&format!("{}\n", paint.ink(Ink::Faint, format!("· {name}: {value}"))))?;
    }
    Ok(())
}

/// Writes the rows of a part of an array.
pub fn write_part(
    tree: Tree<'_>,
    source: &DocumentSource<'_>,
    document: &Document<'_>,
    view: &InspectView<'_>,
    settings: NestedSettings<'_>,
    counts: &mut PartCounts,
    writer: &mut OutputWriter,
) -> Result<(), Abort> {
    let mut formatter = RowFormatter {
        array_len: Some(counts.items),
        path_lookups: counts.path_lookups,
        ..RowFormatter::new(source, document, view, settings)
    };
    write_rows(tree, &mut formatter, view, writer)?;
    counts.path_lookups = formatter.path_lookups;
    Ok(())
}

/// Counts of all parts of an array.
pub struct PartCounts {
    /// Total number of items.
    pub items: u64,
    /// Number of paths that were looked up.
    pub path_lookups: usize,
}

/// Writes rows, and the contents of their strings.
fn write_rows(
    tree: Tree<'_>,
    formatter: &mut RowFormatter<'_>,
    view: &InspectView<'_>,
    writer: &mut OutputWriter,
) -> Result<(), Abort> {
    for row in tree {
        let (line, stage) = formatter.format_row(&row);
        writer.write_text(&line)?;
        let (Some(stage), Row::Value { node, depth, .. }) = (stage, &row) else { continue };
        let Some(string_node) = formatter.document.nodes().get(*node as usize) else { continue };
        if !formatter.settings.shows_contents(*depth) {
            continue;
        }
        let (paint, settings) = (formatter.paint, formatter.settings.inside_string(*depth));
        let base_depth = settings.base_depth;
        let opened = deep::open_string(
            formatter.source,
            formatter.document.bytes(string_node),
            &stage,
            settings,
            |source, outcome| {
                let tree = view.build_tree(outcome, None, settings);
                let mut formatter = RowFormatter::new(source, &outcome.document, view, settings);
                write_rows(tree, &mut formatter, view, writer)
            },
        )?;
        if opened.is_none() {
            let omission = paint.ink(Ink::Faint, "… not shown: a limit is reached (--limit expansion=N)");
            writer.write_text(&format!(
                "{}{}{omission}\n",
                formatter.format_offset_and_bytes(None),
                indentation(base_depth)
            ))?;
        }
    }
    Ok(())
}

/// Formats the rows of a document.
struct RowFormatter<'t> {
    source: &'t DocumentSource<'t>,
    document: &'t Document<'t>,
    paint: Paint,
    /// Number of paths that were looked up.
    path_lookups: usize,
    settings: NestedSettings<'t>,
    stage_cache: StageCache,
    /// If the document is a part of an array, the number of items of the whole array.
    array_len: Option<u64>,
    /// Width of the terminal, if the output goes to one.
    width: Option<usize>,
    /// Maximum number of characters of a string in the current row.
    max_string_len: usize,
}

impl<'t> RowFormatter<'t> {
    fn new(
        source: &'t DocumentSource<'t>,
        document: &'t Document<'t>,
        view: &InspectView<'_>,
        settings: NestedSettings<'t>,
    ) -> RowFormatter<'t> {
        RowFormatter {
            source,
            document,
            paint: view.paint,
            path_lookups: 0,
            settings,
            stage_cache: StageCache::new(),
            array_len: None,
            width: view.width,
            max_string_len: MAX_STRING_LEN,
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
                false if self.settings.opens_strings => format!(", {} inside", stage.name()),
                false => format!(", {} inside (--deep shows it)", stage.name()),
            };
            line.push_str(&self.paint.ink(Ink::Faint, hint));
            line.push('\n');
        }
        (line, stage)
    }

    fn row_indent(&self, depth: u32) -> String {
        indentation(self.settings.base_depth + depth)
    }

    /// Returns the number of characters of its string that a row can show on the terminal.
    fn fitting_string_len(&self, row: &Row) -> usize {
        let (Some(width), Row::Value { depth, step, .. }) = (self.width, row) else { return MAX_STRING_LEN };
        let indent = 2 * (self.settings.base_depth + depth).min(MAX_INDENT) as usize;
        width.saturating_sub(FIXED_WIDTH + indent + step.chars().count()).clamp(MIN_STRING_LEN, MAX_STRING_LEN)
    }

    /// Returns the line of a row: its offset, its indentation and its description.
    fn format_line(&mut self, row: &Row) -> String {
        self.max_string_len = self.fitting_string_len(row);
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
                    format!(" {}", self.paint.ink(Ink::String, quote_bytes(bytes, MAX_STRING_LEN)))
                } else {
                    String::new()
                };
                let span_name = self.paint.ink(Ink::Faint, format!("· {}", span.name));
                format!(
                    "{}{}{span_name}{quoted}\n",
                    self.format_offset_and_bytes(Some(extent)),
                    self.row_indent(*depth)
                )
            }
            Row::Value { node, body, depth, step, extent } => {
                let step = if step.is_empty() { String::new() } else { self.paint.ink(Ink::Name, step) + " " };
                let description = match (self.describe_known(*node), body) {
                    (Some(summary), _) => summary,
                    (None, None) => self.describe_node(*node),
                    (None, Some(body)) => format!("{}: {}", self.describe_node(*node), self.describe_node(*body)),
                };
                format!("{}{}{step}{description}\n", self.format_offset_and_bytes(*extent), self.row_indent(*depth))
            }
            Row::Key { node, depth, extent } => {
                let description = self.describe_known(*node).unwrap_or_else(|| self.describe_node(*node));
                format!("{}{}key {description}\n", self.format_offset_and_bytes(*extent), self.row_indent(*depth))
            }
            Row::Member { value, depth } => {
                let description = describe_key(self.document, *value, MAX_STRING_LEN).map(|(kind, tone, text)| {
                    let kind = if text.is_empty() { kind.to_owned() } else { format!("{kind} ") };
                    kind + &self.paint.ink(tone_ink(tone), text)
                });
                let dash = self.paint.ink(Ink::Name, "-");
                format!(
                    "{}{}{dash} {}\n",
                    self.format_offset_and_bytes(None),
                    self.row_indent(*depth),
                    description.unwrap_or_default()
                )
            }
            Row::More { count, depth } => {
                let more = self.paint.ink(Ink::Faint, format!("… {count} more (--all shows them)"));
                format!("{}{}{more}\n", self.format_offset_and_bytes(None), self.row_indent(*depth))
            }
        }
    }

    /// Returns the columns with the offset and the bytes.
    fn format_offset_and_bytes(&self, extent: Option<Extent>) -> String {
        let width = 3 * ROW_BYTES + 1;
        let Some(extent) = extent else { return format!("{:8}  {:width$}", "", "") };
        let bytes = self.extent_bytes(&extent);
        let mut hex: Vec<_> = bytes.iter().take(ROW_BYTES).map(|byte| format!("{byte:02x}")).collect();
        if bytes.len() > ROW_BYTES {
            hex[ROW_BYTES - 1] = "…".to_owned();
        }
        let hex = hex.join(" ");
        let start = if extent.layer == 0 { extent.start + self.source.start as u64 } else { extent.start };
        let offset = if self.source.has_own_offsets { format!("+{start:07x}") } else { format!("{start:08x}") };
        let offset = self.paint.ink(Ink::Faint, offset);
        format!("{offset}  {hex}{:padding$}", "", padding = width.saturating_sub(hex.chars().count()))
    }

    fn layer_bytes(&self, layer: u8) -> &[u8] {
        match layer {
            0 => self.source.bytes,
            _ => self.document.trace().and_then(|trace| trace.layer.as_deref()).unwrap_or(&[]),
        }
    }

    fn extent_bytes(&self, extent: &Extent) -> &[u8] {
        let layer = self.layer_bytes(extent.layer);
        let end = extent.end.min(layer.len() as u64) as usize;
        layer.get(extent.start as usize..end).unwrap_or(&[])
    }

    /// Describes a node by its kind, class, target, value and marks.
    fn describe_node(&mut self, node: u32) -> String {
        let mut description = describe_value(self.document, node, self.max_string_len);
        if let Some(count) = self.array_len.filter(|_| node == 0) {
            description.value = Some((Tone::Count, counted(count, "item", "items")));
        }
        let mut text = description.kind.to_owned();
        if let Some(class) = description.class {
            text.push(' ');
            text.push_str(&self.paint.ink(Ink::Class, class));
        }
        match self.document.nodes().get(node as usize) {
            Some(link) if link.kind.is_again() => {
                text.push_str(if link.kind == Kind::Copy { " of " } else { " to " });
                text.push_str(&self.format_target(link.payload as u32));
            }
            _ => {}
        }
        if let Some((tone, value)) = description.value {
            let comma = if tone == Tone::Count { ", " } else { " " };
            text.push_str(comma);
            text.push_str(&self.paint.ink(tone_ink(tone), value));
        }
        for mark in description.marks {
            text.push_str(", ");
            text.push_str(mark);
        }
        text
    }

    /// Describes a value of one of Ruby's own classes, such as a time.
    fn describe_known(&self, node: u32) -> Option<String> {
        let summary = summarize_known(self.document, node, self.max_string_len)?;
        let class = self.paint.ink(Ink::Class, summary.class);
        Some(match summary.known {
            "exception" => format!("exception {class} {}", self.paint.ink(Ink::String, summary.text)),
            _ if summary.is_complete => format!("{class} {}", self.paint.ink(Ink::Number, summary.text)),
            _ => format!("{class}, {}", self.paint.ink(Ink::Faint, summary.text)),
        })
    }

    /// Returns the path of a link's target, or its offset if too many paths were looked up.
    fn format_target(&mut self, target: u32) -> String {
        self.path_lookups += 1;
        let extent = self.document.trace().and_then(|trace| trace.extents.get(target as usize));
        match extent {
            Some(extent) if self.path_lookups > MAX_PATH_LOOKUPS => format!("{:08x}", extent.start),
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
