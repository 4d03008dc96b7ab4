//! Fast loops for common dumps. They read leaves, and arrays, hashes and objects of leaves whose keys were read
//! before.
//!
//! Each loop stops before anything else and does not consume it. The machine in [`super::read`] continues there. A
//! reader with detail uses only the machine, so tests can compare both.

use super::number::{is_immediate, parse_float, parse_short_float};
use super::read::{BATCH, MAX_ENTRIES_WITH_IDS, OFF_TAPE_BIT, OffTapeObject, ReadFrame, Reader, State};
use super::symbols::{Symbol, utf8_tail};
use crate::document::{Form, Kind, Location, NO_KEY, Node, Recorder, Sink, flag};
use crate::error::Error;

/// How far a container of leaves was read.
pub(super) enum RecordOutcome {
    /// It is complete.
    Complete,
    /// It contains something other than leaves. It was opened, and the machine continues inside it.
    Opened,
    /// The machine must read it. Nothing of it was consumed.
    Other,
}

/// Number of integers that are put on the tape at once.
const RUN_LEN: usize = 32;

/// Returns the integer at `offset` and its end.
#[inline(always)]
pub(super) fn parse_integer(input: &[u8], offset: usize) -> Option<(i64, usize)> {
    let head = *input.get(offset)? as i8;
    match head {
        0 => Some((0, offset + 1)),
        5..=127 => Some((i64::from(head) - 5, offset + 1)),
        -128..=-5 => Some((i64::from(head) + 5, offset + 1)),
        _ => {
            // The head is the number of bytes, 1 to 4. For a negative number the head is negative. Four bytes are
            // always loaded. The shifts clear those after the number, and `filler` extends the sign.
            let len = usize::from(head.unsigned_abs());
            let unused = 32 - 8 * len as u32;
            let rest = input.get(offset + 1..)?;
            let word = match rest.first_chunk() {
                Some(bytes) => u32::from_le_bytes(*bytes),
                None => load_last_bytes(rest.get(..len)?),
            };
            let bits = i64::from(word << unused >> unused);
            let filler = if head < 0 { -1i64 << (8 * len) } else { 0 };
            Some((bits | filler, offset + 1 + len))
        }
    }
}

/// Returns up to four bytes at the end of the input.
#[cold]
fn load_last_bytes(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

/// Reads the length at `offset`. Returns the offset of the bytes after it, and their number. The bytes may end after
/// the input, so callers check this.
#[inline(always)]
pub(super) fn parse_length(input: &[u8], offset: usize) -> Option<(usize, u32)> {
    let head = *input.get(offset)?;
    match head {
        5..=127 => Some((offset + 1, u32::from(head) - 5)),
        0 => Some((offset + 1, 0)),
        1 => Some((offset + 2, u32::from(*input.get(offset + 1)?))),
        2 => Some((offset + 3, u32::from(u16::from_le_bytes(*input.get(offset + 1..)?.first_chunk()?)))),
        _ => None,
    }
}

impl<S: Sink> Reader<'_, '_, S> {
    /// Returns the leaf at `offset`, if it is a common one, and its end. The number of the leaf is already assigned,
    /// so the caller must put the node on the tape next.
    #[inline(always)]
    fn parse_leaf(&mut self, offset: usize) -> Option<(Node, usize)> {
        let input = self.scan.input;
        match *input.get(offset)? {
            b'i' => {
                let (value, next) = parse_integer(input, offset + 1)?;
                Some((Node::int(value), next))
            }
            b'I' => {
                let (start, len) =
                    if *input.get(offset + 1)? == b'"' { parse_length(input, offset + 2)? } else { return None };
                let end = start + len as usize;
                let tail = u32::from_le_bytes(*input.get(end..)?.first_chunk()?);
                if u64::from(len) > self.limits.string {
                    return None;
                }
                let next = if u64::from(tail) == self.utf8_tail { end + 4 } else { self.parse_first_utf8(end)? };
                self.numbers.push(self.sink.nodes().len() as u32);
                Some((Node::string(Kind::Text, Location::Input(start as u64), len), next))
            }
            b'"' => {
                let (start, len) = parse_length(input, offset + 1)?;
                let end = start + len as usize;
                if end > input.len() || u64::from(len) > self.limits.string {
                    return None;
                }
                self.numbers.push(self.sink.nodes().len() as u32);
                Some((Node::string(Kind::Bytes, Location::Input(start as u64), len), end))
            }
            b';' => {
                let (number, next) = parse_integer(input, offset + 1)?;
                let symbol = self.symbols.get(usize::try_from(number).ok()?)?;
                Some((symbol.node, next))
            }
            b'0' => Some((Node::leaf(Kind::Null, 0), offset + 1)),
            b'T' => Some((Node::leaf(Kind::Bool, 1), offset + 1)),
            b'F' => Some((Node::leaf(Kind::Bool, 0), offset + 1)),
            b'f' => {
                let (start, len) = parse_length(input, offset + 1)?;
                let end = start + len as usize;
                let text = input.get(start..end)?;
                if u64::from(len) > self.limits.string {
                    return None;
                }
                let value = parse_short_float(text).unwrap_or_else(|| parse_float(text));
                self.number_float(value.to_bits());
                Some((Node::float(value), end))
            }
            _ => None,
        }
    }

    /// Assigns a number to the next float on the tape. A sink of windows removes nodes, and a later link may still
    /// refer to a float that Ruby stores in the reference. So the value of such a float is kept in `off_tape_objects`.
    #[inline(always)]
    pub(super) fn number_float(&mut self, bits: u64) {
        if S::PARTS && is_immediate(bits) {
            self.numbers.push(OFF_TAPE_BIT | self.off_tape_objects.len() as u32);
            self.off_tape_objects.push(OffTapeObject { node: Node::leaf(Kind::Float, bits), key: 0 });
        } else {
            self.numbers.push(self.sink.nodes().len() as u32);
        }
    }

    /// Reads the encoding at `offset`, after the first string in UTF-8, and returns its end. This encoding defines
    /// the symbol `E`; later strings only have its number.
    fn parse_first_utf8(&mut self, offset: usize) -> Option<usize> {
        let number = self.symbols.len();
        if self.utf8_tail != u64::MAX || number >= 122 || !self.scan.input.get(offset..)?.starts_with(b"\x06:\x06ET") {
            return None;
        }
        self.symbols.push(Symbol::new(offset + 3, 1));
        self.utf8_tail = utf8_tail(number);
        Some(offset + 5)
    }

    /// Returns the symbol whose length is at `offset`, and its end. The symbol occurs for the first time in this
    /// document. It gets the ids that the symbol with this number had in the previous document; callers compare the
    /// name.
    #[inline(always)]
    fn predict_symbol(&self, offset: usize) -> Option<(Symbol, usize)> {
        let input = self.scan.input;
        let (key, class) = *self.predicted_symbols.get(self.symbols.len())?;
        let (start, len) = parse_length(input, offset)?;
        let end = start + len as usize;
        let name = input.get(start..end)?;
        let is_special = name == b"E" || !name.is_ascii();
        (!is_special && u64::from(len) <= self.limits.string)
            .then(|| (Symbol { key, class, ..Symbol::new(start, len) }, end))
    }

    /// Like [`Self::predict_symbol`], for a symbol that is a key. Assigns its number.
    #[inline(always)]
    fn predict_key(&mut self, offset: usize) -> Option<(u16, usize)> {
        let (symbol, end) = self.predict_symbol(offset)?;
        let (Location::Input(start), len) = (symbol.node.location(), symbol.node.aux as usize) else { return None };
        let keys = self.sink.tape().keys();
        if !keys.is_name_at(symbol.key, Kind::Symbol, 0, self.scan.input, start as usize, len) {
            return None;
        }
        self.symbols.push(Symbol { class: 0, ..symbol });
        Some((symbol.key, end))
    }

    /// Like [`Self::predict_symbol`], for a symbol that is a class. Its number is not assigned yet, because the
    /// object may still be left to the machine.
    #[inline(always)]
    fn predict_class(&mut self, offset: usize) -> Option<(Symbol, usize)> {
        let (symbol, end) = self.predict_symbol(offset)?;
        let (Location::Input(start), len) = (symbol.node.location(), symbol.node.aux as usize) else { return None };
        let classes = self.sink.tape().classes();
        let id = u16::try_from(symbol.class).ok()?;
        classes
            .is_name_at(id, Kind::Text, 0, self.scan.input, start as usize, len)
            .then_some((Symbol { key: 0, ..symbol }, end))
    }

    /// Returns the id of the key at `offset`, and its end, if the symbol or string was a key before.
    #[inline(always)]
    fn parse_key(&mut self, offset: usize, state: State) -> Option<(u16, usize)> {
        let input = self.scan.input;
        let tag = *input.get(offset)?;
        if tag == b':' {
            return self.predict_key(offset + 1);
        }
        let (number, next) = parse_integer(input, offset + 1)?;
        let number = usize::try_from(number).ok()?;
        let key = match tag {
            b';' => self.symbols.get(number)?.key,
            b'@' if state != State::Members => {
                let entry = *self.numbers.get(number)?;
                // Only a number with this bit is an index of `off_tape_objects`. Any other number is a node.
                if entry & OFF_TAPE_BIT == 0 {
                    return None;
                }
                self.off_tape_objects.get((entry & !OFF_TAPE_BIT) as usize)?.key
            }
            _ => return None,
        };
        (key != 0).then_some((key, next))
    }

    /// Reads the remaining items of an array. Stops early after an item that was opened, because its content comes
    /// first.
    pub(super) fn read_fast_items(&mut self, frame: ReadFrame) -> Result<(), Error> {
        let depth = self.frames.len();
        let batch = frame.remaining.min(BATCH);
        let mut items_read = match self.scan.peek() {
            Some(b'i') if batch >= RUN_LEN as u32 => self.read_integers(batch),
            _ => 0,
        };
        while items_read < batch {
            items_read += 1;
            if let Some((node, next)) = self.parse_leaf(self.scan.offset) {
                self.sink.tape().push(node);
                self.scan.offset = next;
                continue;
            }
            // The frame is saved now, because `read_record` may push another one.
            self.record_progress(frame, items_read);
            match self.read_record(NO_KEY)? {
                RecordOutcome::Complete => {}
                RecordOutcome::Opened => return Ok(()),
                RecordOutcome::Other => {
                    self.read_value(NO_KEY)?;
                    if self.frames.len() > depth {
                        return Ok(());
                    }
                }
            }
            if depth == 1 {
                self.finish_root_item()?;
            }
        }
        self.record_progress(frame, items_read);
        if items_read == frame.remaining {
            self.close_container();
        }
        Ok(())
    }

    /// Reads a run of at most `max` integers. Returns their number.
    fn read_integers(&mut self, max: u32) -> u32 {
        let input = self.scan.input;
        let mut offset = self.scan.offset;
        let mut items_read = 0;
        let mut run = [Node::int(0); RUN_LEN];
        loop {
            let mut count = 0;
            let wanted = (max - items_read).min(RUN_LEN as u32) as usize;
            for node in &mut run[..wanted] {
                if input.get(offset) != Some(&b'i') {
                    break;
                }
                let Some((value, next)) = parse_integer(input, offset + 1) else { break };
                *node = Node::int(value);
                offset = next;
                count += 1;
            }
            self.sink.tape().nodes.extend_from_slice(&run[..count]);
            items_read += count as u32;
            if count < RUN_LEN {
                self.scan.offset = offset;
                return items_read;
            }
        }
    }

    /// Must be called when an item of the root is complete. The sink may remove its nodes. Then links can't refer to
    /// the numbers so far.
    #[inline]
    pub(super) fn finish_root_item(&mut self) -> Result<(), Error> {
        if S::PARTS {
            let before = self.sink.nodes().len();
            self.sink.finish_child()?;
            if self.sink.nodes().len() < before {
                self.removed_below = self.numbers.len();
            }
        }
        Ok(())
    }

    /// Records in the innermost frame how many items or entries were read.
    #[inline(always)]
    fn record_progress(&mut self, frame: ReadFrame, items_read: u32) {
        if let Some(top) = self.frames.last_mut() {
            top.remaining = frame.remaining - items_read;
            top.count = frame.count + items_read;
        }
    }

    /// Reads entries of a small hash, or members of an object, whose keys were read before. Returns `true` if it
    /// opened a container.
    pub(super) fn read_fast_entries(&mut self, frame: ReadFrame) -> Result<bool, Error> {
        let depth = self.frames.len();
        let batch = frame.remaining.min(BATCH);
        let mut entries_read = 0;
        while entries_read < batch {
            let Some((key, key_end)) = self.parse_key(self.scan.offset, frame.state) else { break };
            entries_read += 1;
            if let Some((node, next)) = self.parse_leaf(key_end) {
                self.sink.tape().push(Node { key, ..node });
                self.scan.offset = next;
                continue;
            }
            self.record_progress(frame, entries_read);
            self.scan.offset = key_end;
            match self.read_record(key)? {
                RecordOutcome::Complete => {}
                RecordOutcome::Opened => return Ok(true),
                RecordOutcome::Other => {
                    self.read_value(key)?;
                    if self.frames.len() > depth {
                        return Ok(true);
                    }
                }
            }
        }
        self.record_progress(frame, entries_read);
        Ok(false)
    }

    /// Reads an array, a small hash or an object. At a child that is not a leaf the container stays open, and the
    /// machine continues there.
    #[inline]
    pub(super) fn read_record(&mut self, key: u16) -> Result<RecordOutcome, Error> {
        let input = self.scan.input;
        let start = self.scan.offset;
        let Some(tag) = input.get(start) else { return Ok(RecordOutcome::Other) };
        let (kind, state, min_size) = match *tag {
            b'[' => (Kind::Array, State::Array, 1),
            b'{' => (Kind::Map, State::Hash { has_key: false }, 2),
            b'o' | b'S' => (Kind::Object, State::Members, 2),
            _ => return Ok(RecordOutcome::Other),
        };
        let (mut offset, mut class, mut new_symbol) = (start + 1, 0, None);
        if kind == Kind::Object {
            let class_symbol = match input.get(offset) {
                Some(b';') => parse_integer(input, offset + 1)
                    .and_then(|(number, next)| Some((*self.symbols.get(usize::try_from(number).ok()?)?, next))),
                Some(b':') => {
                    let guessed = self.predict_class(offset + 1);
                    new_symbol = guessed.map(|(symbol, _)| symbol);
                    guessed
                }
                _ => None,
            };
            let Some((symbol, next)) = class_symbol else { return Ok(RecordOutcome::Other) };
            if symbol.class == 0 {
                return Ok(RecordOutcome::Other);
            }
            (class, offset) = (symbol.class, next);
        }
        let Some((count, next)) = parse_integer(input, offset) else { return Ok(RecordOutcome::Other) };
        offset = next;
        let fits_limits =
            self.may_open_level() && self.sink.nodes().len() + (BATCH as usize) < self.limits.nodes as usize;
        let count = match u32::try_from(count) {
            Ok(count)
                if count <= MAX_ENTRIES_WITH_IDS
                    && count as usize <= (input.len() - offset) / min_size
                    && fits_limits =>
            {
                count
            }
            _ => return Ok(RecordOutcome::Other),
        };

        self.symbols.extend(new_symbol);
        let first = self.sink.next_node();
        self.numbers.push(first);
        let tape = self.sink.tape();
        let node = if kind == Kind::Object {
            let form = if *tag == b'o' { Form::Usual } else { Form::Struct };
            tape.push(Node { key, ..Node::open(Kind::Object, class).in_form(form) });
            tape.push(Node::open(Kind::Map, 0))
        } else {
            tape.push(Node { key, ..Node::open(kind, 0) })
        };
        let mut remaining = count;
        while remaining > 0 {
            let mut key = NO_KEY;
            if kind != Kind::Array {
                let Some((id, next)) = self.parse_key(offset, state) else { break };
                (key, offset) = (id, next);
            }
            let Some((leaf, next)) = self.parse_leaf(offset) else {
                self.scan.offset = offset;
                remaining -= 1;
                self.frames.push(ReadFrame { state, node, remaining, count: count - remaining });
                self.read_value(key)?;
                return Ok(RecordOutcome::Opened);
            };
            self.sink.tape().push(Node { key, ..leaf });
            offset = next;
            remaining -= 1;
        }
        self.scan.offset = offset;
        if remaining > 0 {
            self.frames.push(ReadFrame { state, node, remaining, count: count - remaining });
            return Ok(RecordOutcome::Opened);
        }
        let tape = self.sink.tape();
        tape.close_container(node, count);
        if kind == Kind::Object {
            tape.close_container(first, 1);
        }
        Ok(RecordOutcome::Complete)
    }

    /// Returns `true` if [`Reader::read_fast_entries`] may read the keys of this hash.
    #[inline]
    pub(super) fn is_plain_hash(&self, frame: ReadFrame) -> bool {
        let by_identity = || self.sink.nodes().get(frame.node as usize).is_some_and(|map| map.has(flag::IDENTITY));
        frame.remaining.saturating_add(frame.count) <= MAX_ENTRIES_WITH_IDS && !by_identity()
    }
}
