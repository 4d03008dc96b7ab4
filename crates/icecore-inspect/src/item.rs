//! Items: the rows for programs, as JSON. An item contains its depth instead of other items, so that documents of any
//! depth can be written and read without recursion.

use crate::describe::describe_value;
use crate::tree::Row;
use icecore::{
    Document, Error, Kind, Known, Limits,
    raw::{Extent, NO_NODE},
};
use serde::Serialize;

/// A piece of the input, or a value.
#[derive(Default, Serialize)]
pub struct Item<'a> {
    /// Its type: `text`, `array`, `object`; `piece` for a piece of the input, `more` for omitted items.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// Number of values around it.
    pub depth: u32,
    /// The last step of its path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<&'a str>,
    /// The index of its node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<u32>,
    /// Offset of its first byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// Offset of the first byte after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
    /// 0 if offsets refer to the input, and 1 if they refer to decompressed data.
    #[serde(skip_serializing_if = "is_input")]
    pub layer: u8,
    /// Name of a piece; `key` if it is the key of the value after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<&'a str>,
    /// Class of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Content of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<serde_json::Value>,
    /// The bytes of a string that is not UTF-8, one character for each byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latin1: Option<String>,
    /// Number of items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Whether the input breaks off in this value.
    #[serde(rename = "cut", skip_serializing_if = "is_false")]
    pub is_cut: bool,
    /// Number of items that the input declares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
    /// The node that a link names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
    /// Other properties: `weak`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<&'a str>,
    /// The number of an opened string; its items have this number as `within`. If the string has no offset, the
    /// offsets in it count from its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Number of the opened string that contains it; 0 if none does.
    #[serde(skip_serializing_if = "is_outside")]
    pub within: u32,
    /// The kind and content of a value of one of Ruby's own classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<KnownValue>,
}

/// The kind and content of a value of one of Ruby's own classes.
#[derive(Serialize)]
pub struct KnownValue {
    /// `time`, `set`, `exception`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The same text as in plain JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The zone of a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Number of members of a set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
}

fn describe_known(document: &Document<'_>, node: u32) -> Option<KnownValue> {
    let known = Known::of(document.at(node)?)?;
    let zone = match &known {
        Known::Time(moment) => Some(moment.zone().to_owned()).filter(|zone| !zone.is_empty()),
        _ => None,
    };
    let count = if let Known::Set(members) = &known { Some(members.len()) } else { None };
    Some(KnownValue { kind: known.name(), text: known.text(&Limits::default()), zone, count })
}

fn is_outside(within: &u32) -> bool {
    *within == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_input(layer: &u8) -> bool {
    *layer == 0
}

/// The error of an input.
#[derive(Serialize)]
pub struct ErrorReport<'a> {
    kind: &'a str,
    offset: Option<u64>,
    layer: Option<&'a str>,
    path: Option<&'a str>,
    expected: Option<&'a str>,
    found: Option<&'a str>,
    message: String,
}

impl<'a> ErrorReport<'a> {
    /// Converts an error of the engine.
    pub fn from_error(error: &'a Error) -> ErrorReport<'a> {
        ErrorReport {
            kind: error.kind().as_str(),
            offset: error.offset(),
            layer: error.layer(),
            path: error.path(),
            expected: error.expected(),
            found: error.found(),
            message: error.to_string(),
        }
    }
}

impl<'a> Item<'a> {
    /// Converts a row. Returns `None` if the row is only for people.
    pub fn from_row(document: &Document<'_>, row: &'a Row) -> Option<Item<'a>> {
        item_from_row(document, row)
    }
}

fn item_from_row<'a>(document: &Document<'_>, row: &'a Row) -> Option<Item<'a>> {
    Some(match row {
        Row::Layer | Row::Header | Row::Body | Row::Member { .. } => return None,
        Row::Span { span, depth } => Item {
            kind: "piece",
            depth: *depth,
            node: (span.node != NO_NODE).then_some(span.node),
            start: Some(span.start),
            end: Some(span.end),
            layer: span.layer,
            what: Some(span.name),
            ..Item::default()
        },
        Row::Value { node, depth, step, extent, .. } => item_from_value(document, *node, *depth, Some(step), *extent),
        Row::Key { node, depth, extent } => item_from_value(document, *node, *depth, None, *extent),
        Row::More { count, depth } => Item { kind: "more", depth: *depth, count: Some(*count), ..Item::default() },
    })
}

/// Returns the item of a value.
fn item_from_value<'a>(
    document: &Document<'_>,
    node: u32,
    depth: u32,
    step: Option<&'a str>,
    extent: Option<Extent>,
) -> Item<'a> {
    let description = describe_value(document, node, 0);
    let mut item = Item {
        kind: description.kind,
        depth,
        step,
        node: Some(node),
        start: extent.map(|extent| extent.start),
        end: extent.map(|extent| extent.end).filter(|end| *end != u64::MAX),
        layer: extent.map_or(0, |extent| extent.layer),
        what: step.is_none().then_some("key"),
        class: description.class,
        marks: description.marks,
        known: describe_known(document, node),
        ..Item::default()
    };
    let Some(node_data) = document.nodes().get(node as usize) else { return item };
    match node_data.kind {
        Kind::Bool => item.value = Some((node_data.payload != 0).into()),
        Kind::Int => item.value = Some((node_data.payload as i64).into()),
        Kind::Uint => item.value = Some(node_data.payload.into()),
        Kind::Float | Kind::Float32 => {
            let number = match node_data.kind {
                Kind::Float => f64::from_bits(node_data.payload),
                _ => f64::from(f32::from_bits(node_data.payload as u32)),
            };
            item.value = Some(if number.is_finite() { number.into() } else { format!("{number:?}").into() });
        }
        Kind::BigInt | Kind::Float128 => item.value = description.value.map(|(_, text)| text.into()),
        Kind::Link | Kind::Alias | Kind::Copy => item.target = Some(node_data.payload as u32),
        kind if kind.has_bytes() => {
            let bytes = document.bytes(node_data);
            match std::str::from_utf8(bytes) {
                Ok(text) => item.value = Some(text.into()),
                Err(_) => item.latin1 = Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
            }
        }
        kind if kind.is_container() => {
            item.count = Some(u64::from(node_data.aux));
            if let Some(break_off) = document.trace().and_then(|trace| trace.cut_at(node)) {
                item.count = document.at(node).map(|cursor| cursor.children().count() as u64);
                (item.is_cut, item.of) = (true, break_off.of);
            }
        }
        _ => {}
    }
    item
}
