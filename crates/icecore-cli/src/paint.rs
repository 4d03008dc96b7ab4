//! Colour, where it is wanted.

use crate::cli::When;
use crate::printable;
use std::fmt::Display;
use std::io::IsTerminal;

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

/// Whether colour is used.
#[derive(Clone, Copy, Debug)]
pub struct Paint(bool);

impl Paint {
    /// For output that goes to `stream`.
    pub fn new(when: When, stream: &impl IsTerminal) -> Paint {
        Paint(match when {
            When::Always => true,
            When::Never => false,
            When::Auto => stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        })
    }

    /// The text, in colour if that is wanted. Whatever it is, it does nothing but be
    /// shown.
    pub fn ink(self, ink: Ink, text: impl Display) -> String {
        let text = text.to_string();
        let text = printable::line(&text);
        let code = match ink {
            Ink::Faint => "2",
            Ink::Name => "1",
            Ink::String => "32",
            Ink::Number => "33",
            Ink::Class => "35",
            Ink::Bad => "1;31",
        };
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into_owned() }
    }
}
