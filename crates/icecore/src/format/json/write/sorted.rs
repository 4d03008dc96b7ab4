//! Keys without ids, and sorted keys.

use super::{What, Writer};
use crate::document::{IS_KEY, KEY_NODE, Kind, NO_KEY, Node, flag};
use crate::error::{Error, ErrorKind};
use crate::format::json::emitter::{Chars, quoted_key};
use crate::format::json::keys::Special;
use crate::format::json::number::canonical;
use crate::num::{FloatText, bigint};
use crate::output::LossKind;

/// Entries of the sorted maps that are open, the innermost last.
#[derive(Default)]
pub(super) struct Order {
    entries: Vec<Entry>,
    text: Vec<u8>,
    /// Where the entries and the text of each map start.
    starts: Vec<(usize, usize)>,
}

#[derive(Clone, Copy)]
struct Entry {
    /// Offset of the key's text in UTF-8, without quotes.
    start: usize,
    len: usize,
    value: u32,
}

/// The text of a key, in UTF-8 and without quotes, and what it does not represent.
struct KeyText {
    text: Vec<u8>,
    special: Special,
}

impl Writer<'_, '_, '_> {
    /// Returns the text of a key.
    fn key_text(&mut self, node: &Node, bytes: &[u8], at: u32) -> Result<KeyText, Error> {
        let absent = node.has(flag::PLACEHOLDER) && node.kind.is_string();
        let (text, own) = match node.kind {
            Kind::Text | Kind::Bytes => (None, None),
            Kind::Encoded => (None, Some(LossKind::Encoding)),
            Kind::Symbol => (None, Some(LossKind::Symbol)),
            Kind::Module | Kind::EnumCase => (None, Some(LossKind::Name)),
            Kind::BigInt if bigint::exceeds(bytes, self.limits.digits) => {
                return Err(self.limits.too_many_digits().on_path(self.original.path(at)));
            }
            Kind::Int | Kind::Uint | Kind::BigInt | Kind::Float => (Some(canonical(node, bytes)), Some(LossKind::Key)),
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
                return Err(self.cannot(at, "a key that is not a string or number", "`json:typed` can say it"));
            }
        };
        let is_undecoded = node.kind == Kind::Encoded && !self.document.is_utf8(node);
        let mut losses = [own, is_undecoded.then_some(LossKind::Undecoded), None];
        let text = match text {
            Some(text) => text,
            None => {
                let text = self.text_of(node.kind, bytes);
                if text.is_lossy && !absent {
                    if self.options.bytes == crate::format::json::BytesAs::Error {
                        self.finish_text(at, Some(LossKind::Bytes))?;
                    }
                    losses[2] = Some(LossKind::Bytes);
                }
                match text.chars {
                    Chars::Utf8 => text.bytes.into_owned(),
                    Chars::Latin1 => text.bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes(),
                }
            }
        };
        let reserved = !absent && self.is_reserved(&text);
        Ok(KeyText { text, special: Special { absent, reserved, losses } })
    }

    /// Whether the option `class` writes class names under this key. A member with this
    /// name is left out: otherwise data could pass for an object of any class.
    pub(super) fn is_reserved(&self, text: &[u8]) -> bool {
        self.options.class.as_ref().is_some_and(|class| class.as_bytes() == text)
    }

    /// The same as [`Writer::is_reserved`], for the key node at `key`.
    pub(super) fn is_reserved_node(&mut self, key: u32, value: u32) -> Result<bool, Error> {
        Ok(self.text_of_key_node(key, value)?.special.reserved)
    }

    /// Renders the key with this id.
    #[cold]
    pub(super) fn render(&mut self, id: u16, value: u32) -> Result<(), Error> {
        let document = self.document;
        let Some(name) = document.tape().keys().get(u32::from(id)) else {
            return Err(Error::new(ErrorKind::Usage).expecting("a well-formed document").finding("an unknown key id"));
        };
        let KeyText { text, special } = self.key_text(&name.node, name.bytes, value)?;
        let quoted = quoted_key(&text, self.emitter.style());
        self.keys.render(id, name.node.kind, name.node.flags, &quoted, special);
        Ok(())
    }

    /// Renders all keys with an id.
    fn render_all(&mut self) -> Result<(), Error> {
        if !self.has_rendered_all {
            self.has_rendered_all = true;
            for id in 1..=self.document.tape().keys().len() {
                if let Ok(id) = u16::try_from(id)
                    && self.keys.get(id).is_none()
                {
                    self.render(id, 0)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the key node at `key`; its value is at `value`.
    pub(super) fn key_node(&mut self, key: u32, value: u32) -> Result<(), Error> {
        let KeyText { text, special } = self.text_of_key_node(key, value)?;
        for kind in special.losses.into_iter().flatten() {
            self.lose(kind, value);
        }
        let quoted = quoted_key(&text, self.emitter.style());
        self.render_all()?;
        if self.keys.is_text_again(&quoted, &mut self.serial) {
            self.lose(LossKind::DuplicateKey, value);
        }
        self.emitter.raw(&quoted)
    }

    fn text_of_key_node(&mut self, key: u32, value: u32) -> Result<KeyText, Error> {
        let document = self.document;
        let node = document.at(key).map_or(Node::leaf(Kind::Null, 0), |key| *key.target().node());
        if node.kind.is_container()
            && let Some(text) = self.key_of_container(key)
        {
            let reserved = self.is_reserved(&text);
            return Ok(KeyText {
                text,
                special: Special { absent: false, reserved, losses: [Some(LossKind::Key), None, None] },
            });
        }
        self.key_text(&node, if node.kind.has_bytes() { document.bytes(&node) } else { &[] }, value)
    }

    /// Orders the entries of the map that was just opened: by their keys, if the option
    /// asks for it. Entries of an exception get their names.
    pub(super) fn put_in_order(&mut self, at: u32, end: u32, is_exception: bool) -> Result<(), Error> {
        let first = self.order.entries.len();
        self.order.starts.push((first, self.order.text.len()));
        let mut next = at + 1;
        while next < end {
            let Some(node) = self.nodes.get(next as usize) else { break };
            let (document, place) = (self.document, next);
            let (name, bytes, value) = match node.key {
                NO_KEY | KEY_NODE => break,
                IS_KEY => {
                    let key = document.at(next).map_or(Node::leaf(Kind::Null, 0), |key| *key.target().node());
                    let bytes = if key.kind.has_bytes() { document.bytes(&key) } else { &[] };
                    (key, bytes, document.tape().next(next))
                }
                id => {
                    let Some(name) = document.tape().keys().get(u32::from(id)) else { break };
                    (name.node, name.bytes, next)
                }
            };
            if value >= end {
                break;
            }
            next = document.tape().next(value);
            let renamed = if is_exception { self.exception_key(&name, bytes, value) } else { Some(&b""[..]) };
            let key = match renamed {
                None => continue,
                Some(b"") if node.key == IS_KEY => self.text_of_key_node(place, value)?,
                Some(b"") => self.key_text(&name, bytes, value)?,
                Some(text) => {
                    let reserved = self.is_reserved(text);
                    KeyText { text: text.to_vec(), special: Special { reserved, ..Special::default() } }
                }
            };
            if key.special.absent {
                continue;
            }
            if key.special.reserved {
                self.lose(LossKind::Reserved, value);
                continue;
            }
            for kind in key.special.losses.into_iter().flatten() {
                self.lose(kind, value);
            }
            let start = self.order.text.len();
            self.order.text.extend_from_slice(&key.text);
            self.order.entries.push(Entry { start, len: key.text.len(), value });
        }
        self.sort(first);
        if let Some(top) = self.open.last_mut() {
            (top.what, top.next, top.end) = (What::SortedMap, first as u32, self.order.entries.len() as u32);
        }
        Ok(())
    }

    /// Sorts the entries from `first` on, if the option asks for it.
    fn sort(&mut self, first: usize) {
        if !self.options.sort_keys {
            return;
        }
        let text = &self.order.text;
        let key = |entry: &Entry| &text[entry.start..entry.start + entry.len];
        self.order.entries[first..].sort_by(|a, b| key(a).cmp(key(b)));
        let again: Vec<u32> = self.order.entries[first..]
            .windows(2)
            .filter(|pair| key(&pair[0]) == key(&pair[1]))
            .map(|pair| pair[1].value)
            .collect();
        for value in again {
            self.lose(LossKind::DuplicateKey, value);
        }
    }

    /// Continues in the innermost map, whose entries are sorted.
    pub(super) fn sorted_map(&mut self) -> Result<(), Error> {
        let Some(top) = self.open.last_mut() else { return Ok(()) };
        if top.next >= top.end {
            self.serial = top.around;
            if let Some((entries, text)) = self.order.starts.pop() {
                self.order.entries.truncate(entries);
                self.order.text.truncate(text);
            }
            return self.close(b'}');
        }
        let mut is_empty = top.is_empty;
        top.next += 1;
        let Some(entry) = self.order.entries.get(top.next as usize - 1).copied() else { return Ok(()) };
        top.is_empty = false;
        self.separate(&mut is_empty)?;
        let text = self.order.text.get(entry.start..entry.start + entry.len).unwrap_or(&[]);
        self.emitter.quoted(text, Chars::Utf8)?;
        self.emitter.colon();
        self.value(entry.value)
    }
}
