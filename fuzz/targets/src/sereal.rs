//! Sereal.

use crate::check::{self, agree, equal_but_numbers};
use crate::choice;
use crate::storable::assert_bytes;
use icecore::sereal::{Compress, SortKeys, WriteOptions, write};
use icecore::{Comparison, Document, Error, ErrorKind, Limits, NO_NODE, Outcome, Request, Stage};
use std::collections::HashSet;

pub(crate) fn read<'a>(data: &'a [u8], limits: &Limits, detail: bool) -> Outcome<'a> {
    let stage = Stage::parse("sereal").expect("a stage");
    let request = Request::new(limits);
    (stage.format().read)(data, stage.settings(), if detail { request.detailed() } else { request })
}

fn written(document: &Document<'_>, options: &WriteOptions) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    write(document, options, &check::wide_limits(), &mut out)?;
    Ok(out)
}

/// The fast and the plain reader agree, spans tile, and what was read is
/// written again: byte for byte with its spelling (compressed bodies: as they
/// are when decompressed), as an equal document without.
pub fn sereal_read(data: &[u8]) {
    let limits = check::limits();
    let fast = read(data, &limits, false);
    let slow = read(data, &limits, true);
    agree(&fast, &slow);
    check::tiles(&slow, data.len());
    check::visit(&fast.document);
    if fast.error.is_some() {
        return;
    }
    let again = written(&slow.document, &WriteOptions::default()).expect("written with its spelling");
    let raw = data.get(4).is_some_and(|byte| byte >> 4 == 0);
    if raw {
        // No encoder tracks a PAD, whose bit comes back on the tag behind it, or
        // copies what stands inside of a string.
        let is_odd = data.contains(&0xBF) && again.len() == slow.consumed || copies_no_item(data, &slow);
        if !is_odd || read(&again, &check::wide_limits(), false).document != slow.document {
            assert_bytes(&data[..slow.consumed], &again);
        }
    } else {
        let wide = check::wide_limits();
        let other = read(&again, &wide, true);
        assert!(other.error.is_none(), "what was written can't be read: {:?}", other.error);
        let body = |outcome: &Outcome<'_>| outcome.document.trace().and_then(|trace| trace.layer.clone());
        assert_bytes(&body(&slow).expect("a body"), &body(&other).expect("a body"));
        assert!(slow.document == other.document, "another document:\n{:?}\n{:?}", slow.document, other.document);
    }
    reads_back(&fast.document, &options(data));
}

/// Whether a COPY is of something else than an item.
fn copies_no_item(data: &[u8], outcome: &Outcome<'_>) -> bool {
    let spans = outcome.document.trace().map_or(&[][..], |trace| &trace.spans);
    let is_tag = |what: &str| what.starts_with(|c: char| c.is_ascii_uppercase());
    let tags: HashSet<u64> = spans.iter().filter(|span| is_tag(span.what)).map(|span| span.start).collect();
    // Of a document with several parts, each counts from its own start.
    let starts: Vec<u64> = spans.iter().filter(|span| span.what == "header bits").map(|span| span.end).collect();
    let body = spans.iter().filter(|span| span.node == NO_NODE).map(|span| span.end).max().unwrap_or(0);
    spans.windows(2).filter(|pair| pair[0].what == "COPY").any(|pair| {
        let bytes = data.get(pair[1].start as usize..pair[1].end as usize).unwrap_or(&[]);
        let offset = bytes.iter().rev().fold(0u64, |sum, byte| sum << 7 | u64::from(byte & 0x7F));
        let bases =
            if data[4] & 15 == 1 { vec![0] } else { starts.iter().chain([&body]).map(|start| start - 1).collect() };
        !bases.iter().any(|base| tags.contains(&(base + offset)))
    })
}

/// Options to write with, chosen by the bytes.
fn options(data: &[u8]) -> WriteOptions {
    let choice = choice(data);
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
        6 => options.compress = Some(Compress::Snappy),
        7 if options.protocol > Some(2) => options.compress = Some(Compress::Zlib),
        8 if options.protocol > Some(2) => options.compress = Some(Compress::Zstd),
        _ => {}
    }
    options
}

/// Written without its spelling it is an equal document, but for what the
/// writer says is lost.
fn reads_back(document: &Document<'_>, options: &WriteOptions) {
    let mut out = Vec::new();
    let losses = match write(document, options, &check::wide_limits(), &mut out) {
        Ok(losses) => losses,
        Err(error) if matches!(error.kind(), ErrorKind::Limit) => return,
        Err(error) => panic!("{error}\n{options:?}\n{document:?}"),
    };
    let wide = check::wide_limits();
    let again = read(&out, &wide, false);
    if let Some(error) = &again.error {
        panic!("{options:?}: what was written can't be read: {error}\n{document:?}\n{out:02x?}");
    }
    assert_eq!(again.consumed, out.len(), "more was written than is read");
    let comparison = match options.canonical || options.sort_keys != SortKeys::No {
        true => Comparison::new().any_order(),
        false => Comparison::new(),
    };
    // To write a string once and let others be its alias makes them one
    // variable: that is what the option is for.
    // And a COPY of a string that something refers to takes that one's place:
    // the decoder's own rule, which `dedupe_strings` falls over.
    let shares = options.aliased_dedupe_strings || options.dedupe_strings;
    if losses.is_empty()
        && !shares
        && !comparison.equal(document, &again.document)
        && !equal_but_numbers(document, &again.document)
    {
        panic!("{options:?}: another document comes back:\n{document:?}\n{:?}\n{out:02x?}", again.document);
    }
}
