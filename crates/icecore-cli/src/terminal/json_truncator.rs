//! Shortens JSON to a limited number of levels and items.

use std::io::{self, Write};

/// Writes JSON to another writer, with `{…3}` for values that are too deep, and `… 98 more` for further items. The
/// output is for people.
pub struct JsonTruncator {
    inner: Box<dyn Write>,
    limits: DisplayLimits,
    open_containers: Vec<OpenContainer>,
    /// Level of the container whose remaining content is hidden; 1 is the outermost one.
    hidden_level: Option<usize>,
    state: TruncatorState,
    /// Whitespace before the next token, which is written unless that token is hidden.
    blanks: Vec<u8>,
    out: Vec<u8>,
}

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisplayLimits {
    /// Number of levels of values.
    pub depth: usize,
    /// Number of items of each list and map.
    pub items: u64,
    /// Whether a path and a tab precede each value.
    pub has_paths: bool,
}

/// An open container.
struct OpenContainer {
    /// Number of items so far.
    items: u64,
    /// Whether the next token begins an item.
    expects_item: bool,
    /// Whether it is too deep: only the number of its items is shown.
    is_too_deep: bool,
    /// Whitespace before its first item.
    blanks: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TruncatorState {
    /// In a path.
    Path,
    /// Between strings: in other tokens and in whitespace.
    Between,
    String,
    Escape,
}

impl JsonTruncator {
    pub fn new(inner: Box<dyn Write>, display_limits: DisplayLimits) -> JsonTruncator {
        let state = if display_limits.has_paths { TruncatorState::Path } else { TruncatorState::Between };
        JsonTruncator {
            inner,
            limits: display_limits,
            open_containers: Vec::new(),
            hidden_level: None,
            state,
            blanks: Vec::new(),
            out: Vec::new(),
        }
    }

    fn process_byte(&mut self, byte: u8) {
        match self.state {
            TruncatorState::Path => {
                self.out.push(byte);
                self.state = if byte == b'\t' { TruncatorState::Between } else { TruncatorState::Path };
            }
            TruncatorState::String | TruncatorState::Escape => {
                self.state = match (self.state, byte) {
                    (TruncatorState::String, b'"') => TruncatorState::Between,
                    (TruncatorState::String, b'\\') => TruncatorState::Escape,
                    _ => TruncatorState::String,
                };
                self.write_unless_hidden(byte);
            }
            TruncatorState::Between => self.process_byte_outside_strings(byte),
        }
    }

    /// Processes a byte outside of strings.
    fn process_byte_outside_strings(&mut self, byte: u8) {
        match byte {
            b'\n' if self.open_containers.is_empty() => {
                self.write_unless_hidden(byte);
                self.state = if self.limits.has_paths { TruncatorState::Path } else { TruncatorState::Between };
            }
            b' ' | b'\n' | b'\r' | b'\t' => self.blanks.push(byte),
            b',' => self.handle_comma(),
            b'}' | b']' => self.close_container(byte),
            _ => {
                self.begin_item();
                self.write_unless_hidden(byte);
                match byte {
                    b'"' => self.state = TruncatorState::String,
                    b'{' | b'[' => self.open_container(),
                    _ => {}
                }
            }
        }
    }

    /// Handles a token that may be the first one of an item.
    fn begin_item(&mut self) {
        let level = self.open_containers.len();
        let Some(top) = self.open_containers.last_mut().filter(|top| top.expects_item) else { return };
        top.expects_item = false;
        top.items += 1;
        if top.items == 1 {
            top.blanks.clone_from(&self.blanks);
        }
        // For later items, `handle_comma` checks this.
        if self.limits.items == 0 && self.hidden_level.is_none() {
            self.hidden_level = Some(level);
        }
    }

    /// Processes a comma. If all visible items were written, the rest of the container is hidden.
    fn handle_comma(&mut self) {
        let level = self.open_containers.len();
        if let Some(top) = self.open_containers.last_mut() {
            top.expects_item = true;
            if self.hidden_level.is_none() && top.items >= self.limits.items {
                self.hidden_level = Some(level);
            }
        }
        self.write_unless_hidden(b',');
    }

    /// Processes an opening bracket. The contents are hidden if they are too deep.
    fn open_container(&mut self) {
        let is_too_deep = self.open_containers.len() >= self.limits.depth;
        self.open_containers.push(OpenContainer { items: 0, expects_item: true, is_too_deep, blanks: Vec::new() });
        if is_too_deep && self.hidden_level.is_none() {
            self.hidden_level = Some(self.open_containers.len());
        }
    }

    /// Processes a closing bracket. If a hidden part ends here, the number of its items is written in its place.
    fn close_container(&mut self, byte: u8) {
        let ends_hidden_part = self.hidden_level == Some(self.open_containers.len());
        let blanks = std::mem::take(&mut self.blanks);
        if let Some(top) = self.open_containers.pop()
            && ends_hidden_part
        {
            self.hidden_level = None;
            let hidden_items = top.items.saturating_sub(self.limits.items);
            if top.is_too_deep && top.items > 0 {
                self.out.extend_from_slice(format!("…{}", top.items).as_bytes());
            } else if !top.is_too_deep {
                if self.limits.items > 0 {
                    self.out.push(b',');
                }
                self.out.extend_from_slice(&top.blanks);
                self.out.extend_from_slice(format!("… {hidden_items} more").as_bytes());
                self.blanks = blanks;
            }
        } else {
            self.blanks = blanks;
        }
        self.write_unless_hidden(byte);
    }

    /// Writes a byte, and the whitespace before it, unless it is hidden.
    fn write_unless_hidden(&mut self, byte: u8) {
        if self.hidden_level.is_none() {
            self.out.append(&mut self.blanks);
            self.out.push(byte);
        } else {
            self.blanks.clear();
        }
    }
}

impl Write for JsonTruncator {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        bytes.iter().for_each(|byte| self.process_byte(*byte));
        self.inner.write_all(&self.out)?;
        self.out.clear();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::tests::SharedBuffer;

    fn truncate(json: &str, depth: usize, items: u64) -> String {
        let mut texts = Vec::new();
        for chunk_len in [1, 3, json.len()] {
            let shared = SharedBuffer::default();
            let display_limits = DisplayLimits { depth, items, has_paths: json.starts_with('$') };
            let mut truncator = JsonTruncator::new(Box::new(shared.clone()), display_limits);
            json.as_bytes().chunks(chunk_len).for_each(|bytes| truncator.write_all(bytes).unwrap());
            texts.push(shared.text());
        }
        assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
        texts.swap_remove(0)
    }

    #[test]
    fn deep_and_long_values_become_counts() {
        const ALL: usize = usize::MAX;
        let json = r#"{"a":[1,{"b":"]}\"","c":[]},[]],"d":{"e":1}}"#;
        for (depth, items, expected) in [
            (ALL, u64::MAX, json),
            (0, u64::MAX, "{…2}"),
            (1, u64::MAX, r#"{"a":[…3],"d":{…1}}"#),
            (2, u64::MAX, r#"{"a":[1,{…2},[]],"d":{"e":1}}"#),
            (ALL, 0, "{… 2 more}"),
            (ALL, 1, r#"{"a":[1,… 2 more],… 1 more}"#),
            (2, 2, r#"{"a":[1,{…2},… 1 more],"d":{"e":1}}"#),
        ] {
            assert_eq!(truncate(json, depth, items), expected, "{depth} {items}");
        }
        assert_eq!(truncate("[\n  1,\n  2,\n  [\n    3\n  ]\n]\n7\n", 1, 1), "[\n  1,\n  … 2 more\n]\n7\n");
        assert_eq!(truncate("[\n  [\n    3\n  ],\n  []\n]\n", 1, 3), "[\n  […1],\n  []\n]\n");
        assert_eq!(truncate("$[0]\t[1,2]\n$.a[1,\t5\n", 9, 1), "$[0]\t[1,… 1 more]\n$.a[1,\t5\n");
    }
}
