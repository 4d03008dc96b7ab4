//! Writes one body.
//!
//! Sereal has its values in the order of the tape, and counts before the items. So the writer walks the nodes in
//! order. If it skips nodes, or writes them in another order, it puts the remaining ranges of the tape on a stack.

mod entries;
mod leaves;
mod objects;
mod references;

use super::SortKeys;
use super::bytes::Bytes;
use super::links::Links;
use super::spelling::tracked;
use super::spelling_replay::SpellingReplay;
use super::tag::{self, TRACK};
use super::write::Plan;
use crate::document::{Document, Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Naming, Node, find_shadowed, flag};
use crate::error::Error;
use crate::output::{LossKind, Losses, Output};
use crate::string_locations::StringLocations;
use std::collections::{BTreeMap, HashMap};

/// Bits of the tag of a variable that has other tags before it.
const IS_AFTER: u64 = tracked::BODY | tracked::AFTER;

/// The tag that was written just before a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PrecedingTag {
    /// A tag that does not matter, because the value is an item or an entry.
    #[default]
    Item,
    /// There is no tag, because the value is the root.
    Start,
    /// REFN.
    Ref,
    /// OBJECT and its class.
    Object,
    /// OBJECT_FREEZE and its class.
    Freeze,
}

/// A key that was written: its bytes as a COPY.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WrittenKey {
    pub(super) word: u64,
    /// Length of the COPY. It is 0 if the key was not written, or if its COPY does not fit into a word.
    pub(super) len: u8,
    offset: u64,
}

impl WrittenKey {
    /// Records the offset at which it was written.
    #[inline]
    pub(super) fn record_offset(&mut self, offset: u64) {
        self.offset = offset;
        let mut word = [0; 8];
        word[0] = tag::COPY;
        let mut rest = offset;
        for (index, byte) in word.iter_mut().enumerate().skip(1) {
            *byte = rest as u8 & 0x7F;
            rest >>= 7;
            if rest == 0 {
                self.word = u64::from_le_bytes(word);
                self.len = index as u8 + 1;
                return;
            }
            *byte |= 0x80;
        }
    }
}

pub(super) struct Body<'d, 'o> {
    pub(super) document: &'d Document<'d>,
    pub(super) nodes: &'d [Node],
    pub(super) plan: &'d Plan<'d>,
    pub(super) bytes: Bytes<'o>,
    losses: &'o mut Losses,
    /// Offset of the first byte.
    first_offset: u64,
    /// The node that is written next, and the end of the current range.
    pub(super) index: u32,
    pub(super) end: u32,
    /// Ranges to write after the current one.
    pending_ranges: Vec<(u32, u32)>,
    pub(super) preceding_tag: PrecedingTag,
    /// The link or alias in the place of which the next value is written.
    replaced_link: Option<u32>,
    /// The keys with ids that were written, by id.
    pub(super) keys: Vec<WrittenKey>,
    /// The offsets of keys without ids that were written, by whether they are text, and their bytes.
    node_keys: HashMap<(bool, Vec<u8>), u64>,
    /// Like `node_keys`, by id, for keys with a loss.
    lossy_keys: HashMap<u16, u64>,
    /// The offsets of classes that were written, by id; 0 for the others.
    classes: Vec<u64>,
    /// For each string, the offset at which it was written first, and its node.
    strings: HashMap<(bool, &'d [u8]), (u64, u32)>,
    /// Like `strings`, for long strings, by their location.
    long_strings: StringLocations<(bool, u64, u32)>,
    /// The offsets of strings that links refer to, by node. A link to one becomes a COPY.
    copied_strings: HashMap<u32, u64>,
    links: Option<Links>,
    /// Nodes whose variables start at the next tag, and nodes that start there as the target of a reference.
    pending_variables: Vec<u32>,
    pending_referents: Vec<u32>,
    /// An object whose variable starts at the next tag.
    object_of_next_tag: Option<u32>,
    /// Whether the next container must be REFN ARRAY or REFN HASH, not ARRAYREF or HASHREF.
    needs_refn: bool,
    pub(super) replay: Option<SpellingReplay<'d>>,
    has_absent_keys: bool,
    /// Values whose keys occur again later in the same map. They are left out, because the decoder refuses a hash
    /// with duplicate keys.
    shadowed: Vec<u32>,
    /// Scalars that are objects and whose class was not written yet. It follows at the first reference to the scalar.
    unblessed: BTreeMap<u32, u32>,
    /// Positions of tags that must be tracked because a later value refers to them.
    late_tracks: Vec<u64>,
}

impl<'d, 'o> Body<'d, 'o> {
    pub(super) fn new(
        document: &'d Document<'_>,
        plan: &'d Plan<'_>,
        first_offset: u64,
        losses: &'o mut Losses,
        out: &'o mut dyn Output,
    ) -> Body<'d, 'o> {
        let tape = document.tape();
        let shadowed = if plan.values.is_some() { Vec::new() } else { find_shadowed(document, Naming::Perl) };
        Body {
            document,
            nodes: tape.nodes(),
            plan,
            bytes: Bytes::new(out),
            losses,
            first_offset,
            index: 0,
            end: 0,
            pending_ranges: Vec::new(),
            preceding_tag: PrecedingTag::Start,
            replaced_link: None,
            keys: vec![WrittenKey::default(); tape.keys().len() + 1],
            node_keys: HashMap::new(),
            lossy_keys: HashMap::new(),
            classes: vec![0; tape.classes().len() + 1],
            strings: HashMap::new(),
            long_strings: StringLocations::default(),
            copied_strings: HashMap::new(),
            links: None,
            pending_variables: Vec::new(),
            pending_referents: Vec::new(),
            object_of_next_tag: None,
            needs_refn: false,
            replay: plan.values.map(|spelling| SpellingReplay::new(spelling, tape)),
            has_absent_keys: tape.keys().has_absent() || !shadowed.is_empty(),
            shadowed,
            unblessed: BTreeMap::new(),
            late_tracks: Vec::new(),
        }
    }

    /// Writes the value at `root`. Returns positions of tags that must be tracked.
    pub(super) fn write(mut self, root: u32) -> Result<Vec<u64>, Error> {
        if self.nodes.get(root as usize).is_none() {
            self.bytes.push_byte(tag::UNDEF)?;
        }
        self.index = root;
        self.end = self.index_after(root);
        let uses_fast_loop = self.can_use_fast_loop();
        loop {
            if uses_fast_loop {
                self.write_common_values()?;
            }
            if self.index < self.end {
                self.write_node(self.index)?;
            } else if let Some((start, end)) = self.pending_ranges.pop() {
                (self.index, self.end) = (start, end);
            } else {
                break;
            }
        }
        for object in std::mem::take(&mut self.unblessed).into_keys() {
            self.record_loss(LossKind::Class, object);
        }
        self.bytes.finish()?;
        Ok(self.late_tracks)
    }

    /// Returns `true` if the loop of `write_fast.rs` may be used.
    fn can_use_fast_loop(&self) -> bool {
        let options = self.plan.options;
        let dedupes = options.dedupe_strings || options.aliased_dedupe_strings;
        let needs_machine = dedupes || options.no_shared_hashkeys || options.canonical || options.canonical_refs;
        self.plan.order == SortKeys::No
            && !needs_machine
            && self.replay.is_none()
            && !self.has_absent_keys
            && !options.reference
    }

    /// Returns `true` if nothing is pending for the next value.
    pub(super) fn has_nothing_pending(&self) -> bool {
        self.replaced_link.is_none() && self.pending_variables.is_empty() && self.pending_referents.is_empty()
    }

    pub(super) fn offset(&self) -> u64 {
        self.first_offset + self.bytes.len()
    }

    /// Returns the index after the node at `index` and everything in it.
    fn index_after(&self, index: u32) -> u32 {
        match self.nodes.get(index as usize) {
            Some(_) => self.document.tape().index_after(index),
            None => index,
        }
    }

    fn record_loss(&mut self, kind: LossKind, index: u32) {
        let document = self.document;
        self.losses.add(kind, || document.path(index));
    }

    /// Continues with this range, and then after the node at `index`.
    fn enter(&mut self, index: u32, first: u32, end: u32) {
        self.pending_ranges.push((self.index_after(index), self.end));
        (self.index, self.end) = (first, end);
    }

    /// Writes the value at `target` instead of the link or alias at `index`.
    fn write_instead(&mut self, index: u32, target: u32) {
        self.replaced_link = Some(index);
        let target_end = self.index_after(target);
        self.enter(index, target, target_end);
    }

    fn ensure_links(&mut self) -> &mut Links {
        let Body { document, nodes, replay, .. } = self;
        let refers_indirectly =
            |index, target| replay.as_ref().is_some_and(|replay| replay.refers_indirectly(document, index, target));
        self.links.get_or_insert_with(|| Links::from_nodes(nodes, refers_indirectly))
    }

    /// Writes the node at `index`, a key or a value, and continues after it or with its
    /// content.
    fn write_node(&mut self, index: u32) -> Result<(), Error> {
        let node = &self.nodes[index as usize];
        if node.key == IS_KEY {
            return self.write_key_node(index, node);
        }
        let holder = self.replaced_link.take();
        if holder.is_none() && node.key != NO_KEY && node.key != KEY_NODE && !self.write_key(index, node.key)? {
            self.index = self.index_after(index);
            return Ok(());
        }
        let has_links = node.flags & (flag::TARGET | flag::WEAK) != 0 || matches!(node.kind, Kind::Link | Kind::Alias);
        if has_links || holder.is_some() {
            self.ensure_links();
        }
        if node.has(flag::OVERLOAD) && node.kind.is_container() {
            self.record_loss(LossKind::Overload, index);
        }
        let preceding_tag = std::mem::take(&mut self.preceding_tag);
        let holder = holder.unwrap_or(index);
        if self.links.is_some() && self.write_if_repeated(index, holder, preceding_tag)? {
            self.index = self.index_after(index);
            return Ok(());
        }
        self.write_value(index, node, holder, preceding_tag)
    }

    /// Writes ALIAS or REFP if the value at `index` was written before.
    fn write_if_repeated(&mut self, index: u32, holder: u32, preceding_tag: PrecedingTag) -> Result<bool, Error> {
        let Some(links) = &self.links else { return Ok(false) };
        let variable = links.variables.get(&index).and_then(|named| named.offset);
        let referent = links.referents.get(&index).and_then(|named| named.offset);
        if let (Some(offset), PrecedingTag::Item) = (variable, preceding_tag) {
            self.write_alias_tag(index, offset)?;
        } else if let Some(offset) = referent {
            self.write_refp(index, holder, Some(offset))?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn write_value(
        &mut self,
        index: u32,
        node: &'d Node,
        holder: u32,
        preceding_tag: PrecedingTag,
    ) -> Result<(), Error> {
        match node.kind {
            Kind::Array | Kind::Map => return self.write_container(index, node, holder),
            Kind::Ref => return self.write_reference(index, holder, preceding_tag),
            Kind::Object => return self.write_object(index, node, holder, preceding_tag),
            Kind::Opaque if node.form() == Form::Freeze => return self.write_frozen(index, node, holder),
            Kind::Regexp => self.write_regexp(index, node, holder, preceding_tag)?,
            Kind::Alias => return self.write_alias(index, preceding_tag),
            Kind::Link => return self.write_link(index, holder, preceding_tag),
            Kind::Opaque | Kind::Attrs | Kind::Tied | Kind::Code | Kind::VString => {
                let (loss, position) = match node.kind {
                    Kind::Opaque => (LossKind::Opaque, 0),
                    Kind::Attrs => (LossKind::Attributes, 0),
                    Kind::Tied => (LossKind::Tied, 0),
                    Kind::Code => (LossKind::Code, 0),
                    _ => (LossKind::VString, 1),
                };
                self.record_loss(loss, index);
                return self.write_only_child(index, position, preceding_tag);
            }
            _ => self.write_leaf(index, node, preceding_tag)?,
        }
        self.index = self.index_after(index);
        Ok(())
    }

    /// Writes the child at this position instead of the whole container.
    fn write_only_child(&mut self, index: u32, position: u32, preceding_tag: PrecedingTag) -> Result<(), Error> {
        let mut child = index + 1;
        for _ in 0..position {
            child = self.index_after(child);
        }
        if child >= self.index_after(index) {
            self.bytes.push_byte(tag::UNDEF)?;
            self.index = self.index_after(index);
            return Ok(());
        }
        self.redirect_links_to_child(index);
        self.preceding_tag = preceding_tag;
        let child_end = self.index_after(child);
        self.enter(index, child, child_end);
        Ok(())
    }

    /// Lets links to the node at `index` refer to the next value.
    fn redirect_links_to_child(&mut self, index: u32) {
        if let Some(links) = &self.links {
            if links.variables.contains_key(&index) {
                self.pending_variables.push(index);
            }
            if links.referents.contains_key(&index) {
                self.pending_referents.push(index);
            }
        }
    }
}

/// Spelling.
impl Body<'_, '_> {
    pub(super) fn noted_value(&self, index: u32, code: u16) -> Option<u64> {
        self.replay.as_ref().and_then(|replay| replay.note(index, code))
    }

    pub(super) fn noted_width(&self, index: u32, code: u16) -> usize {
        self.noted_value(index, code).and_then(|width| usize::try_from(width).ok()).unwrap_or(0)
    }

    /// Returns the bit for the next tag, if it was tracked although nothing refers to it.
    pub(super) fn extra_track_bit(&mut self, index: u32, tag_role: u64) -> u8 {
        let offset = self.offset();
        if let Some(replay) = &mut self.replay {
            replay.record_tag(index, tag_role, offset);
        }
        self.track_bit(index, tag_role)
    }

    /// Like [`Self::extra_track_bit`], for a tag that is not the next one.
    pub(super) fn track_bit(&self, index: u32, tag_role: u64) -> u8 {
        match &self.replay {
            Some(replay) if replay.extra_track_bits(index) & tag_role != 0 => TRACK,
            Some(replay) if tag_role == tracked::MAIN && replay.extra_track_bits(index) & IS_AFTER != 0 => TRACK,
            _ => 0,
        }
    }

    fn write_pads(&mut self, index: u32, place: u64) -> Result<(), Error> {
        let pads = self.replay.as_ref().map_or(0, |replay| replay.count_pads(index, place));
        for _ in 0..pads {
            self.bytes.push_byte(tag::PAD)?;
        }
        Ok(())
    }

    /// Must be called when a leaf is written. A leaf is not the target of a reference, so links to it can't use REFP.
    fn end_leaf_referents(&mut self, index: u32, is_string: bool) {
        let string_offset = is_string.then(|| self.offset());
        self.end_string_referents(index, string_offset);
    }

    /// Like [`Self::end_leaf_referents`], for a string that is written at `string_offset`. If the string occurs again,
    /// it becomes a COPY of the bytes there.
    fn end_string_referents(&mut self, index: u32, string_offset: Option<u64>) {
        self.needs_refn = false;
        let pending = std::mem::take(&mut self.pending_referents);
        if let Some(offset) = string_offset {
            let is_named = self.is_referent(index);
            self.copied_strings.extend(pending.into_iter().chain(is_named.then_some(index)).map(|node| (node, offset)));
        }
    }
}
