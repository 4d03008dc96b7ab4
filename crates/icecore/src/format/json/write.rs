//! Writes plain JSON, and counts losses.

mod fast;
pub(super) mod fast_record;
mod key;
mod known;
mod leaf;
mod memory;
mod perl;
mod repeated;
mod sorted;

use super::emitter::{CharEncoding, Emitter};
use super::keys::{KeyHandling, Keys, OpenMap};
use super::options::{Cycles, Floats, WriteOptions};
use super::style::TextStyle;
use crate::document::{Document, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::output::{LossKind, Losses, Output, Written};
use known::{EntryNames, KnownOutcome};
pub(crate) use memory::WriterMemory;
use repeated::RepeatedValues;
use std::collections::HashMap;

/// What is written, and how it is arranged.
pub(super) struct WriteJob<'d> {
    /// The document.
    pub(super) document: &'d Document<'d>,
    /// The document with the names that were read, before the class map changed them. They show which values belong to
    /// a language's own classes.
    pub(super) document_as_read: &'d Document<'d>,
    /// The items to write, if the root is an array.
    pub(super) window: Window,
    pub(super) layout: Layout,
}

/// How documents are arranged in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// One document.
    One,
    /// Each item of an array, or the single document, ends with a line feed.
    Lines,
}

/// Which items of an array are written: see [`DocumentPart::Items`](crate::DocumentPart::Items).
#[derive(Clone, Copy, Default)]
pub(super) struct Window {
    /// Number of items that were written before.
    pub(super) before: u64,
    /// Number of items at the start of the array that are skipped.
    pub(super) skip: u64,
    /// Whether more items are written later, so that the array stays open.
    pub(super) has_more: bool,
}

/// Writes a document, or some items of one that is an array, as plain JSON.
pub(super) fn write_document(
    job: &WriteJob<'_>,
    options: &WriteOptions,
    limits: &Limits,
    memory: &mut WriterMemory,
    out: &mut dyn Output,
) -> Written {
    let WriteJob { document, document_as_read, window, layout } = *job;
    memory.prepare_next_document();
    memory.is_used = true;
    let WriterMemory { keys, buffer, open, .. } = memory;
    let style = TextStyle::from_options(options);
    let emitter = Emitter::with_buffer(std::mem::take(buffer), out, document.nodes().len(), style);
    let mut writer = Writer {
        document,
        document_as_read,
        nodes: document.nodes(),
        options,
        limits,
        emitter,
        losses: Losses::with_limits(limits),
        keys,
        open,
        depth: 0,
        current_map: OpenMap::default(),
        repeated: RepeatedValues::new(limits.expanded_from(document.nodes().len())),
        order: sorted::Order::default(),
        has_rendered_all: false,
        plain_maps: !options.sort_keys && style.is_dense(),
        number_texts: if options.floats == Floats::Shortest {
            leaf::collect_number_texts(document)
        } else {
            HashMap::new()
        },
        class: None,
        stays_open: window.has_more,
    };
    if document.header().is_some() {
        writer.losses.add(LossKind::Header, || "$".to_owned());
    }
    match document.nodes().get(document.root().index() as usize) {
        Some(root) if root.kind == Kind::Array && (window.before > 0 || window.skip > 0 || layout == Layout::Lines) => {
            writer.resume_root(document.root().index(), window, layout);
        }
        Some(_) => writer.write_value(document.root().index())?,
        None => writer.emitter.write_word("null"),
    }
    writer.write_open_containers()?;
    let is_lines_of_array = layout == Layout::Lines && document.root().kind() == Kind::Array;
    if (style.breaks_lines || layout == Layout::Lines && !is_lines_of_array) && !window.has_more {
        writer.emitter.write_byte(b'\n');
    }
    writer.emitter.flush()?;
    for (kind, times) in writer.keys.counted_losses() {
        writer.losses.add_occurrences(kind, times);
    }
    let Writer { losses, emitter, .. } = writer;
    *buffer = emitter.into_buffer();
    Ok(losses)
}

/// An open container, and where to continue in it.
#[derive(Clone, Copy, Debug)]
struct WriteFrame {
    kind: FrameKind,
    /// Whether nothing was written in it yet.
    is_empty: bool,
    /// The next child; for a sorted map, the next entry in its order.
    next: u32,
    /// Where the children end; for [`FrameKind::Target`], the node.
    end: u32,
    /// The map around this container. It is [`Writer::current_map`] again when this container is closed.
    enclosing_map: OpenMap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    Array,
    /// The items of the root, each on its own line.
    Lines,
    Map,
    SortedMap,
    /// The members of a set: the keys of a map.
    Set,
    /// An object whose body is not a map, written in braces: only the closing brace is
    /// left.
    Brace,
    /// The payload after the class, in the form `("Class")[…]`: Perl's method FREEZE returned it.
    Tagged,
    /// A target of links that is being written. It has no bracket. While it is open, a link to this node is a cycle.
    Target,
}

struct Writer<'d, 'o, 'm> {
    document: &'d Document<'d>,
    /// The document with the names that were read, before the class map changed them.
    document_as_read: &'d Document<'d>,
    nodes: &'d [Node],
    options: &'d WriteOptions,
    limits: &'d Limits,
    emitter: Emitter<'o>,
    losses: Losses,
    keys: &'m mut Keys,
    open: &'m mut Vec<WriteFrame>,
    /// Number of brackets that are open.
    depth: usize,
    /// The innermost open map.
    current_map: OpenMap,
    repeated: RepeatedValues,
    order: sorted::Order,
    /// Whether all keys with an id are rendered.
    has_rendered_all: bool,
    /// Whether maps are written in their own order and on one line.
    plain_maps: bool,
    /// The source texts of numbers, by node.
    number_texts: HashMap<u32, &'d [u8]>,
    /// The class name that the next map gets as an entry.
    class: Option<u32>,
    /// Whether more of the root is written later.
    stays_open: bool,
}

/// Flags that the writer must look at, because they change the output or are a loss.
const NOTICED: u8 = !flag::REF;

impl Writer<'_, '_, '_> {
    /// Opens the root array after the items that were already written.
    fn resume_root(&mut self, root: u32, window: Window, layout: Layout) {
        let tape = self.document.tape();
        let end = tape.index_after(root);
        let mut next = root + 1;
        for _ in 0..window.skip {
            if next >= end {
                break;
            }
            next = tape.index_after(next);
        }
        let enclosing_map = self.current_map;
        if self.nodes.get(root as usize).is_some_and(|node| node.has(flag::TARGET)) && self.repeated.enter(root) {
            self.open.push(WriteFrame { kind: FrameKind::Target, is_empty: true, next: 0, end: root, enclosing_map });
        }
        let kind = match layout {
            Layout::Lines => FrameKind::Lines,
            Layout::One => {
                if window.before == 0 {
                    self.emitter.write_byte(b'[');
                }
                self.depth = 1;
                FrameKind::Array
            }
        };
        self.open.push(WriteFrame { kind, is_empty: window.before == 0, next, end, enclosing_map });
    }

    /// Writes everything that is open, to its end.
    fn write_open_containers(&mut self) -> Result<(), Error> {
        while let Some(top) = self.open.last() {
            crate::steps::count(1);
            self.emitter.make_space()?;
            match top.kind {
                FrameKind::Array => self.write_array_items::<false>()?,
                FrameKind::Lines => self.write_array_items::<true>()?,
                FrameKind::Map => self.write_map_entries()?,
                FrameKind::SortedMap => self.write_sorted_entries()?,
                FrameKind::Set => self.write_set_members()?,
                FrameKind::Brace => self.close_container(b'}')?,
                FrameKind::Tagged => self.write_tagged_items()?,
                FrameKind::Target => {
                    let target = top.end;
                    self.open.pop();
                    self.repeated.leave(target);
                }
            }
        }
        Ok(())
    }

    /// Continues in the innermost array, up to a nested container or its end.
    #[inline]
    fn write_array_items<const LINES: bool>(&mut self) -> Result<(), Error> {
        let Some(WriteFrame { mut next, end, mut is_empty, .. }) = self.open.last().copied() else { return Ok(()) };
        let (nodes, sources) = (self.nodes, self.string_sources());
        while next < end {
            let Some(node) = nodes.get(next as usize) else { break };
            crate::steps::count(1);
            self.emitter.make_space()?;
            if !is_empty {
                if LINES {
                    self.emitter.write_byte(b'\n');
                } else {
                    self.emitter.write_comma();
                }
            }
            is_empty = false;
            self.emitter.start_line(self.depth)?;
            if self.is_flat_map(next, node) {
                let map_end = node.end();
                if !self.write_flat_map(next, map_end, &sources)? {
                    return Ok(());
                }
                next = map_end;
            } else if self.write_plain_leaf(next, node, &sources) {
                next += 1;
            } else {
                return self.descend(next);
            }
        }
        if let Some(top) = self.open.last_mut() {
            top.is_empty = is_empty;
        }
        if self.stays_open && self.open.len() == 1 {
            self.open.clear();
            return Ok(());
        }
        if LINES {
            self.open.pop();
            if !is_empty {
                self.emitter.write_byte(b'\n');
            }
            return Ok(());
        }
        self.close_container(b']')
    }

    /// Continues in the innermost map, up to a nested container or its end.
    #[inline]
    fn write_map_entries(&mut self) -> Result<(), Error> {
        let Some(WriteFrame { mut next, end, mut is_empty, .. }) = self.open.last().copied() else { return Ok(()) };
        let (nodes, sources) = (self.nodes, self.string_sources());
        while next < end {
            let Some(node) = nodes.get(next as usize) else { break };
            crate::steps::count(1);
            self.emitter.make_space()?;
            match node.key {
                // A value without a key is the default value of the map. JSON can't represent it.
                NO_KEY | KEY_NODE => break,
                IS_KEY => {
                    let (key, value) = (next, self.document.tape().index_after(next));
                    if value >= end {
                        break;
                    }
                    if node.has(flag::PLACEHOLDER) && node.kind.is_string() {
                        next = self.document.tape().index_after(value);
                        continue;
                    }
                    if self.options.class.is_some() && self.is_reserved_node(key, value)? {
                        self.record_loss(LossKind::Reserved, value);
                        next = self.document.tape().index_after(value);
                        continue;
                    }
                    next = value;
                    self.write_separator(&mut is_empty)?;
                    self.write_key_node(key, value)?;
                }
                id => {
                    let Some(rendered) = self.keys.get(id) else {
                        self.render_key(id, next)?;
                        continue;
                    };
                    if rendered.is_special {
                        if self.report_special_key(id, next) {
                            next = self.document.tape().index_after(next);
                            continue;
                        }
                        self.write_separator(&mut is_empty)?;
                    } else if is_empty || self.emitter.is_indented() {
                        self.write_separator(&mut is_empty)?;
                    } else {
                        self.emitter.write_comma();
                    }
                    self.write_key(id, next)?;
                }
            }
            let Some(node) = nodes.get(next as usize) else { break };
            if !self.write_plain_leaf(next, node, &sources) {
                return self.descend(next);
            }
            next += 1;
        }
        self.keys.close_map(&self.current_map);
        if let Some(top) = self.open.last_mut() {
            self.current_map = top.enclosing_map;
            top.is_empty = is_empty;
        }
        self.close_container(b'}')
    }

    /// Writes the comma before an entry that is not the first, and starts its line.
    #[inline]
    fn write_separator(&mut self, is_empty: &mut bool) -> Result<(), Error> {
        if !*is_empty {
            self.emitter.write_comma();
        }
        *is_empty = false;
        self.emitter.start_line(self.depth)
    }

    /// Writes the key with this id, which is rendered.
    #[inline]
    fn write_key(&mut self, id: u16, value: u32) -> Result<(), Error> {
        if self.keys.is_duplicate_key(id, &self.current_map) {
            self.record_loss(LossKind::DuplicateKey, value);
        }
        let Some(rendered) = self.keys.get(id) else { return Ok(()) };
        match self.keys.rendered_piece(rendered) {
            Some(piece) => self.emitter.write_piece(piece, rendered.len),
            None => self.emitter.write_raw(self.keys.rendered_text(rendered))?,
        }
        Ok(())
    }

    /// Counts the losses of a key. Returns `true` if its entry is left out.
    #[cold]
    fn report_special_key(&mut self, id: u16, value: u32) -> bool {
        let KeyHandling { is_absent, is_reserved, losses } = self.keys.key_handling(id);
        if is_reserved {
            self.record_loss(LossKind::Reserved, value);
            return true;
        }
        if !is_absent {
            for kind in losses.into_iter().flatten() {
                self.record_loss(kind, value);
            }
            self.keys.count_uses(id);
        }
        is_absent
    }

    /// Writes the value at `index`, which is more than a plain leaf, as the next child of
    /// the innermost container.
    #[inline]
    fn descend(&mut self, index: u32) -> Result<(), Error> {
        let next = self.document.tape().index_after(index);
        if let Some(top) = self.open.last_mut() {
            top.next = next;
            top.is_empty = false;
        }
        let Some(node) = self.nodes.get(index as usize) else { return Ok(()) };
        match node.kind {
            Kind::Array if node.flags & NOTICED == 0 => self.open_array(index, next),
            Kind::Map if node.flags & NOTICED == 0 && !self.options.sort_keys && self.class.is_none() => {
                self.open_map(index, next);
            }
            _ => return self.write_value(index),
        }
        Ok(())
    }

    #[inline]
    fn open_array(&mut self, index: u32, end: u32) {
        self.emitter.write_byte(b'[');
        self.depth += 1;
        self.open.push(WriteFrame {
            kind: FrameKind::Array,
            is_empty: true,
            next: index + 1,
            end,
            enclosing_map: self.current_map,
        });
    }

    #[inline]
    fn open_map(&mut self, index: u32, end: u32) {
        self.emitter.write_byte(b'{');
        self.depth += 1;
        let enclosing_map = self.current_map;
        self.current_map = self.keys.open_map(&enclosing_map);
        self.open.push(WriteFrame { kind: FrameKind::Map, is_empty: true, next: index + 1, end, enclosing_map });
    }

    /// Closes the innermost container.
    #[inline]
    fn close_container(&mut self, bracket: u8) -> Result<(), Error> {
        self.depth = self.depth.saturating_sub(1);
        if let Some(top) = self.open.pop()
            && !top.is_empty
        {
            self.emitter.start_line(self.depth)?;
        }
        self.emitter.write_byte(bracket);
        Ok(())
    }

    /// Writes a leaf completely, or the beginning of a container.
    fn write_value(&mut self, start: u32) -> Result<(), Error> {
        let mut index = start;
        loop {
            crate::steps::count(1);
            self.emitter.make_space()?;
            let Some(node) = self.nodes.get(index as usize) else {
                self.emitter.write_word("null");
                return Ok(());
            };
            if node.has(flag::WEAK) {
                self.record_loss(LossKind::Weak, index);
            }
            if node.has(flag::OVERLOAD) {
                self.record_loss(LossKind::Overload, index);
            }
            if !node.kind.is_container() {
                match self.write_rare_leaf(index, node)? {
                    Some(target) => index = target,
                    None => return Ok(()),
                }
                continue;
            }
            if node.has(flag::TARGET) && self.repeated.enter(index) {
                let (kind, enclosing_map) = (FrameKind::Target, self.current_map);
                self.open.push(WriteFrame { kind, is_empty: true, next: 0, end: index, enclosing_map });
            }
            match self.open_container(index, node)? {
                Some(child) => index = child,
                None => return Ok(()),
            }
        }
    }

    /// Opens a container. Returns the value to continue with if the container has no
    /// brackets of its own.
    fn open_container(&mut self, index: u32, node: &Node) -> Result<Option<u32>, Error> {
        let end = self.document.tape().index_after(index);
        // `u32::MAX` is the index of no node, and is written as null.
        let first = Some(if index + 1 < end { index + 1 } else { u32::MAX });
        if self.options.perl
            && let Some(value) = self.perl_boolean(index, node)
        {
            self.emitter.write_word(if value { "true" } else { "false" });
            return Ok(None);
        }
        if node.kind.has_class() {
            match self.write_known(index, node)? {
                KnownOutcome::Unknown => {}
                KnownOutcome::Handled => return Ok(None),
                KnownOutcome::Continue(child) => return Ok(Some(child)),
            }
        }
        if node.kind == Kind::Opaque && self.options.tags && self.open_tagged_object(index, node)? {
            return Ok(None);
        }
        if matches!(node.kind, Kind::Object | Kind::Opaque) && self.options.allow_blessed {
            self.record_loss(LossKind::Class, index);
            self.emitter.write_word("null");
            return Ok(None);
        }
        let kind = match node.kind {
            Kind::Array => {
                self.open_array(index, end);
                return Ok(None);
            }
            Kind::Map => {
                self.open_special_map(index, node, end)?;
                return Ok(None);
            }
            Kind::Regexp => {
                self.record_loss(LossKind::Regexp, index);
                self.write_regexp(index)?;
                return Ok(None);
            }
            Kind::VString => {
                self.record_loss(LossKind::VString, index);
                let has_value = index + 1 < end && self.document.tape().index_after(index + 1) < end;
                return Ok(if has_value { Some(self.document.tape().index_after(index + 1)) } else { first });
            }
            Kind::Object if self.options.class.is_some() => {
                self.open_object(index, node.class())?;
                return Ok(first);
            }
            Kind::Opaque => {
                self.record_loss(LossKind::Opaque, index);
                if self.options.class.is_some() {
                    self.open_object(index, node.class())?;
                }
                return Ok(first);
            }
            Kind::Object => LossKind::Class,
            Kind::Attrs => LossKind::Attributes,
            Kind::Ref => LossKind::Reference,
            Kind::Code => LossKind::Code,
            _ => LossKind::Tied,
        };
        self.record_loss(kind, index);
        Ok(first)
    }

    /// Opens a map that may have special properties.
    fn open_special_map(&mut self, index: u32, node: &Node, end: u32) -> Result<(), Error> {
        if node.has(flag::RESTRICTED) {
            self.record_loss(LossKind::Restricted, index);
        }
        if node.flags & (flag::IDENTITY | flag::DEFAULT) != 0 {
            self.record_loss(LossKind::MapKind, index);
        }
        self.open_map_with_class(index, end)?;
        if self.options.sort_keys { self.order_entries(index, end, EntryNames::Own) } else { Ok(()) }
    }

    /// Opens a map, with an entry for the name of its class.
    fn open_map_with_class(&mut self, index: u32, end: u32) -> Result<(), Error> {
        let class = self.class.take();
        self.open_map(index, end);
        if let Some(class) = class {
            self.write_class_entry(class)?;
            if let Some(top) = self.open.last_mut() {
                top.is_empty = false;
            }
        }
        Ok(())
    }

    /// Writes an object with the option `class`: a map gets one more entry; any other
    /// body is put in braces.
    fn open_object(&mut self, index: u32, class: u32) -> Result<(), Error> {
        let is_map = self.nodes.get(index as usize + 1).is_some_and(|body| body.kind == Kind::Map);
        if is_map {
            self.class = Some(class);
            return Ok(());
        }
        self.open_brace(class)
    }

    /// Opens braces around a value that is not a map, and writes its class.
    fn open_brace(&mut self, class: u32) -> Result<(), Error> {
        self.emitter.write_byte(b'{');
        self.depth += 1;
        let enclosing_map = self.current_map;
        self.open.push(WriteFrame { kind: FrameKind::Brace, is_empty: false, next: 0, end: 0, enclosing_map });
        self.write_class_entry(class)?;
        self.emitter.write_comma();
        self.emitter.start_line(self.depth)?;
        // If the option `class` uses the key `value` for the class, the body gets another key.
        self.emitter.write_word(if self.is_reserved(b"value") { "\"body\"" } else { "\"value\"" });
        self.emitter.write_colon();
        Ok(())
    }

    /// Writes the entry with the name of the class.
    fn write_class_entry(&mut self, class: u32) -> Result<(), Error> {
        self.emitter.start_line(self.depth)?;
        let key = self.options.class.as_deref().unwrap_or_default();
        self.emitter.write_quoted(key.as_bytes(), CharEncoding::Utf8)?;
        self.emitter.write_colon();
        self.write_class_name(class)
    }

    fn write_class_name(&mut self, class: u32) -> Result<(), Error> {
        let name = self.document.class_name(class).map_or(&[][..], |name| name.bytes);
        let chars = if std::str::from_utf8(name).is_ok() { CharEncoding::Utf8 } else { CharEncoding::Latin1 };
        self.emitter.write_quoted(name, chars)
    }

    /// Counts a loss at a node.
    #[cold]
    fn record_loss(&mut self, kind: LossKind, index: u32) {
        let document = self.document_as_read;
        self.losses.add(kind, || document.path(index));
    }

    /// Returns an error for a value that JSON can't represent.
    #[cold]
    fn unrepresentable_error(&self, index: u32, found: impl Into<String>, help: &'static str) -> Error {
        Error::new(ErrorKind::Unrepresentable)
            .on_path(self.document_as_read.path(index))
            .finding(found.into())
            .helping(help)
    }

    /// Writes a link to an open container.
    fn write_cycle(&mut self, index: u32) -> Result<(), Error> {
        match self.options.cycles {
            Cycles::Null => {
                self.record_loss(LossKind::Cycle, index);
                self.emitter.write_word("null");
                Ok(())
            }
            Cycles::Error => Err(self.unrepresentable_error(
                index,
                "a link to a value that contains it",
                "`cycles=null` writes null there; `json:typed` can represent it",
            )),
        }
    }
}
