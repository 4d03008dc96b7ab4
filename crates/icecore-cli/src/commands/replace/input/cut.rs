//! Inputs that are cut between rows, or where no match is.

use super::Ahead;
use crate::commands::replace::chunk::Chunk;
use crate::pool::Batches;
use icecore_replace::Rules;
use memchr::{memchr_iter, memchr2_iter, memrchr};
use std::io::{self, Read};

/// Where an input may be cut.
pub enum Cut {
    /// Behind the end of a line that is not in quotes.
    Rows,
    /// Behind the end of a line.
    Lines,
    /// Where no match is.
    Text(Rules),
}

/// An input in chunks.
pub struct Cutter {
    ahead: Ahead,
    cut: Cut,
    rows: u64,
    header: usize,
    /// Of plain text: how many bytes of what was handed out stand before the rest, to be looked at.
    before: usize,
}

impl Cutter {
    pub fn new(from: Box<dyn Read + Send>, chunk: usize, cut: Cut) -> Cutter {
        let cut = match cut {
            // A regular expression sees a line at a time.
            Cut::Text(rules) if rules.reach().is_none() => Cut::Lines,
            cut => cut,
        };
        Cutter { ahead: Ahead::new(from, chunk), cut, rows: 0, header: 0, before: 0 }
    }

    /// The first row, which has the names of the columns.
    pub fn header(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = std::mem::take(&mut self.ahead.rest);
        loop {
            let end = match self.cut {
                Cut::Rows => row_ends(&bytes).next(),
                _ => memchr_iter(b'\n', &bytes).next(),
            };
            if end.is_some() || self.ahead.is_end {
                self.header = end.map_or(bytes.len(), |end| end + 1);
                let row = bytes.get(..self.header).unwrap_or_default().to_vec();
                self.ahead.rest = bytes;
                return Ok(row);
            }
            self.ahead.more(&mut bytes)?;
        }
    }

    /// Where to cut these bytes, and how many rows are before that.
    fn place(&self, bytes: &[u8]) -> Option<(usize, u64)> {
        let is_end = self.ahead.is_end;
        match &self.cut {
            Cut::Rows => {
                let (last, count) = row_ends(bytes).fold((None, 0), |(_, count), end| (Some(end + 1), count + 1));
                if is_end { Some((bytes.len(), count)) } else { last.map(|end| (end, count)) }
            }
            Cut::Lines => {
                let end = if is_end { bytes.len() } else { memrchr(b'\n', bytes)? + 1 };
                Some((end, memchr_iter(b'\n', bytes.get(..end)?).count() as u64))
            }
            Cut::Text(_) if is_end => Some((bytes.len(), 0)),
            Cut::Text(rules) => text(rules, bytes, self.before).map(|end| (end, 0)),
        }
    }
}

/// The ends of lines outside of quotes.
fn row_ends(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let mut is_quoted = false;
    memchr2_iter(b'"', b'\n', bytes).filter(move |at| {
        let is_quote = bytes.get(*at) == Some(&b'"');
        is_quoted ^= is_quote;
        !is_quote && !is_quoted
    })
}

/// Where a text may be cut: behind a line, if a match is never longer; else where no match is,
/// and none can begin that is not there as a whole.
fn text(rules: &Rules, bytes: &[u8], before: usize) -> Option<usize> {
    let has_lines = !rules.pairs().iter().any(|pair| pair.old().contains(&b'\n'));
    if let (true, Some(end)) = (has_lines, memrchr(b'\n', bytes).filter(|end| *end >= before)) {
        return Some(end + 1);
    }
    let most = bytes.len().checked_sub(rules.reach()?)?;
    let found = rules.matches_from(bytes, before).take_while(|found| found.start < most).last();
    Some(found.map_or(most, |found| found.end.max(most)))
}

impl Batches for Cutter {
    type Batch = Chunk;

    fn fill(&mut self, chunk: &mut Chunk) -> io::Result<bool> {
        chunk.clear();
        let mut bytes = std::mem::take(&mut chunk.bytes);
        bytes.extend_from_slice(&self.ahead.rest);
        // What was read for the header may be all there is for now.
        let mut reads = self.header == 0;
        loop {
            if reads && !self.ahead.is_end {
                self.ahead.more(&mut bytes)?;
            }
            reads = true;
            if let Some((end, rows)) = self.place(&bytes).filter(|(end, _)| *end > self.before) {
                self.hand_out(chunk, bytes, end, rows);
                return Ok(true);
            }
            if self.ahead.is_end {
                return Ok(false);
            }
        }
    }
}

impl Cutter {
    fn hand_out(&mut self, chunk: &mut Chunk, mut bytes: Vec<u8>, end: usize, rows: u64) {
        (chunk.offset, chunk.row, chunk.header) = (self.ahead.offset, self.rows, self.header);
        chunk.is_last_for_now = self.ahead.is_short;
        // The names of the columns are no row.
        self.rows += rows - u64::from(self.header > 0 && rows > 0);
        self.header = 0;
        if let Cut::Text(rules) = &self.cut {
            // So that the worker sees of what is no match, that it is none.
            let behind = rules.reach().unwrap_or_default().min(bytes.len().saturating_sub(end));
            let before = Rules::BESIDE.min(end);
            let next = bytes.get(end..end + behind).unwrap_or_default().to_vec();
            chunk.beside = (self.before, behind);
            self.before = before;
            self.ahead.split(&mut bytes, end - before);
            bytes.extend_from_slice(self.ahead.rest.get(..before).unwrap_or_default());
            bytes.extend_from_slice(&next);
        } else {
            self.ahead.split(&mut bytes, end);
        }
        chunk.bytes = bytes;
    }
}
