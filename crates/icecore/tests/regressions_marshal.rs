//! Dumps that fuzzing found, each with what went wrong. The expected bytes are what ruby 3.1 dumps
//! after loading them.

use icecore::raw::Reader as _;
use icecore::{Document, ErrorKind, Kind, Limits, Request, format::marshal};

fn read<'a>(dump: &'a [u8], limits: &Limits) -> Document<'a> {
    marshal::read(dump, &marshal::ReadOptions::default(), limits)
        .unwrap_or_else(|error| panic!("{}: {error}", dump.escape_ascii()))
}

fn write_document(document: &Document<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    marshal::write(document, &marshal::WriteOptions::default(), &Limits::default(), &mut out).expect("written");
    out
}

/// Checks that a dump is written as `expected` without its spelling, and unchanged with it.
#[track_caller]
fn assert_written_as(dump: &[u8], expected: &[u8]) {
    let limits = Limits::default();
    assert_eq!(write_document(&read(dump, &limits)).escape_ascii().to_string(), expected.escape_ascii().to_string());
    let request = Request::new(&limits).detailed();
    let detailed = marshal::ReadOptions::default().read(dump, request).document;
    assert_eq!(write_document(&detailed).escape_ascii().to_string(), dump.escape_ascii().to_string());
}

#[test]
fn floats_may_begin_with_a_point() {
    assert_written_as(b"\x04\x08f\x08.01", b"\x04\x08f\x090.01");
    assert_written_as(b"\x04\x08f\x1a-.5715111017403275e22", b"\x04\x08f\x1a-5.715111017403275e21");
    assert_written_as(b"\x04\x08f\x06.", b"\x04\x08f\x060");
}

#[test]
fn bytes_after_a_nul_byte_in_a_float_are_mantissa_bits() {
    assert_written_as(b"\x04\x08f\x09\x00\x01\x00\x00", b"\x04\x08f\x1a2.842170943040401e-14");
    assert_written_as(b"\x04\x08f\x0a\x001e-7", b"\x04\x08f\x1b1.4038966234512394e-12");
    // A float with mantissa bits has no negative zero.
    assert_written_as(b"\x04\x08f\x0a-0\x00\x00\x00", b"\x04\x08f\x060");
}

#[test]
fn links_to_large_integers_are_written() {
    assert_written_as(b"\x04\x08[\x07l+\x09\0\0\0\0\0\0\0@@\x06", b"\x04\x08[\x07l+\x09\0\0\0\0\0\0\0@@\x06");
    assert_written_as(b"\x04\x08[\x07l-\x09\x01\0\0\0\0\0\0@@\x06", b"\x04\x08[\x07l-\x09\x01\0\0\0\0\0\0@@\x06");
    // -2**62 is a Fixnum in Ruby, to which there are no links: it is written twice.
    let limits = Limits::default();
    let document = read(b"\x04\x08[\x07l-\x09\0\0\0\0\0\0\0@@\x06", &limits);
    assert_eq!(write_document(&document), b"\x04\x08[\x07l-\x09\0\0\0\0\0\0\0@l-\x09\0\0\0\0\0\0\0@");
}

#[test]
fn symbols_invalid_in_their_encoding_are_refused() {
    for dump in
        [&b"\x04\x08I:\x06\xff\x06:\x06ET"[..], b"\x04\x08I:\x06\xff\x06:\x06EF", b"\x04\x08oI:\x06\xe9\x06:\x06ET\0"]
    {
        let result = marshal::read(dump, &marshal::ReadOptions::default(), &Limits::default());
        let error = result.expect_err("Ruby refuses it");
        assert!(matches!(error.kind(), ErrorKind::Malformed), "{}: {error}", dump.escape_ascii());
    }
    assert_written_as(b"\x04\x08:\x06\xff", b"\x04\x08:\x06\xff");
    assert_written_as(b"\x04\x08I:\x07\xc3\xa9\x06:\x06ET", b"\x04\x08I:\x07\xc3\xa9\x06:\x06ET");
}

/// A user dump may have variables of the string that `_dump` returned (inside), and variables of the object that
/// `_load` makes (around it).
#[test]
fn variables_inside_and_around_a_user_dump_stay_apart() {
    let dump = b"\x04\x08IIu:\x06A\x06x\x00\x06:\x07@ai\x06";
    assert_written_as(dump, dump);
    let limits = Limits::default();
    assert_eq!(read(dump, &limits).root().kind(), Kind::Attrs);
    let dump = b"\x04\x08Iu:\x06A\x06x\x06:\x07@ai\x06";
    assert_written_as(dump, dump);
    assert_eq!(read(dump, &limits).root().kind(), Kind::Opaque);
}
