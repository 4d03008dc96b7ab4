//! Storable.

use crate::check::{self, assert_agreement, equal_but_numbers};
use crate::choice_from_bytes;
use icecore::format::storable::{LongDouble, ReadOptions, WriteOptions, write};
use icecore::raw::Reader as _;
use icecore::{Document, Error, ErrorKind, Request};

/// Returns options for reading, chosen by the bytes: they set what a header leaves open.
pub fn choose_options(data: &[u8]) -> ReadOptions {
    let mut options = ReadOptions::default();
    match choice_from_bytes(data) % 16 {
        0 => options.interwork_56_64bit = true,
        1 => options.nv_size = Some(12),
        2 => options.nv_size = Some(16),
        3 => options.long_double = Some(LongDouble::X87),
        4 => options.long_double = Some(LongDouble::Quad),
        5 => options.long_double = Some(LongDouble::DoubleDouble),
        _ => {}
    }
    options
}

/// Returns true if the version of the image is before 0.7: such images are read, but not written.
pub fn is_old(data: &[u8]) -> bool {
    let rest = data.strip_prefix(b"pst0").unwrap_or(data);
    data.starts_with(b"perl-store") || rest.first().is_some_and(|version| version >> 1 < 2)
}

/// Checks that the two readers agree, spans tile, and the document is written again: byte for byte with its spelling,
/// as an equal document without it.
pub fn storable_read(data: &[u8]) {
    let limits = check::small_limits();
    let options = choose_options(data);
    let mut reference_options = options.clone();
    reference_options.reference = true;
    let fast = options.read(data, Request::new(&limits));
    let slow = reference_options.read(data, Request::new(&limits));
    let detailed = options.read(data, Request::new(&limits).detailed());
    assert_agreement(&fast, &slow);
    assert_agreement(&slow, &detailed);
    check::assert_spans_tile(&detailed, data.len());
    check::visit_document(&fast.document);
    if fast.error.is_some() {
        return;
    }
    if !is_old(data) {
        let rewritten =
            write_storable(&detailed.document, &WriteOptions::default()).expect("written with its spelling");
        assert_bytes(&data[..detailed.consumed], &rewritten);
    }
    let mut write_options = WriteOptions::default();
    write_options.netorder = choice_from_bytes(data) & 0x100 != 0;
    write_options.file = Some(choice_from_bytes(data) & 0x200 != 0);
    write_options.minor = Some(if choice_from_bytes(data) & 0x400 != 0 { 12 } else { 11 });
    check_round_trip(&fast.document, &write_options);
}

fn write_storable(document: &Document<'_>, options: &WriteOptions) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    write(document, options, &check::wide_limits(), &mut out)?;
    Ok(out)
}

/// Checks that the document written without its spelling is equal, except for the losses that the writer reports and
/// for numbers: as in the original, whole floats become integers, and network order writes large numbers as text.
fn check_round_trip(document: &Document<'_>, options: &WriteOptions) {
    let mut out = Vec::new();
    let losses = match write(document, options, &check::wide_limits(), &mut out) {
        Ok(losses) => losses,
        Err(error) if error.kind() == ErrorKind::Limit => return,
        Err(error) => panic!("{error}\n{document:?}"),
    };
    let mut reference_options = options.clone();
    reference_options.reference = true;
    assert_bytes(&write_storable(document, &reference_options).expect("written without tight loops"), &out);
    let limits = check::wide_limits();
    let reread = ReadOptions::default().read(&out, Request::new(&limits));
    if let Some(error) = &reread.error {
        panic!(
            "what was written can't be read: {error}\n{document:?}\n{}",
            icecore::text::window(&out, error.offset().unwrap_or(0))
        );
    }
    assert_eq!(reread.consumed, out.len(), "more was written than is read");
    if losses.is_empty() && *document != reread.document && !equal_but_numbers(document, &reread.document) {
        panic!("another document comes back:\n{document:?}\n{:?}\n{out:02x?}", reread.document);
    }
    // Numbers are converted only once, so writing again gives the same bytes.
    let bytes = write_storable(&reread.document, options).expect("written again");
    assert_bytes(&out, &bytes);
}

/// Checks that the bytes are equal. A failure shows the first difference.
#[track_caller]
pub fn assert_bytes(expected: &[u8], actual: &[u8]) {
    if expected != actual {
        let offset = expected.iter().zip(actual).take_while(|(a, b)| a == b).count() as u64;
        panic!(
            "other bytes from {offset} on:\n{}\n{}",
            icecore::text::window(expected, offset),
            icecore::text::window(actual, offset)
        );
    }
}
