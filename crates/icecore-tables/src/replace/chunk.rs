//! A part of an input on its way from the reader to the writer.

use super::account::Account;
use icecore_sql::Quoting;
use std::ops::Range;

/// A part of an input, cut where nothing is cut in two.
#[derive(Debug, Default)]
pub struct Chunk {
    /// Its bytes, as they were read.
    pub bytes: Vec<u8>,
    /// The values in it, in order, as far as the reader knows them.
    pub pieces: Vec<Piece>,
    /// Where it starts in the input.
    pub offset: u64,
    /// How many rows came before.
    pub row: u64,
    /// How many bytes at the start of the chunk are the names of columns, and not a row.
    pub header: usize,
    /// Of plain text: how many bytes before and after it are only to be looked at.
    pub beside: (usize, usize),
    /// Whether the reader may have to wait for more.
    pub is_last_for_now: bool,
    /// Where a literal starts that the end of the input cuts off.
    pub unclosed: Option<u64>,
    /// Which row is not written as the table is, and where it starts.
    pub broken_row: Option<(u64, u64)>,
    /// Of plain text: where in the input it changes its length.
    pub growing: Vec<u64>,
    /// Of plain text: the strings of serialize() that begin in it, as places in the input.
    pub frozen: Vec<Range<u64>>,
    /// Where frozen data is in its bytes that contradicts how the input was taken.
    pub conflict: Option<usize>,
    /// Where a plain text is in its bytes in which something serialized gets a wrong length.
    pub suspect: Option<usize>,
    /// The changed bytes; the bytes as they are, if nothing changes.
    pub out: Vec<u8>,
    /// Whether `out` has what is to be written.
    pub is_changed: bool,
    /// What a dry run shows.
    pub shown: Vec<u8>,
    /// What was counted in it.
    pub account: Account,
}

impl Chunk {
    /// Empties it, but keeps its memory, unless that is much.
    pub fn clear(&mut self) {
        const MUCH: usize = 4 << 20;
        for buffer in [&mut self.bytes, &mut self.out, &mut self.shown] {
            buffer.clear();
            buffer.shrink_to(MUCH);
        }
        self.pieces.clear();
        self.growing.clear();
        self.frozen.clear();
        (self.header, self.beside, self.is_last_for_now) = (0, (0, 0), false);
        (self.unclosed, self.broken_row, self.is_changed) = (None, None, false);
        (self.conflict, self.suspect) = (None, None);
        self.account = Account::default();
    }

    /// What is to be written.
    pub fn result(&self) -> &[u8] {
        if self.is_changed { &self.out } else { self.bytes.get(self.own()).unwrap_or_default() }
    }

    /// Where its own bytes are.
    pub fn own(&self) -> Range<usize> {
        self.beside.0..self.bytes.len().saturating_sub(self.beside.1)
    }
}

/// A value.
#[derive(Clone, Debug)]
pub struct Piece {
    /// With its quotes.
    pub whole: Range<usize>,
    /// Without.
    pub body: Range<usize>,
    /// How it is written.
    pub manner: Manner,
    /// Which table and column.
    pub place: u32,
    /// Which row, from 1 on; 0, if there are none.
    pub row: u64,
    /// The number of the rules for its charset.
    pub rules: u16,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// A literal of a dump.
    Sql(Quoting),
    /// A cell of CSV, in quotes or not.
    Csv {
        /// Whether quotes stand around it.
        is_quoted: bool,
    },
    /// A cell with backslashes.
    Tsv,
    /// A value of JSON.
    Json,
    /// A literal of a statement that is not a row: it stays.
    Outside,
}
