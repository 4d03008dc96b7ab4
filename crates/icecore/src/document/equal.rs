//! Structural equality that respects sharing and cycles.

use super::Document;
use super::cursor::{Cursor, Key};
use super::node::{Kind, Node, flag};
use crate::limits::Limits;
use std::collections::HashMap;

/// How documents are compared.
///
/// Two documents are equal if a program could not distinguish them: they have the same values, and the same value is
/// shared in the same places. It makes no difference which of two places has the shared value and which one the link.
/// Spelling, the width of a float (32 or 64 bits), and whether an equal value was stored once ([`Kind::Copy`]) make no
/// difference either.
///
/// ```
/// use icecore::value::Comparison;
/// let a = icecore::read(br#"{"a": 1, "b": 2}"#)?;
/// let b = icecore::read(br#"{"b": 2, "a": 1}"#)?;
/// assert!(a != b);
/// assert!(Comparison::new().any_order().equal(&a, &b));
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    any_order: bool,
    any_ascii: bool,
}

impl Comparison {
    /// Exact comparison, as `==` does it.
    pub fn new() -> Comparison {
        Comparison::default()
    }

    /// Ignores the order of a map's entries.
    #[must_use]
    pub fn any_order(mut self) -> Comparison {
        self.any_order = true;
        self
    }

    /// Treats an ASCII string as equal whether it is bytes or text.
    ///
    /// ```
    /// use icecore::{Builder, value::Comparison};
    /// let made = |text: bool| {
    ///     let mut b = Builder::new();
    ///     if text { b.text("a") } else { b.bytes("a") };
    ///     b.finish()
    /// };
    /// let (bytes, text) = (made(false)?, made(true)?);
    /// assert!(bytes != text && Comparison::new().any_ascii().equal(&bytes, &text));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    #[must_use]
    pub fn any_ascii(mut self) -> Comparison {
        self.any_ascii = true;
        self
    }

    /// Returns `true` if the documents are equal. The time is linear in the number of nodes, at any depth. If copies
    /// of copies make more values than the default limits allow, documents are equal only if they are stored in the
    /// same way.
    pub fn equal(self, a: &Document<'_>, b: &Document<'_>) -> bool {
        let limits = Limits::default();
        match (a.without_copies(&limits), b.without_copies(&limits)) {
            (Ok(a), Ok(b)) => self.compare_documents(&a, &b),
            _ => self.compare_documents(a, b),
        }
    }

    fn compare_documents(self, a: &Document<'_>, b: &Document<'_>) -> bool {
        let mut walk = ComparisonWalk {
            comparison: self,
            a,
            b,
            stack: Vec::new(),
            variables: Pairs::default(),
            values: Pairs::default(),
        };
        match (a.header(), b.header()) {
            (None, None) => {}
            (Some(a), Some(b)) => walk.stack.push((a.index(), b.index())),
            _ => return false,
        }
        walk.stack.push((a.root().index(), b.root().index()));
        walk.compare_pending()
    }
}

/// What identifies a key: its kind, value and bytes.
type KeyIdentity<'d> = (u8, u64, &'d [u8]);

/// A one-to-one relation between nodes of two documents.
#[derive(Default)]
struct Pairs {
    forth: HashMap<u32, u32>,
    back: HashMap<u32, u32>,
}

enum PairState {
    New,
    Known,
    Broken,
}

impl Pairs {
    fn add(&mut self, a: u32, b: u32) -> PairState {
        match (self.forth.get(&a), self.back.get(&b)) {
            (None, None) => {
                self.forth.insert(a, b);
                self.back.insert(b, a);
                PairState::New
            }
            (Some(known), _) if *known == b => PairState::Known,
            _ => PairState::Broken,
        }
    }
}

struct ComparisonWalk<'d> {
    comparison: Comparison,
    a: &'d Document<'d>,
    b: &'d Document<'d>,
    stack: Vec<(u32, u32)>,
    variables: Pairs,
    values: Pairs,
}

fn node_at<'d>(document: &'d Document<'_>, index: u32) -> Option<&'d Node> {
    document.nodes().get(index as usize)
}

/// Follows links of this kind. The number of steps is limited, because readers allow only a few links and wrappers in
/// one chain, and the links of a document that a caller built may form a circle.
fn follow_links(document: &Document<'_>, mut index: u32, kind: Kind) -> u32 {
    for _ in 0..64 {
        match node_at(document, index) {
            Some(node) if node.kind == kind => index = node.payload as u32,
            _ => break,
        }
    }
    index
}

/// Returns the final target of a link, an alias or a copy.
pub(super) fn resolve_target(document: &Document<'_>, mut index: u32) -> u32 {
    for _ in 0..64 {
        match node_at(document, index) {
            Some(node) if node.kind.is_again() => index = node.payload as u32,
            _ => break,
        }
    }
    index
}

impl ComparisonWalk<'_> {
    fn compare_pending(&mut self) -> bool {
        while let Some((a, b)) = self.stack.pop() {
            crate::steps::count(1);
            if !self.compare_variables(a, b) {
                return false;
            }
        }
        true
    }

    /// Compares two variables: first their identity, then the values in them.
    fn compare_variables(&mut self, a: u32, b: u32) -> bool {
        let (var_a, var_b) = (follow_links(self.a, a, Kind::Alias), follow_links(self.b, b, Kind::Alias));
        let (Some(in_a), Some(in_b)) = (node_at(self.a, var_a), node_at(self.b, var_b)) else {
            return node_at(self.a, var_a).is_none() && node_at(self.b, var_b).is_none();
        };
        let shared = |from: u32, to: u32, node: &Node| from != to || node.has(flag::TARGET);
        if shared(a, var_a, in_a) || shared(b, var_b, in_b) {
            match self.variables.add(var_a, var_b) {
                PairState::New => {}
                PairState::Known => return true,
                PairState::Broken => return false,
            }
        }
        const REFERENCE: u8 = flag::WEAK | flag::OVERLOAD;
        if in_a.flags & REFERENCE != in_b.flags & REFERENCE {
            return false;
        }
        let (val_a, val_b) = (follow_links(self.a, var_a, Kind::Link), follow_links(self.b, var_b, Kind::Link));
        let (Some(of_a), Some(of_b)) = (node_at(self.a, val_a), node_at(self.b, val_b)) else { return false };
        if shared(var_a, val_a, of_a) || shared(var_b, val_b, of_b) {
            match self.values.add(val_a, val_b) {
                PairState::New => {}
                PairState::Known => return true,
                PairState::Broken => return false,
            }
        }
        self.compare_values(Cursor::new(self.a, val_a), Cursor::new(self.b, val_b))
    }

    fn compare_values(&mut self, a: Cursor<'_>, b: Cursor<'_>) -> bool {
        let (x, y) = (a.node(), b.node());
        if !x.kind.is_container() || !y.kind.is_container() {
            return self.are_leaves_equal(x, y);
        }
        let specific = if matches!(x.kind, Kind::Array | Kind::Map) { 0xF0 & !flag::HINT } else { 0xF0 };
        if x.kind != y.kind || x.aux != y.aux || x.flags & specific != y.flags & specific || x.form() != y.form() {
            return false;
        }
        if let (name_a, name_b) = (a.class_name(), b.class_name())
            && (name_a.is_some() || name_b.is_some())
            && !matches!((name_a, name_b), (Some(n), Some(m)) if self.are_names_equal(&n.node, n.bytes, &m.node, m.bytes))
        {
            return false;
        }
        match x.kind {
            Kind::Map | Kind::Attrs => self.compare_entries(a, b),
            _ => {
                let (mut of_a, mut of_b) = (a.children(), b.children());
                loop {
                    match (of_a.next(), of_b.next()) {
                        (None, None) => return true,
                        (Some(a), Some(b)) => self.stack.push((a.index(), b.index())),
                        _ => return false,
                    }
                }
            }
        }
    }

    fn compare_entries(&mut self, a: Cursor<'_>, b: Cursor<'_>) -> bool {
        match (a.kind(), a.default_value(), b.default_value()) {
            (Kind::Attrs, ..) if a.is_empty() => return true,
            (Kind::Attrs, ..) => self.stack.push((a.index() + 1, b.index() + 1)),
            (_, Some(a), Some(b)) => self.stack.push((a.index(), b.index())),
            (_, None, None) => {}
            _ => return false,
        }
        let has_only_names = |c: Cursor<'_>| c.entries().all(|(key, _)| matches!(key, Key::Name(_)));
        if self.comparison.any_order && has_only_names(a) && has_only_names(b) {
            return self.compare_unordered(a, b);
        }
        let (mut of_a, mut of_b) = (a.entries(), b.entries());
        loop {
            match (of_a.next(), of_b.next()) {
                (None, None) => return true,
                (Some((key_a, a)), Some((key_b, b))) => {
                    match (key_a, key_b) {
                        (Key::Name(n), Key::Name(m)) => {
                            if !self.are_names_equal(&n.node, n.bytes, &m.node, m.bytes) {
                                return false;
                            }
                        }
                        (Key::Value(n), Key::Value(m)) => self.stack.push((n.index(), m.index())),
                        _ => return false,
                    }
                    self.stack.push((a.index(), b.index()));
                }
                _ => return false,
            }
        }
    }

    fn compare_unordered(&mut self, a: Cursor<'_>, b: Cursor<'_>) -> bool {
        // A map may have a key twice. Entries with the same key are compared in their order.
        let mut known: HashMap<KeyIdentity<'_>, Vec<(Node, u32)>> = HashMap::new();
        let identity = |node: &Node, bytes: &'_ [u8]| -> (u8, u64) {
            let any = self.comparison.any_ascii && node.kind.is_string() && bytes.is_ascii();
            let payload = if node.kind.has_bytes() { 0 } else { node.payload };
            (if any { u8::MAX } else { node.kind as u8 }, payload)
        };
        for (key, value) in b.entries() {
            let node = key.node();
            let (kind, payload) = identity(&node, key.bytes());
            known.entry((kind, payload, key.bytes())).or_default().push((node, value.index()));
        }
        for values in known.values_mut() {
            values.reverse();
        }
        for (key, value) in a.entries() {
            let node = key.node();
            let (kind, payload) = identity(&node, key.bytes());
            let found = known.get_mut(&(kind, payload, key.bytes())).and_then(Vec::pop);
            match found {
                Some((other, index)) if other.flags == node.flags => self.stack.push((value.index(), index)),
                _ => return false,
            }
        }
        known.values().all(Vec::is_empty)
    }

    /// Returns `true` if two keys or class names are the same.
    fn are_names_equal(&self, x: &Node, bytes_x: &[u8], y: &Node, bytes_y: &[u8]) -> bool {
        if !x.kind.has_bytes() || !y.kind.has_bytes() {
            return x.kind == y.kind && x.payload == y.payload && x.flags == y.flags;
        }
        let kinds = x.kind == y.kind
            || self.comparison.any_ascii && is_plain_string(x) && is_plain_string(y) && bytes_x.is_ascii();
        kinds && bytes_x == bytes_y && (x.flags | flag::REF) == (y.flags | flag::REF)
    }

    fn are_leaves_equal(&self, x: &Node, y: &Node) -> bool {
        let number = |node: &Node| match node.kind {
            Kind::Float => Some(f64::from_bits(node.payload)),
            Kind::Float32 => Some(f64::from(f32::from_bits(node.payload as u32))),
            _ => None,
        };
        if let (Some(f), Some(g)) = (number(x), number(y)) {
            return f.to_bits() == g.to_bits() || f.is_nan() && g.is_nan();
        }
        let (bytes_x, bytes_y) = (self.a.bytes(x), self.b.bytes(y));
        if x.kind != y.kind {
            return self.comparison.any_ascii
                && is_plain_string(x)
                && is_plain_string(y)
                && bytes_x.is_ascii()
                && bytes_x == bytes_y;
        }
        const SPECIFIC: u8 = 0xF0;
        match x.kind {
            Kind::Null | Kind::Hole => true,
            Kind::Encoded | Kind::Symbol => {
                let name = |document: &Document<'_>, node: &Node| {
                    document.tape().encodings().get(u32::from(node.encoding())).map(|name| name.bytes.to_vec())
                };
                bytes_x == bytes_y && name(self.a, x) == name(self.b, y)
            }
            Kind::Module => bytes_x == bytes_y && x.form() == y.form(),
            kind if kind.has_bytes() => bytes_x == bytes_y && x.flags & SPECIFIC == y.flags & SPECIFIC,
            _ => x.payload == y.payload,
        }
    }
}

fn is_plain_string(node: &Node) -> bool {
    matches!(node.kind, Kind::Bytes | Kind::Text)
}
