//! Writes keys.

use super::spelling;
use super::text::{integer_key, push_integer};
use super::write::Writer;
use super::write_leaf::write_quoted;
use crate::document::{Kind, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::format::append::append_slice;
use crate::format::php_losses::key_text;
use crate::output::LossKind;

/// Keys with an id that were written before, in their written form.
#[derive(Default)]
pub(super) struct RenderedKeys {
    /// Offset and length of each, by id, or 0 if it was not written yet: first for keys of
    /// arrays, then for keys of objects, whose texts may differ.
    ranges: [Vec<(u32, u32)>; 2],
    bytes: Vec<u8>,
}

impl RenderedKeys {
    #[inline]
    fn push_key(&self, id: u16, is_object: bool, buf: &mut Vec<u8>) -> bool {
        match self.ranges[usize::from(is_object)].get(usize::from(id)) {
            Some((start, len)) if *len > 0 => {
                append_slice(buf, &self.bytes, *start as usize, *len as usize);
                true
            }
            _ => false,
        }
    }

    /// Keeps the end of `buf`, if there is space.
    #[cold]
    fn keep_key(&mut self, id: u16, is_object: bool, key: &[u8]) {
        const MAX_KEPT_BYTES: usize = 1 << 20;
        let places = &mut self.ranges[usize::from(is_object)];
        if self.bytes.len() + key.len() > MAX_KEPT_BYTES {
            return;
        }
        if places.len() <= usize::from(id) {
            places.resize(usize::from(id) + 1, (0, 0));
        }
        places[usize::from(id)] = (self.bytes.len() as u32, key.len() as u32);
        self.bytes.extend_from_slice(key);
    }
}

impl Writer<'_> {
    /// Writes the position of an item of a list.
    #[inline]
    pub(super) fn write_position(&self, position: u32, value: u32, buf: &mut Vec<u8>) {
        match self.kept_source(value, spelling::KEY) {
            Some(source) => buf.extend_from_slice(source),
            None => push_integer(i64::from(position), buf),
        }
    }

    /// Writes the key with this id, for the value at `value`. Returns `false` if the key
    /// is allowed but absent.
    #[inline]
    pub(super) fn write_key_by_id(&mut self, id: u16, value: u32, is_object: bool, buf: &mut Vec<u8>) -> bool {
        if !self.is_spelled() && self.rendered_keys.push_key(id, is_object, buf) {
            return true;
        }
        let document = self.document;
        let Some(name) = document.tape().keys().get(u32::from(id)) else { return false };
        if name.node.has(flag::PLACEHOLDER) {
            return false;
        }
        if let Some(source) = self.kept_source(value, spelling::KEY) {
            buf.extend_from_slice(source);
            return true;
        }
        let start = buf.len();
        self.write_name(&name.node, name.bytes, value, is_object, buf);
        let loses = match name.node.kind {
            Kind::Int => false,
            Kind::Bytes | Kind::Text => is_cast(name.bytes, is_object),
            _ => true,
        };
        if !loses {
            self.rendered_keys.keep_key(id, is_object, &buf[start..]);
        }
        true
    }

    /// Writes a key that is a node of the tape, at `key_index`.
    pub(super) fn write_key_node(
        &mut self,
        key: &Node,
        key_index: u32,
        value: u32,
        is_object: bool,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if let Some(source) = self.kept_source(value, spelling::KEY) {
            buf.extend_from_slice(source);
            return Ok(());
        }
        let document = self.document;
        if let Some(text) = key_text(key) {
            self.write_text_key(&text, value, is_object, buf);
            return Ok(());
        }
        match key.kind {
            Kind::Int | Kind::Bytes | Kind::Text | Kind::Symbol | Kind::Encoded => {
                self.write_name(key, document.bytes(key), value, is_object, buf);
            }
            kind => {
                return Err(Error::new(ErrorKind::Unrepresentable)
                    .on_path(document.path(key_index))
                    .expecting("a key that is a string or an integer")
                    .finding(format!("{kind:?}")));
            }
        }
        Ok(())
    }

    /// Writes a key that PHP only has as a string.
    #[cold]
    fn write_text_key(&mut self, text: &[u8], value: u32, is_object: bool, buf: &mut Vec<u8>) {
        self.record_loss(LossKind::Key, value);
        write_string_key(text, is_object, buf);
    }

    #[inline]
    fn write_name(&mut self, node: &Node, bytes: &[u8], value: u32, is_object: bool, buf: &mut Vec<u8>) {
        match node.kind {
            Kind::Int => return push_integer(node.payload as i64, buf),
            Kind::Symbol => self.record_loss(LossKind::Symbol, value),
            Kind::Encoded => self.record_loss(LossKind::Encoding, value),
            _ if is_cast(bytes, is_object) => self.record_loss(LossKind::Key, value),
            _ => {}
        }
        write_string_key(bytes, is_object, buf);
    }
}

/// Returns `true` if a string becomes an integer as a key.
fn is_cast(bytes: &[u8], is_object: bool) -> bool {
    !is_object && integer_key(bytes).is_some()
}

/// Writes a string key. In an array, the text of an integer becomes that integer.
#[inline]
fn write_string_key(bytes: &[u8], is_object: bool, buf: &mut Vec<u8>) {
    match integer_key(bytes) {
        Some(value) if !is_object => push_integer(value, buf),
        _ => write_quoted(b's', bytes, buf),
    }
}
