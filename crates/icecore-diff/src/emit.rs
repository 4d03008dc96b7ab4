//! Combines values of several documents into one document, with changes.

use icecore::value::{Entries, Form, Items};
use icecore::{Builder, Cursor, Document, Error, Key, Kind, Value, raw::flag};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Index of the document to which a value belongs: the first one may be changed.
pub(crate) const FIRST: usize = 0;
/// Index of the document whose values are put into the first one.
pub(crate) const VALUES: usize = 1;

/// Changes of the first document, by its nodes.
#[derive(Default)]
pub(crate) struct Edits<'d> {
    /// Values of another document that replace values.
    pub(crate) replaced: HashMap<u32, Cursor<'d>>,
    /// The same, but only at the place of the value: links to it keep the value.
    pub(crate) replaced_places: HashMap<u32, Cursor<'d>>,
    pub(crate) classes: HashMap<u32, Cow<'d, [u8]>>,
    /// Removed items and entries.
    pub(crate) removed: HashSet<u32>,
    /// Values that are put into containers, with their positions there.
    pub(crate) insertions: HashMap<u32, Vec<Insertion<'d>>>,
    /// Containers with a changed number of children.
    pub(crate) touched: HashSet<u32>,
}

/// A value that is put into a container.
pub(crate) struct Insertion<'d> {
    pub(crate) index: u32,
    /// The key, as a value of the second document.
    pub(crate) key: Option<Cursor<'d>>,
    /// Whether the key is a placeholder.
    pub(crate) is_absent: bool,
    /// Index of the document of the value.
    pub(crate) of: usize,
    pub(crate) value: Cursor<'d>,
    /// The path of the value, for messages.
    pub(crate) path: String,
}

/// Copies values into a document that is being built. A value that links name is copied once, where it is first met;
/// elsewhere there is a link. So the work is linear.
pub(crate) struct Emitter<'d> {
    pub(crate) builder: Builder,
    edits: Edits<'d>,
    /// New positions of values that links name, by document and node.
    known: HashMap<(usize, u32), u32>,
    /// Unchanged values of the first document: the node there, and the node here.
    pub(crate) kept: Vec<(u32, u32)>,
    stack: Vec<EmitTask<'d>>,
}

enum EmitTask<'d> {
    Frame(EmitFrame<'d>),
    /// The value of the previous key.
    Value(usize, Cursor<'d>),
}

/// An open container.
struct EmitFrame<'d> {
    of: usize,
    node: u32,
    children: Children<'d>,
    /// A default value, after all entries.
    default: Option<Cursor<'d>>,
    index: u32,
    /// Number of values that were put into it.
    insertion_count: usize,
}

enum Children<'d> {
    Items(Items<'d>),
    Entries(Entries<'d>),
    /// The value that has attributes, and then the attributes.
    Attributes(Option<Cursor<'d>>, Entries<'d>),
}

enum EmitStep<'d> {
    Value(usize, Cursor<'d>),
    Entry(DocumentKey<'d>, usize, Cursor<'d>),
    Default(usize, Cursor<'d>),
    End,
}

/// A key, and the document that contains it.
struct DocumentKey<'d> {
    of: usize,
    document: &'d Document<'d>,
    key: Key<'d>,
    is_absent: bool,
}

impl<'d> Emitter<'d> {
    pub(crate) fn new(edits: Edits<'d>) -> Emitter<'d> {
        Emitter { builder: Builder::new(), edits, known: HashMap::new(), kept: Vec::new(), stack: Vec::new() }
    }

    /// Appends a value.
    pub(crate) fn write_value(&mut self, source: usize, value: Cursor<'d>) {
        self.begin_value(source, value);
        while let Some(task) = self.stack.last_mut() {
            let next = match task {
                EmitTask::Frame(frame) => frame.next_step(&self.edits),
                EmitTask::Value(of, value) => {
                    let next = EmitStep::Value(*of, *value);
                    self.stack.pop();
                    next
                }
            };
            match next {
                EmitStep::Value(of, value) => self.begin_value(of, value),
                EmitStep::Default(of, value) => {
                    self.builder.default_value();
                    self.begin_value(of, value);
                }
                EmitStep::Entry(key, of, value) => self.write_entry(key, of, value),
                EmitStep::End => {
                    self.builder.end();
                    self.stack.pop();
                }
            }
        }
    }

    pub(crate) fn finish(self) -> Result<(Document<'static>, Vec<(u32, u32)>), Error> {
        Ok((self.builder.finish()?, self.kept))
    }

    fn write_entry(&mut self, named: DocumentKey<'d>, source: usize, value: Cursor<'d>) {
        let DocumentKey { of: key_source, document, key, is_absent } = named;
        let flags = key.node().flags;
        if flags & flag::LOCKED != 0 {
            self.builder.locked();
        }
        if flags & flag::PLACEHOLDER != 0 || is_absent {
            self.builder.placeholder();
        }
        match key {
            Key::Name(name) if name.node.kind == Kind::Int => drop(self.builder.int_key(name.node.payload as i64)),
            Key::Name(name) => match (name.node.kind, std::str::from_utf8(name.bytes)) {
                (Kind::Bytes, _) => drop(self.builder.bytes_key(name.bytes)),
                (Kind::Text, Ok(text)) => drop(self.builder.text_key(text)),
                (Kind::Symbol, _) => drop(self.builder.symbol_key(name.bytes, &encoding_name(document, &name.node))),
                (Kind::Encoded, _) => {
                    let encoding = encoding_name(document, &name.node);
                    self.builder.key().encoded(name.bytes, &encoding);
                }
                _ => drop(self.builder.key().loose_text(name.bytes)),
            },
            Key::Value(key) => {
                self.stack.push(EmitTask::Value(source, value));
                self.builder.key();
                return self.begin_value(key_source, key);
            }
        }
        self.begin_value(source, value);
    }

    /// Appends a value, or begins it.
    fn begin_value(&mut self, mut source: usize, mut value: Cursor<'d>) {
        let node = value.node();
        let kind = node.kind;
        if node.has(flag::WEAK) {
            self.builder.weak();
        }
        if node.has(flag::OVERLOAD) {
            self.builder.overloaded();
        }
        if source == FIRST
            && let Some(new) = self.edits.replaced_places.get(&value.index())
        {
            (source, value) = (VALUES, *new);
        }
        // A link leads to its target, and that to its replacement.
        let mut names = Vec::new();
        for _ in 0..4 {
            if let Some(known) = self.known.get(&(source, value.index())).copied() {
                return self.write_link(kind, known, value);
            }
            if let Some(new) = (source == FIRST).then(|| self.edits.replaced.get(&value.index())).flatten() {
                names.push((source, value.index()));
                (source, value) = (VALUES, *new);
            } else if value.kind().is_again() {
                value = value.target();
            } else {
                break;
            }
        }
        if value.node().has(flag::TARGET) {
            names.push((source, value.index()));
        }
        self.write_unlinked(source, value);
        let index = self.builder.at();
        for name in names {
            self.known.insert(name, index);
        }
        if source == FIRST && !self.edits.touched.contains(&value.index()) {
            self.kept.push((value.index(), index));
        }
    }

    fn write_link(&mut self, kind: Kind, known: u32, value: Cursor<'d>) {
        match kind {
            Kind::Alias => self.builder.alias(known),
            // An incomplete value can't be copied; readers never produce such a copy.
            Kind::Link | Kind::Copy => self.builder.link(known),
            _ if value.kind().is_container() => self.builder.link(known),
            _ => self.builder.alias(known),
        };
    }

    /// Appends a value that is not a link, or begins it.
    fn write_unlinked(&mut self, source: usize, cursor: Cursor<'d>) {
        let node = cursor.node();
        if node.kind.is_container() {
            return self.begin_container(source, cursor);
        }
        let b = &mut self.builder;
        match cursor.value() {
            Value::Null => b.null(),
            Value::Bool(value) => b.bool(value),
            Value::Int(value) => b.int(value),
            Value::Uint(value) => b.uint(value),
            Value::BigInt(value) => b.big_int(value.negative, value.magnitude),
            Value::Float(_) if node.kind == Kind::Float32 => b.float32(f32::from_bits(node.payload as u32)),
            Value::Float(value) => b.float(value),
            Value::Float128(value) => b.float128(&value),
            Value::Bytes(bytes) => b.bytes(bytes),
            Value::Text(bytes) => b.loose_text(bytes),
            Value::Encoded(bytes, encoding) => b.encoded(bytes, &String::from_utf8_lossy(encoding)),
            Value::Symbol(bytes, encoding) => b.symbol(bytes, &String::from_utf8_lossy(encoding)),
            Value::Module(name, form) => b.module(name, form),
            Value::EnumCase(name) => b.enum_case(name),
            Value::Hole => b.hole(),
            // A chain of links without an end.
            _ => b.null(),
        };
    }

    fn begin_container(&mut self, source: usize, cursor: Cursor<'d>) {
        let node = cursor.node();
        let b = &mut self.builder;
        let class = (source == FIRST).then(|| self.edits.classes.get(&cursor.index())).flatten();
        let class = class.map_or(cursor.class(), |class| class);
        match node.kind {
            Kind::Array => b.begin_array(),
            Kind::Map => b.begin_map(),
            Kind::Ref => b.begin_ref(),
            Kind::Object => b.begin_object_in(class, node.form()),
            Kind::Opaque => b.begin_opaque(class, node.form()),
            Kind::Attrs if class.is_empty() && node.form() == Form::Usual => b.begin_attributes(),
            Kind::Attrs => b.begin_extended(class, node.form()),
            Kind::Regexp if node.has(flag::BARE) => b.begin_bare_regexp(),
            Kind::Regexp => b.begin_regexp(),
            Kind::Code => b.begin_code(),
            Kind::VString => b.begin_vstring(),
            _ => b.begin_tied(node.form()),
        };
        if node.kind == Kind::Map {
            if node.has(flag::RESTRICTED) {
                b.restrict();
            }
            if node.has(flag::IDENTITY) {
                b.by_identity();
            }
        }
        let children = match node.kind {
            Kind::Map => Children::Entries(cursor.entries()),
            Kind::Attrs => Children::Attributes(cursor.children().next(), cursor.entries()),
            _ => Children::Items(cursor.children()),
        };
        let default = cursor.default_value();
        self.stack.push(EmitTask::Frame(EmitFrame {
            of: source,
            node: cursor.index(),
            children,
            default,
            index: 0,
            insertion_count: 0,
        }));
    }
}

impl<'d> EmitFrame<'d> {
    fn next_step(&mut self, edits: &Edits<'d>) -> EmitStep<'d> {
        let put = (self.of == FIRST).then(|| edits.insertions.get(&self.node)?.get(self.insertion_count)).flatten();
        if let Some(put) = put.filter(|put| put.index <= self.index) {
            return self.take_insertion(put);
        }
        loop {
            let next = match &mut self.children {
                Children::Items(items) => items.next().map(|value| (None, value)),
                Children::Entries(entries) => entries.next().map(|(key, value)| (Some(key), value)),
                Children::Attributes(value, entries) => match value.take() {
                    Some(value) => Some((None, value)),
                    None => entries.next().map(|(key, value)| (Some(key), value)),
                },
            };
            let Some((key, value)) = next else { break };
            if self.of == FIRST && edits.removed.contains(&value.index()) {
                continue;
            }
            self.index += 1;
            let named = key.map(|key| DocumentKey { of: self.of, document: value.document(), key, is_absent: false });
            return named.map_or(EmitStep::Value(self.of, value), |named| EmitStep::Entry(named, self.of, value));
        }
        match (put, self.default.take()) {
            (Some(put), default) => {
                self.default = default;
                self.take_insertion(put)
            }
            (None, Some(default)) => EmitStep::Default(self.of, default),
            (None, None) => EmitStep::End,
        }
    }

    fn take_insertion(&mut self, put: &Insertion<'d>) -> EmitStep<'d> {
        self.index += 1;
        self.insertion_count += 1;
        match put.key {
            None => EmitStep::Value(put.of, put.value),
            Some(key) => {
                let (document, is_absent) = (key.document(), put.is_absent);
                let named = DocumentKey { of: VALUES, document, key: as_key(key), is_absent };
                EmitStep::Entry(named, put.of, put.value)
            }
        }
    }
}

/// Returns a value as a key; a link to a string becomes that string.
pub(crate) fn as_key(value: Cursor<'_>) -> Key<'_> {
    let named = value.target();
    let is_name = named.kind().is_string() || named.kind() == Kind::Int;
    let value = if is_name { named } else { value };
    let node = value.node();
    match node.kind.is_string() || node.kind == Kind::Int {
        true => Key::Name(icecore::raw::Name { node: *node, bytes: crate::tree::node_bytes(value.document(), node) }),
        false => Key::Value(value),
    }
}

/// Returns the name of a key's encoding.
pub(crate) fn encoding_name(document: &Document<'_>, key: &icecore::raw::Node) -> String {
    let name = document.tape().encodings().get(u32::from(key.encoding()));
    name.map_or_else(String::new, |name| String::from_utf8_lossy(name.bytes).into_owned())
}
