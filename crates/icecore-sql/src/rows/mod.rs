//! Rows. The text between two commas is one value.

use std::ops::Range;

pub(crate) mod bare;

use crate::{Cell, Dialect, Quoting};

/// A value of a row, with or without quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Value {
    /// The complete value in the window, without the blanks and comments around it.
    pub full_range: Range<usize>,
    /// Its content.
    pub content: Content,
    /// Its cell.
    pub cell: Cell,
    /// Whether it is the last value of its row.
    pub ends_row: bool,
}

/// The content of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// A literal. It has a body and a quoting.
    Literal(Range<usize>, Quoting),
    /// A number, with its sign, in SQL syntax: `-1.50`, `.5`, `007`, `1e+999`.
    Number,
    /// `TRUE` or `FALSE`.
    Bool(bool),
    /// `NULL`.
    Null,
    /// Bits, `b'0101'`: the position of the digits.
    Bits(Range<usize>),
    /// The dump has no value: `DEFAULT`, or nothing at all.
    Absent,
    /// Anything else, for example a call. Expressions are not evaluated.
    Expression,
}

/// The tokens of a value that were read so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ValueTokens {
    #[default]
    Nothing,
    /// `_binary`: a literal may follow.
    Introducer,
    Plain,
    Literal,
    Mixed,
}

/// The value that is being read.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueBuilder {
    tokens: ValueTokens,
    start: Option<usize>,
    end: usize,
    /// The only literal, if there was one: the range of the complete literal, its body, and its
    /// quoting.
    literal: Option<(Range<usize>, Range<usize>, Quoting)>,
    literal_count: u8,
    /// Whether the `)` of a call of `expects_unistr_end` is still expected.
    pub expects_unistr_end: bool,
}

impl ValueBuilder {
    pub fn clear(&mut self) {
        (self.tokens, self.start, self.literal) = (ValueTokens::Nothing, None, None);
        (self.literal_count, self.expects_unistr_end) = (0, false);
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.tokens == ValueTokens::Nothing && self.start.is_none()
    }

    /// Returns the start of the value, if it has begun.
    pub fn start(&self) -> Option<usize> {
        self.start
    }

    pub fn drop_front(&mut self, used: usize) {
        let move_back = |index: usize| index.saturating_sub(used);
        self.start = self.start.map(move_back);
        self.end = move_back(self.end);
        if let Some((full_range, body, _)) = &mut self.literal {
            for range in [full_range, body] {
                *range = move_back(range.start)..move_back(range.end);
            }
        }
    }

    /// Sets the start of the value, if it has not begun.
    pub fn begin_value(&mut self, start: usize) {
        self.start.get_or_insert(start);
    }

    /// Extends the last token up to `end`.
    pub fn extend_to(&mut self, end: usize) {
        self.end = end;
    }

    /// Adds a token without quotes.
    pub fn add_plain(&mut self, start: usize, end: usize) {
        self.begin_value(start);
        self.end = end;
        self.tokens = match self.tokens {
            ValueTokens::Nothing | ValueTokens::Plain => ValueTokens::Plain,
            _ => ValueTokens::Mixed,
        };
    }

    /// Adds a word. In MySQL, a word that begins with `_` may precede a literal.
    pub fn add_word(&mut self, word: &[u8], start: usize, end: usize) {
        let is_first = self.tokens == ValueTokens::Nothing && word.first() == Some(&b'_');
        self.add_plain(start, end);
        if is_first {
            self.tokens = ValueTokens::Introducer;
        }
    }

    /// Adds a literal. `start..end` includes everything that belongs to it.
    pub fn add_literal(&mut self, start: usize, end: usize, body: Range<usize>, quoting: Quoting) {
        self.begin_value(start);
        self.end = end;
        self.tokens = match self.tokens {
            ValueTokens::Nothing | ValueTokens::Introducer => ValueTokens::Literal,
            _ => ValueTokens::Mixed,
        };
        self.literal_count = self.literal_count.saturating_add(1);
        self.literal = Some((start..end, body, quoting)).filter(|_| self.literal_count == 1);
    }

    /// Adds a parenthesis that closes a call. That of `unistr` belongs to the literal.
    pub fn add_closing(&mut self, index: usize) {
        if std::mem::take(&mut self.expects_unistr_end) {
            self.end = index + 1;
        } else {
            self.add_plain(index, index + 1);
        }
    }

    /// Completes the value.
    pub fn finish_value(&mut self, window: &[u8], dialect: Option<Dialect>) -> (Range<usize>, Content) {
        let full_range = self.start.map_or(0..0, |start| start..self.end);
        let text = window.get(full_range.clone()).unwrap_or_default();
        let content = match (self.tokens, self.literal.take()) {
            (ValueTokens::Nothing, _) => Content::Absent,
            (ValueTokens::Literal, Some((_, body, quoting))) => Content::Literal(body, quoting),
            (ValueTokens::Mixed, Some((literal, body, quoting))) if bare::is_cast(window, &full_range, &literal) => {
                Content::Literal(body, quoting)
            }
            (ValueTokens::Plain, _) => bare::classify_content(text, full_range.start, dialect),
            _ => Content::Expression,
        };
        self.clear();
        (full_range, content)
    }
}
