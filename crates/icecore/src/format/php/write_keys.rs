//! Keys.

use super::spelling;
use super::text::{integer_key, push_float, push_int, push_uint};
use super::write::Writer;
use super::write_leaf::quoted;
use crate::document::{Kind, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::output::LossKind;

impl Writer<'_> {
    /// The position of an item of a list.
    #[inline]
    pub(super) fn position(&self, position: u32, value: u32, buf: &mut Vec<u8>) {
        match self.kept(value, spelling::KEY) {
            Some(source) => buf.extend_from_slice(source),
            None => integer(i64::from(position), buf),
        }
    }

    /// The key with this id, of the value at `value`. Says whether it is there
    /// and not only allowed.
    #[inline]
    pub(super) fn key_id(&mut self, id: u16, value: u32, is_object: bool, buf: &mut Vec<u8>) -> bool {
        let document = self.document;
        let Some(name) = document.tape().keys().get(u32::from(id)) else { return false };
        if name.node.has(flag::PLACEHOLDER) {
            return false;
        }
        if let Some(source) = self.kept(value, spelling::KEY) {
            buf.extend_from_slice(source);
            return true;
        }
        self.name(&name.node, name.bytes, value, is_object, buf);
        true
    }

    /// A key that stands on the tape at `at`.
    pub(super) fn key_node(
        &mut self,
        key: &Node,
        at: u32,
        value: u32,
        is_object: bool,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if let Some(source) = self.kept(value, spelling::KEY) {
            buf.extend_from_slice(source);
            return Ok(());
        }
        let document = self.document;
        match key.kind {
            Kind::Int | Kind::Bytes | Kind::Text | Kind::Symbol | Kind::Encoded => {
                self.name(key, document.bytes(key), value, is_object, buf);
            }
            Kind::Null => self.text_key(b"", value, is_object, buf),
            Kind::Bool => self.text_key(if key.payload != 0 { b"1" } else { b"0" }, value, is_object, buf),
            Kind::Uint | Kind::Float => {
                let mut text = Vec::new();
                match key.kind {
                    Kind::Uint => push_uint(key.payload, &mut text),
                    _ => push_float(f64::from_bits(key.payload), &mut text),
                }
                self.text_key(&text, value, is_object, buf);
            }
            kind => {
                return Err(Error::new(ErrorKind::Unrepresentable)
                    .on_path(document.path(at))
                    .expecting("a key that is a string or an integer")
                    .finding(format!("{kind:?}")));
            }
        }
        Ok(())
    }

    /// A key that PHP has only as a string.
    #[cold]
    fn text_key(&mut self, text: &[u8], value: u32, is_object: bool, buf: &mut Vec<u8>) {
        self.lose(LossKind::Key, value);
        string(text, is_object, buf);
    }

    #[inline]
    fn name(&mut self, node: &Node, bytes: &[u8], value: u32, is_object: bool, buf: &mut Vec<u8>) {
        match node.kind {
            Kind::Int => return integer(node.payload as i64, buf),
            Kind::Symbol => self.lose(LossKind::Symbol, value),
            Kind::Encoded => self.lose(LossKind::Encoding, value),
            _ => {}
        }
        string(bytes, is_object, buf);
    }
}

fn integer(value: i64, buf: &mut Vec<u8>) {
    buf.extend_from_slice(b"i:");
    push_int(value, buf);
    buf.push(b';');
}

/// A key of an array that is an integer's text is that integer.
#[inline]
fn string(bytes: &[u8], is_object: bool, buf: &mut Vec<u8>) {
    match integer_key(bytes) {
        Some(value) if !is_object => integer(value, buf),
        _ => quoted(b's', bytes, buf),
    }
}
