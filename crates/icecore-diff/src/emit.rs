//! Combines values of several documents into one document, with changes.

use icecore::value::{Entries, Form, Items};
use icecore::{Builder, Cursor, Document, Error, Key, Kind, Value, raw::flag};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The number of the first document. It may be changed. Values are marked with the number of their document.
pub(crate) const FIRST: usize = 0;
/// The number of the document whose values are put into the first one.
pub(crate) const VALUES: usize = 1;

/// The changes of the first document, by its nodes.
#[derive(Default)]
pub(crate) struct Edits<'d> {
    /// Values of another document that replace values.
    pub(crate) replaced: HashMap<u32, Cursor<'d>>,
    /// Replacements that apply only at the place of the value. Links to the value keep the old one.
    pub(crate) replaced_places: HashMap<u32, Cursor<'d>>,
    pub(crate) classes: HashMap<u32, Cow<'d, [u8]>>,
    /// Removed items and entries.
    pub(crate) removed: HashSet<u32>,
    /// Values that are put into containers, with their positions there.
    pub(crate) insertions: HashMap<u32, Vec<Insertion<'d>>>,
    /// Containers with a changed number of children.
    pub(crate) touched: HashSet<u32>,
    /// Places in the second document that become links to values of the first one.
    pub(crate) links: HashMap<u32, NewLink<'d>>,
    /// The values of the first document to which those links lead.
    pub(crate) link_targets: HashSet<u32>,
    /// Links of the second document that are left out: null is written.
    pub(crate) omitted_links: HashSet<u32>,
}

/// A new link to a value of the first document.
#[derive(Clone, Copy)]
pub(crate) struct NewLink<'d> {
    pub(crate) target: Cursor<'d>,
    /// [`Kind::Link`] or [`Kind::Alias`].
    pub(crate) kind: Kind,
    pub(crate) is_weak: bool,
}

/// A value that is put into a container.
pub(crate) struct Insertion<'d> {
    pub(crate) index: u32,
    /// The key, as a value of the second document.
    pub(crate) key: Option<Cursor<'d>>,
    /// Whether the key is a placeholder.
    pub(crate) is_absent: bool,
    /// The number of the value's document.
    pub(crate) source: usize,
    pub(crate) value: Cursor<'d>,
    /// The path of the value, for messages.
    pub(crate) path: String,
}

/// Copies values into a document that is being built. A value to which links lead is copied once, at the first place
/// where it occurs. At other places a link is written. So the work is linear.
pub(crate) struct Emitter<'d> {
    pub(crate) builder: Builder,
    edits: Edits<'d>,
    /// The document that is changed: new classes get the separators of its language.
    target: Option<&'d Document<'d>>,
    /// The new indexes of values to which links lead, by document and node.
    new_index_by_node: HashMap<(usize, u32), u32>,
    /// The unchanged values of the first document, each with its index there and its new index.
    pub(crate) kept: Vec<(u32, u32)>,
    stack: Vec<EmitTask<'d>>,
}

enum EmitTask<'d> {
    Frame(EmitFrame<'d>),
    /// The value of the previous key, with the number of its document.
    Value(usize, Cursor<'d>),
}

/// An open container.
struct EmitFrame<'d> {
    source: usize,
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
    source: usize,
    document: &'d Document<'d>,
    key: Key<'d>,
    is_absent: bool,
}

impl<'d> Emitter<'d> {
    pub(crate) fn new(edits: Edits<'d>) -> Emitter<'d> {
        Emitter {
            builder: Builder::new(),
            edits,
            target: None,
            new_index_by_node: HashMap::new(),
            kept: Vec::new(),
            stack: Vec::new(),
        }
    }

    /// As [`Emitter::new`], for values that are put into this document.
    pub(crate) fn into_document(edits: Edits<'d>, target: &'d Document<'d>) -> Emitter<'d> {
        Emitter { target: Some(target), ..Emitter::new(edits) }
    }

    /// Appends a value.
    pub(crate) fn write_value(&mut self, source: usize, value: Cursor<'d>) {
        self.begin_value(source, value);
        while let Some(task) = self.stack.last_mut() {
            let next = match task {
                EmitTask::Frame(frame) => frame.next_step(&self.edits),
                EmitTask::Value(source, value) => {
                    let next = EmitStep::Value(*source, *value);
                    self.stack.pop();
                    next
                }
            };
            match next {
                EmitStep::Value(source, value) => self.begin_value(source, value),
                EmitStep::Default(source, value) => {
                    self.builder.default_value();
                    self.begin_value(source, value);
                }
                EmitStep::Entry(key, source, value) => self.write_entry(key, source, value),
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

    fn write_entry(&mut self, document_key: DocumentKey<'d>, source: usize, value: Cursor<'d>) {
        let DocumentKey { source: key_source, document, key, is_absent } = document_key;
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
        if source == VALUES && self.edits.omitted_links.contains(&value.index()) {
            self.builder.null();
            return;
        }
        let node = value.node();
        let mut kind = node.kind;
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
        /// A link leads to its target, and the target leads to its replacement. The replacement may be a link as
        /// well, also a new one to a value of the first document.
        const MAX_LINK_STEPS: usize = 8;
        let mut copied_nodes = Vec::new();
        for _ in 0..MAX_LINK_STEPS {
            if let Some(new_index) = self.new_index_by_node.get(&(source, value.index())).copied() {
                return self.write_link(kind, new_index, value);
            }
            if let Some(link) = (source == VALUES).then(|| self.edits.links.get(&value.index())).flatten() {
                if link.is_weak {
                    self.builder.weak();
                }
                (source, value, kind) = (FIRST, link.target, link.kind);
                continue;
            }
            if let Some(new) = (source == FIRST).then(|| self.edits.replaced.get(&value.index())).flatten() {
                copied_nodes.push((source, value.index()));
                (source, value) = (VALUES, *new);
            } else if value.kind().is_again() {
                value = value.target();
            } else {
                break;
            }
        }
        let is_new_target = source == FIRST && self.edits.link_targets.contains(&value.index());
        if value.node().has(flag::TARGET) || is_new_target {
            copied_nodes.push((source, value.index()));
        }
        self.write_unlinked(source, value);
        let index = self.builder.at();
        for copied_node in copied_nodes {
            self.new_index_by_node.insert(copied_node, index);
        }
        if source == FIRST && !self.edits.touched.contains(&value.index()) {
            self.kept.push((value.index(), index));
        }
    }

    fn write_link(&mut self, kind: Kind, new_index: u32, value: Cursor<'d>) {
        match kind {
            Kind::Alias => self.builder.alias(new_index),
            // A value that is still open can't be copied, but readers never produce such a copy.
            Kind::Link | Kind::Copy => self.builder.link(new_index),
            _ if value.kind().is_container() => self.builder.link(new_index),
            _ => self.builder.alias(new_index),
        };
    }

    /// Appends a value that is not a link, or begins it.
    fn write_unlinked(&mut self, source: usize, cursor: Cursor<'d>) {
        let node = cursor.node();
        if node.kind.is_container() {
            return self.begin_container(source, cursor);
        }
        let builder = &mut self.builder;
        match cursor.value() {
            Value::Null => builder.null(),
            Value::Bool(value) => builder.bool(value),
            Value::Int(value) => builder.int(value),
            Value::Uint(value) => builder.uint(value),
            Value::BigInt(value) => builder.big_int(value.negative, value.magnitude),
            Value::Float(_) if node.kind == Kind::Float32 => builder.float32(f32::from_bits(node.payload as u32)),
            Value::Float(value) => builder.float(value),
            Value::Float128(value) => builder.float128(&value),
            Value::Bytes(bytes) => builder.bytes(bytes),
            Value::Text(bytes) => builder.loose_text(bytes),
            Value::Encoded(bytes, encoding) => builder.encoded(bytes, &String::from_utf8_lossy(encoding)),
            Value::Symbol(bytes, encoding) => builder.symbol(bytes, &String::from_utf8_lossy(encoding)),
            Value::Module(name, form) => builder.module(name, form),
            Value::EnumCase(name) => builder.enum_case(name),
            Value::Hole => builder.hole(),
            // This is a chain of links without an end.
            _ => builder.null(),
        };
    }

    fn begin_container(&mut self, source: usize, cursor: Cursor<'d>) {
        let node = cursor.node();
        let builder = &mut self.builder;
        let changed = (source == FIRST).then(|| self.edits.classes.get(&cursor.index())).flatten();
        let class = changed.map_or(cursor.class(), |class| class);
        let class = match self.target.filter(|_| source != FIRST || changed.is_some()) {
            Some(target) => target.class_in_own_language(class),
            None => Cow::Borrowed(class),
        };
        let class = &*class;
        match node.kind {
            Kind::Array => builder.begin_array(),
            Kind::Map => builder.begin_map(),
            Kind::Ref => builder.begin_ref(),
            Kind::Object => builder.begin_object_in(class, node.form()),
            Kind::Opaque => builder.begin_opaque(class, node.form()),
            Kind::Attrs if class.is_empty() && node.form() == Form::Usual => builder.begin_attributes(),
            Kind::Attrs => builder.begin_extended(class, node.form()),
            Kind::Regexp if node.has(flag::BARE) => builder.begin_bare_regexp(),
            Kind::Regexp => builder.begin_regexp(),
            Kind::Code => builder.begin_code(),
            Kind::VString => builder.begin_vstring(),
            _ => builder.begin_tied(node.form()),
        };
        if node.kind == Kind::Map {
            if node.has(flag::RESTRICTED) {
                builder.restrict();
            }
            if node.has(flag::IDENTITY) {
                builder.by_identity();
            }
        }
        let children = match node.kind {
            Kind::Map => Children::Entries(cursor.entries()),
            Kind::Attrs => Children::Attributes(cursor.children().next(), cursor.entries()),
            _ => Children::Items(cursor.children()),
        };
        let default = cursor.default_value();
        self.stack.push(EmitTask::Frame(EmitFrame {
            source,
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
        let insertion =
            (self.source == FIRST).then(|| edits.insertions.get(&self.node)?.get(self.insertion_count)).flatten();
        if let Some(insertion) = insertion.filter(|insertion| insertion.index <= self.index) {
            return self.take_insertion(insertion);
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
            if self.source == FIRST && edits.removed.contains(&value.index()) {
                continue;
            }
            self.index += 1;
            let document_key =
                key.map(|key| DocumentKey { source: self.source, document: value.document(), key, is_absent: false });
            return document_key.map_or(EmitStep::Value(self.source, value), |document_key| {
                EmitStep::Entry(document_key, self.source, value)
            });
        }
        match (insertion, self.default.take()) {
            (Some(insertion), default) => {
                self.default = default;
                self.take_insertion(insertion)
            }
            (None, Some(default)) => EmitStep::Default(self.source, default),
            (None, None) => EmitStep::End,
        }
    }

    fn take_insertion(&mut self, insertion: &Insertion<'d>) -> EmitStep<'d> {
        self.index += 1;
        self.insertion_count += 1;
        match insertion.key {
            None => EmitStep::Value(insertion.source, insertion.value),
            Some(key) => {
                let (document, is_absent) = (key.document(), insertion.is_absent);
                let document_key = DocumentKey { source: VALUES, document, key: as_key(key), is_absent };
                EmitStep::Entry(document_key, insertion.source, insertion.value)
            }
        }
    }
}

/// Returns a value as a key. A link to a string becomes that string.
pub(crate) fn as_key(value: Cursor<'_>) -> Key<'_> {
    let target = value.target();
    let is_name = target.kind().is_string() || target.kind() == Kind::Int;
    let value = if is_name { target } else { value };
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
