//! Copying of values from other documents into a document that is built.

use super::Builder;
use crate::document::node::{IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use crate::document::{Cursor, Document};
use crate::error::Error;
use std::collections::{HashMap, HashSet};

/// Differences between a copy and the document that is copied, by the nodes of that document.
#[derive(Debug, Default)]
pub(crate) struct Changes<'c> {
    /// Values of other documents that replace these nodes.
    pub(crate) replaced: HashMap<u32, Cursor<'c>>,
    /// Items, and values of entries, that are left out.
    pub(crate) removed: HashSet<u32>,
    /// Values that are added after all others in a container.
    pub(crate) added: HashMap<u32, Vec<Cursor<'c>>>,
    /// Values whose keys are those of these entries of other documents.
    pub(crate) keys: HashMap<u32, Cursor<'c>>,
    /// The number of items or entries in containers that break off.
    pub(crate) cut: HashMap<u32, u32>,
}

/// The values of a document that [`Builder::value_with_links`] copied.
#[derive(Debug, Default)]
pub struct CopiedValues {
    /// New positions of nodes that links name.
    new_positions: HashMap<u32, u32>,
    /// Positions of values that replaced variables with several names.
    variables: HashMap<u32, u32>,
}

impl CopiedValues {
    /// Returns true if the value at this index of the source was copied, and links name it.
    pub fn has_target(&self, index: u32) -> bool {
        self.new_positions.contains_key(&index)
    }
}

/// A container that is being copied.
struct CopiedContainer {
    /// Its node in the copy.
    copy_index: u32,
    /// Its node in the source.
    source_index: u32,
    /// The next child in the source.
    next: u32,
    /// The end of its children in the source.
    end: u32,
    /// Its number of items or entries in the copy.
    count: u32,
}

/// A walk over a value of another document.
struct ValueCopier<'d> {
    source: &'d Document<'d>,
    changes: Option<&'d Changes<'d>>,
    copied: CopiedValues,
    open: Vec<CopiedContainer>,
    /// Pairs of nodes: index in the source, index in the copy; filled only if wanted.
    node_pairs: Vec<(u32, u32)>,
}

impl<'d> ValueCopier<'d> {
    fn new(source: &'d Document<'d>, changes: Option<&'d Changes<'d>>) -> ValueCopier<'d> {
        ValueCopier { source, changes, copied: CopiedValues::default(), open: Vec::new(), node_pairs: Vec::new() }
    }

    /// Returns the replacement of the node at `index`, and the variable that it sets: assigning to an alias assigns
    /// to the variable that it names.
    fn find_replacement(&self, index: u32, named: u32) -> Option<(u32, Cursor<'d>)> {
        let replaced = &self.changes?.replaced;
        let variable = if self.source.node(index).kind == Kind::Alias { named } else { index };
        replaced.get(&index).or_else(|| replaced.get(&variable)).map(|value| (variable, *value))
    }

    fn is_gone(&self, index: u32) -> bool {
        self.changes.is_some_and(|changes| changes.removed.contains(&index))
    }

    fn renamed_key(&self, index: u32) -> Option<Cursor<'d>> {
        self.changes?.keys.get(&index).copied()
    }

    fn cut_position(&self, container: u32) -> Option<u32> {
        self.changes?.cut.get(&container).copied()
    }

    fn added_values(&self, container: u32) -> &'d [Cursor<'d>] {
        self.changes.and_then(|changes| changes.added.get(&container)).map_or(&[], Vec::as_slice)
    }
}

/// The flags that belong to the place of a value and not to the value.
const PLACE_FLAGS: u8 = flag::REF | flag::WEAK | flag::OVERLOAD;

impl Builder {
    /// Returns an empty builder for values of this document: names of classes and members are those of its language.
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

    /// Appends a value of another document with everything in it. Links stay links; a value outside of it that links
    /// name takes the place of the first such link.
    ///
    /// ```
    /// let document = icecore::read(b"a:2:{i:0;a:1:{i:0;i:7;}i:1;R:2;}")?;
    /// let mut b = icecore::Builder::new();
    /// b.begin_array().value(document.root().item(1).unwrap()).end();
    /// assert_eq!(icecore::write(&b.finish()?, "json")?, b"[[7]]");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn value(&mut self, value: Cursor<'_>) -> &mut Builder {
        self.copy_value(&mut ValueCopier::new(value.document(), None), value.index(), None);
        self
    }

    /// Appends a value like [`value`](Builder::value). A value that an earlier call appended is not written again where
    /// the document has links to it: the new place becomes a link. `copied` belongs to one document and this builder.
    ///
    /// ```
    /// use icecore::value::CopiedValues;
    /// let document = icecore::read(b"a:2:{i:0;O:1:\"P\":0:{}i:1;r:2;}")?;
    /// let mut b = icecore::Builder::like(&document);
    /// let mut copied = CopiedValues::default();
    /// b.begin_array();
    /// for item in document.root().items() {
    ///     b.value_with_links(item, &mut copied);
    /// }
    /// b.int(7).end();
    /// assert_eq!(icecore::write(&b.finish()?, "php")?, b"a:3:{i:0;O:1:\"P\":0:{}i:1;r:2;i:2;i:7;}");
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn value_with_links(&mut self, value: Cursor<'_>, copied: &mut CopiedValues) -> &mut Builder {
        let mut copier = ValueCopier::new(value.document(), None);
        copier.copied = std::mem::take(copied);
        self.copy_value(&mut copier, value.index(), None);
        *copied = copier.copied;
        self
    }

    /// Returns a copy of a document with changes, and pairs of nodes: index in `source`, index in the copy. If the
    /// target of a link is deleted, its value takes the place of the first link to it.
    pub(crate) fn copy_with_changes(
        source: &Document<'_>,
        changes: &Changes<'_>,
    ) -> Result<(Document<'static>, Vec<(u32, u32)>), Error> {
        let mut builder = Builder::like(source);
        let mut copier = ValueCopier::new(source, Some(changes));
        if let Some(header) = source.header() {
            builder.copy_value(&mut copier, header.index(), None);
            builder.end_header();
        }
        builder.copy_value(&mut copier, source.root().index(), None);
        Ok((builder.finish()?, copier.node_pairs))
    }

    /// Copies a value with everything in it.
    fn copy_value<'d>(&mut self, copier: &mut ValueCopier<'d>, index: u32, key: Option<u16>) {
        let (source, outer) = (copier.source, copier.open.len());
        self.copy_node(copier, index, key);
        while copier.open.len() > outer {
            let Some(top) = copier.open.last() else { break };
            let (index, container, is_end) = (top.next, top.source_index, top.next >= top.end);
            // A default value follows all entries.
            let is_default = !is_end && source.node(container).kind == Kind::Map && source.node(index).key == NO_KEY;
            if is_end || is_default {
                let added = copier.added_values(container);
                let is_first = match copier.cut_position(container) {
                    Some(_) => is_end,
                    None => is_default || !source.node(container).has(flag::DEFAULT),
                };
                for value in added.iter().filter(|_| is_first) {
                    let key = self.translate_entry_key(*value);
                    self.copy_value(&mut ValueCopier::new(value.document(), None), value.index(), Some(key));
                }
                if let Some(top) = copier.open.last_mut().filter(|_| is_first) {
                    top.count += added.len() as u32;
                }
            }
            let Some(top) = copier.open.last_mut() else { break };
            if is_end {
                self.tape.close_container(top.copy_index, top.count);
                copier.open.pop();
                continue;
            }
            top.next = source.tape.index_after(index);
            let node = source.node(index);
            // A key node before a deleted value is deleted with it.
            let value = if node.key == IS_KEY { top.next } else { index };
            if copier.is_gone(value) {
                if value == index
                    && let Some(top) = copier.open.last_mut()
                {
                    top.count = top.count.saturating_sub(1);
                }
                continue;
            }
            let key = match copier.renamed_key(value) {
                Some(_) if value != index => continue,
                Some(entry) => self.translate_entry_key(entry),
                None => self.translate_key(source, node.key),
            };
            self.copy_node(copier, index, Some(key));
        }
    }

    /// Returns the key of an entry of another document.
    fn translate_entry_key(&mut self, entry: Cursor<'_>) -> u16 {
        let (document, index) = (entry.document(), entry.index());
        let key = document.node(index).key;
        if key == KEY_NODE {
            self.copy_value(&mut ValueCopier::new(document, None), index.saturating_sub(1), Some(IS_KEY));
        }
        self.translate_key(document, key)
    }

    /// Copies a node; a link whose target is not copied yet is replaced by the target's value. The key is one of this
    /// document.
    fn copy_node<'d>(&mut self, copier: &mut ValueCopier<'d>, index: u32, key: Option<u16>) {
        let source = copier.source;
        let mut node = source.node(index);
        let mut named = if node.kind.is_again() { node.payload as u32 } else { index };
        let variable = named;
        // A variable that contains a reference is a link itself. If the variable is gone, this link replaces it.
        let is_variable = node.kind == Kind::Alias && source.node(named).kind.is_again();
        if is_variable
            && !copier.copied.new_positions.contains_key(&named)
            && copier.find_replacement(index, named).is_none()
        {
            node = source.node(named);
            named = node.payload as u32;
        }
        let mut resolved = index;
        // The target of a link is not a link; a document has no longer chains.
        for _ in 0..4 {
            if !source.node(resolved).kind.is_again() {
                break;
            }
            resolved = source.node(resolved).payload as u32;
        }
        let replaced = copier.find_replacement(index, named);
        let known = match (&replaced, node.kind) {
            (Some((variable, _)), _) => copier.copied.variables.get(variable),
            (None, Kind::Alias) => {
                copier.copied.variables.get(&named).or_else(|| copier.copied.new_positions.get(&named))
            }
            (None, _) => None,
        };
        let known =
            known.or_else(|| if replaced.is_some() { None } else { copier.copied.new_positions.get(&resolved) });
        let mut new = match known {
            Some(copy_index)
                if source.node(resolved).kind.is_again() || resolved != index || node.has(flag::TARGET) =>
            {
                let kind = match node.kind {
                    _ if replaced.is_some() => Kind::Alias,
                    kind if kind.is_again() => kind,
                    _ => Kind::Link,
                };
                match kind {
                    Kind::Copy => self.tape.mark_copied(*copy_index),
                    _ => self.tape.mark_target(*copy_index),
                }
                Node::leaf(kind, u64::from(*copy_index)).with(node.flags & PLACE_FLAGS)
            }
            _ => match replaced {
                Some((variable, value)) => {
                    let copy_index = self.tape.len();
                    copier.copied.variables.insert(variable, copy_index);
                    self.copy_value(&mut ValueCopier::new(value.document(), None), value.index(), key);
                    return;
                }
                None if resolved != index => {
                    let named = self.translate_node(source, &source.node(resolved));
                    Node { flags: named.flags & !PLACE_FLAGS | node.flags & PLACE_FLAGS, ..named }
                }
                None => self.translate_node(source, &node),
            },
        };
        let is_again = new.kind.is_again();
        let copy_index = match key {
            // The first node goes where the builder would put any value.
            None => self.push_value(new),
            Some(key) => {
                new.key = key;
                self.tape.push(new)
            }
        };
        if copier.changes.is_some() {
            copier.node_pairs.push((if is_again { index } else { resolved }, copy_index));
        }
        if is_again {
            if source.node(variable).kind.is_again() || node.has(flag::TARGET) {
                let variable = if is_variable { variable } else { index };
                copier.copied.new_positions.entry(variable).or_insert(copy_index);
            }
            return;
        }
        if resolved != index || source.node(resolved).has(flag::TARGET) {
            copier.copied.new_positions.insert(resolved, copy_index);
        }
        if new.kind.is_container() {
            let (next, end) = (resolved + 1, source.tape.index_after(resolved));
            let count = copier.cut_position(resolved).unwrap_or(source.node(resolved).aux);
            copier.open.push(CopiedContainer { copy_index, source_index: resolved, next, end, count });
        }
    }

    /// Returns the key of an entry in this document; if there are too many keys, a node for the key is put in front.
    fn translate_key(&mut self, source: &Document<'_>, key: u16) -> u16 {
        if matches!(key, NO_KEY | IS_KEY | KEY_NODE) {
            return key;
        }
        let Some(name) = source.tape.keys.get(u32::from(key)) else { return NO_KEY };
        let mut node = name.node;
        self.translate_encoding(source, &name.node, &mut node);
        match self.tape.intern_key(node, name.bytes) {
            Some(id) => id,
            None => {
                let mut key =
                    if node.kind.has_bytes() { self.tape.new_owned_string(node.kind, name.bytes) } else { node };
                key.key = IS_KEY;
                key.flags = node.flags;
                self.translate_encoding(source, &name.node, &mut key);
                self.tape.push(key);
                KEY_NODE
            }
        }
    }

    fn translate_encoding(&mut self, source: &Document<'_>, node: &Node, new: &mut Node) {
        if !matches!(node.kind, Kind::Encoded | Kind::Symbol) || node.encoding() == 0 {
            return;
        }
        let name = source.tape.encodings.get(u32::from(node.encoding())).map_or(&[][..], |name| name.bytes);
        match self.tape.intern_encoding(name) {
            Ok(id) => new.set_encoding(id),
            Err(_) => self.mistake = self.mistake.or(Some("too many encodings")),
        }
    }

    /// Copies a node of another document, without its key and children.
    fn translate_node(&mut self, source: &Document<'_>, node: &Node) -> Node {
        let flags = node.flags & !flag::TARGET;
        if node.kind.is_container() {
            let mut class = 0;
            if node.kind.has_class()
                && let Some(name) = source.class_name(node.class())
            {
                match self.tape.intern_class_node(name.node, name.bytes) {
                    Ok(id) => class = id,
                    Err(_) => self.mistake = self.mistake.or(Some("too many classes")),
                }
            }
            return Node::open(node.kind, class).in_form(node.form()).with(flags);
        }
        if node.kind.has_bytes() {
            let mut new = self.tape.new_owned_string(node.kind, source.bytes(node)).with(flags);
            if node.kind == Kind::Module {
                new = new.in_form(node.form());
            }
            self.translate_encoding(source, node, &mut new);
            return new;
        }
        Node { key: NO_KEY, ..*node }
    }
}
