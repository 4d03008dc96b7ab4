//! Sereal documents that fuzzing found, each with what went wrong.

use icecore::format::sereal::WriteOptions;
use icecore::{Document, Limits, Request, Stage, format::sereal, raw::Outcome};

fn decode_hex(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|index| u8::from_str_radix(&digits[index..index + 2], 16).expect("hex digits"))
        .collect()
}

fn read(input: &[u8], detail: bool) -> Outcome<'_> {
    let limits = Limits::default();
    let stage = Stage::parse("sereal").expect("a stage");
    let request = Request::new(&limits);
    stage.format().read(input, stage.settings(), if detail { request.detailed() } else { request })
}

fn write_document(document: &Document<'_>, options: &WriteOptions) -> Vec<u8> {
    let mut out = Vec::new();
    sereal::write(document, options, &Limits::default(), &mut out).expect("written");
    out
}

#[track_caller]
fn assert_round_trip(input: &[u8]) {
    let detailed = read(input, true);
    assert_eq!(detailed.error, None);
    assert_eq!(write_document(&detailed.document, &WriteOptions::default()), input);
}

#[test]
fn long_double_nans_keep_their_bits() {
    assert_round_trip(&decode_hex("3df3726c 05 00 24 6457 6561 6b28 aa02 6161 000000000000"));
    assert_round_trip(&decode_hex("3df3726c 05 00 24 0000 0000 0000 00c0 ff7f 010000000000"));
}

#[test]
fn sorting_an_alias_first_keeps_references_weak() {
    // A root whose element `bb` is a weak reference to the root, and whose element `c` is a list
    // with an alias of that variable.
    let input = decode_hex("3df3726c 05 00 28aa02 626262 b02902 6161 412e07");
    let document = read(&input, false);
    assert_eq!(document.error, None);
    let mut options = WriteOptions::default();
    options.canonical = true;
    let sorted = write_document(&document.document, &options);
    let reread = read(&sorted, false);
    assert_eq!(reread.error, None);
    assert!(icecore::value::Comparison::new().any_order().equal(&document.document, &reread.document), "{sorted:02x?}");
}

/// Checks that writing with these options gives an equal document.
#[track_caller]
fn assert_same_meaning(input: &[u8], set: impl Fn(&mut WriteOptions)) {
    let document = read(input, false);
    assert_eq!(document.error, None);
    let mut options = WriteOptions::default();
    set(&mut options);
    let out = write_document(&document.document, &options);
    let reread = read(&out, false);
    assert_eq!(reread.error, None, "{out:02x?}");
    let equal = icecore::value::Comparison::new().any_order().equal(&document.document, &reread.document);
    assert!(equal, "{:?}\n{:?}\n{out:02x?}", document.document, reread.document);
}

#[test]
fn floats_of_128_bits_keep_their_tag() {
    assert_round_trip(&decode_hex("3d73726c 02 00 41 b8 2b01032d0e282b01042d05282b01052d"));
    assert_round_trip(&decode_hex("3df3726c 05 00 38 00000000000000000000000001c0ff3f"));
}

#[test]
fn tracked_copies_of_keys_and_classes_keep_the_bit() {
    assert_round_trip(&decode_hex("3d73726c 01 00 42 51 2704f09f9880 00 51 af08 00"));
    assert_round_trip(&decode_hex("3df3726c 05 00 42 6141 2c af02 40"));
}

#[test]
fn the_parts_of_a_regexp_may_be_copies_and_tracked() {
    let regexp = "2c 66526567657870 28 31";
    // The pattern: tracked, a copy, a tracked copy. The modifiers: tracked, and the source of a copy.
    assert_round_trip(&decode_hex(&format!("3df3726c 05 00 41 {regexp} e161 60")));
    assert_round_trip(&decode_hex(&format!("3df3726c 05 00 42 6178 {regexp} 2f02 60")));
    assert_round_trip(&decode_hex(&format!("3df3726c 05 00 42 6178 {regexp} af02 60")));
    assert_round_trip(&decode_hex(&format!("3df3726c 05 00 41 {regexp} 6178 e169")));
    assert_round_trip(&decode_hex(&format!("3df3726c 05 00 42 {regexp} 6178 6169 2f0e")));
    // A PAD before REGEXP, and a tracked REFN: without a link to it, and with one.
    assert_round_trip(&decode_hex("3df3726c 05 00 41 2c 66526567657870 28 3f 31 6178 60"));
    assert_round_trip(&decode_hex("3df3726c 05 00 41 2c 66526567657870 a8 31 6178 60"));
    assert_round_trip(&decode_hex("3df3726c 05 00 42 2c 66526567657870 a8 31 6178 60 2e0a"));
}

#[test]
fn the_item_after_weaken_keeps_its_tag() {
    // WEAKEN tracked without a link; the tag after it tracked without a link, and with one.
    assert_round_trip(&decode_hex("3df3726c 04 00 43 28ab0101 28 b02903 00"));
    assert_round_trip(&decode_hex("3df3726c 04 00 43 28ab0101 30a903 00"));
    assert_round_trip(&decode_hex("3df3726c 04 00 43 28ab0101 30a903 2e07"));
    assert_round_trip(&decode_hex("3df3726c 05 00 30 41 05"));
}

#[test]
fn links_to_the_tag_after_a_class_are_links_to_the_object() {
    assert_round_trip(&decode_hex("3df3726c 05 00 28 2b02 2c6141 a82a01 616101 29 07"));
    // Both the reference and what it refers to.
    assert_round_trip(&decode_hex("3df3726c 05 00 282b03 2c65506f696e74 a8aa01617801 290b 282b01290c"));
    // The reference blesses a scalar that came before it.
    assert_round_trip(&decode_hex("3d73726c 01 00 42 e178 2c67416c6961736564 a907"));
    assert_round_trip(&decode_hex("3d73726c 01 00 42 e178 ac67416c6961736564 2907"));
    assert_round_trip(&decode_hex("3d73726c 01 00 43 e178 2c67416c6961736564 a907 2e12"));
    // The reference is weak, after the class.
    assert_round_trip(&decode_hex("3df3726c 03 00 42 e178 2c67416c6961736564 302902"));
    assert_round_trip(&decode_hex("3df3726c 03 00 42 e178 30 2c67416c6961736564 302902"));
    assert_round_trip(&decode_hex("3df3726c 03 00 42 e178 30 2c67416c6961736564 2902"));
    // With both tags.
    assert_round_trip(&decode_hex("3d73726c 02 00 43 ac67416c6961736564 d1616101 2e02 290b"));
    assert_round_trip(&decode_hex("3df3726c 04 00 44 28ab0101 b0a903 2e06 2e07"));
    assert_round_trip(&decode_hex("3df3726c 05 00 43 ac66526567657870 a8 31 6178 60 2e0a 2e02"));
    // The body is weak.
    assert_round_trip(&decode_hex("3df3726c 04 00 42 2c6449742773 b02908 51616101"));
    // The object's reference also refers to itself.
    assert_round_trip(&decode_hex("3df3726c 05 00 282b01 2c66526567657870 30a90d"));
    assert_round_trip(&decode_hex("3df3726c 05 00 2c654f75746572 28 2c65496e6e6572 a82910"));
}

#[test]
fn copies_are_found_after_deferred_blesses() {
    // A scalar, the reference that blesses it, and then strings and copies of them, and a key in
    // full and as a copy.
    let late = "e178 2c6141 2902";
    assert_round_trip(&decode_hex(&format!("3df3726c 05 00 44 {late} 6474657874 2f09")));
    assert_round_trip(&decode_hex(&format!("3df3726c 05 00 46 {late} 51 6162 00 51 6162 01 51 2f0a 02 51 2f0a 03")));
    // An object in an object, referred to by the tag after the second class.
    assert_round_trip(&decode_hex("3df3726c 05 00 42 2c6141 2c6142 c100 2908"));
}

#[test]
fn a_regexp_inside_an_object_of_its_class_stays_inside() {
    let input = decode_hex("3df3726c 05 00 2c66526567657870 2c66526567657870 28 31 63616243 60");
    assert_round_trip(&input);
    assert_same_meaning(&input, |_| {});
    // As a COPY of a regexp without a class, and after a PAD.
    assert_same_meaning(&decode_hex("3df3726c 05 00 42 28 31 6178 60 2c66526567657870 2f02"), |_| {});
    assert_same_meaning(&decode_hex("3df3726c 05 00 2c66526567657870 3f 28 31 6178 60"), |_| {});
}

#[test]
fn a_reference_to_a_copy_of_an_array_is_an_array() {
    // [ [1], \[1] ], where the second is REFN and a COPY of ARRAY.
    let input = decode_hex("3df3726c 05 00 42 28 2b01 01 28 2f03");
    let document = read(&input, false);
    assert_eq!(document.error, None);
    let items: Vec<_> = document.document.root().items().map(|item| item.kind()).collect();
    assert_eq!(items, [icecore::Kind::Array, icecore::Kind::Array]);
    assert_same_meaning(&input, |_| {});
    // A PAD after REFN may be tracked.
    assert_same_meaning(&decode_hex("3df3726c 05 00 28 bf 2a01 6161 01"), |_| {});
}

#[test]
fn a_copy_of_a_tracked_key_is_a_separate_item() {
    assert_round_trip(&decode_hex("3df3726c 05 00 43 51 e161 00 2f03 05"));
    assert_round_trip(&decode_hex("3df3726c 05 00 43 51 e161 00 2f03 2903"));
}

#[test]
fn sorting_an_alias_first_keeps_its_variable() {
    // { b => [], a => [\@b, alias of that item] }: the item is met first.
    let input = decode_hex("3df3726c 05 00 52 6162 28ab00 6161 42 a905 2e0a");
    assert_same_meaning(&input, |options| options.canonical = true);
    // { b => weak reference to the root, a => \alias of that reference }.
    let input = decode_hex("3df3726c 05 00 28aa02 6162 b02902 6161 2906");
    assert_same_meaning(&input, |options| options.canonical = true);
}

#[test]
fn dedupe_strings_keeps_strings_that_aliases_refer_to() {
    // A string, a copy of it, and an alias of the first.
    let input = decode_hex("3df3726c 05 00 43 e474657874 6474657874 2e02");
    assert_same_meaning(&input, |options| options.dedupe_strings = true);
    // After the last alias, the string is copied.
    let mut options = WriteOptions::default();
    options.dedupe_strings = true;
    let input = decode_hex("3df3726c 05 00 43 e474657874 2e02 6474657874");
    assert_eq!(
        write_document(&read(&input, false).document, &options),
        decode_hex("3df3726c 05 00 43 e474657874 2e02 2f02")
    );
}

/// A string that was written as a COPY, and then a link to it: a COPY of a COPY can't be read.
#[test]
fn a_link_to_a_copied_string_is_a_copy_of_the_first() {
    let marshal = icecore::Stage::parse("marshal").expect("a stage");
    let dump = b"\x04\x08[\x08\"\x0bstring\"\x0bstring@\x07";
    let limits = Limits::default();
    let document = icecore::read_as(dump, &marshal, &limits).expect("read");
    for protocol in 1..=5 {
        let mut options = WriteOptions::default();
        options.dedupe_strings = true;
        options.protocol = Some(protocol);
        let out = write_document(&document, &options);
        let reread = read(&out, false);
        assert_eq!(reread.error, None, "protocol {protocol}: {out:02x?}");
        assert!(reread.document.root().children().all(|text| text.as_bytes() == Some(b"string")));
        assert_eq!(reread.document.root().len(), 3);
    }
}
