//! Writes leaves, including those that PHP has no value for.

use super::leaf_text::{push_bool, push_int, push_number, push_property, push_string};
use super::text::is_class_in_code;
use super::write::Writer;
use super::{source_text, spelling};
use crate::document::{Kind, Node};
use crate::format::php_losses::{LeafReplacement, replace_leaf, report_lost_flags, report_lost_wrapper};

/// Returns `true` if this is `Class:Case` in a form that PHP code allows.
pub(super) fn is_case_in_code(name: &[u8]) -> bool {
    let colon = name.iter().position(|byte| *byte == b':');
    colon.is_some_and(|colon| {
        let case = &name[colon + 1..];
        let is_word = case.iter().all(|byte| super::lex::is_word_byte(*byte));
        let is_name = is_word && !case.is_empty() && !case[0].is_ascii_digit();
        // `Cls::class` is the name of the class.
        is_class_in_code(&name[..colon]) && is_name && !case.eq_ignore_ascii_case(b"class")
    })
}

impl Writer<'_> {
    /// Writes a leaf.
    #[inline]
    pub(super) fn write_leaf(&mut self, index: u32, node: &Node, buf: &mut Vec<u8>) {
        let document = self.document;
        let bytes = || if node.kind.has_bytes() { document.bytes(node) } else { &[] };
        if let Some(source) = self
            .kept_source(index, spelling::SOURCE)
            .filter(|source| source_text::is_leaf_source(source, node, bytes()))
        {
            return buf.extend_from_slice(source);
        }
        match node.kind {
            Kind::Bytes | Kind::Text => self.write_string(self.document.bytes(node), buf),
            Kind::Int => push_int(node.payload as i64, buf),
            Kind::Float => push_number(f64::from_bits(node.payload), buf),
            Kind::Null => buf.extend_from_slice(b"NULL"),
            Kind::Bool => push_bool(node.payload != 0, buf),
            _ => self.write_rare_leaf(index, node, buf),
        }
    }

    #[cold]
    fn write_rare_leaf(&mut self, index: u32, node: &Node, buf: &mut Vec<u8>) {
        match replace_leaf(self.document, node, |kind| self.record_loss(kind, index)) {
            LeafReplacement::Bytes(bytes) => self.write_string(bytes, buf),
            LeafReplacement::Digits(digits) => self.write_string(&digits, buf),
            LeafReplacement::Float(value) => push_number(value, buf),
            LeafReplacement::Null => buf.extend_from_slice(b"NULL"),
        }
    }

    /// Writes a string. A tag in it is split, unless the text begins with `<?php`: in a file PHP
    /// would run the following text.
    #[inline]
    pub(super) fn write_string(&self, bytes: &[u8], buf: &mut Vec<u8>) {
        push_string(bytes, self.splits_tags, buf);
    }

    /// Writes the name of a property, like [`Writer::write_string`].
    pub(super) fn write_property(&self, name: &[u8], buf: &mut Vec<u8>) {
        push_property(name, self.splits_tags, buf);
    }

    /// Counts the flags of a value that PHP can't represent.
    #[inline]
    pub(super) fn record_flag_losses(&mut self, index: u32, node: &Node) {
        report_lost_flags(node, |kind| self.record_loss(kind, index));
    }

    /// Counts what is lost with a node if only its content is written.
    pub(super) fn record_wrapper_losses(&mut self, index: u32) {
        report_lost_wrapper(self.document, index, |kind| self.record_loss(kind, index));
    }
}
