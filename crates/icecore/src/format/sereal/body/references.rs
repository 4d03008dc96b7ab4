//! References, links and aliases.

use super::super::links::{Weakness, referent, variable};
use super::super::spelling::{Part, code, tracked};
use super::super::tag::{self, TRACK};
use super::{After, Body};
use crate::document::{Kind, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::output::LossKind;

impl<'d> Body<'d, '_> {
    pub(super) fn alias(&mut self, at: u32, after: After) -> Result<(), Error> {
        let to = variable(self.nodes, at);
        self.met(to);
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
                // The variable itself, weak or not, is written here.
                self.instead = Some(to);
                Ok(())
            }
            _ => self.no_place(at, "a variable that is another one, outside of an array or a hash"),
        }
    }

    /// Counts an alias of the variable at `to` as written.
    fn met(&mut self, to: u32) {
        if let Some(named) = self.links().variables.get_mut(&to) {
            named.left = named.left.saturating_sub(1);
        }
    }

    pub(super) fn alias_to(&mut self, at: u32, offset: u64) -> Result<(), Error> {
        self.pads(at, 0)?;
        let track = self.extra_track(at, tracked::MAIN);
        let here = self.offset();
        if let Some(spelled) = &mut self.spelled {
            spelled.written(at, Part::Value, Kind::Alias, &[], here);
        }
        let offset = self.by(at).unwrap_or(offset);
        self.bytes.byte(tag::ALIAS | track)?;
        let width = self.noted_width(at, code::WIDTH);
        self.bytes.varint(offset, width)
    }

    pub(super) fn link(&mut self, at: u32, holder: u32, after: After) -> Result<(), Error> {
        let to = referent(self.nodes, at);
        let Some(node) = self.nodes.get(to as usize).filter(|node| node.kind != Kind::Link) else {
            return self.no_place(at, "a link to nothing");
        };
        if self.pending_referents.contains(&to) {
            return self.no_place(at, "an object that is itself");
        }
        let known = self.links().referents.get(&to).and_then(|named| named.offset);
        // A scalar that refers to itself.
        if known.is_some() || self.is_pending(to) {
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
        if self.links().variables.contains_key(&at) {
            self.pending_variables.push(at);
        }
        self.after = after;
        self.write_instead(at, to);
        Ok(())
    }

    #[cold]
    pub(super) fn no_place(&self, at: u32, found: &'static str) -> Result<(), Error> {
        Err(Error::new(ErrorKind::Unrepresentable).on_path(self.document.path(at)).finding(found))
    }

    /// Returns the tag that this link used for its variable.
    fn by(&self, at: u32) -> Option<u64> {
        self.spelled.as_ref().and_then(|spelled| spelled.by(at))
    }

    /// Writes REFP to the item at `offset`; without one, to the variable that contains
    /// it.
    pub(super) fn refp(&mut self, at: u32, holder: u32, offset: Option<u64>) -> Result<(), Error> {
        self.pads(at, 0)?;
        let mut here = self.weak(at, holder)?;
        if self.is_tracked(at, tracked::BEHIND) != 0 {
            here = self.offset();
        }
        let offset = offset.unwrap_or(here);
        let track = self.first_tag(at) | self.extra_track(at, tracked::MAIN);
        let here = std::mem::take(&mut self.pending_referents);
        for pending in here {
            self.place_referent(pending, offset);
        }
        let offset = self.by(at).unwrap_or(offset);
        self.bytes.byte(tag::REFP | track)?;
        let width = self.noted_width(at, code::WIDTH);
        self.bytes.varint(offset, width)
    }

    /// Writes OBJECT before a REFP: the target is blessed. Without an offset, the
    /// target is the variable that contains it.
    pub(super) fn late_object(&mut self, at: u32, holder: u32, class: u32, offset: Option<u64>) -> Result<(), Error> {
        self.pads(at, 0)?;
        let offset = offset.unwrap_or(self.offset());
        let weak_body = self.noted(at, code::WEAK_BODY);
        if weak_body != Some(0) {
            self.weak(at, holder)?;
        }
        // The object's node became that of its scalar: the notes of its body and of
        // itself are on this node.
        let tracks = self.spelled.as_ref().map_or(0, |spelled| spelled.tracks(at));
        let bit = |which| if tracks & which != 0 { TRACK } else { 0 };
        let is_behind = tracks & tracked::BEHIND != 0;
        let named = if is_behind { 0 } else { self.first_tag(at) };
        self.class(at, class, [tag::OBJECT, tag::OBJECTV], named | bit(tracked::MAIN))?;
        if weak_body.is_some() {
            self.weak(at, holder)?;
        }
        let named = if is_behind { self.first_tag(at) } else { 0 };
        self.extra_track(at, tracked::BODY);
        let offset = self.by(at).unwrap_or(offset);
        self.bytes.byte(tag::REFP | named | bit(tracked::BODY))?;
        let width = self.noted_width(at, code::WIDTH);
        self.bytes.varint(offset, width)
    }

    /// Writes WEAKEN if the reference is weak, or a PAD if the reference is needed to
    /// hold its target. Returns where the variable starts: a PAD is not part of it.
    pub(super) fn weak(&mut self, at: u32, holder: u32) -> Result<u64, Error> {
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
        let is_later = self.is_later(at) || self.is_tracked(at, tracked::BEHIND | tracked::AT_REFN) != 0;
        let named = if is_later { 0 } else { self.first_tag(at) };
        let track = named | self.extra_track(at, tracked::WEAKEN) | self.extra_track(at, tracked::AT_WEAKEN);
        self.bytes.byte(tag::WEAKEN | track)?;
        self.pads(at, 2)?;
        Ok(here)
    }

    /// Whether the variable at `to` starts at the next tag.
    fn is_pending(&self, to: u32) -> bool {
        self.named_behind == Some(to) || self.pending_variables.contains(&to)
    }

    /// Whether links to this object refer to the tag after its class.
    pub(super) fn is_later(&self, at: u32) -> bool {
        let rest = self.nodes.get(at as usize..).unwrap_or(&[]);
        let objects = rest.iter().take_while(|node| matches!(node.kind, Kind::Object | Kind::Opaque)).count() as u32;
        (at + 1..=at + objects).any(|body| self.is_tracked(body, tracked::BEHIND | tracked::AT_WEAKEN) != 0)
    }

    /// Begins the variable at `at`. Returns the bit for its tag.
    pub(super) fn first_tag(&mut self, at: u32) -> u8 {
        if self.links.is_none() && self.pending_variables.is_empty() {
            return 0;
        }
        let offset = self.offset();
        let pending = std::mem::take(&mut self.pending_variables);
        let mut track = 0;
        let object = self.named_behind.take();
        for variable in pending.into_iter().chain([at]).chain(object) {
            let links = self.links();
            if let Some(named) = links.variables.get_mut(&variable)
                && named.offset.is_none()
            {
                named.offset = Some(offset);
                track = TRACK;
            }
            // A reference to a scalar refers to the variable after REFN.
            if variable != at
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
    pub(super) fn inner_tag(&mut self, at: u32) -> u8 {
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

    pub(super) fn place_referent(&mut self, node: u32, offset: u64) -> bool {
        match self.links().referents.get_mut(&node) {
            Some(named) if named.offset.is_none() => {
                named.offset = Some(offset);
                true
            }
            _ => false,
        }
    }

    pub(super) fn is_referent(&self, at: u32) -> bool {
        self.links.as_ref().is_some_and(|links| links.referents.contains_key(&at))
    }

    pub(super) fn is_weak(&self, at: u32) -> bool {
        self.nodes.get(at as usize).is_some_and(|node| node.has(flag::WEAK))
    }

    pub(super) fn reference(&mut self, at: u32, holder: u32, after: After) -> Result<(), Error> {
        let child = at + 1;
        let Some(node) = self.nodes.get(child as usize).filter(|_| self.next(at) > child) else {
            return self.no_place(at, "a reference to nothing");
        };
        let to = variable(self.nodes, child);
        if node.kind == Kind::Alias {
            self.met(to);
        }
        let known = self.links.as_ref().and_then(|links| links.variables.get(&to)).and_then(|named| named.offset);
        // A variable that refers to itself.
        let is_here = node.kind == Kind::Alias && (to == at || self.is_pending(to));
        let via = self.spelled.as_ref().and_then(|spelled| spelled.via(self.document, at, to));
        let known = via.or(known);
        if known.is_some() || is_here {
            match self.unblessed.remove(&to) {
                Some(class) => self.late_object(at, holder, class, known)?,
                None => self.refp(at, holder, known)?,
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
        // Perl's own true and false, which are singletons in every protocol. They can't
        // be blessed.
        if node.kind == Kind::Bool
            && self.spelled.is_none()
            && !node.has(flag::TARGET)
            && !node.has(flag::VARIABLE)
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
            // As in `alias`: the variable itself, weak or not.
            self.instead = Some(to);
        }
        Ok(())
    }

    pub(super) fn container(&mut self, at: u32, node: &'d Node, holder: u32) -> Result<(), Error> {
        let is_map = node.kind == Kind::Map;
        let count = if is_map { self.entries(at, node) } else { node.aux };
        let (tag, compact) = if is_map { (tag::HASH, tag::HASHREF) } else { (tag::ARRAY, tag::ARRAYREF) };
        let options = self.plan.options;
        let must_expand = std::mem::take(&mut self.expanded) || !self.pending_referents.is_empty();
        let is_expanded = must_expand
            || count as usize > tag::MOST_IN_REF
            || options.canonical
            || options.canonical_refs
            || self.spelled.is_none() && (self.is_weak(holder) || self.is_weak(at))
            || self.is_referent(at)
            || node.has(flag::HINT)
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
        if is_map { self.enter_map(at) } else { Ok(()) }
    }
}
