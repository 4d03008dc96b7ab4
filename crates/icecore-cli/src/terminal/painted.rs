//! JSON in colour.

use crate::paint::{Ink, Paint};
use std::io::{self, Write};

/// Number of bytes that are buffered before they are passed on.
const PIECE: usize = 32 << 10;

/// Adds colour to JSON for a terminal. Control characters are written as JSON escapes with the same meaning.
pub struct Painted {
    to: Box<dyn Write>,
    paint: Paint,
    /// For each open container, whether it is an object.
    open: Vec<bool>,
    /// Whether a string would be a key.
    is_key: bool,
    /// Whether a path and a tab precede each value.
    has_paths: bool,
    state: State,
    /// The first bytes of a character that is not complete yet.
    part: Vec<u8>,
    out: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    /// At the start of a path, and inside it.
    Line,
    Path,
    /// `-> $.a`, instead of a value.
    Link,
    /// The mark for omitted values.
    Rest,
    Word,
    String,
    Escape,
}

impl Painted {
    pub fn new(to: Box<dyn Write>, paint: Paint) -> Painted {
        let (part, out) = (Vec::new(), Vec::new());
        Painted { to, paint, open: Vec::new(), is_key: false, has_paths: false, state: State::Between, part, out }
    }

    /// Sets whether a path and a tab precede each value.
    pub fn with_paths(mut self, has_paths: bool) -> Painted {
        self.has_paths = has_paths;
        if has_paths {
            self.state = State::Line;
        }
        self
    }

    fn char(&mut self, c: char) {
        match self.state {
            State::String if c == '"' => self.end(State::Between, Some(c)),
            State::String => {
                self.state = if c == '\\' { State::Escape } else { State::String };
                self.push(c);
            }
            State::Escape => {
                self.state = State::String;
                self.push(c);
            }
            State::Path if c == '\t' => {
                self.end(State::Between, None);
                self.push(c);
            }
            State::Path => self.push(c),
            State::Line => {
                self.begin(State::Path, Ink::Name);
                self.push(c);
            }
            State::Rest if !matches!(c, ',' | ']' | '}' | '\n') => self.push(c),
            State::Word if c == '>' && self.has_paths => {
                self.state = State::Link;
                self.push(c);
            }
            State::Link if c != '\n' => self.push(c),
            State::Word if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+') => self.push(c),
            State::Word | State::Rest | State::Link => {
                self.end(State::Between, None);
                self.between(c);
            }
            State::Between => self.between(c),
        }
    }

    fn between(&mut self, c: char) {
        match c {
            '\n' if self.has_paths && self.open.is_empty() => self.state = State::Line,
            '…' => self.begin(State::Rest, Ink::Faint),
            '"' => self.begin(State::String, if self.is_key { Ink::Name } else { Ink::String }),
            '-' | '0'..='9' | 'a'..='z' => self.begin(State::Word, Ink::Number),
            '{' | '[' => {
                self.open.push(c == '{');
                self.is_key = c == '{';
            }
            '}' | ']' => drop(self.open.pop()),
            ':' => self.is_key = false,
            ',' => self.is_key = self.open.last().copied().unwrap_or(false),
            _ => {}
        }
        self.push(c);
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let end = self.to.write_all(&self.out);
        self.out.clear();
        end
    }

    fn begin(&mut self, state: State, ink: Ink) {
        self.state = state;
        self.paint.begin(ink, &mut self.out);
    }

    fn end(&mut self, state: State, last: Option<char>) {
        last.into_iter().for_each(|c| self.push(c));
        self.state = state;
        self.paint.end(&mut self.out);
    }

    fn push(&mut self, c: char) {
        if icecore::text::is_printable(c) || c == '\n' || self.state == State::Between {
            self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            self.out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
        }
    }
}

impl Write for Painted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.part);
        all.extend_from_slice(bytes);
        let mut chunks = all.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            chunk.valid().chars().for_each(|c| self.char(c));
            // At the end of the chunk it may be the start of a character.
            if chunks.peek().is_none() && chunk.invalid().len() < 4 {
                self.part = chunk.invalid().to_vec();
            } else {
                self.out.extend_from_slice(chunk.invalid());
            }
        }
        if self.out.len() >= PIECE {
            self.pass_on()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.to.flush()
    }
}

impl Drop for Painted {
    fn drop(&mut self) {
        // A number or an incomplete character at the very end. If this fails, an earlier write failed as well.
        if !matches!(self.state, State::Between | State::Line) {
            self.paint.end(&mut self.out);
        }
        self.out.append(&mut self.part);
        let _ = self.to.write_all(&self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paint::When;
    use crate::terminal::tests::Shared;

    fn painted(json: &[u8], piece: usize) -> String {
        let shared = Shared::default();
        let mut to = Painted::new(Box::new(shared.clone()), Paint::new(When::Always, &io::stdout()));
        json.chunks(piece).for_each(|bytes| to.write_all(bytes).unwrap());
        drop(to);
        shared.text()
    }

    #[test]
    fn json_is_painted_whatever_the_pieces() {
        let json = "{\"a\\\"b\": [1, -2.5e3, null, \"é\u{9b}\u{202e}\"]}\n".as_bytes();
        let expected = "{\x1b[1m\"a\\\"b\"\x1b[0m: [\x1b[33m1\x1b[0m, \x1b[33m-2.5e3\x1b[0m, \x1b[33mnull\x1b[0m, \
                        \x1b[32m\"é\\u009b\\u202e\"\x1b[0m]}\n";
        for piece in 1..=json.len() {
            assert_eq!(painted(json, piece), expected, "{piece}");
        }
        assert_eq!(painted(b"12", 1), "\x1b[33m12\x1b[0m");
    }

    #[test]
    fn without_the_paint_it_is_the_same_json() {
        for json in ["[{\"a\":[{}]},\"\\\\\",\"x\",[],true]", "\"\\u0000\"", "[\n  1\n]\n"] {
            let plain: String =
                painted(json.as_bytes(), 3).split('\x1b').enumerate().fold(String::new(), |all, (at, part)| {
                    all + if at == 0 { part } else { part.split_once('m').unwrap().1 }
                });
            assert_eq!(plain, json);
        }
    }

    #[test]
    fn paths_before_values_and_what_is_left_out() {
        let shared = Shared::default();
        let mut to = Painted::new(Box::new(shared.clone()), Paint::new(When::Always, &io::stdout())).with_paths(true);
        to.write_all(b"$.a[0]\t{\xe2\x80\xa63}\n$.b\t1\n$.c\t-> $.a[0]\n").unwrap();
        drop(to);
        let expected = "\x1b[1m$.a[0]\x1b[0m\t{\x1b[2m…3\x1b[0m}\n\x1b[1m$.b\x1b[0m\t\x1b[33m1\x1b[0m\n\
                        \x1b[1m$.c\x1b[0m\t\x1b[33m-> $.a[0]\x1b[0m\n";
        assert_eq!(shared.text(), expected);
    }
}
