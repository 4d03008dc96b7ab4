//! Reads PHP's `serialize()` format. The reader is a machine: a loop with its own stack.

use super::links::Slots;
use super::list_to_map::DeferredKeys;
use super::read_cache::ReadCache;
use super::spl::PayloadInput;
use super::token::{QuotedBytes, Tokens};
use super::{ReadOptions, read_leaf, spelling, text};
use crate::document::{IS_KEY, KEY_NODE, Kind, NO_KEY, Node, Recorder, Sink};
use crate::error::{Error, ErrorDetail, ErrorKind};
use crate::format::feed;
use crate::format::list_to_map::{MAX_ENTRIES_WITH_IDS, MAX_KEY_IDS};
use crate::limits::Limits;

/// Number of open containers for which memory is kept for the next document.
const MAX_KEPT_FRAMES: usize = 1024;

/// A container that is still open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Index of its node. For an object, this is the node of its body, one after the node of the object.
    pub(super) node: u32,
    /// Number of entries still to read.
    pub(super) remaining: u32,
    /// Number of entries so far.
    pub(super) count: u32,
    pub(super) is_object: bool,
    /// Whether the keys so far are 0, 1, 2 and so on.
    pub(super) is_list: bool,
    /// Whether its keys get ids: it has few entries.
    pub(super) may_have_key_ids: bool,
    /// Id of the previous key; predicts the next one.
    pub(super) previous_key: u16,
    /// The key that the fast loop predicts next; 0 for none.
    pub(super) predicted_key: u16,
    /// The key of this container, or of the outermost list that contains it.
    pub(super) context_key: u16,
    /// Whether it is an object whose payload is being read; `remaining` is then always 0.
    pub(super) is_payload: bool,
    /// Whether the number of its entries is not known: the variables of a session.
    pub(super) is_uncounted: bool,
}

impl Frame {
    pub(super) fn new(remaining: u32, is_object: bool, is_list: bool) -> Frame {
        Frame {
            node: 0,
            remaining,
            count: 0,
            is_object,
            is_list,
            may_have_key_ids: remaining <= MAX_ENTRIES_WITH_IDS,
            previous_key: 0,
            predicted_key: 0,
            context_key: 0,
            is_payload: false,
            is_uncounted: false,
        }
    }

    pub(super) fn for_payload(node: u32) -> Frame {
        Frame { node, is_payload: true, ..Frame::new(0, false, false) }
    }
}

/// A key that is not yet on the tape.
pub(super) enum Key {
    Int(i64),
    /// Bytes in the input: their offset and length.
    Input(usize, usize),
    /// A string whose bytes are in the arena.
    Arena(Node),
}

pub(super) struct Machine<'a, 's, S: Sink> {
    pub(super) tokens: Tokens<'a>,
    /// The whole input; the input of the tokens ends with the current payload.
    pub(super) full_input: &'a [u8],
    pub(super) sink: &'s mut S,
    pub(super) limits: &'s Limits,
    pub(super) options: &'s ReadOptions,
    pub(super) frames: Vec<Frame>,
    pub(super) payloads: Vec<PayloadInput>,
    pub(super) slots: Slots,
    deferred_keys: DeferredKeys,
    /// Whether the root is a map even if its keys are those of a list.
    pub(super) root_is_map: bool,
    /// What the fast loop keeps from one document to the next.
    pub(super) cache: Box<ReadCache>,
    /// The value that is being read: its future node, and the id of its key.
    next_value: (u32, u16),
    /// Start and end of the key before the next value, if its spelling must be kept.
    pub(super) key_source: Option<(usize, usize)>,
}

impl<'a, 's, S: Sink> Machine<'a, 's, S> {
    pub(super) fn new(input: &'a [u8], options: &'s ReadOptions, limits: &'s Limits, sink: &'s mut S) -> Self {
        let mut cache: Box<ReadCache> = sink.tape().memory.take_or_default();
        let frames = std::mem::take(&mut cache.frames);
        Machine {
            tokens: Tokens::new(input, 0),
            full_input: input,
            sink,
            limits,
            options,
            frames,
            payloads: Vec::new(),
            slots: Slots::default(),
            deferred_keys: DeferredKeys::default(),
            root_is_map: false,
            cache,
            next_value: (0, NO_KEY),
            key_source: None,
        }
    }

    /// Reads the root and everything in it.
    pub(super) fn run(&mut self) -> Result<(), Error> {
        if S::DETAIL || !self.open_fast_root() {
            self.read_value(NO_KEY)?;
        }
        self.read_open_containers(0)
    }

    /// Continues until at most `outer` containers are open.
    #[inline(always)]
    pub(super) fn read_open_containers(&mut self, outer: usize) -> Result<(), Error> {
        while self.frames.len() > outer {
            if self.frames.len() == 1 {
                self.finish_child()?;
            }
            let Some(frame) = self.frames.last() else { break };
            if frame.is_payload {
                self.payload_step()?;
                continue;
            }
            if frame.remaining == 0 {
                self.tokens.expect_byte(b'}', "`}` after the last entry")?;
                self.close_container(true);
                continue;
            }
            if self.sink.nodes().len() >= self.limits.nodes as usize {
                return Err(self.limits.too_many_nodes().at(self.tokens.offset));
            }
            if S::DETAIL || !self.read_fast_entries()? {
                let key = self.read_key()?;
                self.read_value(key)?;
            }
        }
        Ok(())
    }

    /// Called when a child of the root is complete.
    #[inline]
    fn finish_child(&mut self) -> Result<(), Error> {
        // Nodes must be final before the sink takes them away.
        if self.sink.may_remove_nodes()
            && !self.deferred_keys.is_empty()
            && self.frames.last().is_some_and(|root| root.is_list)
        {
            std::mem::take(&mut self.deferred_keys).insert_keys(self.sink);
        }
        self.sink.finish_child()
    }

    /// Returns an error if the sink took nodes away. A link or a change to a map needs the earlier nodes.
    #[inline]
    fn require_all_nodes(&self, start: usize) -> Result<(), Error> {
        if self.sink.has_all_nodes() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::BadLink).at(start).expecting("a list without links"))
    }

    /// Returns the path of the value that could not be read.
    pub(super) fn failed_path(&mut self) -> String {
        let (index, key) = self.next_value;
        let input = self.full_input;
        let next = self.sink.tape().len();
        let innermost = self.frames.last().filter(|_| index == next && key != KEY_NODE && key != NO_KEY);
        innermost
            .and_then(|frame| self.sink.tape().path_to_key(frame.node, key, input))
            .unwrap_or_else(|| self.sink.tape().path_to(next, input))
    }

    /// Closes all open containers, and inserts the keys of the lists that became maps, also after an error. Returns
    /// the number of bytes that were read, and the error.
    pub(super) fn finish_reading(mut self, result: Result<(), Error>) -> (usize, Option<Error>) {
        let (input, consumed) = (self.full_input, self.tokens.offset);
        let error = result.err().map(|error| error.on_path(self.failed_path()));
        self.close_open_containers();
        if self.frames.capacity() <= MAX_KEPT_FRAMES {
            self.cache.frames = self.frames;
        }
        self.sink.tape().memory.put_back(self.cache);
        match self.options.lenient && error.is_none() {
            true => feed::ignore_rest(input, consumed, self.sink),
            false => (consumed, error),
        }
    }

    pub(super) fn close_open_containers(&mut self) {
        while let Some(frame) = self.frames.last() {
            if !frame.is_payload {
                let total = (!frame.is_uncounted).then(|| frame.count.saturating_add(frame.remaining));
                let index = frame.node;
                self.sink.record_cut(index, total);
            }
            self.close_container(false);
        }
        let deferred = std::mem::take(&mut self.deferred_keys);
        deferred.insert_keys(self.sink);
    }

    pub(super) fn close_container(&mut self, is_complete: bool) {
        let Some(frame) = self.frames.pop() else { return };
        if frame.is_payload {
            return self.abandon_payload();
        }
        let end = self.tokens.offset;
        let tape = self.sink.tape();
        // If the sink took items of the root away, the tape has only the later ones.
        let removed = if frame.node == tape.root { tape.first_item } else { 0 };
        tape.close_container(frame.node, frame.count - removed as u32);
        if frame.is_object {
            tape.close_container(frame.node - 1, 1);
        }
        let node = frame.node - u32::from(frame.is_object);
        if is_complete {
            self.sink.record_span(end - 1, end, node, "end");
        }
        self.sink.record_end(frame.node, end);
        self.sink.record_end(node, end);
    }

    // -- Detail ------------------------------------------------------------

    /// Keeps the source text from `start` to `end` for the value at `node`.
    pub(super) fn keep_source(&mut self, node: u32, code: u16, start: usize, end: usize) {
        let input = self.tokens.input;
        self.sink.record_note_bytes(node, code, input.get(start..end).unwrap_or(&[]));
    }

    /// Records that the node `index` starts here.
    #[inline]
    pub(super) fn begin_node(&mut self, index: u32, start: usize) {
        if !S::DETAIL {
            return;
        }
        if let Some((start, end)) = self.key_source.take() {
            self.keep_source(index, spelling::KEY, start, end);
        }
        self.sink.record_begin(index, start);
    }

    // -- Keys ---------------------------------------------------------------

    /// Reads the key of the next entry of the innermost container. Returns the value for
    /// [`Node::key`].
    #[inline]
    fn read_key(&mut self) -> Result<u16, Error> {
        let Some(frame) = self.frames.last_mut() else { return Ok(NO_KEY) };
        let start = self.tokens.offset;
        frame.remaining -= 1;
        let position = frame.count;
        frame.count += 1;
        let (is_object, is_list, may_have_id) = (frame.is_object, frame.is_list, frame.may_have_key_ids);
        let is_unusual;
        let key = match self.tokens.input.get(start).copied() {
            Some(b'i') => {
                let (value, is_default) = self.read_integer()?;
                is_unusual = !is_default;
                Key::Int(value)
            }
            Some(b's') => {
                let QuotedBytes { start: offset, len, is_default } = self.tokens.read_string()?;
                self.check_length(len, start)?;
                let value = text::integer_key(&self.tokens.input[offset..offset + len]).filter(|_| !is_object);
                is_unusual = !is_default || value.is_some();
                value.map_or(Key::Input(offset, len), Key::Int)
            }
            Some(b'S') => {
                is_unusual = true;
                let node = self.read_escaped_string(start)?;
                let value = text::integer_key(self.sink.tape().string_bytes(&node, &[]));
                match value {
                    Some(value) if !is_object => Key::Int(value),
                    _ => Key::Arena(node),
                }
            }
            _ => return Err(self.tokens.no_key_error()),
        };
        let end = self.tokens.offset;
        if S::DETAIL {
            self.key_source = is_unusual.then_some((start, end));
            let next = self.sink.tape().len();
            self.sink.record_span(start, end, next, "key");
        }
        if is_list {
            if matches!(key, Key::Int(value) if value == i64::from(position)) {
                return Ok(NO_KEY);
            }
            if self.frames.len() == 1 {
                self.require_all_nodes(start)?;
            }
            self.convert_to_map(position);
        }
        Ok(self.place_key(&key, may_have_id, start))
    }

    #[inline]
    pub(super) fn place_key(&mut self, key: &Key, may_have_id: bool, start: usize) -> u16 {
        let input = self.tokens.input;
        if may_have_id {
            if let Key::Input(offset, len) = *key {
                let id = self.sink.tape().keys.recall_short(Kind::Bytes, 0, input, offset, len);
                if id != 0 {
                    return self.learn_next_key(id);
                }
            }
            if let Some(id) = self.intern_new_key(key) {
                return self.learn_next_key(id);
            }
        }
        let node = match *key {
            Key::Int(value) => Node::int(value),
            Key::Input(offset, len) => self.sink.tape().new_borrowed_string(Kind::Bytes, offset, len),
            Key::Arena(node) => node,
        };
        let index = self.sink.tape().push(Node { key: IS_KEY, ..node });
        let end = self.tokens.offset;
        self.sink.record_extent(index, start, end);
        KEY_NODE
    }

    /// Remembers that this key followed the previous one. Returns the key.
    fn learn_next_key(&mut self, id: u16) -> u16 {
        if let Some(frame) = self.frames.last_mut() {
            self.sink.tape().keys.learn_next(frame.previous_key, id);
            frame.previous_key = id;
            frame.predicted_key = 0;
        }
        id
    }

    #[inline(never)]
    fn intern_new_key(&mut self, key: &Key) -> Option<u16> {
        let input = self.tokens.input;
        let tape = self.sink.tape();
        if tape.keys.len() >= MAX_KEY_IDS {
            return None;
        }
        match *key {
            Key::Int(value) => tape.intern_key(Node::int(value), &[]),
            Key::Input(offset, len) => tape.intern_key(Node::leaf(Kind::Bytes, 0), &input[offset..offset + len]),
            Key::Arena(node) => {
                let bytes = tape.string_bytes(&node, input).to_vec();
                tape.intern_key(Node::leaf(Kind::Bytes, 0), &bytes)
            }
        }
    }

    /// Changes the innermost array into a map. The `count` entries before this one get their positions as
    /// keys later, in [`Self::finish_child`] or [`Self::close_open_containers`].
    #[cold]
    fn convert_to_map(&mut self, count: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.is_list = false;
            self.deferred_keys.convert_to_map(self.sink.tape(), frame.node, count);
        }
    }

    // -- Values ---------------------------------------------------------------

    /// Reads a value: a leaf completely, a container up to its beginning.
    #[inline]
    pub(super) fn read_value(&mut self, key: u16) -> Result<(), Error> {
        let start = self.tokens.offset;
        self.next_value = (self.sink.nodes().len() as u32, key);
        let (node, is_default) = match self.tokens.input.get(start).copied() {
            Some(b's') => {
                let QuotedBytes { start: offset, len, is_default } = self.tokens.read_string()?;
                self.check_length(len, start)?;
                let node = self.sink.tape().new_borrowed_string(Kind::Bytes, offset, len);
                if S::DETAIL {
                    self.record_string(Node { key, ..node }, is_default, start, offset, len);
                    return Ok(());
                }
                (node, is_default)
            }
            Some(b'i') => {
                let (value, is_default) = self.read_integer()?;
                (Node::int(value), is_default)
            }
            Some(b'a') => return self.read_array(key),
            Some(b'O') => return self.read_object(key),
            Some(b'd') => {
                let (value, text_start) = self.tokens.read_float()?;
                let mut is_default = true;
                if S::DETAIL {
                    let mut text = Vec::new();
                    text::push_float(value, &mut text);
                    is_default = text == self.tokens.input[text_start..self.tokens.offset - 1];
                }
                (Node::float(value), is_default)
            }
            Some(b'N') => {
                self.tokens.read_word(b"N;")?;
                (Node::leaf(Kind::Null, 0), true)
            }
            Some(b'b') => (Node::leaf(Kind::Bool, u64::from(self.tokens.read_boolean()?)), true),
            Some(b'S') => (self.read_escaped_string(start)?, false),
            Some(b'E') => {
                let QuotedBytes { start: offset, len, is_default } = self.tokens.read_enum_case()?;
                self.check_length(len, start)?;
                (self.sink.tape().new_borrowed_string(Kind::EnumCase, offset, len), is_default)
            }
            Some(b'C') => return self.read_opaque(key),
            Some(b'r' | b'R') => self.read_link(start)?,
            _ => return Err(self.tokens.no_value_error()),
        };
        let index = self.sink.tape().push(Node { key, ..node });
        if S::DETAIL {
            let end = self.tokens.offset;
            self.begin_node(index, start);
            self.sink.record_span(start, end, index, "value");
            if !is_default {
                self.keep_source(index, spelling::SOURCE, start, end);
            }
            self.sink.record_end(index, end);
        }
        Ok(())
    }

    /// Records a string with its pieces.
    #[cold]
    fn record_string(&mut self, node: Node, is_default: bool, start: usize, text: usize, len: usize) {
        let end = self.tokens.offset;
        let index = self.sink.tape().push(node);
        self.begin_node(index, start);
        self.sink.record_span(start, text, index, "length");
        self.sink.record_span(text, text + len, index, "string");
        self.sink.record_span(text + len, end, index, "end");
        if !is_default {
            self.keep_source(index, spelling::HEAD, start, text);
        }
        self.sink.record_end(index, end);
    }

    #[inline]
    pub(super) fn read_integer(&mut self) -> Result<(i64, bool), Error> {
        let start = self.tokens.offset;
        let (value, is_default, fits) = self.tokens.read_integer()?;
        if !fits && !self.options.lenient {
            return Err(Error::new(ErrorKind::Malformed)
                .detailing(ErrorDetail::WideInteger)
                .at(start)
                .expecting("an integer of at most 64 bits")
                .finding("a larger one")
                .helping("`lenient` clamps it, as PHP does"));
        }
        Ok((value, is_default && fits))
    }

    #[inline]
    pub(super) fn check_length(&self, len: usize, offset: usize) -> Result<(), Error> {
        if len as u64 > self.limits.string {
            return Err(self.limits.too_long(len as u64).at(offset));
        }
        Ok(())
    }

    /// Reads a string with escapes and decodes it into the arena.
    fn read_escaped_string(&mut self, start: usize) -> Result<Node, Error> {
        let mut bytes = Vec::new();
        self.tokens.read_escaped(&mut bytes)?;
        self.check_length(bytes.len(), start)?;
        Ok(self.sink.tape().new_owned_string(Kind::Bytes, &bytes))
    }

    /// Reads `r:` or `R:`.
    #[cold]
    fn read_link(&mut self, start: usize) -> Result<(Node, bool), Error> {
        let is_same_variable = self.tokens.input[start] == b'R';
        let (slot, is_default) = self.tokens.read_link()?;
        if self.options.ignores_links {
            return Ok((Node::leaf(Kind::Null, 0), is_default));
        }
        self.require_all_nodes(start)?;
        let found = self.slots.find_node(self.sink.nodes(), slot);
        if self.options.accept_unknown_links
            && found.as_ref().is_err_and(|error| error.kind() == ErrorKind::Unsupported)
        {
            return Ok((Node::leaf(Kind::Null, 0), is_default));
        }
        let (target, direct) = found
            .and_then(|node| {
                if is_same_variable { Ok((node, true)) } else { self.slots.resolve_object(self.sink.nodes(), node) }
            })
            .map_err(|error| self.tokens.add_php_message(error.at(start), self.tokens.offset))?;
        self.sink.tape().mark_target(target);
        let kind = if is_same_variable { Kind::Alias } else { Kind::Link };
        Ok((Node::leaf(kind, u64::from(target)), is_default && direct))
    }

    /// Pushes the node of a container and opens it.
    pub(super) fn open_container(
        &mut self,
        node: Node,
        start: usize,
        frame: Frame,
        is_default: bool,
    ) -> Result<(), Error> {
        // PHP counts neither an array without entries nor the payload of a class as a level.
        let is_level = frame.remaining > 0 || frame.is_object;
        if is_level && self.frames.len() - self.payloads.len() >= self.limits.depth as usize {
            return Err(self.limits.too_deep().at(start));
        }
        let index = self.sink.tape().push(node);
        let end = self.tokens.offset;
        if S::DETAIL {
            self.begin_node(index, start);
            self.sink.record_span(start, end, index, "head");
            if !is_default {
                self.keep_source(index, spelling::HEAD, start, end);
            }
        }
        let mut body = index;
        if frame.is_object {
            body = self.sink.tape().push(Node::open(Kind::Map, 0));
            self.sink.record_begin(body, end);
        }
        self.frames.push(Frame { node: body, ..frame });
        Ok(())
    }

    fn has_count_error(&mut self) -> bool {
        self.sink.detail().is_some_and(|detail| detail.count_error.is_some())
    }

    /// Sets the path of an error that was just deferred. The key of the container may not be on the tape yet.
    #[inline]
    fn name_count_error(&mut self, had_count_error: bool) {
        if S::DETAIL && !had_count_error && self.has_count_error() {
            let path = self.failed_path();
            if let Some((_, error_path)) = self.sink.detail().and_then(|detail| detail.count_error.as_mut()) {
                *error_path = path;
            }
        }
    }

    #[inline]
    fn read_array(&mut self, key: u16) -> Result<(), Error> {
        let start = self.tokens.offset;
        let had_count_error = S::DETAIL && self.has_count_error();
        let (remaining, is_default) = self.tokens.read_array_head(self.sink)?;
        self.name_count_error(had_count_error);
        // A list begins with the key 0, or with the string "0", which PHP converts. For an integer, `read_string`
        // returns `None`, and the first key that is not its position changes the list into a map.
        let first = read_leaf::read_string(self.tokens.input, self.tokens.offset);
        let is_list = remaining == 0 || first.is_none_or(|(first, ..)| self.tokens.input[first] == b'0');
        let is_list = is_list && !(self.root_is_map && self.frames.is_empty());
        let frame = Frame::new(remaining, false, is_list);
        let kind = if is_list { Kind::Array } else { Kind::Map };
        self.open_container(Node { key, ..Node::open(kind, 0) }, start, frame, is_default)
    }

    fn read_object(&mut self, key: u16) -> Result<(), Error> {
        let start = self.tokens.offset;
        let had_count_error = S::DETAIL && self.has_count_error();
        let (name, remaining, is_default) = self.tokens.read_object_head(self.sink)?;
        self.name_count_error(had_count_error);
        let class = self.intern_class(name)?;
        let frame = Frame::new(remaining, true, false);
        self.open_container(Node { key, ..Node::open(Kind::Object, class) }, start, frame, is_default)
    }

    pub(super) fn intern_class(&mut self, name: QuotedBytes) -> Result<u32, Error> {
        let start = name.start;
        self.check_length(name.len, start)?;
        let bytes = &self.tokens.input[start..start + name.len];
        let class = self.sink.tape().intern_class(Kind::Bytes, bytes).map_err(|error| error.at(start))?;
        self.cache.remember_class(self.sink.tape(), self.tokens.input, (start, name.len), class);
        Ok(class)
    }
}
