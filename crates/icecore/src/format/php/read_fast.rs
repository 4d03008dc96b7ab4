//! A fast loop for common data. It reads leaves, lists, and the maps and objects whose keys and classes were read
//! before.
//!
//! It stops before anything else and does not consume it. The machine in [`super::read`] continues there. A reader
//! with detail uses only the machine, so tests can compare both.

use super::position::Position;
use super::read::{Frame, Machine};
use super::read_cache::{KeptText, MAX_KEPT_LEN, ReadCache};
use super::read_leaf::{SHORT_LIMIT, make_bytes_node, push_leaf, push_node, read_integer, read_number, read_string};
use crate::document::{IS_KEY, KEY_NODE, Kind, NO_KEY, Names, Node, Sink, Tape};
use crate::error::Error;
use crate::limits::Limits;

/// If the sink takes a document in parts: number of nodes after which the loop returns, so that the machine can call
/// the sink.
const BATCH: usize = 4096;
// A kept key is shorter than the limit of short strings, so its length is never compared with the limit.
const _: () = assert!(MAX_KEPT_LEN < SHORT_LIMIT as usize);

/// What stopped the loop.
enum ReadStop {
    /// The machine must handle the next bytes. None of them were consumed.
    Here,
    /// The machine must read the next value. The key before it was consumed; this is the id of the key.
    Value(u16),
}

impl<S: Sink> Machine<'_, '_, S> {
    /// Reads common content from the innermost container on. Returns `true` if it read something.
    #[inline]
    pub(super) fn read_fast_entries(&mut self) -> Result<bool, Error> {
        let (start, nodes) = (self.tokens.offset, self.sink.nodes().len());
        let stop = self.read_fast_content();
        if let ReadStop::Value(key) = stop {
            self.read_value(key)?;
            return Ok(true);
        }
        Ok(self.tokens.offset > start || self.sink.nodes().len() > nodes)
    }

    /// Opens the root if its head is a common one.
    pub(super) fn open_fast_root(&mut self) -> bool {
        let Machine { tokens, sink, frames, limits, cache, .. } = self;
        let Limits { depth, nodes: max_nodes, string: max_len, .. } = **limits;
        if S::PARTS || self.root_is_map || max_len < SHORT_LIMIT || depth == 0 {
            return false;
        }
        let input = tokens.input;
        let Tape { nodes, keys, classes, .. } = sink.tape();
        cache.remove_stale(keys, classes);
        let rest = input.get(tokens.offset..).unwrap_or_default();
        let mut run = Run { rest, input_len: input.len(), nodes, node_limit: max_nodes as usize, max_len };
        let frame = run.open_container(NO_KEY, NO_KEY, (keys, classes), cache);
        tokens.offset = input.len() - run.rest.len();
        frames.extend(frame);
        frame.is_some()
    }

    fn read_fast_content(&mut self) -> ReadStop {
        let Machine { tokens, sink, frames, limits, cache, .. } = self;
        let Limits { depth, nodes: max_nodes, string: max_len, .. } = **limits;
        // The functions below do not compare the lengths of short strings and keys with the limit. So a lower limit
        // is left to the machine.
        if max_len < SHORT_LIMIT {
            return ReadStop::Here;
        }
        let input = tokens.input;
        let Tape { nodes, keys, classes, .. } = sink.tape();
        cache.remove_stale(keys, classes);
        let mut node_limit = max_nodes as usize;
        if S::PARTS {
            node_limit = node_limit.min(nodes.len() + BATCH);
        }
        let mut run = Run {
            rest: input.get(tokens.offset..).unwrap_or_default(),
            input_len: input.len(),
            nodes,
            node_limit,
            max_len,
        };
        let mut position = Position::from_number(0);
        // A key that was consumed although its value was not: `read_pairs` stopped at this value in a new container.
        let mut pending_key = None;
        let stop = loop {
            let open = frames.len();
            let Some(frame) = frames.last_mut() else { break ReadStop::Here };
            if frame.remaining == 0 && pending_key.is_none() {
                let closed = *frame;
                // The machine closes the root, and a container whose outer frame is a payload.
                let is_inner = open > 1 && !frames[open - 2].is_payload;
                let Some([b'}', rest @ ..]) = Some(run.rest).filter(|_| is_inner) else { break ReadStop::Here };
                run.rest = rest;
                close_container(run.nodes, &closed);
                frames.pop();
                // A child of the root is complete, so the sink may take its nodes away. Only the machine calls the
                // sink.
                if S::PARTS && open == 2 {
                    break ReadStop::Here;
                }
                continue;
            }
            let value_key = if pending_key.is_some() {
                pending_key.take()
            } else if frame.is_list {
                position.move_to(frame.count);
                run.read_container_key(frame, &mut position).or_else(|| run.read_items(frame, &mut position))
            } else if frame.may_have_key_ids {
                run.read_pairs(frame, &cache.keys)
            } else {
                run.read_node_pairs(frame)
            };
            let key = match value_key {
                Some(key) => key,
                None if frame.remaining == 0 => continue,
                None if !frame.may_have_key_ids || frame.is_list || run.nodes.len() >= node_limit => {
                    break ReadStop::Here;
                }
                None => match run.read_unpredicted_key(frame, keys, cache) {
                    Some(key) if run.read_leaf(key) => continue,
                    Some(key) => key,
                    None => break ReadStop::Here,
                },
            };
            if open >= depth as usize {
                break ReadStop::Value(key);
            }
            let context_key = if key == NO_KEY || key == KEY_NODE { frame.context_key } else { key };
            let inner = run.open_container(key, context_key, (keys, classes), cache);
            let Some(mut inner) = inner else { break ReadStop::Value(key) };
            // Most maps and objects contain only leaves. Such a container is read at once, without a frame on the
            // stack.
            if !S::PARTS && inner.predicted_key != 0 && !inner.is_list {
                pending_key = run.read_pairs(&mut inner, &cache.keys);
                if pending_key.is_none()
                    && inner.remaining == 0
                    && let [b'}', rest @ ..] = run.rest
                {
                    run.rest = rest;
                    close_container(run.nodes, &inner);
                    continue;
                }
            }
            frames.push(inner);
        };
        tokens.offset = input.len() - run.rest.len();
        stop
    }
}

/// Position of the loop in the input, and the nodes that it appends. The functions read runs of entries of one
/// container. The state is small enough to stay in registers.
struct Run<'a, 't> {
    rest: &'a [u8],
    /// Length of the whole input.
    input_len: usize,
    nodes: &'t mut Vec<Node>,
    /// Maximum length of `nodes`.
    node_limit: usize,
    /// Limit of a string's length.
    max_len: u64,
}

impl Run<'_, '_> {
    /// Returns how many of the `remaining` entries may be read. Each needs one node, and the number of nodes is
    /// limited.
    #[inline(always)]
    fn readable_entries(&self, remaining: u32) -> u32 {
        self.node_limit.saturating_sub(self.nodes.len()).min(remaining as usize) as u32
    }

    /// Reads the key of an item that is a container.
    #[inline(always)]
    fn read_container_key(&mut self, frame: &mut Frame, position: &mut Position) -> Option<u16> {
        let rest = position.strip_from(self.rest)?;
        let is_one = matches!(rest.first(), Some(b'a' | b'O')) && self.nodes.len() < self.node_limit;
        is_one.then(|| {
            self.rest = rest;
            frame.remaining -= 1;
            frame.count += 1;
            position.increment();
            NO_KEY
        })
    }

    /// Reads items of a list that are leaves. If another value follows the key of an item, returns this key,
    /// `NO_KEY`, and the key is consumed.
    #[inline(never)]
    fn read_items(&mut self, frame: &mut Frame, position: &mut Position) -> Option<u16> {
        let (mut rest, mut next_position) = (self.rest, *position);
        let limit = self.readable_entries(frame.remaining);
        let mut read_count = 0;
        let value_key = loop {
            if read_count == limit {
                break None;
            }
            let Some(after_key) =
                next_position.strip_from(rest).or_else(|| skip_position_key(rest, next_position.number()))
            else {
                break None;
            };
            rest = after_key;
            next_position.increment();
            read_count += 1;
            let Some(after_value) = push_leaf(rest, NO_KEY, self.nodes, self.input_len, self.max_len) else {
                break Some(NO_KEY);
            };
            rest = after_value;
        };
        self.rest = rest;
        frame.count += read_count;
        frame.remaining -= read_count;
        *position = next_position;
        value_key
    }

    /// Like [`Self::read_items`], for entries whose keys are predicted. At a key that was not predicted it returns
    /// `None`.
    #[inline(never)]
    fn read_pairs(&mut self, frame: &mut Frame, keys: &[KeptText]) -> Option<u16> {
        let (mut rest, mut predicted_key, mut previous_key) = (self.rest, frame.predicted_key, frame.previous_key);
        let limit = self.readable_entries(frame.remaining);
        let mut read_count = 0;
        let value_key = loop {
            if read_count == limit {
                break None;
            }
            let Some(kept) = keys.get(usize::from(predicted_key)) else { break None };
            let Some(after_key) = kept.strip_from(rest) else { break None };
            rest = after_key;
            previous_key = predicted_key;
            predicted_key = kept.next;
            read_count += 1;
            let Some(after_value) = push_leaf(rest, previous_key, self.nodes, self.input_len, self.max_len) else {
                break Some(previous_key);
            };
            rest = after_value;
        };
        self.rest = rest;
        frame.count += read_count;
        frame.remaining -= read_count;
        (frame.predicted_key, frame.previous_key) = (predicted_key, previous_key);
        value_key
    }

    /// Like [`Self::read_pairs`], for entries whose keys become nodes.
    #[inline(never)]
    fn read_node_pairs(&mut self, frame: &mut Frame) -> Option<u16> {
        while frame.remaining > 0 && self.nodes.len() < self.node_limit {
            let (key, end) = read_key_node(self.rest, self.input_len, frame.is_object, self.max_len)?;
            push_node(self.nodes, Node { key: IS_KEY, ..key });
            self.rest = &self.rest[end..];
            frame.remaining -= 1;
            frame.count += 1;
            if !self.read_leaf(KEY_NODE) {
                return Some(KEY_NODE);
            }
        }
        None
    }

    /// Reads a key that was not predicted, but has an id. After this it is predicted here.
    #[inline(never)]
    fn read_unpredicted_key(&mut self, frame: &mut Frame, keys: &mut Names, cache: &mut ReadCache) -> Option<u16> {
        let (id, end) = find_known_key(self.rest, keys, frame, self.max_len)?;
        let class = if frame.is_object { self.nodes.get(frame.node as usize - 1)?.class() } else { 0 };
        frame.predicted_key = cache.learn_key(keys, (frame.previous_key, class, frame.context_key), id);
        frame.previous_key = id;
        frame.remaining -= 1;
        frame.count += 1;
        self.rest = &self.rest[end..];
        Some(id)
    }

    /// Reads a leaf. Returns `false` if the value is not one.
    fn read_leaf(&mut self, key: u16) -> bool {
        let Some(after_value) = push_leaf(self.rest, key, self.nodes, self.input_len, self.max_len) else {
            return false;
        };
        self.rest = after_value;
        true
    }

    /// Opens an array or an object if its head is a common one.
    #[inline(always)]
    fn open_container(
        &mut self,
        key: u16,
        context_key: u16,
        names: (&Names, &Names),
        cache: &mut ReadCache,
    ) -> Option<Frame> {
        match self.rest.first()? {
            b'a' => self.open_array(key, context_key, &cache.keys),
            b'O' => {
                let head = ObjectHead::read_predicted(self.rest, context_key, cache);
                let head =
                    head.or_else(|| ObjectHead::read_known(self.rest, context_key, names, cache, self.max_len))?;
                self.open_object(key, context_key, head)
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn open_array(&mut self, key: u16, context_key: u16, keys: &[KeptText]) -> Option<Frame> {
        let (count, rest) = match self.rest {
            [b'a', b':', digit @ b'0'..=b'9', b':', b'{', rest @ ..] => (u32::from(digit - b'0'), rest),
            [b'a', b':', ..] => {
                let (count, count_end) = read_number(self.rest, 2)?;
                (count, self.rest[count_end..].strip_prefix(b":{")?)
            }
            _ => return None,
        };
        // An entry has more than two bytes. If the input is too short for this count, the machine handles the
        // container.
        if count as usize > rest.len() / 2 {
            return None;
        }
        // The first key decides between a list and a map. If a later key does not fit into a list, the machine
        // changes the node into a map.
        let predicted_key = keys.get(usize::from(context_key)).map_or(0, |kept| kept.first);
        let is_guessed = || keys.get(usize::from(predicted_key)).is_some_and(|kept| kept.strip_from(rest).is_some());
        let is_list = match rest.first()? {
            _ if count == 0 => true,
            b'i' => rest.starts_with(b"i:0;") || read_integer(rest, 0).is_none_or(|(first, _)| first == 0),
            _ if is_guessed() => false,
            _ => read_string(rest, 0).is_none_or(|(start, ..)| rest[start] == b'0'),
        };
        self.rest = rest;
        let kind = if is_list { Kind::Array } else { Kind::Map };
        let node = push_node(self.nodes, Node { key, ..Node::open(kind, 0) });
        Some(Frame { node, context_key, predicted_key, ..Frame::new(count, false, is_list) })
    }

    #[inline(always)]
    fn open_object(&mut self, key: u16, context_key: u16, head: ObjectHead<'_>) -> Option<Frame> {
        let rest = &self.rest[head.text.len()..];
        if head.count as usize > rest.len() / 2 {
            return None;
        }
        self.rest = rest;
        push_node(self.nodes, Node { key, ..Node::open(Kind::Object, head.class) });
        let node = push_node(self.nodes, Node::open(Kind::Map, 0));
        Some(Frame { node, context_key, predicted_key: head.predicted_key, ..Frame::new(head.count, true, false) })
    }
}

/// Closes a container whose entries were all read. For an object, this closes the node of the object and its body.
#[inline(always)]
fn close_container(nodes: &mut [Node], frame: &Frame) {
    let (index, end) = (frame.node as usize, nodes.len() as u32);
    if let Some(node) = nodes.get_mut(index) {
        node.aux = frame.count;
        node.set_end(end);
    }
    if frame.is_object
        && let Some(node) = nodes.get_mut(index.wrapping_sub(1))
    {
        node.aux = 1;
        node.set_end(end);
    }
}

/// Returns what follows the key of an item of a list, if the key is this number.
#[inline(never)]
fn skip_position_key(rest: &[u8], number: u32) -> Option<&[u8]> {
    let (_, end) = read_integer(rest, 0).filter(|(position, _)| *position == i64::from(number))?;
    rest.get(end..)
}

/// Reads the string of a key. Returns `None` if PHP converts the key to an integer, such as "12", because the machine
/// does this.
#[inline(always)]
fn read_key_string(rest: &[u8], is_object: bool, max_len: u64) -> Option<(usize, usize, usize)> {
    let (start, len, end) = read_string(rest, 0)?;
    let may_be_integer = !is_object && matches!(rest.get(start), Some(b'0'..=b'9' | b'-'));
    (len as u64 <= max_len && !(may_be_integer && is_integer_key(rest, start, len))).then_some((start, len, end))
}

/// Returns the id of the key at the beginning of `rest`, if it has one, and the end of the key.
fn find_known_key(rest: &[u8], keys: &mut Names, frame: &Frame, max_len: u64) -> Option<(u16, usize)> {
    let predicted_key = keys.predict_next(frame.previous_key);
    if rest.first() == Some(&b'i') {
        let (number, end) = read_integer(rest, 0)?;
        return keys.is_integer(predicted_key, number).then_some((predicted_key, end));
    }
    let (start, len, end) = read_key_string(rest, frame.is_object, max_len)?;
    if keys.is_name_at(predicted_key, Kind::Bytes, 0, rest, start, len) {
        return Some((predicted_key, end));
    }
    let id = keys.recall_short(Kind::Bytes, 0, rest, start, len);
    if id == 0 {
        return None;
    }
    keys.learn_next(frame.previous_key, id);
    Some((id, end))
}

/// Returns the key at the beginning of `rest` as a node, and the end of the key. `input_len` is the length of the
/// whole input.
#[inline(always)]
fn read_key_node(rest: &[u8], input_len: usize, is_object: bool, max_len: u64) -> Option<(Node, usize)> {
    if rest.first() == Some(&b'i') {
        return read_integer(rest, 0).map(|(number, end)| (Node::int(number), end));
    }
    let (start, len, end) = read_key_string(rest, is_object, max_len)?;
    Some((make_bytes_node(input_len - rest.len() + start, len, max_len)?, end))
}

/// Head of an object whose class is known.
#[derive(Clone, Copy)]
pub(super) struct ObjectHead<'a> {
    pub(super) text: &'a [u8],
    pub(super) class: u32,
    /// Number of properties according to the head.
    pub(super) count: u32,
    /// The key that is predicted first.
    pub(super) predicted_key: u16,
}

impl<'a> ObjectHead<'a> {
    /// Reads the head of an object if it is the head that is predicted for a value of this key.
    #[inline(always)]
    fn read_predicted(rest: &'a [u8], context_key: u16, cache: &ReadCache) -> Option<ObjectHead<'a>> {
        let class = cache.keys.get(usize::from(context_key))?.class;
        let kept = cache.object_heads.get(usize::from(class))?;
        let after = kept.strip_from(rest)?;
        let text = &rest[..rest.len() - after.len()];
        Some(ObjectHead { text, class: u32::from(class), count: kept.count, predicted_key: kept.first })
    }

    /// Reads the head of any class that was read before. After this it is predicted for a value of this key.
    #[inline(never)]
    fn read_known(
        rest: &'a [u8],
        context_key: u16,
        (keys, classes): (&Names, &Names),
        cache: &mut ReadCache,
        max_len: u64,
    ) -> Option<ObjectHead<'a>> {
        let (len, quote) = read_number(rest, 2).filter(|(len, _)| rest[1] == b':' && u64::from(*len) <= max_len)?;
        let start = quote + 2;
        let end = start.checked_add(len as usize)?;
        if rest.get(quote..start)? != b":\"" || rest.get(end..end.checked_add(2)?)? != b"\":" {
            return None;
        }
        let class = cache.class_cache.find(classes, rest, start, len as usize)?;
        let (count, count_end) = read_number(rest, end + 2)?;
        let text = rest.get(..count_end + 2)?;
        let head = ObjectHead { text, class, count, predicted_key: 0 };
        text.ends_with(b":{").then(|| cache.learn_head(keys, classes, context_key, head))
    }
}

#[inline(never)]
fn is_integer_key(input: &[u8], start: usize, len: usize) -> bool {
    input.get(start..start + len).is_none_or(|bytes| super::text::integer_key(bytes).is_some())
}
