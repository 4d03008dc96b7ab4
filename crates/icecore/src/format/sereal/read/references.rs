//! References, links, aliases and copies.

use super::super::spelling::{self, StringOf, code, pad_place, tracked};
use super::super::tag::{self, TRACK};
use super::{ActiveCopy, Machine, Role, Slot, TrackedTag, read_varint};
use crate::document::{Kind, NO_NODE, Node, Recorder, Sink, flag};
use crate::error::{Error, ErrorKind};
use crate::format::Scan;

impl<'i, S: Sink, const FAST: bool> Machine<'i, '_, S, FAST> {
    pub(super) fn read_refn(&mut self, slot: &Slot) -> Result<(), Error> {
        let input = self.scan.input;
        let pads =
            input.get(self.scan.offset..).map_or(0, |rest| rest.iter().take_while(|byte| is_pad(**byte)).count());
        let tag_offset = self.scan.offset + pads;
        let byte = input.get(tag_offset).copied().unwrap_or(tag::PAD);
        let inner = byte & !TRACK;
        let is_body = slot.parent == Some(Role::Object);
        let is_folded_tag = |tag| matches!(tag, tag::ARRAY | tag::HASH) || tag == tag::REGEXP && is_body;
        let copied_tag = if inner == tag::COPY { self.peek_copied_tag(tag_offset + 1) } else { None };
        if !is_folded_tag(copied_tag.unwrap_or(inner)) {
            self.check_frozen_array(slot, Kind::Ref)?;
            let owner = if is_body { slot.variable } else { NO_NODE };
            return self.open_container(Node::open(Kind::Ref, 0).with(flag::REF), slot, Role::Ref, 1, owner);
        }
        if pads > 0 {
            let start = self.scan.offset;
            self.scan.offset = tag_offset;
            self.record_span(start, slot.node, "PAD");
            for pad in (start..tag_offset).filter(|pad| input[*pad] != tag::PAD) {
                self.record_tracked_tag(pad, NO_NODE, slot.variable, slot.node, tracked::INNER);
            }
            self.sink.record_note(slot.node, code::PADS, pad_place::AFTER_REFN << 32 | pads as u64);
        }
        self.scan.offset = tag_offset + 1;
        self.record_span(tag_offset, slot.node, tag::name_of(inner));
        if byte != inner {
            self.record_tracked_tag(tag_offset, NO_NODE, slot.variable, slot.node, tracked::INNER);
        }
        let mut inner = inner;
        if let Some(copied_tag) = copied_tag {
            inner = copied_tag;
            self.begin_copy(slot, tag_offset)?;
            while self.scan.peek().is_some_and(is_pad) {
                self.scan.offset += 1;
            }
            let copied_tag_offset = self.scan.offset;
            if self.scan.read_u8("a tag")? & TRACK != 0 {
                self.record_tracked_tag(copied_tag_offset, NO_NODE, slot.variable, slot.node, tracked::INNER);
            }
        }
        if inner == tag::REGEXP {
            return self.read_regexp(slot, 0);
        }
        let count = self.read_number(slot.node, "the count")?;
        if count <= tag::MAX_IN_REF as u64 {
            self.sink.record_note(slot.node, code::REFN, 0);
        }
        let kind = if inner == tag::ARRAY { Kind::Array } else { Kind::Map };
        self.read_container(Node::open(kind, 0).with(flag::REF), slot, count)
    }

    /// Returns the tag of the item that the COPY with the offset at `offset` copies.
    fn peek_copied_tag(&self, offset: usize) -> Option<u8> {
        let mut scan = Scan { input: self.scan.input, offset };
        let index = self.offset_base.index_of_item(read_varint(&mut scan, "").ok()?, offset).ok()?;
        let rest = self.scan.input.get(index..offset - 1)?;
        rest.iter().find(|byte| !is_pad(**byte)).map(|byte| byte & !TRACK)
    }

    /// Returns the tracked tag that an offset refers to.
    pub(super) fn read_tracked_target(
        &mut self,
        slot: &Slot,
        tag_offset: usize,
        subject: &'static str,
    ) -> Result<TrackedTag, Error> {
        if !self.sink.has_all_nodes() {
            return Err(Error::new(ErrorKind::Output)
                .at(tag_offset)
                .finding("a link, although completed parts were already released"));
        }
        let offset = self.read_number(slot.node, "the offset")?;
        let index = self.offset_base.index_of_item(offset, tag_offset)?;
        let Some(tracked) = self.tracked.get_mut(&index) else {
            return Err(Error::new(ErrorKind::BadLink)
                .at(tag_offset)
                .expecting(format!("{subject} to a tracked item"))
                .finding(format!("offset {offset}, where there is none")));
        };
        tracked.is_used = true;
        let known = *tracked;
        if S::DETAIL && known.is_reread {
            let target = match known.node {
                NO_NODE => self.speller.target_at(index),
                node => Some(spelling::string_target(StringOf::Value, node)),
            };
            if let Some(target) = target {
                self.sink.record_note(slot.node, code::VIA, target);
            }
        }
        if S::DETAIL && known.is_later_tag() && !known.is_reread {
            self.sink.record_note(slot.node, code::BY, spelling::tag_target(known.tag_role, known.node));
        }
        Ok(known)
    }

    pub(super) fn read_alias(&mut self, slot: &Slot, tag_offset: usize, is_tracked: bool) -> Result<(), Error> {
        let known = self.read_tracked_target(slot, tag_offset, "ALIAS")?;
        if known.variable >= slot.node {
            return Err(Error::new(ErrorKind::BadLink)
                .at(tag_offset)
                .expecting("ALIAS to a variable")
                .finding(if known.variable == NO_NODE { "an array or hash" } else { "itself" }));
        }
        if is_tracked {
            self.tracked.insert(
                tag_offset,
                TrackedTag { node: slot.node, tag_role: tracked::MAIN, is_used: false, is_reread: true, ..known },
            );
        }
        self.tape().mark_target(known.variable);
        self.push_leaf(Node::leaf(Kind::Alias, u64::from(known.variable)), slot)
    }

    pub(super) fn read_refp(&mut self, slot: &Slot, tag_offset: usize) -> Result<(), Error> {
        let known = self.read_tracked_target(slot, tag_offset, "REFP")?;
        if known.referent != NO_NODE {
            self.push_link(slot, tag_offset, known.referent)
        } else {
            self.check_frozen_array(slot, Kind::Ref)?;
            if slot.parent == Some(Role::Object) {
                self.deferred_blesses.push(slot.variable);
                if S::DETAIL && slot.weaken_offset.is_some() {
                    let object = self.tape().nodes().get(slot.variable as usize);
                    let is_object_weak = object.is_some_and(|object| object.has(flag::WEAK));
                    self.sink.record_note(slot.node, code::WEAK_BODY, u64::from(is_object_weak));
                }
            }
            let mut node = Node::open(Kind::Ref, 0).with(flag::REF | slot.weak_flag());
            node.key = slot.key;
            let node = self.push(node)?;
            let alias = self.push(Node::leaf(Kind::Alias, u64::from(known.variable)))?;
            self.tape().close_container(node, 1);
            self.tape().mark_target(known.variable);
            self.sink.record_begin(alias, tag_offset);
            self.record_end(alias);
            self.record_end(node);
            self.finish_value()
        }
    }

    pub(super) fn push_link(&mut self, slot: &Slot, tag_offset: usize, referent: u32) -> Result<(), Error> {
        if slot.parent == Some(Role::Opaque) && self.kind_of(referent) != Some(Kind::Array) {
            return Err(self.unexpected_tag_error(
                tag_offset,
                tag::REFP,
                "a reference to an array after OBJECT_FREEZE",
            ));
        }
        self.tape().mark_target(referent);
        self.push_leaf(Node::leaf(Kind::Link, u64::from(referent)), slot)
    }

    pub(super) fn begin_copy(&mut self, slot: &Slot, tag_offset: usize) -> Result<(), Error> {
        let offset = self.read_noted_number(slot.node, "the offset", code::COPY_WIDTH)?;
        let index = self.offset_base.index_of_item(offset, tag_offset)?;
        if self.active_copy.is_some() {
            return Err(Error::new(ErrorKind::BadLink)
                .at(tag_offset)
                .expecting("a COPY of an item without COPY in it")
                .finding("a COPY within a COPY"));
        }
        let resume = self.scan;
        self.active_copy =
            Some(ActiveCopy { resume, tag_offset, source: index, stack_len: self.stack.len(), node: slot.node });
        // The item that is copied ends before the COPY, so the input of this reading ends there.
        self.scan = Scan { input: self.scan.input.get(..tag_offset).unwrap_or(&[]), offset: index };
        self.set_copying(true);
        Ok(())
    }

    pub(super) fn end_copy(&mut self, copy: ActiveCopy<'i>) -> Result<(), Error> {
        self.scan = copy.resume;
        self.active_copy = None;
        self.set_copying(false);
        self.record_end(copy.node);
        let nodes = u64::from(self.tape().len() - copy.node);
        if nodes > 1 {
            self.remaining_copied_nodes = match self.remaining_copied_nodes.checked_sub(nodes) {
                Some(remaining) => remaining,
                None => {
                    let max_nodes = self.limits.expanded_from(self.scan.input.len());
                    return Err(self.limits.too_expanded(max_nodes).at(copy.tag_offset));
                }
            };
        } else if S::DETAIL
            && self.kind_of(copy.node).is_some_and(Kind::is_string)
            && let Some(target) = self.speller.target_at(copy.source)
        {
            self.sink.record_note(copy.node, code::COPY, target);
        }
        Ok(())
    }

    /// Converts an error inside a copy to an error of the copy.
    pub(super) fn error_in_copy(&mut self, error: Error) -> Error {
        let Some(copy) = self.active_copy.take() else { return error };
        self.scan = copy.resume;
        if error.kind() != ErrorKind::Truncated {
            return error;
        }
        Error::new(ErrorKind::BadLink)
            .at(copy.tag_offset)
            .expecting("a COPY of an item that ends before it")
            .finding("one that continues after it")
    }

    /// Records a tracked tag: something may refer to its item.
    pub(super) fn record_tracked_tag(
        &mut self,
        tag_offset: usize,
        variable: u32,
        referent: u32,
        node: u32,
        tag_role: u64,
    ) {
        let new = TrackedTag { variable, referent, node, tag_role, is_used: false, is_reread: false };
        match self.tracked.get_mut(&tag_offset) {
            // A COPY read the tag again. As in the decoder, later references mean the value of this reading.
            Some(known) => *known = TrackedTag { node: known.node, is_used: false, is_reread: true, ..new },
            None => {
                let is_first = S::DETAIL && self.active_copy.is_some();
                let new = if is_first { TrackedTag { node: NO_NODE, is_reread: true, ..new } } else { new };
                self.tracked.insert(tag_offset, new);
            }
        }
    }
}

fn is_pad(byte: u8) -> bool {
    byte & !TRACK == tag::PAD
}
