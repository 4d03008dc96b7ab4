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

use super::emitter::{Chars, Emitter};
use super::keys::{Keys, Serial, Special};
use super::options::{Cycles, Floats, WriteOptions};
use super::style::Style;
use crate::document::{Document, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::output::{LossKind, Losses, Output, Written};
use known::KnownOutcome;
pub(crate) use memory::WriterMemory;
use repeated::Repeated;
use std::collections::HashMap;

/// What is written.
pub(super) struct Source<'d> {
    /// The document.
    pub(super) document: &'d Document<'d>,
    /// The same with the names that were read; they show which values belong to a
    /// language's own classes.
    pub(super) original: &'d Document<'d>,
    /// The part to write, if the root is an array.
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

/// Which items of an array are written: see [`Part::Items`](crate::Part::Items).
#[derive(Clone, Copy, Default)]
pub(super) struct Window {
    pub(super) before: u64,
    pub(super) skip: u64,
    pub(super) more: bool,
}

/// Writes a document, or a part of one that is an array, as plain JSON.
pub(super) fn write(
    job: &Source<'_>,
    options: &WriteOptions,
    limits: &Limits,
    memory: &mut WriterMemory,
    out: &mut dyn Output,
) -> Written {
    let Source { document, original, window, layout } = *job;
    memory.renew();
    memory.is_used = true;
    let WriterMemory { keys, buffer, open, .. } = memory;
    let style = Style::of(options);
    let emitter = Emitter::on(std::mem::take(buffer), out, document.nodes().len(), style);
    let mut writer = Writer {
        document,
        original,
        nodes: document.nodes(),
        options,
        limits,
        emitter,
        losses: Losses::within(limits),
        keys,
        open,
        depth: 0,
        serial: Serial::default(),
        repeated: Repeated::new(limits.expanded_from(document.nodes().len())),
        order: sorted::Order::default(),
        has_rendered_all: false,
        plain_maps: !options.sort_keys && style.is_dense(),
        numbers: if options.floats == Floats::Shortest { leaf::number_texts(document) } else { HashMap::new() },
        class: None,
        stays_open: window.more,
    };
    if document.header().is_some() {
        writer.losses.add(LossKind::Header, || "$".to_owned());
    }
    match document.nodes().get(document.root().index() as usize) {
        Some(root) if root.kind == Kind::Array && (window.before > 0 || window.skip > 0 || layout == Layout::Lines) => {
            writer.go_on(document.root().index(), window, layout);
        }
        Some(_) => writer.value(document.root().index())?,
        None => writer.emitter.word("null"),
    }
    writer.run()?;
    let is_lines_of_array = layout == Layout::Lines && document.root().kind() == Kind::Array;
    if (style.lines || layout == Layout::Lines && !is_lines_of_array) && !window.more {
        writer.emitter.byte(b'\n');
    }
    writer.emitter.flush()?;
    for (kind, times) in writer.keys.counted() {
        writer.losses.again(kind, times);
    }
    let Writer { losses, emitter, .. } = writer;
    *buffer = emitter.into_buffer();
    Ok(losses)
}

/// An open container, and where to continue in it.
#[derive(Clone, Copy, Debug)]
struct Frame {
    what: What,
    /// Whether nothing was written in it yet.
    is_empty: bool,
    /// The next child; for a sorted map, the next entry in its order.
    next: u32,
    /// Where the children end; for [`What::Target`], the node.
    end: u32,
    /// For a map: state of its keys. Otherwise: that of the map around it.
    around: Serial,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
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
    /// The payload after the class of an object that froze itself.
    Tagged,
    /// Not a bracket: while it is open, a link to this node is a cycle.
    Target,
}

struct Writer<'d, 'o, 'm> {
    document: &'d Document<'d>,
    /// The same with the names that were read.
    original: &'d Document<'d>,
    nodes: &'d [Node],
    options: &'d WriteOptions,
    limits: &'d Limits,
    emitter: Emitter<'o>,
    losses: Losses,
    keys: &'m mut Keys,
    open: &'m mut Vec<Frame>,
    /// How many brackets are open.
    depth: usize,
    /// The innermost open map.
    serial: Serial,
    repeated: Repeated,
    order: sorted::Order,
    /// Whether all keys with an id are rendered.
    has_rendered_all: bool,
    /// Whether maps are written in their own order and on one line.
    plain_maps: bool,
    /// The source texts of numbers, by node.
    numbers: HashMap<u32, &'d [u8]>,
    /// The class name that the next map gets as an entry.
    class: Option<u32>,
    /// Whether more of the root is written later.
    stays_open: bool,
}

/// Flags that matter to JSON, if only as a loss.
const NOTICED: u8 = !flag::REF;

impl Writer<'_, '_, '_> {
    /// Opens the root array after the items that were already written.
    fn go_on(&mut self, root: u32, window: Window, layout: Layout) {
        let tape = self.document.tape();
        let end = tape.next(root);
        let mut next = root + 1;
        for _ in 0..window.skip {
            if next >= end {
                break;
            }
            next = tape.next(next);
        }
        let around = self.serial;
        if self.nodes.get(root as usize).is_some_and(|node| node.has(flag::TARGET)) && self.repeated.enter(root) {
            self.open.push(Frame { what: What::Target, is_empty: true, next: 0, end: root, around });
        }
        let what = match layout {
            Layout::Lines => What::Lines,
            Layout::One => {
                if window.before == 0 {
                    self.emitter.byte(b'[');
                }
                self.depth = 1;
                What::Array
            }
        };
        self.open.push(Frame { what, is_empty: window.before == 0, next, end, around });
    }

    /// Writes everything that is open, to its end.
    fn run(&mut self) -> Result<(), Error> {
        while let Some(top) = self.open.last() {
            crate::steps::count(1);
            self.emitter.turn()?;
            match top.what {
                What::Array => self.array::<false>()?,
                What::Lines => self.array::<true>()?,
                What::Map => self.map()?,
                What::SortedMap => self.sorted_map()?,
                What::Set => self.set()?,
                What::Brace => self.close(b'}')?,
                What::Tagged => self.tagged_list()?,
                What::Target => {
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
    fn array<const LINES: bool>(&mut self) -> Result<(), Error> {
        let Some(Frame { mut next, end, mut is_empty, .. }) = self.open.last().copied() else { return Ok(()) };
        let (nodes, sources) = (self.nodes, self.sources());
        while next < end {
            let Some(node) = nodes.get(next as usize) else { break };
            crate::steps::count(1);
            self.emitter.turn()?;
            if !is_empty {
                if LINES {
                    self.emitter.byte(b'\n');
                } else {
                    self.emitter.comma();
                }
            }
            is_empty = false;
            self.emitter.line(self.depth)?;
            if self.is_flat(next, node) {
                let behind = node.end();
                if !self.flat_map(next, behind, &sources)? {
                    return Ok(());
                }
                next = behind;
            } else if self.leaf(next, node, &sources) {
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
                self.emitter.byte(b'\n');
            }
            return Ok(());
        }
        self.close(b']')
    }

    /// Continues in the innermost map, up to a nested container or its end.
    #[inline]
    fn map(&mut self) -> Result<(), Error> {
        let Some(Frame { mut next, end, mut is_empty, .. }) = self.open.last().copied() else { return Ok(()) };
        let (nodes, sources) = (self.nodes, self.sources());
        while next < end {
            let Some(node) = nodes.get(next as usize) else { break };
            crate::steps::count(1);
            self.emitter.turn()?;
            match node.key {
                // The default value.
                NO_KEY | KEY_NODE => break,
                IS_KEY => {
                    let (key, value) = (next, self.document.tape().next(next));
                    if value >= end {
                        break;
                    }
                    if node.has(flag::PLACEHOLDER) && node.kind.is_string() {
                        next = self.document.tape().next(value);
                        continue;
                    }
                    if self.options.class.is_some() && self.is_reserved_node(key, value)? {
                        self.lose(LossKind::Reserved, value);
                        next = self.document.tape().next(value);
                        continue;
                    }
                    next = value;
                    self.separate(&mut is_empty)?;
                    self.key_node(key, value)?;
                }
                id => {
                    let Some(rendered) = self.keys.get(id) else {
                        self.render(id, next)?;
                        continue;
                    };
                    if rendered.special {
                        if self.special_key(id, next) {
                            next = self.document.tape().next(next);
                            continue;
                        }
                        self.separate(&mut is_empty)?;
                    } else if is_empty || self.emitter.is_indented() {
                        self.separate(&mut is_empty)?;
                    } else {
                        self.emitter.comma();
                    }
                    self.key(id, next)?;
                }
            }
            let Some(node) = nodes.get(next as usize) else { break };
            if !self.leaf(next, node, &sources) {
                return self.descend(next);
            }
            next += 1;
        }
        self.keys.close(&self.serial);
        if let Some(top) = self.open.last_mut() {
            self.serial = top.around;
            top.is_empty = is_empty;
        }
        self.close(b'}')
    }

    /// Writes the comma before an entry that is not the first, and starts its line.
    #[inline]
    fn separate(&mut self, is_empty: &mut bool) -> Result<(), Error> {
        if !*is_empty {
            self.emitter.comma();
        }
        *is_empty = false;
        self.emitter.line(self.depth)
    }

    /// Writes the key with this id, which is rendered.
    #[inline]
    fn key(&mut self, id: u16, value: u32) -> Result<(), Error> {
        if self.keys.is_again(id, &self.serial) {
            self.lose(LossKind::DuplicateKey, value);
        }
        let Some(rendered) = self.keys.get(id) else { return Ok(()) };
        match self.keys.piece(rendered) {
            Some(piece) => self.emitter.piece(piece, rendered.len),
            None => self.emitter.raw(self.keys.text(rendered))?,
        }
        Ok(())
    }

    /// Counts the losses of a key. Returns whether its entry is left out.
    #[cold]
    fn special_key(&mut self, id: u16, value: u32) -> bool {
        let Special { absent, reserved, losses } = self.keys.special(id);
        if reserved {
            self.lose(LossKind::Reserved, value);
            return true;
        }
        if !absent {
            for kind in losses.into_iter().flatten() {
                self.lose(kind, value);
            }
            self.keys.count_uses(id);
        }
        absent
    }

    /// Writes the value at `at`, which is more than a plain leaf, as the next child of
    /// the innermost container.
    #[inline]
    fn descend(&mut self, at: u32) -> Result<(), Error> {
        let next = self.document.tape().next(at);
        if let Some(top) = self.open.last_mut() {
            top.next = next;
            top.is_empty = false;
        }
        let Some(node) = self.nodes.get(at as usize) else { return Ok(()) };
        match node.kind {
            Kind::Array if node.flags & NOTICED == 0 => self.open_array(at, next),
            Kind::Map if node.flags & NOTICED == 0 && !self.options.sort_keys && self.class.is_none() => {
                self.open_map(at, next);
            }
            _ => return self.value(at),
        }
        Ok(())
    }

    #[inline]
    fn open_array(&mut self, at: u32, end: u32) {
        self.emitter.byte(b'[');
        self.depth += 1;
        self.open.push(Frame { what: What::Array, is_empty: true, next: at + 1, end, around: self.serial });
    }

    #[inline]
    fn open_map(&mut self, at: u32, end: u32) {
        self.emitter.byte(b'{');
        self.depth += 1;
        let around = self.serial;
        self.serial = self.keys.open(&around);
        self.open.push(Frame { what: What::Map, is_empty: true, next: at + 1, end, around });
    }

    /// Closes the innermost container.
    #[inline]
    fn close(&mut self, bracket: u8) -> Result<(), Error> {
        self.depth = self.depth.saturating_sub(1);
        if let Some(top) = self.open.pop()
            && !top.is_empty
        {
            self.emitter.line(self.depth)?;
        }
        self.emitter.byte(bracket);
        Ok(())
    }

    /// Writes any value: a leaf completely, a container up to its beginning.
    fn value(&mut self, start: u32) -> Result<(), Error> {
        let mut at = start;
        loop {
            crate::steps::count(1);
            self.emitter.turn()?;
            let Some(node) = self.nodes.get(at as usize) else {
                self.emitter.word("null");
                return Ok(());
            };
            if node.has(flag::WEAK) {
                self.lose(LossKind::Weak, at);
            }
            if node.has(flag::OVERLOAD) {
                self.lose(LossKind::Overload, at);
            }
            if !node.kind.is_container() {
                match self.rare_leaf(at, node)? {
                    Some(target) => at = target,
                    None => return Ok(()),
                }
                continue;
            }
            if node.has(flag::TARGET) && self.repeated.enter(at) {
                let (what, around) = (What::Target, self.serial);
                self.open.push(Frame { what, is_empty: true, next: 0, end: at, around });
            }
            match self.container(at, node)? {
                Some(child) => at = child,
                None => return Ok(()),
            }
        }
    }

    /// Opens a container. Returns the value to continue with if the container has no
    /// brackets of its own.
    fn container(&mut self, at: u32, node: &Node) -> Result<Option<u32>, Error> {
        let end = self.document.tape().next(at);
        let first = Some(if at + 1 < end { at + 1 } else { u32::MAX });
        if self.options.perl
            && let Some(is) = self.boolean(at, node)
        {
            self.emitter.word(if is { "true" } else { "false" });
            return Ok(None);
        }
        if node.kind.has_class() {
            match self.known(at, node)? {
                KnownOutcome::No => {}
                KnownOutcome::Done => return Ok(None),
                KnownOutcome::GoOn(child) => return Ok(Some(child)),
            }
        }
        if node.kind == Kind::Opaque && self.options.tags && self.tagged(at, node)? {
            return Ok(None);
        }
        if matches!(node.kind, Kind::Object | Kind::Opaque) && self.options.allow_blessed {
            self.lose(LossKind::Class, at);
            self.emitter.word("null");
            return Ok(None);
        }
        let kind = match node.kind {
            Kind::Array => {
                self.open_array(at, end);
                return Ok(None);
            }
            Kind::Map => {
                self.any_map(at, node, end)?;
                return Ok(None);
            }
            Kind::Regexp => {
                self.lose(LossKind::Regexp, at);
                self.regexp(at)?;
                return Ok(None);
            }
            Kind::VString => {
                self.lose(LossKind::VString, at);
                let value = at + 1 < end && self.document.tape().next(at + 1) < end;
                return Ok(if value { Some(self.document.tape().next(at + 1)) } else { first });
            }
            Kind::Object if self.options.class.is_some() => {
                self.object(at, node.class())?;
                return Ok(first);
            }
            Kind::Opaque => {
                self.lose(LossKind::Opaque, at);
                if self.options.class.is_some() {
                    self.object(at, node.class())?;
                }
                return Ok(first);
            }
            Kind::Object => LossKind::Class,
            Kind::Attrs => LossKind::Attributes,
            Kind::Ref => LossKind::Reference,
            Kind::Code => LossKind::Code,
            _ => LossKind::Tied,
        };
        self.lose(kind, at);
        Ok(first)
    }

    /// Opens a map that may have special properties.
    fn any_map(&mut self, at: u32, node: &Node, end: u32) -> Result<(), Error> {
        if node.has(flag::RESTRICTED) {
            self.lose(LossKind::Restricted, at);
        }
        if node.flags & (flag::IDENTITY | flag::DEFAULT) != 0 {
            self.lose(LossKind::MapKind, at);
        }
        self.open_any_map(at, end)?;
        if self.options.sort_keys { self.put_in_order(at, end, false) } else { Ok(()) }
    }

    /// Opens a map, with an entry for the name of its class.
    fn open_any_map(&mut self, at: u32, end: u32) -> Result<(), Error> {
        let class = self.class.take();
        self.open_map(at, end);
        if let Some(class) = class {
            self.class_entry(class)?;
            if let Some(top) = self.open.last_mut() {
                top.is_empty = false;
            }
        }
        Ok(())
    }

    /// Writes an object with the option `class`: a map gets one more entry; any other
    /// body is put in braces.
    fn object(&mut self, at: u32, class: u32) -> Result<(), Error> {
        let is_map = self.nodes.get(at as usize + 1).is_some_and(|body| body.kind == Kind::Map);
        if is_map {
            self.class = Some(class);
            return Ok(());
        }
        self.brace(class)
    }

    /// Opens braces around a value that is not a map, and writes its class.
    fn brace(&mut self, class: u32) -> Result<(), Error> {
        self.emitter.byte(b'{');
        self.depth += 1;
        let around = self.serial;
        self.open.push(Frame { what: What::Brace, is_empty: false, next: 0, end: 0, around });
        self.class_entry(class)?;
        self.emitter.comma();
        self.emitter.line(self.depth)?;
        // The class is the only one to use its key.
        self.emitter.word(if self.is_reserved(b"value") { "\"body\"" } else { "\"value\"" });
        self.emitter.colon();
        Ok(())
    }

    /// Writes the entry with the name of the class.
    fn class_entry(&mut self, class: u32) -> Result<(), Error> {
        self.emitter.line(self.depth)?;
        let key = self.options.class.as_deref().unwrap_or_default();
        self.emitter.quoted(key.as_bytes(), Chars::Utf8)?;
        self.emitter.colon();
        self.class_name(class)
    }

    fn class_name(&mut self, class: u32) -> Result<(), Error> {
        let name = self.document.class(class).map_or(&[][..], |name| name.bytes);
        let chars = if std::str::from_utf8(name).is_ok() { Chars::Utf8 } else { Chars::Latin1 };
        self.emitter.quoted(name, chars)
    }

    /// Counts a loss at a node.
    #[cold]
    fn lose(&mut self, kind: LossKind, at: u32) {
        let document = self.original;
        self.losses.add(kind, || document.path(at));
    }

    /// Returns an error for a value that JSON can't represent.
    #[cold]
    fn cannot(&self, at: u32, found: impl Into<String>, help: &'static str) -> Error {
        Error::new(ErrorKind::Unrepresentable).on_path(self.original.path(at)).finding(found.into()).helping(help)
    }

    /// Writes a link to an open container.
    fn cycle(&mut self, at: u32) -> Result<(), Error> {
        match self.options.cycles {
            Cycles::Null => {
                self.lose(LossKind::Cycle, at);
                self.emitter.word("null");
                Ok(())
            }
            Cycles::Error => Err(self.cannot(
                at,
                "a link to a value that contains it",
                "`cycles=null` writes null there; `json:typed` can say it",
            )),
        }
    }
}
