//! Strings, keys and class names.

use super::super::header::describe_tag;
use super::super::spelling::{StringOf, code, tracked};
use super::super::tag::{self, TRACK};
use super::{Machine, Slot, Word, read_varint};
use crate::document::{IS_KEY, KEY_NODE, Kind, Node, Recorder, Sink};
use crate::error::{Error, ErrorKind};
use crate::format::Scan;
use crate::string_locations::is_long_string;

impl<'i, S: Sink, const FAST: bool> Machine<'i, '_, S, FAST> {
    /// Reads the rest of a string whose tag was consumed.
    pub(super) fn read_word_rest(&mut self, node: u32, tag_offset: usize, tag: u8) -> Result<Word<'i>, Error> {
        self.read_noted_word_rest(node, tag_offset, tag, code::WIDTH)
    }

    pub(super) fn read_noted_word_rest(
        &mut self,
        node: u32,
        tag_offset: usize,
        tag: u8,
        width: u16,
    ) -> Result<Word<'i>, Error> {
        let (kind, len) = match tag {
            tag::SHORT_BINARY.. => (Kind::Bytes, u64::from(tag - tag::SHORT_BINARY)),
            tag::STR_UTF8 => (Kind::Text, self.read_noted_number(node, "the length", width)?),
            _ => (Kind::Bytes, self.read_noted_number(node, "the length", width)?),
        };
        if len > self.limits.string {
            return Err(self.limits.too_long(len).at(tag_offset));
        }
        let start = self.scan.offset;
        let bytes = self.scan.read_bytes(usize::try_from(len).unwrap_or(usize::MAX), "a string")?;
        self.record_span(start, node, "bytes");
        if kind == Kind::Text && self.options.validate_utf8 {
            self.check_utf8(start, bytes)?;
        }
        Ok(Word { kind, tag_offset, start, bytes, is_copied: false })
    }

    pub(super) fn check_utf8(&self, start: usize, bytes: &[u8]) -> Result<(), Error> {
        std::str::from_utf8(bytes).map(|_| ()).map_err(|error| {
            Error::new(ErrorKind::Malformed)
                .at(start + error.valid_up_to())
                .expecting("UTF-8")
                .finding("an invalid sequence of bytes")
                .helping("the option `validate_utf8` is set")
        })
    }

    /// Returns a string node.
    pub(super) fn string_node(&mut self, word: &Word<'i>) -> Node {
        if self.copies_strings {
            self.tape().new_owned_string(word.kind, word.bytes)
        } else {
            self.tape().new_borrowed_string(word.kind, word.start, word.bytes.len())
        }
    }

    /// Reads a string where the format allows only strings: a key, a class name, a
    /// pattern. `node` is the node that it belongs to.
    pub(super) fn read_word(
        &mut self,
        node: u32,
        string_of: StringOf,
        expected: &'static str,
    ) -> Result<Word<'i>, Error> {
        let codes = WordCodes::for_string_of(string_of);
        let tag_offset = self.scan.offset;
        let byte = self.scan.read_u8(expected)?;
        let tag = byte & !TRACK;
        self.record_span(tag_offset, node, tag::name_of(tag));
        if byte != tag {
            // This string is not an item, so nothing can refer to it. Only the spelling records that its tag is
            // tracked.
            let tag_role = match string_of {
                StringOf::Key => tracked::KEY,
                StringOf::Class => tracked::CLASS,
                StringOf::Value => tracked::MAIN,
            };
            self.sink.record_note(node, code::TRACK, tag_role);
        }
        if tag == tag::COPY {
            return self.read_copied_word(node, string_of, expected, tag_offset);
        }
        if !matches!(tag, tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY..) {
            return Err(self.unexpected_tag_error(tag_offset, byte, expected));
        }
        let word = self.read_noted_word_rest(node, tag_offset, tag, codes.width)?;
        if S::DETAIL {
            self.speller.record_string(tag_offset, node, string_of);
            if tag == tag::BINARY && word.bytes.len() <= tag::MAX_SHORT_LEN {
                self.sink.record_note(node, codes.tag, u64::from(tag));
            }
        }
        Ok(word)
    }

    pub(super) fn read_copied_word(
        &mut self,
        node: u32,
        string_of: StringOf,
        expected: &'static str,
        tag_offset: usize,
    ) -> Result<Word<'i>, Error> {
        if string_of == StringOf::Value && self.active_copy.is_some() {
            return Err(Error::new(ErrorKind::BadLink).at(tag_offset).finding("a COPY within a COPY"));
        }
        let offset = self.read_noted_number(node, "the offset", WordCodes::for_string_of(string_of).copy_width)?;
        let index = self.offset_base.index_of_item(offset, tag_offset)?;
        let word = find_copied_word(self.scan.input.get(..tag_offset).unwrap_or(&[]), index);
        let word = word.ok_or_else(|| {
            Error::new(ErrorKind::BadLink)
                .at(tag_offset)
                .expecting(format!("{expected}: a COPY of a string"))
                .finding(self.scan.input.get(index).map_or("the end".to_owned(), |byte| describe_tag(*byte)))
        })?;
        if S::DETAIL
            && string_of == StringOf::Value
            && let Some(target) = self.speller.target_at(index)
        {
            self.sink.record_note(node, code::COPY, target);
        }
        Ok(word)
    }

    /// Reads the key of the next entry: its id, or KEY_NODE.
    pub(super) fn read_key(&mut self) -> Result<u16, Error> {
        let node = self.tape().len();
        let last_key = self.stack.last().map_or(0, |top| top.last_key);
        let word_start = self.scan.offset;
        let word = self.read_word(node, StringOf::Key, "the key of an entry")?;
        // If each COPY of a long key were compared with its name, the time would be quadratic. So the id of a long
        // key is kept by its offset.
        let known_id = if is_long_string(word.bytes) { self.long_keys.get(&word.start).copied() } else { None };
        let guess = known_id.unwrap_or_else(|| self.tape().keys.predict_next(last_key));
        let is_known = known_id.is_some()
            || guess != 0 && {
                let input = self.scan.input;
                self.tape().keys.is_name_at(guess, word.kind, 0, input, word.start, word.bytes.len())
            };
        let id = if is_known {
            guess
        } else {
            match self.tape().intern_key(Node::leaf(word.kind, 0), word.bytes) {
                Some(id) => {
                    if is_long_string(word.bytes) {
                        self.long_keys.insert(word.start, id);
                    }
                    self.tape().keys.learn_next(last_key, id);
                    id
                }
                None => {
                    self.push_key_node(&word)?;
                    self.note_key(node + 1, &word);
                    return Ok(KEY_NODE);
                }
            }
        };
        if FAST && word.is_copied {
            self.predictions.learn(id, self.scan.input, word_start, self.scan.offset);
        }
        if let Some(top) = self.stack.last_mut() {
            top.last_key = id;
        }
        self.note_key(node, &word);
        Ok(id)
    }

    /// Reads the key of the next entry as a node.
    pub(super) fn read_key_node(&mut self) -> Result<(), Error> {
        // Notes and spans of a key belong to its value, the node after the key.
        let node = self.tape().len() + 1;
        let word = self.read_word(node, StringOf::Key, "the key of an entry")?;
        self.push_key_node(&word)?;
        self.note_key(node, &word);
        Ok(())
    }

    pub(super) fn push_key_node(&mut self, word: &Word<'i>) -> Result<(), Error> {
        let mut key = self.string_node(word);
        key.key = IS_KEY;
        self.push(key)?;
        Ok(())
    }

    pub(super) fn note_key(&mut self, node: u32, word: &Word<'i>) {
        if S::DETAIL {
            if !word.is_copied {
                self.speller.record_full_key(word.tag_offset, node, word.kind, word.bytes);
            } else if let Some(target) = self.speller.record_copied_key(word.tag_offset, node, word.kind, word.bytes) {
                self.sink.record_note(node, code::KEY_COPY, target);
            }
        }
    }

    /// Reads the class name after OBJECT.
    pub(super) fn read_class_name(&mut self, slot: &Slot) -> Result<u32, Error> {
        let offset = self.scan.offset;
        let word = self.read_word(slot.node, StringOf::Class, "a class name")?;
        let class = match self.classes.get(&word.tag_offset) {
            Some(class) if is_long_string(word.bytes) => *class,
            _ => self.tape().intern_class(word.kind, word.bytes).map_err(|error| error.at(offset))?,
        };
        self.classes.insert(word.tag_offset, class);
        if S::DETAIL {
            if word.is_copied {
                if let Some(target) = self.speller.target_at(word.tag_offset) {
                    self.sink.record_note(slot.node, code::CLASS_COPY, target);
                }
            } else if !self.speller.record_class_name(word.tag_offset, class) {
                self.sink.record_note(slot.node, code::CLASS_FULL, 0);
            }
        }
        Ok(class)
    }

    /// Returns the class that OBJECTV refers to.
    pub(super) fn read_known_class(&mut self, slot: &Slot, tag_offset: usize) -> Result<u32, Error> {
        let offset = self.read_noted_number(slot.node, "the offset", code::CLASS_WIDTH)?;
        let index = self.offset_base.index_of_item(offset, tag_offset)?;
        let class = self.classes.get(&index).copied().ok_or_else(|| {
            Error::new(ErrorKind::BadLink)
                .at(tag_offset)
                .expecting("the offset of a class name after OBJECT")
                .finding(format!("offset {offset}, where there is none"))
        })?;
        if S::DETAIL
            && !self.speller.is_first_class_name(index, class)
            && let Some(target) = self.speller.target_at(index)
        {
            self.sink.record_note(slot.node, code::CLASS_OTHER, target);
        }
        Ok(class)
    }
}

/// Codes of notes about a [`Word`].
struct WordCodes {
    tag: u16,
    width: u16,
    copy_width: u16,
}

impl WordCodes {
    pub(super) fn for_string_of(string_of: StringOf) -> WordCodes {
        let (tag, width, copy_width) = match string_of {
            StringOf::Value => (code::TAG, code::WIDTH, code::COPY_WIDTH),
            StringOf::Key => (code::KEY_TAG, code::KEY_WIDTH, code::KEY_COPY_WIDTH),
            StringOf::Class => (code::CLASS_TAG, code::CLASS_WIDTH, code::CLASS_COPY_WIDTH),
        };
        WordCodes { tag, width, copy_width }
    }
}

/// Returns the string at `index` that a COPY in a key or a class name refers to. A COPY
/// of a COPY is not allowed.
fn find_copied_word(preceding_input: &[u8], index: usize) -> Option<Word<'_>> {
    let mut scan = Scan { input: preceding_input, offset: index };
    let tag = scan.read_u8("").ok()? & !TRACK;
    let (kind, len) = match tag {
        tag::SHORT_BINARY.. => (Kind::Bytes, u64::from(tag - tag::SHORT_BINARY)),
        tag::BINARY => (Kind::Bytes, read_varint(&mut scan, "").ok()?),
        tag::STR_UTF8 => (Kind::Text, read_varint(&mut scan, "").ok()?),
        _ => return None,
    };
    let start = scan.offset;
    let bytes = scan.read_bytes(usize::try_from(len).ok()?, "").ok()?;
    Some(Word { kind, tag_offset: index, start, bytes, is_copied: true })
}
