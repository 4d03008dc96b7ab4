//! Writes documents that a Ruby program filled. The nodes are in the order of the output, so one pass is enough.
//!
//! A symbol that occurred before is written as its number. The numbers of keys and classes are stored by their ids,
//! so a small document needs no lookup by name. Tables by name are built only when a value needs them. If a value is
//! special, the writer in [`super::write`] writes the whole document.

use super::number::{is_fixnum, is_immediate, push_float, push_integer};
use super::write_fast::{BUFFER_SIZE, TokenBuffer, Word, is_small_integer, write_integers};
use crate::document::{Document, Form, IS_KEY, KEY_NODE, Kind, NO_KEY, NameEntry, Node, flag};
use crate::hash::SeededMap;
use crate::limits::Limits;
use crate::output::{RepeatedName, Spare};

/// Maximum number of symbols that are searched one by one. For more, a table is built.
const MAX_LINEAR_SYMBOLS: usize = 32;
/// Kind, encoding and bytes of a string.
type StringIdentity<'d> = (Kind, u16, &'d [u8]);

/// Symbols and objects with this number or a higher one are special: a [`Word`] has no space for them.
const MAX_NUMBER: u32 = 1 << 24;
/// Marshal's byte for the integer 1: a string has one instance variable, its encoding.
const ONE: Word = Word::from_byte(6);

/// Maximum number of bytes of one node in the buffer.
const MAX_NODE_LEN: usize = 96;

/// The first use of a symbol.
#[derive(Clone, Copy)]
enum SymbolUse {
    Key(u16),
    Class(u32),
    /// The symbol `E`, the name of the instance variable for an encoding.
    Encoding,
    /// A value.
    Node(u32),
}

impl SymbolUse {
    fn to_bits(self) -> u64 {
        match self {
            SymbolUse::Key(id) => u64::from(id),
            SymbolUse::Class(id) => 1 << 32 | u64::from(id),
            SymbolUse::Encoding => 2 << 32,
            SymbolUse::Node(index) => 3 << 32 | u64::from(index),
        }
    }

    fn from_bits(packed: u64) -> SymbolUse {
        match packed >> 32 {
            0 => SymbolUse::Key(packed as u16),
            1 => SymbolUse::Class(packed as u32),
            2 => SymbolUse::Encoding,
            _ => SymbolUse::Node(packed as u32),
        }
    }
}

/// Packs the frame of a container that is being written: its end, and the number of its children that still follow.
fn pack_frame(end: u32, remaining: u32) -> u64 {
    u64::from(end) << 32 | u64::from(remaining)
}

struct FilledWriter<'d, 's> {
    document: &'d Document<'d>,
    nodes: &'d [Node],
    /// See [`Spare::call`].
    call: u32,
    /// The words of keys and classes that occurred, by id.
    keys: &'s mut Vec<RepeatedName>,
    classes: &'s mut Vec<RepeatedName>,
    /// The first use of each symbol by number, packed.
    symbols: &'s mut Vec<u64>,
    /// The containers around the innermost one, packed.
    stack: &'s mut Vec<u64>,
    /// All symbols by name. The table is built when a value first needs it.
    by_name: Option<SeededMap<&'d [u8], u32>>,
    /// The number of the symbol `E`. This is the name of the instance variable for an encoding.
    encoding_symbol: Option<u32>,
    /// Bytes that follow a string in UTF-8.
    utf8_tail: Word,
    /// Keys that are strings, with their object numbers.
    string_keys: Vec<(u16, u32)>,
    /// Strings that are the same object wherever they occur. The table is built when a value first needs it.
    interned: Option<SeededMap<StringIdentity<'d>, u32>>,
    /// The numbers of floats. The table is built at the first float.
    floats: Option<SeededMap<u64, u32>>,
    /// Nodes that links refer to, and their numbers.
    targets: Vec<(u32, u32)>,
    /// The number of the next object.
    next_number: u32,
}

/// Appends the document; `None` if anything in it is special.
pub(super) fn write_filled(
    document: &Document<'_>,
    limits: &Limits,
    spare: &mut Spare,
    buf: &mut Vec<u8>,
) -> Option<()> {
    let nodes = document.nodes();
    if (limits.depth as usize) < nodes.len() || document.header().is_some() || document.tape().keys().has_absent() {
        return None;
    }
    spare.call = spare.call.wrapping_add(1);
    if spare.call == 0 {
        (spare.repeated_keys, spare.repeated_classes, spare.call) = (Vec::new(), Vec::new(), 1);
    }
    let size_limit = limits.output_from(document.input_size());
    let start = buf.len();
    buf.extend_from_slice(&[super::MAJOR, super::MINOR]);
    let mut filled = FilledWriter {
        document,
        nodes,
        call: spare.call,
        keys: &mut spare.repeated_keys,
        classes: &mut spare.repeated_classes,
        symbols: &mut spare.symbols,
        stack: &mut spare.containers,
        by_name: None,
        encoding_symbol: None,
        utf8_tail: Word::NONE,
        string_keys: Vec::new(),
        interned: None,
        floats: None,
        targets: Vec::new(),
        next_number: 0,
    };
    filled.symbols.clear();
    filled.stack.clear();
    filled.write_document(buf)?;
    ((buf.len() - start) as u64 <= size_limit).then_some(())
}

impl<'d> FilledWriter<'d, '_> {
    fn write_document(&mut self, buf: &mut Vec<u8>) -> Option<()> {
        let nodes = self.nodes;
        let mut tokens = TokenBuffer::new();
        let mut index = self.document.root().index();
        let (mut end, mut remaining) = (nodes.len() as u32, 1u32);
        loop {
            while remaining == 0 {
                if index != end {
                    return None;
                }
                let Some(outer) = self.stack.pop() else {
                    tokens.flush_into(buf);
                    return Some(());
                };
                (end, remaining) = ((outer >> 32) as u32, outer as u32);
            }
            if tokens.used() > BUFFER_SIZE - MAX_NODE_LEN {
                tokens.flush_into(buf);
            }
            let node = nodes.get(index as usize)?;
            remaining -= 1;
            match node.key {
                NO_KEY if is_small_integer(node) && remaining > 0 => {
                    tokens.flush_into(buf);
                    let written = write_integers(nodes.get(index as usize..end as usize)?, buf);
                    index += written;
                    remaining = (remaining + 1).checked_sub(written)?;
                    continue;
                }
                NO_KEY | KEY_NODE => {}
                // A key node is followed by its value, and only the value counts as a child.
                IS_KEY => {
                    remaining += 1;
                    self.write_key_node(index, node, &mut tokens, buf)?;
                    index += 1;
                    continue;
                }
                id => match self.keys.get(usize::from(id)) {
                    Some(known) if known.call == self.call => tokens.push_word(Word::from_bits(known.bytes)),
                    _ => self.write_new_key(id, &mut tokens, buf)?,
                },
            }
            if !node.kind.is_container() {
                self.write_leaf(index, node, &mut tokens, buf)?;
                index += 1;
                continue;
            }
            let (first, count) = self.open_container(index, node, &mut tokens, buf)?;
            self.stack.push(pack_frame(end, remaining));
            (end, remaining) = if node.end() > end { return None } else { (node.end(), count) };
            index = first;
        }
    }

    // -- Small helpers -----------------------------------------------------------

    #[inline(always)]
    fn assign_number(&mut self, index: u32, node: &Node) {
        if node.has(flag::TARGET) {
            self.targets.push((index, self.next_number));
        }
        self.next_number += 1;
    }

    fn write_bytes(&self, bytes: &[u8], tokens: &mut TokenBuffer, buf: &mut Vec<u8>) {
        tokens.push_word(Word::from_length(bytes.len()));
        tokens.push_string(bytes, buf);
    }

    // -- Symbols ------------------------------------------------------------------

    fn symbol_bytes(&self, name: SymbolUse) -> &'d [u8] {
        let tape = self.document.tape();
        let name = match name {
            SymbolUse::Key(id) => tape.keys().get(u32::from(id)).map(|name| name.bytes),
            SymbolUse::Class(id) => tape.classes().get(id).map(|name| name.bytes),
            SymbolUse::Encoding => Some(&b"E"[..]),
            SymbolUse::Node(index) => self.nodes.get(index as usize).map(|node| self.document.bytes(node)),
        };
        name.unwrap_or_default()
    }

    /// Returns the number of a symbol that may have been used before in another place, and
    /// whether it was.
    fn find_or_add_symbol(&mut self, name: SymbolUse, bytes: &'d [u8]) -> (u32, bool) {
        let next = self.symbols.len() as u32;
        let is_class_like = next > 0 && bytes.first().is_some_and(u8::is_ascii_uppercase);
        if self.by_name.is_none()
            && (matches!(name, SymbolUse::Node(_)) || is_class_like && self.symbols.len() > MAX_LINEAR_SYMBOLS)
        {
            let all = (0..)
                .zip(&*self.symbols)
                .map(|(number, name)| (self.symbol_bytes(SymbolUse::from_bits(*name)), number))
                .collect();
            self.by_name = Some(all);
        }
        let known_number = match &self.by_name {
            Some(names) => names.get(bytes).copied(),
            // A name may occur as a member, a key or a class. Only some of these uses can have the same name, so only
            // those are compared.
            None if bytes == b"E" => self.encoding_symbol,
            None if is_class_like => {
                let position =
                    self.symbols.iter().position(|name| self.symbol_bytes(SymbolUse::from_bits(*name)) == bytes);
                position.map(|number| number as u32)
            }
            None => None,
        };
        if let Some(number) = known_number {
            return (number, true);
        }
        self.symbols.push(name.to_bits());
        if let Some(names) = &mut self.by_name {
            names.insert(bytes, next);
        }
        if bytes == b"E" {
            self.encoding_symbol = Some(next);
        }
        (next, false)
    }

    /// Writes a symbol. Returns the word that is written when it occurs again.
    fn write_symbol(
        &mut self,
        name: SymbolUse,
        bytes: &'d [u8],
        tokens: &mut TokenBuffer,
        buf: &mut Vec<u8>,
    ) -> Option<Word> {
        // A symbol that is not ASCII needs its encoding, so it is special.
        if !bytes.is_ascii() {
            return None;
        }
        let (number, is_known) = self.find_or_add_symbol(name, bytes);
        if number >= MAX_NUMBER {
            return None;
        }
        let word = Word::from_byte(b';').followed_by(Word::from_length(number as usize));
        if is_known {
            tokens.push_word(word);
        } else {
            tokens.push_word(Word::from_byte(b':'));
            self.write_bytes(bytes, tokens, buf);
        }
        Some(word)
    }

    /// Writes a short symbol that does not begin with a capital, so that it is neither the
    /// name of a class nor `E`, if all previous symbols are known to differ.
    #[inline(always)]
    fn write_short_symbol(&mut self, id: u16, entry: &NameEntry, tokens: &mut TokenBuffer) -> Option<Word> {
        const NOT_ASCII: u128 = u128::MAX / 0xFF * 0x80;
        let number = self.symbols.len();
        let len = entry.node.aux as usize;
        let is_short = (1..=16).contains(&len) && entry.head & NOT_ASCII == 0;
        if !is_short
            || (entry.head as u8).is_ascii_uppercase()
            || self.by_name.is_some()
            || number >= MAX_LINEAR_SYMBOLS
        {
            return None;
        }
        self.symbols.push(SymbolUse::Key(id).to_bits());
        tokens.push_word(Word::from_byte(b':').followed_by(Word::from_length(len)));
        tokens.push_head(entry.head, len);
        Some(Word::from_byte(b';').followed_by(Word::from_length(number)))
    }

    /// Writes the symbol `E`.
    #[inline]
    fn write_encoding(&mut self, tokens: &mut TokenBuffer, buf: &mut Vec<u8>) -> Option<Word> {
        let number = self.symbols.len();
        if self.encoding_symbol.is_some() || self.by_name.is_some() || number >= MAX_LINEAR_SYMBOLS {
            return self.write_symbol(SymbolUse::Encoding, b"E", tokens, buf);
        }
        self.symbols.push(SymbolUse::Encoding.to_bits());
        self.encoding_symbol = Some(number as u32);
        tokens.push_word(Word::from_byte(b':').followed_by(Word::from_length(1)).followed_by(Word::from_byte(b'E')));
        Some(Word::from_byte(b';').followed_by(Word::from_length(number)))
    }

    fn write_new_key(&mut self, id: u16, tokens: &mut TokenBuffer, buf: &mut Vec<u8>) -> Option<()> {
        let (entries, _) = self.document.tape().keys().raw();
        let entry = entries.get(usize::from(id).wrapping_sub(1))?;
        if (entry.node.kind, entry.node.flags, entry.node.encoding()) == (Kind::Symbol, 0, 0)
            && let Some(word) = self.write_short_symbol(id, entry, tokens)
        {
            self.set_key_word(id, word);
            return Some(());
        }
        let name = self.document.tape().keys().get(u32::from(id))?;
        if name.node.flags != 0 || name.node.encoding() != 0 {
            return None;
        }
        let word = match name.node.kind {
            Kind::Symbol => self.write_symbol(SymbolUse::Key(id), name.bytes, tokens, buf)?,
            Kind::Text | Kind::Bytes => {
                let number = self.intern_key(id, name.node.kind, name.bytes);
                let word = Word::from_byte(b'@').followed_by(Word::from_length(number as usize));
                if number >= MAX_NUMBER {
                    return None;
                }
                if number == self.next_number {
                    self.next_number += 1;
                    self.write_string(name.node.kind, name.bytes, tokens, buf)?;
                } else {
                    tokens.push_word(word);
                }
                word
            }
            _ => return None,
        };
        self.set_key_word(id, word);
        Some(())
    }

    /// Sets the word for the key.
    #[inline]
    fn set_key_word(&mut self, id: u16, word: Word) {
        if self.keys.len() <= usize::from(id) {
            self.keys.resize(usize::from(id) + 1, RepeatedName::default());
        }
        self.keys[usize::from(id)] = RepeatedName { call: self.call, bytes: word.bits() };
    }

    fn write_class(&mut self, id: u32, tokens: &mut TokenBuffer, buf: &mut Vec<u8>) -> Option<()> {
        if let Some(known) = self.classes.get(id as usize)
            && known.call == self.call
        {
            tokens.push_word(Word::from_bits(known.bytes));
            return Some(());
        }
        let name = self.document.tape().classes().get(id)?;
        // A name in another encoding is written with that, and so is special, as are symbols in other encodings.
        if name.node.kind == Kind::Encoded {
            return None;
        }
        let word = self.write_symbol(SymbolUse::Class(id), name.bytes, tokens, buf)?;
        if self.classes.len() <= id as usize {
            self.classes.resize(id as usize + 1, RepeatedName::default());
        }
        self.classes[id as usize] = RepeatedName { call: self.call, bytes: word.bits() };
        Some(())
    }

    // -- Strings -------------------------------------------------------------------

    /// Returns the number of a key that is a string; the next number if it is new.
    fn intern_key(&mut self, id: u16, kind: Kind, bytes: &'d [u8]) -> u32 {
        let next = self.next_number;
        match &mut self.interned {
            Some(strings) => *strings.entry((kind, 0, bytes)).or_insert(next),
            None => {
                self.string_keys.push((id, next));
                next
            }
        }
    }

    /// Like [`Self::intern_key`], for a value or a key with a node.
    fn intern_string(&mut self, node: &Node, bytes: &'d [u8]) -> u32 {
        let (keys, next) = (self.document.tape().keys(), self.next_number);
        let string_keys = &self.string_keys;
        let strings = self.interned.get_or_insert_with(|| {
            let name = |(id, number): &(u16, u32)| {
                let name = keys.get(u32::from(*id))?;
                Some(((name.node.kind, 0, name.bytes), *number))
            };
            string_keys.iter().filter_map(name).collect()
        });
        *strings.entry((node.kind, node.encoding(), bytes)).or_insert(next)
    }

    /// Writes a string in full, without a check if it is known.
    fn write_string(&mut self, kind: Kind, bytes: &[u8], tokens: &mut TokenBuffer, buf: &mut Vec<u8>) -> Option<()> {
        if kind == Kind::Bytes {
            tokens.push_word(Word::from_byte(b'"'));
            self.write_bytes(bytes, tokens, buf);
            return Some(());
        }
        tokens.push_word(Word::from_byte(b'I').followed_by(Word::from_byte(b'"')));
        self.write_bytes(bytes, tokens, buf);
        if self.utf8_tail.is_none() {
            tokens.push_word(ONE);
            let word = self.write_encoding(tokens, buf)?;
            self.utf8_tail = ONE.followed_by(word).followed_by(Word::from_byte(b'T'));
            tokens.push_word(Word::from_byte(b'T'));
        } else {
            tokens.push_word(self.utf8_tail);
        }
        Some(())
    }

    /// Writes a string in US-ASCII. Strings in other encodings contain the name of the
    /// encoding, and are special.
    fn write_encoded_string(
        &mut self,
        node: &Node,
        bytes: &[u8],
        tokens: &mut TokenBuffer,
        buf: &mut Vec<u8>,
    ) -> Option<()> {
        let encoding = self.document.tape().encodings().get(u32::from(node.encoding()))?;
        if encoding.bytes != b"US-ASCII" {
            return None;
        }
        tokens.push_word(Word::from_byte(b'I').followed_by(Word::from_byte(b'"')));
        self.write_bytes(bytes, tokens, buf);
        tokens.push_word(ONE);
        self.write_encoding(tokens, buf)?;
        tokens.push_word(Word::from_byte(b'F'));
        Some(())
    }

    fn write_any_string(&mut self, index: u32, node: &Node, tokens: &mut TokenBuffer, buf: &mut Vec<u8>) -> Option<()> {
        let bytes = self.document.bytes(node);
        if node.has(flag::HINT) {
            let number = self.intern_string(node, bytes);
            if number != self.next_number {
                tokens.push_word(Word::from_byte(b'@').followed_by(Word::from_length(number as usize)));
                return (number < MAX_NUMBER).then_some(());
            }
        }
        self.assign_number(index, node);
        match node.kind {
            Kind::Encoded => self.write_encoded_string(node, bytes, tokens, buf),
            kind => self.write_string(kind, bytes, tokens, buf),
        }
    }

    fn write_key_node(&mut self, index: u32, node: &Node, tokens: &mut TokenBuffer, buf: &mut Vec<u8>) -> Option<()> {
        if self.nodes.get(index as usize + 1)?.key != KEY_NODE || node.kind.is_container() {
            return None;
        }
        let is_string = matches!(node.kind, Kind::Text | Kind::Bytes | Kind::Encoded);
        if is_string && !node.has(flag::TARGET) {
            return self.write_any_string(index, &node.with(flag::HINT), tokens, buf);
        }
        self.write_leaf(index, node, tokens, buf)
    }

    // -- Values ---------------------------------------------------------------------

    #[inline(always)]
    fn write_leaf(&mut self, index: u32, node: &Node, tokens: &mut TokenBuffer, buf: &mut Vec<u8>) -> Option<()> {
        match node.kind {
            Kind::Int if is_fixnum(node.payload as i64) => {
                tokens.push_word(Word::from_byte(b'i').followed_by(Word::from_integer(node.payload as i64)));
            }
            Kind::Text | Kind::Bytes if node.flags == 0 && !(node.kind == Kind::Text && self.utf8_tail.is_none()) => {
                let bytes = self.document.bytes(node);
                self.next_number += 1;
                let is_text = node.kind == Kind::Text;
                let tag = if is_text {
                    Word::from_byte(b'I').followed_by(Word::from_byte(b'"'))
                } else {
                    Word::from_byte(b'"')
                };
                tokens.push_word(tag.followed_by(Word::from_length(bytes.len())));
                tokens.push_string(bytes, buf);
                if is_text {
                    tokens.push_word(self.utf8_tail);
                }
            }
            Kind::Text | Kind::Bytes | Kind::Encoded => self.write_any_string(index, node, tokens, buf)?,
            Kind::Symbol => {
                if node.encoding() != 0 {
                    return None;
                }
                self.write_symbol(SymbolUse::Node(index), self.document.bytes(node), tokens, buf)?;
            }
            Kind::Null => tokens.push_word(Word::from_byte(b'0')),
            Kind::Bool => tokens.push_word(Word::from_byte(if node.payload != 0 { b'T' } else { b'F' })),
            Kind::Float => self.write_float(index, node, tokens, buf),
            Kind::Int => {
                let value = node.payload as i64;
                self.write_bignum(index, node, value < 0, &value.unsigned_abs().to_le_bytes(), tokens, buf);
            }
            Kind::BigInt => {
                self.write_bignum(index, node, node.has(flag::NEGATIVE), self.document.bytes(node), tokens, buf)
            }
            Kind::Link => {
                let target = node.payload as u32;
                let position = self.targets.binary_search_by_key(&target, |(known, _)| *known).ok()?;
                let number = self.targets[position].1;
                tokens.flush_into(buf);
                buf.push(b'@');
                push_integer(i64::from(number), buf);
            }
            Kind::Module if matches!(node.form(), Form::Usual | Form::Module) => {
                self.assign_number(index, node);
                tokens.push_word(Word::from_byte(if node.form() == Form::Module { b'm' } else { b'c' }));
                self.write_bytes(self.document.bytes(node), tokens, buf);
            }
            _ => return None,
        }
        Some(())
    }

    fn write_float(&mut self, index: u32, node: &Node, tokens: &mut TokenBuffer, buf: &mut Vec<u8>) {
        tokens.flush_into(buf);
        if is_immediate(node.payload) {
            let next = self.next_number;
            let number = *self.floats.get_or_insert_default().entry(node.payload).or_insert(next);
            if number != next {
                buf.push(b'@');
                return push_integer(i64::from(number), buf);
            }
        }
        self.assign_number(index, node);
        buf.extend_from_slice(&[b'f', 0]);
        let start = buf.len();
        push_float(f64::from_bits(node.payload), buf);
        buf[start - 1] = (buf.len() - start) as u8 + 5;
    }

    fn write_bignum(
        &mut self,
        index: u32,
        node: &Node,
        negative: bool,
        magnitude: &[u8],
        tokens: &mut TokenBuffer,
        buf: &mut Vec<u8>,
    ) {
        tokens.flush_into(buf);
        self.assign_number(index, node);
        let len = magnitude.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        buf.extend_from_slice(&[b'l', if negative { b'-' } else { b'+' }]);
        push_integer(len.div_ceil(2) as i64, buf);
        buf.extend_from_slice(&magnitude[..len]);
        if len % 2 == 1 {
            buf.push(0);
        }
    }

    /// Writes the head of a container; returns where its children begin, and their number.
    #[inline(always)]
    fn open_container(
        &mut self,
        index: u32,
        node: &Node,
        tokens: &mut TokenBuffer,
        buf: &mut Vec<u8>,
    ) -> Option<(u32, u32)> {
        match node.kind {
            Kind::Array => {
                self.assign_number(index, node);
                tokens.push_word(Word::from_byte(b'[').followed_by(Word::from_length(node.aux as usize)));
                Some((index + 1, node.aux))
            }
            Kind::Map if node.flags & (flag::IDENTITY | flag::RESTRICTED) == 0 => {
                self.assign_number(index, node);
                let has_default = node.has(flag::DEFAULT);
                tokens.push_word(
                    Word::from_byte(if has_default { b'}' } else { b'{' })
                        .followed_by(Word::from_length(node.aux as usize)),
                );
                Some((index + 1, node.aux + u32::from(has_default)))
            }
            Kind::Object => {
                let body = self.nodes.get(index as usize + 1)?;
                if body.kind != Kind::Map || body.flags != 0 || body.end() != node.end() {
                    return None;
                }
                self.assign_number(index, node);
                tokens.push_word(Word::from_byte(match node.form() {
                    Form::Usual => b'o',
                    Form::Struct => b'S',
                    _ => return None,
                }));
                self.write_class(node.class(), tokens, buf)?;
                tokens.push_word(Word::from_length(body.aux as usize));
                Some((index + 2, body.aux))
            }
            Kind::Opaque if matches!(node.form(), Form::UserMarshal | Form::Data) => {
                self.assign_number(index, node);
                tokens.push_word(Word::from_byte(if node.form() == Form::Data { b'd' } else { b'U' }));
                self.write_class(node.class(), tokens, buf)?;
                Some((index + 1, 1))
            }
            _ => None,
        }
    }
}
