//! `icecore replace`: problems that users reported for similar tools; round trips over random dumps in every form; PHP
//! reads the results.

use crate::common::usual_or_full;
use crate::replacing;
use crate::run;

use crate::replacing::{ALL, DumpForm, Random, value};
use crate::run::icecore;
use icecore::rewrite::Escaping as _;
use icecore_sql::{Next, Reader};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns the stdout of `icecore replace`, which must succeed.
fn run_replace(args: &[&str], input: &[u8]) -> Vec<u8> {
    let (stdout, stderr, code) = icecore(&[&["replace"][..], args].concat(), input);
    assert_eq!(code, 0, "{args:?}: {stderr}");
    stdout
}

fn replace_in_sql(args: &[&str], input: &str) -> String {
    String::from_utf8(run_replace(&[args, &["--in", "sql"]].concat(), input.as_bytes())).unwrap()
}

/// Returns a literal as mysqldump writes it, in its row.
fn mysql_row(literal: &str) -> String {
    format!("INSERT INTO `t` VALUES (1,'{literal}','end');\n")
}

#[test]
fn hex_literals_that_become_empty_are_empty_strings() {
    let dump = "INSERT INTO `t` VALUES (0x6f6c64,X'6f6c64',_binary 0x6f6c64,0x616f6c64);\n";
    assert_eq!(replace_in_sql(&["old", ""], dump), "INSERT INTO `t` VALUES ('',X'',_binary '',0x61);\n");
}

#[test]
fn values_that_other_tools_break_are_replaced_right() {
    let long_css = r#"a:1:{s:3:\"css\";s:46:\"a::after{content:\";\"} b{url(old.example)} s:3:\";\";}"#;
    let long_css = long_css.replace("s:46", &format!("s:{}", long_css_len()));
    let cases: &[(&str, &str, &str, String, String)] = &[
        ("double quotes without backslashes", "bbbbb", "c", r#"s:9:"aabbbbbaa";"#.into(), r#"s:5:"aacaa";"#.into()),
        ("no end of line behind it", "bb", "cccc", r#"s:4:\"abba\";"#.into(), r#"s:6:\"acccca\";"#.into()),
        (
            "what ends a string, in a string",
            "old.example",
            "new.example.org",
            long_css.clone(),
            long_css
                .replace("old.example", "new.example.org")
                .replace(&format!("s:{}", long_css_len()), &format!("s:{}", long_css_len() + 4)),
        ),
        (
            "serialized twice",
            "example.org",
            "test.com",
            r#"a:1:{s:4:\"test\";s:44:\"a:1:{s:3:\"url\";s:20:\"https://example.org/\";}\";}"#.into(),
            r#"a:1:{s:4:\"test\";s:41:\"a:1:{s:3:\"url\";s:17:\"https://test.com/\";}\";}"#.into(),
        ),
        (
            "a class that is not there, protected properties, a float",
            "old",
            "newer",
            r#"O:9:\"DUP_Thing\":2:{s:6:\"\0*\0url\";s:3:\"old\";s:1:\"f\";d:0.10000000000000001;}"#.into(),
            r#"O:9:\"DUP_Thing\":2:{s:6:\"\0*\0url\";s:5:\"newer\";s:1:\"f\";d:0.10000000000000001;}"#.into(),
        ),
        (
            "every place, not only the first; lengths count bytes",
            "a.es",
            "b.example",
            r#"a:2:{i:0;s:6:\"\"a.es\"\";i:1;s:7:\"é-a.es\";}"#.into(),
            r#"a:2:{i:0;s:11:\"\"b.example\"\";i:1;s:12:\"é-b.example\";}"#.into(),
        ),
        (
            "line ends and backslashes count as what they stand for",
            "old",
            "new er",
            r#"s:8:\"a\r\nb\\old\";"#.into(),
            r#"s:11:\"a\r\nb\\new er\";"#.into(),
        ),
        (
            "JSON in a page",
            "https://old.example",
            "http://x",
            r#"{\"url\":\"https:\\/\\/old.example\\/a\"}"#.into(),
            r#"{\"url\":\"http:\\/\\/x\\/a\"}"#.into(),
        ),
        ("looks serialized and is not", "old", "newer", r#"a:1:{old}"#.into(), r#"a:1:{newer}"#.into()),
        (
            "serialized behind lines of text",
            "old",
            "newer",
            r#"https://old/a.mp3\n205\naudio/mpeg\na:1:{s:5:\"image\";s:3:\"old\";}"#.into(),
            r#"https://newer/a.mp3\n205\naudio/mpeg\na:1:{s:5:\"image\";s:5:\"newer\";}"#.into(),
        ),
        ("a quote that is new", "old", "O'Neil", r#"s:3:"old"; old"#.into(), r#"s:6:"O\'Neil"; O\'Neil"#.into()),
    ];
    for (case, old, new, before, after) in cases {
        assert_eq!(replace_in_sql(&[old, new], &mysql_row(before)), mysql_row(after), "{case}");
    }
}

/// Returns the length of the style sheet.
fn long_css_len() -> usize {
    r#"a::after{content:";"} b{url(old.example)} s:3:";"#.len()
}

#[test]
fn columns_are_chosen_by_name() {
    let dump = "CREATE TABLE posts (id int, guid text, body text);\nINSERT INTO posts VALUES (1,'old','old');\n\
                INSERT INTO users (guid) VALUES ('old');\n";
    let skipped = dump.replace("1,'old','old'", "1,'old','new'");
    assert_eq!(replace_in_sql(&["old", "new", "--skip-column", "guid"], dump), skipped);
    assert_eq!(replace_in_sql(&["old", "new", "--column", "posts.BODY"], dump), skipped);
    assert_eq!(replace_in_sql(&["old", "new", "--table", "users"], dump), dump.replace("('old')", "('new')"));
}

#[test]
fn chunks_of_any_size_give_the_same_output() {
    for form in ALL {
        let mut random = Random::new(7);
        let values: Vec<Vec<u8>> = (0..60).map(|_| value(&mut random)).filter(|value| form.takes(value)).collect();
        let file = form.file(&values);
        let args = |chunk| ["old.example", "new.example.org", "--in", form.extension(), "--chunk", chunk];
        let at_once = run_replace(&args("1M"), &file);
        assert_ne!(at_once, file);
        for chunk in ["1", "7", "100", "4096"] {
            assert!(run_replace(&args(chunk), &file) == at_once, "{form:?} in pieces of {chunk}");
        }
    }
    // A text is cut outside of matches, even if it has no lines.
    let text = b"-old.example//old.example_https://old.example".repeat(300);
    let url =
        |chunk| run_replace(&["--url", "https://old.example", "https://n", "--in", "text", "--chunk", chunk], &text);
    let at_once = url("1M");
    for chunk in ["1", "64", "100", "1000"] {
        assert!(url(chunk) == at_once, "text in pieces of {chunk}");
    }
}

#[test]
fn replacing_and_replacing_back_restores_the_bytes() {
    // Number of dumps for each form.
    let dumps = usual_or_full(60, 1000);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for form in ALL {
        let (original, replaced, restored) = (path("original"), path("replaced"), path("restored"));
        fs::create_dir(&original).unwrap();
        for seed in 0..dumps {
            let mut random = Random::new(seed);
            let values: Vec<Vec<u8>> = (0..6).map(|_| value(&mut random)).filter(|value| form.takes(value)).collect();
            fs::write(original.join(format!("{seed}.{}", form.extension())), form.file(&values)).unwrap();
        }
        replace_files(&["old.example", "brand-new.example.org"], &original, &replaced);
        replace_files(&["brand-new.example.org", "old.example"], &replaced, &restored);
        let mut changed = 0;
        for seed in 0..dumps {
            let name = format!("{seed}.{}", form.extension());
            let read = |folder: &Path| fs::read(folder.join(&name)).unwrap();
            changed += u64::from(read(&original) != read(&replaced));
            assert!(
                read(&original) == read(&restored),
                "{form:?}, dump {seed}: {}",
                String::from_utf8_lossy(&read(&original))
            );
        }
        assert!(changed > dumps / 2, "{form:?}: only {changed} changed");
        for folder in [original, replaced, restored] {
            fs::remove_dir_all(folder).unwrap();
        }
    }
}

fn replace_files(pair: &[&str], from: &Path, to: &Path) {
    let (from, to) = (from.to_str().unwrap(), to.to_str().unwrap());
    let (_, stderr, code) = icecore(&[&["replace", "-q"][..], pair, &[from, "--out-dir", to]].concat(), b"");
    assert_eq!(code, 0, "{stderr}");
}

/// Returns the second value of each row, decoded.
fn values_of(dump: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = Reader::new();
    let mut values = Vec::new();
    while let Next::Literal(literal) = reader.next(dump, true).unwrap() {
        if literal.cell.is_some() {
            values.push(literal.quoting.decode(&dump[literal.body]).unwrap().into_text().into_owned());
        }
    }
    values
}

/// Reads values as lines of hexadecimal digits; reports the result of `unserialize` for each.
const CHECK_WITH_PHP: &str = r#"
while (($line = fgets(STDIN)) !== false) {
    $value = hex2bin(trim($line));
    echo $value === serialize(false) || @unserialize($value, ["allowed_classes" => false]) !== false ? "1" : "0";
}"#;

fn check_with_php(values: &[Vec<u8>]) -> Vec<u8> {
    let line = |value: &Vec<u8>| value.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    let mut php = Command::new("php");
    php.args(["-d", "unserialize_max_depth=0", "-r", CHECK_WITH_PHP]);
    let output = run::fed(php, values.iter().map(line).collect::<String>().as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn php_reads_the_same_values_after_a_replacement() {
    if Command::new("php").arg("-v").output().is_err() {
        return eprintln!("SKIPPED: php is missing");
    }
    let mut random = Random::new(2026);
    let values: Vec<Vec<u8>> = (0..3000).map(|_| replacing::php(&mut random, 4)).collect();
    for form in [DumpForm::Mysql, DumpForm::Doubled] {
        let before = form.file(&values);
        assert_eq!(values_of(&before), values, "the reader");
        for new in ["n", "very.much.longer.example", "it's \"new\" \\ here;", "old.example.org", ""] {
            let after = values_of(&run_replace(&["-q", "old.example", new, "--in", "sql"], &before));
            assert_eq!(after.len(), values.len());
            let changed_count = after.iter().zip(&values).filter(|(after, before)| after != before).count();
            assert!(changed_count > values.len() / 3, "{changed_count}");
            let (readable_before, readable_after) = (check_with_php(&values), check_with_php(&after));
            let damaged = readable_before
                .iter()
                .zip(&readable_after)
                .position(|(before, after)| before == &b'1' && after != before);
            let shown =
                damaged.map(|index| (String::from_utf8_lossy(&values[index]), String::from_utf8_lossy(&after[index])));
            assert!(damaged.is_none(), "{new:?}: {shown:?}");
        }
    }
}

#[test]
fn in_place_changes_the_file_and_keeps_a_backup() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| fs::read_to_string(path(name)).unwrap();
    let run = |args: &[&str]| {
        let file = path("a.csv");
        icecore(&[&["replace", "--in-place", file.to_str().unwrap()][..], args].concat(), b"")
    };
    fs::write(path("a.csv"), "id,v\n1,old\n").unwrap();
    // Without a match, nothing happens.
    assert_eq!(run(&["-e", "absent", "x"]).2, 0);
    assert!(!path("a.csv.bak").exists());
    assert_eq!(run(&["-e", "old", "new"]).2, 0);
    assert_eq!((text("a.csv"), text("a.csv.bak")), ("id,v\n1,new\n".into(), "id,v\n1,old\n".into()));
    // An existing backup is not overwritten.
    let (_, stderr, code) = run(&["-e", "new", "newer"]);
    assert_eq!(code, 2, "{stderr}");
    assert_eq!((text("a.csv"), text("a.csv.bak")), ("id,v\n1,new\n".into(), "id,v\n1,old\n".into()));
    assert_eq!(run(&["-e", "new", "newer", "--backup", ".2"]).2, 0);
    assert_eq!((text("a.csv"), text("a.csv.2")), ("id,v\n1,newer\n".into(), "id,v\n1,new\n".into()));
    // No other files remain.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

/// An independent oracle in PHP: it changes live values and freezes them, and so determines what a dump must become.
/// `ICECORE_ROUNDS` and `ICECORE_SEED` select more and other dumps of a hundred cells.
#[test]
fn dumps_change_as_an_oracle_in_php_says() {
    if Command::new("php").arg("-v").output().is_err() {
        return eprintln!("SKIPPED: php is missing");
    }
    let number = |name: &str, default: u64| std::env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (seed, rounds) = (number("ICECORE_SEED", 0), number("ICECORE_ROUNDS", 60));
    let output = Command::new("php")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/replace_oracle/run.php"))
        .args([seed.to_string(), (seed + rounds).to_string()])
        .env("ICECORE", env!("CARGO_BIN_EXE_icecore"))
        .output()
        .expect("php runs");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains(" cells, 0 wrong"), "{stdout}");
}

/// The contents of a file decide how it is read: frozen data is not plain text because of its name.
#[test]
fn the_content_of_a_file_decides_how_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let json = br#"{"site":"https://old.example","list":[1,"old.example"]}"#;
    let names = ["txt", "xml", "html", "yml", "csv", "tsv", "md", "sql", "conf", "ndjson", "js", "dump", "unknown"];
    for format in ["php", "php-session", "igbinary", "marshal", "storable", "sereal", "var-export", "dumper"] {
        let bytes = icecore::convert(json, "json", format).unwrap();
        let args = ["old.example", "a-longer-name.example"];
        let expected = run_replace(&[&args[..], &["--in", format]].concat(), &bytes);
        assert_ne!(expected, bytes, "{format}");
        for name in names {
            let file = folder.path().join(format!("file.{name}"));
            fs::write(&file, &bytes).unwrap();
            let found = run_replace(&[&args[..], &[file.to_str().unwrap()]].concat(), b"");
            assert_eq!(found, expected, "{format} as .{name}: {}", String::from_utf8_lossy(&found));
        }
    }
}

/// Tables in CSV keep their dialect.
#[test]
fn tables_keep_their_dialect() {
    let value = |text: &str, quote: &str| {
        let len = text.len();
        format!("a:1:{{s:1:\"k\";s:{len}:\"{text}\";}}").replace('"', quote)
    };
    let (old, new) = ("https://old.example", "https://a-longer-name.example");
    type Table<'t> = &'t dyn Fn(&str) -> String;
    let tables: [(&str, Table<'_>); 9] = [
        ("RFC 4180", &|text| format!("id,value\n1,\"{}\"\n2,{text}\n", value(text, "\"\""))),
        ("semicolons", &|text| format!("id;value\r\n1;\"{}\"\r\n2;{text}, x\r\n", value(text, "\"\""))),
        ("tabs", &|text| format!("id\tvalue\n1\t{}\n2\t\"{text}\tx\"\n", value(text, "\""))),
        ("bars", &|text| format!("id|value\n1|\"{}\"\n", value(text, "\"\""))),
        ("sep=", &|text| format!("\u{feff}sep=;\r\nid;value\r\n1;\"{}\"\r\n", value(text, "\"\""))),
        ("apostrophes", &|text| format!("id,value\n1,'{}'\n2,'{text}, it''s'\n", value(text, "\""))),
        ("backslashes", &|text| format!("\"id\",\"value\"\n\"1\",\"{}\"\n", value(text, "\\\""))),
        ("fputcsv", &|text| {
            let text = format!("{text} \\\"x");
            format!("id,value\n1,\"{}\"\n", value(&text, "\"\"").replace("\\\"\"", "\\\""))
        }),
        ("returns", &|text| format!("id,value\r1,\"{}\"\r2,{text}\r", value(text, "\"\""))),
    ];
    for (name, table) in tables {
        let found = run_replace(&[old, new, "--in", "csv"], table(old).as_bytes());
        assert_eq!(String::from_utf8(found).unwrap(), table(new), "{name}");
    }
}

/// A table is refused if two readings have different cells, or a row is in another dialect than those before it.
#[test]
fn ambiguous_tables_are_refused() {
    let (stdout, stderr, code) = icecore(&["replace", "old", "new", "--in", "csv"], b"1;2,3\n4;5,old\n");
    assert_eq!((stdout.len(), code), (0, 4), "{stderr}");
    assert!(stderr.contains("several ways") && stderr.contains("--delimiter"), "{stderr}");
    let known = ["old", "x,y", "--in", "csv", "--delimiter", ";"];
    assert_eq!(run_replace(&known, b"1;2,3\n4;5,old\n"), b"1;2,3\n4;5,x,y\n");
    // The first 64 KB contain no quotes with another meaning.
    let mut long: Vec<u8> = (0..9000).flat_map(|row| format!("{row},\"some text\"\n").into_bytes()).collect();
    long.extend_from_slice(b"9000,\"a\" old\n");
    let (_, stderr, code) = icecore(&["replace", "old", "new", "--in", "csv"], &long);
    assert_eq!(code, 4, "{stderr}");
    assert!(stderr.contains("row 9000, at offset"), "{stderr}");
}

/// Serialized data in a text is found however far its length is from a match, and in any chunk.
#[test]
fn lengths_in_text_do_not_become_wrong() {
    let long = "x".repeat(3000);
    let values = [
        format!("[shortcode data='a:1:{{s:1:\"k\";s:{}:\"{long} old.example\";}}']", long.len() + 12),
        format!("# data: a:1:{{s:1:\"k\";s:{}:\"line\n{long}\nold.example\";}}", long.len() + 17),
        format!("data: a:1:{{s:1:\\\"k\\\";s:{}:\\\"{long} old.example\\\";}}", long.len() + 12),
        format!("user|s:{}:\"{long} old.example\"; and more", long.len() + 12),
    ];
    for value in values {
        let text = format!("Some text.\n{value}\nThe end.\n");
        for chunk in ["64", "1000", "256K"] {
            let args = ["replace", "old.example", "a-longer-name.example", "--chunk", chunk];
            let (stdout, stderr, code) = icecore(&args, text.as_bytes());
            if code == 0 {
                // It is in one chunk, so its structure is certain.
                let new = text.replace("old.example", "a-longer-name.example");
                let new = new.replace(":3012:", ":3022:").replace(":3017:", ":3027:");
                assert!(chunk == "256K" && !value.contains('\\') && stdout == new.as_bytes(), "{chunk} {value}");
                continue;
            }
            assert_eq!(code, 2, "{chunk} {value}: {stderr}");
            assert!(stderr.contains("would become wrong"), "{stderr}");
            assert!(!String::from_utf8_lossy(&stdout).contains("a-longer-name"), "{chunk} {value}");
            let (_, stderr, code) = icecore(&[&args[..], &["--in", "text"]].concat(), text.as_bytes());
            assert_eq!(code, 0, "{stderr}");
            assert!(stderr.contains("whose lengths are wrong now"), "{stderr}");
        }
        // Replacements of the same length, or outside of such strings, are made.
        assert!(!run_replace(&["old.example", "new.example"], text.as_bytes()).is_empty());
        assert!(!run_replace(&["The end", "This is the end"], text.as_bytes()).is_empty());
    }
}
