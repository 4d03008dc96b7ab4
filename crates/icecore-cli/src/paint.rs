//! Colour, where it is wanted.

use clap::ValueEnum;
use std::fmt::Display;
use std::io::IsTerminal;

/// When output has colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    Auto,
    Always,
    Never,
}

/// What a piece of output is, as far as colour goes.
#[derive(Clone, Copy, Debug)]
pub enum Ink {
    /// Offsets and bytes.
    Faint,
    /// Names and keys.
    Name,
    /// Strings.
    String,
    /// Numbers, booleans, null.
    Number,
    /// Classes.
    Class,
    /// What is wrong.
    Bad,
}

impl Ink {
    /// As terminals know it.
    fn code(self) -> &'static str {
        match self {
            Ink::Faint => "2",
            Ink::Name => "1",
            Ink::String => "32",
            Ink::Number => "33",
            Ink::Class => "35",
            Ink::Bad => "1;31",
        }
    }
}

/// Whether the environment asks for no colour.
pub fn is_refused() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || crate::tty::is_dumb()
}

/// Whether colour is used.
#[derive(Clone, Copy, Debug)]
pub struct Paint(bool);

impl Paint {
    /// For output that goes to `stream`.
    pub fn new(when: When, stream: &impl IsTerminal) -> Paint {
        Paint(match when {
            When::Always => true,
            When::Never => false,
            When::Auto => stream.is_terminal() && !is_refused(),
        })
    }

    /// Whether there is colour.
    pub fn is_on(self) -> bool {
        self.0
    }

    /// The text, in colour if that is wanted. Whatever it is, it does nothing but be
    /// shown.
    pub fn ink(self, ink: Ink, text: impl Display) -> String {
        let text = text.to_string();
        let text = icecore::text::printable(&text);
        if self.0 { format!("\x1b[{}m{text}\x1b[0m", ink.code()) } else { text.into_owned() }
    }

    /// The same in a column of a table: at least so wide.
    pub fn column(self, ink: Ink, text: impl Display, width: usize) -> String {
        let text = text.to_string();
        let text = icecore::text::printable(&text);
        let gap = width.saturating_sub(text.chars().count());
        format!("{}{:gap$}", self.ink(ink, &text), "")
    }

    /// What follows is in this colour.
    pub fn begin(self, ink: Ink, out: &mut Vec<u8>) {
        if self.0 {
            out.extend_from_slice(format!("\x1b[{}m", ink.code()).as_bytes());
        }
    }

    /// The colour ends.
    pub fn end(self, out: &mut Vec<u8>) {
        if self.0 {
            out.extend_from_slice(b"\x1b[0m");
        }
    }
}
