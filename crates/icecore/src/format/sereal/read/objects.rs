//! Objects, regular expressions, and floats beyond 64 bits.

use super::super::spelling::{Part, code, tracked};
use super::super::tag::{self, TRACK};
use super::{MODIFIERS, Machine, Role, Slot, Word};
use crate::document::{Form, Kind, NO_KEY, NO_NODE, Node, Recorder, Sink};
use crate::error::{Error, ErrorKind};
use crate::num::float128;

impl<'i, S: Sink, const FAST: bool> Machine<'i, '_, S, FAST> {
    pub(super) fn object(&mut self, slot: &Slot, at: usize, tag: u8) -> Result<(), Error> {
        if self.options.refuse_objects {
            return Err(Error::new(ErrorKind::Unsupported)
                .at(at)
                .expecting("a document without objects")
                .finding(tag::name(tag))
                .helping("the option `refuse_objects` is set"));
        }
        if slot.parent == Some(Role::Opaque) {
            return Err(self.unexpected(at, tag, "a reference to an array after OBJECT_FREEZE"));
        }
        let class = match tag {
            tag::OBJECT | tag::OBJECT_FREEZE => self.class_name(slot)?,
            _ => self.known_class(slot, at)?,
        };
        if matches!(tag, tag::OBJECT | tag::OBJECTV) {
            // Inside an object, the class of the outer object counts.
            if slot.parent != Some(Role::Object) && self.is_plain_regexp(class) {
                return self.plain_regexp(slot);
            }
            return self.open(Node::open(Kind::Object, class), slot, Role::Object, 1, slot.outer);
        }
        let node = Node::open(Kind::Opaque, class).in_form(Form::Freeze);
        self.open(node, slot, Role::Opaque, 1, slot.outer)
    }

    /// Whether this is the result of `qr//`: `Regexp` around REFN REGEXP.
    pub(super) fn is_plain_regexp(&mut self, class: u32) -> bool {
        let behind = |by| self.scan.input.get(self.scan.at + by).map(|byte| byte & !TRACK);
        let is_regexp = behind(0) == Some(tag::REFN) && behind(1) == Some(tag::REGEXP);
        let name = self.sink.tape().classes().get(class);
        is_regexp && name.is_some_and(|name| name.node.kind == Kind::Bytes && name.bytes == b"Regexp")
    }

    pub(super) fn plain_regexp(&mut self, slot: &Slot) -> Result<(), Error> {
        for (which, what) in [(tracked::REFN, "REFN"), (tracked::INNER, "REGEXP")] {
            let at = self.scan.at;
            let byte = self.scan.u8(what)?;
            self.span(at, slot.me, what);
            if byte & TRACK != 0 {
                match which {
                    tracked::REFN => self.track(at, slot.outer, self.owner(slot), slot.me, which),
                    _ => self.track(at, NO_NODE, slot.outer, slot.me, which),
                }
            }
        }
        self.regexp(slot, 0)
    }

    /// Reads the pattern and the modifiers.
    pub(super) fn regexp(&mut self, slot: &Slot, flags: u8) -> Result<(), Error> {
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
            self.sink.note(pattern.me, code::PADS, pads);
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
        if byte & TRACK != 0 {
            self.sink.note(node + 2, code::TRACK, tracked::MAIN);
        }
        let start = self.scan.at;
        let modifiers = self.scan.take(usize::from(byte & 31), "the modifiers of a regular expression")?;
        self.span(start, node + 2, "modifiers");
        if let Some(unknown) = modifiers.iter().position(|modifier| !MODIFIERS.contains(modifier)) {
            return Err(Error::new(ErrorKind::Malformed)
                .at(start + unknown)
                .expecting("one of the modifiers msixpn")
                .finding(format!("0x{:02x}", modifiers[unknown])));
        }
        if S::DETAIL {
            self.speller.string(at, node + 2, Part::Value);
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

    pub(super) fn wide_float(&mut self, slot: &Slot, tag: u8) -> Result<(), Error> {
        let from = self.scan.at;
        let bytes: [u8; 16] = self.scan.array(tag::name(tag))?;
        self.span(from, slot.me, "number");
        let wide = match bytes.first_chunk() {
            Some(extended) if tag == tag::LONG_DOUBLE => float128::from_x87(extended),
            _ => bytes,
        };
        if S::DETAIL && tag == tag::LONG_DOUBLE {
            // Some bit patterns are numbers that no processor would store.
            let is_usual = float128::to_x87(&wide) == bytes[..10];
            if !is_usual {
                self.sink.note_bytes(slot.me, code::PADDING, &bytes);
            } else if bytes[10..] != [0; 6] {
                self.sink.note_bytes(slot.me, code::PADDING, &bytes[10..]);
            }
        }
        let exact = float128::to_f64_exact(&wide);
        self.sink.note(slot.me, code::TAG, u64::from(tag));
        let node = match exact {
            Some(value) => Node::float(value),
            None => self.tape().owned(Kind::Float128, &wide),
        };
        self.leaf(node, slot)
    }
}
