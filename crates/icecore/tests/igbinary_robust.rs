//! igbinary with hostile bytes: depth, false counts, noise, other documents.

use crate::common::on_a_small_stack;
use icecore::raw::Reader as _;
use icecore::{Builder, ErrorKind, Limits, Request, format::igbinary};

fn deep(levels: usize, open: &[u8]) -> Vec<u8> {
    let mut bytes = b"\0\0\0\x02\x17\x01A\x14\x01\x06\0".to_vec();
    bytes.extend(open.repeat(levels));
    bytes.push(0);
    bytes
}

const SHAPES: &[&[u8]] =
    &[b"\x14\x01\x06\0", b"\x25\x14\x01\x06\0", b"\x14\x01\x06\x07", b"\x1a\0\x14\x01\x06\0", b"\x14\x02\0\x06\0"];

#[test]
fn depth_needs_no_stack() {
    let mut limits = Limits::default();
    limits.depth = 4_000_000;
    for open in SHAPES {
        let bytes = deep(300_000, open);
        on_a_small_stack(|| {
            let read = igbinary::ReadOptions::default().read(&bytes, Request::new(&limits).detailed());
            assert!(read.error.is_none(), "{open:?}: {:?}", read.error);
            let mut out = Vec::new();
            igbinary::write(&read.document, &igbinary::WriteOptions::default(), &limits, &mut out).unwrap();
            assert!(out == bytes, "{open:?}");
            let plain = igbinary::read(&bytes, &limits).unwrap();
            assert!(plain == read.document, "{open:?}");
        });
        let error = on_a_small_stack(|| igbinary::read(&bytes, &Limits::default()).unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Limit, "{open:?}");
    }
}

#[test]
fn false_lengths_are_reported_as_truncation() {
    for body in
        [&b"\x16\xff\xff\xff\xff\0"[..], b"\x13\xff\xff\xff\xff", b"\x26\xff\xff\xff\xff\xff\xff\xff\xff", b"\x17\xffA"]
    {
        let bytes = [b"\0\0\0\x02", body].concat();
        assert_eq!(igbinary::read(&bytes, &Limits::default()).unwrap_err().kind(), ErrorKind::Truncated);
    }
}

/// A list that turns out to be a map late, inside another such list, and so on.
#[test]
fn lists_that_become_maps_are_read_in_linear_time() {
    let items = 3000u16;
    let mut inner = b"\x05".to_vec();
    for _ in 0..40 {
        let mut bytes = vec![0x15];
        bytes.extend((items + 2).to_be_bytes());
        for key in 0..items {
            bytes.push(0x08);
            bytes.extend(key.to_be_bytes());
            bytes.push(0);
        }
        bytes.extend([0x08, 0x0b, 0xb8]);
        bytes.extend(&inner);
        bytes.extend([0x11, 1, b'k', 0]);
        inner = bytes;
    }
    let bytes = [&b"\0\0\0\x02"[..], &inner].concat();
    let limits = Limits::default();
    let read = igbinary::ReadOptions::default().read(&bytes, Request::new(&limits).detailed());
    assert!(read.error.is_none(), "{:?}", read.error);
    let mut out = Vec::new();
    igbinary::write(&read.document, &igbinary::WriteOptions::default(), &limits, &mut out).unwrap();
    assert!(out == bytes);
    assert_eq!(read.document.root().get("k").map(|k| k.kind()), Some(icecore::Kind::Null));
}

#[test]
fn random_bytes_are_an_error_or_a_document() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let limits = Limits::default();
    let mut read_ones = 0;
    for _ in 0..60_000 {
        let len = 1 + random() as usize % 40;
        let mut bytes = b"\0\0\0\x02".to_vec();
        for _ in 0..len {
            let small = random() as u8 % 0x29;
            bytes.push(if random() % 3 == 0 { random() as u8 % 4 } else { small });
        }
        let plain = igbinary::ReadOptions::default().read(&bytes, Request::new(&limits));
        let traced = igbinary::ReadOptions::default().read(&bytes, Request::new(&limits).detailed());
        assert_eq!(plain.error, traced.error, "{bytes:02x?}");
        assert_eq!(plain.consumed, traced.consumed);
        assert!(plain.document.nodes() == traced.document.nodes(), "{bytes:02x?}");
        if plain.error.is_none() {
            read_ones += 1;
            let (options, mut out) = (igbinary::WriteOptions::default(), Vec::new());
            igbinary::write(&traced.document, &options, &limits, &mut out).unwrap();
            assert_eq!(out, bytes[..plain.consumed], "{bytes:02x?}");
            out.clear();
            igbinary::write(&plain.document, &options, &limits, &mut out).unwrap();
            let reread = igbinary::read(&out, &limits);
            assert!(reread.is_ok(), "{bytes:02x?}: {reread:?}");
        }
    }
    assert!(read_ones > 1000, "only {read_ones}");
}

#[test]
fn values_that_php_lacks_are_reported_as_losses() {
    let mut builder = Builder::new();
    builder.begin_array();
    builder.uint(u64::MAX).symbol("s", "").big_int(false, &[0, 0, 0, 0, 0, 0, 0, 0, 1]).hole();
    builder.begin_ref();
    builder.int(1);
    builder.end();
    builder.end();
    let document = builder.finish().unwrap();
    let mut out = Vec::new();
    let losses = igbinary::write(&document, &igbinary::WriteOptions::default(), &Limits::default(), &mut out).unwrap();
    assert_eq!(losses.iter().count(), 4, "{losses:?}");
    let json = icecore::convert(&out, "igbinary", "json").unwrap();
    assert_eq!(String::from_utf8_lossy(&json), r#"["18446744073709551615","s","18446744073709551616",null,1]"#);
}

#[test]
fn numeric_string_keys_become_integer_keys() {
    let out = icecore::convert(br#"{"1":2,"01":3,"-5":4}"#, "json", "igbinary").unwrap();
    assert_eq!(out, b"\0\0\0\x02\x14\x03\x06\x01\x06\x02\x11\x0201\x06\x03\x07\x05\x06\x04");
}

/// The extension makes a variable of a place with `25`. A link by reference to any other value makes a variable of its
/// own, so readers for PHP must see the difference.
#[test]
fn places_by_reference_are_marked() {
    use icecore::raw::flag;
    let is_marked = |bytes: &[u8]| -> Vec<bool> {
        let document = igbinary::read(bytes, &Limits::default()).unwrap();
        document.root().items().map(|item| document.nodes()[item.index() as usize].has(flag::REF)).collect()
    };
    // An integer, an array, an object and an enum case, each first by reference and then plain.
    let values: [&[u8]; 4] = [b"\x06\x05", b"\x14\0", b"\x17\x01A\x14\0", b"\x17\x01A\x27\x11\x01X"];
    for value in values {
        let bytes = [b"\0\0\0\x02\x14\x02\x06\0\x25", value, b"\x06\x01", value].concat();
        assert_eq!(is_marked(&bytes), [true, false], "{value:x?}");
    }
}
