//! Converts any format to any other.

use crate::check;
use crate::choice_from_bytes;
use icecore::{Document, Error, ErrorKind, Request, Stage, format};

/// The stages that are written for each format.
const STAGES: &[&str] = &[
    "json:cycles=null",
    "json:text=latin1,cycles=null",
    "json:bytes=base64,class=__class__,cycles=null",
    "json:bytes=hex,ascii,indent=1",
    "json:bytes=replace,sort_keys",
    "json:bytes=error",
    "storable:memory",
    "storable:netorder,canonical",
    "storable:version=2.12",
    "sereal",
    "sereal:protocol=1,dedupe_strings",
    "sereal:protocol=3,canonical,compress=zlib,threshold=0",
    "json:typed",
    "php",
    "php-session",
    "var-export:short",
    "igbinary",
    "marshal:utf8",
];

/// Reads whatever a format's own detection accepts, and writes it in every other format: an error is allowed, a panic
/// is not, and the output can be read.
pub fn convert(data: &[u8]) {
    let limits = check::small_limits();
    for format in format::all() {
        if (format.detect)(data).is_none() {
            continue;
        }
        let stage = Stage::of(format);
        let outcome = format.read(data, stage.settings(), Request::new(&limits));
        check::visit_document(&outcome.document);
        if outcome.error.is_some() {
            // A partial document must not cause a panic either.
            let stage_text = STAGES[choice_from_bytes(data) as usize % STAGES.len()];
            let _ = icecore::write_to(
                &outcome.document,
                &Stage::parse(stage_text).unwrap(),
                &check::wide_limits(),
                &mut Vec::new(),
            );
            continue;
        }
        let plain_json = Stage::parse("json:typed=no").expect("a stage");
        for stage_text in STAGES {
            let target = Stage::parse(stage_text).unwrap_or_else(|error| panic!("{stage_text}: {error}"));
            let mut out = Vec::new();
            match icecore::write_to(&outcome.document, &target, &check::wide_limits(), &mut out) {
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::Limit | ErrorKind::Unrepresentable) => continue,
                Err(error) => panic!("{}: {error}", target.format().name),
            }
            let wide = check::wide_limits();
            // A plain object may look like json:typed when its keys are sorted, so plain JSON is read as such.
            let is_plain = target.format().name == "json" && !stage_text.starts_with("json:typed");
            let read_stage = if is_plain { &plain_json } else { &target };
            let reread = read_stage.format().read(&out, read_stage.settings(), Request::new(&wide));
            // JSON writes every digit of floats beyond 64 bits; reading does not support them.
            let is_too_wide = |error: &Error| error.kind() == ErrorKind::Unsupported && target.format().name == "json";
            if reread.error.as_ref().is_some_and(is_too_wide) {
                continue;
            }
            if let Some(error) = reread.error {
                panic!("{:?}: what was written can't be read: {error}\n{:?}", target.settings(), outcome.document);
            }
            assert_eq!(reread.consumed, out.len(), "{:?}: bytes after the document", target.settings());
        }
        check_opened_strings(outcome.document);
    }
}

/// Checks that a document with opened strings can be written and read like any other document.
fn check_opened_strings(document: Document<'_>) {
    let wide = check::wide_limits();
    let Ok(deep) = icecore::deep::open(document, &wide) else { return };
    check::visit_document(&deep.document);
    for opened in &deep.opened {
        assert!(deep.document.at(opened.node).is_some(), "{opened:?}");
    }
    let typed = Stage::parse("json:typed").expect("a stage");
    let mut out = Vec::new();
    if icecore::write_to(&deep.document, &typed, &wide, &mut out).is_ok() {
        let reread = icecore::read_as(&out, &typed, &wide);
        assert!(reread.is_ok_and(|document| document == deep.document), "{:?}", deep.document);
    }
}
