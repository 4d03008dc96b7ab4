//! Writes symbols, encodings and keys.

use super::number::{is_fixnum, push_long};
use super::spelling::value as code;
use super::write::{Keys, Known, Writer};
use super::write_fast::Word;
use crate::document::{Kind, Node, flag, is_plain_key};
use crate::hash::SeededMap;
use crate::output::LossKind;
use std::borrow::Cow;

/// Names that are written as a number when they occur again.
#[derive(Default)]
pub(super) struct Names<'d> {
    /// Symbols by encoding and bytes.
    symbols: SeededMap<(&'d [u8], Cow<'d, [u8]>), u32>,
    /// The number of the symbol `E`, plus one.
    utf8: u32,
    /// Bytes that follow a string in UTF-8, once that symbol has a number.
    pub(super) utf8_tail: Word,
    /// Bytes to write for a key, by its id: for the key of a hash, and for the name of a
    /// member.
    keys: Vec<Word>,
    members: Vec<Word>,
    /// The number of a key's symbol by the key's id, plus one.
    by_key: Vec<u32>,
    /// The same for classes.
    by_class: Vec<u32>,
    /// The object numbers of the names of encodings.
    encodings: SeededMap<&'d [u8], u32>,
    /// The object numbers of string keys: by id, plus one, and all of them.
    key_numbers: Vec<u32>,
    strings: SeededMap<(Kind, u16, &'d [u8]), u32>,
}

/// Name of the encoding of binary strings.
const BINARY: &[u8] = b"ASCII-8BIT";

/// How an encoding is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding<'d> {
    Utf8,
    Ascii,
    Named(&'d [u8]),
}

fn slot<T: Clone + Default>(list: &mut Vec<T>, id: usize) -> &mut T {
    if list.len() <= id {
        list.resize(id + 1, T::default());
    }
    &mut list[id]
}

impl<'d> Names<'d> {
    /// Returns the number of a string that is one object everywhere; `next` is its number
    /// if it is new.
    pub(super) fn interned(&mut self, node: &Node, bytes: &'d [u8], next: u32) -> u32 {
        *self.strings.entry((node.kind, node.encoding(), bytes)).or_insert(next)
    }

    /// Returns the bytes to write for the key with this id; none if they are not known.
    #[inline(always)]
    pub(super) fn known_key(&self, id: u16, keys: Keys) -> Word {
        let list = if keys == Keys::Members { &self.members } else { &self.keys };
        list.get(usize::from(id)).copied().unwrap_or(Word::NONE)
    }

    /// The same for a class.
    #[inline(always)]
    pub(super) fn known_class(&self, class: u32) -> Word {
        match self.by_class.get(class as usize) {
            Some(number) if *number != 0 => symbol_number(*number - 1),
            _ => Word::NONE,
        }
    }
}

#[inline(always)]
fn symbol_number(number: u32) -> Word {
    Word::byte(b';').and(Word::long(i64::from(number)))
}

impl<'d> Writer<'d> {
    /// Returns the name of the encoding of a string or symbol; empty if it has none.
    pub(super) fn encoding_name(&self, node: &Node) -> &'d [u8] {
        self.document.tape().encodings().get(u32::from(node.encoding())).map_or(b"", |name| name.bytes)
    }

    /// Returns the encoding that is written with a string or a regexp.
    pub(super) fn encoding_of(&self, at: u32) -> Option<Encoding<'d>> {
        let mut node = self.document.node(at);
        if node.kind == Kind::Regexp {
            node = self.document.node(at + 1);
        }
        match node.kind {
            Kind::Text => Some(Encoding::Utf8),
            Kind::Encoded => match self.encoding_name(&node) {
                b"UTF-8" => Some(Encoding::Utf8),
                b"US-ASCII" => Some(Encoding::Ascii),
                b"" | BINARY | b"BINARY" => None,
                name => Some(Encoding::Named(name)),
            },
            _ => None,
        }
    }

    /// Whether an encoding is written for this.
    pub(super) fn says_encoding(&self, at: u32) -> bool {
        self.encoding_of(at).is_some() || self.note(at, code::NAME_ENCODING).is_some()
    }

    /// Writes the instance variable for the encoding.
    pub(super) fn encoding(&mut self, at: u32, buf: &mut Vec<u8>) {
        match (self.encoding_of(at), self.note(at, code::NAME_ENCODING)) {
            (Some(encoding), _) => self.encoding_as(encoding, buf),
            (None, Some(0)) => self.encoding_as(Encoding::Ascii, buf),
            (None, _) => self.encoding_as(Encoding::Utf8, buf),
        }
    }

    fn encoding_as(&mut self, encoding: Encoding<'d>, buf: &mut Vec<u8>) {
        match encoding {
            Encoding::Utf8 => {
                if self.names.utf8 == 0 {
                    let number = self.symbol(b"E", b"", buf);
                    self.names.utf8 = number + 1;
                    if number < 1 << 24 {
                        self.names.utf8_tail = Word::byte(6).and(symbol_number(number)).and(Word::byte(b'T'));
                    }
                } else {
                    buf.push(b';');
                    push_long(i64::from(self.names.utf8) - 1, buf);
                }
                buf.push(b'T');
            }
            Encoding::Ascii => {
                self.symbol(b"E", b"", buf);
                buf.push(b'F');
            }
            Encoding::Named(name) => {
                self.symbol(b"encoding", b"", buf);
                if let Some(number) = self.names.encodings.get(name) {
                    buf.push(b'@');
                    push_long(i64::from(*number), buf);
                } else {
                    self.names.encodings.insert(name, self.next);
                    if self.spelling.is_some() {
                        self.known.insert(self.next, Known::String(Kind::Bytes, 0, name));
                    }
                    self.next += 1;
                    buf.push(b'"');
                    self.bytes(name, buf);
                }
            }
        }
    }

    /// Writes a symbol, or its number.
    pub(super) fn symbol(&mut self, bytes: impl Into<Cow<'d, [u8]>>, encoding: &'d [u8], buf: &mut Vec<u8>) -> u32 {
        let bytes = bytes.into();
        let encoding = if encoding == b"UTF-8" { b"" } else { encoding };
        if let Some(number) = self.names.symbols.get(&(encoding, bytes.clone())) {
            buf.push(b';');
            push_long(i64::from(*number), buf);
            return *number;
        }
        let said = match encoding {
            b"" if bytes.is_ascii() => None,
            b"" => Some(Encoding::Utf8),
            BINARY | b"US-ASCII" => None,
            name => Some(Encoding::Named(name)),
        };
        if said.is_some() {
            buf.push(b'I');
        }
        buf.push(b':');
        self.bytes(&bytes, buf);
        let number = self.names.symbols.len() as u32;
        self.names.symbols.insert((encoding, bytes), number);
        if let Some(encoding) = said {
            push_long(1, buf);
            self.encoding_as(encoding, buf);
        }
        number
    }

    /// Writes the name of a class.
    pub(super) fn class(&mut self, class: u32, buf: &mut Vec<u8>) {
        let known = *slot(&mut self.names.by_class, class as usize);
        if known != 0 {
            buf.push(b';');
            return push_long(i64::from(known) - 1, buf);
        }
        let name = self.document.class(class).map_or(&b""[..], |name| name.bytes);
        let encoding = if std::str::from_utf8(name).is_ok() { b"" } else { BINARY };
        let number = self.symbol(name, encoding, buf);
        *slot(&mut self.names.by_class, class as usize) = number + 1;
    }

    /// Writes the key with this id, for the value at `value`. Returns `false` if the
    /// entry does not exist.
    pub(super) fn key(&mut self, id: u16, value: u32, keys: Keys, buf: &mut Vec<u8>) -> bool {
        let known = self.names.by_key.get(usize::from(id)).copied().unwrap_or(0);
        if known != 0 {
            buf.push(b';');
            push_long(i64::from(known) - 1, buf);
            return true;
        }
        let Some(name) = self.document.tape().keys().get(u32::from(id)) else { return true };
        let node = name.node;
        if node.kind.is_string() && node.has(flag::PLACEHOLDER) {
            return false;
        }
        if node.kind == Kind::Symbol || keys == Keys::Members {
            let number = self.member(&node, name.bytes, buf);
            // A string as the name of a member is a symbol only there.
            if node.kind == Kind::Symbol {
                *slot(&mut self.names.by_key, usize::from(id)) = number + 1;
                *slot(&mut self.names.keys, usize::from(id)) = symbol_number(number);
            }
            *slot(&mut self.names.members, usize::from(id)) = symbol_number(number);
            return true;
        }
        if !node.kind.is_string() {
            buf.push(b'i');
            if is_fixnum(node.payload as i64) {
                push_long(node.payload as i64, buf);
                let known = Word::byte(b'i').and(Word::long(node.payload as i64));
                *slot(&mut self.names.keys, usize::from(id)) = known;
            } else {
                buf.pop();
                self.also.clear();
                let _ = self.leaf(u32::MAX, &node, false, buf);
            }
            return true;
        }
        if keys == Keys::Identity {
            self.fresh_key(&node, name.bytes, buf);
            return true;
        }
        let linked = *slot(&mut self.names.key_numbers, usize::from(id));
        if linked != 0 && self.spelling.is_none() {
            buf.push(b'@');
            push_long(i64::from(linked) - 1, buf);
            return true;
        }
        let number = self.string_key(&node, name.bytes, value, buf);
        *slot(&mut self.names.key_numbers, usize::from(id)) = number + 1;
        *slot(&mut self.names.keys, usize::from(id)) = Word::byte(b'@').and(Word::long(i64::from(number)));
        true
    }

    /// Writes a key that has a node. Returns `false` if it is written like other values.
    pub(super) fn key_node(&mut self, at: u32, node: &Node, keys: Keys, buf: &mut Vec<u8>) -> bool {
        if !is_plain_key(node.kind) || node.has(flag::TARGET) && keys != Keys::Members {
            return false;
        }
        let bytes = if node.kind.has_bytes() { self.document.bytes(node) } else { b"" };
        match keys {
            Keys::Members => {
                self.member(node, bytes, buf);
                true
            }
            Keys::Values if matches!(node.kind, Kind::Bytes | Kind::Text | Kind::Encoded) => {
                self.string_key(node, bytes, at + 1, buf);
                true
            }
            _ => false,
        }
    }

    /// Writes the name of a member: a string becomes the name of a variable.
    fn member(&mut self, node: &Node, bytes: &'d [u8], buf: &mut Vec<u8>) -> u32 {
        if node.kind == Kind::Symbol {
            return self.symbol(bytes, self.encoding_name(node), buf);
        }
        let mut name = vec![b'@'];
        match node.kind {
            Kind::Int => name.extend_from_slice((node.payload as i64).to_string().as_bytes()),
            _ => name.extend_from_slice(bytes),
        }
        let encoding = if std::str::from_utf8(&name).is_ok() { b"" } else { BINARY };
        self.symbol(name, encoding, buf)
    }

    /// Writes a string as a key: equal ones are one object. Returns its number.
    fn string_key(&mut self, node: &Node, bytes: &'d [u8], value: u32, buf: &mut Vec<u8>) -> u32 {
        let thing = (node.kind, node.encoding(), bytes);
        let mut known = self.names.strings.get(&thing).copied();
        if self.spelling.is_some() {
            let named = Known::String(node.kind, node.encoding(), bytes);
            if let Some(number) = self.noted_link(value, code::KEY_LINK, named) {
                buf.push(b'@');
                push_long(number, buf);
                return number as u32;
            }
            if self.note(value, code::KEY_FRESH).is_some() {
                known = None;
            }
        }
        if let Some(number) = known {
            buf.push(b'@');
            push_long(i64::from(number), buf);
            return number;
        }
        if node.flags & flag::LOCKED != 0 {
            self.lose(LossKind::Restricted, value);
        }
        self.names.strings.entry(thing).or_insert(self.next);
        self.fresh_key(node, bytes, buf)
    }

    /// Writes a string as a key in full.
    fn fresh_key(&mut self, node: &Node, bytes: &'d [u8], buf: &mut Vec<u8>) -> u32 {
        let number = self.next;
        self.next += 1;
        if self.spelling.is_some() {
            self.known.insert(number, Known::String(node.kind, node.encoding(), bytes));
        }
        let said = match node.kind {
            Kind::Text => Some(Encoding::Utf8),
            Kind::Encoded => match self.encoding_name(node) {
                b"UTF-8" => Some(Encoding::Utf8),
                b"US-ASCII" => Some(Encoding::Ascii),
                b"" | BINARY | b"BINARY" => None,
                name => Some(Encoding::Named(name)),
            },
            _ => None,
        };
        if said.is_some() {
            buf.push(b'I');
        }
        buf.push(b'"');
        self.bytes(bytes, buf);
        if let Some(encoding) = said {
            push_long(1, buf);
            self.encoding_as(encoding, buf);
        }
        number
    }
}
