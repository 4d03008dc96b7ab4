//! Interned names: keys of maps, class names and names of encodings.

use super::node::{Kind, Location, Node};
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of names that get ids. [`Names::intern`] returns `None` for further names.
const CAPACITY: usize = 65_533;
/// Bits for the kinds of names. Any other kind sets both bits, so that the table counts as mixed.
const BYTES: u8 = 1;
const TEXT: u8 = 2;
/// Maximum number of probes of a lookup. An attacker may choose keys that collide. Because of the limit, each of them
/// takes a few probes and a key node, and not a search through all earlier ones.
const MAX_PROBES: usize = 16;

/// A name in its table. Programs in C read this layout.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The first 16 bytes, padded with zeros. Short names are compared in one operation.
    pub head: u128,
    /// Kind, flags and encoding. The location is an offset of the table's own bytes.
    pub node: Node,
}

/// Names by id, from 1 on. An id identifies bytes, kind, encoding and flags.
///
/// The table owns its bytes, so it outlives the input. A tape that is used again knows the keys of earlier documents.
#[derive(Clone, Debug, Default)]
pub struct Names {
    entries: Vec<Entry>,
    bytes: Vec<u8>,
    /// A hash table with open addressing. Each slot has the hash in its upper half and the id in its lower half; a
    /// free slot is 0.
    hash_slots: Vec<u64>,
    /// For each id, the id that followed it the last time. This predicts the next key.
    next_ids: Vec<u16>,
    /// Short names by a hash of their first bytes, to avoid a search.
    recent_names: Vec<RecentName>,
    /// For each id, whether the name is a byte string or ASCII text without flags.
    plain_flags: Vec<bool>,
    /// Whether there is a name that is not plain: one with flags, or of another kind.
    has_marked: bool,
    /// Kinds of the names without flags.
    plain_kinds: u8,
    /// Whether there is a placeholder: a key that a restricted hash allows but does not contain.
    has_absent: bool,
    /// Whether there is a symbol.
    has_symbol: bool,
    /// Whether there is a mangled name. PHP stores a property that is not public under such a name.
    has_mangled: bool,
    /// Whether there is a text that is not UTF-8.
    has_malformed: bool,
    /// Whether there is a name with several parts, such as `A::B` or `A\B`.
    has_qualified: bool,
    generation: Generation,
}

/// Identifies the contents of a table, so that callers can cache data by the ids of its names.
///
/// An empty table has the number 0. With its first name the table gets a number that no other table of this process
/// has. It keeps this number until it is cleared. A copy gets a number of its own, because the next names of the copy
/// and of the first table may differ.
#[derive(Debug, Default)]
struct Generation(u64);

impl Clone for Generation {
    fn clone(&self) -> Generation {
        if self.0 == 0 { Generation(0) } else { Generation::allocate_next() }
    }
}

impl Generation {
    fn allocate_next() -> Generation {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Generation(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// A recently seen short name.
#[derive(Clone, Copy, Debug, Default)]
struct RecentName {
    head: u128,
    len: u32,
    kind_and_flags: u16,
    id: u16,
}

/// Number of short names that are remembered. It is a power of two, because a hash is masked with it.
const RECENT_NAME_COUNT: usize = 128;

/// Masks of the first `n` bytes of a little-endian word. `window & MASKS[len]` is a name padded with zeros, because
/// the mask removes the bytes that follow the name in the input.
const MASKS: [u128; 17] = {
    let mut masks = [0; 17];
    let mut n = 1;
    while n < 17 {
        masks[n] = u128::MAX >> (128 - 8 * n);
        n += 1;
    }
    masks
};

#[inline(always)]
fn recent_name_slot(head: u128, len: usize) -> usize {
    // Multiplicative hashing. The upper seven bits of the product depend on every byte of the name, so they are the
    // hash.
    let folded = (head as u64) ^ ((head >> 64) as u64).rotate_left(29) ^ len as u64;
    (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 57) as usize & (RECENT_NAME_COUNT - 1)
}

#[inline(always)]
fn kind_and_flags(kind: Kind, flags: u8) -> u16 {
    u16::from(kind as u8) << 8 | u16::from(flags)
}

/// Returns the first 16 bytes of a name.
fn load_head(bytes: &[u8]) -> u128 {
    let mut head = [0; 16];
    let n = bytes.len().min(16);
    head[..n].copy_from_slice(&bytes[..n]);
    u128::from_le_bytes(head)
}

/// A name: its node (kind and flags) and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name<'d> {
    /// Kind, flags, encoding and, for an integer key, the value.
    pub node: Node,
    /// The bytes of a string; empty for an integer key.
    pub bytes: &'d [u8],
}

impl Names {
    /// Returns the number of names.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if there are no names.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the name with this id, if there is one.
    #[inline]
    pub fn get(&self, id: u32) -> Option<Name<'_>> {
        let entry = self.entries.get((id as usize).wrapping_sub(1))?;
        let bytes = match entry.node.location() {
            Location::Arena(start) if entry.node.kind.has_bytes() => {
                let start = start as usize;
                &self.bytes[start..start + entry.node.aux as usize]
            }
            _ => &[],
        };
        Some(Name { node: entry.node, bytes })
    }

    /// Returns the table itself: the names by id minus 1, and the bytes that their offsets refer to. It is for
    /// callers that keep data for each id.
    #[inline]
    pub fn raw(&self) -> (&[Entry], &[u8]) {
        (&self.entries, &self.bytes)
    }

    /// Returns the name with this id, if it is a byte string or ASCII text without flags.
    #[inline(always)]
    pub(crate) fn get_plain(&self, id: u16) -> Option<(&Entry, &[u8])> {
        let index = usize::from(id).wrapping_sub(1);
        match (self.plain_flags.get(index), self.entries.get(index)) {
            (Some(true), Some(entry)) => Some((entry, &self.bytes)),
            _ => None,
        }
    }

    /// Returns `true` if there is a name with flags, or one that is not a plain string.
    #[inline]
    pub(crate) fn has_marked(&self) -> bool {
        self.has_marked
    }

    /// Returns `true` if names may differ in more than their bytes.
    #[inline]
    pub(crate) fn has_mixed_kinds(&self) -> bool {
        self.plain_kinds == BYTES | TEXT
    }

    /// Returns `true` if there is a name of a key that is allowed, but absent.
    #[inline]
    pub(crate) fn has_absent(&self) -> bool {
        self.has_absent
    }

    /// Returns `true` if a key may be a symbol. If the table is full, some keys are not in it.
    #[inline]
    pub(crate) fn may_have_symbol(&self) -> bool {
        self.has_symbol || self.entries.len() >= CAPACITY
    }

    /// Returns `true` if a key may be text that is not valid UTF-8.
    pub(crate) fn may_have_malformed(&self) -> bool {
        self.has_malformed || self.entries.len() >= CAPACITY
    }

    /// Returns `true` if a key may have a mangled name.
    #[inline]
    pub(crate) fn may_have_mangled(&self) -> bool {
        self.has_mangled || self.entries.len() >= CAPACITY
    }

    /// Returns `true` if there is a class in a package, module or namespace.
    #[inline]
    pub(crate) fn has_qualified(&self) -> bool {
        self.has_qualified
    }

    /// Returns a number that identifies the ids of this table, for caches. It changes when the ids lose their
    /// meaning: a tape that is used again drops its names when there are too many, and a reader may replace the
    /// table. An empty table has the number 0. No two other tables of a process have the same number.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.0
    }

    /// Returns the names in the order of their ids, from 1 on.
    pub fn iter(&self) -> impl Iterator<Item = Name<'_>> {
        (1..=self.entries.len() as u32).filter_map(|id| self.get(id))
    }

    /// Returns the id of the name that followed `id` the last time, or 0 if it is unknown. The `id` 0 is the start of
    /// a map.
    #[inline]
    pub(crate) fn predict_next(&self, id: u16) -> u16 {
        self.next_ids.get(usize::from(id)).copied().unwrap_or(0)
    }

    /// Remembers that `next` followed `id`.
    #[inline]
    pub(crate) fn learn_next(&mut self, id: u16, next: u16) {
        if let Some(slot) = self.next_ids.get_mut(usize::from(id)) {
            *slot = next;
        }
    }

    /// Returns the id of the short name at `offset` of `input`, if it is still remembered; otherwise 0. Unlike
    /// `predict_next`, this does not depend on the order of the keys.
    #[inline(always)]
    pub(crate) fn recall_short(&self, kind: Kind, flags: u8, input: &[u8], offset: usize, len: usize) -> u16 {
        if len > 16 {
            return 0;
        }
        // Near the end of the input fewer than 16 bytes follow, so the name is copied.
        let head = match input.get(offset..).and_then(|rest| rest.first_chunk::<16>()) {
            Some(window) => u128::from_le_bytes(*window) & MASKS[len],
            None => match input.get(offset..offset + len) {
                Some(bytes) => load_head(bytes),
                None => return 0,
            },
        };
        match self.recent_names.get(recent_name_slot(head, len)) {
            Some(memo)
                if memo.head == head
                    && memo.len == len as u32
                    && memo.kind_and_flags == kind_and_flags(kind, flags) =>
            {
                memo.id
            }
            _ => 0,
        }
    }

    /// Returns `true` if the byte string at `offset` of `input`, of at most 16 bytes, is the name with this id and
    /// has no flags.
    #[inline(always)]
    pub(crate) fn is_short_name_at(&self, id: u16, input: &[u8], offset: usize, len: usize) -> bool {
        let Some(entry) = self.entries.get(usize::from(id).wrapping_sub(1)) else { return false };
        let Some(window) = input.get(offset..).and_then(|rest| rest.first_chunk::<16>()) else { return false };
        len <= 16
            && entry.head == u128::from_le_bytes(*window) & MASKS[len]
            && (entry.node.aux as usize, entry.node.kind, entry.node.flags) == (len, Kind::Bytes, 0)
    }

    /// Returns `true` if the name with this id is this integer.
    #[inline(always)]
    pub(crate) fn is_integer(&self, id: u16, value: i64) -> bool {
        let entry = self.entries.get(usize::from(id).wrapping_sub(1));
        entry.is_some_and(|entry| entry.node.kind == Kind::Int && entry.node.payload == value as u64)
    }

    /// Remembers a short name.
    fn remember_short(&mut self, id: u32) {
        let Some(entry) = self.entries.get((id as usize).wrapping_sub(1)) else { return };
        let (node, head) = (entry.node, entry.head);
        if node.kind.has_bytes()
            && node.aux <= 16
            && node.encoding() == 0
            && let Ok(id) = u16::try_from(id)
        {
            if self.recent_names.is_empty() {
                self.recent_names = vec![RecentName::default(); RECENT_NAME_COUNT];
            }
            let kind_and_flags = kind_and_flags(node.kind, node.flags);
            self.recent_names[recent_name_slot(head, node.aux as usize)] =
                RecentName { head, len: node.aux, kind_and_flags, id };
        }
    }

    /// Returns `true` if the name `id` is at `offset` of `input`.
    #[inline]
    pub(crate) fn is_name_at(&self, id: u16, kind: Kind, flags: u8, input: &[u8], offset: usize, len: usize) -> bool {
        let Some(entry) = self.entries.get(usize::from(id).wrapping_sub(1)) else { return false };
        if entry.node.aux as usize != len || entry.node.kind != kind || entry.node.flags != flags {
            return false;
        }
        // Names of up to 16 bytes are equal if their heads are equal. One load replaces a loop.
        if len <= 16
            && let Some(window) = input.get(offset..offset + 16)
            && let Ok(window) = window.try_into()
        {
            let mask = if len == 0 { 0 } else { u128::MAX >> (128 - 8 * len) };
            return u128::from_le_bytes(window) & mask == entry.head;
        }
        match (entry.node.location(), input.get(offset..offset + len)) {
            (Location::Arena(start), Some(bytes)) => self.bytes[start as usize..start as usize + len] == *bytes,
            _ => false,
        }
    }

    /// Returns the id of this name, and adds the name if it is new. `None` if the table is full, or if too many names
    /// share a hash.
    pub(crate) fn intern(&mut self, node: Node, bytes: &[u8]) -> Option<u32> {
        let id = self.find_or_append(node, bytes)?;
        self.remember_short(id);
        Some(id)
    }

    fn find_or_append(&mut self, node: Node, bytes: &[u8]) -> Option<u32> {
        let hash = hash_name(&node, bytes);
        if self.hash_slots.len() < 2 * (self.entries.len() + 1) {
            self.grow();
        }
        let mask = self.hash_slots.len() - 1;
        let mut free = None;
        for step in 0..MAX_PROBES {
            let index = (hash as usize).wrapping_add(step) & mask;
            let slot = self.hash_slots[index];
            if slot == 0 {
                free = Some(index);
                break;
            }
            if (slot >> 32) as u32 == hash && self.is_name(slot as u32, &node, bytes) {
                return Some(slot as u32);
            }
        }
        let index = free?;
        let id = self.append_name(node, bytes)?;
        self.hash_slots[index] = u64::from(hash) << 32 | u64::from(id);
        Some(id)
    }

    /// Returns the id of this name if it is known.
    pub(crate) fn find(&self, node: Node, bytes: &[u8]) -> Option<u32> {
        if self.hash_slots.is_empty() {
            return None;
        }
        let hash = hash_name(&node, bytes);
        let mask = self.hash_slots.len() - 1;
        for step in 0..MAX_PROBES {
            let slot = self.hash_slots[(hash as usize).wrapping_add(step) & mask];
            if slot == 0 {
                return None;
            }
            if (slot >> 32) as u32 == hash && self.is_name(slot as u32, &node, bytes) {
                return Some(slot as u32);
            }
        }
        None
    }

    /// Adds a name without a search. `None` if the table is full.
    fn append_name(&mut self, node: Node, bytes: &[u8]) -> Option<u32> {
        if self.entries.len() >= CAPACITY {
            return None;
        }
        if self.entries.is_empty() {
            self.generation = Generation::allocate_next();
        }
        let mut kept = node;
        if node.kind.has_bytes() {
            kept = Node::string(node.kind, Location::Arena(self.bytes.len() as u64), u32::try_from(bytes.len()).ok()?);
            kept.flags = node.flags;
            kept.set_encoding(node.encoding());
            self.bytes.extend_from_slice(bytes);
        }
        let is_plain = node.flags == 0 && (node.kind == Kind::Bytes || node.kind == Kind::Text && bytes.is_ascii());
        self.has_marked |= !is_plain;
        self.plain_kinds |= match node.kind {
            Kind::Bytes if node.flags == 0 => BYTES,
            Kind::Text if node.flags == 0 => TEXT,
            _ => BYTES | TEXT,
        };
        self.plain_flags.push(is_plain);
        self.has_absent |= node.flags & super::flag::PLACEHOLDER != 0;
        self.has_symbol |= node.kind == Kind::Symbol;
        self.has_mangled |= bytes.first() == Some(&0);
        self.has_malformed |= node.kind == Kind::Text && std::str::from_utf8(bytes).is_err();
        self.has_qualified |= bytes.iter().any(|byte| matches!(byte, b':' | b'\\'));
        self.entries.push(Entry { head: load_head(bytes), node: kept });
        self.next_ids.resize(self.entries.len() + 1, 0);
        u32::try_from(self.entries.len()).ok()
    }

    /// Returns the id of the name of a class or an encoding. If too many names share a hash, the name is added again,
    /// so the result is `None` only if the table is full.
    pub(crate) fn intern_always(&mut self, node: Node, bytes: &[u8]) -> Option<u32> {
        self.intern(node, bytes).or_else(|| self.append_name(node, bytes))
    }

    /// Drops all names if there are more than `max_names`. Returns `true` if it did.
    pub(crate) fn clear_if_larger(&mut self, max_names: usize) -> bool {
        let is_too_large = self.entries.len() > max_names || self.bytes.len() > 64 * max_names;
        if is_too_large {
            *self = Names::default();
        }
        is_too_large
    }

    /// Returns `true` if this is the name with this id.
    pub(crate) fn is_name(&self, id: u32, node: &Node, bytes: &[u8]) -> bool {
        self.get(id).is_some_and(|known| {
            known.node.kind == node.kind
                && known.node.flags == node.flags
                && if node.kind.has_bytes() {
                    known.bytes == bytes && known.node.encoding() == node.encoding()
                } else {
                    known.node.payload == node.payload
                }
        })
    }

    #[cold]
    fn grow(&mut self) {
        let size = (self.hash_slots.len() * 2).max(64);
        self.hash_slots = vec![0; size];
        for id in 1..=self.entries.len() as u32 {
            let Some(name) = self.get(id) else { continue };
            let hash = hash_name(&name.node, name.bytes);
            // If all probed slots are taken, the name keeps its id, but a search does not find it again.
            for step in 0..MAX_PROBES {
                let index = (hash as usize).wrapping_add(step) & (size - 1);
                if self.hash_slots[index] == 0 {
                    self.hash_slots[index] = u64::from(hash) << 32 | u64::from(id);
                    break;
                }
            }
        }
    }
}

/// Hashes by multiplying and folding eight bytes at a time.
fn hash_name(node: &Node, bytes: &[u8]) -> u32 {
    const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(MULTIPLIER);
        (product as u64) ^ (product >> 64) as u64
    };
    let mut state = MULTIPLIER ^ (bytes.len() as u64) << 16 ^ u64::from(node.kind as u8) << 8 ^ u64::from(node.flags);
    if !node.kind.has_bytes() {
        state = mix(state, node.payload);
    }
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        state = mix(state, u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
    }
    let mut tail = [0; 8];
    tail[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    state = mix(state, u64::from_le_bytes(tail));
    (state ^ state >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(kind: Kind) -> Node {
        Node::leaf(kind, 0)
    }

    #[test]
    fn ids_are_distinct_for_kinds_and_flags() {
        let mut names = Names::default();
        let bytes = names.intern(name(Kind::Bytes), b"id");
        let text = names.intern(name(Kind::Text), b"id");
        let locked = names.intern(name(Kind::Bytes).with(super::super::flag::LOCKED), b"id");
        assert_eq!(names.intern(name(Kind::Bytes), b"id"), bytes);
        assert!(bytes != text && bytes != locked && text != locked);
        assert_eq!(names.get(bytes.unwrap()).unwrap().bytes, b"id");
    }

    #[test]
    fn a_full_table_keeps_its_ids_and_gives_no_more() {
        let mut names = Names::default();
        let mut id_count = 0;
        for i in 0..80_000u32 {
            if let Some(id) = names.intern(name(Kind::Bytes), &i.to_le_bytes()) {
                id_count += 1;
                assert_eq!(names.get(id).unwrap().bytes, i.to_le_bytes());
            }
        }
        assert_eq!(id_count, CAPACITY);
    }

    #[test]
    fn predictions_are_checked_against_the_input() {
        let mut names = Names::default();
        let id = names.intern(name(Kind::Bytes), b"name").unwrap() as u16;
        names.learn_next(0, id);
        assert_eq!(names.predict_next(0), id);
        let input = b"..name....................names";
        assert!(names.is_name_at(id, Kind::Bytes, 0, input, 2, 4));
        assert!(names.is_name_at(id, Kind::Bytes, 0, input, 26, 4));
        assert!(!names.is_name_at(id, Kind::Bytes, 0, input, 26, 5));
        assert!(!names.is_name_at(id, Kind::Bytes, 0, input, 1, 4));
    }
}
