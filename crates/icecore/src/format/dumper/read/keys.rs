//! Reads the keys of hashes, and the separators after them.

use super::Machine;
use super::lex::is_word_start;
use super::number::Number;
use super::string::{Strings, Text};
use crate::document::{IS_KEY, KEY_NODE, Kind, Location, NO_KEY, Node, Recorder, Sink};
use crate::error::Error;
use crate::format::list_to_map::{MAX_ENTRIES_WITH_IDS, MAX_KEY_IDS};
use crate::num::general;

const PAIR: &[u8] = b" => ";

impl<S: Sink> Machine<'_, '_, S> {
    /// Reads the key here and what follows it. Returns the value for [`Node::key`].
    #[inline]
    pub(super) fn read_key(&mut self) -> Result<u16, Error> {
        let start = self.lexer.position;
        let (text, bare) = match self.lexer.peek() {
            Some(b'\'' | b'"') => {
                let strings = &mut Strings { tape: self.sink.tape(), limits: self.limits };
                (strings.read_quoted(&mut self.lexer)?, false)
            }
            _ => self.read_bare_key()?,
        };
        let end = self.lexer.position;
        if S::DETAIL {
            self.layout.observe_key(self.lexer.byte_at(start), text.kind);
            let next = self.sink.tape().len();
            self.record_piece(start, next, "key");
        }
        if self.pair.is_empty() && self.lexer.rest().starts_with(PAIR) {
            self.lexer.position += PAIR.len();
            self.has_pair = true;
            self.lexer.skip_blanks();
        } else {
            self.read_separator(end, bare)?;
        }
        Ok(self.place_key(text, start, end))
    }

    /// Reads a key without quotes. Returns `true` if it is a word.
    #[cold]
    fn read_bare_key(&mut self) -> Result<(Text, bool), Error> {
        let start = self.lexer.position;
        let negative = self.lexer.peek() == Some(b'-');
        let first = self.lexer.byte_at(start + usize::from(negative));
        match first {
            Some(byte) if is_word_start(byte) => {
                self.lexer.position += usize::from(negative);
                self.lexer.position += self.lexer.name_at(self.lexer.position).len();
                let len = self.lexer.position - start;
                Ok((Text { kind: Kind::Bytes, location: Location::Input(start as u64), len }, true))
            }
            Some(b'0'..=b'9' | b'.') => {
                self.lexer.position += usize::from(negative);
                let Number::Node(node) = self.lexer.read_number(negative)? else {
                    return Err(self.lexer.code_error(start, "a v-string as a key"));
                };
                let text = match node.kind {
                    Kind::Int => (node.payload as i64).to_string(),
                    Kind::Uint => node.payload.to_string(),
                    _ => general::float_to_perl_text(f64::from_bits(node.payload)),
                };
                let arena = &mut self.sink.tape().arena;
                let place = Location::Arena(arena.len() as u64);
                arena.extend_from_slice(text.as_bytes());
                Ok((Text { kind: Kind::Bytes, location: place, len: text.len() }, false))
            }
            Some(b'$' | b'@' | b'%' | b'&') => Err(self.lexer.code_error(start, "a variable as a key")),
            _ => Err(self.lexer.unexpected_token_error("a key")),
        }
    }

    /// Reads the text between the key that ends at `end` and its value.
    fn read_separator(&mut self, end: usize, is_bare: bool) -> Result<(), Error> {
        self.lexer.skip_blanks();
        let rest = self.lexer.rest();
        let len = if !self.pair.is_empty() {
            if !rest.starts_with(&self.pair) {
                return Err(match self.pair.starts_with(rest) {
                    true => self.lexer.syntax_error(self.lexer.input.len(), "the separator between keys and values"),
                    false => {
                        self.lexer.unexpected_token_error("the same separator as between the other keys and values")
                    }
                });
            }
            self.pair.len()
        } else if rest.starts_with(b"=>") {
            2
        } else if rest.first() == Some(&b',') && !is_bare {
            1
        } else if is_bare && rest.first() == Some(&b'(') {
            return Err(self.lexer.code_error(end, "a call"));
        } else if rest == b"=" || rest.is_empty() {
            return Err(self.lexer.syntax_error(self.lexer.input.len(), "`=>`"));
        } else {
            self.detect_separator()?
        };
        self.lexer.position += len;
        self.has_pair = true;
        self.lexer.skip_blanks();
        if S::DETAIL && len != 1 {
            self.layout.observe_pair(&self.lexer, end, self.lexer.position);
        }
        Ok(())
    }

    /// Returns the length of the separator. The first separator of a text shows its setting `Pair`.
    #[cold]
    fn detect_separator(&mut self) -> Result<usize, Error> {
        let rest = self.lexer.rest();
        let mut len = rest.iter().take_while(|byte| b":=>~|;-".contains(byte)).count().min(8);
        // A minus before a digit belongs to the value, which is a negative number.
        if len > 1 && rest.get(len).is_some_and(u8::is_ascii_digit) && rest[len - 1] == b'-' {
            len -= 1;
        }
        let separator = &rest[..len];
        if self.has_pair || !separator.iter().any(|byte| b":=>~|".contains(byte)) {
            return Err(self.lexer.unexpected_token_error("`=>`"));
        }
        self.pair = separator.to_vec();
        Ok(len)
    }

    /// Assigns this key to the next value of the innermost hash.
    #[inline]
    fn place_key(&mut self, text: Text, start: usize, end: usize) -> u16 {
        let input = self.lexer.input;
        let Some(frame) = self.frames.last_mut() else { return NO_KEY };
        let tape = self.sink.tape();
        if frame.count < MAX_ENTRIES_WITH_IDS && tape.keys.len() < MAX_KEY_IDS {
            let id = match text.location {
                Location::Input(offset) if text.kind == Kind::Bytes => {
                    let offset = offset as usize;
                    let guess = tape.keys.predict_next(frame.last_key);
                    if tape.keys.is_name_at(guess, Kind::Bytes, 0, input, offset, text.len) {
                        frame.last_key = guess;
                        return guess;
                    }
                    match tape.keys.recall_short(Kind::Bytes, 0, input, offset, text.len) {
                        0 => tape.intern_key(Node::leaf(Kind::Bytes, 0), text.bytes_of_input(input)),
                        id => Some(id),
                    }
                }
                _ => {
                    let bytes = text.bytes(tape, input).to_vec();
                    let kind = if bytes.is_ascii() { Kind::Bytes } else { text.kind };
                    tape.intern_key(Node::leaf(kind, 0), &bytes)
                }
            };
            if let Some(id) = id {
                tape.keys.learn_next(frame.last_key, id);
                frame.last_key = id;
                if let Location::Arena(arena_start) = text.location {
                    tape.arena.truncate(arena_start as usize);
                }
                return id;
            }
        }
        let is_ascii = text.bytes(tape, input).is_ascii();
        let kind = if is_ascii { Kind::Bytes } else { text.kind };
        let node = Text { kind, ..text }.into_node(tape);
        let index = tape.push(Node { key: IS_KEY, ..node });
        self.sink.record_extent(index, start, end);
        KEY_NODE
    }
}
