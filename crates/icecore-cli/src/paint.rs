//! Coloured output.

use clap::ValueEnum;
use std::fmt::Display;
use std::io::IsTerminal;

/// When output has colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorMode {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    Auto,
    Always,
    Never,
}

/// The role of a part of the output. It determines the colour.
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
    /// Errors.
    Bad,
}

impl Ink {
    /// Returns the parameters of the terminal's escape sequence.
    fn escape_parameters(self) -> &'static str {
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

/// Returns true if the environment disables colour.
pub fn is_disabled_by_env() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) || crate::tty::is_dumb()
}

/// Whether colour is used.
#[derive(Clone, Copy, Debug)]
pub struct Paint(bool);

impl Paint {
    /// Returns the setting for output that goes to `stream`.
    pub fn new(color_mode: ColorMode, stream: &impl IsTerminal) -> Paint {
        Paint(match color_mode {
            ColorMode::Always => true,
            ColorMode::Never => false,
            ColorMode::Auto => stream.is_terminal() && !is_disabled_by_env(),
        })
    }

    /// Returns the setting for output without colour.
    pub fn off() -> Paint {
        Paint(false)
    }

    /// Returns true if colour is used.
    pub fn is_enabled(self) -> bool {
        self.0
    }

    /// Returns the text, in colour if that is enabled. Control characters in it are escaped.
    pub fn ink(self, ink: Ink, text: impl Display) -> String {
        let text = text.to_string();
        let text = icecore::text::printable(&text);
        if self.0 { format!("\x1b[{}m{text}\x1b[0m", ink.escape_parameters()) } else { text.into_owned() }
    }

    /// Returns the text in colour, padded to at least `width` columns.
    pub fn column(self, ink: Ink, text: impl Display, width: usize) -> String {
        let text = text.to_string();
        let text = icecore::text::printable(&text);
        let padding = width.saturating_sub(text.chars().count());
        format!("{}{:padding$}", self.ink(ink, &text), "")
    }

    /// Starts a colour.
    pub fn begin_ink(self, ink: Ink, out: &mut Vec<u8>) {
        if self.0 {
            out.extend_from_slice(format!("\x1b[{}m", ink.escape_parameters()).as_bytes());
        }
    }

    /// Ends the colour.
    pub fn end_ink(self, out: &mut Vec<u8>) {
        if self.0 {
            out.extend_from_slice(b"\x1b[0m");
        }
    }
}
