//! CSV files as programs write them, through `replace` and `rows`: cells are correct, and all other bytes are
//! unchanged.

use crate::replacing::Random;
use crate::run::{self, icecore};
use serde_json::{Map, Value};
use std::fs;
use std::path::Path;

/// A row of texts.
type Row = Vec<String>;

const PHP: &str = r#"
[$delimiter, $escape] = [$argv[1], $argv[2] === 'none' ? '' : '\\'];
$file = fopen('php://memory', 'w+');
while (($line = fgets(STDIN)) !== false) {
    if ($line !== "\n") {
        fputcsv($file, array_map('hex2bin', explode(' ', rtrim($line, "\n"))), $delimiter, '"', $escape);
        continue;
    }
    rewind($file);
    echo bin2hex(stream_get_contents($file)), "\n";
    $file = fopen('php://memory', 'w+');
}
"#;

const PYTHON: &str = r#"
import csv, io, sys
style = dict(delimiter=sys.argv[1], lineterminator='\n')
kind = sys.argv[2]
if kind == 'backslash':
    style.update(doublequote=False, escapechar='\\', quoting=csv.QUOTE_ALL)
elif kind == 'all':
    style.update(quoting=csv.QUOTE_ALL, lineterminator='\r\n')
elif kind == 'excel':
    style.update(lineterminator='\r\n')
elif kind == 'single':
    style.update(quotechar="'")
rows = []
for line in sys.stdin.buffer:
    if line != b'\n':
        rows.append([bytes.fromhex(cell.decode()).decode('latin-1') for cell in line.rstrip(b'\n').split(b' ')])
        continue
    out = io.StringIO(newline='')
    csv.writer(out, **style).writerows(rows)
    print(out.getvalue().encode('latin-1').hex())
    rows = []
"#;

const RUBY: &str = r#"
require 'csv'
options = { col_sep: ARGV[0], force_quotes: ARGV[1] == 'all' }
rows = []
while (line = $stdin.gets)
  if line != "\n"
    rows << line.chomp.split(' ').map { |cell| [cell].pack('H*').force_encoding('UTF-8') }
    next
  end
  puts rows.map { |row| CSV.generate_line(row, **options) }.join.unpack1('H*')
  rows = []
end
"#;

const PERL: &str = r#"
my ($delimiter, $end) = @ARGV;
$end = $end eq 'crlf' ? "\r\n" : "\n";
my $text = '';
while (my $line = <STDIN>) {
    if ($line ne "\n") {
        chomp $line;
        my @cells = map { pack 'H*', $_ } split / /, $line;
        for (@cells) { if (/["\n\r\Q$delimiter\E]/) { s/"/""/g; $_ = qq("$_") } }
        $text .= join($delimiter, @cells) . $end;
        next;
    }
    print unpack('H*', $text), "\n";
    $text = '';
}
"#;

/// How a table is written.
struct TableStyle {
    name: &'static str,
    command: &'static [&'static str],
    /// The bytes before the first row.
    front: &'static [u8],
    has_one_column: bool,
}

const fn style(name: &'static str, command: &'static [&'static str]) -> TableStyle {
    TableStyle { name, command, front: b"", has_one_column: false }
}

const STYLES: [TableStyle; 12] = [
    style("fputcsv", &["php", "-r", PHP, "--", ",", "backslash"]),
    style("fputcsv without escape", &["php", "-r", PHP, "--", ";", "none"]),
    style("fputcsv with tabs", &["php", "-r", PHP, "--", "\t", "backslash"]),
    style("python, excel", &["python3", "-c", PYTHON, ",", "excel"]),
    style("python, all in quotes", &["python3", "-c", PYTHON, ";", "all"]),
    style("python, backslash", &["python3", "-c", PYTHON, "|", "backslash"]),
    style("python, single quotes", &["python3", "-c", PYTHON, ",", "single"]),
    style("ruby", &["ruby", "-e", RUBY, ",", "needed"]),
    style("ruby, all in quotes", &["ruby", "-e", RUBY, ";", "all"]),
    style("perl, CRLF", &["perl", "-e", PERL, "|", "crlf"]),
    TableStyle {
        name: "a spreadsheet's sep=",
        command: &["perl", "-e", PERL, ";", "crlf"],
        front: b"\xef\xbb\xbfsep=;\r\n",
        has_one_column: false,
    },
    TableStyle {
        name: "one column",
        command: &["php", "-r", PHP, "--", ",", "none"],
        front: b"\xef\xbb\xbf",
        has_one_column: true,
    },
];

/// Returns a text that may be frozen, and its value as JSON.
fn random_cell(random: &mut Random) -> (String, Value) {
    const PIECES: [&str; 15] = [
        "word",
        " ",
        ", ",
        ";",
        "\"",
        "'",
        "\n",
        "1,50",
        "C:\\dir",
        "|",
        "https://old.example",
        "é",
        "old",
        "\t",
        "a:1:{",
    ];
    match random.below(4) {
        0 => {
            let text = format!(
                "it's \"old\" {}, https://old.example/a;b\n{}",
                "x".repeat(random.below(9)),
                "é".repeat(random.below(3))
            );
            (format!("a:1:{{s:4:\"name\";s:{}:\"{text}\";}}", text.len()), serde_json::json!({ "name": text }))
        }
        1 => {
            let text: String = (0..1 + random.below(7)).map(|_| PIECES[random.below(PIECES.len())]).collect();
            let text = format!("t {text}.");
            (text.clone(), Value::from(text))
        }
        2 => (format!("{}", 1 + random.below(1000)), Value::Null),
        _ => ("plain words".to_owned(), Value::from("plain words")),
    }
}

/// Returns a table, and its rows as objects.
fn random_table(random: &mut Random, has_one_column: bool) -> (Vec<Row>, Vec<Value>) {
    let names: &[&str] = if has_one_column { &["data"] } else { &["id", "data", "note"] };
    let mut rows = vec![names.iter().map(|name| (*name).to_owned()).collect::<Row>()];
    let mut objects = Vec::new();
    for id in 0..3 + random.below(12) {
        let (data, mut value) = random_cell(random);
        if value.is_null() {
            value = Value::from(data.clone());
        }
        let mut object = Map::new();
        let row = if has_one_column {
            vec![data]
        } else {
            let (note, _) = random_cell(random);
            object.insert("id".to_owned(), Value::from(id.to_string()));
            object.insert("note".to_owned(), Value::from(note.clone()));
            vec![id.to_string(), data, note]
        };
        object.insert("data".to_owned(), value);
        rows.push(row);
        objects.push(Value::from(object));
    }
    (rows, objects)
}

fn to_hex(tables: &[(Vec<Row>, Vec<Value>)]) -> Vec<u8> {
    let cell = |cell: &String| cell.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let row = |row: &Row| row.iter().map(cell).collect::<Vec<_>>().join(" ") + "\n";
    tables.iter().map(|(rows, _)| rows.iter().map(row).collect::<String>() + "\n").collect::<String>().into_bytes()
}

fn from_hex(line: &str) -> Vec<u8> {
    let digits = line.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("hex")).collect()
}

/// Returns the value with every `old` replaced, as the command should do it.
fn replace_old(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::from(replace_old_in_text(text)),
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), replace_old(value))).collect(),
        other => other.clone(),
    }
}

/// Returns a text with `old` replaced; a frozen text gets correct lengths.
fn replace_old_in_text(text: &str) -> String {
    let new = text.replace("old", "brandnew");
    let Some(rest) = text.strip_prefix("a:1:{s:4:\"name\";s:") else { return new };
    let Some((_, body)) = rest.split_once(":\"").filter(|_| text.ends_with("\";}")) else { return new };
    let body = body.trim_end_matches("\";}").replace("old", "brandnew");
    format!("a:1:{{s:4:\"name\";s:{}:\"{body}\";}}", body.len())
}

fn objects_of(folder: &Path, name: &str) -> Option<Vec<Value>> {
    let text = fs::read_to_string(folder.join(name)).ok()?;
    Some(text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

#[test]
fn cells_change_and_all_other_bytes_stay_in_twelve_dialects() {
    let each: usize = std::env::var("ICECORE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1) * 42;
    let mut random = Random::new(7);
    let (mut right, mut refused) = (0, 0);
    for style in STYLES {
        let tables: Vec<_> = (0..each).map(|_| random_table(&mut random, style.has_one_column)).collect();
        let program = style.command;
        let mut written = run::output(program[0], &program[1..], &to_hex(&tables)).stdout;
        written.pop();
        let written = String::from_utf8(written).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::create_dir(folder.path().join("in")).unwrap();
        let mut files = Vec::new();
        for (number, line) in written.lines().enumerate() {
            let bytes = [style.front, &from_hex(line)].concat();
            fs::write(folder.path().join(format!("in/{number:04}.csv")), &bytes).unwrap();
            files.push(bytes);
        }
        assert_eq!(files.len(), each, "{}", style.name);
        for args in [
            ["replace", "-q", "old", "brandnew", &path("in"), "--out-dir", &path("new")],
            ["replace", "-q", "brandnew", "old", &path("new"), "--out-dir", &path("back")],
            ["rows", "-q", "-c=data", "--strict", &path("in"), "--out-dir", &path("rows")],
            ["rows", "-q", "-c=data", "--strict", &path("new"), "--out-dir", &path("new_rows")],
        ] {
            let (_, stderr, code) = icecore(&args, b"");
            assert!([0, 4].contains(&code), "{}: {stderr}", style.name);
        }
        for (number, ((_, objects), bytes)) in tables.iter().zip(&files).enumerate() {
            let text = String::from_utf8_lossy(bytes);
            let name = format!("{number:04}.ndjson");
            let Ok(back) = fs::read(folder.path().join(format!("back/{number:04}.csv"))) else {
                assert!(!folder.path().join("new").join(format!("{number:04}.csv")).exists(), "{text}");
                refused += 1;
                continue;
            };
            assert_eq!(String::from_utf8_lossy(&back), text, "{}: other bytes", style.name);
            let rows = objects_of(&folder.path().join("rows"), &name);
            assert_eq!(rows.as_ref(), Some(objects), "{}: rows of {text}", style.name);
            let expected: Vec<Value> = objects
                .iter()
                .map(|object| {
                    let mut object = replace_old(object);
                    if let Some(note) = object.get_mut("note") {
                        *note = Value::from(replace_old_in_text(&note.as_str().unwrap().replace("brandnew", "old")));
                    }
                    object
                })
                .collect();
            let rows = objects_of(&folder.path().join("new_rows"), &name);
            assert_eq!(rows, Some(expected), "{}: changed rows of {text}", style.name);
            right += 1;
        }
    }
    println!("{right} right, {refused} refused");
    assert!(refused * 10 <= right, "{refused} of {right} were refused");
}

/// The decisive evidence is far down: the whole file is examined.
#[test]
fn dialects_are_detected_from_the_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.csv");
    let name = path.display().to_string();
    let mut text = String::from("id,data,note\n");
    for id in 0..60_000 {
        text.push_str(&format!("{id},\"some words here\",old\n"));
    }
    // `fputcsv` with its default escape: this is the text `say \"old\"`, with backslashes.
    text.push_str("1,\"say \\\"old\\\" twice\",old\n2,\"a b\",c\n");
    assert!(text.len() > 1 << 20);
    fs::write(&path, &text).unwrap();
    let (stdout, stderr, code) = icecore(&["replace", "-q", "old", "newer", &name], b"");
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(String::from_utf8(stdout).unwrap(), text.replace("old", "newer"));
    let (stdout, stderr, code) = icecore(&["rows", "-q", "-c", "data", &name], b"");
    assert_eq!(code, 0, "{stderr}");
    let rows = String::from_utf8(stdout).unwrap();
    let row = rows.lines().nth(60_000).unwrap();
    assert_eq!(serde_json::from_str::<Value>(row).unwrap()["data"], "say \\\"old\\\" twice");
    // A row that fits no dialect: nothing is written.
    fs::write(&path, text.replace("1,\"say \\\"old\\\" twice\"", "1,\"say\" old")).unwrap();
    let (stdout, stderr, code) = icecore(&["replace", "-q", "old", "newer", &name], b"");
    assert!(stdout.is_empty() && code == 4 && stderr.contains("row 60001"), "{code} {stderr}");
}

/// A pipe that delivers the first line and then waits is not decided by that line.
#[test]
fn the_dialect_of_a_slow_pipe_needs_more_than_its_first_line() {
    let folder = tempfile::tempdir().unwrap();
    let feed = "printf 'a;b,c\\n'; sleep 0.2; printf '1;\"x;y\",z\\n2;\"old;\",3\\n'";
    for (command, expected) in [
        ("icecore rows -q --in csv -c 'b,c'", "{\"a\":\"1\",\"b,c\":\"\\\"x;y\\\",z\"}\n"),
        ("icecore replace -q old newer --in csv", "newer"),
    ] {
        let output = run::shell(folder.path(), &format!("({feed}) | {command}")).output().unwrap();
        let at_once =
            run::shell(folder.path(), &format!("({}) | {command}", feed.replace("sleep 0.2; ", ""))).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&output.stdout), text(&at_once.stdout), "{}", text(&output.stderr));
        assert_eq!(output.status.code(), at_once.status.code());
        let _ = expected;
    }
}
