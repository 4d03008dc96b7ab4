//! Values in the form that a format has for them.

use crate::document::{Builder, Cursor, Document, Kind, NO_KEY, Name, Naming, Node, Step, Value, flag, lookup_names};
use crate::error::Error;
use crate::format::Request;
use crate::limits::Limits;
use crate::losses::{LossKind, Losses};
use crate::stage::Stage;
use std::collections::HashSet;

/// A value, with its key if it becomes an entry, as a program would find it in a document of the format.
#[derive(Debug)]
pub(super) struct NativeEntry {
    document: Document<'static>,
    index: u32,
    losses: Losses,
    /// Number of places in addition to the first.
    further_places: u64,
}

impl NativeEntry {
    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor::new(&self.document, self.index)
    }

    /// Adds a loss at a path of the document that is altered.
    pub(super) fn add_loss(&mut self, kind: LossKind, path: &str) {
        self.losses.add(kind, || path.to_owned());
    }

    /// Counts one more place of the value: what the format can't store of it is lost there as well.
    pub(super) fn count_further_place(&mut self) {
        self.further_places += 1;
    }

    /// Takes the losses of the value in all of its places.
    pub(super) fn take_losses(&mut self) -> Losses {
        let mut losses = std::mem::take(&mut self.losses);
        let once: Vec<_> = losses.iter().map(|loss| (loss.kind, loss.count)).collect();
        for (kind, count) in once {
            losses.add_occurrences(kind, count.saturating_mul(self.further_places));
        }
        losses
    }

    pub(super) fn document(&self) -> &Document<'static> {
        &self.document
    }

    /// Returns the step to the value in its document; `None` if it is the root.
    pub(super) fn step_to_value(&self) -> Option<Step> {
        let root = self.document.root();
        match root.kind() {
            _ if self.index == root.index() => None,
            Kind::Array => Some(Step::Item(0)),
            _ => Some(Step::Entry(0)),
        }
    }

    /// Returns `true` if the value has few nodes, no links, and no keys that look alike.
    pub(super) fn is_simple(&self) -> bool {
        let (document, root) = (&self.document, self.document.root());
        let is_place = self.index == root.index() || matches!(root.kind(), Kind::Array | Kind::Map);
        let is_plain = |node: &Node| !node.kind.is_again() && !node.has(flag::TARGET);
        if !is_place
            || document.header().is_some()
            || document.nodes().len() > MAX_SIMPLE_NODES
            || !document.nodes().iter().all(is_plain)
        {
            return false;
        }
        (0..document.tape().len()).map(|index| Cursor::new(document, index)).all(|map| {
            let mut distinct = HashSet::new();
            let mut names = map.entries().flat_map(|(key, _)| lookup_names(key.bytes()));
            names.all(|(_, name)| distinct.insert(name))
        })
    }

    /// Replaces the document of the entry after a change in it.
    pub(super) fn replace_document(&mut self, document: Document<'static>) {
        let root = document.root().index();
        self.index = if self.step_to_value().is_none() { root } else { first_child(&document) };
        self.document = document;
    }

    pub(super) fn has_losses(&self) -> bool {
        !self.losses.is_empty()
    }

    /// Returns the map that contains nothing but this entry.
    pub(super) fn to_container_entry(&self) -> NativeEntry {
        let index = self.document.root().index();
        NativeEntry {
            document: self.document.clone(),
            index,
            losses: self.losses.clone(),
            further_places: self.further_places,
        }
    }
}

/// Maximum number of nodes in the document of an entry that is changed again before it is put in its place.
const MAX_SIMPLE_NODES: usize = 64;

/// What a key should look like.
pub(super) struct KeyTemplate<'k> {
    pub(super) kind: Kind,
    pub(super) encoding: String,
    pub(super) bytes: &'k [u8],
}

impl<'k> KeyTemplate<'k> {
    /// Returns the properties of a key of a document, with other bytes.
    pub(super) fn from_key(document: &Document<'_>, key: &Name<'_>, bytes: &'k [u8]) -> KeyTemplate<'k> {
        let name = document.tape().encodings().get(u32::from(key.node.encoding()));
        let has_encoding = matches!(key.node.kind, Kind::Encoded | Kind::Symbol);
        let encoding = name.filter(|_| has_encoding).map(|name| String::from_utf8_lossy(name.bytes).into_owned());
        KeyTemplate { kind: key.node.kind, encoding: encoding.unwrap_or_default(), bytes }
    }

    fn push_key(&self, builder: &mut Builder) {
        match (self.kind, std::str::from_utf8(self.bytes)) {
            (Kind::Symbol, _) => drop(builder.symbol_key(self.bytes, &self.encoding)),
            (Kind::Encoded, _) => drop(builder.key().encoded(self.bytes, &self.encoding)),
            (Kind::Int, Ok(text)) if text.parse::<i64>().is_ok() => {
                builder.int_key(text.parse().unwrap_or_default());
            }
            (Kind::Bytes, _) => drop(builder.bytes_key(self.bytes)),
            (_, Ok(text)) => drop(builder.text_key(text)),
            (_, Err(_)) => drop(builder.bytes_key(self.bytes)),
        }
    }
}

/// The container in which the format writes a value.
#[derive(Clone, Copy, PartialEq)]
enum ValueContainer {
    List,
    Map,
}

/// Returns the value and its key after the format wrote and read them. A value that the format stores only in a form of
/// its own stays unchanged; writing the whole document reports what is wrong with it.
pub(super) fn make_native_entry(
    value: Cursor<'_>,
    key: Option<&KeyTemplate<'_>>,
    place: impl Fn() -> String,
    stage: &Stage,
    limits: &Limits,
) -> Result<NativeEntry, Error> {
    let text = KeyTemplate { kind: Kind::Text, encoding: String::new(), bytes: b"k" };
    let containers =
        if key.is_some() { &[ValueContainer::Map][..] } else { &[ValueContainer::List, ValueContainer::Map] };
    for container in containers {
        let document = build_container(*container, value, key.unwrap_or(&text))?;
        let mut bytes = Vec::new();
        let Ok(losses) = stage.format().write(&document, stage.settings(), limits, &mut bytes) else { continue };
        let outcome = stage.format().read(&bytes, stage.settings(), Request::new(limits));
        if outcome.error.is_some() || outcome.consumed < bytes.len() {
            continue;
        }
        let losses = move_losses(&losses, &document, &place);
        let document = outcome.document.into_owned();
        let body = document.root().body();
        let Some(child) = body.children().next().filter(|_| body.len() == 1) else { continue };
        let index = child.index();
        if let Some(key) = key.filter(|_| child.node().key == NO_KEY) {
            // It was read as a list, because the key is 0.
            let document = build_container(ValueContainer::Map, child, key)?;
            return Ok(NativeEntry { index: first_child(&document), document, losses, further_places: 0 });
        }
        return Ok(NativeEntry { document, index, losses, further_places: 0 });
    }
    let container = if key.is_some() { ValueContainer::Map } else { ValueContainer::List };
    let document = build_container(container, value, key.unwrap_or(&text))?;
    Ok(NativeEntry { index: first_child(&document), document, losses: Losses::default(), further_places: 0 })
}

/// Returns the first child of the root.
fn first_child(document: &Document<'_>) -> u32 {
    document.root().children().next().map_or(0, |child| child.index())
}

/// Returns the value with strings of the kinds that a program of this language would write, and of the kind of the
/// value that it replaces: for Perl, an ASCII string is not text unless the old one was; and bytes that are UTF-8 are
/// replaced by bytes, because the program expects them. A value of the same language stays unchanged.
pub(super) fn match_string_kinds(
    value: &Document<'static>,
    old: Option<Cursor<'_>>,
    naming: Naming,
) -> Document<'static> {
    let is_ascii = |node: &Node| node.kind == Kind::Text && value.bytes(node).is_ascii();
    let root = value.root().index();
    let is_utf8_bytes = |old: Cursor<'_>| matches!(old.value(), Value::Bytes(bytes) if !bytes.is_ascii() && str::from_utf8(bytes).is_ok());
    let has_utf8_bytes = old.is_some_and(|old| is_utf8_bytes(old.target()));
    let old = old.map(|old| old.target().node().kind).filter(|kind| kind.is_string());
    let mut new = value.clone();
    if value.tape().naming == naming {
        return new;
    }
    for index in 0..new.tape().len() {
        let node = new.tape().node(index);
        let is_bytes = match old.filter(|_| index == root) {
            Some(kind) => kind == Kind::Bytes,
            None => naming == Naming::Perl,
        };
        let is_utf8_text = || index == root && has_utf8_bytes && node.kind == Kind::Text;
        if is_bytes && (is_ascii(&node) || is_utf8_text()) {
            new.tape_mut().replace_node(index, Node { kind: Kind::Bytes, ..node });
        }
    }
    new
}

fn build_container(
    container: ValueContainer,
    value: Cursor<'_>,
    key: &KeyTemplate<'_>,
) -> Result<Document<'static>, Error> {
    let mut builder = Builder::like(value.document());
    match container {
        ValueContainer::List => builder.begin_array(),
        ValueContainer::Map => builder.begin_map(),
    };
    if container == ValueContainer::Map {
        key.push_key(&mut builder);
    }
    builder.value(value).end();
    builder.finish()
}

/// Returns the losses of the first value in a document, with paths at its destination.
fn move_losses(losses: &Losses, document: &Document<'_>, place: &dyn Fn() -> String) -> Losses {
    let mut moved = Losses::default();
    if losses.is_empty() {
        return moved;
    }
    let paths = document.tape().paths_to(&[first_child(document)], document.input());
    let old_place = paths.first().map_or("", String::as_str);
    for loss in losses.iter() {
        // A loss of the container itself is also reported at the destination.
        let rest = loss.path.strip_prefix(old_place).unwrap_or_default();
        moved.add(loss.kind, || [&place(), rest].concat());
        moved.add_occurrences(loss.kind, loss.count.saturating_sub(1));
    }
    moved
}
