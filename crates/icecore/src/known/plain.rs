//! Replaces values of Ruby's own classes where a class map says so: text for a time, a range or a number, an array for
//! a set, a map for a map with another class; and PHP's time objects for Ruby's.

use super::Known;
use super::php_time::{self, PhpTime};
use crate::class_map::ClassMap;
use crate::document::{
    Cursor, Document, GONE, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, Rewrite, Tape, Value, flag, same_node,
};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::losses::{LossKind, Losses};
use std::collections::HashMap;

/// What is done with an old node that is not kept unchanged.
#[derive(Clone, Copy, Debug)]
enum NodeAction {
    /// The node and everything in it are removed.
    Drop,
    /// The node is removed; its content is processed.
    Enter,
    /// The value is replaced by its key, which becomes an item.
    ReplaceByKey,
    /// The node is kept. It gets the key and the target flag of the node with this index; with `None`, it gets neither.
    Keep(Option<u32>),
}

struct PlainRewriter<'d, 'm> {
    document: &'d Document<'d>,
    map: &'m ClassMap,
    limits: &'m Limits,
    tape: Tape,
    rewrite: Rewrite,
    actions: HashMap<u32, NodeAction>,
    losses: Losses,
    /// Whether the target has PHP's classes.
    is_php: bool,
}

/// Returns the document with plain values of the classes that the map makes plain. Its byte form is lost.
///
/// # Errors
/// Of kind `Unrepresentable`, if something refers to an array or an object inside a value that became text.
pub(crate) fn replace_known_values<'d>(
    document: &'d Document<'_>,
    map: &ClassMap,
    limits: &Limits,
    is_php: bool,
) -> Result<(Document<'d>, Losses), Error> {
    let tape = document.tape().clone();
    let rewrite = Rewrite::new(tape.nodes().len());
    let losses = Losses::with_limits(limits);
    let mut walker = PlainRewriter { document, map, limits, tape, rewrite, actions: HashMap::new(), losses, is_php };
    let mut index = 0;
    while index < document.tape().len() {
        walker.rewrite.reach_node(index);
        index = walker.emit_node(index)?;
    }
    walker.finish_document()
}

impl<'d> PlainRewriter<'d, '_> {
    /// Emits the replacement of the node at `index`; returns the next node.
    fn emit_node(&mut self, index: u32) -> Result<u32, Error> {
        let node = self.document.nodes()[index as usize];
        Ok(match self.actions.remove(&index) {
            Some(NodeAction::Drop) => self.drop_value(index),
            Some(NodeAction::Enter) => index + 1,
            Some(NodeAction::ReplaceByKey) => self.emit_key_as_item(index, &node),
            None if node.kind.is_again() => {
                self.emit_link(index, &node)?;
                index + 1
            }
            Some(NodeAction::Keep(like)) => {
                let like = like.map_or(Node::leaf(Kind::Null, 0), |like| self.document.nodes()[like as usize]);
                self.rewrite.keep_node(with_place_of(node, &like));
                index + 1
            }
            None => self.emit_value(index, &node)?,
        })
    }

    /// Emits a value that no action was set for: plainly if the map says so, else unchanged.
    fn emit_value(&mut self, index: u32, node: &Node) -> Result<u32, Error> {
        let cursor = self.document.at(index);
        let class = cursor.map_or(&b""[..], effective_class);
        let known = cursor.filter(|_| self.map.is_plain(class)).and_then(Known::of);
        if self.is_php
            && let Some(new) = self.map.rename(class).filter(|new| php_time::is_time_class(new))
            && let Some(Known::Time(moment) | Known::DateTime(moment)) = cursor.and_then(Known::of)
            && let Some(time) = PhpTime::from_moment(&moment)
        {
            return self.emit_php_time(index, node, &new, &time);
        }
        Ok(match known {
            Some(Known::Set(members)) => self.emit_set_as_array(index, node, members.map().index()),
            Some(Known::Map(map)) => {
                self.keep_only(index, map.index(), NodeAction::Keep(Some(index)));
                index + 1
            }
            Some(known) if let Some(text) = known.text(self.limits) => {
                if let Known::Time(moment) | Known::DateTime(moment) = known
                    && !moment.is_exact()
                {
                    self.losses.add(LossKind::Precision, || self.document.path(index));
                }
                let next = self.drop_value(index);
                self.rewrite.record_move(index);
                let text = with_place_of(self.tape.new_owned_string(Kind::Text, text.as_bytes()), node);
                self.rewrite.push(text);
                next
            }
            _ => {
                self.rewrite.keep_node(*node);
                index + 1
            }
        })
    }

    /// Emits a PHP object that replaces a time.
    fn emit_php_time(&mut self, index: u32, node: &Node, class: &[u8], time: &PhpTime) -> Result<u32, Error> {
        if !time.is_exact {
            self.losses.add(LossKind::Precision, || self.document.path(index));
        }
        let next = self.drop_value(index);
        self.rewrite.record_move(index);
        let class = self.tape.intern_given_class(Kind::Bytes, class)?;
        let object = self.rewrite.push(with_place_of(Node { aux: 1, ..Node::open(Kind::Object, class) }, node));
        let body = self.rewrite.push(Node { aux: 3, ..Node::open(Kind::Map, 0) });
        let date = self.tape.new_owned_string(Kind::Bytes, time.date.as_bytes());
        let zone = self.tape.new_owned_string(Kind::Bytes, time.zone.as_bytes());
        for (name, value) in [("date", date), ("timezone_type", Node::int(time.zone_type)), ("timezone", zone)] {
            match self.tape.intern_key(Node::leaf(Kind::Bytes, 0), name.as_bytes()) {
                Some(key) => self.rewrite.push(Node { key, ..value }),
                None => {
                    let name = self.tape.new_owned_string(Kind::Bytes, name.as_bytes());
                    self.rewrite.push(Node { key: IS_KEY, ..name });
                    self.rewrite.push(Node { key: KEY_NODE, ..value })
                }
            };
        }
        self.rewrite.close_container(body);
        self.rewrite.close_container(object);
        Ok(next)
    }

    /// Keeps only the node at `inner` of the container at `index`, and sets its action.
    fn keep_only(&mut self, index: u32, inner: u32, action: NodeAction) {
        let tape = self.document.tape();
        let mut next = index + 1;
        while next < tape.index_after(index) {
            let end = tape.index_after(next);
            if next == inner {
                self.actions.insert(next, action);
                next = end;
            } else if next < inner && inner < end {
                self.actions.insert(next, NodeAction::Enter);
                next += 1;
            } else {
                self.actions.insert(next, NodeAction::Drop);
                next = end;
            }
        }
    }

    /// Makes the keys of the map at `map` the items of an array that replaces the set.
    fn emit_set_as_array(&mut self, index: u32, node: &Node, map: u32) -> u32 {
        let tape = self.document.tape();
        self.keep_only(index, map, NodeAction::Enter);
        let count = self.document.nodes()[map as usize].aux;
        let mut next = map + 1;
        for _ in 0..count {
            let mut value = next;
            if self.document.nodes()[next as usize].key == IS_KEY {
                value = tape.index_after(next);
                self.actions.insert(next, NodeAction::Keep(None));
                self.actions.insert(value, NodeAction::Drop);
            } else {
                self.actions.insert(next, NodeAction::ReplaceByKey);
            }
            next = tape.index_after(value);
        }
        // Removes the default value of the map.
        while next < tape.index_after(map) {
            self.actions.insert(next, NodeAction::Drop);
            next = tape.index_after(next);
        }
        let array = Node { aux: count, ..Node::open(Kind::Array, 0) };
        let array = self.rewrite.open_container(with_place_of(array, node), tape.index_after(index));
        self.rewrite.record_position(array);
        index + 1
    }

    /// Replaces the value at `index` by its key.
    fn emit_key_as_item(&mut self, index: u32, node: &Node) -> u32 {
        let next = self.drop_value(index);
        let key = self.document.tape().keys().get(u32::from(node.key)).filter(|_| node.key != KEY_NODE);
        let key = key.map(|name| (name.node, name.bytes.to_vec()));
        let item = match key {
            Some((key, bytes)) if key.kind.has_bytes() => self.tape.new_owned_string(key.kind, &bytes),
            Some((key, _)) => Node { key: NO_KEY, flags: 0, ..key },
            None => Node::leaf(Kind::Null, 0),
        };
        self.rewrite.push(item);
        next
    }

    /// Removes a value with everything in it; returns the node after it.
    fn drop_value(&mut self, index: u32) -> u32 {
        let next = self.document.tape().index_after(index);
        self.rewrite.remove_node(next);
        next
    }

    /// Emits a link. A link to a removed leaf becomes a copy of that leaf.
    fn emit_link(&mut self, index: u32, link: &Node) -> Result<(), Error> {
        let old = u32::try_from(link.payload)
            .ok()
            .filter(|old| self.rewrite.moves().new_position(*old) == GONE && *old < index);
        match old.map(|old| self.document.nodes()[old as usize]) {
            None => self.rewrite.keep_node(*link),
            Some(leaf) if !leaf.kind.is_container() && !leaf.kind.is_again() => {
                self.rewrite.push(Node { key: link.key, flags: 0, ..leaf })
            }
            Some(_) => return Err(self.removed_target_error(index)),
        };
        Ok(())
    }

    fn removed_target_error(&self, index: u32) -> Error {
        Error::new(ErrorKind::Unrepresentable)
            .finding("a link into a value that the class map makes plain")
            .on_path(self.document.path(index))
    }

    fn finish_document(mut self) -> Result<(Document<'d>, Losses), Error> {
        self.rewrite.relink_targets(self.document.tape().len(), same_node);
        let is_lost = |node: &Node| node.kind.is_again() && node.payload == u64::from(GONE);
        if self.rewrite.nodes.iter().any(is_lost) {
            return Err(self.removed_target_error(0));
        }
        self.rewrite.finish(&mut self.tape);
        let mut document = Document::from_tape(self.document.input(), self.tape);
        document.set_metadata(self.document.metadata().to_vec());
        Ok((document, self.losses))
    }
}

/// Returns the class of a value; if it only has attributes, the class of the inner value.
fn effective_class(value: Cursor<'_>) -> &[u8] {
    match value.value() {
        Value::Attrs(inner) if value.class().is_empty() => inner.class(),
        _ => value.class(),
    }
}

/// Returns the node with the key and the target flag of another node.
fn with_place_of(node: Node, like: &Node) -> Node {
    Node { key: like.key, flags: node.flags & !flag::TARGET | like.flags & flag::TARGET, ..node }
}
