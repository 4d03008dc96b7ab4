//! Ruby's Marshal, version 4.8: what `Marshal.dump` writes.
//!
//! ```
//! use icecore::{Limits, marshal};
//! let bytes = b"\x04\x08{\x06:\x07idi\x0c";
//! let document = marshal::read(bytes, &marshal::ReadOptions::default(), &Limits::default())?;
//! assert_eq!(document.root().get("id").and_then(|id| id.as_i64()), Some(7));
//!
//! let mut out = Vec::new();
//! marshal::write(&document, &marshal::WriteOptions::default(), &Limits::default(), &mut out)?;
//! assert_eq!(out, bytes);
//! # Ok::<(), icecore::Error>(())
//! ```
//!
//! `FORMAT.md` beside this file has the facts.

mod attributes;
mod fast;
mod keys;
mod number;
mod options;
mod read;
mod scalars;
mod spelling;
mod symbols;
mod write;
mod write_fast;
mod write_floats;
mod write_leaves;
mod write_names;

pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use super::{Certainty, Format, Guess, Outcome, Request, Rest, Scan};
use crate::document::{Detailed, Document, Receive, Sink, Tape, Windows};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};
use read::Reader;
use std::sync::OnceLock;

const NAME: &str = "marshal";
const MAJOR: u8 = 4;
/// The highest minor version that Ruby reads, and the one that it writes.
const MINOR: u8 = 8;

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "Ruby's Marshal, version 4.8",
    options: options::OPTIONS,
    page: include_str!("FORMAT.md"),
    detect,
    read: read_row,
    windows: Some(windows),
    write: write_row,
    write_part: None,
};

/// Reads a dump, of which nothing may be left.
///
/// # Errors
/// Of any kind but `Usage`, `Unrepresentable` and `Output`; with offset and
/// path.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    read_outcome(input, options, Request::new(limits)).whole(input, NAME)
}

/// Reads a dump from the start of the input.
pub fn read_outcome<'a>(input: &'a [u8], _options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, mut tape } = request;
    tape.clear();
    if !detail {
        let (consumed, error) = feed(input, limits, &mut tape);
        return Outcome { document: Document::new(input, tape), consumed, error };
    }
    let mut sink = Detailed { tape, ..Detailed::default() };
    let (consumed, error) = feed(input, limits, &mut sink);
    if error.is_some() {
        for extent in &mut sink.detail.trace.extents {
            if extent.end == 0 {
                extent.end = consumed as u64;
            }
        }
    }
    Outcome { document: Document::detailed(input, sink), consumed, error }
}

/// Feeds the sink with a dump; says how far it came, and what stopped it.
fn feed<S: Sink>(input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
    let mut scan = Scan::new(input);
    if let Err(error) = header(&mut scan, sink) {
        return (scan.at, Some(error));
    }
    let mut reader = Reader::new(scan, limits, sink);
    let result = reader.run();
    let consumed = reader.scan.at;
    let error = result.err().map(|error| {
        let next = reader.sink.tape().len();
        let path = reader.sink.tape().path_to(next, input);
        reader.abandon();
        error.on_path(path)
    });
    (consumed, error)
}

fn header<S: Sink>(scan: &mut Scan<'_>, sink: &mut S) -> Result<(), Error> {
    let [major, minor] = scan.array("the version")?;
    if major != MAJOR || minor > MINOR {
        return Err(Error::new(ErrorKind::Unsupported)
            .at(0)
            .expecting("version 4.0 to 4.8")
            .finding(format!("{major}.{minor}")));
    }
    if let Some(detail) = sink.detail() {
        NAME.clone_into(&mut detail.spelling.format);
        detail.header(spelling::MINOR, u64::from(minor));
        detail.span(0, 2, crate::document::NO_NODE, "version");
    }
    Ok(())
}

fn read_row<'a>(input: &'a [u8], settings: &Settings, request: Request<'_>) -> Outcome<'a> {
    read_outcome(input, &ReadOptions::from_settings(settings), request)
}

fn windows<'a>(
    input: &'a [u8],
    _store: &'a OnceLock<Vec<u8>>,
    _settings: &Settings,
    limits: &Limits,
    receive: Receive<'_, 'a>,
) -> Rest<'a> {
    let mut sink = Windows::new(input, receive);
    let (consumed, error) = feed(input, limits, &mut sink);
    Rest::new(sink, consumed, error)
}

fn write_row(
    document: &Document<'_>,
    settings: &Settings,
    limits: &Limits,
    out: &mut dyn Output,
) -> Result<Losses, Error> {
    write(document, &WriteOptions::from_settings(settings), limits, out)
}

/// Two bytes of a version are little: what follows must make sense. If all of it
/// was read, that is sure.
fn detect(input: &[u8]) -> Option<Guess> {
    let [MAJOR, minor @ 0..=MINOR, _, ..] = input else { return None };
    let mut limits = Limits::default();
    limits.nodes = 10_000;
    let request = Request { limits: &limits, detail: false, tape: Tape::new() };
    let outcome = read_outcome(input, &ReadOptions::default(), request);
    let nodes = outcome.document.nodes().len();
    let certainty = match outcome.error {
        None if outcome.consumed == input.len() => Certainty::Sure,
        None => Certainty::Likely,
        Some(error) if error.kind() == ErrorKind::Limit && nodes >= 3 => Certainty::Likely,
        Some(error) if error.kind() == ErrorKind::Truncated && nodes >= 3 => Certainty::Likely,
        Some(_) if nodes >= 16 => Certainty::Likely,
        Some(_) => return None,
    };
    let is_entry = outcome.document.root().class() == b"ActiveSupport::Cache::Entry";
    let what = if is_entry { ", an entry of a Rails cache: `rails-cache/marshal` has the value" } else { "" };
    Some(Guess { certainty, variant: format!("4.{minor}{what}") })
}
