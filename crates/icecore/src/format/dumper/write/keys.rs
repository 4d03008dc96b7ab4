//! Writes the keys of hashes.

use super::Writer;
use super::quote;
use crate::document::{Kind, Name, flag};
use crate::error::{Error, ErrorKind};
use crate::format::scan::utf8;
use crate::num::bigint;
use crate::num::general::float_to_perl_text;
use crate::output::LossKind;
use std::borrow::Cow;
use std::cmp::Ordering;

/// A key: its id, or its node.
#[derive(Clone, Copy)]
pub(super) enum Key {
    Id(u16),
    Node(u32),
}

/// A key as a Perl string.
struct KeyText<'d> {
    bytes: Cow<'d, [u8]>,
    /// Whether it is text with characters beyond ASCII.
    is_text: bool,
    loss: Option<LossKind>,
}

impl<'d> KeyText<'d> {
    /// Returns the string of a key; `None` if it can't be a key.
    fn from_name(name: &Name<'d>) -> Option<KeyText<'d>> {
        let node = name.node;
        let (bytes, loss) = match node.kind {
            Kind::Bytes => (Cow::Borrowed(name.bytes), None),
            Kind::Text => return Some(KeyText::from_text(name.bytes, None)),
            Kind::Symbol => return Some(KeyText::from_text(name.bytes, Some(LossKind::Symbol))),
            Kind::Module | Kind::EnumCase => return Some(KeyText::from_text(name.bytes, Some(LossKind::Name))),
            Kind::Encoded => (Cow::Borrowed(name.bytes), Some(LossKind::Encoding)),
            kind => {
                let text = match kind {
                    Kind::Int => (node.payload as i64).to_string(),
                    Kind::Uint => node.payload.to_string(),
                    Kind::Float => float_to_perl_text(f64::from_bits(node.payload)),
                    Kind::Float32 => float_to_perl_text(f64::from(f32::from_bits(node.payload as u32))),
                    Kind::Bool if node.payload != 0 => "1".to_owned(),
                    Kind::Bool | Kind::Null | Kind::Hole => String::new(),
                    Kind::BigInt => {
                        let mut text = Vec::new();
                        bigint::push_decimal(node.has(flag::NEGATIVE), name.bytes, &mut text);
                        String::from_utf8(text).ok()?
                    }
                    _ => return None,
                };
                (Cow::Owned(text.into_bytes()), Some(LossKind::Key))
            }
        };
        Some(KeyText { bytes, is_text: false, loss })
    }

    fn from_text(bytes: &'d [u8], loss: Option<LossKind>) -> KeyText<'d> {
        KeyText { bytes: Cow::Borrowed(bytes), is_text: !bytes.is_ascii() && utf8::is_valid_text(bytes), loss }
    }

    /// Compares in Perl's order of strings: by their characters.
    fn compare_characters(&self, other: &KeyText<'_>) -> Ordering {
        let latin1 = |bytes: &[u8]| bytes.iter().map(|byte| u64::from(*byte)).collect::<Vec<_>>();
        let text = |bytes: &[u8]| utf8::valid_characters(bytes).map(|(code, _)| code).collect::<Vec<_>>();
        match (self.is_text, other.is_text) {
            (true, false) => text(&self.bytes).cmp(&latin1(&other.bytes)),
            (false, true) => latin1(&self.bytes).cmp(&text(&other.bytes)),
            // Both are UTF-8, or both are bytes. The order of UTF-8 bytes is the same as the order of the characters.
            _ => self.bytes.cmp(&other.bytes),
        }
    }
}

impl<'d> Writer<'d> {
    fn key_name(&self, key: Key) -> Option<Name<'d>> {
        let document = self.document;
        match key {
            Key::Id(id) => document.tape().keys().get(u32::from(id)),
            Key::Node(at) => {
                let node = document.nodes().get(at as usize)?;
                Some(Name { node: *node, bytes: if node.kind.has_bytes() { document.bytes(node) } else { &[] } })
            }
        }
    }

    /// Writes the key of the value at `index`. Returns its width.
    #[inline]
    pub(super) fn write_entry_key(&mut self, key: Option<Key>, index: u32, buf: &mut Vec<u8>) -> Result<usize, Error> {
        let Some(key) = key else { return Ok(0) };
        if let Key::Id(id) = key
            && !self.style.options.useperl
            && !self.style.options.useqq
            && let Some((entry, bytes)) = self.document.tape().keys().get_plain(id)
            && let crate::document::Location::Arena(start) = entry.node.location()
            && let Some(bytes) = bytes.get(start as usize..start as usize + entry.node.aux as usize)
        {
            let before = buf.len();
            self.write_bytes_key(bytes, buf);
            return Ok(buf.len() - before);
        }
        self.write_any_key(key, index, buf)
    }

    /// Writes a key without flags as the C code does.
    #[inline]
    fn write_bytes_key(&self, bytes: &[u8], buf: &mut Vec<u8>) {
        if self.style.options.quotekeys || !quote::is_identifier(bytes) && !quote::is_decimal(bytes) {
            quote::push_single(bytes, buf);
        } else {
            buf.extend_from_slice(bytes);
        }
    }

    #[cold]
    fn write_any_key(&mut self, key: Key, index: u32, buf: &mut Vec<u8>) -> Result<usize, Error> {
        let name = self.key_name(key);
        let too_long =
            name.is_some_and(|name| name.node.kind == Kind::BigInt && bigint::exceeds(name.bytes, self.limits.digits));
        if too_long {
            return Err(self.limits.too_many_digits().on_path(self.document.path(index)));
        }
        let Some(text) = name.as_ref().and_then(KeyText::from_name) else {
            return Err(Error::new(ErrorKind::Unrepresentable)
                .on_path(self.document.path(index))
                .expecting("a key that can be a string")
                .finding(name.map_or("none".to_owned(), |name| format!("{:?}", name.node.kind))));
        };
        if let Some(loss) = text.loss {
            self.record_loss(loss, index);
        }
        // The text can't represent locked keys.
        if name.is_some_and(|name| name.node.kind.is_string() && name.node.has(flag::LOCKED)) {
            self.record_loss(LossKind::Restricted, index);
        }
        let is_other = name.is_some_and(|name| name.node.kind == Kind::Text) && !text.bytes.is_ascii() && !text.is_text;
        if is_other || self.is_ambiguous_text(&text.bytes, text.is_text) {
            self.record_loss(LossKind::Text, index);
        }
        let start = buf.len();
        self.push_key_text(&text, buf);
        Ok(self.text_width(buf.get(start..).unwrap_or(&[])))
    }

    /// Returns the width of a text. Data::Dumper's Perl code counts characters, and its C code counts bytes.
    fn text_width(&self, text: &[u8]) -> usize {
        if !self.style.writes_utf8 {
            return text.len();
        }
        text.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
    }

    /// Writes the key again, as part of a name.
    pub(super) fn push_key(&self, key: Key, buf: &mut Vec<u8>) {
        if let Some(text) = self.key_name(key).as_ref().and_then(KeyText::from_name) {
            self.push_key_text(&text, buf);
        }
    }

    fn push_key_text(&self, text: &KeyText<'_>, buf: &mut Vec<u8>) {
        let options = self.style.options;
        let (bytes, is_text) = (&*text.bytes, text.is_text);
        if !options.useperl {
            if !is_text && !options.useqq {
                return self.write_bytes_key(bytes, buf);
            }
            if !options.quotekeys && (quote::is_identifier(bytes) || quote::is_decimal(bytes)) {
                return buf.extend_from_slice(bytes);
            }
            return quote::push_double(bytes, is_text, options.useqq, buf);
        }
        let is_bare = quote::is_decimal(bytes)
            || quote::is_identifier(bytes)
            || is_text && !options.useqq && is_latin1_identifier(bytes);
        if !options.quotekeys && is_bare {
            quote::push_chars(bytes, is_text, self.style.writes_utf8, buf);
        } else {
            self.push_string_of_perl(bytes, is_text, buf);
        }
    }

    /// Puts the entries from `index` to `end` on `sorted`, the last first.
    pub(super) fn sort_entries(&mut self, mut index: u32, end: u32) {
        let mut entries = Vec::new();
        while let Some((key, value)) = self.next_entry(&mut index, end) {
            let name = self.key_name(key);
            let text = name.as_ref().and_then(KeyText::from_name);
            entries.push((text, key, value));
        }
        entries.sort_by(|(a, ..), (b, ..)| match (a, b) {
            (Some(a), Some(b)) => a.compare_characters(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        });
        self.sorted.extend(entries.into_iter().rev().map(|(_, key, value)| (key, value)));
    }
}

/// Returns `true` if text with characters below 256 is a name. Perl's `\w` accepts these letters
/// too, but not as the first character.
fn is_latin1_identifier(bytes: &[u8]) -> bool {
    let is_word = |code: u64| match u8::try_from(code) {
        Ok(byte) if byte.is_ascii() => byte.is_ascii_alphanumeric() || byte == b'_',
        Ok(0xAA | 0xB5 | 0xBA) => true,
        Ok(byte) => byte >= 0xC0 && byte != 0xD7 && byte != 0xF7,
        Err(_) => false,
    };
    let is_first = bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    is_first && utf8::valid_characters(bytes).all(|(code, _)| is_word(code))
}
