//! Reads a whole document: header, user header, decompression, body.

use super::compress::decompress;
use super::header::{Encoding, HAS_USER_HEADER, Header, Origin};
use super::read::{Machine, varint};
use super::read_fast_body::read_fast_body;
use super::spelling::{Speller, header as code, width};
use super::{FORMAT, ReadOptions};
use crate::document::{Detail, Detailed, Document, NO_NODE, Receive, Recorder, Sink, Tape, Windows};
use crate::error::{Error, ErrorKind};
use crate::format::{Filled, Outcome, Request, Rest, Scan};
use crate::limits::Limits;
use std::borrow::Cow;
use std::sync::OnceLock;

/// The layer that offsets in a decompressed body belong to.
const LAYER: &str = "decompressed body";

/// Reads one document from the start of the input.
pub(super) fn read<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, mut tape } = request;
    if !detail {
        let Filled { consumed, error, body, .. } = fill(input, options, limits, &mut tape);
        let buffer = body.map_or(Cow::Borrowed(input), Cow::Owned);
        return Outcome { document: Document::new(buffer, tape), consumed, error };
    }
    tape.clear_for(FORMAT.can.naming);
    let reading = Reading { input, options, limits };
    let mut sink = Detailed { tape, detail: Detail::default() };
    sink.detail.spelling.format = "sereal".to_owned();
    let mut speller = Speller::default();
    let done = reading.document::<_, false>(&mut sink, &mut speller);
    speller.finish(&mut sink.detail.spelling, &sink.tape);
    if let Cow::Owned(body) = &done.buffer {
        sink.detail.trace.layer = Some(body.clone());
    }
    Outcome { document: Document::detailed(done.buffer, sink), consumed: done.consumed, error: done.error }
}

/// Reads one document from the start of the input into a tape.
pub(super) fn fill(input: &[u8], options: &ReadOptions, limits: &Limits, tape: &mut Tape) -> Filled {
    tape.clear_for(FORMAT.can.naming);
    let reading = Reading { input, options, limits };
    if let Some(consumed) = reading.simple(tape) {
        return Filled { consumed, error: None, body: None, is_simple: true };
    }
    tape.clear_for(FORMAT.can.naming);
    let mut speller = Speller::default();
    let done = if options.reference {
        reading.document::<_, false>(tape, &mut speller)
    } else {
        reading.document::<_, true>(tape, &mut speller)
    };
    let body = match done.buffer {
        Cow::Owned(body) => Some(body),
        Cow::Borrowed(_) => None,
    };
    Filled { consumed: done.consumed, error: done.error, body, is_simple: false }
}

/// Reads one document and hands over its items while reading continues. A body that was
/// compressed is kept in `store`.
pub(super) fn windows<'a>(
    input: &'a [u8],
    store: &'a OnceLock<Vec<u8>>,
    options: &ReadOptions,
    limits: &Limits,
    receive: Receive<'_, 'a>,
) -> Rest<'a> {
    let reading = Reading { input, options, limits };
    let mut speller = Speller::default();
    let header = Header::read(input, options).ok().filter(|header| !header.has_user_header);
    let unpacked = header.filter(|header| header.encoding != Encoding::Raw).and_then(|header| {
        let packed = reading.packed(&header, &mut Tape::new()).ok()?;
        let body = reading.unpack(&header, &packed).ok()?;
        Some((header.first(), packed.end, store.get_or_init(|| body)))
    });
    match unpacked {
        Some((first, consumed, body)) => {
            let mut sink = Windows::new(body, FORMAT.can.naming, receive);
            let error = reading.body::<_, true>(body, first, &mut sink, &mut speller);
            Rest::new(sink, consumed, error)
        }
        None => {
            let mut sink = Windows::new(input, FORMAT.can.naming, receive);
            let done = reading.document::<_, true>(&mut sink, &mut speller);
            match done.buffer {
                Cow::Borrowed(_) => Rest::new(sink, done.consumed, done.error),
                // A compressed body after a user header: nothing was handed over.
                Cow::Owned(_) => Rest::whole(read(input, options, Request::new(limits))),
            }
        }
    }
}

struct Reading<'a, 'r> {
    input: &'a [u8],
    options: &'r ReadOptions,
    limits: &'r Limits,
}

/// Result of a reading.
struct Done<'a> {
    /// The buffer that contains the strings of the tape.
    buffer: Cow<'a, [u8]>,
    consumed: usize,
    error: Option<Error>,
}

/// A compressed body in the input.
struct Packed {
    start: usize,
    end: usize,
    /// The stated length of a zlib body.
    declared: Option<u64>,
}

impl<'a> Reading<'a, '_> {
    /// Reads a document without special features. Returns its end; `None` if it must be
    /// read in another way.
    fn simple(&self, tape: &mut Tape) -> Option<usize> {
        let options = self.options;
        let refuses = options.validate_utf8
            || options.reference
            || options.max_num_array_entries.is_some()
            || options.max_num_hash_entries.is_some();
        let len = self.input.len() as u64;
        if refuses || len > self.limits.string || len > u64::from(self.limits.nodes) || self.limits.depth < 64 {
            return None;
        }
        // The most common header: protocol 3 to 5, raw, no suffix.
        let body = match self.input {
            [b'=', 0xF3, b'r', b'l', 3..=5, 0, ..] => 6,
            _ => return None,
        };
        tape.root = 0;
        read_fast_body(self.input, body, tape)
    }

    fn document<S: Sink, const FAST: bool>(&self, sink: &mut S, speller: &mut Speller) -> Done<'a> {
        let failed = |at, error| Done { buffer: Cow::Borrowed(self.input), consumed: at, error: Some(error) };
        let header = match Header::read(self.input, self.options) {
            Ok(header) => header,
            Err(error) => return failed(0, error),
        };
        self.header_spans(&header, sink);
        if header.has_user_header
            && let Err(error) = self.user_header(&header, sink, speller)
        {
            return failed(header.suffix_at, error);
        }
        let root = sink.tape().len();
        sink.tape().root = root;
        let first = header.first();

        if header.encoding == Encoding::Raw {
            let origin = Origin { first, start: header.end };
            let scan = Scan { input: self.input, at: header.end };
            let machine = Machine::<S, FAST>::new(scan, origin, sink, speller, self.limits, self.options);
            let (consumed, error) = machine.read();
            return Done { buffer: Cow::Borrowed(self.input), consumed, error };
        }

        let packed = match self.packed(&header, sink) {
            Ok(packed) => packed,
            Err(error) => return failed(header.end, error),
        };
        let body = match self.unpack(&header, &packed) {
            Ok(body) => body,
            Err(error) => return failed(header.end, error),
        };
        if let Some(detail) = sink.detail() {
            detail.layer = 1;
        }
        let error = self.body::<S, FAST>(&body, first, sink, speller);
        Done { buffer: Cow::Owned(body), consumed: packed.end, error }
    }

    /// Reads a body that was decompressed.
    fn body<S: Sink, const FAST: bool>(
        &self,
        body: &[u8],
        first: u64,
        sink: &mut S,
        speller: &mut Speller,
    ) -> Option<Error> {
        let scan = Scan { input: body, at: 0 };
        let origin = Origin { first, start: 0 };
        let (end, mut error) = Machine::<S, FAST>::new(scan, origin, sink, speller, self.limits, self.options).read();
        if error.is_none() && end < body.len() {
            let more = body.len() - end;
            error = Some(
                Error::new(ErrorKind::Trailing)
                    .at(end)
                    .expecting("the end of the body")
                    .finding(format!("{more} more bytes")),
            );
        }
        error.map(|error| error.in_layer(LAYER))
    }

    fn header_spans<S: Sink>(&self, header: &Header, sink: &mut S) {
        let Some(detail) = sink.detail() else { return };
        detail.span(0, 4, NO_NODE, "magic number");
        detail.span(4, 5, NO_NODE, "protocol and encoding");
        detail.span(header.length_at, header.suffix_at, NO_NODE, "length of the header");
        detail.header(code::VERSION, u64::from(header.version));
        detail.header(code::ENCODING, header.encoding as u64);
        let taken = header.suffix_at - header.length_at;
        if !header.has_user_header {
            let suffix = self.input.get(header.suffix_at..header.end).unwrap_or(&[]);
            detail.span(header.suffix_at, header.end, NO_NODE, "header");
            if !suffix.is_empty() {
                let kept = detail.keep(suffix);
                detail.header(code::SUFFIX, kept);
            }
        }
        if taken != width((header.end - header.suffix_at) as u64) {
            detail.header(code::LENGTH_WIDTH, taken as u64);
        }
    }

    fn user_header<S: Sink>(&self, header: &Header, sink: &mut S, speller: &mut Speller) -> Result<(), Error> {
        let start = header.suffix_at + 1;
        let bits = self.input.get(header.suffix_at).copied().unwrap_or(HAS_USER_HEADER);
        if let Some(detail) = sink.detail() {
            detail.span(header.suffix_at, start, NO_NODE, "header bits");
            if bits != HAS_USER_HEADER {
                detail.header(code::BITS, u64::from(bits));
            }
        }
        let index = sink.tape().len();
        sink.tape().header = Some(index);
        sink.tape().root = u32::MAX;
        let input = self.input.get(..header.end).unwrap_or(&[]);
        let origin = Origin { first: 1, start };
        let scan = Scan { input, at: start };
        let mut machine = Machine::<S, false>::new(scan, origin, sink, speller, self.limits, self.options);
        machine.own = header.encoding != Encoding::Raw;
        machine.is_header = true;
        let (end, error) = machine.read();
        speller.next_body();
        match error {
            Some(error) => return Err(error),
            None if end < header.end => {
                sink.span(end, header.end, NO_NODE, "header");
                sink.note_header_bytes(code::SUFFIX, self.input.get(end..header.end).unwrap_or(&[]));
            }
            None => {}
        }
        Ok(())
    }

    /// Returns where the compressed body is.
    fn packed<S: Sink>(&self, header: &Header, sink: &mut S) -> Result<Packed, Error> {
        let mut scan = Scan { input: self.input, at: header.end };
        let mut number = |scan: &mut Scan<'_>, what| {
            let from = scan.at;
            let value = varint(scan, what)?;
            sink.span(from, scan.at, NO_NODE, what);
            Ok::<_, Error>(value)
        };
        let declared = match header.encoding {
            Encoding::Zlib => Some(number(&mut scan, "the length of the body")?),
            _ => None,
        };
        let len = match header.encoding {
            Encoding::Snappy => scan.left(),
            _ => usize::try_from(number(&mut scan, "the length of the compressed body")?).unwrap_or(usize::MAX),
        };
        let start = scan.at;
        scan.take(len, "the compressed body")?;
        sink.span(start, scan.at, NO_NODE, "compressed body");
        Ok(Packed { start, end: scan.at, declared })
    }

    fn unpack(&self, header: &Header, packed: &Packed) -> Result<Vec<u8>, Error> {
        let small = self.input.get(packed.start..packed.end).unwrap_or(&[]);
        let body = decompress(header.encoding, small, self.limits).map_err(|error| error.at(packed.start))?;
        match packed.declared {
            Some(declared) if declared != body.len() as u64 => Err(Error::new(ErrorKind::Malformed)
                .at(packed.start)
                .expecting(format!("a body of {declared} bytes"))
                .finding(format!("one of {}", body.len()))),
            _ => Ok(body),
        }
    }
}
