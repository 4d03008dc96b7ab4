//! Converts values to documents. A value that no filter changed is copied in its original form, with everything that
//! filters do not see.

use super::text::{KeySpelling, MarkedName};
use super::{Key, List, Map, Number, Origin, Text, Value};
use crate::memory::Charge;
use crate::query_thread;
use icecore::raw::flag;
use icecore::{Builder, Cursor, Document, Error, ErrorKind, Kind, Limits};
use num_bigint::Sign;
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

impl Value {
    /// Returns a document that consists of this value.
    ///
    /// # Errors
    /// Of kind `Limit`, if it is nested too deeply or has too many values.
    pub fn to_document(&self, limits: &Limits) -> Result<Document<'static>, Error> {
        let mut builder = match self.first_origin() {
            Some(origin) => Builder::like(&origin.source.document),
            None => Builder::new(),
        };
        let mut open = Vec::new();
        // A shared value is written at each of its places, so the document may be much larger than the value.
        let charge = Charge::default();
        write_or_begin(self, &mut builder, &mut open);
        loop {
            query_thread::count_step();
            charge.set(builder.size());
            if open.len() as u64 > u64::from(limits.depth) {
                return Err(Error::new(ErrorKind::Limit)
                    .expecting(format!("at most {} levels of nesting", limits.depth))
                    .finding("a result with more")
                    .helping("raise the limit `depth`: `--limit depth=N`"));
            }
            if builder.at() >= limits.nodes {
                return Err(Error::new(ErrorKind::Limit)
                    .expecting(format!("at most {} values", limits.nodes))
                    .finding("a result with more")
                    .helping("raise the limit `nodes`: `--limit nodes=N`"));
            }
            let value = match open.last_mut() {
                None => break,
                Some(OpenContainer::List { list, next, .. }) => {
                    *next += 1;
                    list.get().get(*next - 1).cloned()
                }
                Some(OpenContainer::Map { map, next, .. }) => {
                    *next += 1;
                    let entry = map.get().get_index(*next - 1);
                    entry.map(|(key, value)| {
                        write_key(key, &mut builder);
                        value.clone()
                    })
                }
            };
            match value {
                Some(value) => write_or_begin(&value, &mut builder, &mut open),
                None => match open.pop() {
                    Some(OpenContainer::List { layers, .. } | OpenContainer::Map { layers, .. }) => {
                        layers.end_layers(&mut builder)
                    }
                    None => break,
                },
            }
        }
        builder.finish()
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

/// Writes a leaf or an unchanged value; begins a container.
fn write_or_begin(value: &Value, builder: &mut Builder, open: &mut Vec<OpenContainer>) {
    match value {
        Value::Null | Value::Absent(_) => drop(builder.null()),
        Value::Bool(value) => drop(builder.bool(*value)),
        Value::Number(Number::Int(int)) => drop(builder.int(*int)),
        Value::Number(Number::Big(big)) => {
            let (sign, bytes) = big.to_bytes_le();
            builder.big_int(sign == Sign::Minus, &bytes);
        }
        Value::Number(Number::Float(float)) => drop(builder.float(*float)),
        Value::Text(text) => write_text(text, builder),
        Value::Preserved(preserved) => drop(builder.value(preserved.origin.value_cursor())),
        Value::List(list) => match list.origin().filter(|_| !list.is_changed()) {
            Some(origin) => drop(builder.value(origin.value_cursor())),
            None => {
                let layers = ContainerLayers::begin_layers(list.origin(), builder);
                builder.begin_array();
                open.push(OpenContainer::List { list: Rc::clone(list), next: 0, layers });
            }
        },
        Value::Map(map) => match map.origin().filter(|_| !map.is_changed()) {
            Some(origin) => drop(builder.value(origin.value_cursor())),
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
                open.push(OpenContainer::Map { map: Rc::clone(map), next: 0, layers });
            }
        },
    }
}

/// Writes a text. Text that is not UTF-8 becomes bytes, and byte strings of a document stay bytes.
fn write_text(text: &Text, builder: &mut Builder) {
    match std::str::from_utf8(&text.bytes) {
        Ok(characters) if !text.is_bytes => drop(builder.text(characters)),
        _ => drop(builder.bytes(&text.bytes)),
    }
}

fn write_key(key: &Key, builder: &mut Builder) {
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
                builder.key().value(value);
            }
        }
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

    /// Ends the container and the layers around it.
    fn end_layers(self, builder: &mut Builder) {
        if let Some(default) = self.origin.as_ref().and_then(|origin| origin.body_cursor().default_value()) {
            builder.default_value().value(default);
        }
        builder.end();
        let Some(origin) = self.origin else { return };
        let mut indexes = Vec::new();
        visit_layers(&origin, |cursor| indexes.push(cursor.index()));
        for index in indexes.into_iter().rev() {
            let Some(cursor) = origin.source.document.at(index) else { continue };
            if cursor.kind() == Kind::Attrs {
                for (key, value) in cursor.entries() {
                    write_attribute(&key, value, builder);
                }
            }
            builder.end();
        }
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

fn write_attribute(key: &icecore::Key<'_>, value: Cursor<'_>, builder: &mut Builder) {
    match key {
        icecore::Key::Name(name) if name.node.kind == Kind::Symbol => drop(builder.symbol_key(name.bytes, "")),
        icecore::Key::Name(name) => drop(builder.bytes_key(name.bytes)),
        icecore::Key::Value(key) => drop(builder.key().value(*key)),
    }
    builder.value(value);
}
