//! What ends too early says so: who reads a stream waits for more then. A document
//! is never taken as complete while it is not.

mod common;
mod fixtures;

use fixtures::Fixture;
use icecore::{ErrorKind, Limits, Request, Stage};

const FORMATS: &[(&str, &str)] = &[
    ("storable", "storable.jsonl"),
    ("sereal", "sereal.jsonl"),
    ("php", "php.jsonl"),
    ("marshal", "marshal.jsonl"),
    ("igbinary", "igbinary.jsonl"),
    ("var-export", "var-export.jsonl"),
];

#[test]
fn a_beginning_is_truncated() {
    let limits = Limits::default();
    for (format, file) in FORMATS {
        let stage = Stage::parse(format).unwrap();
        let (mut wrong, mut count) = (Vec::new(), 0);
        for Fixture { name, blob, .. } in fixtures::load(file) {
            let whole = (stage.format().read)(&blob, stage.settings(), Request::new(&limits));
            if whole.error.is_some() || blob.len() > 400 {
                continue;
            }
            for end in 1..whole.consumed {
                let part = (stage.format().read)(&blob[..end], stage.settings(), Request::new(&limits));
                count += 1;
                match part.error {
                    Some(error) if error.kind() == ErrorKind::Truncated => {}
                    other => wrong.push(format!("{name}: {end} of {}: {} {other:?}", blob.len(), part.consumed)),
                }
            }
        }
        println!("{format}: {} of {count}: {:#?}", wrong.len(), &wrong[..wrong.len().min(8)]);
    }
}
