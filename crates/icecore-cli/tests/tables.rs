//! Several tables with `rows`: one after the other, or each in a file; the effects of `--strict`, `--deep` and
//! `--csv-safe`; and the names of files with `--out-dir`.

use crate::run;

use crate::run::icecore;
use std::fs;
use std::path::Path;
use std::process::Command;

fn sh(folder: &Path, command: &str) -> (String, String, i32) {
    let output = run::shell(folder, command).output().expect("a shell");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(output.stdout), text(output.stderr), output.status.code().expect("a code"))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("in/sub")).unwrap();
    for (name, text) in [
        ("in/a.csv", "id,v\n1,i:5;\n"),
        ("in/sub/b.csv", "id,v\n2,\"O:1:\"\"A\"\":0:{}\"\n"),
        ("other.csv", "nr,v\n3,i:7;\n"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn several_files_and_folders_are_read_in_order() {
    let folder = folder();
    let run = |command: &str| sh(folder.path(), command);
    let (stdout, stderr, code) = run("icecore rows -q --in csv -c v in other.csv");
    assert_eq!(stdout, "{\"id\":\"1\",\"v\":5}\n{\"id\":\"2\",\"v\":{}}\n{\"nr\":\"3\",\"v\":7}\n", "{stderr}");
    assert_eq!(code, 0);
    // One header for all; another table does not fit.
    let (stdout, stderr, code) = run("icecore rows -q --in csv -c v -t csv in other.csv in/a.csv");
    assert_eq!((stdout.as_str(), code), ("id,v,v_error\n1,5,\n2,{},\n1,5,\n", 2), "{stderr}");
    assert!(stderr.contains("other.csv: its columns (nr, v, v_error) are not those of in/a.csv"), "{stderr}");
    let (_, stderr, code) = run("icecore rows -q --in csv -c v -t csv in other.csv --out-dir out");
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(fs::read_to_string(folder.path().join("out/sub/b.csv")).unwrap(), "id,v,v_error\n2,{},\n");
    assert_eq!(fs::read_to_string(folder.path().join("out/other.csv")).unwrap(), "nr,v,v_error\n3,7,\n");
    // A missing file does not affect the others.
    let (stdout, stderr, code) = run("icecore rows -q --in csv -c id missing.csv in other.csv --summary sum");
    assert_eq!((stdout.lines().count(), code), (2, 2), "{stderr}");
    assert!(
        stderr.contains("missing.csv: No such file") && stderr.contains("other.csv: there is no column `id`"),
        "{stderr}"
    );
    assert!(fs::read_to_string(folder.path().join("sum")).unwrap().contains("\"records\":2"));
    let (_, _, code) = run("icecore rows -q --in csv -c v in -o all.ndjson");
    assert_eq!((code, fs::read_to_string(folder.path().join("all.ndjson")).unwrap().lines().count()), (0, 2));
}

#[test]
fn strict_rows_refuse_losses() {
    let table = "id,v\n1,i:5;\n2,\"O:1:\"\"A\"\":0:{}\"\n3,\"a:1:{i:7;d:INF;}\"\n4,text\n";
    let run = |more: &[&str]| {
        let (stdout, stderr, code) =
            icecore(&[&["rows", "--in", "csv", "-c", "v", "--strict"], more].concat(), table.as_bytes());
        (String::from_utf8(stdout).unwrap(), stderr, code)
    };
    let (stdout, stderr, code) = run(&["--kind-column"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("row 2 at offset 12, column v: refused by --strict: 1 class name dropped"), "{stderr}");
    assert!(stderr.contains("2 of 4 rows refused") && !stderr.contains("can't be decoded"), "{stderr}");
    assert!(stdout.contains(r#""v":"O:1:\"A\":0:{}","v_error":"refused by --strict: 1 class"#), "{stdout}");
    assert!(stdout.contains(r#""v_kind":"refused""#), "{stdout}");
    let (stdout, _, code) = run(&["--on-error", "skip"]);
    assert_eq!((stdout.as_str(), code), ("{\"id\":\"1\",\"v\":5}\n", 4), "text is an error with skip");
    let (stdout, _, code) = run(&["--on-error", "stop"]);
    assert_eq!((stdout.lines().count(), code), (1, 1));
    let (stdout, _, code) = run(&["-t", "json:class=@"]);
    assert_eq!((stdout.lines().count(), code), (4, 1));
    // Without a loss, nothing is refused.
    let (_, stderr, code) = run(&["-t", "json:typed"]);
    assert_eq!((stderr.as_str(), code), ("", 0));
    // Bytes outside the decoded columns.
    let (stdout, stderr, code) = icecore(&["rows", "--in", "csv", "-c", "v", "--strict"], b"id,v\n\xff,i:5;\n2,i:6;\n");
    assert_eq!((String::from_utf8(stdout).unwrap().as_str(), code), ("{\"id\":\"2\",\"v\":6}\n", 1), "{stderr}");
    assert!(stderr.contains("column id"), "{stderr}");
}

#[test]
fn deep_rows_open_strings() {
    let table = b"v\n\"a:1:{s:1:\"\"x\"\";s:14:\"\"a:1:{i:0;i:5;}\"\";}\"\n";
    for (args, expected) in [
        (&["-c", "v"][..], "{\"v\":{\"x\":\"a:1:{i:0;i:5;}\"}}\n"),
        (&["-c", "v", "--deep"], "{\"v\":{\"x\":[5]}}\n"),
        (&["-c", "v=php", "--deep"], "{\"v\":{\"x\":[5]}}\n"),
    ] {
        let (stdout, stderr, code) = icecore(&[&["rows", "--in", "csv"], args].concat(), table);
        assert_eq!((String::from_utf8(stdout).unwrap().as_str(), code), (expected, 0), "{args:?}");
        assert_eq!(stderr.contains("1 string opened"), args.contains(&"--deep"), "{stderr}");
    }
}

/// The cases that OWASP lists; the cells are read back by another CSV reader.
#[test]
fn csv_safe_defuses_cells_that_a_spreadsheet_would_run() {
    let harmless = ["'", "a", "", "\"", "a=", "{"];
    let begins = [
        "=",
        "+",
        "-",
        "@",
        "\t",
        "\r",
        " =",
        "\"=",
        "\n+",
        "\u{feff}@",
        "\u{a0}-",
        "\u{200b}=",
        "\0=",
        "\u{3000}＝",
        "＋",
        "－",
        "＠",
        "\u{b} \"-",
    ];
    let begins = [&harmless[..], &begins].concat();
    let mut table = String::from("\"=name\",v\n");
    for (index, begin) in begins.iter().enumerate() {
        let cell = format!("{begin}cmd|' /C calc'!A{index}, \"x\"").replace('"', "\"\"");
        table.push_str(&format!("\"{cell}\",i:-{index};\n"));
    }
    let cells = |args: &[&str]| {
        let (stdout, stderr, code) =
            icecore(&[&["rows", "--in", "csv", "-c", "v", "-t", "csv"], args].concat(), table.as_bytes());
        assert_eq!(code, 0, "{stderr}");
        rows_of(&stdout)
    };
    let (plain, safe) = (cells(&[]), cells(&["--csv-safe"]));
    assert_eq!((plain.len(), safe.len()), (begins.len() + 1, begins.len() + 1));
    for (plain, safe) in plain.iter().flatten().zip(safe.iter().flatten()) {
        // Numbers in the second column are unchanged, and so are the names in the first row.
        let runs = plain.contains("cmd|") && !harmless.iter().any(|begin| plain.starts_with(&format!("{begin}cmd|")))
            || plain.starts_with("=name");
        let expected = if runs { format!("'{plain}") } else { plain.clone() };
        assert_eq!(*safe, expected);
    }
    assert_eq!(safe[0][0], "'=name");
    assert!(plain.iter().any(|row| row[0].starts_with('=')), "only with the option");
    let (stdout, stderr, code) =
        icecore(&["rows", "--in", "csv", "-c", "v", "-t", "tsv", "--csv-safe"], table.as_bytes());
    let lines: Vec<_> = str::from_utf8(&stdout).unwrap().lines().collect();
    assert!(code == 0 && lines.len() == begins.len() + 1, "{stderr}");
    assert!(lines[0].starts_with("'=name\t"), "{}", lines[0]);
    assert!(lines[1 + harmless.len()..].iter().all(|line| line.starts_with('\'')), "{lines:?}");
    assert!(lines[2].starts_with("acmd") && lines[2].ends_with("\t-1\t"), "{lines:?}");
    let texts: Vec<_> = safe.iter().map(|row| row[0].clone()).collect();
    let given = serde_json::to_string(&plain.iter().map(|row| &row[0]).collect::<Vec<_>>()).unwrap();
    for (name, options) in [("@csv", &["--csv-safe"][..]), ("@tsv", &["--csv-safe"])] {
        let filter = format!(".[] | [., -5] | {name}");
        let (stdout, stderr, code) =
            icecore(&[&["query", "-r", "-f", "json", &filter], options].concat(), given.as_bytes());
        assert_eq!(code, 0, "{stderr}");
        let stdout = String::from_utf8(stdout).unwrap();
        let found: Vec<_> = match name {
            "@csv" => rows_of(stdout.as_bytes()).into_iter().map(|row| row[0].clone()).collect(),
            _ => stdout.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect(),
        };
        let expected = texts.iter().map(|text| match name {
            "@csv" => text.clone(),
            _ => text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r"),
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "{name}");
        assert!(!stdout.contains("'-5"), "{stdout}");
    }
    let (_, stderr, code) = icecore(&["rows", "--in", "csv", "-c", "v", "--csv-safe"], table.as_bytes());
    assert!(code == 2 && stderr.contains("`--csv-safe` is for `-t csv`"), "{stderr}");
    // The lab's tables.
    let report = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bench/report.json");
    let text = fs::read_to_string(report).unwrap().replace("\"perl-mix\"", "\"=perl-mix\"");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r.json"), text).unwrap();
    for (more, begin) in [("", "\n=perl-mix,"), (" --csv-safe", "\n'=perl-mix,")] {
        let (stdout, stderr, code) = sh(folder.path(), &format!("icecore bench --show r.json --csv -{more}"));
        assert!(code == 0 && stdout.contains(begin), "{more}: {stderr}");
    }
}

/// Splits CSV into cells, independently of the command.
fn rows_of(csv: &[u8]) -> Vec<Vec<String>> {
    let text = String::from_utf8(csv.to_vec()).unwrap();
    let (mut rows, mut row, mut cell, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted && chars.peek() == Some(&'"') => cell.push(chars.next().unwrap()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    rows
}

/// For every format and wrapper, the name shows the contents, and serialized text does not get PHP's extension.
#[test]
fn extensions_of_output_files_name_their_format() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.json"), "[1]").unwrap();
    for (target, name) in [
        ("php", "x.ser"),
        ("var-export", "x.php"),
        ("dumper", "x.pl"),
        ("sereal", "x.srl"),
        ("storable", "x.storable"),
        ("igbinary", "x.igbinary"),
        ("marshal", "x.marshal"),
        ("ndjson", "x.ndjson"),
        ("join", "x.txt"),
        ("pack:template=C", "x.bin"),
        ("gzip/base64/php", "x.ser.b64.gz"),
        ("zstd/marshal", "x.marshal.zst"),
    ] {
        let stdout = folder.path().join("out");
        let _ = fs::remove_dir_all(&stdout);
        let (_, stderr, code) = sh(folder.path(), &format!("icecore convert -q -t {target} x.json --out-dir out"));
        assert_eq!(code, 0, "{target}: {stderr}");
        let names: Vec<_> = fs::read_dir(&stdout).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [name], "{target}");
        let (_, stderr, code) = sh(folder.path(), &format!("icecore convert -q -t {target} x.json --out-dir out"));
        assert!(code == 2 && stderr.contains("this file exists"), "{target}: {stderr}");
    }
    // PHP can read such a file that it wrote itself.
    let php = |code: &str| Command::new("php").args(["-r", code]).current_dir(folder.path()).output();
    sh(
        folder.path(),
        "icecore convert -q -t php x.json --out-dir new; icecore convert -q -t var-export:file x.json --out-dir new",
    );
    if let Ok(output) = php("echo json_encode([unserialize(file_get_contents('new/x.ser')), require 'new/x.php']);") {
        assert_eq!(String::from_utf8_lossy(&output.stdout), "[[1],[1]]", "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn all_tables_of_a_database_are_exported_completely() {
    let folder = tempfile::tempdir().unwrap();
    let connection = rusqlite::Connection::open(folder.path().join("app.db")).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE users (id INTEGER, prefs TEXT); INSERT INTO users VALUES (1, 'i:5;'); \
             CREATE TABLE plain (a INTEGER, b TEXT); INSERT INTO plain VALUES (7, 'x');",
        )
        .unwrap();
    let run = |command: &str| sh(folder.path(), command);
    // A table without the column has all its rows in a file of its own, and none in one output for all.
    let (_, stderr, code) = run("icecore rows --db sqlite:app.db --all-tables -c prefs --out-dir out -t csv");
    assert_eq!(code, 0, "{stderr}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(
        (read("out/plain.csv").as_str(), read("out/users.csv").as_str()),
        ("a,b\n7,x\n", "id,prefs,prefs_error\n1,5,\n")
    );
    let (stdout, stderr, code) = run("icecore rows --db sqlite:app.db --all-tables -c prefs");
    assert_eq!((stdout.as_str(), code), ("{\"id\":1,\"prefs\":5}\n", 0), "{stderr}");
    assert!(stderr.contains("the table `plain` has none of the columns and is left out"), "{stderr}");
    // A column that no table has is a mistake.
    for command in ["--out-dir other -t csv", ""] {
        let (_, stderr, code) =
            run(&format!("icecore rows --db sqlite:app.db --all-tables -c prefs -c prfes {command}"));
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains("no table has the column `prfes`"), "{stderr}");
    }
}

#[test]
fn an_extension_that_names_no_format_is_noted() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.php"), "i:5;").unwrap();
    for (command, note) in [
        ("icecore convert a.php -o out.xyz", "`.xyz` names no format, so this is json; -t FORMAT chooses another"),
        ("icecore query . a.php -o query.xyz", "`.xyz` names no format, so this is json; -t FORMAT chooses another"),
        (
            "icecore rows --in lines -c value a.php -o rows.xlsx",
            "`.xlsx` names no form of rows, so these are lines of json",
        ),
        ("icecore convert a.php -o out.json", ""),
        ("icecore convert a.php -o out", ""),
        ("icecore convert a.php -o out.nst", ""),
    ] {
        let (_, stderr, code) = sh(folder.path(), command);
        assert_eq!(code, 0, "{command}: {stderr}");
        assert!(if note.is_empty() { stderr.is_empty() } else { stderr.contains(note) }, "{command}: {stderr}");
    }
    assert!(fs::read(folder.path().join("out.nst")).unwrap().starts_with(b"pst0"));
}
