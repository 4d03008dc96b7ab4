//! Writes the tags and counts of containers.

use super::spelling::value as code;
use super::tag;
use super::write::{Key, NumberSharers, WriteFrame, Writer};
use crate::document::{Cursor, Form, IS_KEY, Kind, NO_KEY, Node, flag};
use crate::error::Error;
use crate::output::LossKind;

impl Writer<'_> {
    pub(super) fn write_container(
        &mut self,
        at: u32,
        node: &Node,
        also: NumberSharers,
        blessed: bool,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let children = Cursor::new(self.document, at);
        let (first, end) = (at + 1, children.index_after());
        match node.kind {
            Kind::Array => {
                self.number_referent(at, node, also);
                self.push_count(at, tag::ARRAY, None, node.aux, buf);
                self.push(WriteFrame::Items { at: first, end })
            }
            Kind::Map => {
                self.number_referent(at, node, also);
                self.write_map(at, node, first, end, buf)
            }
            Kind::Regexp => {
                if !blessed {
                    let class = self.regexp_class();
                    let form = self.note(at, code::CLASS).unwrap_or(0);
                    self.write_class_as(class, b"Regexp", form, buf)?;
                }
                self.number_referent(at, node, also);
                self.write_regexp(at, buf)
            }
            Kind::Code => {
                self.number_referent(at, node, also);
                buf.push(tag::CODE);
                let text = self.document.node(first);
                self.number_variable(first, &text, NumberSharers::default());
                self.write_inner_string(at, first, buf)
            }
            Kind::Tied => {
                self.number_referent(at, node, also);
                buf.push(if node.form() == Form::TiedArray { tag::TIED_ARRAY } else { tag::TIED_HASH });
                self.push(WriteFrame::Items { at: first, end })
            }
            _ => self.begin_hook(at, node, first, end, also, buf),
        }
    }

    /// Writes the tag and count of an array or hash.
    pub(super) fn push_count(&mut self, at: u32, tag: u8, flags: Option<u8>, count: u32, buf: &mut Vec<u8>) {
        let large = self.note(at, code::LARGE).is_some();
        if large {
            buf.push(tag::LOBJECT);
        }
        buf.push(tag);
        buf.extend(flags);
        if large {
            buf.extend_from_slice(&self.image.encode_u64(u64::from(count)));
        } else {
            self.push_u32(count, buf);
        }
    }

    pub(super) fn write_map(
        &mut self,
        at: u32,
        node: &Node,
        first: u32,
        end: u32,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if node.has(flag::DEFAULT) || node.has(flag::IDENTITY) {
            self.record_loss(LossKind::MapKind, at);
        }
        let noted = self.note(at, code::HASH_FLAGS).map(|flags| flags as u8);
        let restricted = if node.has(flag::RESTRICTED) { tag::hash::RESTRICTED } else { 0 };
        let flagged = noted.is_some()
            || restricted != 0
            || node.has(flag::HINT)
            || self.keys.any_flagged(self.document, first, end);
        if flagged {
            let flags = noted.unwrap_or(0) & !tag::hash::RESTRICTED | restricted;
            self.push_count(at, tag::FLAG_HASH, Some(flags), node.aux, buf);
        } else {
            self.push_count(at, tag::HASH, None, node.aux, buf);
        }
        if self.canonical {
            let entries = self.sorted_entries(first, end);
            return self.push(WriteFrame::Sorted { entries, flagged, key: None });
        }
        self.push(WriteFrame::Entries { at: first, end, flagged, key: None })
    }

    /// Returns the entries from `at` on, sorted by key in reverse.
    pub(super) fn sorted_entries(&self, mut at: u32, end: u32) -> Vec<(Key, u32)> {
        let mut entries = Vec::new();
        while let Some((key, value)) = self.entry_at(at, end) {
            entries.push((self.keys.make_sort_key(self.document, key), key, value));
            at = Cursor::new(self.document, value).index_after();
        }
        entries.sort_by(|a, b| b.0.cmp(&a.0));
        entries.into_iter().map(|(_, key, value)| (key, value)).collect()
    }

    /// Returns the entry at `at`: its key and the node of its value.
    #[inline]
    pub(super) fn entry_at(&self, at: u32, end: u32) -> Option<(Key, u32)> {
        if at >= end {
            return None;
        }
        match self.document.node(at).key {
            NO_KEY => None,
            IS_KEY => {
                let value = Cursor::new(self.document, at).index_after();
                (value < end).then_some((Key::Node(at), value))
            }
            id => Some((Key::Id(id), at)),
        }
    }
}
