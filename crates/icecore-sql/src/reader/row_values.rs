//! The values of rows: short paths for most of them, and the record of where each one begins and ends.

use std::ops::Range;

use crate::reader::{Reader, Step};
use crate::rows::bare;
use crate::rows::{Content, Value};
use crate::statement::Phase;
use crate::{Literal, scan};

impl Reader {
    /// Reads a string in single quotes that is the value of a row and ends in the window. Most literals of a dump are
    /// like this. For any other string, changes nothing and returns `None`. The caller then reads the string in the
    /// general way, and this takes longer.
    #[inline]
    pub(super) fn read_quoted_value(&mut self, window: &[u8], is_last: bool) -> Option<Step> {
        if self.statement.phase != Phase::Values {
            return None;
        }
        let (start, body) = (self.cursor, self.cursor + 1);
        let end = scan::find_closing_quote(window, body, body, b'\'', self.rules.quotes.has_backslash_escapes, is_last)
            .ok()?;
        if end - body > self.options.literal {
            return None;
        }
        self.cursor = end + 1;
        let cell = self.statement.locate_cell(&self.tables);
        let mut quoting = self.single_quoting();
        if let Some(cell) = cell
            && self.rules.is_postgres()
        {
            let text = window.get(body..end).unwrap_or_default();
            quoting = quoting.for_kind(text, self.tables.column_kind(cell.table, cell.column));
        }
        if self.is_in_row() {
            let content = Content::Literal(body..end, quoting);
            return Some(match window.get(self.cursor) {
                Some(sign @ (b',' | b')')) if self.begins_plain_value() => {
                    self.complete_row_value(start..self.cursor, content, *sign)
                }
                _ => {
                    self.value_builder.add_literal(start, self.cursor, body..end, quoting);
                    Step::Continue
                }
            });
        }
        Some(Step::Literal(Literal { full_range: start..self.cursor, body: body..end, quoting, cell }))
    }

    /// Returns true if a value of a row begins here, and only `,` or `)` can end it. With a delimiter of its own, a
    /// client could end the statement in the middle of the value.
    #[inline]
    fn begins_plain_value(&self) -> bool {
        self.statement.depth == 1 && self.value_builder.is_empty() && self.delimiter.is_none()
    }

    /// Reads a number or NULL that is the complete value of a row. Most values without quotes are like this. For
    /// anything else, changes nothing and returns `None`. The caller then reads the value in the general way, and
    /// this takes longer.
    #[inline]
    pub(super) fn read_bare_value(&mut self, window: &[u8]) -> Option<Step> {
        if !self.is_in_row() || !self.begins_plain_value() {
            return None;
        }
        let start = self.cursor;
        let (end, content) = match window.get(start..start + 4) {
            Some(b"NULL") => (start + 4, Content::Null),
            _ => (bare::find_plain_number_end(window, start)?, Content::Number),
        };
        // Another byte after the number continues the value, as in `1e5` or `1 + 2`.
        let sign @ (b',' | b')') = *window.get(end)? else { return None };
        self.cursor = end;
        Some(self.complete_row_value(start..end, content, sign))
    }

    /// Completes a value of a row that ends here, before `sign`.
    #[inline]
    pub(super) fn complete_row_value(&mut self, full_range: Range<usize>, content: Content, sign: u8) -> Step {
        // The cell is located before the sign is handled, because a comma moves the statement to the next position.
        let cell = self.statement.locate_cell(&self.tables);
        self.cursor += 1;
        match sign {
            b',' => self.statement.handle_comma(&mut self.tables, &mut self.rules),
            _ => self.statement.close_parenthesis(&mut self.tables, &self.rules),
        }
        match cell {
            Some(cell) => Step::Value(Value { full_range, content, cell, ends_row: sign == b')' }),
            None => Step::Continue,
        }
    }

    /// Records that the text from `start` on is part of a value.
    pub(crate) fn record_value_text(&mut self, start: usize) {
        if self.is_in_row() {
            self.value_builder.add_plain(start, self.cursor);
        }
    }

    /// Records that the sign here is part of a value.
    pub(super) fn record_value_sign(&mut self) {
        if self.is_in_row() {
            self.value_builder.add_plain(self.cursor, self.cursor + 1);
        }
    }

    /// Records a parenthesis that closes a call.
    pub(super) fn record_call_end(&mut self) {
        if self.is_in_row() {
            self.value_builder.add_closing(self.cursor);
        }
    }
}
