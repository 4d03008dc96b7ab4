//! Properties of the formats of PHP and Ruby.

use crate::check::{self, Detail, assert_agreement, equal_but_numbers};
use icecore::{
    Document, ErrorKind, Kind, Limits, Stage,
    raw::{Node, Outcome},
};

fn read_blob<'a>(data: &'a [u8], stage: &Stage, limits: &Limits, detail: Detail) -> Outcome<'a> {
    stage.format().read(data, stage.settings(), check::request_with(limits, detail))
}

/// Checks that the reader and the detailed reading agree, spans tile, and the document can be written again as an
/// equal document with its spelling. `without_spelling` is the check of the document that is written without it.
fn check_format(data: &[u8], format: &str, without_spelling: RoundTrip) {
    let stage = Stage::parse(format).expect("a stage");
    let limits = check::small_limits();
    let fast = read_blob(data, &stage, &limits, Detail::Without);
    let slow = read_blob(data, &stage, &limits, Detail::With);
    assert_agreement(&fast, &slow);
    check::assert_spans_tile(&slow, data.len());
    check::visit_document(&fast.document);
    if fast.error.is_none() {
        check_round_trip(&slow.document, &stage, RoundTrip::Equal);
        check_round_trip(&fast.document, &stage, without_spelling);
    }
}

/// Returns true if the document has instance variables on a value that can't have any, or an encoding without a name.
/// Ruby reads both and writes neither.
fn has_parts_that_ruby_drops(document: &Document<'_>) -> bool {
    let is_empty = |node: &Node| node.kind == Kind::Attrs && node.aux == 1 && node.payload >> 32 == 0;
    document.nodes().iter().any(is_empty) || document.tape().encodings().iter().any(|name| name.bytes.is_empty())
}

/// What must be true of a document that is written and read again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RoundTrip {
    /// It can be read, and is equal if nothing was lost.
    Equal,
    /// It can be read.
    Readable,
}

/// Checks that a written document can be read, and is equal if required.
fn check_round_trip(document: &Document<'_>, stage: &Stage, required: RoundTrip) {
    let mut out = Vec::new();
    let losses = match icecore::write_to(document, stage, &check::wide_limits(), &mut out) {
        Ok(losses) => losses,
        Err(error) if error.kind() == ErrorKind::Limit => return,
        Err(error) => panic!("{error}\n{document:?}"),
    };
    let wide = check::wide_limits();
    let reread = read_blob(&out, stage, &wide, Detail::Without);
    if let Some(error) = &reread.error {
        panic!("what was written can't be read: {error}\n{document:?}\n{out:02x?}");
    }
    assert_eq!(reread.consumed, out.len(), "more was written than is read");
    if required == RoundTrip::Equal
        && !has_parts_that_ruby_drops(document)
        && losses.is_empty()
        && *document != reread.document
        && !equal_but_numbers(document, &reread.document)
    {
        panic!("another document comes back:\n{document:?}\n{:?}\n{out:02x?}", reread.document);
    }
}

pub fn php_read(data: &[u8]) {
    check_format(data, "php", RoundTrip::Equal);
}

/// Reads with a handler that the input chooses. Detecting the handler would often choose another one for a changed
/// input.
pub fn php_session_read(data: &[u8]) {
    let handlers = ["php", "php_binary", "php_serialize"];
    let handler = handlers[crate::choice_from_bytes(data) as usize % handlers.len()];
    check_format(data, &format!("php-session:handler={handler}"), RoundTrip::Equal);
}

pub fn var_export_read(data: &[u8]) {
    check_format(data, "var-export", RoundTrip::Equal);
}

/// Writes the document in typed JSON, and reads it back.
pub fn dumper_read(data: &[u8]) {
    let stage = Stage::parse("dumper").expect("a stage");
    let limits = check::small_limits();
    let fast = read_blob(data, &stage, &limits, Detail::Without);
    let slow = read_blob(data, &stage, &limits, Detail::With);
    assert_agreement(&fast, &slow);
    check::assert_spans_tile(&slow, data.len());
    check::visit_document(&fast.document);
    if fast.error.is_none() {
        check_round_trip(&fast.document, &Stage::parse("json:typed").expect("a stage"), RoundTrip::Equal);
    }
}

/// Checks igbinary. Without its spelling, a key that is a decimal string becomes an integer, as in PHP's arrays. The
/// document then differs, because igbinary can express the key as a string.
pub fn igbinary_read(data: &[u8]) {
    check_format(data, "igbinary", RoundTrip::Readable);
}

/// Checks Marshal. Without its spelling, a document is written as Ruby writes it, with links to floats and strings.
pub fn marshal_read(data: &[u8]) {
    check_format(data, "marshal", RoundTrip::Readable);
}
