//! Reads images of Storable before 0.7. In these, the classes of a value follow it. Before 0.6, each value also has
//! its former memory address, and links use the addresses. Later versions use numbers.
//!
//! Such files are rare and small, and they are never written, so this reader is written for clarity and not for
//! speed.

use super::image::Image;
use super::read::MIN_ENTRY;
use super::tag::{self, old};
use super::{ReadOptions, float};
use crate::document::{Form, Kind, Moves, NO_KEY, Node, Recorder, Rewrite, Sink, flag};
use crate::error::{Error, ErrorKind};
use crate::format::Scan;
use crate::limits::Limits;
use std::collections::{HashMap, HashSet};

pub(super) fn feed_document<S: Sink>(
    scan: Scan<'_>,
    image: &Image,
    options: &ReadOptions,
    limits: &Limits,
    sink: &mut S,
) -> (usize, Option<Error>) {
    let mut reader = OldReader {
        scan,
        image,
        options,
        limits,
        sink,
        frames: Vec::new(),
        known_values: HashMap::new(),
        number_count: 0,
        blessed: Vec::new(),
        root_is_ref: false,
        root_is_tied: false,
    };
    let result = reader.read_document();
    let consumed = reader.scan.offset;
    let error = result.err().map(|error| {
        let tape = reader.sink.tape();
        error.on_path(tape.path_to(tape.len(), scan.input))
    });
    while let Some(frame) = reader.frames.pop() {
        if let Some(container) = frame.container {
            reader.sink.record_cut(container, Some(frame.count.saturating_add(frame.remaining)));
            reader.sink.tape().close_container(container, frame.count);
        }
    }
    let blessed = std::mem::take(&mut reader.blessed);
    let (root_is_ref, root_is_tied) = (reader.root_is_ref, reader.root_is_tied);
    if error.is_none() {
        // Before 0.6, Storable returned a root that is a reference to an object as it is, without another reference
        // to it.
        let returns_root_itself = root_is_ref && image.has_addresses();
        let wrappers = collect_wrappers(sink.nodes(), blessed, root_is_ref || root_is_tied, returns_root_itself);
        insert_wrappers(sink, &wrappers);
    }
    (consumed, error)
}

/// A value that is not complete.
#[derive(Clone, Copy, Debug)]
struct OldFrame {
    /// Its node; for a scalar, the node to be pushed next.
    node: u32,
    /// Its node, if it has children.
    container: Option<u32>,
    is_hash: bool,
    remaining: u32,
    count: u32,
    /// The value before its key.
    value: Option<u32>,
}

/// A blessed node.
#[derive(Clone, Copy, Debug)]
struct BlessedNode {
    node: u32,
    class: u32,
    /// Whether a variable is blessed, and not an array or hash. It is a scalar, or the reference that was merged into
    /// the node.
    is_variable: bool,
}

/// A value that a link may refer to.
#[derive(Clone, Copy, Debug)]
struct KnownValue {
    node: u32,
    /// Whether the node is a variable, and not an array or hash.
    is_variable: bool,
}

struct OldReader<'a, 's, S: Sink> {
    scan: Scan<'a>,
    image: &'s Image,
    options: &'s ReadOptions,
    limits: &'s Limits,
    sink: &'s mut S,
    frames: Vec<OldFrame>,
    /// The values by their addresses or numbers.
    known_values: HashMap<u64, KnownValue>,
    /// Number of values so far: the number of the next one.
    number_count: u64,
    blessed: Vec<BlessedNode>,
    /// Whether the root is a reference. Then the implied reference to the root does not have a node yet.
    root_is_ref: bool,
    /// Like `root_is_ref`, for a root that is a tied scalar.
    root_is_tied: bool,
}

impl<S: Sink> OldReader<'_, '_, S> {
    fn read_document(&mut self) -> Result<(), Error> {
        self.read_value(true)?;
        while let Some(frame) = self.frames.last().copied() {
            crate::steps::count(1);
            if self.sink.tape().nodes.len() >= self.limits.nodes as usize {
                return Err(self.limits.too_many_nodes().at(self.scan.offset));
            }
            if let Some(value) = frame.value {
                self.read_key(value)?;
            } else if frame.remaining > 0 {
                self.read_child(frame)?;
            } else {
                self.finish_value(frame)?;
            }
        }
        Ok(())
    }

    fn read_u32(&mut self, expected: &'static str) -> Result<u32, Error> {
        let bytes = self.scan.read_array::<4>(expected)?;
        Ok(if self.image.is_little() { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    fn read_native_integer(&mut self, size: usize, expected: &'static str) -> Result<u64, Error> {
        let bytes = self.scan.read_bytes(size, expected)?;
        let add = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        Ok(if self.image.is_little() { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) })
    }

    fn record_piece(&mut self, start: usize, node: u32, name: &'static str) {
        self.sink.record_span(start, self.scan.offset, node, name);
    }

    #[cold]
    fn malformed_error(&self, offset: usize, expected: &'static str, found: u8) -> Error {
        Error::new(ErrorKind::Malformed).at(offset).expecting(expected).finding(format!("{found} (0x{found:02x})"))
    }

    /// Reads a value up to its content. If it `is_referent`, the reference to it is implied.
    fn read_value(&mut self, is_referent: bool) -> Result<(), Error> {
        if self.frames.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().at(self.scan.offset));
        }
        let start = self.scan.offset;
        let mut address = self.number_count;
        if self.image.has_addresses() {
            let size = if self.image.netorder { 4 } else { usize::from(self.image.long_size) };
            address = self.read_native_integer(size, "an address")?;
        }
        let tag_offset = self.scan.offset;
        let tag = self.scan.read_u8("a tag")?;
        self.number_count += u64::from(tag != tag::OBJECT);
        let flags = if is_referent { flag::REF } else { 0 };
        let is_under_ref = is_referent
            || self.frames.last().and_then(|frame| frame.container).is_some_and(|container| {
                self.sink.nodes().get(container as usize).is_some_and(|parent| parent.kind == Kind::Ref)
            });
        // The reference to this container is already a node. It is merged into the node of the container.
        let is_container = matches!(tag, tag::ARRAY | tag::HASH | tag::TIED_ARRAY | tag::TIED_HASH);
        let is_folded = is_under_ref && !is_referent && is_container;
        // A reference is merged into a link, too. The spans of both forms are the same.
        let is_merged = is_folded || is_under_ref && !is_referent && tag == tag::OBJECT;
        let node = self.sink.tape().len() - u32::from(is_merged);
        self.sink.record_span(start, tag_offset, node, "address");
        self.sink.record_span(tag_offset, tag_offset + 1, node, tag::name_of(tag));
        match tag {
            tag::OBJECT => {
                if !self.image.has_addresses() {
                    let start = self.scan.offset;
                    address = u64::from(u32::from_be_bytes(self.scan.read_array("an object number")?));
                    self.record_piece(start, node, "object number");
                }
                return self.read_back_reference(address, tag_offset, is_under_ref && !is_referent);
            }
            tag::ARRAY | tag::HASH => {
                let count_start = self.scan.offset;
                let count = self.read_u32("a count")?;
                self.record_piece(count_start, node, "count");
                let min_size = if tag == tag::ARRAY { 1 } else { MIN_ENTRY };
                if count as usize > self.scan.remaining_len() / min_size {
                    return Err(self.scan.truncated_error(count as usize, "items"));
                }
                let kind = if tag == tag::ARRAY { Kind::Array } else { Kind::Map };
                let node = if is_folded {
                    self.fold_reference(kind)
                } else {
                    self.push(Node::open(kind, 0).with(flags), start)
                };
                self.known_values.insert(address, KnownValue { node, is_variable: false });
                self.open_frame(node, Some(node), kind == Kind::Map, count);
            }
            tag::REF => {
                self.root_is_ref |= is_referent;
                let reference = self.push(Node::open(Kind::Ref, 0).with(flag::REF), start);
                self.known_values.insert(address, KnownValue { node: reference, is_variable: true });
                self.open_frame(reference, Some(reference), false, 1);
            }
            tag::TIED_ARRAY | tag::TIED_HASH | tag::TIED_SCALAR => {
                let form = match tag {
                    tag::TIED_ARRAY => Form::TiedArray,
                    tag::TIED_HASH => Form::TiedHash,
                    _ => Form::TiedScalar,
                };
                let tied = if is_folded {
                    let index = self.fold_reference(Kind::Tied);
                    let node = self.sink.tape().nodes[index as usize].in_form(form);
                    self.sink.tape().replace_node(index, node);
                    index
                } else {
                    // As for any variable, the reference to it is a separate node.
                    let flags = if form == Form::TiedScalar { 0 } else { flags };
                    self.push(Node::open(Kind::Tied, 0).in_form(form).with(flags), start)
                };
                self.root_is_tied |= is_referent && form == Form::TiedScalar;
                self.known_values.insert(address, KnownValue { node: tied, is_variable: tag == tag::TIED_SCALAR });
                self.open_frame(tied, Some(tied), false, 1);
            }
            _ => {
                let leaf = self.read_scalar(tag, tag_offset, node)?;
                if is_referent {
                    let reference = self.push(Node::open(Kind::Ref, 0).with(flag::REF), start);
                    self.open_frame(reference, Some(reference), false, 0);
                    if let Some(frame) = self.frames.last_mut() {
                        frame.count = 1;
                    }
                }
                let leaf = self.push(leaf, start);
                self.known_values.insert(address, KnownValue { node: leaf, is_variable: true });
                if is_referent {
                    // The end of the leaf and the end of the implied reference follow each other, so one mark is
                    // enough for both.
                    self.record_end(leaf);
                    return Ok(());
                }
                self.open_frame(leaf, None, false, 0);
            }
        }
        Ok(())
    }

    fn push(&mut self, node: Node, start: usize) -> u32 {
        let index = self.sink.tape().push(node);
        self.sink.record_begin(index, start);
        index
    }

    fn record_end(&mut self, node: u32) {
        self.sink.record_end(node, self.scan.offset);
    }

    /// Converts the reference that was opened last into the container that it refers to.
    fn fold_reference(&mut self, kind: Kind) -> u32 {
        let tape = self.sink.tape();
        let index = tape.len() - 1;
        let old = tape.nodes[index as usize];
        tape.replace_node(index, Node { kind, ..old });
        if let Some(frame) = self.frames.last_mut() {
            frame.container = None;
        }
        index
    }

    fn open_frame(&mut self, node: u32, container: Option<u32>, is_hash: bool, remaining: u32) {
        self.frames.push(OldFrame { node, container, is_hash, remaining, count: 0, value: None });
    }

    fn read_scalar(&mut self, tag: u8, start: usize, node: u32) -> Result<Node, Error> {
        let value_start = self.scan.offset;
        let leaf = match tag {
            tag::SCALAR | tag::LSCALAR => {
                let len = match tag {
                    tag::SCALAR => u32::from(self.scan.read_u8("a string's length")?),
                    _ => self.read_u32("a string's length")?,
                };
                self.record_piece(value_start, node, "length");
                let text_start = self.scan.offset;
                if u64::from(len) > self.limits.string {
                    return Err(self.limits.too_long(u64::from(len)).at(text_start));
                }
                self.scan.read_bytes(len as usize, "a string")?;
                self.record_piece(text_start, node, "string");
                return Ok(self.sink.tape().new_borrowed_string(Kind::Bytes, text_start, len as usize));
            }
            tag::BYTE => Node::int(i64::from(self.scan.read_u8("a small integer")?) - 128),
            tag::NETINT => Node::int(i64::from(i32::from_be_bytes(self.scan.read_array("an integer")?))),
            tag::INTEGER => {
                let size = self.image.iv_size;
                let value = self.read_native_integer(usize::from(size), "an integer")?;
                Node::int(if size == 4 { i64::from(value as u32 as i32) } else { value as i64 })
            }
            tag::DOUBLE => {
                let raw = self.scan.read_bytes(usize::from(self.image.nv_size), "a float")?;
                float::decode_native_float(self.sink.tape(), raw, self.image.is_little(), self.options.long_double)
            }
            tag::UNDEF => Node::leaf(Kind::Null, 0),
            tag::SV_UNDEF if !self.image.has_addresses() => {
                let in_array = self.frames.last().and_then(|frame| frame.container).is_some_and(|container| {
                    self.sink.nodes().get(container as usize).is_some_and(|parent| parent.kind == Kind::Array)
                });
                Node::leaf(if in_array { Kind::Hole } else { Kind::Null }, 0)
            }
            tag::SV_YES | tag::SV_NO if !self.image.has_addresses() => {
                Node::leaf(Kind::Bool, u64::from(tag == tag::SV_YES))
            }
            _ => return Err(self.malformed_error(start, "a tag from 0 to 13", tag)),
        };
        self.record_piece(value_start, node, "value");
        Ok(leaf)
    }

    /// Reads an address that was seen before. Nothing follows it.
    fn read_back_reference(&mut self, address: u64, start: usize, is_under_ref: bool) -> Result<(), Error> {
        let Some(KnownValue { node: target, is_variable }) = self.known_values.get(&address).copied() else {
            return Err(Error::new(ErrorKind::BadLink)
                .at(start)
                .expecting("the address or number of a value before this one")
                .finding(format!("0x{address:x}")));
        };
        if !self.sink.has_all_nodes() {
            return Err(Error::new(ErrorKind::BadLink).at(start));
        }
        if is_under_ref && !is_variable {
            // The node of the reference before it becomes the link.
            let tape = self.sink.tape();
            let index = tape.len() - 1;
            tape.replace_node(
                index,
                Node { key: tape.nodes[index as usize].key, ..Node::leaf(Kind::Link, u64::from(target)) },
            );
            tape.set_flags(index, flag::REF);
            if let Some(frame) = self.frames.last_mut() {
                frame.container = None;
            }
        } else {
            let kind = if is_variable { Kind::Alias } else { Kind::Link };
            let link = self.push(Node::leaf(kind, u64::from(target)), start);
            self.record_end(link);
        }
        self.sink.tape().mark_target(target);
        Ok(())
    }

    /// Begins the next child of a container.
    fn read_child(&mut self, frame: OldFrame) -> Result<(), Error> {
        let start = self.scan.offset;
        let is_item = frame.container.is_some_and(|container| {
            self.sink.nodes().get(container as usize).is_some_and(|node| node.kind == Kind::Array)
        });
        let node = self.sink.tape().len();
        if let Some(frame) = self.frames.last_mut() {
            frame.remaining -= 1;
            frame.count += 1;
            if frame.is_hash {
                frame.value = Some(node);
            }
        }
        if self.image.has_addresses() && (is_item || frame.is_hash) {
            let mark = self.scan.read_u8("a mark")?;
            self.record_piece(start, node, "mark");
            match (mark, frame.is_hash) {
                (old::ITEM, false) | (old::VALUE, true) => {}
                (old::ITEM_UNDEF, false) => {
                    let leaf = self.push(Node::leaf(Kind::Hole, 0), start);
                    self.record_end(leaf);
                    return Ok(());
                }
                (old::VALUE_UNDEF, true) => {
                    let leaf = self.push(Node::leaf(Kind::Null, 0), start);
                    self.record_end(leaf);
                    return Ok(());
                }
                (_, false) => return Err(self.malformed_error(start, "an item's mark, `i` or `I`", mark)),
                (_, true) => return Err(self.malformed_error(start, "a value's mark, `v` or `V`", mark)),
            }
        }
        self.read_value(false)
    }

    fn read_key(&mut self, value: u32) -> Result<(), Error> {
        if self.image.has_addresses() {
            let mark_start = self.scan.offset;
            let mark = self.scan.read_u8("a key's mark")?;
            if mark != old::KEY {
                return Err(self.malformed_error(mark_start, "a key's mark, `k`", mark));
            }
            self.record_piece(mark_start, value, "mark");
        }
        let length_start = self.scan.offset;
        let len = self.read_u32("a key's length")?;
        self.record_piece(length_start, value, "key length");
        let key_start = self.scan.offset;
        let bytes = self.scan.read_bytes(len as usize, "a key")?;
        self.record_piece(key_start, value, "key");
        let tape = self.sink.tape();
        let id = tape.keys.intern_always(Node::leaf(Kind::Bytes, 0), bytes).and_then(|id| u16::try_from(id).ok());
        let Some(id) = id else {
            return Err(Error::new(ErrorKind::Limit)
                .at(key_start)
                .expecting("at most 65,533 different keys in an image from before 0.7")
                .finding("one more"));
        };
        tape.set_key(value, id);
        if let Some(frame) = self.frames.last_mut() {
            frame.value = None;
        }
        Ok(())
    }

    /// Reads the classes of a complete value, and its end.
    fn finish_value(&mut self, frame: OldFrame) -> Result<(), Error> {
        loop {
            crate::steps::count(1);
            let mark_start = self.scan.offset;
            let mark = self.scan.read_u8("the end of a value")?;
            self.record_piece(mark_start, frame.node, "mark");
            let length_start = self.scan.offset;
            let len = match mark {
                old::STORED => break,
                old::CLASS => u32::from(self.scan.read_u8("a class's length")?),
                old::LONG_CLASS => self.read_u32("a class's length")?,
                _ => return Err(self.malformed_error(length_start - 1, "a class or the end of a value, `X`", mark)),
            };
            self.record_piece(length_start, frame.node, "class length");
            let name_start = self.scan.offset;
            let name = self.scan.read_bytes(len as usize, "a class name")?;
            self.record_piece(name_start, frame.node, "class name");
            let class = self.sink.tape().intern_class(Kind::Bytes, name).map_err(|error| error.at(name_start))?;
            let is_variable =
                frame.container.and_then(|container| self.sink.nodes().get(container as usize)).is_none_or(|node| {
                    node.kind == Kind::Ref || node.kind == Kind::Tied && node.form() == Form::TiedScalar
                });
            self.blessed.push(BlessedNode { node: frame.node, class, is_variable });
        }
        self.frames.pop();
        if let Some(container) = frame.container {
            self.sink.tape().close_container(container, frame.count);
        }
        self.record_end(frame.node);
        Ok(())
    }
}

/// Returns the wrappers to insert around nodes: objects, whose classes were read too late
/// for the tape, and the reference around a root that is one itself.
fn collect_wrappers(nodes: &[Node], blessed: Vec<BlessedNode>, is_root_ref: bool, is_given: bool) -> Vec<(u32, Node)> {
    let mut wrappers: Vec<(u32, Node)> = Vec::new();
    for BlessedNode { node, class, is_variable } in blessed {
        let object = Node::open(Kind::Object, class);
        let previous = node.checked_sub(1).and_then(|index| nodes.get(index as usize));
        wrappers.push(match (node, previous) {
            _ if !is_variable => (node, object),
            // A reference to the variable precedes it, so the object is put around this reference.
            (_, Some(previous)) if previous.kind == Kind::Ref => (node - 1, object),
            (0, _) if !is_root_ref => (0, object),
            // The variable is not reached by a reference, so the variable itself is blessed.
            _ => (node, object.in_form(Form::Variable)),
        });
    }
    // The class of a variable is the outer one. If a value has several classes, the last one counts.
    wrappers.sort_by_key(|(index, node)| (*index, node.form() != Form::Variable));
    wrappers.dedup_by(|later, kept| {
        let same = later.0 == kept.0 && later.1.form() == kept.1.form();
        if same {
            kept.1 = later.1;
        }
        same
    });
    let is_object = wrappers.first().is_some_and(|(index, _)| *index == 0);
    if is_root_ref && !(is_given && is_object) {
        wrappers.insert(0, (0, Node::open(Kind::Ref, 0)));
        // The root is reached through it, so its object is around it.
        if let Some((0, object)) = wrappers.get_mut(1)
            && object.form() == Form::Variable
        {
            *object = Node::open(Kind::Object, object.class());
            wrappers.swap(0, 1);
        }
    }
    wrappers
}

/// Inserts wrappers around nodes.
fn insert_wrappers<S: Sink>(sink: &mut S, wrappers: &[(u32, Node)]) {
    let tape = sink.tape();
    if wrappers.is_empty() {
        return;
    }
    let nodes = std::mem::take(&mut tape.nodes);
    let objects: HashSet<u32> = wrappers
        .iter()
        .filter(|(_, node)| node.kind == Kind::Object && node.form() != Form::Variable)
        .map(|(index, _)| *index)
        .collect();
    let is_ref = |index: u32| nodes.get(index as usize).is_some_and(|node| node.kind == Kind::Ref);
    // A second reference to a blessed scalar is a link to its object. The root's own object
    // has a reference around it that has no node yet.
    let is_root_object = matches!(wrappers, [(0, object), (0, reference), ..]
        if object.kind == Kind::Object && reference.kind == Kind::Ref);
    let object_of = |index: u32| match index.checked_sub(1) {
        None => is_root_object.then_some(0),
        Some(before) => Some(before).filter(|before| objects.contains(before) && is_ref(*before)),
    };
    let linked = |index: u32| {
        let alias = nodes.get(index as usize + 1).filter(|node| node.kind == Kind::Alias && is_ref(index))?;
        object_of(alias.payload as u32)
    };

    // A link refers to the object, or to the node itself, not to its wrappers. An alias
    // refers to the variable, with the variable's own class.
    let target = |moves: &Moves, index: u32, kind: Kind| {
        let first = wrappers.partition_point(|(known, _)| *known < index);
        let around = wrappers[first..].iter().take_while(|(known, _)| *known == index);
        let outside = |node: &Node| match node.kind {
            Kind::Ref => true,
            _ => kind == Kind::Link && node.form() == Form::Variable,
        };
        let outer = around.enumerate().filter(|(_, (_, node))| outside(node)).last();
        moves.new_start(index) + outer.map_or(0, |(position, _)| position as u32 + 1)
    };

    let mut rewrite = Rewrite::new(nodes.len() + wrappers.len());
    let mut rest = wrappers.iter().peekable();
    for (index, node) in (0u32..).zip(&nodes) {
        rewrite.reach_node(index);
        if index > 0 && linked(index - 1).is_some() {
            continue;
        }
        let object = linked(index);
        let end = if node.kind.is_container() { node.end() } else { index + 1 };
        let mut node = Node { flags: node.flags & !flag::TARGET, ..*node };
        while let Some((_, wrapper)) = rest.next_if(|(known, _)| *known == index) {
            let flags = if wrapper.form() == Form::Variable { 0 } else { flag::REF };
            let key = std::mem::replace(&mut node.key, NO_KEY);
            rewrite.open_container(Node { key, aux: 1, ..wrapper.with(flags) }, end);
        }
        match object {
            Some(0) if is_root_object => {
                rewrite.push_link(Node { key: node.key, ..Node::leaf(Kind::Link, 0) }.with(flag::REF), 0);
            }
            Some(object) => {
                let link = Node { key: node.key, ..Node::leaf(Kind::Link, u64::from(object)) };
                rewrite.record_position(rewrite.len());
                rewrite.push_old_link(link.with(flag::REF));
            }
            None => {
                rewrite.keep_node(node);
            }
        }
    }
    rewrite.relink_targets(nodes.len() as u32, |moves, link| target(moves, link.payload as u32, link.kind));
    let moves = rewrite.finish(tape);
    if let Some(detail) = sink.detail() {
        detail.apply_moves(&moves, Moves::new_start);
    }
}
