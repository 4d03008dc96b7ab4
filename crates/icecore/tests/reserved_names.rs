//! Objects whose class names the target language uses for its own classes: the real PHP and Ruby
//! load every one of them.

use crate::common;
use crate::fixtures;

use crate::fixtures::checker;
use icecore::{Builder, Document, Limits, Losses, Stage};
use std::process::Command;

/// A language, its stage, and the command that runs its script.
struct Language {
    name: &'static str,
    stage: &'static str,
    command: fn() -> Command,
}

const LANGUAGES: [Language; 2] = [
    Language { name: "php", stage: "php", command: || script("php", "classes/load.php") },
    Language {
        name: "ruby",
        stage: "marshal",
        command: || {
            let mut ruby = script("ruby", "classes/load.rb");
            ruby.env("RUBYOPT", "-W0");
            ruby
        },
    },
];

fn script(program: &str, path: &str) -> Command {
    let mut command = Command::new(program);
    command.arg(fixtures::folder().join(path));
    command
}

fn write(document: &Document<'_>, stage: &str) -> (Vec<u8>, Losses) {
    let mut out = Vec::new();
    let stage = Stage::parse(stage).unwrap();
    let losses = icecore::write_to(document, &stage, &Limits::default(), &mut out).unwrap();
    (out, losses)
}

/// Returns objects of this class with members of several kinds, as Perl programs have them.
fn objects(class: &str) -> Vec<Document<'static>> {
    let fill: [fn(&mut Builder); 6] = [
        |builder| {
            builder.begin_map();
            builder.end();
        },
        |builder| {
            builder.begin_map();
            builder.key().bytes("member").int(1);
            builder.end();
        },
        |builder| {
            builder.begin_map();
            for name in ["message", "code", "line", "file", "date", "name", "value", "length", "flags"] {
                builder.key().bytes(name).bytes("x");
            }
            builder.end();
        },
        |builder| {
            builder.begin_map();
            for name in ["line", "file", "timezone", "hash", "begin", "end", "excl", "previous", "trace"] {
                builder.key().bytes(name).null();
            }
            builder.end();
        },
        |builder| {
            builder.begin_array();
            builder.int(1).bytes("x");
            builder.end();
        },
        |builder| {
            builder.begin_array();
            builder.end();
        },
    ];
    let build = |fill: &fn(&mut Builder)| {
        let mut builder = Builder::new();
        builder.begin_object(class);
        fill(&mut builder);
        builder.end();
        builder.finish().unwrap()
    };
    fill.iter().map(build).collect()
}

#[test]
fn languages_load_objects_with_every_reserved_name() {
    for Language { name, stage, command } in LANGUAGES {
        if !checker::has(name, Command::new(name).arg("--version")) {
            continue;
        }
        let names = command().arg("names").output().unwrap().stdout;
        let names: Vec<_> = String::from_utf8(names).unwrap().lines().map(str::to_owned).collect();
        assert!(names.len() > 100, "{name}: {} names", names.len());
        let documents: Vec<_> =
            names.iter().flat_map(|class| objects(class).into_iter().map(move |one| (class, one))).collect();
        let blobs: Vec<_> = documents.iter().map(|(_, object)| write(object, stage).0).collect();
        let answers = checker::ask(&mut command(), &checker::in_base64(&blobs));
        let mut failures = Vec::new();
        for (((class, _), blob), answer) in documents.iter().zip(&blobs).zip(&answers) {
            if answer != "ok" {
                failures.push(format!("{class}: {answer}: {}", blob.escape_ascii()));
            }
        }
        fixtures::report(name, answers.len(), &failures);
    }
}

fn convert(input: &[u8], from: &str, to: &str) -> (String, Vec<&'static str>) {
    let document = icecore::read_as(input, &Stage::parse(from).unwrap(), &Limits::default()).unwrap();
    let (out, losses) = write(&document, to);
    let out = out.iter().map(|byte| byte.escape_ascii().to_string()).collect();
    (out, losses.iter().map(|loss| loss.kind.as_str()).collect())
}

/// Converts an input from stage to stage and returns the output of each step.
fn convert_in_steps(input: &[u8], stages: &[&str]) -> Vec<String> {
    let mut bytes = input.to_vec();
    let step = |pair: &[&str]| {
        let document = icecore::read_as(&bytes, &Stage::parse(pair[0]).unwrap(), &Limits::default()).unwrap();
        bytes = write(&document, pair[1]).0;
        bytes.escape_ascii().to_string()
    };
    stages.windows(2).map(step).collect()
}

const TIME: &[u8] = br#"O:8:"DateTime":3:{s:4:"date";s:4:"2024";s:13:"timezone_type";i:3;s:8:"timezone";s:3:"UTC";}"#;

#[test]
fn a_renamed_class_gets_its_name_back() {
    let outputs = convert_in_steps(TIME, &["php", "marshal", "php"]);
    assert!(outputs[0].contains("Icecore::Foreign::DateTime"), "{}", outputs[0]);
    assert_eq!(outputs[1], TIME.escape_ascii().to_string());
    let outputs = convert_in_steps(TIME, &["php", "marshal", "storable:memory,netorder"]);
    assert!(outputs[1].contains("\\x08DateTime"), "{}", outputs[1]);
    // Perl's names use other separators than PHP's.
    let perl = br#"{"$class":"Random::Randomizer","$value":{"a":1}}"#;
    let outputs = convert_in_steps(perl, &["json:typed", "php", "sereal", "json:typed"]);
    assert!(outputs[0].contains("Icecore\\\\Foreign\\\\Random\\\\Randomizer"), "{}", outputs[0]);
    assert!(outputs[2].contains("Random::Randomizer"), "{}", outputs[2]);
}

#[test]
fn classes_of_the_target_language_keep_their_names() {
    let closure = br#"O:7:"Closure":0:{}"#;
    assert_eq!(convert(closure, "php", "igbinary"), ("\\x00\\x00\\x00\\x02\\x17\\x07Closure\\x14\\x00".into(), vec![]));
    let (out, losses) = convert(closure, "php", "marshal");
    assert_eq!((&*out, losses), ("\\x04\\x08o:\\x0cClosure\\x00", vec![]));
    let (out, losses) = convert(br#"O:4:"Time":0:{}"#, "php", "marshal");
    assert_eq!((&*out, losses), ("\\x04\\x08o:\\x1bIcecore::Foreign::Time\\x00", vec!["renamed"]));
    let (out, losses) = convert(b"\x04\x08o:\x09Time\0", "marshal", "marshal");
    assert_eq!((&*out, losses), ("\\x04\\x08o:\\tTime\\x00", vec![]));
}

#[test]
fn a_class_map_renames_in_every_format() {
    let input = b"a:2:{i:0;O:7:\"App\\Old\":1:{s:10:\"\0App\\Old\0a\";i:1;}i:1;E:9:\"App\\Old:A\";}";
    for (to, expected) in [
        ("php", r#"a:2:{i:0;O:3:"New":1:{s:6:"\x00New\x00a";i:1;}i:1;E:5:"New:A";}"#),
        ("php-session", ""),
        ("var-export", r"New::A"),
        ("igbinary", r"\x17\x03New\x14\x01\x11\x06\x00New\x00a"),
        ("dumper:indent=0", r"\'New\' )"),
        ("storable", r"\x03New"),
        ("sereal", r"cNew"),
        ("marshal", r"o:\x08New"),
        ("json:class=is", r#"{"is":"New","a":1}"#),
        ("json:typed", r#"{"$class":"New","$value":{"\\u0000New\\u0000a":1}}"#),
    ] {
        if !expected.is_empty() {
            let (out, _) = convert(
                input,
                "php",
                &format!("{to}{}class-map='App\\*=New'", if to.contains(':') { ',' } else { ':' }),
            );
            assert!(out.replace("\\\"", "\"").contains(expected), "{to}: {out}");
            assert!(!out.contains("Old"), "{to}: {out}");
        }
    }
    // A name from the map is used even if it is reserved.
    let (out, losses) = convert(b"\x04\x08o:\x06A\0", "marshal", "php:class-map='A=Closure'");
    assert_eq!((&*out, losses), (r#"O:7:\"Closure\":0:{}"#, vec![]));
    let (out, losses) = convert(b"\x04\x08o:\x06A\0", "marshal", "php:class-map='A=X::Y'");
    assert_eq!((&*out, losses), (r#"O:3:\"X\\Y\":0:{}"#, vec![]));
}

#[test]
fn a_class_map_changes_only_classes() {
    for (input, format, expected) in [
        (
            &b"\x04\x08[\x07o:\x06A\x06:\x07@aI\"\x06x\x06:\x06ETo;\0\x06;\x06i\x06"[..],
            "marshal",
            "\\x04\\x08[\\x07o:\\tNew1\\x06:\\x07@aI\\\"\\x06x\\x06:\\x06ETo;\\x00\\x06;\\x06i\\x06",
        ),
        (b"O:1:\"A\":+0:{}", "php", "O:4:\\\"New1\\\":0:{}"),
        (b"O:1:\"B\":+0:{}", "php", "O:1:\\\"B\\\":+0:{}"),
        (b"C:1:\"A\":01:{x}", "php", "C:4:\\\"New1\\\":1:{x}"),
        (b"a:1:{i:+0;O:1:\"A\":0:{}}", "php", "a:1:{i:+0;O:4:\\\"New1\\\":0:{}}"),
    ] {
        let limits = Limits::default();
        let mut request = icecore::Request::new(&limits);
        request.detail = true;
        let document = icecore::read_with(input, &Stage::parse(format).unwrap(), request).unwrap();
        let (out, losses) = write(&document, &format!("{format}:class-map='A=New1'"));
        assert_eq!(out.escape_ascii().to_string(), expected);
        assert!(losses.is_empty());
    }
}

#[test]
fn a_class_map_makes_ruby_values_plain() {
    // [1..3, Set[1, "a", :b, [2]], Rational(1, 2), the same set]
    let dump = b"\x04\x08[\x09o:\x0aRange\x08:\x09exclF:\x0abegini\x06:\x08endi\x08o:\x08Set\x06:\x0a@hash}\x09i\x06T\"\x06aT:\x06bT[\x06i\x07TF\
                 U:\x0dRational[\x07i\x06i\x07@\x07";
    let (out, losses) = convert(dump, "marshal", "php:class-map='*=(plain)'");
    let set = r#"a:4:{i:0;i:1;i:1;s:1:\"a\";i:2;s:1:\"b\";i:3;a:1:{i:0;i:2;}}"#;
    assert!(out.contains(r#"i:0;s:4:\"1..3\""#) && out.contains(set) && out.contains(r#"s:3:\"1/2\""#), "{out}");
    assert!(!losses.contains(&"set"), "{losses:?}");
}

/// Reads with the byte form and writes with a class map.
fn convert_with_class_map(input: &[u8], format: &str, map: &str) -> Vec<u8> {
    let limits = Limits::default();
    let mut request = icecore::Request::new(&limits);
    request.detail = true;
    let mut to = Stage::parse(format).unwrap();
    to.set("class-map", Some(map)).unwrap();
    let document = icecore::read_with(input, &Stage::parse(format).unwrap(), request).unwrap();
    let mut out = Vec::new();
    icecore::write_to(&document, &to, &limits, &mut out).unwrap();
    out
}

#[test]
fn renaming_classes_and_back_restores_the_bytes() {
    let mut renamed = 0;
    for seed in 0..3000 {
        let document = common::document(seed, common::Palette::All);
        for format in ["storable", "sereal", "php", "igbinary", "marshal", "var-export", "json:typed"] {
            let mut before = Vec::new();
            let stage = Stage::parse(format).unwrap();
            if icecore::write_to(&document, &stage, &Limits::default(), &mut before).is_err() {
                continue;
            }
            let Ok(read) = icecore::read_as(&before, &stage, &Limits::default()) else { continue };
            let is_plain = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let classes: std::collections::BTreeSet<_> =
                read.classes().into_iter().filter_map(|class| String::from_utf8(class.name).ok()).collect();
            let pairs = || classes.iter().filter(|name| is_plain(name)).enumerate();
            let renamings: String = pairs().map(|(index, name)| format!("{name}=Renamed{index},")).collect();
            let reverse_map: String = pairs().map(|(index, name)| format!("Renamed{index}={name},")).collect();
            // Some shapes are never in original data, and no writer keeps them.
            if convert_with_class_map(&before, format, "") != before {
                continue;
            }
            let after = convert_with_class_map(&before, format, &renamings);
            renamed += usize::from(after != before);
            let restored = convert_with_class_map(&after, format, &reverse_map);
            let same = restored.iter().zip(&before).take_while(|(one, other)| one == other).count();
            let from =
                |bytes: &[u8]| bytes[same.saturating_sub(20)..(same + 60).min(bytes.len())].escape_ascii().to_string();
            assert!(
                restored == before,
                "seed {seed}, {format}: {}\n  {}\n  {}",
                from(&before),
                from(&after),
                from(&restored)
            );
        }
    }
    assert!(renamed > 300, "{renamed} documents had classes");
}

#[test]
fn a_class_map_turns_ruby_times_into_php_times() {
    // [Time.at(1770000000, 500_000_001, :nsec, in: "+01:00"), Time.utc(2024), Date.new(2026, 11, 23)]
    let has_both = checker::has("ruby 3.1", Command::new("ruby").args(["-e", "exit RUBY_VERSION >= '3.1'"]))
        && checker::has("php", Command::new("php").arg("--version"));
    if !has_both {
        return;
    }
    let code = "t=Time.at(1770000000, 500_000_000, :nsec, in: '+01:00'); print Marshal.dump([t, Time.utc(2024, 2, 29, 1, 2, 3), t])";
    let dump = Command::new("ruby").args(["-e", code]).output().unwrap().stdout;
    let document = icecore::read_as(&dump, &Stage::parse("marshal").unwrap(), &Limits::default()).unwrap();
    let (out, losses) = write(&document, "php:class-map='Time=DateTimeImmutable'");
    assert!(losses.is_empty() || losses.iter().all(|loss| loss.kind.as_str() == "attributes"), "{losses:?}");
    let text = String::from_utf8(out).unwrap();
    let mut php = Command::new("php");
    let code = "foreach (unserialize(stream_get_contents(STDIN)) as $t) echo $t->format('U.u P e'), ';';";
    let mut child = php
        .args(["-r", code])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.as_bytes()).unwrap();
    let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(
        said, "1770000000.500000 +01:00 +01:00;1709168523.000000 +00:00 UTC;1770000000.500000 +01:00 +01:00;",
        "{text}"
    );
    // The times as text.
    let (out, _) = write(&document, "json:class-map='Time=(plain)'");
    assert!(String::from_utf8(out).unwrap().starts_with(r#"["2026-02-02T03:40:00.5+01:00","2024-02-29T01:02:03Z""#));
}
