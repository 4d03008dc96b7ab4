//! Strings, keys and class names.

use super::super::header::found;
use super::super::spelling::{Part, code, tracked};
use super::super::tag::{self, TRACK};
use super::{Machine, Slot, Word, varint};
use crate::document::{IS_KEY, KEY_NODE, Kind, Node, Recorder, Sink};
use crate::error::{Error, ErrorKind};
use crate::format::Scan;
use crate::string_locations::is_long;

impl<'i, S: Sink, const FAST: bool> Machine<'i, '_, S, FAST> {
    /// Reads the rest of a string whose tag was consumed.
    pub(super) fn word_behind(&mut self, node: u32, at: usize, tag: u8) -> Result<Word<'i>, Error> {
        self.wide_word_behind(node, at, tag, code::WIDTH)
    }

    pub(super) fn wide_word_behind(&mut self, node: u32, at: usize, tag: u8, width: u16) -> Result<Word<'i>, Error> {
        let (kind, len) = match tag {
            tag::SHORT_BINARY.. => (Kind::Bytes, u64::from(tag - tag::SHORT_BINARY)),
            tag::STR_UTF8 => (Kind::Text, self.wide_number(node, "the length", width)?),
            _ => (Kind::Bytes, self.wide_number(node, "the length", width)?),
        };
        if len > self.limits.string {
            return Err(self.limits.too_long(len).at(at));
        }
        let start = self.scan.at;
        let bytes = self.scan.take(usize::try_from(len).unwrap_or(usize::MAX), "a string")?;
        self.span(start, node, "bytes");
        if kind == Kind::Text && self.options.validate_utf8 {
            self.validate(start, bytes)?;
        }
        Ok(Word { kind, at, start, bytes, copied: false })
    }

    pub(super) fn validate(&self, start: usize, bytes: &[u8]) -> Result<(), Error> {
        std::str::from_utf8(bytes).map(|_| ()).map_err(|error| {
            Error::new(ErrorKind::Malformed)
                .at(start + error.valid_up_to())
                .expecting("UTF-8")
                .finding("an invalid sequence of bytes")
                .helping("the option `validate_utf8` is set")
        })
    }

    /// Returns a string node.
    pub(super) fn string(&mut self, word: &Word<'i>) -> Node {
        if self.own {
            self.tape().owned(word.kind, word.bytes)
        } else {
            self.tape().borrowed(word.kind, word.start, word.bytes.len())
        }
    }

    /// Reads a string where the format allows only strings: a key, a class name, a
    /// pattern. `node` is the node that it belongs to.
    pub(super) fn word(&mut self, node: u32, part: Part, what: &'static str) -> Result<Word<'i>, Error> {
        let codes = WordCodes::of(part);
        let at = self.scan.at;
        let byte = self.scan.u8(what)?;
        let tag = byte & !TRACK;
        self.span(at, node, tag::name(tag));
        if byte != tag {
            // Nothing can refer to it; only the spelling records it.
            let which = match part {
                Part::Key => tracked::KEY,
                Part::Class => tracked::CLASS,
                Part::Value => tracked::MAIN,
            };
            self.sink.note(node, code::TRACK, which);
        }
        if tag == tag::COPY {
            return self.copied_word(node, part, what, at);
        }
        if !matches!(tag, tag::BINARY | tag::STR_UTF8 | tag::SHORT_BINARY..) {
            return Err(self.unexpected(at, byte, what));
        }
        let word = self.wide_word_behind(node, at, tag, codes.width)?;
        if S::DETAIL {
            self.speller.string(at, node, part);
            if tag == tag::BINARY && word.bytes.len() <= tag::MOST_SHORT {
                self.sink.note(node, codes.tag, u64::from(tag));
            }
        }
        Ok(word)
    }

    pub(super) fn copied_word(
        &mut self,
        node: u32,
        part: Part,
        what: &'static str,
        at: usize,
    ) -> Result<Word<'i>, Error> {
        if part == Part::Value && self.copy.is_some() {
            return Err(Error::new(ErrorKind::BadLink).at(at).finding("a COPY within a COPY"));
        }
        let offset = self.wide_number(node, "the offset", WordCodes::of(part).copy_width)?;
        let index = self.origin.index(offset, at)?;
        let word = copied_word(self.scan.input.get(..at).unwrap_or(&[]), index);
        let word = word.ok_or_else(|| {
            Error::new(ErrorKind::BadLink)
                .at(at)
                .expecting(format!("{what}: a COPY of a string"))
                .finding(self.scan.input.get(index).map_or("the end".to_owned(), |byte| found(*byte)))
        })?;
        if S::DETAIL
            && part == Part::Value
            && let Some(target) = self.speller.target_at(index)
        {
            self.sink.note(node, code::COPY, target);
        }
        Ok(word)
    }

    /// Reads the key of the next entry: its id, or KEY_NODE.
    pub(super) fn key(&mut self) -> Result<u16, Error> {
        let node = self.tape().len();
        let last = self.stack.last().map_or(0, |top| top.last_key);
        let from = self.scan.at;
        let word = self.word(node, Part::Key, "the key of an entry")?;
        // Copies of a long key would take quadratic time, so its id is kept by offset.
        let near = if is_long(word.bytes) { self.long_keys.get(&word.start).copied() } else { None };
        let guess = near.unwrap_or_else(|| self.tape().keys.guess(last));
        let known = near.is_some()
            || guess != 0 && {
                let input = self.scan.input;
                self.tape().keys.is_at(guess, word.kind, 0, input, word.start, word.bytes.len())
            };
        let id = if known {
            guess
        } else {
            match self.tape().intern_key(Node::leaf(word.kind, 0), word.bytes) {
                Some(id) => {
                    if is_long(word.bytes) {
                        self.long_keys.insert(word.start, id);
                    }
                    self.tape().keys.learn(last, id);
                    id
                }
                None => {
                    self.push_key(&word)?;
                    self.note_key(node + 1, &word);
                    return Ok(KEY_NODE);
                }
            }
        };
        if FAST && word.copied {
            self.predictions.learn(id, self.scan.input, from, self.scan.at);
        }
        if let Some(top) = self.stack.last_mut() {
            top.last_key = id;
        }
        self.note_key(node, &word);
        Ok(id)
    }

    /// Reads the key of the next entry as a node.
    pub(super) fn key_node(&mut self) -> Result<(), Error> {
        // Notes and spans of a key belong to its value, which is the next node.
        let node = self.tape().len() + 1;
        let word = self.word(node, Part::Key, "the key of an entry")?;
        self.push_key(&word)?;
        self.note_key(node, &word);
        Ok(())
    }

    pub(super) fn push_key(&mut self, word: &Word<'i>) -> Result<(), Error> {
        let mut key = self.string(word);
        key.key = IS_KEY;
        self.push(key)?;
        Ok(())
    }

    pub(super) fn note_key(&mut self, node: u32, word: &Word<'i>) {
        if S::DETAIL {
            if !word.copied {
                self.speller.full_key(word.at, node, word.kind, word.bytes);
            } else if let Some(target) = self.speller.copied_key(word.at, node, word.kind, word.bytes) {
                self.sink.note(node, code::KEY_COPY, target);
            }
        }
    }

    /// Reads the class name after OBJECT.
    pub(super) fn class_name(&mut self, slot: &Slot) -> Result<u32, Error> {
        let at = self.scan.at;
        let word = self.word(slot.me, Part::Class, "a class name")?;
        let class = match self.classes.get(&word.at) {
            Some(class) if is_long(word.bytes) => *class,
            _ => self.tape().intern_class(word.kind, word.bytes).map_err(|error| error.at(at))?,
        };
        self.classes.insert(word.at, class);
        if S::DETAIL {
            if word.copied {
                if let Some(target) = self.speller.target_at(word.at) {
                    self.sink.note(slot.me, code::CLASS_COPY, target);
                }
            } else if !self.speller.is_first_class(word.at, class) {
                self.sink.note(slot.me, code::CLASS_FULL, 0);
            }
        }
        Ok(class)
    }

    /// Returns the class that OBJECTV refers to.
    pub(super) fn known_class(&mut self, slot: &Slot, at: usize) -> Result<u32, Error> {
        let offset = self.wide_number(slot.me, "the offset", code::CLASS_WIDTH)?;
        let index = self.origin.index(offset, at)?;
        let class = self.classes.get(&index).copied().ok_or_else(|| {
            Error::new(ErrorKind::BadLink)
                .at(at)
                .expecting("the offset of a class name after OBJECT")
                .finding(format!("offset {offset}, where there is none"))
        })?;
        if S::DETAIL
            && !self.speller.is_first_of(index, class)
            && let Some(target) = self.speller.target_at(index)
        {
            self.sink.note(slot.me, code::CLASS_OTHER, target);
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
    pub(super) fn of(part: Part) -> WordCodes {
        let (tag, width, copy_width) = match part {
            Part::Value => (code::TAG, code::WIDTH, code::COPY_WIDTH),
            Part::Key => (code::KEY_TAG, code::KEY_WIDTH, code::KEY_COPY_WIDTH),
            Part::Class => (code::CLASS_TAG, code::CLASS_WIDTH, code::CLASS_COPY_WIDTH),
        };
        WordCodes { tag, width, copy_width }
    }
}

/// Returns the string at `index` that a COPY in a key or a class name refers to. A COPY
/// of a COPY is not allowed.
fn copied_word(before: &[u8], index: usize) -> Option<Word<'_>> {
    let mut scan = Scan { input: before, at: index };
    let tag = scan.u8("").ok()? & !TRACK;
    let (kind, len) = match tag {
        tag::SHORT_BINARY.. => (Kind::Bytes, u64::from(tag - tag::SHORT_BINARY)),
        tag::BINARY => (Kind::Bytes, varint(&mut scan, "").ok()?),
        tag::STR_UTF8 => (Kind::Text, varint(&mut scan, "").ok()?),
        _ => return None,
    };
    let start = scan.at;
    let bytes = scan.take(usize::try_from(len).ok()?, "").ok()?;
    Some(Word { kind, at: index, start, bytes, copied: true })
}
