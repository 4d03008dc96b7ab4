//! Keys and the entries of maps.

use super::super::SortKeys;
use super::super::keys::{KeyText, compare_keys, is_absent};
use super::super::read::MAX_ENTRIES_WITH_IDS;
use super::super::spelling::{StringOf, code, tracked};
use super::super::tag;
use super::Body;
use crate::document::{KEY_NODE, Key, Kind, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::output::LossKind;

impl<'d> Body<'d, '_> {
    /// Returns how many entries of a map are written.
    pub(super) fn count_entries(&mut self, index: u32, node: &Node) -> u32 {
        if node.has(flag::RESTRICTED) {
            self.record_loss(LossKind::Restricted, index);
        }
        if node.has(flag::IDENTITY) || node.has(flag::DEFAULT) {
            self.record_loss(LossKind::MapKind, index);
        }
        if !self.has_absent_keys && node.aux <= MAX_ENTRIES_WITH_IDS {
            return node.aux;
        }
        let Some(map) = self.document.at(index) else { return 0 };
        let present =
            map.entries().filter(|(key, value)| !is_absent(&key.node()) && !self.is_shadowed(value.index())).count();
        u32::try_from(present).unwrap_or(u32::MAX)
    }

    pub(super) fn enter_map(&mut self, index: u32) -> Result<(), Error> {
        let Some(map) = self.document.at(index) else { return Ok(()) };
        if self.plan.order == SortKeys::No {
            if let Some(default) = map.default_value() {
                self.enter(index, index + 1, default.index());
            }
            return Ok(());
        }
        let mut entries = Vec::new();
        for (key, value) in map.entries().filter(|(_, value)| !self.is_shadowed(value.index())) {
            let Some(text) = KeyText::from_key(self.document, key) else {
                return self.reject_unrepresentable(value.index(), "a key that is not a string");
            };
            let start = match value.node().key {
                KEY_NODE => match key {
                    Key::Value(key) => key.index(),
                    Key::Name(_) => value.index() - 1,
                },
                _ => value.index(),
            };
            entries.push((text, start, value.index_after()));
        }
        entries.sort_by(|(a, ..), (b, ..)| compare_keys(self.plan.order, a, b));
        self.pending_ranges.push((self.index_after(index), self.end));
        self.pending_ranges.extend(entries.iter().rev().map(|(_, start, end)| (*start, *end)));
        self.index = self.end;
        Ok(())
    }

    /// Returns `true` if the key of the value at `index` occurs again.
    fn is_shadowed(&self, index: u32) -> bool {
        !self.shadowed.is_empty() && self.shadowed.binary_search(&index).is_ok()
    }

    /// Returns `true` if the value at `index` is left out, because its key occurs again.
    fn leaves_out(&self, index: u32) -> Result<bool, Error> {
        if !self.is_shadowed(index) {
            return Ok(false);
        }
        let value = self.nodes.get(index as usize..self.index_after(index) as usize).unwrap_or(&[]);
        if value.iter().any(|node| node.has(flag::TARGET)) {
            return Err(Error::new(ErrorKind::Unrepresentable)
                .on_path(self.document.path(index))
                .expecting("each key once, as Sereal's decoder requires")
                .finding("a repeated key whose first value is referred to"));
        }
        Ok(true)
    }

    /// Writes the key with this id. Returns `false` if its entry is left out.
    pub(super) fn write_key(&mut self, index: u32, id: u16) -> Result<bool, Error> {
        let Some(name) = self.document.tape().keys().get(u32::from(id)) else { return Ok(false) };
        if is_absent(&name.node) || self.leaves_out(index)? {
            return Ok(false);
        }
        let locked = name.node.has(flag::LOCKED);
        let text = KeyText::from_name(name);
        let loss = text.loss.or(locked.then_some(LossKind::Restricted));
        if let Some(loss) = loss {
            self.record_loss(loss, index);
        }
        let first = match loss {
            None => self.keys.get(usize::from(id)).map_or(0, |key| key.offset),
            // The fast loop copies known keys and does not report losses. So the offset of a key with a loss is kept
            // apart.
            Some(_) => self.lossy_keys.get(&id).copied().unwrap_or(0),
        };
        let first = if first == 0 && (loss.is_some() || name.node.kind != text.kind) {
            self.find_node_key(&text)
        } else {
            first
        };
        let offset = self.offset();
        if self.write_key_text(index, text.kind, &text.bytes, first)? {
            if loss.is_some() {
                self.node_keys.insert((text.kind == Kind::Text, text.bytes.into_owned()), offset);
                self.lossy_keys.insert(id, offset);
            } else {
                self.record_key_offset(usize::from(id), offset);
            }
        } else if loss.is_some() && first != 0 {
            self.lossy_keys.insert(id, first);
        }
        Ok(true)
    }

    /// Records the offset of a key that was written here for the first time.
    pub(super) fn record_key_offset(&mut self, id: usize, offset: u64) {
        if let Some(key) = self.keys.get_mut(id).filter(|key| key.offset == 0) {
            key.record_offset(offset);
        }
    }

    /// Returns the offset at which a key without an id, or with several ids, was written first, or 0 if it was not
    /// written.
    pub(super) fn find_node_key(&self, text: &KeyText<'_>) -> u64 {
        self.node_keys.get(&(text.kind == Kind::Text, text.bytes.to_vec())).copied().unwrap_or(0)
    }

    pub(super) fn write_key_node(&mut self, index: u32, node: &'d Node) -> Result<(), Error> {
        let value = self.index_after(index);
        if is_absent(node) || self.leaves_out(value)? {
            self.index = self.index_after(value);
            return Ok(());
        }
        let Some(text) = KeyText::from_node(self.document, node) else {
            return self.reject_unrepresentable(value, "a key that is not a string and can't become one");
        };
        if let Some(loss) = text.loss.or(node.has(flag::LOCKED).then_some(LossKind::Restricted)) {
            self.record_loss(loss, value);
        }
        let name = Node::leaf(text.kind, 0);
        let id = self.document.tape().keys().find(name, &text.bytes).map(|id| id as usize);
        let first = match id {
            Some(id) => self.keys.get(id).map_or(0, |key| key.offset),
            None => self.find_node_key(&text),
        };
        let offset = self.offset();
        if self.write_key_text(value, text.kind, &text.bytes, first)? {
            match id {
                Some(id) => self.record_key_offset(id, offset),
                None => {
                    self.node_keys.insert((text.kind == Kind::Text, text.bytes.into_owned()), offset);
                }
            }
        }
        self.index = value;
        Ok(())
    }

    /// Writes a key that was first written at `first`. Returns `true` if it was written
    /// in full.
    pub(super) fn write_key_text(&mut self, value: u32, kind: Kind, bytes: &[u8], first: u64) -> Result<bool, Error> {
        let options = self.plan.options;
        let replay = self.replay.as_ref();
        let target = self.noted_value(value, code::KEY_COPY);
        let copy = match (replay, target) {
            (Some(_), Some(u64::MAX)) => first,
            (Some(replay), Some(target)) => replay.offset_of(target, kind, bytes).unwrap_or(0),
            (Some(replay), None) if replay.full_keys() || self.noted_value(value, code::KEY_FULL).is_some() => 0,
            _ if options.no_shared_hashkeys || matches!(self.plan.order, SortKeys::Perl | SortKeys::PerlReverse) => 0,
            _ => first,
        };
        let track = self.extra_track_bit(value, tracked::KEY);
        if copy > 0 {
            self.bytes.push_byte(tag::COPY | track)?;
            let width = self.noted_width(value, code::KEY_COPY_WIDTH);
            self.bytes.push_varint(copy, width)?;
            return Ok(false);
        }
        self.write_spelled_string(value, StringOf::Key, kind, bytes, track)?;
        Ok(true)
    }
}
