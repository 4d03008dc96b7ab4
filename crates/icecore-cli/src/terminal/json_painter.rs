//! JSON in colour.

use crate::paint::{Ink, Paint};
use std::io::{self, Write};

/// Number of bytes that are buffered before they are written.
const FLUSH_LEN: usize = 32 << 10;

/// Adds colour to JSON for a terminal. Control characters are written as JSON escapes with the same meaning.
pub struct JsonPainter {
    inner: Box<dyn Write>,
    paint: Paint,
    /// For each open container, whether it is an object.
    open_containers: Vec<bool>,
    /// Whether the next string is a key.
    is_key: bool,
    /// Whether a path and a tab precede each value.
    has_paths: bool,
    state: PainterState,
    /// The first bytes of a character that is not complete yet.
    incomplete_character: Vec<u8>,
    out: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PainterState {
    /// Between tokens.
    Between,
    /// At the start of a line, where a path begins.
    LineStart,
    /// In a path.
    Path,
    /// In `-> $.a`, which is written instead of a value that has already occurred.
    Link,
    /// In the mark for omitted values: `…3`, `… 98 more`.
    Omission,
    /// In a number, `true`, `false` or `null`.
    Word,
    String,
    Escape,
}

impl JsonPainter {
    pub fn new(inner: Box<dyn Write>, paint: Paint) -> JsonPainter {
        JsonPainter {
            inner,
            paint,
            open_containers: Vec::new(),
            is_key: false,
            has_paths: false,
            state: PainterState::Between,
            incomplete_character: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Sets whether a path and a tab precede each value.
    pub fn with_paths(mut self, has_paths: bool) -> JsonPainter {
        self.has_paths = has_paths;
        if has_paths {
            self.state = PainterState::LineStart;
        }
        self
    }

    /// Processes a character in the current state.
    fn process_char(&mut self, c: char) {
        match self.state {
            PainterState::String if c == '"' => self.end_token(PainterState::Between, Some(c)),
            PainterState::String => {
                self.state = if c == '\\' { PainterState::Escape } else { PainterState::String };
                self.push(c);
            }
            PainterState::Escape => {
                self.state = PainterState::String;
                self.push(c);
            }
            PainterState::Path if c == '\t' => {
                self.end_token(PainterState::Between, None);
                self.push(c);
            }
            PainterState::Path => self.push(c),
            PainterState::LineStart => {
                self.begin_token(PainterState::Path, Ink::Name);
                self.push(c);
            }
            PainterState::Omission if !matches!(c, ',' | ']' | '}' | '\n') => self.push(c),
            // The `-` of `->` looked like the beginning of a number.
            PainterState::Word if c == '>' && self.has_paths => {
                self.state = PainterState::Link;
                self.push(c);
            }
            PainterState::Link if c != '\n' => self.push(c),
            PainterState::Word if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+') => self.push(c),
            PainterState::Word | PainterState::Omission | PainterState::Link => {
                self.end_token(PainterState::Between, None);
                self.process_char_outside_tokens(c);
            }
            PainterState::Between => self.process_char_outside_tokens(c),
        }
    }

    /// Processes a character that is outside of strings, words and paths.
    fn process_char_outside_tokens(&mut self, c: char) {
        match c {
            '\n' if self.has_paths && self.open_containers.is_empty() => self.state = PainterState::LineStart,
            '…' => self.begin_token(PainterState::Omission, Ink::Faint),
            '"' => self.begin_token(PainterState::String, if self.is_key { Ink::Name } else { Ink::String }),
            '-' | '0'..='9' | 'a'..='z' => self.begin_token(PainterState::Word, Ink::Number),
            '{' | '[' => {
                self.open_containers.push(c == '{');
                self.is_key = c == '{';
            }
            '}' | ']' => drop(self.open_containers.pop()),
            ':' => self.is_key = false,
            ',' => self.is_key = self.open_containers.last().copied().unwrap_or(false),
            _ => {}
        }
        self.push(c);
    }

    fn write_buffer(&mut self) -> io::Result<()> {
        let result = self.inner.write_all(&self.out);
        self.out.clear();
        result
    }

    fn begin_token(&mut self, state: PainterState, ink: Ink) {
        self.state = state;
        self.paint.begin_ink(ink, &mut self.out);
    }

    fn end_token(&mut self, state: PainterState, last: Option<char>) {
        last.into_iter().for_each(|c| self.push(c));
        self.state = state;
        self.paint.end_ink(&mut self.out);
    }

    fn push(&mut self, c: char) {
        if icecore::text::is_printable(c) || c == '\n' || self.state == PainterState::Between {
            self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            self.out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
        }
    }
}

impl Write for JsonPainter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.incomplete_character);
        all.extend_from_slice(bytes);
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            chunk.valid().chars().for_each(|c| self.process_char(c));
            // Invalid bytes at the end may be the start of a character that continues in the next write.
            if chunks.peek().is_none() && chunk.invalid().len() < 4 {
                self.incomplete_character = chunk.invalid().to_vec();
            } else {
                self.out.extend_from_slice(chunk.invalid());
            }
        }
        if self.out.len() >= FLUSH_LEN {
            self.write_buffer()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_buffer()?;
        self.inner.flush()
    }
}

impl Drop for JsonPainter {
    fn drop(&mut self) {
        // The input may end in a number or in an incomplete character. If this write fails, an earlier one failed as
        // well.
        if !matches!(self.state, PainterState::Between | PainterState::LineStart) {
            self.paint.end_ink(&mut self.out);
        }
        self.out.append(&mut self.incomplete_character);
        let _ = self.inner.write_all(&self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::ColorMode;
    use crate::terminal::tests::SharedBuffer;

    fn paint(json: &[u8], chunk_len: usize) -> String {
        let shared = SharedBuffer::default();
        let mut painter = JsonPainter::new(Box::new(shared.clone()), Paint::new(ColorMode::Always, &io::stdout()));
        json.chunks(chunk_len).for_each(|bytes| painter.write_all(bytes).unwrap());
        drop(painter);
        shared.text()
    }

    #[test]
    fn json_is_painted_from_chunks_of_any_size() {
        let json = "{\"a\\\"b\": [1, -2.5e3, null, \"é\u{9b}\u{202e}\"]}\n".as_bytes();
        let expected = "{\x1b[1m\"a\\\"b\"\x1b[0m: [\x1b[33m1\x1b[0m, \x1b[33m-2.5e3\x1b[0m, \x1b[33mnull\x1b[0m, \
                        \x1b[32m\"é\\u009b\\u202e\"\x1b[0m]}\n";
        for chunk_len in 1..=json.len() {
            assert_eq!(paint(json, chunk_len), expected, "{chunk_len}");
        }
        assert_eq!(paint(b"12", 1), "\x1b[33m12\x1b[0m");
    }

    #[test]
    fn painting_does_not_change_the_json() {
        for json in ["[{\"a\":[{}]},\"\\\\\",\"x\",[],true]", "\"\\u0000\"", "[\n  1\n]\n"] {
            let unpainted: String =
                paint(json.as_bytes(), 3).split('\x1b').enumerate().fold(String::new(), |all, (index, part)| {
                    all + if index == 0 { part } else { part.split_once('m').unwrap().1 }
                });
            assert_eq!(unpainted, json);
        }
    }

    #[test]
    fn paths_and_counts_of_omitted_items_are_painted() {
        let shared = SharedBuffer::default();
        let mut painter =
            JsonPainter::new(Box::new(shared.clone()), Paint::new(ColorMode::Always, &io::stdout())).with_paths(true);
        painter.write_all(b"$.a[0]\t{\xe2\x80\xa63}\n$.b\t1\n$.c\t-> $.a[0]\n").unwrap();
        drop(painter);
        let expected = "\x1b[1m$.a[0]\x1b[0m\t{\x1b[2m…3\x1b[0m}\n\x1b[1m$.b\x1b[0m\t\x1b[33m1\x1b[0m\n\
                        \x1b[1m$.c\x1b[0m\t\x1b[33m-> $.a[0]\x1b[0m\n";
        assert_eq!(shared.text(), expected);
    }
}
