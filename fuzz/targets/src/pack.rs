//! Perl's templates, and fields with separators.

use crate::check::{self, Detail, assert_agreement};
use icecore::raw::Reader as _;
use icecore::{
    Builder, Document, ErrorKind, Request,
    format::{join, pack},
    raw::Outcome,
};

/// Reads with a template. The first byte is the length of the template; the template and the data follow.
pub fn pack_read(data: &[u8]) {
    let Some((len, rest)) = data.split_first() else { return };
    let (template, data) = rest.split_at(rest.len().min(usize::from(*len)));
    check_template(&String::from_utf8_lossy(template), data);
}

/// Reads with all bytes as the template and as the data.
pub fn pack_template(data: &[u8]) {
    check_template(&String::from_utf8_lossy(data), data);
}

fn read_packed<'a>(data: &'a [u8], options: &pack::Options, detail: Detail) -> Outcome<'a> {
    let limits = check::small_limits();
    options.read(data, check::request_with(&limits, detail))
}

/// Checks that the loops for common templates agree with the general machine, that spans tile the input that was read,
/// and that the result can be packed, or is refused.
fn check_template(template: &str, data: &[u8]) {
    let mut options = pack::Options::new(template);
    for utf8 in [false, true] {
        options.utf8 = utf8;
        let fast = read_packed(data, &options, Detail::Without);
        let slow = read_packed(data, &options, Detail::With);
        assert_agreement(&fast, &slow);
        check::assert_spans_tile(&slow, data.len());
        check::visit_document(&fast.document);
        check_packing(&fast.document, &options);
    }
    check_packing(&build_value_list(data), &options);
}

fn check_packing(document: &Document<'_>, options: &pack::Options) {
    let mut out = Vec::new();
    let mut limits = check::small_limits();
    // A short template may request much output.
    limits.output = limits.decompressed;
    match pack::write(document, options, &limits, &mut out) {
        Ok(_) => {}
        Err(error) => {
            assert!(out.is_empty(), "{error}");
            let is_known = matches!(
                error.kind(),
                ErrorKind::Usage | ErrorKind::Unrepresentable | ErrorKind::Unsupported | ErrorKind::Limit
            );
            assert!(is_known, "{error}");
        }
    }
}

/// Returns a list with values of every kind that can be packed.
fn build_value_list(data: &[u8]) -> Document<'static> {
    let mut builder = Builder::new();
    builder.begin_array();
    for (index, bytes) in data.chunks(5).take(40).enumerate() {
        match index % 6 {
            0 => builder.bytes(bytes),
            1 => builder.text(&String::from_utf8_lossy(bytes)),
            2 => builder.int(i64::from(bytes[0]) - 100),
            3 => builder.uint(u64::MAX - u64::from(bytes[0])),
            4 => builder.float(f64::from(bytes[0]) * 1e17 - 0.5),
            _ => builder.null(),
        };
    }
    builder.end();
    builder.finish().expect("a list")
}

/// Splits fields and joins them again. The first byte is the separator.
pub fn join_read(data: &[u8]) {
    let Some((separator, data)) = data.split_first() else { return };
    let mut options = join::Options::default();
    options.separator = vec![*separator; 1 + usize::from(separator % 3)];
    let limits = check::small_limits();
    let fast = options.read(data, Request::new(&limits));
    let slow = options.read(data, Request::new(&limits).detailed());
    assert_agreement(&fast, &slow);
    check::assert_spans_tile(&slow, data.len());
    if fast.error.is_none() {
        let mut out = Vec::new();
        match join::write(&fast.document, &options, &check::wide_limits(), &mut out) {
            Ok(losses) => {
                assert!(losses.is_empty());
                assert_eq!(out, data);
            }
            Err(error) => panic!("{error}"),
        }
    }
}
