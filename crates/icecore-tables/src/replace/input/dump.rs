//! SQL dumps. The lexer runs in the reading thread, because each statement depends on the ones before it.

use super::InputBuffer;
use crate::pool::BatchReader;
use crate::replace::chunk::{Chunk, LocatedValue, ValueSyntax};
use crate::replace::plan::ReplacePlan;
use icecore_replace::CharsetEvidence;
use icecore_sql::{Kind, Literal, Next, Reader};
use std::io::{self, Read};
use std::sync::Arc;

/// A dump in chunks.
pub struct DumpCutter {
    input: InputBuffer,
    reader: Reader,
    plan: Arc<ReplacePlan>,
    /// The charsets of the dump at the last check. `rules` is the number of the rules for these charsets.
    charset: (Option<&'static str>, Option<&'static str>),
    rules: u16,
    /// Whether the dump is UTF-8, regardless of its declarations.
    is_utf8: bool,
    /// The state of columns by table and index. The index is the position in the row (`[0]`) or, if it is known, the
    /// number of the column in the table (`[1]`).
    column_states: Vec<Vec<[ColumnState; 2]>>,
    is_done: bool,
}

/// The known state of a column.
#[derive(Clone, Copy, Debug, Default)]
enum ColumnState {
    #[default]
    Unknown,
    /// The column is not changed.
    Unchanged,
    /// The column is changed. Contains its number in the plan.
    Changed(u32),
}

impl DumpCutter {
    /// Creates the reader. `is_utf8`: the dump was converted to UTF-8, regardless of its declarations.
    pub fn new(source: Box<dyn Read + Send>, chunk_len: usize, plan: Arc<ReplacePlan>, is_utf8: bool) -> DumpCutter {
        DumpCutter {
            input: InputBuffer::new(source, chunk_len),
            reader: Reader::new(),
            plan,
            charset: (None, None),
            rules: 0,
            is_utf8,
            column_states: Vec::new(),
            is_done: false,
        }
    }

    /// Finds the rules for the charset that the dump declares from here on.
    #[cold]
    fn find_rules(&mut self) -> io::Result<()> {
        self.charset = (self.reader.charset(), self.reader.table_charset());
        self.rules = match self.charset {
            _ if self.is_utf8 => 0,
            (Some(declared), _) => self.plan.rules.number_for_charset(Some(declared), CharsetEvidence::Declared)?,
            (None, table_charset) => self.plan.rules.number_for_charset(table_charset, CharsetEvidence::Likely)?,
        };
        Ok(())
    }

    /// Adds a literal, unless its column is not changed.
    fn push_literal(&mut self, literal: Literal, values: &mut Vec<LocatedValue>) -> io::Result<()> {
        let Literal { full_range: range, body, quoting, cell, .. } = literal;
        let Some(cell) = cell else {
            values.push(LocatedValue {
                range,
                body,
                syntax: ValueSyntax::Outside,
                place: 0,
                row: 0,
                rules: self.rules,
            });
            return Ok(());
        };
        if self.charset != (self.reader.charset(), self.reader.table_charset()) {
            self.find_rules()?;
        }
        let rules = self.rules;
        let table = cell.table.index();
        if self.column_states.len() <= table {
            self.column_states.resize(table + 1, Vec::new());
        }
        let Some(columns) = self.column_states.get_mut(table) else { return Ok(()) };
        let (index, is_named) = (cell.column.unwrap_or(cell.position) as usize, cell.column.is_some());
        if columns.len() <= index {
            columns.resize(index + 1, [ColumnState::Unknown; 2]);
        }
        let Some(state) = columns.get_mut(index).and_then(|column| column.get_mut(usize::from(is_named))) else {
            return Ok(());
        };
        if let ColumnState::Unknown = state {
            let table = self.reader.table(cell.table);
            let column = cell.column.and_then(|column| table.columns().get(column as usize));
            let name = column.map_or_else(|| (cell.position + 1).to_string(), |column| column.name().to_owned());
            let number = self.plan.places.number_place(table.schema(), table.name(), &name);
            // Numbers are not changed, although COPY writes them like text.
            let is_number = column.is_some_and(|column| column.kind() == Kind::Number);
            *state = number.filter(|_| !is_number).map_or(ColumnState::Unchanged, ColumnState::Changed);
        }
        if let ColumnState::Changed(place) = *state {
            values.push(LocatedValue {
                range,
                body,
                syntax: ValueSyntax::Sql(quoting),
                place,
                row: cell.row + 1,
                rules,
            });
        }
        Ok(())
    }
}

impl BatchReader for DumpCutter {
    type Batch = Chunk;

    fn fill_batch(&mut self, chunk: &mut Chunk) -> io::Result<bool> {
        if self.is_done {
            return Ok(false);
        }
        chunk.clear();
        let mut bytes = std::mem::take(&mut chunk.bytes);
        bytes.extend_from_slice(&self.input.rest);
        loop {
            if !self.input.is_end {
                self.input.read_more(&mut bytes)?;
            }
            let used = loop {
                let next = self.reader.next(&bytes, self.input.is_end);
                match next.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))? {
                    Next::Literal(literal) => self.push_literal(literal, &mut chunk.values)?,
                    Next::Value(_) => {}
                    Next::More { used } => break used,
                    Next::End => {
                        self.is_done = true;
                        chunk.unclosed = self.reader.unclosed_offset();
                        break bytes.len();
                    }
                }
            };
            if used > 0 || self.is_done {
                chunk.offset = self.input.offset;
                chunk.is_last_for_now = self.input.is_short;
                self.input.split_rest(&mut bytes, used);
                chunk.bytes = bytes;
                return Ok(true);
            }
        }
    }
}
