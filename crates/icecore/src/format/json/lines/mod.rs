//! JSON lines: a document a line.
//!
//! ```
//! use icecore::{Limits, json::{self, lines}};
//! let document = lines::read(b"{\"id\":1}\n\n{\"id\":2}\n", &json::ReadOptions::default(), &Limits::default())?;
//! assert_eq!(document.root().len(), 2);
//! let mut out = Vec::new();
//! lines::write(&document, &json::WriteOptions::default(), &Limits::default(), &mut out)?;
//! assert_eq!(out, b"{\"id\":1}\n{\"id\":2}\n");
//! # Ok::<(), icecore::Error>(())
//! ```

mod detect;
mod read;

use super::write::Layout;
use super::{FORMAT as JSON, ReadOptions, WriteOptions, says_typed, table, typed, write_plain};
use crate::document::{Detailed, Document};
use crate::error::{Error, ErrorKind};
use crate::format::{Format, Outcome, Part, Request};
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output};

const NAME: &str = "ndjson";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    title: "JSON lines (NDJSON): a JSON document a line; together they are an array",
    options: table::LINES,
    page: include_str!("FORMAT.md"),
    detect: detect::detect,
    read: read_stage,
    windows: None,
    write: write_stage,
    write_part: Some(write_part),
};

/// Reads the documents of all lines into an array. Empty lines are skipped.
///
/// # Errors
/// As for [`json::read`](super::read); they name the line.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    read_outcome(input, options, Request::new(limits)).whole(input, NAME)
}

/// Writes each item of an array on a line of its own; anything else on one line.
/// So is an array of which plain JSON can't say everything, with `typed`.
///
/// # Errors
/// As for [`json::write`](super::write()).
pub fn write(
    document: &Document<'_>,
    options: &WriteOptions,
    limits: &Limits,
    out: &mut dyn Output,
) -> Result<Losses, Error> {
    document.tape().check()?;
    let options = &WriteOptions { indent: 0, pretty: false, ..options.clone() };
    if options.typed {
        let mut text = Vec::new();
        typed::write(document, options, limits, &mut text)?;
        // Plain JSON says it all otherwise.
        if says_typed(&text, &ReadOptions::default()) {
            text.push(b'\n');
            out.buffer().extend_from_slice(&text);
            return out.ready().map(|()| Losses::default());
        }
    }
    write_plain(document, Part::default(), Layout::Lines, options, limits, out)
}

fn read_outcome<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    if says_typed(input, options) {
        return read_typed(input, options, request);
    }
    let Request { limits, detail, mut tape } = request;
    tape.clear();
    if detail {
        let mut sink = Detailed { tape, ..Detailed::default() };
        sink.detail.spelling.format = JSON.name.to_owned();
        let (consumed, error) = match options.is_relaxed() {
            false => read::read::<_, false, false>(input, &mut sink, limits, options),
            true => read::read::<_, false, true>(input, &mut sink, limits, options),
        };
        Outcome { document: Document::detailed(input, sink), consumed, error }
    } else {
        let (consumed, error) = match options.is_relaxed() {
            false => read::read::<_, true, false>(input, &mut tape, limits, options),
            true => read::read::<_, false, true>(input, &mut tape, limits, options),
        };
        Outcome { document: Document::new(input, tape), consumed, error }
    }
}

/// One line of `json:typed`. Several are several documents, as each has a table
/// of its own of what is shared.
fn read_typed<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let mut outcome = typed::read(input, options, request);
    if outcome.error.is_none() && outcome.consumed < input.len() {
        let error = Error::new(ErrorKind::Unsupported)
            .at(outcome.consumed)
            .expecting("one line of `json:typed`")
            .finding("more of them")
            .helping("`--each` reads them one by one");
        outcome.error = Some(error);
    }
    outcome
}

fn read_stage<'a>(input: &'a [u8], settings: &Settings, request: Request<'_>) -> Outcome<'a> {
    read_outcome(input, &ReadOptions::from_settings(settings), request)
}

fn write_stage(
    document: &Document<'_>,
    settings: &Settings,
    limits: &Limits,
    out: &mut dyn Output,
) -> Result<Losses, Error> {
    write(document, &WriteOptions::from_settings(settings), limits, out)
}

fn write_part(
    document: &Document<'_>,
    part: Part,
    settings: &Settings,
    limits: &Limits,
    out: &mut dyn Output,
) -> Option<Result<Losses, Error>> {
    let options = WriteOptions::from_settings(settings);
    (!options.typed).then(|| write_plain(document, part, Layout::Lines, &options, limits, out))
}
