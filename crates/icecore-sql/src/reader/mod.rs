//! The lexer. It reads a dump window by window.

pub(crate) mod code;
mod copy;
mod open;
mod row_values;
pub(crate) mod signs;
mod words;

use crate::dialect::LexicalRules;
use crate::rows::ValueBuilder;
use crate::scan;
use crate::statement::{Phase, Statement};
use crate::tables::Tables;
use crate::{Dialect, Error, Literal, Table, TableId, Value};
use code::MAX_WORD_LEN;
use copy::{CopyPosition, CopyState};
use open::OpenLiteral;

/// Options of a [`Reader`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The dialect. If it is `None`, the reader detects it from the dump.
    pub dialect: Option<Dialect>,
    /// Maximum number of bytes of a literal. The default is 1 GiB, because MySQL and PostgreSQL have this maximum.
    pub literal: usize,
    /// Maximum number of bytes for the names of tables and columns. The default is 64 MiB.
    pub names: usize,
    /// Whether all values of rows are returned as [`Next::Value`], not only the literals among them.
    pub rows: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { dialect: None, literal: 1 << 30, names: 64 << 20, rows: false }
    }
}

/// The next item in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A literal. The caller copies the text between the previous one and this one.
    Literal(Literal),
    /// A value of a row, with [`Options::rows`]. The window contains the complete value, but not always the complete
    /// row. Literals of rows are then not returned separately.
    Value(Value),
    /// The first `used` bytes of the window are finished. The next window must begin after them, and have more bytes
    /// at its end. All literals of this window are in the finished bytes.
    More {
        /// Number of bytes to drop.
        used: usize,
    },
    /// The dump is complete. The caller copies the rest of the window.
    End,
}

/// The construct that the reader is inside of.
#[derive(Debug)]
pub(crate) enum Mode {
    Code,
    /// A comment up to the end of the line, or a command of a client.
    RestOfLine,
    /// A comment between `/*` and `*/`.
    BlockComment {
        depth: u32,
    },
    /// The rest of a word that is too long to be relevant.
    LongWord,
    /// A name that is too long to be relevant.
    LongName {
        close: u8,
    },
    Literal(OpenLiteral),
    Copy,
}

/// What a function of the lexer returns.
pub(crate) enum Step {
    /// A token was read or skipped. Reading continues, maybe in another mode.
    Continue,
    /// A literal that the reader returns.
    Literal(Literal),
    /// A value of a row that the reader returns.
    Value(Value),
    /// More bytes are needed to read the token that begins at this position.
    NeedMore(usize),
}

/// Finds the literals of a dump, window by window.
#[derive(Debug)]
pub struct Reader {
    pub(crate) options: Options,
    /// Offset of the window in the dump.
    pub(crate) offset: u64,
    /// Position in the window.
    pub(crate) cursor: usize,
    pub(crate) mode: Mode,
    pub(crate) copying: CopyPosition,
    pub(crate) rules: LexicalRules,
    pub(crate) statement: Statement,
    pub(crate) tables: Tables,
    /// The delimiter of statements, if it is not `;`.
    pub(crate) delimiter: Option<Vec<u8>>,
    /// Number of open comments whose content MySQL executes.
    pub(crate) open_conditional_comments: u32,
    pub(crate) header: crate::header::Header,
    /// The current value of a row, if rows are returned.
    pub(crate) value_builder: ValueBuilder,
    /// The offset in the dump of a literal that the end of the dump cuts off.
    unclosed_offset: Option<u64>,
}

impl Default for Reader {
    fn default() -> Self {
        Reader::with_options(Options::default())
    }
}

impl Reader {
    /// Returns a reader that detects the dialect.
    pub fn new() -> Reader {
        Reader::default()
    }

    /// Returns a reader with options.
    pub fn with_options(options: Options) -> Reader {
        Reader {
            offset: 0,
            cursor: 0,
            mode: Mode::Code,
            copying: CopyPosition::new(false),
            rules: LexicalRules::new(options.dialect),
            statement: Statement::new(),
            tables: Tables::default(),
            delimiter: None,
            open_conditional_comments: 0,
            header: crate::header::Header::default(),
            value_builder: ValueBuilder::default(),
            unclosed_offset: None,
            options,
        }
    }

    /// Returns the next item. `window` contains the bytes of the dump after those that [`Next::More`] dropped;
    /// `is_last` means that no bytes follow it.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn next(&mut self, window: &[u8], is_last: bool) -> Result<Next, Error> {
        loop {
            let step = match self.mode {
                Mode::Code => self.read_code(window, is_last)?,
                Mode::Literal(open) => self.read_literal(open, window, is_last)?,
                Mode::Copy => self.read_copy(window, is_last)?,
                Mode::RestOfLine => self.skip_line(window),
                Mode::BlockComment { depth } => self.skip_block_comment(depth, window, is_last),
                Mode::LongWord => self.skip_long_word(window),
                Mode::LongName { close } => self.skip_long_name(close, window, is_last),
            };
            match step {
                Step::Continue => {}
                Step::Literal(literal) => return Ok(Next::Literal(literal)),
                Step::Value(value) => return Ok(Next::Value(value)),
                Step::NeedMore(start) if is_last => {
                    let is_in_cell = matches!(self.mode, Mode::Copy) && self.copying.state == CopyState::Cell;
                    let is_in_row = self.options.rows && matches!(self.mode, Mode::Copy) || self.is_in_row();
                    let is_cut_off = is_in_cell || is_in_row || matches!(self.mode, Mode::Literal(_));
                    let start = self.value_builder.start().filter(|_| is_in_row).unwrap_or(start);
                    self.unclosed_offset = is_cut_off.then_some(self.offset + start as u64);
                    return Ok(Next::End);
                }
                Step::NeedMore(start) => {
                    let start = self.find_needed_start(start, window.len())?;
                    self.drop_front(start);
                    return Ok(Next::More { used: start });
                }
            }
        }
    }

    /// Subtracts the dropped bytes from all positions, because the window of the next call begins after them.
    fn drop_front(&mut self, used: usize) {
        self.offset += used as u64;
        self.cursor = self.cursor.saturating_sub(used);
        match &mut self.mode {
            Mode::Literal(open) => open.drop_front(used),
            Mode::Copy => self.copying.drop_front(used),
            _ => {}
        }
        self.value_builder.drop_front(used);
    }

    /// Returns the start of the bytes of the window that are still needed. If a value of a row is open, this is the
    /// start of the value, because the window must contain the complete value when it is returned.
    fn find_needed_start(&self, start: usize, len: usize) -> Result<usize, Error> {
        let Some(value_start) =
            self.value_builder.start().filter(|value_start| *value_start < start && self.is_in_row())
        else {
            return Ok(start);
        };
        if len - value_start > self.options.literal.saturating_add(MAX_WORD_LEN) {
            return Err(self.too_long_error(value_start));
        }
        Ok(value_start)
    }

    /// Returns true if the reader is in a row that it returns.
    #[inline]
    pub(crate) fn is_in_row(&self) -> bool {
        self.options.rows
            && self.statement.depth > 0
            && self.statement.phase == Phase::Values
            && !self.statement.skips_rows
    }

    fn skip_line(&mut self, window: &[u8]) -> Step {
        match scan::find_line_end(window, self.cursor) {
            Some(end) => {
                self.cursor = end;
                self.mode = Mode::Code;
                Step::Continue
            }
            None => {
                self.cursor = window.len();
                Step::NeedMore(self.cursor)
            }
        }
    }

    fn skip_block_comment(&mut self, mut depth: u32, window: &[u8], is_last: bool) -> Step {
        while let Some(sign) = scan::find_comment_sign(window, self.cursor) {
            self.cursor = sign;
            match (window.get(sign), window.get(sign + 1)) {
                // The second byte of `*/` may be in the next window.
                (_, None) if !is_last => break,
                (Some(b'*'), Some(b'/')) => {
                    self.cursor += 2;
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.mode = Mode::Code;
                        return Step::Continue;
                    }
                }
                // Only PostgreSQL nests comments.
                (Some(b'/'), Some(b'*')) if self.rules.is_postgres() => {
                    self.cursor += 2;
                    depth = depth.saturating_add(1);
                }
                _ => self.cursor += 1,
            }
        }
        if scan::find_comment_sign(window, self.cursor).is_none() {
            self.cursor = window.len();
        }
        self.mode = Mode::BlockComment { depth };
        Step::NeedMore(self.cursor)
    }

    fn skip_long_word(&mut self, window: &[u8]) -> Step {
        self.cursor = scan::find_word_end(window, self.cursor);
        self.value_builder.extend_to(self.cursor);
        if self.cursor == window.len() {
            return Step::NeedMore(self.cursor);
        }
        self.mode = Mode::Code;
        Step::Continue
    }

    fn skip_long_name(&mut self, close: u8, window: &[u8], is_last: bool) -> Step {
        match scan::find_name_end(window, self.cursor, close, is_last) {
            Ok(end) => {
                self.cursor = end + 1;
                self.value_builder.extend_to(self.cursor);
                self.mode = Mode::Code;
                Step::Continue
            }
            Err(scanned_end) => {
                self.cursor = scanned_end;
                Step::NeedMore(scanned_end)
            }
        }
    }

    /// Returns an error if names take too much memory, or if a backslash may be part of a character.
    pub(crate) fn check_limits(&self) -> Result<(), Error> {
        let (limit, offset) = (self.options.names, self.offset + self.cursor as u64);
        if let Some(name) = self.rules.ambiguous_encoding {
            return Err(Error::Encoding { offset, name });
        }
        if self.tables.cost > limit {
            return Err(Error::ManyNames { offset, limit });
        }
        Ok(())
    }

    /// Returns the table of a cell.
    ///
    /// # Panics
    /// If the cell belongs to another reader.
    pub fn table(&self, id: TableId) -> &Table {
        &self.tables.list()[id.index()]
    }

    /// Returns all tables that the dump has named so far.
    pub fn tables(&self) -> &[Table] {
        self.tables.list()
    }

    /// Returns the dialect, if known. An unknown dialect is read as MySQL's.
    pub fn dialect(&self) -> Option<Dialect> {
        self.rules.dialect()
    }

    /// Returns the charset that the dump declares for the literals from here on. It is an IANA name such as `UTF-8`,
    /// or `other` for a charset without such a name. Returns `None` if the dump does not declare a charset, or if the
    /// literals are bytes.
    pub fn charset(&self) -> Option<&'static str> {
        self.rules.charset
    }

    /// Returns the charset that the last `CREATE TABLE` declares, if any. [`Reader::charset`] has priority.
    pub fn table_charset(&self) -> Option<&'static str> {
        self.rules.table_charset
    }

    /// Returns the number of the layout of the current statement's rows. The first layout has the number 1. While the
    /// number stays the same, the table, the columns and their order stay the same too.
    pub fn layout(&self) -> u64 {
        self.statement.layout
    }

    /// Skips the remaining rows of this statement, for a table that is not needed. Requires [`Options::rows`].
    pub fn skip_rows(&mut self) {
        self.statement.skips_rows = true;
        self.value_builder.clear();
    }

    /// Returns the offset in the dump of the window of the next call.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the offset of a literal that is cut off by the end of the dump. It is known after [`Next::End`].
    pub fn unclosed_offset(&self) -> Option<u64> {
        self.unclosed_offset
    }
}
