//! Values of Ruby's own classes, written by their meaning.

use super::{FrameKind, WriteFrame, Writer};
use crate::document::{Cursor, Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use crate::error::Error;
use crate::format::json::emitter::CharEncoding;
use crate::known::Known;
use crate::output::LossKind;

/// Result of [`Writer::write_known`].
pub(super) enum KnownOutcome {
    /// The value is not of a known class. Nothing was written.
    Unknown,
    /// The value was written, or its container was opened and the main loop writes the contents.
    Handled,
    /// The caller writes this node in its place.
    Continue(u32),
}

/// The names under which the entries of a map are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryNames {
    /// Their keys.
    Own,
    /// The names of methods of Ruby's exceptions: `message` instead of `mesg`.
    Exception,
}

impl Writer<'_, '_, '_> {
    /// Writes an object, opaque object or attributed value if it is known.
    pub(super) fn write_known(&mut self, index: u32, node: &Node) -> Result<KnownOutcome, Error> {
        let cursor = Cursor::new(self.document_as_read, index);
        let known = match Known::of(cursor) {
            Some(known) => known,
            None if node.kind == Kind::Attrs && node.form() == Form::Subclass => return self.write_subclass(cursor),
            None => match Known::of_similar(cursor) {
                Some(similar) => {
                    if similar.has_variables {
                        self.record_loss(LossKind::Attributes, index);
                    }
                    if similar.has_other_class && self.options.class.is_none() {
                        self.record_loss(LossKind::Class, index);
                    }
                    similar.known
                }
                None => return Ok(KnownOutcome::Unknown),
            },
        };
        match known {
            Known::Set(members) => {
                self.record_loss(LossKind::Set, index);
                self.open_brace_for_class(node)?;
                let map = members.map.index();
                let end = self.document.tape().index_after(map);
                self.emitter.write_byte(b'[');
                self.depth += 1;
                self.open.push(WriteFrame {
                    kind: FrameKind::Set,
                    is_empty: true,
                    next: map + 1,
                    end,
                    enclosing_map: self.current_map,
                });
                Ok(KnownOutcome::Handled)
            }
            Known::Exception(_) => self.open_exception(index, node).map(|()| KnownOutcome::Handled),
            Known::Map(map) => {
                self.write_or_lose_class(index, node)?;
                Ok(KnownOutcome::Continue(map.index()))
            }
            scalar => {
                let Some(written) = scalar.text(self.limits) else { return Ok(KnownOutcome::Unknown) };
                let (kind, is_exact) = match scalar {
                    Known::Time(moment) | Known::DateTime(moment) => (LossKind::Time, moment.is_exact()),
                    Known::Date(_) => (LossKind::Time, true),
                    Known::Range { .. } => (LossKind::Range, true),
                    _ => (LossKind::Number, true),
                };
                self.record_loss(kind, index);
                if !is_exact {
                    self.record_loss(LossKind::Precision, index);
                }
                self.open_brace_for_class(node)?;
                self.emitter.write_quoted(written.as_bytes(), CharEncoding::Utf8)?;
                Ok(KnownOutcome::Handled)
            }
        }
    }

    /// Writes an instance of a user's subclass of a core class: the core value with a
    /// class.
    fn write_subclass(&mut self, cursor: Cursor<'_>) -> Result<KnownOutcome, Error> {
        let index = cursor.index();
        if index + 1 >= cursor.index_after() {
            return Ok(KnownOutcome::Unknown);
        }
        if cursor.entries().next().is_some() {
            self.record_loss(LossKind::Attributes, index);
        }
        self.write_or_lose_class(index, cursor.node())?;
        Ok(KnownOutcome::Continue(index + 1))
    }

    /// Writes the class as an entry, if the option asks for it; otherwise it is lost.
    fn write_or_lose_class(&mut self, index: u32, node: &Node) -> Result<(), Error> {
        if self.options.class.is_some() {
            return self.open_object(index, node.class());
        }
        self.record_loss(LossKind::Class, index);
        Ok(())
    }

    fn open_brace_for_class(&mut self, node: &Node) -> Result<(), Error> {
        if self.options.class.is_some() { self.open_brace(node.class()) } else { Ok(()) }
    }

    /// Opens an exception: an object whose members are named like Ruby's methods.
    fn open_exception(&mut self, index: u32, node: &Node) -> Result<(), Error> {
        self.write_or_lose_class(index, node)?;
        let body = index + 1;
        let end = self.document.tape().index_after(body);
        self.open_map_with_class(body, end)?;
        self.order_entries(body, end, EntryNames::Exception)
    }

    /// Continues in the innermost set: its members are the keys of a map.
    pub(super) fn write_set_members(&mut self) -> Result<(), Error> {
        let Some(WriteFrame { mut next, end, mut is_empty, .. }) = self.open.last().copied() else { return Ok(()) };
        while next < end {
            let Some(node) = self.nodes.get(next as usize) else { break };
            if matches!(node.key, NO_KEY | KEY_NODE) {
                break;
            }
            self.emitter.make_space()?;
            self.write_separator(&mut is_empty)?;
            // A member is a key of the map: a node before its value, or an id in the node of its value.
            let value = if node.key == IS_KEY { self.document.tape().index_after(next) } else { next };
            let member = (node.key == IS_KEY).then_some(next);
            next = self.document.tape().index_after(value);
            match member {
                Some(member) => {
                    if let Some(top) = self.open.last_mut() {
                        (top.next, top.is_empty) = (next, is_empty);
                    }
                    return self.write_value(member);
                }
                None => self.write_set_member(node.key, value)?,
            }
        }
        if let Some(top) = self.open.last_mut() {
            top.is_empty = is_empty;
        }
        self.close_container(b']')
    }

    /// Writes a member that is the key with this id.
    fn write_set_member(&mut self, id: u16, index: u32) -> Result<(), Error> {
        let document = self.document;
        let Some(name) = document.tape().keys().get(u32::from(id)) else {
            self.emitter.write_word("null");
            return Ok(());
        };
        match name.node.kind {
            Kind::Int => {
                self.emitter.write_int(name.node.payload as i64);
                return Ok(());
            }
            Kind::Symbol => self.record_loss(LossKind::Symbol, index),
            Kind::Encoded => self.record_encoding_loss(&name.node, index),
            _ => {}
        }
        let text = self.encode_text(name.node.kind, name.bytes);
        self.record_text_loss(index, text.is_lossy.then_some(LossKind::Bytes))?;
        self.emitter.write_quoted(&text.bytes, text.chars)
    }

    /// Returns the new name for a member of an exception. It is empty if the member keeps its name, and
    /// `None` if the member is left out because another one has the same content.
    pub(super) fn exception_key(&self, key: &Node, bytes: &[u8], value: u32) -> Option<&'static [u8]> {
        if !key.kind.is_string() || key.has(flag::PLACEHOLDER) {
            return Some(b"");
        }
        match bytes {
            b"mesg" => Some(b"message"),
            b"bt" => Some(b"backtrace"),
            b"bt_locations" => {
                let is_redundant =
                    self.nodes.get(value as usize).is_some_and(|node| matches!(node.kind, Kind::Null | Kind::Link));
                if is_redundant { None } else { Some(b"") }
            }
            _ => Some(b""),
        }
    }
}
