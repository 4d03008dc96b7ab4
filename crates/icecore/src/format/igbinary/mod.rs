//! PHP's igbinary: `igbinary_serialize`, versions 1 and 2.
//!
//! See `FORMAT.md` in this folder for the facts.

mod lists;
mod options;
mod read;
mod read_object;
mod skim;
mod spelling;
mod stencil;
mod strings;
mod tag;
mod targets;
mod write;

pub use options::{ReadOptions, WriteOptions};
pub use write::write;

use super::are_blanks;
use crate::document::{Detail, NO_NODE};
use crate::format::Restart;
use crate::format::prelude::*;
use crate::format::skim::{Input, Skim};
use options::OPTIONS;
use read::Machine;

const NAME: &str = "igbinary";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    aliases: &["igbinary-serialize"],
    title: "PHP's igbinary: igbinary_serialize",
    options: OPTIONS,
    page: include_str!("FORMAT.md"),
    can: Capabilities {
        extension: NAME,
        names_strings_again: true,
        restarts: &[Restart::from_context(b"", &[0, 0, 0, 2]), Restart::from_context(b"", &[0, 0, 0, 1])],
        naming: Naming::Php,
        ..Capabilities::BINARY
    },
    detect,
    begins: Some(|input| matches!(input, [0, 0, 0, 1 | 2, ..])),
    detect_in_string: None,
    strings: None,
    hides: None,
    reader: |settings| Box::new(ReadOptions::from_settings(settings)),
    writer: |settings| Box::new(WriteOptions::from_settings(settings)),
};

/// Reads one document. Nothing may follow it.
///
/// ```
/// use icecore::{Limits, format::igbinary};
/// let document = igbinary::read(b"\0\0\0\x02\x14\x01\x11\x01a\x06\x07", &Limits::default())?;
/// assert_eq!(document.root().get("a").and_then(|a| a.as_i64()), Some(7));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of any kind but `Usage`, `Unrepresentable` and `Output`; with offset and
/// path.
pub fn read<'a>(input: &'a [u8], limits: &Limits) -> Result<Document<'a>, Error> {
    ReadOptions::default().read(input, Request::new(limits)).into_whole_document(input, &FORMAT)
}

impl Feed for ReadOptions {
    const FORMAT: &'static Format = &FORMAT;

    fn feed_document<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        let (consumed, error) = feed_document(input, limits, sink);
        match self.lenient && error.is_none() && consumed < input.len() {
            true => feed::ignore_rest(input, consumed, sink),
            false => (consumed, error),
        }
    }

    fn new_skimmer<'i>(&self, input: Input<'i>) -> Option<Box<dyn Skim + 'i>> {
        (!self.lenient).then(|| skim::create_skimmer(input))
    }

    fn scalar_reader(&self, _: &[u8]) -> Option<ReadScalar> {
        Some(stencil::read_scalar)
    }
}

/// Feeds a document to the sink. Returns how far it got, and the error that stopped it.
fn feed_document<S: Sink>(input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
    let mut scan = Scan::new(input);
    if let Err(error) = read_header(&mut scan, sink) {
        return (scan.offset, Some(error));
    }
    let mut machine = Machine::new(scan, limits, sink);
    let mut result = machine.run();
    if machine.needs_prescan() {
        // A long array turned out not to be a list after its items were read: now a prescan
        // finds all lists of the input.
        let sink = machine.into_sink();
        sink.tape().clear();
        if let Some(detail) = sink.detail() {
            *detail = Detail::default();
        }
        scan.offset = 0;
        let _ = read_header(&mut scan, sink);
        machine = Machine::new(scan, limits, sink);
        machine.use_prescan(lists::find_maps(input));
        result = machine.run();
    }
    let consumed = machine.input_offset();
    let error = result.err().map(|error| error.on_path(machine.close_open_containers()));
    (consumed, error)
}

fn read_header<S: Sink>(scan: &mut Scan<'_>, sink: &mut S) -> Result<(), Error> {
    let version = scan.read_array::<4>("the header")?;
    if !matches!(version, [0, 0, 0, 1 | 2]) {
        return Err(Error::new(ErrorKind::Format)
            .at(0)
            .expecting("the header 00 00 00 02")
            .finding(version.map(|byte| format!("{byte:02x}")).join(" ")));
    }
    if S::DETAIL
        && let Some(detail) = sink.detail()
    {
        detail.spelling.format = NAME.to_owned();
        detail.record_header_note(spelling::VERSION, u64::from(version[3]));
        detail.record_span(0, 4, NO_NODE, "version");
    }
    Ok(())
}

/// Four bytes prove little: the rest must be plausible too.
fn detect(input: &[u8]) -> Option<Guess> {
    let version = match input {
        [0, 0, 0, version @ 1..=2, 0..=0x27, ..] => *version,
        _ => return None,
    };
    let mut limits = Limits::default();
    limits.nodes = 10_000;
    let outcome = ReadOptions::default().read(input, Request::new(&limits));
    let nodes = outcome.document.nodes().len() as u32;
    let certainty = match outcome.error {
        // A line end after the document is left to the reader.
        None if outcome.consumed < input.len() && !are_blanks(&input[outcome.consumed..]) => return None,
        None if outcome.consumed < input.len() => Certainty::Likely,
        None if input.len() >= 8 => Certainty::Sure,
        None => Certainty::Likely,
        Some(_) if nodes >= limits.nodes => Certainty::Likely,
        // A damaged document is only detected if much of it is plausible.
        Some(error) if nodes >= if error.kind() == ErrorKind::Truncated { 4 } else { 16 } => Certainty::Likely,
        Some(error) if error.kind() == ErrorKind::Truncated => {
            // If a count is too large, only this request shows what is there.
            let salvaged = ReadOptions::default().read(input, Request::new(&limits).salvaging()).document;
            (salvaged.nodes().len() >= 16).then_some(Certainty::Likely)?
        }
        Some(_) => return None,
    };
    Some(Guess { certainty, variant: format!("version {version}") })
}
