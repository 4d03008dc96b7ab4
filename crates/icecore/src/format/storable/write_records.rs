//! Writes less common records: code, regexps, v-strings, tied variables, hooks.

use super::default_tags::string_tag;
use super::spelling::value as code;
use super::tag::{self, hook};
use super::write::{NumberSharers, WriteFrame, Writer};
use crate::document::{Cursor, Form, Kind, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::output::LossKind;

impl Writer<'_> {
    /// Writes the text of code, or the value of a v-string.
    pub(super) fn write_inner_string(&mut self, index: u32, text: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        let node = self.document.node(text);
        let bytes = self.document.bytes(&node);
        let default = string_tag(node.kind, bytes.len() as u64);
        let chosen_tag = self.note(index, code::INNER_TAG).map_or(default, |tag| tag as u8);
        self.write_tagged_string(text, chosen_tag, bytes, buf)
    }

    pub(super) fn write_regexp(&mut self, index: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        let parts: Vec<Node> = Cursor::new(self.document, index).children().map(|part| *part.node()).collect();
        let bytes = |part: usize| parts.get(part).map_or(&b""[..], |part| self.document.bytes(part));
        let (pattern, flags) = (bytes(0), bytes(1));
        if parts.first().is_some_and(|pattern| pattern.kind == Kind::Text) && !pattern.is_ascii() {
            // Storable has no flag for it; thaw takes the pattern for bytes.
            self.record_loss(LossKind::Text, index + 1);
        }
        let default = if pattern.len() > 0xFF { tag::REGEXP_LONG } else { 0 };
        let op = self.note(index, code::REGEXP).map_or(default, |op| op as u8 | default);
        buf.extend_from_slice(&[tag::REGEXP, op]);
        self.push_length(pattern.len(), op & tag::REGEXP_LONG != 0, buf)?;
        buf.extend_from_slice(pattern);
        let len = flags.len().min(0xFF);
        buf.push(len as u8);
        buf.extend_from_slice(&flags[..len]);
        Ok(())
    }

    pub(super) fn write_v_string(
        &mut self,
        index: u32,
        node: &Node,
        sharers: NumberSharers,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let source = self.document.node(index + 1);
        let bytes = self.document.bytes(&source);
        let long = bytes.len() > 0xFF;
        let tag = self.spelled_tag(index, if long { tag::LVSTRING } else { tag::VSTRING });
        let tag = if long { tag::LVSTRING } else { tag };
        buf.push(tag);
        self.push_length(bytes.len(), tag == tag::LVSTRING, buf)?;
        buf.extend_from_slice(bytes);
        self.number_variable(index, node, sharers);
        self.write_inner_string(index, index + 2, buf)
    }

    pub(super) fn write_tied_scalar(
        &mut self,
        index: u32,
        node: &Node,
        sharers: NumberSharers,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.number_variable(index, node, sharers);
        let (first, end) = (index + 1, Cursor::new(self.document, index).index_after());
        if node.form() == Form::TiedScalar {
            buf.push(tag::TIED_SCALAR);
            return self.push(WriteFrame::Items { index: first, end });
        }
        let key = Cursor::new(self.document, first).index_after();
        let key_node = self.document.node(key);
        // An index has no number for references to it.
        let is_named = key_node.has(flag::TARGET);
        let is_index = key_node.kind == Kind::Int && !is_named && i32::try_from(key_node.payload as i64).is_ok();
        let tag = self.spelled_tag(index, if is_index { tag::TIED_IDX } else { tag::TIED_KEY });
        buf.push(tag);
        self.push(WriteFrame::Element { object: Some(first), key, is_key: tag == tag::TIED_KEY })
    }

    // -- Hooks: see `records.rs` for the children of an opaque object --------

    /// Returns `true` if the child at `index` is an object stored in the record itself, and not a
    /// link.
    pub(super) fn is_inner_object(&self, index: u32, node: &Node) -> bool {
        !(node.kind == Kind::Link || node.kind == Kind::Ref && self.document.node(index + 1).kind == Kind::Alias)
    }

    pub(super) fn begin_hook(
        &mut self,
        index: u32,
        node: &Node,
        first: u32,
        end: u32,
        sharers: NumberSharers,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.number_referent(index, node, sharers);
        let body = Cursor::new(self.document, index).children().last();
        let flags = match body.map(|body| (body.kind(), body.node().form())) {
            Some((Kind::Array, _)) => hook::ARRAY,
            Some((Kind::Map, _)) => hook::HASH,
            Some((Kind::Tied, _)) => hook::EXTRA,
            _ => hook::SCALAR,
        };
        if self.note(index, code::LARGE).is_some() {
            buf.push(tag::LOBJECT);
        }
        buf.push(tag::HOOK);
        let next = Cursor::new(self.document, first).index_after();
        self.push(WriteFrame::Hook { record: index, index: next, end, flags, has_inner_object: false })
    }

    pub(super) fn hook_extra_type(&self, record: u32) -> u8 {
        let body = Cursor::new(self.document, record).children().last();
        match body.map(|body| body.node().form()) {
            Some(Form::TiedScalar) => hook::TIED_SCALAR,
            Some(Form::TiedArray) => hook::TIED_ARRAY,
            _ => hook::TIED_HASH,
        }
    }

    pub(super) fn write_hook_end(
        &mut self,
        record: u32,
        end: u32,
        mut flags: u8,
        has_inner_object: bool,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let (class, payload) = (self.document.node(record).class(), self.document.node(record + 1));
        let mut index = Cursor::new(self.document, record + 1).index_after();
        let mut links = Vec::new();
        while index < end && Cursor::new(self.document, index).index_after() < end {
            if !self.is_inner_object(index, &self.document.node(index)) {
                links.push(index);
            }
            index = Cursor::new(self.document, index).index_after();
        }
        let large = self.note(record, code::LARGE).is_some();
        let form = self.note(record, code::CLASS).unwrap_or(0);
        let name = self.document.class_name(class).map_or(&b""[..], |name| name.bytes);
        let frozen = self.document.bytes(&payload);
        let next = self.classes.len() as u32;
        let known = self.class_number(class, form);
        let number = known.map_or_else(|| self.check_length(name.len()), Ok)?;
        let body = flags;
        if known.is_some() {
            flags |= hook::CLASS_INDEX;
        }
        for (is_set, flag) in [
            (number > 0xFF, hook::LARGE_CLASS),
            (frozen.len() > 0xFF, hook::LARGE_STRING),
            (!links.is_empty(), hook::HAS_LIST),
            (links.len() > 0xFF, hook::LARGE_LIST),
        ] {
            if is_set {
                flags |= flag;
            }
        }
        if let Some(noted) = self.note(record, code::HOOK) {
            if large {
                flags &= !hook::LARGE_STRING;
            }
            flags |= noted as u8 & (hook::LARGE_CLASS | hook::LARGE_STRING | hook::LARGE_LIST | hook::HAS_LIST);
        }
        buf.push(flags);
        if body == hook::EXTRA && !has_inner_object {
            buf.push(self.hook_extra_type(record));
        }
        self.push_length(number as usize, flags & hook::LARGE_CLASS != 0, buf)?;
        if known.is_none() {
            buf.extend_from_slice(name);
            self.assign_class_number(class, next);
        }
        if large {
            buf.extend_from_slice(&self.image.encode_u64(frozen.len() as u64));
        } else {
            self.push_length(frozen.len(), flags & hook::LARGE_STRING != 0, buf)?;
        }
        buf.extend_from_slice(frozen);
        if flags & hook::HAS_LIST != 0 {
            self.push_length(links.len(), flags & hook::LARGE_LIST != 0, buf)?;
            for link in links {
                let number = self.number_of(link).ok_or_else(|| {
                    Error::new(ErrorKind::Unrepresentable)
                        .on_path(self.document.path(link))
                        .expecting("a link to an object in the list of a hook")
                        .finding("one to something else")
                })?;
                buf.extend_from_slice(&number.to_be_bytes());
            }
        }
        if body == hook::EXTRA && index < end {
            // The object of the tied variable.
            return self.push(WriteFrame::Items { index: index + 1, end });
        }
        Ok(())
    }

    /// Returns the number of a part of a hook record, or of its link target, if it
    /// already has one.
    pub(super) fn number_of(&self, part: u32) -> Option<u32> {
        let (node, next) = (self.document.node(part), self.document.node(part + 1));
        match (node.kind, next.kind) {
            (Kind::Ref, Kind::Alias) => self.variables.get(&(next.payload as u32)),
            (Kind::Ref, _) => self.variables.get(&(part + 1)),
            (Kind::Link, _) => self.referents.get(&(node.payload as u32)),
            _ => self.referents.get(&part),
        }
        .copied()
    }
}
