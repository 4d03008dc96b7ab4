//! Statements that begin alike: dumps with a statement for each row repeat the table and its
//! columns each time.

use crate::statement::{Phase, Statement};
use crate::tables::TableId;

/// How long the beginning of a statement may be to be remembered.
const MAX_HEADER: usize = 1 << 14;

/// How the last statement with rows began: its text up to `VALUES`, and what it came to.
///
/// Any other statement that begins with a word may change what such a text means.
#[derive(Debug, Default)]
pub(crate) struct Header {
    text: Vec<u8>,
    /// Where the statement began that is being read, in the dump.
    start: Option<u64>,
    table: Option<TableId>,
    listed: bool,
    layout: u64,
    /// The columns are still those of `text`.
    valid: bool,
}

impl Header {
    /// A statement begins with this word.
    pub fn begin(&mut self, word: &[u8], offset: u64) {
        self.valid = false;
        let rows = word.eq_ignore_ascii_case(b"insert") || word.eq_ignore_ascii_case(b"replace");
        self.start = rows.then_some(offset);
    }

    /// Something else changed what texts mean.
    pub fn forget(&mut self) {
        self.valid = false;
        self.start = None;
    }

    /// `VALUES` was read. `window` begins at `offset` of the dump and is read up to `at`.
    pub fn remember(&mut self, window: &[u8], offset: u64, at: usize, statement: &Statement) {
        let start = self.start.take().and_then(|start| usize::try_from(start.checked_sub(offset)?).ok());
        let text = start.and_then(|start| window.get(start..at)).filter(|text| text.len() <= MAX_HEADER);
        self.table = statement.table;
        self.listed = statement.listed;
        self.layout = statement.layout;
        self.valid = text.is_some() && statement.depth == 0;
        if text != Some(&self.text) {
            self.text.clear();
            self.text.extend_from_slice(text.unwrap_or_default());
        }
    }

    /// The statement that begins here begins as the last one: how long that is.
    pub fn again(&self, rest: &[u8], statement: &mut Statement) -> Option<usize> {
        if !self.valid {
            return None;
        }
        let behind = rest.strip_prefix(self.text.as_slice())?.first()?;
        if crate::scan::is_word(*behind) || *behind == b'\'' {
            return None;
        }
        debug_assert_eq!(statement.phase, Phase::Start);
        statement.again(self.table, self.listed, self.layout);
        Some(self.text.len())
    }
}
