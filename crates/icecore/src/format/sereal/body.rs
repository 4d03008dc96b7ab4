//! Writes one body.
//!
//! Sereal is written in the order of the tape and says counts in front, so the
//! writer just walks along. What it leaves out or must write in another order
//! is a range of the tape; ranges wait on a stack of their own.

use super::SortKeys;
use super::bytes::Bytes;
use super::keys::{KeyText, compare, is_absent};
use super::links::{Links, Weakness, referent, variable};
use super::spell::{Part, code, tracked};
use super::spelled::Spelled;
use super::tag::{self, TRACK};
use super::write::Plan;
use crate::document::{Document, Form, IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::output::{LossKind, Losses, Output};
use std::collections::{BTreeMap, HashMap};

/// What was written just before a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum After {
    /// Nothing that matters: it is an item or an entry.
    #[default]
    Item,
    /// Nothing at all: it is the root.
    Start,
    /// REFN.
    Ref,
    /// OBJECT and its class.
    Object,
    /// OBJECT_FREEZE and its class.
    Freeze,
}

/// A key that was written: how it looks as a COPY.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WrittenKey {
    pub(super) word: u64,
    /// 0: it was not written, or its COPY is too long for a word.
    pub(super) len: u8,
    offset: u64,
}

pub(super) struct Body<'d, 'o> {
    pub(super) document: &'d Document<'d>,
    pub(super) nodes: &'d [Node],
    pub(super) plan: &'d Plan<'d>,
    pub(super) bytes: Bytes<'o>,
    losses: &'o mut Losses,
    /// The offset of the first byte.
    first: u64,
    pub(super) at: u32,
    pub(super) end: u32,
    /// What is to be written when this range is.
    ranges: Vec<(u32, u32)>,
    pub(super) after: After,
    /// The next value stands for the one at this link or alias.
    instead: Option<u32>,
    pub(super) keys: Vec<WrittenKey>,
    big_keys: HashMap<(bool, Vec<u8>), u64>,
    classes: Vec<u64>,
    strings: HashMap<(bool, &'d [u8]), u64>,
    copied_strings: HashMap<u32, u64>,
    links: Option<Links>,
    /// Nodes that are the variable, or the referent, that comes next.
    pending_variables: Vec<u32>,
    pending_referents: Vec<u32>,
    /// The container that comes next can't be ARRAYREF or HASHREF.
    expanded: bool,
    pub(super) spelled: Option<Spelled<'d>>,
    has_absent_keys: bool,
    /// Scalars that are objects, whose class is still to be written.
    unblessed: BTreeMap<u32, u32>,
    /// Positions of tags that must be tracked after all.
    late_tracks: Vec<u64>,
}

impl<'d, 'o> Body<'d, 'o> {
    pub(super) fn new(
        document: &'d Document<'_>,
        plan: &'d Plan<'_>,
        first: u64,
        losses: &'o mut Losses,
        out: &'o mut dyn Output,
    ) -> Body<'d, 'o> {
        let tape = document.tape();
        Body {
            document,
            nodes: tape.nodes(),
            plan,
            bytes: Bytes::new(out),
            losses,
            first,
            at: 0,
            end: 0,
            ranges: Vec::new(),
            after: After::Start,
            instead: None,
            keys: vec![WrittenKey::default(); tape.keys().len() + 1],
            big_keys: HashMap::new(),
            classes: vec![0; tape.classes().len() + 1],
            strings: HashMap::new(),
            copied_strings: HashMap::new(),
            links: None,
            pending_variables: Vec::new(),
            pending_referents: Vec::new(),
            expanded: false,
            spelled: plan.values.map(|spelling| Spelled::new(spelling, tape)),
            has_absent_keys: tape.keys().iter().any(|name| is_absent(&name.node)),
            unblessed: BTreeMap::new(),
            late_tracks: Vec::new(),
        }
    }

    /// Writes the value at `root`. Returns positions of tags to be tracked.
    pub(super) fn write(mut self, root: u32) -> Result<Vec<u64>, Error> {
        if self.nodes.get(root as usize).is_none() {
            self.bytes.byte(tag::UNDEF)?;
        }
        self.at = root;
        self.end = self.next(root);
        let is_plain = self.is_plain();
        loop {
            if is_plain {
                self.plain()?;
            }
            if self.at < self.end {
                self.node(self.at)?;
            } else if let Some((at, end)) = self.ranges.pop() {
                (self.at, self.end) = (at, end);
            } else {
                break;
            }
        }
        for at in std::mem::take(&mut self.unblessed).into_keys() {
            self.lose(LossKind::Class, at);
        }
        self.bytes.finish()?;
        Ok(self.late_tracks)
    }

    /// Whether the loop of `plain.rs` may be used.
    fn is_plain(&self) -> bool {
        let options = self.plan.options;
        let dedupes = options.dedupe_strings || options.aliased_dedupe_strings;
        let changes = dedupes || options.no_shared_hashkeys || options.canonical || options.canonical_refs;
        self.plan.order == SortKeys::No && !changes && self.spelled.is_none() && !self.has_absent_keys
    }

    /// Whether the next value is only itself.
    pub(super) fn nothing_pends(&self) -> bool {
        self.instead.is_none() && self.pending_variables.is_empty() && self.pending_referents.is_empty()
    }

    pub(super) fn offset(&self) -> u64 {
        self.first + self.bytes.len()
    }

    /// The index behind the node at `at` and all that is in it.
    fn next(&self, at: u32) -> u32 {
        match self.nodes.get(at as usize) {
            Some(_) => self.document.tape().next(at),
            None => at,
        }
    }

    fn lose(&mut self, kind: LossKind, at: u32) {
        let document = self.document;
        self.losses.add(kind, || document.path(at));
    }

    /// Goes on with this range, and then behind the node at `at`.
    fn enter(&mut self, at: u32, first: u32, last: u32) {
        self.ranges.push((self.next(at), self.end));
        (self.at, self.end) = (first, last);
    }

    /// Writes the value at `to` in the place of the link or alias at `at`.
    fn write_instead(&mut self, at: u32, to: u32) {
        self.instead = Some(at);
        let behind = self.next(to);
        self.enter(at, to, behind);
    }

    fn links(&mut self) -> &mut Links {
        let Body { document, nodes, spelled, .. } = self;
        let is_via = |at, to| spelled.as_ref().is_some_and(|spelled| spelled.is_via(document, at, to));
        self.links.get_or_insert_with(|| Links::of(nodes, is_via))
    }

    /// Writes the node at `at`, a key or a value, and goes on behind it or to
    /// what is in it.
    fn node(&mut self, at: u32) -> Result<(), Error> {
        let node = &self.nodes[at as usize];
        if node.key == IS_KEY {
            return self.key_node(at, node);
        }
        let holder = self.instead.take();
        if holder.is_none() && node.key != NO_KEY && node.key != KEY_NODE && !self.key(at, node.key)? {
            self.at = self.next(at);
            return Ok(());
        }
        let names = node.flags & (flag::TARGET | flag::WEAK) != 0 || matches!(node.kind, Kind::Link | Kind::Alias);
        if names || holder.is_some() {
            self.links();
        }
        if node.has(flag::OVERLOAD) && node.kind.is_container() {
            self.lose(LossKind::Overload, at);
        }
        let after = std::mem::take(&mut self.after);
        let holder = holder.unwrap_or(at);
        if self.links.is_some() && self.again(at, holder, after)? {
            self.at = self.next(at);
            return Ok(());
        }
        self.value(at, node, holder, after)
    }

    /// Writes ALIAS or REFP if the value at `at` was written before.
    fn again(&mut self, at: u32, holder: u32, after: After) -> Result<bool, Error> {
        let Some(links) = &self.links else { return Ok(false) };
        let variable = links.variables.get(&at).and_then(|named| named.offset);
        let referent = links.referents.get(&at).and_then(|named| named.offset);
        if let (Some(offset), After::Item) = (variable, after) {
            self.alias_to(at, offset)?;
        } else if let Some(offset) = referent {
            self.refp(at, holder, Some(offset))?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn value(&mut self, at: u32, node: &'d Node, holder: u32, after: After) -> Result<(), Error> {
        match node.kind {
            Kind::Array | Kind::Map => return self.container(at, node, holder),
            Kind::Ref => return self.reference(at, holder, after),
            Kind::Object => return self.object(at, node, holder, after),
            Kind::Opaque if node.form() == Form::Freeze => return self.frozen(at, node, holder),
            Kind::Regexp => self.regexp(at, node, holder, after)?,
            Kind::Alias => return self.alias(at, after),
            Kind::Link => return self.link(at, holder, after),
            Kind::Opaque | Kind::Attrs | Kind::Tied | Kind::Code | Kind::VString => {
                let (loss, part) = match node.kind {
                    Kind::Opaque => (LossKind::Opaque, 0),
                    Kind::Attrs => (LossKind::Attributes, 0),
                    Kind::Tied => (LossKind::Tied, 0),
                    Kind::Code => (LossKind::Code, 0),
                    _ => (LossKind::VString, 1),
                };
                self.lose(loss, at);
                return self.only_part(at, part, after);
            }
            _ => self.leaf(at, node, after)?,
        }
        self.at = self.next(at);
        Ok(())
    }

    /// Writes one part in the place of the whole.
    fn only_part(&mut self, at: u32, position: u32, after: After) -> Result<(), Error> {
        let mut part = at + 1;
        for _ in 0..position {
            part = self.next(part);
        }
        if part >= self.next(at) {
            self.bytes.byte(tag::UNDEF)?;
            self.at = self.next(at);
            return Ok(());
        }
        self.part_is(at);
        self.after = after;
        let behind = self.next(part);
        self.enter(at, part, behind);
        Ok(())
    }

    /// What names the node at `at` means the value that comes next.
    fn part_is(&mut self, at: u32) {
        if let Some(links) = &self.links {
            if links.variables.contains_key(&at) {
                self.pending_variables.push(at);
            }
            if links.referents.contains_key(&at) {
                self.pending_referents.push(at);
            }
        }
    }
}

/// References and links.
impl<'d> Body<'d, '_> {
    fn alias(&mut self, at: u32, after: After) -> Result<(), Error> {
        let to = variable(self.nodes, at);
        if self.pending_variables.contains(&to) {
            return self.no_place(at, "a variable that is itself");
        }
        let known = self.links().variables.get(&to).and_then(|named| named.offset);
        let via = self.spelled.as_ref().and_then(|spelled| spelled.via(self.document, at, to));
        let known = via.or(known);
        match (known, after) {
            (Some(offset), After::Item) => {
                self.alias_to(at, offset)?;
                self.at = at + 1;
                Ok(())
            }
            (None, _) if self.nodes.get(to as usize).is_some_and(|node| node.kind != Kind::Alias) => {
                self.after = after;
                self.write_instead(at, to);
                Ok(())
            }
            _ => self.no_place(at, "a variable that is another one, outside of an array or a hash"),
        }
    }

    fn alias_to(&mut self, at: u32, offset: u64) -> Result<(), Error> {
        self.pads(at, 0)?;
        let track = self.extra_track(at, tracked::MAIN);
        let here = self.offset();
        if let Some(spelled) = &mut self.spelled {
            spelled.written(at, Part::Value, Kind::Alias, &[], here);
        }
        self.bytes.byte(tag::ALIAS | track)?;
        let width = self.noted_width(at, code::WIDTH);
        self.bytes.varint(offset, width)
    }

    fn link(&mut self, at: u32, holder: u32, after: After) -> Result<(), Error> {
        let to = referent(self.nodes, at);
        let Some(node) = self.nodes.get(to as usize).filter(|node| node.kind != Kind::Link) else {
            return self.no_place(at, "a link to nothing");
        };
        if self.pending_referents.contains(&to) {
            return self.no_place(at, "an object that is itself");
        }
        let known = self.links().referents.get(&to).and_then(|named| named.offset);
        // A scalar that refers to itself.
        if known.is_some() || self.pending_variables.contains(&to) {
            self.refp(at, holder, known)?;
            self.at = at + 1;
            return Ok(());
        }
        if !node.kind.is_container() || self.copied_strings.contains_key(&to) {
            // The same string or number again: Perl does not share these.
            self.lose(LossKind::Sharing, at);
        }
        if let Some(offset) = self.copied_strings.get(&to) {
            self.bytes.tagged(tag::COPY, *offset)?;
            self.at = at + 1;
            return Ok(());
        }
        self.after = after;
        self.write_instead(at, to);
        Ok(())
    }

    #[cold]
    fn no_place(&self, at: u32, found: &'static str) -> Result<(), Error> {
        Err(Error::new(ErrorKind::Unrepresentable).on_path(self.document.path(at)).finding(found))
    }

    /// REFP to what stands at `offset`; without one, to the variable that it is
    /// in itself.
    fn refp(&mut self, at: u32, holder: u32, offset: Option<u64>) -> Result<(), Error> {
        self.pads(at, 0)?;
        let here = self.weak(at, holder)?;
        let offset = offset.unwrap_or(here);
        let track = self.first_tag(at) | self.extra_track(at, tracked::MAIN);
        let here = std::mem::take(&mut self.pending_referents);
        for pending in here {
            self.place_referent(pending, offset);
        }
        self.bytes.byte(tag::REFP | track)?;
        let width = self.noted_width(at, code::WIDTH);
        self.bytes.varint(offset, width)
    }

    /// OBJECT before a REFP: what it refers to is blessed.
    fn late_object(&mut self, at: u32, holder: u32, class: u32, offset: u64) -> Result<(), Error> {
        self.pads(at, 0)?;
        self.weak(at, holder)?;
        let track = self.first_tag(at) | self.extra_track(at, tracked::MAIN);
        self.class(at, class, [tag::OBJECT, tag::OBJECTV], track)?;
        self.bytes.byte(tag::REFP)?;
        let width = self.noted_width(at, code::WIDTH);
        self.bytes.varint(offset, width)
    }

    /// WEAKEN if the reference is weak, or a PAD if it is needed to hold what
    /// it refers to. Returns where the variable starts: a PAD is not part of it.
    fn weak(&mut self, at: u32, holder: u32) -> Result<u64, Error> {
        let here = self.offset();
        if !self.nodes.get(holder as usize).is_some_and(|node| node.has(flag::WEAK)) {
            return Ok(here);
        }
        let nodes = self.nodes;
        let weakness = match self.spelled {
            Some(_) => Weakness::Weak,
            None => self.links().weakness(nodes, holder),
        };
        if weakness == Weakness::Needed {
            self.lose(LossKind::Weak, holder);
            self.bytes.byte(tag::PAD)?;
            return Ok(here + 1);
        }
        let track = self.first_tag(at);
        self.bytes.byte(tag::WEAKEN | track)?;
        self.pads(at, 2)?;
        Ok(here)
    }

    /// The variable at `at` starts here. Returns the bit for its tag.
    fn first_tag(&mut self, at: u32) -> u8 {
        if self.links.is_none() && self.pending_variables.is_empty() {
            return 0;
        }
        let offset = self.offset();
        let pending = std::mem::take(&mut self.pending_variables);
        let mut track = 0;
        for variable in pending.into_iter().chain([at]) {
            let links = self.links();
            if let Some(named) = links.variables.get_mut(&variable)
                && named.offset.is_none()
            {
                named.offset = Some(offset);
                track = TRACK;
            }
            // A reference to a scalar refers to the variable behind REFN.
            if variable != at
                && let Some(named) = links.referents.get_mut(&variable)
                && named.offset.is_none()
            {
                named.offset = Some(offset);
                track = TRACK;
            }
        }
        track
    }

    /// What the reference refers to starts here. Returns the bit for its tag.
    fn inner_tag(&mut self, at: u32) -> u8 {
        if self.links.is_none() {
            return 0;
        }
        let offset = self.offset();
        let pending = std::mem::take(&mut self.pending_referents);
        let mut track = 0;
        for node in pending.into_iter().chain([at]) {
            if self.place_referent(node, offset) {
                track = TRACK;
            }
        }
        track
    }

    fn place_referent(&mut self, node: u32, offset: u64) -> bool {
        match self.links().referents.get_mut(&node) {
            Some(named) if named.offset.is_none() => {
                named.offset = Some(offset);
                true
            }
            _ => false,
        }
    }

    fn is_referent(&self, at: u32) -> bool {
        self.links.as_ref().is_some_and(|links| links.referents.contains_key(&at))
    }

    fn is_weak(&self, at: u32) -> bool {
        self.nodes.get(at as usize).is_some_and(|node| node.has(flag::WEAK))
    }

    fn reference(&mut self, at: u32, holder: u32, after: After) -> Result<(), Error> {
        let child = at + 1;
        let Some(node) = self.nodes.get(child as usize).filter(|_| self.next(at) > child) else {
            return self.no_place(at, "a reference to nothing");
        };
        let to = variable(self.nodes, child);
        let known = self.links.as_ref().and_then(|links| links.variables.get(&to)).and_then(|named| named.offset);
        // A variable that refers to itself.
        let is_here = node.kind == Kind::Alias && (to == at || self.pending_variables.contains(&to));
        let via = self.spelled.as_ref().and_then(|spelled| spelled.via(self.document, at, to));
        let known = via.or(known);
        if known.is_some() || is_here {
            match (self.unblessed.remove(&to), known) {
                (Some(class), Some(offset)) => self.late_object(at, holder, class, offset)?,
                _ => self.refp(at, holder, known)?,
            }
            self.at = self.next(at);
            return Ok(());
        }
        self.pads(at, 0)?;
        self.weak(at, holder)?;
        let track = self.first_tag(at) | self.extra_track(at, tracked::MAIN);
        self.bytes.byte(tag::REFN | track)?;
        if self.is_referent(at) {
            self.pending_variables.push(at);
        }
        self.pending_variables.append(&mut self.pending_referents);
        self.expanded = false;
        // Perl's own true and false, which it knows in every protocol. They can't
        // be blessed.
        if node.kind == Kind::Bool
            && self.spelled.is_none()
            && !node.has(flag::TARGET)
            && after != After::Object
            && self.pending_variables.is_empty()
        {
            self.bytes.byte(if node.payload == 0 { tag::FALSE } else { tag::TRUE })?;
            self.at = self.next(at);
            return Ok(());
        }
        self.after = After::Ref;
        if to == child {
            let behind = self.next(child);
            self.enter(at, child, behind);
        } else {
            self.write_instead(child, to);
        }
        Ok(())
    }

    fn container(&mut self, at: u32, node: &'d Node, holder: u32) -> Result<(), Error> {
        let is_map = node.kind == Kind::Map;
        let count = if is_map { self.entries(at, node) } else { node.aux };
        let (tag, compact) = if is_map { (tag::HASH, tag::HASHREF) } else { (tag::ARRAY, tag::ARRAYREF) };
        let options = self.plan.options;
        let must_expand = std::mem::take(&mut self.expanded) || !self.pending_referents.is_empty();
        let is_expanded = must_expand
            || count as usize > tag::MOST_IN_REF
            || options.canonical
            || options.canonical_refs
            || self.is_weak(holder)
            || self.is_weak(at)
            || self.is_referent(at)
            || self.noted(at, code::REFN).is_some();
        self.pads(at, 0)?;
        self.weak(at, holder)?;
        let track = self.first_tag(at) | self.extra_track(at, tracked::MAIN);
        if self.noted(at, code::BARE).is_some() {
            let track = track | self.inner_tag(at);
            self.bytes.byte(tag | track)?;
            let width = self.noted_width(at, code::WIDTH);
            self.bytes.varint(u64::from(count), width)?;
        } else if is_expanded {
            self.bytes.byte(tag::REFN | track)?;
            self.pads(at, 1)?;
            let track = self.inner_tag(at) | self.extra_track(at, tracked::INNER);
            self.bytes.byte(tag | track)?;
            let width = self.noted_width(at, code::WIDTH);
            self.bytes.varint(u64::from(count), width)?;
        } else {
            self.bytes.byte(compact | count as u8 | track)?;
        }
        self.at = at + 1;
        if is_map { self.enter_map(at, node) } else { Ok(()) }
    }

    fn object(&mut self, at: u32, node: &'d Node, holder: u32, after: After) -> Result<(), Error> {
        if self.plan.options.no_bless_objects {
            self.lose(LossKind::Class, at);
            return self.only_part(at, 0, after);
        }
        if !self.is_reference(at + 1) {
            // The class is written at the first reference to it.
            self.unblessed.insert(at, node.class());
            return self.only_part(at, 0, after);
        }
        self.pads(at, 0)?;
        self.weak(at, holder)?;
        let track = self.first_tag(at) | self.extra_track(at, tracked::MAIN);
        self.class(at, node.class(), [tag::OBJECT, tag::OBJECTV], track)?;
        if self.is_referent(at) {
            self.pending_referents.push(at);
        }
        self.expanded = self.is_weak(holder) || self.is_weak(at);
        self.after = After::Object;
        self.at = at + 1;
        Ok(())
    }

    /// Whether the value at `at` is written as a reference.
    fn is_reference(&self, mut at: u32) -> bool {
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

    fn frozen(&mut self, at: u32, node: &'d Node, holder: u32) -> Result<(), Error> {
        self.pads(at, 0)?;
        self.weak(at, holder)?;
        let track = self.first_tag(at) | self.extra_track(at, tracked::MAIN);
        self.class(at, node.class(), [tag::OBJECT_FREEZE, tag::OBJECTV_FREEZE], track)?;
        if self.is_referent(at) {
            self.pending_referents.push(at);
        }
        let payload = at + 1;
        let is_array = |at: u32| self.nodes.get(at as usize).is_some_and(|node| node.kind == Kind::Array);
        let is_list = is_array(payload) || is_array(referent(self.nodes, payload));
        if payload >= self.next(at) || !is_list {
            // What THAW gets is always a list.
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

    fn regexp(&mut self, at: u32, node: &'d Node, holder: u32, after: After) -> Result<(), Error> {
        let pattern = at + 1;
        let flags = self.next(pattern);
        self.pads(at, 0)?;
        self.weak(at, holder)?;
        let track = self.first_tag(at) | self.extra_track(at, tracked::MAIN);
        if node.has(flag::BARE) && after != After::Object {
            let track = track | self.inner_tag(at);
            self.bytes.byte(tag::REGEXP | track)?;
        } else {
            if after == After::Object || self.plan.options.no_bless_objects {
                self.bytes.byte(tag::REFN | track)?;
            } else {
                let class = self.document.tape().classes().find(Node::leaf(Kind::Bytes, 0), b"Regexp").unwrap_or(0);
                self.class(at, class, [tag::OBJECT, tag::OBJECTV], track)?;
                self.bytes.byte(tag::REFN)?;
            }
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
        self.spelled_string(pattern, Part::Value, kind, bytes, 0)?;
        let kept: Vec<u8> = all.iter().copied().filter(|modifier| b"msixpn".contains(modifier)).take(31).collect();
        if kept.len() < all.len() {
            self.lose(LossKind::RegexpFlags, at);
        }
        self.bytes.byte(tag::SHORT_BINARY | kept.len() as u8)?;
        self.bytes.slice(&kept)
    }

    /// OBJECT or OBJECTV; `tags` are the two.
    fn class(&mut self, at: u32, class: u32, tags: [u8; 2], track: u8) -> Result<(), Error> {
        let written = self.classes.get(class as usize).copied().unwrap_or(0);
        if let Some(target) = self.noted(at, code::CLASS_COPY)
            && let Some(offset) = self.spelled_target(target, at, class)
        {
            self.bytes.byte(tags[0] | track)?;
            self.bytes.byte(tag::COPY)?;
            let width = self.noted_width(at, code::CLASS_COPY_WIDTH);
            return self.bytes.varint(offset, width);
        }
        if written > 0 && self.noted(at, code::CLASS_FULL).is_none() {
            let other = self.noted(at, code::CLASS_OTHER).and_then(|target| self.spelled_target(target, at, class));
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

    fn class_name(&self, class: u32) -> (Kind, &'d [u8]) {
        match self.document.class(class) {
            Some(name) if name.node.kind == Kind::Text => (Kind::Text, name.bytes),
            Some(name) => (Kind::Bytes, name.bytes),
            None => (Kind::Bytes, b"Regexp"),
        }
    }

    /// The offset of the string that a note names, if it says this class.
    fn spelled_target(&self, target: u64, _at: u32, class: u32) -> Option<u64> {
        let (kind, name) = self.class_name(class);
        self.spelled.as_ref().and_then(|spelled| spelled.offset_of(target, kind, name))
    }
}

/// Keys and entries.
impl<'d> Body<'d, '_> {
    /// How many entries of a map are written.
    fn entries(&mut self, at: u32, node: &Node) -> u32 {
        if node.has(flag::RESTRICTED) {
            self.lose(LossKind::Restricted, at);
        }
        if node.has(flag::IDENTITY) || node.has(flag::DEFAULT) {
            self.lose(LossKind::MapKind, at);
        }
        if !self.has_absent_keys && node.aux <= super::read::MOST_IDS {
            return node.aux;
        }
        let Some(map) = self.document.at(at) else { return 0 };
        let present = map.entries().filter(|(key, _)| !is_absent(&key.node())).count();
        u32::try_from(present).unwrap_or(u32::MAX)
    }

    fn enter_map(&mut self, at: u32, node: &'d Node) -> Result<(), Error> {
        let Some(map) = self.document.at(at) else { return Ok(()) };
        if self.plan.order == SortKeys::No {
            if let Some(default) = map.default_value() {
                self.enter(at, at + 1, default.index());
            }
            return Ok(());
        }
        let mut entries = Vec::with_capacity(node.aux as usize);
        for (key, value) in map.entries() {
            let Some(text) = KeyText::of_key(self.document, key) else {
                return self.no_place(value.index(), "a key that is no string");
            };
            let start = match value.node().key {
                KEY_NODE => match key {
                    crate::document::Key::Value(key) => key.index(),
                    crate::document::Key::Name(_) => value.index() - 1,
                },
                _ => value.index(),
            };
            entries.push((text, start, value.next()));
        }
        entries.sort_by(|(a, ..), (b, ..)| compare(self.plan.order, a, b));
        self.ranges.push((self.next(at), self.end));
        self.ranges.extend(entries.iter().rev().map(|(_, start, end)| (*start, *end)));
        self.at = self.end;
        Ok(())
    }

    /// Writes the key with this id. Says no if its entry is left out.
    fn key(&mut self, at: u32, id: u16) -> Result<bool, Error> {
        let Some(name) = self.document.tape().keys().get(u32::from(id)) else { return Ok(false) };
        if is_absent(&name.node) {
            return Ok(false);
        }
        let locked = name.node.has(flag::LOCKED);
        let text = KeyText::of_name(name);
        if let Some(loss) = text.loss.or(locked.then_some(LossKind::Restricted)) {
            self.lose(loss, at);
        }
        let first = self.keys.get(usize::from(id)).map_or(0, |key| key.offset);
        let first = if first == 0 && name.node.kind != text.kind { self.big_key(&text) } else { first };
        let offset = self.offset();
        if self.key_text(at, text.kind, &text.bytes, first)? {
            self.written_key(usize::from(id), offset);
        }
        Ok(true)
    }

    /// A key was written here for the first time.
    fn written_key(&mut self, id: usize, offset: u64) {
        let Some(key) = self.keys.get_mut(id) else { return };
        if key.offset != 0 {
            return;
        }
        key.offset = offset;
        let mut word = [0; 8];
        word[0] = tag::COPY;
        let mut rest = offset;
        for (at, byte) in word.iter_mut().enumerate().skip(1) {
            *byte = rest as u8 & 0x7F;
            rest >>= 7;
            if rest == 0 {
                key.word = u64::from_le_bytes(word);
                key.len = at as u8 + 1;
                return;
            }
            *byte |= 0x80;
        }
    }

    /// Where a key without an id, or with several, was written first; 0 if it
    /// was not.
    fn big_key(&self, text: &KeyText<'_>) -> u64 {
        self.big_keys.get(&(text.kind == Kind::Text, text.bytes.to_vec())).copied().unwrap_or(0)
    }

    fn key_node(&mut self, at: u32, node: &'d Node) -> Result<(), Error> {
        let value = self.next(at);
        if is_absent(node) {
            self.at = self.next(value);
            return Ok(());
        }
        let Some(text) = KeyText::of_node(self.document, node) else {
            return self.no_place(value, "a key that is no string and can't become one");
        };
        if let Some(loss) = text.loss.or(node.has(flag::LOCKED).then_some(LossKind::Restricted)) {
            self.lose(loss, value);
        }
        let name = Node::leaf(text.kind, 0);
        let id = self.document.tape().keys().find(name, &text.bytes).map(|id| id as usize);
        let first = match id {
            Some(id) => self.keys.get(id).map_or(0, |key| key.offset),
            None => self.big_key(&text),
        };
        let offset = self.offset();
        if self.key_text(value, text.kind, &text.bytes, first)? {
            match id {
                Some(id) => self.written_key(id, offset),
                None => {
                    self.big_keys.insert((text.kind == Kind::Text, text.bytes.into_owned()), offset);
                }
            }
        }
        self.at = value;
        Ok(())
    }

    /// Writes a key that was first written at `first`. Says whether it was
    /// written in full.
    fn key_text(&mut self, value: u32, kind: Kind, bytes: &[u8], first: u64) -> Result<bool, Error> {
        let options = self.plan.options;
        let spelled = self.spelled.as_ref();
        let target = self.noted(value, code::KEY_COPY);
        let copy = match (spelled, target) {
            (Some(_), Some(u64::MAX)) => first,
            (Some(spelled), Some(target)) => spelled.offset_of(target, kind, bytes).unwrap_or(0),
            (Some(spelled), None) if spelled.full_keys() || self.noted(value, code::KEY_FULL).is_some() => 0,
            _ if options.no_shared_hashkeys || matches!(self.plan.order, SortKeys::Perl | SortKeys::PerlReverse) => 0,
            _ => first,
        };
        if copy > 0 {
            self.bytes.byte(tag::COPY)?;
            let width = self.noted_width(value, code::KEY_COPY_WIDTH);
            self.bytes.varint(copy, width)?;
            return Ok(false);
        }
        let track = self.extra_track(value, tracked::KEY);
        self.spelled_string(value, Part::Key, kind, bytes, track)?;
        Ok(true)
    }
}

/// Spelling.
impl Body<'_, '_> {
    pub(super) fn noted(&self, at: u32, code: u16) -> Option<u64> {
        self.spelled.as_ref().and_then(|spelled| spelled.note(at, code))
    }

    pub(super) fn noted_width(&self, at: u32, code: u16) -> usize {
        self.noted(at, code).and_then(|width| usize::try_from(width).ok()).unwrap_or(0)
    }

    /// The bit for a tag that was tracked although nothing refers to it.
    pub(super) fn extra_track(&self, at: u32, which: u64) -> u8 {
        match &self.spelled {
            Some(spelled) if spelled.tracks(at) & which != 0 => TRACK,
            _ => 0,
        }
    }

    fn pads(&mut self, at: u32, place: u64) -> Result<(), Error> {
        let pads = self.spelled.as_ref().map_or(0, |spelled| spelled.pads(at, place));
        for _ in 0..pads {
            self.bytes.byte(tag::PAD)?;
        }
        Ok(())
    }

    /// A leaf is written here: what links name can't be a reference to it.
    fn no_inner_tag(&mut self, at: u32, is_string: bool) {
        self.expanded = false;
        let pending = std::mem::take(&mut self.pending_referents);
        if is_string {
            let offset = self.offset();
            let is_named = self.is_referent(at);
            self.copied_strings.extend(pending.into_iter().chain(is_named.then_some(at)).map(|node| (node, offset)));
        }
    }
}

/// Leaves.
mod leaves;
