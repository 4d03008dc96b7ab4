//! The tree for programs: flat lists of pieces and values, so that it can be
//! written and read whatever the depth.

use super::deep::{self, Known as Seen, Look};
use super::describe::words;
use super::tree::{Row, Tree};
use super::{Piece, View, variant};
use crate::report::Abort;
use crate::sink::Sink;
use icecore::{
    Document, Kind,
    raw::{Extent, NO_NODE, Outcome},
};
use icecore::{Known, Limits};
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

/// What a wrapper says.
#[derive(Serialize)]
struct Said<'a> {
    name: &'a str,
    value: &'a str,
}

/// A piece of the input, or a value.
#[derive(Default, Serialize)]
struct Item<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    depth: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<u64>,
    #[serde(skip_serializing_if = "is_input")]
    layer: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    what: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<serde_json::Value>,
    /// The bytes of a string that is not UTF-8, one character a byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    latin1: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    /// Of a container that the input breaks off in; and how many it says that it has.
    #[serde(rename = "cut", skip_serializing_if = "is_false")]
    is_cut: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    marks: Vec<&'a str>,
    /// Of a string that was opened: its number, which its items have as `within`.
    /// Offsets of a string that has none count from its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u32>,
    #[serde(skip_serializing_if = "is_none")]
    within: u32,
    /// Of a value of Ruby's own classes: what it is, and what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<KnownValue>,
}

#[derive(Serialize)]
struct KnownValue {
    #[serde(rename = "type")]
    kind: &'static str,
    /// As in plain JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    zone: Option<String>,
    /// How many members a set has.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
}

fn told(document: &Document<'_>, node: u32) -> Option<KnownValue> {
    let known = Known::of(document.at(node)?)?;
    let zone = match &known {
        Known::Time(moment) => Some(moment.zone().to_owned()).filter(|zone| !zone.is_empty()),
        _ => None,
    };
    let count = if let Known::Set(members) = &known { Some(members.len()) } else { None };
    Some(KnownValue { kind: known.name(), text: known.text(&Limits::default()), zone, count })
}

fn is_none(within: &u32) -> bool {
    *within == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_input(layer: &u8) -> bool {
    *layer == 0
}

#[derive(Serialize)]
struct Wrong<'a> {
    kind: &'a str,
    offset: Option<u64>,
    layer: Option<&'a str>,
    path: Option<&'a str>,
    expected: Option<&'a str>,
    found: Option<&'a str>,
    message: String,
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

/// All before the items.
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

/// All behind the items.
pub fn end(outcome: &Outcome<'_>, sink: &mut Sink) -> Result<(), Abort> {
    sink.text("],\n\"error\":")?;
    let error = outcome.error.as_ref().map(|error| Wrong {
        kind: error.kind().as_str(),
        offset: error.offset(),
        layer: error.layer(),
        path: error.path(),
        expected: error.expected(),
        found: error.found(),
        message: error.to_string(),
    });
    sink.json(&error)?;
    sink.text("}\n")
}

/// What the items of a part of an array need to know of the whole.
#[derive(Clone, Copy)]
pub struct Part {
    /// How many nodes came before.
    pub nodes: u32,
    /// How many items there are in all, and where the array ends.
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
        // What a link names stands in the same part.
        if let Some(target) = item.target.as_mut().filter(|target| **target > 0) {
            *target += self.nodes;
        }
    }
}

/// The items of a part of an array.
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

/// The items as they are written.
struct List<'l> {
    view: &'l View<'l>,
    sink: &'l mut Sink,
    comma: &'static str,
    /// How many strings were opened.
    opened: u32,
    part: Option<Part>,
}

impl List<'_> {
    fn push(&mut self, item: &Item<'_>) -> Result<(), Abort> {
        self.sink.text(self.comma)?;
        self.comma = ",\n";
        self.sink.json(item)
    }

    /// Writes the rows of a document, which stood in the opened string `within`
    /// (0: in none), and what is in its strings.
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
            let Some(mut item) = item(document, &row) else { continue };
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

fn item<'a>(document: &Document<'_>, row: &'a Row) -> Option<Item<'a>> {
    Some(match row {
        Row::Layer | Row::Header | Row::Body | Row::Member { .. } => return None,
        Row::Span { span, depth } => Item {
            kind: "piece",
            depth: *depth,
            node: (span.node != NO_NODE).then_some(span.node),
            start: Some(span.start),
            end: Some(span.end),
            layer: span.layer,
            what: Some(span.what),
            ..Item::default()
        },
        Row::Value { node, depth, step, extent, .. } => value(document, *node, *depth, Some(step), *extent),
        Row::Key { node, depth, extent } => value(document, *node, *depth, None, *extent),
        Row::More { count, depth } => Item { kind: "more", depth: *depth, count: Some(*count), ..Item::default() },
    })
}

fn value<'a>(
    document: &Document<'_>,
    node: u32,
    depth: u32,
    step: Option<&'a str>,
    extent: Option<Extent>,
) -> Item<'a> {
    let words = words(document, node, 0);
    let mut item = Item {
        kind: words.kind,
        depth,
        step,
        node: Some(node),
        start: extent.map(|extent| extent.start),
        end: extent.map(|extent| extent.end).filter(|end| *end != u64::MAX),
        layer: extent.map_or(0, |extent| extent.layer),
        what: step.is_none().then_some("key"),
        class: words.class,
        marks: words.marks,
        known: told(document, node),
        ..Item::default()
    };
    let Some(known) = document.nodes().get(node as usize) else { return item };
    match known.kind {
        Kind::Bool => item.value = Some((known.payload != 0).into()),
        Kind::Int => item.value = Some((known.payload as i64).into()),
        Kind::Uint => item.value = Some(known.payload.into()),
        Kind::Float | Kind::Float32 => {
            let number = match known.kind {
                Kind::Float => f64::from_bits(known.payload),
                _ => f64::from(f32::from_bits(known.payload as u32)),
            };
            item.value = Some(if number.is_finite() { number.into() } else { format!("{number:?}").into() });
        }
        Kind::BigInt | Kind::Float128 => item.value = words.value.map(|(_, text)| text.into()),
        Kind::Link | Kind::Alias | Kind::Copy => item.target = Some(known.payload as u32),
        kind if kind.has_bytes() => {
            let bytes = document.bytes(known);
            match std::str::from_utf8(bytes) {
                Ok(text) => item.value = Some(text.into()),
                Err(_) => item.latin1 = Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
            }
        }
        kind if kind.is_container() => {
            item.count = Some(u64::from(known.aux));
            if let Some(cut) = document.trace().and_then(|trace| trace.cut_at(node)) {
                item.count = document.at(node).map(|here| here.children().count() as u64);
                (item.is_cut, item.of) = (true, cut.of);
            }
        }
        _ => {}
    }
    item
}
