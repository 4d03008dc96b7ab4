//! Found by fuzzing: differences whose patch did not give the second document.

use icecore::{Document, Limits, Stage};
use icecore_diff::{Patch, Rules, find_differences};

fn read<'b>(format: &str, bytes: &'b [u8]) -> Document<'b> {
    icecore::read_as(bytes, &Stage::parse(format).unwrap(), &Limits::default()).unwrap()
}

/// Checks that the patch makes the first document mean the same as the second.
fn check_patch(format: &str, left: &[u8], right: &[u8], rules: Rules) {
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
        check_patch("sereal", left, right, Rules::new());
    }
}

#[test]
fn placeholder_keys_are_patched() {
    let left =
        b"\x05\x0b\x19\x01\x00\x00\x00\x03\x0e\x14\x00\x00\x00\x01a\x0e\x14\x00\x00\x00\x01b\x0e\x14\x00\x00\x00\x01c";
    let right =
        b"\x05\x0b\x19\x01\x00\x00\x00\x03\x0e\x14\x00\x00\x00\x01a\x0e\x14\x00\x00\x00\x01h\x0e\x14\x00\x00\x00\x01c";
    check_patch("storable", left, right, Rules::new().exact());
}

#[test]
fn nested_references_are_patched_across_formats() {
    for right in [&br#"{"$ref":{"$ref":1}}"#[..], br#"{"$ref":1}"#] {
        check_patch("json:typed", br#"{"a":1}"#, right, Rules::new().across_formats());
        check_patch("json:typed", right, br#"{"a":1}"#, Rules::new().across_formats());
    }
    check_patch("json:typed", br#"{"$ref":2}"#, br#"{"$ref":{"$ref":1}}"#, Rules::new().across_formats());
    check_patch("json:typed", br#"{"$ref":{"$ref":1}}"#, br#"{"$ref":2}"#, Rules::new().across_formats());
}

#[test]
fn keys_that_are_links_are_compared_by_their_target() {
    // A hash whose key is linked to an earlier string, and the same hash with a separate string as
    // key.
    let linked = b"\x04\x08[\x07\"\x06x{\x06@\x06i\x06";
    let (plain, other) = (b"\x04\x08[\x07\"\x06x{\x06\"\x06xi\x06", b"\x04\x08[\x07\"\x06x{\x06\"\x06xi\x07");
    assert!(find_differences(&read("marshal", linked), &read("marshal", plain), Rules::new()).is_empty());
    check_patch("marshal", linked, other, Rules::new());
    check_patch("marshal", other, linked, Rules::new());
}

/// Applies the difference of two documents to a third one.
fn apply_to_other(left: &str, right: &str, other: &str, is_allowed: bool) -> Result<String, String> {
    let (left, right) = (read("php", left.as_bytes()), read("php", right.as_bytes()));
    let json = find_differences(&left, &right, Rules::new()).to_json(&Limits::default()).unwrap();
    let patch = Patch::read(&json, &Limits::default()).unwrap().allow_other_documents(is_allowed);
    let made = patch.apply(&read("php", other.as_bytes())).map_err(|refusal| refusal.to_string())?;
    Ok(String::from_utf8(icecore::write(&made, "php").unwrap()).unwrap())
}

#[test]
fn shared_value_may_be_stored_under_another_key() {
    let shared = |first: &str, second: &str, value: &str| {
        format!(r#"a:2:{{s:1:"{first}";a:1:{{i:0;{value}}}s:1:"{second}";R:2;}}"#)
    };
    let changed = |first: &str, second: &str| {
        apply_to_other(&shared("a", "b", "i:1;"), &shared("a", "b", "i:2;"), &shared(first, second, "i:1;"), false)
    };
    assert_eq!(changed("a", "b").unwrap(), shared("a", "b", "i:2;"));
    assert_eq!(changed("b", "a").unwrap(), shared("b", "a", "i:2;"));
    // The whole shared value is replaced.
    let scalar =
        |first: &str, second: &str, value: &str| format!(r#"a:2:{{s:1:"{first}";{value}s:1:"{second}";R:2;}}"#);
    let changed = |first: &str, second: &str| {
        apply_to_other(&scalar("a", "b", "i:1;"), &scalar("a", "b", "i:2;"), &scalar(first, second, "i:1;"), false)
    };
    assert_eq!(changed("a", "b").unwrap(), scalar("a", "b", "i:2;"));
    assert_eq!(changed("b", "a").unwrap(), scalar("b", "a", "i:2;"));
    // One place no longer shares the value.
    let apart = r#"a:2:{s:1:"a";i:1;s:1:"b";i:7;}"#;
    let changed = |first: &str, second: &str| {
        apply_to_other(&scalar("a", "b", "i:1;"), apart, &scalar(first, second, "i:1;"), false)
    };
    assert_eq!(changed("a", "b").unwrap(), apart);
    assert_eq!(changed("b", "a").unwrap(), r#"a:2:{s:1:"b";i:7;s:1:"a";i:1;}"#);
}

/// Perl writes the keys of a hash in any order, and the first place of a shared value has the value.
#[test]
fn a_shared_value_at_another_place_is_compared() {
    let shared = |first: &str, second: &str, name: &str| {
        let object = format!(r#"O:8:"stdClass":1:{{s:4:"name";s:3:"{name}";}}"#);
        format!(r#"a:2:{{s:5:"{first}";{object}s:5:"{second}";r:2;}}"#)
    };
    let (old, new) = (shared("owner", "buyer", "joe"), shared("buyer", "owner", "ann"));
    let (left, right) = (read("php", old.as_bytes()), read("php", new.as_bytes()));
    let differences = find_differences(&left, &right, Rules::new());
    let changed: Vec<_> =
        differences.changes().iter().map(|change| change.left.map(|value| left.path(value.index()))).collect();
    assert_eq!(changed, [Some("$.owner.name".to_owned())]);
    check_patch("php", old.as_bytes(), new.as_bytes(), Rules::new());
    // Two values that were one are still reported where they part.
    let apart = r#"a:2:{s:5:"owner";O:8:"stdClass":0:{}s:5:"buyer";O:8:"stdClass":0:{}}"#;
    check_patch("php", old.as_bytes(), apart.as_bytes(), Rules::new());
    check_patch("php", apart.as_bytes(), new.as_bytes(), Rules::new());
}

#[test]
fn value_that_is_shared_in_one_document_only_is_refused() {
    let shared = |value: &str| format!(r#"a:2:{{s:1:"a";a:1:{{i:0;{value}}}s:1:"b";R:2;}}"#);
    let twice = |value: &str| format!(r#"a:2:{{s:1:"a";a:1:{{i:0;{value}}}s:1:"b";a:1:{{i:0;{value}}}}}"#);
    let reason = "a value that changes is shared in one of both documents, and stored twice in the other";
    assert_eq!(apply_to_other(&shared("i:1;"), &shared("i:2;"), &twice("i:1;"), false).unwrap_err(), reason);
    let refused = apply_to_other(&twice("i:1;"), &twice("i:2;"), &shared("i:1;"), false).unwrap_err();
    assert_eq!(refused, "at $.b[0]: another change of the difference leads to the same value");
}

#[test]
fn other_document_is_changed_only_if_allowed() {
    let (left, right) =
        (r#"a:2:{s:1:"n";i:1;s:1:"l";a:0:{}}"#, r#"a:3:{s:1:"n";i:2;s:1:"x";N;s:1:"l";a:1:{i:0;i:5;}}"#);
    let other = r#"a:3:{s:1:"o";i:9;s:1:"n";i:1;s:1:"l";a:0:{}}"#;
    assert!(apply_to_other(left, right, other, false).unwrap_err().contains("another part has changed"));
    let made = apply_to_other(left, right, other, true).unwrap();
    assert_eq!(made, r#"a:4:{s:1:"o";i:9;s:1:"x";N;s:1:"n";i:2;s:1:"l";a:1:{i:0;i:5;}}"#);
    for (other, reason) in [
        (
            r#"a:2:{s:1:"n";i:3;s:1:"l";a:0:{}}"#,
            "at $.n: the value differs from the one that the difference was made from",
        ),
        (r#"a:3:{s:1:"n";i:1;s:1:"l";a:0:{}s:1:"x";i:0;}"#, "at $.x: the map already has this key"),
        (r#"a:2:{s:1:"n";i:1;s:1:"l";i:0;}"#, "at $.l[0]: there is no list or map to add it to"),
    ] {
        assert_eq!(apply_to_other(left, right, other, true).unwrap_err(), reason);
    }
    let (long, longer) = ("a:3:{i:0;i:1;i:1;i:2;i:2;i:3;}", "a:4:{i:0;i:1;i:1;i:2;i:2;i:3;i:3;i:4;}");
    let refused = apply_to_other(long, longer, "a:1:{i:0;i:1;}", true).unwrap_err();
    assert_eq!(refused, "at $[3]: the list is too short for the position of the new value");
}

#[test]
fn properties_of_php_are_patched_into_a_ruby_object() {
    let old = br#"O:1:"B":1:{s:1:"x";i:1;}"#;
    let new = b"O:1:\"B\":3:{s:1:\"x\";i:1;s:4:\"\0*\0p\";i:2;s:4:\"\0B\0q\";i:3;}";
    let json =
        find_differences(&read("php", old), &read("php", new), Rules::new()).to_json(&Limits::default()).unwrap();
    let ruby = icecore::convert(old, "php", "marshal").unwrap();
    let stage = Stage::parse("marshal").unwrap();
    let limits = Limits::default();
    let mut request = icecore::Request::new(&limits);
    request.detail = true;
    let document = icecore::read_with(&ruby, &stage, request).unwrap();
    let patch = Patch::read(&json, &limits).unwrap().allow_other_documents(true);
    let mut written = Vec::new();
    let losses = icecore::write_to(&patch.apply(&document).unwrap(), &stage, &limits, &mut written).unwrap();
    assert_eq!(written, icecore::convert(new, "php", "marshal").unwrap());
    let losses: Vec<_> = losses.iter().map(|loss| (loss.kind, loss.count, loss.path.as_str())).collect();
    assert_eq!(losses, [(icecore::LossKind::Visibility, 2, "$.p:protected")]);
}

#[test]
fn new_objects_get_class_names_of_the_document_that_is_patched() {
    let patched = |format: &str, bytes: &[u8], from: &str, left: &[u8], right: &[u8]| {
        let json = find_differences(&read(from, left), &read(from, right), Rules::new()).to_json(&Limits::default());
        let patch = Patch::read(&json.unwrap(), &Limits::default()).unwrap().allow_other_documents(true);
        let result = patch.apply(&read(format, bytes)).unwrap();
        result.classes().iter().map(|class| String::from_utf8_lossy(&class.name).into_owned()).collect::<Vec<_>>()
    };
    // {"k" => 1}, and {"k" => 1, "n" => A::C.new}
    let (ruby, object) = (&b"\x04\x08{\x06\"\x06ki\x06"[..], &b"\x04\x08{\x07\"\x06ki\x06\"\x06no:\x09A::C\x00"[..]);
    let (php, php_object) = (&b"a:1:{s:1:\"k\";i:1;}"[..], &b"a:2:{s:1:\"k\";i:1;s:1:\"n\";O:3:\"A\\C\":0:{}}"[..]);
    assert_eq!(patched("marshal", ruby, "php", php, php_object), ["A::C"]);
    assert_eq!(patched("php", php, "marshal", ruby, object), ["A\\C"]);
    assert_eq!(patched("php", php, "php", php, php_object), ["A\\C"]);
}
