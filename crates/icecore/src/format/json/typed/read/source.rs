//! Read access to the plain document.

use super::{NodeError, TypedReader};
use crate::document::{IS_KEY, Kind, NO_KEY, Node};
use crate::format::json::typed::form::{COUNT, FORMS, FormKeys, Name};
use crate::format::json::typed::key::{self, KeyMeaning};

/// The places of the values of an object with `$` keys, by key.
pub(in crate::format::json::typed) struct FormValues {
    plain_nodes: [u32; COUNT],
}

/// The place of a key that the object does not have.
const NONE: u32 = u32::MAX;

impl FormValues {
    pub(super) fn get(&self, name: Name) -> Option<u32> {
        Some(self.plain_nodes[name as usize]).filter(|value| *value != NONE)
    }

    fn has(&self, name: Name) -> bool {
        self.get(name).is_some()
    }
}

/// An entry of an object.
#[derive(Clone, Copy)]
pub(super) struct SourceEntry {
    /// Id of its key; 0 if the key is a node of the tape.
    pub(super) id: u16,
    /// Node of its key, if the key is a node of the tape.
    pub(super) key: u32,
    pub(super) value: u32,
    /// Start of the next entry.
    pub(super) next: u32,
}

/// Meaning of a key of the plain document, and the id of the key that it describes: 0
/// if it is not known yet, and `None` if it can't have one.
pub(super) type ResolvedKey = (KeyMeaning, Option<u16>);

impl TypedReader<'_, '_> {
    pub(in crate::format::json::typed) fn source_kind(&self, plain_node: u32) -> Option<Kind> {
        self.source.nodes.get(plain_node as usize).map(|node| node.kind)
    }

    pub(super) fn source_node(&self, plain_node: u32) -> Node {
        self.source.nodes.get(plain_node as usize).copied().unwrap_or(Node::leaf(Kind::Null, 0))
    }

    /// Returns the bytes of a string.
    pub(in crate::format::json::typed) fn source_text(&self, plain_node: u32) -> Option<&[u8]> {
        let node = self.source.nodes.get(plain_node as usize).filter(|node| node.kind == Kind::Text)?;
        Some(self.tape.string_bytes(node, self.input))
    }

    /// Returns an integer that is not negative.
    pub(in crate::format::json::typed) fn source_number(&self, plain_node: u32) -> Option<u64> {
        let node = self.source.nodes.get(plain_node as usize)?;
        match node.kind {
            Kind::Int => u64::try_from(node.payload as i64).ok(),
            Kind::Uint => Some(node.payload),
            _ => None,
        }
    }

    /// Returns the items of an array.
    pub(in crate::format::json::typed) fn source_items(
        &self,
        plain_node: u32,
    ) -> Result<impl Iterator<Item = u32> + use<'_>, NodeError> {
        if self.source_kind(plain_node) != Some(Kind::Array) {
            return Err(NodeError::new(plain_node, "an array"));
        }
        let end = self.source.index_after(plain_node);
        let mut next = plain_node + 1;
        Ok(std::iter::from_fn(move || {
            let item = Some(next).filter(|item| *item < end)?;
            next = self.source.index_after(item);
            Some(item)
        }))
    }

    /// Returns the entries of an object: keys, and where their values are.
    pub(in crate::format::json::typed) fn source_entries(&self, plain_node: u32) -> impl Iterator<Item = (&[u8], u32)> {
        let end = self.source.index_after(plain_node);
        let mut next = plain_node + 1;
        std::iter::from_fn(move || {
            let entry = self.source_entry(next, end)?;
            next = entry.next;
            Some((self.key_bytes(&entry), entry.value))
        })
    }

    /// Returns the entry of an object that starts at `plain_node`.
    pub(super) fn source_entry(&self, plain_node: u32, end: u32) -> Option<SourceEntry> {
        let node = self.source.nodes.get(plain_node as usize).filter(|_| plain_node < end)?;
        let (id, value) = match node.key {
            NO_KEY => return None,
            IS_KEY => (0, self.source.index_after(plain_node)),
            id => (id, plain_node),
        };
        Some(SourceEntry { id, key: plain_node, value, next: self.source.index_after(value) })
    }

    pub(super) fn key_bytes(&self, entry: &SourceEntry) -> &[u8] {
        match entry.id {
            0 => self.tape.string_bytes(&self.source.nodes[entry.key as usize], self.input),
            id => self.source.keys.get(u32::from(id)).map_or(&[], |name| name.bytes),
        }
    }

    /// Returns the meaning of the key of an entry.
    pub(super) fn resolve_key(&mut self, entry: &SourceEntry) -> ResolvedKey {
        if entry.id == 0 {
            return (key::decode_key(self.strings, self.key_bytes(entry)), None);
        }
        let index = usize::from(entry.id);
        if let Some(Some(known)) = self.keys.get(index) {
            return *known;
        }
        let new = (key::decode_key(self.strings, self.key_bytes(entry)), Some(0));
        if self.keys.len() <= index {
            self.keys.resize(index + 1, None);
        }
        self.keys[index] = Some(new);
        new
    }

    /// Returns `true` if the object begins with a `$` key, known or unknown.
    pub(super) fn is_special(&mut self, plain_node: u32) -> bool {
        let first = self.source_entry(plain_node + 1, self.source.index_after(plain_node));
        first.is_some_and(|first| matches!(self.read_key(&first), KeyMeaning::Special(_) | KeyMeaning::Unknown))
    }

    /// Returns `true` if this is an object with `$icecore`.
    pub(super) fn is_outermost(&self, plain_node: u32) -> bool {
        self.source_kind(plain_node) == Some(Kind::Map)
            && self.source_entries(plain_node).any(|(key, _)| key == b"$icecore")
    }

    /// Returns the `$` keys of an object that has no other keys.
    pub(super) fn read_form_values(&mut self, plain_node: u32) -> Result<FormValues, NodeError> {
        let mut values = FormValues { plain_nodes: [NONE; COUNT] };
        let end = self.source.index_after(plain_node);
        let mut next = plain_node + 1;
        while let Some(entry) = self.source_entry(next, end) {
            next = entry.next;
            let key_text = |reader: &Self| format!("`{}`", String::from_utf8_lossy(reader.key_bytes(&entry)));
            match self.read_key(&entry) {
                KeyMeaning::Special(name) if values.has(name) => {
                    return Err(NodeError::new(entry.value, "each $ key once").finding(key_text(self)));
                }
                KeyMeaning::Special(name) => values.plain_nodes[name as usize] = entry.value,
                KeyMeaning::Unknown => return Err(self.unknown_key_error(&entry)),
                KeyMeaning::Plain(..) | KeyMeaning::Latin1 => {
                    return Err(NodeError::new(entry.value, "only $ keys next to a $ key")
                        .finding(format!("the key {}", key_text(self)))
                        .helping("a plain key that starts with $ is written with $$"));
                }
            }
        }
        Ok(values)
    }

    #[cold]
    pub(super) fn unknown_key_error(&self, entry: &SourceEntry) -> NodeError {
        NodeError::new(entry.value, "a $ key of json:typed, version 1")
            .finding(format!("`{}`", String::from_utf8_lossy(self.key_bytes(entry))))
            .helping("a plain key that starts with $ is written with $$")
    }

    /// Returns the form of an object of `$` keys. Checks that required keys exist, and
    /// that no others do.
    pub(super) fn find_form_keys(&self, plain_node: u32, values: &FormValues) -> Result<&'static FormKeys, NodeError> {
        let Some(form_keys) = FORMS.iter().find(|form_keys| values.has(form_keys.main)) else {
            let first = self
                .source_entries(plain_node)
                .next()
                .map_or(String::new(), |(key, _)| format!("`{}` alone", String::from_utf8_lossy(key)));
            return Err(NodeError::new(plain_node, "a form of json:typed").finding(first));
        };
        for (key, value) in self.source_entries(plain_node) {
            let belongs = Name::from_text(key).is_some_and(|name| {
                name == form_keys.main || form_keys.required.contains(&name) || form_keys.optional.contains(&name)
            });
            if !belongs {
                let key = String::from_utf8_lossy(key);
                return Err(
                    NodeError::new(value, format!("no `{key}` next to `{}`", form_keys.main.text())).finding("one")
                );
            }
        }
        match form_keys.required.iter().find(|name| !values.has(**name)) {
            Some(missing) => {
                Err(NodeError::new(plain_node, format!("`{}` next to `{}`", missing.text(), form_keys.main.text()))
                    .finding("none"))
            }
            None => Ok(form_keys),
        }
    }

    /// Describes the value at a place in a few words.
    pub(super) fn describe_value(&self, plain_node: u32) -> String {
        let node = self.source_node(plain_node);
        match node.kind {
            Kind::Text => {
                let text = String::from_utf8_lossy(self.tape.string_bytes(&node, self.input)).into_owned();
                let short: String = text.chars().take(40).collect();
                if short.len() < text.len() { format!("\"{short}…\"") } else { format!("\"{short}\"") }
            }
            Kind::Array => format!("an array of {}", node.aux),
            Kind::Map => format!("an object of {}", node.aux),
            Kind::Null => "null".to_owned(),
            Kind::Bool if node.payload != 0 => "true".to_owned(),
            Kind::Bool => "false".to_owned(),
            Kind::BigInt => "a large integer".to_owned(),
            _ => {
                let text = crate::format::json::number::canonical_text(&node, &[]);
                format!("the number {}", String::from_utf8_lossy(&text))
            }
        }
    }
}
