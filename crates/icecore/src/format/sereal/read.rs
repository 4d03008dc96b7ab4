//! The reader: one state machine with a stack of its own.
//!
//! `FAST` adds the loops of `fast.rs` for what most documents are made of;
//! without it everything goes through here, and must come out the same.

use super::fast::Predictions;
use super::header::{Origin, found};
use super::spell::{self, Part, Speller, code, tracked};
use super::tag::{self, TRACK};
use super::{ReadOptions, late};
use crate::document::{Form, IS_KEY, KEY_NODE, Kind, NO_KEY, NO_NODE, Node, Sink, Tape, flag};
use crate::error::{Error, ErrorKind};
use crate::format::Scan;
use crate::limits::Limits;
use crate::num::float128;
use std::collections::HashMap;

/// Maps with more entries than this have key nodes.
pub(super) const MOST_IDS: u32 = 256;
/// No modifier but these is known to the perl decoder.
const MODIFIERS: &[u8] = b"msixpn";

/// Reads a varint.
#[inline]
pub(super) fn varint(scan: &mut Scan<'_>, what: &'static str) -> Result<u64, Error> {
    match scan.peek() {
        Some(byte) if byte < 0x80 => {
            scan.at += 1;
            Ok(u64::from(byte))
        }
        _ => long_varint(scan, what),
    }
}

fn long_varint(scan: &mut Scan<'_>, what: &'static str) -> Result<u64, Error> {
    let start = scan.at;
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = scan.u8(what)?;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 && (shift < 63 || byte <= 1) {
            return Ok(value);
        }
    }
    Err(Error::new(ErrorKind::Malformed)
        .at(start)
        .expecting(format!("{what} of at most 64 bits"))
        .finding("a longer one"))
}

/// What the children of an open container are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Items.
    Array,
    /// Entries whose keys have ids.
    Map,
    /// Entries with key nodes.
    BigMap,
    /// The variable that a reference refers to.
    Ref,
    /// The reference that an object is.
    Object,
    /// The reference to the array that FREEZE returned.
    Opaque,
}

/// An open container.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) node: u32,
    /// How many children or entries are still to come.
    pub(super) left: u32,
    pub(super) count: u32,
    pub(super) role: Role,
    /// The id of the last key.
    pub(super) last_key: u16,
    /// Of an object: the node that its variable is. Of a reference: the object
    /// whose body it is.
    pub(super) owner: u32,
}

/// What a tracked tag is.
#[derive(Clone, Copy, Debug)]
struct Tracked {
    /// The variable that ALIAS means.
    variable: u32,
    /// What REFP refers to: this object, or (if there is none) the variable.
    referent: u32,
    /// Whose tag it is, and which, for the spelling.
    node: u32,
    which: u64,
    used: bool,
    /// A COPY read it again, or it is an ALIAS: the variable is not that of
    /// `node`.
    again: bool,
}

/// A COPY that is being read.
#[derive(Clone, Copy, Debug)]
struct Copying<'i> {
    resume: Scan<'i>,
    tag_at: usize,
    source: usize,
    /// The stack's height at which it is complete.
    height: usize,
    node: u32,
}

/// A string as a key, a class name or a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'i> {
    pub(super) kind: Kind,
    /// Where its tag is; of a copy, the tag of the original.
    pub(super) at: usize,
    pub(super) start: usize,
    pub(super) bytes: &'i [u8],
    pub(super) copied: bool,
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct Slot {
    key: u16,
    me: u32,
    /// The variable: the object, where this is the body of one.
    outer: u32,
    /// The object that refers to this variable.
    pub(super) owner: u32,
    parent: Option<Role>,
    weak: Option<usize>,
}

/// Reads one body.
pub(super) struct Machine<'i, 'r, S, const FAST: bool> {
    pub(super) scan: Scan<'i>,
    pub(super) sink: &'r mut S,
    pub(super) limits: &'r Limits,
    pub(super) options: &'r ReadOptions,
    pub(super) origin: Origin,
    pub(super) stack: Vec<Frame>,
    pub(super) predictions: Predictions,
    pub(super) speller: &'r mut Speller,
    /// Strings are copied, because the document borrows from another buffer.
    pub(super) own: bool,
    /// This is the user header, which is no root.
    pub(super) is_header: bool,
    tracked: HashMap<usize, Tracked>,
    classes: HashMap<usize, u32>,
    copy: Option<Copying<'i>>,
    /// How many more nodes may come from copies.
    expansion: u64,
    /// A regular expression that is not complete.
    open_regexp: Option<u32>,
    /// Objects that are a REFP to a scalar: see `late.rs`.
    late: Vec<u32>,
}

impl<'i, 'r, S: Sink, const FAST: bool> Machine<'i, 'r, S, FAST> {
    pub(super) fn new(
        scan: Scan<'i>,
        origin: Origin,
        sink: &'r mut S,
        speller: &'r mut Speller,
        limits: &'r Limits,
        options: &'r ReadOptions,
    ) -> Self {
        Machine {
            scan,
            sink,
            limits,
            options,
            origin,
            stack: Vec::new(),
            predictions: Predictions::default(),
            speller,
            own: false,
            is_header: false,
            tracked: HashMap::new(),
            classes: HashMap::new(),
            copy: None,
            expansion: limits.expanded_from(scan.input.len()),
            open_regexp: None,
            late: Vec::new(),
        }
    }

    /// Reads the value that stands here, and returns where it ends. What was
    /// read before an error is left on the tape as containers that end there.
    pub(super) fn read(mut self) -> (usize, Option<Error>) {
        let error = self.run().err().map(|error| {
            let error = self.in_copy(error);
            let tape = self.sink.tape();
            let path = tape.path_to(tape.len(), self.scan.input);
            error.on_path(path)
        });
        let mut missing = u32::from(error.is_some());
        if let Some(node) = self.open_regexp {
            let parts = self.tape().len() - node - 1;
            self.tape().close(node, parts);
            missing = 0;
        }
        while let Some(frame) = self.stack.pop() {
            self.tape().close(frame.node, frame.count.saturating_sub(frame.left + missing));
            missing = 0;
        }
        self.note_unused_tracks();
        if error.is_none() && !self.late.is_empty() {
            late::bless(self.sink, &self.late);
        }
        (self.scan.at, error)
    }

    fn run(&mut self) -> Result<(), Error> {
        self.value(NO_KEY)?;
        loop {
            let copying = self.copy.is_some();
            let Some(top) = self.stack.last_mut() else { return Ok(()) };
            if top.left == 0 {
                self.close()?;
                continue;
            }
            if FAST && !copying && self.fast()? {
                continue;
            }
            let Some(top) = self.stack.last_mut() else { return Ok(()) };
            top.left -= 1;
            match top.role {
                Role::Map => {
                    let key = self.key()?;
                    self.value(key)?;
                }
                Role::BigMap => {
                    self.key_node()?;
                    self.value(KEY_NODE)?;
                }
                _ => self.value(NO_KEY)?,
            }
        }
    }

    #[inline]
    pub(super) fn tape(&mut self) -> &mut Tape {
        self.sink.tape()
    }

    /// Called when a value is complete.
    #[inline]
    pub(super) fn done(&mut self) -> Result<(), Error> {
        if let Some(copy) = self.copy
            && copy.height == self.stack.len()
        {
            self.end_copy(copy)?;
        }
        if self.stack.len() == 1 && !self.is_header {
            self.sink.child_done()?;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Error> {
        if let Some(frame) = self.stack.pop() {
            self.tape().close(frame.node, frame.count);
            self.end(frame.node);
        }
        self.done()
    }

    /// Appends a node.
    #[inline]
    fn push(&mut self, node: Node) -> Result<u32, Error> {
        if self.sink.tape().len() >= self.limits.nodes {
            return Err(self.limits.too_many_nodes().at(self.scan.at));
        }
        Ok(self.sink.tape().push(node))
    }

    /// Opens a container.
    fn open(&mut self, mut node: Node, slot: &Slot, role: Role, count: u32, owner: u32) -> Result<(), Error> {
        if self.stack.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().at(self.scan.at));
        }
        node.key = slot.key;
        node.flags |= slot.flags();
        let node = self.push(node)?;
        self.stack.push(Frame { node, left: count, count, role, last_key: 0, owner });
        Ok(())
    }

    /// Appends a leaf, which ends here.
    fn leaf(&mut self, mut node: Node, slot: &Slot) -> Result<(), Error> {
        node.key = slot.key;
        node.flags |= slot.flags();
        let at = self.push(node)?;
        self.end(at);
        self.done()
    }

    fn slot(&mut self, key: u16) -> Slot {
        let me = self.tape().len();
        let mut slot = Slot { key, me, outer: me, owner: NO_NODE, parent: None, weak: None };
        if let Some(top) = self.stack.last() {
            slot.parent = Some(top.role);
            match top.role {
                Role::Object | Role::Opaque => slot.outer = top.owner,
                Role::Ref => slot.owner = top.owner,
                _ => {}
            }
        }
        slot
    }

    /// Reads a value: an item in the words of the format.
    fn value(&mut self, key: u16) -> Result<(), Error> {
        let mut slot = self.slot(key);
        self.begin(slot.me);
        let mut aliasable = matches!(slot.parent, Some(Role::Array | Role::Map | Role::BigMap));
        let mut pads = 0;
        loop {
            let at = self.scan.at;
            let byte = self.scan.u8("a tag")?;
            let tag = byte & !TRACK;
            if byte != tag {
                let referent = slot.owner;
                self.track(at, slot.outer, referent, slot.me, tracked::MAIN);
            }
            self.span(at, slot.me, tag::name(tag));
            match tag {
                tag::PAD => {
                    pads += 1;
                    let place = if slot.weak.is_some() { 2 } else { 0 };
                    if self.scan.peek() != Some(tag::PAD) {
                        self.note(slot.me, code::PADS, place << 32 | pads);
                        pads = 0;
                    }
                }
                tag::WEAKEN => {
                    slot.weak = Some(at);
                    aliasable = false;
                }
                tag::COPY => {
                    self.begin_copy(&slot, at)?;
                    aliasable = false;
                }
                tag::ALIAS if aliasable => return self.alias(&slot, at, byte != tag),
                _ => return self.item(&slot, at, tag),
            }
        }
    }

    fn item(&mut self, slot: &Slot, at: usize, tag: u8) -> Result<(), Error> {
        match tag {
            tag::REFN => return self.refn(slot),
            tag::REFP => return self.refp(slot, at),
            tag::ARRAYREF..tag::HASHREF => {
                let node = Node::open(Kind::Array, 0).with(flag::REF);
                return self.container(node, slot, u64::from(tag - tag::ARRAYREF));
            }
            tag::HASHREF..tag::SHORT_BINARY => {
                let node = Node::open(Kind::Map, 0).with(flag::REF);
                return self.container(node, slot, u64::from(tag - tag::HASHREF));
            }
            tag::OBJECT | tag::OBJECTV | tag::OBJECT_FREEZE | tag::OBJECTV_FREEZE => {
                return self.object(slot, at, tag);
            }
            _ => {}
        }
        self.needs_no_reference(slot, at, tag)?;
        match tag {
            tag::POS..tag::NEG => self.leaf(Node::int(i64::from(tag)), slot),
            tag::NEG..tag::VARINT => self.leaf(Node::int(i64::from(tag) - 32), slot),
            tag::VARINT => {
                let value = self.number(slot.me, "VARINT")?;
                self.note_tag(slot.me, tag, value > 15);
                self.leaf(Node::uint(value), slot)
            }
            tag::ZIGZAG => {
                let value = self.number(slot.me, "ZIGZAG")?;
                let value = (value >> 1) as i64 ^ -((value & 1) as i64);
                self.note_tag(slot.me, tag, value < -16);
                self.leaf(Node::int(value), slot)
            }
            tag::FLOAT => {
                let from = self.scan.at;
                let bits = u32::from_le_bytes(self.scan.array("FLOAT")?);
                self.span(from, slot.me, "number");
                self.leaf(Node::leaf(Kind::Float32, u64::from(bits)), slot)
            }
            tag::DOUBLE => {
                let from = self.scan.at;
                let value = f64::from_le_bytes(self.scan.array("DOUBLE")?);
                self.span(from, slot.me, "number");
                self.note_tag(slot.me, tag, !super::write::is_float(value));
                self.leaf(Node::float(value), slot)
            }
            tag::LONG_DOUBLE | tag::FLOAT_128 => self.wide_float(slot, tag),
            tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY.. => {
                let word = self.word_behind(slot.me, at, tag)?;
                let node = self.string(&word);
                self.note_string(slot.me, tag, &word);
                self.leaf(node, slot)
            }
            tag::UNDEF | tag::CANONICAL_UNDEF => {
                self.note_tag(slot.me, tag, tag == tag::UNDEF);
                self.leaf(Node::leaf(Kind::Null, 0), slot)
            }
            tag::YES | tag::NO | tag::TRUE | tag::FALSE => {
                self.note_tag(slot.me, tag, matches!(tag, tag::YES | tag::NO));
                self.leaf(Node::leaf(Kind::Bool, u64::from(matches!(tag, tag::YES | tag::TRUE))), slot)
            }
            tag::ARRAY | tag::HASH => {
                // A variable that is an array itself. Perl has none, but there
                // are encoders that write arrays so.
                if let Some(tracked) = self.tracked.get_mut(&at) {
                    tracked.referent = slot.outer;
                }
                self.note(slot.me, code::BARE, 0);
                let count = self.number(slot.me, "the count")?;
                let kind = if tag == tag::ARRAY { Kind::Array } else { Kind::Map };
                self.container(Node::open(kind, 0), slot, count)
            }
            tag::REGEXP => self.regexp(slot, flag::BARE),
            _ => Err(self.unexpected(at, tag, "the tag of a value")),
        }
    }

    /// WEAKEN and OBJECT want a reference.
    fn needs_no_reference(&self, slot: &Slot, at: usize, tag: u8) -> Result<(), Error> {
        let (at, what) = match (slot.weak, slot.parent) {
            (Some(at), _) => (at, "a reference behind WEAKEN"),
            (None, Some(Role::Object)) => (at, "a reference to bless"),
            (None, Some(Role::Opaque)) => (at, "a reference to an array behind OBJECT_FREEZE"),
            _ => return Ok(()),
        };
        Err(self.unexpected(at, tag, what))
    }

    fn needs_array(&self, slot: &Slot, kind: Kind) -> Result<(), Error> {
        if slot.parent != Some(Role::Opaque) || kind == Kind::Array {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Malformed)
            .at(self.scan.at.saturating_sub(1))
            .expecting("a reference to an array behind OBJECT_FREEZE")
            .finding("something else"))
    }

    #[cold]
    fn unexpected(&self, at: usize, tag: u8, expected: &'static str) -> Error {
        Error::new(ErrorKind::Malformed).at(at).expecting(expected).finding(found(tag))
    }

    /// A varint behind a tag.
    fn number(&mut self, node: u32, what: &'static str) -> Result<u64, Error> {
        self.wide_number(node, what, code::WIDTH)
    }

    fn wide_number(&mut self, node: u32, what: &'static str, code: u16) -> Result<u64, Error> {
        let from = self.scan.at;
        let value = varint(&mut self.scan, what)?;
        if S::DETAIL {
            self.span(from, node, what);
            let width = self.scan.at - from;
            if width != spell::width(value) {
                self.note(node, code, width as u64);
            }
        }
        Ok(value)
    }

    /// A container with `count` children, which were not proven to be there.
    fn container(&mut self, node: Node, slot: &Slot, count: u64) -> Result<(), Error> {
        self.needs_array(slot, node.kind)?;
        let is_map = node.kind == Kind::Map;
        let (most, least) =
            if is_map { (self.options.max_num_hash_entries, 2) } else { (self.options.max_num_array_entries, 1) };
        if most.is_some_and(|most| count > most) {
            return Err(Error::new(ErrorKind::Limit)
                .at(self.scan.at)
                .expecting(format!("at most {} {}", most.unwrap_or(0), if is_map { "entries" } else { "items" }))
                .finding(format!("{count}")));
        }
        let bytes = count.saturating_mul(least);
        if bytes > self.scan.left() as u64 {
            let what = if is_map { "entries" } else { "items" };
            return Err(self.scan.truncated(usize::try_from(bytes).unwrap_or(usize::MAX), what));
        }
        let count = u32::try_from(count).map_err(|_| self.limits.too_many_nodes().at(self.scan.at))?;
        let role = match (is_map, count) {
            (false, _) => Role::Array,
            (true, 0..=MOST_IDS) => Role::Map,
            (true, _) => Role::BigMap,
        };
        self.open(node, slot, role, count, NO_NODE)
    }

    fn refn(&mut self, slot: &Slot) -> Result<(), Error> {
        let input = self.scan.input;
        let pads =
            input.get(self.scan.at..).map_or(0, |rest| rest.iter().take_while(|byte| **byte == tag::PAD).count());
        let at = self.scan.at + pads;
        let byte = input.get(at).copied().unwrap_or(tag::PAD);
        let inner = byte & !TRACK;
        let is_body = slot.parent == Some(Role::Object);
        if !(matches!(inner, tag::ARRAY | tag::HASH) || inner == tag::REGEXP && is_body) {
            self.needs_array(slot, Kind::Ref)?;
            let owner = if is_body { slot.outer } else { NO_NODE };
            return self.open(Node::open(Kind::Ref, 0).with(flag::REF), slot, Role::Ref, 1, owner);
        }
        if pads > 0 {
            let from = self.scan.at;
            self.scan.at = at;
            self.span(from, slot.me, "PAD");
            self.note(slot.me, code::PADS, 1 << 32 | pads as u64);
        }
        self.scan.at = at + 1;
        self.span(at, slot.me, tag::name(inner));
        if byte != inner {
            self.track(at, NO_NODE, slot.outer, slot.me, tracked::INNER);
        }
        if inner == tag::REGEXP {
            return self.regexp(slot, 0);
        }
        let count = self.number(slot.me, "the count")?;
        if count <= tag::MOST_IN_REF as u64 {
            self.note(slot.me, code::REFN, 0);
        }
        let kind = if inner == tag::ARRAY { Kind::Array } else { Kind::Map };
        self.container(Node::open(kind, 0).with(flag::REF), slot, count)
    }

    /// The tracked tag that an offset names.
    fn tracked(&mut self, slot: &Slot, at: usize, what: &'static str) -> Result<Tracked, Error> {
        if !self.sink.is_whole() {
            return Err(Error::new(ErrorKind::Output).at(at).finding("a link, while finished parts were taken away"));
        }
        let offset = self.number(slot.me, "the offset")?;
        let index = self.origin.index(offset, at)?;
        let Some(tracked) = self.tracked.get_mut(&index) else {
            return Err(Error::new(ErrorKind::BadLink)
                .at(at)
                .expecting(format!("{what} to a tracked item"))
                .finding(format!("offset {offset}, where there is none")));
        };
        tracked.used = true;
        let known = *tracked;
        if known.again {
            self.note(slot.me, code::VIA, spell::target(Part::Value, known.node));
        }
        Ok(known)
    }

    fn alias(&mut self, slot: &Slot, at: usize, is_tracked: bool) -> Result<(), Error> {
        let known = self.tracked(slot, at, "ALIAS")?;
        if known.variable >= slot.me {
            return Err(Error::new(ErrorKind::BadLink)
                .at(at)
                .expecting("ALIAS to a variable")
                .finding(if known.variable == NO_NODE { "an array or hash" } else { "itself" }));
        }
        if is_tracked {
            self.tracked.insert(at, Tracked { node: slot.me, which: tracked::MAIN, used: false, again: true, ..known });
        }
        self.tape().mark_target(known.variable);
        self.leaf(Node::leaf(Kind::Alias, u64::from(known.variable)), slot)
    }

    fn refp(&mut self, slot: &Slot, at: usize) -> Result<(), Error> {
        let known = self.tracked(slot, at, "REFP")?;
        if known.referent != NO_NODE {
            self.link(slot, at, known.referent)
        } else {
            self.needs_array(slot, Kind::Ref)?;
            if slot.parent == Some(Role::Object) {
                self.late.push(slot.outer);
            }
            let mut node = Node::open(Kind::Ref, 0).with(flag::REF | slot.flags());
            node.key = slot.key;
            let node = self.push(node)?;
            let alias = self.push(Node::leaf(Kind::Alias, u64::from(known.variable)))?;
            self.tape().close(node, 1);
            self.tape().mark_target(known.variable);
            if S::DETAIL
                && let Some(detail) = self.sink.detail()
            {
                detail.begin(alias, at);
            }
            self.end(alias);
            self.end(node);
            self.done()
        }
    }

    fn link(&mut self, slot: &Slot, at: usize, referent: u32) -> Result<(), Error> {
        if slot.parent == Some(Role::Opaque) && self.kind_of(referent) != Some(Kind::Array) {
            return Err(self.unexpected(at, tag::REFP, "a reference to an array behind OBJECT_FREEZE"));
        }
        self.tape().mark_target(referent);
        self.leaf(Node::leaf(Kind::Link, u64::from(referent)), slot)
    }

    fn kind_of(&mut self, node: u32) -> Option<Kind> {
        self.tape().nodes().get(node as usize).map(|node| node.kind)
    }

    fn object(&mut self, slot: &Slot, at: usize, tag: u8) -> Result<(), Error> {
        if self.options.refuse_objects {
            return Err(Error::new(ErrorKind::Unsupported)
                .at(at)
                .expecting("a document without objects")
                .finding(tag::name(tag))
                .helping("the option `refuse_objects` is set"));
        }
        if slot.parent == Some(Role::Opaque) {
            return Err(self.unexpected(at, tag, "a reference to an array behind OBJECT_FREEZE"));
        }
        let class = match tag {
            tag::OBJECT | tag::OBJECT_FREEZE => self.class_name(slot)?,
            _ => self.known_class(slot, at)?,
        };
        if matches!(tag, tag::OBJECT | tag::OBJECTV) {
            if self.is_plain_regexp(class) {
                return self.plain_regexp(slot);
            }
            return self.open(Node::open(Kind::Object, class), slot, Role::Object, 1, slot.outer);
        }
        let node = Node::open(Kind::Opaque, class).in_form(Form::Freeze);
        self.open(node, slot, Role::Opaque, 1, slot.outer)
    }

    /// Whether this is what `qr//` gives: `Regexp` around REFN REGEXP.
    fn is_plain_regexp(&mut self, class: u32) -> bool {
        let behind = |by| self.scan.input.get(self.scan.at + by).map(|byte| byte & !TRACK);
        let is_regexp = behind(0) == Some(tag::REFN) && behind(1) == Some(tag::REGEXP);
        let name = self.sink.tape().classes().get(class);
        is_regexp && name.is_some_and(|name| name.node.kind == Kind::Bytes && name.bytes == b"Regexp")
    }

    fn plain_regexp(&mut self, slot: &Slot) -> Result<(), Error> {
        for (which, what) in [(tracked::MAIN, "REFN"), (tracked::INNER, "REGEXP")] {
            let at = self.scan.at;
            let byte = self.scan.u8(what)?;
            self.span(at, slot.me, what);
            if byte & TRACK != 0 {
                match which {
                    tracked::MAIN => self.track(at, slot.outer, slot.owner, slot.me, which),
                    _ => self.track(at, NO_NODE, slot.outer, slot.me, which),
                }
            }
        }
        self.regexp(slot, 0)
    }

    /// Pattern and modifiers.
    fn regexp(&mut self, slot: &Slot, flags: u8) -> Result<(), Error> {
        let mut node = Node::open(Kind::Regexp, 0).with(flags | slot.flags());
        node.key = slot.key;
        let node = self.push(node)?;
        self.open_regexp = Some(node);
        let pattern = Slot { key: NO_KEY, me: node + 1, outer: node + 1, owner: NO_NODE, parent: None, weak: None };
        self.begin(pattern.me);
        let mut pads = 0;
        while self.scan.peek() == Some(tag::PAD) {
            self.scan.at += 1;
            pads += 1;
            self.span(self.scan.at - 1, pattern.me, "PAD");
        }
        if pads > 0 {
            self.note(pattern.me, code::PADS, pads);
        }
        let word = self.word(pattern.me, Part::Value, "the pattern of a regular expression")?;
        let text = self.string(&word);
        self.push(text)?;
        self.end(pattern.me);

        let at = self.scan.at;
        self.begin(node + 2);
        let byte = self.scan.u8("the modifiers of a regular expression")?;
        if byte & !TRACK < tag::SHORT_BINARY {
            return Err(self.unexpected(at, byte, "SHORT_BINARY modifiers of a regular expression"));
        }
        self.span(at, node + 2, "SHORT_BINARY");
        let start = self.scan.at;
        let modifiers = self.scan.take(usize::from(byte & 31), "the modifiers of a regular expression")?;
        self.span(start, node + 2, "modifiers");
        if let Some(unknown) = modifiers.iter().position(|modifier| !MODIFIERS.contains(modifier)) {
            return Err(Error::new(ErrorKind::Malformed)
                .at(start + unknown)
                .expecting("one of the modifiers msixpn")
                .finding(format!("0x{:02x}", modifiers[unknown])));
        }
        let word = Word { kind: Kind::Bytes, at, start, bytes: modifiers, copied: false };
        let modifiers = self.string(&word);
        self.push(modifiers)?;
        self.end(node + 2);
        self.tape().close(node, 2);
        self.open_regexp = None;
        self.end(node);
        self.done()
    }

    fn wide_float(&mut self, slot: &Slot, tag: u8) -> Result<(), Error> {
        let from = self.scan.at;
        let bytes: [u8; 16] = self.scan.array(tag::name(tag))?;
        self.span(from, slot.me, "number");
        let wide = match bytes.first_chunk() {
            Some(extended) if tag == tag::LONG_DOUBLE => float128::from_x87(extended),
            _ => bytes,
        };
        if S::DETAIL && tag == tag::LONG_DOUBLE && bytes[10..] != [0; 6] {
            self.note_kept(slot.me, code::PADDING, &bytes[10..]);
        }
        let exact = float128::to_f64_exact(&wide);
        self.note_tag(slot.me, tag, tag == tag::FLOAT_128 && exact.is_none());
        let node = match exact {
            Some(value) => Node::float(value),
            None => self.tape().owned(Kind::Float128, &wide),
        };
        self.leaf(node, slot)
    }

    fn begin_copy(&mut self, slot: &Slot, at: usize) -> Result<(), Error> {
        let offset = self.wide_number(slot.me, "the offset", code::COPY_WIDTH)?;
        let index = self.origin.index(offset, at)?;
        if self.copy.is_some() {
            return Err(Error::new(ErrorKind::BadLink)
                .at(at)
                .expecting("a COPY of an item without COPY in it")
                .finding("a COPY within a COPY"));
        }
        let resume = self.scan;
        self.copy = Some(Copying { resume, tag_at: at, source: index, height: self.stack.len(), node: slot.me });
        // The original ends before its copy.
        self.scan = Scan { input: self.scan.input.get(..at).unwrap_or(&[]), at: index };
        self.set_copying(true);
        Ok(())
    }

    fn end_copy(&mut self, copy: Copying<'i>) -> Result<(), Error> {
        self.scan = copy.resume;
        self.copy = None;
        self.set_copying(false);
        self.end(copy.node);
        let nodes = u64::from(self.tape().len() - copy.node);
        if nodes > 1 {
            self.expansion = match self.expansion.checked_sub(nodes) {
                Some(left) => left,
                None => {
                    let most = self.limits.expanded_from(self.scan.input.len());
                    return Err(self.limits.too_expanded(most).at(copy.tag_at));
                }
            };
        } else if S::DETAIL
            && self.kind_of(copy.node).is_some_and(Kind::is_string)
            && let Some(target) = self.speller.target_at(copy.source)
        {
            self.note(copy.node, code::COPY, target);
        }
        Ok(())
    }

    /// An error inside a copy is an error of the copy.
    fn in_copy(&mut self, error: Error) -> Error {
        let Some(copy) = self.copy.take() else { return error };
        self.scan = copy.resume;
        if error.kind() != ErrorKind::Truncated {
            return error;
        }
        Error::new(ErrorKind::BadLink)
            .at(copy.tag_at)
            .expecting("a COPY of an item that ends before it")
            .finding("one that goes on")
    }

    /// Something may refer to the item whose tag is here.
    fn track(&mut self, at: usize, variable: u32, referent: u32, node: u32, which: u64) {
        let new = Tracked { variable, referent, node, which, used: false, again: false };
        match self.tracked.get_mut(&at) {
            // Read again by a COPY: the later reading counts from now on.
            Some(known) => *known = Tracked { node: known.node, used: false, again: true, ..new },
            None => {
                self.tracked.insert(at, new);
            }
        }
    }
}

impl Slot {
    fn flags(&self) -> u8 {
        if self.weak.is_some() { flag::WEAK } else { 0 }
    }
}

/// Strings.
impl<'i, S: Sink, const FAST: bool> Machine<'i, '_, S, FAST> {
    /// The rest of a string whose tag was taken.
    fn word_behind(&mut self, node: u32, at: usize, tag: u8) -> Result<Word<'i>, Error> {
        self.wide_word_behind(node, at, tag, code::WIDTH)
    }

    fn wide_word_behind(&mut self, node: u32, at: usize, tag: u8, width: u16) -> Result<Word<'i>, Error> {
        let (kind, len) = match tag {
            tag::SHORT_BINARY.. => (Kind::Bytes, u64::from(tag - tag::SHORT_BINARY)),
            tag::STR_UTF8 => (Kind::Text, self.wide_number(node, "the length", width)?),
            _ => (Kind::Bytes, self.wide_number(node, "the length", width)?),
        };
        if len > self.limits.string {
            return Err(self.limits.too_long(len).at(at));
        }
        let start = self.scan.at;
        let bytes = self.scan.take(usize::try_from(len).unwrap_or(usize::MAX), "a string")?;
        self.span(start, node, "bytes");
        if kind == Kind::Text && self.options.validate_utf8 {
            self.validate(start, bytes)?;
        }
        Ok(Word { kind, at, start, bytes, copied: false })
    }

    fn validate(&self, start: usize, bytes: &[u8]) -> Result<(), Error> {
        std::str::from_utf8(bytes).map(|_| ()).map_err(|error| {
            Error::new(ErrorKind::Malformed)
                .at(start + error.valid_up_to())
                .expecting("UTF-8")
                .finding("an invalid sequence of bytes")
                .helping("the option `validate_utf8` is set")
        })
    }

    /// A string node.
    fn string(&mut self, word: &Word<'i>) -> Node {
        if self.own {
            self.tape().owned(word.kind, word.bytes)
        } else {
            self.tape().borrowed(word.kind, word.start, word.bytes.len())
        }
    }

    /// A string where nothing else may stand: a key, a class name, a pattern.
    /// `node` is the node that it belongs to.
    fn word(&mut self, node: u32, part: Part, what: &'static str) -> Result<Word<'i>, Error> {
        let codes = WordCodes::of(part);
        let at = self.scan.at;
        let byte = self.scan.u8(what)?;
        let tag = byte & !TRACK;
        self.span(at, node, tag::name(tag));
        if tag == tag::COPY {
            return self.copied_word(node, part, what, at);
        }
        if !matches!(tag, tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY..) {
            return Err(self.unexpected(at, byte, what));
        }
        let word = self.wide_word_behind(node, at, tag, codes.width)?;
        if S::DETAIL {
            self.speller.string(at, node, part);
            if tag == tag::BINARY && word.bytes.len() <= tag::MOST_SHORT {
                self.note(node, codes.tag, u64::from(tag));
            }
            if byte != tag {
                let which = match part {
                    Part::Key => tracked::KEY,
                    Part::Class => tracked::CLASS,
                    Part::Value => tracked::MAIN,
                };
                self.note(node, code::TRACK, which);
            }
        }
        Ok(word)
    }

    fn copied_word(&mut self, node: u32, part: Part, what: &'static str, at: usize) -> Result<Word<'i>, Error> {
        if part == Part::Value && self.copy.is_some() {
            return Err(Error::new(ErrorKind::BadLink).at(at).finding("a COPY within a COPY"));
        }
        let offset = self.wide_number(node, "the offset", WordCodes::of(part).copy_width)?;
        let index = self.origin.index(offset, at)?;
        let word = copied_word(self.scan.input.get(..at).unwrap_or(&[]), index);
        let word = word.ok_or_else(|| {
            Error::new(ErrorKind::BadLink)
                .at(at)
                .expecting(format!("{what}: a COPY of a string"))
                .finding(self.scan.input.get(index).map_or("the end".to_owned(), |byte| found(*byte)))
        })?;
        if S::DETAIL
            && part == Part::Value
            && let Some(target) = self.speller.target_at(index)
        {
            self.note(node, code::COPY, target);
        }
        Ok(word)
    }

    /// The key of the next entry: its id, or KEY_NODE.
    fn key(&mut self) -> Result<u16, Error> {
        let node = self.tape().len();
        let last = self.stack.last().map_or(0, |top| top.last_key);
        let from = self.scan.at;
        let word = self.word(node, Part::Key, "the key of an entry")?;
        let guess = self.tape().keys.guess(last);
        let known = guess != 0 && {
            let input = self.scan.input;
            self.tape().keys.is_at(guess, word.kind, 0, input, word.start, word.bytes.len())
        };
        let id = if known {
            guess
        } else {
            match self.tape().intern_key(Node::leaf(word.kind, 0), word.bytes) {
                Some(id) => {
                    self.tape().keys.learn(last, id);
                    id
                }
                None => {
                    self.push_key(&word)?;
                    self.note_key(node + 1, &word);
                    return Ok(KEY_NODE);
                }
            }
        };
        if FAST && word.copied {
            self.predictions.learn(id, self.scan.input, from, self.scan.at);
        }
        if let Some(top) = self.stack.last_mut() {
            top.last_key = id;
        }
        self.note_key(node, &word);
        Ok(id)
    }

    /// The key of the next entry, as a node.
    fn key_node(&mut self) -> Result<(), Error> {
        // Notes and spans of a key belong to its value, which comes next.
        let node = self.tape().len() + 1;
        let word = self.word(node, Part::Key, "the key of an entry")?;
        self.push_key(&word)?;
        self.note_key(node, &word);
        Ok(())
    }

    fn push_key(&mut self, word: &Word<'i>) -> Result<(), Error> {
        let mut key = self.string(word);
        key.key = IS_KEY;
        self.push(key)?;
        Ok(())
    }

    fn note_key(&mut self, node: u32, word: &Word<'i>) {
        if S::DETAIL {
            if !word.copied {
                self.speller.full_key(word.at, node, word.kind, word.bytes);
            } else if let Some(target) = self.speller.copied_key(word.at, node, word.kind, word.bytes) {
                self.note(node, code::KEY_COPY, target);
            }
        }
    }

    /// The class name behind OBJECT.
    fn class_name(&mut self, slot: &Slot) -> Result<u32, Error> {
        let at = self.scan.at;
        let word = self.word(slot.me, Part::Class, "a class name")?;
        let class = self.tape().intern_class(word.kind, word.bytes).map_err(|error| error.at(at))?;
        self.classes.insert(word.at, class);
        if S::DETAIL {
            if word.copied {
                if let Some(target) = self.speller.target_at(word.at) {
                    self.note(slot.me, code::CLASS_COPY, target);
                }
            } else if !self.speller.is_first_class(word.at, class) {
                self.note(slot.me, code::CLASS_FULL, 0);
            }
        }
        Ok(class)
    }

    /// The class that OBJECTV names.
    fn known_class(&mut self, slot: &Slot, at: usize) -> Result<u32, Error> {
        let offset = self.wide_number(slot.me, "the offset", code::CLASS_WIDTH)?;
        let index = self.origin.index(offset, at)?;
        let class = self.classes.get(&index).copied().ok_or_else(|| {
            Error::new(ErrorKind::BadLink)
                .at(at)
                .expecting("the offset of a class name behind OBJECT")
                .finding(format!("offset {offset}, where there is none"))
        })?;
        if S::DETAIL
            && !self.speller.is_first_of(index, class)
            && let Some(target) = self.speller.target_at(index)
        {
            self.note(slot.me, code::CLASS_OTHER, target);
        }
        Ok(class)
    }
}

/// Codes of notes about a [`Word`].
struct WordCodes {
    tag: u16,
    width: u16,
    copy_width: u16,
}

impl WordCodes {
    fn of(part: Part) -> WordCodes {
        let (tag, width, copy_width) = match part {
            Part::Value => (code::TAG, code::WIDTH, code::COPY_WIDTH),
            Part::Key => (code::KEY_TAG, code::KEY_WIDTH, code::KEY_COPY_WIDTH),
            Part::Class => (code::CLASS_TAG, code::CLASS_WIDTH, code::CLASS_COPY_WIDTH),
        };
        WordCodes { tag, width, copy_width }
    }
}

/// The string at `index`, as a COPY in a key or a class name may name it.
fn copied_word(before: &[u8], index: usize) -> Option<Word<'_>> {
    let mut scan = Scan { input: before, at: index };
    let tag = scan.u8("").ok()? & !TRACK;
    let (kind, len) = match tag {
        tag::SHORT_BINARY.. => (Kind::Bytes, u64::from(tag - tag::SHORT_BINARY)),
        tag::BINARY => (Kind::Bytes, varint(&mut scan, "").ok()?),
        tag::STR_UTF8 => (Kind::Text, varint(&mut scan, "").ok()?),
        _ => return None,
    };
    let start = scan.at;
    let bytes = scan.take(usize::try_from(len).ok()?, "").ok()?;
    Some(Word { kind, at: index, start, bytes, copied: true })
}

/// Spans and notes, for who asks.
impl<S: Sink, const FAST: bool> Machine<'_, '_, S, FAST> {
    /// A piece of the input from `from` to here.
    #[inline]
    fn span(&mut self, from: usize, node: u32, what: &'static str) {
        if S::DETAIL
            && let Some(detail) = self.sink.detail()
        {
            detail.span(from, self.scan.at, node, what);
        }
    }

    #[inline]
    fn begin(&mut self, node: u32) {
        if S::DETAIL
            && let Some(detail) = self.sink.detail()
        {
            detail.begin(node, self.scan.at);
        }
    }

    #[inline]
    fn end(&mut self, node: u32) {
        if S::DETAIL
            && let Some(detail) = self.sink.detail()
        {
            detail.end(node, self.scan.at);
        }
    }

    #[inline]
    fn note(&mut self, node: u32, code: u16, value: u64) {
        if S::DETAIL
            && let Some(detail) = self.sink.detail()
        {
            detail.note(node, code, value);
        }
    }

    /// Notes the tag of a leaf, unless the writer would choose it anyway.
    #[inline]
    fn note_tag(&mut self, node: u32, tag: u8, usual: bool) {
        if S::DETAIL && !usual {
            self.note(node, code::TAG, u64::from(tag));
        }
    }

    fn note_kept(&mut self, node: u32, code: u16, bytes: &[u8]) {
        if let Some(detail) = self.sink.detail() {
            let kept = detail.keep(bytes);
            detail.note(node, code, kept);
        }
    }

    fn note_string(&mut self, node: u32, tag: u8, word: &Word<'_>) {
        if S::DETAIL {
            self.speller.string(word.at, node, Part::Value);
            self.note_tag(node, tag, tag != tag::BINARY || word.bytes.len() > tag::MOST_SHORT);
        }
    }

    fn set_copying(&mut self, copying: bool) {
        if S::DETAIL {
            self.speller.copying = copying;
            if let Some(detail) = self.sink.detail() {
                detail.copying = copying;
            }
        }
    }

    fn note_unused_tracks(&mut self) {
        if S::DETAIL {
            for known in std::mem::take(&mut self.tracked).into_values().filter(|known| !known.used || known.again) {
                self.note(known.node, code::TRACK, known.which);
            }
        }
    }
}
