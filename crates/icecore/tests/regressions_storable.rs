//! Storable images that fuzzing found, each with what went wrong.

use icecore::format::storable::{ReadOptions, WriteOptions, write};
use icecore::raw::Reader as _;
use icecore::{Document, ErrorKind, Limits, Request};

fn decode_hex(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|index| u8::from_str_radix(&digits[index..index + 2], 16).expect("hex digits"))
        .collect()
}

/// The start of a native memory image of a 64-bit machine.
const NATIVE: &str = "040b 08 3132333435363738 04080808";

fn decode_native_hex(hex: &str) -> Vec<u8> {
    decode_hex(&format!("{NATIVE} {hex}"))
}

fn write_document(document: &Document<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    write(document, &WriteOptions::default(), &Limits::default(), &mut out).expect("written");
    out
}

/// Checks that the image is read and that its spans end where it ends. With its spelling the same
/// bytes are written, and without it an equal document.
#[track_caller]
fn assert_round_trip(image: &[u8]) {
    let limits = Limits::default();
    let detailed = ReadOptions::default().read(image, Request::new(&limits).detailed());
    assert_eq!(detailed.error, None);
    assert_eq!(write_document(&detailed.document), image);
    assert_same_meaning(image);
}

#[track_caller]
fn assert_same_meaning(image: &[u8]) {
    let limits = Limits::default();
    let plain = ReadOptions::default().read(image, Request::new(&limits));
    assert_eq!(plain.error, None);
    let rewritten = write_document(&plain.document);
    let read = ReadOptions::default().read(&rewritten, Request::new(&limits));
    assert_eq!(read.error, None, "{rewritten:02x?}");
    assert!(read.document == plain.document, "{:?}\n{:?}", plain.document, read.document);
}

#[track_caller]
fn assert_refused(image: &[u8], kind: ErrorKind, offset: u64) {
    let limits = Limits::default();
    let error = ReadOptions::default().read(image, Request::new(&limits)).error.expect("an error");
    assert_eq!((error.kind(), error.offset()), (kind, Some(offset)), "{error}");
}

#[test]
fn every_node_of_an_old_image_has_an_extent() {
    let limits = Limits::default();
    // A root that is undef, one that is a string, and an item that is absent.
    for image in ["0304 0000 0000 0058", "030a 0474 6578 7458", "0302 00000002 0a017858 0d58 58"] {
        let image = decode_hex(image);
        let read = ReadOptions::default().read(&image, Request::new(&limits).detailed());
        for extent in &read.document.trace().expect("a trace").extents {
            assert!(read.error.is_some() || extent.end > extent.start, "{image:02x?}: {extent:?}");
        }
    }
}

#[test]
fn old_images_may_bless_a_reference_itself() {
    // [bless(\my $ref, "V")], where $ref refers to an array of class "A".
    assert_same_meaning(&decode_hex("03 02 00000001 04 04 02 00000000 62 01 41 58 62 01 56 58 58 58"));
    // The same without a reference before it: the item itself is blessed.
    assert_same_meaning(&decode_hex("03 02 00000001 04 02 00000000 62 01 41 58 62 01 56 58 58"));
    // A root that is a blessed reference to itself.
    assert_same_meaning(&decode_hex("03 04 00 00000000 62 01 41 58 58"));
    // The same, with a reference to the root.
    assert_same_meaning(&decode_hex("03 02 00000001 04 00 00000000 62 01 56 58 58"));
}

#[test]
fn native_numbers_in_network_images_keep_their_bytes() {
    assert_round_trip(&decode_hex("0504 06 000000050a02040b"));
    assert_round_trip(&decode_hex("0504 07 000000050a02040b"));
}

#[test]
fn both_readers_agree_on_mixed_byte_orders() {
    let image = decode_hex("70737430 040b 08 3132343533363738 04 04 08 08 02 01000000 06 0000000080000000");
    let limits = Limits::default();
    let fast = ReadOptions::default().read(&image, Request::new(&limits)).document;
    assert_eq!(fast.root().item(0).and_then(|item| item.as_i64()), Some(0x80 << 16));
    assert_round_trip(&image);
}

#[test]
fn mixed_orders_of_four_bytes_are_refused() {
    let limits = Limits::default();
    for order in ["33343132", "32313433"] {
        let image = decode_hex(&format!("70737430 040b 04 {order} 04 04 04 08 02 01000000 06 00000080"));
        for reference in [false, true] {
            let mut options = ReadOptions::default();
            options.reference = reference;
            let error = options.read(&image, Request::new(&limits)).error.expect("an error");
            assert!(error.to_string().contains("a byte order such as 12345678 or 4321"), "{error}");
        }
    }
}

#[test]
fn a_tied_root_of_an_old_image_stays_tied() {
    assert_same_meaning(&decode_hex("03 0c 0a0178 58 58"));
    assert_same_meaning(&decode_hex("03 0c 02 00000000 62 01 41 58 58"));
}

#[test]
fn contradictory_key_flags_are_kept() {
    assert_round_trip(&decode_native_hex("19 00 01000000 0881 03 03000000 e298ba"));
}

#[test]
fn a_scalar_key_has_the_encoding_of_its_tag() {
    let image = decode_native_hex("19 00 01000000 0881 09 0a 03 e298ba");
    let limits = Limits::default();
    let read = ReadOptions::default().read(&image, Request::new(&limits)).document;
    let keys: Vec<_> = read.root().entries().map(|(key, _)| key.node().kind).collect();
    assert_eq!(keys, [icecore::Kind::Bytes]);
    assert_round_trip(&image);
}

#[test]
fn an_absent_key_with_a_value_is_refused() {
    for tag in ["05", "0e", "1f"] {
        assert_round_trip(&decode_native_hex(&format!("19 01 01000000 {tag} 14 01000000 61")));
    }
    assert_refused(&decode_native_hex("19 01 01000000 0881 14 01000000 61"), ErrorKind::Malformed, 24);
}

#[test]
fn a_scalar_key_is_never_absent() {
    let image = decode_native_hex("19 01 02000000 05 18 0a 01 61 0881 1c 0a 01 62");
    let limits = Limits::default();
    let read = ReadOptions::default().read(&image, Request::new(&limits)).document;
    let kinds: Vec<_> = read.root().entries().map(|(_, value)| value.kind()).collect();
    assert_eq!(kinds, [icecore::Kind::Null, icecore::Kind::Int]);
    assert_round_trip(&image);
}

#[test]
fn links_to_a_scalar_key_are_refused() {
    // { k => 1, l => \key }: number 2 is the key.
    assert_refused(
        &decode_hex("050b 19 00 00000002 0881 08 0a016b 04 00 00000002 00 00000001 6c"),
        ErrorKind::BadLink,
        15,
    );
}

#[test]
fn large_hook_records_need_a_large_length() {
    for flags in ["02", "0a"] {
        assert_round_trip(&decode_hex(&format!("050b 02 00000001 04 21 13 {flags} 02 4841 0000000000000001 62")));
    }
    let long = "62".repeat(0x100);
    for flags in ["02", "0a"] {
        assert_round_trip(&decode_hex(&format!("050b 02 00000001 04 21 13 {flags} 02 4841 0000000000000100 {long}")));
    }
    assert_refused(&decode_hex("050b 02 00000001 04 21 13 02 02 4841 01 62"), ErrorKind::Truncated, 16);
}

#[test]
fn links_to_the_value_of_an_absent_key_are_refused() {
    // { absent key "", c => that value }: in another format, or sorted, the value would have no place.
    assert_refused(
        &decode_hex("050b 19 01 00000002 0e 14 00000000 00 00000001 00 00000001 63"),
        ErrorKind::BadLink,
        14,
    );
    // A link to an array element that does not exist is valid.
    assert_round_trip(&decode_hex("050b 02 00000002 0e 00 00000001"));
}

#[test]
fn back_references_inside_a_hook_are_refused() {
    assert_refused(&decode_hex("050b 13 42 00 00000000 02 0148 00"), ErrorKind::Malformed, 4);
}

#[test]
fn contradictory_hook_flags_are_refused() {
    assert_refused(&decode_hex("050b 13 42 0881 00 0148 00"), ErrorKind::Malformed, 6);
    assert_refused(&decode_hex("050b 13 4a 0881 02 0148 00"), ErrorKind::Malformed, 3);
}

#[test]
fn a_regexp_in_a_blessed_reference_keeps_its_own_class() {
    assert_round_trip(&decode_native_hex("02 01000000 04 11 0152 04 11 06526567657870 20 00 0161 00"));
}

#[test]
fn a_tied_index_beyond_32_bits_is_a_key() {
    assert_round_trip(&decode_native_hex("02 01000000 04 15 04 11 0154 088d 06 6819000100000008"));
}

#[test]
fn back_references_of_64_bits_keep_their_width() {
    assert_round_trip(&decode_native_hex("02 02000000 0881 04 21 00 0100000000000000"));
}

#[test]
fn long_class_bytes_keep_their_other_bits() {
    assert_round_trip(&decode_native_hex("02 02000000 04 11 ea 01000000 41 0200000000 04 12 81 00000000 0200000000"));
    let long = "41".repeat(0x80);
    assert_round_trip(&decode_native_hex(&format!("02 01000000 04 11 8f 80000000 {long} 0200000000")));
}

#[test]
fn classes_keep_the_number_that_names_them() {
    // The same name twice: numbers 0 and 1.
    let twice = "04 11 01 41 02 00000000 04 11 01 41 02 00000000";
    for number in ["00", "01"] {
        assert_round_trip(&decode_native_hex(&format!("02 03000000 {twice} 04 12 {number} 02 00000000")));
        assert_round_trip(&decode_native_hex(&format!("02 03000000 {twice} 04 13 22 {number} 01 78")));
    }
}

#[test]
fn regexp_classes_keep_their_spelling() {
    let regexp = "20 00 03 612062 03 757878";
    assert_round_trip(&decode_native_hex(&format!(
        "02 02000000 04 11 06 526567657870 {regexp} 04 11 06 526567657870 {regexp}"
    )));
    assert_round_trip(&decode_native_hex(&format!("02 01000000 04 11 80 06000000 526567657870 {regexp}")));
}

#[test]
fn a_scalar_key_keeps_its_flags() {
    // Bytes that are not UTF-8, UTF-8 that would fit in 8 bits, and bytes beyond ASCII.
    for key in ["08 17 03 e20100", "08 17 02 c3a9", "08 0a 01 e9", "0b 17 02 c3a9", "08 01 01000000 e9"] {
        assert_round_trip(&decode_native_hex(&format!("19 00 01000000 0881 {key}")));
    }
}

#[test]
fn a_tied_index_with_links_to_it_is_a_key() {
    assert_same_meaning(&decode_hex("050b 02 00000002 04 15 00 00000002 0881 00 00000003"));
}

#[test]
fn the_root_of_an_old_image_may_be_a_tied_scalar() {
    // Before 0.6, where addresses precede values, and from 0.6 on.
    let object = "00000002 04 00000003 0885 62 01 41 58 58 58";
    assert_same_meaning(&decode_hex(&format!("7065726c2d73746f7265 01 00000001 0d {object}")));
    assert_same_meaning(&decode_hex("03 0d 04 0885 62 01 41 58 58 58"));
    // The tied scalar itself is blessed.
    assert_same_meaning(&decode_hex("03 0d 04 0885 62 01 41 58 58 62 01 56 58"));
    let image = decode_hex("03 0d 04 0885 62 01 41 58 58 58");
    let limits = Limits::default();
    let read = ReadOptions::default().read(&image, Request::new(&limits)).document;
    assert_eq!(read.root().kind(), icecore::Kind::Ref);
}
