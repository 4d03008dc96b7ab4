//! Writes keys of hashes.

use super::image::Image;
use super::tag::{self, hash};
use super::write::{Key, Writer};
use crate::document::{Document, IS_KEY, KEY_NODE, Kind, Location, Name, Names, flag};
use crate::error::{Error, ErrorKind};
use crate::output::LossKind;
use std::borrow::Cow;

/// The keys with ids.
pub(super) struct Keys<'d> {
    names: &'d Names,
    /// Whether lengths are little-endian.
    is_little_endian: bool,
}

/// Returns the bytes and flags of a key; `None` if it can't be a key.
fn render_key<'d>(name: &Name<'d>) -> Option<(Cow<'d, [u8]>, u8, Option<LossKind>)> {
    let node = name.node;
    let mut flags = 0;
    if node.has(flag::LOCKED) {
        flags |= hash::KEY_LOCKED;
    }
    if node.has(flag::PLACEHOLDER) {
        // In a restricted hash, Storable also marks the value of an absent key as read-only.
        flags |= hash::KEY_PLACEHOLDER | if node.has(flag::HINT) { 0 } else { hash::KEY_LOCKED };
    }
    let text = |bytes: &'d [u8]| match std::str::from_utf8(bytes) {
        _ if bytes.is_ascii() && node.has(flag::WAS_TEXT) => (Cow::Borrowed(bytes), hash::KEY_WAS_UTF8),
        _ if bytes.is_ascii() => (Cow::Borrowed(bytes), 0),
        // If each character of a key fits into 8 bits, perl stores it in bytes, with a flag that it was UTF-8.
        Ok(text) if text.chars().all(|c| u32::from(c) < 0x100) => {
            (Cow::Owned(text.chars().map(|c| c as u8).collect()), hash::KEY_WAS_UTF8)
        }
        _ => (Cow::Borrowed(bytes), hash::KEY_UTF8),
    };
    let (bytes, kind, loss) = match node.kind {
        Kind::Bytes => (Cow::Borrowed(name.bytes), 0, None),
        Kind::Text => {
            let (bytes, kind) = text(name.bytes);
            (bytes, kind, None)
        }
        Kind::Symbol => {
            let (bytes, kind) = text(name.bytes);
            (bytes, kind, Some(LossKind::Symbol))
        }
        Kind::Encoded => (Cow::Borrowed(name.bytes), 0, Some(LossKind::Encoding)),
        Kind::Int => (Cow::Owned((node.payload as i64).to_string().into_bytes()), 0, Some(LossKind::Key)),
        Kind::Null => (Cow::Borrowed(&b""[..]), 0, Some(LossKind::Key)),
        Kind::Bool => (Cow::Borrowed(if node.payload != 0 { &b"1"[..] } else { b"" }), 0, Some(LossKind::Key)),
        Kind::Uint => (Cow::Owned(node.payload.to_string().into_bytes()), 0, Some(LossKind::Key)),
        Kind::Float => {
            let text = crate::num::general::float_to_perl_text(f64::from_bits(node.payload));
            (Cow::Owned(text.into_bytes()), 0, Some(LossKind::Key))
        }
        _ => return None,
    };
    Some((bytes, flags | kind, loss))
}

impl<'d> Keys<'d> {
    pub(super) fn new(document: &'d Document<'_>, image: &Image) -> Keys<'d> {
        Keys { names: document.tape().keys(), is_little_endian: image.encode_u32(1) == 1u32.to_le_bytes() }
    }

    #[inline(always)]
    fn encode_length(&self, len: u32) -> [u8; 4] {
        if self.is_little_endian { len.to_le_bytes() } else { len.to_be_bytes() }
    }

    /// Appends length and bytes of the key with this id, if it has no flags.
    #[inline(always)]
    pub(super) fn append_plain(&self, id: u16, buf: &mut Vec<u8>) -> bool {
        let Some((entry, bytes)) = self.names.get_plain(id) else { return false };
        let len = entry.node.aux as usize;
        if len <= 16 {
            let end = buf.len() + 4 + len;
            let mut record = [0; 20];
            record[..4].copy_from_slice(&self.encode_length(entry.node.aux));
            record[4..].copy_from_slice(&entry.head.to_le_bytes());
            buf.extend_from_slice(&record);
            buf.truncate(end);
            return true;
        }
        let Location::Arena(start) = entry.node.location() else { return false };
        let start = start as usize;
        match bytes.get(start..start + len).filter(|_| len <= i32::MAX as usize) {
            Some(bytes) => {
                buf.extend_from_slice(&self.encode_length(entry.node.aux));
                buf.extend_from_slice(bytes);
                true
            }
            None => false,
        }
    }

    /// Returns `true` if any entry from `index` to `end` has a key with flags.
    pub(super) fn any_flagged(&self, document: &Document<'_>, mut index: u32, end: u32) -> bool {
        while index < end {
            let Some(node) = document.nodes().get(index as usize) else { break };
            if node.key == IS_KEY {
                let bytes = document.bytes(node);
                if render_key(&Name { node: *node, bytes }).is_some_and(|(_, flags, _)| flags != 0) {
                    return true;
                }
                index = document.tape().index_after(document.tape().index_after(index));
                continue;
            }
            let any_marked = self.names.has_marked();
            if any_marked && node.key != KEY_NODE && self.is_flagged(node.key) {
                return true;
            }
            if !any_marked && node.key != KEY_NODE && !node.kind.is_container() {
                index += 1;
                continue;
            }
            index = document.tape().index_after(index);
        }
        false
    }

    /// Returns `true` if the key with this id has flags.
    fn is_flagged(&self, id: u16) -> bool {
        self.names.get_plain(id).is_none()
            && self
                .names
                .get(u32::from(id))
                .is_some_and(|name| render_key(&name).is_some_and(|(_, flags, _)| flags != 0))
    }

    /// Returns what keys are sorted by: perl orders strings by their characters.
    pub(super) fn make_sort_key(&self, document: &Document<'_>, key: Key) -> Vec<u8> {
        let name = match key {
            Key::Id(id) => document.tape().keys().get(u32::from(id)),
            Key::Node(at) => {
                document.nodes().get(at as usize).map(|node| Name { node: *node, bytes: document.bytes(node) })
            }
        };
        match name.as_ref().and_then(render_key) {
            Some((bytes, flags, _)) if flags & hash::KEY_UTF8 == 0 => {
                bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes()
            }
            Some((bytes, ..)) => bytes.into_owned(),
            None => Vec::new(),
        }
    }
}

impl Writer<'_> {
    #[inline]
    pub(super) fn write_plain_key(
        &mut self,
        key: Key,
        value: u32,
        has_flags: bool,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        if let Key::Id(id) = key {
            let start = buf.len();
            if has_flags {
                buf.push(0);
            }
            if self.keys.append_plain(id, buf) {
                return Ok(());
            }
            buf.truncate(start);
        }
        self.write_spelled_key(key, value, (None, None), has_flags, buf)
    }

    /// Writes a key with the flags and the tag that it was read with.
    #[cold]
    pub(super) fn write_spelled_key(
        &mut self,
        key: Key,
        value: u32,
        (flags, tag): (Option<u8>, Option<u8>),
        has_flags: bool,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let document = self.document;
        let name = match key {
            Key::Id(id) => document.tape().keys().get(u32::from(id)),
            Key::Node(at) => {
                let node = self.document.node(at);
                Some(Name { node, bytes: if node.kind.has_bytes() { document.bytes(&node) } else { &[] } })
            }
        };
        let Some((bytes, mut default, loss)) = name.as_ref().and_then(render_key) else {
            return Err(Error::new(ErrorKind::Unrepresentable)
                .on_path(document.path(value))
                .expecting("a key that can be a string")
                .finding(name.map_or("none".to_owned(), |name| format!("{:?}", name.node.kind))));
        };
        if let Some(loss) = loss {
            self.record_loss(loss, value);
        }
        self.check_length(bytes.len())?;
        if let (Some(flags), Some(tag), Some(name)) = (flags, tag, &name)
            && matches!(name.node.kind, Kind::Bytes | Kind::Text)
        {
            // The encoding of a key that is a scalar is in its tag, and not in the flags.
            buf.extend([flags, tag]);
            self.next_number += 1;
            if let (tag::SCALAR | tag::UTF8STR, Ok(len)) = (tag, u8::try_from(name.bytes.len())) {
                buf.push(len);
            } else {
                self.push_u32(self.check_length(name.bytes.len())?, buf);
            }
            buf.extend_from_slice(name.bytes);
            return Ok(());
        }
        let mut bytes = bytes;
        if let Some(flags) = flags {
            // The key may have changed, so its encoding is determined from its current text. The other flags are
            // those that were read.
            const ENCODING: u8 = hash::KEY_UTF8 | hash::KEY_WAS_UTF8;
            let was_ascii = bytes.is_ascii() || default & ENCODING == 0;
            let same = default & flags & hash::KEY_UTF8 != 0;
            let encoding = if was_ascii || same { flags & ENCODING } else { default & ENCODING };
            if default & ENCODING == hash::KEY_WAS_UTF8 && flags & hash::KEY_UTF8 != 0 {
                bytes = Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes());
                default = flags;
            } else {
                default = flags & !ENCODING | encoding;
            }
        }
        if has_flags {
            buf.push(default);
        }
        self.push_u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX), buf);
        buf.extend_from_slice(&bytes);
        Ok(())
    }
}
