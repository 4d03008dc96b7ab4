//! The options for how tables in CSV are written.

use icecore_csv::{Detector, Escape};

/// How a table is written; options that are not given are detected.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct CsvStyle {
    /// In csv and tsv: character between values, or `\t`
    ///
    /// If not given, csv detects it, and tsv uses a tab.
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
    pub delimiter: Option<u8>,
    /// In csv: character around values, or `none`; detected if not given
    #[arg(long, value_name = "CHAR", value_parser = parse_quote)]
    pub quote: Option<Quote>,
    /// In csv: how a quote inside quotes is written
    ///
    /// `doubled`, `backslash` before it, or `fputcsv`: as PHP's `fputcsv` does.
    #[arg(long, value_name = "HOW", value_parser = parse_escape)]
    pub escape: Option<Escape>,
}

/// The character around values, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote(pub Option<u8>);

fn parse_quote(text: &str) -> Result<Quote, String> {
    match text.as_bytes() {
        b"none" => Ok(Quote(None)),
        [byte @ (b'\\' | b'\n' | b'\r' | b'\t')] => Err(format!("{byte:?} has another meaning")),
        [byte] if byte.is_ascii() => Ok(Quote(Some(*byte))),
        _ => Err("use one ASCII character, or `none`".to_owned()),
    }
}

fn parse_escape(text: &str) -> Result<Escape, String> {
    match text {
        "doubled" => Ok(Escape::Doubled),
        "backslash" => Ok(Escape::Backslash),
        "fputcsv" => Ok(Escape::PhpFputcsv),
        _ => Err("use `doubled`, `backslash` or `fputcsv`".to_owned()),
    }
}

impl CsvStyle {
    /// Returns true if all options are given, so that nothing needs to be detected.
    pub fn is_complete(&self) -> bool {
        self.delimiter.is_some() && self.quote.is_some() && (self.escape.is_some() || self.quote == Some(Quote(None)))
    }

    /// Returns the detector for the options that are not given.
    pub fn to_detector(self) -> Detector {
        Detector { delimiter: self.delimiter, quote: self.quote.map(|quote| quote.0), escape: self.escape }
    }
}

/// Parses the character between values.
fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte @ (b'"' | b'\\' | b'\n' | b'\r')] => Err(format!("{byte:?} has another meaning")),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("use one ASCII character".to_owned()),
    }
}
