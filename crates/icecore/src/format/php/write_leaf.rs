//! Writes leaves, including those that PHP has no value for.

use super::spelling;
use super::text::{is_enum_case, push_float, push_integer, push_number, says};
use super::write::Writer;
use crate::document::{Kind, Location, Node};
use crate::format::append::append;
use crate::format::php_losses::{Instead, instead, lost_flags, lost_shape, lost_wrapper};
use crate::output::LossKind;

/// Strings up to this length are copied without a function call.
const SHORT: u32 = 16;

impl Writer<'_> {
    /// Writes a leaf.
    #[inline]
    pub(super) fn leaf(&mut self, at: u32, node: &Node, buf: &mut Vec<u8>) {
        if let Some(source) = self.kept(at, spelling::SOURCE) {
            return buf.extend_from_slice(source);
        }
        match node.kind {
            Kind::Bytes | Kind::Text => {
                let document = self.document;
                if !self.is_spelled() && node.aux <= SHORT {
                    let (base, start) = match node.place() {
                        Location::Input(start) => (document.input(), start as usize),
                        Location::Arena(start) => (document.tape().arena(), start as usize),
                    };
                    push_number(b"s:", u64::from(node.aux), b":\"", buf);
                    append(buf, base, start, node.aux as usize);
                    return buf.extend_from_slice(b"\";");
                }
                let bytes = document.bytes(node);
                match self.kept(at, spelling::HEAD).filter(|head| says(head, bytes.len() as u64)) {
                    Some(head) => {
                        buf.extend_from_slice(head);
                        buf.extend_from_slice(bytes);
                        buf.extend_from_slice(b"\";");
                    }
                    None => quoted(b's', bytes, buf),
                }
            }
            Kind::Int => push_integer(node.payload as i64, buf),
            Kind::Float => float(f64::from_bits(node.payload), buf),
            Kind::Null => buf.extend_from_slice(b"N;"),
            Kind::Bool => buf.extend_from_slice(if node.payload != 0 { b"b:1;" } else { b"b:0;" }),
            _ => self.rare_leaf(at, node, buf),
        }
    }

    #[cold]
    fn rare_leaf(&mut self, at: u32, node: &Node, buf: &mut Vec<u8>) {
        let document = self.document;
        if node.kind == Kind::EnumCase && is_enum_case(document.bytes(node)) {
            return quoted(b'E', document.bytes(node), buf);
        }
        match instead(document, node, |kind| self.lose(kind, at)) {
            Instead::Bytes(bytes) => quoted(b's', bytes, buf),
            Instead::Digits(digits) => quoted(b's', &digits, buf),
            Instead::Float(value) => float(value, buf),
            Instead::Null => buf.extend_from_slice(b"N;"),
        }
    }

    /// Counts the flags of a value that PHP can't represent.
    #[inline]
    pub(super) fn flag_losses(&mut self, at: u32, node: &Node) {
        lost_flags(node, |kind| self.lose(kind, at));
    }

    /// Counts what PHP's only kind of array can't represent.
    #[inline]
    pub(super) fn shape_losses(&mut self, at: u32, node: &Node, is_body: bool) {
        if self.session == Some(at) {
            if node.kind == Kind::Array {
                self.lose(LossKind::ArrayKind, at);
            }
        } else if is_body || node.kind == Kind::Map {
            lost_shape(self.document, at, is_body, |kind| self.lose(kind, at));
        }
    }

    /// Counts what is lost with a node if only its content is written.
    pub(super) fn wrapper_losses(&mut self, at: u32) {
        lost_wrapper(self.document, at, |kind| self.lose(kind, at));
    }
}

fn float(value: f64, buf: &mut Vec<u8>) {
    buf.extend_from_slice(b"d:");
    push_float(value, buf);
    buf.push(b';');
}

#[inline]
pub(super) fn quoted(tag: u8, bytes: &[u8], buf: &mut Vec<u8>) {
    push_number(&[tag, b':'], bytes.len() as u64, b":\"", buf);
    buf.extend_from_slice(bytes);
    buf.extend_from_slice(b"\";");
}

/// Appends the letter of an object and its class: `O:8:"stdClass":`.
pub(super) fn push_class(letter: u8, name: &[u8], buf: &mut Vec<u8>) {
    push_number(&[letter, b':'], name.len() as u64, b":\"", buf);
    buf.extend_from_slice(name);
    buf.extend_from_slice(b"\":");
}
