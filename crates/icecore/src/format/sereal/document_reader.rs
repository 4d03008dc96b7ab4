//! Reads a whole document: header, user header, decompression, body.

use super::compress::decompress;
use super::header::{Encoding, HAS_USER_HEADER, Header, OffsetBase};
use super::read::{Machine, read_varint};
use super::read_fast_body::read_fast_body;
use super::spelling::{Speller, header as code, varint_width};
use super::{FORMAT, ReadOptions};
use crate::document::{Detail, Detailed, Document, NO_NODE, ReceiveWindow, Recorder, Sink, Tape, Windows};
use crate::error::{Error, ErrorKind};
use crate::format::{Filled, Outcome, Request, Rest, Scan};
use crate::limits::Limits;
use std::borrow::Cow;
use std::sync::OnceLock;

/// The layer that offsets in a decompressed body belong to.
const BODY_LAYER: &str = "decompressed body";

/// Reads one document from the start of the input.
pub(super) fn read<'a>(input: &'a [u8], options: &ReadOptions, request: Request<'_>) -> Outcome<'a> {
    let Request { limits, detail, salvages, mut tape } = request;
    if !detail {
        let Filled { consumed, error, body, .. } = fill(input, options, limits, &mut tape);
        let buffer = body.map_or(Cow::Borrowed(input), Cow::Owned);
        return Outcome { document: Document::new(buffer, tape), consumed, error };
    }
    tape.clear_for(FORMAT.can.naming);
    let reading = DocumentReader { input, options, limits };
    let mut sink = Detailed { tape, detail: Detail::default() };
    sink.detail.spelling.format = "sereal".to_owned();
    sink.detail.defers_count_errors = salvages;
    let mut speller = Speller::default();
    let outcome = reading.read_document::<_, false>(&mut sink, &mut speller);
    speller.finish(&mut sink.detail.spelling, &sink.tape);
    if let Cow::Owned(body) = &outcome.buffer {
        sink.detail.trace.layer = Some(body.clone());
    }
    let error = sink.detail.take_count_error().or(outcome.error);
    Outcome { document: Document::from_detailed(outcome.buffer, sink), consumed: outcome.consumed, error }
}

/// Reads one document from the start of the input into a tape.
pub(super) fn fill(input: &[u8], options: &ReadOptions, limits: &Limits, tape: &mut Tape) -> Filled {
    tape.clear_for(FORMAT.can.naming);
    let reading = DocumentReader { input, options, limits };
    if let Some(consumed) = reading.read_simple(tape) {
        return Filled { consumed, error: None, body: None, is_simple: true };
    }
    tape.clear_for(FORMAT.can.naming);
    let mut speller = Speller::default();
    let outcome = if options.reference {
        reading.read_document::<_, false>(tape, &mut speller)
    } else {
        reading.read_document::<_, true>(tape, &mut speller)
    };
    let body = match outcome.buffer {
        Cow::Owned(body) => Some(body),
        Cow::Borrowed(_) => None,
    };
    Filled { consumed: outcome.consumed, error: outcome.error, body, is_simple: false }
}

/// Reads one document and hands over its items while reading continues. A body that was
/// compressed is kept in `store`.
pub(super) fn read_windows<'a>(
    input: &'a [u8],
    store: &'a OnceLock<Vec<u8>>,
    options: &ReadOptions,
    limits: &Limits,
    receive: ReceiveWindow<'_, 'a>,
) -> Rest<'a> {
    let reading = DocumentReader { input, options, limits };
    let mut speller = Speller::default();
    let header = Header::read(input, options).ok().filter(|header| !header.has_user_header);
    let unpacked = header.filter(|header| header.encoding != Encoding::Raw).and_then(|header| {
        let packed = reading.find_packed_body(&header, &mut Tape::new()).ok()?;
        let body = reading.unpack_body(&header, &packed).ok()?;
        Some((header.first_offset(), packed.end, store.get_or_init(|| body)))
    });
    match unpacked {
        Some((first, consumed, body)) => {
            let mut sink = Windows::new(body, FORMAT.can.naming, receive);
            let error = reading.read_body::<_, true>(body, first, &mut sink, &mut speller);
            Rest::new(sink, consumed, error)
        }
        None => {
            let mut sink = Windows::new(input, FORMAT.can.naming, receive);
            let outcome = reading.read_document::<_, true>(&mut sink, &mut speller);
            match outcome.buffer {
                Cow::Borrowed(_) => Rest::new(sink, outcome.consumed, outcome.error),
                // The body was compressed and follows a user header. Nothing was handed over, so it is read as a
                // whole.
                Cow::Owned(_) => Rest::from_outcome(read(input, options, Request::new(limits))),
            }
        }
    }
}

struct DocumentReader<'a, 'r> {
    input: &'a [u8],
    options: &'r ReadOptions,
    limits: &'r Limits,
}

/// Result of a reading.
struct ReadOutcome<'a> {
    /// The buffer that contains the strings of the tape.
    buffer: Cow<'a, [u8]>,
    consumed: usize,
    error: Option<Error>,
}

/// A compressed body in the input.
struct PackedBody {
    start: usize,
    end: usize,
    /// The stated length of a zlib body.
    declared: Option<u64>,
}

impl<'a> DocumentReader<'a, '_> {
    /// Reads a document without special features. Returns its end; `None` if it must be
    /// read in another way.
    fn read_simple(&self, tape: &mut Tape) -> Option<usize> {
        let options = self.options;
        let refuses = options.validate_utf8
            || options.reference
            || options.max_num_array_entries.is_some()
            || options.max_num_hash_entries.is_some();
        let len = self.input.len() as u64;
        if refuses || len > self.limits.string || len > u64::from(self.limits.nodes) || self.limits.depth < 64 {
            return None;
        }
        // The most common header has protocol 3 to 5, a body that is not compressed, and no suffix.
        let body = match self.input {
            [b'=', 0xF3, b'r', b'l', 3..=5, 0, ..] => 6,
            _ => return None,
        };
        tape.root = 0;
        read_fast_body(self.input, body, tape)
    }

    fn read_document<S: Sink, const FAST: bool>(&self, sink: &mut S, speller: &mut Speller) -> ReadOutcome<'a> {
        let failed = |end, error| ReadOutcome { buffer: Cow::Borrowed(self.input), consumed: end, error: Some(error) };
        let header = match Header::read(self.input, self.options) {
            Ok(header) => header,
            Err(error) => return failed(0, error),
        };
        self.record_header_spans(&header, sink);
        if header.has_user_header
            && let Err(error) = self.read_user_header(&header, sink, speller)
        {
            return failed(header.suffix_offset, error);
        }
        let root = sink.tape().len();
        sink.tape().root = root;
        let first = header.first_offset();

        if header.encoding == Encoding::Raw {
            let offset_base = OffsetBase { first_offset: first, start: header.end };
            let scan = Scan { input: self.input, offset: header.end };
            let machine = Machine::<S, FAST>::new(scan, offset_base, sink, speller, self.limits, self.options);
            let (consumed, error) = machine.read();
            return ReadOutcome { buffer: Cow::Borrowed(self.input), consumed, error };
        }

        let packed = match self.find_packed_body(&header, sink) {
            Ok(packed) => packed,
            Err(error) => return failed(header.end, error),
        };
        let body = match self.unpack_body(&header, &packed) {
            Ok(body) => body,
            Err(error) => return failed(header.end, error),
        };
        if let Some(detail) = sink.detail() {
            detail.layer = 1;
        }
        let error = self.read_body::<S, FAST>(&body, first, sink, speller);
        ReadOutcome { buffer: Cow::Owned(body), consumed: packed.end, error }
    }

    /// Reads a body that was decompressed.
    fn read_body<S: Sink, const FAST: bool>(
        &self,
        body: &[u8],
        first: u64,
        sink: &mut S,
        speller: &mut Speller,
    ) -> Option<Error> {
        let scan = Scan { input: body, offset: 0 };
        let offset_base = OffsetBase { first_offset: first, start: 0 };
        let (end, mut error) =
            Machine::<S, FAST>::new(scan, offset_base, sink, speller, self.limits, self.options).read();
        if error.is_none() && end < body.len() {
            let trailing_len = body.len() - end;
            error = Some(
                Error::new(ErrorKind::Trailing)
                    .at(end)
                    .expecting("the end of the body")
                    .finding(format!("{trailing_len} more bytes")),
            );
        }
        error.map(|error| error.in_layer(BODY_LAYER))
    }

    fn record_header_spans<S: Sink>(&self, header: &Header, sink: &mut S) {
        let Some(detail) = sink.detail() else { return };
        detail.record_span(0, 4, NO_NODE, "magic number");
        detail.record_span(4, 5, NO_NODE, "protocol and encoding");
        detail.record_span(header.length_offset, header.suffix_offset, NO_NODE, "length of the header");
        detail.record_header_note(code::VERSION, u64::from(header.version));
        detail.record_header_note(code::ENCODING, header.encoding as u64);
        let length_width = header.suffix_offset - header.length_offset;
        if !header.has_user_header {
            let suffix = self.input.get(header.suffix_offset..header.end).unwrap_or(&[]);
            detail.record_span(header.suffix_offset, header.end, NO_NODE, "header");
            if !suffix.is_empty() {
                let stored_range = detail.store_bytes(suffix);
                detail.record_header_note(code::SUFFIX, stored_range);
            }
        }
        if length_width != varint_width((header.end - header.suffix_offset) as u64) {
            detail.record_header_note(code::LENGTH_WIDTH, length_width as u64);
        }
    }

    fn read_user_header<S: Sink>(&self, header: &Header, sink: &mut S, speller: &mut Speller) -> Result<(), Error> {
        let start = header.suffix_offset + 1;
        let bits = self.input.get(header.suffix_offset).copied().unwrap_or(HAS_USER_HEADER);
        if let Some(detail) = sink.detail() {
            detail.record_span(header.suffix_offset, start, NO_NODE, "header bits");
            if bits != HAS_USER_HEADER {
                detail.record_header_note(code::BITS, u64::from(bits));
            }
        }
        let index = sink.tape().len();
        sink.tape().header = Some(index);
        sink.tape().root = u32::MAX;
        let input = self.input.get(..header.end).unwrap_or(&[]);
        let offset_base = OffsetBase { first_offset: 1, start };
        let scan = Scan { input, offset: start };
        let mut machine = Machine::<S, false>::new(scan, offset_base, sink, speller, self.limits, self.options);
        machine.copies_strings = header.encoding != Encoding::Raw;
        machine.is_header = true;
        let (end, error) = machine.read();
        speller.forget_body();
        match error {
            Some(error) => return Err(error),
            None if end < header.end => {
                sink.record_span(end, header.end, NO_NODE, "header");
                sink.record_header_bytes(code::SUFFIX, self.input.get(end..header.end).unwrap_or(&[]));
            }
            None => {}
        }
        Ok(())
    }

    /// Returns where the compressed body is.
    fn find_packed_body<S: Sink>(&self, header: &Header, sink: &mut S) -> Result<PackedBody, Error> {
        let mut scan = Scan { input: self.input, offset: header.end };
        let mut number = |scan: &mut Scan<'_>, subject| {
            let span_start = scan.offset;
            let value = read_varint(scan, subject)?;
            sink.record_span(span_start, scan.offset, NO_NODE, subject);
            Ok::<_, Error>(value)
        };
        let declared = match header.encoding {
            Encoding::Zlib => Some(number(&mut scan, "the length of the body")?),
            _ => None,
        };
        let len = match header.encoding {
            Encoding::Snappy => scan.remaining_len(),
            _ => usize::try_from(number(&mut scan, "the length of the compressed body")?).unwrap_or(usize::MAX),
        };
        let start = scan.offset;
        scan.read_bytes(len, "the compressed body")?;
        sink.record_span(start, scan.offset, NO_NODE, "compressed body");
        Ok(PackedBody { start, end: scan.offset, declared })
    }

    fn unpack_body(&self, header: &Header, packed: &PackedBody) -> Result<Vec<u8>, Error> {
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
