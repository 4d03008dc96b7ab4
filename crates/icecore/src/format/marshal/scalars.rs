//! Floats, big integers and links. Also strings that are not on the tape, but have an object number.
//!
//! An object number is the index that Marshal gives to each object, so that links can name it.

use super::number::{is_immediate, parse_float, push_float};
use super::read::{OFF_TAPE_BIT, OffTapeObject, PENDING, Reader};
use super::spelling::value as code;
use crate::document::{Form, Kind, Node, Recorder, Sink, flag};
use crate::error::{Error, ErrorKind};
use crate::num::bigint::Integer;

/// Integers that a 64-bit Ruby stores in the reference itself. It links larger ones, like every
/// object.
const IMMEDIATE: std::ops::Range<i64> = -(1 << 62)..1 << 62;

impl<S: Sink> Reader<'_, '_, S> {
    pub(super) fn read_float(&mut self, start: usize, key: u16) -> Result<(), Error> {
        let (place, len) = self.read_bytes("a float")?;
        let text = &self.scan.input[place..place + len];
        let value = parse_float(text);
        let object_number = self.numbers.len() as i64;
        self.number_float(value.to_bits());
        let node = self.push_spanned_leaf(Node::float(value), key, start, "float");
        if S::DETAIL {
            let mut default = Vec::new();
            push_float(value, &mut default);
            if default != text {
                self.sink.record_note_bytes(node, code::FLOAT, text);
            }
            let bits = value.to_bits();
            if is_immediate(bits) {
                let first = *self.float_numbers.entry(bits).or_insert(object_number);
                if first != object_number {
                    self.sink.record_note(node, code::FRESH, 1);
                }
            }
        }
        Ok(())
    }

    pub(super) fn read_bignum(&mut self, start: usize, key: u16) -> Result<(), Error> {
        let sign = self.scan.read_u8("the sign of an integer")?;
        if !matches!(sign, b'+' | b'-') {
            return Err(self.malformed_error(start + 1, "the sign of an integer (+ or -)", sign));
        }
        let len = self.read_count("pairs of bytes", 2)? as usize * 2;
        let place = self.scan.offset;
        let bytes = self.scan.read_bytes(len, "an integer")?;
        if len as u64 > self.limits.string {
            return Err(self.limits.too_long(len as u64).at(place));
        }
        let len = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let negative = sign == b'-';
        let small = if len <= 8 { Integer::new(negative, &bytes[..len]) } else { Integer::Int(0) };
        let node = match small {
            _ if len > 8 => self.big_integer_node(negative, place, len),
            Integer::Int(value) => Node::int(value),
            Integer::Uint(value) => Node::uint(value),
            Integer::Big { .. } => self.big_integer_node(negative, place, len),
        };
        let index = self.push_spanned_leaf(node, key, start, "bignum");
        self.numbers.push(index);
        Ok(())
    }

    fn big_integer_node(&mut self, negative: bool, place: usize, len: usize) -> Node {
        let flags = if negative { flag::NEGATIVE } else { 0 };
        self.sink.tape().new_borrowed_string(Kind::BigInt, place, len).with(flags)
    }

    /// Reads what follows `@`.
    pub(super) fn read_link(&mut self, start: usize, key: u16) -> Result<(), Error> {
        let number = self.read_integer()?;
        let entry = self.numbered_entry(number).ok_or_else(|| self.bad_link_error(start, number))?;
        if entry & OFF_TAPE_BIT != 0 && self.off_tape_objects[(entry & !OFF_TAPE_BIT) as usize].node.kind == Kind::Float
        {
            let node = self.off_tape_objects[(entry & !OFF_TAPE_BIT) as usize].node;
            self.push_spanned_leaf(node, key, start, "link");
            return Ok(());
        }
        if entry & OFF_TAPE_BIT == 0 && (number as usize) < self.removed_below && !self.sink.has_all_nodes() {
            return Err(Error::new(ErrorKind::BadLink).at(start));
        }
        if entry & OFF_TAPE_BIT != 0 {
            // The object is a string that is a key of a hash or the name of an encoding. A hash keeps a copy of its
            // key, so for a program the link is a string of its own.
            let node = self.off_tape_objects[(entry & !OFF_TAPE_BIT) as usize].node;
            let index = self.push_spanned_leaf(node, key, start, "link");
            self.numbers[number as usize] = index;
            self.sink.record_note(index, code::LINK, number as u64);
            return Ok(());
        }
        let target = self.sink.nodes()[entry as usize];
        if target.kind == Kind::Float && is_immediate(target.payload) {
            let index = self.push_spanned_leaf(Node::leaf(Kind::Float, target.payload), key, start, "link");
            if S::DETAIL && self.float_numbers.get(&target.payload) != Some(&number) {
                self.sink.record_note(index, code::LINK, number as u64);
            }
            return Ok(());
        }
        if target.kind == Kind::Int && IMMEDIATE.contains(&(target.payload as i64)) {
            // Written as a bignum, which took a number. These integers have no identity in a 64-bit
            // Ruby; a 32-bit Ruby links them.
            let index = self.push_spanned_leaf(Node::leaf(Kind::Int, target.payload), key, start, "link");
            self.sink.record_note(index, code::LINK, number as u64);
            return Ok(());
        }
        if self.is_immutable(entry, &target) {
            self.push_spanned_leaf(Node::leaf(Kind::Copy, u64::from(entry)), key, start, "link");
            self.sink.tape().mark_copied(entry);
            return Ok(());
        }
        self.push_spanned_leaf(Node::leaf(Kind::Link, u64::from(entry)), key, start, "link");
        self.sink.tape().mark_target(entry);
        Ok(())
    }

    /// Returns `true` if no program can change the object at `index`: then a link to it is not sharing. An
    /// object with its own instance variables can be changed.
    fn is_immutable(&mut self, index: u32, node: &Node) -> bool {
        let nodes = self.sink.nodes();
        let around = (index as usize).checked_sub(1).and_then(|previous| nodes.get(previous));
        let is_complete = !node.kind.is_container() || node.end() != 0;
        if !is_complete || around.is_some_and(|around| around.kind == Kind::Attrs) {
            return false;
        }
        match node.kind {
            Kind::Int | Kind::Uint | Kind::BigInt | Kind::Float | Kind::Module | Kind::Regexp => true,
            Kind::Object | Kind::Opaque => {
                let class = self.sink.tape().classes().get(node.class()).map_or(&b""[..], |name| name.bytes);
                match node.form() {
                    Form::Usual => class == b"Range",
                    Form::UserDump => matches!(class, b"Time" | b"BigDecimal"),
                    Form::UserMarshal => matches!(class, b"Rational" | b"Complex" | b"Date" | b"DateTime"),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Returns the node with this number, or the object that is not on the tape, marked with [`OFF_TAPE_BIT`].
    pub(super) fn numbered_entry(&self, number: i64) -> Option<u32> {
        let entry = *self.numbers.get(usize::try_from(number).ok()?)?;
        (entry != PENDING).then_some(entry)
    }

    /// Assigns a number to a string that is not a node.
    pub(super) fn number_string(&mut self, node: Node) {
        self.numbers.push(OFF_TAPE_BIT | self.off_tape_objects.len() as u32);
        self.off_tape_objects.push(OffTapeObject { node, key: 0 });
    }

    /// Returns the string with this number, if it is a plain one.
    pub(super) fn find_numbered_string(&self, number: i64) -> Option<Node> {
        let entry = self.numbered_entry(number)?;
        if entry & OFF_TAPE_BIT != 0 {
            let object = self.off_tape_objects.get((entry & !OFF_TAPE_BIT) as usize)?;
            return object.node.kind.has_bytes().then_some(object.node);
        }
        // Calling `has_all_nodes` records that the document must be read as a whole.
        if (number as usize) < self.removed_below && !self.sink.has_all_nodes() {
            return None;
        }
        let nodes = self.sink.nodes();
        let is_attributes = |parent: &Node| parent.kind == Kind::Attrs;
        let node = nodes.get(entry as usize)?;
        let is_plain = matches!(node.kind, Kind::Bytes | Kind::Text | Kind::Encoded);
        let is_bare =
            !(entry as usize).checked_sub(1).and_then(|previous| nodes.get(previous)).is_some_and(is_attributes);
        (is_plain && is_bare).then_some(Node { flags: 0, key: 0, ..*node })
    }
}
