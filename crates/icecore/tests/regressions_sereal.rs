//! Sereal documents that fuzzing found, each with what went wrong.

use icecore::sereal::WriteOptions;
use icecore::{Document, Limits, Outcome, Request, Stage, sereal};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("hex digits")).collect()
}

fn read(input: &[u8], detail: bool) -> Outcome<'_> {
    let limits = Limits::default();
    let stage = Stage::parse("sereal").expect("a stage");
    let request = Request::new(&limits);
    (stage.format().read)(input, stage.settings(), if detail { request.detailed() } else { request })
}

fn written(document: &Document<'_>, options: &WriteOptions) -> Vec<u8> {
    let mut out = Vec::new();
    sereal::write(document, options, &Limits::default(), &mut out).expect("written");
    out
}

#[track_caller]
fn comes_back(input: &[u8]) {
    let detailed = read(input, true);
    assert_eq!(detailed.error, None);
    assert_eq!(written(&detailed.document, &WriteOptions::default()), input);
}

#[test]
fn a_long_double_that_is_no_number_keeps_its_bits() {
    comes_back(&bytes("3df3726c 05 00 24 6457 6561 6b28 aa02 6161 000000000000"));
    comes_back(&bytes("3df3726c 05 00 24 0000 0000 0000 00c0 ff7f 010000000000"));
}

#[test]
fn a_weak_reference_stays_weak_where_sorting_brings_an_alias_before_it() {
    // A root whose element `bb` is a weak reference to the root, and whose
    // element `c` is a list with an alias of that variable.
    let input = bytes("3df3726c 05 00 28aa02 626262 b02902 6161 412e07");
    let document = read(&input, false);
    assert_eq!(document.error, None);
    let mut options = WriteOptions::default();
    options.canonical = true;
    let sorted = written(&document.document, &options);
    let again = read(&sorted, false);
    assert_eq!(again.error, None);
    assert!(icecore::Comparison::new().any_order().equal(&document.document, &again.document), "{sorted:02x?}");
}
