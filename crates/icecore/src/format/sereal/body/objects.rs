//! Containers, objects and regular expressions.

use super::super::FORMAT;
use super::super::links::resolve_referent;
use super::super::spelling::{StringOf, code, pad_place, tracked};
use super::super::tag;
use super::{Body, PrecedingTag};
use crate::document::{Form, Kind, Node, flag};
use crate::error::Error;
use crate::output::LossKind;

impl<'d> Body<'d, '_> {
    pub(super) fn write_object(
        &mut self,
        index: u32,
        node: &'d Node,
        holder: u32,
        preceding_tag: PrecedingTag,
    ) -> Result<(), Error> {
        if self.plan.options.no_bless_objects {
            self.record_loss(LossKind::Class, index);
            return self.write_only_child(index, 0, preceding_tag);
        }
        if node.form() == Form::Variable || !self.is_reference(index + 1) {
            // A scalar that is an object gets its class at the first reference to it, so the class is written there.
            self.unblessed.insert(index, node.class());
            return self.write_only_child(index, 0, preceding_tag);
        }
        if node.form() == Form::Struct {
            self.record_loss(LossKind::Struct, index);
        }
        self.write_pads(index, pad_place::FIRST)?;
        self.write_weaken(index, holder)?;
        let named = self.begin_object_tag(index);
        let track = named | self.extra_track_bit(index, tracked::MAIN);
        self.write_class(index, node.class(), [tag::OBJECT, tag::OBJECTV], track)?;
        if self.is_referent(index) {
            self.pending_referents.push(index);
        }
        self.needs_refn = self.replay.is_none() && (self.is_weak(holder) || self.is_weak(index));
        self.preceding_tag = PrecedingTag::Object;
        self.index = index + 1;
        Ok(())
    }

    /// Like [`Self::begin_variable`], unless links refer to the tag after the class: then the variable begins there.
    fn begin_object_tag(&mut self, index: u32) -> u8 {
        if self.is_linked_after_class(index) {
            // Several objects may be nested around a value. Links refer to the outermost one, so it is kept.
            self.object_of_next_tag.get_or_insert(index);
            return 0;
        }
        self.begin_variable(index)
    }

    /// Returns `true` if the value at `index` is written as a reference.
    pub(super) fn is_reference(&self, mut index: u32) -> bool {
        for _ in 0..64 {
            let Some(node) = self.nodes.get(index as usize) else { return false };
            index = match node.kind {
                Kind::Array | Kind::Map | Kind::Ref => return true,
                Kind::Regexp => return true,
                Kind::Opaque if node.form() == Form::Freeze => return true,
                Kind::Object | Kind::Opaque | Kind::Attrs | Kind::Tied => index + 1,
                Kind::Link => resolve_referent(self.nodes, index),
                _ => return false,
            };
        }
        false
    }

    pub(super) fn write_frozen(&mut self, index: u32, node: &'d Node, holder: u32) -> Result<(), Error> {
        self.write_pads(index, pad_place::FIRST)?;
        self.write_weaken(index, holder)?;
        let named = self.begin_object_tag(index);
        let track = named | self.extra_track_bit(index, tracked::MAIN);
        self.write_class(index, node.class(), [tag::OBJECT_FREEZE, tag::OBJECTV_FREEZE], track)?;
        if self.is_referent(index) {
            self.pending_referents.push(index);
        }
        let payload = index + 1;
        let is_array = |value: u32| self.nodes.get(value as usize).is_some_and(|node| node.kind == Kind::Array);
        let is_list = is_array(payload) || is_array(resolve_referent(self.nodes, payload));
        if payload >= self.index_after(index) || !is_list {
            // The decoder passes the items of an array to THAW, so the payload is always written as an array.
            self.bytes.push_byte(tag::REFN)?;
            let track = self.begin_referent(index);
            let count = u32::from(payload < self.index_after(index));
            self.bytes.push_byte(tag::ARRAY | track)?;
            self.bytes.push_varint(u64::from(count), 0)?;
        } else {
            self.needs_refn = self.noted_value(payload, code::REFN).is_some() || self.replay.is_none();
            self.preceding_tag = PrecedingTag::Freeze;
        }
        if self.index_after(payload) < self.index_after(index) {
            self.record_loss(LossKind::Opaque, index);
        }
        let payload_end = self.index_after(payload).min(self.index_after(index));
        self.enter(index, payload, payload_end);
        Ok(())
    }

    pub(super) fn write_regexp(
        &mut self,
        index: u32,
        node: &'d Node,
        holder: u32,
        preceding_tag: PrecedingTag,
    ) -> Result<(), Error> {
        let pattern = index + 1;
        let flags = self.index_after(pattern);
        self.write_pads(index, pad_place::FIRST)?;
        self.write_weaken(index, holder)?;
        let is_at_refn = self.track_bit(index, tracked::AT_REFN) != 0;
        let named = if is_at_refn { 0 } else { self.begin_variable(index) };
        let track = named | self.extra_track_bit(index, tracked::MAIN);
        if node.has(flag::BARE) && preceding_tag != PrecedingTag::Object {
            let track = track | self.begin_referent(index);
            self.bytes.push_byte(tag::REGEXP | track)?;
        } else {
            if preceding_tag == PrecedingTag::Object || self.plan.options.no_bless_objects {
                if preceding_tag == PrecedingTag::Object && self.is_in_own_class(index, holder) {
                    self.bytes.push_byte(tag::PAD)?;
                }
                self.bytes.push_byte(tag::REFN | track)?;
            } else {
                let class = self.document.tape().classes().find(Node::leaf(Kind::Bytes, 0), b"Regexp").unwrap_or(0);
                self.write_class(index, class, [tag::OBJECT, tag::OBJECTV], track)?;
                let named = if is_at_refn { self.begin_variable(index) } else { 0 };
                let track = named | self.extra_track_bit(index, tracked::REFN);
                self.bytes.push_byte(tag::REFN | track)?;
            }
            self.write_pads(index, pad_place::AFTER_REFN)?;
            let track = self.begin_referent(index) | self.extra_track_bit(index, tracked::INNER);
            self.bytes.push_byte(tag::REGEXP | track)?;
        }
        self.needs_refn = false;
        let text = |part: u32| {
            self.nodes.get(part as usize).map_or((Kind::Bytes, &[][..]), |node| {
                let kind = if node.kind == Kind::Text { Kind::Text } else { Kind::Bytes };
                (kind, if node.kind.has_bytes() { self.document.bytes(node) } else { &[] })
            })
        };
        let (kind, bytes) = text(pattern);
        let (_, all) = text(flags);
        // The encoder of Sereal writes `n`, although its decoder refuses it.
        let is_replayed = self.document.spelling_of(FORMAT.name).is_some() || self.document.tape().has_live_values();
        let inner = if is_replayed { None } else { move_modifiers(bytes, all) };
        let bytes = inner.as_deref().unwrap_or(bytes);
        self.write_pads(pattern, pad_place::FIRST)?;
        let track = self.extra_track_bit(pattern, tracked::MAIN);
        match self.copy_source_offset(pattern, kind, bytes) {
            Some(offset) => self.write_copy(pattern, offset, track)?,
            None => self.write_spelled_string(pattern, StringOf::Value, kind, bytes, track)?,
        }
        let is_kept = |modifier: u8| b"msixp".contains(&modifier) || is_replayed && modifier == b'n';
        let kept: Vec<u8> = all.iter().copied().filter(|modifier| is_kept(*modifier)).take(31).collect();
        // Perl derives `u` from a pattern of text, and from properties.
        let has_own_charset =
            kind == Kind::Text && !bytes.is_ascii() || bytes.windows(2).any(|escape| escape == b"\\p");
        let is_dropped = |modifier: u8| match modifier {
            b'u' => !has_own_charset,
            b'n' | b'a' => inner.is_none(),
            other => !is_kept(other),
        };
        if kept.len() < all.len() && all.iter().any(|modifier| is_dropped(*modifier) && !is_kept(*modifier)) {
            self.record_loss(LossKind::RegexpFlags, index);
        }
        let track = self.extra_track_bit(flags, tracked::MAIN);
        let offset = self.offset();
        if let Some(replay) = &mut self.replay {
            replay.record_string(flags, StringOf::Value, Kind::Bytes, &kept, offset);
        }
        self.bytes.push_byte(tag::SHORT_BINARY | kept.len() as u8 | track)?;
        self.bytes.push_slice(&kept)
    }

    /// Returns `true` if this regular expression is inside an object of its own default class.
    /// Without a PAD between them, it would be read as one without an object.
    fn is_in_own_class(&self, index: u32, holder: u32) -> bool {
        let object = |back: u32| {
            let node = holder.checked_sub(back).and_then(|ancestor| self.nodes.get(ancestor as usize));
            node.filter(|node| node.kind == Kind::Object)
        };
        let padded = |place| self.replay.as_ref().is_some_and(|replay| replay.count_pads(index, place) > 0);
        let is_own = object(1).is_some_and(|object| self.class_name(object.class()) == (Kind::Bytes, b"Regexp"));
        is_own && object(2).is_none() && !self.is_weak(holder) && !padded(0) && !padded(1)
    }

    /// Writes OBJECT or OBJECTV, or the corresponding pair of `tags`.
    pub(super) fn write_class(&mut self, index: u32, class: u32, tags: [u8; 2], track: u8) -> Result<(), Error> {
        let written = self.classes.get(class as usize).copied().unwrap_or(0);
        if let Some(target) = self.noted_value(index, code::CLASS_COPY)
            && let Some(offset) = self.spelled_class_offset(target, class)
        {
            self.bytes.push_byte(tags[0] | track)?;
            let track = self.extra_track_bit(index, tracked::CLASS);
            self.bytes.push_byte(tag::COPY | track)?;
            let width = self.noted_width(index, code::CLASS_COPY_WIDTH);
            return self.bytes.push_varint(offset, width);
        }
        if written > 0 && self.noted_value(index, code::CLASS_FULL).is_none() {
            let other_offset =
                self.noted_value(index, code::CLASS_OTHER).and_then(|target| self.spelled_class_offset(target, class));
            self.bytes.push_byte(tags[1] | track)?;
            let width = self.noted_width(index, code::CLASS_WIDTH);
            return self.bytes.push_varint(other_offset.unwrap_or(written), width);
        }
        self.bytes.push_byte(tags[0] | track)?;
        if written == 0 {
            let offset = self.offset();
            if let Some(place) = self.classes.get_mut(class as usize) {
                *place = offset;
            }
        }
        let (kind, name) = self.class_name(class);
        let track = self.extra_track_bit(index, tracked::CLASS);
        self.write_spelled_string(index, StringOf::Class, kind, name, track)
    }

    pub(super) fn class_name(&self, class: u32) -> (Kind, &'d [u8]) {
        match self.document.class_name(class) {
            Some(name) if name.node.kind == Kind::Text => (Kind::Text, name.bytes),
            Some(name) => (Kind::Bytes, name.bytes),
            None => (Kind::Bytes, b"Regexp"),
        }
    }

    /// Returns the offset of the string that a note refers to, if it is the name of
    /// this class.
    pub(super) fn spelled_class_offset(&self, target: u64, class: u32) -> Option<u64> {
        let (kind, name) = self.class_name(class);
        self.replay.as_ref().and_then(|replay| replay.offset_of(target, kind, name))
    }
}

/// Returns the pattern in a group with the modifiers that are not stored: `n`, which perl's decoder refuses, and `a`,
/// which it does not know. `None` if there are none.
fn move_modifiers(pattern: &[u8], modifiers: &[u8]) -> Option<Vec<u8>> {
    let is_extended = modifiers.contains(&b'x');
    let mut moved = Vec::new();
    if modifiers.contains(&b'n') {
        moved.push(b'n');
    }
    moved.extend(modifiers.iter().filter(|modifier| **modifier == b'a').take(2));
    if moved.is_empty() {
        return None;
    }
    // A comment at the end must not contain the parenthesis.
    let end: &[u8] = if is_extended && pattern.contains(&b'#') { b"\n)" } else { b")" };
    Some([b"(?", &moved[..], b":", pattern, end].concat())
}
