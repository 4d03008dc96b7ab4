//! References, links and aliases.

use super::super::links::{Weakness, resolve_referent, resolve_variable};
use super::super::spelling::{StringOf, code, pad_place, tracked};
use super::super::tag::{self, TRACK};
use super::{Body, PrecedingTag};
use crate::document::{Kind, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::output::LossKind;

impl<'d> Body<'d, '_> {
    pub(super) fn write_alias(&mut self, index: u32, preceding_tag: PrecedingTag) -> Result<(), Error> {
        let target = resolve_variable(self.nodes, index);
        self.count_written_alias(target);
        if self.pending_variables.contains(&target) {
            return self.reject_unrepresentable(index, "a variable that is itself");
        }
        let known_offset = self.ensure_links().variables.get(&target).and_then(|named| named.offset);
        let via = self.replay.as_ref().and_then(|replay| replay.via_offset(self.document, index, target));
        let known_offset = via.or(known_offset);
        match (known_offset, preceding_tag) {
            (Some(offset), PrecedingTag::Item) => {
                self.write_alias_tag(index, offset)?;
                self.index = index + 1;
                Ok(())
            }
            (None, _) if self.nodes.get(target as usize).is_some_and(|node| node.kind != Kind::Alias) => {
                self.preceding_tag = preceding_tag;
                self.write_instead(index, target);
                // The variable was not written before, so it is written here in the place of the alias.
                self.replaced_link = Some(target);
                Ok(())
            }
            _ => self.reject_unrepresentable(index, "a variable that is another one, outside of an array or a hash"),
        }
    }

    /// Counts an alias of the variable at `target` as written.
    fn count_written_alias(&mut self, target: u32) {
        if let Some(named) = self.ensure_links().variables.get_mut(&target) {
            named.remaining = named.remaining.saturating_sub(1);
        }
    }

    pub(super) fn write_alias_tag(&mut self, index: u32, offset: u64) -> Result<(), Error> {
        self.write_pads(index, pad_place::FIRST)?;
        let track = self.extra_track_bit(index, tracked::MAIN);
        let tag_offset = self.offset();
        if let Some(replay) = &mut self.replay {
            replay.record_string(index, StringOf::Value, Kind::Alias, &[], tag_offset);
        }
        let offset = self.linked_tag_offset(index).unwrap_or(offset);
        self.bytes.push_byte(tag::ALIAS | track)?;
        let width = self.noted_width(index, code::WIDTH);
        self.bytes.push_varint(offset, width)
    }

    pub(super) fn write_link(&mut self, index: u32, holder: u32, preceding_tag: PrecedingTag) -> Result<(), Error> {
        let target = resolve_referent(self.nodes, index);
        let Some(node) = self.nodes.get(target as usize).filter(|node| node.kind != Kind::Link) else {
            return self.reject_unrepresentable(index, "a link to nothing");
        };
        if self.pending_referents.contains(&target) {
            return self.reject_unrepresentable(index, "an object that is itself");
        }
        let known_offset = self.ensure_links().referents.get(&target).and_then(|named| named.offset);
        // The target was written before, or it is the scalar that contains this reference.
        if known_offset.is_some() || self.is_pending(target) {
            self.write_refp(index, holder, known_offset)?;
            self.index = index + 1;
            return Ok(());
        }
        if !node.kind.is_container() || self.copied_strings.contains_key(&target) {
            // A string or number occurs again. Perl does not share these, so it is written a second time.
            self.record_loss(LossKind::Sharing, index);
        }
        if let Some(offset) = self.copied_strings.get(&target) {
            self.bytes.push_tagged_varint(tag::COPY, *offset)?;
            self.index = index + 1;
            return Ok(());
        }
        if self.ensure_links().variables.contains_key(&index) {
            self.pending_variables.push(index);
        }
        self.preceding_tag = preceding_tag;
        self.write_instead(index, target);
        Ok(())
    }

    #[cold]
    pub(super) fn reject_unrepresentable(&self, index: u32, found: &'static str) -> Result<(), Error> {
        Err(Error::new(ErrorKind::Unrepresentable).on_path(self.document.path(index)).finding(found))
    }

    /// Returns the tag that this link used for its variable.
    fn linked_tag_offset(&self, index: u32) -> Option<u64> {
        self.replay.as_ref().and_then(|replay| replay.linked_tag_offset(index))
    }

    /// Writes REFP to the item at `offset`. Without an offset, it refers to the variable that contains the REFP.
    pub(super) fn write_refp(&mut self, index: u32, holder: u32, offset: Option<u64>) -> Result<(), Error> {
        self.write_pads(index, pad_place::FIRST)?;
        let mut variable_start = self.write_weaken(index, holder)?;
        if self.track_bit(index, tracked::AFTER) != 0 {
            variable_start = self.offset();
        }
        let offset = offset.unwrap_or(variable_start);
        let track = self.begin_variable(index) | self.extra_track_bit(index, tracked::MAIN);
        let referents = std::mem::take(&mut self.pending_referents);
        for pending in referents {
            self.set_referent_offset(pending, offset);
        }
        let offset = self.linked_tag_offset(index).unwrap_or(offset);
        self.bytes.push_byte(tag::REFP | track)?;
        let width = self.noted_width(index, code::WIDTH);
        self.bytes.push_varint(offset, width)
    }

    /// Writes OBJECT before a REFP, so that the target is blessed. Without an offset, the target is the variable that
    /// contains the REFP.
    pub(super) fn write_late_object(
        &mut self,
        index: u32,
        holder: u32,
        class: u32,
        offset: Option<u64>,
    ) -> Result<(), Error> {
        self.write_pads(index, pad_place::FIRST)?;
        let offset = offset.unwrap_or(self.offset());
        let weak_body = self.noted_value(index, code::WEAK_BODY);
        if weak_body != Some(0) {
            self.write_weaken(index, holder)?;
        }
        // The object's node became that of its scalar: the notes of its body and of
        // itself are on this node.
        let tracks = self.replay.as_ref().map_or(0, |replay| replay.extra_track_bits(index));
        let bit = |tag_role| if tracks & tag_role != 0 { TRACK } else { 0 };
        let is_tag_after = tracks & tracked::AFTER != 0;
        let named = if is_tag_after { 0 } else { self.begin_variable(index) };
        self.write_class(index, class, [tag::OBJECT, tag::OBJECTV], named | bit(tracked::MAIN))?;
        if weak_body.is_some() {
            self.write_weaken(index, holder)?;
        }
        let named = if is_tag_after { self.begin_variable(index) } else { 0 };
        self.extra_track_bit(index, tracked::BODY);
        let offset = self.linked_tag_offset(index).unwrap_or(offset);
        self.bytes.push_byte(tag::REFP | named | bit(tracked::BODY))?;
        let width = self.noted_width(index, code::WIDTH);
        self.bytes.push_varint(offset, width)
    }

    /// Writes WEAKEN if the reference is weak. If the target would then be freed, writes a PAD instead. Returns the
    /// offset where the variable starts; a PAD is not a part of it.
    pub(super) fn write_weaken(&mut self, index: u32, holder: u32) -> Result<u64, Error> {
        let start = self.offset();
        if !self.nodes.get(holder as usize).is_some_and(|node| node.has(flag::WEAK)) {
            return Ok(start);
        }
        let nodes = self.nodes;
        let weakness = match self.replay {
            Some(_) => Weakness::Weak,
            None => self.ensure_links().find_weakness(nodes, holder),
        };
        if weakness == Weakness::Needed {
            self.record_loss(LossKind::Weak, holder);
            self.bytes.push_byte(tag::PAD)?;
            return Ok(start + 1);
        }
        let is_later =
            self.is_linked_after_class(index) || self.track_bit(index, tracked::AFTER | tracked::AT_REFN) != 0;
        let named = if is_later { 0 } else { self.begin_variable(index) };
        let track =
            named | self.extra_track_bit(index, tracked::WEAKEN) | self.extra_track_bit(index, tracked::AT_WEAKEN);
        self.bytes.push_byte(tag::WEAKEN | track)?;
        self.write_pads(index, pad_place::AFTER_WEAKEN)?;
        Ok(start)
    }

    /// Returns `true` if the variable at `target` starts at the next tag.
    fn is_pending(&self, target: u32) -> bool {
        self.object_of_next_tag == Some(target) || self.pending_variables.contains(&target)
    }

    /// Returns `true` if links to this object refer to the tag after its class.
    pub(super) fn is_linked_after_class(&self, index: u32) -> bool {
        let rest = self.nodes.get(index as usize..).unwrap_or(&[]);
        let objects = rest.iter().take_while(|node| matches!(node.kind, Kind::Object | Kind::Opaque)).count() as u32;
        (index + 1..=index + objects).any(|body| self.track_bit(body, tracked::AFTER | tracked::AT_WEAKEN) != 0)
    }

    /// Begins the variable at `index`. Returns the bit for its tag.
    pub(super) fn begin_variable(&mut self, index: u32) -> u8 {
        if self.links.is_none() && self.pending_variables.is_empty() {
            return 0;
        }
        let offset = self.offset();
        let pending = std::mem::take(&mut self.pending_variables);
        let mut track = 0;
        let object = self.object_of_next_tag.take();
        for variable in pending.into_iter().chain([index]).chain(object) {
            let links = self.ensure_links();
            if let Some(named) = links.variables.get_mut(&variable)
                && named.offset.is_none()
            {
                named.offset = Some(offset);
                track = TRACK;
            }
            // The target of a reference to a scalar is the variable after REFN, so it starts at the next tag.
            if variable != index
                && Some(variable) != object
                && let Some(named) = links.referents.get_mut(&variable)
                && named.offset.is_none()
            {
                named.offset = Some(offset);
                track = TRACK;
            }
        }
        track
    }

    /// Begins the target of the reference. Returns the bit for its tag.
    pub(super) fn begin_referent(&mut self, index: u32) -> u8 {
        if self.links.is_none() {
            return 0;
        }
        let offset = self.offset();
        let pending = std::mem::take(&mut self.pending_referents);
        let mut track = 0;
        for node in pending.into_iter().chain([index]) {
            if self.set_referent_offset(node, offset) {
                track = TRACK;
            }
        }
        track
    }

    pub(super) fn set_referent_offset(&mut self, node: u32, offset: u64) -> bool {
        match self.ensure_links().referents.get_mut(&node) {
            Some(named) if named.offset.is_none() => {
                named.offset = Some(offset);
                true
            }
            _ => false,
        }
    }

    pub(super) fn is_referent(&self, index: u32) -> bool {
        self.links.as_ref().is_some_and(|links| links.referents.contains_key(&index))
    }

    pub(super) fn is_weak(&self, index: u32) -> bool {
        self.nodes.get(index as usize).is_some_and(|node| node.has(flag::WEAK))
    }

    pub(super) fn write_reference(
        &mut self,
        index: u32,
        holder: u32,
        preceding_tag: PrecedingTag,
    ) -> Result<(), Error> {
        let child = index + 1;
        let Some(node) = self.nodes.get(child as usize).filter(|_| self.index_after(index) > child) else {
            return self.reject_unrepresentable(index, "a reference to nothing");
        };
        let target = resolve_variable(self.nodes, child);
        if node.kind == Kind::Alias {
            self.count_written_alias(target);
        }
        let known_offset =
            self.links.as_ref().and_then(|links| links.variables.get(&target)).and_then(|named| named.offset);
        // A variable that refers to itself.
        let is_here = node.kind == Kind::Alias && (target == index || self.is_pending(target));
        let via = self.replay.as_ref().and_then(|replay| replay.via_offset(self.document, index, target));
        let known_offset = via.or(known_offset);
        if known_offset.is_some() || is_here {
            match self.unblessed.remove(&target) {
                Some(class) => self.write_late_object(index, holder, class, known_offset)?,
                None => self.write_refp(index, holder, known_offset)?,
            }
            self.index = self.index_after(index);
            return Ok(());
        }
        self.write_pads(index, pad_place::FIRST)?;
        self.write_weaken(index, holder)?;
        let track = self.begin_variable(index) | self.extra_track_bit(index, tracked::MAIN);
        self.bytes.push_byte(tag::REFN | track)?;
        if self.is_referent(index) {
            self.pending_variables.push(index);
        }
        self.pending_variables.append(&mut self.pending_referents);
        self.needs_refn = false;
        // Perl's own true and false, which are singletons in every protocol. They can't
        // be blessed.
        if node.kind == Kind::Bool
            && self.replay.is_none()
            && !node.has(flag::TARGET)
            && !node.has(flag::VARIABLE)
            && preceding_tag != PrecedingTag::Object
            && self.pending_variables.is_empty()
        {
            self.bytes.push_byte(if node.payload == 0 { tag::FALSE } else { tag::TRUE })?;
            self.index = self.index_after(index);
            return Ok(());
        }
        self.preceding_tag = PrecedingTag::Ref;
        if target == child {
            let child_end = self.index_after(child);
            self.enter(index, child, child_end);
        } else {
            self.write_instead(child, target);
            // As in `write_alias`, the variable was not written before, so it is written here.
            self.replaced_link = Some(target);
        }
        Ok(())
    }

    pub(super) fn write_container(&mut self, index: u32, node: &'d Node, holder: u32) -> Result<(), Error> {
        let is_map = node.kind == Kind::Map;
        let count = if is_map { self.count_entries(index, node) } else { node.aux };
        let (tag, compact) = if is_map { (tag::HASH, tag::HASHREF) } else { (tag::ARRAY, tag::ARRAYREF) };
        let options = self.plan.options;
        let must_expand = std::mem::take(&mut self.needs_refn) || !self.pending_referents.is_empty();
        let is_expanded = must_expand
            || count as usize > tag::MAX_IN_REF
            || options.canonical
            || options.canonical_refs
            || self.replay.is_none() && (self.is_weak(holder) || self.is_weak(index))
            || self.is_referent(index)
            || node.has(flag::HINT)
            || self.noted_value(index, code::REFN).is_some();
        self.write_pads(index, pad_place::FIRST)?;
        self.write_weaken(index, holder)?;
        let track = self.begin_variable(index) | self.extra_track_bit(index, tracked::MAIN);
        if self.noted_value(index, code::BARE).is_some() {
            let track = track | self.begin_referent(index);
            self.bytes.push_byte(tag | track)?;
            let width = self.noted_width(index, code::WIDTH);
            self.bytes.push_varint(u64::from(count), width)?;
        } else if is_expanded {
            self.bytes.push_byte(tag::REFN | track)?;
            self.write_pads(index, pad_place::AFTER_REFN)?;
            let track = self.begin_referent(index) | self.extra_track_bit(index, tracked::INNER);
            self.bytes.push_byte(tag | track)?;
            let width = self.noted_width(index, code::WIDTH);
            self.bytes.push_varint(u64::from(count), width)?;
        } else {
            self.bytes.push_byte(compact | count as u8 | track)?;
        }
        self.index = index + 1;
        if is_map { self.enter_map(index) } else { Ok(()) }
    }
}
