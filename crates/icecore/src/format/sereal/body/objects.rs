//! Containers, objects and regular expressions.

use super::super::links::referent;
use super::super::spelling::{Part, code, tracked};
use super::super::tag;
use super::{After, Body};
use crate::document::{Form, Kind, Node, flag};
use crate::error::Error;
use crate::output::LossKind;

impl<'d> Body<'d, '_> {
    pub(super) fn object(&mut self, at: u32, node: &'d Node, holder: u32, after: After) -> Result<(), Error> {
        if self.plan.options.no_bless_objects {
            self.lose(LossKind::Class, at);
            return self.only_part(at, 0, after);
        }
        if node.form() == Form::Variable || !self.is_reference(at + 1) {
            // The class is written at the first reference to it.
            self.unblessed.insert(at, node.class());
            return self.only_part(at, 0, after);
        }
        if node.form() == Form::Struct {
            self.lose(LossKind::Struct, at);
        }
        self.pads(at, 0)?;
        self.weak(at, holder)?;
        let named = self.object_tag(at);
        let track = named | self.extra_track(at, tracked::MAIN);
        self.class(at, node.class(), [tag::OBJECT, tag::OBJECTV], track)?;
        if self.is_referent(at) {
            self.pending_referents.push(at);
        }
        self.expanded = self.spelled.is_none() && (self.is_weak(holder) || self.is_weak(at));
        self.after = After::Object;
        self.at = at + 1;
        Ok(())
    }

    /// The same as `first_tag`, unless links refer to the tag after the class.
    fn object_tag(&mut self, at: u32) -> u8 {
        if self.is_later(at) {
            // If several objects are nested around a value, the outermost is the
            // variable.
            self.named_behind.get_or_insert(at);
            return 0;
        }
        self.first_tag(at)
    }

    /// Whether the value at `at` is written as a reference.
    pub(super) fn is_reference(&self, mut at: u32) -> bool {
        for _ in 0..64 {
            let Some(node) = self.nodes.get(at as usize) else { return false };
            at = match node.kind {
                Kind::Array | Kind::Map | Kind::Ref => return true,
                Kind::Regexp => return true,
                Kind::Opaque if node.form() == Form::Freeze => return true,
                Kind::Object | Kind::Opaque | Kind::Attrs | Kind::Tied => at + 1,
                Kind::Link => referent(self.nodes, at),
                _ => return false,
            };
        }
        false
    }

    pub(super) fn frozen(&mut self, at: u32, node: &'d Node, holder: u32) -> Result<(), Error> {
        self.pads(at, 0)?;
        self.weak(at, holder)?;
        let named = self.object_tag(at);
        let track = named | self.extra_track(at, tracked::MAIN);
        self.class(at, node.class(), [tag::OBJECT_FREEZE, tag::OBJECTV_FREEZE], track)?;
        if self.is_referent(at) {
            self.pending_referents.push(at);
        }
        let payload = at + 1;
        let is_array = |at: u32| self.nodes.get(at as usize).is_some_and(|node| node.kind == Kind::Array);
        let is_list = is_array(payload) || is_array(referent(self.nodes, payload));
        if payload >= self.next(at) || !is_list {
            // THAW always gets a list.
            self.bytes.byte(tag::REFN)?;
            let track = self.inner_tag(at);
            let count = u32::from(payload < self.next(at));
            self.bytes.byte(tag::ARRAY | track)?;
            self.bytes.varint(u64::from(count), 0)?;
        } else {
            self.expanded = self.noted(payload, code::REFN).is_some() || self.spelled.is_none();
            self.after = After::Freeze;
        }
        if self.next(payload) < self.next(at) {
            self.lose(LossKind::Opaque, at);
        }
        let behind = self.next(payload).min(self.next(at));
        self.enter(at, payload, behind);
        Ok(())
    }

    pub(super) fn regexp(&mut self, at: u32, node: &'d Node, holder: u32, after: After) -> Result<(), Error> {
        let pattern = at + 1;
        let flags = self.next(pattern);
        self.pads(at, 0)?;
        self.weak(at, holder)?;
        let is_at_refn = self.is_tracked(at, tracked::AT_REFN) != 0;
        let named = if is_at_refn { 0 } else { self.first_tag(at) };
        let track = named | self.extra_track(at, tracked::MAIN);
        if node.has(flag::BARE) && after != After::Object {
            let track = track | self.inner_tag(at);
            self.bytes.byte(tag::REGEXP | track)?;
        } else {
            if after == After::Object || self.plan.options.no_bless_objects {
                if after == After::Object && self.is_in_own_class(at, holder) {
                    self.bytes.byte(tag::PAD)?;
                }
                self.bytes.byte(tag::REFN | track)?;
            } else {
                let class = self.document.tape().classes().find(Node::leaf(Kind::Bytes, 0), b"Regexp").unwrap_or(0);
                self.class(at, class, [tag::OBJECT, tag::OBJECTV], track)?;
                let named = if is_at_refn { self.first_tag(at) } else { 0 };
                let track = named | self.extra_track(at, tracked::REFN);
                self.bytes.byte(tag::REFN | track)?;
            }
            self.pads(at, 1)?;
            let track = self.inner_tag(at) | self.extra_track(at, tracked::INNER);
            self.bytes.byte(tag::REGEXP | track)?;
        }
        self.expanded = false;
        let text = |at: u32| {
            self.nodes.get(at as usize).map_or((Kind::Bytes, &[][..]), |node| {
                let kind = if node.kind == Kind::Text { Kind::Text } else { Kind::Bytes };
                (kind, if node.kind.has_bytes() { self.document.bytes(node) } else { &[] })
            })
        };
        let (kind, bytes) = text(pattern);
        let (_, all) = text(flags);
        self.pads(pattern, 0)?;
        let track = self.extra_track(pattern, tracked::MAIN);
        match self.copied_from(pattern, kind, bytes) {
            Some(offset) => self.copy(pattern, offset, track)?,
            None => self.spelled_string(pattern, Part::Value, kind, bytes, track)?,
        }
        let kept: Vec<u8> = all.iter().copied().filter(|modifier| b"msixpn".contains(modifier)).take(31).collect();
        if kept.len() < all.len() {
            self.lose(LossKind::RegexpFlags, at);
        }
        let track = self.extra_track(flags, tracked::MAIN);
        let offset = self.offset();
        if let Some(spelled) = &mut self.spelled {
            spelled.written(flags, Part::Value, Kind::Bytes, &kept, offset);
        }
        self.bytes.byte(tag::SHORT_BINARY | kept.len() as u8 | track)?;
        self.bytes.slice(&kept)
    }

    /// Whether this regular expression is inside an object of its own default class.
    /// Without a PAD between them, it would be read as one without an object.
    fn is_in_own_class(&self, at: u32, holder: u32) -> bool {
        let object = |back: u32| {
            let node = holder.checked_sub(back).and_then(|at| self.nodes.get(at as usize));
            node.filter(|node| node.kind == Kind::Object)
        };
        let padded = |place| self.spelled.as_ref().is_some_and(|spelled| spelled.pads(at, place) > 0);
        let is_own = object(1).is_some_and(|object| self.class_name(object.class()) == (Kind::Bytes, b"Regexp"));
        is_own && object(2).is_none() && !self.is_weak(holder) && !padded(0) && !padded(1)
    }

    /// Writes OBJECT or OBJECTV; `tags` are the two.
    pub(super) fn class(&mut self, at: u32, class: u32, tags: [u8; 2], track: u8) -> Result<(), Error> {
        let written = self.classes.get(class as usize).copied().unwrap_or(0);
        if let Some(target) = self.noted(at, code::CLASS_COPY)
            && let Some(offset) = self.spelled_class(target, class)
        {
            self.bytes.byte(tags[0] | track)?;
            let track = self.extra_track(at, tracked::CLASS);
            self.bytes.byte(tag::COPY | track)?;
            let width = self.noted_width(at, code::CLASS_COPY_WIDTH);
            return self.bytes.varint(offset, width);
        }
        if written > 0 && self.noted(at, code::CLASS_FULL).is_none() {
            let other = self.noted(at, code::CLASS_OTHER).and_then(|target| self.spelled_class(target, class));
            self.bytes.byte(tags[1] | track)?;
            let width = self.noted_width(at, code::CLASS_WIDTH);
            return self.bytes.varint(other.unwrap_or(written), width);
        }
        self.bytes.byte(tags[0] | track)?;
        if written == 0 {
            let offset = self.offset();
            if let Some(place) = self.classes.get_mut(class as usize) {
                *place = offset;
            }
        }
        let (kind, name) = self.class_name(class);
        let track = self.extra_track(at, tracked::CLASS);
        self.spelled_string(at, Part::Class, kind, name, track)
    }

    pub(super) fn class_name(&self, class: u32) -> (Kind, &'d [u8]) {
        match self.document.class(class) {
            Some(name) if name.node.kind == Kind::Text => (Kind::Text, name.bytes),
            Some(name) => (Kind::Bytes, name.bytes),
            None => (Kind::Bytes, b"Regexp"),
        }
    }

    /// Returns the offset of the string that a note refers to, if it is the name of
    /// this class.
    pub(super) fn spelled_class(&self, target: u64, class: u32) -> Option<u64> {
        let (kind, name) = self.class_name(class);
        self.spelled.as_ref().and_then(|spelled| spelled.offset_of(target, kind, name))
    }
}
