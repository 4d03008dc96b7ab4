//! How tables in CSV are written: by the command line, or found out from their first bytes.

use crate::records::Window;
use crate::report::{Abort, code, io_reason};
use crate::unpack::Head;
use icecore::{Kind, detect};
use icecore_csv::{Detector, Escape, Found, Next, Scanner};
use memchr::memmem;
use std::io::{self, Read};

/// How much of a table is looked at to find out how it is written. What shows only later is looked for in the rest.
const SAMPLE: usize = 1 << 20;
/// How many rows of that are looked at once more, with what shows later.
const FRONT: usize = 64 << 10;

/// How a table is written; what is not given is found out.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct CsvStyle {
    /// In csv and tsv: what stands between values, a character or `\t`; if not given, csv shows it, and in tsv it is a tab
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// In csv: what stands around values, a character or `none`; if not given, the file shows it
    #[arg(long, value_name = "CHAR", value_parser = parse_quote)]
    pub quote: Option<Quote>,
    /// In csv: how a quote is written inside of quotes: `doubled`, `backslash` before it, or as `fputcsv` of PHP does
    #[arg(long, value_name = "HOW", value_parser = parse_escape)]
    pub escape: Option<Escape>,
}

/// What stands around values, if anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote(pub Option<u8>);

fn parse_quote(text: &str) -> Result<Quote, String> {
    match text.as_bytes() {
        b"none" => Ok(Quote(None)),
        [byte @ (b'\\' | b'\n' | b'\r' | b'\t')] => Err(format!("{byte:?} has another meaning")),
        [byte] if byte.is_ascii() => Ok(Quote(Some(*byte))),
        _ => Err("it is one ASCII character, or `none`".to_owned()),
    }
}

fn parse_escape(text: &str) -> Result<Escape, String> {
    match text {
        "doubled" => Ok(Escape::Doubled),
        "backslash" => Ok(Escape::Backslash),
        "fputcsv" => Ok(Escape::Guarded),
        _ => Err("it is `doubled`, `backslash` or `fputcsv`".to_owned()),
    }
}

impl CsvStyle {
    /// Whether all is said: then nothing needs to be found out.
    pub fn is_complete(&self) -> bool {
        self.delimiter.is_some() && self.quote.is_some() && (self.escape.is_some() || self.quote == Some(Quote(None)))
    }

    fn detector(&self) -> Detector {
        Detector { delimiter: self.delimiter, quote: self.quote.map(|quote| quote.0), escape: self.escape }
    }

    /// How a table is written that begins with these bytes. `again` opens it once more from its beginning, if that can be
    /// done: then all of it is looked at.
    pub fn settle(
        &self,
        head: &Head,
        again: impl Fn() -> io::Result<Option<Box<dyn Read + Send>>>,
    ) -> Result<Found, Abort> {
        let sample = head.bytes.get(..SAMPLE).unwrap_or(&head.bytes);
        let is_all = head.is_all && sample.len() == head.bytes.len();
        let mut found = detect(self.detector(), sample, is_all)?;
        let Some(quote) = found.dialect.quote.filter(|_| self.escape.is_none() && !is_all) else { return Ok(found) };
        // A backslash before a quote tells how quotes are escaped; up to there all escapes are read alike.
        let sign = [b'\\', quote];
        if memmem::find(sample, &sign).is_some() {
            return Ok(found);
        }
        let failed = |error: io::Error| Abort::Failed(code::USAGE, io_reason(&error));
        let Some(input) = again().map_err(failed)? else { return Ok(found) };
        let Some(place) = find_in(input, &sign).map_err(failed)? else { return Ok(found) };
        let Some(input) = again().map_err(failed)? else { return Ok(found) };
        let (rows, is_all) = rows_at(input, place, found).map_err(failed)?;
        let scanner = Scanner::new(found.dialect);
        let front = whole_rows(&scanner, sample.get(found.start..).unwrap_or_default(), FRONT);
        let detector = Detector { delimiter: Some(found.dialect.delimiter), quote: Some(Some(quote)), escape: None };
        found.dialect.escape = detect(detector, &[front, &rows].concat(), is_all)?.dialect.escape;
        Ok(found)
    }
}

/// How a table is written that begins with these bytes.
fn detect(detector: Detector, sample: &[u8], is_all: bool) -> Result<Found, Abort> {
    detector.detect(sample, is_all, &mut is_frozen).map_err(|unclear| {
        Abort::Failed(code::INPUT, format!("{unclear}; --delimiter, --quote and --escape say how it is written"))
    })
}

/// Where this sign of two bytes is first in an input.
fn find_in(mut input: impl Read, sign: &[u8; 2]) -> io::Result<Option<u64>> {
    let (mut block, mut before, mut kept) = (vec![0; 1 << 18], 0u64, 0);
    loop {
        let count = match input.read(&mut block[kept..]) {
            Ok(0) => return Ok(None),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let bytes = &block[..kept + count];
        if let Some(at) = memmem::find(bytes, sign) {
            return Ok(Some(before + at as u64));
        }
        // It may be cut in two.
        before += bytes.len() as u64 - 1;
        block[0] = bytes[bytes.len() - 1];
        kept = 1;
    }
}

/// The rows of a table from the one on in which this place is, about as much as a sample; and whether nothing follows.
fn rows_at(input: impl Read, place: u64, found: Found) -> io::Result<(Vec<u8>, bool)> {
    let scanner = Scanner::new(found.dialect);
    let mut window = Window::new(input, 1 << 18);
    while !window.is_end() && window.bytes().len() < found.start {
        window.more()?;
    }
    window.take(found.start);
    loop {
        match scanner.find_row_end(window.bytes(), window.is_end()) {
            Next::Row { end } if window.offset() + end as u64 <= place => window.take(end),
            Next::More if window.bytes().len() < SAMPLE && !window.is_end() => window.more()?,
            _ => break,
        }
    }
    while !window.is_end() && window.bytes().len() < SAMPLE {
        window.more()?;
    }
    let is_all = window.is_end() && window.bytes().len() <= SAMPLE;
    Ok((window.bytes().get(..SAMPLE).unwrap_or(window.bytes()).to_vec(), is_all))
}

/// The rows that begin these bytes and are there as a whole, about so many bytes.
fn whole_rows<'b>(scanner: &Scanner, bytes: &'b [u8], most: usize) -> &'b [u8] {
    let mut end = 0;
    while let Next::Row { end: len } = scanner.find_row_end(bytes.get(end..).unwrap_or_default(), false) {
        if end + len > most {
            break;
        }
        end += len;
    }
    bytes.get(..end).unwrap_or_default()
}

/// Whether a cell is frozen data, and more than a number or a word.
fn is_frozen(text: &[u8]) -> bool {
    let is_container = |kind: Kind| kind.is_container() || kind == Kind::Object;
    detect::begins_frozen(text).is_some() && icecore::read(text).is_ok_and(|read| is_container(read.root().kind()))
}

/// A row that is not written as the rows before.
pub fn broken(row: u64, offset: u64) -> io::Error {
    let text = format!(
        "row {row}, at offset {offset}: something follows the last quote of a value, or that quote is missing; is the \
         table written in another way? --delimiter, --quote and --escape say how"
    );
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// A character that stands between values.
fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte @ (b'"' | b'\\' | b'\n' | b'\r')] => Err(format!("{byte:?} has another meaning")),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("it is one ASCII character".to_owned()),
    }
}
