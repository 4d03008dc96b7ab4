//! PHP's igbinary: `igbinary_serialize`, versions 1 and 2.
//!
//! `FORMAT.md` beside this file has the facts.

mod lists;
mod options;
mod read;
mod spelling;
mod strings;
mod tag;
mod write;

pub use options::WriteOptions;
pub use write::write;

use super::{Certainty, Format, Guess, Outcome, Request, Scan, are_blanks};
use crate::document::{Detail, Detailed, Document, NO_NODE, Sink};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};
use options::OPTIONS;
use read::Machine;

const NAME: &str = "igbinary";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "PHP's igbinary: igbinary_serialize",
    options: OPTIONS,
    page: include_str!("FORMAT.md"),
    detect,
    read: read_row,
    windows: None,
    write: write_row,
    write_part: None,
};

/// Reads one document, of which nothing may be left.
///
/// ```
/// use icecore::{Limits, igbinary};
/// let document = igbinary::read(b"\0\0\0\x02\x14\x01\x11\x01a\x06\x07", &Limits::default())?;
/// assert_eq!(document.root().get("a").and_then(|a| a.as_i64()), Some(7));
/// # Ok::<(), icecore::Error>(())
/// ```
///
/// # Errors
/// Of any kind but `Usage`, `Unrepresentable` and `Output`; with offset and
/// path.
pub fn read<'a>(input: &'a [u8], limits: &Limits) -> Result<Document<'a>, Error> {
    let outcome = read_outcome(input, Request::new(limits));
    match outcome.error {
        Some(error) => Err(error.in_format(NAME)),
        None if outcome.consumed < input.len() => Err(crate::api::trailing(input, outcome.consumed).in_format(NAME)),
        None => Ok(outcome.document),
    }
}

/// Reads one document from the start of the input.
pub fn read_outcome<'a>(input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, mut tape } = request;
    tape.clear();
    if !detail {
        let (consumed, error) = feed(input, limits, &mut tape);
        return Outcome { document: Document::new(input, tape), consumed, error };
    }
    let mut sink = Detailed { tape, ..Detailed::default() };
    let (consumed, error) = feed(input, limits, &mut sink);
    for extent in sink.detail.trace.extents.iter_mut().filter(|extent| extent.end == 0) {
        extent.end = consumed as u64;
    }
    Outcome { document: Document::detailed(input, sink), consumed, error }
}

fn read_row<'a>(input: &'a [u8], settings: &Settings, request: Request<'_>) -> Outcome<'a> {
    let mut outcome = read_outcome(input, request);
    if settings.flag("lenient") && outcome.error.is_none() && outcome.consumed < input.len() {
        outcome.document.ignore(outcome.consumed, input.len());
        outcome.consumed = input.len();
    }
    outcome
}

/// Feeds the sink; says how far it came, and what stopped it.
fn feed<S: Sink>(input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
    let mut scan = Scan::new(input);
    if let Err(error) = header(&mut scan, sink) {
        return (scan.at, Some(error));
    }
    let mut machine = Machine::new(scan, limits, sink);
    let mut result = machine.run();
    if machine.is_too_late() {
        // A long array turned out to be no list when its items had been read:
        // now it is looked ahead, once for the whole input.
        let sink = machine.into_sink();
        sink.tape().clear();
        if let Some(detail) = sink.detail() {
            *detail = Detail::default();
        }
        scan.at = 0;
        let _ = header(&mut scan, sink);
        machine = Machine::new(scan, limits, sink);
        machine.look_ahead(lists::maps(input));
        result = machine.run();
    }
    let consumed = machine.at();
    let error = result.err().map(|error| error.on_path(machine.abandon()));
    (consumed, error)
}

fn header<S: Sink>(scan: &mut Scan<'_>, sink: &mut S) -> Result<(), Error> {
    let version = scan.array::<4>("the header")?;
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
        detail.header(spelling::VERSION, u64::from(version[3]));
        detail.span(0, 4, NO_NODE, "version");
    }
    Ok(())
}

fn write_row(
    document: &Document<'_>,
    settings: &Settings,
    limits: &Limits,
    out: &mut dyn Output,
) -> Result<Losses, Error> {
    write(document, &WriteOptions::from_settings(settings), limits, out)
}

/// Four bytes are little to go by: the rest must make sense too.
fn detect(input: &[u8]) -> Option<Guess> {
    let version = match input {
        [0, 0, 0, version @ 1..=2, 0..=0x27, ..] => *version,
        _ => return None,
    };
    let mut limits = Limits::default();
    limits.nodes = 10_000;
    let outcome = read_outcome(input, Request::new(&limits));
    let nodes = outcome.document.nodes().len() as u32;
    let certainty = match outcome.error {
        // A line end that something put behind it is for the reader to tell.
        None if outcome.consumed < input.len() && !are_blanks(&input[outcome.consumed..]) => return None,
        None if outcome.consumed < input.len() => Certainty::Likely,
        None if input.len() >= 8 => Certainty::Sure,
        None => Certainty::Likely,
        Some(_) if nodes >= limits.nodes => Certainty::Likely,
        // A damaged one is only taken for one if much of it makes sense.
        Some(error) if nodes >= if error.kind() == ErrorKind::Truncated { 4 } else { 16 } => Certainty::Likely,
        Some(_) => return None,
    };
    Some(Guess { certainty, variant: format!("version {version}") })
}
