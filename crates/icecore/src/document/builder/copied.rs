//! Values of other documents in a document that is built.

use super::Builder;
use crate::document::node::{IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use crate::document::{Cursor, Document};
use std::collections::HashMap;

/// A container that is being copied: where it stands, where its original ends, what is next in
/// the original, and how many items it has.
struct Open {
    at: u32,
    next: u32,
    end: u32,
    count: u32,
    original: u32,
}

/// A walk over a value of another document.
struct Copying<'d> {
    from: &'d Document<'d>,
    /// Where nodes that links name stand in the new document.
    places: HashMap<u32, u32>,
    open: Vec<Open>,
}

impl<'d> Copying<'d> {
    fn of(from: &'d Document<'d>) -> Copying<'d> {
        Copying { from, places: HashMap::new(), open: Vec::new() }
    }
}

/// What is put into a copy. It is asked with nodes of the original.
pub(in crate::document) trait Insert {
    /// A document whose root comes in the place of this node.
    fn instead(&self, node: u32) -> Option<&Document<'static>>;

    /// Whether this leaf is not copied.
    fn leaves_out(&self, node: u32) -> bool;

    /// Adds to this container, all of which is copied; says then how many items it has.
    fn behind(&self, builder: &mut Builder, node: u32) -> Option<u32>;
}

struct Nothing;

impl Insert for Nothing {
    fn instead(&self, _: u32) -> Option<&Document<'static>> {
        None
    }

    fn leaves_out(&self, _: u32) -> bool {
        false
    }

    fn behind(&self, _: &mut Builder, _: u32) -> Option<u32> {
        None
    }
}

impl Builder {
    /// An empty builder for values of this document: names of classes and members are those of
    /// its language.
    ///
    /// ```
    /// let document = icecore::read(b"O:4:\"Time\":1:{s:1:\"a\";i:1;}")?;
    /// let mut b = icecore::Builder::like(&document);
    /// b.value(document.root());
    /// assert_eq!(icecore::write(&b.finish()?, "php")?, b"O:4:\"Time\":1:{s:1:\"a\";i:1;}");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn like(document: &Document<'_>) -> Builder {
        let mut builder = Builder::default();
        builder.tape.naming = document.tape.naming;
        builder
    }

    /// A value of another document, with all that is in it. Links stay links; what they name
    /// outside of it is put in the place of the first.
    ///
    /// ```
    /// let document = icecore::read(b"a:2:{i:0;a:1:{i:0;i:7;}i:1;R:2;}")?;
    /// let mut b = icecore::Builder::new();
    /// b.begin_array().value(document.root().item(1).unwrap()).end();
    /// assert_eq!(icecore::write(&b.finish()?, "json")?, b"[[7]]");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn value(&mut self, value: Cursor<'_>) -> &mut Builder {
        self.value_with(value, &mut Nothing)
    }

    /// The same, with what is put in on the way.
    pub(in crate::document) fn value_with(&mut self, value: Cursor<'_>, more: &mut dyn Insert) -> &mut Builder {
        if let Some(other) = more.instead(value.index()) {
            return self.value_with(other.root(), &mut Nothing);
        }
        let mut copying = Copying::of(value.document());
        self.copied(&mut copying, value.index(), None);
        self.copy_open(&mut copying, more);
        self
    }

    /// Adds a node of another document, with what is in it and with its key if it is an entry,
    /// to the container that was begun last.
    pub(in crate::document) fn add(&mut self, from: &Document<'_>, at: u32) {
        let key = self.copied_key(from, from.node(at).key);
        self.add_as(from, at, key);
    }

    fn add_as(&mut self, from: &Document<'_>, at: u32, key: u16) {
        let mut copying = Copying::of(from);
        self.copied(&mut copying, at, Some(key));
        self.copy_open(&mut copying, &mut Nothing);
    }

    fn copy_open(&mut self, copying: &mut Copying<'_>, more: &mut dyn Insert) {
        while let Some(top) = copying.open.last_mut() {
            if top.next >= top.end {
                let (at, count, original) = (top.at, top.count, top.original);
                let count = more.behind(self, original).unwrap_or(count);
                self.tape.close(at, count);
                copying.open.pop();
                continue;
            }
            let at = top.next;
            top.next = copying.from.tape.next(at);
            let key = copying.from.node(at).key;
            // A document may break off between a value and its key, whichever is first.
            let has_no_key = key == NO_KEY && copying.from.node(top.original).kind == Kind::Map;
            let has_no_value = key == IS_KEY && (top.next >= top.end || copying.from.node(top.next).key != KEY_NODE);
            if has_no_key || has_no_value || more.leaves_out(at) {
                continue;
            }
            let key = self.copied_key(copying.from, key);
            match more.instead(at) {
                Some(other) => self.add_as(other, 0, key),
                None => self.copied(copying, at, Some(key)),
            }
        }
    }

    /// Copies a node, and what a link names in its place where that is not there yet.
    fn copied(&mut self, copying: &mut Copying<'_>, at: u32, key: Option<u16>) {
        let from = copying.from;
        let node = from.node(at);
        let mut here = at;
        // What a link names is no link; a longer chain is not a document.
        for _ in 0..4 {
            if !from.node(here).kind.is_again() {
                break;
            }
            here = from.node(here).payload as u32;
        }
        let mut new = match copying.places.get(&here) {
            Some(place) if from.node(here).kind.is_again() || here != at || node.has(flag::TARGET) => {
                let kind = if node.kind.is_again() { node.kind } else { Kind::Link };
                match kind {
                    Kind::Copy => self.tape.mark_copied(*place),
                    _ => self.tape.mark_target(*place),
                }
                Node::leaf(kind, u64::from(*place)).with(node.flags & flag::WEAK)
            }
            _ => self.copied_node(from, &from.node(here)),
        };
        let is_again = new.kind.is_again();
        let place = match key {
            // The first node stands where any value of the builder would.
            None => self.place(new),
            Some(key) => {
                new.key = key;
                self.tape.push(new)
            }
        };
        if is_again {
            return;
        }
        if here != at || from.node(here).has(flag::TARGET) {
            copying.places.insert(here, place);
        }
        if new.kind.is_container() {
            let original = from.node(here);
            copying.open.push(Open {
                at: place,
                next: here + 1,
                end: from.tape.next(here),
                count: original.aux,
                original: here,
            });
        }
    }

    /// The key of an entry here; a node of its own is put in front where there are too many.
    fn copied_key(&mut self, from: &Document<'_>, key: u16) -> u16 {
        if matches!(key, NO_KEY | IS_KEY | KEY_NODE) {
            return key;
        }
        let Some(name) = from.tape.keys.get(u32::from(key)) else { return NO_KEY };
        let mut node = name.node;
        self.copied_encoding(from, &name.node, &mut node);
        match self.tape.intern_key(node, name.bytes) {
            Some(id) => id,
            None => {
                let mut key = if node.kind.has_bytes() { self.tape.owned(node.kind, name.bytes) } else { node };
                key.key = IS_KEY;
                key.flags = node.flags;
                self.copied_encoding(from, &name.node, &mut key);
                self.tape.push(key);
                KEY_NODE
            }
        }
    }

    fn copied_encoding(&mut self, from: &Document<'_>, node: &Node, new: &mut Node) {
        if !matches!(node.kind, Kind::Encoded | Kind::Symbol) || node.encoding() == 0 {
            return;
        }
        let name = from.tape.encodings.get(u32::from(node.encoding())).map_or(&[][..], |name| name.bytes);
        match self.tape.intern_encoding(name) {
            Ok(id) => new.set_encoding(id),
            Err(_) => self.mistake = self.mistake.or(Some("too many encodings")),
        }
    }

    /// A node of another document, without key and children.
    fn copied_node(&mut self, from: &Document<'_>, node: &Node) -> Node {
        let flags = node.flags & !flag::TARGET;
        if node.kind.is_container() {
            let mut class = 0;
            if node.kind.has_class()
                && let Some(name) = from.class(node.class())
            {
                match self.tape.intern_class_node(name.node, name.bytes) {
                    Ok(id) => class = id,
                    Err(_) => self.mistake = self.mistake.or(Some("too many classes")),
                }
            }
            return Node::open(node.kind, class).in_form(node.form()).with(flags);
        }
        if node.kind.has_bytes() {
            let mut new = self.tape.owned(node.kind, from.bytes(node)).with(flags);
            if node.kind == Kind::Module {
                new = new.in_form(node.form());
            }
            self.copied_encoding(from, node, &mut new);
            return new;
        }
        Node { key: NO_KEY, ..*node }
    }
}
