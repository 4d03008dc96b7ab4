//! Statements with equal beginnings. Dumps with one statement for each row repeat the table and its columns each
//! time. So the result of parsing such a beginning is kept and used again.

use crate::statement::{Phase, Statement};
use crate::tables::TableId;

/// Maximum length of the beginning of a statement that is remembered.
const MAX_HEADER_LEN: usize = 1 << 14;

/// The beginning of the last statement with rows. It has the text up to `VALUES`, and the result of parsing this
/// text.
///
/// Any other statement that begins with a word may change the meaning of such a text.
#[derive(Debug, Default)]
pub(crate) struct Header {
    text: Vec<u8>,
    /// Offset in the dump of the start of the current statement.
    start: Option<u64>,
    table: Option<TableId>,
    has_column_list: bool,
    layout: u64,
    /// Whether `text` still has the meaning that it had in the last statement.
    is_valid: bool,
}

impl Header {
    /// Handles the first word of the statement that begins at `offset` in the dump.
    pub fn begin_statement(&mut self, word: &[u8], offset: u64) {
        self.is_valid = false;
        let has_rows = word.eq_ignore_ascii_case(b"insert") || word.eq_ignore_ascii_case(b"replace");
        self.start = has_rows.then_some(offset);
    }

    /// Forgets the beginning, because something else changed the meaning of texts.
    pub fn forget(&mut self) {
        self.is_valid = false;
        self.start = None;
    }

    /// Remembers a statement that was read up to its `VALUES`. `window` begins at `offset` in the dump, and `VALUES`
    /// ends at `end` in the window.
    pub fn remember_statement(&mut self, window: &[u8], offset: u64, end: usize, statement: &Statement) {
        let start = self.start.take().and_then(|start| usize::try_from(start.checked_sub(offset)?).ok());
        let text = start.and_then(|start| window.get(start..end)).filter(|text| text.len() <= MAX_HEADER_LEN);
        self.table = statement.table;
        self.has_column_list = statement.has_column_list;
        self.layout = statement.layout;
        self.is_valid = text.is_some() && statement.depth == 0;
        if text != Some(&self.text) {
            self.text.clear();
            self.text.extend_from_slice(text.unwrap_or_default());
        }
    }

    /// If the statement that starts here has the same beginning as the last one, returns the length of the beginning.
    pub fn match_repeated_header(&self, rest: &[u8], statement: &mut Statement) -> Option<usize> {
        if !self.is_valid {
            return None;
        }
        let byte_after = rest.strip_prefix(self.text.as_slice())?.first()?;
        if crate::scan::is_word_byte(*byte_after) || *byte_after == b'\'' {
            return None;
        }
        debug_assert_eq!(statement.phase, Phase::Start);
        statement.resume_rows(self.table, self.has_column_list, self.layout);
        Some(self.text.len())
    }
}
