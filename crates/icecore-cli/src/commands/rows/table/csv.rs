//! RFC 4180, as `csv-core` reads it.

use crate::commands::rows::batch::{Batch, Cell, Sort};
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// The reader, and room for one row.
pub struct Csv {
    reader: Reader,
    cells: Vec<u8>,
    ends: Vec<usize>,
    /// Whether it stands in the middle of a row.
    is_inside: bool,
}

impl Csv {
    pub fn new(delimiter: u8) -> Csv {
        let reader = ReaderBuilder::new().delimiter(delimiter).build();
        Csv { reader, cells: vec![0; 4096], ends: vec![0; 64], is_inside: false }
    }

    /// Reads one row from the start of these bytes. Returns how many it took; `None`: it
    /// is not complete.
    pub fn row(&mut self, bytes: &[u8], is_end: bool, offset: u64, batch: &mut Batch) -> Option<usize> {
        let (mut read, mut written, mut count) = (0, 0, 0);
        if self.is_inside {
            self.reader.reset();
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
        self.is_inside = false;
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
