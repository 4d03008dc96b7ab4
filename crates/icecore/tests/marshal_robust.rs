//! Marshal dumps that are deep, damaged or made up.

use crate::fixtures;

use icecore::raw::Reader as _;
use icecore::{Builder, Document, ErrorKind, Kind, Limits, Request, format::marshal, value::Comparison};

fn read<'a>(blob: &'a [u8], limits: &Limits) -> Result<Document<'a>, icecore::Error> {
    marshal::read(blob, &marshal::ReadOptions::default(), limits)
}

fn write(document: &Document<'_>, limits: &Limits) -> Result<Vec<u8>, icecore::Error> {
    let mut out = Vec::new();
    marshal::write(document, &marshal::WriteOptions::default(), limits, &mut out)?;
    Ok(out)
}

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(128 << 10).spawn(work).unwrap().join().unwrap();
}

/// Shapes that nest: their start, the part that is repeated, and their end.
const NESTS: [(&[u8], &[u8], &[u8]); 12] = [
    (b"", b"[\x06", b"0"),
    (b"", b"{\x06i\x06", b"0"),
    (b"", b"{\x06[\x06", b"0"),
    (b"", b"}\x00", b"0"),
    (b"o:\x06A\x06:\x07@a", b"o;\x00\x06;\x06", b"0"),
    (b"S:\x06A\x06:\x06a", b"S;\x00\x06;\x06", b"0"),
    (b"U:\x06A", b"U;\x00", b"0"),
    (b"d:\x06A", b"d;\x00", b"0"),
    (b"e:\x06A", b"e;\x00", b"[\x00"),
    (b"C:\x06A", b"C;\x00", b"\"\x00"),
    (b"[\x06:\x07@a", b"", b""),
    (b"", b"I", b"[\x00"),
];

fn nested((first, repeated, last): (&[u8], &[u8], &[u8]), levels: usize) -> Vec<u8> {
    let mut blob = b"\x04\x08".to_vec();
    blob.extend_from_slice(first);
    for _ in 0..levels {
        blob.extend_from_slice(repeated);
    }
    blob.extend_from_slice(last);
    blob
}

#[test]
fn deep_dumps_need_no_deep_stack() {
    on_a_small_stack(|| {
        let mut limits = Limits::default();
        limits.depth = 3_000_000;
        for shape in NESTS.into_iter().filter(|(_, repeated, _)| !repeated.is_empty()) {
            let blob = nested(shape, crate::common::levels());
            let request = Request::new(&limits).detailed();
            let outcome = marshal::ReadOptions::default().read(&blob, request);
            // Nested wrappers, and shapes that must be closed after the value, end early.
            if let Some(error) = &outcome.error {
                assert!(matches!(error.kind(), ErrorKind::Truncated), "{error}");
            }
            assert!(outcome.document.nodes().len() > crate::common::levels() / 2);
            let error = read(&blob, &Limits::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
            if outcome.error.is_none() {
                let rewritten = write(&outcome.document, &limits).unwrap();
                assert_eq!(rewritten.len(), blob.len());
                let error = write(&outcome.document, &Limits::default()).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
            }
        }
    });
}

#[test]
fn false_lengths_allocate_nothing() {
    for blob in [
        &b"\x04\x08[\x04\xff\xff\xff\x7f"[..],
        b"\x04\x08\"\x04\xff\xff\xff\x7f",
        b"\x04\x08{\x04\xff\xff\xff\x7f",
        b"\x04\x08l+\x04\xff\xff\xff\x7f",
        b"\x04\x08o:\x06A\x04\xff\xff\xff\x7f",
    ] {
        let error = read(blob, &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Truncated, "{error}");
    }
}

#[test]
fn errors_name_the_kind_and_the_offset() {
    for (blob, kind, offset) in [
        (&b"\x04\x09i\x06"[..], ErrorKind::Unsupported, 0),
        (b"\x04\x08?", ErrorKind::Malformed, 2),
        (b"\x04\x08[\x06@\x06", ErrorKind::BadLink, 4),
        (b"\x04\x08;\x00", ErrorKind::BadLink, 2),
        (b"\x04\x08i\x06i", ErrorKind::Trailing, 4),
        (b"\x04\x08\"\xfa", ErrorKind::Malformed, 3),
        (b"\x04\x08o\"\x06A\x00", ErrorKind::Malformed, 3),
        (b"\x04\x08[", ErrorKind::Truncated, 3),
    ] {
        let error = read(blob, &Limits::default()).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (kind, Some(offset)), "{error}");
    }
}

#[test]
fn every_minor_version_up_to_eight_is_read() {
    for minor in 0..=8 {
        let blob = [4, minor, b'[', 6, b'T'];
        let limits = Limits::default();
        let request = Request::new(&limits).detailed();
        let outcome = marshal::ReadOptions::default().read(&blob, request);
        assert!(outcome.error.is_none());
        assert_eq!(write(&outcome.document, &limits).unwrap(), blob);
    }
}

/// Pseudorandom numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Makes a value that Ruby can represent.
fn build_random_value(random: &mut Random, builder: &mut Builder, depth: u32, targets: &mut Vec<u32>) {
    match random.below(if depth > 4 { 10 } else { 15 }) {
        0 => drop(builder.null()),
        1 => drop(builder.bool(random.below(2) == 0)),
        2 => drop(builder.int(random.below(1000) as i64 - 500)),
        3 => drop(builder.int(random.below(u64::MAX) as i64)),
        4 => drop(builder.float([0.5, -0.0, 1e300, 0.5, 7.25][random.below(5) as usize])),
        5 => drop(builder.text(["a", "é", ""][random.below(3) as usize])),
        6 => drop(builder.bytes([&b"a"[..], b"\xff", b""][random.below(3) as usize])),
        7 => drop(builder.symbol(["a", "é", "E"][random.below(3) as usize], "")),
        8 => drop(builder.encoded("x", ["Shift_JIS", "US-ASCII", "EUC-JP"][random.below(3) as usize])),
        9 if !targets.is_empty() => drop(builder.link(targets[random.below(targets.len() as u64) as usize])),
        9 => drop(builder.big_int(random.below(2) == 0, &[1; 12])),
        10 | 11 => {
            targets.push(builder.begin_array().at());
            for _ in 0..random.below(4) {
                build_random_value(random, builder, depth + 1, targets);
            }
            builder.end();
        }
        12 | 13 => {
            targets.push(builder.begin_map().at());
            for i in 0..random.below(4) {
                match random.below(3) {
                    0 => builder.text_key(&format!("k{i}")),
                    1 => builder.symbol_key(format!("s{i}"), ""),
                    _ => builder.int_key(i as i64),
                };
                build_random_value(random, builder, depth + 1, targets);
            }
            builder.end();
        }
        _ => {
            targets.push(builder.begin_object("Point").at());
            builder.begin_map();
            builder.symbol_key("@a", "");
            build_random_value(random, builder, depth + 1, targets);
            builder.end().end();
        }
    }
}

fn random_documents(count: u64) -> Vec<Document<'static>> {
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    (0..count)
        .map(|_| {
            let mut builder = Builder::new();
            builder.begin_array();
            for _ in 0..4 {
                build_random_value(&mut random, &mut builder, 0, &mut Vec::new());
            }
            builder.end();
            builder.finish().unwrap()
        })
        .collect()
}

#[test]
fn random_documents_round_trip() {
    let limits = Limits::default();
    for document in random_documents(3000) {
        let mut out = Vec::new();
        let losses = marshal::write(&document, &marshal::WriteOptions::default(), &limits, &mut out).unwrap();
        assert!(losses.is_empty(), "{losses:?}");
        let reread = read(&out, &limits).unwrap();
        // The names of classes are text in one document and bytes in the other.
        assert!(Comparison::new().any_ascii().equal(&reread, &document), "{document:?}\n{reread:?}");
        assert_eq!(write(&reread, &limits).unwrap(), out);
        // With detail, neither the reader's loops nor the writer's are used.
        let request = Request::new(&limits).detailed();
        let slow = marshal::ReadOptions::default().read(&out, request).document;
        assert_eq!(slow, reread);
        assert_eq!(write(&slow, &limits).unwrap(), out);
    }
}

/// Arrays that are long enough for every loop to start again and to end anywhere.
#[test]
fn long_arrays_round_trip() {
    let limits = Limits::default();
    let mut builder = Builder::new();
    builder.begin_array();
    for i in 0..5000i64 {
        match i % 700 {
            400 => {
                builder.text("between").float(i as f64 / 3.0).symbol("s", "").int(1 << 40);
            }
            500..600 => {
                builder.begin_map();
                builder.symbol_key("n", "").int(i).text_key("t").text("x").end();
            }
            _ => {
                builder.int(i * 7919 % 1_000_003 - 5000);
            }
        }
    }
    builder.end();
    let blob = write(&builder.finish().unwrap(), &limits).unwrap();
    let both = |blob: &[u8]| {
        let request = Request::new(&limits);
        let fast = marshal::ReadOptions::default().read(blob, request);
        let request = Request::new(&limits).detailed();
        let slow = marshal::ReadOptions::default().read(blob, request);
        assert_eq!(fast.error, slow.error);
        assert_eq!(fast.document, slow.document);
        assert_eq!(fast.error.is_none(), write(&slow.document, &limits).unwrap() == blob);
    };
    both(&blob);
    for len in (2..blob.len()).step_by(61) {
        both(&blob[..len]);
    }
}

#[test]
fn damaged_dumps_do_not_panic() {
    let limits = Limits::default();
    let mut random = Random(77);
    for fixture in fixtures::load("marshal.jsonl").into_iter().filter(|f| f.blob.len() < 2000) {
        for _ in 0..20 {
            let mut blob = fixture.blob.clone();
            for _ in 0..=random.below(3) {
                let offset = random.below(blob.len() as u64) as usize;
                blob[offset] = random.below(256) as u8;
            }
            let request = Request::new(&limits).detailed();
            let outcome = marshal::ReadOptions::default().read(&blob, request);
            let fast = marshal::ReadOptions::default().read(&blob, Request::new(&limits));
            assert_eq!(fast.error, outcome.error, "{}\n{blob:?}", fixture.name);
            assert_eq!(fast.document, outcome.document, "{}\n{blob:?}", fixture.name);
            if outcome.error.is_none() {
                let out = write(&outcome.document, &limits).unwrap();
                let reread = read(&out, &limits).unwrap();
                // Empty attributes are not written.
                let is_odd = |node: &icecore::raw::Node| node.kind == Kind::Attrs && node.class() == 0 && node.aux == 1;
                let is_odd = outcome.document.nodes().iter().any(is_odd);
                assert!(is_odd || reread == outcome.document, "{}\n{blob:?}\n{out:?}", fixture.name);
            }
        }
    }
}

/// Found by fuzzing: a byte that was not yet the number of a symbol was taken for that of `E`.
#[test]
fn a_symbol_link_before_its_symbol_is_refused() {
    let blob = b"\x04\x08[\x07I\"\x06a\x06:\x06iT@\x06";
    let links = b"\x04\x08[\x07I\"\x06a\x06:\x06iTI\"\x06a\x06;\x04T";
    for input in [&blob[..], links] {
        let limits = Limits::default();
        let fast = marshal::read(input, &marshal::ReadOptions::default(), &limits).map(|_| ()).err();
        let slow = icecore::read_with(
            input,
            &icecore::Stage::parse("marshal").unwrap(),
            icecore::Request::new(&limits).detailed(),
        );
        assert_eq!(fast, slow.map(|_| ()).err());
    }
    assert!(marshal::read(links, &marshal::ReadOptions::default(), &Limits::default()).is_err());
}

/// The encoding of a class's name is a part of the document, not of the spelling. The value is numbered before the
/// names of its modules and its class.
#[test]
fn names_of_classes_keep_their_encoding() {
    for body in [
        &b"oI:\x09Caf\xe9\x06:\x0dencoding\"\x0fISO-8859-1\x00"[..],
        b"[\x08oI:\x07L\xe9\x06:\x0dencoding\"\x0fISO-8859-1\x00o;\x00\x00I\"\x06\xe9\x06;\x06@\x07",
        b"SI:\x07L\xe9\x06:\x0dencoding\"\x0fISO-8859-1\x06:\x06ai\x06",
        b"CI:\x08S\x82\xa0\x06:\x0dencoding\"\x0eShift_JIS[\x00",
        b"UI:\x07L\xe9\x06:\x0dencoding\"\x0fISO-8859-1i\x06",
        b"[\x07oI:\x08L\xc3\xa9\x06:\x06ET\x00o:\x08L\xc3\xa9\x00",
        b"o:\x07L\xe9\x00",
    ] {
        let blob = [b"\x04\x08", body].concat();
        let document = read(&blob, &Limits::default()).unwrap();
        let written = write(&document, &Limits::default()).unwrap();
        assert_eq!(written, blob, "{} {}", written.escape_ascii(), blob.escape_ascii());
    }
}

#[test]
fn a_value_and_its_wrappers_are_one_level() {
    let nested = b"\x04\x08I[\x06IC:\x06A[\x06Ie:\x06BC;\x00[\x06i\x06\x06:\x07@xi\x06\x06;\x07i\x06\x06;\x07i\x06";
    let mut limits = Limits::default();
    limits.depth = 2;
    assert_eq!(read(nested, &limits).unwrap_err().kind(), ErrorKind::Limit);
    limits.depth = 3;
    let document = read(nested, &limits).unwrap();
    assert_eq!(write(&document, &limits).unwrap(), nested);
    limits.depth = 2;
    assert_eq!(write(&document, &limits).unwrap_err().kind(), ErrorKind::Limit);
    // The variables of a value are in its level, and what they contain is in the next one.
    let variable = b"\x04\x08I[\x00\x06:\x07@x[\x00";
    limits.depth = 1;
    assert_eq!(read(variable, &limits).unwrap_err().kind(), ErrorKind::Limit);
    limits.depth = 2;
    assert!(read(variable, &limits).is_ok());
}
