//! Output that only Perl's JSON modules write.

use super::{FrameKind, WriteFrame, Writer};
use crate::document::{Cursor, Form, Kind, Node, Value, flag};
use crate::error::Error;
use crate::format::json::emitter::CharEncoding;
use crate::format::json::options::InfNan;
use crate::format::json::perl::number::non_finite_word;

/// Classes whose objects are booleans for both modules.
const BOOLEANS: [&[u8]; 1] = [b"JSON::PP::Boolean"];

/// Returns `true` if this is UTF-8, maybe with surrogates, which Perl allows.
pub(super) fn is_perl_text(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    loop {
        let Err(error) = std::str::from_utf8(rest) else { return true };
        match rest.get(error.valid_up_to()..) {
            Some([0xED, 0xA0..=0xBF, 0x80..=0xBF, tail @ ..]) => rest = tail,
            _ => return false,
        }
    }
}

impl Writer<'_, '_, '_> {
    /// Writes infinity and NaN.
    pub(super) fn write_non_finite(&mut self, value: f64) -> Result<(), Error> {
        let word = non_finite_word(value, self.options.infnan == InfNan::Unified);
        match self.options.infnan {
            InfNan::Null => {
                self.emitter.write_word("null");
                Ok(())
            }
            InfNan::Text | InfNan::Unified => self.emitter.write_quoted(word.as_bytes(), CharEncoding::Utf8),
            InfNan::Word => self.emitter.write_raw(word.as_bytes()),
        }
    }

    /// Returns the boolean that a reference to a scalar or an object represents.
    pub(super) fn perl_boolean(&self, index: u32, node: &Node) -> Option<bool> {
        let cursor = Cursor::new(self.document, index);
        let inner = match node.kind {
            Kind::Ref => cursor.children().next()?.target(),
            Kind::Object if BOOLEANS.contains(&cursor.class()) => {
                let body = cursor.children().next()?.target();
                if body.kind() == Kind::Ref { body.children().next()?.target() } else { body }
            }
            _ => return None,
        };
        match inner.value() {
            Value::Int(1) | Value::Bytes(b"1") | Value::Text(b"1") | Value::Bool(true) => Some(true),
            Value::Int(0) | Value::Bytes(b"0") | Value::Text(b"0") => Some(false),
            Value::Float(1.0) => Some(true),
            Value::Float(value) if value == 0.0 && !value.is_sign_negative() => Some(false),
            _ => None,
        }
    }

    /// Opens an object that froze itself as `("Class")[…]`, if its payload is a list.
    /// Returns `true` if it is one.
    pub(super) fn open_tagged_object(&mut self, index: u32, node: &Node) -> Result<bool, Error> {
        let payload = index + 1;
        let Some(list) = self.nodes.get(payload as usize).filter(|list| list.kind == Kind::Array) else {
            return Ok(false);
        };
        if node.form() != Form::Freeze {
            return Ok(false);
        }
        let enclosing_map = self.current_map;
        if list.has(flag::TARGET) && self.repeated.enter(payload) {
            self.open.push(WriteFrame {
                kind: FrameKind::Target,
                is_empty: true,
                next: 0,
                end: payload,
                enclosing_map,
            });
        }
        self.emitter.write_byte(b'(');
        self.write_class_name(node.class())?;
        self.emitter.write_word(")[");
        let end = self.document.tape().index_after(payload);
        self.open.push(WriteFrame { kind: FrameKind::Tagged, is_empty: true, next: payload + 1, end, enclosing_map });
        Ok(true)
    }

    /// Continues in the innermost list of an object that froze itself. It is always on
    /// one line.
    pub(super) fn write_tagged_items(&mut self) -> Result<(), Error> {
        let Some(top) = self.open.last_mut() else { return Ok(()) };
        if top.next >= top.end {
            self.open.pop();
            self.emitter.write_byte(b']');
            return Ok(());
        }
        let item = top.next;
        if !top.is_empty {
            self.emitter.write_byte(b',');
        }
        (top.next, top.is_empty) = (self.document.tape().index_after(item), false);
        self.write_value(item)
    }
}
