//! Strings in named encodings as text, for formats that have nothing else.

use super::{Document, IS_KEY, KEY_NODE, Kind, Node, Tape};
use crate::encoding::decoded;
use std::borrow::Cow;
use std::collections::HashMap;

impl Document<'_> {
    /// The same document, where strings and symbols in named encodings are text, as far as
    /// their encodings are known and their bytes are text in it. Nodes keep their places.
    pub(crate) fn transcoded(&self) -> Cow<'_, Document<'_>> {
        if self.tape().encodings.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut tape = Cow::Borrowed(self.tape());
        let mut keys: HashMap<u16, Option<u16>> = HashMap::new();
        for at in 0..self.tape().len() {
            let node = self.tape().nodes()[at as usize];
            if let Some(text) = self.text_of(&node, self.bytes(&node)) {
                let text = tape.to_mut().owned(kind_of(&node), text.as_bytes());
                tape.to_mut().replace(at, Node { key: node.key, flags: node.flags, ..text });
            }
            if !matches!(node.key, 0 | IS_KEY | KEY_NODE)
                && let Some(key) = *keys.entry(node.key).or_insert_with(|| self.key_as_text(node.key, &mut tape))
            {
                tape.to_mut().set_key(at, key);
            }
        }
        match tape {
            Cow::Borrowed(_) => Cow::Borrowed(self),
            Cow::Owned(tape) => Cow::Owned(self.beside(tape)),
        }
    }

    fn text_of<'b>(&self, node: &Node, bytes: &'b [u8]) -> Option<Cow<'b, str>> {
        let has_encoding = matches!(node.kind, Kind::Encoded | Kind::Symbol) && node.encoding() != 0;
        let name = self.tape().encodings.get(u32::from(node.encoding())).filter(|_| has_encoding)?;
        decoded(std::str::from_utf8(name.bytes).ok()?, bytes)
    }

    /// The id of a key whose name is text.
    fn key_as_text(&self, id: u16, tape: &mut Cow<'_, Tape>) -> Option<u16> {
        let name = self.tape().keys().get(u32::from(id))?;
        let text = self.text_of(&name.node, name.bytes)?;
        let node = Node::leaf(kind_of(&name.node), 0).with(name.node.flags);
        tape.to_mut().intern_key(node, text.as_bytes())
    }
}

fn kind_of(node: &Node) -> Kind {
    if node.kind == Kind::Symbol { Kind::Symbol } else { Kind::Text }
}
