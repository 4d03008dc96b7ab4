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
        index: u32,
        node: &Node,
        sharers: NumberSharers,
        is_blessed: bool,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let children = Cursor::new(self.document, index);
        let (first, end) = (index + 1, children.index_after());
        match node.kind {
            Kind::Array => {
                self.number_referent(index, node, sharers);
                self.push_count(index, tag::ARRAY, None, node.aux, buf);
                self.push(WriteFrame::Items { index: first, end })
            }
            Kind::Map => {
                self.number_referent(index, node, sharers);
                self.write_map(index, node, first, end, buf)
            }
            Kind::Regexp => {
                if !is_blessed {
                    let class = self.regexp_class();
                    let form = self.note(index, code::CLASS).unwrap_or(0);
                    self.write_class_as(class, b"Regexp", form, buf)?;
                }
                self.number_referent(index, node, sharers);
                self.write_regexp(index, buf)
            }
            Kind::Code => {
                self.number_referent(index, node, sharers);
                buf.push(tag::CODE);
                let text = self.document.node(first);
                self.number_variable(first, &text, NumberSharers::default());
                self.write_inner_string(index, first, buf)
            }
            Kind::Tied => {
                self.number_referent(index, node, sharers);
                buf.push(if node.form() == Form::TiedArray { tag::TIED_ARRAY } else { tag::TIED_HASH });
                self.push(WriteFrame::Items { index: first, end })
            }
            _ => self.begin_hook(index, node, first, end, sharers, buf),
        }
    }

    /// Writes the tag and count of an array or hash.
    pub(super) fn push_count(&mut self, index: u32, tag: u8, flags: Option<u8>, count: u32, buf: &mut Vec<u8>) {
        let large = self.note(index, code::LARGE).is_some();
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
        index: u32,
        node: &Node,
        first: u32,
        end: u32,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if node.has(flag::DEFAULT) || node.has(flag::IDENTITY) {
            self.record_loss(LossKind::MapKind, index);
        }
        let noted = self.note(index, code::HASH_FLAGS).map(|flags| flags as u8);
        let restricted = if node.has(flag::RESTRICTED) { tag::hash::RESTRICTED } else { 0 };
        let has_flags = noted.is_some()
            || restricted != 0
            || node.has(flag::HINT)
            || self.keys.any_flagged(self.document, first, end);
        if has_flags {
            let flags = noted.unwrap_or(0) & !tag::hash::RESTRICTED | restricted;
            self.push_count(index, tag::FLAG_HASH, Some(flags), node.aux, buf);
        } else {
            self.push_count(index, tag::HASH, None, node.aux, buf);
        }
        if self.canonical {
            let entries = self.sorted_entries(first, end);
            return self.push(WriteFrame::Sorted { entries, has_flags, key: None });
        }
        self.push(WriteFrame::Entries { index: first, end, has_flags, key: None })
    }

    /// Returns the entries from `index` on, sorted by key in reverse.
    pub(super) fn sorted_entries(&self, mut index: u32, end: u32) -> Vec<(Key, u32)> {
        let mut entries = Vec::new();
        while let Some((key, value)) = self.entry_at(index, end) {
            entries.push((self.keys.make_sort_key(self.document, key), key, value));
            index = Cursor::new(self.document, value).index_after();
        }
        entries.sort_by(|a, b| b.0.cmp(&a.0));
        entries.into_iter().map(|(_, key, value)| (key, value)).collect()
    }

    /// Returns the entry at `index`: its key and the node of its value.
    #[inline]
    pub(super) fn entry_at(&self, index: u32, end: u32) -> Option<(Key, u32)> {
        if index >= end {
            return None;
        }
        match self.document.node(index).key {
            NO_KEY => None,
            IS_KEY => {
                let value = Cursor::new(self.document, index).index_after();
                (value < end).then_some((Key::Node(index), value))
            }
            id => Some((Key::Id(id), index)),
        }
    }
}
