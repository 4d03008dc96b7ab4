//! Keys of hashes, made ready for writing.

use super::image::Image;
use super::tag::{self, hash};
use super::write::{Key, Writer};
use crate::document::{Document, IS_KEY, Kind, Name, flag};
use crate::error::{Error, ErrorKind};
use crate::format::append::append;
use crate::output::LossKind;
use std::borrow::Cow;

/// The keys with ids, as they are written: length and bytes.
pub(super) struct Keys {
    ready: Vec<Ready>,
    bytes: Vec<u8>,
    any_flagged: bool,
}

#[derive(Clone, Copy)]
struct Ready {
    /// From here to the start of the next.
    start: usize,
    flags: u8,
    loss: Option<LossKind>,
    /// It can't be a key in Perl.
    broken: bool,
}

/// The bytes and flags of a key; `None` if it can't be one.
fn render<'d>(name: &Name<'d>) -> Option<(Cow<'d, [u8]>, u8, Option<LossKind>)> {
    let node = name.node;
    let mut flags = 0;
    if node.has(flag::LOCKED) {
        flags |= hash::KEY_LOCKED;
    }
    if node.has(flag::PLACEHOLDER) {
        // Storable marks the absent value as read-only too.
        flags |= hash::KEY_PLACEHOLDER | hash::KEY_LOCKED;
    }
    let text = |bytes: &'d [u8]| match std::str::from_utf8(bytes) {
        _ if bytes.is_ascii() => (Cow::Borrowed(bytes), 0),
        // Perl keeps a key in 8 bits if it can.
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
            let text = crate::num::general::perl_text(f64::from_bits(node.payload));
            (Cow::Owned(text.into_bytes()), 0, Some(LossKind::Key))
        }
        _ => return None,
    };
    Some((bytes, flags | kind, loss))
}

impl Keys {
    pub(super) fn new(document: &Document<'_>, image: &Image) -> Keys {
        let mut keys = Keys { ready: Vec::new(), bytes: Vec::new(), any_flagged: false };
        for name in document.tape().keys().iter() {
            let start = keys.bytes.len();
            let rendered = render(&name);
            let broken = rendered.is_none();
            let (bytes, flags, loss) = rendered.unwrap_or((Cow::Borrowed(b""), 0, None));
            keys.any_flagged |= flags != 0;
            // A key is no longer than its document; 2 GB are checked when it is used.
            keys.bytes.extend_from_slice(&image.n32(bytes.len() as u32));
            keys.bytes.extend_from_slice(&bytes);
            keys.ready.push(Ready { start, flags, loss, broken: broken || bytes.len() > i32::MAX as usize });
        }
        let end = keys.bytes.len();
        // So that a short key can be copied as 16 bytes.
        keys.bytes.extend_from_slice(&[0; 16]);
        keys.ready.push(Ready { start: end, flags: 0, loss: None, broken: true });
        keys
    }

    /// Length, bytes and what else is known of the key with this id.
    #[inline]
    fn get(&self, id: u16) -> (Ready, &[u8]) {
        let at = usize::from(id).wrapping_sub(1);
        match (self.ready.get(at), self.ready.get(at.wrapping_add(1))) {
            (Some(ready), Some(next)) => (*ready, &self.bytes[ready.start..next.start]),
            _ => (Ready { start: 0, flags: 0, loss: None, broken: true }, &[]),
        }
    }

    /// Appends the key with this id, if it is one without flags.
    #[inline(always)]
    pub(super) fn append_plain(&self, id: u16, buf: &mut Vec<u8>) -> bool {
        let at = usize::from(id).wrapping_sub(1);
        match (self.ready.get(at), self.ready.get(at.wrapping_add(1))) {
            (Some(Ready { start, flags: 0, loss: None, broken: false }), Some(next)) => {
                append(buf, &self.bytes, *start, next.start - start);
                true
            }
            _ => false,
        }
    }

    /// Whether an entry from `at` to `end` has a key with flags.
    pub(super) fn any_flagged(&self, document: &Document<'_>, mut at: u32, end: u32) -> bool {
        while at < end {
            let Some(node) = document.nodes().get(at as usize) else { break };
            if node.key == IS_KEY {
                let bytes = document.bytes(node);
                if render(&Name { node: *node, bytes }).is_some_and(|(_, flags, _)| flags != 0) {
                    return true;
                }
                at = document.tape().next(document.tape().next(at));
                continue;
            }
            if self.any_flagged && self.get(node.key).0.flags != 0 {
                return true;
            }
            if !self.any_flagged && node.key != crate::document::KEY_NODE && !node.kind.is_container() {
                at += 1;
                continue;
            }
            at = document.tape().next(at);
        }
        false
    }

    /// What keys are sorted by: perl's order of strings is that of their
    /// characters.
    pub(super) fn order(&self, document: &Document<'_>, key: Key) -> Vec<u8> {
        let name = match key {
            Key::Id(id) => document.tape().keys().get(u32::from(id)),
            Key::Node(at) => {
                document.nodes().get(at as usize).map(|node| Name { node: *node, bytes: document.bytes(node) })
            }
        };
        match name.as_ref().and_then(render) {
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
    pub(super) fn plain_key(&mut self, key: Key, flagged: bool, buf: &mut Vec<u8>) -> Result<(), Error> {
        if let Key::Id(id) = key
            && let (Ready { flags, loss: None, broken: false, .. }, bytes) = self.keys.get(id)
        {
            if flagged {
                buf.push(flags);
            }
            buf.extend_from_slice(bytes);
            return Ok(());
        }
        self.spelled_key(key, None, None, flagged, buf)
    }

    /// A key with the flags and the tag that it was read with.
    #[cold]
    pub(super) fn spelled_key(
        &mut self,
        key: Key,
        flags: Option<u8>,
        tag: Option<u8>,
        flagged: bool,
        buf: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let document = self.document;
        let (at, name) = match key {
            Key::Id(id) => (0, document.tape().keys().get(u32::from(id))),
            Key::Node(at) => {
                let node = self.node(at);
                (at, Some(Name { node, bytes: document.bytes(&node) }))
            }
        };
        let Some((bytes, mut usual, loss)) = name.as_ref().and_then(render) else {
            return Err(Error::new(ErrorKind::Unrepresentable)
                .on_path(document.path(at))
                .expecting("a key that can be a string")
                .finding(name.map_or("none".to_owned(), |name| format!("{:?}", name.node.kind))));
        };
        if let Some(loss) = loss {
            self.lose(loss, at);
        }
        if let (Some(flags), Some(tag), Some(name)) = (flags, tag, &name)
            && matches!(name.node.kind, Kind::Bytes | Kind::Text)
        {
            // A scalar of its own: its tag says the encoding, not the flags.
            buf.extend([flags, tag]);
            self.next += 1;
            if let (tag::SCALAR | tag::UTF8STR, Ok(len)) = (tag, u8::try_from(name.bytes.len())) {
                buf.push(len);
            } else {
                self.n32(self.fits(name.bytes.len())?, buf);
            }
            buf.extend_from_slice(name.bytes);
            return Ok(());
        }
        let mut bytes = bytes;
        if let Some(flags) = flags {
            // What the key now is decides on its encoding; the rest is as read.
            const ENCODING: u8 = hash::KEY_UTF8 | hash::KEY_WAS_UTF8;
            let was_ascii = bytes.is_ascii() || usual & ENCODING == 0;
            let same = usual & flags & hash::KEY_UTF8 != 0;
            let encoding = if was_ascii || same { flags & ENCODING } else { usual & ENCODING };
            if usual & ENCODING == hash::KEY_WAS_UTF8 && flags & hash::KEY_UTF8 != 0 {
                bytes = Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes());
                usual = flags;
            } else {
                usual = flags & !ENCODING | encoding;
            }
        }
        if flagged {
            buf.push(usual);
        }
        self.n32(u32::try_from(bytes.len()).unwrap_or(u32::MAX), buf);
        buf.extend_from_slice(&bytes);
        Ok(())
    }
}
