//! JSON: plain, and `json:typed`, which says everything that a Document means.
//!
//! ```
//! use icecore::{Limits, json};
//! let document = json::read(br#"{"name":"Alice","age":30}"#, &json::ReadOptions::default(), &Limits::default())?;
//! let mut out = Vec::new();
//! let mut options = json::WriteOptions::default();
//! options.sort_keys = true;
//! json::write(&document, &options, &Limits::default(), &mut out)?;
//! assert_eq!(out, br#"{"age":30,"name":"Alice"}"#);
//! # Ok::<(), icecore::Error>(())
//! ```

mod detect;
mod keys;
pub mod lines;
mod number;
mod options;
mod pen;
pub mod perl;
mod read;
mod room;
mod string;
mod style;
mod table;
mod typed;
mod write;

pub use options::{BytesAs, Cycles, Floats, InfNan, ReadOptions, Relaxed, Surrogates, TextAs, WriteOptions};

pub(crate) use write::Memory;

use super::{Format, Outcome, Part, Request, write_named};
use crate::document::{Detailed, Document, Naming, Tape};
use crate::error::Error;
use crate::limits::Limits;
use crate::options::Settings;
use crate::output::{Losses, Output, metered};
use write::{Job, Layout};

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: "json",
    title: "JSON (RFC 8259); `json:typed` says everything that a document means",
    options: table::TABLE,
    page: include_str!("FORMAT.md"),
    detect: detect::detect,
    read: read_stage,
    windows: None,
    write: write_stage,
    write_part: Some(write_part),
};

/// The note of a number that is not written as it would be here: its text.
const NUMBER_TEXT: u16 = 1;

/// Reads a document. Bytes behind it are an error.
///
/// # Errors
/// Of kind `Malformed` or `Truncated`, for what is not JSON; `Trailing`, for
/// more than one document; `Limit`; `Unsupported`, for a number that no 64-bit
/// float holds.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    let outcome = read_outcome(input, options, Request::new(limits));
    match outcome.error {
        Some(error) => Err(error),
        None if outcome.consumed < input.len() => Err(crate::api::trailing(input, outcome.consumed)),
        None => Ok(outcome.document),
    }
}

/// Writes a document. Returns what JSON could not say.
///
/// # Errors
/// Of kind `Unrepresentable`, for something that JSON can't say at all, such
/// as a cycle; of kind `Limit`; whatever the output returns.
pub fn write(
    document: &Document<'_>,
    options: &WriteOptions,
    limits: &Limits,
    out: &mut dyn Output,
) -> Result<Losses, Error> {
    document.tape().check()?;
    if options.typed {
        return typed::write(document, options, limits, out).map(|()| Losses::default());
    }
    write_plain(document, Part::default(), Layout::One, options, limits, out)
}

/// Writes plain JSON, with bare names.
fn write_plain(
    document: &Document<'_>,
    part: Part,
    layout: Layout,
    options: &WriteOptions,
    limits: &Limits,
    out: &mut dyn Output,
) -> Result<Losses, Error> {
    metered(document, limits, out, |out| {
        write_named(document, FORMAT.name, Naming::Plain, limits, |named| {
            let job = Job { document: named, original: document, part, layout };
            write::write(&job, options, limits, &mut Memory::default(), out)
        })
    })
}

/// Writes the document that was read onto this tape, if that is quickly done.
pub(crate) fn write_tape(
    input: &[u8],
    tape: &Tape,
    options: &WriteOptions,
    memory: &mut Memory,
    out: &mut dyn Output,
) -> bool {
    memory.fit(tape.keys().generation());
    tape.header().is_none() && write::alone::write(input, tape, options, memory, out)
}

/// As [`write()`], for many documents on the same tape: what is in the memory is
/// used again.
pub(crate) fn write_next(
    document: &Document<'_>,
    options: &WriteOptions,
    limits: &Limits,
    memory: &mut Memory,
    out: &mut dyn Output,
) -> Result<Losses, Error> {
    if options.typed {
        return typed::write(document, options, limits, out).map(|()| Losses::default());
    }
    memory.fit(document.tape().keys().generation());
    metered(document, limits, out, |out| {
        write_named(document, FORMAT.name, Naming::Plain, limits, |named| {
            let job = Job { document: named, original: document, part: Part::default(), layout: Layout::One };
            // Under other names the ids mean other keys.
            let mut other = Memory::default();
            let memory = if std::ptr::eq(named, document) { memory } else { &mut other };
            write::write(&job, options, limits, memory, out)
        })
    })
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
    (!options.typed).then(|| write_plain(document, part, Layout::One, &options, limits, out))
}

fn read_outcome<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    if says_typed(input, options) { typed::read(input, options, request) } else { read_plain(input, options, request) }
}

/// As the row of the registry reads it, onto a tape. With `None`, it has to be read
/// by that: it is typed, or more than JSON is taken.
pub(crate) fn read_tape(
    input: &[u8],
    options: &ReadOptions,
    limits: &Limits,
    tape: &mut Tape,
) -> Option<(usize, Option<Error>)> {
    if says_typed(input, options) || options.is_relaxed() {
        return None;
    }
    tape.clear();
    Some(read::Reader::<_, true, false>::new(input, tape, limits, options).read())
}

fn read_plain<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, mut tape } = request;
    tape.clear();
    if detail {
        let mut sink = Detailed { tape, ..Detailed::default() };
        sink.detail.spelling.format = FORMAT.name.to_owned();
        let (consumed, error) = match options.is_relaxed() {
            false => read::Reader::<_, false, false>::new(input, &mut sink, limits, options).read(),
            true => read::Reader::<_, false, true>::new(input, &mut sink, limits, options).read(),
        };
        Outcome { document: Document::detailed(input, sink), consumed, error }
    } else {
        let (consumed, error) = match options.is_relaxed() {
            false => read::Reader::<_, true, false>::new(input, &mut tape, limits, options).read(),
            true => read::Reader::<_, false, true>::new(input, &mut tape, limits, options).read(),
        };
        Outcome { document: Document::new(input, tape), consumed, error }
    }
}

/// The text behind a byte order mark, if there is one.
pub(crate) fn without_mark(input: &[u8]) -> &[u8] {
    input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input)
}

/// Whether the input is to be read as `json:typed`.
fn says_typed(input: &[u8], options: &ReadOptions) -> bool {
    options.typed.unwrap_or_else(|| {
        let rest = without_mark(input).trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
        rest.is_some_and(|rest| rest.starts_with(b"\"$icecore\""))
    })
}
