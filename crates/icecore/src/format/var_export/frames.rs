//! Containers and keys.

use super::list_to_map::DeferredKeys;
use super::number::float_key;
use super::read::Machine;
use super::text::integer_key;
use super::words::ContainerSyntax;
use crate::document::{IS_KEY, KEY_NODE, Kind, Location, NO_KEY, Node, Recorder, Sink};
use crate::error::{Error, ErrorKind};
use crate::format::list_to_map::{MAX_ENTRIES_WITH_IDS, MAX_KEY_IDS};

/// A container that is still open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Its node; for an object, the node of its body.
    pub(super) node: u32,
    /// Number of entries so far.
    pub(super) count: u32,
    pub(super) syntax: ContainerSyntax,
    /// Whether its keys are names of properties, which are strings.
    has_names: bool,
    /// The bracket that ends it.
    pub(super) close: u8,
    /// Whether the keys so far are 0, 1, 2 and so on.
    pub(super) is_list: bool,
    /// The key that PHP gives to a value without one; `None` if none is left.
    pub(super) next_key: Option<i64>,
    /// Whether it has an integer key.
    pub(super) has_integer: bool,
}

impl Frame {
    pub(super) fn new(node: u32, syntax: ContainerSyntax, has_names: bool, close: u8) -> Frame {
        let is_list = syntax == ContainerSyntax::Array;
        Frame { node, count: 0, syntax, has_names, close, is_list, next_key: Some(0), has_integer: false }
    }

    /// Marks this key as used.
    fn mark_used(&mut self, key: i64) {
        if !self.has_integer || self.next_key.is_some_and(|next| key >= next) {
            self.has_integer = true;
            self.next_key = key.checked_add(1);
        }
    }
}

/// A key that is not yet on the tape.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key {
    Int(i64),
    Bytes(Node),
}

impl<S: Sink> Machine<'_, '_, S> {
    /// Returns the key that this value is in the innermost container.
    pub(super) fn convert_to_key(&mut self, node: Node, start: usize) -> Result<Key, Error> {
        let key = match node.kind {
            Kind::Bytes => Key::Bytes(node),
            Kind::Int => Key::Int(node.payload as i64),
            Kind::Bool => Key::Int(i64::from(node.payload != 0)),
            Kind::Float => Key::Int(float_key(f64::from_bits(node.payload))),
            Kind::Null => Key::Bytes(Node::string(Kind::Bytes, Location::Input(0), 0)),
            _ => {
                return Err(Error::new(ErrorKind::Malformed)
                    .at(start)
                    .expecting("a key that is a string or an integer")
                    .finding("an enum case"));
            }
        };
        let Some(frame) = self.frames.last_mut() else { return Ok(key) };
        match (key, frame.syntax) {
            (Key::Int(value), _) => {
                frame.mark_used(value);
                Ok(if frame.has_names { self.make_property_key(value) } else { key })
            }
            (Key::Bytes(node), syntax) => {
                let value = integer_key(self.sink.tape().string_bytes(&node, self.lexer.input));
                let Some(value) = value else { return Ok(key) };
                frame.mark_used(value);
                Ok(if syntax == ContainerSyntax::Array { Key::Int(value) } else { key })
            }
        }
    }

    /// Returns the key of a value without one.
    pub(super) fn take_next_key(&mut self, start: usize) -> Result<Key, Error> {
        let Some(frame) = self.frames.last_mut() else { return Ok(Key::Int(0)) };
        let Some(next) = frame.next_key else {
            // It may be a key that is cut off.
            let mut lexer = self.lexer;
            lexer.skip_blanks()?;
            if lexer.rest().is_empty() || lexer.rest() == b"=" {
                return Err(lexer.unexpected_byte_error(lexer.input.len(), "`=>`"));
            }
            return Err(Error::new(ErrorKind::Malformed)
                .at(start)
                .expecting("a key, as none follows the largest integer")
                .finding("a value without a key"));
        };
        frame.mark_used(next);
        Ok(if frame.has_names { self.make_property_key(next) } else { Key::Int(next) })
    }

    /// Returns the name of a property, a string, for an integer.
    fn make_property_key(&mut self, value: i64) -> Key {
        Key::Bytes(self.sink.tape().new_owned_string(Kind::Bytes, value.to_string().as_bytes()))
    }

    /// Assigns this key to the next value of the innermost container. Returns the value
    /// for [`Node::key`].
    pub(super) fn place_key(&mut self, key: Key, start: usize, end: usize) -> u16 {
        let Some(frame) = self.frames.last_mut() else { return NO_KEY };
        let position = frame.count;
        frame.count += 1;
        if frame.is_list {
            if matches!(key, Key::Int(value) if value == i64::from(position)) {
                return NO_KEY;
            }
            self.convert_to_map(position);
        }
        let input = self.lexer.input;
        let tape = self.sink.tape();
        if position < MAX_ENTRIES_WITH_IDS && tape.keys.len() < MAX_KEY_IDS {
            let id = match key {
                Key::Int(value) => tape.intern_key(Node::int(value), &[]),
                Key::Bytes(node) => match (node.location(), usize::try_from(node.aux)) {
                    (Location::Input(offset), Ok(len)) if node.aux < u32::MAX => {
                        match tape.keys.recall_short(Kind::Bytes, 0, input, offset as usize, len) {
                            0 => tape
                                .intern_key(Node::leaf(Kind::Bytes, 0), &input[offset as usize..offset as usize + len]),
                            id => Some(id),
                        }
                    }
                    _ => {
                        let bytes = tape.string_bytes(&node, input).to_vec();
                        tape.intern_key(Node::leaf(Kind::Bytes, 0), &bytes)
                    }
                },
            };
            if let Some(id) = id {
                return id;
            }
        }
        let node = match key {
            Key::Int(value) => Node::int(value),
            Key::Bytes(node) => node,
        };
        let index = self.sink.tape().push(Node { key: IS_KEY, ..node });
        self.sink.record_extent(index, start, end);
        KEY_NODE
    }

    /// The innermost array is not a list: the `count` entries before this one get their
    /// keys.
    #[cold]
    fn convert_to_map(&mut self, count: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.is_list = false;
            self.deferred_keys.convert_to_map(self.sink.tape(), frame.node, count);
        }
    }

    /// Closes open containers, and inserts the keys of lists that turned out to be
    /// maps, even after an error.
    pub(super) fn close_open_containers(&mut self) {
        while let Some(frame) = self.frames.last() {
            let node = frame.node;
            self.sink.record_cut(node, None);
            self.close_container();
        }
        let deferred: DeferredKeys = std::mem::take(&mut self.deferred_keys);
        deferred.insert_keys(self.sink);
    }

    /// Closes the innermost container.
    pub(super) fn close_container(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let end = self.lexer.offset;
        let is_object = frame.syntax != ContainerSyntax::Array;
        let tape = self.sink.tape();
        tape.close_container(frame.node, frame.count);
        if is_object {
            tape.close_container(frame.node - 1, 1);
        }
        self.sink.record_end(frame.node, end);
        self.sink.record_end(frame.node - u32::from(is_object), end);
    }
}
