//! Writes leaves, including those that PHP has no value for.

use super::spelling;
use super::text::{is_enum_case, push_float, push_integer, push_number, states_number};
use super::write::Writer;
use crate::document::{Kind, Location, Node};
use crate::format::append::append_slice;
use crate::format::php_losses::{
    LeafReplacement, replace_leaf, report_array_kind_loss, report_lost_flags, report_lost_wrapper,
};
use crate::output::LossKind;

/// Strings up to this length are copied without a function call.
const MAX_SHORT_LEN: u32 = 16;

impl Writer<'_> {
    /// Writes a leaf.
    #[inline]
    pub(super) fn write_leaf(&mut self, index: u32, node: &Node, buf: &mut Vec<u8>) {
        if let Some(source) = self.kept_source(index, spelling::SOURCE) {
            return buf.extend_from_slice(source);
        }
        match node.kind {
            Kind::Bytes | Kind::Text => {
                let document = self.document;
                if !self.is_spelled() && node.aux <= MAX_SHORT_LEN {
                    let (base, start) = match node.location() {
                        Location::Input(start) => (document.input(), start as usize),
                        Location::Arena(start) => (document.tape().arena(), start as usize),
                    };
                    push_number(b"s:", u64::from(node.aux), b":\"", buf);
                    append_slice(buf, base, start, node.aux as usize);
                    return buf.extend_from_slice(b"\";");
                }
                let bytes = document.bytes(node);
                match self.kept_source(index, spelling::HEAD).filter(|head| states_number(head, bytes.len() as u64)) {
                    Some(head) => {
                        buf.extend_from_slice(head);
                        buf.extend_from_slice(bytes);
                        buf.extend_from_slice(b"\";");
                    }
                    None => write_quoted(b's', bytes, buf),
                }
            }
            Kind::Int => push_integer(node.payload as i64, buf),
            Kind::Float => write_float(f64::from_bits(node.payload), buf),
            Kind::Null => buf.extend_from_slice(b"N;"),
            Kind::Bool => buf.extend_from_slice(if node.payload != 0 { b"b:1;" } else { b"b:0;" }),
            _ => self.write_rare_leaf(index, node, buf),
        }
    }

    #[cold]
    fn write_rare_leaf(&mut self, index: u32, node: &Node, buf: &mut Vec<u8>) {
        let document = self.document;
        if node.kind == Kind::EnumCase && is_enum_case(document.bytes(node)) {
            return write_quoted(b'E', document.bytes(node), buf);
        }
        match replace_leaf(document, node, |kind| self.record_loss(kind, index)) {
            LeafReplacement::Bytes(bytes) => write_quoted(b's', bytes, buf),
            LeafReplacement::Digits(digits) => write_quoted(b's', &digits, buf),
            LeafReplacement::Float(value) => write_float(value, buf),
            LeafReplacement::Null => buf.extend_from_slice(b"N;"),
        }
    }

    /// Counts the flags of a value that PHP can't represent.
    #[inline]
    pub(super) fn record_flag_losses(&mut self, index: u32, node: &Node) {
        report_lost_flags(node, |kind| self.record_loss(kind, index));
    }

    /// Counts what PHP's only kind of array can't represent.
    #[inline]
    pub(super) fn record_array_kind_loss(&mut self, index: u32, node: &Node, is_body: bool) {
        if self.session == Some(index) {
            if node.kind == Kind::Array {
                self.record_loss(LossKind::ArrayKind, index);
            }
        } else if is_body || node.kind == Kind::Map {
            report_array_kind_loss(self.document, index, is_body, |kind| self.record_loss(kind, index));
        }
    }

    /// Counts what is lost with a node if only its content is written.
    pub(super) fn record_wrapper_losses(&mut self, index: u32) {
        report_lost_wrapper(self.document, index, |kind| self.record_loss(kind, index));
    }
}

fn write_float(value: f64, buf: &mut Vec<u8>) {
    buf.extend_from_slice(b"d:");
    push_float(value, buf);
    buf.push(b';');
}

#[inline]
pub(super) fn write_quoted(tag: u8, bytes: &[u8], buf: &mut Vec<u8>) {
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
