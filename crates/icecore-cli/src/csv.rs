//! How tables in CSV are written: by the command line, or found out from their first bytes.

use crate::report::{Abort, code};
use icecore::{Kind, detect};
use icecore_csv::{Detector, Escape, Found};
use std::io;

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
    /// How a table is written that begins with these bytes; `is_all`: nothing follows them.
    pub fn detect(&self, head: &[u8], is_all: bool) -> Result<Found, Abort> {
        let quote = self.quote.map(|quote| quote.0);
        let detector = Detector { delimiter: self.delimiter, quote, escape: self.escape };
        detector.detect(head, is_all, &mut is_frozen).map_err(|unclear| {
            Abort::Failed(code::INPUT, format!("{unclear}; --delimiter, --quote and --escape say how it is written"))
        })
    }
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
