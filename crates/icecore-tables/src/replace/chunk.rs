//! A part of an input on its way from the reader to the writer.

use super::change_counts::ChangeCounts;
use super::lines::Damage;
use icecore_sql::Quoting;
use std::ops::Range;

/// A part of an input, cut so that no value is split.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Its bytes, as they were read.
    pub bytes: Vec<u8>,
    /// The values in it, in order, as far as the reader knows them.
    pub values: Vec<LocatedValue>,
    /// Its offset in the input.
    pub offset: u64,
    /// Number of earlier rows.
    pub row: u64,
    /// Number of bytes at its start that are the names of columns and not a row.
    pub header: usize,
    /// Number of bytes before and after the chunk that are only context. Used for plain text.
    pub context_lengths: (usize, usize),
    /// Whether the reader may have to wait for more input after this chunk.
    pub is_last_for_now: bool,
    /// Offset of a literal that the end of the input cuts off.
    pub unclosed: Option<u64>,
    /// Number and offset of a row that is not in the dialect of the table.
    pub broken_row: Option<(u64, u64)>,
    /// Places in the input at which a change has another length than the old text. Used for plain text.
    pub growing: Vec<u64>,
    /// Strings of serialize() that begin in the chunk, as ranges in the input. Used for plain text.
    pub frozen: Vec<Range<u64>>,
    /// Place in its bytes of frozen data that contradicts the assumed form of the input.
    pub conflict: Option<usize>,
    /// Place in its bytes of a plain text in which a serialized value gets a wrong length.
    pub suspect: Option<usize>,
    /// Place of a change that would affect a number or a mark of a value from an earlier chunk. Used for plain text.
    pub split_change: Option<usize>,
    /// Whether a value may begin in the chunk and end after it. Used for plain text.
    pub is_cut_off: bool,
    /// The changed bytes. It is empty if nothing changes.
    pub out: Vec<u8>,
    /// Whether `out` contains the bytes to write.
    pub is_changed: bool,
    /// The output of a dry run.
    pub dry_run_output: Vec<u8>,
    /// The counts of this chunk.
    pub counts: ChangeCounts,
}

impl Chunk {
    /// Empties the chunk, but keeps its memory unless that is large.
    pub fn clear(&mut self) {
        const MAX_KEPT_MEMORY: usize = 4 << 20;
        for buffer in [&mut self.bytes, &mut self.out, &mut self.dry_run_output] {
            buffer.clear();
            buffer.shrink_to(MAX_KEPT_MEMORY);
        }
        self.values.clear();
        self.growing.clear();
        self.frozen.clear();
        (self.header, self.context_lengths, self.is_last_for_now) = (0, (0, 0), false);
        (self.unclosed, self.broken_row, self.is_changed) = (None, None, false);
        (self.conflict, self.suspect, self.split_change, self.is_cut_off) = (None, None, None, false);
        self.counts = ChangeCounts::default();
    }

    /// Records the effects that changes of plain text have on serialized values.
    pub fn set_damage(&mut self, damage: Damage) {
        (self.suspect, self.split_change, self.is_cut_off) =
            (damage.damaging_change, damage.split_change, damage.is_cut_off);
    }

    /// Returns the bytes to write.
    pub fn output_bytes(&self) -> &[u8] {
        if self.is_changed { &self.out } else { self.bytes.get(self.own_range()).unwrap_or_default() }
    }

    /// Returns the range of its own bytes.
    pub fn own_range(&self) -> Range<usize> {
        self.context_lengths.0..self.bytes.len().saturating_sub(self.context_lengths.1)
    }
}

/// A value in a chunk.
#[derive(Clone, Debug)]
pub struct LocatedValue {
    /// Its range with quotes.
    pub range: Range<usize>,
    /// Its range without quotes.
    pub body: Range<usize>,
    /// How it is written.
    pub syntax: ValueSyntax,
    /// The number of its table and column in the `ColumnRegistry`.
    pub place: u32,
    /// Its row, from 1 on; 0 if there are none.
    pub row: u64,
    /// The number of the rules for its charset.
    pub rules: u16,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueSyntax {
    /// A literal of a dump.
    Sql(Quoting),
    /// A cell of CSV, in quotes or not.
    Csv {
        /// Whether it has quotes around it.
        is_quoted: bool,
    },
    /// A cell with backslashes.
    Tsv,
    /// A JSON value.
    Json,
    /// A literal of a statement outside of rows. It is not changed.
    Outside,
}
