//! Sereal.

use crate::check::{self, Detail, assert_agreement, equal_but_numbers};
use crate::choice_from_bytes;
use crate::storable::assert_bytes;
use icecore::format::sereal::{Compress, ReadOptions, SortKeys, WriteOptions, write};
use icecore::raw::Reader as _;
use icecore::{
    Document, Error, ErrorKind, Kind, Limits, Request, Stage,
    raw::{Outcome, Span},
    value::Comparison,
};
use std::collections::HashSet;

pub(crate) fn read_sereal<'a>(data: &'a [u8], limits: &Limits, detail: Detail) -> Outcome<'a> {
    let stage = Stage::parse("sereal").expect("a stage");
    stage.format().read(data, stage.settings(), check::request_with(limits, detail))
}

fn write_sereal(document: &Document<'_>, options: &WriteOptions) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    write(document, options, &check::wide_limits(), &mut out)?;
    Ok(out)
}

/// Checks that the fast reader, its plain twin and the detailed reading agree, and so do the fast writer and its twin;
/// that spans tile; and that the document is written again: byte for byte with its spelling (compressed bodies: as they
/// are when decompressed), as an equal document without it.
pub fn sereal_read(data: &[u8]) {
    let limits = check::small_limits();
    let fast = read_sereal(data, &limits, Detail::Without);
    let slow = read_sereal(data, &limits, Detail::With);
    let mut reference_options = ReadOptions::default();
    reference_options.reference = true;
    assert_agreement(&fast, &reference_options.read(data, Request::new(&limits)));
    assert_agreement(&fast, &slow);
    check::assert_spans_tile(&slow, data.len());
    check::visit_document(&fast.document);
    if fast.error.is_some() {
        return;
    }
    let rewritten = write_sereal(&slow.document, &WriteOptions::default()).expect("written with its spelling");
    let wide = check::wide_limits();
    let reread = read_sereal(&rewritten, &wide, Detail::With);
    assert!(reread.error.is_none(), "what was written can't be read: {:?}", reread.error);
    assert!(slow.document == reread.document, "another document:\n{:?}\n{:?}", slow.document, reread.document);
    // Cases that no encoder writes, and for which only an equal document is guaranteed: a tracked PAD, whose bit comes
    // back on the tag after it; a second WEAKEN, which is left out; and a COPY of something other than a string, which
    // is written in full.
    if !tracks_pad(data, &slow) && !weakens_twice(data, &slow) && !copies_non_string(data, &slow) {
        let is_uncompressed = data.get(4).is_some_and(|byte| byte >> 4 == 0);
        if is_uncompressed {
            assert_bytes(&data[..slow.consumed], &rewritten);
        } else {
            assert_bytes(decompressed_body(&slow), decompressed_body(&reread));
        }
    }
    check_round_trip(&fast.document, &choose_options(data));
}

/// Returns the decompressed body; empty if the body is not compressed.
fn decompressed_body<'o>(outcome: &'o Outcome<'_>) -> &'o [u8] {
    outcome.document.trace().and_then(|trace| trace.layer.as_deref()).unwrap_or_default()
}

/// Returns the spans of a layer, and the bytes of that layer.
fn spans_of<'o>(data: &'o [u8], outcome: &'o Outcome<'_>, layer: u8) -> (Vec<&'o Span>, &'o [u8]) {
    let spans = outcome.document.trace().map_or(&[][..], |trace| &trace.spans);
    (
        spans.iter().filter(|span| span.layer == layer).collect(),
        if layer == 0 { data } else { decompressed_body(outcome) },
    )
}

fn tracks_pad(data: &[u8], outcome: &Outcome<'_>) -> bool {
    (0..2).any(|layer| {
        let (spans, bytes) = spans_of(data, outcome, layer);
        let mut pads = spans.iter().filter(|span| span.name == "PAD");
        pads.any(|span| bytes[span.start as usize..span.end as usize].contains(&0xBF))
    })
}

fn weakens_twice(data: &[u8], outcome: &Outcome<'_>) -> bool {
    (0..2).any(|layer| {
        let (spans, _) = spans_of(data, outcome, layer);
        let mut tags = spans.iter().filter(|span| span.name != "PAD").map(|span| span.name);
        let mut previous = "";
        tags.any(|name| std::mem::replace(&mut previous, name) == "WEAKEN" && name == "WEAKEN")
    })
}

/// Returns true if a COPY refers to something other than a string of the document.
fn copies_non_string(data: &[u8], outcome: &Outcome<'_>) -> bool {
    (0..2).any(|layer| {
        let (spans, bytes) = spans_of(data, outcome, layer);
        let is_string = |name: &str| matches!(name, "SHORT_BINARY" | "BINARY" | "STR_UTF8");
        let strings: HashSet<u64> = spans.iter().filter(|span| is_string(span.name)).map(|span| span.start).collect();
        // In a document with several parts, each part counts from its own start; in protocol 1 the body counts from the
        // start of the header.
        let read_number = |span: &Span, bytes: &[u8]| {
            let digits = bytes.get(span.start as usize..span.end as usize).unwrap_or(&[]);
            digits.iter().rev().fold(0i64, |sum, byte| sum << 7 | i64::from(byte & 0x7F))
        };
        let (header_spans, _) = spans_of(data, outcome, 0);
        let header_len = header_spans.iter().find(|span| span.name == "length of the header");
        let body_start = header_len.map_or(0, |span| span.end as i64 + read_number(span, data));
        let user_header_start = spans.iter().find(|span| span.name == "header bits").map_or(0, |span| span.end as i64);
        let base = |offset: u64| match (data[4] & 15, layer) {
            (1, 0) => 0,
            (1, _) => -body_start,
            (_, 0) if (offset as i64) < body_start => user_header_start - 1,
            (_, 0) => body_start - 1,
            _ => -1,
        };
        spans.windows(2).filter(|pair| pair[0].name == "COPY").any(|pair| {
            !u64::try_from(base(pair[0].start) + read_number(pair[1], bytes))
                .is_ok_and(|offset| strings.contains(&offset))
        })
    })
}

/// Returns options for writing, chosen by the bytes.
fn choose_options(data: &[u8]) -> WriteOptions {
    let choice = choice_from_bytes(data);
    let mut options = WriteOptions::default();
    options.protocol = Some((choice % 5 + 1) as u8);
    options.threshold = Some(0);
    match choice >> 4 & 15 {
        0 => options.dedupe_strings = true,
        1 => options.aliased_dedupe_strings = true,
        2 => options.no_shared_hashkeys = true,
        3 => options.canonical_refs = true,
        4 => options.canonical = true,
        5 => options.sort_keys = SortKeys::Perl,
        6 if options.protocol == Some(1) => options.compress = Some(Compress::SnappyToEnd),
        6 => options.compress = Some(Compress::Snappy),
        7 if options.protocol > Some(2) => options.compress = Some(Compress::Zlib),
        8 if options.protocol > Some(2) => options.compress = Some(Compress::Zstd),
        _ => {}
    }
    options
}

/// Returns true if a regexp has a modifier that Sereal's decoder refuses. The writer puts it into a group: `(?n:…)`.
fn has_moved_modifiers(document: &Document<'_>) -> bool {
    let regexps = (0u32..).zip(document.nodes()).filter(|(_, node)| node.kind == Kind::Regexp);
    regexps
        .filter_map(|(index, _)| document.at(index)?.children().nth(1))
        .any(|flags| flags.target().as_bytes().is_some_and(|flags| flags.iter().any(|flag| b"na".contains(flag))))
}

/// Checks that the document written without its spelling is equal, except for the losses that the writer reports.
fn check_round_trip(document: &Document<'_>, options: &WriteOptions) {
    let mut out = Vec::new();
    let losses = match write(document, options, &check::wide_limits(), &mut out) {
        Ok(losses) => losses,
        // A hash with a repeated key is not a document of Sereal; the value at the first one can't be left out if
        // something refers to it.
        Err(error) if matches!(error.kind(), ErrorKind::Limit | ErrorKind::Unrepresentable) => return,
        Err(error) => panic!("{error}\n{options:?}\n{document:?}"),
    };
    let mut reference_options = options.clone();
    reference_options.reference = true;
    assert_bytes(&write_sereal(document, &reference_options).expect("written without tight loops"), &out);
    let wide = check::wide_limits();
    let reread = read_sereal(&out, &wide, Detail::Without);
    if let Some(error) = &reread.error {
        panic!("{options:?}: what was written can't be read: {error}\n{document:?}\n{out:02x?}");
    }
    assert_eq!(reread.consumed, out.len(), "more was written than is read");
    let comparison = match options.canonical || options.sort_keys != SortKeys::No {
        true => Comparison::new().any_order(),
        false => Comparison::new(),
    };
    // The option `aliased_dedupe_strings` makes equal strings one variable on purpose.
    if losses.is_empty()
        && !options.aliased_dedupe_strings
        && !has_moved_modifiers(document)
        && !comparison.equal(document, &reread.document)
        && !equal_but_numbers(document, &reread.document)
    {
        panic!("{options:?}: another document comes back:\n{document:?}\n{:?}\n{out:02x?}", reread.document);
    }
}
