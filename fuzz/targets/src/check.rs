//! Properties that hold for every format.

use icecore::{
    Cursor, Document, Key, Kind, Known, Limits, Request, Value,
    raw::{Outcome, flag},
};

/// Limits that are small enough that no input takes long.
pub fn small_limits() -> Limits {
    let mut limits = Limits::default();
    limits.depth = 200;
    limits.nodes = 5_000;
    limits.decompressed = 1 << 20;
    limits.digits = 500;
    limits
}

/// Limits for reading or writing again. A document that was read within the small limits does not exceed them.
pub fn wide_limits() -> Limits {
    let mut limits = small_limits();
    limits.depth *= 8;
    limits.nodes *= 8;
    limits.decompressed *= 64;
    limits.digits *= 4;
    limits
}

/// Whether a reader records spelling and spans.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    Without,
    With,
}

/// Returns a request with these limits.
pub fn request_with(limits: &Limits, detail: Detail) -> Request<'_> {
    match detail {
        Detail::Without => Request::new(limits),
        Detail::With => Request::new(limits).detailed(),
    }
}

/// Checks that two readers of the same bytes agree.
#[track_caller]
pub fn assert_agreement(left: &Outcome<'_>, right: &Outcome<'_>) {
    match (&left.error, &right.error) {
        (None, None) => {
            assert_eq!(left.consumed, right.consumed, "one reader took more than the other");
        }
        (Some(left_error), Some(right_error)) => {
            let comparable =
                |error: &icecore::Error| (error.kind(), error.offset(), error.layer(), error.path().map(str::to_owned));
            assert_eq!(comparable(left_error), comparable(right_error), "{left_error} / {right_error}");
        }
        (left_error, right_error) => panic!("one reader accepts, the other does not: {left_error:?} / {right_error:?}"),
    }
    assert!(left.document == right.document, "the documents differ:\n{:?}\n{:?}", left.document, right.document);
}

/// Checks that the spans of a complete document cover it without gap or overlap; those of a partial one do not overlap.
#[track_caller]
pub fn assert_spans_tile(outcome: &Outcome<'_>, len: usize) {
    let trace = outcome.document.trace().expect("a trace");
    let mut spans: Vec<_> = trace.spans.iter().map(|span| (span.layer, span.start, span.end, span.name)).collect();
    spans.sort_unstable();
    let is_complete = outcome.error.is_none();
    let lens = [if is_complete { outcome.consumed } else { len }, trace.layer.as_ref().map_or(0, Vec::len)];
    for (layer, len) in (0u8..).zip(lens) {
        let mut offset = 0;
        for (_, start, end, name) in spans.iter().filter(|span| span.0 == layer) {
            assert!(
                *start >= offset && (!is_complete || *start == offset),
                "layer {layer}: {name} at {start}, not at {offset}"
            );
            assert!(end > start, "layer {layer}: {name} at {start} is empty");
            offset = *end;
        }
        assert!(
            offset <= len as u64 && (!is_complete || offset == len as u64),
            "layer {layer}: spans end at {offset} of {len}"
        );
    }
    for (index, extent) in trace.extents.iter().enumerate() {
        let len = lens[usize::from(extent.layer.min(1))] as u64;
        let is_unfinished = extent.end == 0 && !is_complete;
        assert!(is_unfinished || extent.start <= extent.end && extent.end <= len, "node {index}: {extent:?} in {len}");
    }
}

/// Visits everything in a document, complete or not.
pub fn visit_document(document: &Document<'_>) {
    let mut child_count = 0usize;
    for (index, node) in (0u32..).zip(document.nodes()) {
        let cursor = document.at(index).expect("a node");
        std::hint::black_box(cursor.value());
        std::hint::black_box((cursor.class(), cursor.target().kind(), cursor.body().kind()));
        if let Some(known) = Known::of(cursor) {
            std::hint::black_box(known.text(&small_limits()).map_or(0, |text| text.len()));
        }
        assert!(cursor.len() <= document.nodes().len(), "node {index} says that it has {} children", cursor.len());
        if node.kind.is_container() {
            assert!(
                node.end() == 0 || node.end() > index && node.end() as usize <= document.nodes().len(),
                "end of {index}"
            );
            child_count +=
                cursor.children().map(|child| child.index() as usize).filter(|child| *child > index as usize).count();
        }
        for (key, value) in cursor.entries() {
            std::hint::black_box((key.bytes(), key.node(), value.kind()));
        }
    }
    assert!(child_count <= document.nodes().len(), "a node is the child of two");
    let node_count = document.nodes().len() as u32;
    for index in [0, node_count / 2, node_count.saturating_sub(1), node_count] {
        std::hint::black_box(document.path(index));
    }
    std::hint::black_box(format!("{document:?}").len());
}

/// Returns true if `b` equals `a`, except that numbers may have become other numbers or text of the same value. Both
/// were read by the same reader, so their tapes are parallel.
pub fn equal_but_numbers(a: &Document<'_>, b: &Document<'_>) -> bool {
    let mut stack = vec![(a.root(), b.root())];
    match (a.header(), b.header()) {
        (Some(a), Some(b)) => stack.push((a, b)),
        (None, None) => {}
        _ => return false,
    }
    while let Some((left, right)) = stack.pop() {
        if !left.node().kind.is_container() {
            if !are_equal_leaves(left, right) {
                return false;
            }
            continue;
        }
        let (left_node, right_node) = (left.node(), right.node());
        if left_node.kind != right_node.kind
            || left_node.aux != right_node.aux
            || (left_node.flags | flag::REF) != (right_node.flags | flag::REF)
            || left.class() != right.class()
        {
            return false;
        }
        if left.len() != right.len() || left.children().count() != right.children().count() {
            return false;
        }
        stack.extend(left.children().zip(right.children()));
        if left.entries().count() != right.entries().count() {
            return false;
        }
        for ((left_key, _), (right_key, _)) in left.entries().zip(right.entries()) {
            let is_same_key = match (left_key, right_key) {
                (Key::Name(left_key), Key::Name(right_key)) => {
                    // An ASCII key is the same key, whether it is flagged as UTF-8 or not.
                    let have_same_kind = left_key.node.kind == right_key.node.kind || left_key.bytes.is_ascii();
                    left_key.bytes == right_key.bytes && have_same_kind && left_key.node.flags == right_key.node.flags
                }
                (Key::Value(_), Key::Value(_)) => true,
                _ => false,
            };
            if !is_same_key {
                return false;
            }
        }
    }
    true
}

/// Returns true if two values without children are equal. A number on the left may be a string on the right that
/// prints it.
fn are_equal_leaves(left: Cursor<'_>, right: Cursor<'_>) -> bool {
    let flags = |cursor: Cursor<'_>| (cursor.node().flags | flag::REF) & 0x0F;
    let text = |right: Cursor<'_>| right.as_str().map(str::to_owned);
    match (left.value(), right.value()) {
        (Value::Link(left), Value::Link(right)) | (Value::Alias(left), Value::Alias(right)) => {
            left.index() == right.index()
        }
        (Value::Float(float), Value::Float(other)) => {
            float.to_bits() == other.to_bits() || float.is_nan() && other.is_nan()
        }
        (Value::Float(float), Value::Int(int)) => int as f64 == float,
        (Value::Int(int), Value::Bytes(_)) => text(right) == Some(int.to_string()),
        (Value::Uint(int), Value::Bytes(_)) => text(right) == Some(int.to_string()),
        (Value::Float(float), Value::Bytes(_)) => text(right).is_some_and(|text| is_printed_float(float, &text)),
        (Value::Float128(_), Value::Float(_) | Value::Bytes(_) | Value::Int(_)) => true,
        (Value::Float128(float), Value::Float128(other)) => float == other,
        _ if left.kind() != right.kind() || flags(left) != flags(right) => false,
        _ if left.kind().has_bytes() => left.document().bytes(left.node()) == right.document().bytes(right.node()),
        _ if matches!(left.kind(), Kind::Null | Kind::Hole) => true,
        _ => left.node().payload == right.node().payload,
    }
}

/// Returns true if perl prints the float like this, with 15 digits.
fn is_printed_float(float: f64, text: &str) -> bool {
    match text {
        "NaN" | "-NaN" => float.is_nan(),
        "Inf" => float == f64::INFINITY,
        "-Inf" => float == f64::NEG_INFINITY,
        _ => text.parse::<f64>().is_ok_and(|parsed| {
            float == parsed || (float - parsed).abs() <= float.abs() * 1e-14 || float.is_subnormal()
        }),
    }
}
