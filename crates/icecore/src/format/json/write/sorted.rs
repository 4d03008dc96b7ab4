//! Renders keys, writes keys that have no id, and sorts entries.

use super::known::EntryNames;
use super::{FrameKind, Writer};
use crate::document::{IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::format::json::emitter::{CharEncoding, quote_key};
use crate::format::json::keys::KeyHandling;
use crate::format::json::number::canonical_text;
use crate::num::{FloatText, bigint};
use crate::output::LossKind;

/// Entries of the sorted maps that are open, the innermost last.
#[derive(Default)]
pub(super) struct Order {
    entries: Vec<SortedEntry>,
    text: Vec<u8>,
    /// For each map: the lengths of `entries` and `text` when it was opened.
    starts: Vec<(usize, usize)>,
}

#[derive(Clone, Copy)]
struct SortedEntry {
    /// Offset of the key's text in UTF-8, without quotes.
    start: usize,
    len: usize,
    value: u32,
}

/// The text of a key, in UTF-8 and without quotes, and what it does not represent.
struct KeyText {
    text: Vec<u8>,
    special: KeyHandling,
}

impl Writer<'_, '_, '_> {
    /// Returns the text of a key. Losses are reported for the value at `index`.
    fn make_key_text(&mut self, node: &Node, bytes: &[u8], index: u32) -> Result<KeyText, Error> {
        let is_absent = node.has(flag::PLACEHOLDER) && node.kind.is_string();
        let (text, own) = match node.kind {
            Kind::Text | Kind::Bytes => (None, None),
            Kind::Encoded => (None, Some(LossKind::Encoding)),
            Kind::Symbol => (None, Some(LossKind::Symbol)),
            Kind::Module | Kind::EnumCase => (None, Some(LossKind::Name)),
            Kind::BigInt if bigint::exceeds(bytes, self.limits.digits) => {
                return Err(self.limits.too_many_digits().on_path(self.document_as_read.path(index)));
            }
            Kind::Int | Kind::Uint | Kind::BigInt | Kind::Float => {
                (Some(canonical_text(node, bytes)), Some(LossKind::Key))
            }
            Kind::Float32 => {
                let value = f64::from(f32::from_bits(node.payload as u32));
                (Some(FloatText::new().print(value).to_vec()), Some(LossKind::Key))
            }
            Kind::Bool => {
                let word = if node.payload != 0 { &b"true"[..] } else { b"false" };
                (Some(word.to_vec()), Some(LossKind::Key))
            }
            Kind::Null | Kind::Hole => (Some(b"null".to_vec()), Some(LossKind::Key)),
            _ => {
                return Err(self.unrepresentable_error(
                    index,
                    "a key that is neither a string nor a number",
                    "`json:typed` can represent it",
                ));
            }
        };
        let is_undecoded = node.kind == Kind::Encoded && !self.document.has_utf8_encoding(node);
        let mut losses = [own, is_undecoded.then_some(LossKind::Undecoded), None];
        let text = match text {
            Some(text) => text,
            None => {
                let text = self.encode_text(node.kind, bytes);
                if text.is_lossy && !is_absent {
                    if self.options.bytes == crate::format::json::BytesAs::Error {
                        self.record_text_loss(index, Some(LossKind::Bytes))?;
                    }
                    losses[2] = Some(LossKind::Bytes);
                }
                match text.chars {
                    CharEncoding::Utf8 => text.bytes.into_owned(),
                    CharEncoding::Latin1 => {
                        text.bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes()
                    }
                }
            }
        };
        let is_reserved = !is_absent && self.is_reserved(&text);
        Ok(KeyText { text, special: KeyHandling { is_absent, is_reserved, losses } })
    }

    /// Returns `true` if the option `class` writes class names under this key. A member with this name is left out.
    /// Otherwise a reader could take a map of the data for an object of any class.
    pub(super) fn is_reserved(&self, text: &[u8]) -> bool {
        self.options.class.as_ref().is_some_and(|class| class.as_bytes() == text)
    }

    /// Like [`Writer::is_reserved`], for the key node at `key`.
    pub(super) fn is_reserved_node(&mut self, key: u32, value: u32) -> Result<bool, Error> {
        Ok(self.key_node_text(key, value)?.special.is_reserved)
    }

    /// Renders the key with this id.
    #[cold]
    pub(super) fn render_key(&mut self, id: u16, value: u32) -> Result<(), Error> {
        let document = self.document;
        let Some(name) = document.tape().keys().get(u32::from(id)) else {
            return Err(Error::new(ErrorKind::Usage).expecting("a well-formed document").finding("an unknown key id"));
        };
        let KeyText { text, special } = self.make_key_text(&name.node, name.bytes, value)?;
        let quoted = quote_key(&text, self.emitter.style());
        self.keys.store_rendered(id, name.node.kind, name.node.flags, &quoted, special);
        Ok(())
    }

    /// Renders all keys with an id.
    fn render_all_keys(&mut self) -> Result<(), Error> {
        if !self.has_rendered_all {
            self.has_rendered_all = true;
            for id in 1..=self.document.tape().keys().len() {
                if let Ok(id) = u16::try_from(id)
                    && self.keys.get(id).is_none()
                {
                    self.render_key(id, 0)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the key node at `key`; its value is at `value`.
    pub(super) fn write_key_node(&mut self, key: u32, value: u32) -> Result<(), Error> {
        let KeyText { text, special } = self.key_node_text(key, value)?;
        for kind in special.losses.into_iter().flatten() {
            self.record_loss(kind, value);
        }
        let quoted = quote_key(&text, self.emitter.style());
        self.render_all_keys()?;
        if self.keys.is_duplicate_text(&quoted, &mut self.current_map) {
            self.record_loss(LossKind::DuplicateKey, value);
        }
        self.emitter.write_raw(&quoted)
    }

    fn key_node_text(&mut self, key: u32, value: u32) -> Result<KeyText, Error> {
        let document = self.document;
        let node = document.at(key).map_or(Node::leaf(Kind::Null, 0), |key| *key.target().node());
        if node.kind.is_container()
            && let Some(text) = self.container_key_text(key)
        {
            let is_reserved = self.is_reserved(&text);
            return Ok(KeyText {
                text,
                special: KeyHandling { is_absent: false, is_reserved, losses: [Some(LossKind::Key), None, None] },
            });
        }
        self.make_key_text(&node, if node.kind.has_bytes() { document.bytes(&node) } else { &[] }, value)
    }

    /// Prepares the entries of the map that was just opened: gives them their names, leaves some out, and sorts them if
    /// the option asks for it.
    pub(super) fn order_entries(&mut self, index: u32, end: u32, names: EntryNames) -> Result<(), Error> {
        let first = self.order.entries.len();
        self.order.starts.push((first, self.order.text.len()));
        let mut next = index + 1;
        while next < end {
            let Some(node) = self.nodes.get(next as usize) else { break };
            let (document, entry) = (self.document, next);
            let (name, bytes, value) = match node.key {
                NO_KEY | KEY_NODE => break,
                IS_KEY => {
                    let key = document.at(next).map_or(Node::leaf(Kind::Null, 0), |key| *key.target().node());
                    let bytes = if key.kind.has_bytes() { document.bytes(&key) } else { &[] };
                    (key, bytes, document.tape().index_after(next))
                }
                id => {
                    let Some(name) = document.tape().keys().get(u32::from(id)) else { break };
                    (name.node, name.bytes, next)
                }
            };
            if value >= end {
                break;
            }
            next = document.tape().index_after(value);
            let renamed = match names {
                EntryNames::Exception => self.exception_key(&name, bytes, value),
                EntryNames::Own => Some(&b""[..]),
            };
            let key = match renamed {
                None => continue,
                Some(b"") if node.key == IS_KEY => self.key_node_text(entry, value)?,
                Some(b"") => self.make_key_text(&name, bytes, value)?,
                Some(text) => {
                    let is_reserved = self.is_reserved(text);
                    KeyText { text: text.to_vec(), special: KeyHandling { is_reserved, ..KeyHandling::default() } }
                }
            };
            if key.special.is_absent {
                continue;
            }
            if key.special.is_reserved {
                self.record_loss(LossKind::Reserved, value);
                continue;
            }
            for kind in key.special.losses.into_iter().flatten() {
                self.record_loss(kind, value);
            }
            let start = self.order.text.len();
            self.order.text.extend_from_slice(&key.text);
            self.order.entries.push(SortedEntry { start, len: key.text.len(), value });
        }
        self.sort_entries(first);
        if let Some(top) = self.open.last_mut() {
            (top.kind, top.next, top.end) = (FrameKind::SortedMap, first as u32, self.order.entries.len() as u32);
        }
        Ok(())
    }

    /// Sorts the entries from `first` on, if the option asks for it.
    fn sort_entries(&mut self, first: usize) {
        if !self.options.sort_keys {
            return;
        }
        let text = &self.order.text;
        let key = |entry: &SortedEntry| &text[entry.start..entry.start + entry.len];
        self.order.entries[first..].sort_by(|a, b| key(a).cmp(key(b)));
        let duplicates: Vec<u32> = self.order.entries[first..]
            .windows(2)
            .filter(|pair| key(&pair[0]) == key(&pair[1]))
            .map(|pair| pair[1].value)
            .collect();
        for value in duplicates {
            self.record_loss(LossKind::DuplicateKey, value);
        }
    }

    /// Continues in the innermost map, whose entries are sorted.
    pub(super) fn write_sorted_entries(&mut self) -> Result<(), Error> {
        let Some(top) = self.open.last_mut() else { return Ok(()) };
        if top.next >= top.end {
            self.current_map = top.enclosing_map;
            if let Some((entries, text)) = self.order.starts.pop() {
                self.order.entries.truncate(entries);
                self.order.text.truncate(text);
            }
            return self.close_container(b'}');
        }
        let mut is_empty = top.is_empty;
        top.next += 1;
        let Some(entry) = self.order.entries.get(top.next as usize - 1).copied() else { return Ok(()) };
        top.is_empty = false;
        self.write_separator(&mut is_empty)?;
        let text = self.order.text.get(entry.start..entry.start + entry.len).unwrap_or(&[]);
        self.emitter.write_quoted(text, CharEncoding::Utf8)?;
        self.emitter.write_colon();
        self.write_value(entry.value)
    }
}
