//! The keys of hashes.
//!
//! A Ruby hash copies a string key, and all equal keys share one copy. So equal keys are
//! the same object, linked or not, and links outside of keys can't refer to them: the
//! numbers that they took are spelling. A hash that compares by identity keeps the keys
//! themselves.

use super::read::{OFF_TAPE_BIT, Reader};
use super::spelling::value as code;
use crate::document::{IS_KEY, KEY_NODE, Kind, Node, Recorder, Sink, flag};
use crate::error::Error;

impl<'a, S: Sink> Reader<'a, '_, S> {
    /// Reads a key. Returns its id, or that it has a node, which may still be open.
    #[inline]
    pub(super) fn read_key(&mut self, map: u32) -> Result<u16, Error> {
        let (start, node) = (self.scan.offset, self.sink.next_node());
        let tag = self.scan.read_u8("a key")?;
        let number = match tag {
            b';' => self.read_symbol_link(start, node)?,
            b':' => self.read_new_symbol(start, false, node)?,
            b'I' if self.scan.peek() == Some(b':') => {
                self.scan.offset += 1;
                self.read_new_symbol(start, true, node)?
            }
            _ => return self.read_other_key(tag, start, map),
        };
        let symbol = self.symbols[number];
        if symbol.key != 0 {
            return Ok(symbol.key);
        }
        if self.has_key_ids()
            && let Some(key) = self.intern_symbol_key(number)
        {
            return Ok(key);
        }
        Ok(self.push_key_node(symbol.node, start))
    }

    fn read_other_key(&mut self, tag: u8, start: usize, map: u32) -> Result<u16, Error> {
        let by_identity = self.sink.nodes().get(map as usize).is_some_and(|map| map.has(flag::IDENTITY));
        match tag {
            b'i' => {
                let node = Node::int(self.read_integer()?);
                let index = self.sink.next_node();
                self.record_piece(start, index, "key");
                if self.has_key_ids()
                    && let Some(key) = self.sink.tape().intern_key(node, &[])
                {
                    return Ok(key);
                }
                return Ok(self.push_key_node(node, start));
            }
            b'"' if !by_identity => {
                let (place, len) = self.read_bytes("a key")?;
                let string = self.sink.tape().new_borrowed_string(Kind::Bytes, place, len);
                let number = self.numbers.len() as i64;
                self.number_string(string);
                return Ok(self.read_string_key(string, number, false, start));
            }
            b'I' if !by_identity && self.scan.peek() == Some(b'"') => {
                self.scan.offset += 1;
                let (place, len) = self.read_bytes("a key")?;
                if self.scan.peek() == Some(6) {
                    self.scan.offset += 1;
                    if self.is_encoding_next() {
                        let mut string = self.sink.tape().new_borrowed_string(Kind::Bytes, place, len);
                        let (node, number) = (self.sink.next_node(), self.numbers.len());
                        self.record_piece(start, node, "key");
                        let index = self.off_tape_objects.len();
                        self.number_string(string);
                        let variable = self.read_symbol(node)?;
                        if let Some(encoding) = self.read_encoding(variable, node)? {
                            string = self.with_encoding(string, encoding)?;
                        }
                        self.off_tape_objects[index].node = string;
                        let start = self.scan.offset;
                        return Ok(self.read_string_key(string, number as i64, false, start));
                    }
                }
            }
            b'@' if !by_identity => {
                let number = self.read_integer()?;
                if let Some(string) = self.find_numbered_string(number) {
                    return Ok(self.read_string_key(string, number, true, start));
                }
            }
            _ => {}
        }
        self.scan.offset = start;
        self.read_value(IS_KEY)?;
        Ok(KEY_NODE)
    }

    /// Reads a string as a key. Returns its id, if it can have one.
    fn read_string_key(&mut self, string: Node, number: i64, is_linked: bool, start: usize) -> u16 {
        let node = self.sink.next_node();
        self.record_piece(start, node, "key");
        let entry = self.numbered_entry(number).unwrap_or(0);
        let off_tape_object = if entry & OFF_TAPE_BIT != 0 {
            self.off_tape_objects.get((entry & !OFF_TAPE_BIT) as usize).copied()
        } else {
            None
        };
        let mut key = off_tape_object.map_or(0, |object| object.key);
        if key == 0 && self.has_key_ids() {
            let bytes = self.input_bytes(&string);
            key = self.sink.tape().intern_key(string, bytes).unwrap_or(0);
            if entry & OFF_TAPE_BIT != 0
                && let Some(object) = self.off_tape_objects.get_mut((entry & !OFF_TAPE_BIT) as usize)
            {
                object.key = key;
            }
        }
        let key = if key == 0 { self.push_key_node(string, start) } else { key };
        if S::DETAIL {
            self.note_key(string, number, is_linked);
        }
        key
    }

    /// Records how a key was written, if that differs from the rule.
    fn note_key(&mut self, string: Node, number: i64, is_linked: bool) {
        let value = self.sink.next_node();
        let crate::document::Location::Input(place) = string.location() else { return };
        let bytes: &'a [u8] = self.scan.input.get(place as usize..).unwrap_or(&[]);
        let bytes = &bytes[..bytes.len().min(string.aux as usize)];
        let name = (string.kind, string.encoding(), bytes);
        match (self.key_numbers.get(&name).copied(), is_linked) {
            (Some(first), true) if first == number => {}
            (_, true) => self.sink.record_note(value, code::KEY_LINK, number as u64),
            (Some(_), false) => self.sink.record_note(value, code::KEY_FRESH, 1),
            (None, false) => drop(self.key_numbers.insert(name, number)),
        }
    }
}
