//! Reads arrays and hashes.

use super::numbers::NumberedValue;
use super::read::{Frame, MAX_ENTRIES_WITH_IDS, MAX_KEY_IDS, Machine, NONE, Prefix, State};
use super::spelling::value as code;
use super::tag;
use crate::document::{IS_KEY, KEY_NODE, Kind, NO_KEY, Node, Note, Recorder, Sink, flag};
use crate::error::{Error, ErrorKind};

impl<S: Sink, const FAST: bool> Machine<'_, '_, S, FAST> {
    pub(super) fn begin_array(&mut self, count: u32, mut prefix: Prefix) -> Result<(), Error> {
        let flags = self.push_container_wrapper(&mut prefix)?;
        self.open_container(State::Array, Node::open(Kind::Array, 0).with(flags), count, prefix)?;
        Ok(())
    }

    pub(super) fn begin_hash(&mut self, hash_flags: Option<u8>, count: u32, mut prefix: Prefix) -> Result<(), Error> {
        let flags = self.push_container_wrapper(&mut prefix)?;
        let mut node = Node::open(Kind::Map, 0).with(flags);
        let mut state = State::Hash;
        if let Some(hash_flags) = hash_flags {
            state = State::FlagHash;
            if hash_flags & tag::hash::RESTRICTED != 0 {
                node = node.with(flag::RESTRICTED);
            }
            let index = self.sink.next_node();
            self.sink.record_note(index, code::HASH_FLAGS, u64::from(hash_flags));
        }
        self.open_container(state, node, count, prefix)?;
        Ok(())
    }

    pub(super) fn continue_array(&mut self) -> Result<(), Error> {
        if FAST && self.read_common_items()? {
            return Ok(());
        }
        if self.frames.len() == 1 {
            self.sink.finish_child()?;
        }
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        if frame.remaining == 0 {
            self.close_container();
            return Ok(());
        }
        frame.remaining -= 1;
        frame.count += 1;
        self.read_value(false)
    }

    pub(super) fn continue_hash(&mut self) -> Result<(), Error> {
        let Some(frame) = self.frames.last().copied() else { return Ok(()) };
        if frame.value != NONE {
            self.read_key(frame)?;
        }
        if FAST && self.read_common_entries()? {
            return Ok(());
        }
        if self.frames.len() == 1 {
            self.sink.finish_child()?;
        }
        let keyed = self.sink.tape().keys.len() + self.frames.len() < MAX_KEY_IDS;
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        if frame.remaining == 0 {
            self.close_container();
            return Ok(());
        }
        frame.has_slot = !keyed || frame.remaining + frame.count > MAX_ENTRIES_WITH_IDS;
        if frame.has_slot {
            let mut slot = Node::leaf(Kind::Null, 0);
            slot.key = IS_KEY;
            self.sink.tape().push(slot);
        }
        let next = self.sink.tape().len();
        frame.value = next;
        frame.remaining -= 1;
        frame.count += 1;
        self.read_value(false)
    }

    /// Reads the key of the value that was just read.
    pub(super) fn read_key(&mut self, frame: Frame) -> Result<(), Error> {
        let value = frame.value;
        let mut flags = 0;
        if frame.state == State::FlagHash {
            let flags_start = self.scan.offset;
            flags = self.scan.read_u8("a key's flags")?;
            self.record_piece(flags_start, value, "key flags");
        }
        // A key that is a scalar has its kind in its own tag.
        let encoding = if flags & tag::hash::KEY_IS_SV != 0 { 0 } else { flags };
        let mut kind = if encoding & tag::hash::KEY_UTF8 != 0 { Kind::Text } else { Kind::Bytes };
        let prefix_start = self.scan.offset;
        let len = if flags & tag::hash::KEY_IS_SV != 0 {
            let tag = self.scan.read_u8("a key's tag")?;
            self.record_piece(prefix_start, value, tag::name_of(tag));
            let length_start = self.scan.offset;
            let len = match tag {
                tag::SCALAR | tag::UTF8STR => u32::from(self.scan.read_u8("a key's length")?),
                tag::LSCALAR | tag::LUTF8STR => self.read_u32("a key's length")?,
                _ => {
                    return Err(Error::new(ErrorKind::Unsupported)
                        .at(length_start - 1)
                        .expecting("a string as the key of a hash")
                        .finding(tag::name_of(tag)));
                }
            };
            self.ensure_numbers(&Prefix { has_implied_reference: true, ..Prefix::default() });
            self.numbers.assign_next(NumberedValue::Key);
            if matches!(tag, tag::UTF8STR | tag::LUTF8STR) {
                kind = Kind::Text;
            }
            self.sink.record_note(value, code::KEY_TAG, u64::from(tag));
            self.record_piece(length_start, value, "key length");
            len
        } else {
            let len = self.read_u32("a key's length")?;
            self.record_piece(prefix_start, value, "key length");
            len
        };
        let start = self.scan.offset;
        let node = self.read_string(kind, u64::from(len), "a key")?;
        self.record_piece(start, value, "key");
        let mut key_flags = 0;
        if flags & tag::hash::KEY_LOCKED != 0 && frame.flags_of_hash(self.sink.tape().nodes()) & flag::RESTRICTED != 0 {
            key_flags |= flag::LOCKED;
        }
        // Storable ignores this flag for a key that is a scalar.
        if flags & (tag::hash::KEY_PLACEHOLDER | tag::hash::KEY_IS_SV) == tag::hash::KEY_PLACEHOLDER {
            // Storable marks the value of an absent key as read-only, too. This mark is implied, so it is dropped.
            key_flags = flag::PLACEHOLDER;
            match self.sink.tape().nodes.get_mut(value as usize) {
                Some(node) if node.kind == Kind::Null => {
                    node.kind = Kind::Hole;
                    node.flags &= !flag::OWN;
                }
                // Storable reads a value here and drops it.
                _ => {
                    return Err(self.malformed_error(
                        prefix_start,
                        "a key that is not marked as absent, because it has a value",
                        "the mark",
                    ));
                }
            }
            if S::DETAIL
                && let Some(detail) = self.sink.detail()
            {
                let is_tag = |note: &Note| note.ordinal == value && note.code == code::TAG;
                // UNDEF is the default tag of a value. For an absent key, another tag is the default, so UNDEF is
                // recorded.
                if !detail.spelling.notes.iter().rev().take(4).any(is_tag) {
                    detail.record_note(value, code::TAG, u64::from(tag::UNDEF));
                }
            }
        }
        if frame.state == State::FlagHash {
            self.sink.record_note(value, code::KEY_FLAGS, u64::from(flags));
        }
        let bytes = &self.scan.input[start..self.scan.offset];
        let id = if encoding & tag::hash::KEY_WAS_UTF8 != 0
            && kind == Kind::Bytes
            && (self.options.text_keys || !bytes.is_ascii())
        {
            let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            let node = Node::leaf(Kind::Text, 0).with(key_flags);
            self.assign_key(frame, node, text.as_bytes(), None)
        } else {
            self.assign_key(frame, node.with(key_flags), bytes, Some(node.with(key_flags)))
        };
        if let Some(frame) = self.frames.last_mut() {
            frame.value = NONE;
            frame.last_key = id;
        }
        Ok(())
    }

    /// Assigns a key to the value before it, and returns the id of the key. `borrowed_key` is
    /// the node of a key whose bytes are in the input as they are.
    pub(super) fn assign_key(&mut self, frame: Frame, name: Node, bytes: &[u8], borrowed_key: Option<Node>) -> u16 {
        let value = frame.value;
        let tape = self.sink.tape();
        if frame.has_slot {
            let mut key = match borrowed_key {
                Some(node) => node,
                None => tape.new_owned_string(name.kind, bytes).with(name.flags),
            };
            key.key = IS_KEY;
            if let Some(slot) = value.checked_sub(1).and_then(|slot| tape.nodes.get_mut(slot as usize)) {
                *slot = key;
            }
            tape.set_key(value, KEY_NODE);
            return NO_KEY;
        }
        let name = Node { payload: 0, aux: 0, key: NO_KEY, ..name };
        let id = tape.keys.intern_always(name, bytes).and_then(|id| u16::try_from(id).ok()).unwrap_or(NO_KEY);
        tape.set_key(value, id);
        tape.keys.learn_next(frame.last_key, id);
        id
    }
}
