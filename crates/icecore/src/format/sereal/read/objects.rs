//! Objects, regular expressions, and floats beyond 64 bits.

use super::super::spelling::{StringOf, code, tracked};
use super::super::tag::{self, TRACK};
use super::{MODIFIERS, Machine, Role, Slot, Word};
use crate::document::{Form, Kind, NO_KEY, NO_NODE, Node, Recorder, Sink};
use crate::error::{Error, ErrorKind};
use crate::num::float128;

impl<'i, S: Sink, const FAST: bool> Machine<'i, '_, S, FAST> {
    pub(super) fn read_object(&mut self, slot: &Slot, tag_offset: usize, tag: u8) -> Result<(), Error> {
        if self.options.refuse_objects {
            return Err(Error::new(ErrorKind::Unsupported)
                .at(tag_offset)
                .expecting("a document without objects")
                .finding(tag::name_of(tag))
                .helping("the option `refuse_objects` is set"));
        }
        if slot.parent == Some(Role::Opaque) {
            return Err(self.unexpected_tag_error(tag_offset, tag, "a reference to an array after OBJECT_FREEZE"));
        }
        let class = match tag {
            tag::OBJECT | tag::OBJECT_FREEZE => self.read_class_name(slot)?,
            _ => self.read_known_class(slot, tag_offset)?,
        };
        if matches!(tag, tag::OBJECT | tag::OBJECTV) {
            // Directly inside of an object, the class of the outer object is the class of the regexp.
            if slot.parent != Some(Role::Object) && self.is_plain_regexp(class) {
                return self.read_plain_regexp(slot);
            }
            return self.open_container(Node::open(Kind::Object, class), slot, Role::Object, 1, slot.variable);
        }
        let node = Node::open(Kind::Opaque, class).in_form(Form::Freeze);
        self.open_container(node, slot, Role::Opaque, 1, slot.variable)
    }

    /// Returns `true` if this is the result of `qr//`: `Regexp` around REFN REGEXP.
    pub(super) fn is_plain_regexp(&mut self, class: u32) -> bool {
        let tag_at = |distance| self.scan.input.get(self.scan.offset + distance).map(|byte| byte & !TRACK);
        let is_regexp = tag_at(0) == Some(tag::REFN) && tag_at(1) == Some(tag::REGEXP);
        let name = self.sink.tape().classes().get(class);
        is_regexp && name.is_some_and(|name| name.node.kind == Kind::Bytes && name.bytes == b"Regexp")
    }

    pub(super) fn read_plain_regexp(&mut self, slot: &Slot) -> Result<(), Error> {
        for (tag_role, tag_name) in [(tracked::REFN, "REFN"), (tracked::INNER, "REGEXP")] {
            let tag_offset = self.scan.offset;
            let byte = self.scan.read_u8(tag_name)?;
            self.record_span(tag_offset, slot.node, tag_name);
            if byte & TRACK != 0 {
                match tag_role {
                    tracked::REFN => {
                        self.record_tracked_tag(tag_offset, slot.variable, self.find_owner(slot), slot.node, tag_role)
                    }
                    _ => self.record_tracked_tag(tag_offset, NO_NODE, slot.variable, slot.node, tag_role),
                }
            }
        }
        self.read_regexp(slot, 0)
    }

    /// Reads the pattern and the modifiers.
    pub(super) fn read_regexp(&mut self, slot: &Slot, flags: u8) -> Result<(), Error> {
        let mut node = Node::open(Kind::Regexp, 0).with(flags | slot.weak_flag());
        node.key = slot.key;
        let node = self.push(node)?;
        self.open_regexp = Some(node);
        let pattern =
            Slot { key: NO_KEY, node: node + 1, variable: node + 1, owner: NO_NODE, parent: None, weaken_offset: None };
        self.record_begin(pattern.node);
        let mut pads = 0;
        while self.scan.peek() == Some(tag::PAD) {
            self.scan.offset += 1;
            pads += 1;
            self.record_span(self.scan.offset - 1, pattern.node, "PAD");
        }
        if pads > 0 {
            self.sink.record_note(pattern.node, code::PADS, pads);
        }
        let word = self.read_word(pattern.node, StringOf::Value, "the pattern of a regular expression")?;
        let text = self.string_node(&word);
        self.push(text)?;
        self.record_end(pattern.node);

        let tag_offset = self.scan.offset;
        self.record_begin(node + 2);
        let byte = self.scan.read_u8("the modifiers of a regular expression")?;
        if byte & !TRACK < tag::SHORT_BINARY {
            return Err(self.unexpected_tag_error(tag_offset, byte, "SHORT_BINARY modifiers of a regular expression"));
        }
        self.record_span(tag_offset, node + 2, "SHORT_BINARY");
        if byte & TRACK != 0 {
            self.sink.record_note(node + 2, code::TRACK, tracked::MAIN);
        }
        let start = self.scan.offset;
        let modifiers = self.scan.read_bytes(usize::from(byte & 31), "the modifiers of a regular expression")?;
        self.record_span(start, node + 2, "modifiers");
        if let Some(unknown) = modifiers.iter().position(|modifier| !MODIFIERS.contains(modifier)) {
            return Err(Error::new(ErrorKind::Malformed)
                .at(start + unknown)
                .expecting("one of the modifiers msixpn")
                .finding(format!("0x{:02x}", modifiers[unknown])));
        }
        if S::DETAIL {
            self.speller.record_string(tag_offset, node + 2, StringOf::Value);
        }
        let word = Word { kind: Kind::Bytes, tag_offset, start, bytes: modifiers, is_copied: false };
        let modifiers = self.string_node(&word);
        self.push(modifiers)?;
        self.record_end(node + 2);
        self.tape().close_container(node, 2);
        self.open_regexp = None;
        self.record_end(node);
        self.finish_value()
    }

    pub(super) fn read_wide_float(&mut self, slot: &Slot, tag: u8) -> Result<(), Error> {
        let start = self.scan.offset;
        let bytes: [u8; 16] = self.scan.read_array(tag::name_of(tag))?;
        self.record_span(start, slot.node, "number");
        let wide = match bytes.first_chunk() {
            Some(extended) if tag == tag::LONG_DOUBLE => float128::from_x87(extended),
            _ => bytes,
        };
        if S::DETAIL && tag == tag::LONG_DOUBLE {
            // Some bit patterns represent a number in a form that a processor would not store. They are kept as
            // spelling.
            let is_usual = float128::to_x87(&wide) == bytes[..10];
            if !is_usual {
                self.sink.record_note_bytes(slot.node, code::PADDING, &bytes);
            } else if bytes[10..] != [0; 6] {
                self.sink.record_note_bytes(slot.node, code::PADDING, &bytes[10..]);
            }
        }
        let exact = float128::to_f64_exact(&wide);
        self.sink.record_note(slot.node, code::TAG, u64::from(tag));
        let node = match exact {
            Some(value) => Node::float(value),
            None => self.tape().new_owned_string(Kind::Float128, &wide),
        };
        self.push_leaf(node, slot)
    }
}
