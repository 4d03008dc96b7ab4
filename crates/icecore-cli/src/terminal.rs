//! What goes to a terminal: JSON for people, and nothing that a terminal can't show.

use crate::cli::DEFAULT_TARGET;
use crate::paint::{Ink, Paint};
use crate::report::{Abort, code};
use icecore::Stage;
use std::io::{self, IsTerminal, Write};

/// Options of JSON that say how it is laid out: with one of them nothing is added.
const LAYOUT: &[&str] = &["indent", "indent_length", "pretty", "space_before", "space_after", "as"];

/// Whether the standard output is a terminal.
pub fn is_stdout() -> bool {
    io::stdout().is_terminal()
}

/// An error, if this is no text; `--force` writes it all the same.
pub fn refuse_binary(stage: &Stage, is_forced: bool) -> Result<(), Abort> {
    if is_forced || !stage.is_binary() {
        return Ok(());
    }
    let text = format!(
        "the standard output is a terminal, and {} is no text: write it to a file with `-o FILE`, or add `--force`",
        stage.name()
    );
    Err(Abort::Failed(code::USAGE, text))
}

/// Whether what is written so is JSON, by itself or in lines.
pub fn is_json(stage: &Stage) -> bool {
    stage.wrappers().is_empty() && stage.format().of_document().name == DEFAULT_TARGET
}

/// JSON as people read it: a value a line, unless options say how it is to look.
pub fn laid_out(mut stage: Stage) -> Stage {
    let is_free = stage.wrappers().is_empty() && !LAYOUT.iter().any(|option| stage.settings().has(option));
    if is_free && stage.format().name == DEFAULT_TARGET {
        // The option is there, and takes this.
        let _ = stage.set("indent", Some("2"));
    }
    stage
}

/// Paints JSON on its way to a terminal. What the terminal would act on is written as an
/// escape of JSON, which means the same.
pub struct Painted {
    to: Box<dyn Write>,
    paint: Paint,
    /// For each container that is open, whether it is an object.
    open: Vec<bool>,
    /// Whether a string would be a key.
    is_key: bool,
    state: State,
    /// The beginning of a character whose rest is still to come.
    part: Vec<u8>,
    out: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Between,
    Word,
    String,
    Escape,
}

impl Painted {
    pub fn new(to: Box<dyn Write>, paint: Paint) -> Painted {
        let (part, out) = (Vec::new(), Vec::new());
        Painted { to, paint, open: Vec::new(), is_key: false, state: State::Between, part, out }
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
            State::Word if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+') => self.push(c),
            State::Word => {
                self.end(State::Between, None);
                self.between(c);
            }
            State::Between => self.between(c),
        }
    }

    fn between(&mut self, c: char) {
        match c {
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
            // At the end it is the beginning of a character.
            if chunks.peek().is_none() && chunk.invalid().len() < 4 {
                self.part = chunk.invalid().to_vec();
            } else {
                self.out.extend_from_slice(chunk.invalid());
            }
        }
        self.to.write_all(&self.out)?;
        self.out.clear();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Drop for Painted {
    fn drop(&mut self) {
        // A number at the very end, and what is no character: an error here was one before.
        if self.state == State::Word {
            self.paint.end(&mut self.out);
        }
        self.out.append(&mut self.part);
        let _ = self.to.write_all(&self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::When;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn painted(json: &[u8], piece: usize) -> String {
        let shared = Shared::default();
        let mut to = Painted::new(Box::new(shared.clone()), Paint::new(When::Always, &io::stdout()));
        json.chunks(piece).for_each(|bytes| to.write_all(bytes).unwrap());
        drop(to);
        String::from_utf8(shared.0.lock().unwrap().clone()).unwrap()
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
    fn what_says_how_it_looks_is_left_alone() {
        let shown = |name: &str| laid_out(Stage::parse(name).unwrap()).settings().number("indent");
        assert_eq!((shown("json"), shown("json:sort_keys")), (Some(2), Some(2)));
        assert_eq!((shown("json:indent=0"), shown("json:as=json-xs"), shown("gzip/json")), (Some(0), None, None));
        assert_eq!((shown("ndjson"), shown("php")), (None, None));
    }
}
