//! Sereal documents that are broken, huge or deep, and random ones.

use crate::fixtures;

use crate::common::{Palette, Random, document, on_a_small_stack, usual_or_full};
use icecore::format::sereal::{self, Compress, ReadOptions, SortKeys, WriteOptions};
use icecore::raw::Reader as _;
use icecore::{
    Document, ErrorKind, Kind, Limits, Losses, Request,
    raw::{Node, Outcome},
};

const HEADER: &[u8] = b"=\xF3rl\x05\x00";

fn with_header(body: impl AsRef<[u8]>) -> Vec<u8> {
    [HEADER, body.as_ref()].concat()
}

fn read_plain_options() -> ReadOptions {
    let mut options = ReadOptions::default();
    options.reference = true;
    options
}

fn write(document: &Document<'_>, options: &WriteOptions) -> Vec<u8> {
    let mut out = Vec::new();
    sereal::write(document, options, &Limits::default(), &mut out).unwrap();
    out
}

/// Writes a document. A random document may contain what is not a value in Perl: an object that is
/// itself, or a hash as a key.
fn try_write(document: &Document<'_>, options: &WriteOptions) -> Option<(Vec<u8>, Losses)> {
    let mut out = Vec::new();
    match sereal::write(document, options, &Limits::default(), &mut out) {
        Ok(losses) => Some((out, losses)),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Unrepresentable, "{error}\n{document:?}");
            assert!(error.path().is_some(), "{error}\n{document:?}");
            None
        }
    }
}

fn read(blob: &[u8]) -> Document<'_> {
    sereal::read(blob, &ReadOptions::default(), &Limits::default()).unwrap()
}

/// Reads in all three ways, and checks that they agree.
fn read_all_ways<'a>(blob: &'a [u8], limits: &Limits) -> Outcome<'a> {
    let fast = ReadOptions::default().read(blob, Request::new(limits));
    let slow = read_plain_options().read(blob, Request::new(limits));
    let detailed = read_plain_options().read(blob, Request::new(limits).detailed());
    for other in [&slow, &detailed] {
        assert_eq!(fast.error, other.error, "{blob:02x?}");
        assert_eq!(fast.consumed, other.consumed, "{blob:02x?}");
        assert!(fast.document == other.document, "{blob:02x?}");
    }
    fast
}

/// Returns all write options that keep a document.
fn lossless_write_options() -> Vec<WriteOptions> {
    let mut all = Vec::new();
    for protocol in 1..=5 {
        let mut options = WriteOptions::default();
        options.protocol = Some(protocol);
        all.push(options);
    }
    let mut add = |set: fn(&mut WriteOptions)| {
        let mut options = WriteOptions::default();
        options.threshold = Some(0);
        set(&mut options);
        all.push(options);
    };
    add(|options| options.canonical = true);
    add(|options| options.canonical_refs = true);
    add(|options| options.sort_keys = SortKeys::Perl);
    add(|options| options.sort_keys = SortKeys::PerlReverse);
    add(|options| options.dedupe_strings = true);
    add(|options| options.no_shared_hashkeys = true);
    add(|options| options.compress = Some(Compress::Snappy));
    add(|options| options.compress = Some(Compress::Zlib));
    add(|options| options.compress = Some(Compress::Zstd));
    all
}

/// Returns `true` if a link refers to a reference. It means the same as an alias after another reference, and
/// is read as one.
fn has_odd_links(document: &Document<'_>) -> bool {
    let nodes = document.nodes();
    let is_odd =
        |node: &Node| nodes.get(node.payload as usize).is_none_or(|to| to.kind == Kind::Ref || !to.kind.is_container());
    nodes.iter().any(|node| node.kind == Kind::Link && is_odd(node))
}

#[test]
fn random_documents_round_trip() {
    let comparison = icecore::value::Comparison::new().any_order();
    let mut exact = 0;
    for seed in 0..600 {
        let document = document(seed, Palette::Perl);
        for options in lossless_write_options() {
            let Some((out, losses)) = try_write(&document, &options) else { continue };
            let outcome = read_all_ways(&out, &Limits::default());
            assert_eq!(outcome.error, None, "{seed} {options:?}\n{document:?}");
            if losses.is_empty() && !has_odd_links(&document) {
                exact += 1;
                assert!(
                    comparison.equal(&outcome.document, &document),
                    "{seed} {options:?}\n{document:?}\n{:?}",
                    outcome.document
                );
            }
        }
    }
    assert!(exact > 1000, "only {exact} without a loss");
}

#[test]
fn a_second_round_trip_loses_nothing_more() {
    for seed in 0..600 {
        let document = document(seed, Palette::All);
        for options in
            [WriteOptions::default(), lossless_write_options().swap_remove(5), lossless_write_options().swap_remove(0)]
        {
            let Some((out, _)) = try_write(&document, &options) else { continue };
            let outcome = read_all_ways(&out, &Limits::default());
            assert_eq!(outcome.error, None, "{seed} {options:?}\n{document:?}");
            let rewritten = write(&outcome.document, &options);
            let twice = read(&rewritten);
            assert!(twice == outcome.document, "{seed} {options:?}\n{document:?}\n{:?}", outcome.document);
        }
    }
}

#[test]
fn spelling_of_random_documents_is_kept() {
    let limits = Limits::default();
    for seed in 0..300 {
        for options in lossless_write_options() {
            let Some((blob, _)) = try_write(&document(seed, Palette::Perl), &options) else { continue };
            let read = ReadOptions::default().read(&blob, Request::new(&limits).detailed());
            let Some((rewritten, _)) = try_write(&read.document, &WriteOptions::default()) else {
                panic!("{seed} {options:?} {blob:02x?}\n{:?}", read.document)
            };
            assert_eq!(rewritten, blob, "{seed} {options:?}\n{:?}", read.document);
        }
    }
}

/// Returns small blobs of many kinds.
fn samples(count: usize) -> Vec<Vec<u8>> {
    let all = fixtures::load("sereal.jsonl");
    let mut small: Vec<_> = all
        .into_iter()
        .filter(|fixture| (20..400).contains(&fixture.blob.len()) && fixture.mode != "several")
        .collect();
    let mut random = Random::new(7);
    (0..count).map(|_| small.swap_remove(random.below(small.len() as u64) as usize).blob).collect()
}

#[test]
fn every_truncation_is_an_error() {
    for blob in samples(60) {
        if read_all_ways(&blob, &Limits::default()).error.is_some() {
            continue;
        }
        for len in 0..blob.len() {
            let outcome = read_all_ways(&blob[..len], &Limits::default());
            assert!(outcome.error.is_some(), "{len} of {blob:02x?}");
        }
    }
}

#[test]
fn changed_bytes_do_not_panic() {
    for blob in samples(usual_or_full(10, 30)) {
        let mut changed = blob.clone();
        for offset in 0..blob.len() {
            for bit in 0..8 {
                changed[offset] = blob[offset] ^ 1 << bit;
                read_all_ways(&changed, &Limits::default());
            }
            for value in [0x00, 0x28, 0x29, 0x2E, 0x2F, 0x30, 0x3F, 0x7F, 0xFF] {
                changed[offset] = value;
                let outcome = read_all_ways(&changed, &Limits::default());
                if outcome.error.is_none() {
                    // A hash may now have a duplicate key, which only its spelling keeps.
                    try_write(&outcome.document, &WriteOptions::default());
                    let limits = Limits::default();
                    let request = Request::new(&limits).detailed();
                    let detailed = ReadOptions::default().read(&changed, request);
                    write(&detailed.document, &WriteOptions::default());
                }
            }
            changed[offset] = blob[offset];
        }
    }
}

/// Returns the kind and the offset of the error from reading a body.
fn error_of(body: &[u8]) -> (ErrorKind, Option<u64>) {
    let blob = with_header(body);
    let error = read_all_ways(&blob, &Limits::default()).error.unwrap_or_else(|| panic!("{body:02x?} was read"));
    (error.kind(), error.offset().map(|offset| offset.saturating_sub(HEADER.len() as u64)))
}

#[test]
fn errors_in_bodies_have_kinds_and_offsets() {
    use ErrorKind::{BadLink, Malformed, Truncated};
    for (name, body, kind, offset) in [
        ("nothing", &b""[..], Truncated, 0),
        ("a reserved tag", b"\x36\0", Malformed, 0),
        ("MANY", b"\x3C\0", Malformed, 0),
        ("PACKET_START", b"\x3Dsrl", Malformed, 0),
        ("EXTEND", b"\x3E\0\0", Malformed, 0),
        ("REFP forwards", b"\x42\x29\x05\x28\xAA\0", BadLink, 1),
        ("REFP to what is not tracked", b"\x42\x28\x2A\0\x29\x03", BadLink, 4),
        ("REFP to itself, not tracked", b"\x41\x29\x02", BadLink, 1),
        ("REFP to nothing", b"\x41\x29\x00", BadLink, 1),
        ("ALIAS to what is not tracked", b"\x42\x01\x2E\x02", BadLink, 2),
        ("ALIAS as the root", b"\x2E\x01", Malformed, 0),
        ("ALIAS after REFN", b"\x42\x81\x28\x2E\x02", Malformed, 3),
        ("ALIAS of an array", b"\x42\x28\xAB\0\x2E\x03", BadLink, 4),
        ("a COPY of a COPY", b"\x43\x61a\x2F\x02\x2F\x04", BadLink, 3),
        ("a COPY of itself", b"\x41\x2F\x02", BadLink, 1),
        ("a COPY of the array it is in", b"\x42\x01\x2F\x01", BadLink, 2),
        ("a COPY with an ALIAS", b"\x43\x81\x2E\x02\x2F\x03", Malformed, 2),
        ("a key that is not a string", b"\x51\x01\x01", Malformed, 1),
        ("a PAD before a key", b"\x51\x3F\x61a\x01", Malformed, 1),
        ("a key that is a COPY of a number", b"\x42\x07\x51\x2F\x02\x01", BadLink, 3),
        ("a key that is a COPY of a COPY", b"\x43\x61a\x51\x2F\x02\x01\x51\x2F\x05\x01", BadLink, 8),
        ("a class name that is not a string", b"\x2C\x01\x50", Malformed, 1),
        ("OBJECTV without OBJECT", b"\x42\x61a\x2D\x02\x50", BadLink, 3),
        ("an object that is not a reference", b"\x2C\x61A\x01", Malformed, 3),
        ("WEAKEN of a number", b"\x30\x01", Malformed, 0),
        ("OBJECT_FREEZE without an array", b"\x32\x61A\x50", Malformed, 3),
        ("modifiers that are not a string", b"\x31\x61a\x26\0", Malformed, 3),
        ("an unknown modifier", b"\x31\x61a\x61z", Malformed, 4),
        ("a long varint", b"\x20\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\0", Malformed, 1),
        ("a varint of 65 bits", b"\x20\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02", Malformed, 1),
        ("a length that lies", b"\x26\xFF\xFF\xFF\xFF\x0Fabc", Truncated, 9),
        ("a count that lies", b"\x28\x2B\xFF\xFF\xFF\xFF\x0F\x01", Truncated, 8),
        ("a count of entries that lies", b"\x28\x2A\x02\x61a\x01", Truncated, 6),
    ] {
        assert_eq!(error_of(body), (kind, Some(offset)), "{name}");
    }
}

#[test]
fn errors_have_a_path_and_a_partial_document() {
    let blob = with_header(b"\x52\x61a\x42\x01\x02\x61b\x42\x03\x36");
    let outcome = read_all_ways(&blob, &Limits::default());
    assert_eq!(outcome.error.unwrap().path(), Some("$.b[1]"));
    assert_eq!(icecore::write(&outcome.document, "json").unwrap(), br#"{"a":[1,2],"b":[3]}"#);
}

#[test]
fn wrong_headers_are_distinguished() {
    for (input, kind, says) in [
        (&b"=\xC3\xB3rl\x05\x00\x01"[..], ErrorKind::Format, "encoded as UTF-8"),
        (b"=srl\x05\x00\x01", ErrorKind::Malformed, "version 5"),
        (b"=\xF3rl\x02\x00\x01", ErrorKind::Malformed, "version 2"),
        (b"=\xF3rl\x06\x00\x01", ErrorKind::Unsupported, "protocol 6"),
        (b"=\xF3rl\x75\x00\x01", ErrorKind::Malformed, "encoding 7"),
        (b"=\xF3rl\x05\x05\x01", ErrorKind::Truncated, "the header"),
        (b"hello", ErrorKind::Format, "=srl"),
        (b"=s", ErrorKind::Truncated, "magic"),
    ] {
        let error = sereal::read(input, &ReadOptions::default(), &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn options_refuse_objects_and_invalid_utf8() {
    let mut options = ReadOptions::default();
    options.refuse_objects = true;
    let object = with_header(b"\x2C\x61A\x50");
    assert_eq!(sereal::read(&object, &options, &Limits::default()).unwrap_err().kind(), ErrorKind::Unsupported);

    let mut options = ReadOptions::default();
    options.validate_utf8 = true;
    for list in [&b"\x41\x27\x02a\xFF"[..], b"\x51\x27\x02a\xFF\x01"] {
        let blob = with_header(list);
        let error = sereal::read(&blob, &options, &Limits::default()).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Malformed, Some(10)));
    }

    for (body, set) in [
        (&b"\x42\x01\x02"[..], (|options| options.max_num_array_entries = Some(1)) as fn(&mut ReadOptions)),
        (b"\x41\x52\x61a\x01\x61b\x01", |options| options.max_num_hash_entries = Some(1)),
    ] {
        let mut options = ReadOptions::default();
        set(&mut options);
        let blob = with_header(body);
        assert_eq!(sereal::read(&blob, &options, &Limits::default()).unwrap_err().kind(), ErrorKind::Limit);
    }

    for (compress, set) in [
        (Compress::Snappy, (|options| options.refuse_snappy = true) as fn(&mut ReadOptions)),
        (Compress::Zlib, |options| options.refuse_zlib = true),
        (Compress::Zstd, |options| options.refuse_zstd = true),
    ] {
        let mut writing = WriteOptions::default();
        writing.compress = Some(compress);
        let long = with_header([&b"\x26\x80\x10"[..], &[b'x'; 2048]].concat());
        let blob = write(&read(&long), &writing);
        let mut options = ReadOptions::default();
        set(&mut options);
        assert_eq!(sereal::read(&blob, &options, &Limits::default()).unwrap_err().kind(), ErrorKind::Unsupported);
    }
}

#[test]
fn expansion_by_copies_is_limited() {
    // An array of 100,000 numbers, and the same number of copies of it.
    const COUNT: usize = 100_000;
    let mut body = vec![0x42, 0x28, 0x2B, 0xA0, 0x8D, 0x06];
    body.extend(vec![1; COUNT]);
    body.extend([0x28, 0x2B, 0xA0, 0x8D, 0x06]);
    body.extend(std::iter::repeat_n([0x2F, 0x02], COUNT).flatten());
    let blob = with_header(&body);
    for options in [ReadOptions::default(), read_plain_options()] {
        let error = sereal::read(&blob, &options, &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    }
}

#[test]
fn expansion_by_compression_is_limited() {
    let zeros = vec![0; 80 << 20];
    let mut builder = icecore::Builder::new();
    builder.bytes(&zeros);
    let bomb = builder.finish().unwrap();
    for compress in [Compress::Zlib, Compress::Zstd] {
        let mut options = WriteOptions::default();
        options.compress = Some(compress);
        let blob = write(&bomb, &options);
        let mut limits = Limits::default();
        limits.ratio = 16;
        let error = sereal::read(&blob, &ReadOptions::default(), &limits).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{compress:?}: {error}");
        limits.ratio = 1_000_000;
        assert!(sereal::read(&blob, &ReadOptions::default(), &limits).is_ok(), "{compress:?}");
    }
}

#[test]
fn errors_in_a_compressed_body_say_that_it_is_compressed() {
    let mut builder = icecore::Builder::new();
    builder.bytes("x".repeat(2000));
    let mut options = WriteOptions::default();
    options.compress = Some(Compress::Snappy);
    let blob = write(&builder.finish().unwrap(), &options);
    let mut limits = Limits::default();
    limits.string = 1000;
    let error = sereal::read(&blob, &ReadOptions::default(), &limits).unwrap_err();
    assert_eq!((error.offset(), error.layer()), (Some(0), Some("decompressed body")));
}

#[test]
fn depth_needs_no_stack() {
    let levels = crate::common::levels();
    let deep = [
        ("arrays", b"\x41".repeat(levels), vec![0x25]),
        ("hashes", b"\x51\x61a".repeat(levels), vec![0x25]),
        ("references", b"\x28".repeat(levels), vec![0x25]),
        ("REFN ARRAY", b"\x28\x2B\x01".repeat(levels), vec![0x25]),
        ("weak references", b"\x30\x28".repeat(levels), vec![0x25]),
        ("objects", b"\x2C\x61A\x41".repeat(levels), vec![0x25]),
        ("frozen objects", b"\x32\x61A\x41".repeat(levels), vec![0x25]),
        ("a link in the deep", [&b"\x28\xAB\x01"[..], &b"\x41".repeat(levels)].concat(), vec![0x29, 0x02]),
    ];
    on_a_small_stack(|| {
        let mut limits = Limits::default();
        limits.depth = u32::MAX;
        for (name, mut body, end) in deep {
            body.extend(end);
            let blob = with_header(&body);
            let outcome = read_all_ways(&blob, &limits);
            assert_eq!(outcome.error, None, "{name}");
            for options in [
                WriteOptions::default(),
                lossless_write_options().swap_remove(5),
                lossless_write_options().swap_remove(9),
            ] {
                write(&outcome.document, &options);
            }
            let detailed = ReadOptions::default().read(&blob, Request::new(&limits).detailed());
            assert_eq!(write(&detailed.document, &WriteOptions::default()), blob, "{name}");
            // A truncated document gives a document too.
            read_all_ways(&blob[..blob.len() - 1], &limits);
        }
        let blob = with_header([&b"\x41".repeat(10_001)[..], b"\x25"].concat());
        assert_eq!(read_all_ways(&blob, &Limits::default()).error.unwrap().kind(), ErrorKind::Limit);
    });
}

#[test]
fn many_nodes_and_long_strings_are_limited() {
    let mut limits = Limits::default();
    limits.nodes = 100;
    for body in
        [[&b"\x28\x2B\x7F"[..], &[1; 127]].concat(), [&b"\x28\x2B\x7F"[..], &b"\x51\x61a\x01".repeat(127)].concat()]
    {
        let blob = with_header(&body);
        assert_eq!(read_all_ways(&blob, &limits).error.unwrap().kind(), ErrorKind::Limit);
    }
    let mut limits = Limits::default();
    limits.string = 3;
    let blob = with_header(b"\x42\x63abc\x64abcd");
    let error = read_all_ways(&blob, &limits).error.unwrap();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Limit, Some(11)));
}

#[test]
fn large_maps_copy_keys_of_earlier_maps() {
    let mut builder = icecore::Builder::new();
    builder.begin_array();
    for _ in 0..2 {
        builder.begin_map();
        for i in 0..1000 {
            builder.bytes_key(format!("key {i}")).int(i);
        }
        builder.end();
    }
    builder.begin_map();
    builder.bytes_key("key 7").int(7);
    builder.end();
    builder.end();
    let document = builder.finish().unwrap();
    let blob = write(&document, &WriteOptions::default());
    assert!(blob.len() < 20_000, "{} bytes: the keys were not copied", blob.len());
    let outcome = read_all_ways(&blob, &Limits::default());
    assert!(outcome.document == document);
    let limits = Limits::default();
    let detailed = ReadOptions::default().read(&blob, Request::new(&limits).detailed());
    assert_eq!(write(&detailed.document, &WriteOptions::default()), blob);
}

#[test]
fn each_compression_needs_its_protocol() {
    let document = icecore::read(b"[1]").unwrap();
    let known =
        [(Compress::SnappyToEnd, 1..=1), (Compress::Snappy, 1..=5), (Compress::Zlib, 3..=5), (Compress::Zstd, 3..=5)];
    for (compress, protocols) in known {
        for protocol in 1..=5 {
            let mut options = WriteOptions::default();
            options.compress = Some(compress);
            options.protocol = Some(protocol);
            let written = sereal::write(&document, &options, &Limits::default(), &mut Vec::new());
            let kind = written.err().map(|error| error.kind());
            let expected = (!protocols.contains(&protocol)).then_some(ErrorKind::Usage);
            assert_eq!(kind, expected, "{compress:?} in protocol {protocol}");
        }
    }
}
