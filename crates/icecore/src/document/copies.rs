//! Expands copies. An original may store equal values once, although programs do not share them. Here such a value is
//! put in each of its places.

use super::Document;
use super::node::{Kind, Node, flag};
use super::rewrite::{GONE, Rewrite, same_node};
use super::tape::Tape;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use std::borrow::Cow;
use std::collections::HashMap;

/// The flags that belong to the place of a copy and not to the value.
const PLACE_FLAGS: u8 = flag::REF | flag::WEAK | flag::OVERLOAD;

impl Document<'_> {
    /// Returns the same document without [`Kind::Copy`]: each copy becomes the value that it equals, for languages that
    /// have only sharing and no copies. Borrows the document if it has no copies.
    ///
    /// Shared parts of a copied value stay shared: objects, and variables that an alias names. PHP does the same when
    /// it copies an array before a write.
    ///
    /// ```
    /// use icecore::{Kind, Limits};
    /// // What igbinary writes for `[[], []]`: the second is array 1 once more.
    /// let document = icecore::read(b"\0\0\0\x02\x14\x02\x06\x00\x14\x01\x06\x00\x04\x06\x01\x01\x01")?;
    /// assert_eq!(document.nodes()[3].kind, Kind::Copy);
    /// let plain = document.without_copies(&Limits::default())?;
    /// assert_eq!(plain.nodes()[3].kind, Kind::Array);
    /// assert!(*plain == document);
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of kind `Limit`, if copies of copies make more values than
    /// [`Limits::expansion`] allows, or nest them too deeply.
    pub fn without_copies(&self, limits: &Limits) -> Result<Cow<'_, Document<'_>>, Error> {
        self.expand_selected(limits, CopySelection::All)
    }

    /// Returns the same document without copies of arrays and maps, which occur in PHP. Copies of single values, which
    /// occur in Ruby, stay.
    pub(crate) fn without_array_copies(&self, limits: &Limits) -> Result<Cow<'_, Document<'_>>, Error> {
        self.expand_selected(limits, CopySelection::Arrays)
    }

    /// Returns the same document with copies of arrays and maps only, as in igbinary.
    pub(crate) fn with_array_copies(&self, limits: &Limits) -> Result<Cow<'_, Document<'_>>, Error> {
        self.expand_selected(limits, CopySelection::Others)
    }

    /// Returns the same document for languages without attributes. A link to a value with attributes becomes a link
    /// to the value itself. Borrows the document if it has no such links.
    pub(crate) fn without_links_to_attributes(&self) -> Cow<'_, Document<'_>> {
        let old = self.nodes();
        if !old.iter().any(|node| node.kind == Kind::Attrs && node.has(flag::TARGET)) {
            return Cow::Borrowed(self);
        }
        let mut inner: Vec<u32> = (0..self.tape().len()).collect();
        for index in (0..old.len().saturating_sub(1)).rev().filter(|index| old[*index].kind == Kind::Attrs) {
            inner[index] = inner[index + 1];
        }
        let mut nodes = old.to_vec();
        for (index, node) in old.iter().enumerate().filter(|(_, node)| node.kind.is_again()) {
            let named = inner.get(node.payload as usize).copied().unwrap_or(0);
            if named != node.payload as u32 && self.tape().node(named).kind.is_container() {
                nodes[index].payload = u64::from(named);
                nodes[named as usize].flags |= flag::TARGET;
            }
        }
        let (root, header) = (self.tape().root(), self.tape().header());
        Cow::Owned(Document::new(self.input(), self.tape().with_nodes(nodes, root, header, self.tape().has_copies())))
    }

    fn expand_selected(&self, limits: &Limits, selection: CopySelection) -> Result<Cow<'_, Document<'_>>, Error> {
        let is_meant = |node: &Node| node.kind == Kind::Copy && selection.selects_copy(self.nodes(), node);
        if !self.tape().has_copies() || !self.nodes().iter().any(is_meant) {
            return Ok(Cow::Borrowed(self));
        }
        let tape = Expansion::new(self.tape(), limits, selection).expand_document();
        let tape = tape.map_err(|(error, index)| error.on_path(self.path(index)))?;
        Ok(Cow::Owned(Document::new(self.input(), tape)))
    }
}

/// Which copies are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopySelection {
    All,
    /// Copies of arrays and maps.
    Arrays,
    /// Copies of anything else.
    Others,
}

impl CopySelection {
    fn selects_copy(self, nodes: &[Node], copy: &Node) -> bool {
        let is_array =
            || matches!(nodes.get(copy.payload as usize).map(|node| node.kind), Some(Kind::Array | Kind::Map));
        match self {
            CopySelection::All => true,
            CopySelection::Arrays => is_array(),
            CopySelection::Others => !is_array(),
        }
    }
}

impl Tape {
    /// Returns `true` if the node at `index` contains anything that would be shared with a copy of it.
    pub(crate) fn has_shared_content(&self, index: u32) -> bool {
        let (start, end) = (index as usize + 1, self.index_after(index) as usize);
        self.nodes().get(start..end).is_some_and(|inside| inside.iter().any(|node| has_identity(node.kind)))
    }

    /// [`Document::without_copies`], in place.
    pub(crate) fn expand_copies(&mut self, input: &[u8], limits: &Limits) -> Result<(), Error> {
        if self.has_copies() {
            *self = match Expansion::new(self, limits, CopySelection::All).expand_document() {
                Ok(tape) => tape,
                Err((error, index)) => return Err(error.on_path(self.path_to(index, input))),
            };
        }
        Ok(())
    }
}

/// Nodes of the old tape that are not on the new tape yet.
struct PendingNodes {
    next: u32,
    end: u32,
    /// The container that ends with them.
    container: Option<u32>,
    /// Whether they belong to a copy, and were put on the new tape before.
    is_copy: bool,
}

struct Expansion<'t> {
    old: &'t Tape,
    limits: &'t Limits,
    selection: CopySelection,
    rewrite: Rewrite,
    /// Nodes that links and aliases name, with the kind of the link.
    shared: HashMap<u32, Kind>,
    pending: Vec<PendingNodes>,
    /// Number of nodes that copies may still add.
    remaining: u64,
}

impl<'t> Expansion<'t> {
    fn new(old: &'t Tape, limits: &'t Limits, selection: CopySelection) -> Expansion<'t> {
        let mut shared = HashMap::new();
        for node in old.nodes() {
            match node.kind {
                Kind::Alias => {
                    shared.insert(node.payload as u32, Kind::Alias);
                }
                Kind::Link => {
                    shared.entry(node.payload as u32).or_insert(Kind::Link);
                }
                _ => {}
            }
        }
        let count = old.nodes().len();
        Expansion {
            old,
            limits,
            selection,
            rewrite: Rewrite::new_unordered(count),
            shared,
            pending: Vec::new(),
            remaining: limits.expanded_from(count),
        }
    }

    /// Returns the new tape; or the error and the node where it occurred.
    fn expand_document(mut self) -> Result<Tape, (Error, u32)> {
        self.pending.push(PendingNodes { next: 0, end: self.old.len(), container: None, is_copy: false });
        while let Some(part) = self.pending.last_mut() {
            if part.next >= part.end {
                if let Some(container) = self.pending.pop().and_then(|part| part.container) {
                    self.rewrite.close_container(container);
                }
                continue;
            }
            let (index, is_copy) = (part.next, part.is_copy);
            part.next = self.old.index_after(index);
            self.put_node(index, is_copy).map_err(|error| (error, index))?;
        }
        self.rewrite.relink_targets(0, same_node);
        let place = |old: u32| Some(self.rewrite.moves().new_position(old)).filter(|new| *new != GONE).unwrap_or(0);
        let (root, header) = (place(self.old.root()), self.old.header().map(place));
        Ok(self.old.with_nodes(self.rewrite.nodes, root, header, self.selection != CopySelection::All))
    }

    /// Puts a value or a key on the tape. Of a container only its own node is put, and its content follows later.
    fn put_node(&mut self, first: u32, is_copy: bool) -> Result<(), Error> {
        let node = self.old.node(first);
        let Some(named) = self.copy_target(first) else {
            return match self.shared.get(&first) {
                Some(kind) if is_copy => self.put_link(*kind, node, first),
                _ if is_copy && has_identity(node.kind) => self.put_link(Kind::Link, node, first),
                _ => self.put_value(node, first, is_copy),
            };
        };
        self.rewrite.record_move(first);
        let value = Node { key: node.key, ..self.old.node(named) }.with(node.flags & PLACE_FLAGS);
        self.put_value(value, named, true)
    }

    /// Returns the value that a copy at `index` equals.
    fn copy_target(&self, index: u32) -> Option<u32> {
        let mut named = index;
        // Readers do not make copies of copies, or copies in a cycle. A caller that fills a tape may, so the loop
        // must end.
        while self.old.node(named).kind == Kind::Copy
            && self.selection.selects_copy(self.old.nodes(), &self.old.node(named))
        {
            let next = u32::try_from(self.old.node(named).payload).ok().filter(|next| *next < named)?;
            named = next;
        }
        (named != index && self.old.index_after(named) <= index).then_some(named)
    }

    /// Puts the value at `old` on the tape, as `node`.
    fn put_value(&mut self, mut node: Node, old: u32, is_copy: bool) -> Result<(), Error> {
        if is_copy {
            self.remaining = self.remaining.checked_sub(1).ok_or_else(|| self.expansion_error())?;
        } else {
            self.rewrite.record_move(old);
        }
        self.rewrite.check_limits(self.limits, if node.kind.is_container() { self.pending.len() } else { 0 })?;
        node.flags &= !flag::TARGET;
        match node.kind {
            // A caller made a copy of the container that the copy is in. It can't be expanded, so it becomes a link.
            Kind::Copy if self.selection.selects_copy(self.old.nodes(), &node) => {
                return self.put_link(Kind::Link, node, old);
            }
            kind if kind.is_again() => {
                self.rewrite.push_old_link(node);
                return Ok(());
            }
            kind if kind.is_container() => {
                node.set_end(0);
                let container = Some(self.rewrite.len());
                self.pending.push(PendingNodes { next: old + 1, end: self.old.index_after(old), container, is_copy });
            }
            _ => {}
        }
        self.rewrite.push(node);
        Ok(())
    }

    /// Puts a link or an alias to the value at `old` on the tape.
    fn put_link(&mut self, kind: Kind, node: Node, old: u32) -> Result<(), Error> {
        let named = if node.kind.is_again() { node.payload } else { u64::from(old) };
        self.remaining = self.remaining.checked_sub(1).ok_or_else(|| self.expansion_error())?;
        self.rewrite.push_old_link(Node { key: node.key, ..Node::leaf(kind, named) }.with(node.flags & PLACE_FLAGS));
        Ok(())
    }

    #[cold]
    fn expansion_error(&self) -> Error {
        Error::new(ErrorKind::Limit)
            .expecting(format!("at most {} values from copies", self.limits.expanded_from(self.old.nodes().len())))
            .finding("more of them")
            .helping("raise the limit `expansion` if the input is trusted")
    }
}

/// Returns `true` if a value of this kind inside a copy is the same as the value that was copied, and not just equal to
/// it.
fn has_identity(kind: Kind) -> bool {
    matches!(kind, Kind::Object | Kind::Opaque | Kind::Ref | Kind::Tied)
}
