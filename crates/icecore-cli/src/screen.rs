//! The standard output on a terminal: output that is longer than the screen goes to a pager.
//!
//! Output is buffered until it is known to be longer than the screen, together with the messages on stderr, so that the
//! pager shows both in order. None of this applies to a pipe or a file.

use crate::pager::{self, Pager};
use crate::progress;
use crate::tty::{is_dumb, screen_size};
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
const MAX_BUFFERED: usize = 1 << 20;

/// The state of the standard output, of which there is only one.
static SCREEN: Mutex<Screen> = Mutex::new(Screen::Plain);

enum Screen {
    /// Output is written at once.
    Plain,
    Buffered(BufferedOutput),
    Paged(Pager),
}

/// Buffered output that may still fit on the screen.
struct BufferedOutput {
    /// All writes so far, in order.
    writes: Vec<(OutputStream, Vec<u8>)>,
    /// Number of bytes in `writes`.
    len: usize,
    /// Space on the screen that `writes` leave free.
    space: ScreenSpace,
    pager_command: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OutputStream {
    Stdout,
    Stderr,
}

fn lock_screen() -> MutexGuard<'static, Screen> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, sends output that is too long for the screen to a pager. `is_for_reading` is true if the command
/// prints text for reading.
pub fn enable_paging(paging: Paging, is_for_reading: bool) {
    let is_requested = match paging {
        Paging::Auto => is_for_reading,
        Paging::Always => true,
        Paging::Never => false,
    };
    if !is_requested || !io::stdout().is_terminal() || is_dumb() {
        return;
    }
    let Some(command) = pager::find_pager_command() else { return };
    let screen_space = if paging == Paging::Always { ScreenSpace::no_space() } else { ScreenSpace::from_terminal() };
    *lock_screen() =
        Screen::Buffered(BufferedOutput { writes: Vec::new(), len: 0, space: screen_space, pager_command: command });
}

/// Writes a message to stderr, or to the pager if there is one and stderr is a terminal.
pub fn write_message(text: &[u8]) {
    let mut screen = lock_screen();
    if matches!(*screen, Screen::Plain) || !io::stderr().is_terminal() {
        // An error of stderr can't be reported.
        progress::suspend(|| drop(io::stderr().write_all(text)));
        return;
    }
    // A pager that the user has quit reads no more.
    let _ = screen.write_stream(OutputStream::Stderr, text);
}

/// Writes the buffered output, or waits until the pager is closed, after all output was written.
pub fn finish_output() {
    let mut screen = lock_screen();
    match std::mem::replace(&mut *screen, Screen::Plain) {
        Screen::Plain => {}
        // A write error of the terminal can't be reported anywhere else.
        Screen::Buffered(buffered) => drop(buffered.write_buffered()),
        Screen::Paged(pager) => pager.wait(),
    }
}

/// Opens the standard output.
pub fn open_stdout() -> Box<dyn Write> {
    let writer = unbuffered_stdout();
    if io::stdout().is_terminal() { Box::new(Terminal(writer)) } else { writer }
}

/// A terminal. Output to it goes through [`SCREEN`], which may buffer it or send it to a pager.
struct Terminal(Box<dyn Write>);

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut screen = lock_screen();
        if matches!(*screen, Screen::Plain) {
            progress::remove_line();
            return self.0.write(bytes);
        }
        screen.write_stream(OutputStream::Stdout, bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Screen {
    fn write_stream(&mut self, stream: OutputStream, bytes: &[u8]) -> io::Result<()> {
        match self {
            Screen::Plain => stream.write_bytes(bytes),
            Screen::Paged(pager) => pager.write_all(bytes),
            Screen::Buffered(buffered) => {
                buffered.writes.push((stream, bytes.to_vec()));
                buffered.len += bytes.len();
                let fits = buffered.space.consume_space(bytes) && buffered.len < MAX_BUFFERED;
                if fits { Ok(()) } else { self.start_pager() }
            }
        }
    }

    /// Starts the pager because the output is longer than the screen.
    fn start_pager(&mut self) -> io::Result<()> {
        let Screen::Buffered(buffered) = std::mem::replace(self, Screen::Plain) else { return Ok(()) };
        progress::remove_line();
        match Pager::start(&buffered.pager_command) {
            Ok(mut pager) => {
                let result = buffered.writes.iter().try_for_each(|(_, bytes)| pager.write_all(bytes));
                *self = Screen::Paged(pager);
                result
            }
            // Without a shell there is no pager.
            Err(_) => buffered.write_buffered(),
        }
    }
}

impl BufferedOutput {
    fn write_buffered(self) -> io::Result<()> {
        progress::remove_line();
        self.writes.iter().try_for_each(|(stream, bytes)| stream.write_bytes(bytes))
    }
}

impl OutputStream {
    fn write_bytes(self, bytes: &[u8]) -> io::Result<()> {
        match self {
            OutputStream::Stdout => unbuffered_stdout().write_all(bytes),
            OutputStream::Stderr => io::stderr().write_all(bytes),
        }
    }
}

/// The space that is left on the screen.
struct ScreenSpace {
    width: usize,
    /// Number of rows that are left, including the current one.
    rows: usize,
    /// Number of columns that are used in the current row.
    column: usize,
    /// Whether the position is inside an escape sequence, which takes no space.
    is_in_escape: bool,
}

impl ScreenSpace {
    fn no_space() -> ScreenSpace {
        ScreenSpace { width: 1, rows: 0, column: 0, is_in_escape: false }
    }

    /// Returns the whole screen, except for the line of the next prompt.
    fn from_terminal() -> ScreenSpace {
        let (width, rows) = screen_size();
        ScreenSpace { width, rows: rows.saturating_sub(1), column: 0, is_in_escape: false }
    }

    /// Uses up the space for `bytes`. Returns true if there was enough.
    fn consume_space(&mut self, bytes: &[u8]) -> bool {
        for &byte in bytes {
            match byte {
                _ if self.is_in_escape => self.is_in_escape = !byte.is_ascii_alphabetic(),
                0x1b => self.is_in_escape = true,
                b'\n' => self.next_row(),
                // Continuation bytes of a UTF-8 character.
                0x80..=0xbf => {}
                _ => {
                    if self.column >= self.width {
                        self.next_row();
                    }
                    // A tab leads to the next multiple of 8.
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
fn unbuffered_stdout() -> Box<dyn Write> {
    use std::os::fd::AsFd;
    match io::stdout().as_fd().try_clone_to_owned() {
        Ok(fd) => Box::new(std::fs::File::from(fd)),
        Err(_) => Box::new(io::stdout().lock()),
    }
}

#[cfg(not(unix))]
fn unbuffered_stdout() -> Box<dyn Write> {
    Box::new(io::stdout().lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_count_as_rows_of_the_screen() {
        let fits = |text: &str| {
            ScreenSpace { width: 4, rows: 3, column: 0, is_in_escape: false }.consume_space(text.as_bytes())
        };
        for text in ["", "a\nb\n", "abcdefgh", "ééééé\n", "\x1b[1;31mab\x1b[0m\ncd\n", "\tabcd"] {
            assert!(fits(text), "{text:?}");
        }
        for text in ["a\nb\nc\n", "abcdefghi\nabcd\n", "abcdefghijklm", "\t\t\t\t"] {
            assert!(!fits(text), "{text:?}");
        }
        assert!(!ScreenSpace::no_space().consume_space(b""));
    }
}
