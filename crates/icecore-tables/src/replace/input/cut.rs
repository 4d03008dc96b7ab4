//! Inputs that are cut between rows, or outside of matches.

use super::InputBuffer;
use crate::pool::BatchReader;
use crate::replace::chunk::Chunk;
use icecore_csv::{Next, Scanner};
use icecore_replace::Rules;
use memchr::{memchr, memchr_iter, memrchr};
use std::io::{self, Read};

/// Where an input may be cut.
pub enum Cut {
    /// After rows of CSV.
    Rows(Scanner),
    /// After the end of a line.
    Lines,
    /// Outside of matches.
    Text(Rules),
}

/// An input in chunks.
pub struct Cutter {
    input: InputBuffer,
    cut: Cut,
    /// Number of rows that were handed out.
    rows: u64,
    /// Length of the names of columns at the start of the rest.
    header: usize,
    /// Number of bytes before the rest that were handed out already and are only context. Used for plain text.
    context_len: usize,
}

impl Cutter {
    /// Cuts an input into pieces of about `chunk_len` bytes.
    pub fn new(source: Box<dyn Read + Send>, chunk_len: usize, cut: Cut) -> Cutter {
        let cut = match cut {
            // A regular expression matches within one line.
            Cut::Text(rules) if rules.max_lookahead().is_none() => Cut::Lines,
            cut => cut,
        };
        Cutter { input: InputBuffer::new(source, chunk_len), cut, rows: 0, header: 0, context_len: 0 }
    }

    /// Reads the first row. It begins at `start`, and has the names of the columns.
    pub fn read_header(&mut self, start: usize) -> io::Result<Vec<u8>> {
        let mut bytes = self.skip_to_start(start)?;
        loop {
            let rest = bytes.get(start..).unwrap_or_default();
            let end = match &self.cut {
                Cut::Rows(scanner) => find_row_ends(scanner, rest, self.input.is_end).next(),
                _ => memchr(b'\n', rest).map(|end| end + 1),
            };
            if end.is_some() || self.input.is_end {
                self.header = end.map_or(bytes.len(), |end| start + end);
                let row = bytes.get(start..self.header).unwrap_or_default().to_vec();
                self.input.rest = bytes;
                return Ok(row);
            }
            self.input.read_more(&mut bytes)?;
        }
    }

    /// Skips the bytes before `start`. Like the names of columns, they do not belong to a row. Returns the bytes that
    /// were read so far.
    fn skip_to_start(&mut self, start: usize) -> io::Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.input.rest);
        while bytes.len() < start && !self.input.is_end {
            self.input.read_more(&mut bytes)?;
        }
        self.header = start.min(bytes.len());
        Ok(bytes)
    }

    /// Begins a table without names of columns. The first row begins at `start`.
    pub fn begin_without_header(&mut self, start: usize) -> io::Result<()> {
        self.input.rest = self.skip_to_start(start)?;
        Ok(())
    }

    /// Returns where to cut these bytes, and the number of rows before that.
    fn find_cut(&self, bytes: &[u8]) -> Option<(usize, u64)> {
        let is_end = self.input.is_end;
        let rows = bytes.get(self.header..)?;
        // The names of columns are handed out alone if no row is complete yet.
        let header = (self.header > 0).then_some((self.header, 0));
        match &self.cut {
            Cut::Rows(scanner) => {
                let ends = find_row_ends(scanner, rows, is_end);
                let (last, count) = ends.fold((None, 0), |(_, count), end| (Some(self.header + end), count + 1));
                if is_end { Some((bytes.len(), count)) } else { last.map(|end| (end, count)).or(header) }
            }
            Cut::Lines => {
                let last = if is_end { Some(rows.len()) } else { memrchr(b'\n', rows).map(|end| end + 1) };
                let Some(end) = last else { return header };
                Some((self.header + end, memchr_iter(b'\n', rows.get(..end)?).count() as u64))
            }
            Cut::Text(_) if is_end => Some((bytes.len(), 0)),
            Cut::Text(rules) => find_text_cut(rules, bytes, self.context_len).map(|end| (end, 0)),
        }
    }
}

/// Returns the ends of rows.
fn find_row_ends(scanner: &Scanner, bytes: &[u8], is_end: bool) -> impl Iterator<Item = usize> {
    let mut offset = 0;
    std::iter::from_fn(move || match scanner.find_row_end(bytes.get(offset..)?, is_end) {
        Next::Row { end } => {
            offset += end;
            Some(offset)
        }
        Next::More | Next::End => None,
    })
}

/// Returns where a text may be cut. If a match can't be longer than a line, this is after a line. Otherwise it is
/// outside of matches, and before any match that may be incomplete.
fn find_text_cut(rules: &Rules, bytes: &[u8], context_len: usize) -> Option<usize> {
    let has_lines = !rules.pairs().iter().any(|pair| pair.old().contains(&b'\n'));
    if let (true, Some(end)) = (has_lines, memrchr(b'\n', bytes).filter(|end| *end >= context_len)) {
        return Some(end + 1);
    }
    let max_end = bytes.len().checked_sub(rules.max_lookahead()?)?;
    Some(rules.last_match_end(bytes, context_len, max_end).map_or(max_end, |end| end.max(max_end)))
}

impl BatchReader for Cutter {
    type Batch = Chunk;

    fn fill_batch(&mut self, chunk: &mut Chunk) -> io::Result<bool> {
        chunk.clear();
        let mut bytes = std::mem::take(&mut chunk.bytes);
        bytes.extend_from_slice(&self.input.rest);
        // After reading the header, its bytes may be all that is available for now.
        let mut must_read = self.header == 0;
        loop {
            if must_read && !self.input.is_end {
                self.input.read_more(&mut bytes)?;
            }
            must_read = true;
            if let Some((end, rows)) = self.find_cut(&bytes).filter(|(end, _)| *end > self.context_len) {
                self.fill_chunk(chunk, bytes, end, rows);
                return Ok(true);
            }
            if self.input.is_end {
                return Ok(false);
            }
        }
    }
}

impl Cutter {
    fn fill_chunk(&mut self, chunk: &mut Chunk, mut bytes: Vec<u8>, end: usize, rows: u64) {
        (chunk.offset, chunk.row, chunk.header) = (self.input.offset, self.rows, self.header);
        chunk.is_last_for_now = self.input.is_short;
        self.rows += rows;
        self.header = 0;
        if let Cut::Text(rules) = &self.cut {
            // This context shows the worker where a match is impossible.
            let after = rules.max_lookahead().unwrap_or_default().min(bytes.len().saturating_sub(end));
            let before = Rules::URL_CONTEXT_LEN.min(end);
            let next = bytes.get(end..end + after).unwrap_or_default().to_vec();
            chunk.context_lengths = (self.context_len, after);
            self.context_len = before;
            self.input.split_rest(&mut bytes, end - before);
            bytes.extend_from_slice(self.input.rest.get(..before).unwrap_or_default());
            bytes.extend_from_slice(&next);
        } else {
            self.input.split_rest(&mut bytes, end);
        }
        chunk.bytes = bytes;
    }
}
