//! Literals whose end is being searched.

use crate::reader::{Mode, Reader, Step};
use crate::scan;
use crate::shell;
use crate::{Error, Literal, Quoting};

/// A literal that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    /// Its start, including its prefix.
    pub whole: usize,
    pub body: usize,
    /// The position from which the end is searched.
    pub scan: usize,
    pub ending: Ending,
    /// `None` if the literal is skipped: bit strings, and Unicode escapes of the standard.
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
    /// The tag between `whole` and `body` again.
    Dollar,
    /// A quote, and the arguments of this number of calls of `replace`.
    Calls(u8),
}

impl Open {
    pub fn drop_front(&mut self, used: usize) {
        self.whole = self.whole.saturating_sub(used);
        self.body = self.body.saturating_sub(used);
        self.scan = self.scan.saturating_sub(used);
    }
}

impl Reader {
    /// Searches for the end of a literal.
    #[inline]
    pub(crate) fn literal(&mut self, open: Open, window: &[u8], last: bool) -> Result<Step, Error> {
        let end = match open.ending {
            Ending::Quote { quote, backslash } => {
                scan::quote_end(window, open.body, open.scan, quote, backslash, last).map(|end| (end, end + 1))
            }
            Ending::Digits => scan::digits_end(window, open.scan, last).map(|end| (end, end)),
            Ending::Dollar => {
                let tag = window.get(open.whole..open.body).unwrap_or_default();
                scan::dollar_end(window, open.scan, tag).map(|end| (end, end + tag.len()))
            }
            Ending::Calls(_) => {
                scan::quote_end(window, open.body, open.scan, b'\'', false, last).map(|end| (end, end + 1))
            }
        };
        let limit = self.options.literal;
        let (body_end, behind) = match end {
            Ok(ends) => ends,
            Err(scan) => {
                if scan.saturating_sub(open.body) > limit {
                    return Err(self.too_long(open.whole));
                }
                self.mode = Mode::Literal(Open { scan, ..open });
                return Ok(Step::Hold(open.whole));
            }
        };
        if body_end.saturating_sub(open.body) > limit {
            return Err(self.too_long(open.whole));
        }
        if let Ending::Calls(calls) = open.ending {
            let Some((replaced, behind_calls)) = shell::arguments(window, behind, calls, last) else {
                self.mode = Mode::Literal(Open { scan: body_end, ..open });
                return Ok(Step::Hold(open.whole));
            };
            self.at = behind_calls;
            if replaced.is_none() {
                self.statement.depth = self.statement.depth.saturating_add(u32::from(calls));
            }
            let quoting = replaced.map_or(Quoting::Standard(crate::Quote::Single), Quoting::Replaced);
            return Ok(self.found(Open { quoting: Some(quoting), ..open }, window, body_end, behind));
        }
        self.at = behind;
        Ok(self.found(open, window, body_end, behind))
    }

    pub(crate) fn too_long(&self, start: usize) -> Error {
        Error::LongLiteral { offset: self.offset + start as u64, limit: self.options.literal }
    }

    /// Completes a literal.
    #[inline]
    fn found(&mut self, open: Open, window: &[u8], body_end: usize, behind: usize) -> Step {
        self.mode = Mode::Code;
        // Digits that continue as a word are not a literal.
        if matches!(open.ending, Ending::Digits) && window.get(behind).is_some_and(|byte| scan::is_word(*byte)) {
            self.note(open.whole);
            return Step::Go;
        }
        let body = window.get(open.body..body_end).unwrap_or_default();
        if self.statement.wants_name() {
            let name = super::code::name_of(body, b'\'');
            self.statement.quoted(&name, &mut self.tables, &mut self.lexis);
            return Step::Go;
        }
        let cell = self.statement.literal(body, &mut self.tables, &mut self.lexis);
        let Some(mut quoting) = open.quoting else {
            self.note(open.whole);
            return Step::Go;
        };
        if let Some(cell) = cell
            && self.lexis.is_postgres()
        {
            quoting = quoting.for_kind(body, self.tables.kind(cell.table, cell.column));
        }
        if self.in_row() {
            self.gather.literal(open.whole, self.at, open.body..body_end, quoting);
            return Step::Go;
        }
        Step::Found(Literal { whole: open.whole..behind, body: open.body..body_end, quoting, cell })
    }
}
