//! Ruby's Marshal, version 4.8: what `Marshal.dump` writes.
//!
//! ```
//! use icecore::{Limits, format::marshal};
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
//! See `FORMAT.md` in this folder for the facts.

mod attributes;
mod keys;
mod number;
mod options;
mod read;
mod read_fast;
mod scalars;
mod skim;
mod spelling;
mod stencil;
mod symbols;
mod tag;
mod write;
mod write_fast;
mod write_filled;
mod write_floats;
mod write_leaves;
mod write_names;

pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use crate::format::Reader as _;
use crate::format::Restart;
use crate::format::prelude::*;
use crate::format::skim::{Input, Skim};
use read::Reader;

const NAME: &str = "marshal";
const MAJOR: u8 = 4;
/// The highest minor version that Ruby reads, and the one that it writes.
const MINOR: u8 = 8;

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    aliases: &["ruby", "ruby-marshal"],
    title: "Ruby's Marshal, version 4.8",
    options: options::OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities {
        extension: NAME,
        names_strings_again: true,
        hands_over: true,
        restarts: &[Restart::from_context(b"", &[MAJOR, MINOR])],
        naming: Naming::Ruby,
        ..Capabilities::BINARY
    },
    detect,
    begins: Some(|input| matches!(input, [MAJOR, 0..=MINOR, ..])),
    detect_in_string: None,
    strings: None,
    hides: None,
    reader: |settings| Box::new(ReadOptions::from_settings(settings)),
    writer: |settings| Box::new(WriteOptions::from_settings(settings)),
};

/// Reads a dump. Nothing may follow it.
///
/// # Errors
/// Of any kind but `Usage`, `Unrepresentable` and `Output`; with offset and
/// path.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    options.read(input, Request::new(limits)).into_whole_document(input, &FORMAT)
}

impl Feed for ReadOptions {
    const FORMAT: &'static Format = &FORMAT;

    fn feed_document<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        feed_dump(input, limits, sink)
    }

    fn new_skimmer<'i>(&self, input: Input<'i>) -> Option<Box<dyn Skim + 'i>> {
        Some(skim::make_skimmer(input))
    }

    fn scalar_reader(&self, _: &[u8]) -> Option<ReadScalar> {
        Some(stencil::read_scalar)
    }
}

/// Feeds a dump to the sink. Returns how far it got, and the error that stopped it.
fn feed_dump<S: Sink>(input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
    let mut scan = Scan::new(input);
    if let Err(error) = read_header(&mut scan, sink) {
        return (scan.offset, Some(error));
    }
    let mut reader = Reader::new(scan, limits, sink);
    let result = reader.read_document();
    let consumed = reader.scan.offset;
    let error = result.err().map(|error| {
        let next = reader.sink.tape().len();
        let path = reader.sink.tape().path_to(next, input);
        reader.close_open_containers();
        error.on_path(path)
    });
    reader.return_memory();
    (consumed, error)
}

/// Describes the bytes in the place of the version: a version of another Ruby, or a text that was never dumped.
fn describe_version(bytes: &[u8], major: u8, minor: u8) -> String {
    const SHOWN: usize = 20;
    let start = bytes.get(..bytes.len().min(SHOWN)).unwrap_or_default();
    match std::str::from_utf8(start.trim_ascii_end()) {
        Ok(text) if text.bytes().all(|byte| (b' '..0x7f).contains(&byte)) => {
            let ellipsis = if bytes.len() > SHOWN { "…" } else { "" };
            format!("the text `{text}{ellipsis}`, which is not a dump")
        }
        _ => format!("{major}.{minor}"),
    }
}

fn read_header<S: Sink>(scan: &mut Scan<'_>, sink: &mut S) -> Result<(), Error> {
    let text = scan.input;
    let [major, minor] = scan.read_array("the version")?;
    if major != MAJOR || minor > MINOR {
        return Err(Error::new(ErrorKind::Unsupported)
            .at(0)
            .expecting("version 4.0 to 4.8")
            .finding(describe_version(text, major, minor)));
    }
    if let Some(detail) = sink.detail() {
        NAME.clone_into(&mut detail.spelling.format);
        detail.record_header_note(spelling::MINOR, u64::from(minor));
        detail.record_span(0, 2, crate::document::NO_NODE, "version");
    }
    Ok(())
}

/// Two bytes of a version prove little: the rest must be plausible. If all of it was read, the
/// format is certain.
fn detect(input: &[u8]) -> Option<Guess> {
    /// Number of values that a damaged dump must have.
    const PLAUSIBLE_NODES: usize = 16;
    let [MAJOR, minor @ 0..=MINOR, _, ..] = input else { return None };
    let mut limits = Limits::default();
    limits.nodes = 10_000;
    let outcome = ReadOptions::default().read(input, Request::new(&limits));
    let nodes = outcome.document.nodes().len();
    let certainty = match outcome.error {
        None if outcome.consumed == input.len() => Certainty::Sure,
        None => Certainty::Likely,
        Some(error) if error.kind() == ErrorKind::Limit && nodes >= 3 => Certainty::Likely,
        Some(error) if error.kind() == ErrorKind::Truncated && nodes >= 3 => Certainty::Likely,
        Some(_) if nodes >= PLAUSIBLE_NODES => Certainty::Likely,
        Some(error) if error.kind() == ErrorKind::Truncated => {
            // If a count is too large, only this request shows what is there.
            let salvaged = ReadOptions::default().read(input, Request::new(&limits).salvaging()).document;
            (salvaged.nodes().len() >= PLAUSIBLE_NODES).then_some(Certainty::Likely)?
        }
        Some(_) => return None,
    };
    let is_entry = outcome.document.root().class() == b"ActiveSupport::Cache::Entry";
    let suffix = if is_entry { ", an entry of a Rails cache: `rails-cache/marshal` has the value" } else { "" };
    Some(Guess { certainty, variant: format!("4.{minor}{suffix}") })
}
