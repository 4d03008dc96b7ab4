//! Properties that hold for every format.

use icecore::{
    Cursor, Document, Key, Kind, Known, Limits, Value,
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

/// Checks that two readers of the same bytes agree.
#[track_caller]
pub fn assert_agreement(a: &Outcome<'_>, b: &Outcome<'_>) {
    match (&a.error, &b.error) {
        (None, None) => {
            assert_eq!(a.consumed, b.consumed, "one reader took more than the other");
        }
        (Some(x), Some(y)) => {
            let comparable = |e: &icecore::Error| (e.kind(), e.offset(), e.layer(), e.path().map(str::to_owned));
            assert_eq!(comparable(x), comparable(y), "{x} / {y}");
        }
        (x, y) => panic!("one reader accepts, the other does not: {x:?} / {y:?}"),
    }
    assert!(a.document == b.document, "the documents differ:\n{:?}\n{:?}", a.document, b.document);
}

/// Checks that the spans of a complete document cover it without gap or overlap; those of a partial one do not overlap.
#[track_caller]
pub fn assert_spans_tile(outcome: &Outcome<'_>, len: usize) {
    let trace = outcome.document.trace().expect("a trace");
    let mut spans: Vec<_> = trace.spans.iter().map(|s| (s.layer, s.start, s.end, s.name)).collect();
    spans.sort_unstable();
    let is_complete = outcome.error.is_none();
    let lens = [if is_complete { outcome.consumed } else { len }, trace.layer.as_ref().map_or(0, Vec::len)];
    for (layer, len) in (0u8..).zip(lens) {
        let mut offset = 0;
        for (_, start, end, name) in spans.iter().filter(|s| s.0 == layer) {
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
    while let Some((x, y)) = stack.pop() {
        if !x.node().kind.is_container() {
            if !are_equal_leaves(x, y) {
                return false;
            }
            continue;
        }
        let (n, m) = (x.node(), y.node());
        if n.kind != m.kind
            || n.aux != m.aux
            || (n.flags | flag::REF) != (m.flags | flag::REF)
            || x.class() != y.class()
        {
            return false;
        }
        if x.len() != y.len() || x.children().count() != y.children().count() {
            return false;
        }
        stack.extend(x.children().zip(y.children()));
        if x.entries().count() != y.entries().count() {
            return false;
        }
        for ((k, _), (l, _)) in x.entries().zip(y.entries()) {
            let is_same_key = match (k, l) {
                (Key::Name(k), Key::Name(l)) => {
                    // An ASCII key is the same key, whether it is flagged as UTF-8 or not.
                    let have_same_kind = k.node.kind == l.node.kind || k.bytes.is_ascii();
                    k.bytes == l.bytes && have_same_kind && k.node.flags == l.node.flags
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

/// Returns true if two values without children are equal. A number in `x` may be a string in `y` that prints it.
fn are_equal_leaves(x: Cursor<'_>, y: Cursor<'_>) -> bool {
    let flags = |c: Cursor<'_>| (c.node().flags | flag::REF) & 0x0F;
    let text = |y: Cursor<'_>| y.as_str().map(str::to_owned);
    match (x.value(), y.value()) {
        (Value::Link(x), Value::Link(y)) | (Value::Alias(x), Value::Alias(y)) => x.index() == y.index(),
        (Value::Float(f), Value::Float(g)) => f.to_bits() == g.to_bits() || f.is_nan() && g.is_nan(),
        (Value::Float(f), Value::Int(i)) => i as f64 == f,
        (Value::Int(i), Value::Bytes(_)) => text(y) == Some(i.to_string()),
        (Value::Uint(i), Value::Bytes(_)) => text(y) == Some(i.to_string()),
        (Value::Float(f), Value::Bytes(_)) => text(y).is_some_and(|text| is_printed_float(f, &text)),
        (Value::Float128(_), Value::Float(_) | Value::Bytes(_) | Value::Int(_)) => true,
        (Value::Float128(f), Value::Float128(g)) => f == g,
        _ if x.kind() != y.kind() || flags(x) != flags(y) => false,
        _ if x.kind().has_bytes() => x.document().bytes(x.node()) == y.document().bytes(y.node()),
        _ if matches!(x.kind(), Kind::Null | Kind::Hole) => true,
        _ => x.node().payload == y.node().payload,
    }
}

/// Returns true if perl prints the float like this, with 15 digits.
fn is_printed_float(f: f64, text: &str) -> bool {
    match text {
        "NaN" | "-NaN" => f.is_nan(),
        "Inf" => f == f64::INFINITY,
        "-Inf" => f == f64::NEG_INFINITY,
        _ => text.parse::<f64>().is_ok_and(|g| f == g || (f - g).abs() <= f.abs() * 1e-14 || f.is_subnormal()),
    }
}
