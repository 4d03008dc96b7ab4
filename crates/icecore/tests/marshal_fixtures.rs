//! Marshal compared with what the real Ruby wrote, and with its verdict on damaged dumps.

use crate::fixtures::describe;

use crate::fixtures::{Fixture, load, report};
use icecore::raw::Reader as _;
use icecore::{
    Document, ErrorKind, Limits, Request,
    format::{json, marshal},
};

fn read(blob: &[u8]) -> Result<Document<'_>, icecore::Error> {
    marshal::read(blob, &marshal::ReadOptions::default(), &Limits::default())
}

fn read_detailed(blob: &[u8]) -> Document<'_> {
    let limits = Limits::default();
    marshal::ReadOptions::default().read(blob, Request::new(&limits).detailed()).document
}

fn write(document: &Document<'_>) -> Result<Vec<u8>, icecore::Error> {
    let mut out = Vec::new();
    marshal::write(document, &marshal::WriteOptions::default(), &Limits::default(), &mut out)?;
    Ok(out)
}

fn dumps() -> Vec<Fixture> {
    load("marshal.jsonl").into_iter().filter(|fixture| fixture.mode == "dump").collect()
}

/// Returns an expectation without the names of encodings of keys, which ids hide.
fn make_comparable(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(offset) = rest.find("k\"") {
        let (before, key) = rest.split_at(offset + 2);
        out.push_str(before);
        let end = key.find('"').unwrap_or(key.len());
        out.push_str(key[..end].split(':').next().unwrap_or(""));
        rest = &key[end..];
    }
    out.push_str(rest);
    out
}

#[test]
fn dumps_are_read_as_ruby_describes_them() {
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in dumps() {
        let document = match read(&fixture.blob) {
            Ok(document) => document,
            Err(error) => {
                failures.push(format!("{}: {error}", fixture.name));
                continue;
            }
        };
        let Some(description) = fixture.line["said"].as_str() else { continue };
        // Ruby drops the instance variables of a string that becomes a key; we
        // keep what was written.
        if fixture.name == "key with variables" {
            continue;
        }
        total += 1;
        let ours = describe::line(&document);
        if make_comparable(&ours) != make_comparable(description) {
            failures.push(format!("{}:\n  ruby {description}\n  ours {ours}", fixture.name));
        }
    }
    report("reading", total, &failures);
}

#[test]
fn dumps_are_rewritten_byte_for_byte() {
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in dumps() {
        total += 1;
        let out = write(&read_detailed(&fixture.blob)).unwrap();
        if out != fixture.blob {
            let offset = out.iter().zip(&fixture.blob).take_while(|(a, b)| a == b).count() as u64;
            let (theirs, ours) = (icecore::text::window(&fixture.blob, offset), icecore::text::window(&out, offset));
            failures.push(format!("{}: differs at {offset}\n{theirs}{ours}", fixture.name));
        }
    }
    report("writing again", total, &failures);
}

#[test]
fn documents_without_spelling_round_trip() {
    let (mut total, mut same, mut failures) = (0, 0, Vec::new());
    for fixture in dumps() {
        total += 1;
        let document = read(&fixture.blob).unwrap();
        let out = write(&document).unwrap();
        same += usize::from(out == fixture.blob);
        match read(&out) {
            Ok(again) if again == document && document == read_detailed(&fixture.blob) => {}
            Ok(again) => failures.push(format!(
                "{}:\n  {}\n  {}",
                fixture.name,
                describe::line(&document),
                describe::line(&again)
            )),
            Err(error) => failures.push(format!("{}: {error}", fixture.name)),
        }
    }
    report("writing", total, &failures);
    // Without notes, a document is written by Ruby's own rules.
    assert!(same * 100 >= total * 97, "only {same} of {total} are the same bytes");
}

#[test]
fn dumps_round_trip_through_typed_json() {
    let limits = Limits::default();
    let (mut total, mut failures) = (0, Vec::new());
    let mut options = json::WriteOptions::default();
    options.typed = true;
    options.spelling = true;
    let mut typed = json::ReadOptions::default();
    typed.typed = Some(true);
    for fixture in dumps() {
        total += 1;
        let document = read_detailed(&fixture.blob);
        let mut text = Vec::new();
        json::write(&document, &options, &limits, &mut text).unwrap();
        match json::read(&text, &typed, &limits) {
            Ok(again) if again == document => match write(&again) {
                Ok(out) if out == fixture.blob => {}
                _ => failures.push(format!("{}: other bytes\n{}", fixture.name, String::from_utf8_lossy(&text))),
            },
            Ok(_) => failures.push(format!("{}: not equal\n{}", fixture.name, String::from_utf8_lossy(&text))),
            Err(error) => failures.push(format!("{}: {error}\n{}", fixture.name, String::from_utf8_lossy(&text))),
        }
    }
    report("typed JSON", total, &failures);
}

#[test]
fn spans_tile_the_input() {
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in dumps() {
        total += 1;
        let document = read_detailed(&fixture.blob);
        let mut spans: Vec<_> = document.trace().unwrap().spans.iter().map(|s| (s.start, s.end, s.name)).collect();
        spans.sort_unstable();
        let mut offset = 0;
        for (start, end, part) in spans {
            if start != offset {
                failures.push(format!("{}: {part} at {start}, not at {offset}", fixture.name));
                break;
            }
            offset = end;
        }
        if offset != fixture.blob.len() as u64 {
            failures.push(format!("{}: ends at {offset} of {}", fixture.name, fixture.blob.len()));
        }
    }
    report("tiling", total, &failures);
}

#[test]
fn cut_dumps_are_truncated_or_malformed() {
    let (mut total, mut failures) = (0, Vec::new());
    for fixture in dumps().iter().filter(|fixture| fixture.blob.len() < 3000) {
        for len in 0..fixture.blob.len() {
            total += 1;
            match read(&fixture.blob[..len]) {
                Err(error) if error.kind() == ErrorKind::Truncated => {}
                Err(error) => failures.push(format!("{} to {len}: {error}", fixture.name)),
                Ok(_) => failures.push(format!("{} to {len}: was read", fixture.name)),
            }
        }
    }
    report("truncation", total, &failures);
}

/// Returns why our verdict on a damaged dump may differ from Ruby's.
fn difference(verdict: &str, ours: &Result<(), icecore::Error>) -> Option<&'static str> {
    let about = |text: &str| verdict.contains(text);
    match ours {
        Ok(()) if about("undefined class") || about("class") => Some("classes are not looked up"),
        Ok(()) if about("encoding") || about("invalid byte sequence") => Some("encodings are not looked up"),
        Ok(()) if about("Regexp") || about("regex") || about("premature end") => Some("regexps are not compiled"),
        Ok(()) if about("instance variable") || about("allowed as") => Some("names of variables are not checked"),
        Ok(()) if about("FrozenError") => Some("what can have instance variables is not checked"),
        Ok(()) if about("singleton") || about("extend") || about("TypeError") => Some("objects are not built"),
        Err(error) if verdict == "loads" => {
            let text = error.to_string();
            match error.kind() {
                ErrorKind::Malformed if text.contains("sign of an integer") => Some("a bignum has a sign"),
                ErrorKind::Malformed if text.contains("number of") || text.contains("length of") => {
                    Some("counts are not negative")
                }
                _ => None,
            }
        }
        _ => None,
    }
}

#[test]
fn damaged_dumps_are_refused_where_ruby_refuses_them() {
    let limits = Limits::default();
    let (mut total, mut failures, mut differences) = (0, Vec::new(), std::collections::BTreeMap::new());
    for fixture in load("marshal.jsonl").into_iter().filter(|fixture| fixture.mode == "damaged") {
        total += 1;
        let verdict = fixture.line["verdict"].as_str().unwrap();
        let outcome = marshal::ReadOptions::default().read(&fixture.blob, Request::new(&limits));
        let ours = outcome.error.map_or(Ok(()), Err);
        if ours.is_ok() == (verdict == "loads") {
            continue;
        }
        match difference(verdict, &ours) {
            Some(why) => *differences.entry(why).or_insert(0) += 1,
            None => failures.push(format!(
                "{}: ruby {verdict}, ours {ours:?}\n{}",
                fixture.name,
                icecore::text::window(&fixture.blob, 16)
            )),
        }
    }
    eprintln!("{total} damaged dumps, differences: {differences:?}");
    report("verdicts", total, &failures);
}
