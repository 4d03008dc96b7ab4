//! Rows: what stands between two commas is a value as a whole.

use std::ops::Range;

pub(crate) mod bare;

use crate::{Cell, Dialect, Quoting};

/// A value of a row, whether it stands in quotes or not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Value {
    /// All of it in the window, without the blanks and comments around it.
    pub whole: Range<usize>,
    /// What it is.
    pub content: Content,
    /// Whose value it is.
    pub cell: Cell,
    /// It is the last one of its row.
    pub ends_row: bool,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// A literal: where its body is, and how that is written.
    Literal(Range<usize>, Quoting),
    /// A number, with its sign, as SQL writes it: `-1.50`, `.5`, `007`, `1e+999`.
    Number,
    /// `TRUE` or `FALSE`.
    Bool(bool),
    /// `NULL`.
    Null,
    /// Bits, `b'0101'`: where the digits are.
    Bits(Range<usize>),
    /// The dump has no value: `DEFAULT`, or nothing at all.
    Absent,
    /// Anything else, a call for example: nothing is computed.
    Expression,
}

/// What was seen of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Seen {
    #[default]
    Nothing,
    /// `_binary`: a literal may come.
    Introducer,
    Plain,
    Literal,
    Mixed,
}

/// The value that is being read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gather {
    seen: Seen,
    start: Option<usize>,
    end: usize,
    /// The only literal, if there was one: all of it, its body, its quoting.
    literal: Option<(Range<usize>, Range<usize>, Quoting)>,
    literals: u8,
    /// The `)` of a call of `unistr` is to come.
    pub unistr: bool,
}

impl Gather {
    pub fn clear(&mut self) {
        (self.seen, self.start, self.literal) = (Seen::Nothing, None, None);
        (self.literals, self.unistr) = (0, false);
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.seen == Seen::Nothing && self.start.is_none()
    }

    /// Where the value begins.
    pub fn start(&self) -> Option<usize> {
        self.start
    }

    pub fn drop_front(&mut self, used: usize) {
        let back = |at: usize| at.saturating_sub(used);
        self.start = self.start.map(back);
        self.end = back(self.end);
        if let Some((whole, body, _)) = &mut self.literal {
            for range in [whole, body] {
                *range = back(range.start)..back(range.end);
            }
        }
    }

    /// The value begins here, if it has not begun.
    pub fn touch(&mut self, start: usize) {
        self.start.get_or_insert(start);
    }

    /// What was seen last goes on up to here.
    pub fn extend(&mut self, end: usize) {
        self.end = end;
    }

    /// Something without quotes.
    pub fn plain(&mut self, start: usize, end: usize) {
        self.touch(start);
        self.end = end;
        self.seen = match self.seen {
            Seen::Nothing | Seen::Plain => Seen::Plain,
            _ => Seen::Mixed,
        };
    }

    /// A word: of MySQL's that begin with `_` one may stand before a literal.
    pub fn word(&mut self, word: &[u8], start: usize, end: usize) {
        let is_first = self.seen == Seen::Nothing && word.first() == Some(&b'_');
        self.plain(start, end);
        if is_first {
            self.seen = Seen::Introducer;
        }
    }

    /// A literal: where it begins, where what belongs to it ends, its body.
    pub fn literal(&mut self, start: usize, end: usize, body: Range<usize>, quoting: Quoting) {
        self.touch(start);
        self.end = end;
        self.seen = match self.seen {
            Seen::Nothing | Seen::Introducer => Seen::Literal,
            _ => Seen::Mixed,
        };
        self.literals = self.literals.saturating_add(1);
        self.literal = Some((start..end, body, quoting)).filter(|_| self.literals == 1);
    }

    /// A parenthesis that closes a call: that of `unistr` belongs to the literal.
    pub fn close(&mut self, at: usize) {
        if std::mem::take(&mut self.unistr) {
            self.end = at + 1;
        } else {
            self.plain(at, at + 1);
        }
    }

    /// The value is complete.
    pub fn finish(&mut self, window: &[u8], dialect: Option<Dialect>) -> (Range<usize>, Content) {
        let whole = self.start.map_or(0..0, |start| start..self.end);
        let text = window.get(whole.clone()).unwrap_or_default();
        let content = match (self.seen, self.literal.take()) {
            (Seen::Nothing, _) => Content::Absent,
            (Seen::Literal, Some((_, body, quoting))) => Content::Literal(body, quoting),
            (Seen::Mixed, Some((literal, body, quoting))) if bare::is_cast(window, &whole, &literal) => {
                Content::Literal(body, quoting)
            }
            (Seen::Plain, _) => bare::content(text, whole.start, dialect),
            _ => Content::Expression,
        };
        self.clear();
        (whole, content)
    }
}
