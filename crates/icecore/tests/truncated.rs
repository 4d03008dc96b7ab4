//! Input that ends too early is reported as truncated, so that readers of a stream wait for more. An
//! incomplete document is never reported as complete.

use crate::common::usual_or_full;
use crate::fixtures;

use crate::fixtures::Fixture;
use icecore::{ErrorKind, Limits, Request, Stage};

const FORMATS: &[(&str, &str)] = &[
    ("storable", "storable.jsonl"),
    ("sereal", "sereal.jsonl"),
    ("php", "php.jsonl"),
    ("marshal", "marshal.jsonl"),
    ("igbinary", "igbinary.jsonl"),
    ("var-export", "var-export.jsonl"),
];

/// Within this distance from the end, an error may be caused by the end.
const NEAR: usize = 64;

#[test]
fn cut_input_is_reported_as_truncated() {
    let limits = Limits::default();
    for (format, file) in FORMATS {
        let stage = Stage::parse(format).unwrap();
        // A number of var-export has no end mark: `1` may be the start of `12`.
        let has_end_mark = *format != "var-export";
        let mut count = 0;
        for Fixture { name, blob, .. } in fixtures::load(file).into_iter().step_by(usual_or_full(4, 1)) {
            let complete = stage.format().read(&blob, stage.settings(), Request::new(&limits));
            if complete.error.is_some() || blob.len() > 400 {
                continue;
            }
            for end in 1..complete.consumed {
                let part = stage.format().read(&blob[..end], stage.settings(), Request::new(&limits));
                count += 1;
                let is_truncation_reported = match &part.error {
                    Some(error) if error.kind() == ErrorKind::Truncated => error.layer().is_none(),
                    Some(error) => error.offset().is_some_and(|offset| offset as usize + NEAR >= end),
                    None => part.consumed + NEAR >= end && !has_end_mark,
                };
                assert!(
                    is_truncation_reported,
                    "{format} {name}: {end} of {}: {} {:?}",
                    blob.len(),
                    part.consumed,
                    part.error
                );
            }
        }
        assert!(count > usual_or_full(250, 1000), "{format}: {count}");
    }
}
