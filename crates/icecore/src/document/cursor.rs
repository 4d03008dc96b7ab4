//! Cursors: read access to a document.

use super::names::Name;
use super::node::{Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use super::{Document, equal};
use std::iter::FusedIterator;

/// A place in a document.
///
/// ```
/// use icecore::Value;
/// let document = icecore::read(br#"{"n": [1, 2.5, "three"]}"#)?;
/// let list = document.root().get("n").unwrap();
/// for item in list.items() {
///     match item.value() {
///         Value::Int(i) => assert_eq!(i, 1),
///         Value::Float(f) => assert_eq!(f, 2.5),
///         Value::Text(bytes) => assert_eq!(bytes, b"three"),
///         other => panic!("{other:?}"),
///     }
/// }
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// Containers, and the targets of links:
///
/// ```
/// use icecore::Builder;
/// let mut b = Builder::new();
/// let list = b.begin_array().at();
/// b.int(1).link(list).end();
/// let document = b.finish()?;
/// let root = document.root();
/// assert_eq!((root.len(), root.children().count()), (2, 2));
/// assert_eq!(root.item(1).map(|link| link.target().index()), Some(root.index()));
/// let object = icecore::read(b"O:1:\"A\":1:{s:1:\"a\";i:1;}")?;
/// assert_eq!(object.root().class(), b"A");
/// let body = object.root().body();
/// assert_eq!(body.entries().map(|(key, value)| (key.bytes(), value.as_i64())).next(), Some((&b"a"[..], Some(1))));
/// assert!(body.default_value().is_none());
/// # Ok::<(), icecore::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Cursor<'d> {
    document: &'d Document<'d>,
    index: u32,
}

/// The value at a [`Cursor`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Value<'d> {
    /// Undef, NULL, nil.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer above `i64::MAX`.
    Uint(u64),
    /// An integer beyond 64 bits.
    BigInt(BigInt<'d>),
    /// A float, of 32 or 64 bits.
    Float(f64),
    /// An IEEE 754 binary128, least significant byte first.
    Float128([u8; 16]),
    /// A byte string.
    Bytes(&'d [u8]),
    /// A string marked as UTF-8; [`Cursor::as_str`] checks that it is.
    Text(&'d [u8]),
    /// A string in a named encoding.
    Encoded(&'d [u8], &'d [u8]),
    /// A symbol, and the name of its encoding (empty: ASCII or UTF-8).
    Symbol(&'d [u8], &'d [u8]),
    /// The name of a class or a module.
    Module(&'d [u8], Form),
    /// A PHP enum case: `Class:Case`.
    EnumCase(&'d [u8]),
    /// An element that does not exist.
    Hole,
    /// The same object again.
    Link(Cursor<'d>),
    /// The same variable again.
    Alias(Cursor<'d>),
    /// An equal value again, which is not shared.
    Copy(Cursor<'d>),
    /// An array: see [`Cursor::items`].
    Array,
    /// A map: see [`Cursor::entries`].
    Map,
    /// A reference to a scalar variable that contains this value.
    Ref(Cursor<'d>),
    /// An object: its class and its body.
    Object(&'d [u8], Cursor<'d>),
    /// An object that its own class froze: its class and the payload. The children after the first are objects that the
    /// payload refers to.
    Opaque(&'d [u8], Cursor<'d>),
    /// A value with attributes: see [`Cursor::entries`] for these.
    Attrs(Cursor<'d>),
    /// A regular expression: pattern and flags.
    Regexp(Cursor<'d>, Cursor<'d>),
    /// Source text of code.
    Code(Cursor<'d>),
    /// A v-string: its source text and its value.
    VString(Cursor<'d>, Cursor<'d>),
    /// A tied variable: the object that it is tied to.
    Tied(Cursor<'d>),
}

/// An integer beyond 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BigInt<'d> {
    /// Whether the integer is negative.
    pub negative: bool,
    /// Magnitude, least significant byte first.
    pub magnitude: &'d [u8],
}

/// The key of an entry.
#[derive(Clone, Copy)]
pub enum Key<'d> {
    /// A string or an integer, with its flags.
    Name(Name<'d>),
    /// Anything else.
    Value(Cursor<'d>),
}

impl<'d> Key<'d> {
    /// Returns the bytes of a key that is a string; empty for any other.
    pub fn bytes(&self) -> &'d [u8] {
        match self {
            Key::Name(name) => name.bytes,
            Key::Value(_) => &[],
        }
    }

    /// Kind and flags of the key.
    pub fn node(&self) -> Node {
        match self {
            Key::Name(name) => name.node,
            Key::Value(value) => *value.node(),
        }
    }
}

const NULL: Node = Node::leaf(Kind::Null, 0);

impl<'d> Cursor<'d> {
    #[inline]
    pub(crate) fn new(document: &'d Document<'_>, index: u32) -> Cursor<'d> {
        Cursor { document, index }
    }

    /// Returns the index of the node.
    #[inline]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Returns the document that contains it.
    #[inline]
    pub fn document(&self) -> &'d Document<'d> {
        self.document
    }

    /// Returns the node.
    #[inline]
    pub fn node(&self) -> &'d Node {
        self.document.tape.nodes.get(self.index as usize).unwrap_or(&NULL)
    }

    /// Returns the kind of the node.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.node().kind
    }

    /// Returns the path of the value, from `$`.
    pub fn path(&self) -> String {
        self.document.path(self.index)
    }

    #[inline]
    fn at_index(self, index: u32) -> Cursor<'d> {
        Cursor { document: self.document, index }
    }

    fn nth_child(self, position: usize) -> Cursor<'d> {
        self.children().nth(position).unwrap_or(Cursor { document: self.document, index: u32::MAX })
    }

    /// Returns the index after the node and everything in it.
    #[inline]
    pub(crate) fn index_after(&self) -> u32 {
        self.document.tape.index_after(self.index)
    }

    /// Returns the value here.
    pub fn value(&self) -> Value<'d> {
        let node = self.node();
        let bytes = || self.document.bytes(node);
        match node.kind {
            Kind::Null => Value::Null,
            Kind::Bool => Value::Bool(node.payload != 0),
            Kind::Int => Value::Int(node.payload as i64),
            Kind::Uint => Value::Uint(node.payload),
            Kind::BigInt => Value::BigInt(BigInt { negative: node.has(flag::NEGATIVE), magnitude: bytes() }),
            Kind::Float => Value::Float(f64::from_bits(node.payload)),
            Kind::Float32 => Value::Float(f64::from(f32::from_bits(node.payload as u32))),
            Kind::Float128 => Value::Float128(bytes().try_into().unwrap_or([0; 16])),
            Kind::Bytes => Value::Bytes(bytes()),
            Kind::Text => Value::Text(bytes()),
            Kind::Encoded => Value::Encoded(bytes(), self.encoding_name()),
            Kind::Symbol => Value::Symbol(bytes(), self.encoding_name()),
            Kind::Module => Value::Module(bytes(), node.form()),
            Kind::EnumCase => Value::EnumCase(bytes()),
            Kind::Hole => Value::Hole,
            Kind::Link => Value::Link(self.at_index(node.payload as u32)),
            Kind::Alias => Value::Alias(self.at_index(node.payload as u32)),
            Kind::Copy => Value::Copy(self.at_index(node.payload as u32)),
            Kind::Array => Value::Array,
            Kind::Map => Value::Map,
            Kind::Ref => Value::Ref(self.nth_child(0)),
            Kind::Object => Value::Object(self.class(), self.nth_child(0)),
            Kind::Opaque => Value::Opaque(self.class(), self.nth_child(0)),
            Kind::Attrs => Value::Attrs(self.nth_child(0)),
            Kind::Regexp => Value::Regexp(self.nth_child(0), self.nth_child(1)),
            Kind::Code => Value::Code(self.nth_child(0)),
            Kind::VString => Value::VString(self.nth_child(0), self.nth_child(1)),
            Kind::Tied => Value::Tied(self.nth_child(0)),
        }
    }

    fn encoding_name(&self) -> &'d [u8] {
        let id = u32::from(self.node().encoding());
        self.document.tape.encodings.get(id).map_or(&[], |name| name.bytes)
    }

    /// Returns the class name of an object, opaque object or attributed value; empty for other values.
    pub fn class(&self) -> &'d [u8] {
        self.class_name().map_or(&[], |name| name.bytes)
    }

    pub(crate) fn class_name(&self) -> Option<Name<'d>> {
        let node = self.node();
        if node.kind.has_class() { self.document.class_name(node.class()) } else { None }
    }

    /// Returns the number of items, entries or other children; 0 for a leaf.
    pub fn len(&self) -> usize {
        let node = self.node();
        if node.kind.is_container() { node.aux as usize } else { 0 }
    }

    /// Returns `true` if there are no items, entries or other children, as in a leaf.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All direct children, without the keys of a map.
    pub fn children(&self) -> Items<'d> {
        let node = self.node();
        let (index, end) = if node.kind.is_container() { (self.index + 1, self.index_after()) } else { (0, 0) };
        Items { document: self.document, index, end }
    }

    /// Returns the items of an array, or the children of another container.
    pub fn items(&self) -> Items<'d> {
        self.children()
    }

    /// Returns the entries of a map, or the attributes of a value.
    pub fn entries(&self) -> Entries<'d> {
        let node = self.node();
        let (index, end) = match node.kind {
            Kind::Map => (self.index + 1, self.index_after()),
            // An attributed value that breaks off before its value has no attributes.
            Kind::Attrs if self.index + 1 < self.index_after() => {
                (self.document.tape.index_after(self.index + 1), self.index_after())
            }
            _ => (0, 0),
        };
        Entries { document: self.document, index, end }
    }

    /// Returns the default value of a map, if it has one.
    pub fn default_value(&self) -> Option<Cursor<'d>> {
        let node = self.node();
        if node.kind == Kind::Map && node.has(flag::DEFAULT) { self.children().last() } else { None }
    }

    /// Returns the value of a map's entry whose key has these bytes; the last one, if there are several. For an
    /// object, its body is searched.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<Cursor<'d>> {
        let key = key.as_ref();
        let map = self.body();
        map.entries()
            .filter(|(known, _)| known.node().kind.is_string() && known.bytes() == key)
            .map(|(_, value)| value)
            .last()
    }

    /// The item of an array at this position. For an object, its body is searched.
    pub fn item(&self, position: usize) -> Option<Cursor<'d>> {
        let array = self.body();
        if array.kind() == Kind::Array { array.items().nth(position) } else { None }
    }

    /// Returns the value itself: the target of links and aliases, the body of objects.
    pub fn body(&self) -> Cursor<'d> {
        let mut current = self.target();
        // A body may be a link again, but chains have a limit.
        for _ in 0..16 {
            match current.value() {
                Value::Object(_, body) => current = body.target(),
                Value::Attrs(value) => current = value.target(),
                _ => break,
            }
        }
        current
    }

    /// The target of a link or an alias; other values are returned unchanged.
    pub fn target(&self) -> Cursor<'d> {
        self.at_index(equal::resolve_target(self.document, self.index))
    }

    /// Returns the text of a string that is valid UTF-8 (byte strings included), or of
    /// a symbol.
    pub fn as_str(&self) -> Option<&'d str> {
        self.as_bytes().and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Returns the bytes of a string or symbol.
    pub fn as_bytes(&self) -> Option<&'d [u8]> {
        let node = self.node();
        node.kind.is_string().then(|| self.document.bytes(node))
    }

    /// Returns the integer, if the value is one that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self.value() {
            Value::Int(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the integer, if the value is a non-negative one that fits.
    ///
    /// ```
    /// let document = icecore::read(b"[18446744073709551615, -1, 1.5, true]")?;
    /// let item = |at| document.root().item(at).unwrap();
    /// assert_eq!((item(0).as_u64(), item(1).as_u64()), (Some(u64::MAX), None));
    /// assert_eq!((item(1).as_f64(), item(2).as_f64()), (Some(-1.0), Some(1.5)));
    /// assert_eq!((item(3).as_bool(), item(0).as_bool()), (Some(true), None));
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn as_u64(&self) -> Option<u64> {
        match self.value() {
            Value::Int(value) => u64::try_from(value).ok(),
            Value::Uint(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the number, if it is a float, or an integer that a float represents exactly.
    pub fn as_f64(&self) -> Option<f64> {
        match self.value() {
            Value::Float(value) => Some(value),
            Value::Int(value) => Some(value as f64).filter(|float| *float as i128 == i128::from(value)),
            Value::Uint(value) => Some(value as f64).filter(|float| *float as i128 == i128::from(value)),
            _ => None,
        }
    }

    /// Returns the boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value() {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }
}

impl std::fmt::Debug for Cursor<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}@{}", self.kind(), self.index)
    }
}

impl std::fmt::Debug for Key<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Key::Name(name) => write!(f, "{:?}", String::from_utf8_lossy(name.bytes)),
            Key::Value(value) => value.fmt(f),
        }
    }
}

/// The direct children of a container. See [`Cursor::items`].
#[derive(Clone, Debug)]
pub struct Items<'d> {
    document: &'d Document<'d>,
    index: u32,
    end: u32,
}

impl<'d> Iterator for Items<'d> {
    type Item = Cursor<'d>;

    #[inline]
    fn next(&mut self) -> Option<Cursor<'d>> {
        loop {
            if self.index >= self.end {
                return None;
            }
            let item = Cursor { document: self.document, index: self.index };
            self.index = item.index_after();
            if item.node().key != IS_KEY {
                return Some(item);
            }
        }
    }
}

impl FusedIterator for Items<'_> {}

/// The entries of a map. See [`Cursor::entries`].
#[derive(Clone, Debug)]
pub struct Entries<'d> {
    document: &'d Document<'d>,
    index: u32,
    end: u32,
}

impl<'d> Iterator for Entries<'d> {
    type Item = (Key<'d>, Cursor<'d>);

    fn next(&mut self) -> Option<(Key<'d>, Cursor<'d>)> {
        if self.index >= self.end {
            return None;
        }
        let current = Cursor { document: self.document, index: self.index };
        let node = current.node();
        match node.key {
            IS_KEY => {
                let value = Cursor { document: self.document, index: current.index_after() };
                if value.index >= self.end {
                    self.index = self.end;
                    return None;
                }
                self.index = value.index_after();
                let key = if super::is_plain_key(node.kind) {
                    let bytes = if node.kind.has_bytes() { self.document.bytes(node) } else { &[] };
                    Key::Name(Name { node: *node, bytes })
                } else {
                    Key::Value(current)
                };
                Some((key, value))
            }
            // The default value of a map, or an entry whose key was never read.
            NO_KEY | KEY_NODE => {
                self.index = self.end;
                None
            }
            id => {
                self.index = current.index_after();
                let name = self.document.tape.keys.get(u32::from(id))?;
                Some((Key::Name(name), current))
            }
        }
    }
}

impl FusedIterator for Entries<'_> {}
