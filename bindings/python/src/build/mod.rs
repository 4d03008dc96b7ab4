//! Builds Python values from a tape.
//!
//! The builder is one loop with an explicit stack. A container is created when it begins, so that
//! links inside of it can refer to it. When it ends, it is added to the outer container.

mod cache;
mod keys;
mod leaf;
mod open;

pub(crate) use cache::Cache;

use crate::failure::to_py_error;
use crate::python_classes::PythonClasses;
use crate::reading::ReadOptions;
use icecore::raw::{IS_KEY, KEY_NODE, NO_KEY, Node, flag};
use icecore::{Codec, Document, Error, ErrorKind, Kind, Limits};
use open::{Frame, OpenContainer};
use pyo3::prelude::*;
use std::collections::HashMap;

/// Builds the value of a document.
pub(crate) struct Builder<'b, 'py> {
    py: Python<'py>,
    document: &'b Document<'b>,
    nodes: &'b [Node],
    cache: &'b mut Cache,
    reading: &'b ReadOptions<'py>,
    codec: &'b Codec,
    /// The values to which links may refer, by their nodes.
    link_targets: HashMap<u32, Bound<'py, PyAny>>,
    /// The caller's factory for each class, by the id of the class.
    factories: HashMap<u32, Option<Bound<'py, PyAny>>>,
    stack: Vec<Frame<'py>>,
    /// Hash collisions in large maps.
    collisions: keys::Collisions,
}

/// The place of a value in its container.
enum Slot<'py> {
    /// The value is the next item.
    Item,
    /// The value is the key of the next value.
    Key,
    /// The value has this key.
    Entry(Bound<'py, PyAny>),
    /// The value has no place. Perl can restrict the keys of a hash: this key is allowed, but the hash does not have
    /// it.
    Absent,
}

/// A complete value, or a container that begins.
enum BegunValue<'py> {
    Complete(Bound<'py, PyAny>),
    Open(OpenContainer<'py>),
}

impl<'b, 'py> Builder<'b, 'py> {
    pub(crate) fn new(
        py: Python<'py>,
        document: &'b Document<'b>,
        cache: &'b mut Cache,
        codec: &'b Codec,
        reading: &'b ReadOptions<'py>,
    ) -> Builder<'b, 'py> {
        cache.discard_stale_strings(document.tape(), reading);
        Builder {
            py,
            document,
            nodes: document.nodes(),
            cache,
            reading,
            codec,
            link_targets: HashMap::new(),
            factories: HashMap::new(),
            stack: Vec::new(),
            collisions: keys::Collisions::default(),
        }
    }

    /// Builds the value of the root.
    pub(crate) fn build(mut self) -> PyResult<Bound<'py, PyAny>> {
        let mut index = self.document.tape().root();
        while let Some(node) = self.nodes.get(index as usize) {
            if let Some(next) = self.append_leaves(index)? {
                index = next;
                if let Some(value) = self.close_ended(index)? {
                    return Ok(value);
                }
                continue;
            }
            let slot = self.find_slot(index, node)?;
            let (begun, next) = self.begin_value(index, node)?;
            index = next;
            let value = match begun {
                BegunValue::Complete(value) => value,
                BegunValue::Open(open) => {
                    if node.end() > index {
                        self.stack.push(Frame::new(open, slot, index - 1, node));
                        continue;
                    }
                    self.close_container(open, index - 1)?
                }
            };
            if self.stack.is_empty() {
                return Ok(value);
            }
            self.put_value(slot, value)?;
            if let Some(value) = self.close_ended(index)? {
                return Ok(value);
            }
        }
        // The tape is truncated; the reader has reported that already.
        Ok(self.py.None().into_bound(self.py))
    }

    /// Closes the containers that end at or before `index`. Returns the value if the outermost
    /// container ended.
    #[inline]
    fn close_ended(&mut self, index: u32) -> PyResult<Option<Bound<'py, PyAny>>> {
        while let Some(frame) = self.stack.pop_if(|frame| frame.end <= index) {
            let value = self.close_container(frame.open, frame.node)?;
            if self.stack.is_empty() {
                return Ok(Some(value));
            }
            self.put_value(frame.slot, value)?;
        }
        Ok(None)
    }

    /// Adds consecutive plain leaves to the open container. Returns the index after them, or `None` if there are
    /// none. This is the fast path for such leaves: the main loop would handle them in the same way. In a map, the
    /// run ends at the first key that is not cached, because the main loop creates the key.
    #[inline]
    fn append_leaves(&self, start: u32) -> PyResult<Option<u32>> {
        let Some(frame) = self.stack.last() else { return Ok(None) };
        let run = self.nodes.get(start as usize..frame.end as usize).unwrap_or_default();
        let mut index = start;
        let is_plain = |node: &Node| node.kind <= Kind::Text && node.flags & (flag::TARGET | flag::REF) == 0;
        match &frame.open {
            OpenContainer::List(list) => {
                for node in run.iter().take_while(|node| is_plain(node)) {
                    list.append(self.build_leaf(index, node)?)?;
                    index += 1;
                }
            }
            OpenContainer::Map(dict, _) => {
                let keys = if frame.open.holds_members() { &self.cache.members } else { &self.cache.keys };
                for node in run.iter().take_while(|node| is_plain(node)) {
                    let Some(Some(key)) = keys.get(usize::from(node.key)) else { break };
                    dict.set_item(key.bind(self.py), self.build_leaf(index, node)?)?;
                    index += 1;
                }
            }
            _ => {}
        }
        Ok((index > start).then_some(index))
    }

    /// Returns the slot of the value at `index`.
    #[inline]
    fn find_slot(&mut self, index: u32, node: &Node) -> PyResult<Slot<'py>> {
        match node.key {
            NO_KEY => Ok(Slot::Item),
            IS_KEY => Ok(Slot::Key),
            KEY_NODE => {
                let key = self.stack.last_mut().and_then(|frame| frame.key.take());
                key.map(|key| self.key_slot(node, key)).ok_or_else(|| self.malformed_error(index, "a key"))
            }
            id => self.named_slot(id, index),
        }
    }

    fn key_slot(&self, node: &Node, key: Bound<'py, PyAny>) -> Slot<'py> {
        match node.kind {
            Kind::Hole => Slot::Absent,
            _ => Slot::Entry(key),
        }
    }

    /// Builds the value at `index`, or begins it. Also returns the index of the next node.
    #[inline]
    fn begin_value(&mut self, index: u32, node: &Node) -> PyResult<(BegunValue<'py>, u32)> {
        if !node.kind.is_container() {
            let mut value = match node.kind.is_again() {
                true => self.resolve_link(index, node)?,
                false => self.build_leaf(index, node)?,
            };
            if node.flags & (flag::TARGET | flag::REF) != 0 {
                value = self.register_leaf(index, node, value)?;
            }
            return Ok((BegunValue::Complete(value), index + 1));
        }
        if self.reading.known
            && let Some(value) = self.build_known_value(index)?
        {
            if node.has(flag::TARGET) {
                self.link_targets.insert(index, value.clone());
            }
            return Ok((BegunValue::Complete(value), node.end().max(index + 1)));
        }
        let open = self.open_container(node)?;
        if node.has(flag::TARGET)
            && let Some(value) = open.link_target()
        {
            self.link_targets.insert(index, value);
        }
        Ok((BegunValue::Open(open), index + 1))
    }

    /// Handles a leaf with flags: wraps it in a `Ref` if the data has a reference to it, and
    /// registers it if links may refer to it.
    #[cold]
    fn register_leaf(&mut self, index: u32, node: &Node, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if node.kind.is_again() {
            return Ok(value);
        }
        let value = match node.has(flag::REF) {
            true => PythonClasses::look_up(self.py)?.reference(self.py).call1((value,))?,
            false => value,
        };
        if node.has(flag::TARGET) {
            self.link_targets.insert(index, value.clone());
        }
        Ok(value)
    }

    /// Returns the target of a link.
    fn resolve_link(&self, index: u32, node: &Node) -> PyResult<Bound<'py, PyAny>> {
        let mut target = node.payload as u32;
        // A link may refer to another link, but only to an earlier one. So the target gets smaller in each step, and
        // the loop ends.
        while let Some(next) = self.nodes.get(target as usize).filter(|next| next.kind.is_again()) {
            if next.payload as u32 >= target {
                break;
            }
            target = next.payload as u32;
        }
        self.link_targets.get(&target).cloned().ok_or_else(|| {
            let error = Error::new(ErrorKind::Unsupported)
                .expecting("a link to a value that is there")
                .finding("one to an object that its factory has not made yet")
                .helping("leave the class out of `classes`: its objects are records then, which may be in a circle")
                .on_path(self.document.path(index));
            to_py_error(self.py, &error)
        })
    }

    /// Puts a value into its slot of the open container.
    #[inline]
    fn put_value(&mut self, slot: Slot<'py>, value: Bound<'py, PyAny>) -> PyResult<()> {
        let Some(frame) = self.stack.last_mut() else { return Ok(()) };
        match slot {
            Slot::Key => match keys::to_hashable(value) {
                Ok(key) => {
                    if let OpenContainer::Map(dict, _) = &frame.open
                        && dict.len() >= keys::MIN_CHECKED_KEYS
                        && !self.collisions.count_key(frame.node, &key)?
                    {
                        let node = frame.node;
                        return Err(self.collision_error(node));
                    }
                    frame.key = Some(key);
                    Ok(())
                }
                Err(found) => {
                    let node = frame.node;
                    Err(self.unhashable_key_error(node, &found))
                }
            },
            Slot::Item => frame.open.add_item(value),
            Slot::Entry(key) => frame.open.add_entry(key, value),
            Slot::Absent => Ok(()),
        }
    }

    /// Returns an error for a tape that no reader would produce.
    #[cold]
    fn malformed_error(&self, index: u32, expected: &'static str) -> PyErr {
        let error =
            Error::new(ErrorKind::Malformed).expecting(expected).finding("none").on_path(self.document.path(index));
        to_py_error(self.py, &error)
    }

    #[cold]
    fn unhashable_key_error(&self, index: u32, found: &str) -> PyErr {
        let error = Error::new(ErrorKind::Unrepresentable)
            .expecting("a key that a dict can have")
            .finding(found.to_owned())
            .helping("`icecore.convert(data, \"json:typed\")` has all keys")
            .on_path(self.document.path(index));
        to_py_error(self.py, &error)
    }

    #[cold]
    fn collision_error(&self, index: u32) -> PyErr {
        let error = Error::new(ErrorKind::Limit)
            .expecting(format!("at most {} keys of a map with the same hash", keys::MAX_KEYS_PER_HASH))
            .finding("more of them: each is compared with all before it")
            .helping("`icecore.convert(data, \"json:typed\")` has all keys")
            .on_path(self.document.path(index));
        to_py_error(self.py, &error)
    }

    fn limits(&self) -> &Limits {
        &self.codec.limits
    }
}
