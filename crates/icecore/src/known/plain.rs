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
enum Action {
    /// The node and everything in it are removed.
    Drop,
    /// The node is removed; its content is processed.
    Enter,
    /// The key replaces the whole value.
    Key,
    /// It is kept with the key and the flags of this node, or without any.
    Keep(Option<u32>),
}

struct Walker<'d, 'm> {
    document: &'d Document<'d>,
    map: &'m ClassMap,
    limits: &'m Limits,
    tape: Tape,
    rewrite: Rewrite,
    actions: HashMap<u32, Action>,
    losses: Losses,
    /// Whether the target has PHP's classes.
    is_php: bool,
}

/// Returns the document with plain values where the map wants them. Its byte form is lost.
///
/// # Errors
/// Of kind `Unrepresentable`, if something refers to an array or an object inside a value that became text.
pub(crate) fn plain<'d>(
    document: &'d Document<'_>,
    map: &ClassMap,
    limits: &Limits,
    is_php: bool,
) -> Result<(Document<'d>, Losses), Error> {
    let tape = document.tape().clone();
    let rewrite = Rewrite::new(tape.nodes().len());
    let losses = Losses::within(limits);
    let mut walker = Walker { document, map, limits, tape, rewrite, actions: HashMap::new(), losses, is_php };
    let mut at = 0;
    while at < document.tape().len() {
        walker.rewrite.reach(at);
        at = walker.node(at)?;
    }
    walker.finish()
}

impl<'d> Walker<'d, '_> {
    /// Emits the replacement of the node at `at`; returns the next node.
    fn node(&mut self, at: u32) -> Result<u32, Error> {
        let node = self.document.nodes()[at as usize];
        Ok(match self.actions.remove(&at) {
            Some(Action::Drop) => self.drop(at),
            Some(Action::Enter) => at + 1,
            Some(Action::Key) => self.key(at, &node),
            None if node.kind.is_again() => {
                self.link(at, &node)?;
                at + 1
            }
            Some(Action::Keep(like)) => {
                let like = like.map_or(Node::leaf(Kind::Null, 0), |like| self.document.nodes()[like as usize]);
                self.rewrite.keep(dressed(node, &like));
                at + 1
            }
            None => self.value(at, &node)?,
        })
    }

    fn value(&mut self, at: u32, node: &Node) -> Result<u32, Error> {
        let here = self.document.at(at);
        let class = here.map_or(&b""[..], class_of);
        let known = here.filter(|_| self.map.is_plain(class)).and_then(Known::of);
        if self.is_php
            && let Some(new) = self.map.rename(class).filter(|new| php_time::is_class(new))
            && let Some(Known::Time(moment) | Known::DateTime(moment)) = here.and_then(Known::of)
            && let Some(time) = PhpTime::of(&moment)
        {
            return self.php_time(at, node, &new, &time);
        }
        Ok(match known {
            Some(Known::Set(members)) => self.set(at, node, members.map().index()),
            Some(Known::Map(map)) => {
                self.only(at, map.index(), Action::Keep(Some(at)));
                at + 1
            }
            Some(known) if let Some(text) = known.text(self.limits) => {
                if let Known::Time(moment) | Known::DateTime(moment) = known
                    && !moment.is_exact()
                {
                    self.losses.add(LossKind::Precision, || self.document.path(at));
                }
                let next = self.drop(at);
                self.rewrite.moved(at);
                let text = dressed(self.tape.owned(Kind::Text, text.as_bytes()), node);
                self.rewrite.push(text);
                next
            }
            _ => {
                self.rewrite.keep(*node);
                at + 1
            }
        })
    }

    /// Emits a PHP object that replaces a time.
    fn php_time(&mut self, at: u32, node: &Node, class: &[u8], time: &PhpTime) -> Result<u32, Error> {
        if !time.is_exact {
            self.losses.add(LossKind::Precision, || self.document.path(at));
        }
        let next = self.drop(at);
        self.rewrite.moved(at);
        let class = self.tape.intern_given_class(Kind::Bytes, class)?;
        let object = self.rewrite.push(dressed(Node { aux: 1, ..Node::open(Kind::Object, class) }, node));
        let body = self.rewrite.push(Node { aux: 3, ..Node::open(Kind::Map, 0) });
        let date = self.tape.owned(Kind::Bytes, time.date.as_bytes());
        let zone = self.tape.owned(Kind::Bytes, time.zone.as_bytes());
        for (name, value) in [("date", date), ("timezone_type", Node::int(time.zone_type)), ("timezone", zone)] {
            match self.tape.intern_key(Node::leaf(Kind::Bytes, 0), name.as_bytes()) {
                Some(key) => self.rewrite.push(Node { key, ..value }),
                None => {
                    let name = self.tape.owned(Kind::Bytes, name.as_bytes());
                    self.rewrite.push(Node { key: IS_KEY, ..name });
                    self.rewrite.push(Node { key: KEY_NODE, ..value })
                }
            };
        }
        self.rewrite.close(body);
        self.rewrite.close(object);
        Ok(next)
    }

    /// Keeps only the node at `inner` of the container at `at`, and sets its action.
    fn only(&mut self, at: u32, inner: u32, action: Action) {
        let tape = self.document.tape();
        let mut next = at + 1;
        while next < tape.next(at) {
            let end = tape.next(next);
            if next == inner {
                self.actions.insert(next, action);
                next = end;
            } else if next < inner && inner < end {
                self.actions.insert(next, Action::Enter);
                next += 1;
            } else {
                self.actions.insert(next, Action::Drop);
                next = end;
            }
        }
    }

    /// Makes the keys of the map at `map` the items of an array that replaces the set.
    fn set(&mut self, at: u32, node: &Node, map: u32) -> u32 {
        let tape = self.document.tape();
        self.only(at, map, Action::Enter);
        let count = self.document.nodes()[map as usize].aux;
        let mut next = map + 1;
        for _ in 0..count {
            let mut value = next;
            if self.document.nodes()[next as usize].key == IS_KEY {
                value = tape.next(next);
                self.actions.insert(next, Action::Keep(None));
                self.actions.insert(value, Action::Drop);
            } else {
                self.actions.insert(next, Action::Key);
            }
            next = tape.next(value);
        }
        // Removes the default value of the map.
        while next < tape.next(map) {
            self.actions.insert(next, Action::Drop);
            next = tape.next(next);
        }
        let array = Node { aux: count, ..Node::open(Kind::Array, 0) };
        let array = self.rewrite.open(dressed(array, node), tape.next(at));
        self.rewrite.place(array);
        at + 1
    }

    /// Replaces the value at `at` by its key.
    fn key(&mut self, at: u32, node: &Node) -> u32 {
        let next = self.drop(at);
        let key = self.document.tape().keys().get(u32::from(node.key)).filter(|_| node.key != KEY_NODE);
        let key = key.map(|name| (name.node, name.bytes.to_vec()));
        let item = match key {
            Some((key, bytes)) if key.kind.has_bytes() => self.tape.owned(key.kind, &bytes),
            Some((key, _)) => Node { key: NO_KEY, flags: 0, ..key },
            None => Node::leaf(Kind::Null, 0),
        };
        self.rewrite.push(item);
        next
    }

    fn drop(&mut self, at: u32) -> u32 {
        let next = self.document.tape().next(at);
        self.rewrite.remove(next);
        next
    }

    /// A link to a removed leaf becomes a copy of that leaf.
    fn link(&mut self, at: u32, link: &Node) -> Result<(), Error> {
        let old = u32::try_from(link.payload).ok().filter(|old| self.rewrite.moves().node(*old) == GONE && *old < at);
        match old.map(|old| self.document.nodes()[old as usize]) {
            None => self.rewrite.keep(*link),
            Some(leaf) if !leaf.kind.is_container() && !leaf.kind.is_again() => {
                self.rewrite.push(Node { key: link.key, flags: 0, ..leaf })
            }
            Some(_) => return Err(self.named_elsewhere(at)),
        };
        Ok(())
    }

    fn named_elsewhere(&self, at: u32) -> Error {
        Error::new(ErrorKind::Unrepresentable)
            .finding("a link into a value that the class map makes plain")
            .on_path(self.document.path(at))
    }

    fn finish(mut self) -> Result<(Document<'d>, Losses), Error> {
        self.rewrite.relink(self.document.tape().len(), same_node);
        let is_lost = |node: &Node| node.kind.is_again() && node.payload == u64::from(GONE);
        if self.rewrite.nodes.iter().any(is_lost) {
            return Err(self.named_elsewhere(0));
        }
        self.rewrite.finish(&mut self.tape);
        let mut document = Document::from_tape(self.document.input(), self.tape);
        document.set_metadata(self.document.metadata().to_vec());
        Ok((document, self.losses))
    }
}

/// Returns the class of a value; if it only has attributes, the class of the inner value.
fn class_of(value: Cursor<'_>) -> &[u8] {
    match value.value() {
        Value::Attrs(inner) if value.class().is_empty() => inner.class(),
        _ => value.class(),
    }
}

/// Returns the node with the key and the target flag of another node.
fn dressed(node: Node, like: &Node) -> Node {
    Node { key: like.key, flags: node.flags & !flag::TARGET | like.flags & flag::TARGET, ..node }
}
