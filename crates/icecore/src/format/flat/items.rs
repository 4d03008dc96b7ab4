//! The list of items that a document is written as.

use super::{Item, ItemsAs};
use crate::document::{Cursor, Document, Key, Kind, Node, Value, flag};
use crate::error::{Error, ErrorKind};
use crate::format::chain_too_long_error;
use crate::limits::Limits;
use crate::num::{bigint, float128};
use crate::output::{LossKind, Losses};

/// The scalars of a flat document, one after the other.
#[derive(Debug)]
pub(crate) struct Items<'d> {
    document: &'d Document<'d>,
    limits: &'d Limits,
    source: Source<'d>,
    pub(crate) losses: Losses,
}

#[derive(Debug)]
enum Source<'d> {
    /// The children of an array: the next one, and the number of remaining ones.
    Array { index: u32, remaining: usize },
    /// Chosen values.
    Chosen { list: Vec<Chosen<'d>>, next: usize },
}

#[derive(Clone, Copy, Debug)]
enum Chosen<'d> {
    Value(u32),
    /// The key of the value at this index.
    Key(Key<'d>, u32),
}

/// Returns the items of a document. The document must be a list or a map, as `items_as` says.
pub(crate) fn gather_items<'d>(
    document: &'d Document<'d>,
    items_as: &ItemsAs,
    limits: &'d Limits,
) -> Result<Items<'d>, Error> {
    let mut losses = Losses::with_limits(limits);
    if document.header().is_some() {
        losses.add(LossKind::Header, || "$".to_owned());
    }
    let root = follow_links(document.root(), limits, &mut losses)?;
    let source = match (root.kind(), items_as) {
        (Kind::Array, ItemsAs::List) => Source::Array { index: root.index() + 1, remaining: root.len() },
        (Kind::Map, ItemsAs::Map) => flatten_map(root),
        (Kind::Map, ItemsAs::Names(names)) => select_named(root, names)?,
        (Kind::Map, ItemsAs::List) => {
            return Err(not_flat_error(root, "a list", "a map", "`names=…` or `map` write the values of a map"));
        }
        (_, ItemsAs::List) => Source::Chosen { list: vec![Chosen::Value(root.index())], next: 0 },
        (kind, _) => {
            return Err(not_flat_error(root, "a map", kind_name(kind), "without `names` and `map` a list is written"));
        }
    };
    Ok(Items { document, limits, source, losses })
}

fn not_flat_error(place: Cursor<'_>, expected: &'static str, found: &str, help: &'static str) -> Error {
    Error::new(ErrorKind::Unrepresentable)
        .on_path(place.path())
        .expecting(expected)
        .finding(found.to_owned())
        .helping(help)
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Array => "a list",
        Kind::Map => "a map",
        _ => "a scalar",
    }
}

/// Returns keys and values alternately.
fn flatten_map(map: Cursor<'_>) -> Source<'_> {
    let entries = map.entries().filter(|(key, _)| !key.node().has(flag::PLACEHOLDER));
    let list = entries.flat_map(|(key, value)| [Chosen::Key(key, value.index()), Chosen::Value(value.index())]);
    Source::Chosen { list: list.collect(), next: 0 }
}

/// Returns the values of these keys; the map must have no others.
fn select_named<'d>(map: Cursor<'d>, names: &[String]) -> Result<Source<'d>, Error> {
    let mut values: Vec<Option<u32>> = vec![None; names.len()];
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|a, b| names[*a].cmp(&names[*b]));
    for (key, value) in map.entries().filter(|(key, _)| !key.node().has(flag::PLACEHOLDER)) {
        let place = order.binary_search_by(|index| names[*index].as_bytes().cmp(key.bytes()));
        let place = place.ok().filter(|_| key.node().kind.is_string());
        let Some(index) = place.map(|place| order[place]) else {
            let found = format!("`{}`", String::from_utf8_lossy(key.bytes()));
            return Err(not_flat_error(value, "only the keys of `names`", &found, "add the key to `names`"));
        };
        values[index] = Some(value.index());
    }
    let list: Result<Vec<_>, Error> = values
        .iter()
        .zip(names)
        .map(|(value, name)| {
            value.map(Chosen::Value).ok_or_else(|| {
                Error::new(ErrorKind::Unrepresentable)
                    .on_path(map.path())
                    .expecting(format!("the key `{name}`, which is in `names`"))
                    .finding("a map without it")
            })
        })
        .collect();
    Ok(Source::Chosen { list: list?, next: 0 })
}

/// Follows links, references and the like to a value.
fn follow_links<'d>(mut cursor: Cursor<'d>, limits: &Limits, losses: &mut Losses) -> Result<Cursor<'d>, Error> {
    let (first, mut links) = (cursor, false);
    for _ in 0..=cursor.document().max_link_steps(limits) {
        let (lost, inner) = match cursor.value() {
            Value::Link(target) | Value::Alias(target) => (LossKind::Sharing, target),
            Value::Ref(inner) => (LossKind::Reference, inner),
            Value::Object(_, inner) => (LossKind::Class, inner),
            Value::Opaque(_, inner) => (LossKind::Opaque, inner),
            Value::Attrs(inner) => (LossKind::Attributes, inner),
            Value::Regexp(inner, _) => (LossKind::Regexp, inner),
            Value::Code(inner) => (LossKind::Code, inner),
            Value::VString(_, inner) => (LossKind::VString, inner),
            Value::Tied(inner) => (LossKind::Tied, inner),
            _ => return Ok(cursor),
        };
        links |= cursor.kind().is_again();
        losses.add(lost, || first.path());
        cursor = inner;
    }
    Err(chain_too_long_error(cursor.document(), first.index(), links, limits))
}

impl<'d> Items<'d> {
    /// Returns how many are left.
    pub(crate) fn remaining_items(&self) -> usize {
        match &self.source {
            Source::Array { remaining, .. } => *remaining,
            Source::Chosen { list, next } => list.len() - next,
        }
    }

    /// Returns the next item without consuming it. Its losses are counted when it is
    /// taken.
    pub(crate) fn peek(&mut self) -> Result<Option<Item<'d>>, Error> {
        let losses = std::mem::take(&mut self.losses);
        let item = self.read_next();
        self.losses = losses;
        item
    }

    fn read_next(&mut self) -> Result<Option<Item<'d>>, Error> {
        match &self.source {
            _ if self.remaining_items() == 0 => Ok(None),
            Source::Array { index, .. } => self.read_item(*index).map(Some),
            Source::Chosen { list, next } => match list[*next] {
                Chosen::Value(index) => self.read_item(index).map(Some),
                Chosen::Key(key, index) => self.read_key(key, index).map(Some),
            },
        }
    }

    /// Skips the next item.
    pub(crate) fn drop_next(&mut self) {
        match &mut self.source {
            Source::Array { index, remaining } => {
                (*index, *remaining) = (self.document.tape().index_after(*index), remaining.saturating_sub(1))
            }
            Source::Chosen { next, .. } => *next += 1,
        }
    }

    /// Returns the next item and consumes it.
    pub(crate) fn take(&mut self) -> Result<Option<Item<'d>>, Error> {
        let item = self.read_next()?;
        if item.is_some() {
            self.drop_next();
        }
        Ok(item)
    }

    /// Returns up to `count` nodes that are one item each: a run of leaves. The caller
    /// reports with [`Items::skip_leaves`] how many it used.
    pub(crate) fn peek_leaves(&self, count: usize) -> &'d [Node] {
        match self.source {
            Source::Array { index, remaining } => {
                let rest = self.document.nodes().get(index as usize..).unwrap_or(&[]);
                &rest[..rest.len().min(count).min(remaining)]
            }
            Source::Chosen { .. } => &[],
        }
    }

    /// Returns the bytes of a node of a [run](Items::peek_leaves).
    #[inline]
    pub(crate) fn leaf_bytes(&self, node: &Node) -> &'d [u8] {
        self.document.bytes(node)
    }

    /// Skips this many leaves of a [run](Items::peek_leaves).
    pub(crate) fn skip_leaves(&mut self, count: usize) {
        if let Source::Array { index, remaining } = &mut self.source {
            *index = index.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            *remaining = remaining.saturating_sub(count);
        }
    }

    /// Counts a loss for the next item.
    pub(crate) fn record_loss(&mut self, kind: LossKind) {
        let index = self.next_index();
        self.record_loss_at(kind, index);
    }

    /// Counts a loss for the item at this node index.
    pub(crate) fn record_loss_at(&mut self, kind: LossKind, index: u32) {
        let document = self.document;
        self.losses.add(kind, || document.path(index));
    }

    /// Returns the node index of the next item; for a key, that of its value.
    pub(crate) fn next_index(&self) -> u32 {
        match &self.source {
            Source::Array { index, .. } => *index,
            Source::Chosen { list, next } => match list.get(*next) {
                Some(Chosen::Value(index) | Chosen::Key(_, index)) => *index,
                None => self.document.root().index(),
            },
        }
    }

    /// Returns the path of the item at this node index.
    pub(crate) fn path_at(&self, index: u32) -> String {
        self.document.path(index)
    }

    fn read_key(&mut self, key: Key<'d>, value: u32) -> Result<Item<'d>, Error> {
        match key {
            Key::Name(name) => self.read_leaf(name.node, name.bytes, value),
            Key::Value(cursor) => self.read_item(cursor.index()),
        }
    }

    fn read_item(&mut self, index: u32) -> Result<Item<'d>, Error> {
        let node = self.document.node(index);
        // The most common content of lists.
        match node.kind {
            Kind::Int => return Ok(Item::Int(node.payload as i64)),
            Kind::Bytes => return Ok(Item::Bytes(self.document.bytes(&node))),
            _ => {}
        }
        if node.kind.is_container() || node.kind.is_again() {
            let cursor = self.document.at(index).unwrap_or_else(|| self.document.root());
            let inner = follow_links(cursor, self.limits, &mut self.losses)?;
            if inner.node().kind.is_container() {
                let found = kind_name(inner.kind());
                return Err(not_flat_error(cursor, "a scalar", found, "the format has no lists or maps in a list"));
            }
            let node = *inner.node();
            let bytes = if node.kind.has_bytes() { self.document.bytes(&node) } else { &[] };
            return self.read_leaf(node, bytes, index);
        }
        let bytes = if node.kind.has_bytes() { self.document.bytes(&node) } else { &[] };
        self.read_leaf(node, bytes, index)
    }

    fn read_leaf(&mut self, node: Node, bytes: &'d [u8], index: u32) -> Result<Item<'d>, Error> {
        Ok(match node.kind {
            Kind::Int => Item::Int(node.payload as i64),
            Kind::Uint => Item::Uint(node.payload),
            Kind::Bytes => Item::Bytes(bytes),
            Kind::Text => Item::Text(bytes),
            Kind::Float => Item::Float(f64::from_bits(node.payload)),
            Kind::Float32 => Item::Float(f64::from(f32::from_bits(node.payload as u32))),
            Kind::Bool => Item::Bool(node.payload != 0),
            Kind::BigInt if bigint::exceeds(bytes, self.limits.digits) => {
                return Err(self.limits.too_many_digits().on_path(self.document.path(index)));
            }
            Kind::BigInt => Item::Big(node.has(flag::NEGATIVE), bytes),
            Kind::Float128 => {
                let raw = bytes.try_into().unwrap_or([0; 16]);
                if float128::to_f64_exact(&raw).is_none() {
                    self.record_loss_at(LossKind::Precision, index);
                }
                Item::Float(float128::to_f64(&raw))
            }
            Kind::Encoded | Kind::Symbol => {
                self.record_loss_at(
                    if node.kind == Kind::Symbol { LossKind::Symbol } else { LossKind::Encoding },
                    index,
                );
                if node.encoding() == 0 { Item::Text(bytes) } else { Item::Bytes(bytes) }
            }
            Kind::Module | Kind::EnumCase => {
                self.record_loss_at(LossKind::Name, index);
                Item::Text(bytes)
            }
            Kind::Hole => {
                self.record_loss_at(LossKind::Hole, index);
                Item::Null
            }
            _ => Item::Null,
        })
    }
}

impl Items<'_> {
    /// Returns the size of the document, to limit the size of its output.
    pub(crate) fn document_size(&self) -> usize {
        let arena = self.document.tape().arena().len();
        self.document.nodes().len().saturating_add(self.document.input().len()).saturating_add(arena)
    }
}
