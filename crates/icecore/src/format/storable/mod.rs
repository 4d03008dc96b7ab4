//! Perl's Storable: `freeze`, `store` and their network-order twins.
//!
//! `FORMAT.md` beside this file has the facts.

mod fast;
mod float;
mod image;
mod keys;
#[cfg(test)]
mod linear;
mod numbers;
mod old;
mod options;
mod read;
mod read_containers;
mod read_links;
mod records;
mod spelling;
mod tag;
mod usual;
mod write;
mod write_containers;
mod write_fast;
mod write_names;
mod write_records;
mod write_scalars;
mod write_simple;

pub use float::LongDouble;
pub use options::{ReadOptions, WriteOptions};
pub use write::write;
pub(crate) use write_simple::{DEPTH as SIMPLE_DEPTH, write_part};

use super::{Certainty, Format, Guess, Outcome, Request, Rest, Scan};
use crate::document::{Detailed, Document, Receive, Sink, Tape, Windows};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};
use image::Image;
use options::OPTIONS;
use read::Machine;
use std::sync::OnceLock;

const NAME: &str = "storable";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "Perl's Storable: freeze and store, native and network order",
    options: OPTIONS,
    page: include_str!("FORMAT.md"),
    detect,
    read: read_row,
    windows: Some(windows),
    write: write_row,
    write_part: None,
};

/// Reads an image, of which nothing may be left.
///
/// # Errors
/// Of any kind but `Usage`, `Unrepresentable` and `Output`; with offset and
/// path.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    read_outcome(input, options, Request::new(limits)).whole(input, NAME)
}

/// Reads an image from the start of the input.
pub fn read_outcome<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, mut tape } = request;
    if !detail {
        let (consumed, error) = read_tape(input, options, limits, &mut tape);
        return Outcome { document: Document::new(input, tape), consumed, error };
    }
    tape.clear();
    let mut sink = Detailed { tape, ..Detailed::default() };
    let (consumed, error) = feed(input, options, limits, &mut sink);
    if error.is_some() {
        finish_extents(&mut sink, consumed);
    }
    Outcome { document: Document::detailed(input, sink), consumed, error }
}

/// Reads an image from the start of the input into a tape.
pub(crate) fn read_tape(
    input: &[u8],
    options: &ReadOptions,
    limits: &Limits,
    tape: &mut Tape,
) -> (usize, Option<Error>) {
    tape.clear();
    feed(input, options, limits, tape)
}

/// Feeds the sink with an image; says how far it came, and what stopped it.
pub(crate) fn feed<S: Sink>(
    input: &[u8],
    options: &ReadOptions,
    limits: &Limits,
    sink: &mut S,
) -> (usize, Option<Error>) {
    if options.plain || S::DETAIL {
        feed_with::<S, false>(input, options, limits, sink)
    } else {
        feed_with::<S, true>(input, options, limits, sink)
    }
}

fn feed_with<S: Sink, const FAST: bool>(
    input: &[u8],
    options: &ReadOptions,
    limits: &Limits,
    sink: &mut S,
) -> (usize, Option<Error>) {
    let mut scan = Scan::new(input);
    let image = match Image::read(&mut scan, options, sink) {
        Ok(image) => image,
        Err(error) => return (scan.at, Some(error)),
    };
    if image.is_old() {
        return old::feed(scan, &image, options, limits, sink);
    }
    let mut machine = Machine::<S, FAST>::new(scan, image, options, limits, sink);
    let result = machine.run();
    let consumed = machine.scan.at;
    let error = result.err().map(|error| {
        let tape = machine.sink.tape();
        let path = tape.path_to(tape.len(), input);
        machine.abandon();
        error.on_path(path)
    });
    (consumed, error)
}

/// Gives what was open at the end its end.
fn finish_extents(sink: &mut Detailed, end: usize) {
    for extent in &mut sink.detail.trace.extents {
        if extent.end == 0 {
            extent.end = end as u64;
        }
    }
}

fn read_row<'a>(input: &'a [u8], settings: &Settings, request: Request<'_>) -> Outcome<'a> {
    read_outcome(input, &ReadOptions::from_settings(settings), request)
}

fn windows<'a>(
    input: &'a [u8],
    _store: &'a OnceLock<Vec<u8>>,
    settings: &Settings,
    limits: &Limits,
    receive: Receive<'_, 'a>,
) -> Rest<'a> {
    let mut sink = Windows::new(input, receive);
    let (consumed, error) = feed(input, &ReadOptions::from_settings(settings), limits, &mut sink);
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

/// A magic is sure. A memory image has none: its header must make sense, and
/// of a network-order one, whose header is two bytes, the whole must be read.
fn detect(input: &[u8]) -> Option<Guess> {
    let mut scan = Scan::new(input);
    let image = Image::read(&mut scan, &ReadOptions::default(), &mut Tape::new()).ok()?;
    let mut certainty = Certainty::Sure;
    if !image.file {
        // Of major 1 the header in network order is one byte: too little.
        let is_bare = image.major < 2 && image.netorder;
        if is_bare || image.major < 1 || image.minor > image::MINOR + 8 {
            return None;
        }
        let mut limits = Limits::default();
        limits.nodes = 10_000;
        let outcome = read_outcome(input, &ReadOptions::default(), Request::new(&limits));
        let nodes = outcome.document.nodes().len() as u32;
        match outcome.error {
            None if outcome.consumed == input.len() => {}
            Some(_) if nodes >= limits.nodes => {}
            // A network-order header is two bytes: a damaged image is only
            // taken for one if much of it makes sense.
            Some(error) if image.netorder => {
                let makes_sense = if error.kind() == ErrorKind::Truncated { 3 } else { 16 };
                if nodes < makes_sense {
                    return None;
                }
            }
            None if image.netorder && !super::are_blanks(&input[outcome.consumed..]) => return None,
            _ => certainty = Certainty::Likely,
        }
        if image.netorder && input.len() < 4 {
            certainty = Certainty::Possible;
        } else if image.netorder {
            certainty = certainty.min(Certainty::Likely);
        }
    }
    Some(Guess { certainty, variant: image.describe() })
}
