//! Storable images that are truncated, changed, or contain false data.

use crate::allocations::peak;
use crate::fixtures::{Fixture, load, report};
use icecore::raw::Reader as _;
use icecore::{Document, Error, ErrorKind, Limits, Request, format::storable};
use std::collections::HashSet;

/// Returns small blobs that together have every mode and every kind of byte that the reader names,
/// each of these in each kind of header.
fn choose_varied_fixtures(max_count: usize) -> Vec<Fixture> {
    let limits = Limits::default();
    let mut chosen = Vec::new();
    let mut rest = Vec::new();
    let mut seen = HashSet::new();
    for fixture in ["storable.jsonl", "storable-arch.jsonl"].into_iter().flat_map(load) {
        if fixture.blob.len() > 240 {
            continue;
        }
        let read = fixture.storable_options().read(&fixture.blob, Request::new(&limits).detailed());
        let mut marks: Vec<String> =
            read.document.trace().unwrap().spans.iter().map(|span| span.name.to_owned()).collect();
        marks.push(format!("mode {}", fixture.mode));
        // The name of the machine follows that of the structure.
        marks.push(format!(
            "machine {}",
            if fixture.mode.contains(',') { fixture.name.rsplit('/').next().unwrap() } else { "" }
        ));
        let before = seen.len();
        seen.extend(marks);
        if seen.len() > before { &mut chosen } else { &mut rest }.push(fixture);
    }
    let every = rest.len() / (max_count.saturating_sub(chosen.len())).max(1);
    chosen.extend(rest.into_iter().step_by(every.max(1)));
    chosen.truncate(max_count);
    chosen
}

/// Returns the result of the three readers, if they agree.
fn read_in_three_ways<'a>(
    input: &'a [u8],
    options: &storable::ReadOptions,
) -> Result<Result<Document<'a>, Error>, String> {
    let limits = Limits::default();
    let mut plain = options.clone();
    plain.reference = true;
    let fast = options.read(input, Request::new(&limits));
    let slow = plain.read(input, Request::new(&limits));
    let traced = plain.read(input, Request::new(&limits).detailed());
    let describe = |error: &Option<Error>| error.as_ref().map(|e| (e.kind(), e.offset(), e.path().map(str::to_owned)));
    for (name, other) in [("plain", &slow), ("detailed", &traced)] {
        if describe(&fast.error) != describe(&other.error) {
            return Err(format!("fast says {:?}, {name} {:?}", fast.error, other.error));
        }
        if fast.consumed != other.consumed && fast.error.is_none() {
            return Err(format!("fast takes {}, {name} {}", fast.consumed, other.consumed));
        }
        if fast.document != other.document {
            return Err(format!("fast reads {:?}, {name} {:?}", fast.document.tape(), other.document.tape()));
        }
    }
    if traced.error.is_none() {
        check_rewriting(&traced.document, options)?;
    }
    Ok(storable::read(input, options, &limits))
}

/// Checks that a document can be written or is refused with an error, and that the output is read
/// as the same document.
fn check_rewriting(document: &Document<'_>, options: &storable::ReadOptions) -> Result<(), String> {
    let limits = Limits::default();
    let mut out = Vec::new();
    match storable::write(document, &storable::WriteOptions::default(), &limits, &mut out) {
        Ok(_) => match storable::read(&out, options, &limits) {
            Ok(again) if again == *document => {}
            Ok(again) => {
                return Err(format!("written again it is another:\n{:?}\n{:?}", document.tape(), again.tape()));
            }
            Err(error) => return Err(format!("written again it can't be read: {error}")),
        },
        Err(error) if error.kind() == ErrorKind::Unrepresentable => {}
        Err(error) => return Err(format!("it can't be written again: {error:?}")),
    }
    Ok(())
}

#[test]
fn every_truncation_is_an_error_with_an_offset() {
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in choose_varied_fixtures(160) {
        for len in 0..fixture.blob.len() {
            total += 1;
            let name = format!("{} {}, {len} of {}", fixture.name, fixture.mode, fixture.blob.len());
            match read_in_three_ways(&fixture.blob[..len], &fixture.storable_options()) {
                Ok(Ok(_)) => failures.push(format!("{name}: it was accepted")),
                Ok(Err(error)) => {
                    // A truncated header may look like another one.
                    let is_cut = matches!(error.kind(), ErrorKind::Truncated) || len < 12;
                    if !is_cut || error.offset().is_none_or(|offset| offset > len as u64) {
                        failures.push(format!("{name}: {error}"));
                    }
                }
                Err(difference) => failures.push(format!("{name}: {difference}")),
            }
        }
    }
    report("truncations", total, &failures);
}

#[test]
fn a_byte_after_the_document_is_an_error() {
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in choose_varied_fixtures(160) {
        total += 1;
        let longer = [&fixture.blob[..], &[0]].concat();
        let error = storable::read(&longer, &fixture.storable_options(), &Limits::default()).unwrap_err();
        if (error.kind(), error.offset()) != (ErrorKind::Trailing, Some(fixture.blob.len() as u64)) {
            failures.push(format!("{} {}: {error}", fixture.name, fixture.mode));
        }
    }
    report("trailing bytes", total, &failures);
}

#[test]
fn readers_agree_after_a_change_of_any_byte() {
    let (mut total, mut failures) = (0, Vec::new());
    for (number, fixture) in choose_varied_fixtures(crate::common::usual_or_full(40, 100)).iter().enumerate() {
        let header = if fixture.mode.starts_with("file") || fixture.mode.contains("store") { 23 } else { 19 };
        for offset in 0..fixture.blob.len() {
            let old = fixture.blob[offset];
            // Every value in headers; elsewhere edge values, neighbours and two tags.
            let some = [0, 0x7F, 0x80, 0xFF, old ^ 1, old ^ 0x80, (offset % 36) as u8, ((offset + number) % 36) as u8];
            let values: Vec<u8> = if offset < header { (0..=255).collect() } else { some.to_vec() };
            for value in values {
                total += 1;
                let mut blob = fixture.blob.clone();
                blob[offset] = value;
                if let Err(difference) = read_in_three_ways(&blob, &fixture.storable_options()) {
                    failures.push(format!(
                        "{} {}, {offset} = {value:#04x} of {blob:02x?}: {difference}",
                        fixture.name, fixture.mode
                    ));
                }
            }
        }
    }
    report("changed bytes", total, &failures);
}

const LE: [&[u8]; 2] = [b"\x04\x0b\x0812345678\x04\x08\x08\x08", b"pst0\x04\x0b\x0812345678\x04\x08\x08\x08"];
const NET: [&[u8]; 2] = [b"\x05\x0b", b"pst0\x05\x0b"];

/// Returns the record after each kind of header, with numbers in the header's byte order.
fn images(make: impl Fn(bool) -> Vec<u8>) -> Vec<Vec<u8>> {
    let little = LE.iter().map(|header| [header, &make(true)[..]].concat());
    let big = NET.iter().map(|header| [header, &make(false)[..]].concat());
    little.chain(big).collect()
}

fn n32(little: bool, value: u32) -> [u8; 4] {
    if little { value.to_le_bytes() } else { value.to_be_bytes() }
}

fn n64(little: bool, value: u64) -> [u8; 8] {
    if little { value.to_le_bytes() } else { value.to_be_bytes() }
}

#[test]
fn false_lengths_allocate_nothing() {
    let fronts: &[&[u8]] = &[
        b"\x01",
        b"\x18",
        b"\x02",
        b"\x03",
        b"\x19\x00",
        b"\x04\x02",
        b"\x04\x03",
        b"\x11\x80",
        b"\x12\x80",
        b"\x1e",
        b"\x20\x01",
        b"\x1a\x01",
        b"\x13\x04",
        b"\x13\x08\x01A",
        b"\x13\x91\x01A\x00",
        b"\x03\x01\x00\x00\x00\x05",
        b"\x03\x00\x00\x00\x01\x05",
        b"\x19\x00\x00\x00\x00\x01\x05\x00",
        b"\x02\x00\x00\x00\x01\x02",
    ];
    let wide: &[&[u8]] =
        &[b"\x21\x01", b"\x21\x18", b"\x21\x02", b"\x21\x03", b"\x21\x19\x00", b"\x21\x00", b"\x21\x13\x08\x01A"];
    let mut cases = Vec::new();
    for front in fronts {
        for length in [1 << 16, i32::MAX as u32, 1 << 31, u32::MAX] {
            cases.extend(images(|little| [front, &n32(little, length)[..], b"\x05\x05\x05\x05"].concat()));
        }
    }
    for front in wide {
        for length in [1 << 31, u64::from(u32::MAX), 1 << 32, i64::MAX as u64, u64::MAX] {
            cases.extend(images(|little| [front, &n64(little, length)[..], b"\x05\x05\x05\x05"].concat()));
        }
    }
    // Before 0.7, and before 0.6.
    for header in [&b"pst0\x02\x0812345678\x04\x08\x08"[..], b"pst0\x03", b"perl-store\x01"] {
        for tag in [1, 2, 3] {
            let address: &[u8] = if header[0] == b'p' && header[1] == b'e' { &[0, 0, 0, 1] } else { &[] };
            cases.push([header, address, &[tag, 0xFF, 0xFF, 0xFF, 0xFF, 5, b'X']].concat());
        }
    }
    let options = storable::ReadOptions::default();
    let (total, mut failures) = (cases.len(), Vec::new());
    for case in cases {
        let peak_bytes = peak(|| match read_in_three_ways(&case, &options) {
            Ok(Err(error)) if error.offset().is_some() => {}
            other => failures.push(format!("{case:02x?}: {other:?}")),
        });
        if peak_bytes > 64 << 10 {
            failures.push(format!("{case:02x?}: {peak_bytes} bytes"));
        }
    }
    report("lengths", total, &failures);
}

/// Returns the error for this record in network order.
fn error_of(record: &[u8]) -> (ErrorKind, Option<u64>) {
    let image = [NET[0], record].concat();
    match read_in_three_ways(&image, &storable::ReadOptions::default()) {
        Ok(Err(error)) => (error.kind(), error.offset()),
        other => panic!("{record:02x?}: {other:?}"),
    }
}

#[test]
fn unknown_numbers_of_objects_and_classes_are_refused() {
    // Nothing has a number yet.
    assert_eq!(error_of(b"\0\0\0\0\0"), (ErrorKind::BadLink, Some(2)));
    // The array is 0, its item would be 1.
    assert_eq!(error_of(b"\x02\0\0\0\x01\0\0\0\0\x01"), (ErrorKind::BadLink, Some(7)));
    assert_eq!(error_of(b"\x02\0\0\0\x02\0\0\0\0\x02\x05"), (ErrorKind::BadLink, Some(7)));
    assert_eq!(error_of(b"\x02\0\0\0\x01\0\xff\xff\xff\xff"), (ErrorKind::BadLink, Some(7)));
    // A reference has its number, but the value it refers to follows later.
    assert_eq!(error_of(b"\x04\0\0\0\0\x01"), (ErrorKind::BadLink, Some(3)));
    // 64-bit numbers.
    assert_eq!(error_of(b"\x02\0\0\0\x01\x21\0\0\0\0\x01\0\0\0\0"), (ErrorKind::BadLink, Some(7)));
    // Classes.
    assert_eq!(error_of(b"\x12\0\x02\0\0\0\0"), (ErrorKind::BadLink, Some(3)));
    assert_eq!(error_of(b"\x11\x01A\x02\0\0\0\x01\x12\x01\x05"), (ErrorKind::BadLink, Some(11)));
    assert_eq!(error_of(b"\x12\x80\xff\xff\xff\xff\x05"), (ErrorKind::BadLink, Some(3)));
    // Two classes for one value.
    assert_eq!(error_of(b"\x11\x01A\x11\x01B\x05").0, ErrorKind::Malformed);
    assert_eq!(error_of(b"\x02\0\0\0\x01\x11\x01A\0\0\0\0\0").0, ErrorKind::Malformed);
    // A hook's class and its list.
    assert_eq!(error_of(b"\x13\x21\x00\x00"), (ErrorKind::BadLink, Some(4)));
    assert_eq!(error_of(b"\x13\x81\x01A\x00\x01\0\0\0\x01"), (ErrorKind::BadLink, Some(8)));
}

#[test]
fn unknown_tags_are_errors() {
    for tag in 36..=255 {
        assert_eq!(error_of(&[tag, 0, 0, 0, 0]), (ErrorKind::Malformed, Some(2)), "tag {tag}");
        assert_eq!(error_of(&[2, 0, 0, 0, 1, tag, 0, 0]), (ErrorKind::Malformed, Some(7)), "tag {tag}");
    }
    // The content of a code record, a v-string and a large object.
    assert_eq!(error_of(b"\x1a\x05"), (ErrorKind::Malformed, Some(3)));
    assert_eq!(error_of(b"\x1d\x01v\x05"), (ErrorKind::Malformed, Some(5)));
    assert_eq!(error_of(b"\x21\x05\0\0\0\0\0\0\0\x01").0, ErrorKind::Malformed);
    assert_eq!(error_of(b"\x19\0\0\0\0\x01\x05\x08\x05\0\0\0").0, ErrorKind::Unsupported);
}

#[test]
fn hook_records_with_wrong_flags_are_errors() {
    let read = |flags: u8, rest: &[u8]| {
        let image = [NET[0], &[0x13, flags], rest].concat();
        let read = read_in_three_ways(&image, &storable::ReadOptions::default());
        read.unwrap_or_else(|d| panic!("{flags:#x} {rest:02x?}: {d}")).map(Document::into_owned)
    };
    // Every flag byte before records of several lengths: the result is an error or a document, and
    // all readers agree.
    let rests: &[&[u8]] = &[
        b"",
        b"\x01A\x00",
        b"\x01A\x01p\x00",
        b"\x00\x00\x00\x01A\x00",
        b"\x00\x00\x00\x01A\x00\x00\x00\x01p",
        b"\x02\x00\x00\x00\x00\x01\x01A\x00",
        b"\x02\x00\x00\x00\x00\x81\x01A\x00\x01\x00\x00\x00\x01",
        b"\x04\x01A\x00\x05",
        b"\x06\x01A\x00\x04\x02\x00\x00\x00\x00",
    ];
    for flags in 0..=255 {
        for rest in rests {
            let _ = read(flags, rest);
        }
    }
    // A type that does not exist.
    for kind in (0..=3).chain(7..=255) {
        let error = read(3, &[kind, 1, b'A', 0, 5]).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Malformed, Some(4)), "type {kind}");
    }
    // The record announces another object, and ends.
    assert_eq!(read(0x41, b"\x02\0\0\0\0\x41").unwrap_err().kind(), ErrorKind::Truncated);
    // A class given by a number that does not exist.
    assert_eq!(read(0x21, b"\x01\x00").unwrap_err().kind(), ErrorKind::BadLink);
}
