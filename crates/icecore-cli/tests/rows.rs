//! Columns with frozen data among ordinary values: ordinary values are unchanged, and damaged ones are reported and
//! kept.

use crate::run;

/// Returns stdout, stderr and the exit code.
fn run_rows(args: &[&str], input: &[u8]) -> (Vec<u8>, String, i32) {
    run::icecore(&[&["rows"], args].concat(), input)
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// Returns text that people and programs put into such columns.
fn random_ordinary_text(random: &mut Random) -> String {
    let words = [
        "hello",
        "Zoë",
        "array",
        "true",
        "null",
        "N",
        "draft",
        "日本",
        "return",
        "bless",
        "array of things",
        "pst0",
        "=srl",
    ];
    let fixed = [
        "a:b",
        "i:5",
        "s:",
        "b:",
        "i:",
        "d:1.5",
        "b:1",
        "O:",
        "a:2",
        "s:5",
        "N;x",
        "i:5;x",
        "x|y",
        "size|L",
        "|",
        "12:30:45",
        "2024-02-30 10:00:00",
        "https://example.com/?a:1",
        "<p class=\"a\">b:1;</p>",
        "[gallery ids=\"1,2\"]",
        "{name}",
        "color:red;width:5;",
        "a;b;c",
        "-",
        "\"",
        "'",
        "\\",
        "$VAR",
        "$5.00",
        "€ 5,00",
        "50%",
        "a%20b",
        "0408220631",
        "040830",
        "deadbeef",
        "cafebabe",
        "SGVsbG8gd29ybGQh",
        "aGVsbG8gd29ybGQ=",
        "dGVzdHRlc3Q",
        "YToxOg",
        "+49 (0)30 123",
        "1e5",
        "0x10",
        "[1] see note",
        "[x]",
        "{",
        "}",
        "[",
        "a:",
        "C:\\dir",
        "E:5",
        "r:1",
        "R:1;",
        "S:",
        "<?xml version=\"1.0\"?>",
        "--",
        "#!sh",
        "k: v",
        "- item",
        "1,2,3",
        "\u{feff}",
        "a,b\"c",
        "tab\tin",
        "line\nin",
        " ",
        "  lead",
        "trail ",
        "{\"a\": broken",
        "\"open",
    ];
    match random.below(7) {
        0 => random.below(1_000_000_000).to_string(),
        1 => format!("-{}.{}", random.below(1000), random.below(100)),
        2 => words[random.below(words.len())].to_owned(),
        3 => format!("{} {}", random.pick(&words), random.pick(&fixed)),
        4 => format!("{}{}", random.pick(&["i:", "s:", "a:", "b:", "d:", "O:", "x", "#", "v"]), random.below(100)),
        5 => (0..=random.below(30)).map(|_| char::from(b' ' + random.below(95) as u8)).collect(),
        _ => fixed[random.below(fixed.len())].to_owned(),
    }
}

/// Returns a frozen value as text, and its value in JSON.
fn freeze_random(random: &mut Random, format: &str) -> (Vec<u8>, String) {
    let json = match random.below(4) {
        0 => format!("{{\"id\":{},\"name\":\"Zo\u{eb}, \\\"Z\\\"\"}}", random.below(1000)),
        1 => format!("[{},null,true]", random.below(1000)),
        2 => format!("{{\"list\":[{{\"a\":1.5}},\"x\"],\"long\":\"{}\"}}", "y".repeat(random.below(60))),
        _ => format!("{{\"key {}\":[[1],[2,[3]]]}}", random.below(1000)),
    };
    (icecore::convert(json.as_bytes(), "json", format).unwrap(), json)
}

/// A cell: its bytes, what becomes of it, and its JSON.
type Cell = (Vec<u8>, &'static str, String);

fn cells(random: &mut Random, format: &str, count: usize) -> Vec<Cell> {
    let quoted = |text: &[u8]| serde_json::to_string(&String::from_utf8_lossy(text)).unwrap();
    (0..count)
        .map(|_| match random.below(4) {
            0 | 1 => {
                let text = loop {
                    let text = random_ordinary_text(random).into_bytes();
                    // Random characters may accidentally be frozen data.
                    if icecore::detect::begins_frozen(&text).is_none()
                        && icecore::deep::stage_of(&text, &icecore::Limits::default()).is_none()
                    {
                        break text;
                    }
                    assert!(text.starts_with(b"a:") || text.len() < 30, "{}", String::from_utf8_lossy(&text));
                };
                let json = quoted(&text);
                (text, "text", json)
            }
            2 => {
                let (text, json) = freeze_random(random, format);
                (text, "decoded", json)
            }
            _ => {
                let (mut text, _) = freeze_random(random, format);
                // Damage after the bytes that identify the format.
                let from = text.len() / 2;
                match random.below(2) {
                    0 => text.truncate(from + random.below(text.len() - from)),
                    _ => text.splice(from..from + 1, *b"\x01~\x02").for_each(drop),
                }
                // A character may be cut; exports are text.
                let text = String::from_utf8_lossy(&text).into_owned().into_bytes();
                let json = quoted(&text);
                (text, "broken", json)
            }
        })
        .collect()
}

/// Writes cells in the form of an export, as `--in` expects it.
fn export(form: &str, cells: &[Cell]) -> Vec<u8> {
    let mut out = Vec::new();
    if form != "pgcopy" && form != "ndjson" {
        out.extend(if form == "csv" { &b"id,v\n"[..] } else { b"id\tv\n" });
    }
    for (id, (text, ..)) in cells.iter().enumerate() {
        match form {
            "csv" => {
                out.extend(format!("{id},\"").bytes());
                out.extend(String::from_utf8(text.clone()).unwrap().replace('"', "\"\"").bytes());
                out.extend(b"\"\n");
            }
            "ndjson" => {
                let text = serde_json::to_string(std::str::from_utf8(text).unwrap()).unwrap();
                out.extend(format!("{{\"id\":\"{id}\",\"v\":{text}}}\n").bytes());
            }
            _ => {
                out.extend(format!("{id}\t").bytes());
                for byte in text {
                    match byte {
                        b'\t' => out.extend(b"\\t"),
                        b'\n' => out.extend(b"\\n"),
                        b'\r' => out.extend(b"\\r"),
                        b'\\' => out.extend(b"\\\\"),
                        other => out.push(*other),
                    }
                }
                out.push(b'\n');
            }
        }
    }
    out
}

#[test]
fn ordinary_values_are_kept_and_damage_is_reported() {
    let rounds = std::env::var("ICECORE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(2);
    for seed in 0..rounds {
        for form in ["csv", "mysql", "pgcopy", "ndjson"] {
            for (format, column) in [
                ("php", "v=php"),
                ("php", "v"),
                ("base64/marshal", "v=base64/marshal"),
                ("base64/sereal", "v"),
                ("hex/storable", "v=hex/storable"),
                ("var-export", "v=var-export"),
                ("dumper", "v=dumper"),
            ] {
                let mut random = Random(seed);
                let cells = cells(&mut random, format, 200);
                let input = export(form, &cells);
                let names: &[&str] = if form == "pgcopy" { &["--columns", "id,v", "--bytea", "no"] } else { &[] };
                let (stdout, stderr, code) =
                    run_rows(&[&["--in", form, "-c", column, "--kind-column"], names].concat(), &input);
                let stdout = String::from_utf8(stdout).unwrap();
                let name = format!("{form}, {column}, {seed}");
                assert_eq!(stdout.lines().count(), cells.len(), "{name}: {stderr}");
                let broken = cells.iter().filter(|cell| cell.1 == "broken").count();
                for (line, (text, kind, json)) in stdout.lines().zip(&cells) {
                    let line: serde_json::Value = serde_json::from_str(line).unwrap();
                    let text = String::from_utf8_lossy(text);
                    // A damaged text may have another valid meaning, and some texts are values of PHP's and Perl's
                    // formats.
                    let is_other = line["v_kind"] == "decoded"
                        && (*kind == "broken" || column.contains("=var") || column.contains("=dumper"));
                    if is_other {
                        continue;
                    }
                    assert_eq!(line["v_kind"], *kind, "{name}: {text:?} {line}");
                    assert_eq!(line["v"], serde_json::from_str::<serde_json::Value>(json).unwrap(), "{name}: {text:?}");
                    assert_eq!(line.get("v_error").is_some(), *kind == "broken", "{name}: {line}");
                }
                assert_eq!(code, if broken > 0 { 4 } else { 0 }, "{name}: {stderr}");
            }
        }
    }
}

/// In a table of text, a kept value is exactly the same text.
#[test]
fn kept_text_is_unchanged_in_tables() {
    let input = b"id,v\n1,\"a,\"\"b\"\nx,\n2,i:5;\n3,\"a:1:{i:0;\"\n";
    let (out, _, code) = run_rows(&["--in", "csv", "-c", "v", "-t", "csv", "--kind-column"], input);
    let out = String::from_utf8(out).unwrap();
    let lines: Vec<_> = out.lines().collect();
    assert_eq!(lines[..4], ["id,v,v_error,v_kind", "1,\"a,\"\"b\",,text", "x,,,null", "2,5,,decoded"]);
    assert!(
        code == 4 && lines[4].starts_with("3,a:1:{i:0;,\"the input ends too early") && lines[4].ends_with(",broken"),
        "{out}"
    );
    let (out, _, code) =
        run_rows(&["--in", "mysql", "-c", "v=php", "-t", "tsv"], b"id\tv\n1\t\\N\n2\t\n3\ta\\nb\n4\tN;\n");
    assert_eq!(
        (String::from_utf8(out).unwrap().as_str(), code),
        ("id\tv\tv_error\n1\t\\N\t\n2\t\t\n3\ta\\nb\t\n4\tnull\t\n", 0)
    );
}

#[test]
fn json_values_keep_their_types() {
    let input = "{\"d\":1.50}\n{\"d\":null}\n{ \"d\" : \"x \\u0041\" }\n{\"d\":{\"a\":1}}\n{\"d\":\"\"}\n{\"d\":true,\"d\":\"i:5;\"}\n";
    let (stdout, stderr, code) = run_rows(&["--in", "ndjson", "-c", "d=php"], input.as_bytes());
    let expected = input.replace("\"i:5;\"", "5");
    assert_eq!((String::from_utf8(stdout).unwrap(), code), (expected, 0));
    assert!(stderr.contains("1 value is not of the given format: unchanged, first in row 3 at column d"), "{stderr}");
    let (stdout, _, code) =
        run_rows(&["--in", "ndjson", "-c", "d=php", "--text", "latin1"], "{\"d\":\"日本\"}\n".as_bytes());
    assert_eq!((String::from_utf8(stdout).unwrap().as_str(), code), ("{\"d\":\"日本\"}\n", 0));
    // A bad line keeps its text.
    let (stdout, stderr, code) =
        run_rows(&["--in", "ndjson", "-c", "d=php", "--kind-column"], b"{\"d\":\"i:5;\n[\"x\"]\n");
    let stdout = String::from_utf8(stdout).unwrap();
    let lines: Vec<serde_json::Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["d"], &lines[1]["d"]), (&"{\"d\":\"i:5;".into(), &"[\"x\"]".into()));
    assert!(lines.iter().all(|line| line["d_error"].is_string() && line["d_kind"] == "broken"), "{stdout}");
    assert!(code == 4 && stderr.contains("2 of 2 rows"), "{stderr}");
}

/// An input column may not have the name of a column that the command adds for errors or kinds.
#[test]
fn input_columns_that_clash_with_ours_are_refused() {
    for (args, input, name) in [
        (&["--in", "csv", "-c", "d=php"][..], "d,d_error\ni:5;,x\n", "d_error"),
        (&["--in", "csv", "-c", "d=php", "--kind-column"], "d_kind,d\nx,i:5;\n", "d_kind"),
        (&["--in", "csv", "-c", "d=php", "-c", "d_error=php"], "d,d_error\ni:5;,x\n", "d_error"),
        (&["--in", "pgcopy", "--columns", "d,d_error", "-c", "d=php", "--on-error", "null"], "i:5;\tx\n", "d_error"),
    ] {
        let (stdout, stderr, code) = run_rows(args, input.as_bytes());
        assert_eq!((stdout.as_slice(), code), (&b""[..], 2), "{stderr}");
        assert!(
            stderr.contains(&format!("the input has a column `{name}`")) && stderr.contains("--columns"),
            "{stderr}"
        );
    }
    let args = ["--in", "csv", "-c", "d=php", "--columns", "d,old_error", "--header"];
    let (stdout, stderr, code) = run_rows(&args, b"d,d_error\ni:5;,x\n");
    assert_eq!((stdout.as_slice(), code), (&b"{\"d\":5,\"old_error\":\"x\"}\n"[..], 0), "{stderr}");
    // Without such columns no mistake is possible.
    let (_, stderr, code) = run_rows(&["--in", "csv", "-c", "d=php", "--on-error", "skip"], b"d,d_error\ni:5;,x\n");
    assert_eq!(code, 0, "{stderr}");
    // The keys of objects are known only when they arrive.
    for (kind, key) in [(&[][..], "d_error"), (&["--kind-column"], "d_kind")] {
        let line = format!("{{\"d\":\"i:5;\",\"{key}\":\"spoofed\"}}");
        let (stdout, stderr, code) = run_rows(&[&["--in", "ndjson", "-c", "d=php"], kind].concat(), line.as_bytes());
        let row: serde_json::Value = serde_json::from_slice(&stdout).unwrap();
        assert_eq!((&row["d"], code), (&line.as_str().into(), 4), "{stderr}");
        assert!(row["d_error"].as_str().unwrap().contains(key));
        assert_eq!(String::from_utf8(stdout).unwrap().matches("spoofed").count(), 1);
    }
}

/// Existing ways of handling errors are unchanged.
#[test]
fn on_error_null_skip_and_stop_have_their_effect() {
    let input = b"id,d\n1,i:5;\n2,hello\n3,\n4,s:9:\"oops\";\n";
    let run = |mode: &str| run_rows(&["--in", "csv", "-c", "d=php", "--on-error", mode, "-q"], input);
    let (stdout, stderr, code) = run("null");
    let stdout = String::from_utf8(stdout).unwrap();
    assert!(
        stdout.contains("{\"id\":\"2\",\"d\":null,\"d_error\":") && stdout.contains("{\"id\":\"3\",\"d\":null}"),
        "{stdout}"
    );
    assert!(code == 4 && stderr.contains("2 of 4 rows"), "{stderr}");
    let (stdout, _, code) = run("skip");
    assert_eq!((stdout.as_slice(), code), (&b"{\"id\":\"1\",\"d\":5}\n{\"id\":\"3\",\"d\":null}\n"[..], 4));
    let (stdout, _, code) = run("stop");
    assert_eq!((stdout.as_slice(), code), (&b"{\"id\":\"1\",\"d\":5}\n"[..], 4));
}

/// The rows before one that is too long are written; then the command names that row.
#[test]
fn rows_longer_than_max_record_are_refused() {
    let long = "y".repeat(200);
    let input = format!("a,b\n1,i:5;\n2,\"s:200:\"\"{long}\"\";\"\n3,i:6;\n");
    let (stdout, stderr, code) = run_rows(&["--in", "csv", "-c", "b=php", "--max-record", "100"], input.as_bytes());
    assert_eq!(String::from_utf8(stdout).unwrap(), "{\"a\":\"1\",\"b\":5}\n", "{stderr}");
    assert!(stderr.contains("row at offset 11 is longer than 100 bytes") && code == 2, "{stderr}");
}

/// A build without Parquet prints advice.
#[cfg(not(feature = "columns"))]
#[test]
fn a_build_without_columns_prints_how_to_get_them() {
    for args in [&["--in", "csv", "-c", "d=php", "-t", "parquet"][..], &["--in", "parquet"], &["--in", "arrow"]] {
        let (stdout, stderr, code) = run_rows(args, b"id,d\n1,i:5;\n");
        assert!(stdout.is_empty() && code == 2 && stderr.contains("build it with `make build`"), "{args:?}: {stderr}");
    }
    let (_, stderr, code) = run_rows(&["--in", "csv", "-c", "d=php", "--schema-only"], b"id,d\n1,i:5;\n");
    assert!(code == 2 && stderr.contains("--features columns"), "{stderr}");
}
