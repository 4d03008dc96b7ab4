//! Found by fuzzing: differences whose patch did not give the second document.

use icecore::{Document, Limits, Stage};
use icecore_diff::{Patch, Rules, find_differences};

fn read<'b>(format: &str, bytes: &'b [u8]) -> Document<'b> {
    icecore::read_as(bytes, &Stage::parse(format).unwrap(), &Limits::default()).unwrap()
}

/// Checks that the patch makes the first document mean the same as the second.
fn patch(format: &str, left: &[u8], right: &[u8], rules: Rules) {
    let (left, right) = (read(format, left), read(format, right));
    let found = find_differences(&left, &right, rules);
    assert!(!found.is_empty());
    let json = found.to_json(&Limits::default()).unwrap();
    let result = Patch::read(&json, &Limits::default()).unwrap().apply(&left);
    let result = result.unwrap_or_else(|refusal| panic!("{refusal}: {}", String::from_utf8_lossy(&json)));
    let rules = if rules.is_exact() { Rules::new() } else { rules };
    assert!(find_differences(&result, &right, rules).is_empty(), "{}", String::from_utf8_lossy(&json));
}

#[test]
fn objects_that_are_references_are_patched() {
    // An object that is a reference to a list, and one that is a reference to a string.
    for (left, right) in [
        (&b"=srl\x01\x00,ePoint(B\x01\x02"[..], &b"=srl\x01\x00,ePoint(B\x01\x03"[..]),
        (b"=srl\x01\x00,ePoint(ax", b"=srl\x01\x00,ePoint(ay"),
        (b"=srl\x01\x00,ePoint((ax", b"=srl\x01\x00,ePoint((ay"),
    ] {
        patch("sereal", left, right, Rules::new());
    }
}

#[test]
fn placeholder_keys_are_patched() {
    let left =
        b"\x05\x0b\x19\x01\x00\x00\x00\x03\x0e\x14\x00\x00\x00\x01a\x0e\x14\x00\x00\x00\x01b\x0e\x14\x00\x00\x00\x01c";
    let right =
        b"\x05\x0b\x19\x01\x00\x00\x00\x03\x0e\x14\x00\x00\x00\x01a\x0e\x14\x00\x00\x00\x01h\x0e\x14\x00\x00\x00\x01c";
    patch("storable", left, right, Rules::new().exact());
}

#[test]
fn nested_references_are_patched_across_formats() {
    for right in [&br#"{"$ref":{"$ref":1}}"#[..], br#"{"$ref":1}"#] {
        patch("json:typed", br#"{"a":1}"#, right, Rules::new().across_formats());
        patch("json:typed", right, br#"{"a":1}"#, Rules::new().across_formats());
    }
    patch("json:typed", br#"{"$ref":2}"#, br#"{"$ref":{"$ref":1}}"#, Rules::new().across_formats());
    patch("json:typed", br#"{"$ref":{"$ref":1}}"#, br#"{"$ref":2}"#, Rules::new().across_formats());
}

#[test]
fn keys_that_are_links_are_compared_by_their_target() {
    // A hash whose key is linked to an earlier string, and the same hash with a separate string as
    // key.
    let linked = b"\x04\x08[\x07\"\x06x{\x06@\x06i\x06";
    let (plain, other) = (b"\x04\x08[\x07\"\x06x{\x06\"\x06xi\x06", b"\x04\x08[\x07\"\x06x{\x06\"\x06xi\x07");
    assert!(find_differences(&read("marshal", linked), &read("marshal", plain), Rules::new()).is_empty());
    patch("marshal", linked, other, Rules::new());
    patch("marshal", other, linked, Rules::new());
}
