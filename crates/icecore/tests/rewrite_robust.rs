//! Input that is truncated, damaged, deep or hostile: no panic, no endless work, and unreadable
//! input stays text.

use crate::fixtures;
use crate::replacing;

use crate::common::{Random, on_a_small_stack};
use crate::replacing::{Pair, value, with};
use icecore::Stage;
use icecore::rewrite::{self, Change, Edits, Rewriting, StringRole, Tally};

/// Replaces every vowel with a longer text, a shorter one or nothing.
struct Vowels(&'static [u8]);

impl Change for Vowels {
    fn change_text(&mut self, text: &[u8], _: StringRole, edits: &mut Edits) {
        for (offset, byte) in text.iter().enumerate().filter(|(_, byte)| b"aeiou".contains(byte)) {
            let _ = byte;
            edits.push(offset, offset + 1, self.0);
        }
    }
}

fn rewrite_everything() -> Rewriting {
    let mut options = Rewriting::default();
    (options.keys, options.classes, options.base64, options.repair) = (true, true, true, true);
    options
}

/// Checks that the edits fit the text, whatever it contains.
fn check_edits(bytes: &[u8], stage: Option<&Stage>, new: &'static [u8], options: &Rewriting) {
    let mut tally = Tally::default();
    let edits = match stage {
        Some(stage) => rewrite::document(bytes, stage, &mut Vowels(new), options, &mut tally).unwrap_or_default(),
        None => rewrite::value(bytes, &mut Vowels(new), options, &mut tally),
    };
    let mut last = 0;
    for edit in edits.iter() {
        assert!(last <= edit.start && edit.start <= edit.end && edit.end <= bytes.len(), "{}", bytes.escape_ascii());
        last = edit.end;
    }
}

const FILES: [(&str, &str); 9] = [
    ("php.jsonl", "php"),
    ("php-spl.jsonl", "php"),
    ("php-session.jsonl", "php-session"),
    ("var-export.jsonl", "var-export"),
    ("dumper-read.jsonl", "dumper"),
    ("igbinary.jsonl", "igbinary"),
    ("marshal.jsonl", "marshal"),
    ("storable.jsonl", "storable"),
    ("sereal.jsonl", "sereal"),
];

fn load_blobs(file: &str) -> impl Iterator<Item = Vec<u8>> {
    let all = fixtures::load(file).into_iter().map(|fixture| fixture.blob);
    all.filter(|blob| blob.len() < 3000 && !blob.is_empty()).step_by(7)
}

#[test]
fn edits_of_cut_or_damaged_data_fit_it() {
    let mut random = Random::new(11);
    let (plain, all) = (Rewriting::default(), rewrite_everything());
    for (file, stage) in FILES {
        let stage = Stage::parse(stage).unwrap();
        for fixture in load_blobs(file) {
            for options in [&plain, &all] {
                check_edits(&fixture, None, b"xyz", options);
                check_edits(&fixture, Some(&stage), b"", options);
                let cut = random.below(fixture.len() as u64) as usize;
                check_edits(&fixture[..cut], None, b"", options);
                check_edits(&fixture[..cut], Some(&stage), b"xyz", options);
                let mut blob = fixture.clone();
                let offset = random.below(blob.len() as u64) as usize;
                blob[offset] = *random.pick(b"NbidsSaOCErR:;{}[]\"'0123456789+-.\\\0\xff/u$|");
                check_edits(&blob, None, b"xyz", options);
                check_edits(&blob, Some(&stage), b"\xff", options);
            }
        }
    }
}

/// Values nested in each other, far deeper than they are searched.
#[test]
fn depth_needs_no_stack() {
    on_a_small_stack(|| {
        let mut php = b"old.example".to_vec();
        let mut json = String::from("old.example");
        for _ in 0..300 {
            php = [format!("s:{}:\"", php.len()).as_bytes(), &php, b"\";"].concat();
        }
        for _ in 0..14 {
            json = format!("[\"{}\"]", json.replace('\\', "\\\\").replace('"', "\\\""));
        }
        let (same, tally) = value(&php, &mut Pair::new(b"old.example", b"new"));
        assert!(same == php && (tally.broken, tally.beyond) == (0, 1), "{tally:?}");
        let (new, tally) = value(json.as_bytes(), &mut Pair::new(b"old.example", b"new.example"));
        assert_eq!(String::from_utf8(new).unwrap(), json.replace("old.example", "new.example"));
        assert_eq!(tally.frozen.get("json"), 14);
        for (open, close) in [("a:1:{i:0;", "}"), ("[", "]"), ("{\"a\":", "}"), ("O:1:\"A\":1:{i:0;", "}")] {
            for times in [9_000, 200_000] {
                let inner = if open.ends_with(';') { "s:3:\"old\";" } else { "\"old\"" };
                let text = format!("{}{inner}{}", open.repeat(times), close.repeat(times));
                let (new, _) = with(text.as_bytes(), &mut Pair::new(b"old", b"new"), &rewrite_everything());
                assert_eq!(new == text.replace("old", "new").as_bytes(), times < 10_000, "{open}");
            }
        }
        // Binary formats nested in each other.
        let mut inner = icecore::convert(br#"["old.example"]"#, "json", "marshal").unwrap();
        for stage in ["storable", "sereal", "igbinary", "marshal", "storable", "igbinary"] {
            let mut builder = icecore::Builder::new();
            builder.begin_array();
            builder.bytes(&inner);
            builder.end();
            inner = icecore::write(&builder.finish().unwrap(), stage).unwrap();
        }
        let (new, tally) = value(&inner, &mut Pair::new(b"old.example", b"new"));
        assert!(new != inner && tally.changed == 1, "{tally:?}");
    });
}

/// Slashes and quotes double with each level: the number of bytes examined stays a multiple of the
/// text's length.
#[test]
fn hostile_texts_are_examined_in_linear_time() {
    let size = 1 << 16;
    for text in [
        "\\".repeat(size),
        format!("{{{}", "\\\"".repeat(size)),
        format!("a:{}", "\\\\\"".repeat(size)),
        "[".repeat(size),
        format!("[{}", "\"a:1:{\",".repeat(size / 8)),
        format!("a:{size}:{{{}", "i:0;s:5:\"a:1:{\";".repeat(size / 16)),
        "s:5:\"".repeat(size / 5),
        "C:1:\"A\":3:{".repeat(size / 10),
        format!("[\"{}\"]", "\\u00e9".repeat(size / 6)),
        "a|i:0;".repeat(size / 6),
        "$VAR1 = [".repeat(size / 9),
        "array(".repeat(size / 6),
    ] {
        check_edits(text.as_bytes(), None, b"xyz", &Rewriting::default());
        check_edits(text.as_bytes(), None, b"", &rewrite_everything());
    }
}

/// Replacements that are longer, shorter, equal or empty can be reversed, also of texts that contain each other.
#[test]
fn any_replacement_can_be_reversed() {
    let text =
        br#"a:2:{s:1:"k";s:60:"{"u":"http:\/\/old.org\/","t":"s:7:\"old.org\";","n":[1.50]}";i:0;s:7:"old.org";}"#;
    for new in ["x", "old.orgold.org", "new.example.and.much.longer.than.before", "zzz.zzz", "é\"\\/", "a\nb"] {
        let (changed, tally) = value(text, &mut Pair::new(b"old.org", new.as_bytes()));
        assert_eq!((tally.changed, tally.broken), (3, 0), "{new}");
        let (back, _) = value(&changed, &mut Pair::new(new.as_bytes(), b"old.org"));
        assert_eq!(String::from_utf8_lossy(&back), String::from_utf8_lossy(text), "{new}");
    }
    let (changed, tally) = value(text, &mut Pair::new(b"old.org", b""));
    assert_eq!((tally.changed, changed.len()), (3, text.len() - 21));
}

/// JSON that states the type of each string can't be changed in place: it stays, or is written
/// again in its form.
#[test]
fn typed_json_without_a_match_keeps_its_bytes() {
    let text = br#"{"$icecore":1,"$strings":"bytes","$value":{"$class":"A","$value":["old"]}}"#;
    let same = replacing::document(text, "json", &mut Pair::new(b"nothing", b"new")).unwrap().0;
    assert_eq!(same, text);
}
