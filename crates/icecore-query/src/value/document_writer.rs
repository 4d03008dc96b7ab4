//! Converts values to documents. A value that no filter changed is copied in its original form, with everything that
//! filters do not see.

use super::origin::Source;
use super::text::{KeySpelling, MarkedName};
use super::{Key, List, Map, Number, Origin, Text, Value};
use crate::memory::Charge;
use crate::query_thread;
use icecore::raw::flag;
use icecore::value::CopiedValues;
use icecore::{Builder, Cursor, Document, Error, ErrorKind, Kind, Limits, LossKind, Losses};
use num_bigint::Sign;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A container that is being written.
enum OpenContainer {
    List { list: Rc<List>, next: usize, layers: ContainerLayers },
    Map { map: Rc<Map>, next: usize, layers: ContainerLayers },
}

/// The layers around a changed container. They are its class, references, and attributes.
#[derive(Default)]
struct ContainerLayers {
    origin: Option<Origin>,
}

/// How strings are written of which a part was not UTF-8.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Latin1As {
    /// With the bytes of the document.
    Bytes,
    /// For JSON, which shows such bytes as characters: as characters, if their bytes would be other ones in UTF-8.
    Characters,
}

/// Writes a value with everything in it.
struct DocumentWriter {
    latin1_as: Latin1As,
    builder: Builder,
    open: Vec<OpenContainer>,
    /// What was copied from each document. Links between values that no filter changed stay links.
    copied: HashMap<*const Source, CopiedValues>,
    /// Changed containers to which their documents have links.
    changed_targets: Vec<ChangedTarget>,
}

/// A changed container whose original has links to it.
struct ChangedTarget {
    source: *const Source,
    /// The node that the links name.
    node: u32,
    /// The position of the container in the new document.
    position: u32,
}

/// A document that consists of a value.
pub struct WrittenValue {
    pub document: Document<'static>,
    /// The containers that other places shared before a filter changed them at one place.
    pub unshared: Losses,
}

impl Value {
    /// Returns a document that consists of this value.
    ///
    /// # Errors
    /// Of kind `Limit`, if it is nested too deeply or has too many values.
    pub fn to_document(&self, latin1_as: Latin1As, limits: &Limits) -> Result<WrittenValue, Error> {
        let builder = match self.first_origin() {
            Some(origin) => Builder::like(&origin.source.document),
            None => Builder::new(),
        };
        let copied = HashMap::new();
        let mut writer = DocumentWriter { latin1_as, builder, open: Vec::new(), copied, changed_targets: Vec::new() };
        // A changed value is written at each of its places, so the document may be much larger than the value.
        let charge = Charge::default();
        writer.write_or_begin(self);
        loop {
            query_thread::count_step();
            charge.set(writer.builder.size());
            if writer.open.len() as u64 > u64::from(limits.depth) {
                return Err(Error::new(ErrorKind::Limit)
                    .expecting(format!("at most {} levels of nesting", limits.depth))
                    .finding("a result with more")
                    .helping("raise the limit `depth`: `--limit depth=N`"));
            }
            if writer.builder.at() >= limits.nodes {
                return Err(Error::new(ErrorKind::Limit)
                    .expecting(format!("at most {} values", limits.nodes))
                    .finding("a result with more")
                    .helping("raise the limit `nodes`: `--limit nodes=N`"));
            }
            let value = match writer.open.last_mut() {
                None => break,
                Some(OpenContainer::List { list, next, .. }) => {
                    *next += 1;
                    list.get().get(*next - 1).cloned()
                }
                Some(OpenContainer::Map { map, next, .. }) => {
                    *next += 1;
                    let map = Rc::clone(map);
                    let entry = map.get().get_index(*next - 1);
                    entry.map(|(key, value)| {
                        writer.write_key(key);
                        value.clone()
                    })
                }
            };
            match value {
                Some(value) => writer.write_or_begin(&value),
                None => match writer.open.pop() {
                    Some(OpenContainer::List { layers, .. } | OpenContainer::Map { layers, .. }) => {
                        writer.end_layers(layers)
                    }
                    None => break,
                },
            }
        }
        writer.finish()
    }

    /// Returns the origin of the value, or of the first value in it that has one. It determines the language of
    /// names.
    fn first_origin(&self) -> Option<Origin> {
        let mut current = self.clone();
        for _ in 0..4 {
            if let Some(origin) = current.origin() {
                return Some(origin.clone());
            }
            let next = match &current {
                Value::List(list) => list.get().iter().find(|item| item.is_container()).cloned(),
                Value::Map(map) => map.get().values().find(|item| item.is_container()).cloned(),
                _ => None,
            };
            current = next?;
        }
        None
    }
}

impl DocumentWriter {
    fn finish(self) -> Result<WrittenValue, Error> {
        let document = self.builder.finish()?;
        let mut unshared = Losses::default();
        let mut known_targets = HashSet::new();
        for target in self.changed_targets {
            let is_copied = self.copied.get(&target.source).is_some_and(|copied| copied.has_target(target.node));
            // The first changed version is the value itself, unless the original is in the document too.
            if !known_targets.insert((target.source, target.node)) || is_copied {
                unshared.add(LossKind::Sharing, || document.path(target.position));
            }
        }
        Ok(WrittenValue { document, unshared })
    }

    /// Copies a value of a document. If the value was copied before, a link is written.
    fn copy_value(&mut self, source: &Rc<Source>, value: Cursor<'_>) {
        let copied = self.copied.entry(Rc::as_ptr(source)).or_default();
        self.builder.value_with_links(value, copied);
    }

    /// Writes a leaf or an unchanged value; begins a container.
    fn write_or_begin(&mut self, value: &Value) {
        let builder = &mut self.builder;
        match value {
            Value::Null | Value::Absent(_) => drop(builder.null()),
            Value::Bool(value) => drop(builder.bool(*value)),
            Value::Number(Number::Int(int)) => drop(builder.int(*int)),
            Value::Number(Number::Big(big)) => {
                let (sign, bytes) = big.to_bytes_le();
                builder.big_int(sign == Sign::Minus, &bytes);
            }
            Value::Number(Number::Float(float)) => drop(builder.float(*float)),
            Value::Text(text) => write_text(text, self.latin1_as, builder),
            Value::Preserved(preserved) => self.copy_value(&preserved.origin.source, preserved.origin.value_cursor()),
            Value::List(list) => match list.origin().filter(|_| !list.is_changed()) {
                Some(origin) => self.copy_value(&origin.source, origin.value_cursor()),
                None => {
                    let layers = ContainerLayers::begin_layers(list.origin(), builder);
                    builder.begin_array();
                    self.note_target(list.origin());
                    self.open.push(OpenContainer::List { list: Rc::clone(list), next: 0, layers });
                }
            },
            Value::Map(map) => match map.origin().filter(|_| !map.is_changed()) {
                Some(origin) => self.copy_value(&origin.source, origin.value_cursor()),
                None => {
                    let layers = ContainerLayers::begin_layers(map.origin(), builder);
                    builder.begin_map();
                    if let Some(body) = map.origin().map(|origin| *origin.body_cursor().node()) {
                        if body.has(flag::RESTRICTED) {
                            builder.restrict();
                        }
                        if body.has(flag::IDENTITY) {
                            builder.by_identity();
                        }
                    }
                    self.note_target(map.origin());
                    self.open.push(OpenContainer::Map { map: Rc::clone(map), next: 0, layers });
                }
            },
        }
    }

    /// Notes that the container that was just begun is a changed one, if its original has links to it.
    fn note_target(&mut self, origin: Option<&Origin>) {
        let Some(origin) = origin else { return };
        let cursors = [origin.value_cursor(), origin.body_cursor()];
        if let Some(target) = cursors.iter().find(|cursor| cursor.node().has(flag::TARGET)) {
            let (source, node) = (Rc::as_ptr(&origin.source), target.index());
            self.changed_targets.push(ChangedTarget { source, node, position: self.builder.at() });
        }
    }

    fn write_key(&mut self, key: &Key) {
        let builder = &mut self.builder;
        match &key.spelling {
            KeySpelling::Int(int) => drop(builder.int_key(*int)),
            KeySpelling::Symbol => drop(builder.symbol_key(&key.name, "")),
            KeySpelling::Bytes => drop(builder.bytes_key(&key.name)),
            KeySpelling::Text => match std::str::from_utf8(&key.name) {
                Ok(text) => drop(builder.text_key(text)),
                Err(_) => drop(builder.bytes_key(&key.name)),
            },
            KeySpelling::Marked(marked) => write_marked_key(marked, builder),
            KeySpelling::Node(source, index) => {
                if let Some(value) = source.document.at(*index) {
                    builder.key();
                    self.copy_value(source, value);
                }
            }
        }
    }

    /// Ends the innermost container and the layers around it.
    fn end_layers(&mut self, layers: ContainerLayers) {
        let Some(origin) = layers.origin else {
            self.builder.end();
            return;
        };
        if let Some(default) = origin.body_cursor().default_value() {
            self.builder.default_value();
            self.copy_value(&origin.source, default);
        }
        self.builder.end();
        let mut indexes = Vec::new();
        visit_layers(&origin, |cursor| indexes.push(cursor.index()));
        for index in indexes.into_iter().rev() {
            let Some(cursor) = origin.source.document.at(index) else { continue };
            if cursor.kind() == Kind::Attrs {
                for (key, value) in cursor.entries() {
                    self.write_attribute(&origin.source, &key, value);
                }
            }
            self.builder.end();
        }
    }

    fn write_attribute(&mut self, source: &Rc<Source>, key: &icecore::Key<'_>, value: Cursor<'_>) {
        match key {
            icecore::Key::Name(name) if name.node.kind == Kind::Symbol => {
                self.builder.symbol_key(name.bytes, "");
            }
            icecore::Key::Name(name) => {
                self.builder.bytes_key(name.bytes);
            }
            icecore::Key::Value(key) => {
                self.builder.key();
                self.copy_value(source, *key);
            }
        }
        self.copy_value(source, value);
    }
}

/// Writes a text. Text that is not UTF-8 becomes bytes, and byte strings of a document stay bytes.
fn write_text(text: &Text, latin1_as: Latin1As, builder: &mut Builder) {
    let bytes = text.stored_bytes();
    match std::str::from_utf8(&bytes) {
        Ok(characters) if latin1_as == Latin1As::Characters && text.is_latin1 && !characters.is_ascii() => {
            builder.text(&String::from_utf8_lossy(&text.bytes));
        }
        Ok(characters) if !text.is_bytes => drop(builder.text(characters)),
        _ => drop(builder.bytes(&bytes)),
    }
}

fn write_marked_key(marked: &MarkedName, builder: &mut Builder) {
    if marked.is_locked {
        builder.locked();
    }
    match (marked.kind, std::str::from_utf8(&marked.raw)) {
        (Kind::Symbol, _) => drop(builder.symbol_key(&marked.raw, &marked.encoding)),
        (Kind::Text, Ok(text)) => drop(builder.text_key(text)),
        _ => drop(builder.bytes_key(&marked.raw)),
    }
}

impl ContainerLayers {
    /// Begins the layers around the container.
    fn begin_layers(origin: Option<&Origin>, builder: &mut Builder) -> ContainerLayers {
        let Some(origin) = origin else { return ContainerLayers::default() };
        visit_layers(origin, |layer| {
            let (node, class) = (layer.node(), layer.class());
            if node.has(flag::OVERLOAD) {
                builder.overloaded();
            }
            match (layer.kind(), class.is_empty()) {
                (Kind::Object, _) => drop(builder.begin_object_in(class, node.form())),
                (Kind::Ref, _) => drop(builder.begin_ref()),
                (Kind::Attrs, true) => drop(builder.begin_attributes()),
                (Kind::Attrs, false) => drop(builder.begin_extended(class, node.form())),
                // Other kinds are not layers, so there is nothing around the body.
                _ => {}
            }
        });
        ContainerLayers { origin: Some(origin.clone()) }
    }
}

/// Passes on the values around the body, the outermost first.
fn visit_layers(origin: &Origin, mut visit: impl FnMut(Cursor<'_>)) {
    let mut current = origin.value_cursor();
    while current.index() != origin.body {
        if !matches!(current.kind(), Kind::Object | Kind::Ref | Kind::Attrs) {
            return;
        }
        visit(current);
        match current.children().next() {
            Some(child) => current = child.target(),
            None => return,
        }
    }
}
