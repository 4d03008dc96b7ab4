//! The standard output on a terminal: output that is longer than the screen goes to a pager.
//!
//! Output is buffered until it is known to be longer than the screen, together with the messages on stderr, so that the
//! pager shows both in order. None of this applies to a pipe or a file.

use crate::pager::{self, Pager};
use crate::progress;
use crate::tty::{is_dumb, size};
use clap::ValueEnum;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// When output goes to a pager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Paging {
    /// Only text for reading that is longer than the screen
    #[default]
    Auto,
    /// All output to a terminal
    Always,
    /// Nothing
    Never,
}

/// Maximum number of buffered bytes.
const MOST: usize = 1 << 20;

/// The state of the standard output, of which there is only one.
static SCREEN: Mutex<Screen> = Mutex::new(Screen::Plain);

enum Screen {
    /// Output is written at once.
    Plain,
    Held(Held),
    Paged(Pager),
}

/// Buffered output that may still fit on the screen.
struct Held {
    pieces: Vec<(Stream, Vec<u8>)>,
    bytes: usize,
    room: Room,
    command: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Out,
    Said,
}

fn screen() -> MutexGuard<'static, Screen> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Pages output that is too long for the screen from now on. `reads`: the command prints text for reading.
pub fn page(paging: Paging, reads: bool) {
    let is_wanted = match paging {
        Paging::Auto => reads,
        Paging::Always => true,
        Paging::Never => false,
    };
    if !is_wanted || !io::stdout().is_terminal() || is_dumb() {
        return;
    }
    let Some(command) = pager::command() else { return };
    let room = if paging == Paging::Always { Room::none() } else { Room::of_terminal() };
    *screen() = Screen::Held(Held { pieces: Vec::new(), bytes: 0, room, command });
}

/// Writes a message to stderr, or to the pager if there is one and stderr is a terminal.
pub fn say(text: &[u8]) {
    let mut screen = screen();
    if matches!(*screen, Screen::Plain) || !io::stderr().is_terminal() {
        // An error of stderr can't be reported.
        progress::suspend(|| drop(io::stderr().write_all(text)));
        return;
    }
    // A pager that the user has quit reads no more.
    let _ = screen.write(Stream::Said, text);
}

/// Writes the buffered output, or waits until the pager is closed, after all output was written.
pub fn finish() {
    let mut screen = screen();
    match std::mem::replace(&mut *screen, Screen::Plain) {
        Screen::Plain => {}
        // A write error of the terminal can't be reported anywhere else.
        Screen::Held(held) => drop(held.release()),
        Screen::Paged(pager) => pager.wait(),
    }
}

/// Opens the standard output.
pub fn open() -> Box<dyn Write> {
    let to = stdout();
    if io::stdout().is_terminal() { Box::new(Terminal(to)) } else { to }
}

/// A terminal, and the screen state in front of it.
struct Terminal(Box<dyn Write>);

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut screen = screen();
        if matches!(*screen, Screen::Plain) {
            progress::vanish();
            return self.0.write(bytes);
        }
        screen.write(Stream::Out, bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Screen {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        match self {
            Screen::Plain => stream.write(bytes),
            Screen::Paged(pager) => pager.write_all(bytes),
            Screen::Held(held) => {
                held.pieces.push((stream, bytes.to_vec()));
                held.bytes += bytes.len();
                let fits = held.room.has_for(bytes) && held.bytes < MOST;
                if fits { Ok(()) } else { self.turn() }
            }
        }
    }

    /// Starts the pager because the output is longer than the screen.
    fn turn(&mut self) -> io::Result<()> {
        let Screen::Held(held) = std::mem::replace(self, Screen::Plain) else { return Ok(()) };
        progress::vanish();
        match Pager::start(&held.command) {
            Ok(mut pager) => {
                let end = held.pieces.iter().try_for_each(|(_, bytes)| pager.write_all(bytes));
                *self = Screen::Paged(pager);
                end
            }
            // Without a shell there is no pager.
            Err(_) => held.release(),
        }
    }
}

impl Held {
    fn release(self) -> io::Result<()> {
        progress::vanish();
        self.pieces.iter().try_for_each(|(stream, bytes)| stream.write(bytes))
    }
}

impl Stream {
    fn write(self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Out => stdout().write_all(bytes),
            Stream::Said => io::stderr().write_all(bytes),
        }
    }
}

/// Space that is left on the screen.
struct Room {
    width: usize,
    rows: usize,
    column: usize,
    /// Whether the position is inside an escape sequence, which takes no space.
    is_escape: bool,
}

impl Room {
    fn none() -> Room {
        Room { width: 1, rows: 0, column: 0, is_escape: false }
    }

    /// Returns the whole screen, except for the line of the next prompt.
    fn of_terminal() -> Room {
        let (width, rows) = size();
        Room { width, rows: rows.saturating_sub(1), column: 0, is_escape: false }
    }

    /// Uses up the space for `bytes`; returns whether there was enough.
    fn has_for(&mut self, bytes: &[u8]) -> bool {
        for &byte in bytes {
            match byte {
                _ if self.is_escape => self.is_escape = !byte.is_ascii_alphabetic(),
                0x1b => self.is_escape = true,
                b'\n' => self.next_row(),
                // Continuation bytes of a UTF-8 character.
                0x80..=0xbf => {}
                _ => {
                    if self.column >= self.width {
                        self.next_row();
                    }
                    self.column = if byte == b'\t' { (self.column | 7) + 1 } else { self.column + 1 };
                }
            }
            if self.rows == 0 {
                return false;
            }
        }
        self.rows > 0
    }

    fn next_row(&mut self) {
        self.rows = self.rows.saturating_sub(1);
        self.column = 0;
    }
}

/// Returns the standard output without its line buffer.
#[cfg(unix)]
fn stdout() -> Box<dyn Write> {
    use std::os::fd::AsFd;
    match io::stdout().as_fd().try_clone_to_owned() {
        Ok(fd) => Box::new(std::fs::File::from(fd)),
        Err(_) => Box::new(io::stdout().lock()),
    }
}

#[cfg(not(unix))]
fn stdout() -> Box<dyn Write> {
    Box::new(io::stdout().lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_as_they_are_shown() {
        let fits = |text: &str| Room { width: 4, rows: 3, column: 0, is_escape: false }.has_for(text.as_bytes());
        for text in ["", "a\nb\n", "abcdefgh", "ééééé\n", "\x1b[1;31mab\x1b[0m\ncd\n", "\tabcd"] {
            assert!(fits(text), "{text:?}");
        }
        for text in ["a\nb\nc\n", "abcdefghi\nabcd\n", "abcdefghijklm", "\t\t\t\t"] {
            assert!(!fits(text), "{text:?}");
        }
        assert!(!Room::none().has_for(b""));
    }
}
