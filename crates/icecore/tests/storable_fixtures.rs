//! Storable compared with the output of the real Storable.

use crate::fixtures::{load, report};
use icecore::raw::Reader as _;
use icecore::{Limits, Request, format::storable};

/// Old images are only read, because nobody writes them any more.
fn is_written_mode(mode: &str) -> bool {
    !["file,-1", "file,0", "file,1", "memory,1"].contains(&mode)
}

#[test]
fn fast_and_reference_readers_agree() {
    let limits = Limits::default();
    let (mut total, mut failures) = (0, Vec::new());
    for file in ["storable.jsonl", "storable-arch.jsonl"] {
        for fixture in load(file) {
            total += 1;
            let mut plain = fixture.storable_options();
            plain.reference = true;
            let fast = storable::read(&fixture.blob, &fixture.storable_options(), &limits);
            let slow = storable::read(&fixture.blob, &plain, &limits);
            let traced = plain.read(&fixture.blob, Request::new(&limits).detailed());
            match (fast, slow, traced.error) {
                (Ok(a), Ok(b), None) if a == b && a == traced.document => {}
                (Ok(_), Ok(_), None) => failures.push(format!("{} {}: they differ", fixture.name, fixture.mode)),
                (a, b, c) => {
                    failures.push(format!("{} {}: {:?} {:?} {c:?}", fixture.name, fixture.mode, a.err(), b.err()))
                }
            }
        }
    }
    report("reading", total, &failures);
}

#[test]
fn images_are_rewritten_byte_for_byte() {
    let limits = Limits::default();
    let (mut total, mut failures) = (0, Vec::new());
    for file in ["storable.jsonl", "storable-arch.jsonl"] {
        for fixture in load(file).iter().filter(|fixture| is_written_mode(&fixture.mode)) {
            total += 1;
            let read = fixture.storable_options().read(&fixture.blob, Request::new(&limits).detailed());
            let mut out = Vec::new();
            let written = storable::write(&read.document, &storable::WriteOptions::default(), &limits, &mut out);
            if let Err(error) = written {
                failures.push(format!("{} {}: {error}", fixture.name, fixture.mode));
            } else if out != fixture.blob {
                let offset = out.iter().zip(&fixture.blob).take_while(|(a, b)| a == b).count();
                failures.push(format!(
                    "{} {}: differs at {offset}\n{}{}",
                    fixture.name,
                    fixture.mode,
                    icecore::text::window(&fixture.blob, offset as u64),
                    icecore::text::window(&out, offset as u64)
                ));
            }
        }
    }
    report("writing again", total, &failures);
}

#[test]
fn spans_tile_the_input() {
    let limits = Limits::default();
    let (mut total, mut failures) = (0, Vec::new());
    for file in ["storable.jsonl", "storable-arch.jsonl"] {
        for fixture in &load(file) {
            total += 1;
            let read = fixture.storable_options().read(&fixture.blob, Request::new(&limits).detailed());
            let mut spans: Vec<_> =
                read.document.trace().unwrap().spans.iter().map(|s| (s.start, s.end, s.name)).collect();
            spans.sort_unstable();
            let mut offset = 0;
            for (start, end, part) in spans {
                if start != offset {
                    failures.push(format!("{} {}: {part} at {start}, not at {offset}", fixture.name, fixture.mode));
                    break;
                }
                offset = end;
            }
            if offset != fixture.blob.len() as u64 {
                failures.push(format!("{} {}: ends at {offset} of {}", fixture.name, fixture.mode, fixture.blob.len()));
            }
        }
    }
    report("tiling", total, &failures);
}

#[test]
fn fast_and_reference_writers_agree() {
    let limits = Limits::default();
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in &load("storable.jsonl") {
        let document = storable::read(&fixture.blob, &fixture.storable_options(), &limits).unwrap();
        for netorder in [false, true] {
            total += 1;
            let mut fast = storable::WriteOptions::default();
            fast.netorder = netorder;
            let mut plain = fast.clone();
            plain.reference = true;
            let (mut a, mut b) = (Vec::new(), Vec::new());
            let written = storable::write(&document, &fast, &limits, &mut a).is_ok();
            let is_written = storable::write(&document, &plain, &limits, &mut b).is_ok();
            if a != b || written != is_written {
                failures.push(format!("{} {}: the writers differ", fixture.name, fixture.mode));
            }
            let read = storable::read(&a, &fixture.storable_options(), &limits);
            if written && !netorder && !read.as_ref().is_ok_and(|read| *read == document) {
                failures.push(format!("{} {}: not read again: {:?}", fixture.name, fixture.mode, read.err()));
            }
        }
    }
    report("writing", total, &failures);
}
