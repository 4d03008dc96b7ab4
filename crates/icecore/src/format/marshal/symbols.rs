//! Symbols. A symbol is written in full once, and then as a number.

use super::read::Reader;
use crate::document::{Kind, Location, Node, Sink};
use crate::error::{Error, ErrorKind};

/// A symbol with a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbol {
    pub(super) node: Node,
    /// Its id as a key; 0 while it has none.
    pub(super) key: u16,
    /// Its id as a class; 0 while it has none.
    pub(super) class: u32,
}

impl Symbol {
    /// Makes a symbol from these bytes of the input, without ids.
    #[inline(always)]
    pub(super) fn new(start: usize, len: u32) -> Symbol {
        Symbol { node: Node::string(Kind::Symbol, Location::Input(start as u64), len), key: 0, class: 0 }
    }
}

/// Returns the bytes that follow a string in UTF-8, if the symbol `E` has this number. The number must fit into a
/// byte.
#[inline]
pub(super) fn utf8_tail(number: usize) -> u64 {
    let number = if number == 0 { 0 } else { number as u8 + 5 };
    u64::from(u32::from_le_bytes([6, b';', number, b'T']))
}

/// An encoding given by instance variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadEncoding {
    Utf8,
    Ascii,
    /// The id of its name; 0 is binary.
    Named(u16),
}

impl<'a, S: Sink> Reader<'a, '_, S> {
    /// Returns the bytes of a string that is completely in the input.
    #[inline]
    pub(super) fn input_bytes(&self, node: &Node) -> &'a [u8] {
        let Location::Input(start) = node.location() else { return &[] };
        let start = start as usize;
        self.scan.input.get(start..start.saturating_add(node.aux as usize)).unwrap_or(&[])
    }

    /// Reads a symbol where only a symbol is allowed; returns its number.
    pub(super) fn read_symbol(&mut self, node: u32) -> Result<usize, Error> {
        let start = self.scan.offset;
        match self.scan.read_u8("a symbol")? {
            b';' => self.read_symbol_link(start, node),
            b':' => self.read_new_symbol(start, false, node),
            b'I' if self.scan.peek() == Some(b':') => {
                self.scan.offset += 1;
                self.read_new_symbol(start, true, node)
            }
            other => Err(self.malformed_error(start, "a symbol (: or ;)", other)),
        }
    }

    /// Reads the number after `;`.
    pub(super) fn read_symbol_link(&mut self, start: usize, node: u32) -> Result<usize, Error> {
        let number = self.read_integer()?;
        self.record_piece(start, node, "symbol number");
        usize::try_from(number).ok().filter(|number| *number < self.symbols.len()).ok_or_else(|| {
            Error::new(ErrorKind::BadLink)
                .at(start)
                .expecting(match self.symbols.len() {
                    0 => "a symbol: none has a number yet".to_owned(),
                    n => format!("the number of a symbol before this one, 0 to {}", n - 1),
                })
                .finding(number.to_string())
        })
    }

    /// Reads the bytes after `:`, and the encoding if there is one.
    pub(super) fn read_new_symbol(&mut self, start: usize, has_variables: bool, node: u32) -> Result<usize, Error> {
        let (place, len) = self.read_bytes("a symbol")?;
        self.record_piece(start, node, "symbol");
        let number = self.symbols.len();
        let bytes = &self.scan.input[place..place + len];
        let mut name = self.sink.tape().new_borrowed_string(Kind::Symbol, place, len);
        let is_ascii = bytes.is_ascii();
        if !is_ascii {
            let binary = self.intern_encoding(b"ASCII-8BIT")?;
            name.set_encoding(binary);
        }
        self.symbols.push(Symbol { node: name, key: 0, class: 0 });
        if bytes == b"E" && number < 122 && self.utf8_tail == u64::MAX {
            self.utf8_tail = utf8_tail(number);
        }
        if has_variables {
            let count_start = self.scan.offset;
            let count = self.read_count("instance variables", 2)?;
            self.record_piece(count_start, node, "count");
            let mut symbol_node = self.sink.tape().new_borrowed_string(Kind::Symbol, place, len);
            let bytes = &self.scan.input[place..place + len];
            let mut is_valid = true;
            for _ in 0..count {
                let variable_start = self.scan.offset;
                let variable = self.read_symbol(node)?;
                match self.read_encoding(variable, node)? {
                    // If a symbol has several encodings, the last one counts.
                    Some(ReadEncoding::Utf8) => is_valid = std::str::from_utf8(bytes).is_ok(),
                    Some(ReadEncoding::Ascii) => is_valid = is_ascii,
                    Some(ReadEncoding::Named(id)) => {
                        is_valid = true;
                        symbol_node.set_encoding(id);
                    }
                    None => {
                        return Err(Error::new(ErrorKind::Malformed)
                            .at(variable_start)
                            .expecting("the encoding of a symbol")
                            .finding("another instance variable"));
                    }
                }
            }
            if !is_valid {
                return Err(Error::new(ErrorKind::Malformed)
                    .at(start)
                    .expecting("a symbol in its encoding")
                    .finding(format!("`{}`", bytes.escape_ascii())));
            }
            if count > 0
                && let Some(known) = self.symbols.get_mut(number)
            {
                known.node = symbol_node;
            }
        }
        Ok(number)
    }

    /// Returns the encoding given by the instance variable of this name, if it is one that
    /// gives an encoding. Then reads its value.
    pub(super) fn read_encoding(&mut self, variable: usize, node: u32) -> Result<Option<ReadEncoding>, Error> {
        let Some(symbol) = self.symbols.get(variable) else { return Ok(None) };
        let name = self.sink.tape().string_bytes(&symbol.node, self.scan.input);
        let start = self.scan.offset;
        match name {
            b"E" => {
                let encoding = match self.scan.peek() {
                    Some(b'T') => ReadEncoding::Utf8,
                    Some(b'F') => ReadEncoding::Ascii,
                    Some(_) => return Ok(None),
                    None => return Err(self.scan.truncated_error(1, "a value")),
                };
                self.scan.offset += 1;
                self.record_piece(start, node, "encoding");
                Ok(Some(encoding))
            }
            b"encoding" => {
                let tag = self.scan.read_u8("the name of an encoding")?;
                let name_node = match tag {
                    b'"' => {
                        let (place, len) = self.read_bytes("the name of an encoding")?;
                        let name = self.sink.tape().new_borrowed_string(Kind::Bytes, place, len);
                        self.number_string(name);
                        name
                    }
                    b'@' => {
                        let number = self.read_integer()?;
                        match self.find_numbered_string(number) {
                            Some(name) => name,
                            None => return Err(self.bad_link_error(start, number)),
                        }
                    }
                    other => return Err(self.malformed_error(start, "the name of an encoding (\" or @)", other)),
                };
                self.record_piece(start, node, "encoding");
                // This is a link to the name of an encoding that was read before.
                if let Some(id) = self.encodings.get(&(name_node.payload, name_node.aux)) {
                    return Ok(Some(ReadEncoding::Named(*id)));
                }
                let name = self.input_bytes(&name_node);
                let id = self.intern_encoding(name)?;
                self.encodings.insert((name_node.payload, name_node.aux), id);
                Ok(Some(ReadEncoding::Named(id)))
            }
            _ => Ok(None),
        }
    }

    /// Returns the id of an encoding's name.
    pub(super) fn intern_encoding(&mut self, name: &[u8]) -> Result<u16, Error> {
        let offset = self.scan.offset;
        self.sink.tape().intern_encoding(name).map_err(|error| error.at(offset))
    }

    /// Returns the node of a string in this encoding.
    pub(super) fn with_encoding(&mut self, mut node: Node, encoding: ReadEncoding) -> Result<Node, Error> {
        node.kind = match encoding {
            ReadEncoding::Utf8 => Kind::Text,
            _ => Kind::Encoded,
        };
        match encoding {
            ReadEncoding::Utf8 => {}
            ReadEncoding::Ascii => node.set_encoding(self.intern_encoding(b"US-ASCII")?),
            ReadEncoding::Named(id) => node.set_encoding(id),
        }
        Ok(node)
    }

    /// Returns the id of a symbol as a key, if it can have one.
    pub(super) fn intern_symbol_key(&mut self, number: usize) -> Option<u16> {
        let symbol = *self.symbols.get(number)?;
        if symbol.key != 0 {
            return Some(symbol.key);
        }
        let bytes = self.input_bytes(&symbol.node);
        let guess = self.predicted_symbols.get(number).map_or(0, |guess| guess.0);
        let tape = self.sink.tape();
        let is_guessed = tape.keys().is_name(u32::from(guess), &symbol.node, bytes);
        let key = if is_guessed { guess } else { tape.intern_key(symbol.node, bytes)? };
        if let Some(symbol) = self.symbols.get_mut(number) {
            symbol.key = key;
        }
        Some(key)
    }

    fn is_binary(&mut self, encoding: u16) -> bool {
        let name = self.sink.tape().encodings().get(u32::from(encoding));
        name.is_some_and(|name| name.bytes == b"ASCII-8BIT")
    }

    /// Returns the id of the class that a symbol names.
    pub(super) fn read_class(&mut self, node: u32) -> Result<u32, Error> {
        let start = self.scan.offset;
        let number = self.read_symbol(node)?;
        let Some(symbol) = self.symbols.get(number).copied() else { return Ok(0) };
        if symbol.class != 0 {
            return Ok(symbol.class);
        }
        let name = self.input_bytes(&symbol.node);
        let encoding = symbol.node.encoding();
        let guess = self.predicted_symbols.get(number).map_or(0, |guess| guess.1);
        let tape = self.sink.tape();
        let class = match encoding {
            0 if tape.classes().is_name(guess, &Node::leaf(Kind::Text, 0), name) => Ok(guess),
            0 => tape.intern_class(Kind::Text, name),
            // Bytes that are UTF-8 would be written as UTF-8.
            _ if self.is_binary(encoding) && std::str::from_utf8(name).is_err() => {
                self.sink.tape().intern_class(Kind::Bytes, name)
            }
            _ => self.sink.tape().intern_encoded_class(encoding, name),
        }
        .map_err(|error| error.at(start))?;
        if let Some(symbol) = self.symbols.get_mut(number) {
            symbol.class = class;
        }
        Ok(class)
    }
}
