//! RFC 4180, as `csv-core` reads it. Rows that are written as the RFC says are taken by a quick way.

use crate::commands::rows::batch::{Batch, Cell, Sort};
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use icecore::raw::near;

/// The reader, and room for one row.
pub struct Csv {
    reader: Reader,
    cells: Vec<u8>,
    ends: Vec<usize>,
    /// Whether it stands in the middle of a row.
    is_inside: bool,
    delimiter: u8,
    /// Whether there was a row before.
    has_row: bool,
    /// Whether the next row may be taken quickly: the first one has a mark of its encoding, perhaps.
    is_quick: bool,
}

impl Csv {
    pub fn new(delimiter: u8) -> Csv {
        let reader = ReaderBuilder::new().delimiter(delimiter).build();
        Csv {
            reader,
            cells: vec![0; 4096],
            ends: vec![0; 64],
            is_inside: false,
            delimiter,
            has_row: false,
            is_quick: false,
        }
    }

    /// Reads one row from the start of these bytes. Returns how many it took; `None`: it
    /// is not complete.
    pub fn row(&mut self, bytes: &[u8], is_end: bool, offset: u64, batch: &mut Batch) -> Option<usize> {
        if self.is_quick {
            let start = batch.bytes.len();
            if let Some(taken) = self.quick(bytes, batch) {
                batch.end_row(offset);
                return Some(taken);
            }
            batch.take_back(start);
        }
        let taken = self.reference(bytes, is_end, offset, batch);
        self.is_quick = taken.is_some() && !matches!(self.delimiter, b'"' | b'\n' | b'\r');
        taken
    }

    /// Reads a row whose cells are in quotes as a whole or not at all, and that ends in view; nothing else. Cells that it
    /// added of another row have to be taken back.
    fn quick(&self, bytes: &[u8], batch: &mut Batch) -> Option<usize> {
        if matches!(bytes.first(), Some(b'\n' | b'\r')) {
            return None;
        }
        let mut at = 0;
        loop {
            let start = batch.bytes.len();
            let rest = bytes.get(at..)?;
            let end = if rest.first() == Some(&b'"') {
                quoted(bytes, at + 1, batch)?
            } else {
                let len = near(rest, [self.delimiter, b'\n', b'\r'])?;
                batch.bytes.extend_from_slice(&rest[..len]);
                at + len
            };
            batch.push_cell(start, Sort::Text);
            match *bytes.get(end)? {
                b'\n' => return Some(end + 1),
                b'\r' => return (*bytes.get(end + 1)? == b'\n').then_some(end + 2),
                byte if byte == self.delimiter => at = end + 1,
                _ => return None,
            }
        }
    }

    /// The same of any row, by `csv-core`.
    fn reference(&mut self, bytes: &[u8], is_end: bool, offset: u64, batch: &mut Batch) -> Option<usize> {
        let (mut read, mut written, mut count) = (0, 0, 0);
        if self.is_inside {
            self.reader.reset();
            if self.has_row {
                // What begins no input has no mark of its encoding: these bytes are of a cell.
                self.reader.read_record(b"\n", &mut self.cells, &mut self.ends);
            }
        }
        self.is_inside = true;
        loop {
            let rest = bytes.get(read..).unwrap_or(&[]);
            if rest.is_empty() && !is_end {
                return None;
            }
            let (result, took, wrote, ended) =
                self.reader.read_record(rest, &mut self.cells[written..], &mut self.ends[count..]);
            read += took;
            written += wrote;
            count += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.cells.resize(self.cells.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return None,
            }
        }
        (self.is_inside, self.has_row) = (false, true);
        let start = batch.bytes.len();
        batch.bytes.extend_from_slice(&self.cells[..written]);
        let mut before = 0;
        for end in &self.ends[..count] {
            let cell = |at: usize| (start + at) as u32;
            batch.cells.push(Cell { start: cell(before), end: cell(*end), sort: Sort::Text });
            before = *end;
        }
        // Line ends before the row are none of it.
        let blank = bytes.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        batch.end_row(offset + blank as u64);
        Some(read)
    }
}

/// Reads what stands in quotes from here on. Returns what is behind them.
fn quoted(bytes: &[u8], mut at: usize, batch: &mut Batch) -> Option<usize> {
    loop {
        let rest = bytes.get(at..)?;
        let len = near(rest, [b'"'])?;
        if rest.get(len + 1)? != &b'"' {
            batch.bytes.extend_from_slice(&rest[..len]);
            return Some(at + len + 1);
        }
        batch.bytes.extend_from_slice(&rest[..=len]);
        at += len + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cells of all rows, read with so many bytes in view at first, and as many more whenever that is too few.
    fn rows(text: &[u8], view: usize, is_quick: bool) -> Vec<Vec<Vec<u8>>> {
        let mut csv = Csv::new(b',');
        let mut batch = Batch::default();
        let (mut at, mut len) = (0, view);
        while at < text.len() {
            let end = (at + len).min(text.len());
            let start = batch.bytes.len();
            csv.is_quick &= is_quick;
            match csv.row(&text[at..end], end == text.len(), at as u64, &mut batch) {
                Some(taken) => (at, len) = (at + taken, view),
                None if end == text.len() => break,
                None => {
                    batch.take_back(start);
                    len += view;
                }
            }
        }
        (0..batch.rows()).map(|row| batch.row(row).0.iter().map(|cell| batch.cell(*cell).to_vec()).collect()).collect()
    }

    #[test]
    fn the_quick_way_is_that_of_the_reference() {
        let pieces =
            ["\"", "\"\"", ",", "\n", "\r\n", "\r", "a", "bc d", "\",\"", "\"\n\"", "\u{feff}", ";", "\"x\"\"y\""];
        let mut state = 1u64;
        let mut below = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % most
        };
        let mut taken = 0;
        for round in 0..4000 {
            let text: String = (0..1 + below(30)).map(|_| pieces[below(pieces.len())]).collect();
            let view = if round % 2 == 0 { 1 + below(8) } else { text.len() };
            let reference = rows(text.as_bytes(), view, false);
            assert_eq!(rows(text.as_bytes(), view, true), reference, "{text:?}, {view}");
            taken += reference.len();
        }
        assert!(taken > 10_000, "only {taken} rows");
    }
}
