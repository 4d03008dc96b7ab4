//! A document restricted to the values that perl can build.

use crate::document::{
    Document, GONE, IS_KEY, Kind, NO_KEY, Name, Naming, Node, Rewrite, Tape, flag, rename_for_target, same_node,
};
use crate::error::Error;
use crate::limits::Limits;
use crate::losses::Losses;
use std::borrow::Cow;

impl Tape {
    /// Replaces everything that perl can't represent by what a Perl program would have instead. For a module that
    /// builds values from a document of PHP or Ruby.
    ///
    /// - Members of objects are named as in Perl: `@name` is `name`.
    /// - Symbols are strings. Text that is not UTF-8 is bytes, also as a key.
    /// - A link to a string or a number becomes a second such string or number.
    /// - Attributes of a value and the default value of a map are removed.
    /// - A copy becomes a value of its own.
    ///
    /// `input` is the input that the tape was read from.
    ///
    /// ```
    /// use icecore::{Kind, Limits, Request, Stage};
    /// let dump = b"\x04\x08[\x07:\x06a@\x00";
    /// let stage = Stage::parse("marshal")?;
    /// let mut document = icecore::read_with(dump, &stage, Request::new(&Limits::default()))?;
    /// document.tape_mut().to_perl(dump, &Limits::default())?;
    /// assert_eq!(document.nodes()[1].kind, Kind::Bytes);
    /// # Ok::<(), icecore::Error>(())
    /// ```
    ///
    /// # Errors
    /// Of kind `Limit`, if copies of copies make too many values.
    pub fn to_perl(&mut self, input: &[u8], limits: &Limits) -> Result<(), Error> {
        self.expand_copies(input, limits)?;
        let document = Document::new(Cow::Borrowed(input), std::mem::take(self));
        let renamed =
            rename_for_target(&document, Naming::Perl, Losses::default()).ok().map(|(renamed, _)| renamed.into_tape());
        *self = renamed.unwrap_or_else(|| document.into_tape());
        if self.keys.may_have_symbol() || self.keys.may_have_malformed() {
            self.replace_keys(|name| match name.node.kind {
                Kind::Symbol => Some(symbol_string_kind(name.bytes)),
                Kind::Text if std::str::from_utf8(name.bytes).is_err() => Some(Kind::Bytes),
                _ => None,
            });
        }
        for index in 0..self.nodes.len() {
            let node = self.nodes[index];
            match node.kind {
                Kind::Symbol => self.nodes[index].kind = symbol_string_kind(self.string_bytes(&node, input)),
                Kind::Text if std::str::from_utf8(self.string_bytes(&node, input)).is_err() => {
                    self.nodes[index].kind = Kind::Bytes
                }
                Kind::Link => {
                    // The target of a link comes before it, so it was converted already.
                    let target = self.node(node.payload as u32);
                    if !target.kind.is_container() && !target.kind.is_again() {
                        self.nodes[index] = Node { key: node.key, flags: target.flags & !flag::TARGET, ..target };
                    }
                }
                _ => {}
            }
        }
        let has_attributes_or_default =
            |node: &Node| node.kind == Kind::Attrs || node.kind == Kind::Map && node.has(flag::DEFAULT);
        if self.nodes.iter().any(has_attributes_or_default) {
            self.remove_attributes();
        }
        Ok(())
    }

    /// Turns text that is ASCII into byte strings, because perl marks strings as UTF-8 only when necessary. `input` is
    /// the input that the tape was read from.
    ///
    /// ```
    /// use icecore::{Kind, Limits, Request, Stage};
    /// let json = br#"["a","\u00e9"]"#;
    /// let mut document = icecore::read_with(json, &Stage::parse("json")?, Request::new(&Limits::default()))?;
    /// document.tape_mut().ascii_to_bytes(json);
    /// assert_eq!([1, 2].map(|at| document.nodes()[at].kind), [Kind::Bytes, Kind::Text]);
    /// # Ok::<(), icecore::Error>(())
    /// ```
    pub fn ascii_to_bytes(&mut self, input: &[u8]) {
        self.replace_keys(|name| (name.node.kind == Kind::Text && name.bytes.is_ascii()).then_some(Kind::Bytes));
        for index in 0..self.nodes.len() {
            let node = self.nodes[index];
            if node.kind == Kind::Text && self.string_bytes(&node, input).is_ascii() {
                self.nodes[index].kind = Kind::Bytes;
            }
        }
    }

    /// Turns byte strings that are valid UTF-8 into text, for a language whose programs distinguish bytes and text.
    pub(crate) fn bytes_to_text(&mut self, input: &[u8]) {
        let is_text = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok();
        self.replace_keys(|name| (name.node.kind == Kind::Bytes && is_text(name.bytes)).then_some(Kind::Text));
        for index in 0..self.nodes.len() {
            let node = self.nodes[index];
            if node.kind == Kind::Bytes && is_text(self.string_bytes(&node, input)) {
                self.nodes[index].kind = Kind::Text;
            }
        }
    }

    /// Changes the kind of keys; `kind` returns the new kind of a key.
    fn replace_keys(&mut self, kind: impl Fn(&Name<'_>) -> Option<Kind>) {
        let others: Vec<_> = (1..=self.keys.len() as u32)
            .filter_map(|id| {
                let name = self.keys.get(id)?;
                Some((id as u16, kind(&name)?, name.bytes.to_vec()))
            })
            .collect();
        let mut ids = vec![NO_KEY; self.keys.len() + 1];
        for (id, kind, bytes) in others {
            if let Some(new) = self.intern_key(Node::leaf(kind, 0), &bytes) {
                ids[usize::from(id)] = new;
            }
        }
        for node in self.nodes.iter_mut().filter(|node| node.key != IS_KEY) {
            if let Some(new) = ids.get(usize::from(node.key)).filter(|new| **new != NO_KEY) {
                node.key = *new;
            }
        }
    }

    /// Removes the attributes of values and the default values of maps.
    fn remove_attributes(&mut self) {
        let mut rewrite = Rewrite::new(self.nodes.len());
        // Begin and end of the removed parts, for each container that has one.
        let mut left_out: Vec<(u32, u32)> = Vec::new();
        // The key of removed attributes, for the value in them.
        let mut inherited_key = None;
        let mut index = 0;
        while index < self.len() {
            rewrite.reach_node(index);
            if let Some((_, end)) = left_out.pop_if(|(from, _)| *from <= index) {
                rewrite.remove_node(end);
                index = end;
                continue;
            }
            let mut node = self.nodes[index as usize];
            if let Some(key) = inherited_key.take() {
                node.key = key;
            }
            let end = self.index_after(index);
            let kept_end = match node.kind {
                Kind::Attrs if end > index + 1 => {
                    inherited_key = Some(node.key);
                    self.index_after(index + 1)
                }
                Kind::Map if node.has(flag::DEFAULT) => {
                    node.flags &= !flag::DEFAULT;
                    self.index_after_entries(index, node.aux)
                }
                _ => end,
            };
            if kept_end < end {
                left_out.push((kept_end, end));
            }
            // The value stays; the node of the attributes around it is removed.
            if inherited_key.is_none() {
                rewrite.keep_node(node);
            }
            index += 1;
        }
        rewrite.relink_targets(self.len(), same_node);
        for node in rewrite.nodes.iter_mut().filter(|node| node.kind.is_again() && node.payload == u64::from(GONE)) {
            *node = Node { key: node.key, ..Node::leaf(Kind::Null, 0) };
        }
        rewrite.finish(self);
    }

    /// Returns the index of the node after the first `count` entries of the map at `index`.
    pub(crate) fn index_after_entries(&self, index: u32, count: u32) -> u32 {
        let mut child = index + 1;
        for _ in 0..count {
            if self.nodes.get(child as usize).is_some_and(|node| node.key == IS_KEY) {
                child = self.index_after(child);
            }
            child = self.index_after(child);
        }
        child.min(self.index_after(index))
    }
}

/// Returns the kind of string that a symbol with these bytes becomes.
fn symbol_string_kind(bytes: &[u8]) -> Kind {
    if !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok() { Kind::Text } else { Kind::Bytes }
}

#[cfg(test)]
mod tests {
    use crate::{Limits, Request, Stage};

    fn as_perl(typed: &str) -> String {
        let stage = Stage::parse("json:typed").unwrap();
        let mut document = crate::read_with(typed.as_bytes(), &stage, Request::new(&Limits::default())).unwrap();
        document.tape_mut().to_perl(typed.as_bytes(), &Limits::default()).unwrap();
        let json = String::from_utf8(crate::write(&document, "json:typed").unwrap()).unwrap();
        let head = r#"{"$icecore":1,"$strings":"text","$value":"#;
        json.strip_prefix(head).and_then(|text| text.strip_suffix('}')).unwrap_or(&json).to_owned()
    }

    #[test]
    fn features_that_perl_lacks_are_removed() {
        for (before, after) in [
            (r#"[{"$attributes":{"a":1},"$value":"abc"},2]"#, r#"["abc",2]"#),
            (r#"{"x":{"$attributes":{"a":[1]},"$value":["abc"]},"y":2}"#, r#"{"x":["abc"],"y":2}"#),
            (r#"[{"$map":[["a",1]],"$default":[0]},[3]]"#, r#"[{"a":1},[3]]"#),
            (r#"[{"$subclass":"C","$value":{"$extended":"M","$value":[1]}},[2]]"#, "[[1],[2]]"),
            (r#"[{"$id":1,"$value":"s"},{"$link":1}]"#, r#"[{"$id":1,"$value":"s"},"s"]"#),
            (r#"[{"$attributes":{"a":{"$id":1,"$value":[1]}},"$value":"b"},{"$link":1},[2]]"#, r#"["b",null,[2]]"#),
            (
                r#"[{"$id":1,"$value":{"$attributes":{"a":1},"$value":[2]}},{"$link":1}]"#,
                r#"[{"$id":1,"$value":[2]},{"$link":1}]"#,
            ),
            (
                r#"[{"$attributes":{"a":1},"$value":"b"},{"$id":1,"$value":[1]},{"$link":1}]"#,
                r#"["b",{"$id":1,"$value":[1]},{"$link":1}]"#,
            ),
        ] {
            assert_eq!(as_perl(before), after);
        }
    }
}
