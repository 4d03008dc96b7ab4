//! Writes symbols, encodings and keys.

use super::number::{is_fixnum, push_integer};
use super::spelling::value as code;
use super::write::{KeyStyle, NumberedValue, Writer};
use super::write_fast::Word;
use crate::document::{Kind, Naming, Node, flag, is_plain_key};
use crate::hash::SeededMap;
use crate::output::LossKind;
use crate::regexp::needs_unicode;
use std::borrow::Cow;

/// Names that are written as a number when they occur again.
#[derive(Default)]
pub(super) struct WrittenNames<'d> {
    /// Symbols by encoding and bytes.
    symbols: SeededMap<(&'d [u8], Cow<'d, [u8]>), u32>,
    /// The number of the symbol `E`, plus one.
    utf8: u32,
    /// Bytes that follow a string in UTF-8. They are known when the symbol `E` has a number.
    pub(super) utf8_tail: Word,
    /// Bytes to write for the key of a hash, by its id.
    keys: Vec<Word>,
    /// Bytes to write for the name of a member, by the id of the key.
    members: Vec<Word>,
    /// The number of a key's symbol by the key's id, plus one.
    by_key: Vec<u32>,
    /// Like `by_key`, for classes.
    by_class: Vec<u32>,
    /// The object numbers of the names of encodings.
    encodings: SeededMap<&'d [u8], u32>,
    /// The object numbers of string keys with an id, plus one, by id.
    key_numbers: Vec<u32>,
    /// The object numbers of all string keys.
    strings: SeededMap<(Kind, u16, &'d [u8]), u32>,
}

/// Name of the encoding of binary strings.
const BINARY: &[u8] = b"ASCII-8BIT";

/// How an encoding is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteEncoding<'d> {
    Utf8,
    Ascii,
    Named(&'d [u8]),
}

fn slot_mut<T: Clone + Default>(list: &mut Vec<T>, id: usize) -> &mut T {
    if list.len() <= id {
        list.resize(id + 1, T::default());
    }
    &mut list[id]
}

impl<'d> WrittenNames<'d> {
    /// Returns the number of a string that is the same object wherever it occurs. If the string is new, its number is
    /// `next`.
    pub(super) fn intern_string(&mut self, node: &Node, bytes: &'d [u8], next: u32) -> u32 {
        *self.strings.entry((node.kind, node.encoding(), bytes)).or_insert(next)
    }

    /// Returns the bytes to write for the key with this id; none if they are not known.
    #[inline(always)]
    pub(super) fn known_key(&self, id: u16, keys: KeyStyle) -> Word {
        let list = if keys == KeyStyle::Members { &self.members } else { &self.keys };
        list.get(usize::from(id)).copied().unwrap_or(Word::NONE)
    }

    /// Like [`Self::known_key`], for a class.
    #[inline(always)]
    pub(super) fn known_class(&self, class: u32) -> Word {
        match self.by_class.get(class as usize) {
            Some(number) if *number != 0 => symbol_number_word(*number - 1),
            _ => Word::NONE,
        }
    }
}

#[inline(always)]
fn symbol_number_word(number: u32) -> Word {
    Word::from_byte(b';').followed_by(Word::from_integer(i64::from(number)))
}

/// Returns the encoding that a regexp of another language needs; `None` if Ruby reads it well without one. Without an
/// encoding, Ruby removes backslashes before some letters, because dumps of Ruby 1.8 had none; and a regexp whose encoding
/// is fixed would raise for each string of text.
fn pattern_encoding(pattern: &[u8], is_fixed: bool) -> Option<WriteEncoding<'static>> {
    let mut escapes = pattern.windows(2).filter(|window| window[0] == b'\\');
    let is_stripped = |letter: u8| matches!(letter, b'g'..=b'm' | b'o'..=b'q' | b'u' | b'y' | b'E' | b'F' | b'H'..=b'L' | b'N'..=b'V' | b'X' | b'Y');
    if !is_fixed && !escapes.any(|window| is_stripped(window[1])) {
        return None;
    }
    let text = std::str::from_utf8(pattern).ok()?;
    Some(if is_fixed || needs_unicode(text) { WriteEncoding::Utf8 } else { WriteEncoding::Ascii })
}

impl<'d> Writer<'d> {
    /// Returns the name of the encoding of a string or symbol; empty if it has none.
    pub(super) fn encoding_name(&self, node: &Node) -> &'d [u8] {
        self.document.tape().encodings().get(u32::from(node.encoding())).map_or(b"", |name| name.bytes)
    }

    /// Returns the encoding that is written with a string or a regexp.
    pub(super) fn written_encoding(&self, index: u32) -> Option<WriteEncoding<'d>> {
        let mut node = self.document.node(index);
        if node.kind == Kind::Regexp {
            node = self.document.node(index + 1);
            if node.kind == Kind::Bytes && self.document.tape().naming != Naming::Ruby {
                let flags = self.document.node(self.index_after(index + 1));
                let letters = if flags.kind.is_string() { self.document.bytes(&flags) } else { b"" };
                // With `n`, it is a pattern of bytes.
                let is_fixed = letters.contains(&b'u') && !letters.contains(&b'n');
                return pattern_encoding(self.document.bytes(&node), is_fixed);
            }
        }
        match node.kind {
            Kind::Text => Some(WriteEncoding::Utf8),
            Kind::Encoded => match self.encoding_name(&node) {
                b"UTF-8" => Some(WriteEncoding::Utf8),
                b"US-ASCII" => Some(WriteEncoding::Ascii),
                b"" | BINARY | b"BINARY" => None,
                name => Some(WriteEncoding::Named(name)),
            },
            _ => None,
        }
    }

    /// Returns `true` if an encoding is written for this.
    pub(super) fn has_written_encoding(&self, index: u32) -> bool {
        self.written_encoding(index).is_some() || self.find_note(index, code::NAME_ENCODING).is_some()
    }

    /// Writes the instance variable for the encoding.
    pub(super) fn write_encoding(&mut self, index: u32, buf: &mut Vec<u8>) {
        let noted = || match self.find_note(index, code::NAME_ENCODING) {
            Some(code::NAME_IN_ASCII) => WriteEncoding::Ascii,
            Some(id @ code::NAME_IN_FIRST..) => {
                let id = u32::try_from(id - code::NAME_IN_FIRST).unwrap_or(0);
                let name = self.document.tape().encodings().get(id);
                name.map_or(WriteEncoding::Utf8, |name| WriteEncoding::Named(name.bytes))
            }
            _ => WriteEncoding::Utf8,
        };
        let encoding = self.written_encoding(index).unwrap_or_else(noted);
        self.write_encoding_as(encoding, buf);
    }

    fn write_encoding_as(&mut self, encoding: WriteEncoding<'d>, buf: &mut Vec<u8>) {
        match encoding {
            WriteEncoding::Utf8 => {
                if self.names.utf8 == 0 {
                    let number = self.write_symbol(b"E", b"", buf);
                    self.names.utf8 = number + 1;
                    if number < 1 << 24 {
                        self.names.utf8_tail = Word::from_byte(6)
                            .followed_by(symbol_number_word(number))
                            .followed_by(Word::from_byte(b'T'));
                    }
                } else {
                    buf.push(b';');
                    push_integer(i64::from(self.names.utf8) - 1, buf);
                }
                buf.push(b'T');
            }
            WriteEncoding::Ascii => {
                self.write_symbol(b"E", b"", buf);
                buf.push(b'F');
            }
            WriteEncoding::Named(name) => {
                self.write_symbol(b"encoding", b"", buf);
                if let Some(number) = self.names.encodings.get(name) {
                    buf.push(b'@');
                    push_integer(i64::from(*number), buf);
                } else {
                    self.names.encodings.insert(name, self.next_number);
                    if self.spelling.is_some() {
                        self.numbered_values.insert(self.next_number, NumberedValue::String(Kind::Bytes, 0, name));
                    }
                    self.next_number += 1;
                    buf.push(b'"');
                    self.write_bytes(name, buf);
                }
            }
        }
    }

    /// Writes a symbol, or its number.
    pub(super) fn write_symbol(
        &mut self,
        bytes: impl Into<Cow<'d, [u8]>>,
        encoding: &'d [u8],
        buf: &mut Vec<u8>,
    ) -> u32 {
        let bytes = bytes.into();
        let encoding = if encoding == b"UTF-8" { b"" } else { encoding };
        if let Some(number) = self.names.symbols.get(&(encoding, bytes.clone())) {
            buf.push(b';');
            push_integer(i64::from(*number), buf);
            return *number;
        }
        let explicit = match encoding {
            b"" if bytes.is_ascii() => None,
            b"" => Some(WriteEncoding::Utf8),
            BINARY | b"US-ASCII" => None,
            name => Some(WriteEncoding::Named(name)),
        };
        if explicit.is_some() {
            buf.push(b'I');
        }
        buf.push(b':');
        self.write_bytes(&bytes, buf);
        let number = self.names.symbols.len() as u32;
        self.names.symbols.insert((encoding, bytes), number);
        if let Some(encoding) = explicit {
            push_integer(1, buf);
            self.write_encoding_as(encoding, buf);
        }
        number
    }

    /// Reserves the next number for the value after this name, if the name has an encoding whose name takes a number.
    /// Ruby numbers a value before the names of its modules and its class. When it reads such a dump, it numbers the
    /// names first, so it can't read a later link in it.
    pub(super) fn reserve_number_before_name(&mut self, class: u32) {
        let is_encoded = self.document.class_name(class).is_some_and(|name| name.node.kind == Kind::Encoded);
        if is_encoded && self.reserved_number.is_none() {
            self.reserved_number = Some(self.next_number);
            self.next_number += 1;
        }
    }

    /// Writes the name of a class.
    pub(super) fn write_class(&mut self, class: u32, buf: &mut Vec<u8>) {
        let known = *slot_mut(&mut self.names.by_class, class as usize);
        if known != 0 {
            buf.push(b';');
            return push_integer(i64::from(known) - 1, buf);
        }
        let name = self.document.class_name(class);
        let encoding = match name {
            Some(name) if name.node.kind == Kind::Encoded => self.encoding_name(&name.node),
            Some(name) if std::str::from_utf8(name.bytes).is_err() => BINARY,
            _ => b"",
        };
        let number = self.write_symbol(name.map_or(&b""[..], |name| name.bytes), encoding, buf);
        *slot_mut(&mut self.names.by_class, class as usize) = number + 1;
    }

    /// Writes the key with this id, for the value at `value`. Returns `false` if the
    /// entry does not exist.
    pub(super) fn write_key(&mut self, id: u16, value: u32, keys: KeyStyle, buf: &mut Vec<u8>) -> bool {
        let known = self.names.by_key.get(usize::from(id)).copied().unwrap_or(0);
        if known != 0 {
            buf.push(b';');
            push_integer(i64::from(known) - 1, buf);
            return true;
        }
        let Some(name) = self.document.tape().keys().get(u32::from(id)) else { return true };
        let node = name.node;
        if node.kind.is_string() && node.has(flag::PLACEHOLDER) {
            return false;
        }
        if node.kind == Kind::Symbol || keys == KeyStyle::Members {
            let number = self.write_member_name(&node, name.bytes, buf);
            // A string can be the name of a member, and it is a symbol only in this place. So its number is not kept.
            if node.kind == Kind::Symbol {
                *slot_mut(&mut self.names.by_key, usize::from(id)) = number + 1;
                *slot_mut(&mut self.names.keys, usize::from(id)) = symbol_number_word(number);
            }
            *slot_mut(&mut self.names.members, usize::from(id)) = symbol_number_word(number);
            return true;
        }
        if !node.kind.is_string() {
            buf.push(b'i');
            if is_fixnum(node.payload as i64) {
                push_integer(node.payload as i64, buf);
                let known = Word::from_byte(b'i').followed_by(Word::from_integer(node.payload as i64));
                *slot_mut(&mut self.names.keys, usize::from(id)) = known;
            } else {
                buf.pop();
                self.pending_targets.clear();
                let _ = self.write_leaf(u32::MAX, &node, false, buf);
            }
            return true;
        }
        if keys == KeyStyle::Identity {
            self.write_fresh_key(&node, name.bytes, buf);
            return true;
        }
        let linked = *slot_mut(&mut self.names.key_numbers, usize::from(id));
        if linked != 0 && self.spelling.is_none() {
            buf.push(b'@');
            push_integer(i64::from(linked) - 1, buf);
            return true;
        }
        let number = self.write_string_key(&node, name.bytes, value, buf);
        *slot_mut(&mut self.names.key_numbers, usize::from(id)) = number + 1;
        *slot_mut(&mut self.names.keys, usize::from(id)) =
            Word::from_byte(b'@').followed_by(Word::from_integer(i64::from(number)));
        true
    }

    /// Writes a key that has a node. Returns `false` if it is written like other values.
    pub(super) fn write_key_node(&mut self, index: u32, node: &Node, keys: KeyStyle, buf: &mut Vec<u8>) -> bool {
        if !is_plain_key(node.kind) || node.has(flag::TARGET) && keys != KeyStyle::Members {
            return false;
        }
        let bytes = if node.kind.has_bytes() { self.document.bytes(node) } else { b"" };
        match keys {
            KeyStyle::Members => {
                self.write_member_name(node, bytes, buf);
                true
            }
            KeyStyle::Values if matches!(node.kind, Kind::Bytes | Kind::Text | Kind::Encoded) => {
                self.write_string_key(node, bytes, index + 1, buf);
                true
            }
            _ => false,
        }
    }

    /// Writes the name of a member: a string becomes the name of a variable.
    fn write_member_name(&mut self, node: &Node, bytes: &'d [u8], buf: &mut Vec<u8>) -> u32 {
        if node.kind == Kind::Symbol {
            return self.write_symbol(bytes, self.encoding_name(node), buf);
        }
        let mut name = vec![b'@'];
        match node.kind {
            Kind::Int => name.extend_from_slice((node.payload as i64).to_string().as_bytes()),
            _ => name.extend_from_slice(bytes),
        }
        let encoding = if std::str::from_utf8(&name).is_ok() { b"" } else { BINARY };
        self.write_symbol(name, encoding, buf)
    }

    /// Writes a string as a key. In Ruby, equal keys are the same object. Returns its number.
    fn write_string_key(&mut self, node: &Node, bytes: &'d [u8], value: u32, buf: &mut Vec<u8>) -> u32 {
        let identity = (node.kind, node.encoding(), bytes);
        let mut known = self.names.strings.get(&identity).copied();
        if self.spelling.is_some() {
            let named = NumberedValue::String(node.kind, node.encoding(), bytes);
            if let Some(number) = self.find_noted_link(value, code::KEY_LINK, named) {
                buf.push(b'@');
                push_integer(number, buf);
                return number as u32;
            }
            if self.find_note(value, code::KEY_FRESH).is_some() {
                known = None;
            }
        }
        if let Some(number) = known {
            buf.push(b'@');
            push_integer(i64::from(number), buf);
            return number;
        }
        if node.flags & flag::LOCKED != 0 {
            self.record_loss(LossKind::Restricted, value);
        }
        self.names.strings.entry(identity).or_insert(self.next_number);
        self.write_fresh_key(node, bytes, buf)
    }

    /// Writes a string as a key in full.
    fn write_fresh_key(&mut self, node: &Node, bytes: &'d [u8], buf: &mut Vec<u8>) -> u32 {
        let number = self.next_number;
        self.next_number += 1;
        if self.spelling.is_some() {
            self.numbered_values.insert(number, NumberedValue::String(node.kind, node.encoding(), bytes));
        }
        let explicit = match node.kind {
            Kind::Text => Some(WriteEncoding::Utf8),
            Kind::Encoded => match self.encoding_name(node) {
                b"UTF-8" => Some(WriteEncoding::Utf8),
                b"US-ASCII" => Some(WriteEncoding::Ascii),
                b"" | BINARY | b"BINARY" => None,
                name => Some(WriteEncoding::Named(name)),
            },
            _ => None,
        };
        if explicit.is_some() {
            buf.push(b'I');
        }
        buf.push(b'"');
        self.write_bytes(bytes, buf);
        if let Some(encoding) = explicit {
            push_integer(1, buf);
            self.write_encoding_as(encoding, buf);
        }
        number
    }
}
