//! Writes Storable's images.
//!
//! The writer replays the spelling of a document that was read from Storable. Without spelling it chooses as
//! Storable's `store` functions do.

use super::image::Image;
use super::keys::Keys;
use super::spelling::value as code;
use super::tag::{self, hook};
use super::write_fast_body::{MAX_DEPTH, write_fast_body};
use super::{FORMAT, NAME, WriteOptions};
use crate::document::{Cursor, Document, Form, IS_KEY, Kind, Naming, Node, Replay, flag, lose_repeated};
use crate::error::{Error, ErrorKind};
use crate::format::{check_and_expand, write_named};
use crate::limits::Limits;
use crate::output::{FLUSH_SIZE, LossKind, Losses, Output, Written, write_metered};
use std::collections::HashMap;

/// Writes a document as an image, and reports what Storable could not represent.
///
/// # Errors
/// Of kind `Unrepresentable`, if a key is an array or another container; `Limit`, if
/// the document is nested too deeply; `Output`, if the output was closed.
pub fn write(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let is_shallow = limits.depth >= MAX_DEPTH;
    // The fast writer does not check for duplicate keys. The maps of a running program do not have them, and its
    // output is not limited by the size of an input.
    let has_live_values = document.tape().has_live_values();
    if has_live_values
        && is_shallow
        && write_fast_body(document, options, limits.output_from(document.input_size()), out)
    {
        out.allow_flush()?;
        return Ok(Losses::with_limits(limits));
    }
    write_metered(document, limits, out, |out| {
        if !has_live_values
            && is_shallow
            && !document.has_moved_classes()
            && write_fast_body(document, options, u64::MAX, out)
        {
            out.allow_flush()?;
            let mut losses = Losses::with_limits(limits);
            lose_repeated(document, Naming::Perl, &mut losses);
            return Ok(losses);
        }
        let document = &*check_and_expand(document, limits)?;
        let document = &*document.without_links_to_attributes();
        write_named(document, &FORMAT, limits, |document| write_whole(document, options, limits, out))
    })
}

fn write_whole(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let mut spelling = document.spelling_of(NAME);
    let mut image = spelling.map_or_else(Image::native, Image::from_spelling);
    if options.native && !options.netorder && !image.has_native_order() {
        image = Image { has_magic: image.has_magic, ..Image::native() };
        // Its numbers and floats have the sizes of another machine.
        spelling = None;
    }
    if image.has_old_magic || image.major < 2 {
        // Images of old versions of Storable are only read, so the current form is written.
        image = Image { has_magic: image.has_magic, netorder: image.netorder, ..Image::native() };
    }
    if let Some(file) = options.file {
        image.has_magic = file;
    }
    if options.netorder && !image.netorder {
        image = Image { has_magic: image.has_magic, minor: image.minor, netorder: true, ..Image::native() };
    }
    if let Some(minor) = options.minor {
        image.minor = minor;
    }
    image.write(out.buffer());
    let mut writer = Writer {
        document,
        keys: Keys::new(document, &image),
        limits,
        canonical: options.canonical,
        is_fast: spelling.is_none() && !options.canonical && !options.reference,
        has_plain_64_bit_integers: image.is_little() && image.iv_size == 8,
        image,
        spelling: spelling.map(|spelling| Replay::new(spelling, document.tape())),
        stack: Vec::new(),
        variables: HashMap::new(),
        referents: HashMap::new(),
        next_number: 0,
        classes: HashMap::new(),
        renumbered_classes: HashMap::new(),
        losses: Losses::with_limits(limits),
    };
    if document.header().is_some() {
        writer.losses.add(LossKind::Header, || "$".to_owned());
    }
    writer.write_root(out)?;
    Ok(writer.losses)
}

/// A container with children still to write.
pub(super) enum WriteFrame {
    /// The nodes from `index` to `end`, one after another.
    Items { index: u32, end: u32 },
    /// A map: the entries from `index` on, and the value whose key is next.
    Entries { index: u32, end: u32, has_flags: bool, key: Option<(Key, u32)> },
    /// A map with sorted entries, in reverse order.
    Sorted { entries: Vec<(Key, u32)>, has_flags: bool, key: Option<(Key, u32)> },
    /// A tied element: its object is next, and then its key or index.
    Element { object: Option<u32>, key: u32, is_key: bool },
    /// A hook record: the children from `index` on. `record` is its node; `has_inner_object` states
    /// whether an object was stored inside of it.
    Hook { record: u32, index: u32, end: u32, flags: u8, has_inner_object: bool },
}

/// A key: its id, or its node.
#[derive(Clone, Copy)]
pub(super) enum Key {
    Id(u16),
    Node(u32),
}

/// A class that was written before its object.
#[derive(Clone, Copy)]
struct WrittenClass {
    object: u32,
    /// Where the class starts in the buffer.
    start: usize,
    /// Where it ends.
    end: usize,
    /// Number of classes that were written before it.
    class_count: u32,
}

/// Which part of a node to write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// The variable: a reference, if the node is a container.
    Variable,
    /// The target of a reference.
    Referent,
}

pub(super) struct Writer<'d> {
    pub(super) document: &'d Document<'d>,
    pub(super) keys: Keys<'d>,
    pub(super) image: Image,
    pub(super) limits: &'d Limits,
    /// Whether the keys of hashes are sorted.
    pub(super) canonical: bool,
    /// Whether the fast loops may be used.
    is_fast: bool,
    /// Whether integers are 64 bits, little-endian.
    pub(super) has_plain_64_bit_integers: bool,
    pub(super) spelling: Option<Replay<'d>>,
    stack: Vec<WriteFrame>,
    /// The numbers of variables and referents that links refer to.
    pub(super) variables: HashMap<u32, u32>,
    pub(super) referents: HashMap<u32, u32>,
    /// The next object number.
    pub(super) next_number: u32,
    /// The first number of each class.
    pub(super) classes: HashMap<u32, u32>,
    /// Classes by their additional numbers.
    pub(super) renumbered_classes: HashMap<u32, u32>,
    pub(super) losses: Losses,
}

impl<'d> Writer<'d> {
    pub(super) fn write_root(&mut self, out: &mut dyn Output) -> Result<(), Error> {
        self.write_value(self.document.root().index(), Slot::Referent, out.buffer())?;
        while !self.stack.is_empty() {
            let buf = out.buffer();
            let limit = buf.len() + FLUSH_SIZE;
            while buf.len() < limit && !self.stack.is_empty() {
                self.continue_container(buf)?;
            }
            out.allow_flush()?;
        }
        Ok(())
    }

    // -- Small helpers ------------------------------------------------------

    pub(super) fn note(&self, index: u32, code: u16) -> Option<u64> {
        self.spelling.as_ref()?.note_value(index, code)
    }

    pub(super) fn spelled_tag(&self, index: u32, default: u8) -> u8 {
        self.note(index, code::TAG).map_or(default, |tag| tag as u8)
    }

    pub(super) fn record_loss(&mut self, kind: LossKind, index: u32) {
        let document = self.document;
        self.losses.add(kind, || document.path(index));
    }

    pub(super) fn push_u32(&self, value: u32, buf: &mut Vec<u8>) {
        buf.extend_from_slice(&self.image.encode_u32(value));
    }

    /// Writes a length in 8 bits, or in 32 bits after another tag.
    pub(super) fn push_length(&self, len: usize, is_long: bool, buf: &mut Vec<u8>) -> Result<(), Error> {
        match u8::try_from(len) {
            Ok(len) if !is_long => buf.push(len),
            _ => self.push_u32(self.check_length(len)?, buf),
        }
        Ok(())
    }

    /// Returns a length that must fit into 31 bits.
    pub(super) fn check_length(&self, len: usize) -> Result<u32, Error> {
        u32::try_from(len).ok().filter(|len| i32::try_from(*len).is_ok()).ok_or_else(|| {
            Error::new(ErrorKind::Unsupported)
                .expecting("strings and containers of less than 2 GB")
                .finding(format!("one of {len}"))
        })
    }

    pub(super) fn push(&mut self, frame: WriteFrame) -> Result<(), Error> {
        if self.stack.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep());
        }
        self.stack.push(frame);
        Ok(())
    }

    /// Takes the next number for the variable at `index`.
    #[inline]
    pub(super) fn number_variable(&mut self, index: u32, node: &Node, sharers: NumberSharers) {
        if node.has(flag::TARGET) || sharers.variable.is_some() || sharers.referent.is_some() {
            self.variables.insert(index, self.next_number);
            if let Some(variable) = sharers.variable {
                self.variables.insert(variable, self.next_number);
            }
            if let Some(referent) = sharers.referent {
                self.referents.insert(referent, self.next_number);
            }
        }
        self.next_number += 1;
    }

    #[inline]
    pub(super) fn number_referent(&mut self, index: u32, node: &Node, sharers: NumberSharers) {
        if node.has(flag::TARGET) || sharers.referent.is_some() {
            self.referents.insert(index, self.next_number);
            if let Some(referent) = sharers.referent {
                self.referents.insert(referent, self.next_number);
            }
        }
        self.next_number += 1;
    }

    pub(super) fn push_back_reference(&self, number: u32, index: u32, buf: &mut Vec<u8>) {
        if self.note(index, code::LARGE).is_some() {
            buf.extend_from_slice(&[tag::LOBJECT, tag::OBJECT]);
            buf.extend_from_slice(&self.image.encode_u64(u64::from(number)));
        } else {
            buf.push(tag::OBJECT);
            buf.extend_from_slice(&number.to_be_bytes());
        }
    }

    pub(super) fn push_reference_tag(&self, flags: u8, buf: &mut Vec<u8>) {
        buf.push(match (flags & flag::WEAK != 0, flags & flag::OVERLOAD != 0) {
            (false, false) => tag::REF,
            (false, true) => tag::OVERLOAD,
            (true, false) => tag::WEAKREF,
            (true, true) => tag::WEAKOVERLOAD,
        });
    }

    /// Returns `true` if a link refers to a string or a number.
    fn links_to_scalar(&self, link: &Node) -> bool {
        let kind = self.document.node(link.payload as u32).kind;
        !kind.is_container() && !kind.is_again()
    }

    // -- Values ------------------------------------------------------------

    /// Writes the node at `index`: a leaf completely, a container up to its beginning.
    pub(super) fn write_value(&mut self, mut index: u32, mut slot: Slot, buf: &mut Vec<u8>) -> Result<(), Error> {
        let mut sharers = NumberSharers::default();
        let first = index;
        let mut is_blessed = false;
        // The last class that was written.
        let mut last_class: Option<WrittenClass> = None;
        // The loop follows a chain of references, links and objects. The chain is an error if it is too deep, or if
        // the links of a document that a caller built form a circle.
        let mut followed_link = false;
        let mut is_copy = false;
        // The last link or alias that was followed. The notes about its form are at this node.
        let mut last_link = index;
        for _ in 0..=self.document.max_link_steps(self.limits) {
            let node = self.document.node(index);
            let number = match slot {
                Slot::Variable => self.variables.get(&index),
                Slot::Referent => self.referents.get(&index),
            };
            if let (true, Some(number)) = (node.has(flag::TARGET) && !is_copy, number) {
                let number = *number;
                if let Some(WrittenClass { object, start, end, class_count }) = last_class
                    && buf.len() == end
                {
                    // Storable blesses a value where it is written. This value was written before without a class, so
                    // the class is removed again.
                    buf.truncate(start);
                    self.classes.retain(|_, known| *known < class_count);
                    self.renumbered_classes.retain(|number, _| *number < class_count);
                    self.record_loss(LossKind::Class, object);
                }
                self.push_back_reference(number, last_link, buf);
                return Ok(());
            }
            match (slot, node.kind) {
                (_, Kind::Alias) => {
                    followed_link = true;
                    last_link = index;
                    index = node.payload as u32;
                    slot = Slot::Variable;
                }
                (Slot::Referent, Kind::Link) => {
                    followed_link = true;
                    last_link = index;
                    index = node.payload as u32;
                }
                (Slot::Variable, Kind::Link) if self.links_to_scalar(&node) => {
                    // A string or number occurs again. Perl does not share these, so it is written a second time.
                    self.record_loss(LossKind::Sharing, index);
                    followed_link = true;
                    is_copy = true;
                    index = node.payload as u32;
                }
                (Slot::Variable, Kind::Link) => {
                    if self.note(index, code::BARE).is_none() {
                        self.push_reference_tag(node.flags, buf);
                        self.number_variable(index, &node, std::mem::take(&mut sharers));
                        is_blessed = false;
                    }
                    followed_link = true;
                    last_link = index;
                    index = node.payload as u32;
                    slot = Slot::Referent;
                }
                (_, Kind::Attrs) => {
                    self.record_loss(LossKind::Attributes, index);
                    index += 1;
                }
                (_, Kind::Object | Kind::Opaque) if !is_hook_record(&node) => {
                    let is_variable = node.kind == Kind::Object && node.form() == Form::Variable;
                    if slot == Slot::Variable && !is_variable {
                        if self.note(index, code::BARE).is_none() {
                            self.push_reference_tag(node.flags, buf);
                            self.number_variable(index, &node, std::mem::take(&mut sharers));
                        }
                        // The target of the link may already be written, so the loop checks it next.
                        slot = Slot::Referent;
                        continue;
                    }
                    if node.kind == Kind::Opaque {
                        // Another language froze this object. Storable has no form for it, so only its payload is
                        // written.
                        self.record_loss(LossKind::Opaque, index);
                        // A payload is reached by a reference, but the body of an object is not.
                        let payload = self.document.node(index + 1);
                        let is_body =
                            payload.kind.is_container() && !matches!(payload.kind, Kind::Object | Kind::Opaque);
                        if is_body && payload.has(flag::WEAK) {
                            self.record_loss(LossKind::Weak, index + 1);
                        }
                        if is_body && payload.has(flag::OVERLOAD) {
                            self.record_loss(LossKind::Overload, index + 1);
                        }
                    }
                    if node.kind == Kind::Object && node.form() == Form::Struct {
                        self.record_loss(LossKind::Struct, index);
                    }
                    let (start, class_count) = (buf.len(), self.classes.len() as u32);
                    self.write_class(index, node.class(), buf)?;
                    last_class = Some(WrittenClass { object: index, start, end: buf.len(), class_count });
                    is_blessed = true;
                    let target = Some(index).filter(|_| node.has(flag::TARGET));
                    if is_variable {
                        sharers.variable = target.or(sharers.variable);
                    } else {
                        sharers.referent = target.or(sharers.referent);
                    }
                    let body = self.document.node(index + 1);
                    index += 1;
                    slot = if is_variable { Slot::Variable } else { Slot::Referent };
                    // In Perl, an object around another object is a blessed reference to it.
                    let is_boxed = matches!(body.kind, Kind::Object | Kind::Opaque | Kind::Link);
                    if is_boxed && !is_variable {
                        slot = Slot::Variable;
                        is_blessed = false;
                    }
                    if body.kind == Kind::Ref && !is_variable {
                        index += 1;
                        slot = Slot::Variable;
                    }
                }
                (Slot::Variable, Kind::Ref) => {
                    self.push_reference_tag(node.flags, buf);
                    self.number_variable(index, &node, std::mem::take(&mut sharers));
                    sharers.variable = None;
                    if node.has(flag::TARGET) {
                        sharers.referent = Some(index);
                    }
                    index += 1;
                }
                (Slot::Referent, Kind::Ref) => {
                    if node.has(flag::TARGET) {
                        sharers.referent = Some(index);
                    }
                    index += 1;
                    slot = Slot::Variable;
                }
                (Slot::Variable, _) if self.is_referred(&node) => {
                    if self.note(index, code::BARE).is_none() {
                        self.push_reference_tag(node.flags, buf);
                        self.number_variable(index, &node, std::mem::take(&mut sharers));
                        is_blessed = false;
                    }
                    slot = Slot::Referent;
                }
                (Slot::Referent, _) if self.is_referred(&node) => {
                    return self.write_container(index, &node, sharers, is_blessed, buf);
                }
                _ => return self.write_scalar(index, &node, sharers, buf),
            }
        }
        if !followed_link {
            return Err(self.limits.too_deep());
        }
        Err(Error::new(ErrorKind::BadLink).on_path(self.document.path(first)).finding("links that form a circle"))
    }

    /// Returns `true` if a variable contains this only by reference.
    pub(super) fn is_referred(&self, node: &Node) -> bool {
        match node.kind {
            Kind::Array | Kind::Map | Kind::Opaque | Kind::Code => true,
            Kind::Regexp => !node.has(flag::BARE),
            Kind::Tied => matches!(node.form(), Form::TiedArray | Form::TiedHash),
            _ => false,
        }
    }

    // -- Open containers ----------------------------------------------------

    pub(super) fn continue_container(&mut self, buf: &mut Vec<u8>) -> Result<(), Error> {
        crate::steps::count(1);
        let Some(mut frame) = self.stack.pop() else { return Ok(()) };
        // After this number of bytes the loop saves its frame, so that the buffer can be passed on.
        let limit = buf.len() + FLUSH_SIZE;
        match &mut frame {
            WriteFrame::Items { index, end } => {
                while *index < *end {
                    if self.is_fast {
                        let next = self.fast_items(*index, *end, buf);
                        if next != *index {
                            *index = next;
                            self.stack.push(frame);
                            return Ok(());
                        }
                    }
                    let node = self.document.node(*index);
                    if node.key == IS_KEY {
                        *index = Cursor::new(self.document, *index).index_after();
                        continue;
                    }
                    if self.is_plain_leaf(&node) {
                        self.next_number += 1;
                        self.write_leaf(*index, &node, buf)?;
                        *index += 1;
                        if buf.len() >= limit {
                            self.stack.push(frame);
                            return Ok(());
                        }
                        continue;
                    }
                    let child = *index;
                    *index = Cursor::new(self.document, child).index_after();
                    return self.write_child(frame, child, Slot::Variable, buf);
                }
            }
            WriteFrame::Entries { index, end, has_flags, key } => {
                if let Some((key, value)) = key.take() {
                    self.write_key(key, value, *has_flags, buf)?;
                }
                while let Some((name, value)) = self.entry_at(*index, *end) {
                    if buf.len() >= limit {
                        self.stack.push(frame);
                        return Ok(());
                    }
                    if self.is_fast && !*has_flags {
                        let next = self.fast_entries(*index, *end, buf);
                        if next != *index {
                            *index = next;
                            continue;
                        }
                    }
                    let node = self.document.node(value);
                    if self.is_plain_leaf(&node) {
                        self.next_number += 1;
                        self.write_leaf(value, &node, buf)?;
                        self.write_key(name, value, *has_flags, buf)?;
                        *index = value + 1;
                        continue;
                    }
                    *index = Cursor::new(self.document, value).index_after();
                    *key = Some((name, value));
                    return self.write_child(frame, value, Slot::Variable, buf);
                }
            }
            WriteFrame::Sorted { entries, has_flags, key } => {
                if let Some((key, value)) = key.take() {
                    self.write_key(key, value, *has_flags, buf)?;
                }
                if let Some((name, value)) = entries.pop() {
                    *key = Some((name, value));
                    return self.write_child(frame, value, Slot::Variable, buf);
                }
            }
            WriteFrame::Element { object, key, is_key } => {
                if let Some(object) = object.take() {
                    return self.write_child(frame, object, Slot::Variable, buf);
                }
                let node = self.document.node(*key);
                if node.kind == Kind::Int && !*is_key {
                    self.push_u32(node.payload as u32, buf);
                } else {
                    return self.write_value(*key, Slot::Variable, buf);
                }
            }
            WriteFrame::Hook { record, index, end, flags, has_inner_object } => {
                while *index < *end {
                    let child = *index;
                    let next = Cursor::new(self.document, child).index_after();
                    if next >= *end {
                        break;
                    }
                    *index = next;
                    // Sorted entries are written in another order. So a link may refer to a later value, and an inner
                    // object may already be written through such a link.
                    if self.number_of(child).is_none() {
                        buf.push(*flags | hook::RECURSE);
                        if *flags == hook::EXTRA && !*has_inner_object {
                            buf.push(self.hook_extra_type(*record));
                        }
                        *has_inner_object = true;
                        return self.write_child(frame, child, Slot::Referent, buf);
                    }
                }
                let (record, end, flags, has_inner_object) = (*record, *end, *flags, *has_inner_object);
                return self.write_hook_end(record, end, flags, has_inner_object, buf);
            }
        }
        Ok(())
    }

    /// Writes a child of the container whose frame this is.
    pub(super) fn write_child(
        &mut self,
        frame: WriteFrame,
        child: u32,
        slot: Slot,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.push(frame)?;
        self.write_value(child, slot, buf)
    }

    /// Returns `true` if the node is a leaf that nothing else refers to.
    #[inline]
    pub(super) fn is_plain_leaf(&self, node: &Node) -> bool {
        !node.kind.is_container() && !node.has(flag::TARGET) && !matches!(node.kind, Kind::Link | Kind::Alias)
    }

    pub(super) fn write_key(&mut self, key: Key, value: u32, has_flags: bool, buf: &mut Vec<u8>) -> Result<(), Error> {
        if self.spelling.is_some() {
            let flags = self.note(value, code::KEY_FLAGS).map(|flags| flags as u8);
            let tag = self.note(value, code::KEY_TAG).map(|tag| tag as u8);
            return self.write_spelled_key(key, value, (flags.filter(|_| has_flags), tag), has_flags, buf);
        }
        self.write_plain_key(key, value, has_flags, buf)
    }
}

/// Returns `true` if Storable has a hook record for this opaque object.
pub(super) fn is_hook_record(node: &Node) -> bool {
    node.kind == Kind::Opaque && node.form() == Form::Hook
}

/// Other nodes that share the number of the node that is written next.
#[derive(Clone, Copy, Default)]
pub(super) struct NumberSharers {
    pub(super) variable: Option<u32>,
    pub(super) referent: Option<u32>,
}
