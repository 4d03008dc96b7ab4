//! A value of a document as a separate document.
//!
//! Strings stay in the input that both documents borrow. A node outside of the value that links name replaces the first
//! link to it. Each node is taken once, so the work is linear in the number of nodes that the value reaches.

use super::node::{IS_KEY, KEY_NODE, Kind, Location, NO_KEY, Node, flag};
use super::{Cursor, Document, Tape};
use crate::error::Error;
use std::collections::HashMap;

/// The flags that belong to the place of a value and not to the value.
const PLACE_FLAGS: u8 = flag::REF | flag::WEAK | flag::OVERLOAD;

/// Maps nodes of the whole document to nodes of the part.
struct PartExtraction<'d> {
    document: &'d Document<'d>,
    tape: Tape,
    /// The range of nodes that is taken.
    root: u32,
    end: u32,
    new_positions: HashMap<u32, u32>,
    keys: HashMap<u16, Option<u16>>,
    classes: HashMap<u32, u32>,
    encodings: HashMap<u16, u16>,
    /// Links in the part to nodes that are taken later.
    links: Vec<(u32, u32)>,
    open: Vec<OpenSiblings>,
}

/// Sibling nodes that are being taken.
struct OpenSiblings {
    next: u32,
    end: u32,
    /// The container of these nodes in the part.
    container: Option<u32>,
}

impl Document<'_> {
    /// Returns the value at this node index as a separate document, as a program would see it that has nothing else:
    /// the part includes what the value refers to. It has no spelling.
    ///
    /// ```
    /// let document = icecore::read(br#"a:2:{s:1:"a";O:1:"P":0:{}s:1:"b";a:1:{i:0;r:2;}}"#)?;
    /// let list = document.find("$.b")?;
    /// let part = document.part(list.index())?;
    /// assert_eq!(icecore::write(&part, "php")?, br#"a:1:{i:0;O:1:"P":0:{}}"#);
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of kind `Limit`, if there are too many names for a tape.
    pub fn part(&self, index: u32) -> Result<Document<'_>, Error> {
        let root = Cursor::new(self, index);
        let mut tape = Tape::new();
        tape.naming = self.tape.naming;
        let mut taking = PartExtraction {
            document: self,
            tape,
            root: index,
            end: root.index_after(),
            new_positions: HashMap::new(),
            keys: HashMap::new(),
            classes: HashMap::new(),
            encodings: HashMap::new(),
            links: Vec::new(),
            open: Vec::new(),
        };
        taking.extract_part()?;
        Ok(Document::new(self.input(), taking.tape))
    }
}

impl Tape {
    /// Clears flags that describe how the root was reached in the whole document.
    pub(crate) fn clear_place(&mut self) {
        let root = self.root as usize;
        if let Some(root) = self.nodes.get_mut(root) {
            root.flags &= !PLACE_FLAGS;
        }
    }
}

impl PartExtraction<'_> {
    fn extract_part(&mut self) -> Result<(), Error> {
        let mut node = self.document.node(self.root);
        node.key = NO_KEY;
        node.flags &= !PLACE_FLAGS;
        self.take_node(self.root, node, NO_KEY)?;
        while let Some(open) = self.open.last_mut() {
            if open.next >= open.end {
                if let Some(container) = open.container {
                    let end = self.tape.len();
                    self.tape.nodes[container as usize].set_end(end);
                }
                self.open.pop();
                continue;
            }
            let index = open.next;
            open.next = self.document.tape.index_after(index);
            let node = self.document.node(index);
            let key = self.translate_key(node.key)?;
            self.take_node(index, node, key)?;
        }
        for (link, named) in std::mem::take(&mut self.links) {
            // At this point, all of the value has been taken.
            let target = self.new_positions.get(&named).copied().unwrap_or(0);
            self.tape.mark_target(target);
            self.tape.nodes[link as usize].payload = u64::from(target);
        }
        Ok(())
    }

    /// Takes the node at `index`; for a container only its own node.
    fn take_node(&mut self, index: u32, node: Node, key: u16) -> Result<(), Error> {
        if let Some(position) = self.new_positions.get(&index).copied() {
            // A link already brought it here.
            let link_node = Node { key, ..Node::leaf(Kind::Link, 0) }.with(node.flags & PLACE_FLAGS);
            self.put_link(link_node, position);
            return Ok(());
        }
        if node.kind.is_again() {
            return self.take_link(index, node, key);
        }
        let new_index = self.tape.len();
        self.new_positions.insert(index, new_index);
        let mut new = self.relocate_node(&node)?;
        new.key = key;
        new.flags &= !flag::TARGET;
        if node.kind.is_container() {
            new.set_end(0);
            if node.class() != 0 {
                let class = self.translate_class(node.class())?;
                new.set_class(class);
            }
            self.open.push(OpenSiblings {
                next: index + 1,
                end: self.document.tape.index_after(index),
                container: Some(new_index),
            });
        }
        self.tape.push(new);
        Ok(())
    }

    /// Takes a link, or its target if that is not in the part and will not be.
    fn take_link(&mut self, index: u32, node: Node, key: u16) -> Result<(), Error> {
        let new_index = self.tape.len();
        let mut link_node = Node { key, payload: 0, ..node };
        let mut target = u32::try_from(node.payload).unwrap_or(index);
        // A link may name another link, but chains have a limit.
        for _ in 0..64 {
            if let Some(position) = self.new_positions.get(&target).copied() {
                self.new_positions.insert(index, new_index);
                self.put_link(link_node, position);
                return Ok(());
            }
            let named = self.document.node(target);
            let comes_later = (self.root..self.end).contains(&target) && node.kind != Kind::Copy;
            if comes_later {
                break;
            }
            if !named.kind.is_again() {
                self.new_positions.insert(index, new_index);
                let flags = named.flags & !PLACE_FLAGS | link_node.flags & PLACE_FLAGS;
                return self.take_node(target, Node { flags, ..named }, key);
            }
            link_node.flags |= named.flags & PLACE_FLAGS;
            target = u32::try_from(named.payload).unwrap_or(target);
        }
        self.new_positions.insert(index, new_index);
        let link = self.tape.push(Node { flags: link_node.flags & !flag::TARGET, ..link_node });
        self.links.push((link, target));
        Ok(())
    }

    /// Puts a link to a node that was already taken.
    fn put_link(&mut self, node: Node, position: u32) {
        let target = self.tape.node(position);
        // A copy needs a complete target.
        let kind = match node.kind {
            Kind::Copy if target.kind.is_container() && target.end() == 0 => Kind::Link,
            kind => kind,
        };
        let flags = node.flags & !flag::TARGET;
        self.tape.push(Node { kind, flags, payload: u64::from(position), ..node });
        match kind {
            Kind::Copy => self.tape.mark_copied(position),
            _ => self.tape.mark_target(position),
        }
    }

    /// Returns the node with its bytes at their location in the part.
    fn relocate_node(&mut self, node: &Node) -> Result<Node, Error> {
        if !node.kind.has_bytes() {
            return Ok(*node);
        }
        let bytes = self.document.bytes(node);
        let is_long = node.aux == super::node::LONG_STRING;
        let location = match is_long {
            true => {
                self.document.tape.long_strings.get(node.long_index()).map_or(Location::Arena(0), |long| long.location)
            }
            false => node.location(),
        };
        let mut new = match location {
            Location::Input(_) => self.tape.new_string_at(node.kind, location, bytes.len()),
            Location::Arena(_) => self.tape.new_owned_string(node.kind, bytes),
        };
        new.flags = node.flags;
        if node.kind == Kind::Module {
            return Ok(new.in_form(node.form()));
        }
        if !is_long {
            let encoding = self.translate_encoding(node.encoding())?;
            new.set_encoding(encoding);
        }
        Ok(new)
    }

    /// Returns the id in the part of a key of the document. A key that can't have an id is put before its value.
    fn translate_key(&mut self, id: u16) -> Result<u16, Error> {
        if matches!(id, NO_KEY | KEY_NODE | IS_KEY) {
            return Ok(id);
        }
        let document = self.document;
        let Some(name) = document.tape.keys.get(u32::from(id)) else { return Ok(NO_KEY) };
        let known = match self.keys.get(&id) {
            Some(known) => *known,
            None => {
                let mut key = name.node;
                key.key = NO_KEY;
                if key.kind.has_bytes() {
                    let encoding = self.translate_encoding(key.encoding())?;
                    key = Node::leaf(key.kind, 0).with(key.flags);
                    key.set_encoding(encoding);
                }
                let new = self.tape.intern_key(key, name.bytes);
                self.keys.insert(id, new);
                new
            }
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let mut key_node = match name.node.kind.has_bytes() {
            true => self.tape.new_owned_string(name.node.kind, name.bytes),
            false => name.node,
        };
        key_node.flags = name.node.flags;
        if name.node.kind.has_bytes() {
            let encoding = self.translate_encoding(name.node.encoding())?;
            key_node.set_encoding(encoding);
        }
        key_node.key = IS_KEY;
        self.tape.push(key_node);
        Ok(KEY_NODE)
    }

    fn translate_class(&mut self, id: u32) -> Result<u32, Error> {
        if let Some(known) = self.classes.get(&id) {
            return Ok(*known);
        }
        let document = self.document;
        let Some(name) = document.class_name(id) else { return Ok(0) };
        let new = self.tape.intern_class(name.node.kind, name.bytes)?;
        self.classes.insert(id, new);
        Ok(new)
    }

    fn translate_encoding(&mut self, id: u16) -> Result<u16, Error> {
        if id == 0 {
            return Ok(0);
        }
        if let Some(known) = self.encodings.get(&id) {
            return Ok(*known);
        }
        let document = self.document;
        let Some(name) = document.tape.encodings.get(u32::from(id)) else { return Ok(0) };
        let new = self.tape.intern_encoding(name.bytes)?;
        self.encodings.insert(id, new);
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use crate::document::{Builder, Document};

    /// Returns a map that contains a list that refers to the map, and one more entry.
    fn build_circle() -> Document<'static> {
        let mut b = Builder::new();
        let top = b.begin_map().at();
        b.text_key("beside").begin_array();
        b.text("x").end();
        b.text_key("list").begin_array();
        b.int(1).link(top).end();
        b.end();
        b.finish().unwrap()
    }

    #[test]
    fn values_outside_of_a_part_are_copied_once() {
        let document = build_circle();
        let list = document.find("$.list").unwrap();
        let part = document.part(list.index()).unwrap();
        // The list, 1, the map, its list `beside`, and the list again.
        assert_eq!(part.find("$[1].beside[0]").unwrap().as_str(), Some("x"));
        assert_eq!(part.find("$[1].list").unwrap().target().index(), 0);
        part.tape().check_structure().unwrap();
    }

    #[test]
    fn the_whole_is_a_part() {
        for seed in 0..200 {
            let document = build_circle();
            let index = seed % document.nodes().len() as u32;
            let part = document.part(index).unwrap();
            assert!(part.nodes().len() <= document.nodes().len() + 1);
        }
        let document = build_circle();
        assert!(document.part(0).unwrap() == document);
    }
}
