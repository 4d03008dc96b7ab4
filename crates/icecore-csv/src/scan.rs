//! Finds cells and rows, without decoding them.

use crate::dialect::{Cell, Dialect, Escape, LineEnd};
use icecore::raw::find_byte;

/// Finds the cells of one row after another.
#[derive(Clone, Debug)]
pub struct Scanner {
    dialect: Dialect,
}

/// The result of [`Scanner::next_row`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A row. The next one begins at `end`.
    Row {
        /// The first byte after the row and its line end.
        end: usize,
    },
    /// The row does not end in these bytes; more are needed.
    More,
    /// There are no more bytes.
    End,
}

/// The end of a cell.
enum End {
    Delimiter,
    /// The end of a row, and the length of its line end.
    Row(usize),
}

impl Scanner {
    /// Creates a scanner of tables in this dialect.
    pub fn new(dialect: Dialect) -> Scanner {
        Scanner { dialect }
    }

    /// Finds the cells of the row that begins with these bytes. `is_end` means that nothing
    /// follows them.
    ///
    /// An empty line is a row with one empty cell.
    pub fn next_row(&self, bytes: &[u8], is_end: bool, cells: &mut Vec<Cell>) -> Next {
        cells.clear();
        if bytes.is_empty() {
            return if is_end { Next::End } else { Next::More };
        }
        let mut offset = 0;
        loop {
            let Some((cell, end)) = self.next_cell(bytes, offset, is_end) else { return Next::More };
            let cell_end = cell.range.end;
            cells.push(cell);
            match end {
                End::Delimiter => offset = cell_end + 1,
                End::Row(len) => return Next::Row { end: cell_end + len },
            }
        }
    }

    /// Returns the end of the row that begins with these bytes, like [`Scanner::next_row`].
    pub fn find_row_end(&self, bytes: &[u8], is_end: bool) -> Next {
        if bytes.is_empty() {
            return if is_end { Next::End } else { Next::More };
        }
        let mut offset = 0;
        loop {
            match self.next_cell(bytes, offset, is_end) {
                None => return Next::More,
                Some((cell, End::Delimiter)) => offset = cell.range.end + 1,
                Some((cell, End::Row(len))) => return Next::Row { end: cell.range.end + len },
            }
        }
    }

    /// Returns the cell at `start`, and its end, or `None` if more bytes are needed.
    fn next_cell(&self, bytes: &[u8], start: usize, is_end: bool) -> Option<(Cell, End)> {
        let first = bytes.get(start).copied();
        if first.is_none() && !is_end {
            return None;
        }
        if let Some(quote) = self.dialect.quote.filter(|quote| first == Some(*quote)) {
            return self.next_quoted_cell(bytes, start, quote, is_end);
        }
        let (cell_end, end) = self.find_cell_end(bytes, start, is_end)?;
        let cell = Cell { range: start..cell_end, body: start..cell_end, is_quoted: false, is_broken: false };
        Some((cell, end))
    }

    fn next_quoted_cell(&self, bytes: &[u8], start: usize, quote: u8, is_end: bool) -> Option<(Cell, End)> {
        let Some(close) = self.find_closing_quote(bytes, start + 1, quote, is_end) else {
            if !is_end {
                return None;
            }
            // The quote is never closed, so the cell is everything that remains.
            let all = start..bytes.len();
            return Some((Cell { range: all.clone(), body: all, is_quoted: true, is_broken: true }, End::Row(0)));
        };
        let (cell_end, end) = self.find_cell_end(bytes, close + 1, is_end)?;
        // There is text between the closing quote and the end of the cell.
        let is_broken = cell_end > close + 1;
        let body = if is_broken { start..cell_end } else { start + 1..close };
        Some((Cell { range: start..cell_end, body, is_quoted: true, is_broken }, end))
    }

    /// Returns the position of the quote that ends a cell, or `None` if there is none, or if more bytes are needed to
    /// decide.
    fn find_closing_quote(&self, bytes: &[u8], mut position: usize, quote: u8, is_end: bool) -> Option<usize> {
        loop {
            let rest = bytes.get(position..)?;
            let found = match self.dialect.escape {
                Escape::Doubled => find_byte(rest, [quote])?,
                Escape::PhpFputcsv | Escape::Backslash => find_byte(rest, [quote, b'\\'])?,
            };
            position += found;
            // The byte after a quote or a backslash decides about its meaning.
            let next = bytes.get(position + 1).copied();
            if next.is_none() && !is_end {
                return None;
            }
            let is_quote = bytes.get(position) == Some(&quote);
            // Neither byte of a pair ends the cell. A pair is two quotes; with `PhpFputcsv` also a backslash and a
            // quote; with `Backslash` only a backslash and any byte.
            let is_pair = match self.dialect.escape {
                Escape::Doubled | Escape::PhpFputcsv => next == Some(quote),
                Escape::Backslash => !is_quote,
            };
            if is_quote && !is_pair {
                return Some(position);
            }
            position += if is_pair { 2 } else { 1 };
        }
    }

    /// Returns the end of a cell that continues without quotes at `start`, or `None` if more bytes are needed.
    fn find_cell_end(&self, bytes: &[u8], start: usize, is_end: bool) -> Option<(usize, End)> {
        let rest = bytes.get(start..)?;
        let delimiter = self.dialect.delimiter;
        let found = match self.dialect.line_end {
            LineEnd::Newline => find_byte(rest, [delimiter, b'\n']),
            LineEnd::Return => find_byte(rest, [delimiter, b'\r']),
        };
        let Some(len) = found else { return is_end.then_some((bytes.len(), End::Row(0))) };
        let cell_end = start + len;
        if bytes.get(cell_end) == Some(&delimiter) {
            return Some((cell_end, End::Delimiter));
        }
        let has_return =
            self.dialect.line_end == LineEnd::Newline && cell_end > start && bytes.get(cell_end - 1) == Some(&b'\r');
        Some(if has_return { (cell_end - 1, End::Row(2)) } else { (cell_end, End::Row(1)) })
    }
}
