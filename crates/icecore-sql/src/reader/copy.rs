//! The rows of PostgreSQL's `COPY … FROM stdin`.

use crate::reader::{Mode, Reader, Step};
use crate::{Content, Error, Kind, Literal, Quoting, Value, scan};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyState {
    /// In the rest of the line of the statement.
    StatementLine,
    /// Before a line.
    Line,
    /// In a cell.
    Cell,
    /// In a line of a form that is not supported.
    SkippedLine,
}

/// The position of the reader in the rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyPosition {
    pub state: CopyState,
    /// Whether the statement has options. Its rows are then skipped.
    has_options: bool,
    /// Whether the last line ended with a carriage return. A line feed that follows belongs to the same line end.
    follows_carriage_return: bool,
    /// The start of the current cell in the window.
    cell_start: usize,
    /// The position from which the end of the cell is searched.
    scan: usize,
}

impl CopyPosition {
    pub fn new(has_options: bool) -> CopyPosition {
        CopyPosition {
            state: CopyState::StatementLine,
            has_options,
            follows_carriage_return: false,
            cell_start: 0,
            scan: 0,
        }
    }

    pub fn drop_front(&mut self, used: usize) {
        self.cell_start = self.cell_start.saturating_sub(used);
        self.scan = self.scan.saturating_sub(used);
    }
}

impl Reader {
    pub(crate) fn read_copy(&mut self, window: &[u8], is_last: bool) -> Result<Step, Error> {
        match self.copying.state {
            CopyState::Cell => self.read_copy_cell(window),
            CopyState::Line => Ok(self.begin_copy_line(window, is_last)),
            CopyState::StatementLine | CopyState::SkippedLine => Ok(self.skip_copy_line(window)),
        }
    }

    fn skip_copy_line(&mut self, window: &[u8]) -> Step {
        let Some(end) = scan::find_line_end(window, self.cursor) else {
            self.cursor = window.len();
            return Step::NeedMore(self.cursor);
        };
        self.cursor = end + 1;
        self.copying.follows_carriage_return = window.get(end) == Some(&b'\r');
        self.copying.state = CopyState::Line;
        Step::Continue
    }

    fn begin_copy_line(&mut self, window: &[u8], is_last: bool) -> Step {
        let rest = window.get(self.cursor..).unwrap_or_default();
        let rest = match (rest, self.copying.follows_carriage_return) {
            ([], _) => return Step::NeedMore(self.cursor),
            ([b'\n', rest @ ..], true) => {
                self.cursor += 1;
                rest
            }
            (rest, _) => rest,
        };
        self.copying.follows_carriage_return = false;
        match rest {
            [] => return Step::NeedMore(self.cursor),
            [b'\\'] | [b'\\', b'.'] if !is_last => return Step::NeedMore(self.cursor),
            [b'\\', b'.'] | [b'\\', b'.', b'\n' | b'\r', ..] => {
                self.cursor += 2;
                self.mode = Mode::Code;
                self.statement.end_statement(&mut self.rules);
                return Step::Continue;
            }
            _ => {}
        }
        if self.copying.has_options {
            self.copying.state = CopyState::SkippedLine;
        } else {
            self.statement.begin_copy_row(&mut self.tables);
            (self.copying.cell_start, self.copying.scan) = (self.cursor, self.cursor);
            self.copying.state = CopyState::Cell;
        }
        Step::Continue
    }

    fn read_copy_cell(&mut self, window: &[u8]) -> Result<Step, Error> {
        loop {
            let start = self.copying.cell_start;
            let end = scan::find_cell_end(window, start, self.copying.scan);
            if end.unwrap_or_else(|scanned_end| scanned_end).saturating_sub(start) > self.options.literal {
                return Err(self.too_long_error(start));
            }
            let end = match end {
                Ok(end) => end,
                Err(scan) => {
                    self.copying.scan = scan;
                    return Ok(Step::NeedMore(start));
                }
            };
            let body = window.get(start..end).unwrap_or_default();
            let is_null = body == b"\\N";
            let returns_rows = self.options.rows && !self.statement.skips_rows;
            let cell = if is_null && !returns_rows { None } else { self.statement.locate_cell(&self.tables) };
            self.cursor = end + 1;
            let sign = window.get(end);
            if sign == Some(&b'\t') {
                (self.copying.cell_start, self.copying.scan) = (self.cursor, self.cursor);
                self.statement.position = self.statement.position.saturating_add(1);
            } else {
                self.copying.follows_carriage_return = sign == Some(&b'\r');
                self.copying.state = CopyState::Line;
            }
            let kind = cell.map_or(Kind::Unknown, |cell| self.tables.column_kind(cell.table, cell.column));
            let quoting = Quoting::Copy.for_kind(body, kind);
            if let (true, Some(cell)) = (returns_rows, cell) {
                let content = if is_null { Content::Null } else { Content::Literal(start..end, quoting) };
                let ends_row = self.copying.state == CopyState::Line;
                return Ok(Step::Value(Value { full_range: start..end, content, cell, ends_row }));
            }
            if !is_null {
                return Ok(Step::Literal(Literal { full_range: start..end, body: start..end, quoting, cell }));
            }
            if self.copying.state == CopyState::Line {
                return Ok(Step::Continue);
            }
        }
    }
}
