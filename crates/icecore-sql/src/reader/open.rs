//! Literals whose end is being searched.

use crate::reader::{Mode, Reader, Step};
use crate::scan;
use crate::shell;
use crate::{Error, Literal, Quoting};

/// A literal that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenLiteral {
    /// The position of its first byte. A prefix such as `E` is a part of the literal.
    pub start: usize,
    /// The position of the first byte after the quote, the tag or the prefix.
    pub body: usize,
    /// The position from which the end is searched.
    pub scan: usize,
    pub ending: Ending,
    /// The quoting of the body. It is `None` for literals that are skipped: bit strings, and strings with the Unicode
    /// escapes of the standard.
    pub quoting: Option<Quoting>,
}

/// The end of a literal.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ending {
    Quote {
        quote: u8,
        backslash: bool,
    },
    /// A byte that is not a hexadecimal digit.
    Digits,
    /// The same tag as between `start` and `body`.
    Dollar,
    /// A quote, followed by the arguments of this number of calls of `replace`.
    Calls(u8),
}

impl OpenLiteral {
    pub fn drop_front(&mut self, used: usize) {
        self.start = self.start.saturating_sub(used);
        self.body = self.body.saturating_sub(used);
        self.scan = self.scan.saturating_sub(used);
    }
}

impl Reader {
    /// Searches for the end of a literal.
    #[inline]
    pub(crate) fn read_literal(&mut self, open: OpenLiteral, window: &[u8], is_last: bool) -> Result<Step, Error> {
        let end = match open.ending {
            Ending::Quote { quote, backslash } => {
                scan::find_closing_quote(window, open.body, open.scan, quote, backslash, is_last)
                    .map(|end| (end, end + 1))
            }
            Ending::Digits => scan::find_digits_end(window, open.scan, is_last).map(|end| (end, end)),
            Ending::Dollar => {
                let tag = window.get(open.start..open.body).unwrap_or_default();
                scan::find_dollar_end(window, open.scan, tag).map(|end| (end, end + tag.len()))
            }
            Ending::Calls(_) => {
                scan::find_closing_quote(window, open.body, open.scan, b'\'', false, is_last).map(|end| (end, end + 1))
            }
        };
        let limit = self.options.literal;
        let (body_end, literal_end) = match end {
            Ok(ends) => ends,
            Err(scan) => {
                if scan.saturating_sub(open.body) > limit {
                    return Err(self.too_long_error(open.start));
                }
                self.mode = Mode::Literal(OpenLiteral { scan, ..open });
                return Ok(Step::NeedMore(open.start));
            }
        };
        if body_end.saturating_sub(open.body) > limit {
            return Err(self.too_long_error(open.start));
        }
        if let Ending::Calls(calls) = open.ending {
            let Some((replaced, calls_end)) = shell::parse_arguments(window, literal_end, calls, is_last) else {
                self.mode = Mode::Literal(OpenLiteral { scan: body_end, ..open });
                return Ok(Step::NeedMore(open.start));
            };
            self.cursor = calls_end;
            // Without the expected arguments, the text is an ordinary string in open calls, so their parentheses
            // count.
            if replaced.is_none() {
                self.statement.depth = self.statement.depth.saturating_add(u32::from(calls));
            }
            let quoting = replaced.map_or(Quoting::Standard(crate::Quote::Single), Quoting::Replaced);
            return Ok(self.complete_literal(
                OpenLiteral { quoting: Some(quoting), ..open },
                window,
                body_end,
                literal_end,
            ));
        }
        self.cursor = literal_end;
        Ok(self.complete_literal(open, window, body_end, literal_end))
    }

    pub(crate) fn too_long_error(&self, start: usize) -> Error {
        Error::LongLiteral { offset: self.offset + start as u64, limit: self.options.literal }
    }

    /// Completes a literal.
    #[inline]
    fn complete_literal(&mut self, open: OpenLiteral, window: &[u8], body_end: usize, literal_end: usize) -> Step {
        self.mode = Mode::Code;
        // If a letter follows the digits directly, they are a part of a word and not a literal.
        if matches!(open.ending, Ending::Digits)
            && window.get(literal_end).is_some_and(|byte| scan::is_word_byte(*byte))
        {
            self.record_value_text(open.start);
            return Step::Continue;
        }
        let body = window.get(open.body..body_end).unwrap_or_default();
        if self.statement.expects_name() {
            let name = super::code::decode_name(body, b'\'');
            self.statement.handle_quoted_name(&name, &mut self.tables, &mut self.rules);
            return Step::Continue;
        }
        let cell = self.statement.handle_literal(body, &mut self.tables, &mut self.rules);
        let Some(mut quoting) = open.quoting else {
            self.record_value_text(open.start);
            return Step::Continue;
        };
        if let Some(cell) = cell
            && self.rules.is_postgres()
        {
            quoting = quoting.for_kind(body, self.tables.column_kind(cell.table, cell.column));
        }
        if self.is_in_row() {
            self.value_builder.add_literal(open.start, self.cursor, open.body..body_end, quoting);
            return Step::Continue;
        }
        Step::Literal(Literal { full_range: open.start..literal_end, body: open.body..body_end, quoting, cell })
    }
}
