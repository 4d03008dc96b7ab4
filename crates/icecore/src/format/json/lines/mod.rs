//! JSON lines: one document on each line.
//!
//! ```
//! use icecore::{Limits, format::json::{self, lines}};
//! let document = lines::read(b"{\"id\":1}\n\n{\"id\":2}\n", &json::ReadOptions::default(), &Limits::default())?;
//! assert_eq!(document.root().len(), 2);
//! let mut out = Vec::new();
//! lines::write(&document, &json::WriteOptions::default(), &Limits::default(), &mut out)?;
//! assert_eq!(out, b"{\"id\":1}\n{\"id\":2}\n");
//! # Ok::<(), icecore::Error>(())
//! ```

mod detect;
mod read;
mod strings;

use super::write::{Layout, Window};
use super::{FORMAT as JSON, ReadOptions, WriteOptions, is_typed_json, table, typed, write_items, write_plain};
use crate::format::prelude::*;

const NAME: &str = "ndjson";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    aliases: &["jsonl", "json-lines", "ldjson"],
    title: "JSON lines (NDJSON): one JSON document per line; together they are an array",
    options: table::LINES,
    page: include_str!("FORMAT.md"),
    can: Capabilities {
        extension: NAME,
        evidence: Evidence::Whole,
        no_mark: true,
        line: Some(&JSON),
        ..Capabilities::TEXT
    },
    detect: detect::detect,
    begins: Some(super::detect::begins_like_json),
    detect_in_string: None,
    strings: Some(&strings::STRINGS),
    hides: None,
    reader: |settings| Box::new(Lines(ReadOptions::from_settings(settings))),
    writer: |settings| Box::new(Lines(WriteOptions::from_settings(settings))),
};

/// Reads the documents of all lines into an array. Empty lines are skipped.
///
/// # Errors
/// As for [`json::read`](super::read); they name the line.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    Lines(options.clone()).read(input, Request::new(limits)).into_whole_document(input, &FORMAT)
}

/// Writes each item of an array on its own line, and anything else on one line. With `typed`, an
/// array is written on one line too if plain JSON can't represent all of it.
///
/// # Errors
/// As for [`json::write`](super::write()).
pub fn write(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    document.tape().check_structure()?;
    let options = &WriteOptions { indent: 0, pretty: false, ..options.clone() };
    if options.typed {
        let mut text = Vec::new();
        typed::write_typed(document, options, limits, &mut text)?;
        // Otherwise plain JSON represents everything.
        if is_typed_json(&text, &ReadOptions::default()) {
            text.push(b'\n');
            out.buffer().extend_from_slice(&text);
            return out.allow_flush().map(|()| Losses::default());
        }
    }
    write_plain(document, Window::default(), Layout::Lines, options, limits, out)
}

/// Reads one line of `json:typed`. Several lines are several documents, because each has its own
/// table of shared values.
fn read_typed_line<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let mut outcome = typed::read_typed(input, options, request);
    if outcome.error.is_none() && outcome.consumed < input.len() {
        let error = Error::new(ErrorKind::Unsupported)
            .at(outcome.consumed)
            .expecting("one line of `json:typed`")
            .finding("more of them")
            .helping("documents that follow one another can be read one by one");
        outcome.error = Some(error);
    }
    outcome
}

/// Settings for reading lines.
#[derive(Debug)]
struct PlainLines<'r>(&'r ReadOptions);

impl Feed for PlainLines<'_> {
    // The form that is kept is that of JSON.
    const FORMAT: &'static Format = &JSON;

    fn feed_document<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        match self.0.is_relaxed() {
            false => read::read_lines::<_, true, false>(input, sink, limits, self.0),
            true => read::read_lines::<_, false, true>(input, sink, limits, self.0),
        }
    }
}

/// JSON's options, applied to lines.
#[derive(Debug)]
struct Lines<O>(O);

impl Reader for Lines<ReadOptions> {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        match is_typed_json(input, &self.0) {
            true => read_typed_line(input, &self.0, request),
            false => PlainLines(&self.0).read(input, request),
        }
    }
}

impl Writer for Lines<WriteOptions> {
    fn keeps_hook_values(&self) -> bool {
        self.0.keeps_hook_values()
    }

    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, &self.0, limits, out)
    }

    fn write_part(
        &self,
        document: &Document<'_>,
        part: DocumentPart<'_>,
        limits: &Limits,
        out: &mut dyn Output,
    ) -> Option<Written> {
        write_items(document, part, Layout::Lines, &self.0, limits, out)
    }
}
