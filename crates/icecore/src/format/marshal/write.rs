//! Writes Ruby's Marshal format.
//!
//! The writer replays the spelling of a document that was read from Marshal. Without spelling it chooses as Ruby
//! does.

use super::number::{is_fixnum, push_integer};
use super::read::MAX_WRAPPERS;
use super::spelling::{self, value as code};
use super::write_fast::{CHUNK, ChildPosition};
use super::write_filled::write_filled;
use super::write_floats::FloatNumbers;
use super::write_names::WrittenNames;
use super::{FORMAT, MAJOR, MINOR, NAME, WriteOptions};
use crate::document::{Cursor, Document, Form, IS_KEY, Key, Kind, NO_KEY, Node, Replay, flag};
use crate::error::Error;
use crate::format::append::append_named;
use crate::format::chain_too_long_error;
use crate::hash::SeededMap;
use crate::limits::Limits;
use crate::output::{FLUSH_SIZE, LossKind, Losses, Output, Spare, Written};

/// Writes a document as a dump, and reports what Marshal could not represent.
///
/// # Errors
/// Of kind `Limit`, if the document is nested too deeply; `Output`, if the
/// output was closed.
pub fn write(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    document.tape().check_structure()?;
    let document = &*document.without_array_copies(limits)?;
    let has_spelling = document.spelling_of(NAME).is_some();
    append_named(document, &FORMAT, limits, out, |document, out| {
        if !options.utf8 || has_spelling {
            return write_whole(document, limits, out);
        }
        let mut tape = document.tape().clone();
        tape.bytes_to_text(document.input());
        write_whole(&Document::from_tape(document.input(), tape), limits, out)
    })
}

impl crate::format::Writer for WriteOptions {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, self, limits, out)
    }

    fn write_filled(&self, document: &Document<'_>, limits: &Limits, spare: &mut Spare, buf: &mut Vec<u8>) -> bool {
        let tape = document.tape();
        let start = buf.len();
        let is_written = tape.is_filled_by_caller()
            && tape.naming == FORMAT.can.naming
            && !self.utf8
            && write_filled(document, limits, spare, buf).is_some();
        if !is_written {
            buf.truncate(start);
        }
        is_written
    }
}

fn write_whole(document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
    let spelling = document.spelling_of(NAME);
    let minor = spelling.and_then(|spelling| spelling.get(spelling::MINOR)).and_then(|minor| u8::try_from(minor).ok());
    out.buffer().extend_from_slice(&[MAJOR, minor.filter(|minor| *minor <= MINOR).unwrap_or(MINOR)]);
    let mut writer = Writer {
        document,
        // The fast loops do not look up notes, so they would be wrong with spelling. They take the counts of hashes as
        // they are, so they would be wrong with keys that a restricted hash allows but does not contain.
        may_use_fast_loops: spelling.is_none() && !document.tape().keys().has_absent(),
        limits,
        spelling: spelling.map(|spelling| Replay::new(spelling, document.tape())),
        stack: Vec::new(),
        end_count: 0,
        names: WrittenNames::default(),
        numbers: SeededMap::default(),
        floats: FloatNumbers::default(),
        numbered_values: SeededMap::default(),
        pending_targets: Vec::new(),
        next_number: 0,
        reserved_number: None,
        losses: Losses::with_limits(limits),
    };
    if document.header().is_some() {
        writer.losses.add(LossKind::Header, || "$".to_owned());
    }
    writer.write_document(out)?;
    Ok(writer.losses)
}

/// A value that is not completely written.
#[derive(Clone, Copy)]
pub(super) enum WriteFrame {
    /// The nodes from `index` to `end`, and the form of their keys.
    Children { index: u32, end: u32, keys: KeyStyle },
    /// The end of a value with attributes: its encoding, if it is written here, and its variables.
    Variables { attributes: u32, encoded: Option<u32> },
    /// A number that an object gets only after its content, because Ruby numbers an object with a dump in this order.
    Number { index: u32 },
}

/// How keys are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyStyle {
    /// As values; equal strings are one object.
    Values,
    /// As values, each with its own identity.
    Identity,
    /// As symbols that name members.
    Members,
}

/// A value with a number that notes may refer to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberedValue<'d> {
    Float(u64),
    Int(i64),
    String(Kind, u16, &'d [u8]),
}

pub(super) struct Writer<'d> {
    pub(super) document: &'d Document<'d>,
    pub(super) limits: &'d Limits,
    pub(super) spelling: Option<Replay<'d>>,
    /// Whether the fast loops may be used.
    may_use_fast_loops: bool,
    pub(super) stack: Vec<WriteFrame>,
    /// Number of frames on the stack that are the end of a value, and no level of their own.
    end_count: usize,
    pub(super) names: WrittenNames<'d>,
    /// The numbers of nodes that links refer to.
    pub(super) numbers: SeededMap<u32, u32>,
    /// The numbers of floats that Ruby stores in the reference itself.
    pub(super) floats: FloatNumbers,
    /// The values with a number, if there are notes.
    pub(super) numbered_values: SeededMap<u32, NumberedValue<'d>>,
    /// Nodes that get the next number as well: wrappers that Ruby does not have.
    pub(super) pending_targets: Vec<u32>,
    /// The next object number.
    pub(super) next_number: u32,
    /// The number of the next value, if the names before it took numbers after it.
    pub(super) reserved_number: Option<u32>,
    pub(super) losses: Losses,
}

impl<'d> Writer<'d> {
    fn write_document(&mut self, out: &mut dyn Output) -> Result<(), Error> {
        self.write_value(self.document.root().index(), out.buffer())?;
        while !self.stack.is_empty() {
            let buf = out.buffer();
            let flush_at = buf.len() + FLUSH_SIZE;
            while buf.len() < flush_at
                && let Some(frame) = self.stack.pop()
            {
                self.write_frame(frame, buf)?;
            }
            out.allow_flush()?;
        }
        Ok(())
    }

    // -- Small helpers --------------------------------------------------------

    pub(super) fn index_after(&self, index: u32) -> u32 {
        self.document.tape().index_after(index)
    }

    pub(super) fn find_note(&self, index: u32, code: u16) -> Option<u64> {
        self.spelling.as_ref()?.note_value(index, code)
    }

    pub(super) fn record_loss(&mut self, kind: LossKind, index: u32) {
        let document = self.document;
        self.losses.add(kind, || document.path(index));
    }

    /// Returns an error if the limit does not allow another level.
    #[inline]
    pub(super) fn check_depth(&self) -> Result<(), Error> {
        let is_too_deep = self.stack.len() - self.end_count >= self.limits.depth as usize;
        if is_too_deep { Err(self.limits.too_deep()) } else { Ok(()) }
    }

    #[inline]
    pub(super) fn push_frame(&mut self, frame: WriteFrame) -> Result<(), Error> {
        match frame {
            WriteFrame::Children { .. } => self.check_depth()?,
            WriteFrame::Variables { .. } | WriteFrame::Number { .. } => self.end_count += 1,
        }
        self.stack.push(frame);
        Ok(())
    }

    /// Assigns the next number to the node.
    #[inline]
    pub(super) fn assign_number(&mut self, index: u32) {
        let number = self.reserved_number.take().unwrap_or(self.next_number);
        if self.document.node(index).has(flag::TARGET) {
            self.numbers.insert(index, number);
        }
        for target in self.pending_targets.drain(..) {
            self.numbers.insert(target, number);
        }
        if number == self.next_number {
            self.next_number += 1;
        }
    }

    pub(super) fn write_bytes(&self, bytes: &[u8], buf: &mut Vec<u8>) {
        push_integer(bytes.len() as i64, buf);
        buf.extend_from_slice(bytes);
    }

    // -- Values --------------------------------------------------------------

    /// Writes a value: a leaf completely, a container up to its beginning.
    pub(super) fn write_value(&mut self, index: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        self.pending_targets.clear();
        let (first, mut current, mut has_links) = (index, index, false);
        // Hand-made links may form a circle.
        for _ in 0..=self.document.max_link_steps(self.limits) {
            let node = self.document.node(current);
            if node.flags & (flag::WEAK | flag::OVERLOAD) != 0 && may_be_weak(node.kind) {
                if node.has(flag::WEAK) {
                    self.record_loss(LossKind::Weak, current);
                }
                if node.has(flag::OVERLOAD) {
                    self.record_loss(LossKind::Overload, current);
                }
            }
            if node.has(flag::TARGET)
                && let Some(number) = self.numbers.get(&current)
            {
                buf.push(b'@');
                push_integer(i64::from(*number), buf);
                return Ok(());
            }
            let inner = match node.kind {
                Kind::Link | Kind::Alias | Kind::Copy => {
                    let target = node.payload as u32;
                    if target >= current
                        || self.document.node(target).kind.is_container() && self.index_after(target) > current
                    {
                        let is_known = self.numbers.contains_key(&target);
                        if !is_known && self.document.node(target).kind.is_container() {
                            self.record_loss(LossKind::Cycle, current);
                            buf.push(b'0');
                            return Ok(());
                        }
                    }
                    has_links = true;
                    if node.kind == Kind::Alias && has_no_identity(self.document.node(target)) {
                        self.record_loss(LossKind::Sharing, current);
                    }
                    target
                }
                Kind::Ref => self.skip_lost_wrapper(LossKind::Reference, current, &node),
                Kind::Tied => self.skip_lost_wrapper(LossKind::Tied, current, &node),
                Kind::VString => {
                    self.record_loss(LossKind::VString, current);
                    self.index_after(current + 1)
                }
                Kind::Code => self.skip_lost_wrapper(LossKind::Code, current, &node),
                Kind::Object if !self.is_ruby_object(current, &node) => {
                    self.skip_lost_wrapper(LossKind::Class, current, &node)
                }
                Kind::Opaque if !self.is_ruby_opaque(current, &node) => {
                    self.skip_lost_wrapper(LossKind::Opaque, current, &node)
                }
                Kind::Attrs => match self.write_attributed(current, buf)? {
                    Some(inner) => inner,
                    None => return Ok(()),
                },
                _ => return self.write_bare(current, &node, false, buf),
            };
            current = inner;
        }
        Err(chain_too_long_error(self.document, first, has_links, self.limits))
    }

    /// Returns the content of a wrapper that Ruby can't represent.
    fn skip_lost_wrapper(&mut self, kind: LossKind, index: u32, node: &Node) -> u32 {
        self.record_loss(kind, index);
        if node.has(flag::TARGET) {
            self.pending_targets.push(index);
        }
        index + 1
    }

    /// Returns `true` if Ruby could have this object: its class is a constant, and its members are variables. This is
    /// always true for objects that were read from Marshal.
    fn is_ruby_object(&self, index: u32, node: &Node) -> bool {
        let body = Cursor::new(self.document, index + 1);
        let has_names = node.end() > index + 1
            && body.kind() == Kind::Map
            && !body.node().has(flag::TARGET)
            && body.entries().all(|(key, _)| matches!(key, Key::Name(_)));
        let is_member = |key: &Key<'_>| match key.node().kind {
            Kind::Symbol => true,
            Kind::Bytes | Kind::Text => is_variable_name(key.bytes()) || key.node().has(flag::PLACEHOLDER),
            _ => false,
        };
        let class = self.document.class_name(node.class()).map_or(&b""[..], |name| name.bytes);
        let has_only_symbols = || body.entries().all(|(key, _)| key.node().kind == Kind::Symbol);
        has_names
            && (self.spelling.is_some()
                || (is_constant_name(class) || !body.is_empty() && has_only_symbols())
                    && body.entries().all(|(key, _)| is_member(&key)))
    }

    /// Returns `true` if an opaque object is one of Ruby's.
    fn is_ruby_opaque(&self, index: u32, node: &Node) -> bool {
        match node.form() {
            Form::UserMarshal | Form::Data => true,
            Form::UserDump => {
                let payload = self.document.node(index + 1);
                let payload = if payload.kind == Kind::Attrs { self.document.node(index + 2) } else { payload };
                matches!(payload.kind, Kind::Bytes | Kind::Text | Kind::Encoded)
            }
            _ => false,
        }
    }

    /// Writes attributes: everything before the value that has them, and that value.
    /// Returns the value's node if something wraps it.
    fn write_attributed(&mut self, first: u32, buf: &mut Vec<u8>) -> Result<Option<u32>, Error> {
        let mut inner = first;
        while self.document.node(inner).kind == Kind::Attrs {
            inner += 1;
        }
        // More wrappers than a value usually has count as levels, as in the reader.
        if ((inner - first).saturating_sub(MAX_WRAPPERS)) as usize > self.limits.depth as usize {
            return Err(self.limits.too_deep());
        }
        let node = self.document.node(inner);
        if !takes_number(node) && !node.kind.is_again() {
            // Integers and the like can't have attributes.
            self.record_loss(LossKind::Attributes, first);
            return self.write_bare(inner, &node, false, buf).map(|()| None);
        }
        let mut encoded = self.written_encoding(inner).map(|_| inner);
        let has_encoding = encoded.is_some() || self.find_note(inner, code::NAME_ENCODING).is_some();
        let has_entries = |index: u32| self.index_after(index + 1) < self.index_after(index);
        if has_encoding && !(first..inner).any(has_entries) {
            buf.push(b'I');
            self.push_frame(WriteFrame::Variables { attributes: inner, encoded: encoded.take().or(Some(inner)) })?;
        }
        for index in first..inner {
            let node = self.document.node(index);
            if node.has(flag::TARGET) {
                self.pending_targets.push(index);
            }
            if self.index_after(index + 1) < self.index_after(index) {
                buf.push(b'I');
                self.push_frame(WriteFrame::Variables { attributes: index, encoded: encoded.take() })?;
            }
            if node.class() != 0 {
                buf.push(if node.form() == Form::Module { b'e' } else { b'C' });
                self.reserve_number_before_name(node.class());
                self.write_class(node.class(), buf);
            }
        }
        if node.kind.is_again() || !self.is_bare(inner, &node) {
            self.pending_targets.clear();
            return Ok(Some(inner));
        }
        if node.has(flag::TARGET)
            && let Some(number) = self.numbers.get(&inner)
        {
            buf.push(b'@');
            push_integer(i64::from(*number), buf);
            return Ok(None);
        }
        self.write_bare(inner, &node, true, buf).map(|()| None)
    }

    /// Returns `true` if the value can be written without its wrapper: [`Self::write_bare`] writes it.
    fn is_bare(&self, index: u32, node: &Node) -> bool {
        match node.kind {
            Kind::Object => self.is_ruby_object(index, node),
            Kind::Opaque => self.is_ruby_opaque(index, node),
            Kind::Ref | Kind::Tied | Kind::VString | Kind::Code => false,
            _ => true,
        }
    }

    /// Writes a value without its attributes. `is_encoded_outside` states whether the wrapper
    /// of the value writes its encoding.
    fn write_bare(
        &mut self,
        index: u32,
        node: &Node,
        is_encoded_outside: bool,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if !node.kind.is_container() {
            return self.write_leaf(index, node, is_encoded_outside, buf);
        }
        let end = self.index_after(index);
        match node.kind {
            Kind::Array => {
                self.assign_number(index);
                buf.push(b'[');
                push_integer(i64::from(node.aux), buf);
                self.push_frame(WriteFrame::Children { index: index + 1, end, keys: KeyStyle::Values })
            }
            Kind::Map => {
                self.assign_number(index);
                let keys = if node.has(flag::IDENTITY) { KeyStyle::Identity } else { KeyStyle::Values };
                if keys == KeyStyle::Identity {
                    buf.push(b'C');
                    self.write_symbol(b"Hash", b"", buf);
                }
                buf.push(if node.has(flag::DEFAULT) { b'}' } else { b'{' });
                push_integer(self.count_entries(index, node), buf);
                self.push_frame(WriteFrame::Children { index: index + 1, end, keys })
            }
            Kind::Object => {
                self.assign_number(index);
                buf.push(if node.form() == Form::Struct { b'S' } else { b'o' });
                self.write_class(node.class(), buf);
                let map = self.document.node(index + 1);
                let mut end = self.index_after(index + 1);
                if map.flags & (flag::DEFAULT | flag::IDENTITY) != 0 {
                    self.record_loss(LossKind::MapKind, index);
                    end = self.document.tape().index_after_entries(index + 1, map.aux);
                }
                push_integer(self.count_entries(index + 1, &map), buf);
                self.push_frame(WriteFrame::Children { index: index + 2, end, keys: KeyStyle::Members })
            }
            Kind::Opaque if node.form() == Form::UserDump => {
                self.record_lost_links(index);
                self.write_user_dump(index, node, buf)
            }
            Kind::Opaque => {
                self.record_lost_links(index);
                self.assign_number(index);
                buf.push(if node.form() == Form::Data { b'd' } else { b'U' });
                self.write_class(node.class(), buf);
                self.push_frame(WriteFrame::Children {
                    index: index + 1,
                    end: self.index_after(index + 1),
                    keys: KeyStyle::Values,
                })
            }
            Kind::Regexp => {
                self.write_regexp(index, is_encoded_outside, buf);
                Ok(())
            }
            _ => {
                buf.push(b'0');
                Ok(())
            }
        }
    }

    /// Returns how many entries of a map are written.
    fn count_entries(&mut self, index: u32, node: &Node) -> i64 {
        if node.has(flag::RESTRICTED) {
            self.record_loss(LossKind::Restricted, index);
        }
        let mut count = i64::from(node.aux);
        if self.document.tape().keys().has_absent() {
            let map = Cursor::new(self.document, index);
            count -= map.entries().filter(|(key, _)| self.is_absent(&key.node())).count() as i64;
        }
        count
    }

    /// Reports parts after a payload, which a dump can't represent.
    fn record_lost_links(&mut self, index: u32) {
        if self.index_after(index + 1) < self.index_after(index) {
            self.record_loss(LossKind::Opaque, index);
        }
    }

    // -- Open containers -----------------------------------------------------

    fn write_frame(&mut self, frame: WriteFrame, buf: &mut Vec<u8>) -> Result<(), Error> {
        match frame {
            WriteFrame::Children { index, end, keys } => self.write_children(index, end, keys, buf),
            WriteFrame::Number { index } => {
                self.end_count -= 1;
                self.assign_number(index);
                Ok(())
            }
            WriteFrame::Variables { attributes, encoded } => {
                self.end_count -= 1;
                let node = self.document.node(attributes);
                let (index, end) = match node.kind {
                    Kind::Attrs => (self.index_after(attributes + 1), self.index_after(attributes)),
                    _ => (0, 0),
                };
                let count = if node.kind == Kind::Attrs { i64::from(node.aux.saturating_sub(1)) } else { 0 };
                let encoding = encoded.filter(|encoded_node| self.has_written_encoding(*encoded_node));
                push_integer(count + i64::from(encoding.is_some()), buf);
                if let Some(encoded_node) = encoding {
                    self.write_encoding(encoded_node, buf);
                }
                self.push_frame(WriteFrame::Children { index, end, keys: KeyStyle::Members })
            }
        }
    }

    fn write_children(&mut self, start: u32, end: u32, keys: KeyStyle, buf: &mut Vec<u8>) -> Result<(), Error> {
        let (mut index, mut end, mut keys, mut has_key) = (start, end, keys, false);
        let flush_at = buf.len() + CHUNK;
        loop {
            if buf.len() >= flush_at && !has_key {
                return self.push_frame(WriteFrame::Children { index, end, keys });
            }
            if self.may_use_fast_loops && keys != KeyStyle::Identity && !has_key {
                match self.write_fast_children(ChildPosition { index, end, keys, has_key }, buf)? {
                    Some(position) => ChildPosition { index, end, keys, has_key } = position,
                    None => return Ok(()),
                }
            }
            if index >= end {
                return Ok(());
            }
            let node = self.document.node(index);
            match node.key {
                _ if has_key => has_key = false,
                NO_KEY | crate::document::KEY_NODE => {}
                IS_KEY => {
                    if self.is_absent(&node) {
                        index = self.index_after(index + 1);
                        continue;
                    }
                    if self.write_key_node(index, &node, keys, buf) {
                        index += 1;
                        continue;
                    }
                }
                id => {
                    if !self.write_key(id, index, keys, buf) {
                        index = self.index_after(index);
                        continue;
                    }
                }
            }
            let next = self.index_after(index);
            if !node.kind.is_container() && !node.kind.is_again() && !node.has(flag::TARGET) {
                self.pending_targets.clear();
                self.write_leaf(index, &node, false, buf)?;
                index = next;
                continue;
            }
            self.push_frame(WriteFrame::Children { index: next, end, keys })?;
            return self.write_value(index, buf);
        }
    }

    fn is_absent(&self, node: &Node) -> bool {
        node.has(flag::PLACEHOLDER) && node.kind.is_string()
    }
}

/// Returns `true` if Ruby can have a class of this name, such as `A::B`.
fn is_constant_name(name: &[u8]) -> bool {
    String::from_utf8_lossy(name).split("::").all(|part| {
        part.starts_with(|c: char| c.is_ascii_uppercase() || !c.is_ascii())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii())
    })
}

/// Returns `true` if `@` and this name are an instance variable.
fn is_variable_name(name: &[u8]) -> bool {
    name.first().is_some_and(|first| !first.is_ascii_digit())
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii())
}

/// Returns `true` if the flags of this kind of node describe the reference to it.
fn may_be_weak(kind: Kind) -> bool {
    kind.is_container() || kind == Kind::Link
}

/// Returns `true` if this is not a separate object that two places could share.
fn has_no_identity(node: Node) -> bool {
    !takes_number(node) || matches!(node.kind, Kind::Int | Kind::Uint | Kind::BigInt | Kind::Float | Kind::Float32)
}

/// Returns `true` if Ruby assigns an object number to this value.
pub(super) fn takes_number(node: Node) -> bool {
    match node.kind {
        Kind::Null | Kind::Bool | Kind::Hole | Kind::Symbol => false,
        Kind::Int => !is_fixnum(node.payload as i64),
        _ => true,
    }
}
