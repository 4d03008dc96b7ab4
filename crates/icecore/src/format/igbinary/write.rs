//! Writes igbinary.
//!
//! The writer replays the spelling of a document that was read from igbinary. Without spelling it chooses the same
//! tags as the extension.

use super::spelling as code;
use super::targets::{
    MAX_WRAPPERS, find_content, find_last_target, is_by_reference, is_scalar, is_wrapper, unwrap_node,
};
use super::{FORMAT, NAME, WriteOptions, tag};
use crate::document::{Document, Form, IS_KEY, KEY_NODE, Kind, Node, Note, Replay, flag};
use crate::error::{Error, ErrorKind};
use crate::format::append::append_named;
use crate::format::php_losses::{
    LeafReplacement, count_present, is_absent_entry, is_link_to_leaf, key_text, replace_leaf, report_array_kind_loss,
    report_lost_flags, report_lost_wrapper,
};
use crate::format::php_text::integer_key;
use crate::limits::Limits;
use crate::num::bigint;
use crate::output::{FLUSH_SIZE, LossKind, Losses, Output, Written};
use crate::string_locations::StringLocations;
use std::collections::{HashMap, HashSet};

/// Writes a document, and reports what igbinary could not represent.
///
/// # Errors
/// Of kind `Unrepresentable`, if a key is neither a string nor an integer;
/// `Limit`, if the document is nested too deeply; `Output`, if the output was
/// closed.
pub fn write(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    document.tape().check_structure()?;
    let document = &*document.with_array_copies(limits)?;
    append_named(document, &FORMAT, limits, out, |document, out| write_document(document, options, limits, out))
}

impl crate::format::Writer for WriteOptions {
    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, self, limits, out)
    }
}

fn write_document(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    let spelling = document.spelling_of(NAME);
    let version = spelling.and_then(|spelling| spelling.get(code::VERSION)).map_or(2, |version| version as u8);
    out.buffer().extend_from_slice(&[0, 0, 0, version]);
    // In PHP, several places can share a value that is not an object only as a variable by reference.
    let has_spelling = spelling.is_some();
    let is_filled_by_php = document.tape().has_live_values() && document.tape().naming == FORMAT.can.naming;
    // A PHP program marks the places that are references itself.
    let nodes = if is_filled_by_php { &[] } else { document.nodes() };
    let repeats = nodes.iter().filter(|node| node.kind.is_again() && is_by_reference(document, node, has_spelling));
    let aliased = repeats.map(|node| find_last_target(document, node.payload as u32));
    let mut writer = Writer {
        document,
        limits,
        reuses_strings: options.compact_strings || spelling.is_some(),
        spelling: spelling.map(|spelling| Replay::new(spelling, document.tape())),
        stack: Vec::new(),
        strings: HashMap::new(),
        long_strings: StringLocations::default(),
        key_numbers: vec![u32::MAX; document.tape().keys().len() + 1],
        next_string_number: 0,
        numbers: HashMap::new(),
        next_number: 0,
        aliased: aliased.collect(),
        first_empty_array: None,
        // In PHP, all empty arrays are the same array. A PHP program that fills a tape marks the others as copies
        // itself.
        shares_empty_arrays: !is_filled_by_php,
        is_filled_by_php,
        has_absent: document.tape().keys().has_absent()
            || document.nodes().iter().any(|node| node.key == IS_KEY && node.has(flag::PLACEHOLDER)),
        losses: Losses::with_limits(limits),
    };
    if document.header().is_some() {
        writer.record_loss(LossKind::Header, 0);
    }
    writer.write_value(document.root().index(), out.buffer())?;
    while !writer.stack.is_empty() {
        let buf = out.buffer();
        let flush_length = buf.len() + FLUSH_SIZE;
        while buf.len() < flush_length && !writer.stack.is_empty() {
            writer.write_next_entry(buf)?;
        }
        out.allow_flush()?;
    }
    Ok(writer.losses)
}

/// A container with children still to write.
struct WriteFrame<'d> {
    /// The next child.
    next: u32,
    /// The end of the children.
    end: u32,
    kind: Kind,
    /// Number of entries written.
    count: u32,
    /// Whether it is the body of an object.
    is_object: bool,
    /// Notes of the entries that consist only of a null in the place of the key.
    omitted: &'d [Note],
}

struct Writer<'d> {
    document: &'d Document<'d>,
    limits: &'d Limits,
    /// Whether a string that was written before is written as its number.
    reuses_strings: bool,
    spelling: Option<Replay<'d>>,
    stack: Vec<WriteFrame<'d>>,
    /// The first number of each string.
    strings: HashMap<&'d [u8], u32>,
    /// Like `strings`, for long strings, by their location.
    long_strings: StringLocations<u32>,
    /// The number of each key, by its id. A key that was not written yet has `u32::MAX`.
    key_numbers: Vec<u32>,
    next_string_number: u32,
    /// The numbers of nodes that links refer to.
    numbers: HashMap<u32, u32>,
    /// The number of the next array, object or reference.
    next_number: u32,
    /// The nodes that several places share by reference.
    aliased: HashSet<u32>,
    /// Number of the first empty array, if it was written.
    first_empty_array: Option<u32>,
    /// Whether later empty arrays refer to the first one.
    shares_empty_arrays: bool,
    /// Whether the table of keys has keys that a restricted hash allows but does not contain.
    has_absent: bool,
    /// Whether a PHP program filled the tape. Its flag `REF` marks the places that are PHP references with several
    /// holders. The extension writes a reference there, and nowhere else: it does not matter if the other holders are
    /// part of the value.
    is_filled_by_php: bool,
    losses: Losses,
}

impl<'d> Writer<'d> {
    fn notes_at(&self, index: u32) -> &'d [Note] {
        self.spelling.as_ref().map_or(&[], |known| known.notes_at(index))
    }

    fn record_loss(&mut self, kind: LossKind, index: u32) {
        let document = self.document;
        self.losses.add(kind, || document.path(index));
    }

    /// Writes one of three tags, which differ in the width of the number, and the number. `first` is the narrowest tag.
    fn write_number(&self, first: u8, noted_tag: Option<u64>, number: u64, buf: &mut Vec<u8>) -> Result<(), Error> {
        let default = tag::narrowest_for(first, number);
        let tag = noted_tag.map(|tag| tag as u8).filter(|tag| (default..=first + 2).contains(tag)).unwrap_or(default);
        let bytes = u32::try_from(number).map_err(|_| too_large_error(number))?.to_be_bytes();
        buf.push(tag);
        buf.extend_from_slice(&bytes[4 - (1 << (tag - first))..]);
        Ok(())
    }

    fn write_integer(value: i64, noted_tag: Option<u64>, buf: &mut Vec<u8>) {
        let magnitude = value.unsigned_abs();
        let fits = |tag: u8| {
            let is_sign = value == 0 || (tag & 1 == 1) == (value < 0);
            let size = tag::integer_size(tag)?;
            (is_sign && (size == 8 || magnitude >> (8 * size) == 0)).then_some((tag, size))
        };
        let noted_tag = noted_tag.and_then(|tag| fits(tag as u8));
        let (tag, size) = noted_tag.or_else(|| fits(tag::for_integer(value))).unwrap_or((tag::INT64, 8));
        buf.push(tag);
        buf.extend_from_slice(&magnitude.to_be_bytes()[8 - size..]);
    }

    /// Writes a string, or its number if it was written before. With `is_class`, the tags are those of an object. The
    /// notes of the string are its tag and its [`InputString::noted_number`](super::strings::InputString). Returns the
    /// number of the string.
    fn write_string(
        &mut self,
        bytes: &'d [u8],
        is_class: bool,
        noted_tag: Option<u64>,
        noted_number: Option<u64>,
        buf: &mut Vec<u8>,
    ) -> Result<u32, Error> {
        let (new, id_tag) = if is_class { (tag::OBJECT, tag::OBJECT_ID) } else { (tag::STRING, tag::STRING_ID) };
        if bytes.is_empty() && !is_class && noted_number.is_none() {
            buf.push(tag::EMPTY);
            return Ok(u32::MAX);
        }
        let known = match noted_number {
            Some(0) => None,
            Some(number) => u32::try_from(number - 1).ok().filter(|number| *number < self.next_string_number),
            None if self.reuses_strings || is_class => {
                self.long_strings.get(bytes).or_else(|| self.strings.get(bytes).copied())
            }
            None => None,
        };
        if let Some(number) = known {
            self.write_number(id_tag, noted_tag, u64::from(number), buf)?;
            if noted_number.is_none() {
                self.long_strings.set(bytes, number);
            }
            return Ok(number);
        }
        let len = bytes.len() as u64;
        if !is_class && (noted_tag == Some(u64::from(tag::STRING64)) || len > u64::from(u32::MAX)) {
            buf.push(tag::STRING64);
            buf.extend_from_slice(&len.to_be_bytes());
        } else {
            self.write_number(new, noted_tag, len, buf)?;
        }
        buf.extend_from_slice(bytes);
        let number = self.next_string_number;
        self.next_string_number += 1;
        if !bytes.is_empty() && (self.reuses_strings || is_class) {
            return Ok(*self.strings.entry(bytes).or_insert(number));
        }
        Ok(u32::MAX)
    }

    /// Assigns the next number to the node.
    fn assign_number(&mut self, index: u32) {
        if self.document.node(index).has(flag::TARGET) {
            self.numbers.insert(index, self.next_number);
        }
        self.next_number += 1;
    }

    // -- Containers --------------------------------------------------------

    /// Writes the next entry of the innermost container, or closes it.
    fn write_next_entry(&mut self, buf: &mut Vec<u8>) -> Result<(), Error> {
        let Some(frame) = self.stack.last_mut() else { return Ok(()) };
        while let [note, rest @ ..] = frame.omitted
            && (note.value == u64::from(frame.count) || frame.next >= frame.end)
        {
            buf.push(tag::NULL);
            frame.omitted = rest;
        }
        if frame.next >= frame.end {
            self.stack.pop();
            return Ok(());
        }
        let first = frame.next;
        let node = self.document.nodes()[first as usize];
        let value = if node.key == IS_KEY { self.document.tape().index_after(first) } else { first };
        let (count, kind, is_object) = (frame.count, frame.kind, frame.is_object);
        frame.next = self.document.tape().index_after(value);
        if self.has_absent && kind == Kind::Map && is_absent_entry(self.document, first) {
            return Ok(());
        }
        if let Some(frame) = self.stack.last_mut() {
            frame.count += 1;
        }
        if is_object && self.is_filled_by_php && self.document.nodes()[value as usize].kind == Kind::Hole {
            // A property without a value has a null instead of its key.
            buf.push(tag::NULL);
            return Ok(());
        }
        if kind == Kind::Array {
            let noted_tag = find_note(self.notes_at(value), code::KEY_TAG);
            Self::write_integer(i64::from(count), noted_tag, buf);
        } else {
            self.write_key(first, value, is_object, buf)?;
        }
        self.write_value(value, buf)
    }

    fn write_key(&mut self, first: u32, value: u32, is_object: bool, buf: &mut Vec<u8>) -> Result<(), Error> {
        let document = self.document;
        let notes = self.notes_at(value);
        let (noted_tag, noted_number) = (find_note(notes, code::KEY_TAG), find_note(notes, code::KEY_STRING));
        let id = self.document.node(value).key;
        let (node, bytes) = if first != value || id == KEY_NODE {
            let node = self.document.node(first);
            (node, if node.kind.has_bytes() { document.bytes(&document.nodes()[first as usize]) } else { &[] })
        } else {
            let known = self.key_numbers.get(usize::from(id)).copied().unwrap_or(u32::MAX);
            if known != u32::MAX && noted_number.is_none() {
                return self.write_number(tag::STRING_ID, noted_tag, u64::from(known), buf);
            }
            match document.tape().keys().get(u32::from(id)) {
                Some(name) => (name.node, name.bytes),
                None => (Node::leaf(Kind::Null, 0), &[][..]),
            }
        };
        match node.kind {
            Kind::Int => {
                Self::write_integer(node.payload as i64, noted_tag, buf);
                return Ok(());
            }
            kind if kind.is_string() => {}
            _ => {
                if let Some(text) = key_text(&node) {
                    self.record_loss(LossKind::Key, value);
                    if let Some(number) = integer_key(&text).filter(|_| !is_object) {
                        Self::write_integer(number, None, buf);
                        return Ok(());
                    }
                    return self.write_new_string(&text, buf);
                }
                return Err(Error::new(ErrorKind::Unrepresentable)
                    .expecting("keys that are strings or integers")
                    .finding(format!("a key of kind {:?}", node.kind))
                    .on_path(document.path(value)));
            }
        }
        match node.kind {
            Kind::Symbol => self.record_loss(LossKind::Symbol, value),
            Kind::Encoded => self.record_loss(LossKind::Encoding, value),
            _ => {}
        }
        // PHP changes the key "1" of an array into the integer 1.
        if !is_object
            && self.spelling.is_none()
            && let Some(number) = integer_key(bytes)
        {
            if matches!(node.kind, Kind::Bytes | Kind::Text) {
                self.record_loss(LossKind::Key, value);
            }
            Self::write_integer(number, None, buf);
            return Ok(());
        }
        let number = self.write_string(bytes, false, noted_tag, noted_number, buf)?;
        // The number is kept only if the key can't be an integer. Otherwise it would be wrong for the same key in an
        // array.
        if first == value
            && matches!(node.kind, Kind::Bytes | Kind::Text)
            && integer_key(bytes).is_none()
            && noted_number.is_none()
            && number != u32::MAX
            && let Some(slot) = self.key_numbers.get_mut(usize::from(id))
        {
            *slot = number;
        }
        Ok(())
    }

    /// Opens an array, or the body of an object.
    fn open_container(&mut self, index: u32, is_object: bool, buf: &mut Vec<u8>) -> Result<(), Error> {
        let node = self.document.node(index);
        if self.stack.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().on_path(self.document.path(index)));
        }
        let mut end = self.document.tape().index_after(index);
        if node.kind == Kind::Map && node.has(flag::DEFAULT) {
            // The default value follows the entries. igbinary can't represent it, so it is left out.
            end = self.document.tape().index_after_entries(index, node.aux);
        }
        let notes = self.notes_at(index);
        let omitted_start = notes.iter().position(|note| note.code == code::OMITTED).unwrap_or(notes.len());
        let len = notes[omitted_start..].iter().take_while(|note| note.code == code::OMITTED).count();
        let omitted = &notes[omitted_start..omitted_start + len];
        let count = if node.end() == 0 || self.has_absent && node.kind == Kind::Map {
            count_present(self.document, index + 1, end)
        } else {
            node.aux
        };
        self.write_number(tag::ARRAY, find_note(notes, code::TAG), u64::from(count) + len as u64, buf)?;
        self.stack.push(WriteFrame { next: index + 1, end, kind: node.kind, count: 0, is_object, omitted });
        Ok(())
    }

    // -- Values ------------------------------------------------------------

    /// Writes a leaf completely, or the beginning of a container.
    fn write_value(&mut self, first: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        let (index, wrappers) = self.skip_wrappers(first);
        let node = self.document.node(index);
        if node.kind.is_again() {
            return self.write_link(first, index, node, buf);
        }
        report_array_kind_loss(self.document, index, false, |kind| self.record_loss(kind, index));
        let is_marked = find_note(self.notes_at(first), code::REFERENCE).is_some();
        let is_scalar = is_scalar(self.document, index);
        let is_aliased = if self.is_filled_by_php {
            node.has(flag::REF)
        } else {
            (is_scalar || self.spelling.is_none())
                && !self.aliased.is_empty()
                && (first..=index).any(|node| self.aliased.contains(&node))
        };
        if is_marked || is_aliased {
            buf.push(tag::REFERENCE);
        }
        let is_empty = matches!(node.kind, Kind::Array | Kind::Map) && node.aux == 0 && node.end() != 0;
        if is_empty
            && self.shares_empty_arrays
            && !is_marked
            && !is_aliased
            && self.spelling.is_none()
            && first == index
        {
            if let Some(number) = self.first_empty_array {
                return self.write_number(tag::ARRAY_REF, None, u64::from(number), buf);
            }
            self.first_empty_array = Some(self.next_number);
        }
        if !is_scalar || is_marked || is_aliased {
            for wrapper in first..first + wrappers {
                if self.document.node(wrapper).has(flag::TARGET) {
                    self.numbers.insert(wrapper, self.next_number);
                }
            }
            self.assign_number(index);
        }
        match node.kind {
            Kind::Array | Kind::Map => self.open_container(index, false, buf),
            Kind::Object => {
                if node.form() == Form::Struct {
                    self.record_loss(LossKind::Struct, index);
                }
                report_array_kind_loss(self.document, index + 1, true, |kind| self.record_loss(kind, index + 1));
                self.write_class(index, node.class(), buf)?;
                report_lost_flags(&self.document.node(index + 1), |kind| self.record_loss(kind, index));
                self.open_container(index + 1, true, buf)
            }
            Kind::Opaque => self.write_opaque(index, node, buf),
            Kind::EnumCase => self.write_enum_case(index, buf),
            _ => self.write_leaf(index, buf),
        }
    }

    /// Returns the node that is written for the node at `first`, and the number of nodes before it that only wrap it.
    /// PHP does not have these wrappers.
    fn skip_wrappers(&mut self, first: u32) -> (u32, u32) {
        let mut index = first;
        for _ in 0..MAX_WRAPPERS {
            let node = self.document.node(index);
            if node.flags & !(flag::REF | flag::TARGET) != 0 {
                report_lost_flags(&node, |kind| self.record_loss(kind, index));
            }
            if !is_wrapper(self.document, index) {
                break;
            }
            report_lost_wrapper(self.document, index, |kind| self.record_loss(kind, index));
            index = find_content(self.document, index);
        }
        (index, index - first)
    }

    fn write_leaf(&mut self, index: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        let document = self.document;
        let node = self.document.node(index);
        let notes = self.notes_at(index);
        let noted_tag = find_note(notes, code::TAG);
        match node.kind {
            Kind::Null => buf.push(tag::NULL),
            Kind::Bool => buf.push(if node.payload == 0 { tag::FALSE } else { tag::TRUE }),
            Kind::Int => Self::write_integer(node.payload as i64, noted_tag, buf),
            Kind::Float => write_float(f64::from_bits(node.payload), buf),
            Kind::Bytes | Kind::Text => {
                let bytes = document.bytes(&document.nodes()[index as usize]);
                self.write_string(bytes, false, noted_tag, find_note(notes, code::STRING), buf)?;
            }
            Kind::BigInt if bigint::exceeds(document.bytes(&node), self.limits.digits) => {
                return Err(self.limits.too_many_digits().on_path(document.path(index)));
            }
            _ => {
                match replace_leaf(document, &document.nodes()[index as usize], |kind| self.record_loss(kind, index)) {
                    LeafReplacement::Bytes(bytes) => {
                        self.write_string(bytes, false, noted_tag, find_note(notes, code::STRING), buf)?;
                    }
                    LeafReplacement::Digits(digits) => return self.write_new_string(&digits, buf),
                    LeafReplacement::Float(value) => write_float(value, buf),
                    LeafReplacement::Null => buf.push(tag::NULL),
                }
            }
        }
        Ok(())
    }

    /// Writes a string in full each time, because it is not in the table of strings.
    fn write_new_string(&mut self, text: &[u8], buf: &mut Vec<u8>) -> Result<(), Error> {
        self.write_number(tag::STRING, None, text.len() as u64, buf)?;
        buf.extend_from_slice(text);
        self.next_string_number += 1;
        Ok(())
    }

    /// Writes a link or an alias at `index`, instead of `first`.
    fn write_link(&mut self, first: u32, index: u32, node: Node, buf: &mut Vec<u8>) -> Result<(), Error> {
        let target = find_last_target(self.document, index);
        let named = unwrap_node(self.document, target);
        if is_link_to_leaf(self.document, &node) {
            return self.write_repeated_value(index, target, buf);
        }
        let Some(number) = self.numbers.get(&target).copied() else {
            return self.write_repeated_value(index, target, buf);
        };
        for index in (first..=index).filter(|at| self.document.node(*at).has(flag::TARGET)).collect::<Vec<_>>() {
            self.numbers.insert(index, number);
        }
        let kind = self.document.node(named).kind;
        let is_reference = if self.is_filled_by_php {
            node.has(flag::REF)
        } else {
            is_by_reference(self.document, &node, self.spelling.is_some())
        };
        if is_reference {
            buf.push(tag::REFERENCE);
        }
        let is_object = matches!(kind, Kind::Object | Kind::Opaque | Kind::EnumCase);
        let noted_tag = find_note(self.notes_at(index), code::TAG);
        let default = if is_object { tag::OBJECT_REF } else { tag::ARRAY_REF };
        let first = match noted_tag {
            Some(0x01..=0x03) => tag::ARRAY_REF,
            Some(0x22..=0x24) => tag::OBJECT_REF,
            _ => default,
        };
        self.write_number(first, noted_tag, u64::from(number), buf)
    }

    /// Writes a value a second time, because a link to it is not possible. It is a scalar that is not shared by
    /// reference, or a target that does not have a number yet, because it comes later.
    fn write_repeated_value(&mut self, index: u32, target: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        let target = unwrap_node(self.document, target);
        if !is_scalar(self.document, target) || self.document.node(target).kind.is_again() {
            self.record_loss(LossKind::Cycle, index);
            buf.push(tag::NULL);
            return Ok(());
        }
        self.record_loss(LossKind::Sharing, index);
        self.write_leaf(target, buf)
    }

    fn write_class(&mut self, index: u32, class: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        let name = self.document.class_name(class).map_or(&[][..], |name| name.bytes);
        let notes = self.notes_at(index);
        self.write_string(name, true, find_note(notes, code::CLASS_TAG), find_note(notes, code::CLASS_STRING), buf)
            .map(drop)
    }

    fn write_opaque(&mut self, index: u32, node: Node, buf: &mut Vec<u8>) -> Result<(), Error> {
        self.write_class(index, node.class(), buf)?;
        let payload = self.document.node(index + 1);
        let bytes = if payload.kind.is_string() { self.document.bytes(&payload).to_vec() } else { Vec::new() };
        if !payload.kind.is_string() || node.aux > 1 {
            self.record_loss(LossKind::Opaque, index);
        }
        self.write_number(tag::PAYLOAD, find_note(self.notes_at(index), code::TAG), bytes.len() as u64, buf)?;
        buf.extend_from_slice(&bytes);
        Ok(())
    }

    fn write_enum_case(&mut self, index: u32, buf: &mut Vec<u8>) -> Result<(), Error> {
        let document = self.document;
        let bytes = document.bytes(&document.nodes()[index as usize]);
        let notes = self.notes_at(index);
        let Some(colon) = bytes.iter().position(|byte| *byte == b':') else {
            self.record_loss(LossKind::Name, index);
            return self.write_string(bytes, false, None, None, buf).map(drop);
        };
        let (class, case) = (&bytes[..colon], &bytes[colon + 1..]);
        self.write_string(class, true, find_note(notes, code::CLASS_TAG), find_note(notes, code::CLASS_STRING), buf)?;
        buf.push(tag::ENUM);
        self.write_string(case, false, find_note(notes, code::TAG), find_note(notes, code::STRING), buf).map(drop)
    }
}

fn find_note(notes: &[Note], code: u16) -> Option<u64> {
    notes.iter().find(|note| note.code == code).map(|note| note.value)
}

fn write_float(value: f64, buf: &mut Vec<u8>) {
    buf.push(tag::FLOAT);
    buf.extend_from_slice(&value.to_bits().to_be_bytes());
}

#[cold]
fn too_large_error(number: u64) -> Error {
    Error::new(ErrorKind::Unrepresentable)
        .expecting("names, payloads and counts of less than 4 GB")
        .finding(number.to_string())
}
