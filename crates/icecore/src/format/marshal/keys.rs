//! The keys of hashes.
//!
//! A Ruby hash copies a string key, and all equal keys share one copy. So equal keys are
//! the same object, linked or not, and links outside of keys can't refer to them: the
//! numbers that they took are spelling. A hash that compares by identity keeps the keys
//! themselves.

use super::read::{Reader, SIDE};
use super::spelling::value as code;
use crate::document::{IS_KEY, KEY_NODE, Kind, Node, Recorder, Sink, flag};
use crate::error::Error;

impl<'a, S: Sink> Reader<'a, '_, S> {
    /// Reads a key. Returns its id, or that it has a node, which may still be open.
    #[inline]
    pub(super) fn key(&mut self, map: u32) -> Result<u16, Error> {
        let (start, node) = (self.scan.at, self.sink.next_node());
        let tag = self.scan.u8("a key")?;
        let number = match tag {
            b';' => self.symbol_link(start, node)?,
            b':' => self.new_symbol(start, false, node)?,
            b'I' if self.scan.peek() == Some(b':') => {
                self.scan.at += 1;
                self.new_symbol(start, true, node)?
            }
            _ => return self.other_key(tag, start, map),
        };
        let symbol = self.symbols[number];
        if symbol.key != 0 {
            return Ok(symbol.key);
        }
        if self.is_keyed()
            && let Some(key) = self.symbol_key(number)
        {
            return Ok(key);
        }
        Ok(self.key_node(symbol.node, start))
    }

    fn other_key(&mut self, tag: u8, start: usize, map: u32) -> Result<u16, Error> {
        let by_identity = self.sink.nodes().get(map as usize).is_some_and(|map| map.has(flag::IDENTITY));
        match tag {
            b'i' => {
                let node = Node::int(self.long()?);
                let at = self.sink.next_node();
                self.piece(start, at, "key");
                if self.is_keyed()
                    && let Some(key) = self.sink.tape().intern_key(node, &[])
                {
                    return Ok(key);
                }
                return Ok(self.key_node(node, start));
            }
            b'"' if !by_identity => {
                let (place, len) = self.bytes("a key")?;
                let string = self.sink.tape().borrowed(Kind::Bytes, place, len);
                let number = self.numbers.len() as i64;
                self.number_string(string);
                return Ok(self.string_key(string, number, false, start));
            }
            b'I' if !by_identity && self.scan.peek() == Some(b'"') => {
                self.scan.at += 1;
                let (place, len) = self.bytes("a key")?;
                if self.scan.peek() == Some(6) {
                    self.scan.at += 1;
                    if self.encoding_is_next() {
                        let mut string = self.sink.tape().borrowed(Kind::Bytes, place, len);
                        let (node, number) = (self.sink.next_node(), self.numbers.len());
                        self.piece(start, node, "key");
                        let side = self.sides.len();
                        self.number_string(string);
                        let variable = self.symbol(node)?;
                        if let Some(encoding) = self.encoding(variable, node)? {
                            string = self.encoded(string, encoding)?;
                        }
                        self.sides[side].node = string;
                        let start = self.scan.at;
                        return Ok(self.string_key(string, number as i64, false, start));
                    }
                }
            }
            b'@' if !by_identity => {
                let number = self.long()?;
                if let Some(string) = self.string_numbered(number) {
                    return Ok(self.string_key(string, number, true, start));
                }
            }
            _ => {}
        }
        self.scan.at = start;
        self.value(IS_KEY)?;
        Ok(KEY_NODE)
    }

    /// Reads a string as a key. Returns its id, if it can have one.
    fn string_key(&mut self, string: Node, number: i64, linked: bool, start: usize) -> u16 {
        let at = self.sink.next_node();
        self.piece(start, at, "key");
        let entry = self.entry(number).unwrap_or(0);
        let side = if entry & SIDE != 0 { self.sides.get((entry & !SIDE) as usize).copied() } else { None };
        let mut key = side.map_or(0, |side| side.key);
        if key == 0 && self.is_keyed() {
            let bytes = self.input_bytes(&string);
            key = self.sink.tape().intern_key(string, bytes).unwrap_or(0);
            if entry & SIDE != 0
                && let Some(side) = self.sides.get_mut((entry & !SIDE) as usize)
            {
                side.key = key;
            }
        }
        let key = if key == 0 { self.key_node(string, start) } else { key };
        if S::DETAIL {
            self.note_key(string, number, linked);
        }
        key
    }

    /// Records how a key was written, if that differs from the rule.
    fn note_key(&mut self, string: Node, number: i64, linked: bool) {
        let value = self.sink.next_node();
        let crate::document::Location::Input(place) = string.place() else { return };
        let bytes: &'a [u8] = self.scan.input.get(place as usize..).unwrap_or(&[]);
        let bytes = &bytes[..bytes.len().min(string.aux as usize)];
        let name = (string.kind, string.encoding(), bytes);
        match (self.keys.get(&name).copied(), linked) {
            (Some(first), true) if first == number => {}
            (_, true) => self.sink.note(value, code::KEY_LINK, number as u64),
            (Some(_), false) => self.sink.note(value, code::KEY_FRESH, 1),
            (None, false) => drop(self.keys.insert(name, number)),
        }
    }
}
