//! Inputs that are not in UTF-8: UTF-16 and UTF-32, and dumps and files in single-byte charsets.

use crate::run::icecore;
use std::fs;

fn utf16le(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn utf16be(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_be_bytes).collect()
}

fn utf32le(text: &str) -> Vec<u8> {
    text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect()
}

fn utf32be(text: &str) -> Vec<u8> {
    text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect()
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| if c == '€' { 0x80 } else { u8::try_from(u32::from(c)).unwrap() }).collect()
}

/// Forms, with the expected results.
const FORMS: [(&str, &str, &str); 6] = [
    (
        "dump.sql",
        "-- MySQL dump 10.13\r\n/*!40101 SET NAMES utf8 */;\r\nINSERT INTO `t` VALUES (1,'Müller','a:1:{s:1:\\\"k\\\";s:7:\\\"Müller\\\";}');\r\n",
        "-- MySQL dump 10.13\r\n/*!40101 SET NAMES utf8 */;\r\nINSERT INTO `t` VALUES (1,'Łódź 𝄞','a:1:{s:1:\\\"k\\\";s:12:\\\"Łódź 𝄞\\\";}');\r\n",
    ),
    (
        "table.csv",
        "id,data\r\n1,\"a:1:{i:0;s:7:\"\"Müller\"\";}\"\r\n2,Müller\r\n",
        "id,data\r\n1,\"a:1:{i:0;s:12:\"\"Łódź 𝄞\"\";}\"\r\n2,Łódź 𝄞\r\n",
    ),
    ("table.tsv", "id\tdata\n1\ts:7:\"Müller\";\n", "id\tdata\n1\ts:12:\"Łódź 𝄞\";\n"),
    (
        "lines.ndjson",
        "{\"a\":\"Müller\",\"b\":\"s:7:\\\"Müller\\\";\"}\n{\"a\":1}\n",
        "{\"a\":\"Łódź 𝄞\",\"b\":\"s:12:\\\"Łódź 𝄞\\\";\"}\n{\"a\":1}\n",
    ),
    ("note.txt", "Dear Herr Müller,\r\nhow are you?\r\n", "Dear Herr Łódź 𝄞,\r\nhow are you?\r\n"),
    ("session.txt", "a:1:{i:0;s:7:\"Müller\";}", "a:1:{i:0;s:12:\"Łódź 𝄞\";}"),
];

#[test]
fn replacing_keeps_utf16_and_utf32() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, expected) in FORMS {
        for encode in [utf16le, utf16be, utf32le, utf32be] {
            for mark in ["\u{feff}", ""] {
                let encoded = |text: &str| encode(&format!("{mark}{text}"));
                let path = folder.path().join(name);
                fs::write(&path, encoded(text)).unwrap();
                let args = ["replace", "-q", "Müller", "Łódź 𝄞"];
                let (stdout, stderr, code) = icecore(&[&args[..], &[path.to_str().unwrap()]].concat(), b"");
                assert_eq!((stdout, code), (encoded(expected), 0), "{name}: {stderr}");
                // Pieces that end inside characters.
                let small = ["--chunk", "7", path.to_str().unwrap()];
                let (stdout, stderr, code) = icecore(&[&args[..], &small].concat(), b"");
                assert_eq!((stdout, code), (encoded(expected), 0), "{name}: {stderr}");
                let in_place = ["--in-place", "--force", path.to_str().unwrap()];
                let (_, stderr, code) = icecore(&[&args[..], &in_place].concat(), b"");
                assert_eq!((fs::read(&path).unwrap(), code), (encoded(expected), 0), "{name}: {stderr}");
                // A file without a match is unchanged, byte for byte.
                let (stdout, _, code) = icecore(&["replace", "-q", "nowhere", "x", path.to_str().unwrap()], b"");
                assert_eq!((stdout, code), (encoded(expected), 0), "{name}");
                if name != "session.txt" && name != "note.txt" {
                    let (stdout, stderr, code) = icecore(&["replace", "-q", "Müller", "x"], &encoded(text));
                    assert!(code == 0 && stdout.len() < encoded(text).len() || name != "dump.sql", "{name}: {stderr}");
                }
            }
        }
    }
}

#[test]
fn rows_of_utf16_files_are_decoded() {
    for (name, form, column) in [
        ("dump.sql", "sql", "3"),
        ("table.csv", "csv", "data"),
        ("table.tsv", "tsv", "data"),
        ("lines.ndjson", "ndjson", "b"),
    ] {
        let (_, text, _) = FORMS.into_iter().find(|(known, ..)| *known == name).unwrap();
        let args = ["rows", "-q", "--in", form, "-c", column];
        let (expected, stderr, code) = icecore(&args, text.as_bytes());
        assert!(!expected.is_empty(), "{name}: {stderr}");
        for encode in [utf16le, utf16be, utf32le, utf32be] {
            for mark in ["\u{feff}", ""] {
                let (stdout, stderr, new_code) = icecore(&args, &encode(&format!("{mark}{text}")));
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                assert_eq!((text(&stdout), new_code), (text(&expected), code), "{name}: {stderr}");
            }
        }
    }
}

#[test]
fn damaged_utf16_is_refused_with_its_offset() {
    let mut bytes = utf16le("\u{feff}id,data\n1,old\n");
    let offset = bytes.len();
    bytes.extend_from_slice(b"\x3d\xd8x\0");
    let folder = tempfile::tempdir().unwrap();
    let (path, new) = (folder.path().join("x.csv"), folder.path().join("new.csv"));
    fs::write(&path, &bytes).unwrap();
    let (_, stderr, code) =
        icecore(&["replace", "old", "new", path.to_str().unwrap(), "-o", new.to_str().unwrap()], b"");
    assert!(
        code == 4 && stderr.contains(&format!("offset {offset}")) && stderr.contains("surrogate"),
        "{code} {stderr}"
    );
    assert!(!new.exists());
    // The replacement must be text.
    let (stdout, stderr, code) =
        icecore(&["replace", "--regex", "(?-u:(\\xc3)\\xa4)", "$1", "--in", "text"], &utf16le("\u{feff}ä\n"));
    assert!(stdout.len() <= 2 && code != 0 && stderr.contains("UTF-16"), "{code} {stderr}");
}

#[test]
fn detect_names_utf16() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.sql");
    fs::write(&path, utf16le("\u{feff}INSERT INTO t VALUES ('a');")).unwrap();
    let (out, _, code) = icecore(&["detect", path.to_str().unwrap()], b"");
    let out = String::from_utf8(out).unwrap();
    assert!(code == 0 && out.contains("UTF-16LE, with a byte order mark (sure"), "{out}");
    let (out, _, _) = icecore(&["detect", "--json", path.to_str().unwrap()], b"");
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("\"format\":\"UTF-16LE\""), "{out}");
}

/// Dumps that declare their charset: the declaration, the beginning of a statement, and the charset.
const DECLARED: [(&str, &str); 6] = [
    ("-- MySQL dump 10.13\n/*!40101 SET NAMES latin1 */;\n", "INSERT INTO t VALUES "),
    ("SET NAMES 'latin1';\n", "INSERT INTO t VALUES "),
    ("SET NAMES latin1 COLLATE latin1_german1_ci;\n", "INSERT INTO t VALUES "),
    ("SET CHARACTER SET latin1;\n", "INSERT INTO t VALUES "),
    ("CREATE TABLE t (a int, b text) ENGINE=MyISAM DEFAULT CHARSET=latin1;\n", "INSERT INTO t VALUES "),
    ("-- PostgreSQL database dump\nSET client_encoding = 'WIN1252';\n", "INSERT INTO public.t VALUES "),
];

#[test]
fn dumps_in_single_byte_charsets_keep_them() {
    for (front, insert) in DECLARED {
        let quote = if front.contains("Postgre") { "\"" } else { "\\\"" };
        let dump = |name: &str| {
            let len = latin1(name).len();
            format!("{front}{insert}(1,'Herr {name}, 5 €'),(2,'a:1:{{i:0;s:{len}:{quote}{name}{quote};}}');\n")
        };
        for (old, new) in [("Müller", "Möller-Größe"), ("Müller", "Mueller"), ("Müller", "")] {
            for args in [&["replace", "-q", old, new][..], &["replace", "-q", "--regex", &old.replace("ll", "l."), new]]
            {
                let (stdout, stderr, code) = icecore(&[args, &["--in", "sql"]].concat(), &latin1(&dump(old)));
                assert_eq!((stdout, code), (latin1(&dump(new)), 0), "{front} {args:?}: {stderr}");
            }
        }
        // `.` matches a character, and lower-case letters are found.
        let (stdout, stderr, code) =
            icecore(&["replace", "-q", "--ignore-case", "--regex", "MÜL(.)ER", "$1é"], &latin1(&dump("Müller")));
        assert_eq!((stdout, code), (latin1(&dump("lé")), 0), "{stderr}");
        // A replacement that the charset can't express is refused, and a search text that can't occur is noted.
        let (stdout, stderr, code) = icecore(&["replace", "-q", "Müller", "Łódź"], &latin1(&dump("Müller")));
        assert!(code == 4 && stderr.contains("Ł") && stderr.contains("indows-1252"), "{front} {stderr}");
        assert!(!stdout.windows(2).any(|bytes| *bytes == *"Ł".as_bytes()), "{front}");
        let (stdout, stderr, code) = icecore(&["replace", "Łódź", "x"], &latin1(&dump("Müller")));
        assert_eq!((stdout, code), (latin1(&dump("Müller")), 0), "{stderr}");
        assert!(stderr.contains("can't be written in Windows-1252"), "{front} {stderr}");
    }
}

#[test]
fn addresses_in_latin1_dumps_are_replaced() {
    let dump = |host: &str| {
        format!("SET NAMES latin1;\nINSERT INTO t VALUES ('https://{host}/a http:\\\\/\\\\/{host}\\\\/b');\n")
    };
    let args = ["replace", "-q", "--url", "https://müller.example", "https://möller.example", "--in", "sql"];
    let (stdout, stderr, code) = icecore(&args, &latin1(&dump("müller.example")));
    assert_eq!((stdout, code), (latin1(&dump("möller.example")), 0), "{stderr}");
}

/// Programs store UTF-8 in tables of latin1, and such dumps declare latin1: a text that is UTF-8 remains UTF-8.
#[test]
fn utf8_in_a_latin1_dump_stays_utf8() {
    let dump = |name: &str| {
        format!("SET NAMES latin1;\nINSERT INTO t VALUES ('{name} é','s:{}:\\\"{name}\\\";');\n", name.len())
    };
    let (stdout, stderr, code) = icecore(&["replace", "-q", "Müller", "Möller-Größe"], dump("Müller").as_bytes());
    assert_eq!((String::from_utf8_lossy(&stdout).into_owned(), code), (dump("Möller-Größe"), 0), "{stderr}");
    // With --charset, the bytes are not examined.
    let args = ["replace", "-q", "--charset", "latin1", "Ã¼", "ue"];
    let (stdout, stderr, code) = icecore(&args, dump("Müller").as_bytes());
    assert_eq!((String::from_utf8_lossy(&stdout).into_owned(), code), (dump("Mueller"), 0), "{stderr}");
}

#[test]
fn other_charsets_are_converted_or_refused() {
    let cyrillic = |text: &str| -> Vec<u8> {
        text.chars().map(|c| if c.is_ascii() { c as u8 } else { (u32::from(c) - 0x410 + 0xc0) as u8 }).collect()
    };
    let dump = |front: &str, name: &str| cyrillic(&format!("{front}INSERT INTO t VALUES ('{name}');\n"));
    for front in ["SET NAMES cp1251;\n", "SET client_encoding = 'WIN1251';\n"] {
        let (stdout, stderr, code) = icecore(&["replace", "-q", "Мир", "Дом"], &dump(front, "Мир"));
        assert_eq!((stdout, code), (dump(front, "Дом"), 0), "{stderr}");
    }
    // An unknown charset.
    let (_, stderr, code) =
        icecore(&["replace", "-q", "Мир", "Дом"], b"SET NAMES ujis;\nINSERT INTO t VALUES ('a');\n");
    assert!(code == 4 && stderr.contains("--charset"), "{stderr}");
    let (_, stderr, code) =
        icecore(&["replace", "-q", "old", "new"], b"SET NAMES ujis;\nINSERT INTO t VALUES ('old');\n");
    assert_eq!(code, 0, "{stderr}");
    let (_, stderr, code) = icecore(&["replace", "-q", "--charset", "GBK", "a", "b"], b"x");
    assert!(code == 2 && stderr.contains("iconv"), "{stderr}");
}

/// Files that do not declare their charset: nothing is written until it is given.
#[test]
fn files_without_a_declared_charset_need_an_option() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text, expected) in [
        ("x.csv", "id,name\n1,Müller\n2,x\n", "id,name\n1,Möller\n2,x\n"),
        ("x.txt", "Herr Müller\n", "Herr Möller\n"),
        ("x.tsv", "id\tname\n1\tMüller\n", "id\tname\n1\tMöller\n"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, latin1(text)).unwrap();
        let path = path.to_str().unwrap();
        for args in [["Müller", "Möller"], ["Mueller", "Möller"]] {
            let (stdout, stderr, code) = icecore(&[&["replace", "-q"], &args[..], &[path]].concat(), b"");
            assert!(stdout.is_empty() && code != 0 && stderr.contains("--charset"), "{name}: {code} {stderr}");
        }
        let args = ["replace", "-q", "--charset", "latin1", "Müller", "Möller", path];
        let (stdout, stderr, code) = icecore(&args, b"");
        assert_eq!((stdout, code), (latin1(expected), 0), "{name}: {stderr}");
        // For ASCII alone, the charset need not be known.
        let (stdout, stderr, code) =
            icecore(&["replace", "-q", "ller", "xyz", "--in", &name[2..].replace("txt", "text"), path], b"");
        assert_eq!((stdout, code), (latin1(&text.replace("ller", "xyz")), 0), "{name}: {stderr}");
    }
    // A dump may contain bytes next to its text: values in no charset are reported at the end.
    let dump = latin1("INSERT INTO t VALUES ('Müller');\n");
    let (stdout, stderr, code) = icecore(&["replace", "Müller", "x"], &dump);
    assert!(stdout == dump && code == 0 && stderr.contains("--charset"), "{stderr}");
}
