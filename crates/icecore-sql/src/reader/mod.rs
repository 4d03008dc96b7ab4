//! The lexer, by windows.

pub(crate) mod code;
mod copy;
mod open;

use crate::dialect::Lexis;
use crate::rows::Gather;
use crate::scan;
use crate::statement::{Phase, Statement};
use crate::tables::Tables;
use crate::{Dialect, Error, Literal, Table, TableId, Value};
use code::MAX_WORD;
use copy::{Copying, State};
use open::Open;

/// What a [`Reader`] is told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The dialect; recognised from the dump if not set.
    pub dialect: Option<Dialect>,
    /// How many bytes a literal may have: 1 GiB, the most that MySQL and PostgreSQL take.
    pub literal: usize,
    /// How many bytes the names of tables and columns may take: 64 MiB.
    pub names: usize,
    /// Hand out all values of rows as [`Next::Value`], and not only the literals among them.
    pub rows: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { dialect: None, literal: 1 << 30, names: 64 << 20, rows: false }
    }
}

/// What comes next in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A literal. What stands before it, from the one before, is to be copied.
    Literal(Literal),
    /// A value of a row, with [`Options::rows`]. It is held as a whole, a row is not. No literal of a row is
    /// handed out on its own then.
    Value(Value),
    /// The first `used` bytes of the window are done with: the next window begins after them,
    /// and has more at its end. All literals of this window are among them.
    More {
        /// How many bytes to drop.
        used: usize,
    },
    /// The dump is over: what is left of the window is to be copied.
    End,
}

/// What the reader is inside of.
#[derive(Debug)]
pub(crate) enum Mode {
    Code,
    /// A comment up to the end of the line; a command of a client.
    Line,
    /// A comment between `/*` and `*/`.
    Block {
        depth: u32,
    },
    /// A word that is too long to matter.
    Word,
    /// A name that is too long to matter.
    Name {
        close: u8,
    },
    Literal(Open),
    Copy,
}

/// What a part of the lexer came to.
pub(crate) enum Step {
    /// Another part goes on.
    Go,
    Found(Literal),
    Value(Value),
    /// What begins here can't be told without more.
    Hold(usize),
}

/// Finds the literals of a dump, window by window.
#[derive(Debug)]
pub struct Reader {
    pub(crate) options: Options,
    /// Where the window begins in the dump.
    pub(crate) offset: u64,
    /// How far the window is read.
    pub(crate) at: usize,
    pub(crate) mode: Mode,
    pub(crate) copying: Copying,
    pub(crate) lexis: Lexis,
    pub(crate) statement: Statement,
    pub(crate) tables: Tables,
    /// What ends a statement, if it is not `;`.
    pub(crate) delimiter: Option<Vec<u8>>,
    /// How many comments that MySQL executes are open.
    pub(crate) conditional: u32,
    pub(crate) header: crate::header::Header,
    /// The value of a row that is being read, if rows are handed out.
    pub(crate) gather: Gather,
    unclosed: Option<u64>,
}

impl Default for Reader {
    fn default() -> Self {
        Reader::with_options(Options::default())
    }
}

impl Reader {
    /// A reader that recognises the dialect.
    pub fn new() -> Reader {
        Reader::default()
    }

    /// A reader with options.
    pub fn with_options(options: Options) -> Reader {
        Reader {
            offset: 0,
            at: 0,
            mode: Mode::Code,
            copying: Copying::new(false),
            lexis: Lexis::new(options.dialect),
            statement: Statement::new(),
            tables: Tables::default(),
            delimiter: None,
            conditional: 0,
            header: crate::header::Header::default(),
            gather: Gather::default(),
            unclosed: None,
            options,
        }
    }

    /// What comes next. `window` is what follows in the dump after the bytes that
    /// [`Next::More`] dropped; `last` says that nothing comes after it.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn next(&mut self, window: &[u8], last: bool) -> Result<Next, Error> {
        loop {
            let step = match self.mode {
                Mode::Code => self.code(window, last)?,
                Mode::Literal(open) => self.literal(open, window, last)?,
                Mode::Copy => self.copy(window, last)?,
                Mode::Line => self.line(window),
                Mode::Block { depth } => self.block(depth, window, last),
                Mode::Word => self.long_word(window),
                Mode::Name { close } => self.long_name(close, window, last),
            };
            match step {
                Step::Go => {}
                Step::Found(literal) => return Ok(Next::Literal(literal)),
                Step::Value(value) => return Ok(Next::Value(value)),
                Step::Hold(start) if last => {
                    let in_cell = matches!(self.mode, Mode::Copy) && self.copying.state == State::Cell;
                    let in_row = self.options.rows && matches!(self.mode, Mode::Copy) || self.in_row();
                    let cut = in_cell || in_row || matches!(self.mode, Mode::Literal(_));
                    let start = self.gather.start().filter(|_| in_row).unwrap_or(start);
                    self.unclosed = cut.then_some(self.offset + start as u64);
                    return Ok(Next::End);
                }
                Step::Hold(start) => {
                    let start = self.held(start, window.len())?;
                    self.drop_front(start);
                    return Ok(Next::More { used: start });
                }
            }
        }
    }

    /// The window of the next call begins later.
    fn drop_front(&mut self, used: usize) {
        self.offset += used as u64;
        self.at = self.at.saturating_sub(used);
        match &mut self.mode {
            Mode::Literal(open) => open.drop_front(used),
            Mode::Copy => self.copying.drop_front(used),
            _ => {}
        }
        self.gather.drop_front(used);
    }

    /// From where on the window is needed: a value of a row is held as a whole.
    fn held(&self, start: usize, len: usize) -> Result<usize, Error> {
        let Some(begun) = self.gather.start().filter(|begun| *begun < start && self.in_row()) else {
            return Ok(start);
        };
        if len - begun > self.options.literal.saturating_add(MAX_WORD) {
            return Err(self.too_long(begun));
        }
        Ok(begun)
    }

    /// Whether the reader stands in a row that is handed out.
    #[inline]
    pub(crate) fn in_row(&self) -> bool {
        self.options.rows && self.statement.depth > 0 && self.statement.phase == Phase::Values && !self.statement.skip
    }

    fn line(&mut self, window: &[u8]) -> Step {
        match scan::line_end(window, self.at) {
            Some(end) => {
                self.at = end;
                self.mode = Mode::Code;
                Step::Go
            }
            None => {
                self.at = window.len();
                Step::Hold(self.at)
            }
        }
    }

    fn block(&mut self, mut depth: u32, window: &[u8], last: bool) -> Step {
        while let Some(sign) = scan::comment_sign(window, self.at) {
            self.at = sign;
            match (window.get(sign), window.get(sign + 1)) {
                (_, None) if !last => break,
                (Some(b'*'), Some(b'/')) => {
                    self.at += 2;
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        self.mode = Mode::Code;
                        return Step::Go;
                    }
                }
                (Some(b'/'), Some(b'*')) if self.lexis.is_postgres() => {
                    self.at += 2;
                    depth = depth.saturating_add(1);
                }
                _ => self.at += 1,
            }
        }
        if scan::comment_sign(window, self.at).is_none() {
            self.at = window.len();
        }
        self.mode = Mode::Block { depth };
        Step::Hold(self.at)
    }

    fn long_word(&mut self, window: &[u8]) -> Step {
        self.at = scan::word_end(window, self.at);
        self.gather.extend(self.at);
        if self.at == window.len() {
            return Step::Hold(self.at);
        }
        self.mode = Mode::Code;
        Step::Go
    }

    fn long_name(&mut self, close: u8, window: &[u8], last: bool) -> Step {
        match scan::name_end(window, self.at, close, last) {
            Ok(end) => {
                self.at = end + 1;
                self.gather.extend(self.at);
                self.mode = Mode::Code;
                Step::Go
            }
            Err(from) => {
                self.at = from;
                Step::Hold(from)
            }
        }
    }

    /// Stops when names take too much, or when what follows can't be told apart.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let (limit, offset) = (self.options.names, self.offset + self.at as u64);
        if let Some(name) = self.lexis.ambiguous {
            return Err(Error::Encoding { offset, name });
        }
        if self.tables.cost > limit {
            return Err(Error::ManyNames { offset, limit });
        }
        Ok(())
    }

    /// The table of a cell.
    ///
    /// # Panics
    /// If the cell is another reader's.
    pub fn table(&self, id: TableId) -> &Table {
        &self.tables.list()[id.index()]
    }

    /// All tables that the dump has named so far.
    pub fn tables(&self) -> &[Table] {
        self.tables.list()
    }

    /// The dialect, as far as it is known. What is not recognised is read as MySQL's.
    pub fn dialect(&self) -> Option<Dialect> {
        self.lexis.dialect()
    }

    /// The charset in which the dump says that its literals are, from here on: a name of IANA, or `other` for one without
    /// such a name. `None` if it says nothing, or that they are bytes. `UTF-8` is named as well.
    pub fn charset(&self) -> Option<&'static str> {
        self.lexis.charset
    }

    /// The charset that the last `CREATE TABLE` gives its table, if it does: [`Reader::charset`] counts more.
    pub fn table_charset(&self) -> Option<&'static str> {
        self.lexis.table_charset
    }

    /// How the rows of the statement that is being read are laid out: as long as the number stays, table and
    /// columns are the same, in the same order. From 1 on.
    pub fn layout(&self) -> u64 {
        self.statement.layout
    }

    /// Passes over the values of the other rows of this statement: with [`Options::rows`], of a table that
    /// nobody wants.
    pub fn skip_rows(&mut self) {
        self.statement.skip = true;
        self.gather.clear();
    }

    /// Where the window of the next call begins in the dump.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Where a literal begins that the end of the dump cut off; known after [`Next::End`].
    pub fn unclosed(&self) -> Option<u64> {
        self.unclosed
    }
}
