//! Strings in named encodings as UTF-8, for formats without other encodings.

use super::{Document, IS_KEY, KEY_NODE, Kind, Node, Tape};
use crate::encoding::decoded;
use std::borrow::Cow;
use std::collections::HashMap;

impl Document<'_> {
    /// Returns the same document where strings in named encodings have the encoding [`UTF_8`], and symbols have none.
    /// Strings stay unchanged if their encoding is unknown or their bytes are invalid in it. Nodes keep their places.
    pub(crate) fn with_utf8_strings(&self) -> Cow<'_, Document<'_>> {
        if self.tape().encodings.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut tape = Cow::Borrowed(self.tape());
        let mut keys: HashMap<u16, Option<u16>> = HashMap::new();
        for index in 0..self.tape().len() {
            let node = self.tape().nodes()[index as usize];
            if let Some(text) = self.decode_string(&node, self.bytes(&node)) {
                let tape = tape.to_mut();
                let text = make_utf8_node(tape, &node, |tape, kind| tape.new_owned_string(kind, text.as_bytes()));
                tape.replace_node(index, Node { key: node.key, flags: node.flags, ..text });
            }
            if !matches!(node.key, 0 | IS_KEY | KEY_NODE)
                && let Some(key) = *keys.entry(node.key).or_insert_with(|| self.transcode_key(node.key, &mut tape))
            {
                tape.to_mut().set_key(index, key);
            }
        }
        match tape {
            Cow::Borrowed(_) => Cow::Borrowed(self),
            Cow::Owned(tape) => Cow::Owned(self.with_tape(tape)),
        }
    }

    fn decode_string<'b>(&self, node: &Node, bytes: &'b [u8]) -> Option<Cow<'b, str>> {
        let has_encoding = matches!(node.kind, Kind::Encoded | Kind::Symbol) && node.encoding() != 0;
        let name = self.tape().encodings.get(u32::from(node.encoding())).filter(|_| has_encoding)?;
        decoded(std::str::from_utf8(name.bytes).ok()?, bytes)
    }

    /// Returns the id of a key with its name converted to UTF-8.
    fn transcode_key(&self, id: u16, tape: &mut Cow<'_, Tape>) -> Option<u16> {
        let name = self.tape().keys().get(u32::from(id))?;
        let text = self.decode_string(&name.node, name.bytes)?;
        let tape = tape.to_mut();
        let node = make_utf8_node(tape, &name.node, |_, kind| Node::leaf(kind, 0));
        tape.intern_key(node.with(name.node.flags), text.as_bytes())
    }

    /// Returns `true` if a string has the encoding that [`Document::with_utf8_strings`] sets.
    pub(crate) fn has_utf8_encoding(&self, node: &Node) -> bool {
        self.tape().encodings.get(u32::from(node.encoding())).is_some_and(|name| name.bytes == UTF_8)
    }
}

const UTF_8: &[u8] = b"UTF-8";

/// Returns a node of the same kind with the encoding UTF-8.
fn make_utf8_node(tape: &mut Tape, like: &Node, make: impl FnOnce(&mut Tape, Kind) -> Node) -> Node {
    let mut node = make(tape, like.kind);
    if like.kind == Kind::Encoded
        && let Ok(encoding) = tape.intern_encoding(UTF_8)
    {
        node.set_encoding(encoding);
    }
    node
}
