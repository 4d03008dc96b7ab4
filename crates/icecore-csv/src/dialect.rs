//! Dialects: the delimiters of cells and rows, and the escapes of quotes in a cell.

use icecore::raw::{find_byte, find_in_word};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// The dialect of a CSV file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dialect {
    /// The byte between cells.
    pub delimiter: u8,
    /// The quote around cells, or `None` if quotes are text.
    pub quote: Option<u8>,
    /// How a quote is written inside of quotes.
    pub escape: Escape,
    /// The end of a row.
    pub line_end: LineEnd,
}

/// How a quote is written inside of quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Escape {
    /// It is written twice.
    Doubled,
    /// It is written twice, except after a backslash, where it is written once. The backslash is text. PHP's
    /// `fputcsv` writes this.
    PhpFputcsv,
    /// A backslash is written before it, and is not text. A backslash of the text is written twice.
    Backslash,
}

/// The end of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEnd {
    /// `\n`, perhaps after `\r`.
    Newline,
    /// Only `\r`.
    Return,
}

/// A cell: ranges in the bytes that were scanned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The complete cell, with its quotes.
    pub range: Range<usize>,
    /// Its text, still escaped.
    pub body: Range<usize>,
    /// Whether the cell is quoted.
    pub is_quoted: bool,
    /// Whether there is text between its last quote and the delimiter, or its last quote is missing. Then `body` is
    /// the complete cell, and the dialect is wrong or the file is damaged.
    pub is_broken: bool,
}

/// The style of a cell. A new text for the cell is written in the same style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes, unless it needs them.
    Plain,
    /// Without quotes, although its text contains some.
    BareQuotes,
    /// In quotes.
    Quoted,
}

impl Cell {
    /// Returns the style of this cell of these bytes.
    pub fn detect_style(&self, dialect: &Dialect, bytes: &[u8]) -> Style {
        let body = bytes.get(self.body.clone()).unwrap_or_default();
        match dialect.quote {
            _ if self.is_quoted => Style::Quoted,
            Some(quote) if memchr::memchr(quote, body).is_some() => Style::BareQuotes,
            _ => Style::Plain,
        }
    }
}

impl Dialect {
    /// RFC 4180: commas, and double quotes that are doubled.
    pub const RFC_4180: Dialect =
        Dialect { delimiter: b',', quote: Some(b'"'), escape: Escape::Doubled, line_end: LineEnd::Newline };

    /// Returns the text of a cell of these bytes.
    pub fn decode_cell<'b>(&self, cell: &Cell, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        let body = bytes.get(cell.body.clone()).unwrap_or_default();
        match self.quote {
            Some(quote) if cell.is_quoted && !cell.is_broken => self.decode_quoted(body, quote),
            _ => Cow::Borrowed(body),
        }
    }

    /// Returns the text of a cell between quotes.
    fn decode_quoted<'b>(&self, body: &'b [u8], quote: u8) -> Cow<'b, [u8]> {
        let escape = if self.escape == Escape::Backslash { b'\\' } else { quote };
        let Some(mut found) = memchr::memchr(escape, body) else { return Cow::Borrowed(body) };
        let mut text = Vec::with_capacity(body.len());
        if self.escape == Escape::Doubled {
            push_undoubled(body, quote, &mut text);
            return Cow::Owned(text);
        }
        let mut rest = body;
        loop {
            let (before, from_escape) = rest.split_at(found);
            text.extend_from_slice(before);
            let (byte, len) = match (self.escape, from_escape.get(1)) {
                (Escape::Backslash, Some(next)) if self.is_escaped_by_backslash(*next) => (*next, 2),
                (Escape::Backslash, _) => (escape, 1),
                // After a backslash, `fputcsv` writes a quote once, so only one byte is read.
                (Escape::PhpFputcsv, _) if text.last() == Some(&b'\\') => (escape, 1),
                _ => (escape, 2),
            };
            text.push(byte);
            rest = from_escape.get(len..).unwrap_or_default();
            let Some(next) = find_byte(rest, [escape]) else { break };
            found = next;
        }
        text.extend_from_slice(rest);
        Cow::Owned(text)
    }

    /// Returns `true` if a backslash before this byte is removed. Before any other byte the backslash is text,
    /// because programs do not agree on the meaning of sequences such as `\n`.
    pub(crate) fn is_escaped_by_backslash(&self, byte: u8) -> bool {
        matches!(byte, b'\\' | b'\n' | b'\r') || byte == self.delimiter || Some(byte) == self.quote
    }

    /// Writes a cell with this text in this style, with quotes if it needs them. Returns `false` and writes nothing if
    /// this dialect can't represent it.
    pub fn encode_cell(&self, text: &[u8], style: Style, out: &mut Vec<u8>) -> bool {
        let needs_quotes = |byte: &u8| matches!(*byte, b'\n' | b'\r') || *byte == self.delimiter;
        let Some(quote) = self.quote else {
            let is_plain = !text.iter().any(needs_quotes);
            if is_plain {
                out.extend_from_slice(text);
            }
            return is_plain;
        };
        let is_plain = match style {
            Style::Quoted => false,
            Style::Plain => !text.iter().any(|byte| needs_quotes(byte) || *byte == quote),
            Style::BareQuotes => !text.iter().any(needs_quotes) && text.first() != Some(&quote),
        };
        if is_plain {
            out.extend_from_slice(text);
            return true;
        }
        if self.escape == Escape::PhpFputcsv && text.last() == Some(&b'\\') {
            // The last backslash and the closing quote would be `\"`, and a reader would take this for a quote of the
            // text.
            return false;
        }
        out.push(quote);
        let mut previous = 0;
        for byte in text {
            match self.escape {
                Escape::Backslash if *byte == quote || *byte == b'\\' => out.push(b'\\'),
                Escape::Doubled if *byte == quote => out.push(quote),
                Escape::PhpFputcsv if *byte == quote && previous != b'\\' => out.push(quote),
                _ => {}
            }
            out.push(*byte);
            previous = *byte;
        }
        out.push(quote);
        true
    }
}

/// Appends a text without the doubling of its quotes. It reads eight bytes at a time, which is faster than a search,
/// because quotes are close together in serialized values.
fn push_undoubled(body: &[u8], quote: u8, text: &mut Vec<u8>) {
    let mut rest = body;
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        text.extend_from_slice(word);
        match find_in_word(*word, quote) {
            None => rest = after,
            // The quote is at `index` of the word: it is kept, and the byte after it is the second quote of its pair.
            Some(index) => {
                text.truncate(text.len() - 7 + index);
                rest = rest.get(index + 2..).unwrap_or_default();
            }
        }
    }
    while let Some((byte, after)) = rest.split_first() {
        text.push(*byte);
        rest = if *byte == quote { after.get(1..).unwrap_or_default() } else { after };
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let describe_byte = |byte: u8| match byte {
            b'\t' => "a tab".to_owned(),
            b' '..=b'~' => format!("`{}`", char::from(byte)),
            byte => format!("`\\x{byte:02x}`"),
        };
        write!(f, "{} between cells, ", describe_byte(self.delimiter))?;
        match self.quote {
            Some(quote) => write!(f, "{} around them, ", describe_byte(quote))?,
            None => f.write_str("no quotes")?,
        }
        match (self.quote, self.escape) {
            (None, _) => Ok(()),
            (_, Escape::Doubled) => f.write_str("quotes inside are doubled"),
            (_, Escape::PhpFputcsv) => {
                f.write_str("quotes inside are doubled, but not after a backslash (fputcsv of PHP)")
            }
            (_, Escape::Backslash) => f.write_str("quotes inside have a backslash before them"),
        }
    }
}
