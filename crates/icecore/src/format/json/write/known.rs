//! Values of Ruby's own classes, written by their meaning.

use super::{Frame, What, Writer};
use crate::document::{Cursor, Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use crate::error::Error;
use crate::format::json::emitter::Chars;
use crate::known::Known;
use crate::output::LossKind;

/// Result for a value that may be a known one.
pub(super) enum KnownOutcome {
    /// It is not known: nothing was written.
    No,
    /// It was written, or its rest is open.
    Done,
    /// The value to continue with.
    GoOn(u32),
}

impl Writer<'_, '_, '_> {
    /// Writes an object, opaque object or attributed value if it is known.
    pub(super) fn known(&mut self, at: u32, node: &Node) -> Result<KnownOutcome, Error> {
        let here = Cursor::new(self.original, at);
        let Some(known) = Known::of(here) else {
            return if node.kind == Kind::Attrs && node.form() == Form::Subclass {
                self.subclass(here)
            } else {
                Ok(KnownOutcome::No)
            };
        };
        match known {
            Known::Set(members) => {
                self.lose(LossKind::Set, at);
                self.brace_if_asked(node)?;
                let map = members.map.index();
                let end = self.document.tape().next(map);
                self.emitter.byte(b'[');
                self.depth += 1;
                self.open.push(Frame { what: What::Set, is_empty: true, next: map + 1, end, around: self.serial });
                Ok(KnownOutcome::Done)
            }
            Known::Exception(_) => self.exception(at, node).map(|()| KnownOutcome::Done),
            Known::Map(map) => {
                self.class_of(at, node)?;
                Ok(KnownOutcome::GoOn(map.index()))
            }
            text => {
                let Some(written) = text.text(self.limits) else { return Ok(KnownOutcome::No) };
                let (kind, is_exact) = match text {
                    Known::Time(moment) | Known::DateTime(moment) => (LossKind::Time, moment.is_exact()),
                    Known::Date(_) => (LossKind::Time, true),
                    Known::Range { .. } => (LossKind::Range, true),
                    _ => (LossKind::Number, true),
                };
                self.lose(kind, at);
                if !is_exact {
                    self.lose(LossKind::Precision, at);
                }
                self.brace_if_asked(node)?;
                self.emitter.quoted(written.as_bytes(), Chars::Utf8)?;
                Ok(KnownOutcome::Done)
            }
        }
    }

    /// Writes an instance of a user's subclass of a core class: the core value with a
    /// class.
    fn subclass(&mut self, here: Cursor<'_>) -> Result<KnownOutcome, Error> {
        let at = here.index();
        if at + 1 >= here.next() {
            return Ok(KnownOutcome::No);
        }
        if here.entries().next().is_some() {
            self.lose(LossKind::Attributes, at);
        }
        self.class_of(at, here.node())?;
        Ok(KnownOutcome::GoOn(at + 1))
    }

    /// Writes the class as an entry, if the option asks for it; otherwise it is lost.
    fn class_of(&mut self, at: u32, node: &Node) -> Result<(), Error> {
        if self.options.class.is_some() {
            return self.object(at, node.class());
        }
        self.lose(LossKind::Class, at);
        Ok(())
    }

    fn brace_if_asked(&mut self, node: &Node) -> Result<(), Error> {
        if self.options.class.is_some() { self.brace(node.class()) } else { Ok(()) }
    }

    /// Opens an exception: an object whose members are named like Ruby's methods.
    fn exception(&mut self, at: u32, node: &Node) -> Result<(), Error> {
        self.class_of(at, node)?;
        let body = at + 1;
        let end = self.document.tape().next(body);
        self.open_any_map(body, end)?;
        self.put_in_order(body, end, true)
    }

    /// Continues in the innermost set: its members are the keys of a map.
    pub(super) fn set(&mut self) -> Result<(), Error> {
        let Some(Frame { mut next, end, mut is_empty, .. }) = self.open.last().copied() else { return Ok(()) };
        while next < end {
            let Some(node) = self.nodes.get(next as usize) else { break };
            if matches!(node.key, NO_KEY | KEY_NODE) {
                break;
            }
            self.emitter.turn()?;
            self.separate(&mut is_empty)?;
            let value = if node.key == IS_KEY { self.document.tape().next(next) } else { next };
            let member = (node.key == IS_KEY).then_some(next);
            next = self.document.tape().next(value);
            match member {
                Some(member) => {
                    if let Some(top) = self.open.last_mut() {
                        (top.next, top.is_empty) = (next, is_empty);
                    }
                    return self.value(member);
                }
                None => self.member(node.key, value)?,
            }
        }
        if let Some(top) = self.open.last_mut() {
            top.is_empty = is_empty;
        }
        self.close(b']')
    }

    /// Writes a member that is the key with this id.
    fn member(&mut self, id: u16, at: u32) -> Result<(), Error> {
        let document = self.document;
        let Some(name) = document.tape().keys().get(u32::from(id)) else {
            self.emitter.word("null");
            return Ok(());
        };
        match name.node.kind {
            Kind::Int => {
                self.emitter.int(name.node.payload as i64);
                return Ok(());
            }
            Kind::Symbol => self.lose(LossKind::Symbol, at),
            Kind::Encoded => self.lose_encoding(&name.node, at),
            _ => {}
        }
        let text = self.text_of(name.node.kind, name.bytes);
        self.finish_text(at, text.is_lossy.then_some(LossKind::Bytes))?;
        self.emitter.quoted(&text.bytes, text.chars)
    }

    /// Returns the name for a member of an exception. `None`: it is left out, because
    /// another member has the same content.
    pub(super) fn exception_key(&self, key: &Node, bytes: &[u8], value: u32) -> Option<&'static [u8]> {
        if !key.kind.is_string() || key.has(flag::PLACEHOLDER) {
            return Some(b"");
        }
        match bytes {
            b"mesg" => Some(b"message"),
            b"bt" => Some(b"backtrace"),
            b"bt_locations" => {
                let is_again =
                    self.nodes.get(value as usize).is_some_and(|node| matches!(node.kind, Kind::Null | Kind::Link));
                if is_again { None } else { Some(b"") }
            }
            _ => Some(b""),
        }
    }
}
