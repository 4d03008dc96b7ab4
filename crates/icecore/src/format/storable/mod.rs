//! Perl's Storable: `freeze`, `store` and their variants in network order.
//!
//! See `FORMAT.md` in this folder for the facts.

mod default_tags;
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
mod read_fast;
mod read_links;
mod records;
mod skim;
mod spelling;
mod stencil;
mod tag;
mod write;
mod write_containers;
mod write_fast;
mod write_fast_body;
mod write_names;
mod write_records;
mod write_scalars;

pub use float::LongDouble;
pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use crate::format::prelude::*;
use crate::format::skim::{Input, Skim};
use image::Image;
use options::OPTIONS;
use read::Machine;
use write_fast_body::write_part;

const NAME: &str = "storable";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    aliases: &["perl", "freeze", "nfreeze", "store", "nstore", "pst"],
    title: "Perl's Storable: freeze and store, native and network order",
    options: OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities {
        extension: NAME,
        more_extensions: &["st", "sto", "stor", "nst", "pst"],
        hands_over: true,
        restarts: &image::RESTARTS,
        has_byte_patterns: true,
        naming: Naming::Perl,
        ..Capabilities::BINARY
    },
    detect,
    begins: Some(begins_document),
    detect_in_string: None,
    strings: None,
    hides: None,
    reader: |settings| Box::new(ReadOptions::from_settings(settings)),
    writer: |settings| Box::new(WriteOptions::from_settings(settings)),
};

/// Reads an image. Nothing may follow it.
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
        feed_document(input, self, limits, sink)
    }

    fn new_skimmer<'i>(&self, input: Input<'i>) -> Option<Box<dyn Skim + 'i>> {
        (*self == ReadOptions::default()).then(|| skim::skim(input))
    }

    fn scalar_reader(&self, input: &[u8]) -> Option<ReadScalar> {
        stencil::choose_scalar_reader(input, self)
    }
}

impl Writer for WriteOptions {
    fn keeps_hook_values(&self) -> bool {
        true
    }

    fn flag_of_form(&self, document: &Document<'_>) -> Option<&'static str> {
        // In network order, floats and large integers are text, because programs on other machines read them.
        document.spelling_of(NAME).is_some_and(|spelling| Image::from_spelling(spelling).netorder).then_some("netorder")
    }

    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, self, limits, out)
    }

    fn write_part(
        &self,
        document: &Document<'_>,
        part: DocumentPart<'_>,
        limits: &Limits,
        out: &mut dyn Output,
    ) -> Option<Written> {
        let DocumentPart::Nodes(progress) = part else { return None };
        let is_written = limits.depth >= write_fast_body::MAX_DEPTH && write_part(document, self, progress, out);
        is_written.then(|| Ok(Losses::with_limits(limits)))
    }
}

/// Feeds an image to the sink. Returns how far it got, and the error that stopped it.
pub(crate) fn feed_document<S: Sink>(
    input: &[u8],
    options: &ReadOptions,
    limits: &Limits,
    sink: &mut S,
) -> (usize, Option<Error>) {
    if options.reference || S::DETAIL {
        feed_with_machine::<S, false>(input, options, limits, sink)
    } else {
        feed_with_machine::<S, true>(input, options, limits, sink)
    }
}

fn feed_with_machine<S: Sink, const FAST: bool>(
    input: &[u8],
    options: &ReadOptions,
    limits: &Limits,
    sink: &mut S,
) -> (usize, Option<Error>) {
    let mut scan = Scan::new(input);
    let image = match Image::read(&mut scan, options, sink) {
        Ok(image) => image,
        Err(error) => return (scan.offset, Some(error)),
    };
    if image.is_old() {
        return old::feed_document(scan, &image, options, limits, sink);
    }
    let mut machine = Machine::<S, FAST>::new(scan, image, options, limits, sink);
    let result = machine.read_document();
    let consumed = machine.scan.offset;
    let error = result.err().map(|error| {
        let tape = machine.sink.tape();
        let path = tape.path_to(tape.len(), input);
        machine.close_unfinished();
        error.on_path(path)
    });
    (consumed, error)
}

/// A magic is certain. A memory image has none: its header must be plausible. A
/// network-order header is only two bytes, so the whole image must be readable.
fn detect(input: &[u8]) -> Option<Guess> {
    if !image::may_begin_document(input) {
        return None;
    }
    let mut scan = Scan::new(input);
    let image = Image::read(&mut scan, &ReadOptions::default(), &mut Tape::new()).ok()?;
    let mut certainty = Certainty::Sure;
    if !image.has_magic {
        // With major 1, the header in network order is one byte: too little.
        let is_bare = image.major < 2 && image.netorder;
        if is_bare || image.major < 1 || image.minor > image::MINOR + 8 {
            return None;
        }
        let mut limits = Limits::default();
        limits.nodes = 10_000;
        let outcome = ReadOptions::default().read(input, Request::new(&limits));
        let nodes = outcome.document.nodes().len() as u32;
        match outcome.error {
            None if outcome.consumed == input.len() => {}
            Some(_) if nodes >= limits.nodes => {}
            // A network-order header is two bytes: a damaged image is only detected if
            // much of it is plausible.
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

fn begins_document(input: &[u8]) -> bool {
    match input {
        [b'p', b's', b't', b'0', rest @ ..] => rest.first().is_none_or(|byte| *byte < b' '),
        // In the byte order of the machine, the length of its name follows.
        [4, minor, len, ..] => *minor < b' ' && matches!(len, 4 | 8),
        [4 | 5, minor, ..] => *minor < b' ',
        _ => input.starts_with(b"perl-store"),
    }
}
