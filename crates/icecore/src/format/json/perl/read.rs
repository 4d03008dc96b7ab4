//! Reads common JSON in one loop, into the kinds of nodes that Perl's modules need. It
//! returns `None` for anything else and for every error: the reader of
//! [`super::super::read`] then starts from the beginning.

use super::super::number::{self, NumberSyntax};
use super::super::string::{self, non_ascii_mask, special_byte_mask};
use crate::document::{IS_KEY, KEY_NODE, Kind, Location, NO_KEY, Node, Tape};

/// Number of levels in the stack of fixed size, which needs no allocation. Deeper levels use a vector.
const STACK_SIZE: usize = 32;
/// Maximum number of keys of a map that get ids; the others become nodes of the tape.
const MAX_ENTRIES_WITH_IDS: u32 = 256;

/// An open container.
#[derive(Clone, Copy)]
struct OpenContainer {
    node: u32,
    count: u32,
    /// For a map: the previous key; for an array: `NOT_A_MAP`.
    previous_key: u32,
}

const NOT_A_MAP: u32 = u32::MAX;

/// Reads one text into an empty tape. Returns its end, after any following blanks, and
/// whether every key has an id. `None` for errors and for anything uncommon: the caller
/// then clears the tape.
///
/// ASCII strings become bytes, other strings become text. An integer beyond 64 bits
/// becomes a string of its digits.
///
/// ```
/// use icecore::{Kind, raw::Tape, format::json};
/// let mut tape = Tape::new();
/// assert_eq!(json::perl::read(br#"{"a":"\u00e9"} x"#, 512, &mut tape), Some((15, true)));
/// assert_eq!(tape.nodes()[1].kind, Kind::Text);
/// ```
pub fn read(input: &[u8], depth: usize, tape: &mut Tape) -> Option<(usize, bool)> {
    let mut reader = PerlReader { input, offset: 0, tape, has_ids: true };
    reader.read_document(depth)?;
    Some((reader.offset, reader.has_ids))
}

struct PerlReader<'a, 't> {
    input: &'a [u8],
    offset: usize,
    tape: &'t mut Tape,
    has_ids: bool,
}

impl PerlReader<'_, '_> {
    fn read_document(&mut self, depth: usize) -> Option<()> {
        let mut stack = [OpenContainer { node: 0, count: 0, previous_key: NOT_A_MAP }; STACK_SIZE];
        let mut deep = Vec::new();
        let mut open = 0;
        let mut top = OpenContainer { node: 0, count: 0, previous_key: NOT_A_MAP };
        let mut key = NO_KEY;
        self.skip_whitespace();
        loop {
            let first = *self.input.get(self.offset)?;
            match first {
                b'"' => {
                    let node = self.read_string()?;
                    self.tape.push(Node { key, ..node });
                }
                b'0'..=b'9' | b'-' => {
                    let node = self.read_number()?;
                    self.tape.push(Node { key, ..node });
                }
                b'{' | b'[' => {
                    let (kind, close, previous_key) =
                        if first == b'{' { (Kind::Map, b'}', 0) } else { (Kind::Array, b']', NOT_A_MAP) };
                    if open >= depth {
                        return None;
                    }
                    let node = self.tape.push(Node { key, ..Node::open(kind, 0) });
                    self.offset += 1;
                    self.skip_whitespace();
                    if self.input.get(self.offset) == Some(&close) {
                        self.offset += 1;
                        self.tape.close_container(node, 0);
                    } else {
                        match stack.get_mut(open) {
                            Some(place) => *place = top,
                            None => deep.push(top),
                        }
                        open += 1;
                        top = OpenContainer { node, count: 0, previous_key };
                        key = if first == b'{' { self.read_key(&mut top)? } else { NO_KEY };
                        continue;
                    }
                }
                b't' => self.read_word(b"true", Node { key, ..Node::leaf(Kind::Bool, 1) })?,
                b'f' => self.read_word(b"false", Node { key, ..Node::leaf(Kind::Bool, 0) })?,
                b'n' => self.read_word(b"null", Node { key, ..Node::leaf(Kind::Null, 0) })?,
                _ => return None,
            }
            // After a value.
            loop {
                self.skip_whitespace();
                if open == 0 {
                    return Some(());
                }
                top.count += 1;
                let next = *self.input.get(self.offset)?;
                self.offset += 1;
                let is_map = top.previous_key != NOT_A_MAP;
                match next {
                    b',' => {
                        self.skip_whitespace();
                        key = if is_map { self.read_key(&mut top)? } else { NO_KEY };
                        break;
                    }
                    b'}' if is_map => {}
                    b']' if !is_map => {}
                    _ => return None,
                }
                self.tape.close_container(top.node, top.count);
                open -= 1;
                top = match stack.get(open) {
                    Some(outer) => *outer,
                    None => deep.pop()?,
                };
            }
        }
    }

    #[inline(always)]
    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.input.get(self.offset) {
            self.offset += 1;
        }
    }

    #[inline]
    fn read_word(&mut self, word: &'static [u8], node: Node) -> Option<()> {
        if !self.input.get(self.offset..)?.starts_with(word) {
            return None;
        }
        self.offset += word.len();
        self.tape.push(node);
        Some(())
    }

    /// Reads a string whose opening quote was already seen.
    #[inline]
    fn read_string(&mut self) -> Option<Node> {
        let start = self.offset + 1;
        let stop = string::find_special::<true>(self.input, start);
        if self.input.get(stop.offset) != Some(&b'"') {
            return self.read_escaped_string(start, stop.offset);
        }
        let kind = if stop.has_non_ascii { self.text_kind(start, stop.offset)? } else { Kind::Bytes };
        self.offset = stop.offset + 1;
        Some(self.tape.new_borrowed_string(kind, start, stop.offset - start))
    }

    #[inline(never)]
    fn text_kind(&self, start: usize, end: usize) -> Option<Kind> {
        std::str::from_utf8(self.input.get(start..end)?).ok().map(|_| Kind::Text)
    }

    #[inline(never)]
    fn read_escaped_string(&mut self, start: usize, mut stop: usize) -> Option<Node> {
        let arena_start = self.tape.arena.len();
        let mut run = start;
        loop {
            self.tape.arena.extend_from_slice(self.input.get(run..stop)?);
            match *self.input.get(stop)? {
                b'"' => break,
                b'\\' => run = self.read_escape(stop)?,
                _ => return None,
            }
            stop = string::find_special::<true>(self.input, run).offset;
        }
        self.offset = stop + 1;
        let text = self.tape.arena.get(arena_start..)?;
        let kind = if text.is_ascii() { Kind::Bytes } else { std::str::from_utf8(text).ok().map(|_| Kind::Text)? };
        let len = text.len();
        Some(self.tape.new_string_at(kind, Location::Arena(arena_start as u64), len))
    }

    /// Puts the character of the escape at `offset` into the arena. Returns the end of the
    /// escape.
    fn read_escape(&mut self, offset: usize) -> Option<usize> {
        let letter = *self.input.get(offset + 1)?;
        if letter != b'u' {
            self.tape.arena.push(string::decode_short_escape(letter)?);
            return Some(offset + 2);
        }
        let unit = |offset: usize| string::parse_hex4(self.input.get(offset + 2..)?.first_chunk()?).map(u32::from);
        let (mut code, mut end) = (unit(offset)?, offset + 6);
        if (0xD800..0xDC00).contains(&code) {
            if self.input.get(end..end + 2)? != b"\\u" {
                return None;
            }
            let low = unit(end)?.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
            code = 0x10000 + ((code - 0xD800) << 10) + low;
            end += 6;
        }
        char::from_u32(code)?;
        string::push_code_point(code, &mut self.tape.arena);
        Some(end)
    }

    #[inline]
    fn read_number(&mut self) -> Option<Node> {
        if let Some((value, end)) = number::parse_short_integer(self.input, self.offset) {
            self.offset = end;
            return Some(Node::int(value));
        }
        if let Some((value, end)) = number::parse_short_decimal(self.input, self.offset) {
            self.offset = end;
            return Some(Node::leaf(Kind::Float, value.to_bits()));
        }
        self.read_long_number()
    }

    #[inline(never)]
    fn read_long_number(&mut self) -> Option<Node> {
        let start = self.offset;
        let (node, end) = match number::classify_number(self.input, start) {
            NumberSyntax::Integer(end) => {
                let text = std::str::from_utf8(self.input.get(start..end)?).ok()?;
                let node = if let Ok(value) = text.parse::<i64>() {
                    Node::int(value)
                } else if let Ok(value) = text.parse::<u64>() {
                    Node::leaf(Kind::Uint, value)
                } else {
                    self.tape.new_borrowed_string(Kind::Bytes, start, end - start)
                };
                (node, end)
            }
            NumberSyntax::Decimal(end) => {
                let value = number::parse_decimal(self.input.get(start..end)?)?;
                (Node::leaf(Kind::Float, value.to_bits()), end)
            }
            NumberSyntax::Broken(..) => return None,
        };
        self.offset = end;
        Some(node)
    }

    /// Reads the name of an entry and the colon after it.
    #[inline]
    fn read_key(&mut self, top: &mut OpenContainer) -> Option<u16> {
        if self.input.get(self.offset) != Some(&b'"') {
            return None;
        }
        let key = match self.read_predicted_key(top) {
            Some(id) => id,
            None => self.read_new_key(top)?,
        };
        top.previous_key = if key == KEY_NODE { 0 } else { u32::from(key) };
        self.skip_whitespace();
        if self.input.get(self.offset) != Some(&b':') {
            return None;
        }
        self.offset += 1;
        self.skip_whitespace();
        Some(key)
    }

    /// Reads the key that came here the last time, if it is here again: short, ASCII and
    /// without escapes.
    #[inline(always)]
    fn read_predicted_key(&mut self, top: &OpenContainer) -> Option<u16> {
        let keys = &self.tape.keys;
        let id = keys.predict_next(top.previous_key as u16);
        let (entry, _) = keys.get_plain(id)?;
        let len = entry.node.aux as usize;
        let window = u128::from_le_bytes(*self.input.get(self.offset + 1..)?.first_chunk::<16>()?);
        if len > 16 || entry.node.kind != Kind::Bytes || top.count >= MAX_ENTRIES_WITH_IDS {
            return None;
        }
        let mask = if len == 0 { 0 } else { u128::MAX >> (128 - 8 * len) };
        // Bytes outside of the name are replaced by one that is not special.
        let blanks = u128::from_le_bytes([b' '; 16]) & !mask;
        let text = window & mask;
        let (low, high) = ((text | blanks) as u64, ((text | blanks) >> 64) as u64);
        let is_plain =
            special_byte_mask(low) | special_byte_mask(high) | non_ascii_mask(low) | non_ascii_mask(high) == 0;
        if text != entry.head || !is_plain || self.input.get(self.offset + 1 + len) != Some(&b'"') {
            return None;
        }
        self.offset += len + 2;
        Some(id)
    }

    #[inline(never)]
    fn read_new_key(&mut self, top: &OpenContainer) -> Option<u16> {
        let arena_start = self.tape.arena.len();
        let node = self.read_string()?;
        let place = node.location();
        if top.count < MAX_ENTRIES_WITH_IDS {
            let len = node.aux as usize;
            let tape = &mut *self.tape;
            let bytes = match place {
                Location::Input(start) => self.input.get(start as usize..)?.get(..len)?,
                Location::Arena(start) => tape.arena.get(start as usize..)?.get(..len)?,
            };
            if let Some(id) = tape.keys.intern(Node::leaf(node.kind, 0), bytes).and_then(|id| u16::try_from(id).ok()) {
                tape.keys.learn_next(top.previous_key as u16, id);
                tape.arena.truncate(arena_start);
                return Some(id);
            }
        }
        self.has_ids = false;
        self.tape.push(Node { key: IS_KEY, ..node });
        Some(KEY_NODE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    fn read_twice(text: &str) -> Option<String> {
        let mut tape = Tape::new();
        let mut texts = Vec::new();
        for _ in 0..2 {
            tape.clear();
            read(text.as_bytes(), 10_000, &mut tape)?;
            let document = Document::new(text.as_bytes(), std::mem::take(&mut tape));
            let mut out = Vec::new();
            super::super::write(&document, &super::super::Style::default(), &mut out).unwrap();
            texts.push(String::from_utf8(out).unwrap());
            tape = document.into_tape();
        }
        assert_eq!(texts[0], texts[1]);
        texts.pop()
    }

    #[test]
    fn values_round_trip() {
        for text in [
            "null",
            "[]",
            "{}",
            r#"[1,-2,3.5,true,false,null,"x",[[]],{"a":{}}]"#,
            &format!("{}7{}", "[".repeat(10_000), "]".repeat(10_000)),
            r#"{"a":1,"b":{"a":2,"b":[]},"key of more than 16 bytes":"é","é":"\"\\\n"}"#,
        ] {
            assert_eq!(read_twice(text).as_deref(), Some(text));
        }
        assert_eq!(read_twice(" [ 1 , {\t\"a\" :\r\n2 } ] ").as_deref(), Some(r#"[1,{"a":2}]"#));
        assert_eq!(read_twice(r#"["\ud83d\ude00\u0041\/"]"#).as_deref(), Some("[\"😀A/\"]"));
        let large = "[18446744073709551615,123456789012345678901234567890]";
        assert_eq!(read_twice(large).as_deref(), Some(r#"[18446744073709551615,"123456789012345678901234567890"]"#));
        assert_eq!(read_twice("[1e999,1.5e300]").as_deref(), Some("[inf,1.5e+300]"));
    }

    #[test]
    fn malformed_input_is_left_to_the_reference_reader() {
        for text in [
            "",
            "[",
            "[1",
            "[1,",
            "[1,]",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,}",
            "{1:2}",
            "[1 2]",
            "[1}",
            "\"",
            "\"\\",
            "\"\\u12",
            "\"\\ud800\"",
            "\"\\udc00\"",
            "\"\\ud800\\u0041\"",
            "\"\n\"",
            "tru",
            "01",
            "1.",
            "-",
            "+1",
            "'a'",
        ] {
            assert_eq!(read(text.as_bytes(), 512, &mut Tape::new()), None, "{text}");
        }
        assert_eq!(read(b"[\"\xff\"]", 512, &mut Tape::new()), None);
        assert_eq!(read(b"[[]]", 1, &mut Tape::new()), None);
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(read(deep.as_bytes(), 99_999, &mut Tape::new()), None);
        assert_eq!(read(deep.as_bytes(), 100_000, &mut Tape::new()), Some((200_000, true)));
    }

    #[test]
    fn keys_that_need_escapes_are_not_predicted() {
        let mut tape = Tape::new();
        assert!(read(br#"{"a\"b":1}              "#, 9, &mut tape).is_some());
        tape.clear();
        assert_eq!(read(br#"{"a"b":1}               "#, 9, &mut tape), None);
    }
}
