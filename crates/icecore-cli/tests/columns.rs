//! Rows as files of Parquet and Arrow, and back: the result is the same as the lines of JSON.

// A build without this feature prints advice: see `rows.rs`.
#![cfg(feature = "columns")]

use crate::common::usual_or_full;
use crate::run;

use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// The type of a value in the blobs.
enum Shape {
    Int,
    Float,
    Text,
    Bool,
    List(Box<Shape>),
    Map(Vec<(String, Shape)>),
}

impl Shape {
    fn random(random: &mut Random, depth: usize) -> Shape {
        match random.below(if depth == 0 { 4 } else { 6 }) {
            0 => Shape::Int,
            1 => Shape::Float,
            2 => Shape::Text,
            3 => Shape::Bool,
            4 => Shape::List(Box::new(Shape::random(random, depth - 1))),
            _ => Shape::map(random, depth - 1),
        }
    }

    fn map(random: &mut Random, depth: usize) -> Shape {
        let count = 1 + random.below(4);
        Shape::Map((0..count).map(|index| (format!("k{index}"), Shape::random(random, depth))).collect())
    }

    /// Writes a value in PHP's format.
    fn write(&self, random: &mut Random, out: &mut String) {
        let _ = match self {
            Shape::Int => write!(out, "i:{};", random.below(100_000) as i64 - 50_000),
            Shape::Float => write!(out, "d:{}.5;", random.below(1000)),
            Shape::Text => {
                let text = ["", "x", "Zoë", "a \"b\"; c", "12", "line\nline"][random.below(6)];
                write!(out, "s:{}:\"{text}\";", text.len())
            }
            Shape::Bool => write!(out, "b:{};", random.below(2)),
            Shape::List(item) => {
                // An empty list has no type.
                let count = 1 + random.below(3);
                let _ = write!(out, "a:{count}:{{");
                for index in 0..count {
                    let _ = write!(out, "i:{index};");
                    item.write(random, out);
                }
                write!(out, "}}")
            }
            Shape::Map(fields) => {
                // The first entry always exists: for PHP, a map without entries is a list.
                let kept: Vec<_> =
                    fields.iter().enumerate().filter(|(index, _)| *index == 0 || random.below(4) > 0).collect();
                let _ = write!(out, "a:{}:{{", kept.len());
                for (_, (name, shape)) in kept {
                    let _ = write!(out, "s:{}:\"{name}\";", name.len());
                    if random.below(8) == 0 { out.push_str("N;") } else { shape.write(random, out) }
                }
                write!(out, "}}")
            }
        };
    }
}

fn csv(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Returns a table with a column of blobs.
fn table(random: &mut Random, rows: usize) -> String {
    let shape = Shape::map(random, 2);
    let mut table = String::from("id,note,data\n");
    for row in 0..rows {
        let mut blob = String::new();
        if random.below(10) > 0 {
            shape.write(random, &mut blob);
        }
        let note = ["plain", "", "Zoë, Jr", "5"][random.below(4)];
        let _ = writeln!(table, "{row},{},{}", csv(note), csv(&blob));
    }
    table
}

fn try_run_rows(args: &[&str], input: &[u8]) -> (Vec<u8>, String, i32) {
    run::icecore(&[&["rows", "-q"], args].concat(), input)
}

/// Returns the output of a command that must succeed.
fn run_rows(args: &[&str], input: &[u8]) -> Vec<u8> {
    let (stdout, stderr, code) = try_run_rows(args, input);
    assert_eq!(code, 0, "{args:?}: {stderr}");
    stdout
}

/// Parses lines of JSON, without null members: a struct has all of its fields in each row.
fn parse_lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).expect("text");
    text.lines().map(|line| remove_nulls(serde_json::from_str(line).expect("JSON"))).collect()
}

fn remove_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, remove_nulls(value))).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(remove_nulls).collect()),
        other => other,
    }
}

const CONTAINERS: [(&str, &[&str]); 8] = [
    ("parquet", &[]),
    ("parquet", &["--compression", "zstd", "--row-group", "7"]),
    ("parquet", &["--compression", "none"]),
    ("parquet", &["--compression", "lz4"]),
    ("arrow", &[]),
    ("arrow", &["--compression", "zstd"]),
    ("arrows", &["--compression", "lz4"]),
    ("arrows", &[]),
];

#[test]
fn random_tables_round_trip() {
    let folder = tempfile::tempdir().expect("a folder");
    for seed in 0..40 {
        let mut random = Random(seed);
        let table = table(&mut random, 1 + seed as usize * 7 % 90);
        let direct = run_rows(&["--in", "csv", "-c", "data=php"], table.as_bytes());
        let (container, options) = CONTAINERS[seed as usize % CONTAINERS.len()];
        let file = folder.path().join(format!("{seed}.{container}"));
        let file = file.to_str().expect("text");
        run_rows(&[&["--in", "csv", "-c", "data=php", "-o", file], options].concat(), table.as_bytes());
        let read_back = run_rows(&[file], b"");
        assert_eq!(parse_lines(&read_back), parse_lines(&direct), "{seed}");
        // The same through pipes, and from one kind of file to another.
        let piped =
            run_rows(&[&["--in", "csv", "-c", "data=php", "-t", container], options].concat(), table.as_bytes());
        let form = if container == "parquet" { "parquet" } else { "arrow" };
        assert_eq!(run_rows(&["--in", form], &piped), read_back, "{seed}");
        let other = run_rows(&["--in", form, "-t", "parquet"], &piped);
        assert_eq!(run_rows(&["--in", "parquet"], &other), read_back, "{seed}");
        // Blobs in such a file can be decoded from it.
        let raw = run_rows(&["--in", "csv", "--schema", "data: binary", "-t", container], table.as_bytes());
        let decoded = run_rows(&["--in", form, "-c", "data=php", "--only", "id"], &raw);
        let expected = ["--in", "csv", "-c", "data=php", "--only", "id", "--null", "NULL"];
        let expected = run_rows(&expected, table.as_bytes());
        assert_eq!(parse_lines(&decoded), parse_lines(&expected), "{seed}");
    }
}

/// Lines of JSON have types of their own.
#[test]
fn json_lines_round_trip() {
    let mut random = Random(5);
    for seed in 0..20 {
        let shape = Shape::map(&mut random, 2);
        let mut input = String::new();
        for row in 0..1 + seed {
            let mut blob = String::new();
            shape.write(&mut random, &mut blob);
            let line =
                json!({"id": row, "price": row as f64 + 0.5, "tags": ["a", "b"], "at": {"x": row}, "data": blob});
            let _ = writeln!(input, "{line}");
        }
        let direct = run_rows(&["--in", "ndjson", "-c", "data=php"], input.as_bytes());
        let file = run_rows(&["--in", "ndjson", "-c", "data=php", "-t", "parquet"], input.as_bytes());
        assert_eq!(parse_lines(&run_rows(&["--in", "parquet"], &file)), parse_lines(&direct), "{seed}");
    }
}

#[test]
fn columns_of_dumps_get_types() {
    let dump = "CREATE TABLE t (id int, price double, name text, ok boolean, data text);\n\
                INSERT INTO t VALUES (1,1.5,'a',TRUE,'a:1:{s:1:\"w\";i:640;}'),(2,NULL,NULL,FALSE,NULL);\n";
    let args = ["--in", "sql", "-c", "t.data=php"];
    let stderr = run_rows(&[&args[..], &["--schema-only"]].concat(), dump.as_bytes());
    assert_eq!(
        String::from_utf8(stderr).expect("text").trim_end(),
        "id int64, price float64, name utf8, ok bool, data struct<w int64>"
    );
    let file = run_rows(&[&args[..], &["-t", "arrow"]].concat(), dump.as_bytes());
    assert_eq!(parse_lines(&run_rows(&["--in", "arrow"], &file)), parse_lines(&run_rows(&args, dump.as_bytes())));
}

const ROWS_WITH_ERRORS: &[u8] =
    b"id,d\n1,\"a:1:{s:1:\"\"w\"\";i:5;}\"\n2,hello\n3,\n4,\"s:9:\"\"oops\"\";\"\n5,\"a:1:{s:1:\"\"w\"\";i:6;}\"\n";

/// A value that can't be decoded is null, reported and counted, and a column has the error.
#[test]
fn bad_values_are_null_and_reported() {
    let schema = ["--in", "csv", "-c", "d=php", "--schema", "d: struct<w int64>", "-t", "parquet"];
    let read_back = |file: &[u8]| parse_lines(&run_rows(&["--in", "parquet"], file));
    for mode in ["keep", "null"] {
        let (file, stderr, code) =
            try_run_rows(&[&schema[..], &["--on-error", mode, "--kind-column"]].concat(), ROWS_WITH_ERRORS);
        // Ordinary text is not damaged: only --on-error null takes it for an error.
        let (bad, kind, message) =
            if mode == "keep" { (1, "text", "row 4 at offset") } else { (2, "broken", "row 2 at offset") };
        assert!(code == 4 && stderr.contains(&format!("{bad} of 5 rows")) && stderr.contains(message), "{stderr}");
        let found = read_back(&file);
        let kinds: Vec<_> = found.iter().map(|row| row["d_kind"].as_str().expect("text")).collect();
        assert_eq!(kinds, ["decoded", kind, "null", "broken", "decoded"]);
        assert_eq!(found[0]["d"], json!({"w": 5}));
        assert!(mode == "null" || found[1]["d_error"] == "ordinary text: hello", "{found:?}");
        assert!(found[3]["d_error"].as_str().is_some_and(|why| why.contains("expected")), "{found:?}");
        assert!(found[0].get("d_error").is_none() && found[1].get("d").is_none());
    }
    let (file, _, code) = try_run_rows(&[&schema[..], &["--on-error", "skip"]].concat(), ROWS_WITH_ERRORS);
    assert_eq!(
        (read_back(&file), code),
        (vec![json!({"id": "1", "d": {"w": 5}}), json!({"id": "3"}), json!({"id": "5", "d": {"w": 6}})], 4)
    );
    let (file, stderr, code) = try_run_rows(&[&schema[..], &["--on-error", "stop"]].concat(), ROWS_WITH_ERRORS);
    assert_eq!((read_back(&file), code), (vec![json!({"id": "1", "d": {"w": 5}})], 4), "{stderr}");
    // As JSON, ordinary text is kept.
    let json = ["--in", "csv", "-c", "d=php", "--schema", "d json", "-t", "parquet"];
    let (file, stderr, code) = try_run_rows(&json, ROWS_WITH_ERRORS);
    assert!(code == 4 && stderr.contains("1 of 5 rows"), "{stderr}");
    let texts: Vec<_> = read_back(&file).iter().map(|row| row.get("d").cloned().unwrap_or_default()).collect();
    assert_eq!(
        texts,
        [json!("{\"w\":5}"), json!("\"hello\""), json!(null), json!("\"s:9:\\\"oops\\\";\""), json!("{\"w\":6}")]
    );
}

#[test]
fn other_columns_fit_their_type_or_are_reported() {
    let input = b"id,n,d\n1,5,i:1;\n2,x,i:2;\n3,7,i:3;\n";
    let args = ["--in", "csv", "-c", "d=php", "--schema", "n: int64", "-t", "parquet"];
    let (file, stderr, code) = try_run_rows(&args, input);
    assert!(code == 4 && stderr.contains("column n: expected int64, found `x`"), "{stderr}");
    let found = parse_lines(&run_rows(&["--in", "parquet"], &file));
    assert_eq!(found[2], json!({"id": "3", "n": 7, "d": 3}));
    assert_eq!(found[1], json!({"id": "2", "d": 2}));
    // Bytes that are not text have a binary type, or are a loss.
    let binary = b"id,n,d\n1,\x01\xff,i:1;\n";
    let schema = run_rows(&["--in", "csv", "-c", "d=php", "--schema-only", "-t", "arrow"], binary);
    assert!(schema.windows(8).any(|found| found == b"n binary"), "{}", schema.escape_ascii());
    let bytes = b"id,n,d\n1,\xff,i:1;\n";
    let as_text = ["--in", "csv", "-c", "d=php", "--schema", "n utf8", "-t", "arrow"];
    let (file, stderr, code) = run::icecore(&[&["rows"], &as_text[..]].concat(), bytes);
    assert!(code == 0 && stderr.contains("first in row 1 at column n"), "{stderr}");
    assert_eq!(parse_lines(&run_rows(&["--in", "arrow"], &file))[0]["n"], "\u{ff}");
    let (_, stderr, code) = try_run_rows(&[&as_text[..], &["--strict"]].concat(), bytes);
    assert!(code == 1 && stderr.contains("refused by --strict"), "{stderr}");
}

/// Columns of a file in other types: values with the same meaning are kept, and the rest is reported, never rounded.
#[test]
fn columns_fit_another_type_or_are_reported() {
    let table = b"f,i,m,d,b,s\n1.0,5,2026-02-03T04:05:06.5,2026-02-03,true,7\n\
        1.5,300,2026-02-03T04:05:06.5,2026-02-03,false,x\n,,,,,\n";
    let typed = "f float64, i int64, m timestamp, d date32, b bool, s utf8";
    let file = run_rows(&["--in", "csv", "--null", "", "--schema", typed, "-t", "parquet"], table);
    for (schema, first, second, message) in [
        ("f int64", json!(1), json!(null), "expected int64, found `1.5`"),
        ("f float32", json!(1.0), json!(1.5), ""),
        ("f utf8", json!("1.0"), json!("1.5"), ""),
        ("f decimal(3,0)", json!(1), json!(null), "expected decimal(3, 0), found `1.5`"),
        ("f decimal(3,1)", json!(1.0), json!(1.5), ""),
        ("i float64", json!(5.0), json!(300.0), ""),
        ("i int8", json!(5), json!(null), "expected int8, found `300`"),
        ("i utf8", json!("5"), json!("300"), ""),
        ("i list<int64>", json!(null), json!(null), "expected list<int64>, found `5`"),
        ("m timestamp[s]", json!(null), json!(null), "expected timestamp[s], found `2026-02-03T04:05:06.500"),
        ("m date32", json!(null), json!(null), "expected date32, found `2026-02-03T04:05:06.500"),
        ("m timestamp[ms, UTC]", json!("2026-02-03T04:05:06.500Z"), json!("2026-02-03T04:05:06.500Z"), ""),
        (
            "m timestamp[ms, Europe/Berlin]",
            json!("2026-02-03T04:05:06.500+01:00"),
            json!("2026-02-03T04:05:06.500+01:00"),
            "",
        ),
        ("d timestamp", json!("2026-02-03T00:00:00"), json!("2026-02-03T00:00:00"), ""),
        ("d large_utf8", json!("2026-02-03"), json!("2026-02-03"), ""),
        ("b utf8", json!("true"), json!("false"), ""),
        ("b int64", json!(null), json!(null), "expected int64, found `true`"),
        ("s int64", json!(7), json!(null), "expected int64, found `x`"),
        ("s decimal(5,2)", json!(7.0), json!(null), "expected decimal(5, 2), found `x`"),
        ("s large_binary", json!("7"), json!("x"), ""),
    ] {
        let (converted, stderr, code) = try_run_rows(&["--in", "parquet", "--schema", schema, "-t", "arrow"], &file);
        assert_eq!(code, if message.is_empty() { 0 } else { 4 }, "{schema}: {stderr}");
        assert!(stderr.contains(message), "{schema}: {stderr}");
        let name = &schema[..1];
        let found = run_rows(&["--in", "arrow"], &converted);
        let found: Vec<Value> = String::from_utf8(found)
            .expect("text")
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON")[name].clone())
            .collect();
        assert_eq!(found, [first, second, json!(null)], "{schema}: {stderr}");
    }
}

/// The inferred schema can be passed back, as text or as a file.
#[test]
fn an_inferred_schema_can_be_passed_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = Random(9);
    let table = table(&mut random, 30);
    let args = ["--in", "csv", "-c", "data=php"];
    let schema = run_rows(&[&args[..], &["--schema-only", "--infer", "20"]].concat(), table.as_bytes());
    let schema = String::from_utf8(schema).expect("text");
    assert!(schema.starts_with("id utf8, note utf8, data struct<k0 "), "{schema}");
    let file = folder.path().join("fields");
    std::fs::write(&file, &schema).expect("it is written");
    let stderr = [&args[..], &["-t", "parquet", "--schema", schema.trim_end()]].concat();
    let given = run_rows(&stderr, table.as_bytes());
    assert_eq!(
        given,
        run_rows(&[&args[..], &["-t", "parquet", "--schema", file.to_str().expect("text")]].concat(), table.as_bytes())
    );
    for (wrong, message) in [
        ("nothing int64", "there is no column `nothing`: there are id, note, data"),
        ("data struct<", "invalid schema at byte"),
        ("int64", "--schema takes columns with their types"),
    ] {
        let (stdout, stderr, code) =
            try_run_rows(&[&args[..], &["-t", "parquet", "--schema", wrong]].concat(), table.as_bytes());
        assert!(stdout.is_empty() && code == 2 && stderr.contains(message), "{wrong}: {stderr}");
    }
}

#[test]
fn entries_missing_from_the_sample_are_reported() {
    let table = "id,d\n1,a:1:{s:1:\"\"w\"\";i:5;}\n2,a:2:{s:1:\"\"w\"\";i:6;s:1:\"\"x\"\";i:7;}\n"
        .replace("a:", "\"a:")
        .replace(";}", ";}\"");
    let loud = |args: &[&str], input: &[u8]| run::icecore(&[&["rows"], args].concat(), input);
    let options = ["--in", "csv", "-c", "d=php", "-t", "arrow"];
    let (_, stderr, code) = loud(&[&options[..], &["--infer", "1"]].concat(), table.as_bytes());
    assert!(code == 0 && stderr.contains("1 row has entries without a field, first in row 2 in column d"), "{stderr}");
    let (_, stderr, _) = loud(&options, table.as_bytes());
    assert_eq!(stderr, "");
    let (_, stderr, _) = loud(&[&options[..], &["--schema", "d struct<w int64>"]].concat(), table.as_bytes());
    assert_eq!(stderr, "");
    let lines = b"{\"a\":1}\n{\"a\":2,\"b\":3}\n";
    let (_, stderr, _) = loud(&["--in", "ndjson", "-t", "arrow", "--infer", "1"], lines);
    assert!(stderr.contains("1 row has entries without a field, first in row 2 in its line"), "{stderr}");
}

#[test]
fn several_files_become_one_table_or_one_each() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    std::fs::create_dir(path("in")).expect("a folder");
    for name in ["a", "b"] {
        let table = format!("id,d\n{name},\"a:1:{{s:1:\"\"w\"\";i:5;}}\"\n");
        run_rows(&["--in", "csv", "-c", "d=php", "-o", &path(&format!("in/{name}.parquet"))], table.as_bytes());
    }
    let both = run_rows(&[&path("in"), "--file-column", "-t", "parquet"], b"");
    let found = parse_lines(&run_rows(&["--in", "parquet"], &both));
    assert!(found.len() == 2 && found[1]["file"].as_str().is_some_and(|file| file.ends_with("b.parquet")), "{found:?}");
    run_rows(&[&path("in"), "--out-dir", &path("out"), "-t", "arrow"], b"");
    assert_eq!(parse_lines(&run_rows(&[&path("out/b.arrow")], b"")), [json!({"id": "b", "d": {"w": 5}, })]);
    // A table with other columns, or with unreadable rows, leaves no file.
    std::fs::write(path("a.csv"), "id,d\n1,i:5;\n").expect("it is written");
    std::fs::write(path("b.csv"), "d,name\ni:5;,x\n").expect("it is written");
    let (_, stderr, code) =
        try_run_rows(&["-c", "d=php", &path("a.csv"), &path("b.csv"), "-o", &path("one.parquet")], b"");
    assert!(code == 2 && stderr.contains("its columns (d, name, d_error) are not those of"), "{stderr}");
    assert_eq!(parse_lines(&run_rows(&[&path("one.parquet")], b"")), [json!({"id": "1", "d": 5})]);
    let (_, stderr, code) = try_run_rows(&["-c", "d=php", &path("missing.csv"), "-o", &path("no.parquet")], b"");
    assert!(code == 2 && !Path::new(&path("no.parquet")).exists(), "{stderr}");
}

/// A table without rows has columns.
#[test]
fn a_table_without_rows_keeps_its_columns() {
    for container in ["parquet", "arrow", "arrows"] {
        let file = run_rows(&["--in", "csv", "-c", "d=php", "-t", container], b"id,d\n");
        let form = if container == "parquet" { "parquet" } else { "arrow" };
        assert_eq!(run_rows(&["--in", form, "-t", "csv"], &file), b"id,d,d_error\n");
    }
}

/// Damaged files end in errors: the command does not crash, and memory stays small.
#[test]
fn damaged_files_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut random = Random(77);
    let table = table(&mut random, 60);
    for (container, options) in CONTAINERS {
        let at_once =
            run_rows(&[&["--in", "csv", "-c", "data=php", "-t", container], options].concat(), table.as_bytes());
        let form = if container == "parquet" { "parquet" } else { "arrow" };
        let (mut wrong, mut files) = (0, 0);
        let rounds = usual_or_full(24, 60);
        for round in 0..rounds {
            let mut bytes = at_once.clone();
            match round % 4 {
                0 => bytes.truncate(random.below(at_once.len())),
                1 => {
                    // The sizes are declared near the end.
                    let index = at_once.len() - 1 - random.below(at_once.len().min(600));
                    bytes[index] = random.below(256) as u8;
                }
                _ => {
                    for _ in 0..1 + random.below(4) {
                        let index = random.below(at_once.len());
                        bytes[index] = [0, 0x7f, 0x80, 0xff, random.below(256) as u8][random.below(5)];
                    }
                }
            }
            files += 1;
            let file = folder.path().join("damaged");
            std::fs::write(&file, &bytes).expect("it is written");
            // The address space of all threads, and 4 GB more.
            let script = format!("ulimit -v 6000000; icecore rows -q --in {form} damaged");
            let output = run::shell(folder.path(), &script).output().expect("a shell");
            let stderr = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 1 | 4)), "{container}, {round}: {code:?} {stderr}");
            assert!(!stderr.contains("panicked"), "{stderr}");
            wrong += usize::from(code == Some(4));
        }
        assert!(wrong > 2 && files == rounds, "{container}: only {wrong} were refused");
    }
    for (form, bytes) in [
        ("parquet", &b"PAR1"[..]),
        ("parquet", b""),
        ("arrow", b"ARROW1\0\0"),
        ("arrow", b"no"),
        ("parquet", b"id,d\n1,2\n"),
    ] {
        let (stdout, stderr, code) = try_run_rows(&["--in", form], bytes);
        assert!(stdout.is_empty() && code == 4 && stderr.contains(form), "{form} {bytes:?}: {code} {stderr}");
    }
}

/// A file that declares types with a hundred thousand levels is refused before they are built.
#[test]
fn deep_types_are_refused() {
    const DEPTH: u32 = 100_000;
    let mut end = vec![0x15, 2, 0x19, 0xfc];
    end.extend([0x80 | DEPTH as u8 & 0x7f, 0x80 | (DEPTH >> 7) as u8 & 0x7f, (DEPTH >> 14) as u8]);
    for _ in 0..DEPTH {
        end.extend(b"\x35\x02\x18\x01a\x15\x02\0");
    }
    end.extend(b"\x16\0\x19\x0c\0");
    let len = u32::try_from(end.len()).expect("a small one").to_le_bytes();
    let (stdout, stderr, code) = try_run_rows(&["--in", "parquet"], &[b"PAR1", &end[..], &len, b"PAR1"].concat());
    assert!(stdout.is_empty() && code == 4 && stderr.contains("more than 64"), "{code} {stderr}");
}

/// Other programs can read the output.
#[test]
fn other_programs_read_the_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let chosen_python = std::env::var("ICECORE_TEST_PYTHON").ok();
    let python = chosen_python.as_deref().unwrap_or("python3");
    let table = table(&mut Random(3), 50);
    let direct = parse_lines(&run_rows(&["--in", "csv", "-c", "data=php"], table.as_bytes()));
    for (library, script) in [
        ("pyarrow", "import pyarrow.parquet as p; rows = p.read_table('t.parquet').to_pylist()"),
        ("pyarrow", "import pyarrow.feather as f; rows = f.read_table('t.arrow').to_pylist()"),
        ("pyarrow", "import pyarrow as a; rows = a.ipc.open_stream('t.arrows').read_all().to_pylist()"),
        (
            "duckdb",
            "import duckdb; rows = duckdb.sql(\"select * from 't.parquet'\").fetchall(); names = ['id', 'note', 'data', 'data_error']; rows = [dict(zip(names, row)) for row in rows]",
        ),
    ] {
        let has = Command::new(python).args(["-c", &format!("import {library}")]).output();
        if !has.is_ok_and(|output| output.status.success()) {
            eprintln!("SKIPPED: {python} lacks {library}");
            continue;
        }
        for container in ["parquet", "arrow", "arrows"] {
            let file = folder.path().join(format!("t.{container}"));
            let file = file.to_str().expect("text");
            run_rows(&["--in", "csv", "-c", "data=php", "--force", "-o", file], table.as_bytes());
        }
        let script = format!("import json\n{script}\nfor row in rows: print(json.dumps(row))");
        let output =
            Command::new(python).args(["-c", &script]).current_dir(folder.path()).output().expect("python runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(parse_lines(&output.stdout), direct, "{library}");
    }
}
