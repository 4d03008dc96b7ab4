//! The dialect of tables in CSV: given, or detected from their first bytes.

use crate::error::{Error, Result, io_reason};
use crate::packing::Head;
use crate::window::Window;
use icecore::{Document, Kind, Limits, detect};
use icecore_csv::{DetectedDialect, Detector, Next, Scanner};
use memchr::memmem;
use std::collections::HashMap;
use std::io::{self, Read};

/// Number of bytes of a table that are examined to detect its dialect. Evidence that occurs later is searched for in
/// the rest.
const SAMPLE_LEN: usize = 1 << 20;
/// Number of bytes at the start that are examined again together with later evidence.
const FRONT_LEN: usize = 64 << 10;

/// Determines the dialect of a table with this beginning. `reopen` opens it a second time from its beginning, if that
/// is possible: then all of it is examined.
pub fn determine_dialect(
    detector: Detector,
    head: &Head,
    reopen: impl Fn() -> io::Result<Option<Box<dyn Read + Send>>>,
) -> Result<DetectedDialect> {
    let sample = head.bytes.get(..SAMPLE_LEN).unwrap_or(&head.bytes);
    let is_all = head.is_complete && sample.len() == head.bytes.len();
    let mut detected = detect_dialect(detector, sample, is_all)?;
    let Some(quote) = detected.dialect.quote.filter(|_| detector.escape.is_none() && !is_all) else {
        return Ok(detected);
    };
    // A backslash before a quote shows how quotes are escaped. Up to the first one, all escape rules read the table
    // in the same way.
    let escape_sign = [b'\\', quote];
    if memmem::find(sample, &escape_sign).is_some() {
        return Ok(detected);
    }
    let usage_error = |error: io::Error| Error::Usage(io_reason(&error));
    let Some(input) = reopen().map_err(usage_error)? else { return Ok(detected) };
    let Some(escape_offset) = find_byte_pair(input, &escape_sign).map_err(usage_error)? else { return Ok(detected) };
    let Some(input) = reopen().map_err(usage_error)? else { return Ok(detected) };
    let (rows, is_all) = read_rows_from(input, escape_offset, detected).map_err(usage_error)?;
    let scanner = Scanner::new(detected.dialect);
    let front = whole_rows(&scanner, sample.get(detected.start..).unwrap_or_default(), FRONT_LEN);
    let detector = Detector { delimiter: Some(detected.dialect.delimiter), quote: Some(Some(quote)), escape: None };
    detected.dialect.escape = detect_dialect(detector, &[front, &rows].concat(), is_all)?.dialect.escape;
    Ok(detected)
}

/// Detects the dialect of a table with this beginning.
fn detect_dialect(detector: Detector, sample: &[u8], is_all: bool) -> Result<DetectedDialect> {
    let mut cache = FrozenCellCache::default();
    detector
        .detect(sample, is_all, &mut |text| cache.is_frozen(text))
        .map_err(|error| Error::Input(format!("{error}; --delimiter, --quote and --escape describe it")))
}

/// Returns the offset of the first occurrence of these two bytes in an input.
fn find_byte_pair(mut input: impl Read, escape_sign: &[u8; 2]) -> io::Result<Option<u64>> {
    let (mut block, mut block_offset, mut kept) = (vec![0; 1 << 18], 0u64, 0);
    loop {
        let count = match input.read(&mut block[kept..]) {
            Ok(0) => return Ok(None),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let bytes = &block[..kept + count];
        if let Some(index) = memmem::find(bytes, escape_sign) {
            return Ok(Some(block_offset + index as u64));
        }
        // The last byte is kept, because the two bytes may be split between blocks.
        block_offset += bytes.len() as u64 - 1;
        block[0] = bytes[bytes.len() - 1];
        kept = 1;
    }
}

/// Returns the rows of a table from the one that contains `offset` on, about as much as a sample, and whether nothing
/// follows.
fn read_rows_from(input: impl Read, offset: u64, detected: DetectedDialect) -> io::Result<(Vec<u8>, bool)> {
    let scanner = Scanner::new(detected.dialect);
    let mut window = Window::new(input, 1 << 18);
    while !window.is_end() && window.bytes().len() < detected.start {
        window.read_more()?;
    }
    window.consume(detected.start);
    loop {
        match scanner.find_row_end(window.bytes(), window.is_end()) {
            Next::Row { end } if window.offset() + end as u64 <= offset => window.consume(end),
            Next::More if window.bytes().len() < SAMPLE_LEN && !window.is_end() => window.read_more()?,
            _ => break,
        }
    }
    while !window.is_end() && window.bytes().len() < SAMPLE_LEN {
        window.read_more()?;
    }
    let is_all = window.is_end() && window.bytes().len() <= SAMPLE_LEN;
    Ok((window.bytes().get(..SAMPLE_LEN).unwrap_or(window.bytes()).to_vec(), is_all))
}

/// Returns the complete rows at the start of these bytes, up to about `max_len` bytes.
fn whole_rows<'b>(scanner: &Scanner, bytes: &'b [u8], max_len: usize) -> &'b [u8] {
    let mut end = 0;
    while let Next::Row { end: len } = scanner.find_row_end(bytes.get(end..).unwrap_or_default(), false) {
        if end + len > max_len {
            break;
        }
        end += len;
    }
    bytes.get(..end).unwrap_or_default()
}

/// Remembers which short cells are frozen data. The detector tries several dialects, and most of them cut the values
/// of a table into the same few pieces.
#[derive(Default)]
struct FrozenCellCache {
    is_frozen_by_cell: HashMap<Vec<u8>, bool>,
}

impl FrozenCellCache {
    /// Maximum length of a remembered cell, and maximum number of cells.
    const MAX_LEN: usize = 64;
    const MAX_COUNT: usize = 10_000;

    fn is_frozen(&mut self, text: &[u8]) -> bool {
        if text.len() > Self::MAX_LEN {
            return is_frozen_container(text);
        }
        if let Some(is_frozen) = self.is_frozen_by_cell.get(text) {
            return *is_frozen;
        }
        let is_frozen = is_frozen_container(text);
        if self.is_frozen_by_cell.len() < Self::MAX_COUNT {
            self.is_frozen_by_cell.insert(text.to_vec(), is_frozen);
        }
        is_frozen
    }
}

/// Returns whether a cell is a whole list, map or object in any format. Numbers and words prove nothing, because
/// they are cells in every dialect.
fn is_frozen_container(text: &[u8]) -> bool {
    let is_container = |read: Document<'_>| {
        let kind = read.root().kind();
        kind.is_container() || kind == Kind::Object
    };
    let is_whole = || icecore::read(text).is_ok_and(is_container);
    match detect::begins_frozen(text) {
        // Most cells have the format that their beginning indicates; trying all formats is slow.
        Some(stage) => icecore::read_as(text, &stage, &Limits::default()).is_ok_and(is_container) || is_whole(),
        None => matches!(text.first(), Some(b'{' | b'[')) && is_whole(),
    }
}

/// Returns the error for a row that is not in the dialect of the rows before it.
pub fn broken_row_error(row: u64, offset: u64) -> io::Error {
    let text = format!(
        "row {row}, at offset {offset}: something follows the last quote of a value, or that quote is missing; is the \
         table written in another way? --delimiter, --quote and --escape describe it"
    );
    io::Error::new(io::ErrorKind::InvalidData, text)
}
