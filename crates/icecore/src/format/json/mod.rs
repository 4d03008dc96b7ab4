//! JSON: plain, and `json:typed`, which represents everything in a Document.
//!
//! ```
//! use icecore::{Limits, format::json};
//! let document = json::read(br#"{"name":"Alice","age":30}"#, &json::ReadOptions::default(), &Limits::default())?;
//! let mut out = Vec::new();
//! let mut options = json::WriteOptions::default();
//! options.sort_keys = true;
//! json::write(&document, &options, &Limits::default(), &mut out)?;
//! assert_eq!(out, br#"{"age":30,"name":"Alice"}"#);
//! # Ok::<(), icecore::Error>(())
//! ```

mod detect;
mod emitter;
mod escaping;
mod key_prediction;
mod keys;
pub mod lines;
mod number;
mod options;
pub mod perl;
mod read;
mod scratch;
mod skim;
mod stencil;
mod string;
mod strings;
mod style;
mod table;
mod typed;
mod write;

pub use options::{BytesAs, Cycles, Floats, InfNan, ReadOptions, Relaxed, Surrogates, TextAs, WriteOptions};

use super::{Memory, write_named};
use crate::document::{Kind, Node};
use crate::format::Restart;
use crate::format::prelude::*;
use crate::format::skim::{Input, Skim};
use crate::output::write_metered;
use write::{Layout, Window, WriteJob, WriterMemory};

const NAME: &str = "json";

/// The row in the registry.
pub static FORMAT: Format = Format {
    name: NAME,
    aliases: &["js"],
    title: "JSON (RFC 8259); `json:typed` keeps everything that a document means",
    options: table::TABLE,
    page: include_str!("FORMAT.md"),
    can: Capabilities {
        extension: NAME,
        evidence: Evidence::Whole,
        // In a file of lines, each line begins like this. Nested values are indented, if there are
        // lines.
        restarts: &[
            Restart { before: b"\n", begins: b"{", is_sure: true },
            Restart { before: b"\n", begins: b"[", is_sure: true },
        ],
        separator: b"\n",
        end: End::Word,
        skips_blanks: true,
        no_mark: true,
        like_perl: true,
        ..Capabilities::TEXT
    },
    detect: detect::detect,
    begins: Some(detect::begins_like_json),
    detect_in_string: Some(detect::may_be_json),
    strings: Some(&strings::STRINGS),
    hides: None,
    reader: |settings| Box::new(ReadOptions::from_settings(settings)),
    writer: |settings| Box::new(WriteOptions::from_settings(settings)),
};

/// Code of the note for a number in another spelling than the default: its text.
const NUMBER_TEXT: u16 = 1;

/// Reads a document. Bytes after it are an error.
///
/// # Errors
/// Of kind `Malformed` or `Truncated`, for anything that is not JSON; `Trailing`, for more than one
/// document; `Limit`; `Unsupported`, for a number beyond the largest 64-bit float.
pub fn read<'a>(input: &'a [u8], options: &ReadOptions, limits: &Limits) -> Result<Document<'a>, Error> {
    options.read(input, Request::new(limits)).into_whole_document(input, &FORMAT)
}

/// Writes a document. Returns what JSON could not represent.
///
/// # Errors
/// Of kind `Unrepresentable`, for something that JSON can't represent at all, such as a cycle; of
/// kind `Limit`; any error of the output.
pub fn write(document: &Document<'_>, options: &WriteOptions, limits: &Limits, out: &mut dyn Output) -> Written {
    document.tape().check_structure()?;
    if options.typed {
        return typed::write_typed(document, options, limits, out).map(|()| Losses::default());
    }
    write_plain(document, Window::default(), Layout::One, options, limits, out)
}

/// Writes plain JSON, with plain names.
fn write_plain(
    document: &Document<'_>,
    window: Window,
    layout: Layout,
    options: &WriteOptions,
    limits: &Limits,
    out: &mut dyn Output,
) -> Written {
    write_metered(document, limits, out, |out| {
        let document = &*document.with_utf8_strings();
        write_named(document, &FORMAT, limits, |named| {
            let job = WriteJob { document: named, document_as_read: document, window, layout };
            write::write_document(&job, options, limits, &mut WriterMemory::default(), out)
        })
    })
}

fn read_plain<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    PlainJson(options).read(input, request)
}

/// Plain JSON, with the options for relaxed input.
#[derive(Debug)]
struct PlainJson<'r>(&'r ReadOptions);

impl Feed for PlainJson<'_> {
    const FORMAT: &'static Format = &FORMAT;

    fn feed_document<S: Sink>(&self, input: &[u8], limits: &Limits, sink: &mut S) -> (usize, Option<Error>) {
        match self.0.is_relaxed() {
            false => read::Reader::<_, true, false>::new(input, sink, limits, self.0).read(),
            true => read::Reader::<_, false, true>::new(input, sink, limits, self.0).read(),
        }
    }
}

impl Reader for ReadOptions {
    fn read<'a>(&self, input: &'a [u8], request: Request<'_>) -> Outcome<'a> {
        match is_typed_json(input, self) {
            true => typed::read_typed(input, self, request),
            false => PlainJson(self).read(input, request),
        }
    }

    fn fill_tape(&self, input: &[u8], limits: &Limits, tape: &mut Tape) -> Filled {
        if is_typed_json(input, self) {
            return Filled::by_reading(limits, tape, |request| self.read(input, request));
        }
        PlainJson(self).fill_tape(input, limits, tape)
    }

    fn read_windows<'a>(
        &self,
        input: &'a [u8],
        _: &'a Store,
        limits: &Limits,
        receive: ReceiveWindow<'_, 'a>,
    ) -> Rest<'a> {
        if is_typed_json(input, self) {
            return Rest::from_outcome(self.read(input, Request::new(limits)));
        }
        feed::read_windows(&PlainJson(self), input, limits, receive)
    }

    fn read_traced_windows<'a>(
        &self,
        input: &'a [u8],
        limits: &Limits,
        receive: ReceiveWindow<'_, 'a>,
    ) -> Option<Rest<'a>> {
        (!is_typed_json(input, self)).then(|| feed::read_traced_windows(&PlainJson(self), input, limits, receive))
    }

    fn new_skimmer<'i>(&self, input: Input<'i>) -> Option<Box<dyn Skim + 'i>> {
        (*self == ReadOptions::default()).then(|| Box::new(skim::Skimmer::new(input)) as Box<dyn Skim + 'i>)
    }

    fn scalar_reader(&self, input: &[u8]) -> Option<ReadScalar> {
        (!self.is_relaxed() && !is_typed_json(input, self)).then_some(stencil::read_scalar as ReadScalar)
    }

    fn states_form(&self, input: &[u8]) -> bool {
        is_typed_json(input, self)
    }

    fn has_own_form(&self, input: &[u8], tape: &Tape) -> bool {
        let mut has_zero = false;
        let is_other = |node: &Node| {
            has_zero |= node.kind == Kind::Int && node.payload == 0;
            !matches!(
                node.kind,
                Kind::Null | Kind::Bool | Kind::Text | Kind::Int | Kind::Uint | Kind::Array | Kind::Map
            )
        };
        tape.nodes().iter().any(is_other)
            || has_zero && input.windows(2).any(|pair| pair == b"-0")
            || input.trim_ascii_start().starts_with(b"{\"$")
    }
}

impl Writer for WriteOptions {
    /// Plain JSON only keeps the texts of numbers, and values that it can't represent.
    fn tells_own_form(&self) -> bool {
        !self.typed
    }

    fn keeps_hook_values(&self) -> bool {
        self.typed
    }

    fn write(&self, document: &Document<'_>, limits: &Limits, out: &mut dyn Output) -> Written {
        write(document, self, limits, out)
    }

    fn write_next(
        &self,
        document: &Document<'_>,
        limits: &Limits,
        memory: &mut Memory,
        out: &mut dyn Output,
    ) -> Written {
        if self.typed {
            return typed::write_typed(document, self, limits, out).map(|()| Losses::default());
        }
        let kept = memory.get_or_default::<WriterMemory>();
        kept.remove_stale_keys(document.tape().keys().generation());
        write_metered(document, limits, out, |out| {
            let read = document;
            let document = &*document.with_utf8_strings();
            write_named(document, &FORMAT, limits, |named| {
                let job = WriteJob {
                    document: named,
                    document_as_read: document,
                    window: Window::default(),
                    layout: Layout::One,
                };
                // With other names, the ids refer to other keys.
                let mut fresh_memory = WriterMemory::default();
                let kept = if std::ptr::eq(named, read) { kept } else { &mut fresh_memory };
                write::write_document(&job, self, limits, kept, out)
            })
        })
    }

    fn write_tape(&self, input: &[u8], tape: &Tape, memory: &mut Memory, out: &mut dyn Output) -> bool {
        let kept = memory.get_or_default::<WriterMemory>();
        kept.remove_stale_keys(tape.keys().generation());
        tape.header().is_none() && write::fast_record::write_record(input, tape, self, kept, out)
    }

    fn write_part(
        &self,
        document: &Document<'_>,
        part: DocumentPart<'_>,
        limits: &Limits,
        out: &mut dyn Output,
    ) -> Option<Written> {
        write_items(document, part, Layout::One, self, limits, out)
    }
}

/// Writes the items of a window, if the options ask for plain JSON only.
fn write_items(
    document: &Document<'_>,
    part: DocumentPart<'_>,
    layout: Layout,
    options: &WriteOptions,
    limits: &Limits,
    out: &mut dyn Output,
) -> Option<Written> {
    let DocumentPart::Items { before, skip, more } = part else { return None };
    let window = Window { before, skip, has_more: more };
    (!options.typed).then(|| write_plain(document, window, layout, options, limits, out))
}

/// Returns the text after a byte order mark, if there is one.
pub(crate) fn strip_byte_order_mark(input: &[u8]) -> &[u8] {
    input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(input)
}

/// Returns `true` if the input must be read as `json:typed`.
fn is_typed_json(input: &[u8], options: &ReadOptions) -> bool {
    options.typed.unwrap_or_else(|| {
        let rest = strip_byte_order_mark(input).trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
        rest.is_some_and(|rest| rest.starts_with(b"\"$icecore\""))
    })
}
