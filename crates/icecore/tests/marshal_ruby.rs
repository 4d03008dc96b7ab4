//! Our output, loaded by the real Ruby.

use crate::fixtures;
use crate::fixtures::describe;

use crate::fixtures::{checker, load, report};
use icecore::{Limits, Stage, format::marshal};
use std::process::Command;

/// Returns what the real Ruby reads from each dump. If ruby is missing, prints a line that says so
/// and returns `None`.
fn ask(blobs: &[Vec<u8>]) -> Option<Vec<String>> {
    if !checker::has("ruby 3.1", Command::new("ruby").args(["-e", "exit RUBY_VERSION >= '3.1'"])) {
        return None;
    }
    let mut ruby = Command::new("ruby");
    ruby.args(["-W0", "-E", "UTF-8"]).arg(fixtures::folder().join("ruby/check.rb"));
    Some(checker::ask(&mut ruby, &checker::in_base64(blobs)))
}

fn write(document: &icecore::Document<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    marshal::write(document, &marshal::WriteOptions::default(), &Limits::default(), &mut out).unwrap();
    out
}

#[test]
fn ruby_loads_our_dumps_as_the_same_values() {
    let fixtures: Vec<_> = load("marshal.jsonl").into_iter().filter(|fixture| fixture.mode == "dump").collect();
    let blobs: Vec<_> = fixtures
        .iter()
        .map(|fixture| {
            write(&marshal::read(&fixture.blob, &marshal::ReadOptions::default(), &Limits::default()).unwrap())
        })
        .collect();
    let Some(answers) = ask(&blobs) else { return };
    let mut failures = Vec::new();
    for (fixture, answer) in fixtures.iter().zip(&answers) {
        let expected = fixture.line["said"].as_str().map_or("ok ?".to_owned(), |said| format!("ok {said}"));
        if *answer != expected {
            failures.push(format!("{}:\n  {expected}\n  {answer}", fixture.name));
        }
    }
    report("loading", answers.len(), &failures);
}

#[test]
fn ruby_loads_documents_of_other_formats() {
    let limits = Limits::default();
    let stage = Stage::parse("json:typed").unwrap();
    let texts = [
        r#"{"a":[1,2.5,"é",null,true,12345678901234567890123],"b":{"a":"x"}}"#,
        r#"[{"id":1,"name":"a"},{"id":2,"name":"b"}]"#,
        r#"{"$class":"Point","$value":{"x":1,"y":[1.5,1.5]}}"#,
        r#"{"$icecore":1,"$strings":"bytes","$value":["abc",{"$latin1":"é"},{"$text":"é"}]}"#,
        r#"[{"$id":1,"$value":[1]},{"$link":1}]"#,
        r#"{"$map":[[1,2],[null,3],["a",{"$symbol":"b"}],[1.5,1.5]]}"#,
        r#"{"$id":1,"$value":[{"$link":1}]}"#,
        r#"[{"$symbol":"é"},{"$ref":{"$hole":1}}]"#,
    ];
    let blobs: Vec<_> =
        texts.iter().map(|text| write(&icecore::read_as(text.as_bytes(), &stage, &limits).unwrap())).collect();
    let Some(answers) = ask(&blobs) else { return };
    let mut failures = Vec::new();
    for ((text, blob), answer) in texts.iter().zip(&blobs).zip(&answers) {
        let document = marshal::read(blob, &marshal::ReadOptions::default(), &limits).unwrap();
        let ours = describe::line(&document);
        if *answer != format!("ok {ours}") {
            failures.push(format!("{text}:\n  ours {ours}\n  ruby {answer}"));
        }
    }
    report("loading", answers.len(), &failures);
}

#[test]
fn option_utf8_writes_bytes_as_text_for_ruby() {
    let document = icecore::read_as(
        "a:1:{s:4:\"käy\";s:3:\"é\u{1}\";}".as_bytes(),
        &Stage::parse("php").unwrap(),
        &Limits::default(),
    );
    let mut blobs = Vec::new();
    for stage in ["marshal", "marshal:utf8"] {
        let mut out = Vec::new();
        icecore::write_to(document.as_ref().unwrap(), &Stage::parse(stage).unwrap(), &Limits::default(), &mut out)
            .unwrap();
        blobs.push(out);
    }
    let Some(answers) = ask(&blobs) else { return };
    assert!(answers[0] != answers[1], "{answers:?}");
    assert_eq!(blobs[1], "\x04\x08{\x06I\"\x09käy\x06:\x06ETI\"\x08é\x01\x06;\0T".as_bytes());
}

/// Ruby's documentation consists of about ten thousand dumps that were not made for a test.
#[test]
fn dumps_of_rubys_documentation_are_rewritten_byte_for_byte() {
    let limits = icecore::Limits::default();
    let stage = icecore::Stage::parse("marshal").unwrap();
    let mut folders = vec![std::path::PathBuf::from("/usr/share/ri")];
    let (mut checked, mut different) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "ri") {
                let dump = std::fs::read(&path).unwrap();
                let request = icecore::Request::new(&limits).detailed();
                let document = icecore::read_with(&dump, &stage, request)
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let mut rewritten = Vec::new();
                icecore::write_to(&document, &stage, &limits, &mut rewritten).unwrap();
                checked += 1;
                if rewritten != dump {
                    different.push(path);
                }
            }
        }
    }
    println!("{checked} dumps of Ruby's documentation");
    assert!(different.is_empty(), "{} of {checked}, as {:?}", different.len(), different[0]);
}
