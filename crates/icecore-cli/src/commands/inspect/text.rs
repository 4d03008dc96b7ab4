//! The tree as text for people.

use super::deep::{self, Known, Look};
use super::{Piece, View, variant};
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
const FEWEST: usize = 16;
/// Width of a row without its indent, its name and the characters of its string: offset, bytes, kind, quotes and
/// length.
const AROUND: usize = 8 + 2 + 3 * BYTES + 1 + 24;
/// Maximum indent of rows; deeper ones show their depth.
const DEEPEST: u32 = 32;
/// Number of paths that are looked up for links: each lookup walks the document.
const PATHS: usize = 256;

pub fn document(
    piece: &Piece<'_>,
    outcome: &Outcome<'_>,
    top: Option<u32>,
    view: &View<'_>,
    look: Look<'_>,
    sink: &mut Sink,
) -> Result<(), Abort> {
    let tree = view.tree(outcome, top, look, true);
    if top.is_none() {
        head(piece, view, sink)?;
    }
    rows(tree, &mut Text::new(piece, &outcome.document, view, look), view, sink)
}

/// Writes the lines before the first row.
pub fn head(piece: &Piece<'_>, view: &View<'_>, sink: &mut Sink) -> Result<(), Abort> {
    let paint = view.paint;
    let variant = variant(piece);
    let comma = if variant.is_empty() { "" } else { ", " };
    let format = piece.stage.name();
    let len = piece.bytes.len();
    let at = if piece.start > 0 { format!(" at {:08x}", piece.start) } else { String::new() };
    let bytes = if len == 1 { "byte" } else { "bytes" };
    let head = paint.ink(Ink::Name, format!("{format}{comma}{variant}"));
    sink.text(&format!("{}: {head}, {len} {bytes}{at}\n", icecore::text::printable(piece.name)))?;
    for (name, value) in piece.notes {
        sink.text(&format!("{}\n", paint.ink(Ink::Faint, format!("· {name}: {value}"))))?;
    }
    Ok(())
}

/// Writes the rows of a part of an array.
pub fn part(
    tree: Tree<'_>,
    piece: &Piece<'_>,
    document: &Document<'_>,
    view: &View<'_>,
    look: Look<'_>,
    so_far: &mut Count,
    sink: &mut Sink,
) -> Result<(), Abort> {
    let mut text = Text { count: Some(so_far.items), paths: so_far.paths, ..Text::new(piece, document, view, look) };
    rows(tree, &mut text, view, sink)?;
    so_far.paths = text.paths;
    Ok(())
}

/// Counts over all parts.
pub struct Count {
    /// Total number of items.
    pub items: u64,
    /// Number of paths that were looked up.
    pub paths: usize,
}

/// Shows rows, and the contents of their strings.
fn rows(tree: Tree<'_>, text: &mut Text<'_>, view: &View<'_>, sink: &mut Sink) -> Result<(), Abort> {
    for row in tree {
        let (line, stage) = text.row(&row);
        sink.text(&line)?;
        let (Some(stage), Row::Value { node, depth, .. }) = (stage, &row) else { continue };
        let Some(known) = text.document.nodes().get(*node as usize) else { continue };
        if !text.look.shows(*depth) {
            continue;
        }
        let (paint, look) = (text.paint, text.look.inside(*depth));
        let base = look.base;
        let shown = deep::open(text.piece, text.document.bytes(known), &stage, look, |piece, outcome| {
            let tree = view.tree(outcome, None, look, true);
            let mut text = Text::new(piece, &outcome.document, view, look);
            rows(tree, &mut text, view, sink)
        })?;
        if shown.is_none() {
            let more = paint.ink(Ink::Faint, "… not shown: a limit is reached (--limit expansion=N)");
            sink.text(&format!("{}{}{more}\n", text.place(None), indent(base)))?;
        }
    }
    Ok(())
}

struct Text<'t> {
    piece: &'t Piece<'t>,
    document: &'t Document<'t>,
    paint: Paint,
    paths: usize,
    look: Look<'t>,
    known: Known,
    /// For a part of an array: number of items of the whole array.
    count: Option<u64>,
    /// The columns of the terminal, if it is one.
    width: Option<usize>,
    /// Number of characters of a string in the current row.
    characters: usize,
}

impl<'t> Text<'t> {
    fn new(piece: &'t Piece<'t>, document: &'t Document<'t>, view: &View<'_>, look: Look<'t>) -> Text<'t> {
        let (known, characters) = (Known::new(), CHARACTERS);
        Text { piece, document, paint: view.paint, paths: 0, look, known, count: None, width: view.width, characters }
    }
}

impl Text<'_> {
    /// Returns the line of a row, and the format of a string that is frozen data.
    fn row(&mut self, row: &Row) -> (String, Option<Stage>) {
        let Row::Value { node, depth, .. } = row else { return (self.line(row), None) };
        let mut line = self.line(row);
        let stage = self.look.stage(self.document, *node, *depth, &mut self.known);
        if let Some(stage) = &stage {
            line.pop();
            let hint = match self.look.shows(*depth) {
                true => format!(", {} inside:", stage.name()),
                false if self.look.opens => format!(", {} inside", stage.name()),
                false => format!(", {} inside (--deep shows it)", stage.name()),
            };
            line.push_str(&self.paint.ink(Ink::Faint, hint));
            line.push('\n');
        }
        (line, stage)
    }

    fn indent(&self, depth: u32) -> String {
        indent(self.look.base + depth)
    }

    /// Returns the number of characters of its string that a row can show on the terminal.
    fn count_characters(&self, row: &Row) -> usize {
        let (Some(width), Row::Value { depth, step, .. }) = (self.width, row) else { return CHARACTERS };
        let indent = 2 * (self.look.base + depth).min(DEEPEST) as usize;
        width.saturating_sub(AROUND + indent + step.chars().count()).clamp(FEWEST, CHARACTERS)
    }

    fn line(&mut self, row: &Row) -> String {
        self.characters = self.count_characters(row);
        match row {
            Row::Layer => {
                let len = self.layer(1).len();
                self.paint.ink(Ink::Name, format!("decompressed body, {len} bytes:")) + "\n"
            }
            Row::Header => self.paint.ink(Ink::Name, "user header:") + "\n",
            Row::Body => self.paint.ink(Ink::Name, "body:") + "\n",
            Row::Span { span, depth } => {
                let extent = Extent { start: span.start, end: span.end, layer: span.layer, copied: false };
                let bytes = self.bytes(&extent);
                let shown = if bytes.len() > 1 && bytes.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ') {
                    format!(" {}", self.paint.ink(Ink::String, quote_bytes(bytes, CHARACTERS)))
                } else {
                    String::new()
                };
                let what = self.paint.ink(Ink::Faint, format!("· {}", span.what));
                format!("{}{}{what}{shown}\n", self.place(Some(extent)), self.indent(*depth))
            }
            Row::Value { node, body, depth, step, extent } => {
                let step = if step.is_empty() { String::new() } else { self.paint.ink(Ink::Name, step) + " " };
                let words = match (self.told(*node), body) {
                    (Some(told), _) => told,
                    (None, None) => self.words(*node),
                    (None, Some(body)) => format!("{}: {}", self.words(*node), self.words(*body)),
                };
                format!("{}{}{step}{words}\n", self.place(*extent), self.indent(*depth))
            }
            Row::Key { node, depth, extent } => {
                let words = self.told(*node).unwrap_or_else(|| self.words(*node));
                format!("{}{}key {words}\n", self.place(*extent), self.indent(*depth))
            }
            Row::Member { value, depth } => {
                let words = describe_key(self.document, *value, CHARACTERS).map(|(kind, tone, text)| {
                    let kind = if text.is_empty() { kind.to_owned() } else { format!("{kind} ") };
                    kind + &self.paint.ink(ink(tone), text)
                });
                let dash = self.paint.ink(Ink::Name, "-");
                format!("{}{}{dash} {}\n", self.place(None), self.indent(*depth), words.unwrap_or_default())
            }
            Row::More { count, depth } => {
                let more = self.paint.ink(Ink::Faint, format!("… {count} more (--all shows them)"));
                format!("{}{}{more}\n", self.place(None), self.indent(*depth))
            }
        }
    }

    /// Returns the columns with the offset and the bytes.
    fn place(&self, extent: Option<Extent>) -> String {
        let width = 3 * BYTES + 1;
        let Some(extent) = extent else { return format!("{:8}  {:width$}", "", "") };
        let bytes = self.bytes(&extent);
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

    fn layer(&self, layer: u8) -> &[u8] {
        match layer {
            0 => self.piece.bytes,
            _ => self.document.trace().and_then(|trace| trace.layer.as_deref()).unwrap_or(&[]),
        }
    }

    fn bytes(&self, extent: &Extent) -> &[u8] {
        let layer = self.layer(extent.layer);
        let end = extent.end.min(layer.len() as u64) as usize;
        layer.get(extent.start as usize..end).unwrap_or(&[])
    }

    fn words(&mut self, node: u32) -> String {
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
                text.push_str(&self.target(known.payload as u32));
            }
            _ => {}
        }
        if let Some((tone, value)) = words.value {
            let comma = if tone == Tone::Count { ", " } else { " " };
            text.push_str(comma);
            text.push_str(&self.paint.ink(ink(tone), value));
        }
        for mark in words.marks {
            text.push_str(", ");
            text.push_str(mark);
        }
        text
    }

    /// Returns the text of a value of Ruby's own classes.
    fn told(&self, node: u32) -> Option<String> {
        let told = summarize_known(self.document, node, self.characters)?;
        let class = self.paint.ink(Ink::Class, told.class);
        Some(match told.known {
            "exception" => format!("exception {class} {}", self.paint.ink(Ink::String, told.text)),
            _ if told.is_whole => format!("{class} {}", self.paint.ink(Ink::Number, told.text)),
            _ => format!("{class}, {}", self.paint.ink(Ink::Faint, told.text)),
        })
    }

    /// Returns the target of a link: its path, unless too many paths were looked up.
    fn target(&mut self, target: u32) -> String {
        self.paths += 1;
        let extent = self.document.trace().and_then(|trace| trace.extents.get(target as usize));
        match extent {
            Some(extent) if self.paths > PATHS => format!("{:08x}", extent.start),
            _ => icecore::text::printable(&self.document.path(target)).into_owned(),
        }
    }
}

fn ink(tone: Tone) -> Ink {
    match tone {
        Tone::Number => Ink::Number,
        Tone::String => Ink::String,
        Tone::Count => Ink::Faint,
    }
}

fn indent(depth: u32) -> String {
    if depth <= DEEPEST { "  ".repeat(depth as usize) } else { format!("{}({depth}) ", "  ".repeat(DEEPEST as usize)) }
}
