//! The samples of the cookbook, in the shapes that applications write: each comes back byte for
//! byte, and editing one string by hand changes only that string.

use icecore::{Limits, Request, Stage};
use std::fs;
use std::path::Path;

/// A file, its stage, a string in it and a replacement, and the bytes of both in the file.
struct Sample {
    file: &'static str,
    stage: &'static str,
    string: [&'static str; 2],
    bytes: [&'static [u8]; 2],
}

const SAMPLES: &[Sample] = &[
    Sample {
        file: "php/widget_text.txt",
        stage: "php",
        string: ["Über uns", "Wer wir sind"],
        bytes: ["s:9:\"Über uns\"".as_bytes(), b"s:12:\"Wer wir sind\""],
    },
    Sample {
        file: "php/user.txt",
        stage: "php",
        string: ["Alice", "Alexandra"],
        bytes: [b"s:5:\"Alice\"", b"s:9:\"Alexandra\""],
    },
    Sample {
        file: "php/sess_4f2kq7",
        stage: "php-session",
        string: ["A-1", "B-22"],
        bytes: [b"s:3:\"A-1\"", b"s:4:\"B-22\""],
    },
    Sample {
        file: "php/config.php",
        stage: "var-export",
        string: ["Shop", "The new shop"],
        bytes: [b"'Shop'", b"'The new shop'"],
    },
    Sample {
        file: "php/employees.igbinary",
        stage: "igbinary",
        string: ["Alice", "Alexandra"],
        bytes: [b"\x11\x05Alice", b"\x11\x09Alexandra"],
    },
    Sample {
        file: "ruby/Map001.rvdata2",
        stage: "marshal",
        string: ["The old mill", "The new mill, rebuilt"],
        bytes: [b"\"\x11The old mill", b"\"\x1aThe new mill, rebuilt"],
    },
    Sample {
        file: "ruby/cache/3F1/A20/users%2F1",
        stage: "marshal",
        string: ["Alice", "Alexandra"],
        bytes: [b"\"\x0aAlice", b"\"\x0eAlexandra"],
    },
    Sample {
        file: "ruby/report.dump",
        stage: "marshal",
        string: ["Q3", "The third quarter"],
        bytes: [b"\"\x07Q3", b"\"\x16The third quarter"],
    },
];

fn read(file: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cookbook/samples").join(file);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Replaces the only occurrence of a part.
fn replace_only_occurrence(bytes: &[u8], part: &[u8], by: &[u8]) -> Vec<u8> {
    let places: Vec<_> = (0..bytes.len()).filter(|offset| bytes[*offset..].starts_with(part)).collect();
    let [offset] = places[..] else { panic!("{} is there {} times", part.escape_ascii(), places.len()) };
    [&bytes[..offset], by, &bytes[offset + part.len()..]].concat()
}

#[test]
fn editing_one_string_changes_only_that_string() {
    let limits = Limits::default();
    let typed = Stage::parse("json:typed").unwrap();
    for Sample { file, stage, string, bytes } in SAMPLES {
        let blob = read(file);
        let stage = Stage::parse(stage).unwrap();
        let document = icecore::read_with(&blob, &stage, Request::new(&limits).detailed())
            .unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut rewritten = Vec::new();
        icecore::write_to(&document, &stage, &limits, &mut rewritten).unwrap();
        assert!(rewritten == blob, "{file} does not come back as it is");

        // That a value is in a PHP file is part of its spelling.
        let without = (stage.format().name != "var-export").then_some("json:typed,indent=2");
        for typed_form in without.into_iter().chain(["json:typed,spelling,indent=2"]) {
            let text = icecore::write(&document, typed_form).unwrap();
            let [before, after] = string.map(|string| format!("\"{string}\"").into_bytes());
            let edited = replace_only_occurrence(&text, &before, &after);
            let edited = icecore::read_as(&edited, &typed, &limits).unwrap_or_else(|error| panic!("{file}: {error}"));
            let mut written = Vec::new();
            icecore::write_to(&edited, &stage, &limits, &mut written).unwrap();
            let expected = replace_only_occurrence(&blob, bytes[0], bytes[1]);
            assert!(
                written == expected,
                "{file} through {typed_form}\n{}\n{}",
                written.escape_ascii(),
                expected.escape_ascii()
            );
        }
    }
}
